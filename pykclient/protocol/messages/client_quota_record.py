"""ClientQuotaRecord.

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
    read_compact_nullable_string,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_dt = Struct(">d?")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EntityData:
    """EntityData, version 0."""

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
        append(encode_compact_string(self.entity_type))
        append(encode_compact_nullable_string(self.entity_name))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EntityData, int]:
        entity_type, position = read_compact_string(buffer, position)
        entity_name, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return EntityData(entity_type, entity_name, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ClientQuotaRecord:
    """ClientQuotaRecord, version 0."""

    __slots__ = ("entity", "key", "value", "remove", "unknown_tags")

    entity: list[EntityData]
    key: str
    value: float
    remove: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ClientQuotaRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.entity, version)
        append(encode_compact_string(self.key))
        append(_dt.pack(self.value, self.remove))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ClientQuotaRecord, int]:
        entity, position = read_compact_structs(buffer, position, version, EntityData._read, 3)
        key, position = read_compact_string(buffer, position)
        value, remove = _dt.unpack_from(buffer, position)
        position += 9
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ClientQuotaRecord(entity, key, value, remove, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ClientQuotaRecord",
    "EntityData",
]
