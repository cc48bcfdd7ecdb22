"""A result that is not there yet: the one thing managers, operations and broker handlers hand to each other.

Owned by one thread (the reactor's); it has no lock and never blocks. Callbacks run at once on the thread that
completes it, in the order they were added. Crossing to another thread is the mailbox's and the runners' business
(client/engine.py), not this file's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Completion(Generic[T]):
    """Completed exactly once, with a value or with an error. Completing twice is our bug and asserts."""

    __slots__ = ("_callbacks", "_error", "_value", "done", "on_withdraw")

    def __init__(self) -> None:
        self.done = False
        # Set by whoever promised the result: how to stop working for it when nobody waits any more.
        self.on_withdraw: Callable[[], None] | None = None
        self._value: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Completion[T]], None]] | None = None

    @classmethod
    def of(cls, value: T) -> Completion[T]:
        """An already completed one."""
        completion: Completion[T] = cls()
        completion.succeed(value)
        return completion

    @classmethod
    def failed(cls, error: BaseException) -> Completion[T]:
        """An already failed one."""
        completion: Completion[T] = cls()
        completion.fail(error)
        return completion

    def succeed(self, value: T) -> None:
        """Complete with a value and run the callbacks."""
        assert not self.done, "completed twice"
        self.done = True
        self._value = value
        self._run_callbacks()

    def fail(self, error: BaseException) -> None:
        """Complete with an error and run the callbacks."""
        assert not self.done, "completed twice"
        self.done = True
        self._error = error
        self._run_callbacks()

    @property
    def error(self) -> BaseException | None:
        """The error, or None when it is pending or succeeded."""
        return self._error

    def result(self) -> T:
        """The value, or raise the error. Only when done."""
        assert self.done, "result() of a pending completion"
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def withdraw(self) -> None:
        """Nobody wants this any more: tell the one who promised it. It stays pending for ever; harmless when done
        already."""
        hook, self.on_withdraw = self.on_withdraw, None
        if hook is not None and not self.done:
            self._callbacks = None
            hook()

    def abandon(self, callback: Callable[[Completion[T]], None]) -> None:
        """One who added ``callback`` wants no more; when nobody else does either, it is withdrawn."""
        if self._callbacks is not None and callback in self._callbacks:
            self._callbacks.remove(callback)
        if not self._callbacks:
            self.withdraw()

    def add_callback(self, callback: Callable[[Completion[T]], None]) -> None:
        """Call ``callback(self)`` when done; at once when it is done already."""
        if self.done:
            callback(self)
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)

    def _run_callbacks(self) -> None:
        self.on_withdraw = None
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback(self)
