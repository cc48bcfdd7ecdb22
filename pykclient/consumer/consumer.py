"""KafkaConsumer: the public face. Methods run on the caller's thread and wait for operations on the reactor thread.

One thread at a time; only ``wakeup`` and ``close`` may come from another. Heartbeats, fetches and commits go on while
user code works. Must never return a record twice to one reader of a position, nor move a position past a record that
was not returned.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.client.engine import Operation
from pykclient.consumer.core import CommitCallback, ConsumerCore, OffsetsGiven
from pykclient.consumer.iteration import never
from pykclient.consumer.offsets import OutOfRange
from pykclient.consumer.records import PolledRecords
from pykclient.consumer.subscription import EARLIEST, LATEST
from pykclient.errors import ClientClosed, KafkaError, KafkaTimeoutError, MaxPollExceeded
from pykclient.plugins import RebalanceListener
from pykclient.types import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    PartitionInfo,
    TopicPartition,
)

if TYPE_CHECKING:
    from datetime import datetime

    from pykclient.consumer.parallel import DeadLetterProducer

logger = logging.getLogger(__name__)
T = TypeVar("T")

# No wait is longer, so that Ctrl-C and a second thread's close() are noticed in time.
WAIT_SLICE_S = 0.25
CLOSE_TIMEOUT_S = 30.0


class KafkaConsumer:
    """Reads records from Kafka, alone or as a member of a group. See docs/consumer.md."""

    def __init__(self, *topics: str | Mapping[str, Any], **options: Any) -> None:
        mapping = topics[0] if topics and isinstance(topics[0], Mapping) else None
        names = [topic for topic in topics if isinstance(topic, str)]
        self._core = ConsumerCore(mapping, options)
        if names:
            self.subscribe(names)

    def _run(self, operation: Operation[T], timeout: float | None = None) -> T:
        """Wait for an operation; default_api_timeout_ms unless the caller said otherwise. One thread at a time."""
        with self._use():
            timeout_s = self._core.api_timeout_s if timeout is None else timeout
            return self._core.engine.run_blocking(operation, timeout_s=timeout_s)

    def _use(self) -> _Use:
        self._core.check()
        return _Use(self)

    def _timeout(self, timeout: float | None) -> float:
        return self._core.api_timeout_s if timeout is None else timeout

    def __enter__(self) -> KafkaConsumer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(None, commit_handed_out=error is None)

    def __repr__(self) -> str:
        return f"<KafkaConsumer {self._core.parts.client_id}{', closed' if self._core.closed else ''}>"

    # ---- what to read ------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        topics: str | Collection[str] = (),
        pattern: str | re.Pattern[str] | None = None,
        listener: RebalanceListener | None = None,
    ) -> None:
        """Read these topics, sharing them with the group; replaces an earlier subscription. A ``pattern`` of type str
        is matched by the broker with group_protocol=consumer (RE2 syntax), else here; a compiled one always here."""
        self._run(self._core.subscribe(topics, pattern, listener))

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions, without the group's help."""
        self._run(self._core.assign(partitions))

    def unsubscribe(self) -> None:
        """Read nothing; leaves the group."""
        self._run(self._core.unsubscribe())

    def assignment(self) -> set[TopicPartition]:
        """The partitions read now."""
        self._core.check()
        with self._core.subscription.lock:
            return set(self._core.subscription.partitions)

    def subscription(self) -> set[str]:
        """The topics subscribed to; with a pattern, those that match now."""
        self._core.check()
        with self._core.subscription.lock:
            return set(self._core.subscription.topics)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def poll(self, timeout: float | None = None, max_records: int | None = None) -> PolledRecords:
        """Records that are there, else wait for some up to ``timeout`` seconds (None: until there are some). Empty when
        out of time, and when there was something to read over but nothing for you (markers, aborted transactions).

        Everything returned before counts as processed from here on, for automatic commits.
        """
        with self._use():
            deadline = math.inf if timeout is None else self._core.clock.now() + timeout
            self._core.begin_poll()
            return self._poll_until(deadline, lambda: self._core.take(max_records)) or PolledRecords()

    def poll_arrow(
        self,
        timeout: float | None = None,
        max_records: int | None = None,
        *,
        headers: bool = False,
        until: Mapping[TopicPartition, int] | None = None,
    ) -> Any:
        """As ``poll``, as a pyarrow Table (up to 50,000 rows unless told otherwise) of raw keys and values. ``until``
        gives end offsets: rows there or later stay unread, and it returns at once when all are reached."""
        from pykclient.consumer import arrow  # pyarrow is an extra

        with self._use():
            deadline = math.inf if timeout is None else self._core.clock.now() + timeout
            self._core.begin_poll()
            table = arrow.builder(
                self._core.buffer, self._core.fetch_settings, self._core.config, max_records, headers, until
            )
            found = self._poll_until(deadline, table.take)
            if found is None:
                return table.empty()
            self._core.group.counts.records_total += found.num_rows
            return found

    def _poll_until(self, deadline: float, take: Callable[[], T | None]) -> T | None:
        """Attend to what needs this thread and wait until ``take`` gives something; None when out of time."""
        core = self._core
        while True:
            if core.needs_attention():
                core.check()
                self._attend(deadline)
            taken = take()
            if taken is not None:
                core.membership.polled(core.clock.now())
                return taken
            left = deadline - core.clock.now()
            if left <= 0:
                return None
            core.check()
            core.buffer.wait(min(left, WAIT_SLICE_S))

    def _attend(self, deadline: float) -> None:
        core = self._core
        operation = core.attend()
        if operation is None:
            return
        left = deadline - core.clock.now()
        try:
            core.engine.run_blocking(operation, timeout_s=max(0.05, min(left, core.config.max_poll_interval_ms / 1000)))
        except KafkaTimeoutError:
            # The rebalance goes on in the background; the next turn takes it up where it is.
            core.buffer.attention = True
            if core.clock.now() < deadline:
                raise

    def __iter__(self) -> Iterator[ConsumerRecord[Any, Any]]:
        """Record by record, for ever; ends when the consumer is closed. A record counts as processed when the next one
        is asked for."""
        core = self._core
        while not core.closed:
            try:
                polled = self.poll(1.0)
            except ClientClosed:
                return
            if not polled:
                continue
            iteration = core.iterate(polled)
            while (records := iteration.next_partition(core.subscription.lock)) is not None:
                for index, record in enumerate(records):
                    iteration.index = index
                    yield record

    def process(
        self,
        handler: Callable[[ConsumerRecord[Any, Any]], Any],
        *,
        workers: int = 4,
        ordering: str = "key",
        on_error: str = "raise",
        retries: int | None = 3,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 10_000,
        in_flight_max: int = 1000,
        commit_interval_ms: int = 1000,
        dead_letter_producer: DeadLetterProducer | None = None,
        dead_letter_topic: str | None = None,
        stop: Callable[[], bool] = never,
    ) -> None:
        """Run ``handler(record)`` on ``workers`` threads until ``stop()``; blocks. See docs/consumer.md.

        ``ordering`` keeps the order per ``"key"``, per ``"partition"`` or not at all (``"none"``). Only records that
        are done, with all before them, are committed. ``on_error``: ``"raise"`` stops, ``"retry"`` tries again with a
        growing pause and then stops, ``"dead_letter"`` does so and then puts the record away and goes on.
        """
        from pykclient.consumer.parallel import ParallelProcessor, ProcessSettings, RevokeFirst, processed_by

        settings = ProcessSettings.given(
            workers=workers,
            ordering=ordering,
            on_error=on_error,
            retries=retries,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            in_flight_max=in_flight_max,
            commit_interval_ms=commit_interval_ms,
            dead_letter_producer=dead_letter_producer,
            dead_letter_topic=dead_letter_topic,
        )
        core = self._core
        core.require_group("process()")
        patience_s = core.config.max_poll_interval_ms / 1000 / 2
        processor = ParallelProcessor(self, handler, settings, core.clock, patience_s, core.config.max_poll_records)
        with processed_by(core, RevokeFirst(processor, core.group.listener)):
            processor.run(stop)

    # ---- positions ---------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read on from here."""
        with self._use():
            self._core.seek(partition, offset)

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on from the first record; all assigned partitions when none is named."""
        with self._use():
            self._core.seek_by(EARLIEST, partitions)

    def seek_to_end(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on after the last record; all assigned partitions when none is named."""
        with self._use():
            self._core.seek_by(LATEST, partitions)

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known."""
        with self._use():
            tp = TopicPartition(*partition)
            began_at = self._core.clock.now()
            while (known := self._core.known_position(tp, began_at)) is None:
                if self._core.clock.now() - began_at >= self._timeout(timeout):
                    raise KafkaTimeoutError("the position is not known yet", topic=tp.topic, partition=tp.partition)
                self._core.buffer.nap(0.02)
            return known

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Return no records of these until ``resume``; survives rebalances for partitions that are kept."""
        with self._use():
            self._core.set_paused(partitions, True)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Undo ``pause``."""
        with self._use():
            self._core.set_paused(partitions, False)

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        self._core.check()
        with self._core.subscription.lock:
            return {tp for tp, state in self._core.subscription.partitions.items() if state.paused}

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Records between the position and the end, as last heard; None when it is not known yet. Never waits."""
        self._core.check()
        return self._core.current_lag(partition)

    @property
    def out_of_range_events(self) -> list[OutOfRange]:
        """Each time a position was not in the log any more: wanted, available and skipped. The newest last."""
        return list(self._core.offsets.out_of_range_events)

    @property
    def max_poll_exceeded_events(self) -> list[MaxPollExceeded]:
        """Each time this member left its group because poll() was not called in time. The newest last."""
        return list(self._core.membership.notices)

    # ---- commits -----------------------------------------------------------------------------------------------------

    def commit(self, offsets: OffsetsGiven | None = None, timeout: float | None = None) -> None:
        """Commit these offsets, or the positions of all records returned so far, and wait for it."""
        self._core.require_group("commit()")
        self._run(self._core.commit(offsets), timeout)

    def commit_async(self, offsets: OffsetsGiven | None = None, callback: CommitCallback | None = None) -> None:
        """Commit without waiting. ``callback(offsets, error)`` runs on the client's own thread: be quick."""
        with self._use():
            self._core.commit_in_background(offsets, callback)

    def committed(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None for partitions without a commit."""
        self._core.require_group("committed()")
        return self._run(self._core.committed(partitions), timeout)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Who this consumer is in its group, for ``producer.send_offsets_to_transaction``."""
        self._core.require_group("group_metadata()")
        return self._core.membership.identity

    def enforce_rebalance(self, reason: str = "enforce_rebalance() was called") -> None:
        """Join again at the next poll."""
        self._core.require_group("enforce_rebalance()")
        with self._use():
            self._core.engine.call_soon(lambda: self._core.membership.rejoin(reason))

    # ---- the cluster -------------------------------------------------------------------------------------------------

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int | datetime], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first offset at or after each time (milliseconds or an aware datetime); None when there is none."""
        return self._run(self._core.offsets_for_times(timestamps, self._timeout(timeout)), timeout)

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return self._run(self._core.edge_offsets(partitions, -2, self._timeout(timeout)), timeout)

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last record; with read_committed, after the last one that can be read."""
        return self._run(self._core.edge_offsets(partitions, -1, self._timeout(timeout)), timeout)

    def partitions_for(self, topic: str, timeout: float | None = None) -> list[PartitionInfo]:
        """The topic's partitions with leader and replicas."""
        return self._run(self._core.partitions_for(topic, self._timeout(timeout)), timeout)

    def list_topics(self, timeout: float | None = None) -> dict[str, list[int]]:
        """All topics this consumer may see, with their partition numbers."""
        return self._run(self._core.list_topics(), timeout)

    def metrics(self) -> dict[str, float]:
        """Totals under Java's names."""
        self._core.check()
        return self._core.metrics()

    # ---- ends --------------------------------------------------------------------------------------------------------

    def wakeup(self) -> None:
        """Make the poll that waits now, or the next one, raise WakeupError. Any thread, also a signal handler."""
        self._core.check()
        self._core.wakeup()

    def close(self, timeout: float | None = None) -> None:
        """Commit (when enable_auto_commit is on), leave the group, close. Any thread; safe to call twice."""
        self._close(timeout, commit_handed_out=True)

    def _close(self, timeout: float | None, *, commit_handed_out: bool) -> None:
        core = self._core
        if core.closed:
            return
        if core.buffer.in_use_here() and not core.engine.forked:
            # A signal handler or a listener, in the middle of a call of this very thread, which may hold the lock.
            core.close_wanted = True
            core.buffer.attention = True
            return
        core.closed = True
        if core.engine.forked:
            return
        commit_handed_out = commit_handed_out and core.buffer.used_here_last()
        if core.engine.running and not core.engine.on_reactor_thread():
            last = core.last_things(commit_handed_out=commit_handed_out)
            try:
                core.engine.run_blocking(last, timeout_s=CLOSE_TIMEOUT_S if timeout is None else timeout)
            except KafkaError as error:
                logger.warning("while closing: %s", error)
        core.engine.stop(1.0)
        core.buffer.wake(attention=True)


class _Use:
    """One thread at a time, for the length of a public call."""

    __slots__ = ("_consumer",)

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def __enter__(self) -> None:
        self._consumer._core.buffer.enter()

    def __exit__(self, *exc: object) -> None:
        core = self._consumer._core
        core.buffer.leave()
        if core.close_wanted and not core.buffer.in_use_here():
            self._consumer._close(None, commit_handed_out=False)


__all__ = ["KafkaConsumer"]
