"""StreamsGroupTargetAssignmentMetadataValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
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

_i = Struct(">i")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupTargetAssignmentMetadataValue:
    """StreamsGroupTargetAssignmentMetadataValue, version 0."""

    __slots__ = ("assignment_epoch", "assignment_timestamp", "unknown_tags")

    assignment_epoch: int
    assignment_timestamp: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupTargetAssignmentMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.assignment_epoch))
        known: list[tuple[int, bytes]] = []
        if self.assignment_timestamp != 0:
            known.append((0, _q.pack(self.assignment_timestamp)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
        (assignment_epoch,) = _i.unpack_from(buffer, position)
        position += 4
        assignment_timestamp = 0
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (assignment_timestamp,) = _q.unpack_from(buffer, position)
                    position += 8
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return StreamsGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "StreamsGroupTargetAssignmentMetadataValue",
]
