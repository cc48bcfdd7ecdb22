"""ElectLeadersRequest, ElectLeadersResponse.

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
    encode_nullable_string,
    encode_numbers,
    encode_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_nullable_string,
    read_numbers,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_nullable_structs,
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

    __slots__ = ("topic", "partitions", "unknown_tags")

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
            append(encode_compact_numbers(self.partitions, "i"))
        else:
            append(encode_numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitions, int]:
        if version >= 2:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 2:
            partitions, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partitions, position = read_numbers(buffer, position, "i", 4)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartitions(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ElectLeadersRequest:
    """ElectLeadersRequest, versions 0 to 2."""

    __slots__ = ("election_type", "topic_partitions", "timeout_ms", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ElectLeadersRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_b.pack(self.election_type))
        elif self.election_type != 0:
            raise not_carried(self, "election_type", version)
        if version >= 2:
            if self.topic_partitions is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.topic_partitions, version)
        else:
            if self.topic_partitions is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.topic_partitions, version)
        append(_i.pack(self.timeout_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ElectLeadersRequest, int]:
        if version >= 1:
            (election_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            election_type = 0
        if version >= 2:
            topic_partitions, position = read_compact_nullable_structs(
                buffer, position, version, TopicPartitions._read, 3,
            )
        else:
            topic_partitions, position = read_nullable_structs(
                buffer, position, version, TopicPartitions._read, 3,
            )
        (timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ElectLeadersRequest(election_type, topic_partitions, timeout_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionResult:
    """PartitionResult, versions 0 to 2."""

    __slots__ = ("partition_id", "error_code", "error_message", "unknown_tags")

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
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionResult, int]:
        partition_id, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionResult(partition_id, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReplicaElectionResult:
    """ReplicaElectionResult, versions 0 to 2."""

    __slots__ = ("topic", "partition_result", "unknown_tags")

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
            append_compact_structs(out, self.partition_result, version)
        else:
            append_structs(out, self.partition_result, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReplicaElectionResult, int]:
        if version >= 2:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 2:
            partition_result, position = read_compact_structs(
                buffer, position, version, PartitionResult._read, 8,
            )
        else:
            partition_result, position = read_structs(buffer, position, version, PartitionResult._read, 8)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReplicaElectionResult(topic, partition_result, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ElectLeadersResponse:
    """ElectLeadersResponse, versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ElectLeadersResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            if self.error_code != 0:
                raise not_carried(self, "error_code", version)
            append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append_compact_structs(out, self.replica_election_results, version)
        else:
            append_structs(out, self.replica_election_results, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ElectLeadersResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        if version >= 2:
            replica_election_results, position = read_compact_structs(
                buffer, position, version, ReplicaElectionResult._read, 3,
            )
        else:
            replica_election_results, position = read_structs(
                buffer, position, version, ReplicaElectionResult._read, 3,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
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
