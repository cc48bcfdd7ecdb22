"""ReadShareGroupStateRequest, ReadShareGroupStateResponse.

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
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_ih = Struct(">ih")
_ii = Struct(">ii")
_iq = Struct(">iq")
_qqbh = Struct(">qqbh")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionData:
    """PartitionData, version 0."""

    __slots__ = ("partition", "leader_epoch", "unknown_tags")

    partition: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.partition, self.leader_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionData, int]:
        partition, leader_epoch = _ii.unpack_from(buffer, position)
        position += 8
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionData(partition, leader_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReadStateData:
    """ReadStateData, version 0."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[PartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReadStateData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, PartitionData._read, 9)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReadStateData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReadShareGroupStateRequest:
    """ReadShareGroupStateRequest, version 0."""

    __slots__ = ("group_id", "topics", "unknown_tags")

    group_id: str
    topics: list[ReadStateData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        topics: list[ReadStateData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ReadShareGroupStateRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReadShareGroupStateRequest, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_structs(buffer, position, version, ReadStateData._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReadShareGroupStateRequest(group_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StateBatch:
    """StateBatch, version 0."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count", "unknown_tags")

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qqbh.pack(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StateBatch, int]:
        first_offset, last_offset, delivery_state, delivery_count = _qqbh.unpack_from(buffer, position)
        position += 19
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StateBatch(first_offset, last_offset, delivery_state, delivery_count, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionResult:
    """PartitionResult, version 0."""

    __slots__ = (
        "partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches",
        "unknown_tags",
    )

    partition: int
    error_code: int
    error_message: str | None
    state_epoch: int
    start_offset: int
    state_batches: list[StateBatch]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: list[StateBatch] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches = [] if state_batches is EMPTY else state_batches
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(_iq.pack(self.state_epoch, self.start_offset))
        append_compact_structs(out, self.state_batches, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionResult, int]:
        partition, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        state_epoch, start_offset = _iq.unpack_from(buffer, position)
        position += 12
        state_batches, position = read_compact_structs(buffer, position, version, StateBatch._read, 20)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionResult(
            partition, error_code, error_message, state_epoch, start_offset, state_batches, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReadStateResult:
    """ReadStateResult, version 0."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[PartitionResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[PartitionResult] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReadStateResult, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, PartitionResult._read, 21,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReadStateResult(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReadShareGroupStateResponse:
    """ReadShareGroupStateResponse, version 0."""

    __slots__ = ("results", "unknown_tags")

    results: list[ReadStateResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        results: list[ReadStateResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ReadShareGroupStateResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.results, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReadShareGroupStateResponse, int]:
        results, position = read_compact_structs(buffer, position, version, ReadStateResult._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReadShareGroupStateResponse(results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PartitionData",
    "PartitionResult",
    "ReadShareGroupStateRequest",
    "ReadShareGroupStateResponse",
    "ReadStateData",
    "ReadStateResult",
    "StateBatch",
]
