"""Numbers about a client, under the Java client's group and metric names where one fits.

Written by the reactor thread (and, for counters, by whoever owns the event); read by any thread through ``snapshot``.
Cheap where it is hot:
a sample is a few additions, windows roll by an argument and not by a clock, percentiles are made only when asked for.
Holds numbers and names only, never data or secrets.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

# Java's defaults: metrics.num.samples and metrics.sample.window.ms.
WINDOWS = 2
WINDOW_S = 30.0


class MetricName(NamedTuple):
    """``producer-metrics``, ``record-send-rate``, and tags such as ``topic=orders``."""

    group: str
    name: str
    tags: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        tags = "".join(f",{key}={value}" for key, value in self.tags)
        return f"{self.group}:{self.name}{tags}"


class Counter:
    """Only grows."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0.0

    def add(self, amount: float = 1.0) -> None:
        """Count."""
        self.total += amount

    def values(self, now: float) -> dict[str, float]:
        """``-total``."""
        return {"-total": self.total}


class Gauge:
    """Read when asked."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    def values(self, now: float) -> dict[str, float]:
        """Just the value."""
        return {"": self._read()}


class _Window:
    __slots__ = ("count", "maximum", "started_at", "total")

    def __init__(self, started_at: float) -> None:
        self.started_at = started_at
        self.count = 0
        self.total = 0.0
        self.maximum = -math.inf


class Sampled:
    """Samples over the last windows: rate of what was recorded, average and maximum of it, and the total since the
    start."""

    __slots__ = ("_kinds", "_windows", "count", "total")

    def __init__(self, kinds: tuple[str, ...] = ("rate", "total")) -> None:
        self.total = 0.0
        self.count = 0
        self._kinds = kinds
        self._windows: list[_Window] = []

    def record(self, value: float, now: float) -> None:
        """One sample."""
        windows = self._windows
        if not windows or now - windows[-1].started_at >= WINDOW_S:
            windows.append(_Window(now))
            del windows[:-WINDOWS]
        window = windows[-1]
        window.count += 1
        window.total += value
        if value > window.maximum:
            window.maximum = value
        self.total += value
        self.count += 1

    def values(self, now: float) -> dict[str, float]:
        """The kinds asked for at registration, as name suffixes."""
        live = [window for window in self._windows if now - window.started_at < WINDOWS * WINDOW_S]
        count = sum(window.count for window in live)
        total = sum(window.total for window in live)
        # As Java: less than one whole window counts as one, so that the first sample is not an infinite rate.
        elapsed = max(now - live[0].started_at, WINDOW_S * (WINDOWS - 1)) if live else WINDOW_S
        known = {
            "rate": total / elapsed,
            "count-rate": count / elapsed,
            "avg": total / count if count else math.nan,
            "max": max((window.maximum for window in live), default=math.nan),
            "total": self.total,
            "count": float(self.count),
        }
        return {f"-{kind}": known[kind] for kind in self._kinds}


class Histogram:
    """Percentiles from buckets that grow by a tenth: 200 integers cover a microsecond to an hour within 10 percent."""

    __slots__ = ("_bounds", "_counts", "_percentiles", "count", "maximum")

    def __init__(self, percentiles: tuple[float, ...] = (50.0, 99.0, 99.9), *, smallest: float = 1e-6) -> None:
        self._percentiles = percentiles
        self._bounds = [smallest * 1.1**power for power in range(235)]
        self._counts = [0] * (len(self._bounds) + 1)
        self.count = 0
        self.maximum = 0.0

    def record(self, value: float, now: float = 0.0) -> None:
        """One sample."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.count += 1
        if value > self.maximum:
            self.maximum = value

    def percentile(self, percent: float) -> float:
        """The upper end of the bucket that holds it, never above the largest sample; NaN without samples."""
        if not self.count:
            return math.nan
        wanted = math.ceil(self.count * percent / 100)
        seen = 0
        for index, count in enumerate(self._counts):
            seen += count
            if seen >= wanted and count:
                return min(self._bounds[index], self.maximum) if index < len(self._bounds) else self.maximum
        return self.maximum

    def values(self, now: float) -> dict[str, float]:
        """``-p50`` and so on, ``-max``, ``-count``."""
        found = {f"-p{percent:g}": self.percentile(percent) for percent in self._percentiles}
        return {**found, "-max": self.maximum if self.count else math.nan, "-count": float(self.count)}


class _Metric(Protocol):
    def values(self, now: float) -> dict[str, float]: ...


M = TypeVar("M", Counter, Gauge, Sampled, Histogram)

Snapshot: TypeAlias = dict[MetricName, float]


class Metrics:
    """The registry of one client. Asking for a metric twice gives the same one."""

    def __init__(self, client_id: str = "") -> None:
        self._tags = (("client-id", client_id),) if client_id else ()
        self._metrics: dict[MetricName, _Metric] = {}

    def counter(self, group: str, name: str, **tags: str) -> Counter:
        """``name-total``."""
        return self._get(self._name(group, name, tags), Counter, Counter)

    def gauge(self, group: str, name: str, read: Callable[[], float], **tags: str) -> Gauge:
        """``name``, read at each snapshot on the thread that takes it."""
        return self._get(self._name(group, name, tags), Gauge, lambda: Gauge(read))

    def sampled(self, group: str, name: str, kinds: tuple[str, ...] = ("rate", "total"), **tags: str) -> Sampled:
        """``name-rate``, ``name-total``, ``name-avg``, ``name-max`` as ``kinds`` says."""
        return self._get(self._name(group, name, tags), Sampled, lambda: Sampled(kinds))

    def histogram(
        self, group: str, name: str, percentiles: tuple[float, ...] = (50.0, 99.0, 99.9), **tags: str
    ) -> Histogram:
        """``name-p99`` and so on."""
        return self._get(self._name(group, name, tags), Histogram, lambda: Histogram(percentiles))

    def remove(self, **tags: str) -> None:
        """Forget every metric that carries all of these tags (a topic or node that is gone)."""
        wanted = set(_pairs(tags))
        for name in [name for name in list(self._metrics) if wanted <= set(name.tags)]:
            del self._metrics[name]

    def snapshot(self, now: float) -> Snapshot:
        """Every value now. Any thread."""
        found: Snapshot = {}
        for name, metric in list(self._metrics.items()):
            for suffix, value in metric.values(now).items():
                found[name._replace(name=name.name + suffix)] = value
        return found

    def _name(self, group: str, name: str, tags: dict[str, str]) -> MetricName:
        return MetricName(group, name, self._tags + _pairs(tags))

    def _get(self, name: MetricName, kind: type[M], make: Callable[[], M]) -> M:
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = make()
        assert isinstance(metric, kind), f"{name} is a {type(metric).__name__}"
        return metric


def _pairs(tags: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((key.replace("_", "-"), value) for key, value in sorted(tags.items()))


__all__ = ["Counter", "Gauge", "Histogram", "MetricName", "Metrics", "Sampled", "Snapshot"]
