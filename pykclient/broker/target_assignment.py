"""The server-side assignors of KIP-848, ``uniform`` and ``range``: from members, subscriptions and the target before
to the next target.

Pure functions. ``uniform`` is balanced within one partition where all subscribe alike and moves as little as
possible; ``range`` gives each member a contiguous piece of every topic, the same piece of topics with the same number
of partitions, so that joins by key line up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from pykclient.broker.kip848_group import Partition


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A member as an assignor sees it. ``previous`` is its target so far."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[UUID]
    previous: frozenset[Partition] = frozenset()


Assignor = Callable[[list[Subscriber], Mapping[UUID, int]], dict[str, frozenset[Partition]]]
"""(members, partition count by topic) -> partitions by member id; every member has an entry."""


def assign_range(
    subscribers: list[Subscriber], partition_counts: Mapping[UUID, int]
) -> dict[str, frozenset[Partition]]:
    """Contiguous pieces per topic, in the order of the instance ids and then of the member ids."""
    result: dict[str, set[Partition]] = {subscriber.member_id: set() for subscriber in subscribers}
    in_order = sorted(subscribers, key=_static_first)
    for topic_id, count in partition_counts.items():
        takers = [subscriber for subscriber in in_order if topic_id in subscriber.topic_ids]
        if not takers:
            continue
        share, extra = divmod(count, len(takers))
        start = 0
        for position, taker in enumerate(takers):
            end = start + share + (position < extra)
            result[taker.member_id].update((topic_id, index) for index in range(start, end))
            start = end
    return {member_id: frozenset(partitions) for member_id, partitions in result.items()}


def _static_first(subscriber: Subscriber) -> tuple[bool, str]:
    return (subscriber.instance_id is None, subscriber.instance_id or subscriber.member_id)


def assign_uniform(
    subscribers: list[Subscriber], partition_counts: Mapping[UUID, int]
) -> dict[str, frozenset[Partition]]:
    """Balanced and sticky."""
    if not subscribers:
        return {}
    alike = all(subscriber.topic_ids == subscribers[0].topic_ids for subscriber in subscribers)
    return (_uniform_alike if alike else _uniform_mixed)(subscribers, partition_counts)


def _uniform_alike(
    subscribers: list[Subscriber], partition_counts: Mapping[UUID, int]
) -> dict[str, frozenset[Partition]]:
    """All subscribe to the same topics: fixed quotas, everybody keeps what fits, the rest is dealt out."""
    topic_ids = subscribers[0].topic_ids
    everything = {
        (topic_id, index)
        for topic_id, count in partition_counts.items()
        if topic_id in topic_ids
        for index in range(count)
    }
    quota, extra = divmod(len(everything), len(subscribers))
    # Those that have most keep most: the members with quota + 1 are chosen where that saves a move.
    by_load = sorted(subscribers, key=lambda subscriber: (-len(subscriber.previous & everything), subscriber.member_id))
    result: dict[str, set[Partition]] = {}
    free = set(everything)
    for position, subscriber in enumerate(by_load):
        size = quota + (position < extra)
        kept = set(sorted(subscriber.previous & free)[:size])
        result[subscriber.member_id] = kept
        free -= kept
    left = sorted(free, reverse=True)
    for position, subscriber in enumerate(by_load):
        size = quota + (position < extra)
        mine = result[subscriber.member_id]
        while len(mine) < size:
            mine.add(left.pop())
    return {member_id: frozenset(partitions) for member_id, partitions in result.items()}


def _uniform_mixed(
    subscribers: list[Subscriber], partition_counts: Mapping[UUID, int]
) -> dict[str, frozenset[Partition]]:
    """Subscriptions differ: keep what is still wanted, deal the rest to the least loaded, then move while one move
    helps.
    """
    takers = {
        topic_id: [subscriber.member_id for subscriber in subscribers if topic_id in subscriber.topic_ids]
        for topic_id in partition_counts
    }
    result: dict[str, set[Partition]] = {}
    owner: dict[Partition, str] = {}
    for subscriber in subscribers:
        mine = {
            partition
            for partition in subscriber.previous
            if partition[0] in subscriber.topic_ids
            and partition[1] < partition_counts.get(partition[0], 0)
            and partition not in owner
        }
        result[subscriber.member_id] = mine
        owner.update(dict.fromkeys(mine, subscriber.member_id))

    def least_loaded(topic_id: UUID) -> str:
        return min(takers[topic_id], key=lambda member_id: (len(result[member_id]), member_id))

    # Topics with few takers first: they have the least choice.
    for topic_id in sorted(partition_counts, key=lambda topic_id: (len(takers[topic_id]), topic_id)):
        for index in range(partition_counts[topic_id]):
            if takers[topic_id] and (topic_id, index) not in owner:
                member_id = least_loaded(topic_id)
                result[member_id].add((topic_id, index))
                owner[(topic_id, index)] = member_id
    moved = True
    while moved:
        moved = False
        for partition, member_id in sorted(owner.items()):
            to = least_loaded(partition[0])
            # Each move makes the sum of squared loads smaller, so this ends.
            if len(result[member_id]) - len(result[to]) >= 2:
                result[member_id].discard(partition)
                result[to].add(partition)
                owner[partition] = to
                moved = True
    return {member_id: frozenset(partitions) for member_id, partitions in result.items()}


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
