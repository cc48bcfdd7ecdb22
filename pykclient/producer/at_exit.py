"""Producers at the end of a process: a script that falls off its end must not lose what it sent.

Knows every open producer, weakly. The interpreter calls when it ends; so does multiprocessing at the end of a forked
child, which does not run atexit functions. Must never touch, in a child, a producer of its parent.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Protocol


class Watched(Protocol):
    """What is asked of a producer here."""

    def close(self) -> None:
        """Deliver what is buffered, then end."""
        ...

    def _refuse_in_child(self) -> None:
        """This process was forked and is not the one that made the producer."""
        ...


_live: weakref.WeakSet[Watched] = weakref.WeakSet()
_finalized_pid = 0


def watch(producer: Watched) -> None:
    """Close it at the end, unless it is closed before."""
    _live.add(producer)
    _deliver_at_the_end_of_a_worker()


def forget(producer: Watched) -> None:
    """It is closed."""
    _live.discard(producer)


def _deliver_at_the_end_of_a_worker() -> None:
    global _finalized_pid
    # Not imported: a worker of multiprocessing has it, and nobody else needs it.
    multiprocessing, util = sys.modules.get("multiprocessing"), sys.modules.get("multiprocessing.util")
    if multiprocessing is None or util is None or multiprocessing.parent_process() is None:
        return
    if _finalized_pid != os.getpid():
        _finalized_pid = os.getpid()
        util.Finalize(None, _deliver, exitpriority=0)


def _after_fork_in_child() -> None:
    for producer in list(_live):
        producer._refuse_in_child()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


@atexit.register
def _deliver() -> None:
    for producer in list(_live):
        producer.close()


__all__ = ["Watched", "forget", "watch"]
