"""Produce: one batch per partition, checked, appended, and acknowledged as the producer asked.

Owned by the broker node's thread; never blocks. acks=0 gets no answer, acks=1 an answer after the leader's write,
acks=all one when every in-sync replica has it. It must never append a transactional batch on the word of the request
alone: the batch's own attributes decide what rights and which checks it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pykclient.broker.authorizer import Operation, ResourceType
from pykclient.broker.log import AppendResult
from pykclient.broker.log_validation import RejectedRecords, RejectedTimestamps, read_single_batch
from pykclient.broker.partition import Partition, error_code_of
from pykclient.broker.producer_state import AppendOrigin
from pykclient.broker.purgatory import DelayedOperation, Purgatory
from pykclient.broker.request import RequestContext
from pykclient.errors import (
    BrokerError,
    CorruptMessage,
    ErrorCode,
    InvalidRequiredAcks,
    InvalidTopicException,
    KafkaStorageError,
    MessageTooLarge,
    NotLeaderOrFollower,
    ProtocolError,
    RecordListTooLarge,
    RequestTimedOut,
    TopicAuthorizationFailed,
    TransactionalIdAuthorizationFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
    UnsupportedCompressionType,
    error_for_code,
)
from pykclient.net.completion import Completion
from pykclient.protocol.batch_header import BatchHeader
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from pykclient.types import TopicPartition

if TYPE_CHECKING:
    from pykclient.broker.replica_manager import ReplicaManager

ADMIN_CLIENT_ID = "__admin_client"
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
WAIT_S_MAX = 300.0
ZSTD_FROM_VERSION = 7
LEADER_HINTS_FROM_VERSION = 10
TRANSACTIONS_V2_FROM_VERSION = 12
TOPIC_IDS_FROM_VERSION = 13
# Every other refusal of the log comes with its start: so an idempotent producer can tell a loss from records that
# retention has deleted.
_SAYS_NOTHING_OF_THE_LOG = (
    UnknownTopicOrPartition,
    NotLeaderOrFollower,
    MessageTooLarge,
    RecordListTooLarge,
    CorruptMessage,
    KafkaStorageError,
)


class TransactionVerifier(Protocol):
    """Asks the transaction coordinator whether a producer may write to partitions now."""

    def __call__(
        self,
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[dict[TopicPartition, ErrorCode]]: ...


@dataclass(slots=True)
class _Write:
    """One partition of a request on its way."""

    where: TopicPartition
    records: Buffer | None
    response: PartitionProduceResponse
    header: BatchHeader | None = None
    error: BrokerError | None = None
    result: AppendResult | None = None


class ProduceHandler:
    """The Produce API of one broker."""

    def __init__(self, replicas: ReplicaManager, purgatory: Purgatory, verify: TransactionVerifier | None) -> None:
        self._replicas = replicas
        self._purgatory = purgatory
        self.verify = verify

    def produce(
        self, context: RequestContext, request: ProduceRequest
    ) -> ProduceResponse | Completion[ProduceResponse | None] | None:
        """Append everything that may be appended; answer as ``acks`` says."""
        topics: list[TopicProduceResponse] = []
        writes: list[_Write] = []
        for topic in request.topic_data:
            response, of_topic = self._open_topic(context, topic)
            topics.append(response)
            writes += of_topic
        self._check_request(context, request, writes)
        completion: Completion[ProduceResponse | None] = Completion()

        def proceed() -> None:
            self._append_all(context, request, writes)
            self._acknowledge(context, request, topics, writes, completion)

        self._verify_transactions(context, request, writes, proceed)
        if not completion.done:
            return completion
        refused = next((write.error for write in writes if write.error is not None), None)
        if request.acks == 0 and refused is not None:
            # There is no answer to put an error into: closing the connection makes the producer look for the leader.
            raise ProtocolError(f"a batch sent with acks=0 was refused: {refused}")
        return completion.result()

    def _open_topic(
        self, context: RequestContext, topic: TopicProduceData
    ) -> tuple[TopicProduceResponse, list[_Write]]:
        """The answer's place for a topic, and its writes; what is wrong with the topic itself is noted on each of
        them."""
        name = topic.name
        error: BrokerError | None = None
        if context.api_version >= TOPIC_IDS_FROM_VERSION:
            found = self._replicas.image().topic_by_id(topic.topic_id)
            if found is None:
                error = UnknownTopicId()
            else:
                name = found.name
        response = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        response.partition_responses = []
        if error is None:
            error = self._refuse_topic(context, name)
        writes = []
        for data in topic.partition_data:
            answer = PartitionProduceResponse(index=data.index, base_offset=-1)
            response.partition_responses.append(answer)
            writes.append(_Write(TopicPartition(name, data.index), data.records, answer, error=error))
        return response, writes

    def _refuse_topic(self, context: RequestContext, name: str) -> BrokerError | None:
        if not self._replicas.allows(context, Operation.WRITE, ResourceType.TOPIC, name):
            return TopicAuthorizationFailed()
        if name in INTERNAL_TOPICS and context.client_id != ADMIN_CLIENT_ID:
            return InvalidTopicException(f"Cannot append to internal topic {name}")
        return None

    def _check_request(self, context: RequestContext, request: ProduceRequest, writes: list[_Write]) -> None:
        """Read the batch headers and refuse what no partition would take."""
        transactional_allowed: bool | None = None
        for write in writes:
            if write.error is not None:
                continue
            try:
                if request.acks not in (-1, 0, 1):
                    raise InvalidRequiredAcks()
                header, _ = read_single_batch(write.records)
                if context.api_version < ZSTD_FROM_VERSION and header.attributes & 7 == CompressionType.ZSTD:
                    raise UnsupportedCompressionType("Produce below version 7 cannot carry zstd")
                if header.is_transactional:
                    # Only the batch says whether it is transactional; a request without an id must not slip through
                    # (CVE-2018-17196).
                    if transactional_allowed is None:
                        name = request.transactional_id
                        transactional_allowed = name is not None and self._replicas.allows(
                            context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, name
                        )
                    if not transactional_allowed:
                        raise TransactionalIdAuthorizationFailed()
                write.header = header
            except BrokerError as error:
                write.error = error

    def _verify_transactions(
        self, context: RequestContext, request: ProduceRequest, writes: list[_Write], proceed: Callable[[], None]
    ) -> None:
        """Ask the coordinator about the transactional batches that begin something here, then go on."""
        doubtful: dict[tuple[int, int], list[_Write]] = {}
        if self.verify is not None and request.transactional_id is not None:
            for write in writes:
                if write.error is None and write.header is not None and self._needs_verification(write):
                    identity = write.header.producer_id, write.header.producer_epoch
                    doubtful.setdefault(identity, []).append(write)
        waiting = len(doubtful)
        if self.verify is None or request.transactional_id is None or not waiting:
            proceed()
            return

        def verified(done: Completion[dict[TopicPartition, ErrorCode]], asked: list[_Write]) -> None:
            nonlocal waiting
            codes = {} if done.error is not None else done.result()
            for write in asked:
                code = codes.get(write.where, ErrorCode.NONE)
                if isinstance(done.error, BrokerError):
                    write.error = done.error
                elif done.error is not None:
                    write.error = error_for_code(ErrorCode.UNKNOWN_SERVER_ERROR)(str(done.error))
                elif code != ErrorCode.NONE:
                    write.error = error_for_code(code)()
            waiting -= 1
            if waiting == 0:
                proceed()

        supports_v2 = context.api_version >= TRANSACTIONS_V2_FROM_VERSION
        for (producer_id, epoch), asked in list(doubtful.items()):
            self.verify(
                context,
                request.transactional_id,
                producer_id,
                epoch,
                [write.where for write in asked],
                supports_v2=supports_v2,
            ).add_callback(lambda done, asked=asked: verified(done, asked))  # type: ignore[misc]

    def _needs_verification(self, write: _Write) -> bool:
        """A transaction that is already open here was verified when it began; a repeated batch was, too."""
        header = write.header
        assert header is not None
        partition = self._replicas.find(write.where)
        if not header.is_transactional or partition is None:
            return False
        entry = partition.log.producers.entries.get(header.producer_id)
        if entry is None or entry.epoch != header.producer_epoch:
            return True
        if entry.transaction_first_offset is not None:
            return False
        known = {(batch.first_sequence, batch.last_sequence) for batch in entry.batches}
        return (header.base_sequence, header.last_sequence) not in known

    def _append_all(self, context: RequestContext, request: ProduceRequest, writes: list[_Write]) -> None:
        version = 2 if context.api_version >= TRANSACTIONS_V2_FROM_VERSION else 0
        appended: list[Partition] = []
        for write in writes:
            if write.error is not None:
                continue
            try:
                partition = self._replicas.hosted(write.where)
                write.result = partition.append(
                    write.records,
                    wall_ms=context.wall_ms,
                    acks=request.acks,
                    origin=AppendOrigin.CLIENT,
                    transaction_version=version,
                )
                appended.append(partition)
            except BrokerError as error:
                write.error = error
                refusing = self._replicas.find(write.where)
                if refusing is not None and not isinstance(error, _SAYS_NOTHING_OF_THE_LOG):
                    write.response.log_start_offset = refusing.log.log_start_offset
        # Only now: a waiting fetch of several partitions should find all of them.
        for partition in appended:
            self._replicas.changed(partition)

    def _acknowledge(
        self,
        context: RequestContext,
        request: ProduceRequest,
        topics: list[TopicProduceResponse],
        writes: list[_Write],
        completion: Completion[ProduceResponse | None],
    ) -> None:
        if request.acks == 0:
            completion.succeed(None)
            return

        def finish(expired: bool) -> None:
            for write in writes:
                if request.acks == -1 and not self._is_replicated(write):
                    write.error = RequestTimedOut()
            completion.succeed(self._response(context, topics, writes))

        if request.acks == 1:
            finish(False)
            return
        operation = DelayedOperation(
            delay_s=min(max(0, request.timeout_ms) / 1000, WAIT_S_MAX),
            ready=lambda: all(self._is_replicated(write) for write in writes),
            finish=finish,
        )
        keys = [write.where for write in writes if write.error is None]
        self._purgatory.try_complete_else_watch(operation, [*keys, ("connection", context.connection_id)])

    def _is_replicated(self, write: _Write) -> bool:
        if write.error is not None or write.result is None:
            return True
        try:
            partition = self._replicas.hosted(write.where)
            partition.check_epoch(-1)
        except BrokerError as error:
            write.error = error
            return True
        return partition.log.high_watermark > write.result.last_offset

    def _response(
        self, context: RequestContext, topics: list[TopicProduceResponse], writes: list[_Write]
    ) -> ProduceResponse:
        endpoints: dict[int, NodeEndpoint] = {}
        for write in writes:
            self._fill(context, write, endpoints)
        return ProduceResponse(responses=topics, node_endpoints=list(endpoints.values()))

    def _fill(self, context: RequestContext, write: _Write, endpoints: dict[int, NodeEndpoint]) -> None:
        """Put the outcome of one write into its place in the answer."""
        answer, error = write.response, write.error
        if error is None:
            assert write.result is not None
            answer.base_offset = write.result.base_offset
            answer.log_append_time_ms = write.result.log_append_time_ms
            answer.log_start_offset = write.result.log_start_offset
            return
        answer.error_code = error_code_of(error)
        answer.error_message = error.message
        if isinstance(error, (RejectedRecords, RejectedTimestamps)):
            answer.record_errors = [BatchIndexAndErrorMessage(*record_error) for record_error in error.record_errors]
        if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and context.api_version >= LEADER_HINTS_FROM_VERSION:
            hint = self._replicas.leader_hint(context, write.where.topic, write.where.partition)
            if hint is not None:
                answer.current_leader = LeaderIdAndEpoch(hint.leader_id, hint.leader_epoch)
                if hint.endpoint is not None:
                    endpoints[hint.leader_id] = NodeEndpoint(
                        hint.leader_id, hint.endpoint.host, hint.endpoint.port, hint.rack
                    )


__all__ = ["ProduceHandler", "TransactionVerifier"]
