"""StreamsGroupTopologyValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.wire import (
    Buffer,
    EMPTY,
    append_tags,
    encode_compact_count,
    encode_compact_string,
    encode_numbers,
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_message,
    read_numbers,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicConfig:
    """TopicConfig, version 0."""

    __slots__ = ('key', 'value', 'unknown_tags')

    key: str
    value: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicConfig, int]:
        key, position = read_compact_string(buffer, position)
        value, position = read_compact_string(buffer, position)
        tags, position = read_unknown_tags(buffer, position)
        return TopicConfig(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicInfo:
    """TopicInfo, version 0."""

    __slots__ = ('name', 'partitions', 'replication_factor', 'topic_configs', 'unknown_tags')

    name: str
    partitions: int
    replication_factor: int
    topic_configs: list[TopicConfig]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = EMPTY,
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
        append(encode_compact_count(self.topic_configs))
        for item in self.topic_configs:
            item._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicInfo, int]:
        name, position = read_compact_string(buffer, position)
        partitions, replication_factor = _ih.unpack_from(buffer, position)
        position += 6
        count, position = read_compact_count(buffer, position, 3)
        topic_configs, position = read_structs(buffer, position, version, count, TopicConfig._read)
        tags, position = read_unknown_tags(buffer, position)
        return TopicInfo(name, partitions, replication_factor, topic_configs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CopartitionGroup:
    """CopartitionGroup, version 0."""

    __slots__ = ('source_topics', 'source_topic_regex', 'repartition_source_topics', 'unknown_tags')

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
        append(encode_compact_count(self.source_topics))
        append(encode_numbers(self.source_topics, "h"))
        append(encode_compact_count(self.source_topic_regex))
        append(encode_numbers(self.source_topic_regex, "h"))
        append(encode_compact_count(self.repartition_source_topics))
        append(encode_numbers(self.repartition_source_topics, "h"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CopartitionGroup, int]:
        count, position = read_compact_count(buffer, position, 2)
        source_topics, position = read_numbers(buffer, position, count, "h")
        count, position = read_compact_count(buffer, position, 2)
        source_topic_regex, position = read_numbers(buffer, position, count, "h")
        count, position = read_compact_count(buffer, position, 2)
        repartition_source_topics, position = read_numbers(buffer, position, count, "h")
        tags, position = read_unknown_tags(buffer, position)
        return CopartitionGroup(source_topics, source_topic_regex, repartition_source_topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Subtopology:
    """Subtopology, version 0."""

    __slots__ = (
        'subtopology_id',
        'source_topics',
        'source_topic_regex',
        'state_changelog_topics',
        'repartition_sink_topics',
        'repartition_source_topics',
        'copartition_groups',
        'unknown_tags',
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
        append(encode_compact_count(self.source_topics))
        for item in self.source_topics:
            append(encode_compact_string(item))
        append(encode_compact_count(self.source_topic_regex))
        for item in self.source_topic_regex:
            append(encode_compact_string(item))
        append(encode_compact_count(self.state_changelog_topics))
        for item in self.state_changelog_topics:
            item._write(out, version)
        append(encode_compact_count(self.repartition_sink_topics))
        for item in self.repartition_sink_topics:
            append(encode_compact_string(item))
        append(encode_compact_count(self.repartition_source_topics))
        for item in self.repartition_source_topics:
            item._write(out, version)
        append(encode_compact_count(self.copartition_groups))
        for item in self.copartition_groups:
            item._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Subtopology, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        count, position = read_compact_count(buffer, position, 1)
        source_topics, position = read_compact_strings(buffer, position, count)
        count, position = read_compact_count(buffer, position, 1)
        source_topic_regex, position = read_compact_strings(buffer, position, count)
        count, position = read_compact_count(buffer, position, 9)
        state_changelog_topics, position = read_structs(buffer, position, version, count, TopicInfo._read)
        count, position = read_compact_count(buffer, position, 1)
        repartition_sink_topics, position = read_compact_strings(buffer, position, count)
        count, position = read_compact_count(buffer, position, 9)
        repartition_source_topics, position = read_structs(buffer, position, version, count, TopicInfo._read)
        count, position = read_compact_count(buffer, position, 4)
        copartition_groups, position = read_structs(buffer, position, version, count, CopartitionGroup._read)
        tags, position = read_unknown_tags(buffer, position)
        return Subtopology(
            subtopology_id,
            source_topics,
            source_topic_regex,
            state_changelog_topics,
            repartition_sink_topics,
            repartition_source_topics,
            copartition_groups,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupTopologyValue:
    """StreamsGroupTopologyValue, version 0."""

    __slots__ = ('epoch', 'subtopologies', 'unknown_tags')

    epoch: int
    subtopologies: list[Subtopology]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is EMPTY else subtopologies
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 0)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupTopologyValue:
        return read_message("StreamsGroupTopologyValue", cls._read, buffer, position, version, (0, 0))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.epoch))
        append(encode_compact_count(self.subtopologies))
        for item in self.subtopologies:
            item._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
        (epoch,) = _i.unpack_from(buffer, position)
        position += 4
        count, position = read_compact_count(buffer, position, 8)
        subtopologies, position = read_structs(buffer, position, version, count, Subtopology._read)
        tags, position = read_unknown_tags(buffer, position)
        return StreamsGroupTopologyValue(epoch, subtopologies, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CopartitionGroup",
    "StreamsGroupTopologyValue",
    "Subtopology",
    "TopicConfig",
    "TopicInfo",
]
