"""ShareAcknowledgeRequest, ShareAcknowledgeResponse.

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
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_i = Struct(">i")
_it = Struct(">i?")
_ih = Struct(">ih")
_ii = Struct(">ii")
_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AcknowledgementBatch:
    """AcknowledgementBatch, versions 1 to 2."""

    __slots__ = ("first_offset", "last_offset", "acknowledge_types", "unknown_tags")

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is EMPTY else acknowledge_types
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qq.pack(self.first_offset, self.last_offset))
        append(encode_compact_numbers(self.acknowledge_types, "b"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AcknowledgementBatch, int]:
        first_offset, last_offset = _qq.unpack_from(buffer, position)
        position += 16
        acknowledge_types, position = read_compact_numbers(buffer, position, "b", 1)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AcknowledgementBatch(first_offset, last_offset, acknowledge_types, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AcknowledgePartition:
    """AcknowledgePartition, versions 1 to 2."""

    __slots__ = ("partition_index", "acknowledgement_batches", "unknown_tags")

    partition_index: int
    acknowledgement_batches: list[AcknowledgementBatch]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = [] if acknowledgement_batches is EMPTY else acknowledgement_batches
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.partition_index))
        append_compact_structs(out, self.acknowledgement_batches, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AcknowledgePartition, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        acknowledgement_batches, position = read_compact_structs(
            buffer, position, version, AcknowledgementBatch._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AcknowledgePartition(partition_index, acknowledgement_batches, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AcknowledgeTopic:
    """AcknowledgeTopic, versions 1 to 2."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[AcknowledgePartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[AcknowledgePartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AcknowledgeTopic, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, AcknowledgePartition._read, 6,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AcknowledgeTopic(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareAcknowledgeRequest:
    """ShareAcknowledgeRequest, versions 1 to 2."""

    __slots__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics", "unknown_tags")

    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    is_renew_ack: bool
    topics: list[AcknowledgeTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareAcknowledgeRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.group_id))
        append(encode_compact_nullable_string(self.member_id))
        if version >= 2:
            append(_it.pack(self.share_session_epoch, self.is_renew_ack))
        else:
            if self.is_renew_ack:
                raise not_carried(self, "is_renew_ack", version)
            append(_i.pack(self.share_session_epoch))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareAcknowledgeRequest, int]:
        group_id, position = read_compact_nullable_string(buffer, position)
        member_id, position = read_compact_nullable_string(buffer, position)
        if version >= 2:
            share_session_epoch, is_renew_ack = _it.unpack_from(buffer, position)
            position += 5
        else:
            (share_session_epoch,) = _i.unpack_from(buffer, position)
            position += 4
            is_renew_ack = False
        topics, position = read_compact_structs(buffer, position, version, AcknowledgeTopic._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareAcknowledgeRequest(
            group_id, member_id, share_session_epoch, is_renew_ack, topics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderIdAndEpoch:
    """LeaderIdAndEpoch, versions 1 to 2."""

    __slots__ = ("leader_id", "leader_epoch", "unknown_tags")

    leader_id: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.leader_id, self.leader_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
        leader_id, leader_epoch = _ii.unpack_from(buffer, position)
        position += 8
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LeaderIdAndEpoch(leader_id, leader_epoch, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.leader_id != 0 or self.leader_epoch != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionData:
    """PartitionData, versions 1 to 2."""

    __slots__ = ("partition_index", "error_code", "error_message", "current_leader", "unknown_tags")

    partition_index: int
    error_code: int
    error_message: str | None
    current_leader: LeaderIdAndEpoch
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is NOT_GIVEN else current_leader
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        self.current_leader._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionData, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        current_leader, position = LeaderIdAndEpoch._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionData(partition_index, error_code, error_message, current_leader, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareAcknowledgeTopicResponse:
    """ShareAcknowledgeTopicResponse, versions 1 to 2."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[PartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareAcknowledgeTopicResponse, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, PartitionData._read, 17)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareAcknowledgeTopicResponse(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class NodeEndpoint:
    """NodeEndpoint, versions 1 to 2."""

    __slots__ = ("node_id", "host", "port", "rack", "unknown_tags")

    node_id: int
    host: str
    port: int
    rack: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.node_id))
        append(encode_compact_string(self.host))
        append(_i.pack(self.port))
        append(encode_compact_nullable_string(self.rack))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[NodeEndpoint, int]:
        (node_id,) = _i.unpack_from(buffer, position)
        position += 4
        host, position = read_compact_string(buffer, position)
        (port,) = _i.unpack_from(buffer, position)
        position += 4
        rack, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return NodeEndpoint(node_id, host, port, rack, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareAcknowledgeResponse:
    """ShareAcknowledgeResponse, versions 1 to 2."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses",
        "node_endpoints", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareAcknowledgeResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if version >= 2:
            append(_i.pack(self.acquisition_lock_timeout_ms))
        append_compact_structs(out, self.responses, version)
        append_compact_structs(out, self.node_endpoints, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareAcknowledgeResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if version >= 2:
            (acquisition_lock_timeout_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            acquisition_lock_timeout_ms = 0
        responses, position = read_compact_structs(
            buffer, position, version, ShareAcknowledgeTopicResponse._read, 18,
        )
        node_endpoints, position = read_compact_structs(
            buffer, position, version, NodeEndpoint._read, 11,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareAcknowledgeResponse(
            throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, responses, node_endpoints,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AcknowledgePartition",
    "AcknowledgeTopic",
    "AcknowledgementBatch",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "PartitionData",
    "ShareAcknowledgeRequest",
    "ShareAcknowledgeResponse",
    "ShareAcknowledgeTopicResponse",
]
