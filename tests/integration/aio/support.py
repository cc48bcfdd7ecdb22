"""What the asyncio tests share: the event loops to run on, and a runner that leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from pykclient.errors import KafkaError

T = TypeVar("T")
Main = Callable[[], Awaitable[Any]]

LIMIT_S = 60.0


def new_loop(kind: str) -> asyncio.AbstractEventLoop:
    """A loop that is not running: asyncio's own, or uvloop's."""
    if kind == "uvloop":
        uvloop: Any = pytest.importorskip("uvloop", reason="uvloop is not installed")
        loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        return loop
    return asyncio.new_event_loop()


def run_on(kind: str, main: Main, *, debug: bool = True) -> None:
    """As ``asyncio.run`` on a loop of this kind. Fails on anything that asyncio would only log."""
    loop = new_loop(kind)
    loop.set_debug(debug)
    loop.slow_callback_duration = 10.0  # a loaded machine is no fault of ours
    complaints: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    try:
        loop.run_until_complete(_limited(main))
        left = [task for task in asyncio.all_tasks(loop) if not task.done()]
        assert left == [], "tasks were left behind"
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        gc.collect()
    assert complaints == []


async def condition(holds: Callable[[], bool]) -> None:
    """Until it holds; the limit of the test is the limit."""
    while not holds():  # noqa: ASYNC110  what is waited for happens in other threads and processes
        await asyncio.sleep(0.01)


async def cancelled(awaitable: Awaitable[Any], turns: int, delay_s: float) -> bool:
    """Start it, cancel it after so many turns of the loop and so long; whether it was cancelled, not done before."""
    task = asyncio.ensure_future(awaitable)
    for _ in range(turns):
        await asyncio.sleep(0)
    if delay_s:
        await asyncio.sleep(delay_s)
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=10)
    assert done, "a cancelled await went on"
    if task.cancelled():
        return True
    error = task.exception()
    assert error is None or isinstance(error, KafkaError), error
    return False


def moments(seed: int, count: int) -> list[tuple[int, float]]:
    chance = random.Random(seed)
    return [(chance.randrange(8), chance.choice((0, 0, chance.random() * 0.01))) for _ in range(count)]


async def _limited(main: Main) -> None:
    # Not wait_for: cancelling at the limit would let a test that expects a cancellation pass.
    task = asyncio.ensure_future(main())
    done, _ = await asyncio.wait((task,), timeout=LIMIT_S)
    if not done:
        logging.getLogger(__name__).error("stuck: %s", [each.get_stack(limit=3) for each in asyncio.all_tasks()])
        task.cancel()
        await asyncio.wait((task,), timeout=5)
        pytest.fail(f"not done after {LIMIT_S} s")
    task.result()
