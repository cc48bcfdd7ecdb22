"""GroupMetadataKey.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_string,
    read_string,
)
from pykclient.protocol.structs import (
    read_message,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class GroupMetadataKey:
    """GroupMetadataKey, version 0."""

    __slots__ = ("group",)

    group: str

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group: str = "") -> None:
        self.group = group

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> GroupMetadataKey:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[GroupMetadataKey, int]:
        group, position = read_string(buffer, position)
        return GroupMetadataKey(group), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "GroupMetadataKey",
]
