"""What the next ConsumerGroupHeartbeat says (KIP-848): everything once, then only what changed.

Pure; belongs to one membership on the reactor thread. The rule it keeps: after any failure the broker may or may not
have heard us, so the next heartbeat says everything again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from pykclient.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
_UNCHANGED = -1

PartitionId = tuple[UUID, int]
"""A partition by topic id: a topic made again under its old name is another topic."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All a member has to say about itself."""

    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topics: frozenset[str]
    regex: str | None
    """A pattern for the broker; "" takes one back that was told before."""
    assignor: str | None
    owned: frozenset[PartitionId]


class HeartbeatFields:
    """Remembers what the broker has confirmed to know."""

    def __init__(self) -> None:
        self._known: Facts | None = None

    def forget(self) -> None:
        """It may not know anything."""
        self._known = None

    def confirmed(self, facts: Facts) -> None:
        """It answered a heartbeat that said this."""
        self._known = facts

    def up_to_date(self, facts: Facts) -> bool:
        """Whether there is nothing new to say."""
        return self._known == facts

    def message(self, group_id: str, member_id: str, epoch: int, facts: Facts) -> ConsumerGroupHeartbeatRequest:
        """A heartbeat with what the broker does not know yet."""
        known = None if epoch == JOIN_EPOCH else self._known
        request = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id=member_id,
            member_epoch=epoch,
            instance_id=facts.instance_id,
            rack_id=facts.rack_id if known is None else None,
            rebalance_timeout_ms=facts.rebalance_timeout_ms if known is None else _UNCHANGED,
            subscribed_topic_names=None,
            subscribed_topic_regex=None,
            server_assignor=facts.assignor if known is None else None,
            topic_partitions=None,
        )
        if known is None or known.topics != facts.topics:
            request.subscribed_topic_names = sorted(facts.topics)
        if known is None or known.regex != facts.regex:
            request.subscribed_topic_regex = facts.regex
        if known is None or known.owned != facts.owned:
            request.topic_partitions = rows(facts.owned)
        return request


def rows(partitions: Iterable[PartitionId]) -> list[RequestTopicPartitions]:
    """As the request has them."""
    by_id: dict[UUID, list[int]] = {}
    for topic_id, number in sorted(partitions):
        by_id.setdefault(topic_id, []).append(number)
    return [RequestTopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in by_id.items()]


def partition_ids(assignment: Assignment) -> frozenset[PartitionId]:
    """What an answer assigns."""
    return frozenset((row.topic_id, number) for row in assignment.topic_partitions for number in row.partitions)


def topic_ids(partitions: Collection[PartitionId]) -> set[UUID]:
    """The topics of these."""
    return {topic_id for topic_id, _ in partitions}


__all__ = [
    "JOIN_EPOCH",
    "LEAVE_EPOCH",
    "STATIC_LEAVE_EPOCH",
    "Facts",
    "HeartbeatFields",
    "PartitionId",
    "partition_ids",
    "topic_ids",
]
