"""DescribeClientQuotasRequest, DescribeClientQuotasResponse.

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
    encode_compact_nullable_string,
    encode_compact_string,
    encode_count,
    encode_nullable_string,
    encode_string,
    read_compact_count,
    read_compact_nullable_count,
    read_compact_nullable_string,
    read_compact_string,
    read_count,
    read_message,
    read_nullable_count,
    read_nullable_string,
    read_string,
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

    __slots__ = ('entity_type', 'match_type', 'match', 'unknown_tags')

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

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ComponentData, int]:
        if version >= 1:
            entity_type, position = read_compact_string(buffer, position)
        else:
            entity_type, position = read_string(buffer, position)
        (match_type,) = _b.unpack_from(buffer, position)
        position += 1
        match: str | None
        if version >= 1:
            match, position = read_compact_nullable_string(buffer, position)
        else:
            match, position = read_nullable_string(buffer, position)
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ComponentData(entity_type, match_type, match, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClientQuotasRequest:
    """DescribeClientQuotasRequest, versions 0 to 1."""

    __slots__ = ('components', 'strict', 'unknown_tags')

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
        return write_message(self, version, 0, 1)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClientQuotasRequest:
        return read_message("DescribeClientQuotasRequest", cls._read, buffer, position, version, (0, 1))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_count(self.components))
            for item in self.components:
                item._write(out, version)
        else:
            append(encode_count(self.components))
            for item in self.components:
                item._write(out, version)
        append(_t.pack(self.strict))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
        components: list[ComponentData]
        if version >= 1:
            count, position = read_compact_count(buffer, position, 4)
            components, position = read_structs(buffer, position, version, count, ComponentData._read)
        else:
            count, position = read_count(buffer, position, 4)
            components, position = read_structs(buffer, position, version, count, ComponentData._read)
        (strict,) = _t.unpack_from(buffer, position)
        position += 1
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return DescribeClientQuotasRequest(components, strict, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EntityData:
    """EntityData, versions 0 to 1."""

    __slots__ = ('entity_type', 'entity_name', 'unknown_tags')

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

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EntityData, int]:
        if version >= 1:
            entity_type, position = read_compact_string(buffer, position)
        else:
            entity_type, position = read_string(buffer, position)
        entity_name: str | None
        if version >= 1:
            entity_name, position = read_compact_nullable_string(buffer, position)
        else:
            entity_name, position = read_nullable_string(buffer, position)
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return EntityData(entity_type, entity_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ValueData:
    """ValueData, versions 0 to 1."""

    __slots__ = ('key', 'value', 'unknown_tags')

    key: str
    value: float
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
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

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ValueData, int]:
        if version >= 1:
            key, position = read_compact_string(buffer, position)
        else:
            key, position = read_string(buffer, position)
        (value,) = _d.unpack_from(buffer, position)
        position += 8
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return ValueData(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EntryData:
    """EntryData, versions 0 to 1."""

    __slots__ = ('entity', 'values', 'unknown_tags')

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
            append(encode_compact_count(self.entity))
            for item in self.entity:
                item._write(out, version)
        else:
            append(encode_count(self.entity))
            for item in self.entity:
                item._write(out, version)
        if version >= 1:
            append(encode_compact_count(self.values))
            for item in self.values:
                item._write(out, version)
        else:
            append(encode_count(self.values))
            for item in self.values:
                item._write(out, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EntryData, int]:
        entity: list[EntityData]
        if version >= 1:
            count, position = read_compact_count(buffer, position, 3)
            entity, position = read_structs(buffer, position, version, count, EntityData._read)
        else:
            count, position = read_count(buffer, position, 3)
            entity, position = read_structs(buffer, position, version, count, EntityData._read)
        values: list[ValueData]
        if version >= 1:
            count, position = read_compact_count(buffer, position, 10)
            values, position = read_structs(buffer, position, version, count, ValueData._read)
        else:
            count, position = read_count(buffer, position, 10)
            values, position = read_structs(buffer, position, version, count, ValueData._read)
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return EntryData(entity, values, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class DescribeClientQuotasResponse:
    """DescribeClientQuotasResponse, versions 0 to 1."""

    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'entries', 'unknown_tags')

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
        return write_message(self, version, 0, 1)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> DescribeClientQuotasResponse:
        return read_message("DescribeClientQuotasResponse", cls._read, buffer, position, version, (0, 1))

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
                append(encode_compact_count(self.entries))
                for item in self.entries:
                    item._write(out, version)
        else:
            if self.entries is None:
                append(b"\xff\xff\xff\xff")
            else:
                append(encode_count(self.entries))
                for item in self.entries:
                    item._write(out, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[DescribeClientQuotasResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message: str | None
        if version >= 1:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        entries: list[EntryData] | None
        if version >= 1:
            count, position = read_compact_nullable_count(buffer, position, 3)
            if count < 0:
                entries = None
            else:
                entries, position = read_structs(buffer, position, version, count, EntryData._read)
        else:
            count, position = read_nullable_count(buffer, position, 3)
            if count < 0:
                entries = None
            else:
                entries, position = read_structs(buffer, position, version, count, EntryData._read)
        if version >= 1:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags = None
        return DescribeClientQuotasResponse(
            throttle_time_ms,
            error_code,
            error_message,
            entries,
            tags,
        ), position

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
