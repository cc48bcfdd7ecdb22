"""Stand-ins for the node around a coordinator: a log that commits when told to, and timers over a clock moved by
hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pykclient.broker.coordinator import CoordinatorRecord, LoadedBatch
from pykclient.net.completion import Completion


class FakeLog:
    """Keeps batches per partition. ``commit_at_once=False`` holds every append until ``commit()``."""

    def __init__(self, *, commit_at_once: bool = True) -> None:
        self.batches: dict[tuple[str, int], list[LoadedBatch]] = {}
        self.commit_at_once = commit_at_once
        self.fail_next: BaseException | None = None
        self._ends: dict[tuple[str, int], int] = {}
        self._waiting: list[tuple[Completion[int], int]] = []

    def append(
        self,
        topic: str,
        partition: int,
        records: Sequence[CoordinatorRecord],
        *,
        now: float,
        wall_ms: int,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> Completion[int]:
        if self.fail_next is not None:
            error, self.fail_next = self.fail_next, None
            return Completion.failed(error)
        base = self._ends.get((topic, partition), 0)
        batch = LoadedBatch(base, producer_id, producer_epoch, producer_id >= 0, None, list(records))
        self.batches.setdefault((topic, partition), []).append(batch)
        end = base + len(records)
        self._ends[(topic, partition)] = end
        completion: Completion[int] = Completion()
        self._waiting.append((completion, end))
        if self.commit_at_once:
            self.commit()
        return completion

    def append_marker(
        self,
        topic: str,
        partition: int,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        committed: bool,
        now: float,
        wall_ms: int,
    ) -> Completion[int]:
        base = self._ends.get((topic, partition), 0)
        batch = LoadedBatch(base, producer_id, producer_epoch, True, committed, [])
        self.batches.setdefault((topic, partition), []).append(batch)
        self._ends[(topic, partition)] = base + 1
        return Completion.of(base + 1)

    def read_all(self, topic: str, partition: int) -> Sequence[LoadedBatch]:
        return list(self.batches.get((topic, partition), []))

    def commit(self, error: BaseException | None = None) -> None:
        """Everything appended so far is committed, or has failed."""
        waiting, self._waiting = self._waiting, []
        for completion, end in waiting:
            if error is None:
                completion.succeed(end)
            else:
                completion.fail(error)

    def records(self, topic: str, partition: int) -> list[CoordinatorRecord]:
        return [record for batch in self.batches.get((topic, partition), []) for record in batch.records]


class FakeTimers:
    """Runs what is due when the clock is moved, in order of time and then of scheduling."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._count = 0
        self.due: dict[object, tuple[float, int, Callable[[float], None]]] = {}

    def schedule(self, key: object, delay_s: float, action: Callable[[float], None]) -> None:
        self._count += 1
        self.due[key] = (self.now + delay_s, self._count, action)

    def cancel(self, key: object) -> None:
        self.due.pop(key, None)

    def advance(self, seconds: float) -> None:
        until = self.now + seconds
        while self.due:
            key, (at, _, action) = min(self.due.items(), key=lambda item: item[1][:2])
            if at > until:
                break
            del self.due[key]
            self.now = max(self.now, at)
            action(self.now)
        self.now = until

    @property
    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.now * 1000)
