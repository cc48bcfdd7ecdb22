"""The nouns that users hold in their hands. Plain data: no behaviour that needs a client, no I/O.

Layer 0: imports nothing of the package.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")

Headers = list[tuple[str, "bytes | None"]]
"""Record headers: ordered, duplicates kept, a value may be None."""


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetAndMetadata(NamedTuple):
    """A committed position: the offset of the next record to read, with a note and the leader epoch of the record
    before it."""

    offset: int
    metadata: str = ""
    leader_epoch: int | None = None


class OffsetAndTimestamp(NamedTuple):
    """What a look-up by time found: the first offset whose timestamp is at or after the one asked for."""

    offset: int
    timestamp: int
    leader_epoch: int | None = None


class TimestampType(enum.IntEnum):
    """Who set a record's timestamp."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class RecordMetadata(NamedTuple):
    """Where a sent record ended up. ``offset`` is -1 with acks=0."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    serialized_key_size: int
    serialized_value_size: int

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition it was written to."""
        return TopicPartition(self.topic, self.partition)


@dataclass(slots=True)
class ConsumerRecord(Generic[K, V]):
    """One record as read from a partition.

    The native decoder writes these nine slots directly, in this order: change both together (tests/unit/test_accel.py
    fails otherwise).
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since the epoch, -1 when the record carries none."""
    timestamp_type: TimestampType
    key: K
    value: V
    headers: Headers
    leader_epoch: int | None

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition it was read from."""
        return TopicPartition(self.topic, self.partition)


class Node(NamedTuple):
    """A broker as the cluster describes it."""

    id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port} (id {self.id})"


class PartitionInfo(NamedTuple):
    """A partition as the cluster describes it. ``leader`` is None while there is none."""

    topic: str
    partition: int
    leader: Node | None
    replicas: tuple[Node, ...]
    in_sync_replicas: tuple[Node, ...]
    offline_replicas: tuple[Node, ...] = ()


class ConsumerGroupMetadata(NamedTuple):
    """Who a consumer is in its group; given to ``send_offsets_to_transaction`` so that the broker can fence zombies
    (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


__all__ = [
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "Headers",
    "Node",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PartitionInfo",
    "RecordMetadata",
    "TimestampType",
    "TopicPartition",
]
