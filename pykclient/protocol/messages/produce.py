"""ProduceRequest, ProduceResponse.

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
    encode_compact_size,
    encode_compact_string,
    encode_nullable_string,
    encode_size,
    encode_string,
    read_compact_nullable_records,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_records,
    read_nullable_string,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
    append_compact_structs,
    append_structs,
    append_tags,
    encode_compact_structs,
    encode_struct,
    not_carried,
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

_u = Struct(">16s")
_hi = Struct(">hi")
_i = Struct(">i")
_ihqq = Struct(">ihqq")
_ihqqq = Struct(">ihqqq")
_ii = Struct(">ii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionProduceData:
    """PartitionProduceData, versions 3 to 13."""

    __slots__ = ("index", "records", "unknown_tags")

    index: int
    records: Buffer | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        index: int = 0,
        records: Buffer | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.records = records
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.index))
        if version >= 9:
            if self.records is None:
                append(b"\0")
            else:
                append(encode_compact_size(self.records))
                append(self.records)
        else:
            if self.records is None:
                append(b"\xff\xff\xff\xff")
            else:
                append(encode_size(self.records))
                append(self.records)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionProduceData, int]:
        (index,) = _i.unpack_from(buffer, position)
        position += 4
        records: Buffer | None
        if version >= 9:
            records, position = read_compact_nullable_records(buffer, position)
        else:
            records, position = read_nullable_records(buffer, position)
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PartitionProduceData(index, records, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicProduceData:
    """TopicProduceData, versions 3 to 13."""

    __slots__ = ("name", "topic_id", "partition_data", "unknown_tags")

    name: str
    topic_id: UUID
    partition_data: list[PartitionProduceData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partition_data: list[PartitionProduceData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is EMPTY else partition_data
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 13:
            if version >= 9:
                append(encode_compact_string(self.name))
            else:
                append(encode_string(self.name))
        if version >= 13:
            append(self.topic_id.bytes)
        if version >= 9:
            append_compact_structs(out, self.partition_data, version)
        else:
            append_structs(out, self.partition_data, version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicProduceData, int]:
        if version >= 13:
            name = ""
        elif version >= 9:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 13:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 9:
            partition_data, position = read_compact_structs(
                buffer, position, version, PartitionProduceData._read, 6,
            )
        else:
            partition_data, position = read_structs(
                buffer, position, version, PartitionProduceData._read, 6,
            )
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicProduceData(name, topic_id, partition_data, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ProduceRequest:
    """ProduceRequest, versions 3 to 13."""

    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data", "unknown_tags")

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: list[TopicProduceData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is EMPTY else topic_data
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ProduceRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 9:
            append(encode_compact_nullable_string(self.transactional_id))
        else:
            append(encode_nullable_string(self.transactional_id))
        append(_hi.pack(self.acks, self.timeout_ms))
        if version >= 9:
            append_compact_structs(out, self.topic_data, version)
        else:
            append_structs(out, self.topic_data, version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ProduceRequest, int]:
        if version >= 9:
            transactional_id, position = read_compact_nullable_string(buffer, position)
        else:
            transactional_id, position = read_nullable_string(buffer, position)
        acks, timeout_ms = _hi.unpack_from(buffer, position)
        position += 6
        if version >= 9:
            topic_data, position = read_compact_structs(
                buffer, position, version, TopicProduceData._read, 3,
            )
        else:
            topic_data, position = read_structs(buffer, position, version, TopicProduceData._read, 3)
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ProduceRequest(transactional_id, acks, timeout_ms, topic_data, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BatchIndexAndErrorMessage:
    """BatchIndexAndErrorMessage, versions 8 to 13."""

    __slots__ = ("batch_index", "batch_index_error_message", "unknown_tags")

    batch_index: int
    batch_index_error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.batch_index))
        if version >= 9:
            append(encode_compact_nullable_string(self.batch_index_error_message))
        else:
            append(encode_nullable_string(self.batch_index_error_message))
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BatchIndexAndErrorMessage, int]:
        (batch_index,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 9:
            batch_index_error_message, position = read_compact_nullable_string(buffer, position)
        else:
            batch_index_error_message, position = read_nullable_string(buffer, position)
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BatchIndexAndErrorMessage(batch_index, batch_index_error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderIdAndEpoch:
    """LeaderIdAndEpoch, versions 10 to 13."""

    __slots__ = ("leader_id", "leader_epoch", "unknown_tags")

    leader_id: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
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
        return bool(self.leader_id != -1 or self.leader_epoch != -1 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionProduceResponse:
    """PartitionProduceResponse, versions 3 to 13."""

    __slots__ = (
        "index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset", "record_errors",
        "error_message", "current_leader", "unknown_tags",
    )

    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int
    record_errors: list[BatchIndexAndErrorMessage]
    error_message: str | None
    current_leader: LeaderIdAndEpoch
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = EMPTY,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is EMPTY else record_errors
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is NOT_GIVEN else current_leader
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(_ihqqq.pack(
                self.index, self.error_code, self.base_offset, self.log_append_time_ms, self.log_start_offset,
            ))
        else:
            append(_ihqq.pack(self.index, self.error_code, self.base_offset, self.log_append_time_ms))
        if version >= 9:
            append_compact_structs(out, self.record_errors, version)
        elif version >= 8:
            append_structs(out, self.record_errors, version)
        if version >= 9:
            append(encode_compact_nullable_string(self.error_message))
        elif version >= 8:
            append(encode_nullable_string(self.error_message))
        known: list[tuple[int, bytes]] = []
        if version >= 10:
            if self.current_leader._is_set():
                known.append((0, encode_struct(self.current_leader, version)))
        elif self.current_leader._is_set():
            raise not_carried(self, "current_leader", version)
        if version >= 9:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionProduceResponse, int]:
        if version >= 5:
            index, error_code, base_offset, log_append_time_ms, log_start_offset = _ihqqq.unpack_from(buffer, position)
            position += 30
        else:
            index, error_code, base_offset, log_append_time_ms = _ihqq.unpack_from(buffer, position)
            position += 22
            log_start_offset = -1
        if version >= 9:
            record_errors, position = read_compact_structs(
                buffer, position, version, BatchIndexAndErrorMessage._read, 6,
            )
        elif version >= 8:
            record_errors, position = read_structs(
                buffer, position, version, BatchIndexAndErrorMessage._read, 6,
            )
        else:
            record_errors = []
        if version >= 9:
            error_message, position = read_compact_nullable_string(buffer, position)
        elif version >= 8:
            error_message, position = read_nullable_string(buffer, position)
        else:
            error_message = None
        current_leader = LeaderIdAndEpoch()
        tags: dict[int, bytes] | None = None
        if version >= 9:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0 and version >= 10:
                        current_leader, position = LeaderIdAndEpoch._read(buffer, position, version)
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return PartitionProduceResponse(
            index, error_code, base_offset, log_append_time_ms, log_start_offset, record_errors, error_message,
            current_leader, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicProduceResponse:
    """TopicProduceResponse, versions 3 to 13."""

    __slots__ = ("name", "topic_id", "partition_responses", "unknown_tags")

    name: str
    topic_id: UUID
    partition_responses: list[PartitionProduceResponse]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is EMPTY else partition_responses
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 13:
            if version >= 9:
                append(encode_compact_string(self.name))
            else:
                append(encode_string(self.name))
        if version >= 13:
            append(self.topic_id.bytes)
        if version >= 9:
            append_compact_structs(out, self.partition_responses, version)
        else:
            append_structs(out, self.partition_responses, version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicProduceResponse, int]:
        if version >= 13:
            name = ""
        elif version >= 9:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 13:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 9:
            partition_responses, position = read_compact_structs(
                buffer, position, version, PartitionProduceResponse._read, 22,
            )
        else:
            partition_responses, position = read_structs(
                buffer, position, version, PartitionProduceResponse._read, 22,
            )
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicProduceResponse(name, topic_id, partition_responses, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class NodeEndpoint:
    """NodeEndpoint, versions 10 to 13."""

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
class ProduceResponse:
    """ProduceResponse, versions 3 to 13."""

    __slots__ = ("responses", "throttle_time_ms", "node_endpoints", "unknown_tags")

    responses: list[TopicProduceResponse]
    throttle_time_ms: int
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        responses: list[TopicProduceResponse] = EMPTY,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.responses = [] if responses is EMPTY else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ProduceResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 9:
            append_compact_structs(out, self.responses, version)
        else:
            append_structs(out, self.responses, version)
        append(_i.pack(self.throttle_time_ms))
        known: list[tuple[int, bytes]] = []
        if version >= 10:
            if self.node_endpoints:
                known.append((0, encode_compact_structs(self.node_endpoints, version)))
        elif self.node_endpoints:
            raise not_carried(self, "node_endpoints", version)
        if version >= 9:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ProduceResponse, int]:
        if version >= 9:
            responses, position = read_compact_structs(
                buffer, position, version, TopicProduceResponse._read, 3,
            )
        else:
            responses, position = read_structs(buffer, position, version, TopicProduceResponse._read, 3)
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        node_endpoints: list[NodeEndpoint] = []
        tags: dict[int, bytes] | None = None
        if version >= 9:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0 and version >= 10:
                        node_endpoints, position = read_compact_structs(
                            buffer, position, version, NodeEndpoint._read, 11,
                        )
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return ProduceResponse(responses, throttle_time_ms, node_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BatchIndexAndErrorMessage",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "PartitionProduceData",
    "PartitionProduceResponse",
    "ProduceRequest",
    "ProduceResponse",
    "TopicProduceData",
    "TopicProduceResponse",
]
