"""VotersRecord.

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
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_H = Struct(">H")
_h = Struct(">h")
_hh = Struct(">hh")
_iu = Struct(">i16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Endpoint:
    """Endpoint, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Endpoint, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Endpoint(name, host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class KRaftVersionFeature:
    """KRaftVersionFeature, version 0."""

    __slots__ = ("min_supported_version", "max_supported_version", "unknown_tags")

    min_supported_version: int
    max_supported_version: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hh.pack(self.min_supported_version, self.max_supported_version))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[KRaftVersionFeature, int]:
        min_supported_version, max_supported_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return KRaftVersionFeature(min_supported_version, max_supported_version, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.min_supported_version != 0 or self.max_supported_version != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Voter:
    """Voter, version 0."""

    __slots__ = ("voter_id", "voter_directory_id", "endpoints", "kraft_version_feature", "unknown_tags")

    voter_id: int
    voter_directory_id: UUID
    endpoints: list[Endpoint]
    kraft_version_feature: KRaftVersionFeature
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        endpoints: list[Endpoint] = EMPTY,
        kraft_version_feature: KRaftVersionFeature = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = [] if endpoints is EMPTY else endpoints
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is NOT_GIVEN else kraft_version_feature
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iu.pack(self.voter_id, self.voter_directory_id.bytes))
        append_compact_structs(out, self.endpoints, version)
        self.kraft_version_feature._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Voter, int]:
        voter_id, voter_directory_id = _iu.unpack_from(buffer, position)
        position += 20
        voter_directory_id = uuid_of(voter_directory_id)
        endpoints, position = read_compact_structs(buffer, position, version, Endpoint._read, 5)
        kraft_version_feature, position = KRaftVersionFeature._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Voter(voter_id, voter_directory_id, endpoints, kraft_version_feature, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class VotersRecord:
    """VotersRecord, version 0."""

    __slots__ = ("version", "voters", "unknown_tags")

    version: int
    voters: list[Voter]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        voters: list[Voter] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.voters = [] if voters is EMPTY else voters
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> VotersRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.version))
        append_compact_structs(out, self.voters, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[VotersRecord, int]:
        (version_,) = _h.unpack_from(buffer, position)
        position += 2
        voters, position = read_compact_structs(buffer, position, version, Voter._read, 27)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return VotersRecord(version_, voters, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Endpoint",
    "KRaftVersionFeature",
    "Voter",
    "VotersRecord",
]
