"""RemoteLogSegmentMetadataRecord.

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
    encode_compact_size,
    encode_compact_string,
    read_compact_nullable_bytes,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_u = Struct(">16s")
_ui = Struct(">16si")
_t = Struct(">?")
_b = Struct(">b")
_i = Struct(">i")
_iq = Struct(">iq")
_qqiqq = Struct(">qqiqq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicIdPartitionEntry:
    """TopicIdPartitionEntry, version 0."""

    __slots__ = ("name", "id", "partition", "unknown_tags")

    name: str
    id: UUID
    partition: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        id: UUID = ZERO_UUID,
        partition: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_ui.pack(self.id.bytes, self.partition))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicIdPartitionEntry, int]:
        name, position = read_compact_string(buffer, position)
        id, partition = _ui.unpack_from(buffer, position)
        position += 20
        id = uuid_of(id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicIdPartitionEntry(name, id, partition, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.name or self.id != ZERO_UUID or self.partition != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoteLogSegmentIdEntry:
    """RemoteLogSegmentIdEntry, version 0."""

    __slots__ = ("topic_id_partition", "id", "unknown_tags")

    topic_id_partition: TopicIdPartitionEntry
    id: UUID
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id_partition: TopicIdPartitionEntry = NOT_GIVEN,
        id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is NOT_GIVEN else topic_id_partition
        self.id = id
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        self.topic_id_partition._write(out, version)
        append(self.id.bytes)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoteLogSegmentIdEntry, int]:
        topic_id_partition, position = TopicIdPartitionEntry._read(buffer, position, version)
        (id,) = _u.unpack_from(buffer, position)
        position += 16
        id = uuid_of(id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemoteLogSegmentIdEntry(topic_id_partition, id, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.topic_id_partition._is_set() or self.id != ZERO_UUID or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SegmentLeaderEpochEntry:
    """SegmentLeaderEpochEntry, version 0."""

    __slots__ = ("leader_epoch", "offset", "unknown_tags")

    leader_epoch: int
    offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        leader_epoch: int = 0,
        offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.leader_epoch, self.offset))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SegmentLeaderEpochEntry, int]:
        leader_epoch, offset = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SegmentLeaderEpochEntry(leader_epoch, offset, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoteLogSegmentMetadataRecord:
    """RemoteLogSegmentMetadataRecord, version 0."""

    __slots__ = (
        "remote_log_segment_id", "start_offset", "end_offset", "broker_id", "max_timestamp_ms",
        "event_timestamp_ms", "segment_leader_epochs", "segment_size_in_bytes", "custom_metadata",
        "remote_log_segment_state", "txn_index_empty", "unknown_tags",
    )

    remote_log_segment_id: RemoteLogSegmentIdEntry
    start_offset: int
    end_offset: int
    broker_id: int
    max_timestamp_ms: int
    event_timestamp_ms: int
    segment_leader_epochs: list[SegmentLeaderEpochEntry]
    segment_size_in_bytes: int
    custom_metadata: bytes | None
    remote_log_segment_state: int
    txn_index_empty: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        remote_log_segment_id: RemoteLogSegmentIdEntry = NOT_GIVEN,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[SegmentLeaderEpochEntry] = EMPTY,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.remote_log_segment_id = RemoteLogSegmentIdEntry() if remote_log_segment_id is NOT_GIVEN else remote_log_segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs = [] if segment_leader_epochs is EMPTY else segment_leader_epochs
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemoteLogSegmentMetadataRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        self.remote_log_segment_id._write(out, version)
        append(_qqiqq.pack(
            self.start_offset, self.end_offset, self.broker_id, self.max_timestamp_ms, self.event_timestamp_ms,
        ))
        append_compact_structs(out, self.segment_leader_epochs, version)
        append(_i.pack(self.segment_size_in_bytes))
        if self.custom_metadata is None:
            append(b"\0")
        else:
            append(encode_compact_size(self.custom_metadata))
            append(self.custom_metadata)
        append(_b.pack(self.remote_log_segment_state))
        known: list[tuple[int, bytes]] = []
        if self.txn_index_empty:
            known.append((0, _t.pack(self.txn_index_empty)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoteLogSegmentMetadataRecord, int]:
        remote_log_segment_id, position = RemoteLogSegmentIdEntry._read(buffer, position, version)
        (
            start_offset, end_offset, broker_id, max_timestamp_ms, event_timestamp_ms,
        ) = _qqiqq.unpack_from(buffer, position)
        position += 36
        segment_leader_epochs, position = read_compact_structs(
            buffer, position, version, SegmentLeaderEpochEntry._read, 13,
        )
        (segment_size_in_bytes,) = _i.unpack_from(buffer, position)
        position += 4
        custom_metadata, position = read_compact_nullable_bytes(buffer, position)
        (remote_log_segment_state,) = _b.unpack_from(buffer, position)
        position += 1
        txn_index_empty = False
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (txn_index_empty,) = _t.unpack_from(buffer, position)
                    position += 1
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return RemoteLogSegmentMetadataRecord(
            remote_log_segment_id, start_offset, end_offset, broker_id, max_timestamp_ms, event_timestamp_ms,
            segment_leader_epochs, segment_size_in_bytes, custom_metadata, remote_log_segment_state,
            txn_index_empty, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RemoteLogSegmentIdEntry",
    "RemoteLogSegmentMetadataRecord",
    "SegmentLeaderEpochEntry",
    "TopicIdPartitionEntry",
]
