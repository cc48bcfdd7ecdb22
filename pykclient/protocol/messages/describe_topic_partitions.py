"""DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse.

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
    encode_compact_nullable_string,
    encode_compact_numbers,
    encode_compact_string,
    read_compact_nullable_numbers,
    read_compact_nullable_string,
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

_ut = Struct(">16s?")
_h = Struct(">h")
_hiii = Struct(">hiii")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicRequest:
    """TopicRequest, version 0."""

    __slots__ = ("name", "unknown_tags")

    name: str
    unknown_tags: dict[int, bytes] | None

    def __init__(self, name: str = "", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.name = name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicRequest, int]:
        name, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicRequest(name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestCursor:
    """RequestCursor, version 0."""

    __slots__ = ("topic_name", "partition_index", "unknown_tags")

    topic_name: str
    partition_index: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append(_i.pack(self.partition_index))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestCursor, int]:
        topic_name, position = read_compact_string(buffer, position)
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestCursor(topic_name, partition_index, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeTopicPartitionsRequest:
    """DescribeTopicPartitionsRequest, version 0."""

    __slots__ = ("topics", "response_partition_limit", "cursor", "unknown_tags")

    topics: list[TopicRequest]
    response_partition_limit: int
    cursor: RequestCursor | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
        response_partition_limit: int = 2000,
        cursor: RequestCursor | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeTopicPartitionsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topics, version)
        append(_i.pack(self.response_partition_limit))
        if self.cursor is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.cursor._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeTopicPartitionsRequest, int]:
        topics, position = read_compact_structs(buffer, position, version, TopicRequest._read, 2)
        (response_partition_limit,) = _i.unpack_from(buffer, position)
        position += 4
        cursor: RequestCursor | None
        position += 1
        if buffer[position - 1] >= 0x80:
            cursor = None
        else:
            cursor, position = RequestCursor._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeTopicPartitionsResponsePartition:
    """DescribeTopicPartitionsResponsePartition, version 0."""

    __slots__ = (
        "error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes",
        "eligible_leader_replicas", "last_known_elr", "offline_replicas", "unknown_tags",
    )

    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    offline_replicas: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hiii.pack(self.error_code, self.partition_index, self.leader_id, self.leader_epoch))
        append(encode_compact_numbers(self.replica_nodes, "i"))
        append(encode_compact_numbers(self.isr_nodes, "i"))
        if self.eligible_leader_replicas is None:
            append(b"\0")
        else:
            append(encode_compact_numbers(self.eligible_leader_replicas, "i"))
        if self.last_known_elr is None:
            append(b"\0")
        else:
            append(encode_compact_numbers(self.last_known_elr, "i"))
        append(encode_compact_numbers(self.offline_replicas, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeTopicPartitionsResponsePartition, int]:
        error_code, partition_index, leader_id, leader_epoch = _hiii.unpack_from(buffer, position)
        position += 14
        replica_nodes, position = read_compact_numbers(buffer, position, "i", 4)
        isr_nodes, position = read_compact_numbers(buffer, position, "i", 4)
        eligible_leader_replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
        last_known_elr, position = read_compact_nullable_numbers(buffer, position, "i", 4)
        offline_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeTopicPartitionsResponsePartition(
            error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes,
            eligible_leader_replicas, last_known_elr, offline_replicas, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeTopicPartitionsResponseTopic:
    """DescribeTopicPartitionsResponseTopic, version 0."""

    __slots__ = (
        "error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations",
        "unknown_tags",
    )

    error_code: int
    name: str | None
    topic_id: UUID
    is_internal: bool
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: UUID = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        append(encode_compact_nullable_string(self.name))
        append(_ut.pack(self.topic_id.bytes, self.is_internal))
        append_compact_structs(out, self.partitions, version)
        append(_i.pack(self.topic_authorized_operations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeTopicPartitionsResponseTopic, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        name, position = read_compact_nullable_string(buffer, position)
        topic_id, is_internal = _ut.unpack_from(buffer, position)
        position += 17
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, DescribeTopicPartitionsResponsePartition._read, 20,
        )
        (topic_authorized_operations,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeTopicPartitionsResponseTopic(
            error_code, name, topic_id, is_internal, partitions, topic_authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseCursor:
    """ResponseCursor, version 0."""

    __slots__ = ("topic_name", "partition_index", "unknown_tags")

    topic_name: str
    partition_index: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append(_i.pack(self.partition_index))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseCursor, int]:
        topic_name, position = read_compact_string(buffer, position)
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseCursor(topic_name, partition_index, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeTopicPartitionsResponse:
    """DescribeTopicPartitionsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "topics", "next_cursor", "unknown_tags")

    throttle_time_ms: int
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: ResponseCursor | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = EMPTY,
        next_cursor: ResponseCursor | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.next_cursor = next_cursor
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeTopicPartitionsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        append_compact_structs(out, self.topics, version)
        if self.next_cursor is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.next_cursor._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeTopicPartitionsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        topics, position = read_compact_structs(
            buffer, position, version, DescribeTopicPartitionsResponseTopic._read, 26,
        )
        next_cursor: ResponseCursor | None
        position += 1
        if buffer[position - 1] >= 0x80:
            next_cursor = None
        else:
            next_cursor, position = ResponseCursor._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponse",
    "DescribeTopicPartitionsResponsePartition",
    "DescribeTopicPartitionsResponseTopic",
    "RequestCursor",
    "ResponseCursor",
    "TopicRequest",
]
