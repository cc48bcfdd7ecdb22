"""Everything of a consumer but the waiting: its parts, its state, and an operation for each thing that takes time.

The faces (``consumer.py``, and the asyncio one) run these operations, each in its own way, and share all decisions.
Quick reads and changes are plain methods behind the fetch buffer's lock; operations run on the reactor thread.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pykclient.client.assembly import ClientParts, assemble
from pykclient.client.coordinators import Coordinators
from pykclient.client.engine import Operation, call, wait
from pykclient.client.metrics import network_metrics, seconds_ago, tagged
from pykclient.config import ConsumerConfig, read_options
from pykclient.consumer.auto_commit import AutoCommit
from pykclient.consumer.fetcher import FetchBuffer, Fetcher, FetchSettings
from pykclient.consumer.group import group_membership
from pykclient.consumer.groupless import GrouplessMembership
from pykclient.consumer.iteration import Iteration
from pykclient.consumer.membership import GroupContext, Membership
from pykclient.consumer.offsets import Offsets, OffsetSettings
from pykclient.consumer.open_transactions import OpenTransactions
from pykclient.consumer.records import PolledRecords, deserialize
from pykclient.consumer.subscription import (
    PartitionState,
    Phase,
    Position,
    ResetStrategy,
    SubscriptionKind,
    parse_reset,
)
from pykclient.errors import (
    AuthorizationError,
    ClientClosed,
    CommitFailed,
    IllegalStateError,
    KafkaError,
    UsageError,
    WakeupError,
)
from pykclient.net.client_request import Request
from pykclient.plugins import RebalanceListener, deserializer_function
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykclient.types import OffsetAndMetadata, OffsetAndTimestamp, PartitionInfo, TopicPartition

if TYPE_CHECKING:
    from datetime import datetime

logger = logging.getLogger(__name__)
T = TypeVar("T")

# An int below this, taken as milliseconds, lies in 1970; it was certainly meant as seconds.
PLAUSIBLE_MS = 100_000_000_000
CommitCallback = Callable[[Mapping[TopicPartition, OffsetAndMetadata], "Exception | None"], object]
OffsetsGiven = Mapping[TopicPartition, "OffsetAndMetadata | int"]


class ConsumerCore:
    """See the module. Not for users: KafkaConsumer and AsyncKafkaConsumer are."""

    def __init__(self, options: Mapping[str, Any] | None, keywords: dict[str, Any]) -> None:
        self.config = config = read_options(ConsumerConfig, options, **keywords)
        self.closed = False
        self.parts: ClientParts = assemble(config, kind="consumer")
        self.engine = self.parts.engine
        self.metadata = self.parts.metadata
        self.clock = self.parts.clock
        self.fetch_settings = _fetch_settings(config)
        self.buffer = FetchBuffer(self.fetch_settings)
        self.subscription = self.buffer.subscription
        self.iteration: Iteration | None = None
        """While the user iterates."""
        self.close_wanted = False
        """close() came in the middle of another call of the same thread (a signal handler): at its end."""
        self._wakeups = 0
        self._topic_problem: Exception | None = None
        self._key = None if config.key_deserializer is None else deserializer_function(config.key_deserializer)
        self._value = None if config.value_deserializer is None else deserializer_function(config.value_deserializer)
        coordinators = Coordinators()
        self.offsets = Offsets(
            _offset_settings(config),
            self.buffer,
            self.metadata,
            coordinators,
            clock=self.clock,
            spawn=self.engine.spawn,
            identity=lambda: self.membership.identity,
            lost_membership=lambda error: self.membership.lost(error),
        )
        if config.interceptors:
            self.offsets.committed.on_commit = self._committed
        self.fetcher = Fetcher(self.fetch_settings, self.buffer, self.parts.network, self.metadata, clock=self.clock)
        self.fetcher.on_out_of_range = self.offsets.out_of_range
        self.fetcher.on_diverged = self.offsets.diverged
        self.buffer.on_room = self.engine.wake
        self.group = GroupContext(
            config=config,
            client_id=self.parts.client_id,
            subscription=self.subscription,
            network=self.parts.network,
            metadata=self.metadata,
            coordinators=coordinators,
            spawn=self.engine.spawn,
            attention=lambda: self.buffer.wake(attention=True),
            commit_before_revoke=self._commit_before_revoke,
            random=self.parts.random.random,
        )
        self.membership: Membership = (
            GrouplessMembership(self.group) if config.group_id is None else group_membership(self.group)
        )
        self.auto_commit = AutoCommit(config, self.subscription, self.offsets, self.engine.spawn, self.consumed)
        self.metadata.listeners.append(lambda cluster: self._topics_changed())
        waiting = OpenTransactions(self.subscription, read_committed=self.fetch_settings.read_committed)
        for manager in (self.membership, self.offsets, self.fetcher, self.auto_commit, waiting):
            self.engine.add_manager(manager)
        self.engine.start()

    def check(self) -> None:
        """Raise when this consumer can no longer be used."""
        if self.closed or self.close_wanted:
            raise ClientClosed("the consumer is closed; make a new one")
        self.engine.check_usable()

    @property
    def api_timeout_s(self) -> float:
        """For calls that name no time-out."""
        return self.config.default_api_timeout_ms / 1000

    # ---- what to read ------------------------------------------------------------------------------------------------

    def subscribe(
        self, topics: str | Collection[str], pattern: str | re.Pattern[str] | None, listener: RebalanceListener | None
    ) -> Operation[None]:
        """Names or a pattern. With group_protocol=consumer a pattern of type str is the broker's to match."""
        names = [topics] if isinstance(topics, str) else list(topics)
        if bool(names) == (pattern is not None):
            raise UsageError("subscribe() takes topics or a pattern, one of the two")
        if any(not isinstance(name, str) or not name for name in names):
            raise UsageError("topic names are non-empty strings")
        yield from ()
        subscription = self.subscription
        with subscription.lock:
            if pattern is None:
                subscription.choose(SubscriptionKind.TOPICS)
                subscription.topics = frozenset(names)
                self.metadata.all_topics = False
                self.metadata.set_topics(names)
            elif isinstance(pattern, str) and self.config.group_protocol == "consumer":
                subscription.choose(SubscriptionKind.BROKER_PATTERN)
                subscription.broker_pattern = pattern
            else:
                subscription.choose(SubscriptionKind.PATTERN)
                subscription.pattern = re.compile(pattern) if isinstance(pattern, str) else pattern
                self.metadata.all_topics = True
                self.metadata.request_update()
                self._match_pattern()
        self.group.listener = listener
        self.membership.subscription_changed()

    def _topics_changed(self) -> None:
        """A new view of the cluster."""
        subscription = self.subscription
        refused = [error for error in self.metadata.cluster.errors.values() if isinstance(error, AuthorizationError)]
        if refused:
            self._topic_problem = refused[0]
            self.buffer.wake(attention=True)
        with subscription.lock:
            if subscription.kind is SubscriptionKind.PATTERN and self._match_pattern():
                self.membership.subscription_changed()

    def _match_pattern(self) -> bool:
        subscription, cluster = self.subscription, self.metadata.cluster
        hidden: set[str] = set()
        if self.config.exclude_internal_topics:
            hidden = {name for name, topic in cluster.topics.items() if topic.internal}
        matching = subscription.matches(list(cluster.topics), exclude_internal=hidden)
        if matching == subscription.topics:
            return False
        subscription.topics = matching
        subscription.version += 1
        return True

    def assign(self, partitions: Iterable[TopicPartition]) -> Operation[None]:
        """Exactly these."""
        wanted = [TopicPartition(*tp) for tp in partitions]
        yield from ()
        with self.subscription.lock:
            self.subscription.choose(SubscriptionKind.ASSIGNED)
            self.subscription.assign(wanted)
        self.metadata.set_topics({tp.topic for tp in wanted})

    def unsubscribe(self) -> Operation[None]:
        """Leave the group, forget all."""
        if self.subscription.kind not in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
            yield from self.membership.leave("unsubscribe() was called")
        with self.subscription.lock:
            self.subscription.clear()
        self.metadata.all_topics = False
        self.metadata.set_topics(())
        self.membership.subscription_changed()

    # ---- reading -----------------------------------------------------------------------------------------------------

    def begin_poll(self) -> None:
        """The user asks for more: what was handed out counts as processed from here on."""
        with self.subscription.lock:
            iteration = self.iteration
            if iteration is not None:
                # As the user saw it, the position stood behind the record in hand. Now it stands behind what follows
                # that one and is not for users, such as markers: a move that somebody may wait for.
                mine = self.subscription.partitions
                kept = [s for s in iteration.states if s.position and mine.get(s.topic_partition) is s]
                before = [(state, self.current(state).offset) for state in kept]
                self.iteration = None
                iteration.give_back()
                self.buffer.passed = any(s.position is not None and s.position.offset > seen for s, seen in before)
            self.buffer.came_back()
        if self.subscription.kind is SubscriptionKind.NONE:
            raise IllegalStateError("nothing to poll: subscribe() or assign() first")
        self.auto_commit.polled()
        self.group.counts.polled_at = self.clock.now()

    def needs_attention(self) -> bool:
        """More than records waits for the user's thread. Also restarts max_poll_interval."""
        self.membership.polled(self.clock.now())
        return self.buffer.attention or self.metadata.unreachable is not None or self.membership.needs_user()

    def attend(self) -> Operation[None] | None:
        """Wake-ups, a cluster out of reach, partitions that need the user's decision, then the group: gives what to run
        for it, if anything."""
        self.buffer.attention = False
        self.engine.check_usable()
        if self._wakeups:
            self._wakeups = 0
            raise WakeupError
        problem, self.metadata.unreachable = self.metadata.unreachable or self._topic_problem, None
        self._topic_problem = None
        if problem is not None:
            # Told once; the next attempt that fails, or the next view that says so, tells again.
            raise problem
        with self.subscription.lock:
            for state in self.subscription.in_phase(Phase.STUCK):
                if state.error is not None:
                    # Look again at the next poll: others may be stuck too, and this one until the user decides.
                    self.buffer.attention = True
                    self.engine.wake()
                    raise state.tell()
        return self.membership.process() if self.membership.needs_user() else None

    def take(
        self,
        records_max: int | None,
        wanted: Callable[[PartitionState], bool] | None = None,
        enough: Callable[[], bool] | None = None,
    ) -> PolledRecords | None:
        """What is there now, deserialised (see FetchBuffer.take). None when nothing is; empty when all of it was not
        for the user (markers, aborted transactions, what compaction left): the position moved, which callers may wait
        for, as in Java."""
        records: dict[TopicPartition, list[Any]] = dict(
            self.buffer.take(records_max or self.config.max_poll_records, wanted, enough)
        )
        if not records:
            return PolledRecords() if self.buffer.moved else None
        self.membership.polled(self.clock.now())
        self.group.counts.records_total += sum(map(len, records.values()))
        if self._key is not None or self._value is not None:
            records = deserialize(records, self._key, self._value, self._step_back)
        for interceptor in self.config.interceptors:
            try:
                records = dict(interceptor.on_consume(records))
            except Exception:
                logger.exception("interceptor %s: on_consume raised; going on without it", type(interceptor).__name__)
        return PolledRecords(records)

    def iterate(self, polled: PolledRecords) -> Iteration:
        """Hand these out one by one; until the end of it, only those behind the one in hand count as processed."""
        with self.subscription.lock:
            states = self.subscription.partitions
            rows = [(states[tp], states[tp].version, records) for tp, records in polled.items() if tp in states]
            self.iteration = Iteration(rows)
        return self.iteration

    def _step_back(self, topic_partition: TopicPartition, offset: int) -> None:
        """A record could not be read: the position goes back to it, so that nothing behind it is lost."""
        with self.subscription.lock:
            state = self.subscription.partitions.get(topic_partition)
            if state is not None and state.position is not None:
                state.go_back(Position(offset, None))
        self.engine.wake()

    def wakeup(self) -> None:
        """Make poll raise. Any thread, also a signal handler: takes no lock."""
        self._wakeups += 1
        self.buffer.attention = True
        self.buffer.signal()
        self.engine.wake()

    # ---- positions ---------------------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Read on from here."""
        target = OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        if target.offset < 0:
            raise UsageError(f"offset {target.offset} is negative; use seek_to_beginning() or seek_to_end()")
        with self.subscription.lock:
            state = self.subscription.state(TopicPartition(*partition))
            state.seek(Position(target.offset, target.leader_epoch))
            if self.iteration is not None:
                self.iteration.drop(state)
        self.engine.wake()

    def seek_by(self, strategy: ResetStrategy, partitions: Iterable[TopicPartition]) -> None:
        """Read on from where the strategy says."""
        with self.subscription.lock:
            named = [TopicPartition(*tp) for tp in partitions]
            for tp in named or list(self.subscription.partitions):
                state = self.subscription.state(tp)
                state.request_reset(strategy)
                if self.iteration is not None:
                    self.iteration.drop(state)
        self.engine.wake()

    def known_position(self, tp: TopicPartition, began_at: float) -> int | None:
        """The offset of the next record, None while it is being found. Raises what keeps it from being found."""
        with self.subscription.lock:
            state = self.subscription.state(tp)
            if state.error is not None:
                raise state.error
            if state.phase in (Phase.FETCHING, Phase.VALIDATING) and state.position is not None:
                return self.current(state).offset
        self.check()
        self.metadata.raise_if_missing(tp, self.clock.now() - began_at)
        return None

    def current(self, state: PartitionState) -> Position:
        """The position as the user sees it: while iterating, just behind the record in hand."""
        assert state.position is not None
        if self.iteration is None:
            return state.position
        record = self.iteration.in_hand(state)
        if record is not None:
            return Position(record.offset + 1, record.leader_epoch)
        return state.consumed or state.position

    def consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What may be committed automatically. Any thread."""
        with self.subscription.lock:
            offsets = self.subscription.committable(handed_out=False)
            state = None if self.iteration is None else self.iteration.state
            if self.iteration is not None and state is not None and state.topic_partition in offsets:
                record = self.iteration.in_hand(state)
                if record is not None:
                    offsets[state.topic_partition] = OffsetAndMetadata(record.offset, "", record.leader_epoch)
            return offsets

    def set_paused(self, partitions: Iterable[TopicPartition], paused: bool) -> None:
        """Stop or go on returning records of these."""
        with self.subscription.lock:
            for tp in partitions:
                self.subscription.state(TopicPartition(*tp)).paused = paused
        self.engine.wake()

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Records between the position and the end, as last heard."""
        with self.subscription.lock:
            state = self.subscription.state(TopicPartition(*partition))
            end = state.last_stable_offset if self.fetch_settings.read_committed else state.high_watermark
            if end is None or state.position is None:
                return None
            return max(0, end - self.current(state).offset)

    # ---- commits -----------------------------------------------------------------------------------------------------

    def require_group(self, what: str) -> None:
        """Raise when there is none."""
        self.check()
        if self.config.group_id is None:
            raise UsageError(f"{what} needs group_id")

    def to_commit(self, offsets: OffsetsGiven | None) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets given, or the positions of all that was handed out."""
        if offsets is not None:
            return {
                TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else offset
                for tp, offset in offsets.items()
            }
        with self.subscription.lock:
            current = {
                tp: self.current(state)
                for tp, state in self.subscription.partitions.items()
                if state.position is not None and state.had_position
            }
        return {tp: OffsetAndMetadata(position.offset, "", position.leader_epoch) for tp, position in current.items()}

    def commit(self, given: OffsetsGiven | None) -> Operation[None]:
        """Commit these offsets, or the positions of all that was handed out; decided now, on the caller's thread."""
        offsets = self.to_commit(given)
        strangers = self._strangers(offsets) if given is not None else {}
        return self._commit_own({tp: offset for tp, offset in offsets.items() if tp not in strangers}, strangers)

    def _strangers(self, offsets: Iterable[TopicPartition]) -> dict[TopicPartition, KafkaError]:
        """Those that the group has given to somebody else. Kafka would take the commit, and the owner's would be
        overwritten."""
        subscription = self.subscription
        with subscription.lock:
            if subscription.kind in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
                return {}
            text = "the partition is not assigned to this consumer"
            return {
                tp: IllegalStateError(text, topic=tp.topic, partition=tp.partition)
                for tp in offsets
                if tp not in subscription.partitions
            }

    def _commit_own(
        self, own: Mapping[TopicPartition, OffsetAndMetadata], strangers: Mapping[TopicPartition, KafkaError]
    ) -> Operation[None]:
        yield from self.offsets.commit(own)
        if strangers:
            names = ", ".join(f"{tp.topic}-{tp.partition}" for tp in sorted(strangers))
            raise CommitFailed(
                f"not committed, because these partitions are not assigned to this consumer: {names}. "
                "They may belong to another member of the group now; everything else was committed",
                errors=strangers,
                group_id=self.config.group_id,
            )

    def _committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        for interceptor in self.config.interceptors:
            try:
                interceptor.on_commit(offsets)
            except Exception:
                logger.exception("interceptor %s: on_commit raised", type(interceptor).__name__)

    def commit_in_background(self, offsets: OffsetsGiven | None, callback: CommitCallback | None) -> None:
        """commit_async()."""
        self.require_group("commit_async()")
        committed = self.to_commit(offsets)
        commit = self.commit(offsets)

        def operation() -> Operation[None]:
            failure: Exception | None = None
            try:
                yield from commit
            except KafkaError as error:
                failure = error
                if callback is None:
                    logger.warning("asynchronous commit failed: %s", error)
            if callback is not None:
                callback(committed, failure)

        def start() -> None:
            self.engine.spawn(operation())

        self.engine.call_soon(start)

    def _commit_before_revoke(self) -> Operation[None]:
        if not self.config.enable_auto_commit or self.auto_commit.suspended:
            return
        try:
            yield from self.offsets.commit(self.consumed())
        except KafkaError as error:
            logger.warning("could not commit before giving partitions up: %s", error)

    def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> Operation[dict[TopicPartition, OffsetAndMetadata | None]]:
        """What the group has committed."""
        wanted = [TopicPartition(*tp) for tp in partitions]
        found = yield from self.offsets.fetch_committed(wanted)
        return {tp: found.get(tp) for tp in wanted}

    # ---- the cluster -------------------------------------------------------------------------------------------------

    def list_offsets(
        self, times: Mapping[TopicPartition, int], timeout_s: float
    ) -> Operation[dict[TopicPartition, OffsetAndTimestamp]]:
        """Offsets by time or special timestamp, for any partitions."""
        wanted = {TopicPartition(*tp): moment for tp, moment in times.items()}
        deadline = self.clock.now() + timeout_s
        yield from wait(self.metadata.wait_for_topics({tp.topic for tp in wanted}, deadline))
        found = yield from self.offsets.list_offsets(wanted)
        return found

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int | datetime], timeout_s: float
    ) -> Operation[dict[TopicPartition, OffsetAndTimestamp | None]]:
        """The first offset at or after each time."""
        times = {TopicPartition(*tp): _milliseconds(moment) for tp, moment in timestamps.items()}
        found = yield from self.list_offsets(times, timeout_s)
        return {tp: (found[tp] if found[tp].offset >= 0 else None) for tp in times}

    def edge_offsets(
        self, partitions: Iterable[TopicPartition], timestamp: int, timeout_s: float
    ) -> Operation[dict[TopicPartition, int]]:
        """First (-2) or last (-1) offsets."""
        found = yield from self.list_offsets(dict.fromkeys(partitions, timestamp), timeout_s)
        return {tp: answer.offset for tp, answer in found.items()}

    def partitions_for(self, topic: str, timeout_s: float) -> Operation[list[PartitionInfo]]:
        """The topic's partitions."""
        cluster = yield from wait(self.metadata.wait_for_topics((topic,), self.clock.now() + timeout_s))
        return cluster.partitions_for(topic)

    def list_topics(self) -> Operation[dict[str, list[int]]]:
        """All topics this consumer may see."""
        question = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        response = yield from call(Request[MetadataResponse](question))
        return {
            topic.name: sorted(partition.partition_index for partition in topic.partitions)
            for topic in response.topics
            if topic.name is not None and topic.error_code == 0
        }

    def metrics(self) -> dict[str, float]:
        """Totals under Java's names; lags per partition."""
        counts, now = self.group.counts, self.clock.now()
        with self.subscription.lock:
            lags = {tp: lag for tp in self.subscription.partitions if (lag := self.current_lag(tp)) is not None}
            assigned = len(self.subscription.partitions)
        return {
            "records-consumed-total": counts.records_total,
            "bytes-consumed-total": self.fetcher.bytes_total,
            "fetch-total": self.fetcher.fetch_total,
            "fetch-buffer-bytes": self.buffer.usage.bytes,
            "assigned-partitions": assigned,
            "records-lag-max": max(lags.values(), default=0),
            **{tagged("records-lag", topic=tp.topic, partition=tp.partition): lag for tp, lag in lags.items()},
            "commit-total": self.auto_commit.commit_total,
            "rebalance-total": counts.rebalance_total,
            "last-rebalance-seconds-ago": seconds_ago(counts.rebalanced_at, now),
            "heartbeat-total": counts.heartbeat_total,
            "last-heartbeat-seconds-ago": seconds_ago(counts.heartbeat_at, now),
            "last-poll-seconds-ago": seconds_ago(counts.polled_at, now),
            **network_metrics(self.parts.network),
        }

    # ---- ends --------------------------------------------------------------------------------------------------------

    def last_things(self, *, commit_handed_out: bool) -> Operation[None]:
        """Before the end: a last commit, and out of the group."""
        # While process() runs, what was handed out may be in work still: it alone knows what is done.
        if self.config.enable_auto_commit and self.config.group_id is not None and not self.auto_commit.suspended:
            if commit_handed_out and self.iteration is None:
                self.buffer.came_back()
            try:
                yield from self.offsets.commit(self.consumed())
            except KafkaError as error:
                logger.warning("could not commit while closing: %s", error)
        with self.subscription.lock:
            if self.iteration is not None:
                self.iteration.end()
        if self.subscription.kind not in (SubscriptionKind.NONE, SubscriptionKind.ASSIGNED):
            yield from self.membership.leave("the consumer is closed")


def _fetch_settings(config: ConsumerConfig) -> FetchSettings:
    return FetchSettings(
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


def _offset_settings(config: ConsumerConfig) -> OffsetSettings:
    return OffsetSettings(
        group_id=config.group_id,
        reset=parse_reset(config.auto_offset_reset),
        read_committed=config.isolation_level == "read_committed",
        retry_backoff_s=config.retry_backoff_ms / 1000,
        retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
        request_timeout_s=config.request_timeout_ms / 1000,
    )


def _milliseconds(moment: int | datetime) -> int:
    from datetime import datetime

    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise UsageError("give a datetime with a time zone, for example datetime.now(timezone.utc)")
        return int(moment.timestamp() * 1000)
    if 0 < moment < PLAUSIBLE_MS:
        raise UsageError(f"timestamp {moment} looks like seconds; milliseconds are expected")
    return moment


__all__ = ["ConsumerCore"]
