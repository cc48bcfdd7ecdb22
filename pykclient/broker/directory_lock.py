"""One cluster per data directory: a lock that the kernel lets go of when the process ends, however it ends.

Used by the thread that starts and closes a cluster. On systems without ``flock`` there is no lock.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pykclient.errors import UsageError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FILE_NAME = ".lock"


class DirectoryLock:
    """Held from its making to ``release``."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(directory / FILE_NAME, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        if fcntl is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            self._descriptor = -1
            raise UsageError(f"another broker is using the data directory {directory}") from None

    def release(self) -> None:
        """Let go. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
