"""ShareUpdateKey.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    encode_string,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    read_message,
    struct_repr,
    structs_equal,
    write_message,
)

_ui = Struct(">16si")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareUpdateKey:
    """ShareUpdateKey, version 0."""

    __slots__ = ("group_id", "topic_id", "partition")

    group_id: str
    topic_id: UUID
    partition: int

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(self, group_id: str = "", topic_id: UUID = ZERO_UUID, partition: int = 0) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareUpdateKey:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.group_id))
        append(_ui.pack(self.topic_id.bytes, self.partition))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareUpdateKey, int]:
        group_id, position = read_string(buffer, position)
        topic_id, partition = _ui.unpack_from(buffer, position)
        position += 20
        topic_id = uuid_of(topic_id)
        return ShareUpdateKey(group_id, topic_id, partition), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareUpdateKey",
]
