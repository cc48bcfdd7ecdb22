"""StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse.

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
_b = Struct(">b")
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")
_iiii = Struct(">iiii")
_iq = Struct(">iq")


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
class CopartitionGroup:
    """CopartitionGroup, version 0."""

    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics", "unknown_tags")

    source_topics: list[int]
    source_topic_regex: list[int]
    repartition_source_topics: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        source_topics: list[int] = EMPTY,
        source_topic_regex: list[int] = EMPTY,
        repartition_source_topics: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is EMPTY else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_numbers(self.source_topics, "h"))
        append(encode_compact_numbers(self.source_topic_regex, "h"))
        append(encode_compact_numbers(self.repartition_source_topics, "h"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CopartitionGroup, int]:
        source_topics, position = read_compact_numbers(buffer, position, "h", 2)
        source_topic_regex, position = read_compact_numbers(buffer, position, "h", 2)
        repartition_source_topics, position = read_compact_numbers(buffer, position, "h", 2)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CopartitionGroup(source_topics, source_topic_regex, repartition_source_topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Subtopology:
    """Subtopology, version 0."""

    __slots__ = (
        "subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics",
        "repartition_sink_topics", "repartition_source_topics", "copartition_groups", "unknown_tags",
    )

    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = EMPTY,
        source_topic_regex: list[str] = EMPTY,
        state_changelog_topics: list[TopicInfo] = EMPTY,
        repartition_sink_topics: list[str] = EMPTY,
        repartition_source_topics: list[TopicInfo] = EMPTY,
        copartition_groups: list[CopartitionGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is EMPTY else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is EMPTY else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is EMPTY else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is EMPTY else copartition_groups
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(encode_compact_strings(self.source_topics))
        append(encode_compact_strings(self.source_topic_regex))
        append_compact_structs(out, self.state_changelog_topics, version)
        append(encode_compact_strings(self.repartition_sink_topics))
        append_compact_structs(out, self.repartition_source_topics, version)
        append_compact_structs(out, self.copartition_groups, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Subtopology, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        source_topics, position = read_compact_strings(buffer, position)
        source_topic_regex, position = read_compact_strings(buffer, position)
        state_changelog_topics, position = read_compact_structs(
            buffer, position, version, TopicInfo._read, 9,
        )
        repartition_sink_topics, position = read_compact_strings(buffer, position)
        repartition_source_topics, position = read_compact_structs(
            buffer, position, version, TopicInfo._read, 9,
        )
        copartition_groups, position = read_compact_structs(
            buffer, position, version, CopartitionGroup._read, 4,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Subtopology(
            subtopology_id, source_topics, source_topic_regex, state_changelog_topics, repartition_sink_topics,
            repartition_source_topics, copartition_groups, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Topology:
    """Topology, version 0."""

    __slots__ = ("epoch", "subtopologies", "unknown_tags")

    epoch: int
    subtopologies: list[Subtopology]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is EMPTY else subtopologies
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.epoch))
        append_compact_structs(out, self.subtopologies, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Topology, int]:
        (epoch,) = _i.unpack_from(buffer, position)
        position += 4
        subtopologies, position = read_compact_structs(buffer, position, version, Subtopology._read, 8)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Topology(epoch, subtopologies, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTaskIds:
    """RequestTaskIds, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTaskIds, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTaskIds(subtopology_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestEndpoint:
    """RequestEndpoint, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestEndpoint, int]:
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestEndpoint(host, port, tags), position

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
class StreamsGroupHeartbeatRequest:
    """StreamsGroupHeartbeatRequest, version 0."""

    __slots__ = (
        "group_id", "member_id", "member_epoch", "endpoint_information_epoch", "instance_id", "rack_id",
        "rebalance_timeout_ms", "topology", "active_tasks", "standby_tasks", "warmup_tasks", "process_id",
        "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "shutdown_application",
        "unknown_tags",
    )

    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topology: Topology | None
    active_tasks: list[RequestTaskIds] | None
    standby_tasks: list[RequestTaskIds] | None
    warmup_tasks: list[RequestTaskIds] | None
    process_id: str | None
    user_endpoint: RequestEndpoint | None
    client_tags: list[KeyValue] | None
    task_offsets: list[TaskOffset] | None
    task_end_offsets: list[TaskOffset] | None
    shutdown_application: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[RequestTaskIds] | None = None,
        standby_tasks: list[RequestTaskIds] | None = None,
        warmup_tasks: list[RequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: RequestEndpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupHeartbeatRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append(encode_compact_string(self.member_id))
        append(_ii.pack(self.member_epoch, self.endpoint_information_epoch))
        append(encode_compact_nullable_string(self.instance_id))
        append(encode_compact_nullable_string(self.rack_id))
        append(_i.pack(self.rebalance_timeout_ms))
        if self.topology is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.topology._write(out, version)
        if self.active_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.active_tasks, version)
        if self.standby_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.standby_tasks, version)
        if self.warmup_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.warmup_tasks, version)
        append(encode_compact_nullable_string(self.process_id))
        if self.user_endpoint is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.user_endpoint._write(out, version)
        if self.client_tags is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.client_tags, version)
        if self.task_offsets is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.task_offsets, version)
        if self.task_end_offsets is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.task_end_offsets, version)
        append(_t.pack(self.shutdown_application))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
        group_id, position = read_compact_string(buffer, position)
        member_id, position = read_compact_string(buffer, position)
        member_epoch, endpoint_information_epoch = _ii.unpack_from(buffer, position)
        position += 8
        instance_id, position = read_compact_nullable_string(buffer, position)
        rack_id, position = read_compact_nullable_string(buffer, position)
        (rebalance_timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        topology: Topology | None
        position += 1
        if buffer[position - 1] >= 0x80:
            topology = None
        else:
            topology, position = Topology._read(buffer, position, version)
        active_tasks, position = read_compact_nullable_structs(
            buffer, position, version, RequestTaskIds._read, 3,
        )
        standby_tasks, position = read_compact_nullable_structs(
            buffer, position, version, RequestTaskIds._read, 3,
        )
        warmup_tasks, position = read_compact_nullable_structs(
            buffer, position, version, RequestTaskIds._read, 3,
        )
        process_id, position = read_compact_nullable_string(buffer, position)
        user_endpoint: RequestEndpoint | None
        position += 1
        if buffer[position - 1] >= 0x80:
            user_endpoint = None
        else:
            user_endpoint, position = RequestEndpoint._read(buffer, position, version)
        client_tags, position = read_compact_nullable_structs(
            buffer, position, version, KeyValue._read, 3,
        )
        task_offsets, position = read_compact_nullable_structs(
            buffer, position, version, TaskOffset._read, 14,
        )
        task_end_offsets, position = read_compact_nullable_structs(
            buffer, position, version, TaskOffset._read, 14,
        )
        (shutdown_application,) = _t.unpack_from(buffer, position)
        position += 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupHeartbeatRequest(
            group_id, member_id, member_epoch, endpoint_information_epoch, instance_id, rack_id,
            rebalance_timeout_ms, topology, active_tasks, standby_tasks, warmup_tasks, process_id,
            user_endpoint, client_tags, task_offsets, task_end_offsets, shutdown_application, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Status:
    """Status, version 0."""

    __slots__ = ("status_code", "status_detail", "unknown_tags")

    status_code: int
    status_detail: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.status_code))
        append(encode_compact_string(self.status_detail))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Status, int]:
        (status_code,) = _b.unpack_from(buffer, position)
        position += 1
        status_detail, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Status(status_code, status_detail, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTaskIds:
    """ResponseTaskIds, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTaskIds, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTaskIds(subtopology_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseEndpoint:
    """ResponseEndpoint, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseEndpoint, int]:
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseEndpoint(host, port, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.host or self.port != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartition:
    """TopicPartition, version 0."""

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
        append(encode_compact_string(self.topic))
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartition, int]:
        topic, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicPartition(topic, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EndpointToPartitions:
    """EndpointToPartitions, version 0."""

    __slots__ = ("user_endpoint", "active_partitions", "standby_partitions", "unknown_tags")

    user_endpoint: ResponseEndpoint
    active_partitions: list[TopicPartition]
    standby_partitions: list[TopicPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        user_endpoint: ResponseEndpoint = NOT_GIVEN,
        active_partitions: list[TopicPartition] = EMPTY,
        standby_partitions: list[TopicPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.user_endpoint = ResponseEndpoint() if user_endpoint is NOT_GIVEN else user_endpoint
        self.active_partitions = [] if active_partitions is EMPTY else active_partitions
        self.standby_partitions = [] if standby_partitions is EMPTY else standby_partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        self.user_endpoint._write(out, version)
        append_compact_structs(out, self.active_partitions, version)
        append_compact_structs(out, self.standby_partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EndpointToPartitions, int]:
        user_endpoint, position = ResponseEndpoint._read(buffer, position, version)
        active_partitions, position = read_compact_structs(
            buffer, position, version, TopicPartition._read, 3,
        )
        standby_partitions, position = read_compact_structs(
            buffer, position, version, TopicPartition._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EndpointToPartitions(user_endpoint, active_partitions, standby_partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupHeartbeatResponse:
    """StreamsGroupHeartbeatResponse, version 0."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch",
        "heartbeat_interval_ms", "acceptable_recovery_lag", "task_offset_interval_ms", "status",
        "active_tasks", "standby_tasks", "warmup_tasks", "endpoint_information_epoch",
        "partitions_by_user_endpoint", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    acceptable_recovery_lag: int
    task_offset_interval_ms: int
    status: list[Status] | None
    active_tasks: list[ResponseTaskIds] | None
    standby_tasks: list[ResponseTaskIds] | None
    warmup_tasks: list[ResponseTaskIds] | None
    endpoint_information_epoch: int
    partitions_by_user_endpoint: list[EndpointToPartitions] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: list[Status] | None = EMPTY,
        active_tasks: list[ResponseTaskIds] | None = None,
        standby_tasks: list[ResponseTaskIds] | None = None,
        warmup_tasks: list[ResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = [] if status is EMPTY else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupHeartbeatResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(encode_compact_string(self.member_id))
        append(_iiii.pack(
            self.member_epoch, self.heartbeat_interval_ms, self.acceptable_recovery_lag,
            self.task_offset_interval_ms,
        ))
        if self.status is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.status, version)
        if self.active_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.active_tasks, version)
        if self.standby_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.standby_tasks, version)
        if self.warmup_tasks is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.warmup_tasks, version)
        append(_i.pack(self.endpoint_information_epoch))
        if self.partitions_by_user_endpoint is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.partitions_by_user_endpoint, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        member_id, position = read_compact_string(buffer, position)
        (
            member_epoch, heartbeat_interval_ms, acceptable_recovery_lag, task_offset_interval_ms,
        ) = _iiii.unpack_from(buffer, position)
        position += 16
        status, position = read_compact_nullable_structs(buffer, position, version, Status._read, 3)
        active_tasks, position = read_compact_nullable_structs(
            buffer, position, version, ResponseTaskIds._read, 3,
        )
        standby_tasks, position = read_compact_nullable_structs(
            buffer, position, version, ResponseTaskIds._read, 3,
        )
        warmup_tasks, position = read_compact_nullable_structs(
            buffer, position, version, ResponseTaskIds._read, 3,
        )
        (endpoint_information_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        partitions_by_user_endpoint, position = read_compact_nullable_structs(
            buffer, position, version, EndpointToPartitions._read, 7,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupHeartbeatResponse(
            throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms,
            acceptable_recovery_lag, task_offset_interval_ms, status, active_tasks, standby_tasks, warmup_tasks,
            endpoint_information_epoch, partitions_by_user_endpoint, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CopartitionGroup",
    "EndpointToPartitions",
    "KeyValue",
    "RequestEndpoint",
    "RequestTaskIds",
    "ResponseEndpoint",
    "ResponseTaskIds",
    "Status",
    "StreamsGroupHeartbeatRequest",
    "StreamsGroupHeartbeatResponse",
    "Subtopology",
    "TaskOffset",
    "TopicInfo",
    "TopicPartition",
    "Topology",
]
