"""ControlRecordTypeSchema.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
)
from pykclient.protocol.structs import (
    read_message,
    struct_repr,
    structs_equal,
    write_message,
)

_h = Struct(">h")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ControlRecordTypeSchema:
    """ControlRecordTypeSchema, version 0."""

    __slots__ = ("type",)

    type: int

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, type: int = 0) -> None:
        self.type = type

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ControlRecordTypeSchema:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.type))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ControlRecordTypeSchema, int]:
        (type,) = _h.unpack_from(buffer, position)
        position += 2
        return ControlRecordTypeSchema(type), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ControlRecordTypeSchema",
]
