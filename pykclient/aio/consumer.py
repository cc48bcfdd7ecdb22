"""AsyncKafkaConsumer: KafkaConsumer awaited. Heartbeats, fetches and commits stay on the reactor thread, whatever the
loop does."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

from pykclient.client.engine import Operation
from pykclient.consumer.core import CommitCallback, ConsumerCore, OffsetsGiven
from pykclient.consumer.offsets import OutOfRange
from pykclient.consumer.records import PolledRecords
from pykclient.consumer.subscription import EARLIEST, LATEST, SubscriptionKind
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

from .runner import LoopRunner

logger = logging.getLogger(__name__)
T = TypeVar("T")
WAIT_SLICE_S = 0.5
CLOSE_TIMEOUT_S = 30.0


class AsyncKafkaConsumer:
    """Reads records from Kafka in an event loop. Options as for KafkaConsumer. Make it anywhere; it binds the loop at
    first use."""

    def __init__(self, *topics: str | Mapping[str, Any], **options: Any) -> None:
        mapping = topics[0] if topics and isinstance(topics[0], Mapping) else None
        self._topics = [topic for topic in topics if isinstance(topic, str)]
        self._core = ConsumerCore(mapping, options)
        self._runner = LoopRunner(self._core.engine)
        self._news: asyncio.Event | None = None
        self._signalled = False

    async def start(self) -> None:
        """Subscribe to the topics the consumer was made with. Not needed: the first poll does it."""
        await self._begin()

    async def stop(self) -> None:
        """The same as ``close``."""
        await self.close()

    async def __aenter__(self) -> AsyncKafkaConsumer:
        await self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close(None, commit_handed_out=error is None)

    async def _begin(self) -> None:
        if self._news is None:
            loop = self._runner.loop
            news = self._news = asyncio.Event()

            def tell() -> None:
                self._signalled = False
                news.set()

            def on_news() -> None:
                # Many pieces of news before the loop wakes up are one wake-up.
                if not self._signalled and not loop.is_closed():
                    self._signalled = True
                    loop.call_soon_threadsafe(tell)

            self._core.buffer.on_news = on_news
        if self._topics and self._core.subscription.kind is SubscriptionKind.NONE:
            names, self._topics = self._topics, []
            await self.subscribe(names)

    async def _run(self, operation: Operation[T], timeout: float | None = None) -> T:
        try:
            self._core.check()
        except BaseException:
            operation.close()
            raise
        await self._begin()
        return await self._runner.run(operation, self._core.api_timeout_s if timeout is None else timeout)

    def _timeout(self, timeout: float | None) -> float:
        return self._core.api_timeout_s if timeout is None else timeout

    # ---- what to read ------------------------------------------------------------------------------------------------

    async def subscribe(
        self,
        topics: str | Collection[str] = (),
        pattern: str | re.Pattern[str] | None = None,
        listener: RebalanceListener | None = None,
    ) -> None:
        """Read these topics, sharing them with the group. The listener's methods may be coroutines."""
        self._topics = []
        await self._run(self._core.subscribe(topics, pattern, listener))

    async def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions, without the group's help."""
        self._topics = []
        await self._run(self._core.assign(partitions))

    async def unsubscribe(self) -> None:
        """Read nothing; leaves the group."""
        await self._run(self._core.unsubscribe())

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

    async def poll(self, timeout: float | None = None, max_records: int | None = None) -> PolledRecords:
        """Records that are there, else wait for some up to ``timeout`` seconds. Cancelling loses none: they come with
        the next poll."""
        self._core.check()
        await self._begin()
        deadline = math.inf if timeout is None else self._core.clock.now() + timeout
        self._core.begin_poll()
        found = await self._poll_until(deadline, lambda: self._core.take(max_records))
        return PolledRecords() if found is None else found

    async def poll_arrow(
        self,
        timeout: float | None = None,
        max_records: int | None = None,
        *,
        headers: bool = False,
        until: Mapping[TopicPartition, int] | None = None,
    ) -> Any:
        """As ``poll``, as a pyarrow Table of raw keys and values."""
        from pykclient.consumer import arrow

        core = self._core
        core.check()
        await self._begin()
        deadline = math.inf if timeout is None else core.clock.now() + timeout
        core.begin_poll()
        table = arrow.builder(core.buffer, core.fetch_settings, core.config, max_records, headers, until)
        found = await self._poll_until(deadline, table.take)
        if found is None:
            return table.empty()
        core.group.counts.records_total += found.num_rows
        return found

    async def _poll_until(self, deadline: float, take: Callable[[], T | None]) -> T | None:
        core, news = self._core, self._news
        assert news is not None
        while True:
            news.clear()
            if core.needs_attention():
                await self._attend(deadline)
            taken = take()
            if taken is not None:
                core.membership.polled(core.clock.now())
                return taken
            left = deadline - core.clock.now()
            if left <= 0:
                return None
            core.check()
            try:
                await asyncio.wait_for(news.wait(), min(left, WAIT_SLICE_S))
            except asyncio.TimeoutError:
                continue

    async def _attend(self, deadline: float) -> None:
        core = self._core
        operation = core.attend()
        if operation is None:
            return
        left = deadline - core.clock.now()
        try:
            await self._runner.run(operation, max(0.05, min(left, core.config.max_poll_interval_ms / 1000)))
        except KafkaTimeoutError:
            core.buffer.attention = True
            if core.clock.now() < deadline:
                raise

    def __aiter__(self) -> AsyncIterator[ConsumerRecord[Any, Any]]:
        """Record by record, for ever; ends when the consumer is closed."""
        return self._records()

    async def _records(self) -> AsyncIterator[ConsumerRecord[Any, Any]]:
        core = self._core
        while not core.closed:
            try:
                polled = await self.poll(1.0)
            except ClientClosed:
                return
            if not polled:
                continue
            iteration = core.iterate(polled)
            while (records := iteration.next_partition(core.subscription.lock)) is not None:
                for index, record in enumerate(records):
                    iteration.index = index
                    yield record

    # ---- positions ---------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read on from here."""
        self._core.check()
        self._core.seek(partition, offset)

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on from the first record; all assigned partitions when none is named."""
        self._core.check()
        self._core.seek_by(EARLIEST, partitions)

    def seek_to_end(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on after the last record; all assigned partitions when none is named."""
        self._core.check()
        self._core.seek_by(LATEST, partitions)

    async def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known."""
        self._core.check()
        await self._begin()
        assert self._news is not None
        tp = TopicPartition(*partition)
        deadline = self._core.clock.now() + self._timeout(timeout)
        while True:
            self._news.clear()
            known = self._core.known_position(tp)
            if known is not None:
                return known
            left = deadline - self._core.clock.now()
            if left <= 0:
                raise KafkaTimeoutError("the position is not known yet", topic=tp.topic, partition=tp.partition)
            try:
                await asyncio.wait_for(self._news.wait(), min(left, 0.02))
            except asyncio.TimeoutError:
                continue

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Return no records of these until ``resume``."""
        self._core.check()
        self._core.set_paused(partitions, True)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Undo ``pause``."""
        self._core.check()
        self._core.set_paused(partitions, False)

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        self._core.check()
        with self._core.subscription.lock:
            return {tp for tp, state in self._core.subscription.partitions.items() if state.paused}

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Records between the position and the end, as last heard."""
        self._core.check()
        return self._core.current_lag(partition)

    @property
    def out_of_range_events(self) -> list[OutOfRange]:
        """Each time a position was not in the log any more. The newest last."""
        return list(self._core.offsets.out_of_range_events)

    @property
    def max_poll_exceeded_events(self) -> list[MaxPollExceeded]:
        """Each time this member left its group because poll() was not called in time. The newest last."""
        return list(self._core.membership.notices)

    # ---- commits -----------------------------------------------------------------------------------------------------

    async def commit(self, offsets: OffsetsGiven | None = None, timeout: float | None = None) -> None:
        """Commit these offsets, or the positions of all records returned so far."""
        self._core.require_group("commit()")
        await self._run(self._core.commit(offsets), timeout)

    def commit_async(self, offsets: OffsetsGiven | None = None, callback: CommitCallback | None = None) -> None:
        """Commit without waiting. ``callback(offsets, error)`` runs on the client's own thread: be quick."""
        self._core.commit_in_background(offsets, callback)

    async def committed(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None for partitions without a commit."""
        self._core.require_group("committed()")
        return await self._run(self._core.committed(partitions), timeout)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Who this consumer is in its group."""
        self._core.require_group("group_metadata()")
        return self._core.membership.identity

    def enforce_rebalance(self, reason: str = "enforce_rebalance() was called") -> None:
        """Join again at the next poll."""
        self._core.require_group("enforce_rebalance()")
        self._core.engine.call_soon(lambda: self._core.membership.rejoin(reason))

    # ---- the cluster -------------------------------------------------------------------------------------------------

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int | datetime], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first offset at or after each time (milliseconds or an aware datetime); None when there is none."""
        return await self._run(self._core.offsets_for_times(timestamps, self._timeout(timeout)), timeout)

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return await self._run(self._core.edge_offsets(partitions, -2, self._timeout(timeout)), timeout)

    async def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last record; with read_committed, after the last one that can be read."""
        return await self._run(self._core.edge_offsets(partitions, -1, self._timeout(timeout)), timeout)

    async def partitions_for(self, topic: str, timeout: float | None = None) -> list[PartitionInfo]:
        """The topic's partitions with leader and replicas."""
        return await self._run(self._core.partitions_for(topic, self._timeout(timeout)), timeout)

    async def list_topics(self, timeout: float | None = None) -> dict[str, list[int]]:
        """All topics this consumer may see, with their partition numbers."""
        return await self._run(self._core.list_topics(), timeout)

    def metrics(self) -> dict[str, float]:
        """Totals under Java's names."""
        self._core.check()
        return self._core.metrics()

    # ---- ends --------------------------------------------------------------------------------------------------------

    def wakeup(self) -> None:
        """Make the poll that waits now, or the next one, raise WakeupError. Any thread."""
        self._core.check()
        self._core.wakeup()

    async def close(self, timeout: float | None = None) -> None:
        """Commit (when enable_auto_commit is on), leave the group, close. Safe to call twice."""
        await self._close(timeout, commit_handed_out=True)

    async def _close(self, timeout: float | None, *, commit_handed_out: bool) -> None:
        core = self._core
        if core.closed:
            return
        core.closed = True
        if core.engine.forked:
            return
        if core.engine.running:
            try:
                last = core.last_things(commit_handed_out=commit_handed_out)
                await self._runner.run(last, CLOSE_TIMEOUT_S if timeout is None else timeout)
            except KafkaError as error:
                logger.warning("while closing: %s", error)
        core.engine.stop(1.0)
        core.buffer.wake(attention=True)


__all__ = ["AsyncKafkaConsumer"]
