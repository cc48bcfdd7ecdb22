"""AsyncKafkaConsumer: KafkaConsumer awaited. Heartbeats, fetches and commits stay on the reactor thread, whatever the
loop does, and the loop is not kept long: heavy batches are decompressed by another thread and decoded in pieces.

Cancelling loses nothing: records are taken only when nothing more is awaited, and a rebalance that a poll has begun
goes on without it; the next poll waits for its end.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

from pykclient.client.engine import Completion, Operation, wait
from pykclient.consumer.core import CommitCallback, ConsumerCore, OffsetsGiven
from pykclient.consumer.fetched import FetchedPart
from pykclient.consumer.iteration import never
from pykclient.consumer.offsets import OutOfRange
from pykclient.consumer.parallel import DeadLetterProducer, ProcessSettings, processed_by
from pykclient.consumer.records import PolledRecords
from pykclient.consumer.subscription import EARLIEST, LATEST, PartitionState, SubscriptionKind
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

from .processing import AsyncProcessor, AsyncRevokeFirst
from .runner import Bell, Handlers, LoopRunner
from .tokens import adapted

logger = logging.getLogger(__name__)
T = TypeVar("T")
WAIT_SLICE_S = 0.5
CLOSE_TIMEOUT_S = 30.0
# Records are taken for this long at a time, then others have the loop: a poll that finds records does not wait for any.
TURN_S = 0.01


class AsyncKafkaConsumer:
    """Reads records from Kafka in an event loop. Options as for KafkaConsumer. Make it anywhere; it binds the loop at
    first use."""

    def __init__(self, *topics: str | Mapping[str, Any], **options: Any) -> None:
        mapping = topics[0] if topics and isinstance(topics[0], Mapping) else None
        self._topics = [topic for topic in topics if isinstance(topic, str)]
        self._core = ConsumerCore(adapted(mapping), adapted(options))
        self._runner = LoopRunner(self._core.engine, self._core.config)
        self._handlers = Handlers(self._runner, lambda error: logger.error("a commit callback raised", exc_info=error))
        self._bell: Bell | None = None
        self._attending: asyncio.Future[None] | None = None
        """What the group wants of us; goes on when the poll that began it is cancelled or out of time."""
        self._heavy: FetchedPart | None = None
        self._preparing = False
        self._turn_began_at = 0.0
        self._closing: asyncio.Task[None] | None = None

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

    def __repr__(self) -> str:
        return f"<AsyncKafkaConsumer {self._core.parts.client_id}{', closed' if self._core.closed else ''}>"

    async def _begin(self) -> Bell:
        """Bind the loop, and subscribe to the topics the consumer was made with."""
        self._core.check()
        crossing, bell = self._runner.crossing, self._bell
        if bell is None:
            bell = self._bell = Bell(self._runner.loop, crossing)
            self._core.buffer.on_news = bell.ring
            self._core.metadata.unreachable = None  # what went wrong before anyone asked is no news
        if self._topics and self._core.subscription.kind is SubscriptionKind.NONE:
            # Forgotten only when it has happened: a first call that is cancelled leaves it to the next.
            await self._runner.run(self._core.subscribe(self._topics, None, None), self._core.api_timeout_s)
            self._topics = []
        return bell

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
        return await self._poll(timeout, max_records, None)

    async def _poll(
        self, timeout: float | None, max_records: int | None, only: Collection[TopicPartition] | None
    ) -> PolledRecords:
        core = self._core
        core.check()
        bell = await self._begin()
        deadline = math.inf if timeout is None else core.clock.now() + timeout
        core.begin_poll()

        def wanted(state: PartitionState) -> bool:
            return (only is None or state.topic_partition in only) and self._light(state)

        found = await self._poll_until(bell, deadline, lambda: core.take(max_records, wanted, self._enough))
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
        bell = await self._begin()
        deadline = math.inf if timeout is None else core.clock.now() + timeout
        core.begin_poll()
        table = arrow.builder(core.buffer, core.fetch_settings, core.config, max_records, headers, until)
        table.wanted, table.enough = self._light, self._enough
        found = await self._poll_until(bell, deadline, table.take)
        if found is None:
            return table.empty()
        core.group.counts.records_total += found.num_rows
        return found

    def _enough(self) -> bool:
        return self._core.clock.now() - self._turn_began_at >= TURN_S

    def _light(self, state: PartitionState) -> bool:
        """Whether the loop can afford to decode its next batch; remembers one that must be prepared first."""
        if not state.buffered or not state.buffered[0].heavy:
            return True
        self._heavy = state.buffered[0]
        return False

    def _prepare(self, bell: Bell) -> None:
        """Have a heavy batch decompressed by another thread; one at a time, which bounds the memory."""
        part, self._heavy = self._heavy, None
        if part is None or self._preparing:
            return
        self._preparing = True
        settings = self._core.fetch_settings

        def work() -> None:
            part.prepare(check_crcs=settings.check_crcs, bytes_max=settings.decompressed_bytes_max)

        def done(_: object) -> None:
            self._preparing = False
            bell.heard()

        self._runner.loop.run_in_executor(None, work).add_done_callback(done)

    async def _poll_until(self, bell: Bell, deadline: float, take: Callable[[], T | None]) -> T | None:
        core = self._core
        if self._enough():
            await asyncio.sleep(0)
            self._turn_began_at = core.clock.now()
        while True:
            seen = bell.count
            if self._attending is not None or core.needs_attention():
                await self._attend(deadline)
            taken = take()
            self._prepare(bell)
            if taken is not None:
                core.membership.polled(core.clock.now())
                return taken
            left = deadline - core.clock.now()
            if left <= 0:
                return None
            core.check()
            await bell.wait(seen, min(left, WAIT_SLICE_S))
            self._turn_began_at = core.clock.now()

    async def _attend(self, deadline: float) -> None:
        core = self._core
        if self._runner.inside_listener:
            return  # what we would wait for waits for this very listener
        going = self._attending
        if going is None:
            operation = core.attend()
            if operation is None:
                return
            going = self._attending = self._runner.start(operation, core.config.max_poll_interval_ms / 1000)
        left = deadline - core.clock.now()
        await asyncio.wait((going,), timeout=None if left == math.inf else max(0.05, left))
        if not going.done():
            return
        if self._attending is going:
            self._attending = None
        if going.cancelled():
            core.check()  # by close()
            return
        try:
            going.result()
        except KafkaTimeoutError:
            core.buffer.attention = True
            if core.clock.now() < deadline:
                raise

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[Any, Any]:
        """The next record, of these partitions or of any; waits for it. aiokafka's name."""
        only = [TopicPartition(*tp) for tp in partitions] or None
        while not (polled := await self._poll(None, 1, only)):
            continue  # an interceptor dropped it
        return next(polled.records())

    async def getmany(
        self, *partitions: TopicPartition, timeout_ms: int = 0, max_records: int | None = None
    ) -> PolledRecords:
        """As ``poll``, of these partitions or of all; the time in milliseconds. aiokafka's name."""
        return await self._poll(timeout_ms / 1000, max_records, [TopicPartition(*tp) for tp in partitions] or None)

    async def process(
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
        """Run ``await handler(record)`` in ``workers`` tasks until ``stop()``, otherwise as KafkaConsumer.process.

        A plain function is called on the loop. Dead letters are sent with an AsyncKafkaProducer. Cancelling cancels the
        handlers; what they had in hand is not committed and comes again.
        """
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
        core.check()
        core.require_group("process()")
        await self._begin()
        patience_s = core.config.max_poll_interval_ms / 1000 / 2
        processor = AsyncProcessor(self, handler, settings, core.clock, patience_s, core.config.max_poll_records)
        with processed_by(core, AsyncRevokeFirst(processor, core.group.listener)):
            await processor.run(stop)

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

    async def seek_to_committed(self, *partitions: TopicPartition) -> dict[TopicPartition, int | None]:
        """Read on from what the group has committed; all assigned partitions when none is named. aiokafka's name."""
        committed = await self.committed([TopicPartition(*tp) for tp in partitions] or self.assignment())
        for tp, offset in committed.items():
            if offset is not None:
                self.seek(tp, offset)
        return {tp: None if offset is None else offset.offset for tp, offset in committed.items()}

    async def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known."""
        self._core.check()
        bell = await self._begin()
        tp = TopicPartition(*partition)
        began_at = self._core.clock.now()
        while True:
            known = self._core.known_position(tp, began_at)
            if known is not None:
                return known
            left = began_at + self._timeout(timeout) - self._core.clock.now()
            if left <= 0:
                raise KafkaTimeoutError("the position is not known yet", topic=tp.topic, partition=tp.partition)
            await bell.wait(bell.count, min(left, 0.02))

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
        """Commit without waiting. ``callback(offsets, error)`` runs on the loop and may be a coroutine function."""
        self._core.commit_in_background(offsets, None if callback is None else self._handlers.on_loop(callback))

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

    async def topics(self) -> set[str]:
        """The names of all topics this consumer may see. aiokafka's name."""
        return set(await self.list_topics())

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
        if self._closing is None:
            if core.closed or core.engine.forked:
                core.closed = True
                return
            assert self._runner.loop is not None
            core.closed = True
            timeout_s = CLOSE_TIMEOUT_S if timeout is None else timeout
            work = self._say_goodbye(timeout_s, commit_handed_out, asyncio.current_task())
            self._closing = asyncio.ensure_future(work)
        # Cancelled, it goes on by itself; a second call waits for the same.
        await asyncio.shield(self._closing)

    async def _say_goodbye(self, timeout_s: float, commit_handed_out: bool, caller: asyncio.Task[Any] | None) -> None:
        """A last commit, out of the group, and the end of the reactor, which is waited for without holding the loop."""
        core = self._core
        deadline = core.clock.now() + timeout_s
        try:
            if core.engine.running:
                await self._runner.listeners_done(timeout_s, caller)
                if self._attending is not None:
                    self._attending.cancel()
                last = core.last_things(commit_handed_out=commit_handed_out)
                await self._runner.run(last, max(0.0, deadline - core.clock.now()))
        except KafkaError as error:
            logger.warning("while closing: %s", error)
        finally:
            await self._end()

    async def _end(self) -> None:
        core = self._core
        try:
            if core.engine.running:
                ended = self._runner.start(wait(Completion[None]()), 1.0)  # until the engine fails whoever waits
                core.engine.stop(0)
                await asyncio.wait((ended,))
        except ClientClosed as error:
            logger.debug("the end came first: %s", error)
        finally:
            core.engine.stop(1.0)
            core.buffer.wake(attention=True)
        await self._runner.closed()
        await self._handlers.done()


__all__ = ["AsyncKafkaConsumer"]
