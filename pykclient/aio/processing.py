"""Many handlers at once over one AsyncKafkaConsumer: the tasks' twin of consumer/parallel.py.

Everything runs on the event loop: one task polls, hands records to worker tasks and commits; workers only run handlers.
What is committed is the end of the unbroken row of finished records. Must never commit a record whose handler was
cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from pykclient.consumer.parallel import (
    POLL_S,
    Lanes,
    ProcessSettings,
    Progress,
    hold_back,
    log_put_away,
    log_retry,
    step_back,
    tell,
)
from pykclient.errors import DeserializationError, KafkaError
from pykclient.net.transport import Clock
from pykclient.plugins import RebalanceListener
from pykclient.types import ConsumerRecord, TopicPartition

if TYPE_CHECKING:
    from pykclient.aio.consumer import AsyncKafkaConsumer

logger = logging.getLogger(__name__)


class AsyncProcessor:
    """One run of ``process``."""

    def __init__(
        self,
        consumer: AsyncKafkaConsumer,
        handler: Callable[[ConsumerRecord[Any, Any]], Any],
        settings: ProcessSettings,
        clock: Clock,
        patience_s: float,
        records_max: int,
    ) -> None:
        self._consumer = consumer
        self._handler = handler
        self._settings = settings
        self._clock = clock
        self._patience_s = patience_s
        self._records_max = records_max
        self._stop = asyncio.Event()
        self._changed = asyncio.Event()
        self._progress = Progress()
        self._failure: BaseException | None = None
        self._lanes = Lanes(settings)
        self._queues: list[asyncio.Queue[ConsumerRecord[Any, Any] | None]] = [
            asyncio.Queue() for _ in range(settings.lanes)
        ]

    # ---- the polling task --------------------------------------------------------------------------------------------

    async def run(self, stop: Callable[[], bool]) -> None:
        """Until ``stop()`` or a failure: then what is begun is finished and committed. Cancelled: handlers are
        cancelled too, and what they had in hand comes again."""
        count = self._settings.workers
        workers = [asyncio.ensure_future(self._work(self._queues[index % len(self._queues)])) for index in range(count)]
        try:
            await self._loop(stop)
        except asyncio.CancelledError:
            for worker in workers:
                worker.cancel()
            raise
        finally:
            self._stop.set()
            self._changed.set()
            for index in range(count):
                self._queues[index % len(self._queues)].put_nowait(None)
            await asyncio.gather(*workers, return_exceptions=True)
            await self._commit()
            step_back(self._consumer, self._progress.unfinished())
        if self._failure is not None:
            raise self._failure

    async def _loop(self, stop: Callable[[], bool]) -> None:
        commit_at = self._clock.now() + self._settings.commit_interval_s
        while self._failure is None and not stop():
            room = self._settings.in_flight_max - self._progress.in_hand()
            # Paused, poll returns no records but keeps this member alive and lets rebalances through.
            hold_back(self._consumer, room <= 0)
            try:
                polled = await self._consumer.poll(POLL_S, max(1, min(room, self._records_max)))
                for tp, records in polled.items():
                    self._begin(tp, records)
            except DeserializationError as error:
                await self._skip_unreadable(error)
            if self._clock.now() >= commit_at:
                await self._commit()
                commit_at = self._clock.now() + self._settings.commit_interval_s

    async def _skip_unreadable(self, error: DeserializationError) -> None:
        unread = self._settings.unreadable(error)
        await self._put_away(unread, error)
        tp = TopicPartition(unread.topic, unread.partition)
        self._progress.begin(tp, [unread])
        self._progress.finish(unread)
        self._consumer.seek(tp, unread.offset + 1)

    def _begin(self, tp: TopicPartition, records: list[ConsumerRecord[Any, Any]]) -> None:
        self._progress.begin(tp, records)
        for record in records:
            self._queues[self._lanes.of(record)].put_nowait(record)

    async def _commit(self) -> None:
        offsets = self._progress.to_commit()
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
            self._progress.committed(offsets)
        except KafkaError as error:
            # The group moved on, or the consumer is closed: what is not committed comes again.
            logger.warning("process(): commit failed: %s", error)

    # ---- rebalances --------------------------------------------------------------------------------------------------

    async def revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Partitions go: let their records be finished, commit, forget. Called inside poll."""
        deadline = self._clock.now() + self._patience_s
        while self._failure is None and not self._stop.is_set():
            left = deadline - self._clock.now()
            if left <= 0 or not self._progress.in_hand(partitions):
                break
            self._changed.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
        await self._commit()
        self.lost(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        """Partitions are gone already."""
        self._progress.forget(partitions)

    # ---- workers -----------------------------------------------------------------------------------------------------

    async def _work(self, queue: asyncio.Queue[ConsumerRecord[Any, Any] | None]) -> None:
        while (record := await queue.get()) is not None:
            if self._stop.is_set() or self._failure is not None or not self._progress.ours(record):
                continue
            try:
                done = await self._handle(record)
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # whatever it is, who awaits process() must have it
                self._failure = self._failure or error
                self._changed.set()
                continue
            if done:
                self._progress.finish(record)
            self._changed.set()

    async def _handle(self, record: ConsumerRecord[Any, Any]) -> bool:
        """Whether it is done; not when we stop between two attempts: it comes again, to whoever reads next."""
        settings = self._settings
        attempt = 0
        while True:
            try:
                result = self._handler(record)
                if inspect.isawaitable(result):
                    await result
                return True
            except Exception as error:
                if not settings.may_retry(attempt):
                    if settings.on_error == "dead_letter":
                        await self._put_away(record, error)
                        return True
                    raise
                if self._stop.is_set():
                    return False
                pause_s = settings.pause_s(attempt)
                log_retry(record, error, pause_s)
                attempt += 1
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), pause_s)

    async def _put_away(self, record: ConsumerRecord[Any, Any], error: Exception) -> None:
        producer = self._settings.dead_letter_producer
        assert producer is not None, "checked when made"
        topic, headers = self._settings.dead_letter(record, error)
        await producer.send(topic, value=record.value, key=record.key, headers=headers)
        log_put_away(record, error, topic)


class AsyncRevokeFirst:
    """A rebalance listener that lets the processor finish before the user's own listener hears of it."""

    def __init__(self, processor: AsyncProcessor, inner: RebalanceListener | None) -> None:
        self._processor = processor
        self._inner = inner

    async def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Finish, commit, pass on."""
        await self._processor.revoked(partitions)
        await self._tell("on_partitions_revoked", partitions)

    async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Pass on."""
        await self._tell("on_partitions_assigned", partitions)

    async def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        """Forget, pass on."""
        self._processor.lost(partitions)
        await self._tell("on_partitions_lost", partitions)

    async def _tell(self, name: str, partitions: Collection[TopicPartition]) -> None:
        result = tell(self._inner, name, partitions)
        if inspect.isawaitable(result):
            await result


__all__ = ["AsyncProcessor", "AsyncRevokeFirst"]
