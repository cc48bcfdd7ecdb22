"""Automatic commits: every auto_commit_interval_ms, what the user has come back from. A manager on the reactor thread.

A record is committed only after the next poll (or step of the iteration) asked for more; a crash in between brings it
again, never loses it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from pykclient.client.engine import Operation, Poll
from pykclient.config import ConsumerConfig
from pykclient.consumer.offsets import Offsets
from pykclient.consumer.subscription import Subscription, SubscriptionKind
from pykclient.errors import KafkaError
from pykclient.types import OffsetAndMetadata, TopicPartition

logger = logging.getLogger(__name__)


class AutoCommit:
    """Commits in the background, one commit at a time."""

    def __init__(
        self,
        config: ConsumerConfig,
        subscription: Subscription,
        offsets: Offsets,
        spawn: Callable[[Operation[None]], object],
        consumed: Callable[[], dict[TopicPartition, OffsetAndMetadata]],
    ) -> None:
        self._enabled = config.enable_auto_commit and config.group_id is not None
        self._interval_s = config.auto_commit_interval_ms / 1000
        self._subscription = subscription
        self._offsets = offsets
        self._spawn = spawn
        self._consumed = consumed
        self._due_at = math.inf
        self._busy = False
        self._committed: dict[TopicPartition, OffsetAndMetadata] = {}
        self._started = False
        self.suspended = False
        """process() commits by itself."""
        self.commit_total = 0

    def polled(self) -> None:
        """The user polls: from now on there may be something to commit."""
        self._started = True

    def poll(self, now: float) -> Poll:
        """See Manager."""
        if not self._enabled or self.suspended or not self._started or self._subscription.kind is SubscriptionKind.NONE:
            return Poll()
        if self._due_at == math.inf:
            self._due_at = now + self._interval_s
        if now >= self._due_at and not self._busy:
            self._due_at = now + self._interval_s
            offsets = {tp: offset for tp, offset in self._consumed().items() if self._committed.get(tp) != offset}
            if offsets:
                self._busy = True
                self._spawn(self._commit(offsets))
        # A commit under way is past due soon; asking to be woken at once until it ends would spin. Its end is an event.
        return Poll(wake_at=math.inf if self._busy else self._due_at)

    def fail(self, error: BaseException) -> None:
        """Nobody waits."""

    def _commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> Operation[None]:
        try:
            yield from self._offsets.commit(offsets)
            self._committed.update(offsets)
            self.commit_total += 1
        except KafkaError as error:
            # The next interval, or the new owner, goes on from the last commit that succeeded: nothing is lost.
            logger.warning("automatic commit failed: %s", error)
        finally:
            self._busy = False


__all__ = ["AutoCommit"]
