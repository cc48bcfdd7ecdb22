"""ConsumerProtocolSubscription.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_nullable_string,
    encode_numbers,
    encode_size,
    encode_string,
    encode_strings,
    read_nullable_bytes,
    read_nullable_string,
    read_numbers,
    read_string,
    read_strings,
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

_i = Struct(">i")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartition:
    """TopicPartition, versions 1 to 3."""

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
class ConsumerProtocolSubscription:
    """ConsumerProtocolSubscription, versions 0 to 3."""

    __slots__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id")

    topics: list[str]
    user_data: bytes | None
    owned_partitions: list[TopicPartition]
    generation_id: int
    rack_id: str | None

    API_KEY: ClassVar[None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        topics: list[str] = EMPTY,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = EMPTY,
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is EMPTY else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerProtocolSubscription:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_strings(self.topics))
        if self.user_data is None:
            append(b"\xff\xff\xff\xff")
        else:
            append(encode_size(self.user_data))
            append(self.user_data)
        if version >= 1:
            append_structs(out, self.owned_partitions, version)
        if version >= 2:
            append(_i.pack(self.generation_id))
        if version >= 3:
            append(encode_nullable_string(self.rack_id))

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerProtocolSubscription, int]:
        topics, position = read_strings(buffer, position)
        user_data, position = read_nullable_bytes(buffer, position)
        if version >= 1:
            owned_partitions, position = read_structs(buffer, position, version, TopicPartition._read, 6)
        else:
            owned_partitions = []
        if version >= 2:
            (generation_id,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            generation_id = -1
        if version >= 3:
            rack_id, position = read_nullable_string(buffer, position)
        else:
            rack_id = None
        return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id, rack_id), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConsumerProtocolSubscription",
    "TopicPartition",
]
