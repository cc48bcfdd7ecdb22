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
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeVar

from pykclient.client.operations import (
    Call,
    Delivery,
    Effect,
    Invoke,
    Now,
    Operation,
    Outlet,
    Sleep,
    Task,
    Timer,
    Wait,
    call,
    invoke,
    now,
    outcome_of,
    sleep,
    wait,
)
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
        self._wake_at = -math.inf
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
                    task.resume(*outcome_of(delivery.invoke))
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
        signalled = self._signalled
        if signalled:
            self._signalled = False
        if not self.network.handle(events, now) and events and not signalled and now < self._wake_at:
            # A large answer comes in many pieces. Until it is whole nothing has changed that a manager could act on.
            return self._wake_at
        self._wake_at = self._turn(now)
        return self._wake_at

    def _turn(self, now: float) -> float:
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
                now = self.clock.now()
                # Else some bytes of a large request went out, and that is nothing to decide anything about.
                if events or self._signalled or self._mailbox or now >= wake_at:
                    wake_at = self.step(now, events)
        except BaseException as cause:
            # SystemExit too: raised by a user's callback it would end this thread without a word.
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
