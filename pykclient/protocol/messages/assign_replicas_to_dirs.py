"""AssignReplicasToDirsRequest, AssignReplicasToDirsResponse.

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
_ih = Struct(">ih")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionData:
    """RequestPartitionData, version 0."""

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
    """RequestTopicData, version 0."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[RequestPartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[RequestPartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, RequestPartitionData._read, 5,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestDirectoryData:
    """RequestDirectoryData, version 0."""

    __slots__ = ("id", "topics", "unknown_tags")

    id: UUID
    topics: list[RequestTopicData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        id: UUID = ZERO_UUID,
        topics: list[RequestTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.id.bytes)
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestDirectoryData, int]:
        (id,) = _u.unpack_from(buffer, position)
        position += 16
        id = uuid_of(id)
        topics, position = read_compact_structs(buffer, position, version, RequestTopicData._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestDirectoryData(id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AssignReplicasToDirsRequest:
    """AssignReplicasToDirsRequest, version 0."""

    __slots__ = ("broker_id", "broker_epoch", "directories", "unknown_tags")

    broker_id: int
    broker_epoch: int
    directories: list[RequestDirectoryData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[RequestDirectoryData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is EMPTY else directories
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AssignReplicasToDirsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.broker_id, self.broker_epoch))
        append_compact_structs(out, self.directories, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AssignReplicasToDirsRequest, int]:
        broker_id, broker_epoch = _iq.unpack_from(buffer, position)
        position += 12
        directories, position = read_compact_structs(
            buffer, position, version, RequestDirectoryData._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AssignReplicasToDirsRequest(broker_id, broker_epoch, directories, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponsePartitionData:
    """ResponsePartitionData, version 0."""

    __slots__ = ("partition_index", "error_code", "unknown_tags")

    partition_index: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionData, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponsePartitionData(partition_index, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicData:
    """ResponseTopicData, version 0."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[ResponsePartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[ResponsePartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, ResponsePartitionData._read, 7,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseDirectoryData:
    """ResponseDirectoryData, version 0."""

    __slots__ = ("id", "topics", "unknown_tags")

    id: UUID
    topics: list[ResponseTopicData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        id: UUID = ZERO_UUID,
        topics: list[ResponseTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.id.bytes)
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseDirectoryData, int]:
        (id,) = _u.unpack_from(buffer, position)
        position += 16
        id = uuid_of(id)
        topics, position = read_compact_structs(buffer, position, version, ResponseTopicData._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseDirectoryData(id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AssignReplicasToDirsResponse:
    """AssignReplicasToDirsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "directories", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    directories: list[ResponseDirectoryData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[ResponseDirectoryData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = [] if directories is EMPTY else directories
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AssignReplicasToDirsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append_compact_structs(out, self.directories, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AssignReplicasToDirsResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        directories, position = read_compact_structs(
            buffer, position, version, ResponseDirectoryData._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AssignReplicasToDirsResponse(throttle_time_ms, error_code, directories, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AssignReplicasToDirsRequest",
    "AssignReplicasToDirsResponse",
    "RequestDirectoryData",
    "RequestPartitionData",
    "RequestTopicData",
    "ResponseDirectoryData",
    "ResponsePartitionData",
    "ResponseTopicData",
]
