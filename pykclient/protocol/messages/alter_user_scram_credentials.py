"""AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_nullable_string,
    encode_compact_size,
    encode_compact_string,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_b = Struct(">b")
_bi = Struct(">bi")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ScramCredentialDeletion:
    """ScramCredentialDeletion, version 0."""

    __slots__ = ("name", "mechanism", "unknown_tags")

    name: str
    mechanism: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_b.pack(self.mechanism))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ScramCredentialDeletion, int]:
        name, position = read_compact_string(buffer, position)
        (mechanism,) = _b.unpack_from(buffer, position)
        position += 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ScramCredentialDeletion(name, mechanism, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ScramCredentialUpsertion:
    """ScramCredentialUpsertion, version 0."""

    __slots__ = ("name", "mechanism", "iterations", "salt", "salted_password", "unknown_tags")

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_bi.pack(self.mechanism, self.iterations))
        append(encode_compact_size(self.salt))
        append(self.salt)
        append(encode_compact_size(self.salted_password))
        append(self.salted_password)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ScramCredentialUpsertion, int]:
        name, position = read_compact_string(buffer, position)
        mechanism, iterations = _bi.unpack_from(buffer, position)
        position += 5
        salt, position = read_compact_bytes(buffer, position)
        salted_password, position = read_compact_bytes(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ScramCredentialUpsertion(name, mechanism, iterations, salt, salted_password, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterUserScramCredentialsRequest:
    """AlterUserScramCredentialsRequest, version 0."""

    __slots__ = ("deletions", "upsertions", "unknown_tags")

    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = EMPTY,
        upsertions: list[ScramCredentialUpsertion] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.deletions = [] if deletions is EMPTY else deletions
        self.upsertions = [] if upsertions is EMPTY else upsertions
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterUserScramCredentialsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.deletions, version)
        append_compact_structs(out, self.upsertions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterUserScramCredentialsRequest, int]:
        deletions, position = read_compact_structs(
            buffer, position, version, ScramCredentialDeletion._read, 3,
        )
        upsertions, position = read_compact_structs(
            buffer, position, version, ScramCredentialUpsertion._read, 9,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterUserScramCredentialsRequest(deletions, upsertions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterUserScramCredentialsResult:
    """AlterUserScramCredentialsResult, version 0."""

    __slots__ = ("user", "error_code", "error_message", "unknown_tags")

    user: str
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.user))
        append(_h.pack(self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterUserScramCredentialsResult, int]:
        user, position = read_compact_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterUserScramCredentialsResult(user, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterUserScramCredentialsResponse:
    """AlterUserScramCredentialsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

    throttle_time_ms: int
    results: list[AlterUserScramCredentialsResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterUserScramCredentialsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        append_compact_structs(out, self.results, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterUserScramCredentialsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        results, position = read_compact_structs(
            buffer, position, version, AlterUserScramCredentialsResult._read, 5,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterUserScramCredentialsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterUserScramCredentialsRequest",
    "AlterUserScramCredentialsResponse",
    "AlterUserScramCredentialsResult",
    "ScramCredentialDeletion",
    "ScramCredentialUpsertion",
]
