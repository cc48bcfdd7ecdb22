"""EnvelopeRequest, EnvelopeResponse.

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
    read_compact_bytes,
    read_compact_nullable_bytes,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EnvelopeRequest:
    """EnvelopeRequest, version 0."""

    __slots__ = ("request_data", "request_principal", "client_host_address", "unknown_tags")

    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> EnvelopeRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_size(self.request_data))
        append(self.request_data)
        if self.request_principal is None:
            append(b"\0")
        else:
            append(encode_compact_size(self.request_principal))
            append(self.request_principal)
        append(encode_compact_size(self.client_host_address))
        append(self.client_host_address)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EnvelopeRequest, int]:
        request_data, position = read_compact_bytes(buffer, position)
        request_principal, position = read_compact_nullable_bytes(buffer, position)
        client_host_address, position = read_compact_bytes(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EnvelopeRequest(request_data, request_principal, client_host_address, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EnvelopeResponse:
    """EnvelopeResponse, version 0."""

    __slots__ = ("response_data", "error_code", "unknown_tags")

    response_data: bytes | None
    error_code: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> EnvelopeResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if self.response_data is None:
            append(b"\0")
        else:
            append(encode_compact_size(self.response_data))
            append(self.response_data)
        append(_h.pack(self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EnvelopeResponse, int]:
        response_data, position = read_compact_nullable_bytes(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EnvelopeResponse(response_data, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "EnvelopeRequest",
    "EnvelopeResponse",
]
