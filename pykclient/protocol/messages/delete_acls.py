"""DeleteAclsRequest, DeleteAclsResponse.

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

_b = Struct(">b")
_bb = Struct(">bb")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteAclsFilter:
    """DeleteAclsFilter, versions 1 to 3."""

    __slots__ = (
        "resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter",
        "host_filter", "operation", "permission_type", "unknown_tags",
    )

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.resource_type_filter))
        if version >= 2:
            append(encode_compact_nullable_string(self.resource_name_filter))
        else:
            append(encode_nullable_string(self.resource_name_filter))
        append(_b.pack(self.pattern_type_filter))
        if version >= 2:
            append(encode_compact_nullable_string(self.principal_filter))
        else:
            append(encode_nullable_string(self.principal_filter))
        if version >= 2:
            append(encode_compact_nullable_string(self.host_filter))
        else:
            append(encode_nullable_string(self.host_filter))
        append(_bb.pack(self.operation, self.permission_type))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteAclsFilter, int]:
        (resource_type_filter,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            resource_name_filter, position = read_compact_nullable_string(buffer, position)
        else:
            resource_name_filter, position = read_nullable_string(buffer, position)
        (pattern_type_filter,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            principal_filter, position = read_compact_nullable_string(buffer, position)
        else:
            principal_filter, position = read_nullable_string(buffer, position)
        if version >= 2:
            host_filter, position = read_compact_nullable_string(buffer, position)
        else:
            host_filter, position = read_nullable_string(buffer, position)
        operation, permission_type = _bb.unpack_from(buffer, position)
        position += 2
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteAclsFilter(
            resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter,
            operation, permission_type, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteAclsRequest:
    """DeleteAclsRequest, versions 1 to 3."""

    __slots__ = ("filters", "unknown_tags")

    filters: list[DeleteAclsFilter]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.filters = [] if filters is EMPTY else filters
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteAclsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append_compact_structs(out, self.filters, version)
        else:
            append_structs(out, self.filters, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteAclsRequest, int]:
        if version >= 2:
            filters, position = read_compact_structs(buffer, position, version, DeleteAclsFilter._read, 8)
        else:
            filters, position = read_structs(buffer, position, version, DeleteAclsFilter._read, 8)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteAclsRequest(filters, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteAclsMatchingAcl:
    """DeleteAclsMatchingAcl, versions 1 to 3."""

    __slots__ = (
        "error_code", "error_message", "resource_type", "resource_name", "pattern_type", "principal",
        "host", "operation", "permission_type", "unknown_tags",
    )

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        append(_b.pack(self.resource_type))
        if version >= 2:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        append(_b.pack(self.pattern_type))
        if version >= 2:
            append(encode_compact_string(self.principal))
        else:
            append(encode_string(self.principal))
        if version >= 2:
            append(encode_compact_string(self.host))
        else:
            append(encode_string(self.host))
        append(_bb.pack(self.operation, self.permission_type))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteAclsMatchingAcl, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        (pattern_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            principal, position = read_compact_string(buffer, position)
        else:
            principal, position = read_string(buffer, position)
        if version >= 2:
            host, position = read_compact_string(buffer, position)
        else:
            host, position = read_string(buffer, position)
        operation, permission_type = _bb.unpack_from(buffer, position)
        position += 2
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteAclsMatchingAcl(
            error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation,
            permission_type, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteAclsFilterResult:
    """DeleteAclsFilterResult, versions 1 to 3."""

    __slots__ = ("error_code", "error_message", "matching_acls", "unknown_tags")

    error_code: int
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is EMPTY else matching_acls
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            append_compact_structs(out, self.matching_acls, version)
        else:
            append_structs(out, self.matching_acls, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteAclsFilterResult, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 2:
            matching_acls, position = read_compact_structs(
                buffer, position, version, DeleteAclsMatchingAcl._read, 11,
            )
        else:
            matching_acls, position = read_structs(
                buffer, position, version, DeleteAclsMatchingAcl._read, 11,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteAclsFilterResult(error_code, error_message, matching_acls, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DeleteAclsResponse:
    """DeleteAclsResponse, versions 1 to 3."""

    __slots__ = ("throttle_time_ms", "filter_results", "unknown_tags")

    throttle_time_ms: int
    filter_results: list[DeleteAclsFilterResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is EMPTY else filter_results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DeleteAclsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append_compact_structs(out, self.filter_results, version)
        else:
            append_structs(out, self.filter_results, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DeleteAclsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            filter_results, position = read_compact_structs(
                buffer, position, version, DeleteAclsFilterResult._read, 5,
            )
        else:
            filter_results, position = read_structs(
                buffer, position, version, DeleteAclsFilterResult._read, 5,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DeleteAclsResponse(throttle_time_ms, filter_results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DeleteAclsFilter",
    "DeleteAclsFilterResult",
    "DeleteAclsMatchingAcl",
    "DeleteAclsRequest",
    "DeleteAclsResponse",
]
