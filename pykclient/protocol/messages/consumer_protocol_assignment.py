"""ConsumerProtocolAssignment.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_numbers,
    encode_size,
    encode_string,
    read_nullable_bytes,
    read_numbers,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_structs,
    read_message,
    read_structs,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartition:
    """TopicPartition, versions 0 to 3."""

    __slots__ = ("topic", "partitions")

    topic: str
    partitions: list[int]

    def __init__(self, topic: str = "", partitions: list[int] = EMPTY) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_string(self.topic))
        append(encode_numbers(self.partitions, "i"))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartition, int]:
        topic, position = read_string(buffer, position)
        partitions, position = read_numbers(buffer, position, "i", 4)
        return TopicPartition(topic, partitions), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerProtocolAssignment:
    """ConsumerProtocolAssignment, versions 0 to 3."""

    __slots__ = ("assigned_partitions", "user_data")

    assigned_partitions: list[TopicPartition]
    user_data: bytes | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = EMPTY,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.user_data = user_data

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerProtocolAssignment:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_structs(out, self.assigned_partitions, version)
        if self.user_data is None:
            append(b"\xff\xff\xff\xff")
        else:
            append(encode_size(self.user_data))
            append(self.user_data)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerProtocolAssignment, int]:
        assigned_partitions, position = read_structs(buffer, position, version, TopicPartition._read, 6)
        user_data, position = read_nullable_bytes(buffer, position)
        return ConsumerProtocolAssignment(assigned_partitions, user_data), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConsumerProtocolAssignment",
    "TopicPartition",
]
