"""The older sticky choice (KIP-480) put to work: one partition until its batch is done with, then another at random.

Runs on the sending threads. Looks at the accumulator's queues without its lock: a stale look costs at most one batch
that is a record smaller or larger than it might be, never a record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykclient.producer.partitioners import Partitions, Random, UniformStickyPartition
from pykclient.producer.queues import TopicQueues
from pykclient.protocol import batch_builder


def uniform_sticky(
    random: Random, queues_of: Callable[[str], TopicQueues | None]
) -> Callable[[str, Any, bytes | None, Any, bytes | None, Partitions], int]:
    """Keys play no part, as in Java's UniformStickyPartitioner."""
    chosen: dict[str, UniformStickyPartition] = {}

    def partition(
        topic: str, key: Any, key_bytes: bytes | None, value: Any, value_bytes: bytes | None, partitions: Partitions
    ) -> int:
        sticky = chosen.get(topic)
        if sticky is None:
            sticky = chosen[topic] = UniformStickyPartition(random)
        elif _done_with(queues_of(topic), sticky.current, key_bytes, value_bytes):
            sticky.new_batch(partitions)
        return sticky.choose(partitions)

    return partition


def _done_with(queues: TopicQueues | None, partition: int, key: bytes | None, value: bytes | None) -> bool:
    """Whether the next record would open another batch there: the last one was taken by the Sender, or is full."""
    queue = None if queues is None else queues.queues.get(partition)
    if queue is None:
        return False
    try:
        batch = queue.batches[-1]
    except IndexError:
        return True
    return not batch.open or batch.size_bytes + batch_builder.size_upper_bound(key, value, None) > batch.limit


__all__ = ["uniform_sticky"]
