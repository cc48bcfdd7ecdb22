"""ShareGroupCurrentMemberAssignmentValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.wire import (
    Buffer,
    EMPTY,
    ZERO_UUID,
    append_tags,
    encode_compact_count,
    encode_numbers,
    read_compact_count,
    read_message,
    read_numbers,
    read_structs,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    uuid_of,
    write_message,
)

_u = Struct(">16s")
_iib = Struct(">iib")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartitions:
    """TopicPartitions, version 0."""

    __slots__ = ('topic_id', 'partitions', 'unknown_tags')

    topic_id: UUID
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_u.pack(self.topic_id.bytes))
        append(encode_compact_count(self.partitions))
        append(encode_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitions, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        count, position = read_compact_count(buffer, position, 4)
        partitions, position = read_numbers(buffer, position, count, "i")
        tags, position = read_unknown_tags(buffer, position)
        return TopicPartitions(topic_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupCurrentMemberAssignmentValue:
    """ShareGroupCurrentMemberAssignmentValue, version 0."""

    __slots__ = ('member_epoch', 'previous_member_epoch', 'state', 'assigned_partitions', 'unknown_tags')

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitions]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version, 0, 0)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupCurrentMemberAssignmentValue:
        return read_message("ShareGroupCurrentMemberAssignmentValue", cls._read, buffer, position, version, (0, 0))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iib.pack(self.member_epoch, self.previous_member_epoch, self.state))
        append(encode_compact_count(self.assigned_partitions))
        for item in self.assigned_partitions:
            item._write(out, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
        member_epoch, previous_member_epoch, state = _iib.unpack_from(buffer, position)
        position += 9
        count, position = read_compact_count(buffer, position, 18)
        assigned_partitions, position = read_structs(buffer, position, version, count, TopicPartitions._read)
        tags, position = read_unknown_tags(buffer, position)
        return ShareGroupCurrentMemberAssignmentValue(
            member_epoch,
            previous_member_epoch,
            state,
            assigned_partitions,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupCurrentMemberAssignmentValue",
    "TopicPartitions",
]
