"""UpdateRaftVoterRequest, UpdateRaftVoterResponse.

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
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    encode_struct,
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
_hh = Struct(">hh")
_i = Struct(">i")
_ih = Struct(">ih")
_ii = Struct(">ii")
_iiu = Struct(">ii16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Listener:
    """Listener, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Listener, int]:
        name, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Listener(name, host, port, tags), position

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
class UpdateRaftVoterRequest:
    """UpdateRaftVoterRequest, version 0."""

    __slots__ = (
        "cluster_id", "current_leader_epoch", "voter_id", "voter_directory_id", "listeners",
        "kraft_version_feature", "unknown_tags",
    )

    cluster_id: str | None
    current_leader_epoch: int
    voter_id: int
    voter_directory_id: UUID
    listeners: list[Listener]
    kraft_version_feature: KRaftVersionFeature
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        kraft_version_feature: KRaftVersionFeature = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is NOT_GIVEN else kraft_version_feature
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> UpdateRaftVoterRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.cluster_id))
        append(_iiu.pack(self.current_leader_epoch, self.voter_id, self.voter_directory_id.bytes))
        append_compact_structs(out, self.listeners, version)
        self.kraft_version_feature._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UpdateRaftVoterRequest, int]:
        cluster_id, position = read_compact_nullable_string(buffer, position)
        current_leader_epoch, voter_id, voter_directory_id = _iiu.unpack_from(buffer, position)
        position += 24
        voter_directory_id = uuid_of(voter_directory_id)
        listeners, position = read_compact_structs(buffer, position, version, Listener._read, 5)
        kraft_version_feature, position = KRaftVersionFeature._read(buffer, position, version)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return UpdateRaftVoterRequest(
            cluster_id, current_leader_epoch, voter_id, voter_directory_id, listeners, kraft_version_feature,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CurrentLeader:
    """CurrentLeader, version 0."""

    __slots__ = ("leader_id", "leader_epoch", "host", "port", "unknown_tags")

    leader_id: int
    leader_epoch: int
    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ii.pack(self.leader_id, self.leader_epoch))
        append(encode_compact_string(self.host))
        append(_i.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CurrentLeader, int]:
        leader_id, leader_epoch = _ii.unpack_from(buffer, position)
        position += 8
        host, position = read_compact_string(buffer, position)
        (port,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CurrentLeader(leader_id, leader_epoch, host, port, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(
            self.leader_id != -1 or self.leader_epoch != -1 or self.host or self.port != 0 or self.unknown_tags
        )

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class UpdateRaftVoterResponse:
    """UpdateRaftVoterResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "current_leader", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    current_leader: CurrentLeader
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = CurrentLeader() if current_leader is NOT_GIVEN else current_leader
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> UpdateRaftVoterResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        known: list[tuple[int, bytes]] = []
        if self.current_leader._is_set():
            known.append((0, encode_struct(self.current_leader, version)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UpdateRaftVoterResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        current_leader = CurrentLeader()
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    current_leader, position = CurrentLeader._read(buffer, position, version)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return UpdateRaftVoterResponse(throttle_time_ms, error_code, current_leader, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "CurrentLeader",
    "KRaftVersionFeature",
    "Listener",
    "UpdateRaftVoterRequest",
    "UpdateRaftVoterResponse",
]
