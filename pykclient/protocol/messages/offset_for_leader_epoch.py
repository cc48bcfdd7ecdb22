"""OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse.

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

_hiiq = Struct(">hiiq")
_i = Struct(">i")
_iii = Struct(">iii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetForLeaderPartition:
    """OffsetForLeaderPartition, versions 2 to 4."""

    __slots__ = ("partition", "current_leader_epoch", "leader_epoch", "unknown_tags")

    partition: int
    current_leader_epoch: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iii.pack(self.partition, self.current_leader_epoch, self.leader_epoch))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetForLeaderPartition, int]:
        partition, current_leader_epoch, leader_epoch = _iii.unpack_from(buffer, position)
        position += 12
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetForLeaderTopic:
    """OffsetForLeaderTopic, versions 2 to 4."""

    __slots__ = ("topic", "partitions", "unknown_tags")

    topic: str
    partitions: list[OffsetForLeaderPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 4:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetForLeaderTopic, int]:
        if version >= 4:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 4:
            partitions, position = read_compact_structs(
                buffer, position, version, OffsetForLeaderPartition._read, 12,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, OffsetForLeaderPartition._read, 12,
            )
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetForLeaderTopic(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetForLeaderEpochRequest:
    """OffsetForLeaderEpochRequest, versions 2 to 4."""

    __slots__ = ("replica_id", "topics", "unknown_tags")

    replica_id: int
    topics: list[OffsetForLeaderTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetForLeaderEpochRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_i.pack(self.replica_id))
        if version >= 4:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetForLeaderEpochRequest, int]:
        if version >= 3:
            (replica_id,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            replica_id = -2
        if version >= 4:
            topics, position = read_compact_structs(
                buffer, position, version, OffsetForLeaderTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetForLeaderTopic._read, 3)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetForLeaderEpochRequest(replica_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EpochEndOffset:
    """EpochEndOffset, versions 2 to 4."""

    __slots__ = ("error_code", "partition", "leader_epoch", "end_offset", "unknown_tags")

    error_code: int
    partition: int
    leader_epoch: int
    end_offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hiiq.pack(self.error_code, self.partition, self.leader_epoch, self.end_offset))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EpochEndOffset, int]:
        error_code, partition, leader_epoch, end_offset = _hiiq.unpack_from(buffer, position)
        position += 18
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EpochEndOffset(error_code, partition, leader_epoch, end_offset, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetForLeaderTopicResult:
    """OffsetForLeaderTopicResult, versions 2 to 4."""

    __slots__ = ("topic", "partitions", "unknown_tags")

    topic: str
    partitions: list[EpochEndOffset]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partitions: list[EpochEndOffset] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 4:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetForLeaderTopicResult, int]:
        if version >= 4:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 4:
            partitions, position = read_compact_structs(buffer, position, version, EpochEndOffset._read, 18)
        else:
            partitions, position = read_structs(buffer, position, version, EpochEndOffset._read, 18)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetForLeaderTopicResult(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetForLeaderEpochResponse:
    """OffsetForLeaderEpochResponse, versions 2 to 4."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[OffsetForLeaderTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetForLeaderEpochResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 4:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetForLeaderEpochResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 4:
            topics, position = read_compact_structs(
                buffer, position, version, OffsetForLeaderTopicResult._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetForLeaderTopicResult._read, 3)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetForLeaderEpochResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "EpochEndOffset",
    "OffsetForLeaderEpochRequest",
    "OffsetForLeaderEpochResponse",
    "OffsetForLeaderPartition",
    "OffsetForLeaderTopic",
    "OffsetForLeaderTopicResult",
]
