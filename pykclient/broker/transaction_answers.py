"""How the transaction coordinator's answers look on the wire: error codes per version, results per topic, filters.

Pure functions between ``Transaction`` or error codes and the generated messages; used by transactions.py alone, on the
broker node's thread. Must never decide anything about a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pykclient.broker.request import RequestContext
from pykclient.broker.topic_regex import TopicRegex
from pykclient.broker.transaction_markers import error_code
from pykclient.broker.transaction_records import by_topic
from pykclient.broker.transaction_state import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Transaction
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from pykclient.protocol.messages.init_producer_id import InitProducerIdResponse
from pykclient.protocol.messages.list_transactions import ListTransactionsRequest
from pykclient.types import TopicPartition

T = TypeVar("T")
R = TypeVar("R")
Codes = dict[TopicPartition, ErrorCode]

# The first version of a writing request whose clients know TRANSACTION_ABORTABLE (KIP-890).
_FIRST_VERSION_WITH_ABORTABLE: Mapping[int, int] = {ApiKey.PRODUCE: 11, ApiKey.TXN_OFFSET_COMMIT: 4}


def for_writer(code: ErrorCode, context: RequestContext) -> ErrorCode:
    """What the producer of a transactional write is told; it knows fencing under its older name."""
    knows_abortable = context.api_version >= _FIRST_VERSION_WITH_ABORTABLE.get(context.api_key, 0)
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
        return ErrorCode.INVALID_TXN_STATE
    return code


def known_to_client(code: ErrorCode, context: RequestContext, *, fenced_from: int) -> ErrorCode:
    """Older versions of a request have no PRODUCER_FENCED; their clients understand INVALID_PRODUCER_EPOCH."""
    if code == ErrorCode.PRODUCER_FENCED and context.api_version < fenced_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def no_producer(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)


def answer(pending: Completion[T], succeeded: Callable[[T], R], failed: Callable[[ErrorCode], R]) -> Completion[R]:
    """The response that follows from an operation, well or not."""
    answer: Completion[R] = Completion()

    def done(pending: Completion[T]) -> None:
        answer.succeed(succeeded(pending.result()) if pending.error is None else failed(error_code(pending.error)))

    pending.add_callback(done)
    return answer


def answer_all(pending: Completion[T], succeeded: Callable[[T], R]) -> Completion[R]:
    """The same for completions that never fail because they hold error codes."""
    answer: Completion[R] = Completion()
    pending.add_callback(lambda done: answer.succeed(succeeded(done.result())))
    return answer


def everywhere(partitions: Iterable[TopicPartition], code: ErrorCode) -> Completion[Codes]:
    return Completion.of(dict.fromkeys(partitions, code))


def partitions_of(topics: Iterable[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, partition) for topic in topics for partition in topic.partitions]


def topic_results(codes: Codes) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=partition, partition_error_code=codes[TopicPartition(topic, partition)]
                )
                for partition in partitions
            ],
        )
        for topic, partitions in by_topic(codes).items()
    ]


def codes_of(response: AddPartitionsToTxnResponse, partitions: list[TopicPartition]) -> Codes:
    if response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:  # Between us brokers; no business of the writer.
        return dict.fromkeys(partitions, ErrorCode.INVALID_TXN_STATE)
    if response.error_code:
        return dict.fromkeys(partitions, ErrorCode(response.error_code))
    return {
        TopicPartition(topic.name, result.partition_index): ErrorCode(result.partition_error_code)
        for transaction in response.results_by_transaction
        for topic in transaction.topic_results
        for result in topic.results_by_partition
    }


def id_pattern(text: str | None) -> TopicRegex | None:
    """The pattern of a listing; Kafka matches with RE2 here too, so no pattern can stall the node."""
    return TopicRegex(text) if text else None


def passes_filters(
    transaction: Transaction, request: ListTransactionsRequest, pattern: TopicRegex | None, wall_ms: int
) -> bool:
    if request.producer_id_filters and transaction.producer_id not in request.producer_id_filters:
        return False
    if request.state_filters and transaction.state.title not in request.state_filters:
        return False
    if request.duration_filter >= 0 and wall_ms - transaction.start_ms <= request.duration_filter:
        return False
    return pattern is None or pattern.matches(transaction.transactional_id)
