"""RegisterControllerRecord.

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
    encode_compact_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_Hh = Struct(">Hh")
_hh = Struct(">hh")
_iut = Struct(">i16s?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ControllerEndpoint:
    """ControllerEndpoint, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ControllerEndpoint, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        port, security_protocol = _Hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ControllerEndpoint(name, host, port, security_protocol, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ControllerFeature:
    """ControllerFeature, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ControllerFeature, int]:
        name, position = read_compact_string(buffer, position)
        min_supported_version, max_supported_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ControllerFeature(name, min_supported_version, max_supported_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RegisterControllerRecord:
    """RegisterControllerRecord, version 0."""

    __slots__ = (
        "controller_id", "incarnation_id", "zk_migration_ready", "end_points", "features", "unknown_tags",
    )

    controller_id: int
    incarnation_id: UUID
    zk_migration_ready: bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: UUID = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = EMPTY,
        features: list[ControllerFeature] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points = [] if end_points is EMPTY else end_points
        self.features = [] if features is EMPTY else features
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RegisterControllerRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iut.pack(self.controller_id, self.incarnation_id.bytes, self.zk_migration_ready))
        append_compact_structs(out, self.end_points, version)
        append_compact_structs(out, self.features, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RegisterControllerRecord, int]:
        controller_id, incarnation_id, zk_migration_ready = _iut.unpack_from(buffer, position)
        position += 21
        incarnation_id = uuid_of(incarnation_id)
        end_points, position = read_compact_structs(
            buffer, position, version, ControllerEndpoint._read, 7,
        )
        features, position = read_compact_structs(buffer, position, version, ControllerFeature._read, 6)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RegisterControllerRecord(
            controller_id, incarnation_id, zk_migration_ready, end_points, features, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ControllerEndpoint",
    "ControllerFeature",
    "RegisterControllerRecord",
]
