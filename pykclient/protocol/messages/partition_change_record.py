"""PartitionChangeRecord.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate: python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.wire import (
    Buffer,
    ZERO_UUID,
    append_tags,
    check_tag_end,
    encode_compact_count,
    encode_numbers,
    not_carried,
    read_compact_nullable_count,
    read_message,
    read_numbers,
    read_tag,
    read_tag_count,
    read_uuids,
    struct_repr,
    structs_equal,
    uuid_of,
    write_message,
)

_b = Struct(">b")
_i = Struct(">i")
_iu = Struct(">i16s")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PartitionChangeRecord:
    """PartitionChangeRecord, versions 0 to 2."""

    __slots__ = (
        'partition_id',
        'topic_id',
        'isr',
        'leader',
        'replicas',
        'removing_replicas',
        'adding_replicas',
        'leader_recovery_state',
        'directories',
        'eligible_leader_replicas',
        'last_known_elr',
        'unknown_tags',
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
        return write_message(self, version, 0, 2)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> PartitionChangeRecord:
        return read_message("PartitionChangeRecord", cls._read, buffer, position, version, (0, 2))

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iu.pack(self.partition_id, self.topic_id.bytes))
        known: list[tuple[int, bytes]] = []
        if self.isr is not None:
            part: list[Buffer] = []
            part.append(encode_compact_count(self.isr))
            part.append(encode_numbers(self.isr, "i"))
            known.append((0, b"".join(part)))
        if self.leader != -2:
            part: list[Buffer] = []
            part.append(_i.pack(self.leader))
            known.append((1, b"".join(part)))
        if self.replicas is not None:
            part: list[Buffer] = []
            part.append(encode_compact_count(self.replicas))
            part.append(encode_numbers(self.replicas, "i"))
            known.append((2, b"".join(part)))
        if self.removing_replicas is not None:
            part: list[Buffer] = []
            part.append(encode_compact_count(self.removing_replicas))
            part.append(encode_numbers(self.removing_replicas, "i"))
            known.append((3, b"".join(part)))
        if self.adding_replicas is not None:
            part: list[Buffer] = []
            part.append(encode_compact_count(self.adding_replicas))
            part.append(encode_numbers(self.adding_replicas, "i"))
            known.append((4, b"".join(part)))
        if self.leader_recovery_state != -1:
            part: list[Buffer] = []
            part.append(_b.pack(self.leader_recovery_state))
            known.append((5, b"".join(part)))
        if version >= 2:
            if self.eligible_leader_replicas is not None:
                part: list[Buffer] = []
                part.append(encode_compact_count(self.eligible_leader_replicas))
                part.append(encode_numbers(self.eligible_leader_replicas, "i"))
                known.append((6, b"".join(part)))
        else:
            if self.eligible_leader_replicas is not None:
                raise not_carried(self, "eligible_leader_replicas", version)
        if version >= 2:
            if self.last_known_elr is not None:
                part: list[Buffer] = []
                part.append(encode_compact_count(self.last_known_elr))
                part.append(encode_numbers(self.last_known_elr, "i"))
                known.append((7, b"".join(part)))
        else:
            if self.last_known_elr is not None:
                raise not_carried(self, "last_known_elr", version)
        if version >= 1:
            if self.directories is not None:
                part: list[Buffer] = []
                part.append(encode_compact_count(self.directories))
                for item in self.directories:
                    part.append(item.bytes)
                known.append((8, b"".join(part)))
        else:
            if self.directories is not None:
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
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        isr = None
                    else:
                        isr, position = read_numbers(buffer, position, count, "i")
                elif tag == 1:
                    (leader,) = _i.unpack_from(buffer, position)
                    position += 4
                elif tag == 2:
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        replicas = None
                    else:
                        replicas, position = read_numbers(buffer, position, count, "i")
                elif tag == 3:
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        removing_replicas = None
                    else:
                        removing_replicas, position = read_numbers(buffer, position, count, "i")
                elif tag == 4:
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        adding_replicas = None
                    else:
                        adding_replicas, position = read_numbers(buffer, position, count, "i")
                elif tag == 5:
                    (leader_recovery_state,) = _b.unpack_from(buffer, position)
                    position += 1
                elif tag == 8 and version >= 1:
                    count, position = read_compact_nullable_count(buffer, position, 16)
                    if count < 0:
                        directories = None
                    else:
                        directories, position = read_uuids(buffer, position, count)
                elif tag == 6 and version >= 2:
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        eligible_leader_replicas = None
                    else:
                        eligible_leader_replicas, position = read_numbers(buffer, position, count, "i")
                elif tag == 7 and version >= 2:
                    count, position = read_compact_nullable_count(buffer, position, 4)
                    if count < 0:
                        last_known_elr = None
                    else:
                        last_known_elr, position = read_numbers(buffer, position, count, "i")
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    check_tag_end(position, end, tag)
        return PartitionChangeRecord(
            partition_id,
            topic_id,
            isr,
            leader,
            replicas,
            removing_replicas,
            adding_replicas,
            leader_recovery_state,
            directories,
            eligible_leader_replicas,
            last_known_elr,
            tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PartitionChangeRecord",
]
