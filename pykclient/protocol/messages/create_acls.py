"""CreateAclsRequest, CreateAclsResponse.

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
class AclCreation:
    """AclCreation, versions 1 to 3."""

    __slots__ = (
        "resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation",
        "permission_type", "unknown_tags",
    )

    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.resource_type))
        if version >= 2:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        append(_b.pack(self.resource_pattern_type))
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AclCreation, int]:
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        (resource_pattern_type,) = _b.unpack_from(buffer, position)
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
        return AclCreation(
            resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateAclsRequest:
    """CreateAclsRequest, versions 1 to 3."""

    __slots__ = ("creations", "unknown_tags")

    creations: list[AclCreation]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        creations: list[AclCreation] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.creations = [] if creations is EMPTY else creations
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateAclsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append_compact_structs(out, self.creations, version)
        else:
            append_structs(out, self.creations, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateAclsRequest, int]:
        if version >= 2:
            creations, position = read_compact_structs(buffer, position, version, AclCreation._read, 8)
        else:
            creations, position = read_structs(buffer, position, version, AclCreation._read, 8)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateAclsRequest(creations, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AclCreationResult:
    """AclCreationResult, versions 1 to 3."""

    __slots__ = ("error_code", "error_message", "unknown_tags")

    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 2:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AclCreationResult, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 2:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AclCreationResult(error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class CreateAclsResponse:
    """CreateAclsResponse, versions 1 to 3."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

    throttle_time_ms: int
    results: list[AclCreationResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> CreateAclsResponse:
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[CreateAclsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            results, position = read_compact_structs(buffer, position, version, AclCreationResult._read, 4)
        else:
            results, position = read_structs(buffer, position, version, AclCreationResult._read, 4)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return CreateAclsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AclCreation",
    "AclCreationResult",
    "CreateAclsRequest",
    "CreateAclsResponse",
]
