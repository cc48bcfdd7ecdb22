"""Which partition a record goes to: Kafka's default (murmur2, adaptive sticky), its older ones, and librdkafka's by
name.

Pure: randomness is passed in, the cluster is an argument. Choosers that keep state (sticky, round-robin) are called
under the accumulator's lock.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from pykclient.protocol.murmur2 import murmur2, to_positive


@dataclass(frozen=True, slots=True)
class Partitions:
    """A topic's partitions as the client sees them now. ``available`` have a leader; it is empty when none has."""

    count: int
    available: Sequence[int]


class Random(Protocol):
    """The one thing asked of a source of randomness."""

    def getrandbits(self, count: int, /) -> int:
        """An int of ``count`` random bits."""
        ...


# (key bytes or None, partitions) -> partition. What every named partitioner below is, and what a user's callable is
# wrapped into.
KeyPartitioner = Callable[["bytes | None", Partitions], int]


class StickyPartition:
    """KIP-794: stay on one partition for about ``stick_bytes``, then draw another, the emptier its queue the likelier.

    ``current`` is what records without a partition go to. It moves only in ``appended``, so that every partition gets
    the same number of bytes whatever the batch sizes.
    """

    __slots__ = ("_cumulative_load", "_load_partitions", "_produced_bytes", "_random", "current", "stick_bytes")

    def __init__(self, stick_bytes: int, random: Random) -> None:
        self.stick_bytes = stick_bytes
        self.current = -1
        self._random = random
        self._produced_bytes = 0
        self._cumulative_load: list[int] = []
        self._load_partitions: list[int] = []

    def choose(self, partitions: Partitions) -> int:
        """The partition to use now; draws one when there is none yet or when it is gone."""
        if not 0 <= self.current < partitions.count:
            self.move(partitions)
        return self.current

    def appended(self, size: int, partitions: Partitions, *, batch_ready: bool) -> bool:
        """Count what was appended. True when the partition was changed.

        Past the limit it waits for the batch to be done with, so that a half-filled batch is not left behind; past
        twice the limit it moves anyway.
        """
        self._produced_bytes += size
        if self._produced_bytes >= self.stick_bytes and (batch_ready or self._produced_bytes >= 2 * self.stick_bytes):
            self.move(partitions)
            return True
        return False

    def move(self, partitions: Partitions) -> None:
        """Draw the next partition."""
        self._produced_bytes = 0
        draw = self._random.getrandbits(31)
        if self._cumulative_load:
            index = bisect_right(self._cumulative_load, draw % self._cumulative_load[-1])
            self.current = self._load_partitions[index]
        elif partitions.available:
            self.current = partitions.available[draw % len(partitions.available)]
        else:
            self.current = draw % partitions.count

    def update_load(self, queue_sizes: Mapping[int, int] | None) -> None:
        """Learn how many batches wait per available partition; None or a level field means an even draw."""
        if not queue_sizes or len(queue_sizes) < 2 or len(set(queue_sizes.values())) == 1:
            self._cumulative_load, self._load_partitions = [], []
            return
        ceiling = max(queue_sizes.values()) + 1
        self._load_partitions = list(queue_sizes)
        self._cumulative_load = list(accumulate(ceiling - size for size in queue_sizes.values()))


class UniformStickyPartition:
    """KIP-480: one partition until its batch is full or sent, then another drawn at random among the available, never
    the same twice."""

    __slots__ = ("_random", "current")

    def __init__(self, random: Random) -> None:
        self._random = random
        self.current = -1

    def choose(self, partitions: Partitions) -> int:
        """The partition to use now."""
        if not 0 <= self.current < partitions.count:
            self.new_batch(partitions)
        return self.current

    def new_batch(self, partitions: Partitions) -> None:
        """The open batch is done with: draw another partition."""
        available = [p for p in partitions.available if p != self.current]
        draw = self._random.getrandbits(31)
        if available:
            self.current = available[draw % len(available)]
        elif partitions.available:
            self.current = partitions.available[0]
        else:
            self.current = draw % partitions.count


class RoundRobin:
    """A counter over the available partitions (over all of them while none is available); keys are ignored."""

    __slots__ = ("_count",)

    def __init__(self, start: int = 0) -> None:
        self._count = start

    def __call__(self, key: bytes | None, partitions: Partitions) -> int:
        """The next partition."""
        count, self._count = self._count, self._count + 1
        if partitions.available:
            return partitions.available[count % len(partitions.available)]
        return count % partitions.count


def _random_partition(random: Random, partitions: Partitions) -> int:
    draw = random.getrandbits(31)
    if partitions.available:
        return partitions.available[draw % len(partitions.available)]
    return draw % partitions.count


def fnv1a(key: bytes) -> int:
    """FNV-1a over 32 bits, made non-negative the way librdkafka and Sarama do: the absolute signed value."""
    state = 0x811C9DC5
    for byte in key:
        state = ((state ^ byte) * 0x01000193) & 0xFFFFFFFF
    return state if state < 0x80000000 else 0x100000000 - state


_HASHES: dict[str, Callable[[bytes], int]] = {
    "consistent": zlib.crc32,
    "murmur2": lambda key: to_positive(murmur2(key)),
    "fnv1a": fnv1a,
}

#: Names that ``partitioner=`` takes beside an object or a callable.
NAMED_PARTITIONERS = (
    "default",
    "uniform_sticky",
    "round_robin",
    "random",
    *(name + suffix for name in _HASHES for suffix in ("", "_random")),
)


def hash_partitioner(name: str, random: Random) -> KeyPartitioner:
    """A librdkafka partitioner: ``consistent``, ``murmur2`` or ``fnv1a``; with ``_random``, records with no or an empty
    key go anywhere."""
    base = name.removesuffix("_random")
    hash_of = _HASHES[base]
    scatter = name.endswith("_random")

    def partition(key: bytes | None, partitions: Partitions) -> int:
        if not key and scatter:
            return _random_partition(random, partitions)
        return hash_of(key or b"") % partitions.count

    return partition


def random_partitioner(random: Random) -> KeyPartitioner:
    """Any available partition, whatever the key."""
    return lambda key, partitions: _random_partition(random, partitions)
