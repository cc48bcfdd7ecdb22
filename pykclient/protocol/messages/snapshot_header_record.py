"""SnapshotHeaderRecord.

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
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_hq = Struct(">hq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SnapshotHeaderRecord:
    """SnapshotHeaderRecord, version 0."""

    __slots__ = ("version", "last_contained_log_timestamp", "unknown_tags")

    version: int
    last_contained_log_timestamp: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> SnapshotHeaderRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hq.pack(self.version, self.last_contained_log_timestamp))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SnapshotHeaderRecord, int]:
        version_, last_contained_log_timestamp = _hq.unpack_from(buffer, position)
        position += 10
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SnapshotHeaderRecord(version_, last_contained_log_timestamp, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "SnapshotHeaderRecord",
]
