"""ConsumerGroupRegularExpressionValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_strings,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupRegularExpressionValue:
    """ConsumerGroupRegularExpressionValue, version 0."""

    __slots__ = ("topics", "version", "timestamp", "unknown_tags")

    topics: list[str]
    version: int
    timestamp: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[str] = EMPTY,
        version: int = 0,
        timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.version = version
        self.timestamp = timestamp
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupRegularExpressionValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_strings(self.topics))
        append(_qq.pack(self.version, self.timestamp))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
        topics, position = read_compact_strings(buffer, position)
        version_, timestamp = _qq.unpack_from(buffer, position)
        position += 16
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConsumerGroupRegularExpressionValue(topics, version_, timestamp, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConsumerGroupRegularExpressionValue",
]
