"""Partitions changing hands on the user's side: telling the listener, committing before they go, and the subscription
that follows.

Used by both group protocols inside ``process``, so its operations run on the reactor thread and the listener where the
caller is. A poll may be given up at any wait (time-out, Ctrl-C): each step is remembered when it begins, so the next
poll goes on where this one stopped and tells the listener nothing twice. The subscription's lock is never held while
waiting: the listener may commit, seek or pause.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any

from pykclient.client.engine import Operation, invoke, now, wait
from pykclient.consumer.membership import GroupContext
from pykclient.errors import KafkaError, KafkaTimeoutError
from pykclient.net.completion import Completion
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

COMMIT_PATIENCE_S = 10.0


class Handover:
    """Gives partitions up and takes them, one consumer's side of every rebalance."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context
        self._told_revoked: set[TopicPartition] = set()
        self._to_announce: list[TopicPartition] | None = None
        self._committing: Completion[None] | None = None
        self._losing = False
        self._told_lost = False
        self._paused: set[TopicPartition] = set()

    # ---- on the reactor thread, any time ----

    def owned(self) -> set[TopicPartition]:
        """What is assigned now, including what is being given up."""
        subscription = self._context.subscription
        with subscription.lock:
            return set(subscription.partitions)

    def topics(self) -> frozenset[str]:
        """What is subscribed to now."""
        subscription = self._context.subscription
        with subscription.lock:
            return subscription.topics

    def mark_revoking(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Read no more from these (None: from all); they go when the user polls next."""
        subscription = self._context.subscription
        with subscription.lock:
            for tp in list(subscription.partitions) if partitions is None else partitions:
                state = subscription.partitions.get(tp)
                if state is not None:
                    state.revoking = True

    def lose_all(self) -> None:
        """Others may own our partitions already: nothing more is read, and the listener hears of it in the next
        poll."""
        if self.owned():
            self._losing = True
            self.mark_revoking()
        self._to_announce = None

    @property
    def pending(self) -> bool:
        """Whether the listener is to be told something before anything else happens."""
        return self._losing or self._to_announce is not None

    # ---- operations, inside process() ----

    def settle(self) -> Operation[None]:
        """Tell the listener what is already a fact: partitions lost, or partitions assigned."""
        if self._losing:
            yield from self._tell_lost()
        if self._to_announce is not None:
            yield from self._announce()

    def _tell_lost(self) -> Operation[None]:
        gone = sorted(self.owned())
        listener = self._context.listener
        # Java's listeners fall back to "revoked" where they have no "lost"; so may ours.
        lost = getattr(listener, "on_partitions_lost", None) or getattr(listener, "on_partitions_revoked", None)

        def began() -> None:
            self._told_lost = True

        try:
            if gone and not self._told_lost:
                yield from self._invoke(lost, gone, began)
        except Exception:
            self._lost(gone)
            raise
        self._lost(gone)

    def _lost(self, gone: list[TopicPartition]) -> None:
        self._losing = self._told_lost = False
        self._forget(gone)

    def give_up(self, partitions: Collection[TopicPartition]) -> Operation[None]:
        """Commit what was consumed, tell the listener while they still are ours, then let go."""
        going = sorted(set(partitions) & self.owned())
        if not going:
            return
        self.mark_revoking(going)
        if not self._told_revoked.issuperset(going):
            yield from self._commit()
        told = [tp for tp in going if tp not in self._told_revoked]
        try:
            if told:
                listener = getattr(self._context.listener, "on_partitions_revoked", None)
                yield from self._invoke(listener, told, lambda: self._told_revoked.update(told))
        except Exception:
            self._forget(going)
            raise
        self._forget(going)

    def _commit(self) -> Operation[None]:
        """Runs beside the poll that waits for it: short polls must not start the commit over and over."""
        if self._committing is None:
            self._committing = done = Completion[None]()
            self._context.spawn(self._commit_and_tell(done))
        began_at = yield from now()
        patience_s = min(COMMIT_PATIENCE_S, self._context.config.max_poll_interval_ms / 2000)
        try:
            yield from wait(self._committing, began_at + patience_s)
        except KafkaTimeoutError:
            # The partitions go in any case; what was not committed is read again by their next owner.
            logger.warning("%s: offsets are not committed yet, and a rebalance waits", self._context.client_id)

    def _commit_and_tell(self, done: Completion[None]) -> Operation[None]:
        try:
            yield from self._context.commit_before_revoke()
        except KafkaError as error:
            logger.warning("%s: offsets could not be committed before a rebalance: %s", self._context.client_id, error)
        finally:
            if not done.done:
                done.succeed(None)

    def take(self, partitions: Collection[TopicPartition]) -> Operation[None]:
        """They are ours from now on; the listener is told all of the new ones, even when there are none."""
        subscription = self._context.subscription
        with subscription.lock:
            coming = sorted(set(partitions) - set(subscription.partitions))
            subscription.add(coming)
            for tp in coming:
                subscription.partitions[tp].paused = tp in self._paused
            for tp in partitions:
                subscription.partitions[tp].revoking = False
        self._paused.clear()
        self._to_announce = coming
        yield from self._announce()

    def _announce(self) -> Operation[None]:
        coming = self._to_announce
        assert coming is not None, "something to announce"

        def began() -> None:
            self._to_announce = None

        yield from self._invoke(getattr(self._context.listener, "on_partitions_assigned", None), coming, began)

    def _invoke(
        self,
        listener: Callable[[list[TopicPartition]], Any] | None,
        partitions: list[TopicPartition],
        began: Callable[[], object],
    ) -> Operation[None]:
        if listener is None:
            began()
            return

        def tell() -> Any:
            began()
            return listener(list(partitions))

        yield from invoke(tell)

    def _forget(self, partitions: Collection[TopicPartition]) -> None:
        subscription = self._context.subscription
        with subscription.lock:
            # pause() is the user's wish for the partition; one that comes straight back is still paused.
            held = subscription.partitions
            self._paused |= {tp for tp in partitions if tp in held and held[tp].paused}
            subscription.remove(partitions)
        self._told_revoked.difference_update(partitions)
        self._committing = None


__all__ = ["Handover"]
