"""ShareSnapshotValue.

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

_i = Struct(">i")
_iiiqqq = Struct(">iiiqqq")
_qqbh = Struct(">qqbh")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StateBatch:
    """StateBatch, version 0."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count", "unknown_tags")

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_qqbh.pack(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StateBatch, int]:
        first_offset, last_offset, delivery_state, delivery_count = _qqbh.unpack_from(buffer, position)
        position += 19
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StateBatch(first_offset, last_offset, delivery_state, delivery_count, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareSnapshotValue:
    """ShareSnapshotValue, version 0."""

    __slots__ = (
        "snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count",
        "create_timestamp", "write_timestamp", "state_batches", "unknown_tags",
    )

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    create_timestamp: int
    write_timestamp: int
    state_batches: list[StateBatch]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: list[StateBatch] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.create_timestamp = create_timestamp
        self.write_timestamp = write_timestamp
        self.state_batches = [] if state_batches is EMPTY else state_batches
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareSnapshotValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iiiqqq.pack(
            self.snapshot_epoch, self.state_epoch, self.leader_epoch, self.start_offset, self.create_timestamp,
            self.write_timestamp,
        ))
        append_compact_structs(out, self.state_batches, version)
        known: list[tuple[int, bytes]] = []
        if self.delivery_complete_count != -1:
            known.append((0, _i.pack(self.delivery_complete_count)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareSnapshotValue, int]:
        (
            snapshot_epoch, state_epoch, leader_epoch, start_offset, create_timestamp, write_timestamp,
        ) = _iiiqqq.unpack_from(buffer, position)
        position += 36
        state_batches, position = read_compact_structs(buffer, position, version, StateBatch._read, 20)
        delivery_complete_count = -1
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (delivery_complete_count,) = _i.unpack_from(buffer, position)
                    position += 4
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return ShareSnapshotValue(
            snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, create_timestamp,
            write_timestamp, state_batches, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareSnapshotValue",
    "StateBatch",
]
