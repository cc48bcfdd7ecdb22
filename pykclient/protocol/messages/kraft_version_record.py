"""KRaftVersionRecord.

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

_hh = Struct(">hh")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class KRaftVersionRecord:
    """KRaftVersionRecord, version 0."""

    __slots__ = ("version", "kraft_version", "unknown_tags")

    version: int
    kraft_version: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        kraft_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.kraft_version = kraft_version
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> KRaftVersionRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hh.pack(self.version, self.kraft_version))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[KRaftVersionRecord, int]:
        version_, kraft_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return KRaftVersionRecord(version_, kraft_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "KRaftVersionRecord",
]
