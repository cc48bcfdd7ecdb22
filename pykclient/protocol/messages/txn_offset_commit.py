"""TxnOffsetCommitRequest, TxnOffsetCommitResponse.

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
    encode_compact_string,
    encode_nullable_string,
    encode_string,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
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

_i = Struct(">i")
_ih = Struct(">ih")
_iq = Struct(">iq")
_iqi = Struct(">iqi")
_qh = Struct(">qh")
_qhi = Struct(">qhi")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitRequestPartition:
    """TxnOffsetCommitRequestPartition, versions 0 to 5."""

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
        if version >= 2:
            append(_iqi.pack(self.partition_index, self.committed_offset, self.committed_leader_epoch))
        else:
            append(_iq.pack(self.partition_index, self.committed_offset))
        if version >= 3:
            append(encode_compact_nullable_string(self.committed_metadata))
        else:
            append(encode_nullable_string(self.committed_metadata))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitRequestPartition, int]:
        if version >= 2:
            partition_index, committed_offset, committed_leader_epoch = _iqi.unpack_from(buffer, position)
            position += 16
        else:
            partition_index, committed_offset = _iq.unpack_from(buffer, position)
            position += 12
            committed_leader_epoch = -1
        if version >= 3:
            committed_metadata, position = read_compact_nullable_string(buffer, position)
        else:
            committed_metadata, position = read_nullable_string(buffer, position)
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitRequestPartition(
            partition_index, committed_offset, committed_leader_epoch, committed_metadata, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitRequestTopic:
    """TxnOffsetCommitRequestTopic, versions 0 to 5."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[TxnOffsetCommitRequestPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitRequestPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 3:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitRequestTopic, int]:
        if version >= 3:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 3:
            partitions, position = read_compact_structs(
                buffer, position, version, TxnOffsetCommitRequestPartition._read, 14,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, TxnOffsetCommitRequestPartition._read, 14,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitRequestTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitRequest:
    """TxnOffsetCommitRequest, versions 0 to 5."""

    __slots__ = (
        "transactional_id", "group_id", "producer_id", "producer_epoch", "generation_id", "member_id",
        "group_instance_id", "topics", "unknown_tags",
    )

    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id: int
    member_id: str
    group_instance_id: str | None
    topics: list[TxnOffsetCommitRequestTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> TxnOffsetCommitRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.transactional_id))
        else:
            append(encode_string(self.transactional_id))
        if version >= 3:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 3:
            append(_qhi.pack(self.producer_id, self.producer_epoch, self.generation_id))
        else:
            if self.generation_id != -1:
                raise not_carried(self, "generation_id", version)
            append(_qh.pack(self.producer_id, self.producer_epoch))
        if version >= 3:
            append(encode_compact_string(self.member_id))
        elif self.member_id:
            raise not_carried(self, "member_id", version)
        if version >= 3:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise not_carried(self, "group_instance_id", version)
        if version >= 3:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitRequest, int]:
        if version >= 3:
            transactional_id, position = read_compact_string(buffer, position)
        else:
            transactional_id, position = read_string(buffer, position)
        if version >= 3:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version >= 3:
            producer_id, producer_epoch, generation_id = _qhi.unpack_from(buffer, position)
            position += 14
        else:
            producer_id, producer_epoch = _qh.unpack_from(buffer, position)
            position += 10
            generation_id = -1
        if version >= 3:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id = ''
        if version >= 3:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 3:
            topics, position = read_compact_structs(
                buffer, position, version, TxnOffsetCommitRequestTopic._read, 3,
            )
        else:
            topics, position = read_structs(buffer, position, version, TxnOffsetCommitRequestTopic._read, 3)
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitRequest(
            transactional_id, group_id, producer_id, producer_epoch, generation_id, member_id,
            group_instance_id, topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitResponsePartition:
    """TxnOffsetCommitResponsePartition, versions 0 to 5."""

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
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitResponsePartition, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitResponsePartition(partition_index, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitResponseTopic:
    """TxnOffsetCommitResponseTopic, versions 0 to 5."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[TxnOffsetCommitResponsePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitResponsePartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 3:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitResponseTopic, int]:
        if version >= 3:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 3:
            partitions, position = read_compact_structs(
                buffer, position, version, TxnOffsetCommitResponsePartition._read, 6,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, TxnOffsetCommitResponsePartition._read, 6,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitResponseTopic(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TxnOffsetCommitResponse:
    """TxnOffsetCommitResponse, versions 0 to 5."""

    __slots__ = ("throttle_time_ms", "topics", "unknown_tags")

    throttle_time_ms: int
    topics: list[TxnOffsetCommitResponseTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> TxnOffsetCommitResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 3:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TxnOffsetCommitResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 3:
            topics, position = read_compact_structs(
                buffer, position, version, TxnOffsetCommitResponseTopic._read, 3,
            )
        else:
            topics, position = read_structs(
                buffer, position, version, TxnOffsetCommitResponseTopic._read, 3,
            )
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TxnOffsetCommitResponse(throttle_time_ms, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "TxnOffsetCommitRequest",
    "TxnOffsetCommitRequestPartition",
    "TxnOffsetCommitRequestTopic",
    "TxnOffsetCommitResponse",
    "TxnOffsetCommitResponsePartition",
    "TxnOffsetCommitResponseTopic",
]
