"""The transaction coordinator: state table, requests, time-outs, failover, and a random comparison with a model."""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pykclient.broker import transaction_state as machine
from pykclient.broker.authorizer import Authorizer
from pykclient.broker.coordinator import CoordinatorRecord, LoadedBatch
from pykclient.broker.image import MetadataImage, PartitionImage, TopicImage
from pykclient.broker.producer_ids import ProducerIdAllocator
from pykclient.broker.request import ANONYMOUS, RequestContext
from pykclient.broker.transaction_markers import OFFSETS_TOPIC
from pykclient.broker.transaction_records import decode, decode_key, encode
from pykclient.broker.transaction_shard import RETRY_S, TransactionConfig
from pykclient.broker.transaction_state import (
    LEGAL,
    PRODUCER_EPOCH_MAX,
    ProducerIdentity,
    Transaction,
    TransactionState,
)
from pykclient.broker.transactions import TRANSACTION_TOPIC, TransactionCoordinator, java_hash
from pykclient.errors import (
    BrokerError,
    CoordinatorLoadInProgress,
    ErrorCode,
    NotEnoughReplicas,
    NotLeaderOrFollower,
)
from pykclient.net.completion import Completion
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from pykclient.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykclient.protocol.messages.describe_transactions import DescribeTransactionsRequest
from pykclient.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykclient.protocol.messages.list_transactions import ListTransactionsRequest
from pykclient.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykclient.types import TopicPartition

S = TransactionState
WALL_MS = 1_700_000_000_000
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


# A node around the coordinator: a log, timers, metadata


class FakeTimers:
    """Timers that fire when the test says what time it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: dict[object, tuple[float, int, Callable[[float], None]]] = {}
        self._order = itertools.count()

    def schedule(self, key: object, delay_s: float, action: Callable[[float], None]) -> None:
        self.due[key] = (self.now + delay_s, next(self._order), action)

    def cancel(self, key: object) -> None:
        self.due.pop(key, None)

    def advance(self, seconds: float) -> None:
        until = self.now + seconds
        while ready := sorted((at, order, key) for key, (at, order, _) in self.due.items() if at <= until):
            at, _, key = ready[0]
            self.now = max(self.now, at)
            _, _, action = self.due.pop(key)
            action(self.now)
        self.now = until


@dataclass
class Marker:
    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    committed: bool


@dataclass
class FakeLog:
    """An InternalLog in lists. ``hold`` keeps appends uncommitted; ``refusals`` are raised by the next markers."""

    batches: dict[TopicPartition, list[LoadedBatch]] = field(default_factory=dict)
    markers: list[Marker] = field(default_factory=list)
    hold: bool = False
    held: list[Completion[int]] = field(default_factory=list)
    refusals: list[BrokerError] = field(default_factory=list)

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
        log = self.batches.setdefault(TopicPartition(topic, partition), [])
        log.append(LoadedBatch(len(log), producer_id, producer_epoch, False, None, list(records)))
        if not self.hold:
            return Completion.of(len(log))
        self.held.append(Completion())
        return self.held[-1]

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
    ) -> Completion[int]:
        if self.refusals:
            raise self.refusals.pop(0)
        self.markers.append(Marker(TopicPartition(topic, partition), producer_id, producer_epoch, committed))
        return Completion.of(0)

    def read_all(self, topic: str, partition: int) -> Sequence[LoadedBatch]:
        return list(self.batches.get(TopicPartition(topic, partition), []))

    def commit_held(self) -> None:
        self.hold, held, self.held = False, self.held, []
        for completion in held:
            completion.succeed(0)


class FakePeers:
    """Other brokers: requests are kept, and answered by the test."""

    def __init__(self) -> None:
        self.markers: list[tuple[int, WriteTxnMarkersRequest, Completion[WriteTxnMarkersResponse]]] = []
        self.added: list[tuple[int, AddPartitionsToTxnRequest, Completion[AddPartitionsToTxnResponse]]] = []

    def write_txn_markers(self, node_id: int, request: WriteTxnMarkersRequest) -> Completion[WriteTxnMarkersResponse]:
        completion: Completion[WriteTxnMarkersResponse] = Completion()
        self.markers.append((node_id, request, completion))
        return completion

    def add_partitions_to_txn(
        self, node_id: int, request: AddPartitionsToTxnRequest
    ) -> Completion[AddPartitionsToTxnResponse]:
        completion: Completion[AddPartitionsToTxnResponse] = Completion()
        self.added.append((node_id, request, completion))
        return completion


def topic(name: str, *leaders: int) -> TopicImage:
    partitions = tuple(PartitionImage(leader, 0, (leader,), (leader,)) for leader in leaders)
    return TopicImage(name, uuid.uuid5(uuid.NAMESPACE_OID, name), partitions)


class Node:
    """One broker with a coordinator of all four partitions of ``__transaction_state``."""

    def __init__(self, config: TransactionConfig | None = None, leaders: tuple[int, ...] = (1, 1)) -> None:
        self.log = FakeLog()
        self.timers = FakeTimers()
        self.peers = FakePeers()
        self.blocks = (range(first, first + 10) for first in itertools.count(1000, 10))
        self.ended_offsets: list[tuple[int, int, bool]] = []
        topics = [topic("orders", *leaders), topic(TRANSACTION_TOPIC, 1, 1, 1, 1), topic(OFFSETS_TOPIC, 1, 1)]
        self.image = MetadataImage("cluster", topics={t.name: t for t in topics})
        self.config = config or TransactionConfig()
        self.epoch = 0
        self.coordinator = self._start()

    def _start(self) -> TransactionCoordinator:
        coordinator = TransactionCoordinator(
            node_id=1,
            log=self.log,
            timers=self.timers,
            producer_ids=ProducerIdAllocator(lambda: Completion.of(next(self.blocks))),
            image=lambda: self.image,
            peers=self.peers,
            authorizer=Authorizer(),
            offsets_partition=lambda group_id: java_hash(group_id) % 2,
            end_offsets=self._end_offsets,
            config=self.config,
        )
        for partition in range(4):
            coordinator.elect(partition, self.epoch, now=self.timers.now, wall_ms=self.wall_ms)
        return coordinator

    def _end_offsets(self, partition: int, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        self.ended_offsets.append((partition, producer_id, committed))

    def fail_over(self) -> None:
        """The same log, a coordinator that knows nothing but the log."""
        self.coordinator.runtime.resign_all()
        self.epoch += 1
        self.coordinator = self._start()

    @property
    def wall_ms(self) -> int:
        return WALL_MS + int(self.timers.now * 1000)

    def context(self, api_key: ApiKey, version: int) -> RequestContext:
        return RequestContext(
            api_key, version, None, ANONYMOUS, Endpoint("127.0.0.1", 1), "PLAINTEXT", 1, self.timers.now, self.wall_ms
        )

    def ask(self, api_key: ApiKey, version: int, request: Any) -> Any:
        """Through the wire bytes of that version, as a client would: a field that is not in it cannot help."""
        handler = getattr(self.coordinator, self.coordinator.HANDLERS[api_key])
        answer = handler(self.context(api_key, version), type(request).read(request.write(version), version))
        if isinstance(answer, Completion):
            assert answer.done, "no answer yet"
            answer = answer.result()
        return type(answer).read(answer.write(version), version)

    def start_asking(self, api_key: ApiKey, version: int, request: Any) -> Completion[Any]:
        handler = getattr(self.coordinator, self.coordinator.HANDLERS[api_key])
        answer = handler(self.context(api_key, version), request)
        assert isinstance(answer, Completion)
        return answer

    def init(
        self, transactional_id: str | None = "t", *, expected: ProducerIdentity | None = None, timeout_ms: int = 60_000
    ) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        if expected is not None:
            request.producer_id, request.producer_epoch = expected
        response = self.ask(ApiKey.INIT_PRODUCER_ID, 5, request)
        assert isinstance(response, InitProducerIdResponse)
        return response

    def producer(self, transactional_id: str = "t", *, timeout_ms: int = 60_000) -> ProducerIdentity:
        response = self.init(transactional_id, timeout_ms=timeout_ms)
        assert response.error_code == ErrorCode.NONE
        return ProducerIdentity(response.producer_id, response.producer_epoch)

    def add(
        self, producer: ProducerIdentity, *partitions: TopicPartition, transactional_id: str = "t", version: int = 3
    ) -> set[int]:
        topics = [AddPartitionsToTxnTopic(name=p.topic, partitions=[p.partition]) for p in partitions]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=topics,
        )
        response = self.ask(ApiKey.ADD_PARTITIONS_TO_TXN, version, request)
        return {
            result.partition_error_code
            for each in response.results_by_topic_v3_and_below
            for result in each.results_by_partition
        }

    def write(
        self, producer: ProducerIdentity, *partitions: TopicPartition, transactional_id: str = "t", version: int = 12
    ) -> set[int]:
        """What a leader asks before it appends a transactional batch of this Produce version."""
        codes = self.coordinator.verify(
            self.context(ApiKey.PRODUCE, version), transactional_id, *producer, partitions, supports_v2=version >= 12
        )
        return set(codes.result().values())

    def end(
        self, producer: ProducerIdentity, committed: bool, *, transactional_id: str = "t", version: int = 5
    ) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=committed,
        )
        response = self.ask(ApiKey.END_TXN, version, request)
        assert isinstance(response, EndTxnResponse)
        return response

    def state(self, transactional_id: str = "t") -> Transaction:
        shard = self.coordinator.runtime.shard(self.coordinator.partition_for(transactional_id))
        return shard.transactions[transactional_id]

    def put(self, transaction: Transaction) -> None:
        """A state that would take 32,767 requests to reach."""
        shard = self.coordinator.runtime.shard(self.coordinator.partition_for(transaction.transactional_id))
        shard.transactions[transaction.transactional_id] = transaction


@pytest.fixture
def node() -> Node:
    return Node()


# The table


def test_the_state_table_is_kafkas() -> None:
    predecessors = {
        S.EMPTY: {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
        S.ONGOING: {S.ONGOING, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
        S.PREPARE_COMMIT: {S.ONGOING},
        S.PREPARE_ABORT: {S.ONGOING, S.PREPARE_EPOCH_FENCE, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
        S.COMPLETE_COMMIT: {S.PREPARE_COMMIT},
        S.COMPLETE_ABORT: {S.PREPARE_ABORT},
        S.DEAD: {S.EMPTY, S.COMPLETE_ABORT, S.COMPLETE_COMMIT},
        S.PREPARE_EPOCH_FENCE: {S.ONGOING},
    }
    assert {(a, b) for a, after in LEGAL.items() for b in after} == {
        (before, state) for state, befores in predecessors.items() for before in befores
    }


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_a_step_outside_the_table_is_refused(before: S, after: S) -> None:
    transaction = Transaction("t", 7, 1000, state=before)
    if after in LEGAL[before]:
        assert transaction.to(after).state is after
    else:
        with pytest.raises(AssertionError):
            transaction.to(after)


PF, ITS, CT = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_TXN_STATE, ErrorCode.CONCURRENT_TRANSACTIONS
BUMP, DONE = "ended, with a new epoch", "done already"

# Per state: (abort repeated, abort now, commit repeated, commit now); "repeated" carries the epoch from before a bump.
END_V2 = {
    S.EMPTY: (PF, BUMP, PF, ITS),
    S.ONGOING: (PF, BUMP, PF, BUMP),
    S.PREPARE_COMMIT: (ITS, PF, CT, PF),
    S.PREPARE_ABORT: (CT, PF, ITS, PF),
    S.COMPLETE_COMMIT: (ITS, BUMP, DONE, ITS),
    S.COMPLETE_ABORT: (DONE, BUMP, ITS, ITS),
}
END_V1 = {
    S.EMPTY: (PF, ITS, PF, ITS),
    S.ONGOING: (PF, BUMP, PF, BUMP),
    S.PREPARE_COMMIT: (PF, ITS, PF, CT),
    S.PREPARE_ABORT: (PF, CT, PF, ITS),
    S.COMPLETE_COMMIT: (PF, ITS, PF, DONE),
    S.COMPLETE_ABORT: (PF, DONE, PF, ITS),
}


def end_cases() -> Iterator[tuple[int, S, bool, int, object]]:
    for version, table in ((0, END_V1), (2, END_V2)):
        for state, outcomes in table.items():
            for (committed, epoch), expected in zip(
                ((False, 4), (False, 5), (True, 4), (True, 5)), outcomes, strict=True
            ):
                yield version, state, committed, epoch, expected


@pytest.mark.parametrize(("version", "state", "committed", "epoch", "expected"), list(end_cases()))
def test_end_of_a_transaction_by_state_and_epoch(
    version: int, state: S, committed: bool, epoch: int, expected: object
) -> None:
    current = Transaction("t", 7, 1000, producer_epoch=5, state=state, start_ms=1)
    arguments: dict[str, Any] = {"client_version": version, "new_producer_id": lambda: 8, "wall_ms": 2}
    if isinstance(expected, ErrorCode):
        with pytest.raises(BrokerError) as refused:
            machine.end(current, ProducerIdentity(7, epoch), committed=committed, **arguments)
        assert refused.value.code == expected
        return
    after = machine.end(current, ProducerIdentity(7, epoch), committed=committed, **arguments)
    if expected is DONE:
        assert after is None
        return
    assert after is not None
    assert after.state is (S.PREPARE_COMMIT if committed else S.PREPARE_ABORT)
    assert after.producer_epoch == (6 if version == 2 else 5)


@pytest.mark.parametrize("server_version", [0, 1, 2])
@pytest.mark.parametrize("state", list(S))
def test_log_record_round_trip(state: S, server_version: int) -> None:
    partitions = frozenset() if state is S.EMPTY else frozenset({P0, P1, TopicPartition("é", 3)})
    transaction = Transaction(
        "an id", 7, 1000, 5, 6 if server_version else -1, 8 if server_version else -1, -1, state, partitions, 10, 20
    )
    record = encode(transaction, server_version=server_version)
    assert decode_key(record.key) == "an id"
    assert record.value is not None
    assert decode("an id", record.value) == transaction


def test_records_of_a_later_kafka_are_left_alone() -> None:
    assert decode_key(b"\x00\x09later") is None
    assert decode("t", b"\x00\x09later") is None


def test_coordinator_partition_is_javas() -> None:
    assert [java_hash(text) for text in ("", "a", "my-transactional-id", "polygenelubricants", "😀")] == [
        0,
        97,
        java_by_hand("my-transactional-id"),
        0,  # The one whose hash code is the smallest int, which has no positive twin.
        1772899,
    ]


def java_by_hand(text: str) -> int:
    value = 0
    for character in text:
        value = (value * 31 + ord(character) + 2**31) % 2**32 - 2**31
    return abs(value)


# Producer ids


def test_idempotent_producers_get_ids_of_their_own(node: Node) -> None:
    answers = [node.init(None) for _ in range(25)]
    assert {answer.producer_epoch for answer in answers} == {0}
    assert len({answer.producer_id for answer in answers}) == 25


def test_a_restart_never_gives_an_id_again(node: Node) -> None:
    before = {node.init(None).producer_id for _ in range(3)}
    node.fail_over()
    assert before.isdisjoint({node.init(None).producer_id for _ in range(20)})


def test_no_producer_id_while_the_next_block_is_on_its_way() -> None:
    asked: list[Completion[range]] = []
    allocator = ProducerIdAllocator(lambda: asked.append(Completion()) or asked[-1])  # type: ignore[func-returns-value]
    for _ in range(2):
        with pytest.raises(CoordinatorLoadInProgress):
            allocator.next()
    assert len(asked) == 1
    asked[0].succeed(range(5, 7))
    assert [allocator.next(), allocator.next()] == [5, 6]


def test_initialising_again_fences_the_predecessor(node: Node) -> None:
    old = node.producer()
    new = node.producer()
    assert new == (old.producer_id, old.producer_epoch + 1)
    assert node.add(old, P0) == {ErrorCode.PRODUCER_FENCED}
    assert node.add(old, P0, version=1) == {ErrorCode.INVALID_PRODUCER_EPOCH}
    assert node.write(old, P0) == {ErrorCode.INVALID_PRODUCER_EPOCH}
    assert node.end(old, True).error_code == ErrorCode.PRODUCER_FENCED
    assert node.end(old, True, version=1).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert node.add(new, P0) == {ErrorCode.NONE}


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_transaction_timeout_must_be_in_range(node: Node, timeout_ms: int) -> None:
    assert node.init(timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    assert node.init(timeout_ms=900_000).error_code == ErrorCode.NONE


@pytest.mark.parametrize(("transactional_id", "expected"), [("", None), ("t", ProducerIdentity(-1, 3))])
def test_malformed_init_is_refused(node: Node, transactional_id: str, expected: ProducerIdentity | None) -> None:
    assert node.init(transactional_id, expected=expected).error_code == ErrorCode.INVALID_REQUEST


def test_init_aborts_what_was_open_and_asks_to_try_again(node: Node) -> None:
    old = node.producer()
    node.add(old, P0, P1)
    node.log.hold = True
    waiting = node.start_asking(
        ApiKey.INIT_PRODUCER_ID, 5, InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
    )
    assert not waiting.done
    assert not node.log.markers, "markers before the decision is committed"
    node.log.commit_held()
    assert waiting.result().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert [(m.partition, m.committed) for m in node.log.markers] == [(P0, False), (P1, False)]
    assert node.state().state is S.COMPLETE_ABORT
    new = node.producer()
    assert new.producer_epoch > old.producer_epoch + 1
    assert node.end(old, True, version=4).error_code == ErrorCode.PRODUCER_FENCED


def test_kip_360_goes_on_with_the_id_and_a_retry_gets_the_same_answer(node: Node) -> None:
    before = node.producer()
    first = node.init(expected=before)
    assert (first.producer_id, first.producer_epoch) == (before.producer_id, before.producer_epoch + 1)
    again = node.init(expected=before)
    assert (again.producer_id, again.producer_epoch) == (first.producer_id, first.producer_epoch)
    stranger = ProducerIdentity(before.producer_id + 1, 0)
    assert node.init(expected=stranger).error_code == ErrorCode.PRODUCER_FENCED
    node.producer()
    assert node.init(expected=before).error_code == ErrorCode.PRODUCER_FENCED


def test_kip_360_of_an_expired_id_starts_afresh(node: Node) -> None:
    answer = node.init(expected=ProducerIdentity(55, 4))
    assert answer.error_code == ErrorCode.NONE
    assert answer.producer_epoch == 0


@pytest.mark.parametrize("resuming", [False, True])
def test_an_exhausted_epoch_gets_a_new_producer_id(node: Node, resuming: bool) -> None:
    node.put(Transaction("t", 7, 60_000, producer_epoch=PRODUCER_EPOCH_MAX - 1, state=S.COMPLETE_COMMIT, start_ms=1))
    last = ProducerIdentity(7, PRODUCER_EPOCH_MAX - 1)
    answer = node.init(expected=last if resuming else None)
    assert answer.producer_id != 7
    assert answer.producer_epoch == 0
    if resuming:
        again = node.init(expected=last)
        assert (again.producer_id, again.producer_epoch) == (answer.producer_id, 0)


@pytest.mark.parametrize("committed", [True, False])
def test_v2_end_with_the_last_epoch_rotates_the_producer_id(node: Node, committed: bool) -> None:
    node.put(Transaction("t", 7, 60_000, producer_epoch=PRODUCER_EPOCH_MAX - 1, state=S.EMPTY))
    last = ProducerIdentity(7, PRODUCER_EPOCH_MAX - 1)
    assert node.write(last, P0) == {ErrorCode.NONE}
    answer = node.end(last, committed)
    assert answer.producer_id not in (7, -1)
    assert answer.producer_epoch == 0
    assert [(m.producer_id, m.producer_epoch) for m in node.log.markers] == [(7, PRODUCER_EPOCH_MAX)]
    again = node.end(last, committed)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (ErrorCode.NONE, answer.producer_id, 0)


# A transaction


@pytest.mark.parametrize("committed", [True, False])
def test_v1_transaction_keeps_the_epoch(node: Node, committed: bool) -> None:
    producer = node.producer()
    assert node.add(producer, P0, P1) == {ErrorCode.NONE}
    assert node.write(producer, P0, version=11) == {ErrorCode.NONE}
    assert node.end(producer, committed, version=4).error_code == ErrorCode.NONE
    assert [(m.partition, m.producer_epoch, m.committed) for m in node.log.markers] == [
        (P0, producer.producer_epoch, committed),
        (P1, producer.producer_epoch, committed),
    ]
    assert node.state().producer == producer
    assert node.end(producer, committed, version=4).error_code == ErrorCode.NONE, "a repeated request"
    assert node.end(producer, not committed, version=4).error_code == ErrorCode.INVALID_TXN_STATE
    assert node.add(producer, P0) == {ErrorCode.NONE}


@pytest.mark.parametrize("committed", [True, False])
def test_v2_transaction_needs_no_add_and_bumps_the_epoch(node: Node, committed: bool) -> None:
    producer = node.producer()
    assert node.write(producer, P0) == {ErrorCode.NONE}
    assert node.state().partitions == {P0}
    answer = node.end(producer, committed)
    assert (answer.producer_id, answer.producer_epoch) == (producer.producer_id, producer.producer_epoch + 1)
    assert [(m.producer_epoch, m.committed) for m in node.log.markers] == [(producer.producer_epoch + 1, committed)]
    again = node.end(producer, committed)
    assert (again.error_code, again.producer_epoch) == (ErrorCode.NONE, answer.producer_epoch)
    assert node.write(producer, P0) == {ErrorCode.INVALID_PRODUCER_EPOCH}, "a late write of the ended transaction"
    assert len(node.log.markers) == 1


def test_v2_late_end_cannot_touch_the_next_transaction(node: Node) -> None:
    first = node.producer()
    node.write(first, P0)
    answer = node.end(first, False)
    second = ProducerIdentity(answer.producer_id, answer.producer_epoch)
    node.write(second, P0)
    assert node.end(first, False).error_code == ErrorCode.PRODUCER_FENCED
    assert node.state().state is S.ONGOING


def test_v2_abort_without_partitions_still_bumps(node: Node) -> None:
    producer = node.producer()
    answer = node.end(producer, False)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, producer.producer_epoch + 1)
    assert node.state().state is S.COMPLETE_ABORT


@pytest.mark.parametrize(
    ("version", "expected"), [(9, ErrorCode.INVALID_TXN_STATE), (11, ErrorCode.TRANSACTION_ABORTABLE)]
)
def test_a_write_outside_the_transaction_is_refused(node: Node, version: int, expected: ErrorCode) -> None:
    producer = node.producer()
    node.add(producer, P0)
    assert node.write(producer, P1, version=version) == {expected}
    assert node.write(producer, P0, version=version) == {ErrorCode.NONE}
    node.end(producer, True, version=4)
    assert node.write(producer, P0, version=version) == {expected}


def test_unknown_ids_and_partitions(node: Node) -> None:
    producer = node.producer()
    assert node.add(ProducerIdentity(999_999, 0), P0) == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    assert node.add(producer, P0, transactional_id="other") == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    assert node.end(producer, True, transactional_id="other").error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert node.add(producer, P0, TopicPartition("orders", 2)) == {
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert node.state().state is S.EMPTY


def test_offsets_of_a_group_join_the_transaction(node: Node) -> None:
    producer = node.producer()
    request = AddOffsetsToTxnRequest(
        transactional_id="t", producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, group_id="g"
    )
    assert node.ask(ApiKey.ADD_OFFSETS_TO_TXN, 4, request).error_code == ErrorCode.NONE
    partition = java_hash("g") % 2
    assert node.state().partitions == {TopicPartition(OFFSETS_TOPIC, partition)}
    node.end(producer, True, version=4)
    assert node.ended_offsets == [(partition, producer.producer_id, True)]


def test_the_end_is_answered_when_it_is_committed_and_not_before(node: Node) -> None:
    producer = node.producer()
    node.write(producer, P0)
    node.log.hold = True
    request = EndTxnRequest(transactional_id="t", producer_id=producer.producer_id, producer_epoch=0, committed=True)
    waiting = node.start_asking(ApiKey.END_TXN, 5, request)
    assert not waiting.done
    assert not node.log.markers
    node.log.commit_held()
    assert waiting.result().error_code == ErrorCode.NONE
    assert [m.committed for m in node.log.markers] == [True]


def test_markers_that_a_leader_refuses_are_sent_again(node: Node) -> None:
    producer = node.producer()
    node.write(producer, P0, P1)
    node.log.refusals = [NotLeaderOrFollower(), NotEnoughReplicas()]
    assert node.end(producer, True).error_code == ErrorCode.NONE
    assert node.state().state is S.PREPARE_COMMIT
    assert node.write(ProducerIdentity(producer.producer_id, 1), P0) == {ErrorCode.CONCURRENT_TRANSACTIONS}
    assert node.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    node.timers.advance(RETRY_S)
    assert node.state().state is S.COMPLETE_COMMIT
    assert {m.partition for m in node.log.markers} == {P0, P1}


def test_a_deleted_topic_does_not_hold_up_the_end(node: Node) -> None:
    producer = node.producer()
    node.write(producer, P0)
    remaining = {name: found for name, found in node.image.topics.items() if name != "orders"}
    node.image = dataclasses.replace(node.image, topics=remaining)
    node.end(producer, True)
    assert node.state().state is S.COMPLETE_COMMIT
    assert not node.log.markers


def test_markers_go_to_the_brokers_that_lead() -> None:
    node = Node(leaders=(2, 1))
    producer = node.producer()
    node.write(producer, P0, P1)
    assert node.end(producer, True).error_code == ErrorCode.NONE
    assert [m.partition for m in node.log.markers] == [P1]
    (node_id, request, answer), *rest = node.peers.markers
    assert not rest
    assert node_id == 2
    assert node.state().state is S.PREPARE_COMMIT
    answer.fail(ConnectionError("broker 2 is gone"))
    node.timers.advance(RETRY_S)
    (_, request, answer) = node.peers.markers[1]
    answer.succeed(Node().coordinator.write_txn_markers(node.context(ApiKey.WRITE_TXN_MARKERS, 2), request).result())  # type: ignore[union-attr]
    assert node.state().state is S.COMPLETE_COMMIT
    assert [m.partition for m in node.log.markers] == [P1], "a marker that was taken is not sent again"


def test_a_leader_asks_the_coordinator_on_another_broker() -> None:
    here, there = Node(), Node()
    producer = there.producer()
    here.image = dataclasses.replace(
        here.image, topics={**here.image.topics, TRANSACTION_TOPIC: topic(TRANSACTION_TOPIC, 2, 2, 2, 2)}
    )
    codes = here.coordinator.verify(here.context(ApiKey.PRODUCE, 12), "t", *producer, [P0], supports_v2=True)
    assert not codes.done
    node_id, request, answer = here.peers.added[0]
    assert node_id == 2
    answer.succeed(there.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 5, request))
    assert codes.result() == {P0: ErrorCode.NONE}
    assert there.state().partitions == {P0}
    codes = here.coordinator.verify(here.context(ApiKey.PRODUCE, 12), "t", *producer, [P0], supports_v2=True)
    here.peers.added[1][2].fail(ConnectionError("gone"))
    assert codes.result() == {P0: ErrorCode.NETWORK_EXCEPTION}


def test_brokers_verify_in_batches(node: Node) -> None:
    one, two = node.producer("one"), node.producer("two")
    node.add(one, P0, transactional_id="one")
    request = AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=name,
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                verify_only=True,
                topics=[AddPartitionsToTxnTopic(name="orders", partitions=[0])],
            )
            for name, producer in (("one", one), ("two", two))
        ]
    )
    response = node.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 5, request)
    assert {
        result.transactional_id: result.topic_results[0].results_by_partition[0].partition_error_code
        for result in response.results_by_transaction
    } == {"one": ErrorCode.NONE, "two": ErrorCode.TRANSACTION_ABORTABLE}


def test_write_txn_markers_reports_each_partition(node: Node) -> None:
    node.log.refusals = [NotLeaderOrFollower()]
    marker = WritableTxnMarker(
        producer_id=5,
        producer_epoch=1,
        transaction_result=True,
        topics=[WritableTxnMarkerTopic(name="orders", partition_indexes=[0, 1])],
    )
    response = node.ask(ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest(markers=[marker, marker]))
    codes = [[p.error_code for p in result.topics[0].partitions] for result in response.markers]
    assert codes == [[ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE], [ErrorCode.NONE, ErrorCode.NONE]]


# Time


@pytest.mark.parametrize("server_version", [1, 2])
def test_an_open_transaction_times_out(server_version: int) -> None:
    node = Node(TransactionConfig(transaction_version=server_version))
    producer = node.producer(timeout_ms=5_000)
    node.add(producer, P0)
    node.timers.advance(4.9)
    assert node.state().state is S.ONGOING
    node.timers.advance(0.2)
    assert node.state().state is S.COMPLETE_ABORT
    assert [(m.partition, m.committed) for m in node.log.markers] == [(P0, False)]
    assert node.log.markers[0].producer_epoch == producer.producer_epoch + 1
    assert node.end(producer, True, version=4).error_code == ErrorCode.PRODUCER_FENCED
    assert node.write(producer, P0) == {ErrorCode.INVALID_PRODUCER_EPOCH}


def test_an_ended_transaction_does_not_time_out(node: Node) -> None:
    producer = node.producer(timeout_ms=5_000)
    node.add(producer, P0)
    node.end(producer, True, version=4)
    node.timers.advance(3)
    node.add(producer, P0)
    node.timers.advance(3)
    assert node.state().state is S.ONGOING, "the timer of the first transaction must not end the second"
    node.timers.advance(3)
    assert node.state().state is S.COMPLETE_ABORT


def test_unused_ids_expire_and_open_ones_do_not() -> None:
    week_s = 7 * 24 * 3600.0
    node = Node()
    idle, busy = node.producer("idle"), node.producer("busy", timeout_ms=900_000)
    node.timers.advance(week_s - 60)
    assert node.add(busy, P0, transactional_id="busy") == {ErrorCode.NONE}
    node.timers.advance(3600)
    assert node.add(idle, P0, transactional_id="idle") == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    assert node.state("busy").state is S.COMPLETE_ABORT
    node.fail_over()
    assert node.init("idle", expected=idle).producer_epoch == 0


# Failover


def test_failover_finishes_what_was_decided(node: Node) -> None:
    producer = node.producer()
    node.write(producer, P0)
    node.log.refusals = [NotLeaderOrFollower()]
    node.end(producer, True)
    assert node.state().state is S.PREPARE_COMMIT
    node.fail_over()
    assert node.state().state is S.COMPLETE_COMMIT
    assert [(m.partition, m.committed) for m in node.log.markers] == [(P0, True)]
    node.timers.advance(10)
    assert len(node.log.markers) == 1


def test_failover_still_times_out_what_was_open(node: Node) -> None:
    producer = node.producer(timeout_ms=5_000)
    node.write(producer, P0)
    node.timers.advance(3)
    node.fail_over()
    assert node.state().state is S.ONGOING
    node.timers.advance(2.1)
    assert node.state().state is S.COMPLETE_ABORT


def test_not_coordinator_elsewhere_and_while_loading(node: Node) -> None:
    node.coordinator.resign(node.coordinator.partition_for("t"))
    assert node.init().error_code == ErrorCode.NOT_COORDINATOR
    listed = node.ask(ApiKey.LIST_TRANSACTIONS, 2, ListTransactionsRequest())
    assert listed.error_code == ErrorCode.NONE


# Listing


def test_list_and_describe(node: Node) -> None:
    one, two = node.producer("one"), node.producer("two", timeout_ms=30_000)
    node.add(two, P0, P1, transactional_id="two")
    node.timers.advance(2)

    def listed(**filters: Any) -> set[str]:
        response = node.ask(ApiKey.LIST_TRANSACTIONS, 2, ListTransactionsRequest(**filters))
        assert response.error_code == ErrorCode.NONE
        return {state.transactional_id for state in response.transaction_states}

    assert listed() == {"one", "two"}
    assert listed(state_filters=["Ongoing"]) == {"two"}
    assert listed(state_filters=["Ongoing", "Nonsense"]) == {"two"}
    assert listed(producer_id_filters=[one.producer_id]) == {"one"}
    assert listed(transactional_id_pattern="t.*") == {"two"}
    assert listed(duration_filter=1_000, state_filters=["Ongoing"]) == {"two"}
    assert listed(duration_filter=3_000, state_filters=["Ongoing"]) == set()
    response = node.ask(ApiKey.LIST_TRANSACTIONS, 0, ListTransactionsRequest(state_filters=["Nonsense"]))
    assert response.unknown_state_filters == ["Nonsense"]
    response = node.ask(ApiKey.LIST_TRANSACTIONS, 2, ListTransactionsRequest(transactional_id_pattern="("))
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION

    request = DescribeTransactionsRequest(transactional_ids=["two", "three"])
    described, missing = node.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, request).transaction_states
    assert missing.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert described.transaction_state == "Ongoing"
    assert (described.producer_id, described.producer_epoch) == two
    assert described.transaction_timeout_ms == 30_000
    assert described.transaction_start_time_ms == WALL_MS
    assert [(found.topic, found.partitions) for found in described.topics] == [("orders", [0, 1])]


def test_a_late_answer_does_not_end_a_later_transaction() -> None:
    node = Node(leaders=(2, 2))
    producer = node.producer()
    node.add(producer, P0)
    node.end(producer, True, version=4)
    (_, request, late) = node.peers.markers[0]
    taken = Node().ask(ApiKey.WRITE_TXN_MARKERS, 2, request)
    node.fail_over()
    node.peers.markers[1][2].succeed(taken)
    assert node.state().state is S.COMPLETE_COMMIT
    node.add(producer, P1)
    node.end(producer, True, version=4)
    late.succeed(taken)
    assert node.state().state is S.PREPARE_COMMIT, "the marker of this transaction has not been taken"


# A random comparison with a model


@dataclass
class Attempt:
    """One transaction as its producer sees it: what it wrote, and what it was told about the outcome."""

    transactional_id: str
    producer: ProducerIdentity
    writes: list[TopicPartition] = field(default_factory=list)
    asked: set[bool] = field(default_factory=set)
    told: bool | None = None


@dataclass
class Client:
    """A producer process; ``v2`` is the protocol it speaks. It may be a zombie and not know it."""

    transactional_id: str
    v2: bool
    producer: ProducerIdentity | None = None
    generation: int = -1
    attempt: Attempt | None = None


class Model:
    """Drives a node at random, keeps a partition log of writes and markers, and knows what must hold."""

    def __init__(self, server_version: int) -> None:
        self.node = Node(TransactionConfig(transaction_version=server_version))
        self.clients = [Client(name, v2) for name in ("a", "b") for v2 in (False, server_version == 2)]
        self.sent: list[tuple[str, ProducerIdentity, bool]] = []
        self.generations = {"a": 0, "b": 0}
        self.events: list[Marker | tuple[TopicPartition, Attempt]] = []
        self.seen_markers = 0

    def sync(self) -> None:
        """Markers take their place among the writes."""
        self.events.extend(self.node.log.markers[self.seen_markers :])
        self.seen_markers = len(self.node.log.markers)

    def init(self, client: Client, resume: bool) -> None:
        expected = client.producer if resume else None
        answer = self.node.init(client.transactional_id, expected=expected, timeout_ms=5_000)
        if answer.error_code != ErrorCode.NONE:
            return
        if expected is None:
            self.generations[client.transactional_id] += 1
            client.generation = self.generations[client.transactional_id]
        elif client.generation != self.generations[client.transactional_id]:
            raise AssertionError(f"a fenced producer was given {answer}")
        client.producer = ProducerIdentity(answer.producer_id, answer.producer_epoch)
        client.attempt = None

    def write(self, client: Client, partition: TopicPartition) -> None:
        if client.producer is None or (client.attempt is not None and client.attempt.asked):
            return
        name = client.transactional_id
        codes = {int(ErrorCode.NONE)}
        if not client.v2:
            codes = self.node.add(client.producer, partition, transactional_id=name)
        if codes == {ErrorCode.NONE}:
            version = 12 if client.v2 else 11
            codes = self.node.write(client.producer, partition, transactional_id=name, version=version)
        if codes != {ErrorCode.NONE}:
            return
        self.check_not_fenced(client)
        if client.attempt is None:
            client.attempt = Attempt(name, client.producer)
        client.attempt.writes.append(partition)
        self.events.append((partition, client.attempt))

    def end(self, client: Client, committed: bool, answer_lost: bool) -> None:
        if client.producer is None:
            return
        attempt = client.attempt or Attempt(client.transactional_id, client.producer)
        if attempt.asked - {committed} or (committed and not attempt.writes):
            return  # A producer does not change its mind, nor commit what it has not begun.
        attempt.asked.add(committed)
        if client.v2:
            self.sent.append((client.transactional_id, client.producer, committed))
        answer = self.node.end(
            client.producer, committed, transactional_id=client.transactional_id, version=5 if client.v2 else 4
        )
        if answer.error_code != ErrorCode.NONE or answer_lost:
            if attempt.writes:
                client.attempt = attempt
            return
        self.check_not_fenced(client)
        attempt.told = committed
        client.attempt = None
        if client.v2:
            client.producer = ProducerIdentity(answer.producer_id, answer.producer_epoch)

    def deliver_late(self, number: int) -> None:
        """An EndTxn of the second protocol is duplicated in the network; under the first this would do harm."""
        if self.sent:
            name, producer, committed = self.sent[number % len(self.sent)]
            self.node.end(producer, committed, transactional_id=name)

    def check_not_fenced(self, client: Client) -> None:
        current = self.generations[client.transactional_id]
        assert client.generation == current, f"a fenced producer of {client.transactional_id} succeeded"

    def check_outcomes(self) -> None:
        """Every write ends as its producer was told; what nobody asked to commit never commits."""
        open_writes: list[tuple[TopicPartition, Attempt]] = []
        for event in self.events:
            if isinstance(event, tuple):
                open_writes.append(event)
                continue
            ended = [
                write
                for write in open_writes
                if write[0] == event.partition and write[1].producer.producer_id == event.producer_id
            ]
            for write in ended:
                open_writes.remove(write)
                attempt = write[1]
                assert event.producer_epoch >= attempt.producer.producer_epoch
                if attempt.told is not None:
                    assert event.committed == attempt.told, f"{attempt} ended otherwise"
                elif event.committed:
                    assert True in attempt.asked, f"{attempt} was committed unasked"
        assert all(attempt.told is None for _, attempt in open_writes), "told the outcome, but no marker came"

    def check_replay(self) -> None:
        """A coordinator that knows only the log knows the same."""
        before = {name: self.described(name) for name in self.generations}
        self.node.fail_over()
        assert before == {name: self.described(name) for name in self.generations}

    def described(self, transactional_id: str) -> Transaction | None:
        shard = self.node.coordinator.runtime.shard(self.node.coordinator.partition_for(transactional_id))
        found = shard.transactions.get(transactional_id)
        return None if found is None else dataclasses.replace(found, last_producer_epoch=-1)


FAULTS = ["refuse", "late", "fail over", "wait", "expire"]
STEPS = ["init", "resume", *["write"] * 6, *["commit", "abort"] * 2, "lose", *FAULTS]
steps = st.lists(
    st.tuples(
        st.sampled_from(STEPS),
        st.sampled_from([0, 0, 1, 1, 1, 3]),
        st.sampled_from([P0, P1]),
    ),
    min_size=10,
    max_size=60,
)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(server_version=st.sampled_from([1, 2]), steps=steps)
def test_outcomes_never_contradict_and_fenced_producers_never_succeed(
    server_version: int, steps: list[tuple[str, int, TopicPartition]]
) -> None:
    model = Model(server_version)
    for first in (0, 3):
        model.init(model.clients[first], resume=False)
    for step, number, partition in steps:
        client = model.clients[number]
        if step == "init":
            model.init(client, resume=False)
        elif step == "resume" and client.producer is not None:
            model.init(client, resume=True)
        elif step == "write":
            model.write(client, partition)
        elif step in ("commit", "abort", "lose"):
            model.end(client, committed=step != "abort", answer_lost=step == "lose")
        elif step == "refuse":
            model.node.log.refusals = [NotLeaderOrFollower()] * 2
        elif step == "fail over":
            model.node.fail_over()
        elif step == "late":
            model.deliver_late(number)
        elif step in ("wait", "expire"):
            model.node.timers.advance(1.7 if step == "wait" else 5.1)
        model.sync()
    model.node.log.refusals = []
    model.node.timers.advance(10)
    model.sync()
    model.check_outcomes()
    model.check_replay()
