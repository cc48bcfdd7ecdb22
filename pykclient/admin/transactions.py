"""Transactions seen from outside: list, describe, find those that hang, end them; producers, and fencing them.

Operations on the reactor thread (KIP-664, KIP-588). Aborting writes a marker into the log: it must never be aimed at a
transaction that its coordinator still knows, so hanging ones are found by asking both sides.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pykclient.admin.results import Results
from pykclient.admin.routing import (
    Brokers,
    CoordinatorsOf,
    Leaders,
    Session,
    ask_once,
    by_topic,
    check,
    every_broker,
    fan_out,
    fetch_topics,
    outcome_of,
)
from pykclient.admin.types import (
    FencedProducer,
    HangingTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation
from pykclient.errors import ConcurrentTransactions, KafkaError, TransactionalIdNotFound, UsageError
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from pykclient.protocol.messages.describe_producers import ProducerState as ProducerRow
from pykclient.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykclient.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from pykclient.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

# A fenced producer's successor times out at once: it never begins a transaction.
FENCE_TIMEOUT_MS = 1


def list_transactions(
    session: Session,
    *,
    states: Iterable[str],
    producer_ids: Iterable[int],
    longer_than_ms: int | None,
    pattern: str | None,
) -> Operation[dict[str, TransactionListing]]:
    """The transactional ids of every coordinator, filtered by state, producer, duration and name (RE2) when given."""
    message = ListTransactionsRequest(state_filters=list(states), producer_id_filters=list(producer_ids))
    if longer_than_ms is not None:
        message.duration_filter = longer_than_ms
    if pattern is not None:
        message.transactional_id_pattern = pattern
    version_min = 2 if pattern is not None else 1 if longer_than_ms is not None else 0
    brokers = yield from every_broker(session)

    def build(version: int) -> ListTransactionsRequest:
        return message

    def ask(items: list[int], node_id: int | None) -> Request[ListTransactionsResponse]:
        return Request(api_key=ApiKey.LIST_TRANSACTIONS, build=build, node_id=node_id, version_min=version_min)

    def read(response: ListTransactionsResponse, items: list[int]) -> dict[int, list[TransactionListing]]:
        check(response.error_code, api="ListTransactions")
        if response.unknown_state_filters:
            raise UsageError(f"the broker knows no state {', '.join(response.unknown_state_filters)}")
        return {
            items[0]: [
                TransactionListing(row.transactional_id, row.producer_id, row.transaction_state)
                for row in response.transaction_states
            ]
        }

    route = Brokers(passing=CoordinatorsOf(CoordinatorKind.TRANSACTION).passing)
    results = yield from fan_out(session, brokers, route=route, ask=ask, read=read)
    results.raise_for_errors()
    rows = [row for node_id in results for row in results[node_id]]
    return {row.transactional_id: row for row in sorted(rows, key=lambda row: row.transactional_id)}


def describe_transactions(
    session: Session, transactional_ids: Iterable[str]
) -> Operation[Results[str, TransactionDescription]]:
    """What their coordinators know of them."""

    def ask(names: list[str], node_id: int | None) -> Request[DescribeTransactionsResponse]:
        return Request(DescribeTransactionsRequest(transactional_ids=names), node_id=node_id)

    def read(
        response: DescribeTransactionsResponse, names: list[str]
    ) -> dict[str, TransactionDescription | KafkaError]:
        return {
            row.transactional_id: outcome_of(
                row.error_code, _description(session, row), transactional_id=row.transactional_id
            )
            for row in response.transaction_states
        }

    route = CoordinatorsOf(CoordinatorKind.TRANSACTION)
    return (yield from fan_out(session, transactional_ids, route=route, ask=ask, read=read))


def _description(session: Session, row: TransactionState) -> TransactionDescription:
    started = row.transaction_start_time_ms
    return TransactionDescription(
        row.transactional_id,
        row.transaction_state,
        row.producer_id,
        row.producer_epoch,
        row.transaction_timeout_ms,
        None if started < 0 else started,
        frozenset(TopicPartition(topic.topic, index) for topic in row.topics for index in topic.partitions),
        session.office.coordinators.get((CoordinatorKind.TRANSACTION, row.transactional_id)),
    )


def describe_producers(
    session: Session, partitions: Iterable[TopicPartition]
) -> Operation[Results[TopicPartition, list[ProducerState]]]:
    """Who writes to partitions, as their leaders know it."""

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[DescribeProducersResponse]:
        topics = [TopicRequest(name=topic, partition_indexes=indexes) for topic, indexes in by_topic(items).items()]
        return Request(DescribeProducersRequest(topics=topics), node_id=node_id)

    def read(
        response: DescribeProducersResponse, items: list[TopicPartition]
    ) -> dict[TopicPartition, list[ProducerState] | KafkaError]:
        return {
            TopicPartition(topic.name, row.partition_index): outcome_of(
                row.error_code,
                [_producer(each) for each in row.active_producers],
                row.error_message,
                topic=topic.name,
                partition=row.partition_index,
            )
            for topic in response.topics
            for row in topic.partitions
        }

    wanted = [TopicPartition(*tp) for tp in partitions]
    return (yield from fan_out(session, wanted, route=Leaders(), ask=ask, read=read))


def _producer(row: ProducerRow) -> ProducerState:
    start = row.current_txn_start_offset
    epoch = row.coordinator_epoch
    return ProducerState(
        row.producer_id,
        row.producer_epoch,
        row.last_sequence,
        row.last_timestamp,
        None if epoch < 0 else epoch,
        None if start < 0 else start,
    )


def find_hanging_transactions(
    session: Session, topics: Iterable[str] | None, *, older_than_s: float
) -> Operation[list[HangingTransaction]]:
    """Open transactions in partitions whose coordinator has none there: nothing will ever end them by itself."""
    rows = yield from fetch_topics(session, None if topics is None else list(topics))
    for name, row in rows.items():
        check(row.error_code, topic=name)
    led = {
        TopicPartition(name, p.partition_index): p.leader_id >= 0 for name, row in rows.items() for p in row.partitions
    }
    producers = yield from describe_producers(session, [tp for tp, has_leader in led.items() if has_leader])
    unseen = [*(tp for tp, has_leader in led.items() if not has_leader), *producers.errors]
    if unseen:
        logger.warning("%d partitions could not be searched for hanging transactions, %s first", len(unseen), unseen[0])
    before_ms = session.office.clock.wall_ms() - int(older_than_s * 1000)
    candidates = [
        (tp, state)
        for tp, states in producers.succeeded.items()
        for state in states
        if state.transaction_start_offset is not None and state.last_timestamp <= before_ms
    ]
    if not candidates:
        return []
    ids = sorted({state.producer_id for _, state in candidates})
    listed = yield from list_transactions(session, states=(), producer_ids=ids, longer_than_ms=None, pattern=None)
    by_producer = {row.producer_id: row.transactional_id for row in listed.values()}
    described = yield from describe_transactions(session, sorted(set(by_producer.values())))
    for error in described.errors.values():
        if not isinstance(error, TransactionalIdNotFound):
            raise error
    known = described.succeeded
    return [
        hanging
        for tp, state in candidates
        if (hanging := hanging_in(tp, state, by_producer.get(state.producer_id), known)) is not None
    ]


def hanging_in(
    tp: TopicPartition,
    state: ProducerState,
    transactional_id: str | None,
    described: dict[str, TransactionDescription],
) -> HangingTransaction | None:
    """One open transaction, unless its coordinator counts this partition in a transaction of the same producer."""
    known = described.get(transactional_id) if transactional_id is not None else None
    if known is not None and known.producer_id == state.producer_id and tp in known.partitions:
        return None
    assert state.transaction_start_offset is not None, "only open transactions hang"
    return HangingTransaction(
        tp,
        state.producer_id,
        state.producer_epoch,
        -1 if state.coordinator_epoch is None else state.coordinator_epoch,
        state.transaction_start_offset,
        state.last_timestamp,
        transactional_id,
    )


def abort_transaction(
    session: Session, partition: TopicPartition, producer_id: int, producer_epoch: int, coordinator_epoch: int
) -> Operation[None]:
    """Write an abort marker into one partition, past the coordinator."""
    tp = TopicPartition(*partition)

    def request(node_id: int | None) -> Request[WriteTxnMarkersResponse]:
        marker = WritableTxnMarker(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name=tp.topic, partition_indexes=[tp.partition])],
            coordinator_epoch=max(coordinator_epoch, 0),
        )
        return Request(WriteTxnMarkersRequest(markers=[marker]), node_id=node_id)

    def read(response: WriteTxnMarkersResponse) -> None:
        for marker in response.markers:
            for topic in marker.topics:
                for row in topic.partitions:
                    check(row.error_code, topic=topic.name, partition=row.partition_index)

    yield from ask_once(session, request, read, route=Leaders(of=lambda item: tp))


def fence_producers(session: Session, transactional_ids: Iterable[str]) -> Operation[Results[str, FencedProducer]]:
    """Make every producer with these ids stop, and abort what they have open."""

    def ask(names: list[str], node_id: int | None) -> Request[InitProducerIdResponse]:
        message = InitProducerIdRequest(transactional_id=names[0], transaction_timeout_ms=FENCE_TIMEOUT_MS)
        message.producer_id = -1
        message.producer_epoch = -1
        return Request(message, node_id=node_id)

    def read(response: InitProducerIdResponse, names: list[str]) -> dict[str, FencedProducer | KafkaError]:
        fenced = FencedProducer(response.producer_id, response.producer_epoch)
        return {names[0]: outcome_of(response.error_code, fenced, transactional_id=names[0])}

    route = CoordinatorsOf(CoordinatorKind.TRANSACTION, also=(ConcurrentTransactions,))
    return (yield from fan_out(session, transactional_ids, route=route, ask=ask, read=read, alone=True))
