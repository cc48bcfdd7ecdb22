"""ListGroupsRequest, ListGroupsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.wire import (
    Buffer,
    EMPTY,
    append_tags,
    encode_compact_count,
    encode_compact_string,
    encode_count,
    encode_string,
    not_carried,
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_count,
    read_message,
    read_string,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListGroupsRequest:
    """ListGroupsRequest, versions 0 to 5."""

    __slots__ = ('states_filter', 'types_filter', 'unknown_tags')

    states_filter: list[str]
    types_filter: list[str]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        states_filter: list[str] = EMPTY,
        types_filter: list[str] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.states_filter = [] if states_filter is EMPTY else states_filter
        self.types_filter = [] if types_filter is EMPTY else types_filter
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 5)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListGroupsRequest:
        return read_message("ListGroupsRequest", cls._read, buffer, position, version, (0, 5))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_count(self.states_filter))
            for item in self.states_filter:
                append(encode_compact_string(item))
        elif version >= 3:
            if self.states_filter:
                raise not_carried(self, "states_filter", version)
        else:
            if self.states_filter:
                raise not_carried(self, "states_filter", version)
        if version >= 5:
            append(encode_compact_count(self.types_filter))
            for item in self.types_filter:
                append(encode_compact_string(item))
        elif version >= 3:
            if self.types_filter:
                raise not_carried(self, "types_filter", version)
        else:
            if self.types_filter:
                raise not_carried(self, "types_filter", version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListGroupsRequest, int]:
        states_filter: list[str]
        if version >= 4:
            count, position = read_compact_count(buffer, position, 1)
            states_filter, position = read_compact_strings(buffer, position, count)
        elif version >= 3:
            states_filter = []
        else:
            states_filter = []
        types_filter: list[str]
        if version >= 5:
            count, position = read_compact_count(buffer, position, 1)
            types_filter, position = read_compact_strings(buffer, position, count)
        elif version >= 3:
            types_filter = []
        else:
            types_filter = []
        if version >= 3:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ListGroupsRequest(states_filter, types_filter, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListedGroup:
    """ListedGroup, versions 0 to 5."""

    __slots__ = ('group_id', 'protocol_type', 'group_state', 'group_type', 'unknown_tags')

    group_id: str
    protocol_type: str
    group_state: str
    group_type: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        if version >= 3:
            append(encode_compact_string(self.protocol_type))
        else:
            append(encode_string(self.protocol_type))
        if version >= 4:
            append(encode_compact_string(self.group_state))
        if version >= 5:
            append(encode_compact_string(self.group_type))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListedGroup, int]:
        if version >= 3:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        if version >= 3:
            protocol_type, position = read_compact_string(buffer, position)
        else:
            protocol_type, position = read_string(buffer, position)
        if version >= 4:
            group_state, position = read_compact_string(buffer, position)
        elif version >= 3:
            group_state = ""
        else:
            group_state = ""
        if version >= 5:
            group_type, position = read_compact_string(buffer, position)
        elif version >= 3:
            group_type = ""
        else:
            group_type = ""
        if version >= 3:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ListedGroup(group_id, protocol_type, group_state, group_type, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListGroupsResponse:
    """ListGroupsResponse, versions 0 to 5."""

    __slots__ = ('throttle_time_ms', 'error_code', 'groups', 'unknown_tags')

    throttle_time_ms: int
    error_code: int
    groups: list[ListedGroup]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 5)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListGroupsResponse:
        return read_message("ListGroupsResponse", cls._read, buffer, position, version, (0, 5))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 3:
            append(encode_compact_count(self.groups))
            for item in self.groups:
                item._write(out, version)
        else:
            append(encode_count(self.groups))
            for item in self.groups:
                item._write(out, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListGroupsResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            throttle_time_ms = 0
        groups: list[ListedGroup]
        if version >= 3:
            count, position = read_compact_count(buffer, position, 3)
            groups, position = read_structs(buffer, position, version, count, ListedGroup._read)
        else:
            count, position = read_count(buffer, position, 3)
            groups, position = read_structs(buffer, position, version, count, ListedGroup._read)
        if version >= 3:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ListGroupsResponse(throttle_time_ms, error_code, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ListGroupsRequest",
    "ListGroupsResponse",
    "ListedGroup",
]
