"""Where requests wait that cannot be answered yet: a Fetch short of bytes, a Produce short of replicas.

An operation watches keys; whoever changes what a key stands for calls ``check_and_complete(key)``. Whichever comes
first, the condition or the time-out, completes it, exactly once. Owned by the broker node's thread. It must never
read a clock and never keep an operation that is done: a completed operation leaves all its keys at once (as dear as
entering them was), so no reaper is needed for keys that never see traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from pykclient.broker.timing_wheel import Timer, TimingWheel


class DelayedOperation:
    """Something to be finished once: when ``ready()`` says so, or after ``delay_s``.

    ``ready`` only looks; ``finish(expired)`` gives the answer. ``finish`` runs when the operation has already left
    the purgatory, so it may append, complete other operations or start new ones.
    """

    __slots__ = ("_finish", "_keys", "_purgatory", "_ready", "_timer", "completed", "delay_s")

    def __init__(self, *, delay_s: float, ready: Callable[[], bool], finish: Callable[[bool], None]) -> None:
        self.delay_s = delay_s
        self.completed = False
        self._ready = ready
        self._finish = finish
        self._keys: tuple[Hashable, ...] = ()
        self._timer: Timer | None = None
        self._purgatory: Purgatory | None = None

    def try_complete(self) -> bool:
        """Complete it when it is ready. True only for the call that completed it."""
        return not self.completed and self._ready() and self.force_complete()

    def force_complete(self, *, expired: bool = False) -> bool:
        """Complete it whatever ``ready`` says. True only for the call that completed it."""
        if self.completed:
            return False
        self.completed = True
        if self._purgatory is not None:
            self._purgatory._forget(self)
        self._finish(expired)
        return True


class Purgatory:
    """The waiting operations of one kind, by watch key and by deadline."""

    def __init__(self, wheel: TimingWheel) -> None:
        self._wheel = wheel
        self._watchers: dict[Hashable, dict[DelayedOperation, None]] = {}
        self._waiting: dict[DelayedOperation, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def key_count(self) -> int:
        """How many keys are watched."""
        return len(self._watchers)

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Iterable[Hashable]) -> bool:
        """True when it completed at once; otherwise it waits for a check of one of its keys or for its time-out."""
        assert operation._purgatory is None, "an operation waits in one purgatory, once"
        if operation.try_complete():
            return True
        if operation.delay_s <= 0:
            return operation.force_complete(expired=True)
        operation._purgatory = self
        operation._keys = tuple(dict.fromkeys(keys))
        for key in operation._keys:
            self._watchers.setdefault(key, {})[operation] = None
        self._waiting[operation] = None
        operation._timer = self._wheel.add(operation.delay_s, lambda now: self._expire(operation))
        return False

    def check_and_complete(self, key: Hashable) -> int:
        """Try all operations that watch a key, in order of arrival; how many completed by this call."""
        watchers = self._watchers.get(key)
        if not watchers:
            return 0
        return sum(operation.try_complete() for operation in tuple(watchers))

    def complete_all(self, key: Hashable) -> int:
        """Force everything that watches a key (the partition is gone, the connection closed)."""
        return sum(operation.force_complete() for operation in tuple(self._watchers.get(key, ())))

    def close(self) -> int:
        """Force everything; the broker stops."""
        return sum(operation.force_complete() for operation in tuple(self._waiting))

    def _expire(self, operation: DelayedOperation) -> None:
        operation.force_complete(expired=True)

    def _forget(self, operation: DelayedOperation) -> None:
        if operation._timer is not None:
            self._wheel.cancel(operation._timer)
        self._waiting.pop(operation, None)
        for key in operation._keys:
            watchers = self._watchers.get(key)
            if watchers is not None and watchers.pop(operation, operation) is None and not watchers:
                del self._watchers[key]


__all__ = ["DelayedOperation", "Purgatory"]
