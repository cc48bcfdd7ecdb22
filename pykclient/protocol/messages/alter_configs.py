"""AlterConfigsRequest, AlterConfigsResponse.

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

_t = Struct(">?")
_b = Struct(">b")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterableConfig:
    """AlterableConfig, versions 0 to 2."""

    __slots__ = ("name", "value", "unknown_tags")

    name: str
    value: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 2:
            append(encode_compact_nullable_string(self.value))
        else:
            append(encode_nullable_string(self.value))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterableConfig, int]:
        if version >= 2:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 2:
            value, position = read_compact_nullable_string(buffer, position)
        else:
            value, position = read_nullable_string(buffer, position)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterableConfig(name, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterConfigsResource:
    """AlterConfigsResource, versions 0 to 2."""

    __slots__ = ("resource_type", "resource_name", "configs", "unknown_tags")

    resource_type: int
    resource_name: str
    configs: list[AlterableConfig]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.resource_type))
        if version >= 2:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        if version >= 2:
            append_compact_structs(out, self.configs, version)
        else:
            append_structs(out, self.configs, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterConfigsResource, int]:
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 2:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        if version >= 2:
            configs, position = read_compact_structs(buffer, position, version, AlterableConfig._read, 3)
        else:
            configs, position = read_structs(buffer, position, version, AlterableConfig._read, 3)
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterConfigsResource(resource_type, resource_name, configs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterConfigsRequest:
    """AlterConfigsRequest, versions 0 to 2."""

    __slots__ = ("resources", "validate_only", "unknown_tags")

    resources: list[AlterConfigsResource]
    validate_only: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        resources: list[AlterConfigsResource] = EMPTY,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterConfigsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append_compact_structs(out, self.resources, version)
        else:
            append_structs(out, self.resources, version)
        append(_t.pack(self.validate_only))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterConfigsRequest, int]:
        if version >= 2:
            resources, position = read_compact_structs(
                buffer, position, version, AlterConfigsResource._read, 4,
            )
        else:
            resources, position = read_structs(buffer, position, version, AlterConfigsResource._read, 4)
        (validate_only,) = _t.unpack_from(buffer, position)
        position += 1
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterConfigsRequest(resources, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterConfigsResourceResponse:
    """AlterConfigsResourceResponse, versions 0 to 2."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "unknown_tags")

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
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
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterConfigsResourceResponse, int]:
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
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterConfigsResponse:
    """AlterConfigsResponse, versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "responses", "unknown_tags")

    throttle_time_ms: int
    responses: list[AlterConfigsResourceResponse]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterConfigsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 2:
            append_compact_structs(out, self.responses, version)
        else:
            append_structs(out, self.responses, version)
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterConfigsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 2:
            responses, position = read_compact_structs(
                buffer, position, version, AlterConfigsResourceResponse._read, 6,
            )
        else:
            responses, position = read_structs(
                buffer, position, version, AlterConfigsResourceResponse._read, 6,
            )
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterConfigsResponse(throttle_time_ms, responses, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterConfigsRequest",
    "AlterConfigsResource",
    "AlterConfigsResourceResponse",
    "AlterConfigsResponse",
    "AlterableConfig",
]
