"""ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse.

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
    encode_compact_strings,
    read_compact_nullable_string,
    read_compact_nullable_strings,
    read_compact_numbers,
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
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupHeartbeatRequest:
    """ShareGroupHeartbeatRequest, version 1."""

    __slots__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names", "unknown_tags")

    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None
    subscribed_topic_names: list[str] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupHeartbeatRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append(encode_compact_string(self.member_id))
        append(_i.pack(self.member_epoch))
        append(encode_compact_nullable_string(self.rack_id))
        if self.subscribed_topic_names is None:
            append(b"\0")
        else:
            append(encode_compact_strings(self.subscribed_topic_names))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupHeartbeatRequest, int]:
        group_id, position = read_compact_string(buffer, position)
        member_id, position = read_compact_string(buffer, position)
        (member_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        rack_id, position = read_compact_nullable_string(buffer, position)
        subscribed_topic_names, position = read_compact_nullable_strings(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareGroupHeartbeatRequest(
            group_id, member_id, member_epoch, rack_id, subscribed_topic_names, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartitions:
    """TopicPartitions, version 1."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitions, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartitions(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Assignment:
    """Assignment, version 1."""

    __slots__ = ("topic_partitions", "unknown_tags")

    topic_partitions: list[TopicPartitions]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.topic_partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Assignment, int]:
        topic_partitions, position = read_compact_structs(
            buffer, position, version, TopicPartitions._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Assignment(topic_partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupHeartbeatResponse:
    """ShareGroupHeartbeatResponse, version 1."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch",
        "heartbeat_interval_ms", "assignment", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupHeartbeatResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(encode_compact_nullable_string(self.member_id))
        append(_ii.pack(self.member_epoch, self.heartbeat_interval_ms))
        if self.assignment is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.assignment._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupHeartbeatResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        member_id, position = read_compact_nullable_string(buffer, position)
        member_epoch, heartbeat_interval_ms = _ii.unpack_from(buffer, position)
        position += 8
        assignment: Assignment | None
        position += 1
        if buffer[position - 1] >= 0x80:
            assignment = None
        else:
            assignment, position = Assignment._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareGroupHeartbeatResponse(
            throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms,
            assignment, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Assignment",
    "ShareGroupHeartbeatRequest",
    "ShareGroupHeartbeatResponse",
    "TopicPartitions",
]
