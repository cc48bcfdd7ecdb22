"""OffsetFetchRequest, OffsetFetchResponse.

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
    read_nullable_structs,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_t = Struct(">?")
_h = Struct(">h")
_i = Struct(">i")
_iq = Struct(">iq")
_iqi = Struct(">iqi")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchRequestTopic:
    """OffsetFetchRequestTopic, versions 1 to 7."""

    __slots__ = ("name", "partition_indexes", "unknown_tags")

    name: str
    partition_indexes: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 6:
            append(encode_compact_numbers(self.partition_indexes, "i"))
        else:
            append(encode_numbers(self.partition_indexes, "i"))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchRequestTopic, int]:
        if version >= 6:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            partition_indexes, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partition_indexes, position = read_numbers(buffer, position, "i", 4)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchRequestTopic(name, partition_indexes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchRequestTopics:
    """OffsetFetchRequestTopics, versions 8 to 10."""

    __slots__ = ("name", "topic_id", "partition_indexes", "unknown_tags")

    name: str
    topic_id: UUID
    partition_indexes: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partition_indexes: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 10:
            append(encode_compact_string(self.name))
        if version >= 10:
            append(self.topic_id.bytes)
        append(encode_compact_numbers(self.partition_indexes, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchRequestTopics, int]:
        if version >= 10:
            name = ""
        else:
            name, position = read_compact_string(buffer, position)
        if version >= 10:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        partition_indexes, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchRequestTopics(name, topic_id, partition_indexes, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchRequestGroup:
    """OffsetFetchRequestGroup, versions 8 to 10."""

    __slots__ = ("group_id", "member_id", "member_epoch", "topics", "unknown_tags")

    group_id: str
    member_id: str | None
    member_epoch: int
    topics: list[OffsetFetchRequestTopics] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        if version >= 9:
            append(encode_compact_nullable_string(self.member_id))
        if version >= 9:
            append(_i.pack(self.member_epoch))
        if self.topics is None:
            append(b"\0")
        else:
            append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchRequestGroup, int]:
        group_id, position = read_compact_string(buffer, position)
        if version >= 9:
            member_id, position = read_compact_nullable_string(buffer, position)
        else:
            member_id = None
        if version >= 9:
            (member_epoch,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            member_epoch = -1
        topics, position = read_compact_nullable_structs(
            buffer, position, version, OffsetFetchRequestTopics._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchRequest:
    """OffsetFetchRequest, versions 1 to 10."""

    __slots__ = ("group_id", "topics", "groups", "require_stable", "unknown_tags")

    group_id: str
    topics: list[OffsetFetchRequestTopic] | None
    groups: list[OffsetFetchRequestGroup]
    require_stable: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = EMPTY,
        groups: list[OffsetFetchRequestGroup] = EMPTY,
        require_stable: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.groups = [] if groups is EMPTY else groups
        self.require_stable = require_stable
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetFetchRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 8:
            if self.group_id:
                raise not_carried(self, "group_id", version)
        elif version >= 6:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 8:
            if self.topics is None or self.topics:
                raise not_carried(self, "topics", version)
        elif version >= 6:
            if self.topics is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.topics, version)
        elif version >= 2:
            if self.topics is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.topics, version)
        else:
            if self.topics is None:
                raise not_carried(self, "topics", version)
            append_structs(out, self.topics, version)
        if version >= 8:
            append_compact_structs(out, self.groups, version)
        elif version >= 6:
            if self.groups:
                raise not_carried(self, "groups", version)
        elif self.groups:
            raise not_carried(self, "groups", version)
        if version >= 7:
            append(_t.pack(self.require_stable))
        elif self.require_stable:
            raise not_carried(self, "require_stable", version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchRequest, int]:
        if version >= 8:
            group_id = ""
        elif version >= 6:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        topics: list[OffsetFetchRequestTopic] | None
        if version >= 8:
            topics = []
        elif version >= 6:
            topics, position = read_compact_nullable_structs(
                buffer, position, version, OffsetFetchRequestTopic._read, 3,
            )
        elif version >= 2:
            topics, position = read_nullable_structs(
                buffer, position, version, OffsetFetchRequestTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetFetchRequestTopic._read, 3)
        if version >= 8:
            groups, position = read_compact_structs(
                buffer, position, version, OffsetFetchRequestGroup._read, 3,
            )
        elif version >= 6:
            groups = []
        else:
            groups = []
        if version >= 7:
            (require_stable,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            require_stable = False
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchRequest(group_id, topics, groups, require_stable, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponsePartition:
    """OffsetFetchResponsePartition, versions 1 to 7."""

    __slots__ = (
        "partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",
        "unknown_tags",
    )

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(_iqi.pack(self.partition_index, self.committed_offset, self.committed_leader_epoch))
        else:
            append(_iq.pack(self.partition_index, self.committed_offset))
        if version >= 6:
            append(encode_compact_nullable_string(self.metadata))
        else:
            append(encode_nullable_string(self.metadata))
        append(_h.pack(self.error_code))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponsePartition, int]:
        if version >= 5:
            partition_index, committed_offset, committed_leader_epoch = _iqi.unpack_from(buffer, position)
            position += 16
        else:
            partition_index, committed_offset = _iq.unpack_from(buffer, position)
            position += 12
            committed_leader_epoch = -1
        if version >= 6:
            metadata, position = read_compact_nullable_string(buffer, position)
        else:
            metadata, position = read_nullable_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponsePartition(
            partition_index, committed_offset, committed_leader_epoch, metadata, error_code, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponseTopic:
    """OffsetFetchResponseTopic, versions 1 to 7."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[OffsetFetchResponsePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 6:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponseTopic, int]:
        if version >= 6:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            partitions, position = read_compact_structs(
                buffer, position, version, OffsetFetchResponsePartition._read, 16,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, OffsetFetchResponsePartition._read, 16,
            )
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponseTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponsePartitions:
    """OffsetFetchResponsePartitions, versions 8 to 10."""

    __slots__ = (
        "partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",
        "unknown_tags",
    )

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iqi.pack(self.partition_index, self.committed_offset, self.committed_leader_epoch))
        append(encode_compact_nullable_string(self.metadata))
        append(_h.pack(self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponsePartitions, int]:
        partition_index, committed_offset, committed_leader_epoch = _iqi.unpack_from(buffer, position)
        position += 16
        metadata, position = read_compact_nullable_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponsePartitions(
            partition_index, committed_offset, committed_leader_epoch, metadata, error_code, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponseTopics:
    """OffsetFetchResponseTopics, versions 8 to 10."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tags")

    name: str
    topic_id: UUID
    partitions: list[OffsetFetchResponsePartitions]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 10:
            append(encode_compact_string(self.name))
        if version >= 10:
            append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponseTopics, int]:
        if version >= 10:
            name = ""
        else:
            name, position = read_compact_string(buffer, position)
        if version >= 10:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        partitions, position = read_compact_structs(
            buffer, position, version, OffsetFetchResponsePartitions._read, 20,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponseTopics(name, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponseGroup:
    """OffsetFetchResponseGroup, versions 8 to 10."""

    __slots__ = ("group_id", "topics", "error_code", "unknown_tags")

    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = EMPTY,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.group_id))
        append_compact_structs(out, self.topics, version)
        append(_h.pack(self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponseGroup, int]:
        group_id, position = read_compact_string(buffer, position)
        topics, position = read_compact_structs(
            buffer, position, version, OffsetFetchResponseTopics._read, 3,
        )
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponseGroup(group_id, topics, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetFetchResponse:
    """OffsetFetchResponse, versions 1 to 10."""

    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups", "unknown_tags")

    throttle_time_ms: int
    topics: list[OffsetFetchResponseTopic]
    error_code: int
    groups: list[OffsetFetchResponseGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = EMPTY,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetFetchResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_i.pack(self.throttle_time_ms))
        if version >= 8:
            if self.topics:
                raise not_carried(self, "topics", version)
        elif version >= 6:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 8:
            pass
        elif version >= 2:
            append(_h.pack(self.error_code))
        if version >= 8:
            append_compact_structs(out, self.groups, version)
        elif version >= 6:
            if self.groups:
                raise not_carried(self, "groups", version)
        elif self.groups:
            raise not_carried(self, "groups", version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetFetchResponse, int]:
        if version >= 3:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        topics: list[OffsetFetchResponseTopic]
        if version >= 8:
            topics = []
        elif version >= 6:
            topics, position = read_compact_structs(
                buffer, position, version, OffsetFetchResponseTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetFetchResponseTopic._read, 3)
        if version >= 8:
            error_code = 0
        elif version >= 2:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
        else:
            error_code = 0
        if version >= 8:
            groups, position = read_compact_structs(
                buffer, position, version, OffsetFetchResponseGroup._read, 5,
            )
        elif version >= 6:
            groups = []
        else:
            groups = []
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetFetchResponse(throttle_time_ms, topics, error_code, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "OffsetFetchRequest",
    "OffsetFetchRequestGroup",
    "OffsetFetchRequestTopic",
    "OffsetFetchRequestTopics",
    "OffsetFetchResponse",
    "OffsetFetchResponseGroup",
    "OffsetFetchResponsePartition",
    "OffsetFetchResponsePartitions",
    "OffsetFetchResponseTopic",
    "OffsetFetchResponseTopics",
]
