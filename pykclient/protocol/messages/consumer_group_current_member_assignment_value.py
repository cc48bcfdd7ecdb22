"""ConsumerGroupCurrentMemberAssignmentValue.

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
    encode_compact_numbers,
    read_compact_nullable_numbers,
    read_compact_numbers,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_u = Struct(">16s")
_iib = Struct(">iib")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicPartitions:
    """TopicPartitions, version 0."""

    __slots__ = ("topic_id", "partitions", "assignment_epochs", "unknown_tags")

    topic_id: UUID
    partitions: list[int]
    assignment_epochs: list[int] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        topic_id: UUID = ZERO_UUID,
        partitions: list[int] = EMPTY,
        assignment_epochs: list[int] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.assignment_epochs = [] if assignment_epochs is EMPTY else assignment_epochs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(self.topic_id.bytes)
        append(encode_compact_numbers(self.partitions, "i"))
        known: list[tuple[int, bytes]] = []
        if self.assignment_epochs is None or self.assignment_epochs:
            known.append((0, b"\0" if self.assignment_epochs is None else encode_compact_numbers(self.assignment_epochs, "i")))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicPartitions, int]:
        (topic_id,) = _u.unpack_from(buffer, position)
        position += 16
        topic_id = uuid_of(topic_id)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        assignment_epochs: list[int] | None = []
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    assignment_epochs, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return TopicPartitions(topic_id, partitions, assignment_epochs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupCurrentMemberAssignmentValue:
    """ConsumerGroupCurrentMemberAssignmentValue, version 0."""

    __slots__ = (
        "member_epoch", "previous_member_epoch", "state", "assigned_partitions",
        "partitions_pending_revocation", "unknown_tags",
    )

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = EMPTY,
        partitions_pending_revocation: list[TopicPartitions] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.partitions_pending_revocation = [] if partitions_pending_revocation is EMPTY else partitions_pending_revocation
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupCurrentMemberAssignmentValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iib.pack(self.member_epoch, self.previous_member_epoch, self.state))
        append_compact_structs(out, self.assigned_partitions, version)
        append_compact_structs(out, self.partitions_pending_revocation, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
        member_epoch, previous_member_epoch, state = _iib.unpack_from(buffer, position)
        position += 9
        assigned_partitions, position = read_compact_structs(
            buffer, position, version, TopicPartitions._read, 18,
        )
        partitions_pending_revocation, position = read_compact_structs(
            buffer, position, version, TopicPartitions._read, 18,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConsumerGroupCurrentMemberAssignmentValue",
    "TopicPartitions",
]
