"""ShareGroupTargetAssignmentMemberValue.

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
    encode_compact_numbers,
    read_compact_numbers,
    uuid_of,
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

_u = Struct(">16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartition:
    """TopicPartition, version 0."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartition, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartition(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupTargetAssignmentMemberValue:
    """ShareGroupTargetAssignmentMemberValue, version 0."""

    __slots__ = ("topic_partitions", "unknown_tags")

    topic_partitions: list[TopicPartition]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topic_partitions: list[TopicPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupTargetAssignmentMemberValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topic_partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
        topic_partitions, position = read_compact_structs(
            buffer, position, version, TopicPartition._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareGroupTargetAssignmentMemberValue(topic_partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupTargetAssignmentMemberValue",
    "TopicPartition",
]
