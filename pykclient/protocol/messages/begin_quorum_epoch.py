"""BeginQuorumEpochRequest, BeginQuorumEpochResponse.

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
    encode_compact_structs,
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

_H = Struct(">H")
_h = Struct(">h")
_i = Struct(">i")
_iuii = Struct(">i16sii")
_ihii = Struct(">ihii")
_iii = Struct(">iii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestPartitionData:
    """RequestPartitionData, versions 0 to 1."""

    __slots__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch", "unknown_tags")

    partition_index: int
    voter_directory_id: UUID
    leader_id: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_iuii.pack(self.partition_index, self.voter_directory_id.bytes, self.leader_id, self.leader_epoch))
        else:
            append(_iii.pack(self.partition_index, self.leader_id, self.leader_epoch))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestPartitionData, int]:
        if version >= 1:
            partition_index, voter_directory_id, leader_id, leader_epoch = _iuii.unpack_from(buffer, position)
            position += 28
            voter_directory_id = uuid_of(voter_directory_id)
        else:
            partition_index, leader_id, leader_epoch = _iii.unpack_from(buffer, position)
            position += 12
            voter_directory_id = ZERO_UUID
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestPartitionData(partition_index, voter_directory_id, leader_id, leader_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestTopicData:
    """RequestTopicData, versions 0 to 1."""

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
        if version >= 1:
            append(encode_compact_string(self.topic_name))
        else:
            append(encode_string(self.topic_name))
        if version >= 1:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestTopicData, int]:
        if version >= 1:
            topic_name, position = read_compact_string(buffer, position)
        else:
            topic_name, position = read_string(buffer, position)
        if version >= 1:
            partitions, position = read_compact_structs(
                buffer, position, version, RequestPartitionData._read, 12,
            )
        else:
            partitions, position = read_structs(buffer, position, version, RequestPartitionData._read, 12)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestTopicData(topic_name, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderEndpoint:
    """LeaderEndpoint, version 1."""

    __slots__ = ("name", "host", "port", "unknown_tags")

    name: str
    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LeaderEndpoint, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LeaderEndpoint(name, host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BeginQuorumEpochRequest:
    """BeginQuorumEpochRequest, versions 0 to 1."""

    __slots__ = ("cluster_id", "voter_id", "topics", "leader_endpoints", "unknown_tags")

    cluster_id: str | None
    voter_id: int
    topics: list[RequestTopicData]
    leader_endpoints: list[LeaderEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 53
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[RequestTopicData] = EMPTY,
        leader_endpoints: list[LeaderEndpoint] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is EMPTY else topics
        self.leader_endpoints = [] if leader_endpoints is EMPTY else leader_endpoints
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BeginQuorumEpochRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_nullable_string(self.cluster_id))
        else:
            append(encode_nullable_string(self.cluster_id))
        if version >= 1:
            append(_i.pack(self.voter_id))
        if version >= 1:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 1:
            append_compact_structs(out, self.leader_endpoints, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BeginQuorumEpochRequest, int]:
        if version >= 1:
            cluster_id, position = read_compact_nullable_string(buffer, position)
        else:
            cluster_id, position = read_nullable_string(buffer, position)
        if version >= 1:
            (voter_id,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            voter_id = -1
        if version >= 1:
            topics, position = read_compact_structs(buffer, position, version, RequestTopicData._read, 3)
        else:
            topics, position = read_structs(buffer, position, version, RequestTopicData._read, 3)
        if version >= 1:
            leader_endpoints, position = read_compact_structs(
                buffer, position, version, LeaderEndpoint._read, 5,
            )
        else:
            leader_endpoints = []
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BeginQuorumEpochRequest(cluster_id, voter_id, topics, leader_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponsePartitionData:
    """ResponsePartitionData, versions 0 to 1."""

    __slots__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "unknown_tags")

    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihii.pack(self.partition_index, self.error_code, self.leader_id, self.leader_epoch))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponsePartitionData, int]:
        partition_index, error_code, leader_id, leader_epoch = _ihii.unpack_from(buffer, position)
        position += 14
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponsePartitionData(partition_index, error_code, leader_id, leader_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseTopicData:
    """ResponseTopicData, versions 0 to 1."""

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
        if version >= 1:
            append(encode_compact_string(self.topic_name))
        else:
            append(encode_string(self.topic_name))
        if version >= 1:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseTopicData, int]:
        if version >= 1:
            topic_name, position = read_compact_string(buffer, position)
        else:
            topic_name, position = read_string(buffer, position)
        if version >= 1:
            partitions, position = read_compact_structs(
                buffer, position, version, ResponsePartitionData._read, 14,
            )
        else:
            partitions, position = read_structs(buffer, position, version, ResponsePartitionData._read, 14)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseTopicData(topic_name, partitions, tags), position

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
class BeginQuorumEpochResponse:
    """BeginQuorumEpochResponse, versions 0 to 1."""

    __slots__ = ("error_code", "topics", "node_endpoints", "unknown_tags")

    error_code: int
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 53
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

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
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BeginQuorumEpochResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 1:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        known: list[tuple[int, bytes]] = []
        if version >= 1:
            if self.node_endpoints:
                known.append((0, encode_compact_structs(self.node_endpoints, version)))
        elif self.node_endpoints:
            raise not_carried(self, "node_endpoints", version)
        if version >= 1:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BeginQuorumEpochResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 1:
            topics, position = read_compact_structs(buffer, position, version, ResponseTopicData._read, 3)
        else:
            topics, position = read_structs(buffer, position, version, ResponseTopicData._read, 3)
        node_endpoints: list[NodeEndpoint] = []
        tags: dict[int, bytes] | None = None
        if version >= 1:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        node_endpoints, position = read_compact_structs(
                            buffer, position, version, NodeEndpoint._read, 8,
                        )
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return BeginQuorumEpochResponse(error_code, topics, node_endpoints, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BeginQuorumEpochRequest",
    "BeginQuorumEpochResponse",
    "LeaderEndpoint",
    "NodeEndpoint",
    "RequestPartitionData",
    "RequestTopicData",
    "ResponsePartitionData",
    "ResponseTopicData",
]
