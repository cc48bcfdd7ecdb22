"""QuorumStateData.

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
    not_carried,
    read_compact_nullable_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_iiiu = Struct(">iii16s")
_iiiq = Struct(">iiiq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Voter:
    """Voter, version 0."""

    __slots__ = ("voter_id", "unknown_tags")

    voter_id: int
    unknown_tags: dict[int, bytes] | None

    def __init__(self, voter_id: int = 0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.voter_id = voter_id
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.voter_id))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Voter, int]:
        (voter_id,) = _i.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Voter(voter_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class QuorumStateData:
    """QuorumStateData, versions 0 to 1."""

    __slots__ = (
        "cluster_id", "leader_id", "leader_epoch", "voted_id", "voted_directory_id", "applied_offset",
        "current_voters", "unknown_tags",
    )

    cluster_id: str
    leader_id: int
    leader_epoch: int
    voted_id: int
    voted_directory_id: UUID
    applied_offset: int
    current_voters: list[Voter] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: UUID = ZERO_UUID,
        applied_offset: int = 0,
        current_voters: list[Voter] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.applied_offset = applied_offset
        self.current_voters = [] if current_voters is EMPTY else current_voters
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> QuorumStateData:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            if self.cluster_id:
                raise not_carried(self, "cluster_id", version)
        else:
            append(encode_compact_string(self.cluster_id))
        if version >= 1:
            if self.applied_offset != 0:
                raise not_carried(self, "applied_offset", version)
            append(_iiiu.pack(self.leader_id, self.leader_epoch, self.voted_id, self.voted_directory_id.bytes))
        else:
            if self.voted_directory_id != ZERO_UUID:
                raise not_carried(self, "voted_directory_id", version)
            append(_iiiq.pack(self.leader_id, self.leader_epoch, self.voted_id, self.applied_offset))
        if version >= 1:
            if self.current_voters is None or self.current_voters:
                raise not_carried(self, "current_voters", version)
        else:
            if self.current_voters is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.current_voters, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[QuorumStateData, int]:
        if version >= 1:
            cluster_id = ""
        else:
            cluster_id, position = read_compact_string(buffer, position)
        if version >= 1:
            leader_id, leader_epoch, voted_id, voted_directory_id = _iiiu.unpack_from(buffer, position)
            position += 28
            voted_directory_id = uuid_of(voted_directory_id)
            applied_offset = 0
        else:
            leader_id, leader_epoch, voted_id, applied_offset = _iiiq.unpack_from(buffer, position)
            position += 20
            voted_directory_id = ZERO_UUID
        current_voters: list[Voter] | None
        if version >= 1:
            current_voters = []
        else:
            current_voters, position = read_compact_nullable_structs(
                buffer, position, version, Voter._read, 5,
            )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return QuorumStateData(
            cluster_id, leader_id, leader_epoch, voted_id, voted_directory_id, applied_offset, current_voters,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "QuorumStateData",
    "Voter",
]
