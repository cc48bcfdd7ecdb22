"""DescribeAclsRequest, DescribeAclsResponse.

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
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeAclsRequest:
    """DescribeAclsRequest, versions 1 to 3."""

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

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

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

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeAclsRequest:
        return read_message(cls, buffer, position, version)

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeAclsRequest, int]:
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
        return DescribeAclsRequest(
            resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter,
            operation, permission_type, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AclDescription:
    """AclDescription, versions 1 to 3."""

    __slots__ = ("principal", "host", "operation", "permission_type", "unknown_tags")

    principal: str
    host: str
    operation: int
    permission_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AclDescription, int]:
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
        return AclDescription(principal, host, operation, permission_type, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeAclsResource:
    """DescribeAclsResource, versions 1 to 3."""

    __slots__ = ("resource_type", "resource_name", "pattern_type", "acls", "unknown_tags")

    resource_type: int
    resource_name: str
    pattern_type: int
    acls: list[AclDescription]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is EMPTY else acls
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.resource_type))
        if version >= 2:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        append(_b.pack(self.pattern_type))
        if version >= 2:
            append_compact_structs(out, self.acls, version)
        else:
            append_structs(out, self.acls, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeAclsResource, int]:
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        (pattern_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            acls, position = read_compact_structs(buffer, position, version, AclDescription._read, 5)
        else:
            acls, position = read_structs(buffer, position, version, AclDescription._read, 5)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeAclsResource(resource_type, resource_name, pattern_type, acls, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeAclsResponse:
    """DescribeAclsResponse, versions 1 to 3."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "resources", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: list[DescribeAclsResource]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is EMPTY else resources
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeAclsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            append_compact_structs(out, self.resources, version)
        else:
            append_structs(out, self.resources, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeAclsResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 2:
            resources, position = read_compact_structs(
                buffer, position, version, DescribeAclsResource._read, 5,
            )
        else:
            resources, position = read_structs(buffer, position, version, DescribeAclsResource._read, 5)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AclDescription",
    "DescribeAclsRequest",
    "DescribeAclsResource",
    "DescribeAclsResponse",
]
