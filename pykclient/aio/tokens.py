"""Token providers whose ``token()`` is a coroutine: awaited on the client's loop, waited for by a worker thread.

Connections authenticate on threads of the reactor's that may block (see net/workers.py), which know of no event loop.
Here the call crosses to the loop and its outcome comes back. A client that is not used yet has no loop: its first
connection waits for one. Nothing is waited for without end, so that no thread is kept by a loop that is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from typing import Any

from pykclient.client.crossing import Crossing
from pykclient.config.security import gives_coroutines
from pykclient.net.failures import ConnectTimedOut
from pykclient.plugins import Token

OPTION = "sasl_oauth_token_provider"
# As long as an attempt to connect takes; after that nobody waits for the token any more.
PATIENCE_S = 30.0


class LoopTokens:
    """The provider as worker threads may call it."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._bound: Future[Crossing] = Future()
        self._asking: set[asyncio.Task[None]] = set()

    def bind(self, crossing: Crossing) -> None:
        """Ask on this loop."""
        self._bound.set_result(crossing)

    def token(self) -> Token:
        """On a worker thread: have the provider asked, and wait for what it says."""
        try:
            crossing = self._bound.result(PATIENCE_S)
        except NotYet:
            raise ConnectTimedOut("no token: the client is not used in an event loop yet") from None
        reply: Future[Token] = Future()
        crossing.post(partial(self._ask, reply))
        try:
            return reply.result(PATIENCE_S)
        except NotYet:
            if reply.done():
                raise  # the provider's own time-out
            reply.cancel()
            raise ConnectTimedOut(f"the token provider gave no token within {PATIENCE_S:g} s") from None

    # ---- on the loop -------------------------------------------------------------------------------------------------

    def _ask(self, reply: Future[Token]) -> None:
        task = asyncio.ensure_future(self._answer(reply))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _answer(self, reply: Future[Token]) -> None:
        if not reply.set_running_or_notify_cancel():
            return  # nobody waits any more
        try:
            reply.set_result(await self._provider.token())
        except asyncio.CancelledError:
            reply.set_exception(ConnectTimedOut("the event loop ended before the token came"))
            raise
        except Exception as error:
            reply.set_exception(error)

    async def give_up(self) -> None:
        """Stop asking."""
        asking = {task for task in self._asking if task.cancel()}
        if asking:
            await asyncio.wait(asking)


def adapted(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options, with a coroutine provider made callable from threads."""
    given = dict(options or {})
    for name, value in given.items():
        if name.replace(".", "_") == OPTION and gives_coroutines(value):
            given[name] = LoopTokens(value)
    return given


__all__ = ["LoopTokens", "adapted"]
