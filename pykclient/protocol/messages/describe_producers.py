"""DescribeProducersRequest, DescribeProducersResponse.

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
    encode_compact_numbers,
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
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

_i = Struct(">i")
_ih = Struct(">ih")
_qiiqiq = Struct(">qiiqiq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicRequest:
    """TopicRequest, version 0."""

    __slots__ = ("name", "partition_indexes", "unknown_tags")

    name: str
    partition_indexes: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_numbers(self.partition_indexes, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicRequest, int]:
        name, position = read_compact_string(buffer, position)
        partition_indexes, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicRequest(name, partition_indexes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeProducersRequest:
    """DescribeProducersRequest, version 0."""

    __slots__ = ("topics", "unknown_tags")

    topics: list[TopicRequest]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeProducersRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeProducersRequest, int]:
        topics, position = read_compact_structs(buffer, position, version, TopicRequest._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeProducersRequest(topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ProducerState:
    """ProducerState, version 0."""

    __slots__ = (
        "producer_id", "producer_epoch", "last_sequence", "last_timestamp", "coordinator_epoch",
        "current_txn_start_offset", "unknown_tags",
    )

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qiiqiq.pack(
            self.producer_id, self.producer_epoch, self.last_sequence, self.last_timestamp,
            self.coordinator_epoch, self.current_txn_start_offset,
        ))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ProducerState, int]:
        (
            producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch,
            current_txn_start_offset,
        ) = _qiiqiq.unpack_from(buffer, position)
        position += 36
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ProducerState(
            producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch,
            current_txn_start_offset, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionResponse:
    """PartitionResponse, version 0."""

    __slots__ = ("partition_index", "error_code", "error_message", "active_producers", "unknown_tags")

    partition_index: int
    error_code: int
    error_message: str | None
    active_producers: list[ProducerState]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is EMPTY else active_producers
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append_compact_structs(out, self.active_producers, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionResponse, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        active_producers, position = read_compact_structs(
            buffer, position, version, ProducerState._read, 37,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionResponse(partition_index, error_code, error_message, active_producers, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicResponse:
    """TopicResponse, version 0."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[PartitionResponse]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[PartitionResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicResponse, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, PartitionResponse._read, 9,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicResponse(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeProducersResponse:
    """DescribeProducersResponse, version 0."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[TopicResponse]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeProducersResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeProducersResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        topics, position = read_compact_structs(buffer, position, version, TopicResponse._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeProducersResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeProducersRequest",
    "DescribeProducersResponse",
    "PartitionResponse",
    "ProducerState",
    "TopicRequest",
    "TopicResponse",
]
