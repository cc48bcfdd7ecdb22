"""What the accumulator is made of: the queues, what it asks of others, what it answers. Plain data; the accumulator's
lock guards it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from pykclient.producer.batch import ProducerBatch
from pykclient.producer.partitioners import Partitions, StickyPartition
from pykclient.types import TopicPartition


@dataclass(frozen=True, slots=True)
class AccumulatorSettings:
    """What the accumulator takes from the producer's configuration, in seconds and bytes."""

    batch_bytes: int
    linger_s: float
    buffer_bytes: int
    delivery_timeout_s: float
    retry_backoff_s: float
    retry_backoff_max_s: float
    max_block_s: float = 60.0
    compressed: bool = False
    adaptive: bool = True
    availability_timeout_s: float = 0.0


class Sequencer(Protocol):
    """What the accumulator asks of idempotence (transactions.py): may this batch leave now, and which sequence does it
    get."""

    def may_drain(self, batch: ProducerBatch) -> bool:
        """False holds the partition back: no producer id yet, not part of the transaction yet, or an earlier batch is
        unresolved."""
        ...

    def assign(self, batch: ProducerBatch) -> None:
        """Give the batch producer id, epoch and sequence if it has none, and note it as in flight."""
        ...

    @property
    def completing(self) -> bool:
        """A transaction is being committed or aborted: nothing lingers."""
        ...


class Leaders(Protocol):
    """What the accumulator asks of the cluster view."""

    def leader(self, topic_partition: TopicPartition) -> tuple[int, int] | None:
        """(node id, leader epoch), or None while there is no leader."""
        ...


@dataclass(slots=True, eq=False)
class PartitionQueue:
    """The batches of one partition in the order they must leave. Only the last one takes records."""

    topic_partition: TopicPartition
    batches: deque[ProducerBatch] = field(default_factory=deque)
    muted: bool = False
    held: bool = False
    """Its leader has all the requests it may have at once. The next answer makes the Sender look again, so new batches
    need not."""
    last_leader_epoch: int = -1


@dataclass(slots=True, eq=False)
class TopicQueues:
    """A topic's queues, its sticky partition and its compression ratio as last seen."""

    topic: str
    partitions: Partitions
    sticky: StickyPartition
    queues: dict[int, PartitionQueue] = field(default_factory=dict)
    compression_ratio: float = 1.0
    lane: list[ProducerBatch | None] = field(default_factory=list)
    """Where records go at once (see ``pure_batches.append_direct``): the batch for those without a key, then one per
    partition. They may be closed; then look again."""

    def queue(self, partition: int) -> PartitionQueue:
        """The partition's queue, made on first use."""
        queue = self.queues.get(partition)
        if queue is None:
            queue = self.queues[partition] = PartitionQueue(TopicPartition(self.topic, partition))
        return queue


@dataclass(frozen=True, slots=True)
class Ready:
    """Which nodes have something to take now, when to look again, which topics have records but no leader, and when the
    oldest batch of all expires."""

    nodes: set[int]
    wake_at: float
    leaderless_topics: set[str]
    expires_at: float


def settled(batch: ProducerBatch) -> bool:
    if batch.children is not None:
        return all(settled(child) for _, child in batch.children)
    return batch.delivery is not None


def precedes(queued: ProducerBatch, batch: ProducerBatch) -> bool:
    """Whether a queued batch must leave before this one. Sequences wrap, so the sign of the distance decides, not the
    size."""
    return queued.has_sequence and ((batch.base_sequence - queued.base_sequence) & 0x7FFFFFFF) < 0x40000000
