"""StreamsGroupDescribeRequest, StreamsGroupDescribeResponse.

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
    encode_compact_strings,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
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

_t = Struct(">?")
_H = Struct(">H")
_h = Struct(">h")
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupDescribeRequest:
    """StreamsGroupDescribeRequest, version 0."""

    __slots__ = ("group_ids", "include_authorized_operations", "unknown_tags")

    group_ids: list[str]
    include_authorized_operations: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupDescribeRequest:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupDescribeRequest, int]:
        group_ids, position = read_compact_strings(buffer, position)
        (include_authorized_operations,) = _t.unpack_from(buffer, position)
        position += 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupDescribeRequest(group_ids, include_authorized_operations, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class KeyValue:
    """KeyValue, version 0."""

    __slots__ = ("key", "value", "unknown_tags")

    key: str
    value: str
    unknown_tags: dict[int, bytes] | None

    def __init__(self, key: str = "", value: str = "", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.key = key
        self.value = value
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.key))
        append(encode_compact_string(self.value))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[KeyValue, int]:
        key, position = read_compact_string(buffer, position)
        value, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return KeyValue(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicInfo:
    """TopicInfo, version 0."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs", "unknown_tags")

    name: str
    partitions: int
    replication_factor: int
    topic_configs: list[KeyValue]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is EMPTY else topic_configs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_ih.pack(self.partitions, self.replication_factor))
        append_compact_structs(out, self.topic_configs, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicInfo, int]:
        name, position = read_compact_string(buffer, position)
        partitions, replication_factor = _ih.unpack_from(buffer, position)
        position += 6
        topic_configs, position = read_compact_structs(buffer, position, version, KeyValue._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicInfo(name, partitions, replication_factor, topic_configs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Subtopology:
    """Subtopology, version 0."""

    __slots__ = (
        "subtopology_id", "source_topics", "repartition_sink_topics", "state_changelog_topics",
        "repartition_source_topics", "unknown_tags",
    )

    subtopology_id: str
    source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = EMPTY,
        repartition_sink_topics: list[str] = EMPTY,
        state_changelog_topics: list[TopicInfo] = EMPTY,
        repartition_source_topics: list[TopicInfo] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is EMPTY else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is EMPTY else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(encode_compact_strings(self.source_topics))
        append(encode_compact_strings(self.repartition_sink_topics))
        append_compact_structs(out, self.state_changelog_topics, version)
        append_compact_structs(out, self.repartition_source_topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Subtopology, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        source_topics, position = read_compact_strings(buffer, position)
        repartition_sink_topics, position = read_compact_strings(buffer, position)
        state_changelog_topics, position = read_compact_structs(
            buffer, position, version, TopicInfo._read, 9,
        )
        repartition_source_topics, position = read_compact_structs(
            buffer, position, version, TopicInfo._read, 9,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Subtopology(
            subtopology_id, source_topics, repartition_sink_topics, state_changelog_topics,
            repartition_source_topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Topology:
    """Topology, version 0."""

    __slots__ = ("epoch", "subtopologies", "unknown_tags")

    epoch: int
    subtopologies: list[Subtopology] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.epoch))
        if self.subtopologies is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.subtopologies, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Topology, int]:
        (epoch,) = _i.unpack_from(buffer, position)
        position += 4
        subtopologies, position = read_compact_nullable_structs(
            buffer, position, version, Subtopology._read, 6,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Topology(epoch, subtopologies, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Endpoint:
    """Endpoint, version 0."""

    __slots__ = ("host", "port", "unknown_tags")

    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(self, host: str = "", port: int = 0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Endpoint, int]:
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Endpoint(host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TaskOffset:
    """TaskOffset, version 0."""

    __slots__ = ("subtopology_id", "partition", "offset", "unknown_tags")

    subtopology_id: str
    partition: int
    offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(_iq.pack(self.partition, self.offset))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TaskOffset, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        partition, offset = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TaskOffset(subtopology_id, partition, offset, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TaskIds:
    """TaskIds, version 0."""

    __slots__ = ("subtopology_id", "partitions", "unknown_tags")

    subtopology_id: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TaskIds, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TaskIds(subtopology_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Assignment:
    """Assignment, version 0."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks", "unknown_tags")

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        active_tasks: list[TaskIds] = EMPTY,
        standby_tasks: list[TaskIds] = EMPTY,
        warmup_tasks: list[TaskIds] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.active_tasks = [] if active_tasks is EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is EMPTY else warmup_tasks
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.active_tasks, version)
        append_compact_structs(out, self.standby_tasks, version)
        append_compact_structs(out, self.warmup_tasks, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Assignment, int]:
        active_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        standby_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        warmup_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Assignment(active_tasks, standby_tasks, warmup_tasks, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.active_tasks or self.standby_tasks or self.warmup_tasks or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Member:
    """Member, version 0."""

    __slots__ = (
        "member_id", "member_epoch", "instance_id", "rack_id", "client_id", "client_host", "topology_epoch",
        "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "assignment",
        "target_assignment", "is_classic", "unknown_tags",
    )

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue]
    task_offsets: list[TaskOffset]
    task_end_offsets: list[TaskOffset]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = EMPTY,
        task_offsets: list[TaskOffset] = EMPTY,
        task_end_offsets: list[TaskOffset] = EMPTY,
        assignment: Assignment = NOT_GIVEN,
        target_assignment: Assignment = NOT_GIVEN,
        is_classic: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is EMPTY else client_tags
        self.task_offsets = [] if task_offsets is EMPTY else task_offsets
        self.task_end_offsets = [] if task_end_offsets is EMPTY else task_end_offsets
        self.assignment = Assignment() if assignment is NOT_GIVEN else assignment
        self.target_assignment = Assignment() if target_assignment is NOT_GIVEN else target_assignment
        self.is_classic = is_classic
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.member_id))
        append(_i.pack(self.member_epoch))
        append(encode_compact_nullable_string(self.instance_id))
        append(encode_compact_nullable_string(self.rack_id))
        append(encode_compact_string(self.client_id))
        append(encode_compact_string(self.client_host))
        append(_i.pack(self.topology_epoch))
        append(encode_compact_string(self.process_id))
        if self.user_endpoint is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.user_endpoint._write(out, version)
        append_compact_structs(out, self.client_tags, version)
        append_compact_structs(out, self.task_offsets, version)
        append_compact_structs(out, self.task_end_offsets, version)
        self.assignment._write(out, version)
        self.target_assignment._write(out, version)
        append(_t.pack(self.is_classic))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Member, int]:
        member_id, position = read_compact_string(buffer, position)
        (member_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        instance_id, position = read_compact_nullable_string(buffer, position)
        rack_id, position = read_compact_nullable_string(buffer, position)
        client_id, position = read_compact_string(buffer, position)
        client_host, position = read_compact_string(buffer, position)
        (topology_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        process_id, position = read_compact_string(buffer, position)
        user_endpoint: Endpoint | None
        position += 1
        if buffer[position - 1] >= 0x80:
            user_endpoint = None
        else:
            user_endpoint, position = Endpoint._read(buffer, position, version)
        client_tags, position = read_compact_structs(buffer, position, version, KeyValue._read, 3)
        task_offsets, position = read_compact_structs(buffer, position, version, TaskOffset._read, 14)
        task_end_offsets, position = read_compact_structs(
            buffer, position, version, TaskOffset._read, 14,
        )
        assignment, position = Assignment._read(buffer, position, version)
        target_assignment, position = Assignment._read(buffer, position, version)
        (is_classic,) = _t.unpack_from(buffer, position)
        position += 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Member(
            member_id, member_epoch, instance_id, rack_id, client_id, client_host, topology_epoch, process_id,
            user_endpoint, client_tags, task_offsets, task_end_offsets, assignment, target_assignment,
            is_classic, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedGroup:
    """DescribedGroup, version 0."""

    __slots__ = (
        "error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch",
        "topology", "members", "authorized_operations", "unknown_tags",
    )

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: Topology | None
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
        topology: Topology | None = None,
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
        self.topology = topology
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
        if self.topology is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.topology._write(out, version)
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
        topology: Topology | None
        position += 1
        if buffer[position - 1] >= 0x80:
            topology = None
        else:
            topology, position = Topology._read(buffer, position, version)
        members, position = read_compact_structs(buffer, position, version, Member._read, 28)
        (authorized_operations,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribedGroup(
            error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, topology, members,
            authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupDescribeResponse:
    """StreamsGroupDescribeResponse, version 0."""

    __slots__ = ("throttle_time_ms", "groups", "unknown_tags")

    throttle_time_ms: int
    groups: list[DescribedGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupDescribeResponse:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupDescribeResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        groups, position = read_compact_structs(buffer, position, version, DescribedGroup._read, 20)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupDescribeResponse(throttle_time_ms, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Assignment",
    "DescribedGroup",
    "Endpoint",
    "KeyValue",
    "Member",
    "StreamsGroupDescribeRequest",
    "StreamsGroupDescribeResponse",
    "Subtopology",
    "TaskIds",
    "TaskOffset",
    "TopicInfo",
    "Topology",
]
