"""KafkaConsumer: the public face. Methods run on the caller's thread and wait for operations on the reactor thread.

One thread at a time; only ``wakeup`` and ``close`` may come from another. Heartbeats, fetches and commits go on while
user code works. Longer than most modules because every public method and its documentation is here, each a few lines
over rooms of its own. Must never return a record twice to one reader of a position, nor move a position past a record
that was not returned.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

from pykclient.client.assembly import ClientParts, assemble
from pykclient.client.coordinators import Coordinators
from pykclient.client.engine import Operation, call, wait
from pykclient.config import ConsumerConfig, read_options
from pykclient.consumer.auto_commit import AutoCommit
from pykclient.consumer.fetcher import FetchBuffer, Fetcher, FetchSettings
from pykclient.consumer.group import group_membership
from pykclient.consumer.groupless import GrouplessMembership
from pykclient.consumer.membership import GroupContext, Membership
from pykclient.consumer.offsets import Offsets, OffsetSettings, OutOfRange, parse_reset
from pykclient.consumer.parallel import DeadLetterProducer, ParallelProcessor, ProcessSettings, RevokeFirst
from pykclient.consumer.records import PolledRecords, deserialize
from pykclient.consumer.subscription import (
    EARLIEST,
    LATEST,
    PartitionState,
    Phase,
    Position,
    ResetStrategy,
    SubscriptionKind,
)
from pykclient.errors import ClientClosed, IllegalStateError, KafkaError, KafkaTimeoutError, UsageError, WakeupError
from pykclient.net.client_request import Request
from pykclient.net.transport import Clock
from pykclient.plugins import RebalanceListener, deserializer_function
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykclient.types import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    PartitionInfo,
    TopicPartition,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")

# No wait is longer, so that Ctrl-C and a second thread's close() are noticed in time.
WAIT_SLICE_S = 0.25
# An int below this, taken as milliseconds, lies in 1970; it was certainly meant as seconds.
PLAUSIBLE_MS = 100_000_000_000
CommitCallback = Callable[[Mapping[TopicPartition, OffsetAndMetadata], "Exception | None"], None]


class KafkaConsumer:
    """Reads records from Kafka, alone or as a member of a group. See docs/consumer.md."""

    def __init__(self, *topics: str | Mapping[str, Any], **options: Any) -> None:
        mapping = topics[0] if topics and isinstance(topics[0], Mapping) else None
        names = [topic for topic in topics if isinstance(topic, str)]
        self._config = config = read_options(ConsumerConfig, mapping, **options)
        self._closed = False
        self._parts: ClientParts = assemble(config, kind="consumer")
        self._engine = self._parts.engine
        self._metadata = self._parts.metadata
        self._clock = self._parts.clock
        self._buffer = FetchBuffer(self._fetch_settings())
        self._subscription = self._buffer.subscription
        self._wakeups = 0
        self._cursor: list[Any] | None = None  # [state, records, index] while the user iterates
        self._key = None if config.key_deserializer is None else deserializer_function(config.key_deserializer)
        self._value = None if config.value_deserializer is None else deserializer_function(config.value_deserializer)
        coordinators = Coordinators()
        self._offsets = Offsets(
            self._offset_settings(),
            self._buffer,
            self._metadata,
            coordinators,
            clock=self._clock,
            spawn=self._engine.spawn,
            identity=lambda: self._membership.identity,
            lost_membership=lambda error: self._membership.lost(error),
        )
        self._fetcher = Fetcher(self._buffer_settings, self._buffer, self._parts.network, self._metadata)
        self._fetcher.on_out_of_range = self._offsets.out_of_range
        self._fetcher.on_diverged = self._offsets.diverged
        self._buffer.on_room = self._engine.wake
        self._group = GroupContext(
            config=config,
            client_id=self._parts.client_id,
            subscription=self._subscription,
            network=self._parts.network,
            metadata=self._metadata,
            coordinators=coordinators,
            spawn=self._engine.spawn,
            attention=lambda: self._buffer.wake(attention=True),
            commit_before_revoke=self._commit_before_revoke,
            random=self._parts.random.random,
        )
        self._membership: Membership = self._make_membership()
        self._auto_commit = AutoCommit(config, self._subscription, self._offsets, self._engine.spawn, self._consumed)
        self._metadata.listeners.append(lambda cluster: self._topics_changed())
        for manager in (self._membership, self._offsets, self._fetcher, self._auto_commit):
            self._engine.add_manager(manager)
        self._engine.start()
        if names:
            self.subscribe(names)

    # ---- assembly ----------------------------------------------------------------------------------------------------

    def _fetch_settings(self) -> FetchSettings:
        config = self._config
        self._buffer_settings = FetchSettings(
            min_bytes=config.fetch_min_bytes,
            wait_max_ms=config.fetch_max_wait_ms,
            bytes_max=config.fetch_max_bytes,
            partition_bytes_max=config.max_partition_fetch_bytes,
            buffer_bytes_max=config.fetch_buffer_bytes_max,
            read_committed=config.isolation_level == "read_committed",
            check_crcs=config.check_crcs,
            rack=config.client_rack,
            request_timeout_s=config.request_timeout_ms / 1000,
            retry_backoff_s=config.retry_backoff_ms / 1000,
            decompressed_bytes_max=config.decompressed_batch_bytes_max,
        )
        return self._buffer_settings

    def _offset_settings(self) -> OffsetSettings:
        config = self._config
        return OffsetSettings(
            group_id=config.group_id,
            reset=parse_reset(config.auto_offset_reset),
            read_committed=config.isolation_level == "read_committed",
            retry_backoff_s=config.retry_backoff_ms / 1000,
            retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
        )

    def _make_membership(self) -> Membership:
        return GrouplessMembership(self._group) if self._config.group_id is None else group_membership(self._group)

    # ---- running things ----------------------------------------------------------------------------------------------

    def _run(self, operation: Operation[T], timeout: float | None = None) -> T:
        """Wait for an operation; default_api_timeout_ms unless the caller said otherwise."""
        timeout_s = self._config.default_api_timeout_ms / 1000 if timeout is None else timeout
        return self._engine.run_blocking(operation, timeout_s=timeout_s)

    def _on_reactor(self, action: Callable[[], T]) -> T:
        """Run a quick thing on the reactor thread, where most state lives."""

        def operation() -> Operation[T]:
            yield from ()  # an operation, though it never waits
            return action()

        return self._run(operation())

    def _check(self) -> None:
        if self._closed:
            raise ClientClosed("the consumer is closed; make a new one")
        self._engine.check_usable()

    def __enter__(self) -> KafkaConsumer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(None, commit_handed_out=error is None)

    # ---- what to read ------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        topics: str | Collection[str] = (),
        pattern: str | re.Pattern[str] | None = None,
        listener: RebalanceListener | None = None,
    ) -> None:
        """Read these topics, sharing them with the group; replaces an earlier subscription. A ``pattern`` of type str
        is matched by the broker with group_protocol=consumer (RE2 syntax), else here; a compiled one always here."""
        with self._use():
            names = [topics] if isinstance(topics, str) else list(topics)
            if bool(names) == (pattern is not None):
                raise UsageError("subscribe() takes topics or a pattern, one of the two")
            if any(not isinstance(name, str) or not name for name in names):
                raise UsageError("topic names are non-empty strings")
            self._on_reactor(lambda: self._subscribe(names, pattern, listener))

    def _subscribe(
        self, names: list[str], pattern: str | re.Pattern[str] | None, listener: RebalanceListener | None
    ) -> None:
        subscription = self._subscription
        with subscription.lock:
            if pattern is None:
                subscription.choose(SubscriptionKind.TOPICS)
                subscription.topics = frozenset(names)
                self._metadata.all_topics = False
                self._metadata.set_topics(names)
            elif isinstance(pattern, str) and self._config.group_protocol == "consumer":
                subscription.choose(SubscriptionKind.BROKER_PATTERN)
                subscription.broker_pattern = pattern
            else:
                subscription.choose(SubscriptionKind.PATTERN)
                subscription.pattern = re.compile(pattern) if isinstance(pattern, str) else pattern
                self._metadata.all_topics = True
                self._metadata.request_update()
                self._match_pattern()
        self._group.listener = listener
        self._membership.subscription_changed()

    def _topics_changed(self) -> None:
        """Reactor: a new view of the cluster."""
        subscription = self._subscription
        with subscription.lock:
            if subscription.kind is SubscriptionKind.PATTERN and self._match_pattern():
                self._membership.subscription_changed()

    def _match_pattern(self) -> bool:
        subscription, cluster = self._subscription, self._metadata.cluster
        internal = (
            {name for name, topic in cluster.topics.items() if topic.internal}
            if self._config.exclude_internal_topics
            else set()
        )
        matching = subscription.matches(list(cluster.topics), exclude_internal=internal)
        if matching == subscription.topics:
            return False
        subscription.topics = matching
        subscription.version += 1
        return True

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions, without the group's help."""
        with self._use():
            wanted = [TopicPartition(*tp) for tp in partitions]

            def act() -> None:
                with self._subscription.lock:
                    self._subscription.choose(SubscriptionKind.ASSIGNED)
                    self._subscription.assign(wanted)
                self._metadata.set_topics({tp.topic for tp in wanted})

            self._on_reactor(act)

    def unsubscribe(self) -> None:
        """Read nothing; leaves the group."""
        with self._use():
            if self._subscription.kind not in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
                self._run(self._membership.leave("unsubscribe() was called"))

            def act() -> None:
                with self._subscription.lock:
                    self._subscription.clear()
                self._metadata.all_topics = False
                self._metadata.set_topics(())
                self._membership.subscription_changed()

            self._on_reactor(act)

    def assignment(self) -> set[TopicPartition]:
        """The partitions read now."""
        with self._subscription.lock:
            return set(self._subscription.partitions)

    def subscription(self) -> set[str]:
        """The topics subscribed to; with a pattern, those that match now."""
        with self._subscription.lock:
            return set(self._subscription.topics)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def poll(self, timeout: float | None = None, max_records: int | None = None) -> PolledRecords:
        """Records that are there, else wait for some up to ``timeout`` seconds (None: until there are some). Empty when
        out of time.

        Everything returned before counts as processed from here on, for automatic commits.
        """
        with self._use():
            self._cursor = None
            self._buffer.came_back()
            deadline = math.inf if timeout is None else self._clock.now() + timeout
            return self._poll_records(deadline, max_records or self._config.max_poll_records)

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

        if self._config.interceptors:
            raise UsageError("poll_arrow() has no record objects to show to interceptors; use a consumer without them")
        with self._use():
            self._cursor = None
            self._buffer.came_back()
            deadline = math.inf if timeout is None else self._clock.now() + timeout
            table = arrow.TableBuilder(self._buffer, self._buffer_settings, max_records or 50_000, headers, until)
            found = self._poll_until(deadline, table.take)
            return table.empty() if found is None else found

    def _poll_records(self, deadline: float, records_max: int) -> PolledRecords:
        records = self._poll_until(deadline, lambda: self._buffer.take(records_max) or None)
        return PolledRecords({}) if records is None else self._finish(records)

    def _poll_until(self, deadline: float, take: Callable[[], T | None]) -> T | None:
        if self._subscription.kind is SubscriptionKind.NONE:
            raise IllegalStateError("nothing to poll: subscribe() or assign() first")
        self._auto_commit.polled()
        while True:
            self._membership.polled(self._clock.now())
            if self._buffer.attention or self._membership.needs_user():
                self._attend(deadline)
            found = take()
            if found is not None:
                self._membership.polled(self._clock.now())
                return found
            left = deadline - self._clock.now()
            if left <= 0:
                return None
            self._engine.check_usable()
            self._buffer.wait(min(left, WAIT_SLICE_S))

    def _attend(self, deadline: float) -> None:
        """Wake-ups, partitions that need the user's decision, rebalances; in this order."""
        self._buffer.attention = False
        self._engine.check_usable()
        if self._wakeups:
            self._wakeups = 0
            raise WakeupError
        with self._subscription.lock:
            for state in self._subscription.in_phase(Phase.STUCK):
                if state.error is not None:
                    error, state.error = state.error, None
                    raise error
        if self._membership.needs_user():
            timeout_s = max(0.05, min(deadline - self._clock.now(), self._config.max_poll_interval_ms / 1000))
            try:
                self._engine.run_blocking(self._membership.process(), timeout_s=timeout_s)
            except KafkaTimeoutError:
                # The rebalance goes on in the background; the next poll takes it up where it is.
                self._buffer.attention = True
                if self._clock.now() < deadline:
                    raise

    def _finish(self, records: dict[TopicPartition, list[Any]]) -> PolledRecords:
        if self._key is not None or self._value is not None:
            records = deserialize(records, self._key, self._value, self._step_back)
        for interceptor in self._config.interceptors:
            try:
                records = dict(interceptor.on_consume(records))
            except Exception:
                logger.exception("interceptor %s: on_consume raised; going on without it", type(interceptor).__name__)
        return PolledRecords(records)

    def _step_back(self, topic_partition: TopicPartition, offset: int) -> None:
        """A record could not be read: the position goes back to it, so that nothing behind it is lost."""
        with self._subscription.lock:
            state = self._subscription.partitions.get(topic_partition)
            if state is not None and state.position is not None:
                state.seek(Position(offset, None))
        self._engine.wake()

    def __iter__(self) -> Iterator[ConsumerRecord[Any, Any]]:
        """Record by record, for ever; ends when the consumer is closed. A record counts as processed when the next one
        is asked for."""
        while not self._closed:
            try:
                with self._use():
                    self._cursor = None
                    self._buffer.came_back()
                    polled = self._poll_records(self._clock.now() + 1.0, self._config.max_poll_records)
            except ClientClosed:
                return
            for tp, records in polled.items():
                state = self._subscription.partitions.get(tp)
                if state is None:
                    continue
                cursor = self._cursor = [state, records, 0]
                for index, record in enumerate(records):
                    cursor[2] = index
                    yield record
                with self._subscription.lock:
                    state.consumed = Position(records[-1].offset + 1, records[-1].leader_epoch)

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
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Run ``handler(record)`` on ``workers`` threads until ``stop()``; blocks. See docs/consumer.md.

        ``ordering`` keeps the order per ``"key"``, per ``"partition"`` or not at all. Only records that are done, with
        all before them, are committed. ``on_error``: ``"raise"`` stops, ``"retry"`` tries again with a growing pause
        and then stops, ``"dead_letter"`` does so and then puts the record away and goes on.
        """
        settings = ProcessSettings(
            workers=workers,
            ordering=ordering,
            on_error=on_error,
            retries=retries,
            retry_backoff_s=retry_backoff_ms / 1000,
            retry_backoff_max_s=retry_backoff_max_ms / 1000,
            in_flight_max=in_flight_max,
            commit_interval_s=commit_interval_ms / 1000,
            dead_letter_producer=dead_letter_producer,
            dead_letter_topic=dead_letter_topic,
        )
        self._require_group("process()")
        processor = ParallelProcessor(self, handler, settings)
        before = self._group.listener
        self._group.listener = RevokeFirst(processor, before)
        self._auto_commit.suspended = True
        try:
            processor.run(stop)
        finally:
            self._auto_commit.suspended = False
            self._group.listener = before

    @property
    def clock(self) -> Clock:
        """Where this consumer's time comes from."""
        return self._clock

    @property
    def revoke_patience_s(self) -> float:
        """How long handlers may go on with records of partitions that are being given up."""
        return self._config.max_poll_interval_ms / 1000 / 2

    # ---- positions ---------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read on from here."""
        target = OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        if target.offset < 0:
            raise UsageError(f"offset {target.offset} is negative; use seek_to_beginning() or seek_to_end()")
        with self._use():
            self._cursor = None
            with self._subscription.lock:
                self._subscription.state(TopicPartition(*partition)).seek(Position(target.offset, target.leader_epoch))
            self._engine.wake()

    def seek_to_beginning(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on from the first record; all assigned partitions when none is named."""
        self._seek_by(EARLIEST, partitions)

    def seek_to_end(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """Read on after the last record; all assigned partitions when none is named."""
        self._seek_by(LATEST, partitions)

    def _seek_by(self, strategy: ResetStrategy, partitions: Iterable[TopicPartition]) -> None:
        with self._use():
            self._cursor = None
            with self._subscription.lock:
                named = [TopicPartition(*tp) for tp in partitions]
                for tp in named or list(self._subscription.partitions):
                    self._subscription.state(tp).request_reset(strategy)
            self._engine.wake()

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known."""
        with self._use():
            tp = TopicPartition(*partition)
            deadline = self._clock.now() + (self._config.default_api_timeout_ms / 1000 if timeout is None else timeout)
            while True:
                with self._subscription.lock:
                    state = self._subscription.state(tp)
                    if state.error is not None:
                        raise state.error
                    if state.phase in (Phase.FETCHING, Phase.VALIDATING) and state.position is not None:
                        return self._current(state).offset
                self._engine.check_usable()
                if self._clock.now() >= deadline:
                    raise KafkaTimeoutError("the position is not known yet", topic=tp.topic, partition=tp.partition)
                self._buffer.wait(0.02)

    def _current(self, state: PartitionState) -> Position:
        """The position as the user sees it: while iterating, just behind the record in hand."""
        assert state.position is not None
        cursor = self._cursor
        if cursor is not None:
            if cursor[0] is state:
                record = cursor[1][cursor[2]]
                return Position(record.offset + 1, record.leader_epoch)
            return state.consumed or state.position
        return state.position

    def _consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What may be committed automatically. Called on the reactor thread."""
        with self._subscription.lock:
            offsets = self._subscription.committable(handed_out=False)
            cursor = self._cursor
            if cursor is not None and cursor[0].topic_partition in offsets:
                record = cursor[1][cursor[2]]
                offsets[cursor[0].topic_partition] = OffsetAndMetadata(record.offset, "", record.leader_epoch)
            return offsets

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Return no records of these until ``resume``; survives rebalances for partitions that are kept."""
        self._set_paused(partitions, True)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Undo ``pause``."""
        self._set_paused(partitions, False)

    def _set_paused(self, partitions: Iterable[TopicPartition], paused: bool) -> None:
        with self._use():
            with self._subscription.lock:
                for tp in partitions:
                    self._subscription.state(TopicPartition(*tp)).paused = paused
            self._engine.wake()

    def paused(self) -> set[TopicPartition]:
        """The partitions that are paused."""
        with self._subscription.lock:
            return {tp for tp, state in self._subscription.partitions.items() if state.paused}

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Records between the position and the end, as last heard; None when it is not known yet. Never waits."""
        with self._subscription.lock:
            state = self._subscription.state(TopicPartition(*partition))
            end = state.last_stable_offset if self._buffer_settings.read_committed else state.high_watermark
            if end is None or state.position is None:
                return None
            return max(0, end - self._current(state).offset)

    @property
    def out_of_range_events(self) -> list[OutOfRange]:
        """Each time a position was not in the log any more: wanted, available and skipped. The newest last."""
        return list(self._offsets.out_of_range_events)

    # ---- commits -----------------------------------------------------------------------------------------------------

    def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None, timeout: float | None = None
    ) -> None:
        """Commit these offsets, or the positions of all records returned so far, and wait for it."""
        with self._use():
            self._require_group("commit()")
            self._run(self._offsets.commit(self._to_commit(offsets)), timeout)

    def commit_async(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None,
        callback: CommitCallback | None = None,
    ) -> None:
        """Commit without waiting. ``callback(offsets, error)`` runs on the client's own thread: be quick."""
        with self._use():
            self._require_group("commit_async()")
            committed = self._to_commit(offsets)

            def operation() -> Operation[None]:
                failure: Exception | None = None
                try:
                    yield from self._offsets.commit(committed)
                except KafkaError as error:
                    failure = error
                    if callback is None:
                        logger.warning("asynchronous commit failed: %s", error)
                if callback is not None:
                    callback(committed, failure)

            self._engine.call_soon(lambda: self._spawn(operation()))

    def _spawn(self, operation: Operation[None]) -> None:
        self._engine.spawn(operation)

    def _to_commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        if offsets is not None:
            return {
                TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else offset
                for tp, offset in offsets.items()
            }
        with self._subscription.lock:
            current = {
                tp: self._current(state)
                for tp, state in self._subscription.partitions.items()
                if state.position is not None and state.had_position
            }
        return {tp: OffsetAndMetadata(position.offset, "", position.leader_epoch) for tp, position in current.items()}

    def _require_group(self, what: str) -> None:
        self._check()
        if self._config.group_id is None:
            raise UsageError(f"{what} needs group_id")

    def _commit_before_revoke(self) -> Operation[None]:
        if not self._config.enable_auto_commit:
            return
        try:
            yield from self._offsets.commit(self._consumed())
        except KafkaError as error:
            logger.warning("could not commit before giving partitions up: %s", error)

    def committed(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; None for partitions without a commit."""
        with self._use():
            self._require_group("committed()")
            wanted = [TopicPartition(*tp) for tp in partitions]
            found = self._run(self._offsets.fetch_committed(wanted), timeout)
            return {tp: found.get(tp) for tp in wanted}

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Who this consumer is in its group, for ``producer.send_offsets_to_transaction``."""
        self._require_group("group_metadata()")
        return self._membership.identity

    def enforce_rebalance(self, reason: str = "enforce_rebalance() was called") -> None:
        """Join again at the next poll."""
        with self._use():
            self._require_group("enforce_rebalance()")
            self._on_reactor(lambda: self._membership.rejoin(reason))

    # ---- the cluster -------------------------------------------------------------------------------------------------

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int | datetime], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first offset at or after each time (milliseconds or an aware datetime); None when there is none."""
        times = {TopicPartition(*tp): _milliseconds(moment) for tp, moment in timestamps.items()}
        found = self._list_offsets(times, timeout)
        return {tp: (found[tp] if found[tp].offset >= 0 else None) for tp in times}

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return {tp: found.offset for tp, found in self._list_offsets(dict.fromkeys(partitions, -2), timeout).items()}

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last record; with read_committed, after the last one that can be read."""
        return {tp: found.offset for tp, found in self._list_offsets(dict.fromkeys(partitions, -1), timeout).items()}

    def _list_offsets(
        self, times: Mapping[TopicPartition, int], timeout: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        with self._use():
            wanted = {TopicPartition(*tp): moment for tp, moment in times.items()}
            timeout_s = self._config.default_api_timeout_ms / 1000 if timeout is None else timeout
            deadline = self._clock.now() + timeout_s

            def operation() -> Operation[dict[TopicPartition, OffsetAndTimestamp]]:
                yield from wait(self._metadata.wait_for_topics({tp.topic for tp in wanted}, deadline))
                found = yield from self._offsets.list_offsets(wanted)
                return found

            return self._run(operation(), timeout_s)

    def partitions_for(self, topic: str, timeout: float | None = None) -> list[PartitionInfo]:
        """The topic's partitions with leader and replicas."""
        with self._use():
            timeout_s = self._config.default_api_timeout_ms / 1000 if timeout is None else timeout
            deadline = self._clock.now() + timeout_s

            def operation() -> Operation[list[PartitionInfo]]:
                cluster = yield from wait(self._metadata.wait_for_topics((topic,), deadline))
                return cluster.partitions_for(topic)

            return self._run(operation(), timeout_s)

    def list_topics(self, timeout: float | None = None) -> dict[str, list[int]]:
        """All topics this consumer may see, with their partition numbers."""
        with self._use():

            def operation() -> Operation[dict[str, list[int]]]:
                response = yield from call(
                    Request[MetadataResponse](MetadataRequest(topics=None, allow_auto_topic_creation=False))
                )
                return {
                    topic.name: sorted(partition.partition_index for partition in topic.partitions)
                    for topic in response.topics
                    if topic.name is not None and topic.error_code == 0
                }

            return self._run(operation(), timeout)

    def metrics(self) -> dict[str, float]:
        """Totals under Java's names."""
        with self._subscription.lock:
            lags = [lag for tp in self._subscription.partitions if (lag := self.current_lag(tp)) is not None]
            return {
                "fetch-total": self._fetcher.fetch_total,
                "bytes-consumed-total": self._fetcher.bytes_total,
                "fetch-buffer-bytes": self._buffer.usage.bytes,
                "assigned-partitions": len(self._subscription.partitions),
                "records-lag-max": max(lags, default=0),
                "commit-total": self._auto_commit.commit_total,
            }

    # ---- ends --------------------------------------------------------------------------------------------------------

    def wakeup(self) -> None:
        """Make the poll that waits now, or the next one, raise WakeupError. Any thread, also a signal handler."""
        self._wakeups += 1
        self._buffer.attention = True
        self._engine.wake()

    def close(self, timeout: float | None = None) -> None:
        """Commit (when enable_auto_commit is on), leave the group, close. Any thread; safe to call twice."""
        self._close(timeout, commit_handed_out=True)

    def _close(self, timeout: float | None, *, commit_handed_out: bool) -> None:
        if self._closed:
            return
        self._closed = True
        if self._engine.forked:
            return
        timeout_s = 30.0 if timeout is None else timeout
        if self._engine.running and not self._engine.on_reactor_thread():
            try:
                self._engine.run_blocking(self._last_things(commit_handed_out), timeout_s=timeout_s)
            except KafkaError as error:
                logger.warning("while closing: %s", error)
        self._engine.stop(1.0)
        self._buffer.wake(attention=True)

    def _last_things(self, commit_handed_out: bool) -> Operation[None]:
        if self._config.enable_auto_commit and self._config.group_id is not None:
            if commit_handed_out and self._cursor is None:
                self._buffer.came_back()
            try:
                yield from self._offsets.commit(self._consumed())
            except KafkaError as error:
                logger.warning("could not commit while closing: %s", error)
        if self._subscription.kind not in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
            yield from self._membership.leave("the consumer is closed")

    def _use(self) -> _Use:
        self._check()
        return _Use(self._buffer)

    def __repr__(self) -> str:
        return f"<KafkaConsumer {self._parts.client_id}{', closed' if self._closed else ''}>"


class _Use:
    """One thread at a time, for the length of a public call."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: FetchBuffer) -> None:
        self._buffer = buffer

    def __enter__(self) -> None:
        self._buffer.enter()

    def __exit__(self, *exc: object) -> None:
        self._buffer.leave()


def _milliseconds(moment: int | datetime) -> int:
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise UsageError("give a datetime with a time zone, for example datetime.now(timezone.utc)")
        return int(moment.timestamp() * 1000)
    if 0 < moment < PLAUSIBLE_MS:
        raise UsageError(f"timestamp {moment} looks like seconds; milliseconds are expected")
    return moment


__all__ = ["KafkaConsumer"]
