"""AlterClientQuotasRequest, AlterClientQuotasResponse.

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
_dt = Struct(">d?")
_h = Struct(">h")
_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestEntityData:
    """RequestEntityData, versions 0 to 1."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestEntityData, int]:
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
        return RequestEntityData(entity_type, entity_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OpData:
    """OpData, versions 0 to 1."""

    __slots__ = ("key", "value", "remove", "unknown_tags")

    key: str
    value: float
    remove: bool
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_string(self.key))
        else:
            append(encode_string(self.key))
        append(_dt.pack(self.value, self.remove))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OpData, int]:
        if version >= 1:
            key, position = read_compact_string(buffer, position)
        else:
            key, position = read_string(buffer, position)
        value, remove = _dt.unpack_from(buffer, position)
        position += 9
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return OpData(key, value, remove, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RequestEntryData:
    """RequestEntryData, versions 0 to 1."""

    __slots__ = ("entity", "ops", "unknown_tags")

    entity: list[RequestEntityData]
    ops: list[OpData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        entity: list[RequestEntityData] = EMPTY,
        ops: list[OpData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.ops = [] if ops is EMPTY else ops
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append_compact_structs(out, self.entity, version)
        else:
            append_structs(out, self.entity, version)
        if version >= 1:
            append_compact_structs(out, self.ops, version)
        else:
            append_structs(out, self.ops, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RequestEntryData, int]:
        if version >= 1:
            entity, position = read_compact_structs(buffer, position, version, RequestEntityData._read, 3)
        else:
            entity, position = read_structs(buffer, position, version, RequestEntityData._read, 3)
        if version >= 1:
            ops, position = read_compact_structs(buffer, position, version, OpData._read, 11)
        else:
            ops, position = read_structs(buffer, position, version, OpData._read, 11)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RequestEntryData(entity, ops, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterClientQuotasRequest:
    """AlterClientQuotasRequest, versions 0 to 1."""

    __slots__ = ("entries", "validate_only", "unknown_tags")

    entries: list[RequestEntryData]
    validate_only: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        entries: list[RequestEntryData] = EMPTY,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entries = [] if entries is EMPTY else entries
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterClientQuotasRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append_compact_structs(out, self.entries, version)
        else:
            append_structs(out, self.entries, version)
        append(_t.pack(self.validate_only))
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterClientQuotasRequest, int]:
        if version >= 1:
            entries, position = read_compact_structs(buffer, position, version, RequestEntryData._read, 3)
        else:
            entries, position = read_structs(buffer, position, version, RequestEntryData._read, 3)
        (validate_only,) = _t.unpack_from(buffer, position)
        position += 1
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterClientQuotasRequest(entries, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseEntityData:
    """ResponseEntityData, versions 0 to 1."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseEntityData, int]:
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
        return ResponseEntityData(entity_type, entity_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ResponseEntryData:
    """ResponseEntryData, versions 0 to 1."""

    __slots__ = ("error_code", "error_message", "entity", "unknown_tags")

    error_code: int
    error_message: str | None
    entity: list[ResponseEntityData]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[ResponseEntityData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is EMPTY else entity
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 1:
            append(encode_compact_nullable_string(self.error_message))
        else:
            append(encode_nullable_string(self.error_message))
        if version >= 1:
            append_compact_structs(out, self.entity, version)
        else:
            append_structs(out, self.entity, version)
        if version >= 1:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ResponseEntryData, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 1:
            error_message, position = read_compact_nullable_string(buffer, position)
        else:
            error_message, position = read_nullable_string(buffer, position)
        if version >= 1:
            entity, position = read_compact_structs(buffer, position, version, ResponseEntityData._read, 3)
        else:
            entity, position = read_structs(buffer, position, version, ResponseEntityData._read, 3)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ResponseEntryData(error_code, error_message, entity, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AlterClientQuotasResponse:
    """AlterClientQuotasResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "entries", "unknown_tags")

    throttle_time_ms: int
    entries: list[ResponseEntryData]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[ResponseEntryData] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is EMPTY else entries
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AlterClientQuotasResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.throttle_time_ms))
        if version >= 1:
            append_compact_structs(out, self.entries, version)
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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AlterClientQuotasResponse, int]:
        (throttle_time_ms,) = _i.unpack_from(buffer, position)
        position += 4
        if version >= 1:
            entries, position = read_compact_structs(buffer, position, version, ResponseEntryData._read, 5)
        else:
            entries, position = read_structs(buffer, position, version, ResponseEntryData._read, 5)
        if version < 1:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AlterClientQuotasResponse(throttle_time_ms, entries, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AlterClientQuotasRequest",
    "AlterClientQuotasResponse",
    "OpData",
    "RequestEntityData",
    "RequestEntryData",
    "ResponseEntityData",
    "ResponseEntryData",
]
