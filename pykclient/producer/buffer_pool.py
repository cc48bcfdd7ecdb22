"""The memory budget of a producer: standard-size buffers that are reused, the rest as plain bytes of budget, and a fair
queue for both.

Pure bookkeeping: it never waits and has no lock. The accumulator calls it under its own lock and does the waiting.
Every byte given out comes back through ``release`` or ``leave``; ``available_bytes`` equal to ``total_bytes`` means
that nothing is held anywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class Waiter:
    """Someone in the queue for memory. ``buffer`` is set, then ``wake`` called, when its turn has come and there is
    enough."""

    __slots__ = ("brought", "buffer", "gathered_bytes", "size", "wake")

    def __init__(self, size: int, wake: Callable[[], object], brought: bytearray | None = None) -> None:
        self.size = size
        self.brought = brought
        self.wake = wake
        self.gathered_bytes = 0
        self.buffer: bytearray | None = None


class BufferPool:
    """Gives out buffers within ``total_bytes``, first come, first served."""

    def __init__(self, total_bytes: int, poolable_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.poolable_bytes = poolable_bytes
        self._unpooled_bytes = total_bytes  # budget that is not cut into buffers
        self._free: deque[bytearray] = deque()
        self._waiters: deque[Waiter] = deque()

    @property
    def available_bytes(self) -> int:
        """What nobody holds: plain budget, free buffers, and what waiters have gathered so far."""
        gathered = sum(waiter.gathered_bytes for waiter in self._waiters)
        return self._unpooled_bytes + len(self._free) * self.poolable_bytes + gathered

    @property
    def waiting(self) -> int:
        """How many are queued."""
        return len(self._waiters)

    def waiters(self) -> list[Waiter]:
        """Those in the queue, first come first."""
        return list(self._waiters)

    def try_allocate(self, size: int) -> bytearray | None:
        """A buffer of at least ``size`` bytes (exactly the standard size, or exactly ``size``), or None: then ``join``
        the queue.

        Nobody overtakes: while others wait, the answer is None even when there would be enough.
        """
        if self._waiters:
            return None
        if size == self.poolable_bytes and self._free:
            return self._free.pop()
        if self._unpooled_bytes + len(self._free) * self.poolable_bytes < size:
            return None
        self._uncut(size)
        self._unpooled_bytes -= size
        return bytearray(size)

    def join(self, size: int, wake: Callable[[], object], brought: bytearray | None = None) -> Waiter:
        """Queue for ``size`` bytes. More than the pool will ever have is the caller's mistake and asserts. Whoever has
        ``brought`` a buffer of that size gets it back when there is budget for it."""
        assert size <= self.total_bytes, "asked for more than the whole pool"
        waiter = Waiter(size, wake, brought)
        self._waiters.append(waiter)
        self._serve()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Out of time or interrupted. What it gathered, or was just given, goes back and may serve another."""
        if waiter.buffer is not None:
            buffer, waiter.buffer = waiter.buffer, None
            self.release(buffer)
            return
        self._waiters.remove(waiter)
        self._unpooled_bytes += waiter.gathered_bytes
        waiter.gathered_bytes = 0
        self._serve()

    def release(self, buffer: bytearray) -> None:
        """Give a buffer back. Standard ones are kept for reuse; the caller must not touch it again."""
        if len(buffer) == self.poolable_bytes:
            self._free.append(buffer)
        else:
            self._unpooled_bytes += len(buffer)
        if self._waiters:
            self._serve()

    def _uncut(self, size: int) -> None:
        """Turn free buffers back into plain budget until there is enough of it, or none are left."""
        while self._free and self._unpooled_bytes < size:
            self._free.pop()
            self._unpooled_bytes += self.poolable_bytes

    def _serve(self) -> None:
        """Give to the head of the queue, then the next, while it lasts. A big request at the head gathers what comes in
        and blocks the rest."""
        while self._waiters:
            head = self._waiters[0]
            if head.size == self.poolable_bytes and head.gathered_bytes == 0 and self._free and head.brought is None:
                head.buffer = self._free.pop()
            else:
                wanted = head.size - head.gathered_bytes
                self._uncut(wanted)
                taken = min(wanted, self._unpooled_bytes)
                self._unpooled_bytes -= taken
                head.gathered_bytes += taken
                if head.gathered_bytes < head.size:
                    return
                head.gathered_bytes = 0
                head.buffer = bytearray(head.size) if head.brought is None else head.brought
            self._waiters.popleft()
            head.wake()
