"""Offsets: looking them up by time, resetting and validating positions. What is committed is in committed.py.

Operations and one manager on the reactor thread. Every error either is retried, or ends in a typed error for the
caller, or puts the partition into a phase from which ``poll`` raises: a partition never just stands still.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pykclient.client.coordinators import Coordinators
from pykclient.client.engine import Operation, Poll, call, sleep
from pykclient.client.metadata import MetadataManager
from pykclient.consumer.committed import LOST_MEMBERSHIP, CommittedOffsets, Retries
from pykclient.consumer.fetcher import FetchBuffer
from pykclient.consumer.subscription import (
    EARLIEST,
    LATEST,
    NONE,
    OutOfRange,
    PartitionState,
    Phase,
    Position,
    ResetStrategy,
)
from pykclient.errors import (
    BrokerError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    LogTruncation,
    NoOffsetForPartition,
    OffsetOutOfRangeError,
    error_for_code,
)
from pykclient.net.client_request import Channel, Request
from pykclient.net.transport import Clock
from pykclient.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from pykclient.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykclient.types import ConsumerGroupMetadata, OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

logger = logging.getLogger(__name__)

EVENTS_MAX = 1000


@dataclass(frozen=True, slots=True)
class OffsetSettings:
    """From the consumer's configuration."""

    group_id: str | None
    reset: ResetStrategy
    read_committed: bool
    retry_backoff_s: float
    retry_backoff_max_s: float
    request_timeout_s: float


class Offsets:
    """All requests about offsets, and the manager that gives positions to partitions that have none."""

    def __init__(
        self,
        settings: OffsetSettings,
        buffer: FetchBuffer,
        metadata: MetadataManager,
        coordinators: Coordinators,
        *,
        clock: Clock,
        spawn: Callable[[Operation[None]], object],
        identity: Callable[[], ConsumerGroupMetadata],
        lost_membership: Callable[[BaseException], None],
    ) -> None:
        self._settings = settings
        self._buffer = buffer
        self._metadata = metadata
        self._clock = clock
        self._spawn = spawn
        self._retries = Retries(settings.retry_backoff_s, settings.retry_backoff_max_s, settings.request_timeout_s)
        self.committed = CommittedOffsets(
            settings.group_id,
            buffer.subscription,
            metadata,
            coordinators,
            self._retries,
            identity=identity,
            lost_membership=lost_membership,
        )
        self._busy = False
        self._retry_at = 0.0
        self._attempts = 0
        self.out_of_range_events: list[OutOfRange] = []

    # ---- manager: positions ------------------------------------------------------------------------------------------

    def poll(self, now: float) -> Poll:
        """Give positions to those who need one, one round at a time."""
        if self._busy:
            return Poll()
        with self._buffer.subscription.lock:
            self._notice_new_leaders()
            needy = self._needy()
        if not needy:
            self._attempts = 0
            return Poll()
        if now < self._retry_at:
            return Poll(wake_at=self._retry_at)
        self._busy = True
        self._spawn(self._find_positions())
        return Poll()

    def fail(self, error: BaseException) -> None:
        """Nobody waits on this manager; operations are failed by the engine."""

    def _needy(self) -> bool:
        phases = (Phase.INITIALIZING, Phase.RESETTING, Phase.VALIDATING)
        return any(state.phase in phases for state in self._buffer.subscription.partitions.values())

    def _notice_new_leaders(self) -> None:
        """Under the lock. A new leader may have less log than the old one: check before reading on (KIP-320)."""
        cluster = self._metadata.cluster
        for tp, state in self._buffer.subscription.partitions.items():
            leader = cluster.leader(tp)
            if leader is None or leader[1] < 0 or leader[1] == state.leader_epoch or state.phase is not Phase.FETCHING:
                continue
            first, state.leader_epoch = state.leader_epoch < 0, leader[1]
            if not first and state.position is not None and state.position.leader_epoch is not None:
                state.to(Phase.VALIDATING)

    def _find_positions(self) -> Operation[None]:
        try:
            yield from self._initialize()
            yield from self._reset()
            yield from self._validate()
        except KafkaError as error:
            if isinstance(error, BrokerError) and not error.retriable:
                self._all_stuck(error)
            logger.debug("positions: %s", error)
        finally:
            self._busy = False
            self._retry_at = self._clock.now() + self._retries.pause_s(self._attempts)
            self._attempts += 1
            with self._buffer.subscription.lock:
                if not self._needy():
                    self._attempts = 0
                    self._retry_at = 0.0
            self._buffer.wake()

    def _all_stuck(self, error: BrokerError) -> None:
        with self._buffer.subscription.lock:
            for state in list(self._buffer.subscription.in_phase(Phase.INITIALIZING)):
                state.stuck(error, retry=True)
        self._buffer.wake(attention=True)

    def _initialize(self) -> Operation[None]:
        """Committed offsets first, the reset policy for those that have none."""
        with self._buffer.subscription.lock:
            waiting = {s.topic_partition: s for s in self._buffer.subscription.in_phase(Phase.INITIALIZING)}
        if not waiting:
            return
        committed: dict[TopicPartition, OffsetAndMetadata] = {}
        if self._settings.group_id is not None:
            try:
                committed = yield from self.fetch_committed(list(waiting))
            except LOST_MEMBERSHIP as error:
                # The membership finds out who we are now; the next round asks again, if these are still ours then.
                logger.info("committed offsets: %s; asking again", error)
                return
        with self._buffer.subscription.lock:
            for tp, state in waiting.items():
                if state.phase is not Phase.INITIALIZING:
                    continue  # sought meanwhile
                found = committed.get(tp)
                if found is not None:
                    state.seek(Position(found.offset, found.leader_epoch))
                elif self._settings.reset is NONE:
                    state.stuck(NoOffsetForPartition(topic=tp.topic, partition=tp.partition))
                    self._buffer.attention = True
                else:
                    state.request_reset(self._settings.reset)

    def _reset(self) -> Operation[None]:
        with self._buffer.subscription.lock:
            waiting = [(s, s.version, s.reset) for s in self._buffer.subscription.in_phase(Phase.RESETTING)]
        if not waiting:
            return
        yield from self._explain_out_of_range(waiting)
        waiting = [row for row in waiting if row[0].out_of_range_at is None and row[2] is not NONE]
        times = {
            state.topic_partition: self._timestamp(strategy) for state, _, strategy in waiting if strategy is not None
        }
        found = yield from self.list_offsets(times, once=True)
        with self._buffer.subscription.lock:
            for state, version, strategy in waiting:
                answer = found.get(state.topic_partition)
                if answer is None or state.version != version or strategy is None:
                    continue
                if answer.offset < 0:
                    # No record is that young: what comes next is what was asked for.
                    state.request_reset(LATEST)
                    continue
                state.seek(Position(answer.offset, None))
                logger.info("%s: reset to offset %d (%s)", state.topic_partition, answer.offset, strategy.name)

    def _timestamp(self, strategy: ResetStrategy) -> int:
        if strategy.duration_ms is not None:
            return self._clock.wall_ms() - strategy.duration_ms
        assert strategy.timestamp is not None, "the strategy none resets nothing"
        return strategy.timestamp

    def out_of_range(self, state: PartitionState) -> None:
        """A fetch said that the position is not in the log; what is there is asked first. Under the lock."""
        wanted = state.fetch_offset
        state.request_reset(self._settings.reset)
        state.out_of_range_at = wanted

    def _explain_out_of_range(
        self, waiting: Iterable[tuple[PartitionState, int, ResetStrategy | None]]
    ) -> Operation[None]:
        """Ask where the logs begin and end, tell the user, and stop those that have no policy."""
        lost = [(state, version) for state, version, _ in waiting if state.out_of_range_at is not None]
        if not lost:
            return
        partitions = [state.topic_partition for state, _ in lost]
        first = yield from self.list_offsets(dict.fromkeys(partitions, -2), once=True)
        last = yield from self.list_offsets(dict.fromkeys(partitions, -1), once=True)
        young = dict.fromkeys(partitions, OffsetAndTimestamp(-1, -1))
        if self._settings.reset.duration_ms is not None:
            young = yield from self.list_offsets(
                dict.fromkeys(partitions, self._timestamp(self._settings.reset)), once=True
            )
        with self._buffer.subscription.lock:
            for state, version in lost:
                tp, wanted = state.topic_partition, state.out_of_range_at
                known = tp in first and tp in last and tp in young
                if known and state.version == version and wanted is not None:
                    self._tell_out_of_range(state, wanted, first[tp].offset, last[tp].offset, young[tp].offset)

    def _tell_out_of_range(
        self, state: PartitionState, wanted: int, earliest: int, latest: int, young: int = -1
    ) -> None:
        """``young``: where a policy by age begins; negative when nothing is that young."""
        tp, reset = state.topic_partition, self._settings.reset
        state.out_of_range_at = None
        if reset is NONE:
            logger.warning(
                "%s: offset %d is out of range (the log has %d to %d) and auto_offset_reset=none: poll raises until "
                "you seek; %d offsets are gone",
                tp, wanted, earliest, latest, max(0, earliest - wanted),
            )  # fmt: skip
            state.stuck(
                OffsetOutOfRangeError(
                    wanted=wanted, earliest=earliest, latest=latest, topic=tp.topic, partition=tp.partition
                )
            )
            self._buffer.attention = True
            return
        target = earliest if reset is EARLIEST else young if young >= 0 else latest
        skipped = max(0, target - wanted)
        self.out_of_range_events.append(OutOfRange(tp, wanted, earliest, latest, target, skipped))
        del self.out_of_range_events[:-EVENTS_MAX]
        logger.warning(
            "%s: offset %d is out of range (the log has %d to %d); resetting to %s, %d offsets are skipped",
            tp, wanted, earliest, latest, reset.name, skipped,
        )  # fmt: skip

    # ---- truncation (KIP-320) ----------------------------------------------------------------------------------------

    def _validate(self) -> Operation[None]:
        with self._buffer.subscription.lock:
            waiting = [(s, s.version, s.position) for s in self._buffer.subscription.in_phase(Phase.VALIDATING)]
        by_node: dict[int, list[tuple[PartitionState, int, Position, int]]] = {}
        for state, version, position in waiting:
            leader = self._metadata.cluster.leader(state.topic_partition)
            if leader is None or position is None:
                self._metadata.request_update((state.topic_partition.topic,))
                continue
            by_node.setdefault(leader[0], []).append((state, version, position, leader[1]))
        for node_id, rows in by_node.items():
            yield from self._validate_at(node_id, rows)

    def _validate_at(self, node_id: int, rows: list[tuple[PartitionState, int, Position, int]]) -> Operation[None]:
        topics: dict[str, OffsetForLeaderTopic] = {}
        for state, _, position, epoch in rows:
            topic, partition = state.topic_partition
            topics.setdefault(topic, OffsetForLeaderTopic(topic=topic)).partitions.append(
                OffsetForLeaderPartition(
                    partition=partition,
                    current_leader_epoch=epoch,
                    leader_epoch=-1 if position.leader_epoch is None else position.leader_epoch,
                )
            )
        request = OffsetForLeaderEpochRequest(replica_id=-1, topics=list(topics.values()))
        response = yield from call(
            Request[OffsetForLeaderEpochResponse](
                request,
                node_id=node_id,
                channel=Channel.COORDINATOR,
                timeout_s=self._retries.patience_s(self._attempts),
            )
        )
        answers = {TopicPartition(t.topic, p.partition): p for t in response.topics for p in t.partitions}
        with self._buffer.subscription.lock:
            for state, version, position, _ in rows:
                answer = answers.get(state.topic_partition)
                if answer is None or state.version != version or state.phase is not Phase.VALIDATING:
                    continue
                if answer.error_code != 0:
                    self._metadata.request_update((state.topic_partition.topic,))
                elif answer.end_offset < 0 or answer.leader_epoch < 0 or answer.end_offset >= position.offset:
                    state.to(Phase.FETCHING)
                else:
                    self.diverged(state, answer.leader_epoch, answer.end_offset)

    def diverged(self, state: PartitionState, epoch: int, end_offset: int) -> None:
        """Our history and the leader's part at ``end_offset``: records that were read are gone. Under the lock."""
        assert state.position is not None
        tp = state.topic_partition
        logger.warning(
            "%s: the log was truncated: we stand at %d, the leader's log of epoch %d ends at %d",
            tp, state.position.offset, epoch, end_offset,
        )  # fmt: skip
        if self._settings.reset is NONE:
            state.stuck(
                LogTruncation(
                    diverging_offset=end_offset,
                    diverging_epoch=epoch,
                    topic=tp.topic,
                    partition=tp.partition,
                    offset=state.position.offset,
                )
            )
            self._buffer.attention = True
        else:
            state.seek(Position(end_offset, epoch))

    # ---- ListOffsets -------------------------------------------------------------------------------------------------

    def list_offsets(
        self, times: Mapping[TopicPartition, int], *, once: bool = False
    ) -> Operation[dict[TopicPartition, OffsetAndTimestamp]]:
        """Offsets by time (or special timestamp). ``once``: one attempt, leaving out what failed; else until all are
        answered."""
        found: dict[TopicPartition, OffsetAndTimestamp] = {}
        missing = dict(times)
        attempts = 0
        began_at = self._clock.now()
        while True:
            by_node: dict[int, dict[TopicPartition, int]] = {}
            for tp, timestamp in missing.items():
                leader = self._metadata.cluster.leader(tp)
                if leader is None:
                    self._metadata.request_update((tp.topic,))
                    if not once:
                        self._metadata.raise_if_missing(tp, self._clock.now() - began_at)
                else:
                    by_node.setdefault(leader[0], {})[tp] = timestamp
            for node_id, wanted in by_node.items():
                answers = yield from self._list_offsets_at(
                    node_id, wanted, self._retries.patience_s(self._attempts if once else attempts)
                )
                for tp, (answer, node) in answers.items():
                    if self._take_listed(tp, answer, node, once=once):
                        epoch = answer.leader_epoch if answer.leader_epoch >= 0 else None
                        found[tp] = OffsetAndTimestamp(answer.offset, answer.timestamp, epoch)
                        missing.pop(tp, None)
            if once or not missing:
                return found
            yield from sleep(self._retries.pause_s(attempts))
            attempts += 1

    def _take_listed(
        self, tp: TopicPartition, answer: ListOffsetsPartitionResponse, node: str | None, *, once: bool
    ) -> bool:
        if answer.error_code == 0:
            return True
        error = error_for_code(answer.error_code)
        self._metadata.request_update((tp.topic,))
        if not error.retriable and not once:
            raise error(topic=tp.topic, partition=tp.partition, node=node)
        if not error.retriable:
            with self._buffer.subscription.lock:
                state = self._buffer.subscription.partitions.get(tp)
                if state is not None:
                    state.stuck(error(topic=tp.topic, partition=tp.partition, node=node), retry=True)
                    self._buffer.attention = True
        return False

    def _list_offsets_at(
        self, node_id: int, wanted: Mapping[TopicPartition, int], timeout_s: float
    ) -> Operation[dict[TopicPartition, tuple[ListOffsetsPartitionResponse, str | None]]]:
        topics: dict[str, ListOffsetsTopic] = {}
        for tp, timestamp in wanted.items():
            leader = self._metadata.cluster.leader(tp)
            topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic)).partitions.append(
                ListOffsetsPartition(
                    partition_index=tp.partition,
                    current_leader_epoch=-1 if leader is None else leader[1],
                    timestamp=timestamp,
                )
            )
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=1 if self._settings.read_committed else 0, topics=list(topics.values())
        )
        asked = Request[ListOffsetsResponse](request, node_id=node_id, channel=Channel.COORDINATOR, timeout_s=timeout_s)
        try:
            response = yield from call(asked)
        except (KafkaConnectionError, KafkaTimeoutError):
            self._metadata.request_update(topics)
            return {}
        return {
            TopicPartition(t.name, p.partition_index): (p, asked.address) for t in response.topics for p in t.partitions
        }

    # ---- committed offsets -------------------------------------------------------------------------------------------

    def fetch_committed(
        self, partitions: Iterable[TopicPartition]
    ) -> Operation[dict[TopicPartition, OffsetAndMetadata]]:
        """See CommittedOffsets."""
        return self.committed.fetch_committed(partitions)

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> Operation[None]:
        """See CommittedOffsets."""
        return self.committed.commit(offsets)


__all__ = ["OffsetSettings", "Offsets", "OutOfRange"]
