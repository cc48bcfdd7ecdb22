"""StreamsGroupTargetAssignmentMemberValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    read_compact_numbers,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class TaskIds:
    """TaskIds, version 0."""

    __slots__ = ("subtopology_id", "partitions", "unknown_tags")

    subtopology_id: str
    partitions: list[int]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is EMPTY else partitions
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.subtopology_id))
        append(encode_compact_numbers(self.partitions, "i"))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TaskIds, int]:
        subtopology_id, position = read_compact_string(buffer, position)
        partitions, position = read_compact_numbers(buffer, position, "i", 4)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TaskIds(subtopology_id, partitions, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupTargetAssignmentMemberValue:
    """StreamsGroupTargetAssignmentMemberValue, version 0."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks", "unknown_tags")

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        active_tasks: list[TaskIds] = EMPTY,
        standby_tasks: list[TaskIds] = EMPTY,
        warmup_tasks: list[TaskIds] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.active_tasks = [] if active_tasks is EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is EMPTY else warmup_tasks
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupTargetAssignmentMemberValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append_compact_structs(out, self.active_tasks, version)
        append_compact_structs(out, self.standby_tasks, version)
        append_compact_structs(out, self.warmup_tasks, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
        active_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        standby_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        warmup_tasks, position = read_compact_structs(buffer, position, version, TaskIds._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupTargetAssignmentMemberValue(active_tasks, standby_tasks, warmup_tasks, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "StreamsGroupTargetAssignmentMemberValue",
    "TaskIds",
]
