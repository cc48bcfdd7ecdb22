"""Small batches without waiting: what a Python worker of Spark should have been told about its connection to the JVM.

Spark sends a task in two small pieces over TCP, and Nagle's algorithm holds the second one back until the worker's
kernel acknowledges the first, which it does after 40 ms. A worker answers in two pieces, with the same result the other
way round. And after each task the worker collects garbage, 30 to 60 ms for the modules that are loaded, while the next
task waits. A micro-batch of 100 rows meets all three of them, several times.

Spark unpickles our objects between the two pieces: the moment to put this right, on that one connection and in that
process alone. With ``spark.python.unix.domain.socket.enabled`` (Spark 4.1) there is no TCP, and only the last applies.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from types import FrameType
from typing import Any

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)
"""Linux only. Not a setting but an order, to be given again for each task."""
_FREEZES = 2

_frozen: tuple[int, int] = (0, 0)
"""Process, and how often its heap was set aside."""


class InWorker:
    """For what Spark sends to its workers: prepares the worker when it arrives there."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        do_not_wait()


def do_not_wait() -> None:
    """Acknowledge what came, send what is written, and take what is loaded out of the garbage collector's hands."""
    fd = _connection_to_jvm(sys._getframe(1))
    if fd is None:
        return
    try:
        with socket.socket(fileno=os.dup(fd)) as connection:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if _QUICKACK is not None:
                    connection.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
    except OSError:
        pass  # not a socket, or one that cannot do this: slower, and right
    _set_heap_aside()


def _set_heap_aside() -> None:
    """At the first task, when the modules are loaded, and at the second: the worker has just collected its garbage, so
    what the first one loaded is all there is. Never again: what tasks leave behind must be collected."""
    global _frozen
    process, times = _frozen
    times = times if process == os.getpid() else 0
    if times < _FREEZES:
        gc.freeze()
        _frozen = (os.getpid(), times + 1)


def _connection_to_jvm(frame: FrameType | None) -> int | None:
    """The descriptor of the stream that the worker which called us reads; None when it is not a worker of Spark's."""
    while frame is not None:
        if "infile" in frame.f_code.co_varnames and str(frame.f_globals.get("__name__", "")).startswith("pyspark."):
            try:
                return int(frame.f_locals["infile"].fileno())
            except (KeyError, AttributeError, OSError, ValueError):
                return None
        frame = frame.f_back
    return None


__all__ = ["InWorker", "do_not_wait"]
