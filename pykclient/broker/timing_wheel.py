"""A hierarchical timing wheel: adding, cancelling and expiring a timer cost the same however many there are.

Wheels of growing tick, an overflow wheel made on demand, and one delay queue (a heap) that holds buckets, never
timers. Owned by the broker node's thread, which calls ``advance(now)`` when ``next_expiry()`` has passed. It must
never read a clock, and never fire a timer early: a timer fires at the first tick at or after its deadline.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

_US_PER_S = 1_000_000
DELAY_S_MAX = 100 * 366 * 86_400.0
"""Longer delays (a client may send 2^31-1 ms, a config 2^63-1 ms) are cut to this, which nobody will see expire."""


class Timer:
    """One scheduled call. ``pending`` until it has fired or was cancelled."""

    __slots__ = ("_bucket", "_tick", "action", "pending")

    def __init__(self, tick: int, action: Callable[[float], None]) -> None:
        self._tick = tick
        self._bucket: _Bucket | None = None
        self.action = action
        self.pending = True


class _Bucket:
    """The timers of one slot. ``tick`` is when it is due; None while it is not in the delay queue."""

    __slots__ = ("tick", "timers")

    def __init__(self) -> None:
        self.tick: int | None = None
        self.timers: dict[Timer, None] = {}


class TimingWheel:
    """Timers by delay. Times are monotonic seconds; inside, whole microseconds and ticks, so that no rounding can
    lose or repeat one."""

    def __init__(self, start: float = 0.0, *, tick_s: float = 0.001, slots_log2: int = 6) -> None:
        assert tick_s >= 1e-6
        assert 1 <= slots_log2 <= 16
        self._tick_us = round(tick_s * _US_PER_S)
        self._slots_log2 = slots_log2
        self._slot_count = 1 << slots_log2
        self._now = start
        self._now_us = round(start * _US_PER_S)
        self._clock = self._now_us // self._tick_us
        self._wheels: list[list[_Bucket]] = []
        # (tick, -level, order, bucket): for one tick the coarser wheel comes first, so that it has cascaded before
        # the finer one fires.
        self._queue: list[tuple[int, int, int, _Bucket]] = []
        self._order = 0
        self._due: deque[Timer] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def now(self) -> float:
        """The time of the last ``advance``; delays count from it."""
        return self._now

    @property
    def wheel_count(self) -> int:
        """How many wheels exist; overflow wheels appear only when a delay needs them."""
        return len(self._wheels)

    def add(self, delay_s: float, action: Callable[[float], None]) -> Timer:
        """Call ``action(now)`` once, ``delay_s`` after the last ``advance``; never from inside this call, even when
        the delay is zero."""
        delay_us = round(min(max(delay_s, 0.0), DELAY_S_MAX) * _US_PER_S)
        deadline_tick = -(-(self._now_us + delay_us) // self._tick_us)
        timer = Timer(max(deadline_tick, self._clock + 1), action)
        self._count += 1
        self._place(timer)
        return timer

    def cancel(self, timer: Timer) -> bool:
        """True when it was pending and will not fire now."""
        if not timer.pending:
            return False
        timer.pending = False
        self._count -= 1
        if timer._bucket is not None:
            del timer._bucket.timers[timer]
            timer._bucket = None
        return True

    def next_expiry(self) -> float | None:
        """When ``advance`` has work again: a timer fires, or a coarse bucket spreads over the finer wheel. None when
        there are no timers."""
        if self._due:
            return self._now
        queue = self._queue
        while queue and not queue[0][3].timers:
            heapq.heappop(queue)[3].tick = None  # all its timers were cancelled
        return queue[0][0] * self._tick_us / _US_PER_S if queue else None

    def advance(self, now: float) -> int:
        """Move time forward and fire what is due, in order of deadline; returns how many fired. Time going back is
        ignored."""
        if now > self._now:
            self._now = now
            self._now_us = round(now * _US_PER_S)
            self._collect(self._now_us // self._tick_us)
        fired = 0
        due = self._due
        while due:
            timer = due.popleft()
            if timer.pending:
                timer.pending = False
                self._count -= 1
                fired += 1
                timer.action(now)
        return fired

    def _collect(self, until_tick: int) -> None:
        """Empty every bucket up to a tick into the due list or into finer wheels, without calling anything yet."""
        queue = self._queue
        while queue and queue[0][0] <= until_tick:
            tick, _, _, bucket = heapq.heappop(queue)
            self._clock = max(self._clock, tick)
            timers, bucket.timers, bucket.tick = bucket.timers, {}, None
            for timer in timers:
                if timer._tick <= tick:
                    timer._bucket = None
                    self._due.append(timer)
                else:
                    self._place(timer)
        self._clock = max(self._clock, until_tick)

    def _place(self, timer: Timer) -> None:
        """Into the finest wheel whose span covers its deadline."""
        level, shift, tick, clock = 0, 0, timer._tick, self._clock
        while (tick >> shift) - (clock >> shift) >= self._slot_count:
            level += 1
            shift += self._slots_log2
        while level >= len(self._wheels):
            self._wheels.append([_Bucket() for _ in range(self._slot_count)])
        position = tick >> shift
        bucket = self._wheels[level][position & (self._slot_count - 1)]
        bucket.timers[timer] = None
        timer._bucket = bucket
        if bucket.tick is None:
            bucket.tick = position << shift
            self._order += 1
            heapq.heappush(self._queue, (bucket.tick, -level, self._order, bucket))


class WheelTimers:
    """The ``Timers`` that coordinators use: one timer per key, scheduling again replaces it."""

    def __init__(self, wheel: TimingWheel) -> None:
        self._wheel = wheel
        self._timers: dict[object, Timer] = {}

    def __len__(self) -> int:
        return len(self._timers)

    def schedule(self, key: object, delay_s: float, action: Callable[[float], None]) -> None:
        """Call ``action(now)`` after ``delay_s``, instead of what the key had."""
        self.cancel(key)

        def fire(now: float) -> None:
            del self._timers[key]
            action(now)

        self._timers[key] = self._wheel.add(delay_s, fire)

    def cancel(self, key: object) -> None:
        """Forget it; unknown keys are fine."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            self._wheel.cancel(timer)


__all__ = ["DELAY_S_MAX", "Timer", "TimingWheel", "WheelTimers"]
