"""ListOffsetsRequest, ListOffsetsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    encode_string,
    read_compact_string,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ib = Struct(">ib")
_ihqq = Struct(">ihqq")
_ihqqi = Struct(">ihqqi")
_iiq = Struct(">iiq")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsPartition:
    """ListOffsetsPartition, versions 1 to 11."""

    __slots__ = ("partition_index", "current_leader_epoch", "timestamp", "unknown_tags")

    partition_index: int
    current_leader_epoch: int
    timestamp: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(_iiq.pack(self.partition_index, self.current_leader_epoch, self.timestamp))
        else:
            append(_iq.pack(self.partition_index, self.timestamp))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsPartition, int]:
        if version >= 4:
            partition_index, current_leader_epoch, timestamp = _iiq.unpack_from(buffer, position)
            position += 16
        else:
            partition_index, timestamp = _iq.unpack_from(buffer, position)
            position += 12
            current_leader_epoch = -1
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsPartition(partition_index, current_leader_epoch, timestamp, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsTopic:
    """ListOffsetsTopic, versions 1 to 11."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[ListOffsetsPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 6:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsTopic, int]:
        if version >= 6:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            partitions, position = read_compact_structs(
                buffer, position, version, ListOffsetsPartition._read, 12,
            )
        else:
            partitions, position = read_structs(buffer, position, version, ListOffsetsPartition._read, 12)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsRequest:
    """ListOffsetsRequest, versions 1 to 11."""

    __slots__ = ("replica_id", "isolation_level", "topics", "timeout_ms", "unknown_tags")

    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsTopic]
    timeout_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = EMPTY,
        timeout_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListOffsetsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_ib.pack(self.replica_id, self.isolation_level))
        else:
            if self.isolation_level != 0:
                raise not_carried(self, "isolation_level", version)
            append(_i.pack(self.replica_id))
        if version >= 6:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 10:
            append(_i.pack(self.timeout_ms))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsRequest, int]:
        if version >= 2:
            replica_id, isolation_level = _ib.unpack_from(buffer, position)
            position += 5
        else:
            (replica_id,) = _i.unpack_from(buffer, position)
            position += 4
            isolation_level = 0
        if version >= 6:
            topics, position = read_compact_structs(buffer, position, version, ListOffsetsTopic._read, 3)
        else:
            topics, position = read_structs(buffer, position, version, ListOffsetsTopic._read, 3)
        if version >= 10:
            (timeout_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            timeout_ms = 0
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsPartitionResponse:
    """ListOffsetsPartitionResponse, versions 1 to 11."""

    __slots__ = ("partition_index", "error_code", "timestamp", "offset", "leader_epoch", "unknown_tags")

    partition_index: int
    error_code: int
    timestamp: int
    offset: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(_ihqqi.pack(self.partition_index, self.error_code, self.timestamp, self.offset, self.leader_epoch))
        else:
            if self.leader_epoch != -1:
                raise not_carried(self, "leader_epoch", version)
            append(_ihqq.pack(self.partition_index, self.error_code, self.timestamp, self.offset))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsPartitionResponse, int]:
        if version >= 4:
            partition_index, error_code, timestamp, offset, leader_epoch = _ihqqi.unpack_from(buffer, position)
            position += 26
        else:
            partition_index, error_code, timestamp, offset = _ihqq.unpack_from(buffer, position)
            position += 22
            leader_epoch = -1
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsPartitionResponse(
            partition_index, error_code, timestamp, offset, leader_epoch, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsTopicResponse:
    """ListOffsetsTopicResponse, versions 1 to 11."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[ListOffsetsPartitionResponse]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 6:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsTopicResponse, int]:
        if version >= 6:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            partitions, position = read_compact_structs(
                buffer, position, version, ListOffsetsPartitionResponse._read, 22,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, ListOffsetsPartitionResponse._read, 22,
            )
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsTopicResponse(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListOffsetsResponse:
    """ListOffsetsResponse, versions 1 to 11."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[ListOffsetsTopicResponse]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListOffsetsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_i.pack(self.throttle_time_ms))
        if version >= 6:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListOffsetsResponse, int]:
        if version >= 2:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        if version >= 6:
            topics, position = read_compact_structs(
                buffer, position, version, ListOffsetsTopicResponse._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, ListOffsetsTopicResponse._read, 3)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListOffsetsResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ListOffsetsPartition",
    "ListOffsetsPartitionResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "ListOffsetsTopic",
    "ListOffsetsTopicResponse",
]
