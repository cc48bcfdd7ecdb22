"""DescribeClientQuotasRequest, DescribeClientQuotasResponse.

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
    read_compact_nullable_structs,
    read_compact_structs,
    read_message,
    read_nullable_structs,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_t = Struct(">?")
_b = Struct(">b")
_d = Struct(">d")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ComponentData:
    """ComponentData, versions 0 to 1."""

    __slots__ = ("entity_type", "match_type", "match", "unknown_tags")

    entity_type: str
    match_type: int
    match: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_string(self.entity_type))
        else:
            append(encode_string(self.entity_type))
        append(_b.pack(self.match_type))
        if version >= 1:
            append(encode_compact_nullable_string(self.match))
        else:
            append(encode_nullable_string(self.match))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ComponentData, int]:
        if version >= 1:
            entity_type, position = read_compact_string(buffer, position)
        else:
            entity_type, position = read_string(buffer, position)
        (match_type,) = _b.unpack_from(buffer, position)
        position += 1
        if version >= 1:
            match, position = read_compact_nullable_string(buffer, position)
        else:
            match, position = read_nullable_string(buffer, position)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ComponentData(entity_type, match_type, match, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClientQuotasRequest:
    """DescribeClientQuotasRequest, versions 0 to 1."""

    __slots__ = ("components", "strict", "unknown_tags")

    components: list[ComponentData]
    strict: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        components: list[ComponentData] = EMPTY,
        strict: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.components = [] if components is EMPTY else components
        self.strict = strict
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClientQuotasRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append_compact_structs(out, self.components, version)
        else:
            append_structs(out, self.components, version)
        append(_t.pack(self.strict))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
        if version >= 1:
            components, position = read_compact_structs(buffer, position, version, ComponentData._read, 4)
        else:
            components, position = read_structs(buffer, position, version, ComponentData._read, 4)
        (strict,) = _t.unpack_from(buffer, position)
        position += 1
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeClientQuotasRequest(components, strict, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EntityData:
    """EntityData, versions 0 to 1."""

    __slots__ = ("entity_type", "entity_name", "unknown_tags")

    entity_type: str
    entity_name: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_string(self.entity_type))
        else:
            append(encode_string(self.entity_type))
        if version >= 1:
            append(encode_compact_nullable_string(self.entity_name))
        else:
            append(encode_nullable_string(self.entity_name))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EntityData, int]:
        if version >= 1:
            entity_type, position = read_compact_string(buffer, position)
        else:
            entity_type, position = read_string(buffer, position)
        if version >= 1:
            entity_name, position = read_compact_nullable_string(buffer, position)
        else:
            entity_name, position = read_nullable_string(buffer, position)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EntityData(entity_type, entity_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ValueData:
    """ValueData, versions 0 to 1."""

    __slots__ = ("key", "value", "unknown_tags")

    key: str
    value: float
    unknown_tags: dict[int, bytes] | None

    def __init__(self, key: str = "", value: float = 0.0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.key = key
        self.value = value
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_string(self.key))
        else:
            append(encode_string(self.key))
        append(_d.pack(self.value))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ValueData, int]:
        if version >= 1:
            key, position = read_compact_string(buffer, position)
        else:
            key, position = read_string(buffer, position)
        (value,) = _d.unpack_from(buffer, position)
        position += 8
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ValueData(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EntryData:
    """EntryData, versions 0 to 1."""

    __slots__ = ("entity", "values", "unknown_tags")

    entity: list[EntityData]
    values: list[ValueData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        values: list[ValueData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.values = [] if values is EMPTY else values
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append_compact_structs(out, self.entity, version)
        else:
            append_structs(out, self.entity, version)
        if version >= 1:
            append_compact_structs(out, self.values, version)
        else:
            append_structs(out, self.values, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EntryData, int]:
        if version >= 1:
            entity, position = read_compact_structs(buffer, position, version, EntityData._read, 3)
        else:
            entity, position = read_structs(buffer, position, version, EntityData._read, 3)
        if version >= 1:
            values, position = read_compact_structs(buffer, position, version, ValueData._read, 10)
        else:
            values, position = read_structs(buffer, position, version, ValueData._read, 10)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EntryData(entity, values, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClientQuotasResponse:
    """DescribeClientQuotasResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "entries", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: list[EntryData] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is EMPTY else entries
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClientQuotasResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        if version >= 1:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 1:
            if self.entries is None:
                append(b"\0")
            else:
                append_compact_structs(out, self.entries, version)
        else:
            if self.entries is None:
                append(b"\xff\xff\xff\xff")
            else:
                append_structs(out, self.entries, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClientQuotasResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if version >= 1:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 1:
            entries, position = read_compact_nullable_structs(buffer, position, version, EntryData._read, 3)
        else:
            entries, position = read_nullable_structs(buffer, position, version, EntryData._read, 3)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ComponentData",
    "DescribeClientQuotasRequest",
    "DescribeClientQuotasResponse",
    "EntityData",
    "EntryData",
    "ValueData",
]
