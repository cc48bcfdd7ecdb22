"""DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse.

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
    encode_compact_numbers,
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    uuid_of,
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

_u = Struct(">16s")
_h = Struct(">h")
_i = Struct(">i")
_iqih = Struct(">iqih")
_iqiqh = Struct(">iqiqh")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsRequestTopic:
    """DescribeShareGroupOffsetsRequestTopic, versions 0 to 1."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestTopic, int]:
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsRequestTopic(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsRequestGroup:
    """DescribeShareGroupOffsetsRequestGroup, versions 0 to 1."""

    __slots__ = ("group_id", "topics", "unknown_tags")

    group_id: str
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        if self.topics is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestGroup, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_nullable_structs(
            buffer, position, version, DescribeShareGroupOffsetsRequestTopic._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsRequestGroup(group_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsRequest:
    """DescribeShareGroupOffsetsRequest, versions 0 to 1."""

    __slots__ = ("groups", "unknown_tags")

    groups: list[DescribeShareGroupOffsetsRequestGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeShareGroupOffsetsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.groups, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
        groups, position = read_compact_structs(
            buffer, position, version, DescribeShareGroupOffsetsRequestGroup._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsRequest(groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsResponsePartition:
    """DescribeShareGroupOffsetsResponsePartition, versions 0 to 1."""

    __slots__ = (
        "partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message",
        "unknown_tags",
    )

    partition_index: int
    start_offset: int
    leader_epoch: int
    lag: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_iqiqh.pack(self.partition_index, self.start_offset, self.leader_epoch, self.lag, self.error_code))
        else:
            append(_iqih.pack(self.partition_index, self.start_offset, self.leader_epoch, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsResponsePartition, int]:
        if version >= 1:
            partition_index, start_offset, leader_epoch, lag, error_code = _iqiqh.unpack_from(buffer, position)
            position += 26
        else:
            partition_index, start_offset, leader_epoch, error_code = _iqih.unpack_from(buffer, position)
            position += 18
            lag = -1
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsResponsePartition(
            partition_index, start_offset, leader_epoch, lag, error_code, error_message, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsResponseTopic:
    """DescribeShareGroupOffsetsResponseTopic, versions 0 to 1."""

    __slots__ = ("topic_name", "topic_id", "partitions", "unknown_tags")

    topic_name: str
    topic_id: UUID
    partitions: list[DescribeShareGroupOffsetsResponsePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseTopic, int]:
        topic_name, position = read_compact_string(buffer, position)
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, DescribeShareGroupOffsetsResponsePartition._read, 20,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsResponseTopic(topic_name, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsResponseGroup:
    """DescribeShareGroupOffsetsResponseGroup, versions 0 to 1."""

    __slots__ = ("group_id", "topics", "error_code", "error_message", "unknown_tags")

    group_id: str
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = EMPTY,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append_compact_structs(out, self.topics, version)
        append(_h.pack(self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseGroup, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_structs(
            buffer, position, version, DescribeShareGroupOffsetsResponseTopic._read, 19,
        )
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsResponseGroup(group_id, topics, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeShareGroupOffsetsResponse:
    """DescribeShareGroupOffsetsResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "groups", "unknown_tags")

    throttle_time_ms: int
    groups: list[DescribeShareGroupOffsetsResponseGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeShareGroupOffsetsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        append_compact_structs(out, self.groups, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        groups, position = read_compact_structs(
            buffer, position, version, DescribeShareGroupOffsetsResponseGroup._read, 6,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeShareGroupOffsetsResponse(throttle_time_ms, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeShareGroupOffsetsRequest",
    "DescribeShareGroupOffsetsRequestGroup",
    "DescribeShareGroupOffsetsRequestTopic",
    "DescribeShareGroupOffsetsResponse",
    "DescribeShareGroupOffsetsResponseGroup",
    "DescribeShareGroupOffsetsResponsePartition",
    "DescribeShareGroupOffsetsResponseTopic",
]
