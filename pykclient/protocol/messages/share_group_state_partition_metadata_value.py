"""ShareGroupStatePartitionMetadataValue.

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
    encode_compact_string,
    read_compact_numbers,
    read_compact_string,
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
class TopicPartitionsInfo:
    """TopicPartitionsInfo, version 0."""

    __slots__ = ("topic_id", "topic_name", "partitions", "unknown_tags")

    topic_id: UUID
    topic_name: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_string(self.topic_name))
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitionsInfo, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartitionsInfo(topic_id, topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicInfo:
    """TopicInfo, version 0."""

    __slots__ = ("topic_id", "topic_name", "unknown_tags")

    topic_id: UUID
    topic_name: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        topic_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_string(self.topic_name))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicInfo, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        topic_name, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicInfo(topic_id, topic_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupStatePartitionMetadataValue:
    """ShareGroupStatePartitionMetadataValue, version 0."""

    __slots__ = ("initializing_topics", "initialized_topics", "deleting_topics", "unknown_tags")

    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        initializing_topics: list[TopicPartitionsInfo] = EMPTY,
        initialized_topics: list[TopicPartitionsInfo] = EMPTY,
        deleting_topics: list[TopicInfo] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.initializing_topics = [] if initializing_topics is EMPTY else initializing_topics
        self.initialized_topics = [] if initialized_topics is EMPTY else initialized_topics
        self.deleting_topics = [] if deleting_topics is EMPTY else deleting_topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupStatePartitionMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.initializing_topics, version)
        append_compact_structs(out, self.initialized_topics, version)
        append_compact_structs(out, self.deleting_topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
        initializing_topics, position = read_compact_structs(
            buffer, position, version, TopicPartitionsInfo._read, 19,
        )
        initialized_topics, position = read_compact_structs(
            buffer, position, version, TopicPartitionsInfo._read, 19,
        )
        deleting_topics, position = read_compact_structs(buffer, position, version, TopicInfo._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareGroupStatePartitionMetadataValue(
            initializing_topics, initialized_topics, deleting_topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupStatePartitionMetadataValue",
    "TopicInfo",
    "TopicPartitionsInfo",
]
