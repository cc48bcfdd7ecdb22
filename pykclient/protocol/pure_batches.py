"""A batch that takes records, and the light promise of each one: what the native twin keeps in C structures.

The producer's hottest path. ``append_to`` and ``append_direct`` add a record, note its callback and make its promise in
one step that is whole or has not happened. Natively that is one call during which nothing else runs, so that it needs
no lock as long as whoever takes a batch away sets ``open = False`` before looking at it; here the lock does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from typing import Any, TypeVar

from pykclient.protocol.batch_builder import Header, append
from pykclient.protocol.pure_murmur2 import murmur2


class OpenBatch:
    """The part of a batch that appends and promises touch; whoever owns the batch derives from it and sets all."""

    __slots__ = ("buffer", "callbacks", "children", "delivery", "limit", "open", "record_count")

    buffer: bytearray
    limit: int
    """Bytes after which no record is added; smaller than the buffer never, the buffer may be a record's own size."""
    record_count: int
    open: bool
    """Still takes records. Set to False before anything else is read by one who takes the batch away."""
    callbacks: list[tuple[int, Any, Any]] | None
    """(index, callback, promise); None when they were told."""
    delivery: tuple[Any, ...] | None
    """(base offset, log append time, error, errors of single records) once it is known."""
    children: Any
    """What took the records over when the batch was split, else None."""


class SentRecord(tuple[Any, int, int, int, int]):
    """Where a record is: its batch, its index there, its timestamp, and the bytes of key and value (-1 for none)."""

    __slots__ = ()

    def __new__(cls, batch: Any, index: int, timestamp: int, key_size: int, value_size: int) -> SentRecord:
        return tuple.__new__(cls, (batch, index, timestamp, key_size, value_size))

    batch: Any = property(itemgetter(0))
    index: int = property(itemgetter(1))  # type: ignore[assignment]
    timestamp: int = property(itemgetter(2))  # type: ignore[assignment]
    key_size: int = property(itemgetter(3))  # type: ignore[assignment]
    value_size: int = property(itemgetter(4))  # type: ignore[assignment]

    @property
    def delivered(self) -> bool:
        """The batch has its outcome, and that is no error for any of its records."""
        delivery = self[0].delivery
        return delivery is not None and delivery[2] is None and delivery[3] is None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


Promise = TypeVar("Promise", bound=SentRecord)
_new_promise = tuple.__new__


def append_to(
    promise_type: type[Promise],
    batch: OpenBatch,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[Header] | None,
    callback: Callable[..., object] | None,
) -> Promise | None:
    """Add a record and give its promise; None when the batch is closed or has no room for it. Under the lock."""
    if not batch.open:
        return None
    index = append(batch.buffer, batch.limit, timestamp, key, value, headers)
    if index < 0:
        return None
    batch.record_count = index + 1
    sizes = -1 if key is None else len(key), -1 if value is None else len(value)
    promise = _new_promise(promise_type, (batch, index, timestamp, *sizes))
    if callback is not None:
        assert batch.callbacks is not None, "an open batch has a list of callbacks"
        batch.callbacks.append((index, callback, promise))
    return promise


def append_direct(
    promise_type: type[Promise],
    lanes: Mapping[str, list[Any]],
    topic: str,
    value: Any,
    key: Any,
    partition: int | None,
    timestamp: int | None,
    callback: Callable[..., object] | None,
    wall_ns: Callable[[], int],
    lock: AbstractContextManager[object],
) -> Promise | None:
    """Add a record of plain bytes to the batch it belongs to, if that takes it; None means: go the long way.

    ``lanes`` has for each topic a list of its open batches: first the one for records without a key, then one per
    partition (None where there is none), so that its length tells how many partitions there are.
    """
    if (value is not None and type(value) is not bytes) or (key is not None and type(key) is not bytes):
        return None
    lane = lanes.get(topic) if type(topic) is str else None
    if lane is None or len(lane) < 2:
        return None
    if partition is not None:
        if type(partition) is not int or not 0 <= partition < len(lane) - 1:
            return None
        at = partition + 1
    else:
        at = 0 if key is None else (murmur2(key) & 0x7FFFFFFF) % (len(lane) - 1) + 1
    if timestamp is None:
        timestamp = wall_ns() // 1_000_000
    elif type(timestamp) is not int or not 0 <= timestamp < 1 << 63:
        return None
    with lock:
        batch = lane[at]
        return None if batch is None else append_to(promise_type, batch, timestamp, key, value, None, callback)
