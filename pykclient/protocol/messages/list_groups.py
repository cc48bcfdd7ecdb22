"""ListGroupsRequest, ListGroupsResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    encode_compact_strings,
    encode_string,
    read_compact_string,
    read_compact_strings,
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
class ListGroupsRequest:
    """ListGroupsRequest, versions 0 to 5."""

    __slots__ = ("states_filter", "types_filter", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListGroupsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_strings(self.states_filter))
        elif version >= 3:
            if self.states_filter:
                raise not_carried(self, "states_filter", version)
        elif self.states_filter:
            raise not_carried(self, "states_filter", version)
        if version >= 5:
            append(encode_compact_strings(self.types_filter))
        elif version >= 3:
            if self.types_filter:
                raise not_carried(self, "types_filter", version)
        elif self.types_filter:
            raise not_carried(self, "types_filter", version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListGroupsRequest, int]:
        if version >= 4:
            states_filter, position = read_compact_strings(buffer, position)
        elif version >= 3:
            states_filter = []
        else:
            states_filter = []
        if version >= 5:
            types_filter, position = read_compact_strings(buffer, position)
        elif version >= 3:
            types_filter = []
        else:
            types_filter = []
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListGroupsRequest(states_filter, types_filter, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListedGroup:
    """ListedGroup, versions 0 to 5."""

    __slots__ = ("group_id", "protocol_type", "group_state", "group_type", "unknown_tags")

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
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

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
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListedGroup(group_id, protocol_type, group_state, group_type, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListGroupsResponse:
    """ListGroupsResponse, versions 0 to 5."""

    __slots__ = ("throttle_time_ms", "error_code", "groups", "unknown_tags")

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
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListGroupsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 3:
            append_compact_structs(out, self.groups, version)
        else:
            append_structs(out, self.groups, version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListGroupsResponse, int]:
        if version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            throttle_time_ms = 0
        if version >= 3:
            groups, position = read_compact_structs(buffer, position, version, ListedGroup._read, 3)
        else:
            groups, position = read_structs(buffer, position, version, ListedGroup._read, 3)
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListGroupsResponse(throttle_time_ms, error_code, groups, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ListGroupsRequest",
    "ListGroupsResponse",
    "ListedGroup",
]
