"""The transaction coordinator: producer ids, the transactions of transactional ids, and their listing.

Owns the requests InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, WriteTxnMarkers, ListTransactions and
DescribeTransactions, and the check that a transactional write belongs to an open transaction (KIP-890). The states are
in transaction_state.py, the log and the time-outs in transaction_shard.py, the markers in transaction_markers.py.
Runs on the broker node's thread; never blocks. Must never answer before what it promises is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pykclient.broker.authorizer import CLUSTER_NAME, Authorizer, Operation, ResourceType
from pykclient.broker.coordinator import CoordinatorRuntime, InternalLog, Result, ShardState, ShardTimers, Timers
from pykclient.broker.image import NO_LEADER, MetadataImage
from pykclient.broker.producer_ids import ProducerIdAllocator
from pykclient.broker.request import RequestContext
from pykclient.broker.transaction_answers import (
    Codes,
    answer,
    answer_all,
    codes_of,
    everywhere,
    for_writer,
    id_pattern,
    known_to_client,
    no_producer,
    partitions_of,
    passes_filters,
    topic_results,
)
from pykclient.broker.transaction_markers import (
    OFFSETS_TOPIC,
    MarkerSender,
    MarkerWriter,
    OffsetsHook,
    TransactionPeers,
    error_code,
    gather,
)
from pykclient.broker.transaction_records import by_topic
from pykclient.broker.transaction_shard import TransactionConfig, TransactionShard
from pykclient.broker.transaction_state import (
    BY_TITLE,
    FIRST_VERSION_WITH_EPOCH_BUMP,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ProducerIdentity,
    Transaction,
)
from pykclient.errors import BrokerError, ErrorCode, InvalidRegularExpression
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from pykclient.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykclient.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from pykclient.protocol.messages.describe_transactions import TransactionState as DescribedTransaction
from pykclient.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykclient.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from pykclient.protocol.messages.list_transactions import TransactionState as ListedTransaction
from pykclient.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykclient.types import TopicPartition

R = TypeVar("R")

TRANSACTION_TOPIC = "__transaction_state"


class TransactionCoordinator:
    """The room. ``elect`` and ``resign`` follow the leadership of ``__transaction_state``'s partitions."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.INIT_PRODUCER_ID: "init_producer_id",
        ApiKey.ADD_PARTITIONS_TO_TXN: "add_partitions_to_txn",
        ApiKey.ADD_OFFSETS_TO_TXN: "add_offsets_to_txn",
        ApiKey.END_TXN: "end_txn",
        ApiKey.WRITE_TXN_MARKERS: "write_txn_markers",
        ApiKey.LIST_TRANSACTIONS: "list_transactions",
        ApiKey.DESCRIBE_TRANSACTIONS: "describe_transactions",
    }

    def __init__(
        self,
        *,
        node_id: int,
        log: InternalLog,
        timers: Timers,
        producer_ids: ProducerIdAllocator,
        image: Callable[[], MetadataImage],
        peers: TransactionPeers,
        authorizer: Authorizer,
        offsets_partition: Callable[[str], int],
        end_offsets: OffsetsHook,
        config: TransactionConfig | None = None,
    ) -> None:
        self.config = config or TransactionConfig()
        self._node_id = node_id
        self._image = image
        self._peers = peers
        self._authorizer = authorizer
        self._offsets_partition = offsets_partition
        self._producer_ids = producer_ids
        self._writer = MarkerWriter(log, end_offsets)
        self._sender = MarkerSender(node_id, image, self._writer, peers)
        self._epochs: dict[int, int] = {}
        self.runtime: CoordinatorRuntime[TransactionShard] = CoordinatorRuntime(
            TRANSACTION_TOPIC, log, timers, self._new_shard
        )

    # Leadership

    def elect(self, partition: int, leader_epoch: int, *, now: float, wall_ms: int) -> None:
        """This node leads the partition of ``__transaction_state`` from this epoch on."""
        self._epochs[partition] = leader_epoch
        self.runtime.elect(partition, leader_epoch, now=now, wall_ms=wall_ms)

    def resign(self, partition: int) -> None:
        """It leads it no longer."""
        self.runtime.resign(partition)

    def partition_for(self, transactional_id: str) -> int:
        """The partition whose leader coordinates this id; the rule is part of the protocol (FindCoordinator)."""
        topic = self._image().topics.get(TRANSACTION_TOPIC)
        count = len(topic.partitions) if topic is not None else self.config.transaction_state_log_num_partitions
        return java_hash(transactional_id) % count

    def _new_shard(self, partition: int, timers: ShardTimers) -> TransactionShard:
        def submit(operation: Callable[[TransactionShard], Result[None]], now: float, wall_ms: int) -> Completion[None]:
            return self.runtime.run(partition, operation, now=now, wall_ms=wall_ms)

        return TransactionShard(
            timers=timers,
            config=self.config,
            producer_ids=self._producer_ids,
            markers=self._sender,
            coordinator_epoch=self._epochs[partition],
            submit=submit,
        )

    def _run(
        self, context: RequestContext, transactional_id: str, operation: Callable[[TransactionShard], Result[R]]
    ) -> Completion[R]:
        return self.runtime.run(
            self.partition_for(transactional_id), operation, now=context.now, wall_ms=context.wall_ms
        )

    # InitProducerId

    def init_producer_id(
        self, context: RequestContext, request: InitProducerIdRequest
    ) -> InitProducerIdResponse | Completion[InitProducerIdResponse]:
        """Versions 0-5. Without a transactional id: just a new producer id."""
        expected = ProducerIdentity(request.producer_id, request.producer_epoch)
        refused = self._refuse_init(context, request, expected)
        if refused is not None:
            return no_producer(refused)
        transactional_id = request.transactional_id
        if transactional_id is None:
            try:
                return InitProducerIdResponse(producer_id=self._producer_ids.next(), producer_epoch=0)
            except BrokerError as error:
                return no_producer(error_code(error))
        initialized = self._run(
            context,
            transactional_id,
            lambda shard: shard.init_producer_id(
                transactional_id,
                request.transaction_timeout_ms,
                expected if expected.producer_id != NO_PRODUCER_ID else None,
                now=context.now,
                wall_ms=context.wall_ms,
            ),
        )
        return answer(
            initialized,
            lambda producer: InitProducerIdResponse(
                producer_id=producer.producer_id, producer_epoch=producer.producer_epoch
            ),
            lambda code: no_producer(known_to_client(code, context, fenced_from=4)),
        )

    def _refuse_init(
        self, context: RequestContext, request: InitProducerIdRequest, expected: ProducerIdentity
    ) -> ErrorCode | None:
        if request.transactional_id is None:
            anything = self._allows(context, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME)
            host = context.peer.host
            if not anything and not self._authorizer.allows_on_any(
                context.principal, host, Operation.WRITE, ResourceType.TOPIC
            ):
                return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        elif not self._may_write(context, request.transactional_id):
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        if (expected.producer_id == NO_PRODUCER_ID) != (expected.producer_epoch == NO_PRODUCER_EPOCH):
            return ErrorCode.INVALID_REQUEST
        if request.transactional_id is None:
            return None
        if not request.transactional_id:
            return ErrorCode.INVALID_REQUEST
        if not 0 < request.transaction_timeout_ms <= self.config.transaction_max_timeout_ms:
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT
        return None

    # AddPartitionsToTxn, AddOffsetsToTxn

    def add_partitions_to_txn(
        self, context: RequestContext, request: AddPartitionsToTxnRequest
    ) -> AddPartitionsToTxnResponse | Completion[AddPartitionsToTxnResponse]:
        """Versions 0-3 come from clients and hold one transaction; 4 and later come from brokers, in batches."""
        if context.api_version < 4:
            one = AddPartitionsToTxnTransaction(
                transactional_id=request.v3_and_below_transactional_id,
                producer_id=request.v3_and_below_producer_id,
                producer_epoch=request.v3_and_below_producer_epoch,
                topics=request.v3_and_below_topics,
            )
            return answer_all(
                self._add_for_client(context, one),
                lambda codes: AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topic_results(codes)),
            )
        if not self._allows(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
            return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        asked = {
            transaction.transactional_id: self._add_for_broker(context, transaction)
            for transaction in request.transactions
        }
        return answer_all(
            gather(asked),
            lambda done: AddPartitionsToTxnResponse(
                results_by_transaction=[
                    AddPartitionsToTxnResult(
                        transactional_id=transactional_id, topic_results=topic_results(codes.result())
                    )
                    for transactional_id, codes in done.items()
                ]
            ),
        )

    def _add_for_client(self, context: RequestContext, transaction: AddPartitionsToTxnTransaction) -> Completion[Codes]:
        partitions = partitions_of(transaction.topics)
        if not self._may_write(context, transaction.transactional_id):
            return everywhere(partitions, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        refused = {
            where: ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for where in partitions
            if not self._allows(context, Operation.WRITE, ResourceType.TOPIC, where.topic)
            or where.topic in (OFFSETS_TOPIC, TRANSACTION_TOPIC)
        }
        return self._add_known(context, transaction, partitions, refused)

    def _add_for_broker(self, context: RequestContext, transaction: AddPartitionsToTxnTransaction) -> Completion[Codes]:
        partitions = partitions_of(transaction.topics)
        if transaction.verify_only:
            producer = ProducerIdentity(transaction.producer_id, transaction.producer_epoch)
            return self._verify_here(context, transaction.transactional_id, producer, partitions)
        return self._add_known(context, transaction, partitions, {})

    def _add_known(
        self,
        context: RequestContext,
        transaction: AddPartitionsToTxnTransaction,
        partitions: list[TopicPartition],
        refused: Codes,
    ) -> Completion[Codes]:
        """All or nothing: one partition that cannot be added keeps the others out too."""
        image = self._image()
        unknown = {
            where: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            for where in partitions
            if where not in refused and image.partition(*where) is None
        }
        if refused or unknown:
            others = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
            return Completion.of(others | unknown | refused)
        version = FIRST_VERSION_WITH_EPOCH_BUMP if context.api_version > 3 else 0
        producer = ProducerIdentity(transaction.producer_id, transaction.producer_epoch)
        fenced_from = 2 if context.api_version < 4 else 0
        return self._add_here(context, transaction.transactional_id, producer, partitions, version, fenced_from)

    def _add_here(
        self,
        context: RequestContext,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: list[TopicPartition],
        client_version: int,
        fenced_from: int,
    ) -> Completion[Codes]:
        if not transactional_id:
            return everywhere(partitions, ErrorCode.INVALID_REQUEST)
        added = self._run(
            context,
            transactional_id,
            lambda shard: shard.add_partitions(
                transactional_id, producer, partitions, client_version=client_version, wall_ms=context.wall_ms
            ),
        )
        return answer(
            added,
            lambda _: dict.fromkeys(partitions, ErrorCode.NONE),
            lambda code: dict.fromkeys(partitions, known_to_client(code, context, fenced_from=fenced_from)),
        )

    def add_offsets_to_txn(
        self, context: RequestContext, request: AddOffsetsToTxnRequest
    ) -> AddOffsetsToTxnResponse | Completion[AddOffsetsToTxnResponse]:
        """Versions 0-4. The group's partition of ``__consumer_offsets`` joins the transaction."""
        if not self._may_write(context, request.transactional_id):
            return AddOffsetsToTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if not self._allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
            return AddOffsetsToTxnResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
        where = TopicPartition(OFFSETS_TOPIC, self._offsets_partition(request.group_id))
        producer = ProducerIdentity(request.producer_id, request.producer_epoch)
        added = self._add_here(context, request.transactional_id, producer, [where], 0, 2)
        return answer_all(added, lambda codes: AddOffsetsToTxnResponse(error_code=codes[where]))

    # The check of transactional writes

    def verify(
        self,
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[Codes]:
        """May this producer write to these partitions now? Asked by the leader of the partitions before it appends.

        ``supports_v2``: the writing request (Produce v12, TxnOffsetCommit v5) adds the partitions by itself.
        """
        asked = list(partitions)
        producer = ProducerIdentity(producer_id, producer_epoch)
        coordinator = self._image().partition(TRANSACTION_TOPIC, self.partition_for(transactional_id))
        if coordinator is None or coordinator.leader == NO_LEADER:
            return everywhere(asked, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if coordinator.leader != self._node_id:
            codes = self._ask_coordinator(coordinator.leader, transactional_id, producer, asked, not supports_v2)
        elif supports_v2:
            codes = self._add_here(context, transactional_id, producer, asked, FIRST_VERSION_WITH_EPOCH_BUMP, 0)
        else:
            codes = self._verify_here(context, transactional_id, producer, asked)
        return answer_all(codes, lambda found: {where: for_writer(code, context) for where, code in found.items()})

    def _verify_here(
        self,
        context: RequestContext,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: list[TopicPartition],
    ) -> Completion[Codes]:
        if not transactional_id:
            return everywhere(partitions, ErrorCode.INVALID_REQUEST)
        verified = self._run(
            context,
            transactional_id,
            lambda shard: shard.verify_partitions(transactional_id, producer, partitions),
        )
        return answer(verified, lambda codes: codes, lambda code: dict.fromkeys(partitions, code))

    def _ask_coordinator(
        self,
        node_id: int,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: list[TopicPartition],
        verify_only: bool,
    ) -> Completion[Codes]:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            verify_only=verify_only,
            topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=numbers)
                for topic, numbers in by_topic(partitions).items()
            ],
        )
        asked = self._peers.add_partitions_to_txn(node_id, AddPartitionsToTxnRequest(transactions=[transaction]))
        # The writer may repeat its request: NETWORK_EXCEPTION says so without naming a cause that it could act on.
        return answer(
            asked,
            lambda response: codes_of(response, partitions),
            lambda _: dict.fromkeys(partitions, ErrorCode.NETWORK_EXCEPTION),
        )

    # EndTxn, WriteTxnMarkers

    def end_txn(self, context: RequestContext, request: EndTxnRequest) -> EndTxnResponse | Completion[EndTxnResponse]:
        """Versions 0-5. Version 5 (TV2) bumps the epoch and tells it."""
        transactional_id = request.transactional_id
        if not self._may_write(context, transactional_id):
            return EndTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if not transactional_id:
            return EndTxnResponse(error_code=ErrorCode.INVALID_REQUEST)
        ended = self._run(
            context,
            transactional_id,
            lambda shard: shard.end(
                transactional_id,
                ProducerIdentity(request.producer_id, request.producer_epoch),
                committed=request.committed,
                client_version=FIRST_VERSION_WITH_EPOCH_BUMP if context.api_version > 4 else 0,
                now=context.now,
                wall_ms=context.wall_ms,
            ),
        )
        return answer(
            ended,
            lambda producer: EndTxnResponse(producer_id=producer.producer_id, producer_epoch=producer.producer_epoch),
            lambda code: EndTxnResponse(error_code=known_to_client(code, context, fenced_from=2)),
        )

    def write_txn_markers(
        self, context: RequestContext, request: WriteTxnMarkersRequest
    ) -> WriteTxnMarkersResponse | Completion[WriteTxnMarkersResponse]:
        """Versions 1-2. From the coordinator of a transaction, or from an administrator who ends a hanging one."""
        if self._allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME) or self._allows(
            context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        ):
            return self._writer.write(request, now=context.now, wall_ms=context.wall_ms)
        return WriteTxnMarkersResponse(
            markers=[
                WritableTxnMarkerResult(
                    producer_id=marker.producer_id,
                    topics=[
                        WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                WritableTxnMarkerPartitionResult(
                                    partition_index=partition, error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                                )
                                for partition in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in request.markers
            ]
        )

    # ListTransactions, DescribeTransactions

    def list_transactions(self, context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
        """Versions 0-2. Every id this node coordinates that passes the filters and that the caller may see."""
        partitions = self.runtime.partitions()
        if any(self.runtime.state(partition) is ShardState.LOADING for partition in partitions):
            return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        try:
            pattern = id_pattern(request.transactional_id_pattern)
        except InvalidRegularExpression:
            return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
        active = [p for p in partitions if self.runtime.state(p) is ShardState.ACTIVE]
        found = [
            transaction
            for partition in active
            for transaction in self.runtime.shard(partition).transactions.values()
            if passes_filters(transaction, request, pattern, context.wall_ms)
            and self._allows(context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transaction.transactional_id)
        ]
        return ListTransactionsResponse(
            unknown_state_filters=[title for title in request.state_filters if title not in BY_TITLE],
            transaction_states=[
                ListedTransaction(
                    transactional_id=transaction.transactional_id,
                    producer_id=transaction.producer_id,
                    transaction_state=transaction.state.title,
                )
                for transaction in found
            ],
        )

    def describe_transactions(
        self, context: RequestContext, request: DescribeTransactionsRequest
    ) -> Completion[DescribeTransactionsResponse]:
        """Version 0."""
        # The same id twice is asked once: the answers are kept by id.
        asked = {
            transactional_id: self._describe(context, transactional_id)
            for transactional_id in request.transactional_ids
        }
        return answer_all(
            gather(asked),
            lambda done: DescribeTransactionsResponse(
                transaction_states=[described.result() for described in done.values()]
            ),
        )

    def _describe(self, context: RequestContext, transactional_id: str) -> Completion[DescribedTransaction]:
        def failed(code: ErrorCode) -> DescribedTransaction:
            return DescribedTransaction(transactional_id=transactional_id, error_code=code)

        if not self._allows(context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id):
            return Completion.of(failed(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        if not transactional_id:
            return Completion.of(failed(ErrorCode.INVALID_REQUEST))

        def described(transaction: Transaction) -> DescribedTransaction:
            topics = {
                topic: partitions
                for topic, partitions in by_topic(transaction.partitions).items()
                if self._allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic)
            }
            return DescribedTransaction(
                transactional_id=transactional_id,
                transaction_state=transaction.state.title,
                transaction_timeout_ms=transaction.timeout_ms,
                transaction_start_time_ms=transaction.start_ms,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                topics=[TopicData(topic=topic, partitions=partitions) for topic, partitions in topics.items()],
            )

        found = self._run(context, transactional_id, lambda shard: shard.describe(transactional_id))
        return answer(found, described, failed)

    # Permission

    def _allows(self, context: RequestContext, operation: Operation, resource: ResourceType, name: str) -> bool:
        return self._authorizer.allows(context.principal, context.peer.host, operation, resource, name)

    def _may_write(self, context: RequestContext, transactional_id: str) -> bool:
        return self._allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)


def java_hash(text: str) -> int:
    """Java's String.hashCode, made positive: which partition coordinates a name is agreed on in these terms."""
    value = 0
    encoded = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(encoded), 2):
        value = (31 * value + (encoded[index] << 8 | encoded[index + 1])) & 0xFFFFFFFF
    signed = value - 2**32 if value >= 2**31 else value
    return 0 if signed == -(2**31) else abs(signed)


def handlers(room: TransactionCoordinator) -> dict[ApiKey, Any]:
    """The room's table with its methods bound."""
    return {key: getattr(room, name) for key, name in room.HANDLERS.items()}
