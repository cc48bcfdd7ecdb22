"""JoinGroupRequest, JoinGroupResponse.

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

_t = Struct(">?")
_hi = Struct(">hi")
_i = Struct(">i")
_ihi = Struct(">ihi")
_ii = Struct(">ii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class JoinGroupRequestProtocol:
    """JoinGroupRequestProtocol, versions 0 to 9."""

    __slots__ = ("name", "metadata", "unknown_tags")

    name: str
    metadata: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 6:
            append(encode_compact_size(self.metadata))
            append(self.metadata)
        else:
            append(encode_size(self.metadata))
            append(self.metadata)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[JoinGroupRequestProtocol, int]:
        if version >= 6:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 6:
            metadata, position = read_compact_bytes(buffer, position)
        else:
            metadata, position = read_bytes(buffer, position)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return JoinGroupRequestProtocol(name, metadata, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class JoinGroupRequest:
    """JoinGroupRequest, versions 0 to 9."""

    __slots__ = (
        "group_id", "session_timeout_ms", "rebalance_timeout_ms", "member_id", "group_instance_id",
        "protocol_type", "protocols", "reason", "unknown_tags",
    )

    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = EMPTY,
        reason: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is EMPTY else protocols
        self.reason = reason
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> JoinGroupRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 1:
            append(_ii.pack(self.session_timeout_ms, self.rebalance_timeout_ms))
        else:
            append(_i.pack(self.session_timeout_ms))
        if version >= 6:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 6:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 5:
            append(encode_nullable_string(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise not_carried(self, "group_instance_id", version)
        if version >= 6:
            append(encode_compact_string(self.protocol_type))
        else:
            append(encode_string(self.protocol_type))
        if version >= 6:
            append_compact_structs(out, self.protocols, version)
        else:
            append_structs(out, self.protocols, version)
        if version >= 8:
            append(encode_compact_nullable_string(self.reason))
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[JoinGroupRequest, int]:
        if version >= 6:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version >= 1:
            session_timeout_ms, rebalance_timeout_ms = _ii.unpack_from(buffer, position)
            position += 8
        else:
            (session_timeout_ms,) = _i.unpack_from(buffer, position)
            position += 4
            rebalance_timeout_ms = -1
        if version >= 6:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 6:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 5:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 6:
            protocol_type, position = read_compact_string(buffer, position)
        else:
            protocol_type, position = read_string(buffer, position)
        if version >= 6:
            protocols, position = read_compact_structs(
                buffer, position, version, JoinGroupRequestProtocol._read, 3,
            )
        else:
            protocols, position = read_structs(buffer, position, version, JoinGroupRequestProtocol._read, 3)
        if version >= 8:
            reason, position = read_compact_nullable_string(buffer, position)
        elif version >= 6:
            reason = None
        else:
            reason = None
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return JoinGroupRequest(
            group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type,
            protocols, reason, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class JoinGroupResponseMember:
    """JoinGroupResponseMember, versions 0 to 9."""

    __slots__ = ("member_id", "group_instance_id", "metadata", "unknown_tags")

    member_id: str
    group_instance_id: str | None
    metadata: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 6:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 6:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 5:
            append(encode_nullable_string(self.group_instance_id))
        if version >= 6:
            append(encode_compact_size(self.metadata))
            append(self.metadata)
        else:
            append(encode_size(self.metadata))
            append(self.metadata)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[JoinGroupResponseMember, int]:
        if version >= 6:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 6:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 5:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 6:
            metadata, position = read_compact_bytes(buffer, position)
        else:
            metadata, position = read_bytes(buffer, position)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return JoinGroupResponseMember(member_id, group_instance_id, metadata, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class JoinGroupResponse:
    """JoinGroupResponse, versions 0 to 9."""

    __slots__ = (
        "throttle_time_ms", "error_code", "generation_id", "protocol_type", "protocol_name", "leader",
        "skip_assignment", "member_id", "members", "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: list[JoinGroupResponseMember]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is EMPTY else members
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> JoinGroupResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(_ihi.pack(self.throttle_time_ms, self.error_code, self.generation_id))
        else:
            append(_hi.pack(self.error_code, self.generation_id))
        if version >= 7:
            append(encode_compact_nullable_string(self.protocol_type))
        if version >= 7:
            append(encode_compact_nullable_string(self.protocol_name))
        elif version >= 6:
            if self.protocol_name is None:
                raise not_carried(self, "protocol_name", version)
            append(encode_compact_string(self.protocol_name))
        else:
            if self.protocol_name is None:
                raise not_carried(self, "protocol_name", version)
            append(encode_string(self.protocol_name))
        if version >= 6:
            append(encode_compact_string(self.leader))
        else:
            append(encode_string(self.leader))
        if version >= 9:
            append(_t.pack(self.skip_assignment))
        elif self.skip_assignment:
            raise not_carried(self, "skip_assignment", version)
        if version >= 6:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 6:
            append_compact_structs(out, self.members, version)
        else:
            append_structs(out, self.members, version)
        if version >= 6:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[JoinGroupResponse, int]:
        if version >= 2:
            throttle_time_ms, error_code, generation_id = _ihi.unpack_from(buffer, position)
            position += 10
        else:
            error_code, generation_id = _hi.unpack_from(buffer, position)
            position += 6
            throttle_time_ms = 0
        if version >= 7:
            protocol_type, position = read_compact_nullable_string(buffer, position)
        elif version >= 6:
            protocol_type = None
        else:
            protocol_type = None
        if version >= 7:
            protocol_name, position = read_compact_nullable_string(buffer, position)
        elif version >= 6:
            protocol_name, position = read_compact_string(buffer, position)
        else:
            protocol_name, position = read_string(buffer, position)
        if version >= 6:
            leader, position = read_compact_string(buffer, position)
        else:
            leader, position = read_string(buffer, position)
        if version >= 9:
            (skip_assignment,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            skip_assignment = False
        if version >= 6:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 6:
            members, position = read_compact_structs(
                buffer, position, version, JoinGroupResponseMember._read, 4,
            )
        else:
            members, position = read_structs(buffer, position, version, JoinGroupResponseMember._read, 4)
        if version < 6:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return JoinGroupResponse(
            throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, skip_assignment,
            member_id, members, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "JoinGroupRequest",
    "JoinGroupRequestProtocol",
    "JoinGroupResponse",
    "JoinGroupResponseMember",
]
