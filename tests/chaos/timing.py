"""How long is too long on a machine that does other things too, and how much of a wait was the fault's own.

Bounds are those of a machine at rest. Where the control in the same run (what the cluster itself needed) took longer
than it does at rest, the bound moves by that excess and by no more.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Sequence

BROKER_SESSION_S = 3.0
REPLICA_LAG_S = 3.0
MEMBER_SESSION_MS = 6000


def allowed_s(wanted_s: float, *, control_s: float, control_at_rest_s: float) -> float:
    """The wanted bound, plus what the control exceeded its own by."""
    return wanted_s + max(0.0, control_s - control_at_rest_s)


TRIP_AT_REST_S = 0.015
"""A record's way to the broker and back, with the default linger."""
HOPS = 4
"""After a late answer a record takes two trips (the rest of this one, then its own) of two hops each way through the
proxy, where one that goes round it takes one trip of one."""


def allowed_beyond_delays_s(control_s: float) -> float:
    """What a client may add to answers that are late: 50 ms, and on a busy machine what its hops take longer."""
    return allowed_s(0.050 + TRIP_AT_REST_S, control_s=HOPS * control_s, control_at_rest_s=HOPS * TRIP_AT_REST_S)


def percentile(values: Sequence[float], percent: int) -> float:
    """Of at least two values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


class Spans:
    """A union of intervals of time."""

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        self._begins: list[float] = []
        self._ends: list[float] = []
        for began, ended in sorted(spans):
            if self._ends and began <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], ended)
            else:
                self._begins.append(began)
                self._ends.append(ended)

    def overlap_s(self, began: float, ended: float) -> float:
        """How much of this interval they cover."""
        first = bisect_right(self._ends, began)
        total = 0.0
        for begin, end in zip(self._begins[first:], self._ends[first:], strict=True):
            if begin >= ended:
                break
            total += min(end, ended) - max(begin, began)
        return total
