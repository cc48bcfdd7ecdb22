"""RemotePartitionDeleteMetadataRecord.

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
    encode_compact_string,
    read_compact_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    NOT_GIVEN,
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_ui = Struct(">16si")
_iqb = Struct(">iqb")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class TopicIdPartitionEntry:
    """TopicIdPartitionEntry, version 0."""

    __slots__ = ("name", "id", "partition", "unknown_tags")

    name: str
    id: UUID
    partition: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        id: UUID = ZERO_UUID,
        partition: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_ui.pack(self.id.bytes, self.partition))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[TopicIdPartitionEntry, int]:
        name, position = read_compact_string(buffer, position)
        id, partition = _ui.unpack_from(buffer, position)
        position += 20
        id = uuid_of(id)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return TopicIdPartitionEntry(name, id, partition, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.name or self.id != ZERO_UUID or self.partition != 0 or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class RemotePartitionDeleteMetadataRecord:
    """RemotePartitionDeleteMetadataRecord, version 0."""

    __slots__ = (
        "topic_id_partition", "broker_id", "event_timestamp_ms", "remote_partition_delete_state",
        "unknown_tags",
    )

    topic_id_partition: TopicIdPartitionEntry
    broker_id: int
    event_timestamp_ms: int
    remote_partition_delete_state: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topic_id_partition: TopicIdPartitionEntry = NOT_GIVEN,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is NOT_GIVEN else topic_id_partition
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.remote_partition_delete_state = remote_partition_delete_state
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> RemotePartitionDeleteMetadataRecord:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        self.topic_id_partition._write(out, version)
        append(_iqb.pack(self.broker_id, self.event_timestamp_ms, self.remote_partition_delete_state))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[RemotePartitionDeleteMetadataRecord, int]:
        topic_id_partition, position = TopicIdPartitionEntry._read(buffer, position, version)
        broker_id, event_timestamp_ms, remote_partition_delete_state = _iqb.unpack_from(buffer, position)
        position += 13
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return RemotePartitionDeleteMetadataRecord(
            topic_id_partition, broker_id, event_timestamp_ms, remote_partition_delete_state, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "RemotePartitionDeleteMetadataRecord",
    "TopicIdPartitionEntry",
]
