"""Says when reading stands still behind a transaction that does not end. A manager on the reactor thread.

With read_committed nothing after the last stable offset is returned. A transaction ends within transaction_timeout_ms,
a minute by default; one that does not (a hanging transaction, KIP-664) holds its partition back for ever, and to the
user it looks like an idle topic. Costs nothing while nobody waits.
"""

from __future__ import annotations

import logging
import math

from pykclient.client.engine import Poll
from pykclient.consumer.subscription import PartitionState, Phase, Subscription
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

# As long as a transaction may be open unless its producer asks for more.
PATIENCE_S = 60.0
LOOK_EVERY_S = 1.0


class OpenTransactions:
    """Watches the last stable offsets that fetches bring."""

    def __init__(self, subscription: Subscription, *, read_committed: bool) -> None:
        self._subscription = subscription
        self._read_committed = read_committed
        self._since: dict[TopicPartition, tuple[int, float]] = {}
        self._look_at = 0.0
        self._wake_at = math.inf

    def poll(self, now: float) -> Poll:
        """See Manager."""
        if not self._read_committed:
            return Poll()
        if now >= self._look_at:
            self._look_at = now + LOOK_EVERY_S
            self._wake_at = self._look(now)
        return Poll(wake_at=self._wake_at)

    def _look(self, now: float) -> float:
        """Note who is held back since when; gives when the next one has waited long enough."""
        wake_at = math.inf
        with self._subscription.lock:
            held = {tp: state for tp, state in self._subscription.partitions.items() if _held_back(state)}
            for tp in self._since.keys() - held.keys():
                del self._since[tp]
            for tp, state in held.items():
                stable = state.last_stable_offset
                assert stable is not None, "it is held back by it"
                offset, since = self._since.setdefault(tp, (stable, now))
                if offset != stable:
                    offset, since = self._since[tp] = (stable, now)
                if now - since >= PATIENCE_S:
                    self._tell(state, now - since)
                    self._since[tp] = (stable, math.inf)  # once for each
                else:
                    wake_at = min(wake_at, since + PATIENCE_S)
        return max(wake_at, self._look_at)

    def _tell(self, state: PartitionState, waited_s: float) -> None:
        logger.warning(
            "%s: waiting at offset %d for %.0f s: a transaction that began there is still open, so with "
            "isolation_level=read_committed nothing up to the high watermark %d can be read; `pykclient txns` shows "
            "whose it is and can abort it",
            state.topic_partition, state.last_stable_offset, waited_s, state.high_watermark,
        )  # fmt: skip

    def fail(self, error: BaseException) -> None:
        """Nobody waits."""


def _held_back(state: PartitionState) -> bool:
    """Everything that may be read has been handed out, and there is more."""
    stable, end, position = state.last_stable_offset, state.high_watermark, state.position
    if stable is None or end is None or position is None or state.phase is not Phase.FETCHING:
        return False
    return stable <= position.offset and stable < end


__all__ = ["PATIENCE_S", "OpenTransactions"]
