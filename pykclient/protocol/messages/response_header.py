"""ResponseHeader.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
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

_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseHeader:
    """ResponseHeader, versions 0 to 1."""

    __slots__ = ("correlation_id", "unknown_tags")

    correlation_id: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(self, correlation_id: int = 0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.correlation_id = correlation_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ResponseHeader:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.correlation_id))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseHeader, int]:
        (correlation_id,) = _i.unpack_from(buffer, position)
        position += 4
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseHeader(correlation_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ResponseHeader",
]
