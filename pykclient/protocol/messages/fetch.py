"""FetchRequest, FetchResponse.

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
    encode_numbers,
    encode_size,
    encode_string,
    read_compact_nullable_records,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_nullable_records,
    read_numbers,
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
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_nullable_structs,
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
_i = Struct(">i")
_ihi = Struct(">ihi")
_ihqq = Struct(">ihqq")
_ihqqq = Struct(">ihqqq")
_ii = Struct(">ii")
_iiibii = Struct(">iiibii")
_iiiib = Struct(">iiiib")
_iiiibii = Struct(">iiiibii")
_iiqiqi = Struct(">iiqiqi")
_iiqqi = Struct(">iiqqi")
_iq = Struct(">iq")
_iqi = Struct(">iqi")
_iqqi = Struct(">iqqi")
_q = Struct(">q")
_qi = Struct(">qi")
_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ReplicaState:
    """ReplicaState, versions 15 to 18."""

    __slots__ = ("replica_id", "replica_epoch", "unknown_tags")

    replica_id: int
    replica_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.replica_id, self.replica_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ReplicaState, int]:
        replica_id, replica_epoch = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ReplicaState(replica_id, replica_epoch, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.replica_id != -1 or self.replica_epoch != -1 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchPartition:
    """FetchPartition, versions 4 to 18."""

    __slots__ = (
        "partition", "current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset",
        "partition_max_bytes", "replica_directory_id", "high_watermark", "unknown_tags",
    )

    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    partition_max_bytes: int
    replica_directory_id: UUID
    high_watermark: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: UUID = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 12:
            append(_iiqiqi.pack(
                self.partition, self.current_leader_epoch, self.fetch_offset, self.last_fetched_epoch,
                self.log_start_offset, self.partition_max_bytes,
            ))
        elif version >= 9:
            if self.last_fetched_epoch != -1:
                raise not_carried(self, "last_fetched_epoch", version)
            append(_iiqqi.pack(
                self.partition, self.current_leader_epoch, self.fetch_offset, self.log_start_offset,
                self.partition_max_bytes,
            ))
        elif version >= 5:
            if self.last_fetched_epoch != -1:
                raise not_carried(self, "last_fetched_epoch", version)
            append(_iqqi.pack(self.partition, self.fetch_offset, self.log_start_offset, self.partition_max_bytes))
        else:
            if self.last_fetched_epoch != -1:
                raise not_carried(self, "last_fetched_epoch", version)
            append(_iqi.pack(self.partition, self.fetch_offset, self.partition_max_bytes))
        known: list[tuple[int, bytes]] = []
        if version >= 17 and self.replica_directory_id != ZERO_UUID:
            known.append((0, self.replica_directory_id.bytes))
        if version >= 18 and self.high_watermark != 9223372036854775807:
            known.append((1, _q.pack(self.high_watermark)))
        if version >= 12:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchPartition, int]:
        if version >= 12:
            (
                partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset,
                partition_max_bytes,
            ) = _iiqiqi.unpack_from(buffer, position)
            position += 32
        elif version >= 9:
            (
                partition, current_leader_epoch, fetch_offset, log_start_offset, partition_max_bytes,
            ) = _iiqqi.unpack_from(buffer, position)
            position += 28
            last_fetched_epoch = -1
        elif version >= 5:
            partition, fetch_offset, log_start_offset, partition_max_bytes = _iqqi.unpack_from(buffer, position)
            position += 24
            current_leader_epoch = -1
            last_fetched_epoch = -1
        else:
            partition, fetch_offset, partition_max_bytes = _iqi.unpack_from(buffer, position)
            position += 16
            current_leader_epoch = -1
            last_fetched_epoch = -1
            log_start_offset = -1
        replica_directory_id = ZERO_UUID
        high_watermark = 9223372036854775807
        tags: dict[int, bytes] | None = None
        if version >= 12:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0 and version >= 17:
                        (replica_directory_id,) = _u.unpack_from(buffer, position)
                        position += 16
                        replica_directory_id = uuid_of(replica_directory_id)
                    elif tag == 1 and version >= 18:
                        (high_watermark,) = _q.unpack_from(buffer, position)
                        position += 8
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return FetchPartition(
            partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset,
            partition_max_bytes, replica_directory_id, high_watermark, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchTopic:
    """FetchTopic, versions 4 to 18."""

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tags")

    topic: str
    topic_id: UUID
    partitions: list[FetchPartition]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 13:
            if version >= 12:
                append(encode_compact_string(self.topic))
            else:
                append(encode_string(self.topic))
        if version >= 13:
            append(self.topic_id.bytes)
        if version >= 12:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 12:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchTopic, int]:
        if version >= 13:
            topic = ""
        elif version >= 12:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 13:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 12:
            partitions, position = read_compact_structs(buffer, position, version, FetchPartition._read, 16)
        else:
            partitions, position = read_structs(buffer, position, version, FetchPartition._read, 16)
        if version < 12:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FetchTopic(topic, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ForgottenTopic:
    """ForgottenTopic, versions 7 to 18."""

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tags")

    topic: str
    topic_id: UUID
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 13:
            if version >= 12:
                append(encode_compact_string(self.topic))
            else:
                append(encode_string(self.topic))
        if version >= 13:
            append(self.topic_id.bytes)
        if version >= 12:
            append(encode_compact_numbers(self.partitions, "i"))
        else:
            append(encode_numbers(self.partitions, "i"))
        if version >= 12:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ForgottenTopic, int]:
        if version >= 13:
            topic = ""
        elif version >= 12:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 13:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 12:
            partitions, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            partitions, position = read_numbers(buffer, position, "i", 4)
        if version < 12:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ForgottenTopic(topic, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchRequest:
    """FetchRequest, versions 4 to 18."""

    __slots__ = (
        "cluster_id", "replica_id", "replica_state", "max_wait_ms", "min_bytes", "max_bytes",
        "isolation_level", "session_id", "session_epoch", "topics", "forgotten_topics_data", "rack_id",
        "unknown_tags",
    )

    cluster_id: str | None
    replica_id: int
    replica_state: ReplicaState
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]
    rack_id: str
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState = NOT_GIVEN,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
        rack_id: str = '',
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = ReplicaState() if replica_state is NOT_GIVEN else replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is EMPTY else forgotten_topics_data
        self.rack_id = rack_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FetchRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 15:
            if self.replica_id != -1:
                raise not_carried(self, "replica_id", version)
            append(_iiibii.pack(
                self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level, self.session_id,
                self.session_epoch,
            ))
        elif version >= 7:
            append(_iiiibii.pack(
                self.replica_id, self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level,
                self.session_id, self.session_epoch,
            ))
        else:
            append(_iiiib.pack(self.replica_id, self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level))
        if version >= 12:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 12:
            append_compact_structs(out, self.forgotten_topics_data, version)
        elif version >= 7:
            append_structs(out, self.forgotten_topics_data, version)
        elif self.forgotten_topics_data:
            raise not_carried(self, "forgotten_topics_data", version)
        if version >= 12:
            append(encode_compact_string(self.rack_id))
        elif version >= 11:
            append(encode_string(self.rack_id))
        known: list[tuple[int, bytes]] = []
        if version >= 12 and self.cluster_id is not None:
            known.append((0, encode_compact_string(self.cluster_id)))
        if version >= 15:
            if self.replica_state._is_set():
                known.append((1, encode_struct(self.replica_state, version)))
        elif self.replica_state._is_set():
            raise not_carried(self, "replica_state", version)
        if version >= 12:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchRequest, int]:
        if version >= 15:
            (
                max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch,
            ) = _iiibii.unpack_from(buffer, position)
            position += 21
            replica_id = -1
        elif version >= 7:
            (
                replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch,
            ) = _iiiibii.unpack_from(buffer, position)
            position += 25
        else:
            replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = _iiiib.unpack_from(buffer, position)
            position += 17
            session_id = 0
            session_epoch = -1
        if version >= 12:
            topics, position = read_compact_structs(buffer, position, version, FetchTopic._read, 3)
        else:
            topics, position = read_structs(buffer, position, version, FetchTopic._read, 3)
        if version >= 12:
            forgotten_topics_data, position = read_compact_structs(
                buffer, position, version, ForgottenTopic._read, 3,
            )
        elif version >= 7:
            forgotten_topics_data, position = read_structs(
                buffer, position, version, ForgottenTopic._read, 3,
            )
        else:
            forgotten_topics_data = []
        if version >= 12:
            rack_id, position = read_compact_string(buffer, position)
        elif version >= 11:
            rack_id, position = read_string(buffer, position)
        else:
            rack_id = ''
        cluster_id: str | None = None
        replica_state = ReplicaState()
        tags: dict[int, bytes] | None = None
        if version >= 12:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        cluster_id, position = read_compact_nullable_string(buffer, position)
                    elif tag == 1 and version >= 15:
                        replica_state, position = ReplicaState._read(buffer, position, version)
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return FetchRequest(
            cluster_id, replica_id, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level,
            session_id, session_epoch, topics, forgotten_topics_data, rack_id, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EpochEndOffset:
    """EpochEndOffset, versions 12 to 18."""

    __slots__ = ("epoch", "end_offset", "unknown_tags")

    epoch: int
    end_offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.epoch, self.end_offset))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EpochEndOffset, int]:
        epoch, end_offset = _iq.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EpochEndOffset(epoch, end_offset, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.epoch != -1 or self.end_offset != -1 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderIdAndEpoch:
    """LeaderIdAndEpoch, versions 12 to 18."""

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
class SnapshotId:
    """SnapshotId, versions 12 to 18."""

    __slots__ = ("end_offset", "epoch", "unknown_tags")

    end_offset: int
    epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qi.pack(self.end_offset, self.epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SnapshotId, int]:
        end_offset, epoch = _qi.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SnapshotId(end_offset, epoch, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.end_offset != -1 or self.epoch != -1 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AbortedTransaction:
    """AbortedTransaction, versions 4 to 18."""

    __slots__ = ("producer_id", "first_offset", "unknown_tags")

    producer_id: int
    first_offset: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qq.pack(self.producer_id, self.first_offset))
        if version >= 12:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AbortedTransaction, int]:
        producer_id, first_offset = _qq.unpack_from(buffer, position)
        position += 16
        if version < 12:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AbortedTransaction(producer_id, first_offset, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionData:
    """PartitionData, versions 4 to 18."""

    __slots__ = (
        "partition_index", "error_code", "high_watermark", "last_stable_offset", "log_start_offset",
        "diverging_epoch", "current_leader", "snapshot_id", "aborted_transactions",
        "preferred_read_replica", "records", "unknown_tags",
    )

    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    diverging_epoch: EpochEndOffset
    current_leader: LeaderIdAndEpoch
    snapshot_id: SnapshotId
    aborted_transactions: list[AbortedTransaction] | None
    preferred_read_replica: int
    records: Buffer | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset = NOT_GIVEN,
        current_leader: LeaderIdAndEpoch = NOT_GIVEN,
        snapshot_id: SnapshotId = NOT_GIVEN,
        aborted_transactions: list[AbortedTransaction] | None = EMPTY,
        preferred_read_replica: int = -1,
        records: Buffer | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = EpochEndOffset() if diverging_epoch is NOT_GIVEN else diverging_epoch
        self.current_leader = LeaderIdAndEpoch() if current_leader is NOT_GIVEN else current_leader
        self.snapshot_id = SnapshotId() if snapshot_id is NOT_GIVEN else snapshot_id
        self.aborted_transactions = [] if aborted_transactions is EMPTY else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(_ihqqq.pack(
                self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset,
                self.log_start_offset,
            ))
        else:
            append(_ihqq.pack(self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset))
        if version >= 12:
            if self.aborted_transactions is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.aborted_transactions, version)
        else:
            if self.aborted_transactions is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.aborted_transactions, version)
        if version >= 11:
            append(_i.pack(self.preferred_read_replica))
        elif self.preferred_read_replica != -1:
            raise not_carried(self, "preferred_read_replica", version)
        if version >= 12:
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
        known: list[tuple[int, bytes]] = []
        if version >= 12:
            if self.diverging_epoch._is_set():
                known.append((0, encode_struct(self.diverging_epoch, version)))
        elif self.diverging_epoch._is_set():
            raise not_carried(self, "diverging_epoch", version)
        if version >= 12:
            if self.current_leader._is_set():
                known.append((1, encode_struct(self.current_leader, version)))
        elif self.current_leader._is_set():
            raise not_carried(self, "current_leader", version)
        if version >= 12:
            if self.snapshot_id._is_set():
                known.append((2, encode_struct(self.snapshot_id, version)))
        elif self.snapshot_id._is_set():
            raise not_carried(self, "snapshot_id", version)
        if version >= 12:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionData, int]:
        if version >= 5:
            (
                partition_index, error_code, high_watermark, last_stable_offset, log_start_offset,
            ) = _ihqqq.unpack_from(buffer, position)
            position += 30
        else:
            partition_index, error_code, high_watermark, last_stable_offset = _ihqq.unpack_from(buffer, position)
            position += 22
            log_start_offset = -1
        if version >= 12:
            aborted_transactions, position = read_compact_nullable_structs(
                buffer, position, version, AbortedTransaction._read, 16,
            )
        else:
            aborted_transactions, position = read_nullable_structs(
                buffer, position, version, AbortedTransaction._read, 16,
            )
        if version >= 11:
            (preferred_read_replica,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            preferred_read_replica = -1
        records: Buffer | None
        if version >= 12:
            records, position = read_compact_nullable_records(buffer, position)
        else:
            records, position = read_nullable_records(buffer, position)
        diverging_epoch = EpochEndOffset()
        current_leader = LeaderIdAndEpoch()
        snapshot_id = SnapshotId()
        tags: dict[int, bytes] | None = None
        if version >= 12:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        diverging_epoch, position = EpochEndOffset._read(buffer, position, version)
                    elif tag == 1:
                        current_leader, position = LeaderIdAndEpoch._read(buffer, position, version)
                    elif tag == 2:
                        snapshot_id, position = SnapshotId._read(buffer, position, version)
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return PartitionData(
            partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, diverging_epoch,
            current_leader, snapshot_id, aborted_transactions, preferred_read_replica, records, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchableTopicResponse:
    """FetchableTopicResponse, versions 4 to 18."""

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tags")

    topic: str
    topic_id: UUID
    partitions: list[PartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version < 13:
            if version >= 12:
                append(encode_compact_string(self.topic))
            else:
                append(encode_string(self.topic))
        if version >= 13:
            append(self.topic_id.bytes)
        if version >= 12:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 12:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchableTopicResponse, int]:
        if version >= 13:
            topic = ""
        elif version >= 12:
            topic, position = read_compact_string(buffer, position)
        else:
            topic, position = read_string(buffer, position)
        if version >= 13:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 12:
            partitions, position = read_compact_structs(buffer, position, version, PartitionData._read, 30)
        else:
            partitions, position = read_structs(buffer, position, version, PartitionData._read, 30)
        if version < 12:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FetchableTopicResponse(topic, topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class NodeEndpoint:
    """NodeEndpoint, versions 16 to 18."""

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
class FetchResponse:
    """FetchResponse, versions 4 to 18."""

    __slots__ = ("throttle_time_ms", "error_code", "session_id", "responses", "node_endpoints", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FetchResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 7:
            append(_ihi.pack(self.throttle_time_ms, self.error_code, self.session_id))
        else:
            if self.session_id != 0:
                raise not_carried(self, "session_id", version)
            append(_i.pack(self.throttle_time_ms))
        if version >= 12:
            append_compact_structs(out, self.responses, version)
        else:
            append_structs(out, self.responses, version)
        known: list[tuple[int, bytes]] = []
        if version >= 16:
            if self.node_endpoints:
                known.append((0, encode_compact_structs(self.node_endpoints, version)))
        elif self.node_endpoints:
            raise not_carried(self, "node_endpoints", version)
        if version >= 12:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchResponse, int]:
        if version >= 7:
            throttle_time_ms, error_code, session_id = _ihi.unpack_from(buffer, position)
            position += 10
        else:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
            session_id = 0
        if version >= 12:
            responses, position = read_compact_structs(
                buffer, position, version, FetchableTopicResponse._read, 3,
            )
        else:
            responses, position = read_structs(buffer, position, version, FetchableTopicResponse._read, 3)
        node_endpoints: list[NodeEndpoint] = []
        tags: dict[int, bytes] | None = None
        if version >= 12:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0 and version >= 16:
                        node_endpoints, position = read_compact_structs(
                            buffer, position, version, NodeEndpoint._read, 11,
                        )
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AbortedTransaction",
    "EpochEndOffset",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchTopic",
    "FetchableTopicResponse",
    "ForgottenTopic",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "PartitionData",
    "ReplicaState",
    "SnapshotId",
]
