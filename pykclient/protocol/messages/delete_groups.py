"""DeleteGroupsRequest, DeleteGroupsResponse.

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
    encode_strings,
    read_compact_string,
    read_compact_strings,
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

_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteGroupsRequest:
    """DeleteGroupsRequest, versions 0 to 2."""

    __slots__ = ("groups_names", "unknown_tags")

    groups_names: list[str]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(self, groups_names: list[str] = EMPTY, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.groups_names = [] if groups_names is EMPTY else groups_names
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteGroupsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_strings(self.groups_names))
        else:
            append(encode_strings(self.groups_names))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteGroupsRequest, int]:
        if version >= 2:
            groups_names, position = read_compact_strings(buffer, position)
        else:
            groups_names, position = read_strings(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteGroupsRequest(groups_names, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeletableGroupResult:
    """DeletableGroupResult, versions 0 to 2."""

    __slots__ = ("group_id", "error_code", "unknown_tags")

    group_id: str
    error_code: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.group_id))
        else:
            append(encode_string(self.group_id))
        append(_h.pack(self.error_code))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeletableGroupResult, int]:
        if version >= 2:
            group_id, position = read_compact_string(buffer, position)
        else:
            group_id, position = read_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeletableGroupResult(group_id, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteGroupsResponse:
    """DeleteGroupsResponse, versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

    throttle_time_ms: int
    results: list[DeletableGroupResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteGroupsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append_compact_structs(out, self.results, version)
        else:
            append_structs(out, self.results, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteGroupsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            results, position = read_compact_structs(
                buffer, position, version, DeletableGroupResult._read, 4,
            )
        else:
            results, position = read_structs(buffer, position, version, DeletableGroupResult._read, 4)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteGroupsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DeletableGroupResult",
    "DeleteGroupsRequest",
    "DeleteGroupsResponse",
]
