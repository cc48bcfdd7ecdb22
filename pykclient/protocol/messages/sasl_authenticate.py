"""SaslAuthenticateRequest, SaslAuthenticateResponse.

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
    encode_nullable_string,
    encode_size,
    read_bytes,
    read_compact_bytes,
    read_compact_nullable_string,
    read_nullable_string,
)
from pykclient.protocol.structs import (
    append_tags,
    not_carried,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SaslAuthenticateRequest:
    """SaslAuthenticateRequest, versions 0 to 2."""

    __slots__ = ("auth_bytes", "unknown_tags")

    auth_bytes: bytes
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(self, auth_bytes: bytes = b"", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.auth_bytes = auth_bytes
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> SaslAuthenticateRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_size(self.auth_bytes))
            append(self.auth_bytes)
        else:
            append(encode_size(self.auth_bytes))
            append(self.auth_bytes)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SaslAuthenticateRequest, int]:
        if version >= 2:
            auth_bytes, position = read_compact_bytes(buffer, position)
        else:
            auth_bytes, position = read_bytes(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SaslAuthenticateRequest(auth_bytes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SaslAuthenticateResponse:
    """SaslAuthenticateResponse, versions 0 to 2."""

    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms", "unknown_tags")

    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> SaslAuthenticateResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            append(encode_compact_size(self.auth_bytes))
            append(self.auth_bytes)
        else:
            append(encode_size(self.auth_bytes))
            append(self.auth_bytes)
        if version >= 1:
            append(_q.pack(self.session_lifetime_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SaslAuthenticateResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 2:
            auth_bytes, position = read_compact_bytes(buffer, position)
        else:
            auth_bytes, position = read_bytes(buffer, position)
        if version >= 1:
            (session_lifetime_ms,) = _q.unpack_from(buffer, position)
            position += 8
        else:
            session_lifetime_ms = 0
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "SaslAuthenticateRequest",
    "SaslAuthenticateResponse",
]
