"""Ctrl-C for commands that run until they are told to stop: the first asks to stop, the second does not ask.

Signal handlers can be set on the main thread only; elsewhere nothing changes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code that shells know for it."""


class Interrupted:
    """Whether Ctrl-C was pressed; true in a condition then."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __bool__(self) -> bool:
        return self.event.is_set()


@contextmanager
def on_interrupt(stop: Callable[[], None] = lambda: None) -> Iterator[Interrupted]:
    """While inside, the first Ctrl-C calls ``stop`` instead of breaking in anywhere."""
    pressed = Interrupted()

    def handle(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.event.set()
        stop()

    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


__all__ = ["INTERRUPTED", "Interrupted", "on_interrupt"]
