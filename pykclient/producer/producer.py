"""KafkaProducer: the public face. ``send`` runs on the caller's thread up to the accumulator; everything after is the
Sender's.

Thread-safe: any number of threads may send. Order of work as in Java: interceptors, metadata, serialise, partition,
size check, append. Must never drop a record silently: each one ends as a delivery, an exception in its future, or an
exception from ``send``. Longer than most modules because every public method of the producer stands here, and each is
short.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.client.assembly import ClientParts, assemble
from pykclient.client.cluster import Cluster
from pykclient.client.engine import Operation, wait
from pykclient.client.metrics import network_metrics
from pykclient.config import ProducerConfig, read_options
from pykclient.errors import (
    ClientClosed,
    HeaderTypeError,
    KafkaError,
    KafkaTimeoutError,
    RecordTooLarge,
    SerializationError,
    UsageError,
)
from pykclient.plugins import Partitioner, serializer_function
from pykclient.producer import at_exit
from pykclient.producer.accumulator import Callback, RecordAccumulator
from pykclient.producer.batch import ProducerBatch, RecordFuture
from pykclient.producer.metrics import ProducerMetrics
from pykclient.producer.partitioners import (
    Partitions,
    Random,
    RoundRobin,
    hash_partitioner,
    random_partitioner,
)
from pykclient.producer.queues import AccumulatorSettings, TopicQueues
from pykclient.producer.sender import Sender, SenderSettings
from pykclient.producer.transactions import TransactionManager, TransactionSettings
from pykclient.producer.uniform_sticky import uniform_sticky
from pykclient.protocol import accel, batch_builder
from pykclient.protocol.compression import CompressionType, require
from pykclient.protocol.murmur2 import partition_for_key
from pykclient.types import ConsumerGroupMetadata, OffsetAndMetadata, PartitionInfo, RecordMetadata, TopicPartition

if TYPE_CHECKING:
    from pykclient.producer.arrow import SentRows
    from pykclient.producer.prepared import PreparedTransaction

logger = logging.getLogger(__name__)
T = TypeVar("T")


HeaderPairs = Sequence[tuple[str, "bytes | None"]]
_append_direct = accel.active.append_direct
_CODECS = {name.name.lower(): name for name in CompressionType}


class KafkaProducer:
    """Sends records to Kafka. See docs/producer.md for every option."""

    def __init__(self, options: Mapping[str, Any] | None = None, /, **keywords: Any) -> None:
        self._config = config = read_options(ProducerConfig, options, **keywords)
        self._servers = ", ".join(map(str, config.bootstrap_servers))
        require(_CODECS[config.compression_type], f"a producer for {self._servers}")
        self._closed = False
        self._metrics = ProducerMetrics()
        self._parts: ClientParts = assemble(config, kind="producer")
        self._engine = self._parts.engine
        self._metadata = self._parts.metadata
        self._clock = self._parts.clock
        self._random = self._parts.random
        self._max_block_s = config.max_block_ms / 1000
        self._serialize_key = None if config.key_serializer is None else serializer_function(config.key_serializer)
        self._serialize_value = (
            None if config.value_serializer is None else serializer_function(config.value_serializer)
        )
        self._interceptors = config.interceptors
        self._topics: dict[str, TopicQueues] = {}
        self._topics_of: object = None  # the cluster view that _topics and _lanes were made from
        self._lanes: dict[str, list[ProducerBatch | None]] = {}  # where records of a topic go at once
        self._transactions = self._make_transactions() if config.enable_idempotence else None
        self._accumulator = self._make_accumulator()
        self._sender = Sender(
            self._sender_settings(),
            self._accumulator,
            self._parts.network,
            self._metadata,
            self._transactions,
            self._metrics,
            clock=self._clock,
        )
        self._choose = self._make_partitioner()
        self._lock = self._accumulator.lock
        self._append = self._accumulator.append
        self._wall_ns = self._parts.wall_ns
        # Nothing of the user's stands between send() and the accumulator, and what fits into a batch may be sent: see
        # the first lines of send().
        self._direct = (
            not config.interceptors
            and config.key_serializer is None
            and config.value_serializer is None
            and config.partitioner == "default"
            and not config.partitioner_ignore_keys
            and config.transactional_id is None
            and config.batch_size <= config.max_request_size
        )
        self._engine.add_manager(self._sender)
        self._engine.start()
        at_exit.watch(self)

    # ---- assembly ----------------------------------------------------------------------------------------------------

    def _make_transactions(self) -> TransactionManager:
        config = self._config
        return TransactionManager(
            TransactionSettings(
                transactional_id=config.transactional_id,
                transaction_timeout_ms=config.transaction_timeout_ms,
                retry_backoff_s=config.retry_backoff_ms / 1000,
                retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
            ),
            self._parts.network,
            clock=self._clock,
            spawn=self._spawn,
            has_incomplete=lambda: self._accumulator.has_incomplete,
            abort_undrained=lambda error: self._sender.abort_undrained(error),
        )

    def _spawn(self, operation: Operation[None]) -> None:
        self._engine.spawn(operation)

    def _make_accumulator(self) -> RecordAccumulator:
        config = self._config
        return RecordAccumulator(
            AccumulatorSettings(
                batch_bytes=max(1, min(config.batch_size, config.buffer_memory)),
                linger_s=config.linger_ms / 1000,
                buffer_bytes=config.buffer_memory,
                delivery_timeout_s=config.delivery_timeout_ms / 1000,
                retry_backoff_s=config.retry_backoff_ms / 1000,
                retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
                max_block_s=self._max_block_s,
                compressed=config.compression_type != "none",
                adaptive=config.partitioner_adaptive_partitioning_enable,
                availability_timeout_s=config.partitioner_availability_timeout_ms / 1000,
            ),
            clock=self._clock,
            random=self._random,
            wake_sender=self._engine.wake,
            sequencer=self._transactions,
        )

    def _sender_settings(self) -> SenderSettings:
        config = self._config
        codec = _CODECS[config.compression_type]
        levels = {
            CompressionType.GZIP: None if config.compression_gzip_level == -1 else config.compression_gzip_level,
            # 9 is the default and, in Java, means the fast compressor, not the high compression of that level.
            CompressionType.LZ4: None if config.compression_lz4_level == 9 else config.compression_lz4_level,
            CompressionType.ZSTD: config.compression_zstd_level,
        }
        return SenderSettings(
            acks=config.acks,
            retries=config.retries,
            request_bytes_max=config.max_request_size,
            request_timeout_s=config.request_timeout_ms / 1000,
            in_flight_max=config.max_in_flight_requests_per_connection,
            batch_bytes=max(1, config.batch_size),
            compression=codec,
            compression_level=levels.get(codec),
        )

    def _make_partitioner(self) -> Callable[[str, Any, bytes | None, Any, bytes | None, Partitions], int | None]:
        """One call shape for every kind of partitioner; None from it means the topic's sticky partition."""
        configured, random = self._config.partitioner, self._random
        if configured == "default":
            if self._config.partitioner_ignore_keys:
                return lambda topic, key, key_bytes, value, value_bytes, partitions: None
            return lambda topic, key, key_bytes, value, value_bytes, partitions: (
                None if key_bytes is None else partition_for_key(key_bytes, partitions.count)
            )
        if isinstance(configured, str):
            return self._named_partitioner(configured, random, lambda topic: self._topics.get(topic))
        if isinstance(configured, Partitioner):
            chosen = configured
            return lambda topic, key, key_bytes, value, value_bytes, partitions: chosen.partition(
                topic, key, key_bytes, value, value_bytes, partitions.count, partitions.available
            )
        function = configured
        return lambda topic, key, key_bytes, value, value_bytes, partitions: function(
            key_bytes, range(partitions.count), partitions.available
        )

    @staticmethod
    def _named_partitioner(
        name: str, random: Random, queues_of: Callable[[str], TopicQueues | None]
    ) -> Callable[[str, Any, bytes | None, Any, bytes | None, Partitions], int | None]:
        if name == "uniform_sticky":
            return uniform_sticky(random, queues_of)
        if name == "round_robin":
            counters: dict[str, RoundRobin] = {}
            return lambda topic, key, key_bytes, value, value_bytes, partitions: counters.setdefault(
                topic, RoundRobin()
            )(key_bytes, partitions)
        by_key = random_partitioner(random) if name == "random" else hash_partitioner(name, random)
        return lambda topic, key, key_bytes, value, value_bytes, partitions: by_key(key_bytes, partitions)

    # ---- sending -----------------------------------------------------------------------------------------------------

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: HeaderPairs | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        on_delivery: Callable[[RecordMetadata | None, Exception | None], None] | None = None,
    ) -> RecordFuture:
        """Send a record; returns at once with its future unless metadata or memory must be waited for (up to
        max_block_ms)."""
        current = self._metadata.cluster is self._topics_of
        if current and headers is None:
            # The shortest way for the commonest records: plain bytes, and nothing of the user's between send() and the
            # accumulator (see _topic). All it skips is of no effect here; a record that does not fit into the open
            # batch, a large one for example, takes the long way below.
            future = _append_direct(
                RecordFuture,
                self._lanes,
                topic,
                value,
                key,
                partition,
                timestamp_ms,
                on_delivery,
                self._wall_ns,
                self._lock,
            )
            if future is not None:
                return future
        queues = self._topics.get(topic)
        deadline: float | None = None
        if queues is None or not current:
            queues, deadline = self._topic(topic)
        if self._transactions is not None and self._transactions.transactional:
            self._transactions.require_open()
        if self._interceptors:
            key, value, headers, on_delivery = self._intercept(topic, partition, key, value, headers, on_delivery)
        if headers is not None:
            headers = _checked_headers(headers)
        key_bytes: Any = key
        value_bytes: Any = value
        if self._serialize_key is not None or (key is not None and type(key) is not bytes):
            key_bytes = self._serialized("key", topic, key, headers)
        if self._serialize_value is not None or (value is not None and type(value) is not bytes):
            value_bytes = self._serialized("value", topic, value, headers)
        if partition is None:
            partition = self._choose(topic, key, key_bytes, value, value_bytes, queues.partitions)
        if partition is not None and not 0 <= partition < queues.partitions.count:
            queues, deadline = self._await_partition(topic, partition)
        size = (len(value_bytes) if value_bytes is not None else 0) + (len(key_bytes) if key_bytes is not None else 0)
        if headers or size > 1024:
            self._check_size(topic, key_bytes, value_bytes, headers)
        if timestamp_ms is None:
            timestamp_ms = self._clock.wall_ms()
        elif timestamp_ms < 0:
            raise UsageError(f"timestamp_ms is {timestamp_ms}; it must not be negative", topic=topic)
        return self._append(queues, partition, timestamp_ms, key_bytes, value_bytes, headers, on_delivery, deadline)

    def send_arrow(
        self,
        topic: str,
        table: Any,
        key: str | None = "key",
        value: str | None = "value",
        headers: str | None = None,
        timestamp: str | None = None,
        partition: str | int | None = None,
    ) -> SentRows:
        """Send the rows of a pyarrow Table, RecordBatch or reader; each argument names the column to use. See
        docs/arrow.md."""
        from pykclient.producer import arrow  # pyarrow is an extra

        self._require_usable()
        if self._transactions is not None and self._transactions.transactional:
            self._transactions.require_open()
        target = arrow.target(
            topic, self._config, self._accumulator, lambda: self._topic(topic)[0], self._choose, self._clock.wall_ms
        )
        return arrow.send_columns(target, table, (key, value, headers, timestamp, partition))

    def _serialized(self, origin: str, topic: str, item: Any, headers: HeaderPairs | None) -> bytes | None:
        serialize = self._serialize_key if origin == "key" else self._serialize_value
        try:
            data = (serialize or serializer_function(None))(topic, item, list(headers or ()))
        except SerializationError as error:
            raise SerializationError(f"{origin}: {error.message}", topic=topic) from error.__cause__
        except Exception as error:
            raise SerializationError(f"the {origin} serializer raised {type(error).__name__}", topic=topic) from error
        if data is not None and type(data) is not bytes:
            if isinstance(data, (bytes, bytearray, memoryview)):
                return bytes(data)
            raise SerializationError(f"the {origin} serializer gave {type(data).__name__}, not bytes", topic=topic)
        return data

    def _check_size(self, topic: str, key: bytes | None, value: bytes | None, headers: HeaderPairs | None) -> None:
        size = batch_builder.size_upper_bound(key, value, headers)
        for limit, name in (
            (self._config.max_request_size, "max_request_size"),
            (self._config.buffer_memory, "buffer_memory"),
        ):
            if size > limit:
                raise RecordTooLarge(
                    f"the record takes {size} bytes, more than {name} allows ({limit}); send less, or raise {name} "
                    f"of the producer for {self._servers}",
                    size=size,
                    limit=limit,
                    topic=topic,
                )

    def _intercept(
        self,
        topic: str,
        partition: int | None,
        key: Any,
        value: Any,
        headers: HeaderPairs | None,
        on_delivery: Callback | None,
    ) -> tuple[Any, Any, HeaderPairs, Callback]:
        pairs = list(headers or ())
        for interceptor in self._interceptors:
            try:
                key, value, pairs = interceptor.on_send(topic, partition, key, value, pairs)
            except Exception:
                # As in Java: a broken interceptor must not stop the records of a payment system.
                logger.exception("interceptor %s: on_send raised; going on without it", type(interceptor).__name__)
        interceptors = self._interceptors

        def acknowledged(metadata: RecordMetadata | None, error: Exception | None) -> None:
            for interceptor in interceptors:
                try:
                    interceptor.on_acknowledgement(metadata, error)
                except Exception:
                    logger.exception("interceptor %s: on_acknowledgement raised", type(interceptor).__name__)
            if on_delivery is not None:
                on_delivery(metadata, error)

        return key, value, pairs, acknowledged

    # ---- metadata ----------------------------------------------------------------------------------------------------

    def _topic(self, topic: str) -> tuple[TopicQueues, float | None]:
        """The topic's queues for the newest cluster view; waits for the view when the topic is new."""
        self._require_usable()
        cluster = self._metadata.cluster
        if cluster is not self._topics_of:
            self._topics, self._lanes = {}, {}
            self._topics_of = cluster
        deadline: float | None = None
        state = cluster.topics.get(topic)
        if state is None:
            deadline = self._clock.now() + self._max_block_s
            cluster = self._await_topic(topic, deadline)
            state = cluster.topics[topic]
        available = tuple(
            index for index, partition in state.partitions.items() if partition.leader_id in cluster.brokers
        )
        queues = self._accumulator.topic(topic, Partitions(len(state.partitions), available))
        if self._topics_of is cluster:
            self._topics[topic] = queues
            if self._direct:
                self._lanes[topic] = queues.lane
        self._keep_fresh(topic)
        return queues, deadline

    def _keep_fresh(self, topic: str) -> None:
        """Sending to a topic keeps it from being forgotten (metadata_max_idle_ms); seen with every new view, so it
        costs sends nothing."""
        self._engine.call_soon(lambda: self._metadata.add_topics((topic,)))

    def _await_topic(self, topic: str, deadline: float) -> Cluster:
        def operation() -> Operation[Cluster]:
            cluster = yield from wait(self._metadata.wait_for_topics((topic,), deadline))
            return cluster

        try:
            return self._engine.run_blocking(operation(), timeout_s=self._max_block_s + 1.0)
        except KafkaTimeoutError as error:
            raise KafkaTimeoutError(
                f"no metadata within max_block_ms ({self._config.max_block_ms} ms) from {self._servers}: {error}",
                topic=topic,
            ) from error

    def _await_partition(self, topic: str, partition: int) -> tuple[TopicQueues, float]:
        """A partition we do not know: it may just have been added, so look once more before saying no."""
        deadline = self._clock.now() + self._max_block_s

        def refresh() -> Operation[Cluster]:
            cluster = yield from wait(self._metadata.wait_for_update(deadline))
            return cluster

        self._engine.run_blocking(refresh(), timeout_s=self._max_block_s + 1.0)
        queues, _ = self._topic(topic)
        if not 0 <= partition < queues.partitions.count:
            raise UsageError(
                f"there is no partition {partition}: the topic has {queues.partitions.count}, numbered from 0",
                topic=topic,
                partition=partition,
            )
        return queues, deadline

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        """The topic's partitions with leader and replicas; waits up to max_block_ms for metadata."""
        self._topic(topic)
        return self._metadata.cluster.partitions_for(topic)

    # ---- transactions ------------------------------------------------------------------------------------------------

    def init_transactions(self, timeout: float | None = None) -> None:
        """Once, before the first transaction: fences older producers with this transactional_id."""
        self._transact("init_transactions", lambda manager: manager.init(), timeout)

    def begin_transaction(self) -> None:
        """Start a transaction; everything sent from here on is part of it."""
        self._transact("begin_transaction", lambda manager: manager.begin(), None)

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group_metadata: ConsumerGroupMetadata | str,
        timeout: float | None = None,
    ) -> None:
        """Commit consumer offsets with the transaction. Give ``consumer.group_metadata()``, so that zombies are fenced
        (KIP-447)."""
        group = ConsumerGroupMetadata(group_metadata) if isinstance(group_metadata, str) else group_metadata
        rows = {
            TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else offset
            for tp, offset in offsets.items()
        }
        self._transact("send_offsets_to_transaction", lambda manager: manager.send_offsets(rows, group), timeout)

    def commit_transaction(self, timeout: float | None = None) -> None:
        """Deliver what was sent and commit it, all or nothing."""
        self._transact("commit_transaction", lambda manager: manager.commit(), timeout)

    def abort_transaction(self, timeout: float | None = None) -> None:
        """Undo the transaction: readers with isolation_level=read_committed never see it."""
        self._transact("abort_transaction", lambda manager: manager.abort(), timeout)

    def prepare_transaction(self, timeout: float | None = None) -> PreparedTransaction:
        """Deliver what was sent and leave the end open: hand the answer to ``commit_prepared`` or ``abort_prepared`` of
        any producer, also in another process, within transaction_timeout_ms. ``close`` leaves it open too."""
        return self._transact("prepare_transaction", lambda manager: manager.prepare(), timeout)

    def commit_prepared(self, prepared: PreparedTransaction, timeout: float | None = None) -> None:
        """Commit what any producer prepared. InvalidTxnState or ProducerFenced: the broker has aborted it."""
        self._end_prepared(prepared, True, timeout)

    def abort_prepared(self, prepared: PreparedTransaction, timeout: float | None = None) -> None:
        """Abort what any producer prepared."""
        self._end_prepared(prepared, False, timeout)

    def _end_prepared(self, prepared: PreparedTransaction, committed: bool, timeout: float | None) -> None:
        self._require_usable()
        timeout_s = self._max_block_s if timeout is None else timeout
        from pykclient.producer.prepared import end_prepared

        self._engine.run_blocking(end_prepared(prepared, committed=committed), timeout_s=timeout_s)

    @contextmanager
    def transaction(self) -> Iterator[KafkaProducer]:
        """``with producer.transaction():`` commits at the end, aborts when the block raises."""
        self.begin_transaction()
        try:
            yield self
        except BaseException as reason:
            try:
                self.abort_transaction()
            except KafkaError as error:
                # The reason is what the user must see; that the abort failed too goes beside it, not over it.
                logger.warning("could not abort the transaction: %s", error)
                reason.__context__ = error
            raise
        try:
            self.commit_transaction()
        except KafkaError as error:
            if error.abortable:
                self.abort_transaction()
            raise

    def _transact(self, name: str, operation: Callable[[TransactionManager], Operation[T]], timeout: float | None) -> T:
        self._require_usable()
        manager = self._transactions
        if manager is None or not manager.transactional:
            raise UsageError(f"{name}() needs a producer with transactional_id")
        timeout_s = self._max_block_s if timeout is None else timeout
        manager.problem = None
        try:
            return self._engine.run_blocking(operation(manager), timeout_s=timeout_s)
        except KafkaTimeoutError as error:
            why = "" if manager.problem is None else f" (last problem: {manager.problem})"
            raise KafkaTimeoutError(
                f"{name}() did not finish within {timeout_s} s{why}; call it again to go on, or close the producer",
                transactional_id=manager.transactional_id,
            ) from manager.problem or error

    # ---- ends --------------------------------------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> None:
        """Send everything now and wait until each record is delivered or has failed; KafkaTimeoutError names how many
        are left."""
        self._require_usable()
        if self._engine.on_reactor_thread():
            raise UsageError("a callback cannot wait for the producer that runs it: call flush() from another thread")
        undelivered = self._accumulator.flush(timeout)
        if undelivered:
            raise KafkaTimeoutError(
                f"{undelivered} records were not delivered within {timeout} s; they are still being sent"
            )

    def metrics(self) -> dict[str, float]:
        """Totals and averages under Java's names."""
        return {
            **self._metrics.snapshot(),
            "buffer-total-bytes": self._config.buffer_memory,
            "buffer-available-bytes": self._accumulator.available_bytes,
            "waiting-threads": self._accumulator.waiting_threads,
            **network_metrics(self._parts.network),
        }

    def close(self, timeout: float | None = None) -> None:
        """Deliver what is buffered (up to ``timeout`` seconds, by default delivery_timeout_ms), then end.

        Safe to call twice and from any thread. What is not delivered fails with ClientClosed; a warning says how many.
        """
        if self._closed:
            return
        self._closed = True
        at_exit.forget(self)
        if self._engine.forked:
            return
        timeout_s = self._config.delivery_timeout_ms / 1000 if timeout is None else timeout
        deadline = self._clock.now() + timeout_s
        failed_before = self._metrics.record_error_total
        if self._engine.running and not self._engine.on_reactor_thread():
            self._abort_open_transaction(timeout_s)
            failed_before = self._metrics.record_error_total
            self._accumulator.close()
            self._accumulator.flush(max(0.0, deadline - self._clock.now()))
        # Those that ran out of their own time while we waited count too: nobody else is likely to look any more.
        undelivered = self._accumulator.incomplete_records + self._metrics.record_error_total - failed_before
        if undelivered:
            logger.warning("closed with %d records not delivered", undelivered)
        self._engine.stop(1.0)

    def _abort_open_transaction(self, timeout_s: float) -> None:
        manager = self._transactions
        if manager is None or not manager.in_transaction:
            return
        try:
            self._engine.run_blocking(manager.abort(), timeout_s=timeout_s)
        except KafkaError as error:
            logger.warning(
                "closed inside a transaction that could not be aborted: %s; the broker aborts it when it times out",
                error,
            )

    def _refuse_in_child(self) -> None:
        """After a fork, in the child: the next send takes the long way, which refuses."""
        self._topics, self._lanes, self._topics_of = {}, {}, None

    def _require_usable(self) -> None:
        if self._closed:
            raise ClientClosed("the producer is closed; make a new one")
        self._engine.check_usable()

    def __enter__(self) -> KafkaProducer:
        self._require_usable()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KafkaProducer {self._config.client_id}{', closed' if self._closed else ''}>"


def _checked_headers(headers: HeaderPairs) -> HeaderPairs:
    for pair in headers:
        name, content = pair
        if not isinstance(name, str):
            raise HeaderTypeError(f"header name {name!r} is {type(name).__name__}, not str")
        if content is not None and not isinstance(content, bytes):
            raise HeaderTypeError(f"header {name!r} has a value of type {type(content).__name__}; give bytes or None")
    return headers


__all__ = ["KafkaProducer"]
