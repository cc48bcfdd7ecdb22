"""Cost of one timer (add, cancel, expire) as their number grows; it must stay flat, where a heap of timers grows with
log n.

Run: python benchmarks/timing_wheel.py
"""

from __future__ import annotations

import gc
import heapq
import random
import time

from pykclient.broker.timing_wheel import TimingWheel


def wheel_costs(count: int) -> tuple[float, float, float]:
    """Seconds for adding ``count`` timers, cancelling half of them in random order, and expiring the rest."""
    delays = _delays(count)
    wheel = TimingWheel()
    action = _nothing
    started = time.perf_counter()
    timers = [wheel.add(delay, action) for delay in delays]
    added = time.perf_counter()
    random.Random(2).shuffle(timers)
    shuffled = time.perf_counter()
    for timer in timers[: count // 2]:
        wheel.cancel(timer)
    cancelled = time.perf_counter()
    while (at := wheel.next_expiry()) is not None:
        wheel.advance(at)
    expired = time.perf_counter()
    return added - started, cancelled - shuffled, expired - cancelled


def heap_costs(count: int) -> float:
    """The same adds and pops on a plain heap, for comparison; it has no cancel worth the name."""
    heap: list[tuple[float, int]] = []
    started = time.perf_counter()
    for number, delay in enumerate(_delays(count)):
        heapq.heappush(heap, (delay, number))
    while heap:
        heapq.heappop(heap)
    return time.perf_counter() - started


def _delays(count: int) -> list[float]:
    source = random.Random(1)
    return [source.random() * 60 for _ in range(count)]


def _nothing(now: float) -> None:
    pass


def main() -> None:
    """Print a table of microseconds per operation."""
    gc.disable()  # a million live objects make the collector, not the wheel, the thing measured
    print(f"{'timers':>10} {'add us':>8}{'cancel us':>12}{'expire us':>12}{'heap us':>12}")
    for count in (1_000, 10_000, 100_000, 1_000_000):
        rounds = max(1, 100_000 // count)
        samples = [wheel_costs(count) for _ in range(rounds)]
        add, cancel, expire = (min(sample[i] for sample in samples) for i in range(3))
        heap = min(heap_costs(count) for _ in range(rounds))
        half = count / 2
        figures = (add / count, cancel / half, expire / half, heap / count)
        print(f"{count:>10} {figures[0] * 1e6:8.2f}" + "".join(f"{figure * 1e6:12.2f}" for figure in figures[1:]))
        gc.collect()


if __name__ == "__main__":
    main()
