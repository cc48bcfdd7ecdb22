"""ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse.

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
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListPartitionReassignmentsTopics:
    """ListPartitionReassignmentsTopics, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListPartitionReassignmentsTopics, int]:
        name, position = read_compact_string(buffer, position)
        partition_indexes, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListPartitionReassignmentsTopics(name, partition_indexes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListPartitionReassignmentsRequest:
    """ListPartitionReassignmentsRequest, version 0."""

    __slots__ = ("timeout_ms", "topics", "unknown_tags")

    timeout_ms: int
    topics: list[ListPartitionReassignmentsTopics] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListPartitionReassignmentsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.timeout_ms))
        if self.topics is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListPartitionReassignmentsRequest, int]:
        (timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        topics, position = read_compact_nullable_structs(
            buffer, position, version, ListPartitionReassignmentsTopics._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListPartitionReassignmentsRequest(timeout_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OngoingPartitionReassignment:
    """OngoingPartitionReassignment, version 0."""

    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas", "unknown_tags")

    partition_index: int
    replicas: list[int]
    adding_replicas: list[int]
    removing_replicas: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is EMPTY else replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))
        append(encode_compact_numbers(self.replicas, "i"))
        append(encode_compact_numbers(self.adding_replicas, "i"))
        append(encode_compact_numbers(self.removing_replicas, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OngoingPartitionReassignment, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        replicas, position = read_compact_numbers(buffer, position, "i", 4)
        adding_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        removing_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OngoingPartitionReassignment(
            partition_index, replicas, adding_replicas, removing_replicas, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OngoingTopicReassignment:
    """OngoingTopicReassignment, version 0."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[OngoingPartitionReassignment]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OngoingTopicReassignment, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, OngoingPartitionReassignment._read, 8,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OngoingTopicReassignment(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListPartitionReassignmentsResponse:
    """ListPartitionReassignmentsResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: list[OngoingTopicReassignment]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListPartitionReassignmentsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListPartitionReassignmentsResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        topics, position = read_compact_structs(
            buffer, position, version, OngoingTopicReassignment._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListPartitionReassignmentsResponse(
            throttle_time_ms, error_code, error_message, topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ListPartitionReassignmentsRequest",
    "ListPartitionReassignmentsResponse",
    "ListPartitionReassignmentsTopics",
    "OngoingPartitionReassignment",
    "OngoingTopicReassignment",
]
