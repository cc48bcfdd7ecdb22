"""OffsetCommitRequest, OffsetCommitResponse.

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
    encode_nullable_string,
    encode_string,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_i = Struct(">i")
_ih = Struct(">ih")
_iq = Struct(">iq")
_iqi = Struct(">iqi")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitRequestPartition:
    """OffsetCommitRequestPartition, versions 2 to 10."""

    __slots__ = (
        "partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata",
        "unknown_tags",
    )

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(_iqi.pack(self.partition_index, self.committed_offset, self.committed_leader_epoch))
        else:
            append(_iq.pack(self.partition_index, self.committed_offset))
        if version >= 8:
            append(encode_compact_nullable_string(self.committed_metadata))
        else:
            append(encode_nullable_string(self.committed_metadata))
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitRequestPartition, int]:
        if version >= 6:
            partition_index, committed_offset, committed_leader_epoch = _iqi.unpack_from(buffer, position)
            position += 16
        else:
            partition_index, committed_offset = _iq.unpack_from(buffer, position)
            position += 12
            committed_leader_epoch = -1
        if version >= 8:
            committed_metadata, position = read_compact_nullable_string(buffer, position)
        else:
            committed_metadata, position = read_nullable_string(buffer, position)
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitRequestPartition(
            partition_index, committed_offset, committed_leader_epoch, committed_metadata, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitRequestTopic:
    """OffsetCommitRequestTopic, versions 2 to 10."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tags")

    name: str
    topic_id: UUID
    partitions: list[OffsetCommitRequestPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 10:
            if version >= 8:
                append(encode_compact_string(self.name))
            else:
                append(encode_string(self.name))
        if version >= 10:
            append(self.topic_id.bytes)
        if version >= 8:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitRequestTopic, int]:
        if version >= 10:
            name = ""
        elif version >= 8:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 10:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 8:
            partitions, position = read_compact_structs(
                buffer, position, version, OffsetCommitRequestPartition._read, 14,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, OffsetCommitRequestPartition._read, 14,
            )
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitRequestTopic(name, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitRequest:
    """OffsetCommitRequest, versions 2 to 10."""

    __slots__ = (
        "group_id", "generation_id_or_member_epoch", "member_id", "group_instance_id", "retention_time_ms",
        "topics", "unknown_tags",
    )

    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int
    topics: list[OffsetCommitRequestTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetCommitRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 8:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        append(_i.pack(self.generation_id_or_member_epoch))
        if version >= 8:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 8:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 7:
            append(encode_nullable_string(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise not_carried(self, "group_instance_id", version)
        if version < 5:
            append(_q.pack(self.retention_time_ms))
        if version >= 8:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitRequest, int]:
        if version >= 8:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        (generation_id_or_member_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 8:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 8:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 7:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 5:
            retention_time_ms = -1
        else:
            (retention_time_ms,) = _q.unpack_from(buffer, position)
            position += 8
        if version >= 8:
            topics, position = read_compact_structs(
                buffer, position, version, OffsetCommitRequestTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetCommitRequestTopic._read, 3)
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitRequest(
            group_id, generation_id_or_member_epoch, member_id, group_instance_id, retention_time_ms, topics,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitResponsePartition:
    """OffsetCommitResponsePartition, versions 2 to 10."""

    __slots__ = ("partition_index", "error_code", "unknown_tags")

    partition_index: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitResponsePartition, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitResponsePartition(partition_index, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitResponseTopic:
    """OffsetCommitResponseTopic, versions 2 to 10."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tags")

    name: str
    topic_id: UUID
    partitions: list[OffsetCommitResponsePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 10:
            if version >= 8:
                append(encode_compact_string(self.name))
            else:
                append(encode_string(self.name))
        if version >= 10:
            append(self.topic_id.bytes)
        if version >= 8:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitResponseTopic, int]:
        if version >= 10:
            name = ""
        elif version >= 8:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 10:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 8:
            partitions, position = read_compact_structs(
                buffer, position, version, OffsetCommitResponsePartition._read, 6,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, OffsetCommitResponsePartition._read, 6,
            )
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitResponseTopic(name, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitResponse:
    """OffsetCommitResponse, versions 2 to 10."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[OffsetCommitResponseTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetCommitResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_i.pack(self.throttle_time_ms))
        if version >= 8:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 8:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitResponse, int]:
        if version >= 3:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        if version >= 8:
            topics, position = read_compact_structs(
                buffer, position, version, OffsetCommitResponseTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, OffsetCommitResponseTopic._read, 3)
        if version < 8:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OffsetCommitResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "OffsetCommitRequest",
    "OffsetCommitRequestPartition",
    "OffsetCommitRequestTopic",
    "OffsetCommitResponse",
    "OffsetCommitResponsePartition",
    "OffsetCommitResponseTopic",
]
