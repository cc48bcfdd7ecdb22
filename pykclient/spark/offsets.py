"""Offsets as Spark keeps them, and what is read next: pure functions, tested without Spark or Kafka.

Runs in the driver's Python processes. Nothing here asks a broker, a clock or chance: a batch that is replayed from the
checkpoint must be cut into the same pieces.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from pykclient.errors import UsageError
from pykclient.types import TopicPartition

EARLIEST, LATEST = -2, -1

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """A piece of a partition: from ``start`` up to, not including, ``end``."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        """Offsets in it; fewer records where there are gaps."""
        return self.end - self.start


def to_json(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """{"topic": {"0": 23}}, sorted: what Spark's own connector writes into a checkpoint."""
    found: dict[str, dict[str, int]] = {}
    for topic, partition in sorted(offsets):
        found.setdefault(topic, {})[str(partition)] = offsets[TopicPartition(topic, partition)]
    return found


def from_json(offsets: Mapping[str, Any] | str, option: str = "offset") -> Offsets:
    """The other way; UsageError shows the expected form."""
    try:
        parsed = json.loads(offsets) if isinstance(offsets, str) else offsets
        found = {
            TopicPartition(topic, int(partition)): _whole(offset)
            for topic, partitions in parsed.items()
            for partition, offset in partitions.items()
        }
    except (ValueError, AttributeError, TypeError):
        raise UsageError(
            f'{option}: expected e.g. {{"topicA":{{"0":23,"1":-1}},"topicB":{{"0":-2}}}}, got {offsets!r}'
        ) from None
    return found


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError
    return number


def partitions_from_json(text: str, option: str) -> list[TopicPartition]:
    """{"topic": [0, 1]}."""
    try:
        parsed = json.loads(text)
        return sorted(
            TopicPartition(topic, _whole(partition)) for topic, partitions in parsed.items() for partition in partitions
        )
    except (ValueError, AttributeError, TypeError):
        raise UsageError(f'{option}: expected e.g. {{"topicA":[0,1],"topicB":[0,1]}}, got {text!r}') from None


def rate_limited(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], rows_max: int) -> Offsets:
    """The ends of a batch of at most ``rows_max`` offsets, shared among partitions by how much they have.

    Every partition with something to read gets at least one offset when there are enough to go round, so that a small
    one is not starved by large ones; when there are not, the turn goes round with the offsets.
    """
    sizes = {tp: end[tp] - start.get(tp, 0) for tp in sorted(end)}
    filled = {tp: size for tp, size in sizes.items() if size > 0}
    if sum(filled.values()) <= rows_max:
        return dict(end)
    shares = dict.fromkeys(filled, 0)
    if rows_max < len(filled):
        names = list(filled)
        turn = sum(start.get(tp, 0) for tp in names) % len(names)
        for tp in (names[turn:] + names[:turn])[:rows_max]:
            shares[tp] = 1
    else:
        spare, total = rows_max - len(filled), sum(size - 1 for size in filled.values())
        for tp, size in filled.items():
            shares[tp] = 1 + (size - 1) * spare // max(total, 1)
        # Rounding down left fewer than one offset per partition; those with the most left to read get them.
        left = rows_max - sum(shares.values())
        for tp in sorted(filled, key=lambda tp: shares[tp] - filled[tp])[:left]:
            shares[tp] += 1
    return {tp: end[tp] - sizes[tp] + shares[tp] if tp in shares else end[tp] for tp in end}


def ranges_between(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> list[OffsetRange]:
    """What a batch reads. A partition that is new in ``end`` is read from its beginning; so is one that ends before it
    starts: its topic was made anew."""
    ranges = []
    for tp in sorted(end):
        first = start.get(tp, 0)
        ranges.append(OffsetRange(tp.topic, tp.partition, first if first <= end[tp] else 0, end[tp]))
    return [each for each in ranges if each.size > 0]


class Loss(NamedTuple):
    """Records that can no longer be read."""

    topic_partition: TopicPartition
    wanted: int
    available: int | None
    """Where the partition ends now; None: it is gone."""


def losses_between(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> list[Loss]:
    """Partitions that are gone, or shorter than what has been read of them already."""
    return [Loss(tp, offset, end.get(tp)) for tp, offset in sorted(start.items()) if tp not in end or end[tp] < offset]


def split_ranges(
    ranges: Iterable[OffsetRange], *, min_partitions: int | None = None, rows_max: int | None = None
) -> list[OffsetRange]:
    """The same offsets in more pieces: none longer than ``rows_max``, and at least ``min_partitions`` when there are so
    many offsets. Pieces of one range differ by one offset at most, and follow each other without gap or overlap."""
    kept = [each for each in ranges if each.size > 0]
    counts = {each: 1 if rows_max is None else -(-each.size // rows_max) for each in kept}
    if min_partitions is not None and sum(counts.values()) < min_partitions:
        missing = min(min_partitions, sum(each.size for each in kept)) - sum(counts.values())
        longest = [(-each.size / counts[each], index) for index, each in enumerate(kept)]
        heapq.heapify(longest)
        for _ in range(missing):
            each = kept[longest[0][1]]
            counts[each] += 1
            heapq.heapreplace(longest, (-each.size / counts[each], longest[0][1]))
    return [piece for each in kept for piece in _pieces(each, counts[each])]


def _pieces(whole: OffsetRange, count: int) -> list[OffsetRange]:
    bounds = [whole.start + whole.size * index // count for index in range(count + 1)]
    return [OffsetRange(whole.topic, whole.partition, first, last) for first, last in pairwise(bounds) if last > first]


__all__ = [
    "EARLIEST",
    "LATEST",
    "Loss",
    "OffsetRange",
    "Offsets",
    "from_json",
    "losses_between",
    "partitions_from_json",
    "ranges_between",
    "rate_limited",
    "split_ranges",
    "to_json",
]
