"""DescribeClusterRequest, DescribeClusterResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_nullable_string,
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_string,
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

_t = Struct(">?")
_tb = Struct(">?b")
_tbt = Struct(">?b?")
_b = Struct(">b")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClusterRequest:
    """DescribeClusterRequest, versions 0 to 2."""

    __slots__ = (
        "include_cluster_authorized_operations", "endpoint_type", "include_fenced_brokers", "unknown_tags",
    )

    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClusterRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_tbt.pack(
                self.include_cluster_authorized_operations, self.endpoint_type, self.include_fenced_brokers,
            ))
        elif version >= 1:
            if self.include_fenced_brokers:
                raise not_carried(self, "include_fenced_brokers", version)
            append(_tb.pack(self.include_cluster_authorized_operations, self.endpoint_type))
        else:
            if self.endpoint_type != 1:
                raise not_carried(self, "endpoint_type", version)
            if self.include_fenced_brokers:
                raise not_carried(self, "include_fenced_brokers", version)
            append(_t.pack(self.include_cluster_authorized_operations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClusterRequest, int]:
        if version >= 2:
            (
                include_cluster_authorized_operations, endpoint_type, include_fenced_brokers,
            ) = _tbt.unpack_from(buffer, position)
            position += 3
        elif version >= 1:
            include_cluster_authorized_operations, endpoint_type = _tb.unpack_from(buffer, position)
            position += 2
            include_fenced_brokers = False
        else:
            (include_cluster_authorized_operations,) = _t.unpack_from(buffer, position)
            position += 1
            endpoint_type = 1
            include_fenced_brokers = False
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeClusterRequest(
            include_cluster_authorized_operations, endpoint_type, include_fenced_brokers, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClusterBroker:
    """DescribeClusterBroker, versions 0 to 2."""

    __slots__ = ("broker_id", "host", "port", "rack", "is_fenced", "unknown_tags")

    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.broker_id))
        append(encode_compact_string(self.host))
        append(_i.pack(self.port))
        append(encode_compact_nullable_string(self.rack))
        if version >= 2:
            append(_t.pack(self.is_fenced))
        elif self.is_fenced:
            raise not_carried(self, "is_fenced", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClusterBroker, int]:
        (broker_id,) = _i.unpack_from(buffer, position)
        position += 4
        host, position = read_compact_string(buffer, position)
        (port,) = _i.unpack_from(buffer, position)
        position += 4
        rack, position = read_compact_nullable_string(buffer, position)
        if version >= 2:
            (is_fenced,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            is_fenced = False
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeClusterBroker(broker_id, host, port, rack, is_fenced, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClusterResponse:
    """DescribeClusterResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "endpoint_type", "cluster_id", "controller_id",
        "brokers", "cluster_authorized_operations", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_authorized_operations = cluster_authorized_operations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClusterResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if version >= 1:
            append(_b.pack(self.endpoint_type))
        elif self.endpoint_type != 1:
            raise not_carried(self, "endpoint_type", version)
        append(encode_compact_string(self.cluster_id))
        append(_i.pack(self.controller_id))
        append_compact_structs(out, self.brokers, version)
        append(_i.pack(self.cluster_authorized_operations))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClusterResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if version >= 1:
            (endpoint_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            endpoint_type = 1
        cluster_id, position = read_compact_string(buffer, position)
        (controller_id,) = _i.unpack_from(buffer, position)
        position += 4
        brokers, position = read_compact_structs(
            buffer, position, version, DescribeClusterBroker._read, 11,
        )
        (cluster_authorized_operations,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeClusterResponse(
            throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers,
            cluster_authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeClusterBroker",
    "DescribeClusterRequest",
    "DescribeClusterResponse",
]
