"""The coordinator runtime: state machines whose every change is a record in an internal topic, and whose failover is
replay.

A *shard* is the state of one partition of ``__consumer_offsets`` or ``__transaction_state``. An operation on a shard
returns a ``Result``: the records to write and the reply to give. The runtime appends the records to the partition's
log, applies them with ``replay``, waits until they are committed (the high watermark has passed them), and only then
lets the reply out. There is no second persistence path. Runs on the broker node's thread; never blocks, never reads a
clock.

How a room uses it (the group and the transaction coordinator do exactly this):

- write a shard class that fulfils ``Shard``: ``replay`` is the only place where durable state changes, for live
  operations and at load alike;
- ``runtime = CoordinatorRuntime("__transaction_state", log, timers, shard_factory)``; the factory is given the
  partition and its ``ShardTimers``;
- ``runtime.elect(partition, leader_epoch, now=..., wall_ms=...)`` when this node starts to lead the partition,
  ``runtime.resign(partition)`` when it stops;
- ``runtime.run(partition, lambda shard: shard.init_producer_id(...), now=..., wall_ms=...)`` gives a Completion of
  the reply. It fails with ``NotCoordinator``, ``CoordinatorLoadInProgress`` or ``CoordinatorNotAvailable`` (log
  errors are translated), or with what the operation raised;
- timers belong to a shard (``ShardTimers.schedule(key, delay_s, operation)``): the operation runs through ``run``, so
  it may return records too, and the timers of a shard vanish with its leadership;
- several operations may be in flight: state moves on as soon as the local append is accepted, replies leave in commit
  order. A reply without records waits for the records before it, so nobody ever reads what a failover could take
  back.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pykclient.errors import (
    BrokerError,
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    KafkaError,
    KafkaStorageError,
    NotCoordinator,
    NotEnoughReplicas,
    NotEnoughReplicasAfterAppend,
    NotLeaderOrFollower,
    RequestTimedOut,
    UnknownTopicOrPartition,
)
from pykclient.net.completion import Completion

logger = logging.getLogger(__name__)

R = TypeVar("R")
S = TypeVar("S", bound="Shard")

LOAD_BATCHES_PER_STEP = 2000
"""A longer log is loaded over several turns of the node's loop, so that a big internal topic doesn't stall the node's
other partitions.
"""


@dataclass(frozen=True, slots=True)
class CoordinatorRecord:
    """A key and a value as they stand in the internal topic, with Kafka's type and version prefixes; value None is a
    tombstone.
    """

    key: bytes
    value: bytes | None


@dataclass(slots=True)
class Result(Generic[R]):
    """What an operation decided: records to write first, then the reply. ``reply`` may itself be pending (a JoinGroup
    that waits for others).
    """

    reply: R | Completion[R]
    records: Sequence[CoordinatorRecord] = field(default_factory=list)
    replay: bool = True
    """False when the operation has changed the state already and the records only make it durable (classic groups)."""
    on_written: Callable[[BaseException | None], None] | None = None
    """Called once the records are committed (None) or could not be written (the translated error); before the reply
    leaves.
    """


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
        """Append one batch (transactional when a producer id is given); completes with the next offset when it is
        committed.
        """
        ...

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
        """Append a transaction marker (control batch)."""
        ...

    def read_all(self, topic: str, partition: int) -> Sequence[LoadedBatch]:
        """Everything from the log start to its end, for replay."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedBatch:
    """One batch of an internal log, decoded for replay. For a control batch ``records`` is empty and ``commits`` says
    which marker it is.
    """

    base_offset: int
    producer_id: int
    producer_epoch: int
    transactional: bool
    commits: bool | None
    records: Sequence[CoordinatorRecord]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a replayed record stands. ``sequence`` grows with every record of the shard; ``producer_id`` is -1
    outside transactions.
    """

    sequence: int
    producer_id: int = -1
    producer_epoch: int = -1


class Shard(Protocol):
    """The state of one partition of the internal topic."""

    def replay(self, record: CoordinatorRecord, position: Position) -> None:
        """Apply one record. Must accept every record that this shard, or an older version of it, ever wrote."""
        ...

    def end_transaction(self, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """A marker stands in the log: what the producer wrote transactionally counts now, or never did."""
        ...

    def on_loaded(self, now: float, wall_ms: int) -> None:
        """Everything is replayed and this node leads: start the timers."""
        ...

    def on_unloaded(self) -> None:
        """Leadership is lost. Timers are gone and pending replies have failed already."""
        ...


class ShardTimers:
    """The timers of one shard. An expired timer runs its operation through the runtime, as a request would."""

    __slots__ = ("_keys", "_prefix", "_run", "_timers")

    def __init__(
        self,
        timers: Timers,
        prefix: tuple[object, ...],
        run: Callable[[Callable[[float, int], Result[None]], float], None],
    ) -> None:
        self._timers = timers
        self._prefix = prefix
        self._run = run
        self._keys: set[object] = set()

    def schedule(self, key: object, delay_s: float, operation: Callable[[float, int], Result[None]]) -> None:
        """Run ``operation(now, wall_ms)`` after ``delay_s``; an earlier timer of the same key is replaced."""

        def expire(now: float) -> None:
            self._keys.discard(key)
            self._run(operation, now)

        self._keys.add(key)
        self._timers.schedule((*self._prefix, key), max(0.0, delay_s), expire)

    def cancel(self, key: object) -> None:
        """Forget it; unknown keys are fine."""
        if key in self._keys:
            self._keys.discard(key)
            self._timers.cancel((*self._prefix, key))

    def scheduled(self, key: object) -> bool:
        """Whether the key's timer is running."""
        return key in self._keys

    def cancel_all(self) -> None:
        """Forget all of them."""
        for key in list(self._keys):
            self.cancel(key)


class ShardState(enum.Enum):
    """What this node is to one partition of the internal topic."""

    LOADING = "loading"
    ACTIVE = "active"
    FAILED = "failed"
    CLOSED = "closed"


LEGAL = {
    ShardState.LOADING: {ShardState.ACTIVE, ShardState.FAILED, ShardState.CLOSED},
    ShardState.ACTIVE: {ShardState.CLOSED},
    ShardState.FAILED: {ShardState.CLOSED},
    ShardState.CLOSED: set(),
}


class _Led(Generic[S]):
    """A partition this node leads (or is about to): the shard, its timers, and the replies that wait for a commit."""

    __slots__ = ("last_append", "leader_epoch", "pending", "sequence", "shard", "state", "timers")

    def __init__(self, shard: S, timers: ShardTimers, leader_epoch: int) -> None:
        self.shard = shard
        self.timers = timers
        self.leader_epoch = leader_epoch
        self.state = ShardState.LOADING
        self.sequence = 0
        self.last_append: Completion[int] | None = None
        # Insertion-ordered, so that a resignation fails the waiters in the order they came.
        self.pending: dict[Completion[object], None] = {}

    def to(self, state: ShardState) -> None:
        assert state in LEGAL[self.state], f"{self.state} -> {state}"
        self.state = state


class CoordinatorRuntime(Generic[S]):
    """Runs the shards of one internal topic on this node. See the module text for how to use it."""

    def __init__(
        self,
        topic: str,
        log: InternalLog,
        timers: Timers,
        shard_factory: Callable[[int, ShardTimers], S],
        *,
        load_batches_per_step: int = LOAD_BATCHES_PER_STEP,
    ) -> None:
        self.topic = topic
        self._log = log
        self._timers = timers
        self._shard_factory = shard_factory
        self._load_batches_per_step = load_batches_per_step
        self._led: dict[int, _Led[S]] = {}
        # Timers are given monotonic time only; the wall clock of a timer's records follows from the last pair a
        # caller gave.
        self._wall_ahead_ms = 0.0

    # Leadership

    def elect(self, partition: int, leader_epoch: int, *, now: float, wall_ms: int) -> None:
        """This node leads the partition from ``leader_epoch`` on: load its log. An epoch that is not newer changes
        nothing.
        """
        self._observe(now, wall_ms)
        existing = self._led.get(partition)
        if existing is not None:
            if existing.state is not ShardState.FAILED and leader_epoch <= existing.leader_epoch:
                return
            self.resign(partition)
        timers = ShardTimers(
            self._timers, (self.topic, partition), lambda operation, at: self._expire(partition, operation, at)
        )
        led = _Led(self._shard_factory(partition, timers), timers, leader_epoch)
        self._led[partition] = led
        try:
            batches = iter(self._log.read_all(self.topic, partition))
        except KafkaError as error:
            self._fail_load(partition, led, error)
            return
        self._load_some(partition, led, batches, now)

    def _fail_load(self, partition: int, led: _Led[S], error: KafkaError) -> None:
        # As if another broker led it: clients look for the coordinator again, and the next election tries again.
        logger.error("cannot load %s-%d: %s", self.topic, partition, error)
        led.timers.cancel_all()
        led.to(ShardState.FAILED)

    def resign(self, partition: int) -> None:
        """This node leads the partition no longer: every waiting reply fails with NotCoordinator, and the state is
        dropped.
        """
        led = self._led.pop(partition, None)
        if led is None:
            return
        was_active = led.state is ShardState.ACTIVE
        led.to(ShardState.CLOSED)
        self._timers.cancel((self.topic, partition, "load"))
        led.timers.cancel_all()
        waiting, led.pending = list(led.pending), {}
        for reply in waiting:
            if not reply.done:
                reply.fail(NotCoordinator(f"{self.topic}-{partition} moved to another broker"))
        if was_active:
            led.shard.on_unloaded()

    def resign_all(self) -> None:
        """Leave every partition (the node stops)."""
        for partition in list(self._led):
            self.resign(partition)

    def partitions(self) -> list[int]:
        """The partitions this node leads, loaded or not, in order."""
        return sorted(self._led)

    def state(self, partition: int) -> ShardState | None:
        """None for a partition this node doesn't lead."""
        led = self._led.get(partition)
        return led.state if led is not None else None

    def shard(self, partition: int) -> S:
        """The loaded shard, to look at. Raises what ``run`` would fail with when it isn't here or not loaded."""
        return self._active(partition).shard

    def _load_some(self, partition: int, led: _Led[S], batches: Iterator[LoadedBatch], now: float) -> None:
        for _ in range(self._load_batches_per_step):
            batch = next(batches, None)
            if batch is None:
                led.to(ShardState.ACTIVE)
                led.shard.on_loaded(now, self._wall_ms(now))
                return
            try:
                self._replay_batch(led, batch)
            except KafkaError as error:
                self._fail_load(partition, led, error)
                return
        self._timers.schedule(
            (self.topic, partition, "load"), 0.0, lambda at: self._load_some(partition, led, batches, at)
        )

    def _replay_batch(self, led: _Led[S], batch: LoadedBatch) -> None:
        if batch.commits is not None:
            led.shard.end_transaction(
                producer_id=batch.producer_id, producer_epoch=batch.producer_epoch, committed=batch.commits
            )
            return
        producer = (batch.producer_id, batch.producer_epoch) if batch.transactional else (-1, -1)
        self._replay(led, batch.records, *producer)

    @staticmethod
    def _replay(led: _Led[S], records: Sequence[CoordinatorRecord], producer_id: int, producer_epoch: int) -> None:
        for record in records:
            led.sequence += 1
            led.shard.replay(record, Position(led.sequence, producer_id, producer_epoch))

    # Operations

    def run(
        self,
        partition: int,
        operation: Callable[[S], Result[R]],
        *,
        now: float,
        wall_ms: int,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> Completion[R]:
        """Run an operation on the partition's shard; completes with its reply once its records are committed.

        With a producer id the records are written as part of that producer's transaction and count when its marker
        comes.
        """
        self._observe(now, wall_ms)
        try:
            led = self._active(partition)
            result = operation(led.shard)
        except BrokerError as error:
            return Completion.failed(error)
        if not result.records:
            if result.on_written is not None:
                result.on_written(None)
            return self._reply_when_committed(led, result)
        written = self._append(partition, result.records, now, wall_ms, producer_id, producer_epoch)
        if written.done and written.error is not None:
            refused = coordinator_error(written.error)
            if result.on_written is not None:
                result.on_written(refused)
            return Completion.failed(refused)
        if result.replay:
            self._replay(led, result.records, producer_id, producer_epoch)
        else:
            led.sequence += len(result.records)
        led.last_append = written
        if result.on_written is not None:
            self._tell_when_written(led, written, result.on_written)
        return self._reply_when_committed(led, result)

    def end_transaction(self, partition: int, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """A marker has just been written into the partition's log (by whoever serves WriteTxnMarkers); no effect
        where this node has no shard.
        """
        led = self._led.get(partition)
        if led is not None and led.state is ShardState.ACTIVE:
            led.shard.end_transaction(producer_id=producer_id, producer_epoch=producer_epoch, committed=committed)

    def _append(
        self,
        partition: int,
        records: Sequence[CoordinatorRecord],
        now: float,
        wall_ms: int,
        producer_id: int,
        producer_epoch: int,
    ) -> Completion[int]:
        try:
            return self._log.append(
                self.topic,
                partition,
                records,
                now=now,
                wall_ms=wall_ms,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
            )
        except BrokerError as error:
            return Completion.failed(error)

    @staticmethod
    def _tell_when_written(
        led: _Led[S], written: Completion[int], tell: Callable[[BaseException | None], None]
    ) -> None:
        def committed(completion: Completion[int]) -> None:
            # After a resignation the shard is gone: there is nobody left to tell.
            if led.state is ShardState.ACTIVE:
                tell(None if completion.error is None else coordinator_error(completion.error))

        written.add_callback(committed)

    @staticmethod
    def _reply_when_committed(led: _Led[S], result: Result[R]) -> Completion[R]:
        outer: Completion[R] = Completion()
        led.pending[outer] = None  # type: ignore[index]

        def finish(error: BaseException | None, value: R | None) -> None:
            led.pending.pop(outer, None)  # type: ignore[arg-type]
            if outer.done:
                return
            if error is not None:
                outer.fail(error)
            else:
                outer.succeed(value)  # type: ignore[arg-type]

        def decided(completion: Completion[R]) -> None:
            if completion.error is not None:
                finish(completion.error, None)
            else:
                finish(None, completion.result())

        def committed(completion: Completion[int]) -> None:
            if completion.error is not None:
                finish(coordinator_error(completion.error), None)
            elif isinstance(result.reply, Completion):
                result.reply.add_callback(decided)
            else:
                finish(None, result.reply)

        # An append that failed long ago must not fail those who come after it.
        before = led.last_append
        if before is None or before.done:
            before = Completion.of(0)
        before.add_callback(committed)
        return outer

    def _active(self, partition: int) -> _Led[S]:
        led = self._led.get(partition)
        if led is None:
            raise NotCoordinator(f"{self.topic}-{partition} is not led by this broker")
        if led.state is ShardState.LOADING:
            raise CoordinatorLoadInProgress(f"{self.topic}-{partition} is being loaded")
        if led.state is ShardState.FAILED:
            raise NotCoordinator(f"{self.topic}-{partition} could not be loaded")
        return led

    # Time

    def _observe(self, now: float, wall_ms: int) -> None:
        self._wall_ahead_ms = wall_ms - now * 1000.0

    def _wall_ms(self, now: float) -> int:
        return int(now * 1000.0 + self._wall_ahead_ms)

    def _expire(self, partition: int, operation: Callable[[float, int], Result[None]], now: float) -> None:
        wall_ms = self._wall_ms(now)
        reply = self.run(partition, lambda shard: operation(now, wall_ms), now=now, wall_ms=wall_ms)
        reply.add_callback(self._log_failed_timer)

    def _log_failed_timer(self, reply: Completion[None]) -> None:
        if reply.error is not None:
            logger.info("a timer of %s had no effect: %s", self.topic, reply.error)


_NOT_AVAILABLE = (UnknownTopicOrPartition, NotEnoughReplicas, NotEnoughReplicasAfterAppend, RequestTimedOut)
_NOT_HERE = (NotLeaderOrFollower, KafkaStorageError)


def coordinator_error(error: BaseException) -> BaseException:
    """What a client of the coordinator is told when its log could not be written."""
    if isinstance(error, _NOT_AVAILABLE):
        return CoordinatorNotAvailable(str(error))
    if isinstance(error, _NOT_HERE):
        return NotCoordinator(str(error))
    return error
