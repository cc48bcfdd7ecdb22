"""Runs operations for an event loop: the same operations, the same reactor thread, only the waiting is awaited.

What the reactor has to say crosses to the loop in batches: one ``call_soon_threadsafe`` per turn of the reactor,
however many operations it finished. User code that an operation invokes (a rebalance listener) runs on the loop and may
be a coroutine. The loop is bound at first use and never kept alive.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, TypeVar

from pykclient.client.engine import Delivery, Engine, Operation, Task
from pykclient.errors import KafkaTimeoutError, UsageError

T = TypeVar("T")


class LoopRunner:
    """One client's bridge to one loop; an ``Outlet`` of the engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[Task[Any], asyncio.Future[Any]] = {}
        self._invocations: set[asyncio.Task[None]] = set()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop; a client belongs to the first one it is used in."""
        running = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = running
        elif self._loop is not running:
            raise UsageError("this client is used in another event loop; make one client per loop")
        return running

    async def run(self, operation: Operation[T], timeout_s: float | None = None) -> T:
        """Await an operation. Cancelling the await cancels the operation and withdraws its request."""
        loop = self.loop
        arrived: asyncio.Future[T] = loop.create_future()
        try:
            task = self._engine.submit(operation, self)
        except BaseException:
            operation.close()
            raise
        self._waiting[task] = arrived
        try:
            return await asyncio.wait_for(arrived, timeout_s)
        except asyncio.TimeoutError as error:
            if isinstance(error, KafkaTimeoutError):
                raise
            raise KafkaTimeoutError(f"not done after {timeout_s:g} s") from None
        finally:
            if self._waiting.pop(task, None) is not None:
                self._cancel(task)

    def _cancel(self, task: Task[Any]) -> None:
        if self._engine.running and not self._engine.forked:
            task.cancel_soon()

    def deliver(self, deliveries: list[Delivery]) -> None:
        """Reactor thread: take the news over."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return  # nobody is left to hear it
        try:
            loop.call_soon_threadsafe(self._take, deliveries)
        except RuntimeError:
            if not loop.is_closed():
                raise

    def _take(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries:
            if delivery.invoke is not None:
                invocation = asyncio.ensure_future(self._invoke(delivery))
                self._invocations.add(invocation)
                invocation.add_done_callback(self._invocations.discard)
                continue
            arrived = self._waiting.pop(delivery.task, None)
            if arrived is None or arrived.done():
                continue
            error = delivery.task.completion.error
            if error is not None:
                arrived.set_exception(error)
            else:
                arrived.set_result(delivery.task.completion.result())

    async def _invoke(self, delivery: Delivery) -> None:
        assert delivery.invoke is not None
        try:
            value = delivery.invoke()
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            delivery.task.resume(None, error)
        else:
            delivery.task.resume(value)


__all__ = ["LoopRunner"]
