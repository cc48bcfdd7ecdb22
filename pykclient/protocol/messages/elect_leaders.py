"""ElectLeadersRequest, ElectLeadersResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.wire import (
    Buffer,
    EMPTY,
    append_tags,
    encode_compact_count,
    encode_compact_nullable_string,
    encode_compact_string,
    encode_count,
    encode_nullable_string,
    encode_numbers,
    encode_string,
    not_carried,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_nullable_string,
    read_compact_string,
    read_count,
    read_message,
    read_nullable_count,
    read_nullable_string,
    read_numbers,
    read_string,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_b = Struct(">b")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartitions:
    """TopicPartitions, versions 0 to 2."""

    __slots__ = ('topic', 'partitions', 'unknown_tags')

    topic: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 2:
            append(encode_compact_count(self.partitions))
            append(encode_numbers(self.partitions, "i"))
        else:
            append(encode_count(self.partitions))
            append(encode_numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitions, int]:
        if version >= 2:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        partitions: list[int]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 4)
            partitions, position = read_numbers(buffer, position, count, "i")
        else:
            count, position = read_count(buffer, position, 4)
            partitions, position = read_numbers(buffer, position, count, "i")
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return TopicPartitions(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ElectLeadersRequest:
    """ElectLeadersRequest, versions 0 to 2."""

    __slots__ = ('election_type', 'topic_partitions', 'timeout_ms', 'unknown_tags')

    election_type: int
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = EMPTY,
        timeout_ms: int = 60000,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 2)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ElectLeadersRequest:
        return read_message("ElectLeadersRequest", cls._read, buffer, position, version, (0, 2))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_b.pack(self.election_type))
        else:
            if self.election_type != 0:
                raise not_carried(self, "election_type", version)
        if version >= 2:
            if self.topic_partitions is None:
                append(b"\0")
            else:
                append(encode_compact_count(self.topic_partitions))
                for item in self.topic_partitions:
                    item._write(out, version)
        else:
            if self.topic_partitions is None:
                append(b"\xff\xff\xff\xff")
            else:
                append(encode_count(self.topic_partitions))
                for item in self.topic_partitions:
                    item._write(out, version)
        append(_i.pack(self.timeout_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ElectLeadersRequest, int]:
        if version >= 1:
            (election_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            election_type = 0
        topic_partitions: list[TopicPartitions] | None
        if version >= 2:
            count, position = read_compact_nullable_count(buffer, position, 3)
            if count < 0:
                topic_partitions = None
            else:
                topic_partitions, position = read_structs(buffer, position, version, count, TopicPartitions._read)
        else:
            count, position = read_nullable_count(buffer, position, 3)
            if count < 0:
                topic_partitions = None
            else:
                topic_partitions, position = read_structs(buffer, position, version, count, TopicPartitions._read)
        (timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ElectLeadersRequest(election_type, topic_partitions, timeout_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionResult:
    """PartitionResult, versions 0 to 2."""

    __slots__ = ('partition_id', 'error_code', 'error_message', 'unknown_tags')

    partition_id: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_id, self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionResult, int]:
        partition_id, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message: str | None
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return PartitionResult(partition_id, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReplicaElectionResult:
    """ReplicaElectionResult, versions 0 to 2."""

    __slots__ = ('topic', 'partition_result', 'unknown_tags')

    topic: str
    partition_result: list[PartitionResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        partition_result: list[PartitionResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is EMPTY else partition_result
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.topic))
        else:
            append(encode_string(self.topic))
        if version >= 2:
            append(encode_compact_count(self.partition_result))
            for item in self.partition_result:
                item._write(out, version)
        else:
            append(encode_count(self.partition_result))
            for item in self.partition_result:
                item._write(out, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReplicaElectionResult, int]:
        if version >= 2:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        partition_result: list[PartitionResult]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 8)
            partition_result, position = read_structs(buffer, position, version, count, PartitionResult._read)
        else:
            count, position = read_count(buffer, position, 8)
            partition_result, position = read_structs(buffer, position, version, count, PartitionResult._read)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ReplicaElectionResult(topic, partition_result, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ElectLeadersResponse:
    """ElectLeadersResponse, versions 0 to 2."""

    __slots__ = ('throttle_time_ms', 'error_code', 'replica_election_results', 'unknown_tags')

    throttle_time_ms: int
    error_code: int
    replica_election_results: list[ReplicaElectionResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is EMPTY else replica_election_results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 2)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ElectLeadersResponse:
        return read_message("ElectLeadersResponse", cls._read, buffer, position, version, (0, 2))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            if self.error_code != 0:
                raise not_carried(self, "error_code", version)
            append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append(encode_compact_count(self.replica_election_results))
            for item in self.replica_election_results:
                item._write(out, version)
        else:
            append(encode_count(self.replica_election_results))
            for item in self.replica_election_results:
                item._write(out, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ElectLeadersResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        replica_election_results: list[ReplicaElectionResult]
        if version >= 2:
            count, position = read_compact_count(buffer, position, 3)
            replica_election_results, position = read_structs(buffer, position, version, count, ReplicaElectionResult._read)
        else:
            count, position = read_count(buffer, position, 3)
            replica_election_results, position = read_structs(buffer, position, version, count, ReplicaElectionResult._read)
        if version >= 2:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "PartitionResult",
    "ReplicaElectionResult",
    "TopicPartitions",
]
