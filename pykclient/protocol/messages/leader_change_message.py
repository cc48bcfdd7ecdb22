"""LeaderChangeMessage.

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

_hi = Struct(">hi")
_i = Struct(">i")
_iu = Struct(">i16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Voter:
    """Voter, versions 0 to 1."""

    __slots__ = ("voter_id", "voter_directory_id", "unknown_tags")

    voter_id: int
    voter_directory_id: UUID
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_iu.pack(self.voter_id, self.voter_directory_id.bytes))
        else:
            if self.voter_directory_id != ZERO_UUID:
                raise not_carried(self, "voter_directory_id", version)
            append(_i.pack(self.voter_id))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Voter, int]:
        if version >= 1:
            voter_id, voter_directory_id = _iu.unpack_from(buffer, position)
            position += 20
            voter_directory_id = uuid_of(voter_directory_id)
        else:
            (voter_id,) = _i.unpack_from(buffer, position)
            position += 4
            voter_directory_id = ZERO_UUID
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Voter(voter_id, voter_directory_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaderChangeMessage:
    """LeaderChangeMessage, versions 0 to 1."""

    __slots__ = ("version", "leader_id", "voters", "granting_voters", "unknown_tags")

    version: int
    leader_id: int
    voters: list[Voter]
    granting_voters: list[Voter]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = EMPTY,
        granting_voters: list[Voter] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is EMPTY else voters
        self.granting_voters = [] if granting_voters is EMPTY else granting_voters
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> LeaderChangeMessage:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hi.pack(self.version, self.leader_id))
        append_compact_structs(out, self.voters, version)
        append_compact_structs(out, self.granting_voters, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LeaderChangeMessage, int]:
        version_, leader_id = _hi.unpack_from(buffer, position)
        position += 6
        voters, position = read_compact_structs(buffer, position, version, Voter._read, 5)
        granting_voters, position = read_compact_structs(buffer, position, version, Voter._read, 5)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LeaderChangeMessage(version_, leader_id, voters, granting_voters, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "LeaderChangeMessage",
    "Voter",
]
