"""AbortTransactionRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    read_compact_nullable_string,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_tag,
    read_tag_count,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class AbortTransactionRecord:
    """AbortTransactionRecord, version 0."""

    __slots__ = ("reason", "unknown_tags")

    reason: str | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(self, reason: str | None = None, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.reason = reason
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> AbortTransactionRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        known: list[tuple[int, bytes]] = []
        if self.reason is not None:
            known.append((0, encode_compact_string(self.reason)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[AbortTransactionRecord, int]:
        reason: str | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    reason, position = read_compact_nullable_string(buffer, position)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return AbortTransactionRecord(reason, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "AbortTransactionRecord",
]
