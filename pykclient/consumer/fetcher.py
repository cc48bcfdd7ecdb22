"""The fetcher: keeps one Fetch on its way to every leader, and the buffer between it and the thread that polls.

``FetchBuffer`` is one of the three doors: user threads take records from it, the reactor puts responses in, one lock
guards both and the positions. ``Fetcher`` is a manager on the reactor thread. One byte limit bounds everything that is
buffered or on its way, whatever the number of partitions.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pykclient.client.engine import Poll
from pykclient.client.metadata import LeaderHint, MetadataManager
from pykclient.consumer.fetch_session import FetchSession, Wanted, as_of, forgotten_topics, named_topics
from pykclient.consumer.fetched import PIECE_RECORDS, Aborted, Decoded, FetchedPart, Frame, Usage
from pykclient.consumer.subscription import PartitionState, Phase, Position, Subscription
from pykclient.errors import (
    Action,
    BrokerError,
    ConcurrentUseError,
    CorruptMessage,
    CorruptRecordError,
    KafkaError,
    OffsetOutOfRange,
    TopicAuthorizationFailed,
    UnsupportedVersion,
    UsageError,
    error_for_code,
)
from pykclient.net.client_request import Channel, Request
from pykclient.net.network_client import NetworkClient
from pykclient.net.transport import Clock
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from pykclient.protocol.records import ConsumerRecords
from pykclient.types import Node, TopicPartition

logger = logging.getLogger(__name__)

FETCH_VERSION_BY_NAME = 12
# A partition is fetched ahead of what is buffered of it as long as less than this many of its fetch sizes wait.
AHEAD_FETCHES = 2
# A follower that a leader recommended is used for this long before the leader is asked again (as metadata.max.age in
# Java).
PREFERRED_REPLICA_S = 300.0
SILENT_AFTER_S = 2.0
# A leader that cannot be reached for this long may not lead any more.
SUSPECT_AFTER_S = 0.5


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """From the consumer's configuration."""

    min_bytes: int
    wait_max_ms: int
    bytes_max: int
    partition_bytes_max: int
    buffer_bytes_max: int
    read_committed: bool
    check_crcs: bool
    rack: str
    request_timeout_s: float
    retry_backoff_s: float
    decompressed_bytes_max: int


class FetchBuffer:
    """What was fetched and not handed out yet, and the lock over positions. Thread-safe."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._lock = threading.RLock()
        self._news = threading.Condition(self._lock)
        self._rounds = 0
        self._user = 0
        self._users = 0
        self.subscription = Subscription(self._lock)
        self.usage = Usage()
        """Bytes of response frames that still have something to hand out."""
        self.attention = False
        """The polling thread must look at more than records: a rebalance, an error, a wake-up."""
        self.on_news: Callable[[], None] = lambda: None
        """Called, on any thread, when there may be something to take or to look at: how the asyncio face waits."""
        self.moved = False
        """Whether the last ``take`` moved a position over something that was not for the user."""
        self.passed = False
        """Whether an iteration that has just ended had done so already; the next ``take`` tells it."""
        self.until: Mapping[TopicPartition, int] | None = None
        """Where the user means to stop for now; nothing is fetched ahead beyond it."""
        self.on_room: Callable[[], None] = lambda: None
        """Called when a partition has room to be fetched again."""
        self.full = False
        """Whether something was not fetched for want of room. Else nobody needs to hear of room: a turn of the reactor
        for each little answer costs more than the answer."""

    def wake(self, *, attention: bool = False) -> None:
        """There is something to take or to look at. Any thread."""
        with self._lock:
            self.attention = self.attention or attention
            self._news.notify_all()
        self.on_news()

    def signal(self) -> None:
        """Like ``wake`` for a signal handler: takes no lock, so whoever waits in this thread looks within one slice."""
        self.on_news()

    def wait(self, timeout_s: float) -> bool:
        """Until there is something to take or to look at; False when out of time."""
        with self._news:
            return self._news.wait_for(lambda: self.attention or bool(self._filled()), timeout_s)

    def nap(self, timeout_s: float) -> None:
        """Until there is any news, whatever there is already."""
        with self._news:
            self._news.wait(timeout_s)

    def _filled(self) -> list[PartitionState]:
        return [
            state
            for state in self.subscription.partitions.values()
            if state.buffered and not state.paused and not state.revoking and state.phase is Phase.FETCHING
        ]

    def stop_at(self, until: Mapping[TopicPartition, int] | None) -> None:
        """Fetch up to these offsets, or without end."""
        if until != self.until:
            self.until = until
            self.on_room()

    def filled(self) -> list[PartitionState]:
        """Partitions that have something to hand out, another one first each time."""
        with self._lock:
            states = self._filled()
            self._rounds += 1
            start = self._rounds % len(states) if states else 0
            return states[start:] + states[:start]

    def take(
        self,
        records_max: int,
        wanted: Callable[[PartitionState], bool] | None = None,
        enough: Callable[[], bool] | None = None,
    ) -> dict[TopicPartition, ConsumerRecords]:
        """Up to ``records_max`` records, a batch of each partition in turn. Positions move with what is returned. Only
        of partitions that are ``wanted``; no further batch once it is ``enough``.

        An error in a batch is raised only when nothing else was taken; the position then stays in front of it.
        """
        self.stop_at(None)
        self.moved, self.passed = self.passed, False
        taken: dict[TopicPartition, ConsumerRecords] = {}
        left = records_max
        while left > 0:
            with self._lock:
                filled = self._filled()
                self._rounds += 1
            if wanted is not None:
                filled = [state for state in filled if wanted(state)]
            if not filled:
                break
            start = self._rounds % len(filled)
            # A batch is decoded as a whole: what is left of one goes first, so that few lie about decoded.
            order = sorted(filled[start:] + filled[:start], key=_nothing_left_over)
            share = max(1, (left if enough is None else min(left, PIECE_RECORDS)) // len(order))
            for state in order:
                try:
                    left -= self._take_batches(state, left, share, taken)
                except KafkaError:
                    if taken:
                        return taken
                    raise
                if left <= 0 or (taken and enough is not None and enough()):
                    return taken
        return taken

    def _take_batches(
        self, state: PartitionState, left: int, share: int, taken: dict[TopicPartition, ConsumerRecords]
    ) -> int:
        """Up to ``left`` records of the next batch, or of several that hold no more than ``share``. Decoding happens
        outside the lock; the reactor may revoke meanwhile."""
        with self._lock:
            if not state.buffered or state.position is None:
                return 0
            part, version, offset = state.buffered[0], state.version, state.position.offset
        settings = self._settings
        try:
            if part.leftover:
                decoded: Decoded | None = Decoded(part.leftover, part.next_offset, part.leader_epoch)
            else:
                decoded = part.decode_next(
                    offset,
                    check_crcs=settings.check_crcs,
                    bytes_max=settings.decompressed_bytes_max,
                    records_max=share,
                )
        except KafkaError as error:
            self.damaged(state, version, error)
            return 0
        with self._lock:
            if state.version != version or self.subscription.partitions.get(state.topic_partition) is not state:
                return 0  # sought or revoked while we decoded: these records are not ours to give
            if decoded is None:
                self.drop_first(state)
                return 0
            return self._hand_out(state, part, decoded, left, taken)

    def drop_first(self, state: PartitionState) -> None:
        """Under the lock: an answer is read to its end."""
        state.buffered.popleft().release()
        if self.full:
            self.on_room()

    def damaged(self, state: PartitionState, version: int, error: KafkaError) -> None:
        """A batch could not be read: it is fetched again, which heals a bit that was flipped on the way. The user hears
        of it when that did not help; the position then stays in front of it."""
        with self._lock:
            if state.version != version or state.position is None:
                return  # sought or revoked meanwhile: nobody wants it
            again = isinstance(error, CorruptRecordError) and state.corrupt_at != state.position.offset
            state.corrupt_at = state.position.offset
            state.go_back(state.position)
        self.on_room()
        if not again:
            raise error
        logger.warning("%s: fetching again: %s", state.topic_partition, error)

    def _hand_out(
        self,
        state: PartitionState,
        part: FetchedPart,
        decoded: Decoded,
        left: int,
        taken: dict[TopicPartition, ConsumerRecords],
    ) -> int:
        records, next_offset, epoch = decoded
        if len(records) > left:
            part.leftover = records[left:]
            records = records[:left]
            next_offset = part.leftover[0].offset
        else:
            part.leftover = []
        if not records and state.position is not None and next_offset > state.position.offset:
            self.moved = True
        state.position = Position(next_offset, epoch)
        if records:
            known = taken.get(state.topic_partition)
            if known is None:
                taken[state.topic_partition] = records
            else:
                known.extend(records)
        return len(records)

    def enter(self) -> None:
        """A public method begins: one thread at a time, and nested calls (from a listener) of the same thread."""
        me = threading.get_ident()
        with self._lock:
            if self._users and self._user != me:
                raise ConcurrentUseError
            self._user = me
            self._users += 1

    def leave(self) -> None:
        """It ends."""
        with self._lock:
            self._users -= 1

    def in_use_here(self) -> bool:
        """Whether this thread is inside a public method. Takes no lock: asked by signal handlers."""
        return self._users > 0 and self._user == threading.get_ident()

    def used_here_last(self) -> bool:
        """Whether no other thread used the consumer last: what that one holds is not ours to call processed."""
        return self._user in (0, threading.get_ident())

    def came_back(self) -> None:
        """The user asked for more: all that was handed out counts as consumed."""
        with self._lock:
            for state in self.subscription.partitions.values():
                state.consumed = state.position


class Fetcher:
    """Sends fetches for what is assigned; a manager."""

    def __init__(
        self,
        settings: FetchSettings,
        buffer: FetchBuffer,
        network: NetworkClient,
        metadata: MetadataManager,
        *,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._buffer = buffer
        self._network = network
        self._metadata = metadata
        self._sessions: dict[int, FetchSession] = {}
        self._in_flight: dict[int, int] = {}  # node -> bytes reserved for its answer
        self._ask_at: dict[int, float] = {}
        self._retry_at: dict[int, float] = {}
        # Answers arrive between turns: the time of the last turn would be too early for them.
        self._clock = clock
        self.fetch_total = 0
        self.bytes_total = 0
        self.on_out_of_range: Callable[[PartitionState], None] = lambda state: None
        self.on_diverged: Callable[[PartitionState, int, int], None] = lambda state, epoch, offset: None

    def poll(self, now: float) -> Poll:
        """See Manager."""
        requests: list[Request[FetchResponse]] = []
        wake_at = math.inf
        with self._buffer.subscription.lock:
            self._buffer.full = False
            by_node, wake_at = self._wanted(now)
            for node_id, wanted in by_node.items():
                if node_id in self._in_flight:
                    continue
                retry_at = self._retry_at.get(node_id, 0.0)
                if retry_at > now or not self._network.ready(node_id, now, Channel.FETCH):
                    again_at = max(retry_at, self._network.available_at(node_id, now, Channel.FETCH))
                    # While it connects there is nothing to wait for but the connection, which wakes us itself.
                    wake_at = min(wake_at, self._suspect(node_id, now), again_at if again_at > now else math.inf)
                    continue
                self._ask_at.pop(node_id, None)
                room = self._settings.buffer_bytes_max - self._buffer.usage.bytes - sum(self._in_flight.values())
                if room <= 0:
                    self._buffer.full = True
                    break
                requests.append(self._request(node_id, wanted, min(room, self._settings.bytes_max)))
        return Poll(requests, min(wake_at, self._watch_silence(now)))

    def fail(self, error: BaseException) -> None:
        """See Manager."""
        self._buffer.wake(attention=True)

    def _wanted(self, now: float) -> tuple[dict[int, dict[TopicPartition, Wanted]], float]:
        """What to ask of whom. Partitions that have enough buffered are left out for now."""
        cluster = self._metadata.cluster
        settings = self._settings
        by_node: dict[int, dict[TopicPartition, Wanted]] = {}
        wake_at = math.inf
        until = self._buffer.until
        for tp, state in self._buffer.subscription.partitions.items():
            if not state.fetchable or state.position is None:
                continue
            if state.retry_at > now:
                wake_at = min(wake_at, state.retry_at)
                continue
            if len(state.buffered) >= AHEAD_FETCHES:
                self._buffer.full = True
                continue
            if until is not None and state.fetch_offset >= until.get(tp, 0):
                continue
            leader = cluster.leader(tp)
            if leader is None:
                self._metadata.request_update((tp.topic,))
                continue
            node_id, epoch = leader
            if state.preferred_replica is not None:
                if now < state.preferred_until and state.preferred_replica in cluster.brokers:
                    node_id = state.preferred_replica
                else:
                    state.preferred_replica = None
            by_node.setdefault(node_id, {})[tp] = Wanted(
                state.fetch_offset,
                settings.partition_bytes_max,
                epoch,
                -1 if state.fetch_epoch is None else state.fetch_epoch,
                cluster.topic_id(tp.topic),
            )
        return by_node, wake_at

    def _request(self, node_id: int, wanted: dict[TopicPartition, Wanted], bytes_max: int) -> Request[FetchResponse]:
        settings = self._settings
        session = self._sessions.setdefault(node_id, FetchSession())
        by_id = all(want.topic_id is not None for want in wanted.values())
        plan = session.plan(wanted)
        message = FetchRequest(
            max_wait_ms=settings.wait_max_ms,
            min_bytes=settings.min_bytes,
            max_bytes=bytes_max,
            isolation_level=1 if settings.read_committed else 0,
            session_id=plan.session_id,
            session_epoch=plan.session_epoch,
            topics=named_topics(plan),
            forgotten_topics_data=forgotten_topics(plan),
            rack_id=settings.rack,
        )
        request = Request[FetchResponse](
            api_key=ApiKey.FETCH,
            build=lambda version: as_of(message, version),
            node_id=node_id,
            channel=Channel.FETCH,
            timeout_s=settings.request_timeout_s,
            version_max=32767 if by_id else FETCH_VERSION_BY_NAME,
        )
        # Small topics would otherwise reserve the whole limit for answers that are always small.
        self._in_flight[node_id] = min(bytes_max, len(wanted) * settings.partition_bytes_max)
        partitions = self._buffer.subscription.partitions
        asked = {tp: (partitions[tp], partitions[tp].version, want.fetch_offset) for tp, want in wanted.items()}
        request.completion.add_callback(lambda _: self._answered(node_id, asked, request))
        self.fetch_total += 1
        return request

    # ---- answers ----

    def _answered(
        self,
        node_id: int,
        asked: dict[TopicPartition, tuple[PartitionState, int, int]],
        request: Request[FetchResponse],
    ) -> None:
        completion = request.completion
        del self._in_flight[node_id]
        session = self._sessions[node_id]
        if completion.error is not None:
            session.close_quietly()
            self._retry_at[node_id] = self._clock.now() + self._settings.retry_backoff_s
            self._metadata.request_update({tp.topic for tp in asked})
            with self._buffer.subscription.lock:
                for state, version, _ in asked.values():
                    state.preferred_replica = None
                    if isinstance(completion.error, (UnsupportedVersion, UsageError)) and state.version == version:
                        # Trying again cannot help before something changes, and must not look like an idle topic.
                        state.stuck(completion.error, retry=True)
                        self._buffer.attention = True
            self._buffer.wake()
            return
        response = completion.result()
        if response.error_code != 0:
            error = error_for_code(response.error_code)
            logger.info("fetch session with node %s ends: %s", node_id, error.__name__)
            session.reset()
            if error.action is not Action.RESET_SESSION:
                self._retry_at[node_id] = self._clock.now() + self._settings.retry_backoff_s
            self._metadata.request_update({tp.topic for tp in asked})
            return
        session.answered(response.session_id)
        self._take_response(response, asked, request.address)

    def _take_response(
        self,
        response: FetchResponse,
        asked: dict[TopicPartition, tuple[PartitionState, int, int]],
        node: str | None,
    ) -> None:
        filled: list[tuple[PartitionState, PartitionData, memoryview, int]] = []
        hints: list[LeaderHint] = []
        with self._buffer.subscription.lock:
            for topic in response.responses:
                name = self._name(topic)
                for data in topic.partitions:
                    known = asked.get(TopicPartition(name, data.partition_index))
                    if known is None or known[0].version != known[1] or not self._still_ours(known[0]):
                        continue
                    state, _, fetch_offset = known
                    if state.fetch_offset != fetch_offset:
                        continue
                    if data.error_code != 0:
                        self._partition_error(state, data, hints, node)
                        continue
                    records = self._take_partition(state, data)
                    if records is not None:
                        filled.append((state, data, records, fetch_offset))
            self._store(filled, node)
        if hints:
            nodes = [Node(e.node_id, e.host, e.port, e.rack) for e in response.node_endpoints]
            self._metadata.apply_leader_hints(hints, nodes)
        if filled or self._buffer.attention:
            self._buffer.wake()

    def _still_ours(self, state: PartitionState) -> bool:
        return self._buffer.subscription.partitions.get(state.topic_partition) is state

    def _store(self, filled: list[tuple[PartitionState, PartitionData, memoryview, int]], node: str | None) -> None:
        size = sum(len(view) for _, _, view, _ in filled)
        if not filled:
            return
        frame = Frame(size, len(filled), self._buffer.usage, node)
        self.bytes_total += size
        for state, data, view, fetch_offset in filled:
            aborted = (
                [Aborted(a.producer_id, a.first_offset) for a in data.aborted_transactions or ()]
                if self._settings.read_committed
                else None
            )
            part = FetchedPart(state.topic_partition, view, fetch_offset, frame, state.version, aborted)
            end, epoch = part.end_offset()
            state.buffered.append(part)
            state.fetch_offset = max(state.fetch_offset, end)
            if epoch is not None:
                state.fetch_epoch = epoch

    def _name(self, topic: FetchableTopicResponse) -> str:
        return topic.topic or self._metadata.cluster.topic_name(topic.topic_id) or ""

    def _take_partition(self, state: PartitionState, data: PartitionData) -> memoryview | None:
        """Under the lock: note what the broker says of the partition; gives the records to keep, None when there are
        none."""
        if data.diverging_epoch.epoch >= 0 or data.diverging_epoch.end_offset >= 0:
            self.on_diverged(state, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
            return None
        state.high_watermark = data.high_watermark
        state.last_stable_offset = data.last_stable_offset if data.last_stable_offset >= 0 else None
        state.log_start_offset = data.log_start_offset if data.log_start_offset >= 0 else None
        if data.preferred_read_replica >= 0 and data.preferred_read_replica != state.preferred_replica:
            state.preferred_replica = data.preferred_read_replica
            state.preferred_until = self._clock.now() + PREFERRED_REPLICA_S
        if not data.records:
            return None
        return data.records if isinstance(data.records, memoryview) else memoryview(data.records)

    def _partition_error(
        self, state: PartitionState, data: PartitionData, hints: list[LeaderHint], node: str | None
    ) -> None:
        topic, partition = state.topic_partition
        error = error_for_code(data.error_code)
        if issubclass(error, OffsetOutOfRange):
            if state.preferred_replica is not None:
                state.preferred_replica = None  # the follower is behind; the leader decides
            elif state.buffered:
                state.retry_at = (
                    self._clock.now() + self._settings.retry_backoff_s
                )  # what we have is still good: that first
            else:
                self.on_out_of_range(state)
            return
        if error.action is Action.REFRESH_METADATA:
            state.preferred_replica = None
            state.retry_at = self._clock.now() + self._settings.retry_backoff_s
            leader = data.current_leader
            if leader.leader_id >= 0 and leader.leader_epoch >= 0:
                hints.append(LeaderHint(state.topic_partition, leader.leader_id, leader.leader_epoch))
                state.retry_at = 0.0
            self._metadata.request_update((topic,))
            return
        if error.retriable and not issubclass(error, CorruptMessage):
            state.retry_at = self._clock.now() + self._settings.retry_backoff_s
            return
        failure: BrokerError = error(topic=topic, partition=partition, offset=state.fetch_offset, node=node)
        if issubclass(error, TopicAuthorizationFailed):
            logger.warning("%s: not allowed to read", state.topic_partition)
        state.retry_at = self._clock.now() + self._settings.retry_backoff_s
        state.stuck(failure, retry=True)
        self._buffer.attention = True

    # ---- gray failure ----

    def _suspect(self, node_id: int, now: float) -> float:
        """Ask the others, again and again, while a leader does not let us in: a stopped broker accepts connections."""
        due = self._ask_at.setdefault(node_id, now + SUSPECT_AFTER_S)
        if now >= due:
            self._ask_at[node_id] = due = now + SUSPECT_AFTER_S
            self._metadata.request_update()
        return due

    def _watch_silence(self, now: float) -> float:
        """A leader that does not answer within its own waiting time and a little more: leave it."""
        wake_at = math.inf
        patience = self._settings.wait_max_ms / 1000 + SILENT_AFTER_S
        for node_id in list(self._in_flight):
            silent_since = self._network.silent_since(node_id, Channel.FETCH)
            if silent_since is None:
                continue
            if now < silent_since + patience:
                wake_at = min(wake_at, silent_since + patience)
                continue
            # Nothing is lost by asking again elsewhere: a fetch changes nothing.
            self._network.disconnect(node_id, f"no answer to a fetch for {now - silent_since:.1f} s", Channel.FETCH)
        return wake_at


def _nothing_left_over(state: PartitionState) -> bool:
    return not (state.buffered and state.buffered[0].leftover)


__all__ = ["FetchBuffer", "FetchSettings", "Fetcher"]
