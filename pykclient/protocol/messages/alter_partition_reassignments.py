"""AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse.

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
    read_compact_nullable_numbers,
    read_compact_nullable_string,
    read_compact_string,
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

_i = Struct(">i")
_it = Struct(">i?")
_ith = Struct(">i?h")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReassignablePartition:
    """ReassignablePartition, versions 0 to 1."""

    __slots__ = ("partition_index", "replicas", "unknown_tags")

    partition_index: int
    replicas: list[int] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))
        if self.replicas is None:
            append(b"\0")
        else:
            append(encode_compact_numbers(self.replicas, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReassignablePartition, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReassignablePartition(partition_index, replicas, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReassignableTopic:
    """ReassignableTopic, versions 0 to 1."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[ReassignablePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartition] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReassignableTopic, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, ReassignablePartition._read, 6,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReassignableTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterPartitionReassignmentsRequest:
    """AlterPartitionReassignmentsRequest, versions 0 to 1."""

    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics", "unknown_tags")

    timeout_ms: int
    allow_replication_factor_change: bool
    topics: list[ReassignableTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterPartitionReassignmentsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_it.pack(self.timeout_ms, self.allow_replication_factor_change))
        else:
            if not self.allow_replication_factor_change:
                raise not_carried(self, "allow_replication_factor_change", version)
            append(_i.pack(self.timeout_ms))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
        if version >= 1:
            timeout_ms, allow_replication_factor_change = _it.unpack_from(buffer, position)
            position += 5
        else:
            (timeout_ms,) = _i.unpack_from(buffer, position)
            position += 4
            allow_replication_factor_change = True
        topics, position = read_compact_structs(buffer, position, version, ReassignableTopic._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterPartitionReassignmentsRequest(
            timeout_ms, allow_replication_factor_change, topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReassignablePartitionResponse:
    """ReassignablePartitionResponse, versions 0 to 1."""

    __slots__ = ("partition_index", "error_code", "error_message", "unknown_tags")

    partition_index: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReassignablePartitionResponse, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReassignablePartitionResponse(partition_index, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReassignableTopicResponse:
    """ReassignableTopicResponse, versions 0 to 1."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[ReassignablePartitionResponse]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReassignableTopicResponse, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, ReassignablePartitionResponse._read, 8,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReassignableTopicResponse(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterPartitionReassignmentsResponse:
    """AlterPartitionReassignmentsResponse, versions 0 to 1."""

    __slots__ = (
        "throttle_time_ms", "allow_replication_factor_change", "error_code", "error_message", "responses",
        "unknown_tags",
    )

    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: list[ReassignableTopicResponse]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterPartitionReassignmentsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ith.pack(self.throttle_time_ms, self.allow_replication_factor_change, self.error_code))
        else:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append_compact_structs(out, self.responses, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
        if version >= 1:
            throttle_time_ms, allow_replication_factor_change, error_code = _ith.unpack_from(buffer, position)
            position += 7
        else:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
            allow_replication_factor_change = True
        error_message, position = read_compact_nullable_string(buffer, position)
        responses, position = read_compact_structs(
            buffer, position, version, ReassignableTopicResponse._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterPartitionReassignmentsResponse(
            throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "ReassignablePartition",
    "ReassignablePartitionResponse",
    "ReassignableTopic",
    "ReassignableTopicResponse",
]
