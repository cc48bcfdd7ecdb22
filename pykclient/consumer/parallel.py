"""Many handlers at once over one consumer: order per key, commits only of what is finished without a gap, retries, dead
letters.

``KafkaConsumer.process`` runs this on the thread that calls it: that thread polls, hands records to worker threads and
commits; workers only run handlers. The asyncio twin (aio/processing.py) does the same with tasks and shares the parts
that do not wait. A record counts as done when its handler returned (or it was put away as a dead
letter); what is committed is the end of the unbroken row of done records, so a crash brings back at most what was in
hand.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from pykclient.errors import DeserializationError, KafkaError, UsageError
from pykclient.net.transport import Clock
from pykclient.plugins import RebalanceListener
from pykclient.types import ConsumerRecord, Headers, OffsetAndMetadata, TimestampType, TopicPartition

if TYPE_CHECKING:
    from pykclient.consumer.consumer import KafkaConsumer
    from pykclient.consumer.core import ConsumerCore

logger = logging.getLogger(__name__)

ORDERINGS = ("key", "partition", "none")
ON_ERROR = ("raise", "retry", "dead_letter")
POLL_S = 0.05
Handler = Callable[[ConsumerRecord[Any, Any]], Any]


class Steered(Protocol):
    """What both faces have in common and ``process`` needs: none of it waits."""

    def assignment(self) -> set[TopicPartition]:
        """The partitions read now."""
        ...

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Return no records of these."""
        ...

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        ...

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Undo ``pause``."""
        ...

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on from here."""
        ...


class DeadLetterProducer(Protocol):
    """What is needed of a producer: a KafkaProducer is one."""

    def send(self, topic: str, value: Any = None, key: Any = None, headers: Any = None) -> Any:
        """Send; the result has ``result(timeout)``."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """How to run the handlers."""

    workers: int
    ordering: str
    on_error: str
    retries: int | None
    """Attempts after the first; None: without end."""
    retry_backoff_s: float
    retry_backoff_max_s: float
    in_flight_max: int
    commit_interval_s: float
    dead_letter_producer: DeadLetterProducer | None
    dead_letter_topic: str | None

    def __post_init__(self) -> None:
        problems = []
        if self.workers < 1:
            problems.append("workers must be at least 1")
        if self.ordering not in ORDERINGS:
            problems.append(f"ordering is one of {', '.join(ORDERINGS)}")
        if self.on_error not in ON_ERROR:
            problems.append(f"on_error is one of {', '.join(ON_ERROR)}")
        if self.on_error == "dead_letter" and self.dead_letter_producer is None:
            problems.append("on_error='dead_letter' needs dead_letter_producer, a KafkaProducer to send them with")
        if problems:
            raise UsageError("process(): " + "; ".join(problems))

    @classmethod
    def given(
        cls, *, retry_backoff_ms: int, retry_backoff_max_ms: int, commit_interval_ms: int, **same: Any
    ) -> ProcessSettings:
        """From what users give, which is milliseconds."""
        return cls(
            retry_backoff_s=retry_backoff_ms / 1000,
            retry_backoff_max_s=retry_backoff_max_ms / 1000,
            commit_interval_s=commit_interval_ms / 1000,
            **same,
        )

    @property
    def lanes(self) -> int:
        """Queues between the poll and the workers: one of its own for each worker where an order is kept."""
        return 1 if self.ordering == "none" else self.workers

    def may_retry(self, attempt: int) -> bool:
        """Whether a handler that failed is called again."""
        return self.on_error != "raise" and (self.retries is None or attempt < self.retries)

    def pause_s(self, attempt: int) -> float:
        """Before the next attempt."""
        return min(self.retry_backoff_s * 2.0 ** min(attempt, 30), self.retry_backoff_max_s)

    def dead_letter(self, record: ConsumerRecord[Any, Any], error: Exception) -> tuple[str, Headers]:
        """Where a record is put away; its headers say where it came from and why it failed."""
        reason = f"{type(error).__name__}: {error}".encode(errors="replace")[:1000]
        return self.dead_letter_topic or f"{record.topic}.dead-letters", [
            *record.headers,
            ("dead-letter.topic", record.topic.encode()),
            ("dead-letter.partition", str(record.partition).encode()),
            ("dead-letter.offset", str(record.offset).encode()),
            ("dead-letter.error", reason),
        ]

    def unreadable(self, error: DeserializationError) -> ConsumerRecord[Any, Any]:
        """A record no handler can be given, as raw bytes to put away; raises the error where that is not wanted."""
        topic, partition, offset = error.topic, error.partition, error.offset
        if self.on_error != "dead_letter" or topic is None or partition is None or offset is None:
            raise error
        return ConsumerRecord(
            topic, partition, offset, -1, TimestampType.CREATE_TIME, error.raw_key, error.raw_value, [], None
        )


class Lanes:
    """Which queue a record goes to: the same for all that must stay in order."""

    def __init__(self, settings: ProcessSettings) -> None:
        self._count = settings.lanes
        self._by_partition = settings.ordering == "partition"
        self._round_robin = 0

    def of(self, record: ConsumerRecord[Any, Any]) -> int:
        """The number of the queue."""
        if self._count == 1:
            return 0
        if self._by_partition:
            return hash((record.topic, record.partition)) % self._count
        if record.key is None:
            self._round_robin += 1
            return self._round_robin % self._count
        key = record.key if isinstance(record.key, bytes) else repr(record.key).encode()
        return zlib.crc32(key) % self._count


@dataclass(slots=True)
class FinishedOffsets:
    """Which records of one partition are done. ``committable`` is the offset after the unbroken row of done ones."""

    committable: int
    _open: list[int] = field(default_factory=list)  # heap of offsets in hand
    _done: set[int] = field(default_factory=set)
    _last: int = -1

    def begin(self, offset: int) -> None:
        """A record was handed to a worker; offsets come in order."""
        heapq.heappush(self._open, offset)
        self._last = offset

    def finish(self, offset: int) -> None:
        """Its handler is done."""
        self._done.add(offset)
        while self._open and self._open[0] in self._done:
            self._done.discard(heapq.heappop(self._open))
        self.committable = self._open[0] if self._open else self._last + 1

    @property
    def in_hand(self) -> int:
        """Records not done yet."""
        return len(self._open)


class Progress:
    """What of each partition is in hand, done and committed. Has no lock: the blocking face has one around it."""

    def __init__(self) -> None:
        self._offsets: dict[TopicPartition, FinishedOffsets] = {}
        self._committed: dict[TopicPartition, int] = {}

    def begin(self, tp: TopicPartition, records: list[ConsumerRecord[Any, Any]]) -> None:
        """These were handed to workers."""
        finished = self._offsets.setdefault(tp, FinishedOffsets(records[0].offset))
        for record in records:
            finished.begin(record.offset)

    def finish(self, record: ConsumerRecord[Any, Any]) -> None:
        """Its handler is done; too late for a partition that is gone."""
        finished = self._offsets.get(TopicPartition(record.topic, record.partition))
        if finished is not None:
            finished.finish(record.offset)

    def ours(self, record: ConsumerRecord[Any, Any]) -> bool:
        """Whether its partition is still here."""
        return TopicPartition(record.topic, record.partition) in self._offsets

    def in_hand(self, partitions: Collection[TopicPartition] | None = None) -> int:
        """Records not done yet, of these partitions or of all."""
        return sum(f.in_hand for tp, f in self._offsets.items() if partitions is None or tp in partitions)

    def to_commit(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The ends of the unbroken rows of done records, where they have moved since the last commit."""
        return {
            tp: OffsetAndMetadata(finished.committable)
            for tp, finished in self._offsets.items()
            if self._committed.get(tp) != finished.committable
        }

    def committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """A commit succeeded."""
        self._committed.update((tp, committed.offset) for tp, committed in offsets.items())

    def unfinished(self) -> dict[TopicPartition, int]:
        """The first record not done of each partition that has any."""
        return {tp: finished.committable for tp, finished in self._offsets.items() if finished.in_hand}

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """They are no longer ours."""
        for tp in partitions:
            self._offsets.pop(tp, None)
            self._committed.pop(tp, None)


class ParallelProcessor:
    """One run of ``process``."""

    def __init__(
        self,
        consumer: KafkaConsumer,
        handler: Handler,
        settings: ProcessSettings,
        clock: Clock,
        patience_s: float,
        records_max: int = 500,
    ) -> None:
        self._records_max = records_max
        self._clock = clock
        self._patience_s = patience_s
        self._consumer = consumer
        self._handler = handler
        self._settings = settings
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._stop = threading.Event()
        self._progress = Progress()
        self._failure: BaseException | None = None
        self._lanes = Lanes(settings)
        self._queues: list[SimpleQueue[ConsumerRecord[Any, Any] | None]] = [
            SimpleQueue() for _ in range(settings.lanes)
        ]

    # ---- the polling thread ------------------------------------------------------------------------------------------

    def run(self, stop: Callable[[], bool]) -> None:
        """Until ``stop()`` or a failure; leaves with everything begun finished and committed, and the consumer at the
        first record that was not."""
        threads = [
            threading.Thread(target=self._work, args=(self._queues[index % len(self._queues)],), daemon=True)
            for index in range(self._settings.workers)
        ]
        for thread in threads:
            thread.start()
        try:
            self._loop(stop)
        finally:
            # Handlers in the middle of a record finish it; what is queued behind them is not begun.
            self._stop.set()
            with self._changed:
                self._changed.notify_all()
            for index in range(len(threads)):
                self._queues[index % len(self._queues)].put(None)
            for thread in threads:
                thread.join()
            self._commit()
            with self._lock:
                unfinished = self._progress.unfinished()
            step_back(self._consumer, unfinished)
        if self._failure is not None:
            raise self._failure

    def _loop(self, stop: Callable[[], bool]) -> None:
        clock = self._clock
        commit_at = clock.now() + self._settings.commit_interval_s
        while self._failure is None and not stop():
            with self._lock:
                room = self._settings.in_flight_max - self._progress.in_hand()
            # Paused, poll returns no records but keeps this member alive and lets rebalances through.
            hold_back(self._consumer, room <= 0)
            try:
                for tp, records in self._consumer.poll(POLL_S, max(1, min(room, self._records_max))).items():
                    self._begin(tp, records)
            except DeserializationError as error:
                self._skip_unreadable(error)
            if clock.now() >= commit_at:
                self._commit()
                commit_at = clock.now() + self._settings.commit_interval_s

    def _skip_unreadable(self, error: DeserializationError) -> None:
        """A record no handler can be given: put its bytes away and step over it, or give up."""
        unread = self._settings.unreadable(error)
        self._put_away(unread, error)
        tp = TopicPartition(unread.topic, unread.partition)
        with self._lock:
            self._progress.begin(tp, [unread])
            self._progress.finish(unread)
        self._consumer.seek(tp, unread.offset + 1)

    def _begin(self, tp: TopicPartition, records: list[ConsumerRecord[Any, Any]]) -> None:
        with self._lock:
            self._progress.begin(tp, records)
        for record in records:
            self._queues[self._lanes.of(record)].put(record)

    def _commit(self) -> None:
        with self._lock:
            offsets = self._progress.to_commit()
        if not offsets:
            return
        try:
            self._consumer.commit(offsets)
            with self._lock:
                self._progress.committed(offsets)
        except KafkaError as error:
            # The group moved on: what is not committed comes again, to us or to the next owner.
            logger.warning("process(): commit failed: %s", error)

    # ---- rebalances --------------------------------------------------------------------------------------------------

    def revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Partitions go: let their records be finished, commit, forget. Called inside poll, on the polling thread."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._failure is not None
                    or self._stop.is_set()  # closed by another thread: what waits for a worker is not begun any more
                    or not self._progress.in_hand(partitions)
                ),
                self._patience_s,
            )
        self._commit()
        self.lost(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        """Partitions are gone already."""
        with self._lock:
            self._progress.forget(partitions)

    # ---- workers -----------------------------------------------------------------------------------------------------

    def _work(self, queue: SimpleQueue[ConsumerRecord[Any, Any] | None]) -> None:
        while (record := queue.get()) is not None:
            if self._stop.is_set() or self._failure is not None or not self._ours(record):
                continue
            try:
                done = self._handle(record)
            except BaseException as error:  # whatever it is, the thread that called process() must have it
                with self._changed:
                    if self._failure is None:
                        self._failure = error
                    self._changed.notify_all()
                continue
            with self._changed:
                if done:
                    self._progress.finish(record)
                self._changed.notify_all()

    def _ours(self, record: ConsumerRecord[Any, Any]) -> bool:
        with self._lock:
            return self._progress.ours(record)

    def _handle(self, record: ConsumerRecord[Any, Any]) -> bool:
        """Whether it is done; not when we stop between two attempts: it comes again, to whoever reads next."""
        settings = self._settings
        attempt = 0
        while True:
            try:
                self._handler(record)
                return True
            except Exception as error:
                if not settings.may_retry(attempt):
                    if settings.on_error == "dead_letter":
                        self._put_away(record, error)
                        return True
                    raise
                if self._stop.is_set():
                    return False
                pause_s = settings.pause_s(attempt)
                log_retry(record, error, pause_s)
                attempt += 1
                self._stop.wait(pause_s)

    def _put_away(self, record: ConsumerRecord[Any, Any], error: Exception) -> None:
        """Send the record as it is to the dead-letter topic."""
        producer = self._settings.dead_letter_producer
        assert producer is not None, "checked when made"
        topic, headers = self._settings.dead_letter(record, error)
        producer.send(topic, value=record.value, key=record.key, headers=headers).result(60)
        log_put_away(record, error, topic)


def hold_back(consumer: Steered, full: bool) -> None:
    """Return no records while the workers have their hands full."""
    ours = consumer.assignment()
    if full:
        consumer.pause(ours)
    elif consumer.paused():
        consumer.resume(consumer.paused() & ours)


def step_back(consumer: Steered, unfinished: Mapping[TopicPartition, int]) -> None:
    """What was polled and not finished comes again, and no automatic commit may run ahead of it."""
    for tp, offset in unfinished.items():
        with contextlib.suppress(UsageError):  # no longer ours, or closed
            consumer.seek(tp, offset)


def log_retry(record: ConsumerRecord[Any, Any], error: Exception, pause_s: float) -> None:
    """A handler failed and is called again."""
    where = (record.topic, record.partition, record.offset)
    logger.info("%s-%d offset %d: handler raised %s; trying again in %.1f s", *where, type(error).__name__, pause_s)


def log_put_away(record: ConsumerRecord[Any, Any], error: Exception, topic: str) -> None:
    """A record is a dead letter now."""
    where = (record.topic, record.partition, record.offset)
    logger.warning("%s-%d offset %d: put away in %s (%s)", *where, topic, type(error).__name__)


class RevokeFirst:
    """A rebalance listener that lets the processor finish before the user's own listener hears of it."""

    def __init__(self, processor: ParallelProcessor, inner: RebalanceListener | None) -> None:
        self._processor = processor
        self._inner = inner

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> Any:
        """Finish, commit, pass on."""
        self._processor.revoked(partitions)
        return tell(self._inner, "on_partitions_revoked", partitions)

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> Any:
        """Pass on."""
        return tell(self._inner, "on_partitions_assigned", partitions)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> Any:
        """Forget, pass on."""
        self._processor.lost(partitions)
        return tell(self._inner, "on_partitions_lost", partitions)


@contextlib.contextmanager
def processed_by(core: ConsumerCore, listener: RebalanceListener) -> Iterator[None]:
    """While process() runs: it commits by itself, and hears of rebalances first."""
    before = core.group.listener
    core.group.listener = listener
    core.auto_commit.suspended = True
    try:
        yield
    finally:
        # Closed in the middle of it: nobody knows any more what is done, so the last commit was process()'s own.
        core.auto_commit.suspended = core.closed or core.close_wanted
        core.group.listener = before


def tell(listener: RebalanceListener | None, name: str, partitions: Collection[TopicPartition]) -> Any:
    """Call the user's listener, which may lack what it does not need."""
    method = getattr(listener, name, None)
    return method(partitions) if method is not None else None


__all__ = [
    "FinishedOffsets",
    "Lanes",
    "ParallelProcessor",
    "ProcessSettings",
    "Progress",
    "RevokeFirst",
    "processed_by",
]
