"""AlterPartitionRequest, AlterPartitionResponse.

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
    encode_compact_numbers,
    read_compact_numbers,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
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
_bi = Struct(">bi")
_ih = Struct(">ih")
_ihii = Struct(">ihii")
_ii = Struct(">ii")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerState:
    """BrokerState, version 3."""

    __slots__ = ("broker_id", "broker_epoch", "unknown_tags")

    broker_id: int
    broker_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.broker_id, self.broker_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerState, int]:
        broker_id, broker_epoch = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerState(broker_id, broker_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionData:
    """RequestPartitionData, versions 2 to 3."""

    __slots__ = (
        "partition_index", "leader_epoch", "new_isr", "new_isr_with_epochs", "leader_recovery_state",
        "partition_epoch", "unknown_tags",
    )

    partition_index: int
    leader_epoch: int
    new_isr: list[int]
    new_isr_with_epochs: list[BrokerState]
    leader_recovery_state: int
    partition_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = EMPTY,
        new_isr_with_epochs: list[BrokerState] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is EMPTY else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is EMPTY else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.partition_index, self.leader_epoch))
        if version >= 3:
            if self.new_isr:
                raise not_carried(self, "new_isr", version)
        else:
            append(encode_compact_numbers(self.new_isr, "i"))
        if version >= 3:
            append_compact_structs(out, self.new_isr_with_epochs, version)
        elif self.new_isr_with_epochs:
            raise not_carried(self, "new_isr_with_epochs", version)
        append(_bi.pack(self.leader_recovery_state, self.partition_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestPartitionData, int]:
        partition_index, leader_epoch = _ii.unpack_from(buffer, position)
        position += 8
        new_isr: list[int]
        if version >= 3:
            new_isr = []
        else:
            new_isr, position = read_compact_numbers(buffer, position, "i", 4)
        if version >= 3:
            new_isr_with_epochs, position = read_compact_structs(
                buffer, position, version, BrokerState._read, 13,
            )
        else:
            new_isr_with_epochs = []
        leader_recovery_state, partition_epoch = _bi.unpack_from(buffer, position)
        position += 5
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestPartitionData(
            partition_index, leader_epoch, new_isr, new_isr_with_epochs, leader_recovery_state, partition_epoch,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTopicData:
    """RequestTopicData, versions 2 to 3."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[RequestPartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[RequestPartitionData] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, RequestPartitionData._read, 15,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterPartitionRequest:
    """AlterPartitionRequest, versions 2 to 3."""

    __slots__ = ("broker_id", "broker_epoch", "topics", "unknown_tags")

    broker_id: int
    broker_epoch: int
    topics: list[RequestTopicData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[RequestTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterPartitionRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.broker_id, self.broker_epoch))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterPartitionRequest, int]:
        broker_id, broker_epoch = _iq.unpack_from(buffer, position)
        position += 12
        topics, position = read_compact_structs(buffer, position, version, RequestTopicData._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterPartitionRequest(broker_id, broker_epoch, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponsePartitionData:
    """ResponsePartitionData, versions 2 to 3."""

    __slots__ = (
        "partition_index", "error_code", "leader_id", "leader_epoch", "isr", "leader_recovery_state",
        "partition_epoch", "unknown_tags",
    )

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    isr: list[int]
    leader_recovery_state: int
    partition_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihii.pack(self.partition_index, self.error_code, self.leader_id, self.leader_epoch))
        append(encode_compact_numbers(self.isr, "i"))
        append(_bi.pack(self.leader_recovery_state, self.partition_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionData, int]:
        partition_index, error_code, leader_id, leader_epoch = _ihii.unpack_from(buffer, position)
        position += 14
        isr, position = read_compact_numbers(buffer, position, "i", 4)
        leader_recovery_state, partition_epoch = _bi.unpack_from(buffer, position)
        position += 5
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponsePartitionData(
            partition_index, error_code, leader_id, leader_epoch, isr, leader_recovery_state, partition_epoch,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicData:
    """ResponseTopicData, versions 2 to 3."""

    __slots__ = ("topic_id", "partitions", "unknown_tags")

    topic_id: UUID
    partitions: list[ResponsePartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[ResponsePartitionData] = EMPTY,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicData, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_structs(
            buffer, position, version, ResponsePartitionData._read, 21,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicData(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterPartitionResponse:
    """AlterPartitionResponse, versions 2 to 3."""

    __slots__ = ("throttle_time_ms", "error_code", "topics", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    topics: list[ResponseTopicData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 56
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[ResponseTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterPartitionResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterPartitionResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        topics, position = read_compact_structs(buffer, position, version, ResponseTopicData._read, 18)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterPartitionResponse(throttle_time_ms, error_code, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterPartitionRequest",
    "AlterPartitionResponse",
    "BrokerState",
    "RequestPartitionData",
    "RequestTopicData",
    "ResponsePartitionData",
    "ResponseTopicData",
]
