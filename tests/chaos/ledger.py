"""What a fault may not do: the checker over everything that was sent, acknowledged and read back.

Values are unique integers. Lost: acknowledged and never read. Duplicated: read at two offsets. Reordered: read in
another order than sent to that partition. Contradicted: the acknowledged offset holds another value.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Verdict:
    """All four are empty when nothing went wrong."""

    lost: list[int]
    duplicated: list[int]
    reordered: list[tuple[int, int]]
    contradicted: list[int]

    @property
    def clean(self) -> bool:
        return not (self.lost or self.duplicated or self.reordered or self.contradicted)


@dataclass
class Ledger:
    """Fed by the sending thread and by acknowledgements on any thread."""

    sent: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    acked: dict[int, tuple[int, int]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    acked_at: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sending(self, partition: int, value: int) -> None:
        self.sent[partition].append(value)

    def acknowledged(self, value: int, partition: int, offset: int) -> None:
        with self._lock:
            self.acked[value] = (partition, offset)
            self.acked_at.append(time.monotonic())

    def refused(self, value: int, reason: str) -> None:
        with self._lock:
            self.failed[value] = reason

    def longest_gap_s(self) -> float:
        """The longest time between two acknowledgements: how long the fault was felt."""
        times = sorted(self.acked_at)
        return max((after - before for before, after in itertools.pairwise(times)), default=0.0)

    def check(self, read: Iterable[tuple[int, int, int]]) -> Verdict:
        """``read``: (partition, offset, value) of everything in the topic, in the order of offsets per partition."""
        by_place: dict[tuple[int, int], int] = {}
        by_partition: defaultdict[int, list[int]] = defaultdict(list)
        for partition, offset, value in read:
            by_place[partition, offset] = value
            by_partition[partition].append(value)
        counts = Counter(value for values in by_partition.values() for value in values)
        reordered = []
        for partition, values in by_partition.items():
            position = {value: index for index, value in enumerate(self.sent[partition])}
            places = [position[value] for value in values]
            reordered += [(partition, after) for before, after in itertools.pairwise(places) if after < before]
        return Verdict(
            lost=sorted(value for value in self.acked if value not in counts),
            duplicated=sorted(value for value, count in counts.items() if count > 1),
            reordered=reordered,
            contradicted=sorted(
                value for value, place in self.acked.items() if place in by_place and by_place[place] != value
            ),
        )
