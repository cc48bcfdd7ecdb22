"""ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse.

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
    read_compact_numbers,
    read_compact_string,
    read_compact_strings,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
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
_t = Struct(">?")
_b = Struct(">b")
_h = Struct(">h")
_i = Struct(">i")
_ii = Struct(">ii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupDescribeRequest:
    """ConsumerGroupDescribeRequest, versions 0 to 1."""

    __slots__ = ("group_ids", "include_authorized_operations", "unknown_tags")

    group_ids: list[str]
    include_authorized_operations: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_ids: list[str] = EMPTY,
        include_authorized_operations: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_ids = [] if group_ids is EMPTY else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupDescribeRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_strings(self.group_ids))
        append(_t.pack(self.include_authorized_operations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupDescribeRequest, int]:
        group_ids, position = read_compact_strings(buffer, position)
        (include_authorized_operations,) = _t.unpack_from(buffer, position)
        position += 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConsumerGroupDescribeRequest(group_ids, include_authorized_operations, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartitions:
    """TopicPartitions, versions 0 to 1."""

    __slots__ = ("topic_id", "topic_name", "partitions", "unknown_tags")

    topic_id: UUID
    topic_name: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_string(self.topic_name))
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
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartitions(topic_id, topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Assignment:
    """Assignment, versions 0 to 1."""

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
            buffer, position, version, TopicPartitions._read, 19,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Assignment(topic_partitions, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.topic_partitions or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Member:
    """Member, versions 0 to 1."""

    __slots__ = (
        "member_id", "instance_id", "rack_id", "member_epoch", "client_id", "client_host",
        "subscribed_topic_names", "subscribed_topic_regex", "assignment", "target_assignment",
        "member_type", "unknown_tags",
    )

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    assignment: Assignment
    target_assignment: Assignment
    member_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = EMPTY,
        subscribed_topic_regex: str | None = None,
        assignment: Assignment = NOT_GIVEN,
        target_assignment: Assignment = NOT_GIVEN,
        member_type: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is NOT_GIVEN else assignment
        self.target_assignment = Assignment() if target_assignment is NOT_GIVEN else target_assignment
        self.member_type = member_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.member_id))
        append(encode_compact_nullable_string(self.instance_id))
        append(encode_compact_nullable_string(self.rack_id))
        append(_i.pack(self.member_epoch))
        append(encode_compact_string(self.client_id))
        append(encode_compact_string(self.client_host))
        append(encode_compact_strings(self.subscribed_topic_names))
        append(encode_compact_nullable_string(self.subscribed_topic_regex))
        self.assignment._write(out, version)
        self.target_assignment._write(out, version)
        if version >= 1:
            append(_b.pack(self.member_type))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Member, int]:
        member_id, position = read_compact_string(buffer, position)
        instance_id, position = read_compact_nullable_string(buffer, position)
        rack_id, position = read_compact_nullable_string(buffer, position)
        (member_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        client_id, position = read_compact_string(buffer, position)
        client_host, position = read_compact_string(buffer, position)
        subscribed_topic_names, position = read_compact_strings(buffer, position)
        subscribed_topic_regex, position = read_compact_nullable_string(buffer, position)
        assignment, position = Assignment._read(buffer, position, version)
        target_assignment, position = Assignment._read(buffer, position, version)
        if version >= 1:
            (member_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            member_type = -1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Member(
            member_id, instance_id, rack_id, member_epoch, client_id, client_host, subscribed_topic_names,
            subscribed_topic_regex, assignment, target_assignment, member_type, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedGroup:
    """DescribedGroup, versions 0 to 1."""

    __slots__ = (
        "error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch",
        "assignor_name", "members", "authorized_operations", "unknown_tags",
    )

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: list[Member]
    authorized_operations: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = EMPTY,
        authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(encode_compact_string(self.group_id))
        append(encode_compact_string(self.group_state))
        append(_ii.pack(self.group_epoch, self.assignment_epoch))
        append(encode_compact_string(self.assignor_name))
        append_compact_structs(out, self.members, version)
        append(_i.pack(self.authorized_operations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribedGroup, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        error_message, position = read_compact_nullable_string(buffer, position)
        group_id, position = read_compact_string(buffer, position)
        group_state, position = read_compact_string(buffer, position)
        group_epoch, assignment_epoch = _ii.unpack_from(buffer, position)
        position += 8
        assignor_name, position = read_compact_string(buffer, position)
        members, position = read_compact_structs(buffer, position, version, Member._read, 16)
        (authorized_operations,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribedGroup(
            error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, assignor_name,
            members, authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupDescribeResponse:
    """ConsumerGroupDescribeResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "groups", "unknown_tags")

    throttle_time_ms: int
    groups: list[DescribedGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupDescribeResponse:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupDescribeResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        groups, position = read_compact_structs(buffer, position, version, DescribedGroup._read, 20)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConsumerGroupDescribeResponse(throttle_time_ms, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Assignment",
    "ConsumerGroupDescribeRequest",
    "ConsumerGroupDescribeResponse",
    "DescribedGroup",
    "Member",
    "TopicPartitions",
]
