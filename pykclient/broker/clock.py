"""A clock that tests can push: real time plus what was added, or time that stands still until it is pushed.

Read by every node's thread, pushed by a test's; a float is read and written whole, so there is no lock. Whoever
sleeps by this clock is woken by ``on_advance``.
"""

from __future__ import annotations

from collections.abc import Callable

from pykclient.net.transport import Clock


class AdjustableClock:
    """``AdjustableClock(SystemClock())`` runs and can be advanced; with ``frozen=True`` it moves by ``advance``
    only.
    """

    def __init__(self, base: Clock, *, frozen: bool = False) -> None:
        self._base = base
        self._frozen_at = (base.now(), base.wall_ms()) if frozen else None
        self._added_s = 0.0
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        """Monotonic seconds."""
        start = self._base.now() if self._frozen_at is None else self._frozen_at[0]
        return start + self._added_s

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        start = self._base.wall_ms() if self._frozen_at is None else self._frozen_at[1]
        return start + round(self._added_s * 1000)

    def advance(self, seconds: float) -> None:
        """Let so much time pass at once: timers that become due fire in their order."""
        assert seconds >= 0, "time does not go back"
        self._added_s += seconds
        for wake in list(self._listeners):
            wake()

    def on_advance(self, wake: Callable[[], None]) -> None:
        """Call this after every push."""
        self._listeners.append(wake)

    def forget(self, wake: Callable[[], None]) -> None:
        """Call it no more."""
        if wake in self._listeners:
            self._listeners.remove(wake)

    def sleep_s(self, wake_at: float) -> float | None:
        """How long a thread may really sleep until ``wake_at``; None: until it is woken."""
        wait_s = wake_at - self.now()
        if wait_s <= 0:
            return 0.0
        if self._frozen_at is not None or wait_s == float("inf"):
            return None
        return wait_s
