"""DescribeConfigsRequest, DescribeConfigsResponse.

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
    encode_compact_strings,
    encode_nullable_string,
    encode_string,
    encode_strings,
    read_compact_nullable_string,
    read_compact_nullable_strings,
    read_compact_string,
    read_nullable_string,
    read_nullable_strings,
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
_tt = Struct(">??")
_tbt = Struct(">?b?")
_b = Struct(">b")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsResource:
    """DescribeConfigsResource, versions 1 to 4."""

    __slots__ = ("resource_type", "resource_name", "configuration_keys", "unknown_tags")

    resource_type: int
    resource_name: str
    configuration_keys: list[str] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is EMPTY else configuration_keys
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_b.pack(self.resource_type))
        if version >= 4:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        if version >= 4:
            if self.configuration_keys is None:
                append(b"\0")
            else:
                append(encode_compact_strings(self.configuration_keys))
        else:
            if self.configuration_keys is None:
                append(b"\xff\xff\xff\xff")
            else:
                append(encode_strings(self.configuration_keys))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsResource, int]:
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 4:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        if version >= 4:
            configuration_keys, position = read_compact_nullable_strings(buffer, position)
        else:
            configuration_keys, position = read_nullable_strings(buffer, position)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsResource(resource_type, resource_name, configuration_keys, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsRequest:
    """DescribeConfigsRequest, versions 1 to 4."""

    __slots__ = ("resources", "include_synonyms", "include_documentation", "unknown_tags")

    resources: list[DescribeConfigsResource]
    include_synonyms: bool
    include_documentation: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = EMPTY,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeConfigsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append_compact_structs(out, self.resources, version)
        else:
            append_structs(out, self.resources, version)
        if version >= 3:
            append(_tt.pack(self.include_synonyms, self.include_documentation))
        else:
            if self.include_documentation:
                raise not_carried(self, "include_documentation", version)
            append(_t.pack(self.include_synonyms))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsRequest, int]:
        if version >= 4:
            resources, position = read_compact_structs(
                buffer, position, version, DescribeConfigsResource._read, 4,
            )
        else:
            resources, position = read_structs(buffer, position, version, DescribeConfigsResource._read, 4)
        if version >= 3:
            include_synonyms, include_documentation = _tt.unpack_from(buffer, position)
            position += 2
        else:
            (include_synonyms,) = _t.unpack_from(buffer, position)
            position += 1
            include_documentation = False
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsRequest(resources, include_synonyms, include_documentation, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsSynonym:
    """DescribeConfigsSynonym, versions 1 to 4."""

    __slots__ = ("name", "value", "source", "unknown_tags")

    name: str
    value: str | None
    source: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 4:
            append(encode_compact_nullable_string(self.value))
        else:
            append(encode_nullable_string(self.value))
        append(_b.pack(self.source))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsSynonym, int]:
        if version >= 4:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 4:
            value, position = read_compact_nullable_string(buffer, position)
        else:
            value, position = read_nullable_string(buffer, position)
        (source,) = _b.unpack_from(buffer, position)
        position += 1
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsSynonym(name, value, source, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsResourceResult:
    """DescribeConfigsResourceResult, versions 1 to 4."""

    __slots__ = (
        "name", "value", "read_only", "config_source", "is_sensitive", "synonyms", "config_type",
        "documentation", "unknown_tags",
    )

    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: int
    documentation: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = EMPTY,
        config_type: int = 0,
        documentation: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is EMPTY else synonyms
        self.config_type = config_type
        self.documentation = documentation
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            append(encode_compact_string(self.name))
        else:
            append(encode_string(self.name))
        if version >= 4:
            append(encode_compact_nullable_string(self.value))
        else:
            append(encode_nullable_string(self.value))
        append(_tbt.pack(self.read_only, self.config_source, self.is_sensitive))
        if version >= 4:
            append_compact_structs(out, self.synonyms, version)
        else:
            append_structs(out, self.synonyms, version)
        if version >= 3:
            append(_b.pack(self.config_type))
        if version >= 4:
            append(encode_compact_nullable_string(self.documentation))
        elif version >= 3:
            append(encode_nullable_string(self.documentation))
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsResourceResult, int]:
        if version >= 4:
            name, position = read_compact_string(buffer, position)
        else:
            name, position = read_string(buffer, position)
        if version >= 4:
            value, position = read_compact_nullable_string(buffer, position)
        else:
            value, position = read_nullable_string(buffer, position)
        read_only, config_source, is_sensitive = _tbt.unpack_from(buffer, position)
        position += 3
        if version >= 4:
            synonyms, position = read_compact_structs(
                buffer, position, version, DescribeConfigsSynonym._read, 4,
            )
        else:
            synonyms, position = read_structs(buffer, position, version, DescribeConfigsSynonym._read, 4)
        if version >= 3:
            (config_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            config_type = 0
        if version >= 4:
            documentation, position = read_compact_nullable_string(buffer, position)
        elif version >= 3:
            documentation, position = read_nullable_string(buffer, position)
        else:
            documentation = ""
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsResourceResult(
            name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsResult:
    """DescribeConfigsResult, versions 1 to 4."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "configs", "unknown_tags")

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: list[DescribeConfigsResourceResult]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 4:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        append(_b.pack(self.resource_type))
        if version >= 4:
            append(encode_compact_string(self.resource_name))
        else:
            append(encode_string(self.resource_name))
        if version >= 4:
            append_compact_structs(out, self.configs, version)
        else:
            append_structs(out, self.configs, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsResult, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 4:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        (resource_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 4:
            resource_name, position = read_compact_string(buffer, position)
        else:
            resource_name, position = read_string(buffer, position)
        if version >= 4:
            configs, position = read_compact_structs(
                buffer, position, version, DescribeConfigsResourceResult._read, 9,
            )
        else:
            configs, position = read_structs(
                buffer, position, version, DescribeConfigsResourceResult._read, 9,
            )
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsResult(
            error_code, error_message, resource_type, resource_name, configs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeConfigsResponse:
    """DescribeConfigsResponse, versions 1 to 4."""

    __slots__ = ("throttle_time_ms", "results", "unknown_tags")

    throttle_time_ms: int
    results: list[DescribeConfigsResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeConfigsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 4:
            append_compact_structs(out, self.results, version)
        else:
            append_structs(out, self.results, version)
        if version >= 4:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeConfigsResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 4:
            results, position = read_compact_structs(
                buffer, position, version, DescribeConfigsResult._read, 7,
            )
        else:
            results, position = read_structs(buffer, position, version, DescribeConfigsResult._read, 7)
        if version < 4:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeConfigsResponse(throttle_time_ms, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "DescribeConfigsRequest",
    "DescribeConfigsResource",
    "DescribeConfigsResourceResult",
    "DescribeConfigsResponse",
    "DescribeConfigsResult",
    "DescribeConfigsSynonym",
]
