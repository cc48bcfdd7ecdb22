"""VoteRequest, VoteResponse.

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
    read_compact_nullable_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    encode_compact_structs,
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

_H = Struct(">H")
_h = Struct(">h")
_i = Struct(">i")
_ihiit = Struct(">ihii?")
_iiiuuiq = Struct(">iii16s16siq")
_iiiuuiqt = Struct(">iii16s16siq?")
_iiiiq = Struct(">iiiiq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionData:
    """RequestPartitionData, versions 0 to 2."""

    __slots__ = (
        "partition_index", "replica_epoch", "replica_id", "replica_directory_id", "voter_directory_id",
        "last_offset_epoch", "last_offset", "pre_vote", "unknown_tags",
    )

    partition_index: int
    replica_epoch: int
    replica_id: int
    replica_directory_id: UUID
    voter_directory_id: UUID
    last_offset_epoch: int
    last_offset: int
    pre_vote: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: UUID = ZERO_UUID,
        voter_directory_id: UUID = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_iiiuuiqt.pack(
                self.partition_index, self.replica_epoch, self.replica_id, self.replica_directory_id.bytes,
                self.voter_directory_id.bytes, self.last_offset_epoch, self.last_offset, self.pre_vote,
            ))
        elif version >= 1:
            if self.pre_vote:
                raise not_carried(self, "pre_vote", version)
            append(_iiiuuiq.pack(
                self.partition_index, self.replica_epoch, self.replica_id, self.replica_directory_id.bytes,
                self.voter_directory_id.bytes, self.last_offset_epoch, self.last_offset,
            ))
        else:
            if self.pre_vote:
                raise not_carried(self, "pre_vote", version)
            append(_iiiiq.pack(
                self.partition_index, self.replica_epoch, self.replica_id, self.last_offset_epoch, self.last_offset,
            ))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestPartitionData, int]:
        if version >= 2:
            (
                partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id,
                last_offset_epoch, last_offset, pre_vote,
            ) = _iiiuuiqt.unpack_from(buffer, position)
            position += 57
            replica_directory_id = uuid_of(replica_directory_id)
            voter_directory_id = uuid_of(voter_directory_id)
        elif version >= 1:
            (
                partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id,
                last_offset_epoch, last_offset,
            ) = _iiiuuiq.unpack_from(buffer, position)
            position += 56
            replica_directory_id = uuid_of(replica_directory_id)
            voter_directory_id = uuid_of(voter_directory_id)
            pre_vote = False
        else:
            (
                partition_index, replica_epoch, replica_id, last_offset_epoch, last_offset,
            ) = _iiiiq.unpack_from(buffer, position)
            position += 24
            replica_directory_id = ZERO_UUID
            voter_directory_id = ZERO_UUID
            pre_vote = False
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestPartitionData(
            partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id,
            last_offset_epoch, last_offset, pre_vote, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTopicData:
    """RequestTopicData, versions 0 to 2."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[RequestPartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[RequestPartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicData, int]:
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, RequestPartitionData._read, 25,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicData(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class VoteRequest:
    """VoteRequest, versions 0 to 2."""

    __slots__ = ("cluster_id", "voter_id", "topics", "unknown_tags")

    cluster_id: str | None
    voter_id: int
    topics: list[RequestTopicData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 52
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[RequestTopicData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is EMPTY else topics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> VoteRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.cluster_id))
        if version >= 1:
            append(_i.pack(self.voter_id))
        append_compact_structs(out, self.topics, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[VoteRequest, int]:
        cluster_id, position = read_compact_nullable_string(buffer, position)
        if version >= 1:
            (voter_id,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            voter_id = -1
        topics, position = read_compact_structs(buffer, position, version, RequestTopicData._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return VoteRequest(cluster_id, voter_id, topics, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponsePartitionData:
    """ResponsePartitionData, versions 0 to 2."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "vote_granted", "unknown_tags")

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    vote_granted: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        vote_granted: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.vote_granted = vote_granted
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihiit.pack(
            self.partition_index, self.error_code, self.leader_id, self.leader_epoch, self.vote_granted,
        ))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionData, int]:
        partition_index, error_code, leader_id, leader_epoch, vote_granted = _ihiit.unpack_from(buffer, position)
        position += 15
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponsePartitionData(
            partition_index, error_code, leader_id, leader_epoch, vote_granted, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicData:
    """ResponseTopicData, versions 0 to 2."""

    __slots__ = ("topic_name", "partitions", "unknown_tags")

    topic_name: str
    partitions: list[ResponsePartitionData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[ResponsePartitionData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.topic_name))
        append_compact_structs(out, self.partitions, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicData, int]:
        topic_name, position = read_compact_string(buffer, position)
        partitions, position = read_compact_structs(
            buffer, position, version, ResponsePartitionData._read, 16,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicData(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class NodeEndpoint:
    """NodeEndpoint, versions 1 to 2."""

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
class VoteResponse:
    """VoteResponse, versions 0 to 2."""

    __slots__ = ("error_code", "topics", "node_endpoints", "unknown_tags")

    error_code: int
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 52
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        error_code: int = 0,
        topics: list[ResponseTopicData] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> VoteResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[VoteResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        topics, position = read_compact_structs(buffer, position, version, ResponseTopicData._read, 3)
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
        return VoteResponse(error_code, topics, node_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "NodeEndpoint",
    "RequestPartitionData",
    "RequestTopicData",
    "ResponsePartitionData",
    "ResponseTopicData",
    "VoteRequest",
    "VoteResponse",
]
