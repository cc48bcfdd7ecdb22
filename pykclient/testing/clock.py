"""Time under a test's control. See ``AdjustableClock``: real time that can be pushed, or time that stands still."""

from __future__ import annotations

from pykclient.broker.clock import AdjustableClock
from pykclient.net.reactor import SystemClock


def running_clock() -> AdjustableClock:
    """Real time; ``advance(seconds)`` jumps ahead."""
    return AdjustableClock(SystemClock())


def frozen_clock() -> AdjustableClock:
    """Time that moves by ``advance(seconds)`` only. Clients keep their own clocks."""
    return AdjustableClock(SystemClock(), frozen=True)
