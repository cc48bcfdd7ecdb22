"""UserScramCredentialRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_size,
    encode_compact_string,
    read_compact_bytes,
    read_compact_string,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_b = Struct(">b")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class UserScramCredentialRecord:
    """UserScramCredentialRecord, version 0."""

    __slots__ = ("name", "mechanism", "salt", "stored_key", "server_key", "iterations", "unknown_tags")

    name: str
    mechanism: int
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> UserScramCredentialRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_b.pack(self.mechanism))
        append(encode_compact_size(self.salt))
        append(self.salt)
        append(encode_compact_size(self.stored_key))
        append(self.stored_key)
        append(encode_compact_size(self.server_key))
        append(self.server_key)
        append(_i.pack(self.iterations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UserScramCredentialRecord, int]:
        name, position = read_compact_string(buffer, position)
        (mechanism,) = _b.unpack_from(buffer, position)
        position += 1
        salt, position = read_compact_bytes(buffer, position)
        stored_key, position = read_compact_bytes(buffer, position)
        server_key, position = read_compact_bytes(buffer, position)
        (iterations,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return UserScramCredentialRecord(name, mechanism, salt, stored_key, server_key, iterations, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "UserScramCredentialRecord",
]
