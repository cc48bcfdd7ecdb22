"""RemoveDelegationTokenRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    read_compact_string,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemoveDelegationTokenRecord:
    """RemoveDelegationTokenRecord, version 0."""

    __slots__ = ("token_id", "unknown_tags")

    token_id: str
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(self, token_id: str = "", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.token_id = token_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemoveDelegationTokenRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.token_id))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemoveDelegationTokenRecord, int]:
        token_id, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemoveDelegationTokenRecord(token_id, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RemoveDelegationTokenRecord",
]
