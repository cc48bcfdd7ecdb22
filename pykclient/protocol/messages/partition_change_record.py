"""PartitionChangeRecord.

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
    read_compact_nullable_uuids,
    uuid_of,
)
from pykclient.protocol.structs import (
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
_i = Struct(">i")
_iu = Struct(">i16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionChangeRecord:
    """PartitionChangeRecord, versions 0 to 2."""

    __slots__ = (
        "partition_id", "topic_id", "isr", "leader", "replicas", "removing_replicas", "adding_replicas",
        "leader_recovery_state", "directories", "eligible_leader_replicas", "last_known_elr",
        "unknown_tags",
    )

    partition_id: int
    topic_id: UUID
    isr: list[int] | None
    leader: int
    replicas: list[int] | None
    removing_replicas: list[int] | None
    adding_replicas: list[int] | None
    leader_recovery_state: int
    directories: list[UUID] | None
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: UUID = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[UUID] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> PartitionChangeRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iu.pack(self.partition_id, self.topic_id.bytes))
        known: list[tuple[int, bytes]] = []
        if self.isr is not None:
            known.append((0, encode_compact_numbers(self.isr, "i")))
        if self.leader != -2:
            known.append((1, _i.pack(self.leader)))
        if self.replicas is not None:
            known.append((2, encode_compact_numbers(self.replicas, "i")))
        if self.removing_replicas is not None:
            known.append((3, encode_compact_numbers(self.removing_replicas, "i")))
        if self.adding_replicas is not None:
            known.append((4, encode_compact_numbers(self.adding_replicas, "i")))
        if self.leader_recovery_state != -1:
            known.append((5, _b.pack(self.leader_recovery_state)))
        if version >= 2:
            if self.eligible_leader_replicas is not None:
                known.append((6, encode_compact_numbers(self.eligible_leader_replicas, "i")))
        elif self.eligible_leader_replicas is not None:
            raise not_carried(self, "eligible_leader_replicas", version)
        if version >= 2:
            if self.last_known_elr is not None:
                known.append((7, encode_compact_numbers(self.last_known_elr, "i")))
        elif self.last_known_elr is not None:
            raise not_carried(self, "last_known_elr", version)
        if version >= 1:
            if self.directories is not None:
                known.append((8, encode_compact_uuids(self.directories)))
        elif self.directories is not None:
            raise not_carried(self, "directories", version)
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PartitionChangeRecord, int]:
        partition_id, topic_id = _iu.unpack_from(buffer, position)
        position += 20
        topic_id = uuid_of(topic_id)
        isr: list[int] | None = None
        leader = -2
        replicas: list[int] | None = None
        removing_replicas: list[int] | None = None
        adding_replicas: list[int] | None = None
        leader_recovery_state = -1
        directories: list[UUID] | None = None
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
                    isr, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 1:
                    (leader,) = _i.unpack_from(buffer, position)
                    position += 4
                elif tag == 2:
                    replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 3:
                    removing_replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 4:
                    adding_replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 5:
                    (leader_recovery_state,) = _b.unpack_from(buffer, position)
                    position += 1
                elif tag == 8 and version >= 1:
                    directories, position = read_compact_nullable_uuids(buffer, position)
                elif tag == 6 and version >= 2:
                    eligible_leader_replicas, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                elif tag == 7 and version >= 2:
                    last_known_elr, position = read_compact_nullable_numbers(buffer, position, "i", 4)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return PartitionChangeRecord(
            partition_id, topic_id, isr, leader, replicas, removing_replicas, adding_replicas,
            leader_recovery_state, directories, eligible_leader_replicas, last_known_elr, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PartitionChangeRecord",
]
