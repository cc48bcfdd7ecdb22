"""PartitionRecord.

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
    encode_compact_uuids,
    read_compact_nullable_numbers,
    read_compact_numbers,
    read_compact_uuids,
    uuid_of,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    not_carried,
    read_message,
    read_tag,
    read_tag_count,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_b = Struct(">b")
_iu = Struct(">i16s")
_iii = Struct(">iii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionRecord:
    """PartitionRecord, versions 0 to 2."""

    __slots__ = (
        "partition_id", "topic_id", "replicas", "isr", "removing_replicas", "adding_replicas", "leader",
        "leader_recovery_state", "leader_epoch", "partition_epoch", "directories",
        "eligible_leader_replicas", "last_known_elr", "unknown_tags",
    )

    partition_id: int
    topic_id: UUID
    replicas: list[int]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int
    directories: list[UUID]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: UUID = ZERO_UUID,
        replicas: list[int] = EMPTY,
        isr: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[UUID] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is EMPTY else replicas
        self.isr = [] if isr is EMPTY else isr
        self.removing_replicas = [] if removing_replicas is EMPTY else removing_replicas
        self.adding_replicas = [] if adding_replicas is EMPTY else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is EMPTY else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> PartitionRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iu.pack(self.partition_id, self.topic_id.bytes))
        append(encode_compact_numbers(self.replicas, "i"))
        append(encode_compact_numbers(self.isr, "i"))
        append(encode_compact_numbers(self.removing_replicas, "i"))
        append(encode_compact_numbers(self.adding_replicas, "i"))
        append(_iii.pack(self.leader, self.leader_epoch, self.partition_epoch))
        if version >= 1:
            append(encode_compact_uuids(self.directories))
        elif self.directories:
            raise not_carried(self, "directories", version)
        known: list[tuple[int, bytes]] = []
        if self.leader_recovery_state != 0:
            known.append((0, _b.pack(self.leader_recovery_state)))
        if version >= 2:
            if self.eligible_leader_replicas is not None:
                known.append((1, encode_compact_numbers(self.eligible_leader_replicas, "i")))
        elif self.eligible_leader_replicas is not None:
            raise not_carried(self, "eligible_leader_replicas", version)
        if version >= 2:
            if self.last_known_elr is not None:
                known.append((2, encode_compact_numbers(self.last_known_elr, "i")))
        elif self.last_known_elr is not None:
            raise not_carried(self, "last_known_elr", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionRecord, int]:
        partition_id, topic_id = _iu.unpack_from(buffer, position)
        position += 20
        topic_id = uuid_of(topic_id)
        replicas, position = read_compact_numbers(buffer, position, "i", 4)
        isr, position = read_compact_numbers(buffer, position, "i", 4)
        removing_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        adding_replicas, position = read_compact_numbers(buffer, position, "i", 4)
        leader, leader_epoch, partition_epoch = _iii.unpack_from(buffer, position)
        position += 12
        if version >= 1:
            directories, position = read_compact_uuids(buffer, position)
        else:
            directories = []
        leader_recovery_state = 0
        eligible_leader_replicas: list[int] | None = None
        last_known_elr: list[int] | None = None
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (leader_recovery_state,) = _b.unpack_from(buffer, position)
                    position += 1
                elif tag == 1 and version >= 2:
                    eligible_leader_replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 2 and version >= 2:
                    last_known_elr, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return PartitionRecord(
            partition_id, topic_id, replicas, isr, removing_replicas, adding_replicas, leader,
            leader_recovery_state, leader_epoch, partition_epoch, directories, eligible_leader_replicas,
            last_known_elr, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PartitionRecord",
]
