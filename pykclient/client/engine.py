"""The engine: turns managers and operations into requests, and answers into results. One engine per client, one
thread per engine.

Owns the mailbox (the only way in from other threads), the timers, the running operations and the driver thread.
Everything else here runs on the reactor thread. It must never block there, and it must never lose a waiter: when the
loop dies, all of them fail with the cause.

**A manager** answers "what do you want sent, and when shall I ask again?" It holds state, never waits, and sees time
as an argument::

    class Heartbeats:
        def poll(self, now: float) -> Poll:
            if now < self._due_at:
                return Poll(wake_at=self._due_at)
            self._due_at = now + self._interval_s
            request = Request[HeartbeatResponse](self._message(), node_id=self._coordinator_id)
            request.completion.add_callback(self._on_heartbeat)       # runs on the reactor thread
            return Poll([request], wake_at=self._due_at)

        def fail(self, error: BaseException) -> None: ...             # closing or dead: fail whoever waits on you

**An operation** is a generator: it yields what it waits for and returns the result. It reads like blocking code, runs
on the reactor thread (so it may touch manager state), and any runner can drive it: ``run_blocking`` for the sync
face, an outlet of its own for asyncio::

    def fetch_cluster_id(timeout_s: float) -> Operation[str | None]:
        request = Request[MetadataResponse](MetadataRequest(topics=[]), timeout_s=timeout_s)     # to any node
        response = yield from call(request)                            # raises what the request failed with
        return response.cluster_id

    engine.run_blocking(fetch_cluster_id(5.0), timeout_s=6.0)

What an operation may yield, each with a typed helper for ``yield from``: ``call(request)`` sends and waits;
``wait(completion, deadline)``; ``sleep(seconds)``; ``now()``; ``invoke(callback)`` runs user code **where the caller
is** (the thread inside ``run_blocking``, or the event loop), while the reactor goes on, so a slow rebalance listener
stops no heartbeat. In a spawned operation, which has no caller, ``invoke`` runs on the reactor thread. Cancelling an
operation (time-out, Ctrl-C, a cancelled task) closes the generator and withdraws the request.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from pykclient.errors import ClientClosed, ForkedClientError, KafkaTimeoutError, ReactorDied, UsageError
from pykclient.net.completion import Completion
from pykclient.net.network_client import NetworkClient, Request
from pykclient.net.transport import Clock, Event, Transport

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Signals reach a thread that waits for a lock only between waits on some platforms, so no wait of ours is longer.
WAIT_SLICE_S = 0.25
# Managers may react to each other within one step; past this many rounds the step ends and the loop comes back at once.
ROUNDS_MAX = 8


class Poll(NamedTuple):
    """A manager's answer: requests to send now, and when to ask again at the latest (it is also asked after every
    event)."""

    requests: Sequence[Request[Any]] = ()
    wake_at: float = math.inf


class Manager(Protocol):
    """Something that wants requests sent over time. Runs on the reactor thread, never waits."""

    def poll(self, now: float) -> Poll:
        """Say what to send and when to ask again."""
        ...

    def fail(self, error: BaseException) -> None:
        """The client closed or died: fail everyone who waits on you. Nothing is sent after this."""
        ...


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


class Task(Generic[T]):
    """One running operation. ``completion`` belongs to the reactor thread; callers read it only after the finishing
    Delivery."""

    __slots__ = ("_engine", "_operation", "_outlet", "_timer", "_waiting_on", "completion")

    def __init__(self, engine: Engine, operation: Operation[T], outlet: Outlet | None) -> None:
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
                value, error = _outcome(effect.callback)
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


def _outcome(callback: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return callback(), None
    except Exception as error:
        return None, error


class _BlockingOutlet:
    """The caller is a thread that waits."""

    __slots__ = ("_queue",)

    def __init__(self) -> None:
        self._queue: SimpleQueue[Delivery] = SimpleQueue()

    def deliver(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            self._queue.put(delivery)

    def get(self, timeout_s: float) -> Delivery | None:
        try:
            return self._queue.get(timeout=max(0.0, timeout_s))
        except Empty:
            return None


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


class Engine:
    """Runs managers and operations. ``start()`` gives it a thread; without one, call ``step(now)`` yourself (the
    simulator does)."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        network: NetworkClient,
        managers: Iterable[Manager] = (),
        *,
        name: str = "pykclient",
    ) -> None:
        self.network = network
        self.clock = clock
        self.name = name
        self.now = clock.now()
        """The time of the current step, for code on the reactor thread."""
        self.activity = 0
        self._transport = transport
        self._managers: list[Manager] = list(managers)
        # A deque and a flag instead of a lock: wakeup() may be called from a signal handler that interrupted
        # call_soon() itself.
        self._mailbox: deque[Callable[[], None] | Task[Any]] = deque()
        self._signalled = False
        self._timers: list[tuple[float, int, Timer]] = []
        self._timer_order = itertools.count()
        self._tasks: dict[Task[Any], None] = {}
        self._deliveries: dict[Outlet, list[Delivery]] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._ended: BaseException | None = None
        self._forked = False
        _engines.add(self)

    # ---- from any thread ----

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on the reactor thread. Thread-safe and signal-safe; raises when the client is closed, dead
        or forked."""
        self._post(callback)

    def wake(self) -> None:
        """Make the loop take a turn soon, without a message. Thread-safe and signal-safe; silent when the client is
        over."""
        if not self._signalled and self._ended is None and not self._forked:
            self._signalled = True
            self._transport.wake()

    @property
    def forked(self) -> bool:
        """True in a child process: this engine belongs to the parent."""
        return self._forked

    def on_reactor_thread(self) -> bool:
        """Whether the caller runs inside this engine, where waiting for it would be for ever."""
        return threading.current_thread() is self._thread

    def _post(self, item: Callable[[], None] | Task[Any]) -> None:
        self._mailbox.append(item)
        # Checked after the append: an end that we do not see here has yet to drain the mailbox, and will.
        self.check_usable()
        if not self._signalled:
            self._signalled = True
            self._transport.wake()

    def check_usable(self) -> None:
        """Raise ForkedClientError, ClientClosed or the cause of death."""
        if self._forked:
            raise ForkedClientError()
        if self._ended is not None:
            if isinstance(self._ended, ClientClosed):
                raise ClientClosed(str(self._ended))
            raise self._ended

    def submit(self, operation: Operation[T], outlet: Outlet) -> Task[T]:
        """Start an operation whose news go to ``outlet``. Thread-safe."""
        task = Task(self, operation, outlet)
        self._post(task)
        return task

    def run_blocking(self, operation: Operation[T], timeout_s: float | None = None) -> T:
        """Run it and wait here. ``invoke``d code runs on this thread. Ctrl-C and a time-out cancel the operation."""
        try:
            self.check_usable()
            if threading.current_thread() is self._thread:
                raise UsageError(
                    "a callback of this client cannot wait for the client itself: do it from another thread"
                )
        except BaseException:
            operation.close()
            raise
        outlet = _BlockingOutlet()
        deadline = math.inf if timeout_s is None else self.clock.now() + timeout_s
        task = self.submit(operation, outlet)
        try:
            while True:
                delivery = outlet.get(min(WAIT_SLICE_S, deadline - self.clock.now()))
                if delivery is not None:
                    if delivery.invoke is None:
                        return task.completion.result()
                    task.resume(*_outcome(delivery.invoke))
                elif self._forked:
                    self.check_usable()
                elif self.clock.now() >= deadline:
                    raise KafkaTimeoutError(f"not done after {timeout_s:g} s")
        except BaseException:
            if not task.completion.done and self._ended is None and not self._forked:
                task.cancel_soon()
            raise

    # ---- on the reactor thread ----

    def add_manager(self, manager: Manager) -> None:
        """Poll this one too."""
        self._managers.append(manager)

    def remove_manager(self, manager: Manager) -> None:
        """Poll it no more."""
        self._managers.remove(manager)

    def spawn(self, operation: Operation[T]) -> Completion[T]:
        """Start an operation of our own, on the reactor thread; withdrawing the completion cancels it."""
        task = Task(self, operation, None)
        task.completion.on_withdraw = task.cancel
        self._tasks[task] = None
        task.start()
        return task.completion

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Run ``callback`` on the reactor thread at this time."""
        timer = Timer(callback)
        heapq.heappush(self._timers, (when, next(self._timer_order), timer))
        return timer

    def deliver(self, outlet: Outlet, delivery: Delivery) -> None:
        """Keep news for an outlet until the step ends, so that they cross to its thread or loop together."""
        self._deliveries.setdefault(outlet, []).append(delivery)

    def forget(self, task: Task[Any]) -> None:
        """A task ended."""
        self._tasks.pop(task, None)

    def step(self, now: float, events: Sequence[Event] | None = None) -> float:
        """One round: take events, mail and timers, ask the managers, send. Returns when the next step is due at the
        latest."""
        self.now = now
        if events is None:
            events = self._transport.poll(0)
        # After the poll, which takes the wake-up: cleared before it, a letter that comes in between would use up the
        # wake-up and leave the flag set, and the next one would wake nobody.
        self._signalled = False
        self.network.handle(events, now)
        for _ in range(len(self._mailbox)):
            item = self._mailbox.popleft()
            if isinstance(item, Task):
                self._tasks[item] = None
                item.start()
            else:
                item()
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2].fire()
        wake_at = self._poll_managers(now)
        self._flush_deliveries()
        if self._mailbox:
            return now
        timer_at = self._timers[0][0] if self._timers else math.inf
        return min(wake_at, timer_at, self.network.wake_at(now))

    def _poll_managers(self, now: float) -> float:
        network = self.network
        for _ in range(ROUNDS_MAX):
            seen = self.activity + network.finished_count
            wake_at = math.inf
            for manager in self._managers:
                poll = manager.poll(now)
                wake_at = min(wake_at, poll.wake_at)
                for request in poll.requests:
                    network.send(request, now)
            network.advance(now)
            if self.activity + network.finished_count == seen:
                return wake_at
        return now

    def _flush_deliveries(self) -> None:
        if self._deliveries:
            deliveries, self._deliveries = self._deliveries, {}
            for outlet, news in deliveries.items():
                outlet.deliver(news)

    # ---- the driver ----

    def start(self) -> None:
        """Give the engine its thread (a daemon: a forgotten client never keeps the interpreter alive)."""
        assert self._thread is None, "started twice"
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float | None = None) -> bool:
        """End the loop and close every connection; waiters get ClientClosed. False when the thread was not done in
        time. Any thread."""
        if self._forked:
            return True
        self._stopping = True
        if self._thread is None:
            self._end(ClientClosed(f"{self.name} is closed"))
            return True
        self._transport.wake()
        if threading.current_thread() is self._thread:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        """True from start() until the loop ended."""
        return self._thread is not None and self._ended is None

    def _run(self) -> None:
        try:
            wake_at = self.step(self.clock.now())
            while not self._stopping:
                timeout_s = None if wake_at == math.inf else max(0.0, wake_at - self.clock.now())
                events = self._transport.poll(timeout_s)
                wake_at = self.step(self.clock.now(), events)
        except Exception as cause:
            logger.exception("%s: the reactor thread died; every waiter is told", self.name)
            death = ReactorDied(f"{self.name}: the client's thread died: {cause!r}")
            death.__cause__ = cause
            self._end(death)
        else:
            self._end(ClientClosed(f"{self.name} is closed"))

    def _end(self, error: BaseException) -> None:
        """Fail everyone. Set first, drained after: see call_soon."""
        if self._ended is not None:
            return
        self._ended = error
        endings: list[Callable[[], None]] = [partial(manager.fail, error) for manager in self._managers]
        endings.append(partial(self.network.close, error))
        endings.append(partial(self._fail_tasks, error))
        endings.append(self._flush_deliveries)
        endings.append(self._transport.shut_down)
        for ending in endings:
            try:
                ending()
            except Exception:
                # One waiter's broken callback must not keep the others waiting for ever.
                logger.exception("%s: while ending", self.name)

    def _fail_tasks(self, error: BaseException) -> None:
        mail = [self._mailbox.popleft() for _ in range(len(self._mailbox))]
        for task in [*self._tasks, *(item for item in mail if isinstance(item, Task))]:
            task.fail(error)

    def abandon_after_fork(self) -> None:
        """In the child: drop our copies of the parent's sockets without a byte to the peer. The parent's connections
        stay as they are."""
        self._forked = True
        self._transport.abandon()


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for engine in list(_engines):
        engine.abandon_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)

__all__ = [
    "Call",
    "Clock",
    "Completion",
    "Delivery",
    "Effect",
    "Engine",
    "Invoke",
    "Manager",
    "Now",
    "Operation",
    "Outlet",
    "Poll",
    "Request",
    "Sleep",
    "Task",
    "Timer",
    "Wait",
    "call",
    "invoke",
    "now",
    "sleep",
    "wait",
]
