"""StreamsGroupTopologyValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    encode_compact_strings,
    read_compact_numbers,
    read_compact_string,
    read_compact_strings,
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

_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicConfig:
    """TopicConfig, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicConfig, int]:
        key, position = read_compact_string(buffer, position)
        value, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicConfig(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicInfo:
    """TopicInfo, version 0."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs", "unknown_tags")

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
        topic_configs, position = read_compact_structs(buffer, position, version, TopicConfig._read, 3)
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
class StreamsGroupTopologyValue:
    """StreamsGroupTopologyValue, version 0."""

    __slots__ = ("epoch", "subtopologies", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupTopologyValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.epoch))
        append_compact_structs(out, self.subtopologies, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
        (epoch,) = _i.unpack_from(buffer, position)
        position += 4
        subtopologies, position = read_compact_structs(buffer, position, version, Subtopology._read, 8)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
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
