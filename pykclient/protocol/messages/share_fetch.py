"""ShareFetchRequest, ShareFetchResponse.

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
    encode_compact_size,
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_records,
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
_h = Struct(">h")
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")
_iiiiii = Struct(">iiiiii")
_iiiiiibt = Struct(">iiiiiib?")
_qq = Struct(">qq")
_qqh = Struct(">qqh")


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
class FetchPartition:
    """FetchPartition, versions 1 to 2."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchPartition, int]:
        (partition_index,) = _i.unpack_from(buffer, position)
        position += 4
        acknowledgement_batches, position = read_compact_structs(
            buffer, position, version, AcknowledgementBatch._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FetchPartition(partition_index, acknowledgement_batches, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchTopic:
    """FetchTopic, versions 1 to 2."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[FetchPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchTopic, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, FetchPartition._read, 6)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FetchTopic(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ForgottenTopic:
    """ForgottenTopic, versions 1 to 2."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ForgottenTopic, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ForgottenTopic(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareFetchRequest:
    """ShareFetchRequest, versions 1 to 2."""

    __slots__ = (
        "group_id", "member_id", "share_session_epoch", "max_wait_ms", "min_bytes", "max_bytes",
        "max_records", "batch_size", "share_acquire_mode", "is_renew_ack", "topics",
        "forgotten_topics_data", "unknown_tags",
    )

    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    share_acquire_mode: int
    is_renew_ack: bool
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is EMPTY else forgotten_topics_data
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareFetchRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.group_id))
        append(encode_compact_nullable_string(self.member_id))
        if version >= 2:
            append(_iiiiiibt.pack(
                self.share_session_epoch, self.max_wait_ms, self.min_bytes, self.max_bytes, self.max_records,
                self.batch_size, self.share_acquire_mode, self.is_renew_ack,
            ))
        else:
            if self.is_renew_ack:
                raise not_carried(self, "is_renew_ack", version)
            append(_iiiiii.pack(
                self.share_session_epoch, self.max_wait_ms, self.min_bytes, self.max_bytes, self.max_records,
                self.batch_size,
            ))
        append_compact_structs(out, self.topics, version)
        append_compact_structs(out, self.forgotten_topics_data, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareFetchRequest, int]:
        group_id, position = read_compact_nullable_string(buffer, position)
        member_id, position = read_compact_nullable_string(buffer, position)
        if version >= 2:
            (
                share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size, share_acquire_mode,
                is_renew_ack,
            ) = _iiiiiibt.unpack_from(buffer, position)
            position += 26
        else:
            (
                share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records, batch_size,
            ) = _iiiiii.unpack_from(buffer, position)
            position += 24
            share_acquire_mode = 0
            is_renew_ack = False
        topics, position = read_compact_structs(buffer, position, version, FetchTopic._read, 18)
        forgotten_topics_data, position = read_compact_structs(
            buffer, position, version, ForgottenTopic._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareFetchRequest(
            group_id, member_id, share_session_epoch, max_wait_ms, min_bytes, max_bytes, max_records,
            batch_size, share_acquire_mode, is_renew_ack, topics, forgotten_topics_data, tags,
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
class AcquiredRecords:
    """AcquiredRecords, versions 1 to 2."""

    __slots__ = ("first_offset", "last_offset", "delivery_count", "unknown_tags")

    first_offset: int
    last_offset: int
    delivery_count: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qqh.pack(self.first_offset, self.last_offset, self.delivery_count))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AcquiredRecords, int]:
        first_offset, last_offset, delivery_count = _qqh.unpack_from(buffer, position)
        position += 18
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AcquiredRecords(first_offset, last_offset, delivery_count, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionData:
    """PartitionData, versions 1 to 2."""

    __slots__ = (
        "partition_index", "error_code", "error_message", "acknowledge_error_code",
        "acknowledge_error_message", "current_leader", "records", "acquired_records", "unknown_tags",
    )

    partition_index: int
    error_code: int
    error_message: str | None
    acknowledge_error_code: int
    acknowledge_error_message: str | None
    current_leader: LeaderIdAndEpoch
    records: Buffer
    acquired_records: list[AcquiredRecords]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = NOT_GIVEN,
        records: Buffer = b"",
        acquired_records: list[AcquiredRecords] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is NOT_GIVEN else current_leader
        self.records = records
        self.acquired_records = [] if acquired_records is EMPTY else acquired_records
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.partition_index, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(_h.pack(self.acknowledge_error_code))
        append(encode_compact_nullable_string(self.acknowledge_error_message))
        self.current_leader._write(out, version)
        append(encode_compact_size(self.records))
        append(self.records)
        append_compact_structs(out, self.acquired_records, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionData, int]:
        partition_index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        (acknowledge_error_code,) = _h.unpack_from(buffer, position)
        position += 2
        acknowledge_error_message, position = read_compact_nullable_string(buffer, position)
        current_leader, position = LeaderIdAndEpoch._read(buffer, position, version)
        records, position = read_compact_records(buffer, position)
        acquired_records, position = read_compact_structs(
            buffer, position, version, AcquiredRecords._read, 19,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionData(
            partition_index, error_code, error_message, acknowledge_error_code, acknowledge_error_message,
            current_leader, records, acquired_records, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareFetchableTopicResponse:
    """ShareFetchableTopicResponse, versions 1 to 2."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareFetchableTopicResponse, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(buffer, position, version, PartitionData._read, 22)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareFetchableTopicResponse(topic_id, partitions, tags), position

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
class ShareFetchResponse:
    """ShareFetchResponse, versions 1 to 2."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses",
        "node_endpoints", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = EMPTY,
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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareFetchResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        append(_i.pack(self.acquisition_lock_timeout_ms))
        append_compact_structs(out, self.responses, version)
        append_compact_structs(out, self.node_endpoints, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareFetchResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        (acquisition_lock_timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        responses, position = read_compact_structs(
            buffer, position, version, ShareFetchableTopicResponse._read, 18,
        )
        node_endpoints, position = read_compact_structs(
            buffer, position, version, NodeEndpoint._read, 11,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareFetchResponse(
            throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, responses, node_endpoints,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AcknowledgementBatch",
    "AcquiredRecords",
    "FetchPartition",
    "FetchTopic",
    "ForgottenTopic",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "PartitionData",
    "ShareFetchRequest",
    "ShareFetchResponse",
    "ShareFetchableTopicResponse",
]
