"""Operations: generators that say what they wait for, and the task that runs one. See engine.py for how they look.

Everything runs on the reactor thread, but for ``Task.resume`` and ``Task.cancel_soon``. An operation that is cancelled
is closed, and what it waited for is abandoned; nothing here waits, and nothing an operation raises is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from pykclient.errors import KafkaTimeoutError
from pykclient.net.completion import Completion
from pykclient.net.network_client import NetworkClient, Request

T = TypeVar("T")


# ---- what operations yield ----


@dataclass(frozen=True, slots=True)
class Wait:
    """Resume when it completes. Past ``deadline`` (monotonic seconds) it is withdrawn and KafkaTimeoutError is raised
    inside."""

    completion: Completion[Any]
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Send the request, then wait for it."""

    request: Request[Any]


@dataclass(frozen=True, slots=True)
class Sleep:
    """Resume after this long."""

    delay_s: float


@dataclass(frozen=True, slots=True)
class Now:
    """Resume at once with the time of this step."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """Run user code where the caller is and resume with its result, or with its exception raised inside."""

    callback: Callable[[], Any]


Effect: TypeAlias = Wait | Call | Sleep | Now | Invoke
Operation: TypeAlias = Generator[Effect, Any, T]


def wait(completion: Completion[T], deadline: float | None = None) -> Operation[T]:
    """``yield from wait(completion)``: its value, or its error raised."""
    value: T = yield Wait(completion, deadline)
    return value


def call(request: Request[T]) -> Operation[T]:
    """``yield from call(request)``: send it and give the response message."""
    value: T = yield Call(request)
    return value


def sleep(delay_s: float) -> Operation[None]:
    """``yield from sleep(0.1)``."""
    yield Sleep(delay_s)


def now() -> Operation[float]:
    """``yield from now()``: monotonic seconds."""
    value: float = yield Now()
    return value


def invoke(callback: Callable[[], T]) -> Operation[T]:
    """``yield from invoke(listener)``: run user code on the caller's side."""
    value: T = yield Invoke(callback)
    return value


# ---- running operations ----


class Delivery(NamedTuple):
    """News of an operation for its caller: run ``invoke`` and report with ``task.resume``, or, when it is None, the
    task has finished."""

    task: Task[Any]
    invoke: Callable[[], Any] | None


class Outlet(Protocol):
    """Where an operation's caller listens. Called on the reactor thread, once per step with all the news; must not
    block."""

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Take the news over to the caller."""
        ...


class Timer:
    """A call at a time. Reactor thread only."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Never call it."""
        self._callback = None

    def fire(self) -> None:
        """Call it unless it was cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class Host(Protocol):
    """What a task needs of the engine."""

    network: NetworkClient
    now: float
    activity: int

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Run it on the reactor thread. Any thread."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Run it on the reactor thread at this time."""
        ...

    def deliver(self, outlet: Outlet, delivery: Delivery) -> None:
        """Pass news on at the end of the step."""
        ...

    def forget(self, task: Task[Any]) -> None:
        """A task ended."""
        ...


class Task(Generic[T]):
    """One running operation. ``completion`` belongs to the reactor thread; callers read it only after the finishing
    Delivery."""

    __slots__ = ("_engine", "_operation", "_outlet", "_timer", "_waiting_on", "completion")

    def __init__(self, engine: Host, operation: Operation[T], outlet: Outlet | None) -> None:
        self.completion: Completion[T] = Completion()
        self._engine = engine
        self._operation = operation
        self._outlet = outlet
        self._waiting_on: object | None = None
        self._timer: Timer | None = None

    def resume(self, value: object, error: BaseException | None = None) -> None:
        """From the caller's side: the invoked code gave this. Thread-safe."""
        self._engine.call_soon(lambda: self._invoked(value, error))

    def cancel_soon(self) -> None:
        """From any thread: stop it, and withdraw what it waits for. A finished task does not mind."""
        self._engine.call_soon(self.cancel)

    def cancel(self) -> None:
        """Reactor thread: stop it now. The completion fails with ``ClientClosed``-free silence: nobody is told, as
        nobody waits."""
        if not self.completion.done:
            self._end_wait(withdraw=True)
            self._operation.close()
            self._finish(None, KafkaTimeoutError("the operation was cancelled"))

    def fail(self, error: BaseException) -> None:
        """Reactor thread: raise ``error`` inside the operation's caller; the operation itself is closed."""
        if not self.completion.done:
            self._end_wait(withdraw=False)
            self._operation.close()
            self._finish(None, error)

    def start(self) -> None:
        """Reactor thread: run up to the first wait."""
        if not self.completion.done:
            self._advance(None, None)

    def _advance(self, value: Any, error: BaseException | None) -> None:
        engine = self._engine
        engine.activity += 1
        while True:
            try:
                effect = self._operation.send(value) if error is None else self._operation.throw(error)
            except StopIteration as stop:
                self._finish(stop.value, None)
                return
            except Exception as failure:
                # Not swallowed: it is raised again in whoever runs this operation.
                self._finish(None, failure)
                return
            value, error = None, None
            if isinstance(effect, Now):
                value = engine.now
            elif isinstance(effect, Sleep):
                self._waiting_on = effect
                self._timer = engine.call_at(engine.now + effect.delay_s, partial(self._slept, effect))
                return
            elif isinstance(effect, Invoke):
                if self._outlet is not None:
                    self._waiting_on = effect
                    engine.deliver(self._outlet, Delivery(self, effect.callback))
                    return
                value, error = outcome_of(effect.callback)
            else:
                completion, deadline = self._completion_of(effect)
                if not completion.done:
                    self._park(completion, deadline)
                    return
                error = completion.error
                value = None if error is not None else completion.result()

    def _completion_of(self, effect: Wait | Call) -> tuple[Completion[Any], float | None]:
        if isinstance(effect, Call):
            self._engine.network.send(effect.request, self._engine.now)
            return effect.request.completion, None
        assert isinstance(effect, Wait), f"an operation yielded {effect!r}"
        return effect.completion, effect.deadline

    def _park(self, completion: Completion[Any], deadline: float | None) -> None:
        self._waiting_on = completion
        if deadline is not None:
            self._timer = self._engine.call_at(deadline, lambda: self._timed_out(completion))
        completion.add_callback(self._completed)

    def _completed(self, completion: Completion[Any]) -> None:
        if self._waiting_on is completion:
            self._end_wait(withdraw=False)
            if completion.error is not None:
                self._advance(None, completion.error)
            else:
                self._advance(completion.result(), None)

    def _timed_out(self, completion: Completion[Any]) -> None:
        if self._waiting_on is completion:
            self._end_wait(withdraw=True)
            self._advance(None, KafkaTimeoutError("timed out while waiting for the cluster"))

    def _slept(self, effect: Sleep) -> None:
        if self._waiting_on is effect:
            self._end_wait(withdraw=False)
            self._advance(None, None)

    def _invoked(self, value: object, error: BaseException | None) -> None:
        if isinstance(self._waiting_on, Invoke):
            self._end_wait(withdraw=False)
            self._advance(value, error)

    def _end_wait(self, *, withdraw: bool) -> None:
        waiting_on, self._waiting_on = self._waiting_on, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if withdraw and isinstance(waiting_on, Completion):
            waiting_on.abandon(self._completed)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        self._engine.forget(self)
        if error is not None:
            self.completion.fail(error)
        else:
            self.completion.succeed(value)
        if self._outlet is not None:
            self._engine.deliver(self._outlet, Delivery(self, None))


def outcome_of(callback: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What user code gave or raised."""
    try:
        return callback(), None
    except Exception as error:
        return None, error


__all__ = [
    "Call",
    "Delivery",
    "Effect",
    "Host",
    "Invoke",
    "Now",
    "Operation",
    "Outlet",
    "Sleep",
    "Task",
    "Timer",
    "Wait",
    "call",
    "invoke",
    "now",
    "outcome_of",
    "sleep",
    "wait",
]
