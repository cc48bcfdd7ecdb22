"""The Sender: takes batches that are ready, sends them to their leaders, and decides what each answer means.

A manager on the reactor thread, which in a producer *is* the Sender thread. It owns what is in flight. It never waits,
and nothing a user's callback does can break it. Order of a turn, as in Java: identity first, then what is ready, drain,
expire, send.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pykclient.client.engine import Poll
from pykclient.client.metadata import Cluster, LeaderHint, MetadataManager
from pykclient.errors import (
    Action,
    AuthenticationError,
    DeliveryTimedOut,
    DuplicateSequenceNumber,
    FencedLeaderEpoch,
    InvalidRecord,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MessageTooLarge,
    NotLeaderOrFollower,
    ProtocolError,
    UnknownTopicOrPartition,
    error_for_code,
)
from pykclient.net.client_request import Request
from pykclient.net.network_client import NetworkClient
from pykclient.net.transport import Clock
from pykclient.producer.accumulator import Callback, RecordAccumulator
from pykclient.producer.batch import Delivery, ProducerBatch, RecordFuture, shown
from pykclient.producer.metrics import ProducerMetrics
from pykclient.producer.splitting import split
from pykclient.producer.transactions import TransactionManager
from pykclient.protocol import batch_builder
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from pykclient.types import Node, RecordMetadata, TopicPartition

logger = logging.getLogger(__name__)
_new_metadata = tuple.__new__

# A healthy broker answers a Produce within milliseconds. After this much silence others are asked whether it still
# leads.
SUSPECT_AFTER_S = 1.0
# How often they are asked while it stays silent: what the cluster has decided is known this much later at the most.
PROBE_EVERY_S = 0.4
# After this much silence the connection itself is doubted; doubled for each time in a row that doubting it did not
# help.
DOUBT_CONNECTION_AFTER_S = 5.0
# The metadata manager takes its turn before the Sender: what is asked of it here it hears of in the next turn, which
# must come soon.
LOOK_AGAIN_S = 0.02
PRODUCE_VERSION_TXN_V1 = 11
PRODUCE_VERSION_BY_NAME = 12


@dataclass(frozen=True, slots=True)
class SenderSettings:
    """From the producer's configuration."""

    acks: int
    retries: int
    request_bytes_max: int
    request_timeout_s: float
    in_flight_max: int
    batch_bytes: int
    compression: CompressionType
    compression_level: int | None


class _Leaders:
    """Who leads what in one cluster view, looked up once per partition and not once per turn."""

    __slots__ = ("_cluster", "_known")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[TopicPartition, tuple[int, int] | None] = {}

    def of(self, cluster: Cluster) -> _Leaders:
        """This one, or a new one for another view."""
        return self if cluster is self._cluster else _Leaders(cluster)

    def leader(self, topic_partition: TopicPartition) -> tuple[int, int] | None:
        """(node id, leader epoch), or None while there is no leader."""
        if topic_partition not in self._known:
            self._known[topic_partition] = self._cluster.leader(topic_partition)
        return self._known[topic_partition]


class Sender:
    """Drains the accumulator into Produce requests."""

    def __init__(
        self,
        settings: SenderSettings,
        accumulator: RecordAccumulator,
        network: NetworkClient,
        metadata: MetadataManager,
        transactions: TransactionManager | None,
        metrics: ProducerMetrics,
        *,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._accumulator = accumulator
        self._network = network
        self._metadata = metadata
        self._transactions = transactions
        self._metrics = metrics
        self._in_flight: dict[int, dict[ProducerBatch, None]] = {}  # node -> batches on the wire
        self._requests: dict[int, int] = {}  # node -> requests on the wire
        self._ordered = settings.in_flight_max == 1
        self._probe_at: dict[int, float] = {}
        self._doubts: dict[int, int] = {}
        self._failures: dict[int, Exception | None] = {}  # node -> why it could not be reached last
        self._ask_at: dict[int, float] = {}
        # Answers arrive between turns: the time of the last turn would be too early for them.
        self._clock = clock
        self._leaders = _Leaders(metadata.cluster)

    # ---- a turn ------------------------------------------------------------------------------------------------------

    def poll(self, now: float) -> Poll:
        """One turn of the Sender loop."""
        if self._transactions is not None:
            self._transactions.maintain()
        requests: list[Request[ProduceResponse | MetadataResponse]] = []
        wake_at, expires_at = self._drain(now, requests)
        if expires_at <= now:
            self._expire(now)
            expires_at = self._accumulator.next_deadline()
        if self._transactions is not None:
            self._transactions.conclude()
        return Poll(requests, min(wake_at, expires_at, self._watch_silence(now, requests)))

    def _drain(self, now: float, requests: list[Request[ProduceResponse | MetadataResponse]]) -> tuple[float, float]:
        """Fill every node that has room; gives when to look again, and when the oldest batch expires."""
        leaders = self._leaders = self._leaders.of(self._metadata.cluster)
        accumulator, heard_at = self._accumulator, math.inf
        full = {node_id for node_id, count in self._requests.items() if count >= self._settings.in_flight_max}
        ready = accumulator.ready(leaders, now, full)
        wake_at = ready.wake_at
        if ready.leaderless_topics:
            self._metadata.request_update(ready.leaderless_topics)
            heard_at = now + LOOK_AGAIN_S
        rooms: dict[int, int] = {}
        for node_id in ready.nodes:
            room = self._settings.in_flight_max - self._requests.get(node_id, 0)
            if room > 0 and self._network.ready(node_id, now):
                rooms[node_id] = room
                accumulator.note_node(node_id, now, drained=True)
            else:
                accumulator.note_node(node_id, now, drained=False)
                heard_at = min(heard_at, self._ask_who_leads(node_id, now))
                retry_at = self._network.available_at(node_id, now)
                if retry_at > now:
                    heard_at = min(heard_at, retry_at)
        if rooms:
            drained, wake_at = accumulator.drain(leaders, rooms, now, self._settings.request_bytes_max)
            for node_id, batches in drained:
                requests.append(self._request(node_id, batches, now))
        return min(wake_at, heard_at), ready.expires_at

    def _ask_who_leads(self, node_id: int, now: float) -> float:
        """A leader that cannot be reached may be gone, and another elected meanwhile: ask at every failed attempt, and
        every second while the connection does not come up (a stopped broker still takes connections). Gives when to
        look again."""
        error = self._network.connection_error(node_id)
        anew = error is not None and error is not self._failures.get(node_id)
        self._failures[node_id] = error
        if self._network.connected(node_id):  # merely busy or throttled
            self._ask_at.pop(node_id, None)
            return math.inf
        due = self._ask_at.setdefault(node_id, now + SUSPECT_AFTER_S)
        if now < due and not anew:
            return due
        self._ask_at[node_id] = now + SUSPECT_AFTER_S
        self._metadata.request_update()
        return now + LOOK_AGAIN_S

    def _request(
        self, node_id: int, batches: list[ProducerBatch], now: float
    ) -> Request[ProduceResponse | MetadataResponse]:
        settings = self._settings
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            topic, partition = batch.topic_partition
            topics.setdefault(topic, []).append(PartitionProduceData(index=partition, records=self._sealed(batch)))
            if self._ordered:
                self._accumulator.mute(batch.topic_partition, True)
        ids = {topic: self._metadata.cluster.topic_id(topic) for topic in topics}
        transactional = self._transactions is not None and self._transactions.transactional
        version_max = 32767
        if transactional and self._transactions is not None and not self._transactions.uses_v2:
            version_max = PRODUCE_VERSION_TXN_V1
        elif any(topic_id is None for topic_id in ids.values()):
            version_max = PRODUCE_VERSION_BY_NAME
        message = ProduceRequest(
            transactional_id=self._transactions.transactional_id
            if transactional and self._transactions is not None
            else None,
            acks=settings.acks,
            timeout_ms=int(settings.request_timeout_s * 1000),
            topic_data=[
                TopicProduceData(name=topic, topic_id=ids[topic] or UUID(int=0), partition_data=rows)
                for topic, rows in topics.items()
            ],
        )
        # Not Request[...](): a call through a generic alias costs as much as encoding the request.
        request: Request[ProduceResponse | None] = Request(
            message,
            node_id=node_id,
            expects_response=settings.acks != 0,
            version_max=version_max,
            timeout_s=settings.request_timeout_s,
        )
        self._requests[node_id] = self._requests.get(node_id, 0) + 1
        self._in_flight.setdefault(node_id, {}).update(dict.fromkeys(batches))
        names = {topic_id: topic for topic, topic_id in ids.items() if topic_id is not None}
        request.completion.add_callback(lambda _: self._answered(node_id, batches, names, now, request))
        self._metrics.request_sent(batches)
        return request  # type: ignore[return-value]

    def _sealed(self, batch: ProducerBatch) -> bytes | memoryview:
        if batch.sealed is None:
            # A buffer that was sent as it is may still be read when the batch is sealed again: that takes a copy.
            buffer = bytearray(batch.buffer) if batch.exclusive and batch.attempts else batch.buffer
            batch.sealed = batch_builder.seal(
                buffer,
                compression=self._settings.compression,
                level=self._settings.compression_level,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.base_sequence,
                transactional=batch.transactional,
                in_place=batch.exclusive,
            )
            if self._settings.compression is not CompressionType.NONE:
                ratio = len(batch.sealed) / max(1, batch.size_bytes)
                self._accumulator.note_compression(batch.topic_partition.topic, ratio)
                self._metrics.compressed(ratio)
        return batch.sealed

    # ---- answers -----------------------------------------------------------------------------------------------------

    def _answered(
        self,
        node_id: int,
        batches: list[ProducerBatch],
        names: dict[UUID, str],
        sent_at: float,
        request: Request[ProduceResponse | None],
    ) -> None:
        completion = request.completion
        self._requests[node_id] -= 1
        waiting = self._in_flight[node_id]
        for batch in batches:
            waiting.pop(batch, None)
        if completion.error is not None:
            self._no_answer(batches, completion.error)
            return
        self._doubts.pop(node_id, None)
        response = completion.result()
        if response is None:  # acks=0: there is none
            self._delivered([(batch, Delivery()) for batch in batches])
            return
        self._metrics.answered(self._clock.now() - sent_at)
        by_partition: dict[tuple[str, int], ProducerBatch] = {batch.topic_partition: batch for batch in batches}
        hints: list[LeaderHint] = []
        delivered: list[tuple[ProducerBatch, Delivery]] = []
        for topic in response.responses:
            name = topic.name or names.get(topic.topic_id, "")
            for answer in topic.partition_responses:
                answered = by_partition.pop((name, answer.index), None)
                if answered is None:
                    continue
                if answer.error_code == 0 and answered.delivery is None:
                    delivered.append((answered, Delivery(answer.base_offset, answer.log_append_time_ms)))
                else:
                    self._judge(answered, answer, hints, request.address)
        if delivered:
            self._delivered(delivered)
        if hints:
            nodes = [Node(e.node_id, e.host, e.port, e.rack) for e in response.node_endpoints]
            self._metadata.apply_leader_hints(hints, nodes)
        if by_partition:
            # A broker that leaves a partition out of its answer breaks the protocol; treat it as no answer rather than
            # lose records.
            self._no_answer(
                list(by_partition.values()),
                KafkaConnectionError("the broker's answer leaves out a partition it was sent"),
            )

    def _no_answer(self, batches: Sequence[ProducerBatch], error: BaseException) -> None:
        """The request failed as a whole: the broker may or may not have what was in it."""
        written = not isinstance(error, KafkaTimeoutError) or isinstance(error, KafkaConnectionError)
        for batch in batches:
            self._unmute(batch)
            batch.possibly_written = batch.possibly_written or written
            if batch.delivery is not None:
                self._accumulator.release(batch)
                continue
            # A ProtocolError condemns the connection, not the records that happened to be on it.
            retriable = isinstance(error, (KafkaConnectionError, KafkaTimeoutError, ProtocolError)) and not isinstance(
                error, AuthenticationError
            )
            if retriable and self._may_try_again(batch):
                self._retry(batch, error)
            else:
                cause = error if isinstance(error, Exception) else KafkaError(str(error))
                self._fail(batch, self._out_of_time(batch, cause) if retriable else cause, refused=False)
        self._metadata.request_update({batch.topic_partition.topic for batch in batches})

    def _judge(
        self, batch: ProducerBatch, answer: PartitionProduceResponse, hints: list[LeaderHint], node: str | None
    ) -> None:
        """One partition's answer that is an error, or comes too late."""
        self._unmute(batch)
        if batch.delivery is not None:
            self._settle_late(batch, answer)
            return
        error_class = error_for_code(answer.error_code)
        if issubclass(error_class, MessageTooLarge) and batch.record_count > 1:
            self._split(batch)
            return
        if issubclass(error_class, DuplicateSequenceNumber):
            # Long written, and too old for the broker to remember where: success without an offset.
            self._delivered([(batch, Delivery())])
            return
        if error_class.action is Action.REFRESH_METADATA:
            self._metadata.request_update({batch.topic_partition.topic})
            leader = answer.current_leader
            if issubclass(error_class, (NotLeaderOrFollower, FencedLeaderEpoch)) and leader.leader_id >= 0:
                hints.append(LeaderHint(batch.topic_partition, leader.leader_id, leader.leader_epoch))
            if issubclass(error_class, UnknownTopicOrPartition):
                logger.warning(
                    "%s: unknown to the broker that should lead it; asking for fresh metadata", batch.topic_partition
                )
        retriable = self._may_retry_after(batch, error_class, answer)
        if retriable and self._may_try_again(batch):
            self._retry(batch, error_class(answer.error_message, node=node))
            return
        topic, partition = batch.topic_partition
        error: Exception = error_class(answer.error_message, topic=topic, partition=partition, node=node)
        if retriable:
            error = self._out_of_time(batch, error)
        spoiled = {
            e.batch_index: InvalidRecord(e.batch_index_error_message, topic=topic, partition=partition, node=node)
            for e in answer.record_errors
        }
        self._fail(batch, error, refused=True, record_errors=dict(spoiled) if spoiled else None)

    def _may_retry_after(self, batch: ProducerBatch, error: type[KafkaError], answer: PartitionProduceResponse) -> bool:
        if self._transactions is None:
            return error.retriable
        return self._transactions.may_retry(batch, error, answer.log_start_offset)

    def _settle_late(self, batch: ProducerBatch, answer: PartitionProduceResponse) -> None:
        """The batch had expired while it was out; now its fate is known."""
        if answer.error_code == 0 and self._transactions is not None:
            self._transactions.acknowledged(batch, answer.base_offset)
        self._accumulator.release(batch)

    def _unmute(self, batch: ProducerBatch) -> None:
        if self._ordered:
            self._accumulator.mute(batch.topic_partition, False)

    def _may_try_again(self, batch: ProducerBatch) -> bool:
        return batch.attempts < self._settings.retries and self._clock.now() < self._accumulator.deadline(batch)

    def _retry(self, batch: ProducerBatch, error: BaseException) -> None:
        logger.info(
            "%s: sending %d records again (attempt %d failed: %s)",
            batch.topic_partition,
            batch.record_count,
            batch.attempts + 1,
            error,
        )
        batch.last_error = error
        self._metrics.retried(batch.record_count)
        self._accumulator.reenqueue(batch, self._clock.now())

    def _split(self, batch: ProducerBatch) -> None:
        """KIP-126: the broker called the batch too large; its records go out again in smaller ones."""
        topic, _ = batch.topic_partition
        logger.warning(
            "%s: the broker calls a batch of %d records too large; splitting it",
            batch.topic_partition,
            batch.record_count,
        )
        self._accumulator.reset_compression(topic)
        parts = split(batch, self._settings.batch_bytes, self._accumulator)
        if self._transactions is not None and batch.has_sequence:
            self._transactions.sequences.replace(batch, [part for _, part in parts])
        self._accumulator.replace(batch, parts)
        self._metrics.batch_split()

    # ---- ends --------------------------------------------------------------------------------------------------------

    def _delivered(self, outcomes: list[tuple[ProducerBatch, Delivery]]) -> None:
        """The broker has these batches, as one answer says."""
        record_count = 0
        for batch, delivery in outcomes:
            self._unmute(batch)
            if self._transactions is not None:
                self._transactions.acknowledged(batch, delivery.base_offset)
            batch.in_flight = False
            record_count += batch.record_count
        self._metrics.delivered(record_count)
        to_tell = self._accumulator.settle_all(outcomes)
        for number, told in enumerate(to_tell):
            try:
                self._tell(*told)
            except BaseException:  # a callback that ends this thread: the others hear of their records all the same
                for rest in to_tell[number + 1 :]:
                    self._tell(*rest)
                raise

    def _fail(
        self,
        batch: ProducerBatch,
        error: Exception,
        *,
        refused: bool,
        record_errors: dict[int, Exception] | None = None,
        on_wire: bool = False,
    ) -> None:
        batch.in_flight = on_wire
        self._metrics.failed(batch.record_count)
        self._settle(batch, Delivery(error=error, record_errors=record_errors))
        if self._transactions is not None:
            self._transactions.gave_up(batch, error, refused=refused)

    def _settle(self, batch: ProducerBatch, delivery: Delivery) -> None:
        self._tell(batch, delivery, self._accumulator.settle(batch, delivery))

    def _tell(
        self, batch: ProducerBatch, delivery: Delivery, callbacks: Sequence[tuple[int, Callback, RecordFuture]]
    ) -> None:
        topic, partition = batch.topic_partition
        base_offset, append_time, _, record_errors = delivery
        error = None if delivery.error is None else shown(delivery.error)
        for index, callback, future in callbacks:
            try:
                if error is not None:
                    callback(None, error if record_errors is None else record_errors.get(index, error))
                    continue
                # What future.metadata() gives, without asking the batch again for each record.
                offset = base_offset + index if base_offset >= 0 else -1
                timestamp = append_time if append_time >= 0 else future.timestamp
                place = (topic, partition, offset, timestamp, future.key_size, future.value_size)
                callback(_new_metadata(RecordMetadata, place), None)
            except Exception:
                # The user's code must not take the Sender down with it; nobody else could be told.
                logger.exception("%s: a delivery callback raised", batch.topic_partition)

    def _expire(self, now: float) -> None:
        """delivery.timeout.ms: queued batches, then those on the wire, oldest first."""
        expired = [(batch, False) for batch in self._accumulator.expire(now)]
        expired += [
            (batch, True)
            for batches in self._in_flight.values()
            for batch in batches
            if batch.delivery is None and self._accumulator.deadline(batch) <= now
        ]
        for batch, on_wire in expired:
            batch.possibly_written = batch.possibly_written or on_wire
            self._fail(batch, self._timed_out(batch, now), refused=False, on_wire=on_wire)

    def _out_of_time(self, batch: ProducerBatch, error: Exception) -> Exception:
        """The last attempt failed and there is no time for another: told like any other batch that ran out of it."""
        now = self._clock.now()
        if now < self._accumulator.deadline(batch):
            return error
        batch.last_error = error
        return self._timed_out(batch, now)

    def _timed_out(self, batch: ProducerBatch, now: float) -> DeliveryTimedOut:
        fate = "it may or may not have been stored" if batch.possibly_written else "it was not stored"
        reason = "" if batch.last_error is None else f"; the last attempt failed: {batch.last_error}"
        topic, partition = batch.topic_partition
        error = DeliveryTimedOut(
            f"{batch.record_count} records not delivered within delivery_timeout_ms "
            f"({now - batch.created_at:.1f} s); {fate}{reason}",
            topic=topic,
            partition=partition,
        )
        error.__cause__ = batch.last_error
        return error

    def abort_undrained(self, error: Exception) -> None:
        """Fail what has not been sent: the transaction is being aborted, or the producer cannot go on."""
        for batch in self._accumulator.undrained():
            self._fail_quietly(batch, error)

    def _fail_quietly(self, batch: ProducerBatch, error: Exception) -> None:
        """Fail a batch as part of a decision that the transaction manager has made itself."""
        self._metrics.failed(batch.record_count)
        if self._transactions is not None:
            self._transactions.sequences.given_up(batch)
            if batch.possibly_written:
                self._transactions.sequences.mark_unresolved(batch)
        self._settle(batch, Delivery(error=error))

    def fail(self, error: BaseException) -> None:
        """The client ends: everything that is left fails with the cause."""
        cause = error if isinstance(error, Exception) else KafkaError(str(error))
        self._accumulator.close(cause)
        for batch in self._accumulator.incomplete():
            batch.in_flight = False
            self._settle(batch, Delivery(error=cause))
        if self._transactions is not None:
            self._transactions.fail(cause)

    # ---- gray failure ------------------------------------------------------------------------------------------------

    def _watch_silence(self, now: float, requests: list[Request[ProduceResponse | MetadataResponse]]) -> float:
        """A broker that takes requests and answers none: ask another who leads now, and leave it when the leader has
        moved.

        Waiting for request.timeout.ms would stall for half a minute although the cluster has long elected another
        leader. Sending again is safe only where the broker can tell a repeat, so this is for idempotent producers.
        """
        if self._transactions is None:
            return math.inf
        wake_at = math.inf
        for node_id, batches in list(self._in_flight.items()):
            silent_since = self._network.silent_since(node_id) if batches else None
            if silent_since is None:
                self._probe_at.pop(node_id, None)
                if batches:  # drained in this very turn: not on the wire yet, and maybe nothing else wakes us
                    wake_at = min(wake_at, now + SUSPECT_AFTER_S)
                continue
            silence = now - silent_since
            if silence < SUSPECT_AFTER_S:
                wake_at = min(wake_at, silent_since + SUSPECT_AFTER_S)
                continue
            if self._has_moved(node_id, batches):
                self._network.disconnect(node_id, f"silent for {silence:.1f} s and no longer the leader")
                continue
            patience = DOUBT_CONNECTION_AFTER_S * 2 ** self._doubts.get(node_id, 0)
            if silence >= patience:
                self._doubts[node_id] = self._doubts.get(node_id, 0) + 1
                self._network.disconnect(
                    node_id, f"silent for {silence:.1f} s with requests in flight; trying a new connection"
                )
                continue
            wake_at = min(wake_at, silent_since + patience, self._probe(node_id, batches, now, requests))
        return wake_at

    def _has_moved(self, node_id: int, batches: dict[ProducerBatch, None]) -> bool:
        for batch in batches:
            leader = self._metadata.cluster.leader(batch.topic_partition)
            if leader is not None and leader[0] != node_id:
                return True
        return False

    def _probe(
        self,
        node_id: int,
        batches: dict[ProducerBatch, None],
        now: float,
        requests: list[Request[ProduceResponse | MetadataResponse]],
    ) -> float:
        """Ask any *other* broker for metadata, a few times a second."""
        due = self._probe_at.get(node_id, 0.0)
        if now < due:
            return due
        self._probe_at[node_id] = now + PROBE_EVERY_S
        topics = sorted({batch.topic_partition.topic for batch in batches})
        question = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic) for topic in topics], allow_auto_topic_creation=False
        )
        probe = Request[MetadataResponse](question, timeout_s=SUSPECT_AFTER_S, tried={node_id})
        probe.completion.add_callback(lambda _: self._probed(probe))
        requests.append(probe)  # type: ignore[arg-type]
        return now + PROBE_EVERY_S

    def _probed(self, probe: Request[MetadataResponse]) -> None:
        if probe.completion.error is None:
            self._metadata.apply(probe.completion.result(), self._clock.now(), probe.address)


__all__ = ["Sender", "SenderSettings"]
