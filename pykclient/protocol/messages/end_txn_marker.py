"""EndTxnMarker.

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

_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class EndTxnMarker:
    """EndTxnMarker, version 0."""

    __slots__ = ("coordinator_epoch",)

    coordinator_epoch: int

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, coordinator_epoch: int = 0) -> None:
        self.coordinator_epoch = coordinator_epoch

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> EndTxnMarker:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.coordinator_epoch))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[EndTxnMarker, int]:
        (coordinator_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        return EndTxnMarker(coordinator_epoch), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "EndTxnMarker",
]
