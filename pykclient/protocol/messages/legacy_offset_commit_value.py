"""LegacyOffsetCommitValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
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

_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LegacyOffsetCommitValue:
    """LegacyOffsetCommitValue, version 0."""

    __slots__ = ("offset", "metadata", "commit_timestamp")

    offset: int
    metadata: str
    commit_timestamp: int

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, offset: int = 0, metadata: str = "", commit_timestamp: int = 0) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> LegacyOffsetCommitValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_q.pack(self.offset))
        append(encode_string(self.metadata))
        append(_q.pack(self.commit_timestamp))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LegacyOffsetCommitValue, int]:
        (offset,) = _q.unpack_from(buffer, position)
        position += 8
        metadata, position = read_string(buffer, position)
        (commit_timestamp,) = _q.unpack_from(buffer, position)
        position += 8
        return LegacyOffsetCommitValue(offset, metadata, commit_timestamp), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "LegacyOffsetCommitValue",
]
