"""LeaveGroupRequest, LeaveGroupResponse.

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
    encode_nullable_string,
    encode_string,
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

_h = Struct(">h")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MemberIdentity:
    """MemberIdentity, versions 3 to 5."""

    __slots__ = ("member_id", "group_instance_id", "reason", "unknown_tags")

    member_id: str
    group_instance_id: str | None
    reason: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 4:
            append(encode_compact_nullable_string(self.group_instance_id))
        else:
            append(encode_nullable_string(self.group_instance_id))
        if version >= 5:
            append(encode_compact_nullable_string(self.reason))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MemberIdentity, int]:
        if version >= 4:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 4:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        else:
            group_instance_id, position = read_nullable_string(buffer, position)
        if version >= 5:
            reason, position = read_compact_nullable_string(buffer, position)
        elif version >= 4:
            reason = None
        else:
            reason = None
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MemberIdentity(member_id, group_instance_id, reason, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaveGroupRequest:
    """LeaveGroupRequest, versions 0 to 5."""

    __slots__ = ("group_id", "member_id", "members", "unknown_tags")

    group_id: str
    member_id: str
    members: list[MemberIdentity]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is EMPTY else members
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> LeaveGroupRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 4:
            if self.member_id:
                raise not_carried(self, "member_id", version)
        elif version >= 3:
            if self.member_id:
                raise not_carried(self, "member_id", version)
        else:
            append(encode_string(self.member_id))
        if version >= 4:
            append_compact_structs(out, self.members, version)
        elif version >= 3:
            append_structs(out, self.members, version)
        elif self.members:
            raise not_carried(self, "members", version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LeaveGroupRequest, int]:
        if version >= 4:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version >= 4:
            member_id = ""
        elif version >= 3:
            member_id = ""
        else:
            member_id, position = read_string(buffer, position)
        if version >= 4:
            members, position = read_compact_structs(buffer, position, version, MemberIdentity._read, 3)
        elif version >= 3:
            members, position = read_structs(buffer, position, version, MemberIdentity._read, 3)
        else:
            members = []
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LeaveGroupRequest(group_id, member_id, members, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class MemberResponse:
    """MemberResponse, versions 3 to 5."""

    __slots__ = ("member_id", "group_instance_id", "error_code", "unknown_tags")

    member_id: str
    group_instance_id: str | None
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 4:
            append(encode_compact_nullable_string(self.group_instance_id))
        else:
            append(encode_nullable_string(self.group_instance_id))
        append(_h.pack(self.error_code))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[MemberResponse, int]:
        if version >= 4:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 4:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        else:
            group_instance_id, position = read_nullable_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return MemberResponse(member_id, group_instance_id, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LeaveGroupResponse:
    """LeaveGroupResponse, versions 0 to 5."""

    __slots__ = ("throttle_time_ms", "error_code", "members", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    members: list[MemberResponse]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is EMPTY else members
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> LeaveGroupResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 4:
            append_compact_structs(out, self.members, version)
        elif version >= 3:
            append_structs(out, self.members, version)
        elif self.members:
            raise not_carried(self, "members", version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LeaveGroupResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            throttle_time_ms = 0
        if version >= 4:
            members, position = read_compact_structs(buffer, position, version, MemberResponse._read, 5)
        elif version >= 3:
            members, position = read_structs(buffer, position, version, MemberResponse._read, 5)
        else:
            members = []
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LeaveGroupResponse(throttle_time_ms, error_code, members, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "LeaveGroupRequest",
    "LeaveGroupResponse",
    "MemberIdentity",
    "MemberResponse",
]
