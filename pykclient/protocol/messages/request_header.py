"""RequestHeader.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_nullable_string,
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

_hhi = Struct(">hhi")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestHeader:
    """RequestHeader, versions 1 to 2."""

    __slots__ = ("request_api_key", "request_api_version", "correlation_id", "client_id", "unknown_tags")

    request_api_key: int
    request_api_version: int
    correlation_id: int
    client_id: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RequestHeader:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hhi.pack(self.request_api_key, self.request_api_version, self.correlation_id))
        append(encode_nullable_string(self.client_id))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestHeader, int]:
        request_api_key, request_api_version, correlation_id = _hhi.unpack_from(buffer, position)
        position += 8
        client_id, position = read_nullable_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestHeader(request_api_key, request_api_version, correlation_id, client_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RequestHeader",
]
