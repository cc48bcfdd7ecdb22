"""InitializeShareGroupStateRequest, InitializeShareGroupStateResponse.

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
_iiq = Struct(">iiq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionData:
    """PartitionData, version 0."""

    __slots__ = ("partition", "state_epoch", "start_offset", "unknown_tags")

    partition: int
    state_epoch: int
    start_offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iiq.pack(self.partition, self.state_epoch, self.start_offset))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionData, int]:
        partition, state_epoch, start_offset = _iiq.unpack_from(buffer, position)
        position += 16
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionData(partition, state_epoch, start_offset, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitializeStateData:
    """InitializeStateData, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitializeStateData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, PartitionData._read, 17)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitializeStateData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitializeShareGroupStateRequest:
    """InitializeShareGroupStateRequest, version 0."""

    __slots__ = ("group_id", "topics", "unknown_tags")

    group_id: str
    topics: list[InitializeStateData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 83
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        topics: list[InitializeStateData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> InitializeShareGroupStateRequest:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitializeShareGroupStateRequest, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_structs(
            buffer, position, version, InitializeStateData._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitializeShareGroupStateRequest(group_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionResult:
    """PartitionResult, version 0."""

    __slots__ = ("partition", "error_code", "error_message", "unknown_tags")

    partition: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionResult, int]:
        partition, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionResult(partition, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitializeStateResult:
    """InitializeStateResult, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitializeStateResult, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, PartitionResult._read, 8)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitializeStateResult(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class InitializeShareGroupStateResponse:
    """InitializeShareGroupStateResponse, version 0."""

    __slots__ = ("results", "unknown_tags")

    results: list[InitializeStateResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 83
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        results: list[InitializeStateResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> InitializeShareGroupStateResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.results, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[InitializeShareGroupStateResponse, int]:
        results, position = read_compact_structs(
            buffer, position, version, InitializeStateResult._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return InitializeShareGroupStateResponse(results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "InitializeShareGroupStateRequest",
    "InitializeShareGroupStateResponse",
    "InitializeStateData",
    "InitializeStateResult",
    "PartitionData",
    "PartitionResult",
]
