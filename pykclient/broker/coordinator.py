"""The coordinator runtime: state machines whose every change is a record in an internal topic, and whose failover is replay.

A *shard* is the state of one partition of ``__consumer_offsets`` or ``__transaction_state``. An operation on a shard returns a ``Result``: the
records to write and the reply to give. The runtime appends the records to the partition's log, applies them with ``replay``, waits until they
are committed (the high watermark has passed them), and only then lets the reply out. There is no second persistence path.
Runs on the broker node's thread; never blocks, never reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pykclient.net.completion import Completion

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class CoordinatorRecord:
    """A key and a value as they stand in the internal topic, with Kafka's type and version prefixes; value None is a tombstone."""

    key: bytes
    value: bytes | None


@dataclass(slots=True)
class Result(Generic[R]):
    """What an operation decided: records to write first, then the reply. ``reply`` may itself be pending (a JoinGroup that waits for others)."""

    reply: R | Completion[R]
    records: Sequence[CoordinatorRecord] = field(default_factory=list)


class Timers(Protocol):
    """Delayed calls on the broker's timing wheel. A key has at most one timer; scheduling it again replaces it."""

    def schedule(self, key: object, delay_s: float, action: Callable[[float], None]) -> None:
        """Call ``action(now)`` after ``delay_s``."""
        ...

    def cancel(self, key: object) -> None:
        """Forget it; unknown keys are fine."""
        ...


class InternalLog(Protocol):
    """What a coordinator needs from the partition log it lives in (implemented by replica_manager.py)."""

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
        """Append one batch (transactional when a producer id is given); completes with the next offset when it is committed."""
        ...

    def append_marker(
        self, topic: str, partition: int, *, producer_id: int, producer_epoch: int, coordinator_epoch: int, committed: bool, now: float, wall_ms: int
    ) -> Completion[int]:
        """Append a transaction marker (control batch)."""
        ...

    def read_all(self, topic: str, partition: int) -> Sequence[LoadedBatch]:
        """Everything from the log start to its end, for replay."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedBatch:
    """One batch of an internal log, decoded for replay. For a control batch ``records`` is empty and ``commits`` says which marker it is."""

    base_offset: int
    producer_id: int
    producer_epoch: int
    transactional: bool
    commits: bool | None
    records: Sequence[CoordinatorRecord]
