"""Runs operations for an event loop: the same operations, the same reactor thread, only the waiting is awaited.

What the reactor has to say crosses to the loop in batches (see client/crossing.py). User code that an operation invokes
(a rebalance listener) runs on the loop and may be a coroutine. The loop is bound at first use and never kept alive.

No asyncio.wait_for here: before Python 3.12 it loses a cancellation that comes together with the result.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pykclient.client.crossing import Crossing, crossing_to
from pykclient.client.engine import Delivery, Engine, Operation, Task
from pykclient.config import CommonConfig
from pykclient.errors import KafkaError, KafkaTimeoutError, UsageError

from .tokens import LoopTokens

T = TypeVar("T")


class LoopRunner:
    """One client's bridge to one loop; an ``Outlet`` of the engine."""

    def __init__(self, engine: Engine, config: CommonConfig) -> None:
        self._engine = engine
        provider = config.sasl_oauth_token_provider
        self._tokens = provider if isinstance(provider, LoopTokens) else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._crossing: Crossing | None = None
        self._waiting: dict[Task[Any], asyncio.Future[Any]] = {}
        self._invocations: set[asyncio.Task[None]] = set()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop; a client belongs to the first one it is used in."""
        running = asyncio.get_running_loop()
        if self._loop is not running:
            if self._loop is not None:
                raise UsageError("this client is used in another event loop; make one client per loop")
            self._loop = running
            self._crossing = crossing_to(running)
            if self._tokens is not None:
                self._tokens.bind(self._crossing)
        return running

    @property
    def crossing(self) -> Crossing:
        """The way to the running loop from other threads; binds it like ``loop``."""
        assert self.loop is not None
        assert self._crossing is not None
        return self._crossing

    # ---- operations --------------------------------------------------------------------------------------------------

    async def run(self, operation: Operation[T], timeout_s: float | None = None) -> T:
        """Await an operation. Cancelling the await cancels the operation and withdraws its request."""
        task, arrived = self._submit(operation)
        try:
            await asyncio.wait((arrived,), timeout=timeout_s)
            if not arrived.done():
                raise KafkaTimeoutError(f"not done after {timeout_s:g} s")
            return arrived.result()
        finally:
            self._forget(task)
            if arrived.done() and not arrived.cancelled():
                arrived.exception()  # seen, also when this await is cancelled: nobody else will ask

    def start(self, operation: Operation[T], timeout_s: float) -> asyncio.Future[T]:
        """Run an operation that goes on whatever happens to those who await it; cancelling the future itself stops
        it."""
        task, arrived = self._submit(operation)

        def expire() -> None:
            if not arrived.done():
                arrived.set_exception(KafkaTimeoutError(f"not done after {timeout_s:g} s"))
                self._forget(task)

        timer = self.loop.call_later(timeout_s, expire)

        def ended(future: asyncio.Future[T]) -> None:
            timer.cancel()
            if future.cancelled():
                self._forget(task)
            else:
                future.exception()  # seen: it may be that nobody asks

        arrived.add_done_callback(ended)
        return arrived

    def _submit(self, operation: Operation[T]) -> tuple[Task[T], asyncio.Future[T]]:
        try:
            arrived: asyncio.Future[T] = self.loop.create_future()
            task = self._engine.submit(operation, self)
        except BaseException:
            operation.close()
            raise
        self._waiting[task] = arrived
        return task, arrived

    def _forget(self, task: Task[Any]) -> None:
        """Nobody waits for it any more: unless it is over, stop it."""
        if self._waiting.pop(task, None) is not None and self._engine.running and not self._engine.forked:
            try:
                task.cancel_soon()
            except KafkaError:
                return  # the client ended in this very moment, and the task with it

    # ---- from the reactor thread -------------------------------------------------------------------------------------

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Take the news over to the loop."""
        assert self._crossing is not None, "submitted from a loop"
        self._crossing.post(partial(self._take, deliveries))

    # ---- on the loop -------------------------------------------------------------------------------------------------

    def _take(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            if delivery.invoke is not None:
                self._spawn(self._invoke(delivery))
                continue
            arrived = self._waiting.pop(delivery.task, None)
            if arrived is None or arrived.done():
                continue
            error = delivery.task.completion.error
            if error is not None:
                arrived.set_exception(error)
            else:
                arrived.set_result(delivery.task.completion.result())

    def _spawn(self, coroutine: Any) -> None:
        invocation = asyncio.ensure_future(coroutine)
        self._invocations.add(invocation)
        invocation.add_done_callback(self._invocations.discard)

    async def _invoke(self, delivery: Delivery) -> None:
        assert delivery.invoke is not None
        try:
            value = delivery.invoke()
            if inspect.isawaitable(value):
                value = await value
        except asyncio.CancelledError:
            self._resume(delivery.task, None, UsageError("the listener was cancelled"))
            raise
        except Exception as error:
            self._resume(delivery.task, None, error)
        else:
            self._resume(delivery.task, value, None)

    def _resume(self, task: Task[Any], value: object, error: Exception | None) -> None:
        try:
            task.resume(value, error)
        except KafkaError:
            return  # the client ended meanwhile; those who wait have been told

    @property
    def inside_listener(self) -> bool:
        """Whether the caller is a listener that an operation waits for."""
        return asyncio.current_task() in self._invocations

    async def closed(self) -> None:
        """The client has ended: nobody needs a token any more."""
        if self._tokens is not None:
            await self._tokens.give_up()

    async def listeners_done(self, timeout_s: float, caller: asyncio.Task[Any] | None) -> None:
        """Until no listener runs; the one that asks for it is not waited for."""
        others = self._invocations - {caller}
        if others:
            await asyncio.wait(others, timeout=timeout_s)


class Bell:
    """Rung on any thread, heard on the loop: whoever waits looks again. Many rings before the loop wakes up are one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, crossing: Crossing) -> None:
        self._loop = loop
        self._crossing = crossing
        self._rung = False
        self._waiters: set[asyncio.Future[None]] = set()
        self.count = 0
        """How often it was heard. Remember it, look, then ``wait`` with it: no ring between is missed."""

    def ring(self) -> None:
        """Any thread."""
        if not self._rung:
            self._rung = True
            self._crossing.post(self.heard)

    def heard(self) -> None:
        """On the loop."""
        self._rung = False
        self.count += 1
        for waiter in self._waiters:
            settle(waiter)

    async def wait(self, seen: int, timeout_s: float) -> None:
        """Until it rings, or has rung since ``count`` was ``seen``, or time is up."""
        if self.count != seen:
            return
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        timer = self._loop.call_later(timeout_s, settle, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiters.discard(waiter)


def settle(future: asyncio.Future[None]) -> None:
    """It has happened; who waited may be gone meanwhile."""
    if not future.done():
        future.set_result(None)


class Handlers:
    """Calls back into user code on the loop, from any thread; what it gives may be a coroutine."""

    def __init__(self, runner: LoopRunner, report: Callable[[BaseException], None]) -> None:
        self._runner = runner
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()

    def on_loop(self, handler: Callable[..., Any]) -> Callable[..., None]:
        """A function for other threads that has ``handler`` called on the loop."""
        crossing = self._runner.crossing
        return lambda *arguments: crossing.post(partial(self._call, handler, arguments))

    def _call(self, handler: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            value = handler(*arguments)
        except Exception as error:
            self._report(error)
            return
        if inspect.isawaitable(value):
            task = asyncio.ensure_future(self._await(value))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _await(self, value: Any) -> None:
        try:
            await value
        except Exception as error:
            self._report(error)

    async def done(self) -> None:
        """Until those that were called have ended."""
        await asyncio.sleep(0)  # what was posted before runs first
        others = self._tasks - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)


__all__ = ["Bell", "Handlers", "LoopRunner", "settle"]
