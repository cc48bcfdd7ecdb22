"""Fetch: consumers and followers read batches, and wait in the purgatory while there are too few bytes.

Owned by the broker node's thread; never blocks. Batches leave as they lie in the log. It must never hand a consumer
anything beyond the high watermark, or beyond the last stable offset when it asked for committed records only, and
never believe that a client is a replica because it says so.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, NamedTuple

from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.fetch_session import FetchContext, FetchSessionCache, FetchWish, PartitionKey
from pykclient.broker.log import Isolation, LogRead
from pykclient.broker.partition import Diverged, Partition, error_code_of
from pykclient.broker.purgatory import DelayedOperation, Purgatory
from pykclient.broker.request import RequestContext
from pykclient.errors import BrokerError, ErrorCode, InconsistentTopicId, NotLeaderOrFollower
from pykclient.net.completion import Completion
from pykclient.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from pykclient.types import TopicPartition

if TYPE_CHECKING:
    from pykclient.broker.replica_manager import ReplicaManager

LEADER_HINTS_FROM_VERSION = 16
REPLICA_STATE_FROM_VERSION = 15
WAIT_S_MAX = 300.0
"""No client waits longer than its request time-out; a hostile one could otherwise leave waiting fetches for weeks."""
_HINTED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})


class _Target(NamedTuple):
    """A wish and the partition that it means here."""

    wish: FetchWish
    where: TopicPartition
    topic_id: uuid.UUID | None


class _Reads(NamedTuple):
    """One pass over the partitions."""

    answers: dict[PartitionKey, PartitionData]
    bytes_read: int
    conclusive: bool
    """Waiting longer would be wrong: a partition failed or its history diverged."""


class FetchHandler:
    """The Fetch API of one broker."""

    def __init__(
        self, replicas: ReplicaManager, sessions: FetchSessionCache, purgatory: Purgatory, *, bytes_max: int
    ) -> None:
        self._replicas = replicas
        self._sessions = sessions
        self._purgatory = purgatory
        self._bytes_max = bytes_max

    def fetch(self, context: RequestContext, request: FetchRequest) -> FetchResponse | Completion[FetchResponse]:
        """Answer at once when there is enough, otherwise when there is or when the time is over."""
        version = context.api_version
        try:
            resolved = self._sessions.resolve(request, version, context.now)
        except BrokerError as error:
            return FetchResponse(error_code=error.code)
        replica_id = request.replica_state.replica_id if version >= REPLICA_STATE_FROM_VERSION else request.replica_id
        refused: dict[PartitionKey, PartitionData] = {}
        targets = []
        for wish in resolved.wishes:
            target = self._target(context, wish, replica_id)
            if isinstance(target, ErrorCode):
                refused[wish.key] = _failed(wish.key[1], target)
                refused[wish.key].aborted_transactions = []
            else:
                targets.append(target)
        isolation = Isolation.READ_COMMITTED if request.isolation_level == 1 else Isolation.READ_UNCOMMITTED
        if replica_id >= 0:
            isolation = Isolation.LOG_END
        bytes_max = min(request.max_bytes, self._bytes_max)

        def read() -> _Reads:
            return self._read(targets, replica_id, isolation, bytes_max)

        def answer(reads: _Reads) -> FetchResponse:
            return self._answer(context, resolved, {**refused, **reads.answers})

        reads = read()
        if request.max_wait_ms <= 0 or not targets or reads.conclusive or reads.bytes_read >= request.min_bytes:
            return answer(reads)
        completion: Completion[FetchResponse] = Completion()
        self._purgatory.try_complete_else_watch(
            DelayedOperation(
                delay_s=min(request.max_wait_ms / 1000, WAIT_S_MAX),
                ready=lambda: self._has_enough(targets, isolation, min(request.min_bytes, bytes_max)),
                finish=lambda expired: completion.succeed(answer(read())),
            ),
            [*(target.where for target in targets), ("connection", context.connection_id)],
        )
        return completion

    def _target(self, context: RequestContext, wish: FetchWish, replica_id: int) -> _Target | ErrorCode:
        topic, index = wish.key
        image = self._replicas.image()
        topic_id = None
        if isinstance(topic, uuid.UUID):
            topic_id = topic
            found = image.topic_by_id(topic)
            if found is None:
                return ErrorCode.UNKNOWN_TOPIC_ID
            topic = found.name
        # A client that calls itself a replica may move the high watermark (CVE-2018-1288): that is a right of its own.
        if replica_id >= 0:
            allowed = self._replicas.allows(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)
        else:
            allowed = self._replicas.allows(context, Operation.READ, ResourceType.TOPIC, topic)
        if not allowed:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if image.partition(topic, index) is None and self._replicas.find(TopicPartition(topic, index)) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _Target(wish, TopicPartition(topic, index), topic_id)

    def _partition(self, target: _Target) -> Partition:
        partition = self._replicas.hosted(target.where)
        if target.topic_id is not None and partition.topic_id != target.topic_id:
            raise InconsistentTopicId(f"{target.where} belongs to topic id {partition.topic_id}")
        return partition

    def _read(self, targets: list[_Target], replica_id: int, isolation: Isolation, bytes_max: int) -> _Reads:
        """Read all partitions in order; the first batch found comes even when it is larger than every limit."""
        answers: dict[PartitionKey, PartitionData] = {}
        bytes_read, conclusive = 0, False
        for target in targets:
            wish = target.wish
            try:
                partition = self._partition(target)
                if replica_id >= 0 and replica_id not in partition.replicas:
                    raise NotLeaderOrFollower(f"Node {replica_id} is no replica of {target.where}")
                found = partition.read(
                    wish.offset,
                    bytes_max=max(0, min(wish.bytes_max, bytes_max - bytes_read)),
                    isolation=isolation,
                    at_least_one=bytes_read == 0,
                    current_leader_epoch=wish.current_leader_epoch,
                    last_fetched_epoch=wish.last_fetched_epoch,
                )
            except BrokerError as error:
                answers[wish.key] = _failed(wish.key[1], error_code_of(error))
                conclusive = True
                continue
            if isinstance(found, Diverged):
                conclusive = True
            data = _data(wish.key[1], found, isolation)
            answers[wish.key] = data
            bytes_read += len(data.records or b"")
        return _Reads(answers, bytes_read, conclusive)

    def _has_enough(self, targets: list[_Target], isolation: Isolation, min_bytes: int) -> bool:
        """Whether a waiting fetch should be answered, judged without reading."""
        available = 0
        for target in targets:
            try:
                partition = self._partition(target)
                partition.check_epoch(target.wish.current_leader_epoch)
                available += partition.log.available_bytes(
                    target.wish.offset, isolation, cap=min(min_bytes, max(1, target.wish.bytes_max))
                )
            except BrokerError:
                return True
            if available >= min_bytes:
                return True
        return False

    def _answer(
        self, context: RequestContext, resolved: FetchContext, answers: dict[PartitionKey, PartitionData]
    ) -> FetchResponse:
        in_order = [(wish.key, answers[wish.key]) for wish in resolved.wishes]
        topics: dict[str | uuid.UUID, FetchableTopicResponse] = {}
        endpoints: dict[int, NodeEndpoint] = {}
        for (topic, index), data in resolved.select(in_order):
            if context.api_version >= LEADER_HINTS_FROM_VERSION and data.error_code in _HINTED:
                self._hint(context, topic, index, data, endpoints)
            entry = topics.get(topic)
            if entry is None:
                by_id = isinstance(topic, uuid.UUID)
                entry = FetchableTopicResponse(topic_id=topic) if by_id else FetchableTopicResponse(topic=str(topic))  # type: ignore[arg-type]
                entry.partitions = []
                topics[topic] = entry
            entry.partitions.append(data)
        return FetchResponse(
            session_id=resolved.session_id, responses=list(topics.values()), node_endpoints=list(endpoints.values())
        )

    def _hint(
        self,
        context: RequestContext,
        topic: str | uuid.UUID,
        index: int,
        data: PartitionData,
        endpoints: dict[int, NodeEndpoint],
    ) -> None:
        """Tell where the leader is (KIP-951), so that the client need not ask for metadata first."""
        hint = self._replicas.leader_hint(context, topic, index)
        if hint is not None:
            data.current_leader = LeaderIdAndEpoch(hint.leader_id, hint.leader_epoch)
            if hint.endpoint is not None:
                endpoints[hint.leader_id] = NodeEndpoint(
                    hint.leader_id, hint.endpoint.host, hint.endpoint.port, hint.rack
                )


def _failed(index: int, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        aborted_transactions=None,
        records=b"",
    )


def _data(index: int, found: LogRead | Diverged, isolation: Isolation) -> PartitionData:
    read = found.read if isinstance(found, Diverged) else found
    aborted = None
    if isolation is Isolation.READ_COMMITTED:
        aborted = [AbortedTransaction(entry.producer_id, entry.first_offset) for entry in read.aborted]
    data = PartitionData(
        partition_index=index,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=aborted,
        records=read.records,
    )
    if isinstance(found, Diverged):
        data.diverging_epoch = EpochEndOffset(found.end.epoch, found.end.start_offset)
    return data


__all__ = ["FetchHandler"]
