"""MetadataRequest, MetadataResponse.

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
    encode_nullable_string,
    encode_numbers,
    encode_string,
    read_compact_nullable_string,
    read_compact_numbers,
    read_compact_string,
    read_nullable_string,
    read_numbers,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_nullable_structs,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_u = Struct(">16s")
_ut = Struct(">16s?")
_t = Struct(">?")
_tt = Struct(">??")
_ttt = Struct(">???")
_h = Struct(">h")
_hii = Struct(">hii")
_hiii = Struct(">hiii")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataRequestTopic:
    """MetadataRequestTopic, versions 0 to 13."""

    __slots__ = ("topic_id", "name", "unknown_tags")

    topic_id: UUID
    name: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        name: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 10:
            append(self.topic_id.bytes)
        if version >= 10:
            append(encode_compact_nullable_string(self.name))
        elif version >= 9:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_compact_string(self.name))
        else:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_string(self.name))
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataRequestTopic, int]:
        if version >= 10:
            (topic_id,) = _u.unpack_from(buffer, position)
            position += 16
            topic_id = uuid_of(topic_id)
        else:
            topic_id = ZERO_UUID
        if version >= 10:
            name, position = read_compact_nullable_string(buffer, position)
        elif version >= 9:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataRequestTopic(topic_id, name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataRequest:
    """MetadataRequest, versions 0 to 13."""

    __slots__ = (
        "topics", "allow_auto_topic_creation", "include_cluster_authorized_operations",
        "include_topic_authorized_operations", "unknown_tags",
    )

    topics: list[MetadataRequestTopic] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = EMPTY,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> MetadataRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 9:
            if self.topics is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.topics, version)
        elif version >= 1:
            if self.topics is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.topics, version)
        else:
            if self.topics is None:
                raise not_carried(self, "topics", version)
            append_structs(out, self.topics, version)
        if version >= 11:
            if self.include_cluster_authorized_operations:
                raise not_carried(self, "include_cluster_authorized_operations", version)
            append(_tt.pack(self.allow_auto_topic_creation, self.include_topic_authorized_operations))
        elif version >= 8:
            append(_ttt.pack(
                self.allow_auto_topic_creation, self.include_cluster_authorized_operations,
                self.include_topic_authorized_operations,
            ))
        elif version >= 4:
            if self.include_cluster_authorized_operations:
                raise not_carried(self, "include_cluster_authorized_operations", version)
            if self.include_topic_authorized_operations:
                raise not_carried(self, "include_topic_authorized_operations", version)
            append(_t.pack(self.allow_auto_topic_creation))
        else:
            if not self.allow_auto_topic_creation:
                raise not_carried(self, "allow_auto_topic_creation", version)
            if self.include_cluster_authorized_operations:
                raise not_carried(self, "include_cluster_authorized_operations", version)
            if self.include_topic_authorized_operations:
                raise not_carried(self, "include_topic_authorized_operations", version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataRequest, int]:
        if version >= 9:
            topics, position = read_compact_nullable_structs(
                buffer, position, version, MetadataRequestTopic._read, 2,
            )
        elif version >= 1:
            topics, position = read_nullable_structs(
                buffer, position, version, MetadataRequestTopic._read, 2,
            )
        else:
            topics, position = read_structs(buffer, position, version, MetadataRequestTopic._read, 2)
        if version >= 11:
            allow_auto_topic_creation, include_topic_authorized_operations = _tt.unpack_from(buffer, position)
            position += 2
            include_cluster_authorized_operations = False
        elif version >= 8:
            (
                allow_auto_topic_creation, include_cluster_authorized_operations,
                include_topic_authorized_operations,
            ) = _ttt.unpack_from(buffer, position)
            position += 3
        elif version >= 4:
            (allow_auto_topic_creation,) = _t.unpack_from(buffer, position)
            position += 1
            include_cluster_authorized_operations = False
            include_topic_authorized_operations = False
        else:
            allow_auto_topic_creation = True
            include_cluster_authorized_operations = False
            include_topic_authorized_operations = False
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataRequest(
            topics, allow_auto_topic_creation, include_cluster_authorized_operations,
            include_topic_authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataResponseBroker:
    """MetadataResponseBroker, versions 0 to 13."""

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
        if version >= 9:
            append(encode_compact_string(self.host))
        else:
            append(encode_string(self.host))
        append(_i.pack(self.port))
        if version >= 9:
            append(encode_compact_nullable_string(self.rack))
        elif version >= 1:
            append(encode_nullable_string(self.rack))
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataResponseBroker, int]:
        (node_id,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 9:
            host, position = read_compact_string(buffer, position)
        else:
            host, position = read_string(buffer, position)
        (port,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 9:
            rack, position = read_compact_nullable_string(buffer, position)
        elif version >= 1:
            rack, position = read_nullable_string(buffer, position)
        else:
            rack = None
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataResponseBroker(node_id, host, port, rack, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataResponsePartition:
    """MetadataResponsePartition, versions 0 to 13."""

    __slots__ = (
        "error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes",
        "offline_replicas", "unknown_tags",
    )

    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    offline_replicas: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        offline_replicas: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 7:
            append(_hiii.pack(self.error_code, self.partition_index, self.leader_id, self.leader_epoch))
        else:
            append(_hii.pack(self.error_code, self.partition_index, self.leader_id))
        if version >= 9:
            append(encode_compact_numbers(self.replica_nodes, "i"))
        else:
            append(encode_numbers(self.replica_nodes, "i"))
        if version >= 9:
            append(encode_compact_numbers(self.isr_nodes, "i"))
        else:
            append(encode_numbers(self.isr_nodes, "i"))
        if version >= 9:
            append(encode_compact_numbers(self.offline_replicas, "i"))
        elif version >= 5:
            append(encode_numbers(self.offline_replicas, "i"))
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataResponsePartition, int]:
        if version >= 7:
            error_code, partition_index, leader_id, leader_epoch = _hiii.unpack_from(buffer, position)
            position += 14
        else:
            error_code, partition_index, leader_id = _hii.unpack_from(buffer, position)
            position += 10
            leader_epoch = -1
        if version >= 9:
            replica_nodes, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            replica_nodes, position = read_numbers(buffer, position, "i", 4)
        if version >= 9:
            isr_nodes, position = read_compact_numbers(buffer, position, "i", 4)
        else:
            isr_nodes, position = read_numbers(buffer, position, "i", 4)
        if version >= 9:
            offline_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        elif version >= 5:
            offline_replicas, position = read_numbers(buffer, position, "i", 4)
        else:
            offline_replicas = []
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataResponsePartition(
            error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataResponseTopic:
    """MetadataResponseTopic, versions 0 to 13."""

    __slots__ = (
        "error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations",
        "unknown_tags",
    )

    error_code: int
    name: str | None
    topic_id: UUID
    is_internal: bool
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: UUID = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 12:
            append(encode_compact_nullable_string(self.name))
        elif version >= 9:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_compact_string(self.name))
        else:
            if self.name is None:
                raise not_carried(self, "name", version)
            append(encode_string(self.name))
        if version >= 10:
            append(_ut.pack(self.topic_id.bytes, self.is_internal))
        elif version >= 1:
            append(_t.pack(self.is_internal))
        if version >= 9:
            append_compact_structs(out, self.partitions, version)
        else:
            append_structs(out, self.partitions, version)
        if version >= 8:
            append(_i.pack(self.topic_authorized_operations))
        elif self.topic_authorized_operations != -2147483648:
            raise not_carried(self, "topic_authorized_operations", version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataResponseTopic, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 12:
            name, position = read_compact_nullable_string(buffer, position)
        elif version >= 9:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 10:
            topic_id, is_internal = _ut.unpack_from(buffer, position)
            position += 17
            topic_id = uuid_of(topic_id)
        elif version >= 1:
            (is_internal,) = _t.unpack_from(buffer, position)
            position += 1
            topic_id = ZERO_UUID
        else:
            topic_id = ZERO_UUID
            is_internal = False
        if version >= 9:
            partitions, position = read_compact_structs(
                buffer, position, version, MetadataResponsePartition._read, 18,
            )
        else:
            partitions, position = read_structs(
                buffer, position, version, MetadataResponsePartition._read, 18,
            )
        if version >= 8:
            (topic_authorized_operations,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            topic_authorized_operations = -2147483648
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataResponseTopic(
            error_code, name, topic_id, is_internal, partitions, topic_authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MetadataResponse:
    """MetadataResponse, versions 0 to 13."""

    __slots__ = (
        "throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics",
        "cluster_authorized_operations", "error_code", "unknown_tags",
    )

    throttle_time_ms: int
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None
    controller_id: int
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = EMPTY,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is EMPTY else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> MetadataResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_i.pack(self.throttle_time_ms))
        if version >= 9:
            append_compact_structs(out, self.brokers, version)
        else:
            append_structs(out, self.brokers, version)
        if version >= 9:
            append(encode_compact_nullable_string(self.cluster_id))
        elif version >= 2:
            append(encode_nullable_string(self.cluster_id))
        if version >= 1:
            append(_i.pack(self.controller_id))
        if version >= 9:
            append_compact_structs(out, self.topics, version)
        else:
            append_structs(out, self.topics, version)
        if version >= 13:
            if self.cluster_authorized_operations != -2147483648:
                raise not_carried(self, "cluster_authorized_operations", version)
            append(_h.pack(self.error_code))
        elif version >= 11:
            if self.cluster_authorized_operations != -2147483648:
                raise not_carried(self, "cluster_authorized_operations", version)
        elif version >= 8:
            append(_i.pack(self.cluster_authorized_operations))
        elif self.cluster_authorized_operations != -2147483648:
            raise not_carried(self, "cluster_authorized_operations", version)
        if version >= 9:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MetadataResponse, int]:
        if version >= 3:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        if version >= 9:
            brokers, position = read_compact_structs(
                buffer, position, version, MetadataResponseBroker._read, 10,
            )
        else:
            brokers, position = read_structs(buffer, position, version, MetadataResponseBroker._read, 10)
        if version >= 9:
            cluster_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 2:
            cluster_id, position = read_nullable_string(buffer, position)
        else:
            cluster_id = None
        if version >= 1:
            (controller_id,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            controller_id = -1
        if version >= 9:
            topics, position = read_compact_structs(
                buffer, position, version, MetadataResponseTopic._read, 8,
            )
        else:
            topics, position = read_structs(buffer, position, version, MetadataResponseTopic._read, 8)
        if version >= 13:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            cluster_authorized_operations = -2147483648
        elif version >= 11:
            cluster_authorized_operations = -2147483648
            error_code = 0
        elif version >= 8:
            (cluster_authorized_operations,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        else:
            cluster_authorized_operations = -2147483648
            error_code = 0
        if version < 9:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MetadataResponse(
            throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations,
            error_code, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "MetadataRequest",
    "MetadataRequestTopic",
    "MetadataResponse",
    "MetadataResponseBroker",
    "MetadataResponsePartition",
    "MetadataResponseTopic",
]
