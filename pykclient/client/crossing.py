"""From our threads to an event loop, in batches: however much is posted before the loop comes round, it is woken once.

Any thread may post; what is posted runs on the loop, in order. Knows nothing of asyncio but the one call that is safe
from other threads, and keeps no loop alive. A loop that is closed hears nothing more, and nobody is told.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


class Crossing:
    """The way to one loop."""

    __slots__ = ("__weakref__", "_loop", "_mail", "_signalled")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._mail: deque[Callable[[], object]] = deque()
        self._signalled = False

    def post(self, callback: Callable[[], object]) -> None:
        """Run ``callback()`` on the loop soon. It must not raise. Any thread."""
        self._mail.append(callback)
        if self._signalled:
            return
        # Set before the call, and cleared by the loop before it looks at the mail: what is appended after that look
        # finds the flag cleared and wakes the loop again.
        self._signalled = True
        loop = self._loop()
        try:
            if loop is not None:
                loop.call_soon_threadsafe(self._arrive)
        except RuntimeError:
            if loop is None or not loop.is_closed():
                raise

    def _arrive(self) -> None:
        self._signalled = False
        mail = self._mail
        for _ in range(len(mail)):
            mail.popleft()()


_crossings: weakref.WeakKeyDictionary[AbstractEventLoop, Crossing] = weakref.WeakKeyDictionary()


def crossing_to(loop: AbstractEventLoop) -> Crossing:
    """The way to this loop, shared by all who use it; call it on the loop's own thread."""
    crossing = _crossings.get(loop)
    if crossing is None:
        crossing = _crossings[loop] = Crossing(loop)
    return crossing


__all__ = ["Crossing", "crossing_to"]
