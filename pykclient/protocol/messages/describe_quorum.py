"""DescribeQuorumRequest, DescribeQuorumResponse.

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
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_H = Struct(">H")
_h = Struct(">h")
_i = Struct(">i")
_iuqqq = Struct(">i16sqqq")
_ih = Struct(">ih")
_iiq = Struct(">iiq")
_iq = Struct(">iq")
_iqqq = Struct(">iqqq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionData:
    """RequestPartitionData, versions 0 to 2."""

    __slots__ = ("partition_index", "unknown_tags")

    partition_index: int
    unknown_tags: dict[int, bytes] | None

    def __init__(self, partition_index: int = 0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestPartitionData, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestPartitionData(partition_index, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTopicData:
    """RequestTopicData, versions 0 to 2."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[RequestPartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[RequestPartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicData, int]:
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, RequestPartitionData._read, 5,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicData(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeQuorumRequest:
    """DescribeQuorumRequest, versions 0 to 2."""

    __slots__ = ("topics", "unknown_tags")

    topics: list[RequestTopicData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[RequestTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeQuorumRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeQuorumRequest, int]:
        topics, position = read_compact_structs(buffer, position, version, RequestTopicData._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeQuorumRequest(topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReplicaState:
    """ReplicaState, versions 0 to 2."""

    __slots__ = (
        "replica_id", "replica_directory_id", "log_end_offset", "last_fetch_timestamp",
        "last_caught_up_timestamp", "unknown_tags",
    )

    replica_id: int
    replica_directory_id: UUID
    log_end_offset: int
    last_fetch_timestamp: int
    last_caught_up_timestamp: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: UUID = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_iuqqq.pack(
                self.replica_id, self.replica_directory_id.bytes, self.log_end_offset, self.last_fetch_timestamp,
                self.last_caught_up_timestamp,
            ))
        elif version >= 1:
            if self.replica_directory_id != ZERO_UUID:
                raise not_carried(self, "replica_directory_id", version)
            append(_iqqq.pack(
                self.replica_id, self.log_end_offset, self.last_fetch_timestamp, self.last_caught_up_timestamp,
            ))
        else:
            if self.replica_directory_id != ZERO_UUID:
                raise not_carried(self, "replica_directory_id", version)
            append(_iq.pack(self.replica_id, self.log_end_offset))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReplicaState, int]:
        if version >= 2:
            (
                replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp,
            ) = _iuqqq.unpack_from(buffer, position)
            position += 44
            replica_directory_id = uuid_of(replica_directory_id)
        elif version >= 1:
            (
                replica_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp,
            ) = _iqqq.unpack_from(buffer, position)
            position += 28
            replica_directory_id = ZERO_UUID
        else:
            replica_id, log_end_offset = _iq.unpack_from(buffer, position)
            position += 12
            replica_directory_id = ZERO_UUID
            last_fetch_timestamp = -1
            last_caught_up_timestamp = -1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReplicaState(
            replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponsePartitionData:
    """ResponsePartitionData, versions 0 to 2."""

    __slots__ = (
        "partition_index", "error_code", "error_message", "leader_id", "leader_epoch", "high_watermark",
        "current_voters", "observers", "unknown_tags",
    )

    partition_index: int
    error_code: int
    error_message: str | None
    leader_id: int
    leader_epoch: int
    high_watermark: int
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = EMPTY,
        observers: list[ReplicaState] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is EMPTY else current_voters
        self.observers = [] if observers is EMPTY else observers
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        append(_iiq.pack(self.leader_id, self.leader_epoch, self.high_watermark))
        append_compact_structs(out, self.current_voters, version)
        append_compact_structs(out, self.observers, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionData, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message = ""
        leader_id, leader_epoch, high_watermark = _iiq.unpack_from(buffer, position)
        position += 16
        current_voters, position = read_compact_structs(
            buffer, position, version, ReplicaState._read, 13,
        )
        observers, position = read_compact_structs(buffer, position, version, ReplicaState._read, 13)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponsePartitionData(
            partition_index, error_code, error_message, leader_id, leader_epoch, high_watermark, current_voters,
            observers, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicData:
    """ResponseTopicData, versions 0 to 2."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[ResponsePartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[ResponsePartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicData, int]:
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, ResponsePartitionData._read, 25,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicData(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Listener:
    """Listener, version 2."""

    __slots__ = ("name", "host", "port", "unknown_tags")

    name: str
    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Listener, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Listener(name, host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Node:
    """Node, version 2."""

    __slots__ = ("node_id", "listeners", "unknown_tags")

    node_id: int
    listeners: list[Listener]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        node_id: int = 0,
        listeners: list[Listener] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.node_id))
        append_compact_structs(out, self.listeners, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Node, int]:
        (node_id,) = _i.unpack_from(buffer, position)
        position += 4
        listeners, position = read_compact_structs(buffer, position, version, Listener._read, 5)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Node(node_id, listeners, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeQuorumResponse:
    """DescribeQuorumResponse, versions 0 to 2."""

    __slots__ = ("error_code", "error_message", "topics", "nodes", "unknown_tags")

    error_code: int
    error_message: str | None
    topics: list[ResponseTopicData]
    nodes: list[Node]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[ResponseTopicData] = EMPTY,
        nodes: list[Node] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics
        self.nodes = [] if nodes is EMPTY else nodes
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeQuorumResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        append_compact_structs(out, self.topics, version)
        if version >= 2:
            append_compact_structs(out, self.nodes, version)
        elif self.nodes:
            raise not_carried(self, "nodes", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeQuorumResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message = ""
        topics, position = read_compact_structs(buffer, position, version, ResponseTopicData._read, 3)
        if version >= 2:
            nodes, position = read_compact_structs(buffer, position, version, Node._read, 6)
        else:
            nodes = []
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeQuorumResponse(error_code, error_message, topics, nodes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeQuorumRequest",
    "DescribeQuorumResponse",
    "Listener",
    "Node",
    "ReplicaState",
    "RequestPartitionData",
    "RequestTopicData",
    "ResponsePartitionData",
    "ResponseTopicData",
]
