"""Numbers about a client, under the Java client's metric names where one fits.

``metrics()`` of a client is one flat dict of names and numbers, made when it is asked for; what belongs to a partition
carries it in braces, ``records-lag{topic="orders",partition="0"}``, the way Prometheus writes it. Counted by whoever
owns the event, read by any thread (ints and floats: old or new, never torn). Holds numbers and names only, never data
or secrets.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from pykclient.net.network_client import NetworkClient

NEVER = -1.0
"""For "seconds ago" of something that has not happened, as in Java."""


def tagged(name: str, **tags: object) -> str:
    """A metric of one thing among several."""
    pairs = (f'{key}="{_escaped(str(value))}"' for key, value in tags.items())
    return f"{name}{{{','.join(pairs)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def seconds_ago(moment: float, now: float) -> float:
    """How long since ``moment``; NEVER for one at infinity."""
    return NEVER if math.isinf(moment) else max(0.0, now - moment)


def network_metrics(network: NetworkClient) -> dict[str, float]:
    """Connections and bytes."""
    return {
        "connection-count": network.connection_count,
        "connection-creation-total": network.connects_total,
        "incoming-byte-total": network.bytes_received_total,
        "outgoing-byte-total": network.bytes_sent_total,
    }


class Histogram:
    """Percentiles from buckets that grow by a tenth: some 200 integers cover a microsecond to an hour within 10 %."""

    __slots__ = ("_bounds", "_counts", "count", "maximum", "total")

    def __init__(self, *, smallest: float = 1e-6) -> None:
        self._bounds = [smallest * 1.1**power for power in range(235)]
        self._counts = [0] * (len(self._bounds) + 1)
        self.count = 0
        self.total = 0.0
        self.maximum = 0.0

    def record(self, value: float) -> None:
        """One sample."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.count += 1
        self.total += value
        if value > self.maximum:
            self.maximum = value

    @property
    def average(self) -> float:
        """Of all samples; 0 without any."""
        return self.total / self.count if self.count else 0.0

    def percentile(self, percent: float) -> float:
        """The upper end of the bucket that holds it, never above the largest sample; 0 without samples."""
        wanted = math.ceil(self.count * percent / 100)
        seen = 0
        for bound, count in zip([*self._bounds, math.inf], self._counts, strict=True):
            seen += count
            if seen >= wanted and count:
                return min(bound, self.maximum)
        return self.maximum


__all__ = ["NEVER", "Histogram", "network_metrics", "seconds_ago", "tagged"]
