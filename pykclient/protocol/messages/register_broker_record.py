"""RegisterBrokerRecord.

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
    read_compact_nullable_uuids,
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
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_t = Struct(">?")
_tt = Struct(">??")
_Hh = Struct(">Hh")
_hh = Struct(">hh")
_iuq = Struct(">i16sq")
_ituq = Struct(">i?16sq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerEndpoint:
    """BrokerEndpoint, versions 0 to 4."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerEndpoint, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        port, security_protocol = _Hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerEndpoint(name, host, port, security_protocol, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class BrokerFeature:
    """BrokerFeature, versions 0 to 4."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[BrokerFeature, int]:
        name, position = read_compact_string(buffer, position)
        min_supported_version, max_supported_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return BrokerFeature(name, min_supported_version, max_supported_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RegisterBrokerRecord:
    """RegisterBrokerRecord, versions 0 to 4."""

    __slots__ = (
        "broker_id", "is_migrating_zk_broker", "incarnation_id", "broker_epoch", "end_points", "features",
        "rack", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs", "unknown_tags",
    )

    broker_id: int
    is_migrating_zk_broker: bool
    incarnation_id: UUID
    broker_epoch: int
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: list[UUID]
    cordoned_log_dirs: list[UUID] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: UUID = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = EMPTY,
        features: list[BrokerFeature] = EMPTY,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[UUID] = EMPTY,
        cordoned_log_dirs: list[UUID] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is EMPTY else end_points
        self.features = [] if features is EMPTY else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RegisterBrokerRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_ituq.pack(
                self.broker_id, self.is_migrating_zk_broker, self.incarnation_id.bytes, self.broker_epoch,
            ))
        else:
            if self.is_migrating_zk_broker:
                raise not_carried(self, "is_migrating_zk_broker", version)
            append(_iuq.pack(self.broker_id, self.incarnation_id.bytes, self.broker_epoch))
        append_compact_structs(out, self.end_points, version)
        append_compact_structs(out, self.features, version)
        append(encode_compact_nullable_string(self.rack))
        if version >= 1:
            append(_tt.pack(self.fenced, self.in_controlled_shutdown))
        else:
            if self.in_controlled_shutdown:
                raise not_carried(self, "in_controlled_shutdown", version)
            append(_t.pack(self.fenced))
        known: list[tuple[int, bytes]] = []
        if version >= 3:
            if self.log_dirs:
                known.append((0, encode_compact_uuids(self.log_dirs)))
        elif self.log_dirs:
            raise not_carried(self, "log_dirs", version)
        if version >= 4:
            if self.cordoned_log_dirs is not None:
                known.append((1, encode_compact_uuids(self.cordoned_log_dirs)))
        elif self.cordoned_log_dirs is not None:
            raise not_carried(self, "cordoned_log_dirs", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RegisterBrokerRecord, int]:
        if version >= 2:
            broker_id, is_migrating_zk_broker, incarnation_id, broker_epoch = _ituq.unpack_from(buffer, position)
            position += 29
            incarnation_id = uuid_of(incarnation_id)
        else:
            broker_id, incarnation_id, broker_epoch = _iuq.unpack_from(buffer, position)
            position += 28
            incarnation_id = uuid_of(incarnation_id)
            is_migrating_zk_broker = False
        end_points, position = read_compact_structs(buffer, position, version, BrokerEndpoint._read, 7)
        features, position = read_compact_structs(buffer, position, version, BrokerFeature._read, 6)
        rack, position = read_compact_nullable_string(buffer, position)
        if version >= 1:
            fenced, in_controlled_shutdown = _tt.unpack_from(buffer, position)
            position += 2
        else:
            (fenced,) = _t.unpack_from(buffer, position)
            position += 1
            in_controlled_shutdown = False
        log_dirs: list[UUID] = []
        cordoned_log_dirs: list[UUID] | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0 and version >= 3:
                    log_dirs, position = read_compact_uuids(buffer, position)
                elif tag == 1 and version >= 4:
                    cordoned_log_dirs, position = read_compact_nullable_uuids(buffer, position)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return RegisterBrokerRecord(
            broker_id, is_migrating_zk_broker, incarnation_id, broker_epoch, end_points, features, rack, fenced,
            in_controlled_shutdown, log_dirs, cordoned_log_dirs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "BrokerEndpoint",
    "BrokerFeature",
    "RegisterBrokerRecord",
]
