"""AsyncKafkaProducer: KafkaProducer awaited. The same parts and the same thread do the work; only waiting differs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.client.crossing import crossing_to
from pykclient.client.engine import Operation, wait
from pykclient.errors import BufferExhausted, KafkaError, KafkaTimeoutError, UsageError
from pykclient.producer.batch import RecordFuture
from pykclient.producer.buffer_pool import Waiter
from pykclient.producer.prepared import PreparedTransaction, end_prepared
from pykclient.producer.producer import KafkaProducer
from pykclient.producer.queues import TopicQueues
from pykclient.producer.transactions import TransactionManager, Txn
from pykclient.protocol import accel
from pykclient.types import ConsumerGroupMetadata, OffsetAndMetadata, PartitionInfo, RecordMetadata, TopicPartition

from .runner import Bell, Handlers, LoopRunner, settle
from .tokens import adapted

if TYPE_CHECKING:
    from pykclient.producer.arrow import ArrowDelivery

logger = logging.getLogger(__name__)
T = TypeVar("T")
HeaderPairs = Sequence[tuple[str, "bytes | None"]]
_append_direct = accel.active.append_direct


class _TopicWanted(Exception):
    """Metadata must be waited for before this record can be sent."""


class _PartitionWanted(Exception):
    """A partition we do not know: it may just have been added."""


class _MemoryWanted(Exception):
    """Memory must be waited for; holds the place in the queue and the record, ready to append."""

    def __init__(self, waiter: Waiter, arguments: tuple[Any, ...], bell: Bell) -> None:
        self.waiter = waiter
        self.arguments = arguments
        self.bell = bell


class _NeverWaits(KafkaProducer):
    """The blocking producer with its two waits turned into exceptions that say what is missing."""

    def __init__(self, options: Mapping[str, Any] | None, keywords: dict[str, Any]) -> None:
        super().__init__(options, **keywords)
        self._append = self._append_or_raise  # type: ignore[assignment]
        self.refreshed: object = None
        """The cluster view in which a partition was missing."""

    def _await_topic(self, topic: str, deadline: float) -> Any:
        if asyncio._get_running_loop() is None:  # send_arrow, on a thread that may wait
            return super()._await_topic(topic, deadline)
        raise _TopicWanted

    def _await_partition(self, topic: str, partition: int) -> tuple[TopicQueues, float]:
        queues, deadline = self._topic(topic)
        if not 0 <= partition < queues.partitions.count:
            if self.refreshed is not self._metadata.cluster:
                raise _PartitionWanted
            raise UsageError(
                f"there is no partition {partition}: the topic has {queues.partitions.count}, numbered from 0",
                topic=topic,
                partition=partition,
            )
        return queues, deadline or self._clock.now()

    def _append_or_raise(self, *arguments: Any) -> RecordFuture:
        record = arguments[:-1]  # without the deadline
        bell = Bell(loop := asyncio.get_running_loop(), crossing_to(loop))
        appended = self._accumulator.append_or_join(bell.ring, *record)
        if isinstance(appended, Waiter):
            raise _MemoryWanted(appended, record, bell)
        return appended


class AsyncKafkaProducer:
    """Sends records to Kafka from an event loop. Options as for KafkaProducer. Make it anywhere; it binds the loop at
    first use."""

    def __init__(self, options: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self._sync = _NeverWaits(adapted(options), adapted(keywords))
        self._runner = LoopRunner(self._sync._engine, self._sync._config)
        self._handlers = Handlers(self._runner, lambda error: logger.error("on_delivery raised", exc_info=error))
        self._ready_by_start = False
        self._unfinished: tuple[str, asyncio.Future[Any]] | None = None
        """A step of a transaction whose await was cancelled: it goes on, and the next one waits for it."""

    def __repr__(self) -> str:
        return f"<Async{repr(self._sync).lstrip('<').replace('_NeverWaits', 'KafkaProducer')}"

    async def start(self) -> None:
        """Wait until the cluster can be reached; with a transactional_id also ``init_transactions``, as aiokafka's
        does. Not needed otherwise: the first send waits for what it needs."""
        await self._refreshed()
        manager = self._sync._transactions
        if manager is not None and manager.transactional and manager.state is Txn.UNINITIALIZED:
            await self.init_transactions()
            self._ready_by_start = True

    async def _refreshed(self) -> None:
        def operation() -> Operation[None]:
            deadline = self._sync._clock.now() + self._sync._max_block_s
            yield from wait(self._sync._metadata.wait_for_update(deadline))

        await self._runner.run(operation(), self._sync._max_block_s + 1.0)

    async def stop(self) -> None:
        """The same as ``close``."""
        await self.close()

    async def __aenter__(self) -> AsyncKafkaProducer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- sending -----------------------------------------------------------------------------------------------------

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: HeaderPairs | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        on_delivery: Callable[[RecordMetadata | None, Exception | None], object] | None = None,
    ) -> RecordMetadata:
        """Send a record and wait until it is delivered. Cancelling the await does not call the record back."""
        return await (await self.send_soon(topic, value, key, headers, partition, timestamp_ms, on_delivery))

    send_and_wait = send

    async def send_soon(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: HeaderPairs | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        on_delivery: Callable[[RecordMetadata | None, Exception | None], object] | None = None,
    ) -> RecordFuture:
        """Hand a record over; awaiting this waits for room (up to max_block_ms), awaiting the future for delivery.
        ``on_delivery(metadata, error)`` runs on the loop and may be a coroutine function."""
        sync = self._sync
        if headers is None and on_delivery is None and sync._metadata.cluster is sync._topics_of:
            # As the first lines of KafkaProducer.send, which see: a call less per record.
            future = _append_direct(
                RecordFuture,
                sync._lanes,
                topic,
                value,
                key,
                partition,
                timestamp_ms,
                None,
                sync._wall_ns,
                sync._lock,
            )
            if future is not None:
                return future
        if on_delivery is not None:
            on_delivery = self._handlers.on_loop(on_delivery)
        while True:
            try:
                return sync.send(topic, value, key, headers, partition, timestamp_ms, on_delivery)
            except _TopicWanted:
                await self._topic_known(topic)
            except _PartitionWanted:
                await self._refreshed()
                sync.refreshed = sync._metadata.cluster
            except _MemoryWanted as wanted:
                return await self._memory_granted(wanted)

    async def _topic_known(self, topic: str) -> None:
        sync = self._sync

        def operation() -> Operation[None]:
            yield from wait(sync._metadata.wait_for_topics((topic,), sync._clock.now() + sync._max_block_s))

        try:
            await self._runner.run(operation(), sync._max_block_s + 1.0)
        except KafkaTimeoutError as error:
            raise KafkaTimeoutError(
                f"no metadata within max_block_ms ({sync._config.max_block_ms} ms): {error}", topic=topic
            ) from error

    async def _memory_granted(self, wanted: _MemoryWanted) -> RecordFuture:
        accumulator = self._sync._accumulator
        try:
            await wanted.bell.wait(0, self._sync._max_block_s)
            if wanted.bell.count == 0:
                limit = self._sync._config.buffer_memory
                held = limit - accumulator.available_bytes
                raise BufferExhausted(
                    f"no room for {wanted.waiter.size} bytes within max_block_ms: {held} of buffer_memory {limit} "
                    "bytes wait for delivery; the brokers are slower than this producer, or away",
                    buffered=held,
                    limit=limit,
                )
        except BaseException:
            accumulator.leave(wanted.waiter)
            raise
        return accumulator.append_granted(wanted.waiter, *wanted.arguments)

    async def flush(self, timeout: float | None = None) -> None:
        """Send everything now and wait until each record is delivered or has failed."""
        self._sync._require_usable()
        await self._flushed(timeout)

    async def _flushed(self, timeout: float | None) -> None:
        done, crossing = self._runner.loop.create_future(), self._runner.crossing
        undelivered = self._sync._accumulator.flush_soon(lambda: crossing.post(partial(settle, done)))
        await asyncio.wait((done,), timeout=timeout)
        if not done.done():
            raise KafkaTimeoutError(
                f"{undelivered()} records were not delivered within {timeout} s; they are still being sent"
            )

    async def partitions_for(self, topic: str) -> list[PartitionInfo]:
        """The topic's partitions with leader and replicas."""
        self._sync._require_usable()
        await self._topic_known(topic)
        return self._sync._metadata.cluster.partitions_for(topic)

    def metrics(self) -> dict[str, float]:
        """Totals and averages under Java's names."""
        return self._sync.metrics()

    async def send_arrow(
        self,
        topic: str,
        table: Any,
        key: str | None = "key",
        value: str | None = "value",
        headers: str | None = None,
        timestamp: str | None = None,
        partition: str | int | None = None,
    ) -> ArrowDelivery:
        """Send the rows of a pyarrow Table, RecordBatch or reader and wait until they are delivered. Encodes, and waits
        for memory, on a thread; when the await is cancelled the rows are sent all the same."""

        def work() -> ArrowDelivery:
            return self._sync.send_arrow(topic, table, key, value, headers, timestamp, partition).result()

        self._sync._require_usable()
        return await self._runner.loop.run_in_executor(None, work)

    # ---- transactions ------------------------------------------------------------------------------------------------

    async def init_transactions(self, timeout: float | None = None) -> None:
        """Once, before the first transaction: fences older producers with this transactional_id."""
        if self._ready_by_start:
            self._ready_by_start = False
            self._sync._require_usable()
            return
        await self._transact("init_transactions", lambda manager: manager.init(), timeout)

    async def begin_transaction(self) -> None:
        """Start a transaction; everything sent from here on is part of it."""
        await self._transact("begin_transaction", lambda manager: manager.begin(), None)

    async def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group_metadata: ConsumerGroupMetadata | str,
        timeout: float | None = None,
    ) -> None:
        """Commit consumer offsets with the transaction (KIP-447)."""
        group = ConsumerGroupMetadata(group_metadata) if isinstance(group_metadata, str) else group_metadata
        rows = {
            TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else offset
            for tp, offset in offsets.items()
        }
        await self._transact("send_offsets_to_transaction", lambda manager: manager.send_offsets(rows, group), timeout)

    async def commit_transaction(self, timeout: float | None = None) -> None:
        """Deliver what was sent and commit it, all or nothing."""
        await self._transact("commit_transaction", lambda manager: manager.commit(), timeout)

    async def abort_transaction(self, timeout: float | None = None) -> None:
        """Undo the transaction."""
        await self._transact("abort_transaction", lambda manager: manager.abort(), timeout)

    async def prepare_transaction(self, timeout: float | None = None) -> PreparedTransaction:
        """Deliver what was sent and leave the end open, for ``commit_prepared`` or ``abort_prepared`` anywhere."""
        return await self._transact("prepare_transaction", lambda manager: manager.prepare(), timeout)

    async def commit_prepared(self, prepared: PreparedTransaction, timeout: float | None = None) -> None:
        """Commit what any producer prepared. InvalidTxnState or ProducerFenced: the broker has aborted it."""
        await self._end_prepared(prepared, True, timeout)

    async def abort_prepared(self, prepared: PreparedTransaction, timeout: float | None = None) -> None:
        """Abort what any producer prepared."""
        await self._end_prepared(prepared, False, timeout)

    async def _end_prepared(self, prepared: PreparedTransaction, committed: bool, timeout: float | None) -> None:
        self._sync._require_usable()
        timeout_s = self._sync._max_block_s if timeout is None else timeout
        await self._runner.run(end_prepared(prepared, committed=committed), timeout_s)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncKafkaProducer]:
        """``async with producer.transaction():`` commits at the end, aborts when the block raises or is cancelled."""
        await self.begin_transaction()
        try:
            yield self
        except BaseException as reason:
            try:
                await self.abort_transaction()
            except KafkaError as error:
                # The reason is what the user must see; that the abort failed too goes beside it, not over it.
                logger.warning("could not abort the transaction: %s", error)
                reason.__context__ = error
            raise
        try:
            await self.commit_transaction()
        except KafkaError as error:
            if error.abortable:
                await self.abort_transaction()
            raise

    async def _transact(
        self, name: str, operation: Callable[[TransactionManager], Operation[T]], timeout: float | None
    ) -> T:
        """One step of a transaction. Cancelling the await stops no step that has begun: half a commit is none. The next
        call waits for it first; the same call again gives its outcome."""
        self._sync._require_usable()
        manager = self._sync._transactions
        if manager is None or not manager.transactional:
            raise UsageError(f"{name}() needs a producer with transactional_id")
        timeout_s = self._sync._max_block_s if timeout is None else timeout
        if self._unfinished is not None:
            before, going = self._unfinished
            await self._step_over(going)
            if before == name and name != "send_offsets_to_transaction":  # which may be of others now
                same: T = self._outcome(name, going, timeout_s, manager)
                return same
            if before == "commit_transaction" and name == "begin_transaction":
                await self._clean_up(manager, timeout)
        manager.problem = None
        step = self._runner.start(operation(manager), timeout_s)
        self._unfinished = (name, step)
        await self._step_over(step)
        outcome: T = self._outcome(name, step, timeout_s, manager)
        return outcome

    async def _clean_up(self, manager: TransactionManager, timeout: float | None) -> None:
        """A commit went on without anyone who waited. Where it failed, nobody has aborted."""
        if getattr(manager.error, "abortable", False):
            logger.warning("the commit whose await was cancelled has failed, aborting: %s", manager.error)
            await self._transact("abort_transaction", lambda manager: manager.abort(), timeout)

    async def _step_over(self, going: asyncio.Future[Any]) -> None:
        await asyncio.wait((going,))
        if self._unfinished is not None and self._unfinished[1] is going:
            self._unfinished = None

    @staticmethod
    def _outcome(name: str, going: asyncio.Future[Any], timeout_s: float, manager: TransactionManager) -> Any:
        try:
            return going.result()
        except KafkaTimeoutError as error:
            if error.fatal:
                raise
            why = "" if manager.problem is None else f" (last problem: {manager.problem})"
            raise KafkaTimeoutError(
                f"{name}() did not finish within {timeout_s} s{why}; call it again to go on, or close the producer",
                transactional_id=manager.transactional_id,
            ) from manager.problem or error

    async def close(self, timeout: float | None = None) -> None:
        """Deliver what is buffered (up to ``timeout`` seconds, by default delivery_timeout_ms), then end."""
        sync = self._sync
        if sync._closed:
            return
        timeout_s = sync._config.delivery_timeout_ms / 1000 if timeout is None else timeout
        deadline = sync._clock.now() + timeout_s
        manager = sync._transactions
        if sync._engine.running and not sync._engine.forked:
            try:
                if self._unfinished is not None:
                    await asyncio.wait((self._unfinished[1],), timeout=timeout_s)
                if manager is not None and manager.in_transaction:
                    await self._runner.run(manager.abort(), max(0.0, deadline - sync._clock.now()))
                await self._flushed(max(0.0, deadline - sync._clock.now()))
            except KafkaError as error:
                logger.debug("while closing: %s", error)  # close() below counts what is left and says so
        sync.close(0.0)
        await self._runner.closed()
        await self._handlers.done()


__all__ = ["AsyncKafkaProducer"]
