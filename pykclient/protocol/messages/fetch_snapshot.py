"""FetchSnapshotRequest, FetchSnapshotResponse.

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
    read_compact_nullable_string,
    read_compact_records,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    encode_compact_structs,
    encode_struct,
    not_carried,
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
_H = Struct(">H")
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")
_q = Struct(">q")
_qi = Struct(">qi")
_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestSnapshotId:
    """RequestSnapshotId, versions 0 to 1."""

    __slots__ = ("end_offset", "epoch", "unknown_tags")

    end_offset: int
    epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestSnapshotId, int]:
        end_offset, epoch = _qi.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestSnapshotId(end_offset, epoch, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.end_offset != 0 or self.epoch != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionSnapshot:
    """RequestPartitionSnapshot, versions 0 to 1."""

    __slots__ = (
        "partition", "current_leader_epoch", "snapshot_id", "position", "replica_directory_id",
        "unknown_tags",
    )

    partition: int
    current_leader_epoch: int
    snapshot_id: RequestSnapshotId
    position: int
    replica_directory_id: UUID
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: RequestSnapshotId = NOT_GIVEN,
        position: int = 0,
        replica_directory_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = RequestSnapshotId() if snapshot_id is NOT_GIVEN else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.partition, self.current_leader_epoch))
        self.snapshot_id._write(out, version)
        append(_q.pack(self.position))
        known: list[tuple[int, bytes]] = []
        if version >= 1 and self.replica_directory_id != ZERO_UUID:
            known.append((0, self.replica_directory_id.bytes))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestPartitionSnapshot, int]:
        partition, current_leader_epoch = _ii.unpack_from(buffer, position)
        position += 8
        snapshot_id, position = RequestSnapshotId._read(buffer, position, version)
        (position_,) = _q.unpack_from(buffer, position)
        position += 8
        replica_directory_id = ZERO_UUID
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0 and version >= 1:
                    (replica_directory_id,) = _u.unpack_from(buffer, position)
                    position += 16
                    replica_directory_id = uuid_of(replica_directory_id)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return RequestPartitionSnapshot(
            partition, current_leader_epoch, snapshot_id, position_, replica_directory_id, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTopicSnapshot:
    """RequestTopicSnapshot, versions 0 to 1."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[RequestPartitionSnapshot]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[RequestPartitionSnapshot] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicSnapshot, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, RequestPartitionSnapshot._read, 30,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicSnapshot(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchSnapshotRequest:
    """FetchSnapshotRequest, versions 0 to 1."""

    __slots__ = ("cluster_id", "replica_id", "max_bytes", "topics", "unknown_tags")

    cluster_id: str | None
    replica_id: int
    max_bytes: int
    topics: list[RequestTopicSnapshot]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[RequestTopicSnapshot] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FetchSnapshotRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.replica_id, self.max_bytes))
        append_compact_structs(out, self.topics, version)
        known: list[tuple[int, bytes]] = []
        if self.cluster_id is not None:
            known.append((0, encode_compact_string(self.cluster_id)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchSnapshotRequest, int]:
        replica_id, max_bytes = _ii.unpack_from(buffer, position)
        position += 8
        topics, position = read_compact_structs(
            buffer, position, version, RequestTopicSnapshot._read, 3,
        )
        cluster_id: str | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    cluster_id, position = read_compact_nullable_string(buffer, position)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return FetchSnapshotRequest(cluster_id, replica_id, max_bytes, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseSnapshotId:
    """ResponseSnapshotId, versions 0 to 1."""

    __slots__ = ("end_offset", "epoch", "unknown_tags")

    end_offset: int
    epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseSnapshotId, int]:
        end_offset, epoch = _qi.unpack_from(buffer, position)
        position += 12
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseSnapshotId(end_offset, epoch, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.end_offset != 0 or self.epoch != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderIdAndEpoch:
    """LeaderIdAndEpoch, versions 0 to 1."""

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
class ResponsePartitionSnapshot:
    """ResponsePartitionSnapshot, versions 0 to 1."""

    __slots__ = (
        "index", "error_code", "snapshot_id", "current_leader", "size", "position", "unaligned_records",
        "unknown_tags",
    )

    index: int
    error_code: int
    snapshot_id: ResponseSnapshotId
    current_leader: LeaderIdAndEpoch
    size: int
    position: int
    unaligned_records: Buffer
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: ResponseSnapshotId = NOT_GIVEN,
        current_leader: LeaderIdAndEpoch = NOT_GIVEN,
        size: int = 0,
        position: int = 0,
        unaligned_records: Buffer = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = ResponseSnapshotId() if snapshot_id is NOT_GIVEN else snapshot_id
        self.current_leader = LeaderIdAndEpoch() if current_leader is NOT_GIVEN else current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.index, self.error_code))
        self.snapshot_id._write(out, version)
        append(_qq.pack(self.size, self.position))
        append(encode_compact_size(self.unaligned_records))
        append(self.unaligned_records)
        known: list[tuple[int, bytes]] = []
        if self.current_leader._is_set():
            known.append((0, encode_struct(self.current_leader, version)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionSnapshot, int]:
        index, error_code = _ih.unpack_from(buffer, position)
        position += 6
        snapshot_id, position = ResponseSnapshotId._read(buffer, position, version)
        size, position_ = _qq.unpack_from(buffer, position)
        position += 16
        unaligned_records, position = read_compact_records(buffer, position)
        current_leader = LeaderIdAndEpoch()
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    current_leader, position = LeaderIdAndEpoch._read(buffer, position, version)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return ResponsePartitionSnapshot(
            index, error_code, snapshot_id, current_leader, size, position_, unaligned_records, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicSnapshot:
    """ResponseTopicSnapshot, versions 0 to 1."""

    __slots__ = ("name", "partitions", "unknown_tags")

    name: str
    partitions: list[ResponsePartitionSnapshot]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        partitions: list[ResponsePartitionSnapshot] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicSnapshot, int]:
        name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, ResponsePartitionSnapshot._read, 37,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicSnapshot(name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class NodeEndpoint:
    """NodeEndpoint, version 1."""

    __slots__ = ("node_id", "host", "port", "unknown_tags")

    node_id: int
    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.node_id))
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[NodeEndpoint, int]:
        (node_id,) = _i.unpack_from(buffer, position)
        position += 4
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return NodeEndpoint(node_id, host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FetchSnapshotResponse:
    """FetchSnapshotResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "topics", "node_endpoints", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    topics: list[ResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[ResponseTopicSnapshot] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FetchSnapshotResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append_compact_structs(out, self.topics, version)
        known: list[tuple[int, bytes]] = []
        if version >= 1:
            if self.node_endpoints:
                known.append((0, encode_compact_structs(self.node_endpoints, version)))
        elif self.node_endpoints:
            raise not_carried(self, "node_endpoints", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FetchSnapshotResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        topics, position = read_compact_structs(
            buffer, position, version, ResponseTopicSnapshot._read, 3,
        )
        node_endpoints: list[NodeEndpoint] = []
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0 and version >= 1:
                    node_endpoints, position = read_compact_structs(
                        buffer, position, version, NodeEndpoint._read, 8,
                    )
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return FetchSnapshotResponse(throttle_time_ms, error_code, topics, node_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "FetchSnapshotRequest",
    "FetchSnapshotResponse",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "RequestPartitionSnapshot",
    "RequestSnapshotId",
    "RequestTopicSnapshot",
    "ResponsePartitionSnapshot",
    "ResponseSnapshotId",
    "ResponseTopicSnapshot",
]
