"""CreateTopicsRequest, CreateTopicsResponse.

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
    encode_nullable_string,
    encode_numbers,
    encode_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_nullable_string,
    read_numbers,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_structs,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_uh = Struct(">16sh")
_tbt = Struct(">?b?")
_h = Struct(">h")
_i = Struct(">i")
_it = Struct(">i?")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableReplicaAssignment:
    """CreatableReplicaAssignment, versions 2 to 7."""

    __slots__ = ("partition_index", "broker_ids", "unknown_tags")

    partition_index: int
    broker_ids: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))
        if version >= 5:
            append(encode_compact_numbers(self.broker_ids, "i"))
        else:
            append(encode_numbers(self.broker_ids, "i"))
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableReplicaAssignment, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 5:
            broker_ids, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            broker_ids, position = read_numbers(buffer, position, "i", 4)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatableReplicaAssignment(partition_index, broker_ids, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableTopicConfig:
    """CreatableTopicConfig, versions 2 to 7."""

    __slots__ = ("name", "value", "unknown_tags")

    name: str
    value: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 5:
            append(encode_compact_nullable_string(self.value))
        else:
            append(encode_nullable_string(self.value))
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableTopicConfig, int]:
        if version >= 5:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 5:
            value, position = read_compact_nullable_string(buffer, position)
        else:
            value, position = read_nullable_string(buffer, position)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatableTopicConfig(name, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableTopic:
    """CreatableTopic, versions 2 to 7."""

    __slots__ = ("name", "num_partitions", "replication_factor", "assignments", "configs", "unknown_tags")

    name: str
    num_partitions: int
    replication_factor: int
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = EMPTY,
        configs: list[CreatableTopicConfig] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is EMPTY else assignments
        self.configs = [] if configs is EMPTY else configs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        append(_ih.pack(self.num_partitions, self.replication_factor))
        if version >= 5:
            append_compact_structs(out, self.assignments, version)
        else:
            append_structs(out, self.assignments, version)
        if version >= 5:
            append_compact_structs(out, self.configs, version)
        else:
            append_structs(out, self.configs, version)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableTopic, int]:
        if version >= 5:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        num_partitions, replication_factor = _ih.unpack_from(buffer, position)
        position += 6
        if version >= 5:
            assignments, position = read_compact_structs(
                buffer, position, version, CreatableReplicaAssignment._read, 6,
            )
        else:
            assignments, position = read_structs(
                buffer, position, version, CreatableReplicaAssignment._read, 6,
            )
        if version >= 5:
            configs, position = read_compact_structs(
                buffer, position, version, CreatableTopicConfig._read, 3,
            )
        else:
            configs, position = read_structs(buffer, position, version, CreatableTopicConfig._read, 3)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatableTopic(name, num_partitions, replication_factor, assignments, configs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateTopicsRequest:
    """CreateTopicsRequest, versions 2 to 7."""

    __slots__ = ("topics", "timeout_ms", "validate_only", "unknown_tags")

    topics: list[CreatableTopic]
    timeout_ms: int
    validate_only: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        topics: list[CreatableTopic] = EMPTY,
        timeout_ms: int = 60000,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateTopicsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        append(_it.pack(self.timeout_ms, self.validate_only))
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateTopicsRequest, int]:
        if version >= 5:
            topics, position = read_compact_structs(buffer, position, version, CreatableTopic._read, 10)
        else:
            topics, position = read_structs(buffer, position, version, CreatableTopic._read, 10)
        timeout_ms, validate_only = _it.unpack_from(buffer, position)
        position += 5
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateTopicsRequest(topics, timeout_ms, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableTopicConfigs:
    """CreatableTopicConfigs, versions 5 to 7."""

    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive", "unknown_tags")

    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_nullable_string(self.value))
        append(_tbt.pack(self.read_only, self.config_source, self.is_sensitive))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableTopicConfigs, int]:
        name, position = read_compact_string(buffer, position)
        value, position = read_compact_nullable_string(buffer, position)
        read_only, config_source, is_sensitive = _tbt.unpack_from(buffer, position)
        position += 3
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreatableTopicConfigs(name, value, read_only, config_source, is_sensitive, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreatableTopicResult:
    """CreatableTopicResult, versions 2 to 7."""

    __slots__ = (
        "name", "topic_id", "error_code", "error_message", "topic_config_error_code", "num_partitions",
        "replication_factor", "configs", "unknown_tags",
    )

    name: str
    topic_id: UUID
    error_code: int
    error_message: str | None
    topic_config_error_code: int
    num_partitions: int
    replication_factor: int
    configs: list[CreatableTopicConfigs] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is EMPTY else configs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 7:
            append(_uh.pack(self.topic_id.bytes, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 5:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 5:
            append(_ih.pack(self.num_partitions, self.replication_factor))
        if version >= 5:
            if self.configs is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.configs, version)
        known: list[tuple[int, bytes]] = []
        if version >= 5 and self.topic_config_error_code != 0:
            known.append((0, _h.pack(self.topic_config_error_code)))
        if version >= 5:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreatableTopicResult, int]:
        if version >= 5:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 7:
            topic_id, error_code = _uh.unpack_from(buffer, position)
            position += 18
            topic_id = uuid_of(topic_id)
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            topic_id = ZERO_UUID
        if version >= 5:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 5:
            num_partitions, replication_factor = _ih.unpack_from(buffer, position)
            position += 6
        else:
            num_partitions = -1
            replication_factor = -1
        if version >= 5:
            configs, position = read_compact_nullable_structs(
                buffer, position, version, CreatableTopicConfigs._read, 6,
            )
        else:
            configs = []
        topic_config_error_code = 0
        tags: dict[int, bytes] | None = None
        if version >= 5:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        (topic_config_error_code,) = _h.unpack_from(buffer, position)
                        position += 2
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return CreatableTopicResult(
            name, topic_id, error_code, error_message, topic_config_error_code, num_partitions,
            replication_factor, configs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateTopicsResponse:
    """CreateTopicsResponse, versions 2 to 7."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[CreatableTopicResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateTopicsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 5:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateTopicsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 5:
            topics, position = read_compact_structs(
                buffer, position, version, CreatableTopicResult._read, 6,
            )
        else:
            topics, position = read_structs(buffer, position, version, CreatableTopicResult._read, 6)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateTopicsResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CreatableReplicaAssignment",
    "CreatableTopic",
    "CreatableTopicConfig",
    "CreatableTopicConfigs",
    "CreatableTopicResult",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
]
