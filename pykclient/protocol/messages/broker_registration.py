"""BrokerRegistrationRequest, BrokerRegistrationResponse.

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
    encode_compact_uuids,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_uuids,
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
_t = Struct(">?")
_Hh = Struct(">Hh")
_hh = Struct(">hh")
_i = Struct(">i")
_ihq = Struct(">ihq")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Listener:
    """Listener, versions 0 to 4."""

    __slots__ = ("name", "host", "port", "security_protocol", "unknown_tags")

    name: str
    host: str
    port: int
    security_protocol: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_string(self.host))
        append(_Hh.pack(self.port, self.security_protocol))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Listener, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        port, security_protocol = _Hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Listener(name, host, port, security_protocol, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Feature:
    """Feature, versions 0 to 4."""

    __slots__ = ("name", "min_supported_version", "max_supported_version", "unknown_tags")

    name: str
    min_supported_version: int
    max_supported_version: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_hh.pack(self.min_supported_version, self.max_supported_version))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Feature, int]:
        name, position = read_compact_string(buffer, position)
        min_supported_version, max_supported_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Feature(name, min_supported_version, max_supported_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerRegistrationRequest:
    """BrokerRegistrationRequest, versions 0 to 4."""

    __slots__ = (
        "broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack",
        "is_migrating_zk_broker", "log_dirs", "previous_broker_epoch", "unknown_tags",
    )

    broker_id: int
    cluster_id: str
    incarnation_id: UUID
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    is_migrating_zk_broker: bool
    log_dirs: list[UUID]
    previous_broker_epoch: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: UUID = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        features: list[Feature] = EMPTY,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: list[UUID] = EMPTY,
        previous_broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.features = [] if features is EMPTY else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.previous_broker_epoch = previous_broker_epoch
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BrokerRegistrationRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.broker_id))
        append(encode_compact_string(self.cluster_id))
        append(self.incarnation_id.bytes)
        append_compact_structs(out, self.listeners, version)
        append_compact_structs(out, self.features, version)
        append(encode_compact_nullable_string(self.rack))
        if version >= 1:
            append(_t.pack(self.is_migrating_zk_broker))
        elif self.is_migrating_zk_broker:
            raise not_carried(self, "is_migrating_zk_broker", version)
        if version >= 2:
            append(encode_compact_uuids(self.log_dirs))
        if version >= 3:
            append(_q.pack(self.previous_broker_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerRegistrationRequest, int]:
        (broker_id,) = _i.unpack_from(buffer, position)
        position += 4
        cluster_id, position = read_compact_string(buffer, position)
        (incarnation_id,) = _u.unpack_from(buffer, position)
        position += 16
        incarnation_id = uuid_of(incarnation_id)
        listeners, position = read_compact_structs(buffer, position, version, Listener._read, 7)
        features, position = read_compact_structs(buffer, position, version, Feature._read, 6)
        rack, position = read_compact_nullable_string(buffer, position)
        if version >= 1:
            (is_migrating_zk_broker,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            is_migrating_zk_broker = False
        if version >= 2:
            log_dirs, position = read_compact_uuids(buffer, position)
        else:
            log_dirs = []
        if version >= 3:
            (previous_broker_epoch,) = _q.unpack_from(buffer, position)
            position += 8
        else:
            previous_broker_epoch = -1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerRegistrationRequest(
            broker_id, cluster_id, incarnation_id, listeners, features, rack, is_migrating_zk_broker, log_dirs,
            previous_broker_epoch, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerRegistrationResponse:
    """BrokerRegistrationResponse, versions 0 to 4."""

    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    broker_epoch: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> BrokerRegistrationResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ihq.pack(self.throttle_time_ms, self.error_code, self.broker_epoch))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerRegistrationResponse, int]:
        throttle_time_ms, error_code, broker_epoch = _ihq.unpack_from(buffer, position)
        position += 14
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerRegistrationResponse(throttle_time_ms, error_code, broker_epoch, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
    "Feature",
    "Listener",
]
