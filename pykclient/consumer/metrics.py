"""What a consumer counts, under the names Java gives its metrics. Touched per poll, fetch or heartbeat, never per
record.

Written by the thread that owns the event; read by any (ints and floats, so a reader sees old or new, never torn).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class ConsumerCounts:
    """What has happened since the consumer was made. Times are the client's clock, minus infinity for never."""

    records_total: int = 0
    rebalance_total: int = 0
    rebalanced_at: float = -math.inf
    heartbeat_total: int = 0
    heartbeat_at: float = -math.inf
    polled_at: float = -math.inf

    def rebalanced(self, now: float) -> None:
        """An assignment was taken."""
        self.rebalance_total += 1
        self.rebalanced_at = now

    def heartbeat_answered(self, now: float) -> None:
        """The coordinator knows us."""
        self.heartbeat_total += 1
        self.heartbeat_at = now


__all__ = ["ConsumerCounts"]
