"""DescribeGroupsRequest, DescribeGroupsResponse.

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
    encode_compact_strings,
    encode_nullable_string,
    encode_size,
    encode_string,
    encode_strings,
    read_bytes,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_nullable_string,
    read_string,
    read_strings,
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
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeGroupsRequest:
    """DescribeGroupsRequest, versions 0 to 6."""

    __slots__ = ("groups", "include_authorized_operations", "unknown_tags")

    groups: list[str]
    include_authorized_operations: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        groups: list[str] = EMPTY,
        include_authorized_operations: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.groups = [] if groups is EMPTY else groups
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeGroupsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(encode_compact_strings(self.groups))
        else:
            append(encode_strings(self.groups))
        if version >= 3:
            append(_t.pack(self.include_authorized_operations))
        elif self.include_authorized_operations:
            raise not_carried(self, "include_authorized_operations", version)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeGroupsRequest, int]:
        if version >= 5:
            groups, position = read_compact_strings(buffer, position)
        else:
            groups, position = read_strings(buffer, position)
        if version >= 3:
            (include_authorized_operations,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            include_authorized_operations = False
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeGroupsRequest(groups, include_authorized_operations, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedGroupMember:
    """DescribedGroupMember, versions 0 to 6."""

    __slots__ = (
        "member_id", "group_instance_id", "client_id", "client_host", "member_metadata",
        "member_assignment", "unknown_tags",
    )

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 5:
            append(encode_compact_string(self.member_id))
        else:
            append(encode_string(self.member_id))
        if version >= 5:
            append(encode_compact_nullable_string(self.group_instance_id))
        elif version >= 4:
            append(encode_nullable_string(self.group_instance_id))
        if version >= 5:
            append(encode_compact_string(self.client_id))
        else:
            append(encode_string(self.client_id))
        if version >= 5:
            append(encode_compact_string(self.client_host))
        else:
            append(encode_string(self.client_host))
        if version >= 5:
            append(encode_compact_size(self.member_metadata))
            append(self.member_metadata)
        else:
            append(encode_size(self.member_metadata))
            append(self.member_metadata)
        if version >= 5:
            append(encode_compact_size(self.member_assignment))
            append(self.member_assignment)
        else:
            append(encode_size(self.member_assignment))
            append(self.member_assignment)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribedGroupMember, int]:
        if version >= 5:
            member_id, position = read_compact_string(buffer, position)
        else:
            member_id, position = read_string(buffer, position)
        if version >= 5:
            group_instance_id, position = read_compact_nullable_string(buffer, position)
        elif version >= 4:
            group_instance_id, position = read_nullable_string(buffer, position)
        else:
            group_instance_id = None
        if version >= 5:
            client_id, position = read_compact_string(buffer, position)
        else:
            client_id, position = read_string(buffer, position)
        if version >= 5:
            client_host, position = read_compact_string(buffer, position)
        else:
            client_host, position = read_string(buffer, position)
        if version >= 5:
            member_metadata, position = read_compact_bytes(buffer, position)
        else:
            member_metadata, position = read_bytes(buffer, position)
        if version >= 5:
            member_assignment, position = read_compact_bytes(buffer, position)
        else:
            member_assignment, position = read_bytes(buffer, position)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribedGroupMember(
            member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribedGroup:
    """DescribedGroup, versions 0 to 6."""

    __slots__ = (
        "error_code", "error_message", "group_id", "group_state", "protocol_type", "protocol_data",
        "members", "authorized_operations", "unknown_tags",
    )

    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = EMPTY,
        authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 6:
            append(encode_compact_nullable_string(self.error_message))
        elif version >= 5:
            if self.error_message is not None:
                raise not_carried(self, "error_message", version)
        elif self.error_message is not None:
            raise not_carried(self, "error_message", version)
        if version >= 5:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 5:
            append(encode_compact_string(self.group_state))
        else:
            append(encode_string(self.group_state))
        if version >= 5:
            append(encode_compact_string(self.protocol_type))
        else:
            append(encode_string(self.protocol_type))
        if version >= 5:
            append(encode_compact_string(self.protocol_data))
        else:
            append(encode_string(self.protocol_data))
        if version >= 5:
            append_compact_structs(out, self.members, version)
        else:
            append_structs(out, self.members, version)
        if version >= 3:
            append(_i.pack(self.authorized_operations))
        elif self.authorized_operations != -2147483648:
            raise not_carried(self, "authorized_operations", version)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribedGroup, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 6:
            error_message, position = read_compact_nullable_string(buffer, position)
        elif version >= 5:
            error_message = None
        else:
            error_message = None
        if version >= 5:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version >= 5:
            group_state, position = read_compact_string(buffer, position)
        else:
            group_state, position = read_string(buffer, position)
        if version >= 5:
            protocol_type, position = read_compact_string(buffer, position)
        else:
            protocol_type, position = read_string(buffer, position)
        if version >= 5:
            protocol_data, position = read_compact_string(buffer, position)
        else:
            protocol_data, position = read_string(buffer, position)
        if version >= 5:
            members, position = read_compact_structs(
                buffer, position, version, DescribedGroupMember._read, 7,
            )
        else:
            members, position = read_structs(buffer, position, version, DescribedGroupMember._read, 7)
        if version >= 3:
            (authorized_operations,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            authorized_operations = -2147483648
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribedGroup(
            error_code, error_message, group_id, group_state, protocol_type, protocol_data, members,
            authorized_operations, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeGroupsResponse:
    """DescribeGroupsResponse, versions 0 to 6."""

    __slots__ = ("throttle_time_ms", "groups", "unknown_tags")

    throttle_time_ms: int
    groups: list[DescribedGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeGroupsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_i.pack(self.throttle_time_ms))
        if version >= 5:
            append_compact_structs(out, self.groups, version)
        else:
            append_structs(out, self.groups, version)
        if version >= 5:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeGroupsResponse, int]:
        if version >= 1:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        if version >= 5:
            groups, position = read_compact_structs(buffer, position, version, DescribedGroup._read, 12)
        else:
            groups, position = read_structs(buffer, position, version, DescribedGroup._read, 12)
        if version < 5:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeGroupsResponse(throttle_time_ms, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeGroupsRequest",
    "DescribeGroupsResponse",
    "DescribedGroup",
    "DescribedGroupMember",
]
