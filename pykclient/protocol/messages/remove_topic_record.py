"""RemoveTopicRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    uuid_of,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoveTopicRecord:
    """RemoveTopicRecord, version 0."""

    __slots__ = ("topic_id", "unknown_tags")

    topic_id: UUID
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(self, topic_id: UUID = ZERO_UUID, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.topic_id = topic_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemoveTopicRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoveTopicRecord, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemoveTopicRecord(topic_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RemoveTopicRecord",
]
