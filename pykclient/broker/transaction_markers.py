"""Transaction markers: the control batches that end a transaction in every partition it wrote to.

Two halves. ``MarkerWriter`` serves WriteTxnMarkers on the leader of the partitions; ``MarkerSender`` is the
coordinator's side, which finds the leaders and asks each of them, this node included. Run on the broker node's
thread; never block. A sender makes one attempt and says what is left: retrying is its caller's business.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from pykclient.broker.coordinator import InternalLog
from pykclient.broker.image import NO_LEADER, MetadataImage
from pykclient.broker.transaction_records import by_topic
from pykclient.broker.transaction_state import Transaction, TransactionState
from pykclient.errors import BrokerError, ErrorCode, InvalidProducerEpoch, TransactionCoordinatorFenced
from pykclient.net.completion import Completion
from pykclient.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from pykclient.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

T = TypeVar("T")
K = TypeVar("K")

OFFSETS_TOPIC = "__consumer_offsets"

# The partition will never take this marker, and nothing of the transaction is left to end there.
_NOTHING_TO_END = frozenset({ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION})
# Somebody with a newer epoch has taken over; sending on would be wrong.
_FENCED: Mapping[int, type[BrokerError]] = {
    ErrorCode.INVALID_PRODUCER_EPOCH: InvalidProducerEpoch,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED: TransactionCoordinatorFenced,
}
# The group coordinator's words for "not ready yet", which the transaction coordinator knows under another name.
_NOT_READY = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
)


class TransactionPeers(Protocol):
    """Requests to other brokers of the cluster; implemented by the server. A lost connection fails the completion."""

    def write_txn_markers(self, node_id: int, request: WriteTxnMarkersRequest) -> Completion[WriteTxnMarkersResponse]:
        """Ask the leader of some partitions to append markers."""
        ...

    def add_partitions_to_txn(
        self, node_id: int, request: AddPartitionsToTxnRequest
    ) -> Completion[AddPartitionsToTxnResponse]:
        """Ask the coordinator of a transactional id to add or verify partitions (version 4 and later)."""
        ...


class OffsetsHook(Protocol):
    """What the group coordinator does when a marker stands in its log (``CoordinatorRuntime.end_transaction``)."""

    def __call__(self, partition: int, *, producer_id: int, producer_epoch: int, committed: bool) -> None: ...


def gather(pending: Mapping[K, Completion[T]]) -> Completion[dict[K, Completion[T]]]:
    """Done when all of them are, whether well or not."""
    gathered: Completion[dict[K, Completion[T]]] = Completion()
    waiting = len(pending)

    def one_done(_: Completion[T]) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            gathered.succeed(dict(pending))

    if not pending:
        gathered.succeed({})
    for completion in pending.values():
        completion.add_callback(one_done)
    return gathered


def error_code(error: BaseException | None) -> ErrorCode:
    """The code for a response. What is not a BrokerError is our bug, and is logged with its traceback."""
    if error is None:
        return ErrorCode.NONE
    if isinstance(error, BrokerError):
        return ErrorCode(error.code)
    logger.error("unexpected error in a transaction", exc_info=error)
    return ErrorCode.UNKNOWN_SERVER_ERROR


class MarkerWriter:
    """Appends the markers of a WriteTxnMarkers request to the partitions that this node leads."""

    def __init__(self, log: InternalLog, end_offsets: OffsetsHook) -> None:
        self._log = log
        self._end_offsets = end_offsets

    def write(
        self, request: WriteTxnMarkersRequest, *, now: float, wall_ms: int
    ) -> Completion[WriteTxnMarkersResponse]:
        """Answers when every marker is committed or refused."""
        appends: dict[tuple[int, TopicPartition], Completion[int]] = {}
        for index, marker in enumerate(request.markers):
            for topic in marker.topics:
                for partition in topic.partition_indexes:
                    where = TopicPartition(topic.name, partition)
                    appends[index, where] = self._append(marker, where, now, wall_ms)
        response: Completion[WriteTxnMarkersResponse] = Completion()
        gather(appends).add_callback(lambda done: response.succeed(_response(request, done.result())))
        return response

    def _append(self, marker: WritableTxnMarker, where: TopicPartition, now: float, wall_ms: int) -> Completion[int]:
        try:
            append = self._log.append_marker(
                where.topic,
                where.partition,
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                coordinator_epoch=marker.coordinator_epoch,
                committed=marker.transaction_result,
                now=now,
                wall_ms=wall_ms,
            )
        except BrokerError as error:
            return Completion.failed(error)
        if where.topic == OFFSETS_TOPIC:
            append.add_callback(lambda done: self._offsets_ended(done, marker, where.partition))
        return append

    def _offsets_ended(self, append: Completion[int], marker: WritableTxnMarker, partition: int) -> None:
        if append.error is None:
            self._end_offsets(
                partition,
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                committed=marker.transaction_result,
            )


def _response(
    request: WriteTxnMarkersRequest, appends: Mapping[tuple[int, TopicPartition], Completion[int]]
) -> WriteTxnMarkersResponse:
    results = []
    for index, marker in enumerate(request.markers):
        codes = {where: _marker_code(append) for (which, where), append in appends.items() if which == index}
        topics = [
            WritableTxnMarkerTopicResult(
                name=topic,
                partitions=[
                    WritableTxnMarkerPartitionResult(
                        partition_index=partition, error_code=codes[TopicPartition(topic, partition)]
                    )
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(codes).items()
        ]
        results.append(WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics))
    return WriteTxnMarkersResponse(markers=results)


def _marker_code(append: Completion[int]) -> ErrorCode:
    code = error_code(append.error)
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _NOT_READY else code


class MarkerSender:
    """Sends the markers of a prepared transaction to the leaders of its partitions."""

    def __init__(
        self, node_id: int, image: Callable[[], MetadataImage], writer: MarkerWriter, peers: TransactionPeers
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._writer = writer
        self._peers = peers

    def send(
        self,
        prepared: Transaction,
        partitions: frozenset[TopicPartition],
        *,
        coordinator_epoch: int,
        now: float,
        wall_ms: int,
    ) -> Completion[frozenset[TopicPartition]]:
        """One attempt. Completes with the partitions to try again, or fails when a newer epoch has taken over."""
        leaderless: set[TopicPartition] = set()
        by_leader: defaultdict[int, set[TopicPartition]] = defaultdict(set)
        image = self._image()
        for where in partitions:
            found = image.partition(where.topic, where.partition)
            if found is None:  # Deleted with its topic: there is nobody left to read what this marker would end.
                continue
            if found.leader == NO_LEADER:
                leaderless.add(where)
            else:
                by_leader[found.leader].add(where)
        asked = {
            node_id: self._ask(node_id, _request(prepared, theirs, coordinator_epoch), now, wall_ms)
            for node_id, theirs in by_leader.items()
        }
        left: Completion[frozenset[TopicPartition]] = Completion()

        def answered(done: Completion[dict[int, Completion[WriteTxnMarkersResponse]]]) -> None:
            again = set(leaderless)
            for node_id, answer in done.result().items():
                if answer.error is not None:
                    logger.info("broker %d did not take transaction markers: %s", node_id, answer.error)
                    again |= by_leader[node_id]
                    continue
                for where, code in _codes(answer.result()).items():
                    if code in _FENCED:
                        left.fail(_FENCED[code](transactional_id=prepared.transactional_id, topic=where.topic))
                        return
                    if code != ErrorCode.NONE and code not in _NOTHING_TO_END:
                        again.add(where)
            left.succeed(frozenset(again))

        gather(asked).add_callback(answered)
        return left

    def _ask(
        self, node_id: int, request: WriteTxnMarkersRequest, now: float, wall_ms: int
    ) -> Completion[WriteTxnMarkersResponse]:
        if node_id == self._node_id:
            return self._writer.write(request, now=now, wall_ms=wall_ms)
        return self._peers.write_txn_markers(node_id, request)


def _request(prepared: Transaction, partitions: set[TopicPartition], coordinator_epoch: int) -> WriteTxnMarkersRequest:
    marker = WritableTxnMarker(
        producer_id=prepared.producer_id,
        producer_epoch=prepared.producer_epoch,
        transaction_result=prepared.state is TransactionState.PREPARE_COMMIT,
        topics=[
            WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ],
        coordinator_epoch=coordinator_epoch,
        transaction_version=prepared.client_version,
    )
    return WriteTxnMarkersRequest(markers=[marker])


def _codes(response: WriteTxnMarkersResponse) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, partition.partition_index): partition.error_code
        for marker in response.markers
        for topic in marker.topics
        for partition in topic.partitions
    }
