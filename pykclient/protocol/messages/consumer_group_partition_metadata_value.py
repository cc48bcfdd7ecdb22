"""ConsumerGroupPartitionMetadataValue.

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
    encode_compact_string,
    encode_compact_strings,
    read_compact_string,
    read_compact_strings,
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
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionMetadata:
    """PartitionMetadata, version 0."""

    __slots__ = ("partition", "racks", "unknown_tags")

    partition: int
    racks: list[str]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        racks: list[str] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.racks = [] if racks is EMPTY else racks
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition))
        append(encode_compact_strings(self.racks))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionMetadata, int]:
        (partition,) = _i.unpack_from(buffer, position)
        position += 4
        racks, position = read_compact_strings(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionMetadata(partition, racks, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicMetadata:
    """TopicMetadata, version 0."""

    __slots__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata", "unknown_tags")

    topic_id: UUID
    topic_name: str
    num_partitions: int
    partition_metadata: list[PartitionMetadata]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is EMPTY else partition_metadata
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_string(self.topic_name))
        append(_i.pack(self.num_partitions))
        append_compact_structs(out, self.partition_metadata, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicMetadata, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        topic_name, position = read_compact_string(buffer, position)
        (num_partitions,) = _i.unpack_from(buffer, position)
        position += 4
        partition_metadata, position = read_compact_structs(
            buffer, position, version, PartitionMetadata._read, 6,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicMetadata(topic_id, topic_name, num_partitions, partition_metadata, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupPartitionMetadataValue:
    """ConsumerGroupPartitionMetadataValue, version 0."""

    __slots__ = ("topics", "unknown_tags")

    topics: list[TopicMetadata]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[TopicMetadata] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupPartitionMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
        topics, position = read_compact_structs(buffer, position, version, TopicMetadata._read, 23)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConsumerGroupPartitionMetadataValue(topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConsumerGroupPartitionMetadataValue",
    "PartitionMetadata",
    "TopicMetadata",
]
