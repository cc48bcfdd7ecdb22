"""ShareGroupMetadataKey.

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
class ShareGroupMetadataKey:
    """ShareGroupMetadataKey, version 0."""

    __slots__ = ("group_id",)

    group_id: str

    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group_id: str = "") -> None:
        self.group_id = group_id

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupMetadataKey:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group_id))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupMetadataKey, int]:
        group_id, position = read_string(buffer, position)
        return ShareGroupMetadataKey(group_id), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupMetadataKey",
]
