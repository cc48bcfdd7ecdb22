"""A consumer without a group reads every partition of its topics: no coordinator, no commits, no rebalances.

Satisfies ``Membership``, so that the facade needs no second path. Reactor thread.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from pykclient.client.engine import Operation, Poll, invoke
from pykclient.consumer.membership import GroupContext
from pykclient.consumer.subscription import SubscriptionKind
from pykclient.errors import MaxPollExceeded
from pykclient.types import ConsumerGroupMetadata, TopicPartition


class GrouplessMembership:
    """Follows the cluster: partitions that appear are read as well."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context
        self._seen: tuple[object, int] | None = None

    @property
    def identity(self) -> ConsumerGroupMetadata:
        """There is none."""
        return ConsumerGroupMetadata("")

    @property
    def notices(self) -> Collection[MaxPollExceeded]:
        """Nobody counts."""
        return ()

    def poll(self, now: float) -> Poll:
        """Nothing to send; asks for the user when the partitions of its topics changed."""
        if self.needs_user():
            self._context.attention()
        return Poll()

    def fail(self, error: BaseException) -> None:
        """Nobody waits."""

    def subscription_changed(self) -> None:
        """Look again."""
        self._seen = None

    def _current(self) -> tuple[object, int]:
        return self._context.metadata.cluster, self._context.subscription.version

    def needs_user(self) -> bool:
        """Whether the cluster or the subscription changed since the last look."""
        subscription = self._context.subscription
        if subscription.kind in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
            return False
        seen = self._seen
        current = self._current()
        return seen is None or seen[0] is not current[0] or seen[1] != current[1]

    def process(self) -> Operation[None]:
        """Take up new partitions, let go of deleted ones."""
        self._seen = self._current()
        cluster, subscription = self._context.metadata.cluster, self._context.subscription
        with subscription.lock:
            wanted = {
                TopicPartition(topic, index)
                for topic in subscription.topics
                if topic in cluster.topics
                for index in cluster.topics[topic].partitions
            }
            known = set(subscription.partitions)
            subscription.remove(known - wanted)
            subscription.add(sorted(wanted - known))
        listener = self._context.listener
        # As in a group: a listener need not have every method.
        for name, partitions in (("on_partitions_lost", known - wanted), ("on_partitions_assigned", wanted - known)):
            method = getattr(listener, name, None)
            if partitions and method is not None:
                yield from invoke(partial(method, sorted(partitions)))

    def polled(self, now: float) -> None:
        """Nobody counts."""

    def rejoin(self, reason: str) -> None:
        """There is nothing to rejoin."""

    def lost(self, error: BaseException) -> None:
        """There is nothing to lose."""

    def leave(self, reason: str) -> Operation[None]:
        """Just stop reading."""
        yield from ()  # an operation, though it never waits
        with self._context.subscription.lock:
            self._context.subscription.remove(list(self._context.subscription.partitions))


__all__ = ["GrouplessMembership"]
