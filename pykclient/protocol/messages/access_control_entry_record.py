"""AccessControlEntryRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    encode_compact_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_ub = Struct(">16sb")
_b = Struct(">b")
_bb = Struct(">bb")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class AccessControlEntryRecord:
    """AccessControlEntryRecord, version 0."""

    __slots__ = (
        "id", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation",
        "permission_type", "unknown_tags",
    )

    id: UUID
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        id: UUID = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AccessControlEntryRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ub.pack(self.id.bytes, self.resource_type))
        append(encode_compact_string(self.resource_name))
        append(_b.pack(self.pattern_type))
        append(encode_compact_string(self.principal))
        append(encode_compact_string(self.host))
        append(_bb.pack(self.operation, self.permission_type))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AccessControlEntryRecord, int]:
        id, resource_type = _ub.unpack_from(buffer, position)
        position += 17
        id = uuid_of(id)
        resource_name, position = read_compact_string(buffer, position)
        (pattern_type,) = _b.unpack_from(buffer, position)
        position += 1
        principal, position = read_compact_string(buffer, position)
        host, position = read_compact_string(buffer, position)
        operation, permission_type = _bb.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return AccessControlEntryRecord(
            id, resource_type, resource_name, pattern_type, principal, host, operation, permission_type, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AccessControlEntryRecord",
]
