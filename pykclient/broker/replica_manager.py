"""The partitions that live on this node: opened, led, appended to, read, looked after and closed here.

Owned by the broker node's thread; time is an argument and nothing blocks. It follows the metadata image
(``apply_image``), hands leadership changes to its caller (coordinators load and unload by them), serves Produce, Fetch
and the questions about logs, and is the ``InternalLog`` of the coordinators. It must never serve a partition as leader
that the image gives to somebody else.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pykclient.broker import checkpoints
from pykclient.broker.authorizer import Authorizer, Operation, ResourceType
from pykclient.broker.compaction import compact
from pykclient.broker.coordinator import CoordinatorRecord, LoadedBatch
from pykclient.broker.fetch import FetchHandler
from pykclient.broker.fetch_session import FetchSessionCache, Randomness
from pykclient.broker.image import NO_LEADER, MetadataImage, TopicImage
from pykclient.broker.log import Isolation, Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.log_queries import LogQueries
from pykclient.broker.log_validation import end_marker_of
from pykclient.broker.partition import NO_EPOCH, Partition
from pykclient.broker.produce import ProduceHandler, TransactionVerifier
from pykclient.broker.producer_state import AppendOrigin
from pykclient.broker.purgatory import DelayedOperation, Purgatory
from pykclient.broker.request import RequestContext
from pykclient.broker.storage import Storage
from pykclient.broker.timing_wheel import TimingWheel
from pykclient.broker.topic_changes import topic_name_problem
from pykclient.errors import (
    BrokerError,
    InvalidTopicException,
    KafkaStorageError,
    NotLeaderOrFollower,
    RequestTimedOut,
    UnknownTopicOrPartition,
)
from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from pykclient.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from pykclient.protocol.messages.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from pykclient.protocol.messages.fetch import FetchRequest, FetchResponse
from pykclient.protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from pykclient.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from pykclient.protocol.messages.produce import ProduceRequest, ProduceResponse
from pykclient.protocol.records import decode_all, encode_batch
from pykclient.types import TopicPartition

_logger = logging.getLogger(__name__)
_READ_ALL_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ReplicaConfig:
    """What a broker's options say about its logs; fields are Kafka's names."""

    fetch_max_bytes: int = 57_671_680
    log_cleaner_backoff_ms: int = 15_000
    log_flush_offset_checkpoint_interval_ms: int = 60_000
    log_retention_check_interval_ms: int = 300_000
    max_incremental_fetch_session_cache_slots: int = 1000
    producer_id_expiration_ms: int = 86_400_000
    internal_append_timeout_ms: int = 5_000


class LeaderHint(NamedTuple):
    """Who leads a partition, and where to reach it."""

    leader_id: int
    leader_epoch: int
    endpoint: Endpoint | None
    rack: str | None


class LeadershipChange(NamedTuple):
    """This node began or ceased to lead a partition."""

    topic: str
    partition: int
    leader_epoch: int
    leads: bool


def config_of_topic(topic: TopicImage) -> LogConfig:
    """The log configuration from a topic's own settings alone."""
    return LogConfig.from_dict(topic.configs)


class ReplicaManager:
    """The room. Make it with the node's storage (``MemoryStorage()`` or ``DirectoryStorage(path)``), then feed it
    images."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.PRODUCE: "produce",
        ApiKey.FETCH: "fetch",
        ApiKey.LIST_OFFSETS: "list_offsets",
        ApiKey.OFFSET_FOR_LEADER_EPOCH: "offset_for_leader_epoch",
        ApiKey.DELETE_RECORDS: "delete_records",
        ApiKey.DESCRIBE_PRODUCERS: "describe_producers",
        ApiKey.DESCRIBE_LOG_DIRS: "describe_log_dirs",
    }

    def __init__(
        self,
        *,
        node_id: int,
        storage: Storage,
        wheel: TimingWheel,
        image: Callable[[], MetadataImage],
        authorizer: Authorizer,
        rng: Randomness,
        log_config: Callable[[TopicImage], LogConfig] = config_of_topic,
        config: ReplicaConfig | None = None,
        verify: TransactionVerifier | None = None,
    ) -> None:
        self.node_id = node_id
        self.storage = storage
        self.image = image
        self.config = config or ReplicaConfig()
        self._authorizer = authorizer
        self._log_config = log_config
        self._partitions: dict[TopicPartition, Partition] = {}
        self._offline: dict[TopicPartition, str] = {}
        self._clean = checkpoints.take_clean_shutdown(storage)
        self._recovery_points = checkpoints.read_offsets(storage, checkpoints.RECOVERY_POINTS)
        self._log_starts = checkpoints.read_offsets(storage, checkpoints.LOG_STARTS)
        self._high_watermarks = checkpoints.read_offsets(storage, checkpoints.HIGH_WATERMARKS)
        self._cleaned = checkpoints.read_offsets(storage, checkpoints.CLEANED)
        self._due_at: dict[str, float] = {}
        self.fetch_purgatory = Purgatory(wheel)
        self.produce_purgatory = Purgatory(wheel)
        sessions = FetchSessionCache(rng, slot_count=self.config.max_incremental_fetch_session_cache_slots)
        self._fetch = FetchHandler(self, sessions, self.fetch_purgatory, bytes_max=self.config.fetch_max_bytes)
        self._produce = ProduceHandler(self, self.produce_purgatory, verify)
        self._queries = LogQueries(self)

    def set_verifier(self, verify: TransactionVerifier) -> None:
        """The transaction coordinator's check, for rooms that are made after this one."""
        self._produce.verify = verify

    # --- following the metadata

    def apply_image(self, image: MetadataImage, *, now: float, wall_ms: int) -> list[LeadershipChange]:
        """Host what the image gives to this node and nothing else; which partitions it leads now and leads no more."""
        changes: list[LeadershipChange] = []
        for key in list(self._partitions):
            topic = image.topics.get(key.topic)
            state = image.partition(*key)
            hosted = self._partitions[key]
            if (
                topic is None
                or state is None
                or topic.topic_id != hosted.topic_id
                or self.node_id not in state.replicas
            ):
                if hosted.leads:
                    changes.append(LeadershipChange(*key, hosted.leader_epoch, False))
                self.delete_partition(key)
        for key in [key for key in self._offline if image.partition(*key) is None]:
            del self._offline[key]
        for topic in image.topics.values():
            config = self._log_config(topic)
            for index, state in enumerate(topic.partitions):
                if self.node_id not in state.replicas:
                    continue
                key = TopicPartition(topic.name, index)
                partition = self._partitions.get(key) or self._try_create(key, topic.topic_id, config, wall_ms)
                if partition is None:
                    continue
                partition.log.config = config
                if state.leader == self.node_id:
                    if partition.become_leader(state.leader_epoch, replicas=state.replicas, isr=state.isr):
                        changes.append(LeadershipChange(*key, state.leader_epoch, True))
                elif partition.stop_leading(state.leader_epoch):
                    changes.append(LeadershipChange(*key, state.leader_epoch, False))
                    self.changed(partition)
        return changes

    def _try_create(
        self, key: TopicPartition, topic_id: uuid.UUID, config: LogConfig, wall_ms: int
    ) -> Partition | None:
        """Open a partition; one that its disk does not let us open is offline, the others go on."""
        try:
            self._offline.pop(key, None)
            return self.create_partition(key, topic_id, config, wall_ms=wall_ms)
        except (KafkaStorageError, OSError) as error:
            _logger.error("%s is offline: %s", key, error)
            self._offline[key] = str(error)
            return None

    def create_partition(
        self, key: TopicPartition, topic_id: uuid.UUID, config: LogConfig, *, wall_ms: int
    ) -> Partition:
        """Open the partition's log, or make it. A directory that an older topic of this name left is removed first."""
        problem = topic_name_problem(key.topic)
        if problem is not None or key.partition < 0:
            raise InvalidTopicException(problem or f"Partition {key.partition} is not possible")
        name = str(key)
        directory = self.storage.directory(name)
        known_id = checkpoints.read_topic_id(directory)
        if known_id is not None and known_id != topic_id:
            _logger.info("removing %s of an older topic", name)
            self.storage.delete_directory(name)
            directory = self.storage.directory(name)
            self._forget(key)
            known_id = None
        log = Log.open(
            directory,
            config,
            wall_ms=wall_ms,
            log_start_offset=self._log_starts.get(key, 0),
            recovery_point=self._recovery_points.get(key, 0),
            clean=self._clean,
        )
        if known_id != topic_id:
            checkpoints.write_topic_id(directory, topic_id)
        log.advance_high_watermark(self._high_watermarks.get(key, 0))
        log.cleaned_offset = min(self._cleaned.get(key, 0), log.log_end_offset)
        partition = Partition(key, topic_id, log, node_id=self.node_id)
        self._partitions[key] = partition
        return partition

    def delete_partition(self, key: TopicPartition) -> None:
        """Forget a partition and remove its files; whoever waits for it is told."""
        partition = self._partitions.pop(key, None)
        if partition is None:
            return
        for segment in partition.log.segments:
            segment.close()
        self.storage.delete_directory(str(key))
        self._forget(key)
        self.produce_purgatory.check_and_complete(key)
        self.fetch_purgatory.check_and_complete(key)

    def _forget(self, key: TopicPartition) -> None:
        for offsets in (self._recovery_points, self._log_starts, self._high_watermarks, self._cleaned):
            offsets.pop(key, None)

    # --- for the handlers

    def partitions(self) -> Iterable[Partition]:
        """All hosted partitions, by name."""
        return (self._partitions[key] for key in sorted(self._partitions))

    def find(self, key: TopicPartition) -> Partition | None:
        """A hosted partition, led or not."""
        return self._partitions.get(key)

    def hosted(self, key: TopicPartition) -> Partition:
        """A hosted partition; raises what a client should be told when it is not here."""
        partition = self._partitions.get(key)
        if partition is not None:
            return partition
        if key in self._offline:
            raise KafkaStorageError(f"{key} is offline: {self._offline[key]}")
        if self.image().partition(*key) is not None:
            raise NotLeaderOrFollower(f"{key} is on other nodes")
        raise UnknownTopicOrPartition(f"There is no {key}")

    def leader_hint(self, context: RequestContext, topic: str | uuid.UUID, index: int) -> LeaderHint | None:
        """Who leads a partition, reachable by the listener that the request came from."""
        image = self.image()
        if isinstance(topic, uuid.UUID):
            topic = image.topic_names.get(topic, "")
        state = image.partition(topic, index)
        if state is None or state.leader == NO_LEADER:
            return None
        broker = image.brokers.get(state.leader)
        endpoint = None if broker is None else broker.endpoints.get(context.listener_name)
        return LeaderHint(state.leader, state.leader_epoch, endpoint, None if broker is None else broker.rack)

    def allows(self, context: RequestContext, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Whether whoever sent the request may do this."""
        return self._authorizer.allows(context.principal, context.peer.host, operation, resource_type, name)

    def changed(self, partition: Partition) -> None:
        """A partition has more data, a new high watermark or another leader: look after those who wait for it."""
        self.produce_purgatory.check_and_complete(partition.key)
        self.fetch_purgatory.check_and_complete(partition.key)

    def on_connection_closed(self, connection_id: int) -> None:
        """Whoever waited on a connection that is gone need not be kept; nobody reads the answer."""
        self.fetch_purgatory.complete_all(("connection", connection_id))
        self.produce_purgatory.complete_all(("connection", connection_id))

    # --- APIs

    def produce(
        self, context: RequestContext, request: ProduceRequest
    ) -> ProduceResponse | Completion[ProduceResponse | None] | None:
        """See produce.py."""
        return self._produce.produce(context, request)

    def fetch(self, context: RequestContext, request: FetchRequest) -> FetchResponse | Completion[FetchResponse]:
        """See fetch.py."""
        return self._fetch.fetch(context, request)

    def list_offsets(self, context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """See log_queries.py."""
        return self._queries.list_offsets(context, request)

    def offset_for_leader_epoch(
        self, context: RequestContext, request: OffsetForLeaderEpochRequest
    ) -> OffsetForLeaderEpochResponse:
        """See log_queries.py."""
        return self._queries.offset_for_leader_epoch(context, request)

    def delete_records(self, context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
        """See log_queries.py."""
        return self._queries.delete_records(context, request)

    def describe_producers(
        self, context: RequestContext, request: DescribeProducersRequest
    ) -> DescribeProducersResponse:
        """See log_queries.py."""
        return self._queries.describe_producers(context, request)

    def describe_log_dirs(self, context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
        """See log_queries.py."""
        return self._queries.describe_log_dirs(context, request)

    # --- the coordinators' log

    def append(
        self,
        topic: str,
        partition: int,
        records: Sequence[CoordinatorRecord],
        *,
        now: float,
        wall_ms: int,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> Completion[int]:
        """Append one batch of a coordinator (transactional when a producer id is given); the next offset, once
        committed."""
        batch = encode_batch(
            [(wall_ms, record.key, record.value, None) for record in records],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            transactional=producer_id >= 0,
        )
        return self._append_internal(TopicPartition(topic, partition), batch, wall_ms, 0)

    def append_marker(
        self,
        topic: str,
        partition: int,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        committed: bool,
        now: float,
        wall_ms: int,
        transaction_version: int = 0,
    ) -> Completion[int]:
        """Append a transaction marker; the next offset, once committed."""
        batch = encode_end_transaction_marker(
            commit=committed,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp=wall_ms,
        )
        return self._append_internal(TopicPartition(topic, partition), batch, wall_ms, transaction_version)

    def _append_internal(
        self, key: TopicPartition, batch: bytes, wall_ms: int, transaction_version: int
    ) -> Completion[int]:
        try:
            partition = self.hosted(key)
            result = partition.append(
                batch,
                wall_ms=wall_ms,
                acks=-1,
                origin=AppendOrigin.COORDINATOR,
                transaction_version=transaction_version,
            )
        except BrokerError as error:
            return Completion.failed(error)
        completion: Completion[int] = Completion()
        next_offset = result.last_offset + 1

        def is_settled() -> bool:
            hosted = self._partitions.get(key)
            return hosted is not partition or not hosted.leads or partition.log.high_watermark >= next_offset

        def finish(expired: bool) -> None:
            if partition.log.high_watermark >= next_offset and self._partitions.get(key) is partition:
                completion.succeed(next_offset)
            else:
                completion.fail(RequestTimedOut() if expired else NotLeaderOrFollower(f"{key} moved"))

        # First those who wait for data: the coordinator's answer may lead to the next append at once.
        self.changed(partition)
        operation = DelayedOperation(
            delay_s=self.config.internal_append_timeout_ms / 1000, ready=is_settled, finish=finish
        )
        self.produce_purgatory.try_complete_else_watch(operation, [key])
        return completion

    def read_all(self, topic: str, partition: int) -> list[LoadedBatch]:
        """Everything in an internal partition, decoded, for replay."""
        log = self.hosted(TopicPartition(topic, partition)).log
        offset, loaded = log.log_start_offset, list[LoadedBatch]()
        while True:
            read = log.read(offset, bytes_max=_READ_ALL_BYTES, isolation=Isolation.LOG_END)
            if not read.records:
                return loaded
            for header, records in decode_all(read.records, topic, partition, from_offset=offset):
                offset = header.next_offset
                commits = None
                if header.is_control:
                    marker = end_marker_of(header, read.records[header.position : header.end])
                    commits = None if marker is None else marker.committed
                kept = [] if header.is_control else [CoordinatorRecord(r.key or b"", r.value) for r in records]
                loaded.append(
                    LoadedBatch(
                        header.base_offset,
                        header.producer_id,
                        header.producer_epoch,
                        header.is_transactional,
                        commits,
                        kept,
                    )
                )

    # --- looking after the logs

    def housekeeping(self, now: float, wall_ms: int) -> None:
        """Retention, compaction, flush.ms, producers' expiry and checkpoints, each as often as its option says. Cheap
        when nothing is due."""
        config = self.config
        if self._is_due("retention", now, config.log_retention_check_interval_ms):
            for partition in list(self.partitions()):
                self._guarded(partition, lambda log: self._retain(log, wall_ms))
            self.checkpoint_log_starts()
        if self._is_due("cleaner", now, config.log_cleaner_backoff_ms):
            for partition in list(self.partitions()):
                if partition.log.config.compact:
                    self._guarded(partition, lambda log: compact(log, wall_ms))
        for partition in self._partitions.values():
            self._guarded(
                partition,
                lambda log: log.housekeeping(wall_ms, producer_expiration_ms=config.producer_id_expiration_ms),
            )
        if self._is_due("checkpoint", now, config.log_flush_offset_checkpoint_interval_ms):
            for partition in self._partitions.values():
                self._guarded(partition, lambda log: log.flush_oldest())
            self.checkpoint()

    def _is_due(self, name: str, now: float, interval_ms: int) -> bool:
        due_at = self._due_at.setdefault(name, now + interval_ms / 1000)
        if now < due_at:
            return False
        self._due_at[name] = now + interval_ms / 1000
        return True

    def _retain(self, log: Log, wall_ms: int) -> None:
        deleted = log.apply_retention(wall_ms)
        if deleted:
            _logger.info(
                "%s: %d segments deleted, the log starts at %d", log.storage.path, deleted, log.log_start_offset
            )

    def _guarded(self, partition: Partition, work: Callable[[Log], object]) -> None:
        """One partition's failing disk must not stop the care for the others."""
        try:
            if partition.log.failure is None:
                work(partition.log)
        except (KafkaStorageError, OSError) as error:
            _logger.error("%s: %s", partition.key, error)

    def checkpoint(self) -> None:
        """Write down how far everything is, so that the next start has less to do."""
        before = dict(self._recovery_points), dict(self._high_watermarks), dict(self._cleaned)
        for key, partition in self._partitions.items():
            self._recovery_points[key] = partition.log.recovery_point
            self._high_watermarks[key] = partition.log.high_watermark
            if partition.log.cleaned_offset:
                self._cleaned[key] = partition.log.cleaned_offset
        if before == (self._recovery_points, self._high_watermarks, self._cleaned):
            return
        try:
            checkpoints.write_offsets(self.storage, checkpoints.RECOVERY_POINTS, self._recovery_points)
            checkpoints.write_offsets(self.storage, checkpoints.HIGH_WATERMARKS, self._high_watermarks)
            checkpoints.write_offsets(self.storage, checkpoints.CLEANED, self._cleaned)
        except OSError as error:
            _logger.error("%s: checkpoints were not written: %s", self.storage.path, error)

    def checkpoint_log_starts(self) -> None:
        """Write down where logs start, when one moved: deleted records must not come back after a restart."""
        starts = {key: offset for key, offset in self._log_starts.items() if key not in self._partitions}
        for key, partition in self._partitions.items():
            if partition.log.log_start_offset > partition.log.segments[0].base_offset:
                starts[key] = partition.log.log_start_offset
        if starts != self._log_starts:
            self._log_starts = starts
            try:
                checkpoints.write_offsets(self.storage, checkpoints.LOG_STARTS, starts)
            except OSError as error:
                _logger.error("%s: log starts were not written: %s", self.storage.path, error)

    def close(self, wall_ms: int) -> None:
        """Answer whoever waits, close all logs, and mark the directory as cleanly closed when all of them were."""
        self.fetch_purgatory.close()
        self.produce_purgatory.close()
        closed = [partition.log.close(wall_ms) for partition in self._partitions.values()]
        self.checkpoint_log_starts()
        self.checkpoint()
        if all(closed):
            checkpoints.mark_clean_shutdown(self.storage)
        for partition in self._partitions.values():
            partition.stop_leading(NO_EPOCH)


__all__ = ["LeaderHint", "LeadershipChange", "ReplicaConfig", "ReplicaManager", "config_of_topic"]
