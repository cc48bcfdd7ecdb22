"""OffsetCommitKey.

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

_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitKey:
    """OffsetCommitKey, version 0."""

    __slots__ = ("group", "topic", "partition")

    group: str
    topic: str
    partition: int

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group: str = "", topic: str = "", partition: int = 0) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetCommitKey:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group))
        append(encode_string(self.topic))
        append(_i.pack(self.partition))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitKey, int]:
        group, position = read_string(buffer, position)
        topic, position = read_string(buffer, position)
        (partition,) = _i.unpack_from(buffer, position)
        position += 4
        return OffsetCommitKey(group, topic, partition), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "OffsetCommitKey",
]
