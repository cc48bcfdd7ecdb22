"""GroupMetadataValue.

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
    encode_compact_size,
    encode_compact_string,
    encode_nullable_string,
    encode_size,
    encode_string,
    read_bytes,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_i = Struct(">i")
_ii = Struct(">ii")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MemberMetadata:
    """MemberMetadata, versions 0 to 4."""

    __slots__ = (
        "member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout",
        "session_timeout", "subscription", "assignment", "unknown_tags",
    )

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout: int
    session_timeout: int
    subscription: bytes
    assignment: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 4:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 3:
            append(encode_nullable_string(self.group_instance_id))
        if version >= 4:
            append(encode_compact_string(self.client_id))
        else:
            append(encode_string(self.client_id))
        if version >= 4:
            append(encode_compact_string(self.client_host))
        else:
            append(encode_string(self.client_host))
        if version >= 1:
            append(_ii.pack(self.rebalance_timeout, self.session_timeout))
        else:
            append(_i.pack(self.session_timeout))
        if version >= 4:
            append(encode_compact_size(self.subscription))
            append(self.subscription)
        else:
            append(encode_size(self.subscription))
            append(self.subscription)
        if version >= 4:
            append(encode_compact_size(self.assignment))
            append(self.assignment)
        else:
            append(encode_size(self.assignment))
            append(self.assignment)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MemberMetadata, int]:
        if version >= 4:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 4:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 3:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 4:
            client_id, position = read_compact_string(buffer, position)
        else:
            client_id, position = read_string(buffer, position)
        if version >= 4:
            client_host, position = read_compact_string(buffer, position)
        else:
            client_host, position = read_string(buffer, position)
        if version >= 1:
            rebalance_timeout, session_timeout = _ii.unpack_from(buffer, position)
            position += 8
        else:
            (session_timeout,) = _i.unpack_from(buffer, position)
            position += 4
            rebalance_timeout = -1
        if version >= 4:
            subscription, position = read_compact_bytes(buffer, position)
        else:
            subscription, position = read_bytes(buffer, position)
        if version >= 4:
            assignment, position = read_compact_bytes(buffer, position)
        else:
            assignment, position = read_bytes(buffer, position)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MemberMetadata(
            member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout,
            subscription, assignment, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class GroupMetadataValue:
    """GroupMetadataValue, versions 0 to 4."""

    __slots__ = (
        "protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members",
        "unknown_tags",
    )

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int
    members: list[MemberMetadata]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is EMPTY else members
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> GroupMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.protocol_type))
        else:
            append(encode_string(self.protocol_type))
        append(_i.pack(self.generation))
        if version >= 4:
            append(encode_compact_nullable_string(self.protocol))
        else:
            append(encode_nullable_string(self.protocol))
        if version >= 4:
            append(encode_compact_nullable_string(self.leader))
        else:
            append(encode_nullable_string(self.leader))
        if version >= 2:
            append(_q.pack(self.current_state_timestamp))
        if version >= 4:
            append_compact_structs(out, self.members, version)
        else:
            append_structs(out, self.members, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[GroupMetadataValue, int]:
        if version >= 4:
            protocol_type, position = read_compact_string(buffer, position)
        else:
            protocol_type, position = read_string(buffer, position)
        (generation,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 4:
            protocol, position = read_compact_nullable_string(buffer, position)
        else:
            protocol, position = read_nullable_string(buffer, position)
        if version >= 4:
            leader, position = read_compact_nullable_string(buffer, position)
        else:
            leader, position = read_nullable_string(buffer, position)
        if version >= 2:
            (current_state_timestamp,) = _q.unpack_from(buffer, position)
            position += 8
        else:
            current_state_timestamp = -1
        if version >= 4:
            members, position = read_compact_structs(buffer, position, version, MemberMetadata._read, 15)
        else:
            members, position = read_structs(buffer, position, version, MemberMetadata._read, 15)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return GroupMetadataValue(
            protocol_type, generation, protocol, leader, current_state_timestamp, members, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "GroupMetadataValue",
    "MemberMetadata",
]
