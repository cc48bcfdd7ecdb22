"""A few daemon threads for work that may block: name look-ups, key derivations, token providers.

Threads start on demand, up to a limit, and end after a quiet while or with the reactor. They touch nothing of ours
but the function they are given and the queue its outcome goes to. Not concurrent.futures: its threads would hold up
the interpreter's exit while DNS hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

IDLE_S = 10.0

Job = tuple[Callable[[], object], Callable[[object, "BaseException | None"], None]]


class Workers:
    """``submit`` belongs to one thread, the reactor's; ``report`` is called on a worker's thread."""

    def __init__(self, count_max: int, *, name: str) -> None:
        self._count_max = count_max
        self._name = name
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, work: Callable[[], object], report: Callable[[object, BaseException | None], None]) -> None:
        """Run ``work`` soon and give its value or its error to ``report``."""
        with self._lock:
            starts = self._idle <= self._jobs.qsize() and self._threads < self._count_max
            self._threads += starts
        self._jobs.put((work, report))
        if starts:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def shut_down(self) -> None:
        """Idle threads end now, busy ones after their job."""
        for _ in range(self._count_max):
            self._jobs.put(None)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            try:
                job = self._jobs.get(timeout=IDLE_S)
            except Empty:
                job = None
            with self._lock:
                self._idle -= 1
                if job is None and self._jobs.empty():
                    self._threads -= 1
                    return
            if job is not None:
                _perform(*job)


def _perform(work: Callable[[], object], report: Callable[[object, BaseException | None], None]) -> None:
    value, failure = None, None
    try:
        value = work()
    except Exception as error:
        failure = error
    report(value, failure)
