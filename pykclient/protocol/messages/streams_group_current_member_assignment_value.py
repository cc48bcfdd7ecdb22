"""StreamsGroupCurrentMemberAssignmentValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    read_compact_nullable_numbers,
    read_compact_numbers,
    read_compact_string,
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

_iib = Struct(">iib")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TaskIds:
    """TaskIds, version 0."""

    __slots__ = ("subtopology_id", "partitions", "assignment_epochs", "unknown_tags")

    subtopology_id: str
    partitions: list[int]
    assignment_epochs: list[int] | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = EMPTY,
        assignment_epochs: list[int] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.assignment_epochs = [] if assignment_epochs is EMPTY else assignment_epochs
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(encode_compact_numbers(self.partitions, "i"))
        known: list[tuple[int, bytes]] = []
        if self.assignment_epochs is None or self.assignment_epochs:
            known.append((0, b"\0" if self.assignment_epochs is None else encode_compact_numbers(self.assignment_epochs, "i")))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TaskIds, int]:
        subtopology_id, position = read_compact_string(buffer, position)
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
        return TaskIds(subtopology_id, partitions, assignment_epochs, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupCurrentMemberAssignmentValue:
    """StreamsGroupCurrentMemberAssignmentValue, version 0."""

    __slots__ = (
        "member_epoch", "previous_member_epoch", "state", "active_tasks", "standby_tasks", "warmup_tasks",
        "active_tasks_pending_revocation", "standby_tasks_pending_revocation",
        "warmup_tasks_pending_revocation", "unknown_tags",
    )

    member_epoch: int
    previous_member_epoch: int
    state: int
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    active_tasks_pending_revocation: list[TaskIds]
    standby_tasks_pending_revocation: list[TaskIds]
    warmup_tasks_pending_revocation: list[TaskIds]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[TaskIds] = EMPTY,
        standby_tasks: list[TaskIds] = EMPTY,
        warmup_tasks: list[TaskIds] = EMPTY,
        active_tasks_pending_revocation: list[TaskIds] = EMPTY,
        standby_tasks_pending_revocation: list[TaskIds] = EMPTY,
        warmup_tasks_pending_revocation: list[TaskIds] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks = [] if active_tasks is EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is EMPTY else warmup_tasks
        self.active_tasks_pending_revocation = [] if active_tasks_pending_revocation is EMPTY else active_tasks_pending_revocation
        self.standby_tasks_pending_revocation = [] if standby_tasks_pending_revocation is EMPTY else standby_tasks_pending_revocation
        self.warmup_tasks_pending_revocation = [] if warmup_tasks_pending_revocation is EMPTY else warmup_tasks_pending_revocation
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupCurrentMemberAssignmentValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iib.pack(self.member_epoch, self.previous_member_epoch, self.state))
        append_compact_structs(out, self.active_tasks, version)
        append_compact_structs(out, self.standby_tasks, version)
        append_compact_structs(out, self.warmup_tasks, version)
        append_compact_structs(out, self.active_tasks_pending_revocation, version)
        append_compact_structs(out, self.standby_tasks_pending_revocation, version)
        append_compact_structs(out, self.warmup_tasks_pending_revocation, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
        member_epoch, previous_member_epoch, state = _iib.unpack_from(buffer, position)
        position += 9
        active_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        standby_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        warmup_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        active_tasks_pending_revocation, position = read_compact_structs(
            buffer, position, version, TaskIds._read, 3,
        )
        standby_tasks_pending_revocation, position = read_compact_structs(
            buffer, position, version, TaskIds._read, 3,
        )
        warmup_tasks_pending_revocation, position = read_compact_structs(
            buffer, position, version, TaskIds._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupCurrentMemberAssignmentValue(
            member_epoch, previous_member_epoch, state, active_tasks, standby_tasks, warmup_tasks,
            active_tasks_pending_revocation, standby_tasks_pending_revocation, warmup_tasks_pending_revocation,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "StreamsGroupCurrentMemberAssignmentValue",
    "TaskIds",
]
