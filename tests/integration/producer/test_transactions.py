"""Transactions against the embedded cluster, in both dialects: whole or not at all, whatever the brokers do.

v1 is what brokers before 4.0 speak (the client names each partition to the coordinator), v2 is KIP-890.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from pykclient.broker.faults import FaultRule, Faults
from pykclient.errors import (
    CoordinatorLoadInProgress,
    IllegalStateError,
    InvalidTransactionTimeout,
    KafkaError,
    KafkaTimeoutError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    TransactionAborted,
    TransactionTimedOut,
    UsageError,
)
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerGroupMetadata
from tests.integration.producer.support import producer_for, read_topic, values

PARTITIONS = 3
OLD_BROKER = {"EndTxn": 4, "Produce": 11, "TxnOffsetCommit": 4}
numbers = itertools.count()


@pytest.fixture(scope="module", params=["v1", "v2"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cluster(dialect: str) -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=3, seed=2, max_versions=OLD_BROKER if dialect == "v1" else None) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> Iterator[str]:
    name = f"orders-{next(numbers)}"
    cluster.create_topic(name, PARTITIONS)
    yield name
    cluster.faults.clear()


@pytest.fixture
def make(cluster: EmbeddedCluster) -> Iterator[Callable[..., KafkaProducer]]:
    """Transactional producers, closed when the test ends."""
    made: list[KafkaProducer] = []

    def make_one(transactional_id: str | None = None, *, init: bool = True, **options: Any) -> KafkaProducer:
        name = transactional_id or f"writer-{next(numbers)}"
        producer = producer_for(cluster, transactional_id=name, **options)
        made.append(producer)
        if init:
            producer.init_transactions(10)
        return producer

    yield make_one
    cluster.faults.clear()
    for producer in made:
        producer.close(2)


def send_all(producer: KafkaProducer, topic: str, label: str, count: int = 30) -> set[bytes]:
    sent = {b"%s-%d" % (label.encode(), number) for number in range(count)}
    for index, value in enumerate(sorted(sent)):
        producer.send(topic, value, partition=index % PARTITIONS)
    return sent


Make = Callable[..., KafkaProducer]


def test_the_dialect_is_the_one_the_broker_announces(
    cluster: EmbeddedCluster, topic: str, make: Make, dialect: str
) -> None:
    named = cluster.faults.observe("AddPartitionsToTxn", when=lambda context, _: context.api_version <= 3)
    ended = cluster.faults.observe("EndTxn", when=lambda context, _: context.api_version >= 5)
    producer = make()
    with producer.transaction():
        send_all(producer, topic, "a")
    assert (ended.hits > 0) == (dialect == "v2")
    assert (named.hits > 0) == (dialect == "v1")


def test_commit_makes_all_visible_and_abort_nothing(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    with producer.transaction():
        kept = send_all(producer, topic, "kept")
    producer.begin_transaction()
    send_all(producer, topic, "undone")
    producer.flush(10)
    producer.abort_transaction()
    with producer.transaction():
        kept |= send_all(producer, topic, "kept-too")
    assert set(values(cluster, topic)) == kept
    assert len(values(cluster, topic, committed=False)) == 90


def test_nothing_is_visible_before_the_commit(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    producer.begin_transaction()
    sent = send_all(producer, topic, "open")
    producer.flush(10)
    assert values(cluster, topic) == []
    assert set(values(cluster, topic, committed=False)) == sent
    producer.commit_transaction()
    assert set(values(cluster, topic)) == sent


def test_an_empty_transaction_costs_nothing(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    asked = cluster.faults.observe("EndTxn")
    with producer.transaction():
        pass
    producer.begin_transaction()
    producer.abort_transaction()
    assert asked.hits == 0


def test_an_exception_in_the_block_aborts_and_is_what_the_user_sees(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    producer = make()
    with pytest.raises(ZeroDivisionError), producer.transaction():
        send_all(producer, topic, "undone")
        producer.flush(10)
        _ = 1 / 0
    with producer.transaction():
        kept = send_all(producer, topic, "kept")
    assert set(values(cluster, topic)) == kept


def test_records_that_were_not_sent_yet_fail_with_the_abort(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make(linger_ms=5000, delivery_timeout_ms=60_000)
    producer.begin_transaction()
    future = producer.send(topic, b"never")
    producer.abort_transaction()
    assert isinstance(future.exception(1), TransactionAborted)


# ---- faults ----------------------------------------------------------------------------------------------------------

COORDINATOR_ERRORS = ("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS")
APIS = {
    "InitProducerId": (*COORDINATOR_ERRORS, "CONCURRENT_TRANSACTIONS"),
    "AddPartitionsToTxn": (*COORDINATOR_ERRORS, "CONCURRENT_TRANSACTIONS"),
    "AddOffsetsToTxn": (*COORDINATOR_ERRORS, "CONCURRENT_TRANSACTIONS"),
    "TxnOffsetCommit": (*COORDINATOR_ERRORS, "UNKNOWN_TOPIC_OR_PARTITION"),
    "EndTxn": (*COORDINATOR_ERRORS, "CONCURRENT_TRANSACTIONS"),
    "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
}
WAYS: dict[str, Callable[[Faults, str], FaultRule]] = {
    "drop-before": lambda faults, api: faults.drop(api, count=2),
    "drop-after": lambda faults, api: faults.drop(api, after=True, count=2),
    "delay": lambda faults, api: faults.delay(api, 0.1, count=3),
    "truncate": lambda faults, api: faults.truncate(api, count=2),
}
TROUBLE = [
    *((api, error) for api, errors in APIS.items() for error in errors),
    *((api, way) for api in APIS for way in WAYS),
    *(("Produce", way) for way in WAYS),
    *(("Produce", error) for error in ("NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "COORDINATOR_NOT_AVAILABLE")),
]


@pytest.mark.parametrize(("api", "trouble"), TROUBLE)
def test_transactions_stay_whole_under_every_passing_fault(
    cluster: EmbeddedCluster, topic: str, make: Make, dialect: str, api: str, trouble: str
) -> None:
    if dialect == "v2" and api in ("AddOffsetsToTxn", "AddPartitionsToTxn"):
        pytest.skip("clients do not send it in v2")
    if api == "Produce" and trouble == "COORDINATOR_NOT_AVAILABLE" and dialect == "v1":
        pytest.skip("leaders speak to the coordinator in v2 only")
    rule = WAYS[trouble](cluster.faults, api) if trouble in WAYS else cluster.faults.error(api, trouble, count=3)
    producer = make()
    group = f"group-{next(numbers)}"
    kept: set[bytes] = set()
    for turn in range(3):
        producer.begin_transaction()
        sent = send_all(producer, topic, f"turn-{turn}", 12)
        producer.send_offsets_to_transaction({TopicPartition(topic, 0): turn + 1}, group)
        if turn == 1:
            producer.abort_transaction(20)
        else:
            producer.commit_transaction(20)
            kept |= sent
    assert rule.hits > 0
    cluster.faults.clear()
    found = values(cluster, topic)
    assert sorted(found) == sorted(kept)
    assert committed_offset(cluster, group, topic) == 3


def test_a_transaction_that_is_still_ending_is_asked_for_again_soon(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    """A matter of milliseconds, unlike the errors that retry.backoff.ms is for."""
    rule = cluster.faults.error("InitProducerId", "CONCURRENT_TRANSACTIONS", count=2)
    producer = make(init=False, retry_backoff_ms=20_000, retry_backoff_max_ms=20_000)
    producer.partitions_for(topic)  # it knows the brokers, so that nothing else is worth a back-off
    began = time.monotonic()
    producer.init_transactions(15)
    with producer.transaction():
        producer.send(topic, b"soon")
    assert rule.hits == 2
    assert time.monotonic() - began < 15
    assert values(cluster, topic) == [b"soon"]


def committed_offset(cluster: EmbeddedCluster, group: str, topic: str) -> int:
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id=group) as consumer:
        found = consumer.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)]
        return -1 if found is None else found.offset


def test_the_coordinator_moves_between_and_inside_transactions(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    producer = make("traveller")
    kept: set[bytes] = set()
    for turn in range(6):
        producer.begin_transaction()
        sent = send_all(producer, topic, f"turn-{turn}", 9)
        if turn % 2:
            producer.flush(10)
        cluster.move_coordinator(cluster.nodes[turn % 3], transactional_id="traveller")
        if turn == 3:
            producer.abort_transaction(20)
        else:
            producer.commit_transaction(20)
            kept |= sent
    assert sorted(values(cluster, topic)) == sorted(kept)


def test_a_coordinator_that_is_silent_is_left_when_another_takes_over(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    """Silent as a stopped process is: it keeps its connections and answers nothing."""
    name = f"gray-{next(numbers)}"
    producer = make(name)
    old = cluster.coordinator(transactional_id=name)
    new = next(node for node in cluster.nodes if node != old)
    for partition in range(PARTITIONS):
        cluster.move_leader(topic, partition, new)
    producer.begin_transaction()
    kept = send_all(producer, topic, "kept", 9)
    producer.flush(10)
    silent = cluster.faults.stall(None, node=old)
    mover = threading.Timer(1.0, lambda: cluster.move_coordinator(new, transactional_id=name))
    mover.start()
    try:
        began = time.monotonic()
        producer.commit_transaction(30)
        took = time.monotonic() - began
    finally:
        mover.join()
    assert silent.hits > 0
    assert took < 6.0, f"{took:.1f} s"
    cluster.faults.clear()
    assert sorted(values(cluster, topic)) == sorted(kept)


def test_leaders_move_inside_a_transaction(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    kept: set[bytes] = set()
    for turn in range(4):
        with producer.transaction():
            kept |= send_all(producer, topic, f"turn-{turn}", 30)
            cluster.move_leader(topic, turn % PARTITIONS, cluster.nodes[turn % 3])
            kept |= send_all(producer, topic, f"turn-{turn}-after", 30)
    assert sorted(values(cluster, topic)) == sorted(kept)


def test_a_reader_beside_sees_whole_transactions_only(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    """While transactions of ten records commit and abort, no poll of one partition ends inside one."""
    producer = make()
    done = threading.Event()
    torn: list[bytes] = []
    counts: dict[bytes, int] = {}

    def read() -> None:
        with KafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers, isolation_level="read_committed", auto_offset_reset="earliest"
        ) as consumer:
            tp = TopicPartition(topic, 0)
            consumer.assign([tp])
            while not done.is_set() or consumer.position(tp) < consumer.end_offsets([tp])[tp]:
                for record in consumer.poll(0.05).get(tp, []):
                    assert record.value is not None
                    label = record.value.split(b":")[0]
                    counts[label] = counts.get(label, 0) + 1
                    if label.startswith(b"undone"):
                        torn.append(record.value)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(20):
            producer.begin_transaction()
            label = b"undone" if turn % 3 == 0 else b"kept"
            for number in range(10):
                producer.send(topic, b"%s-%d:%d" % (label, turn, number), partition=0)
            if turn % 3 == 0:
                producer.flush(5)
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    finally:
        done.set()
        reader.join(20)
    assert not torn
    assert counts == {b"kept-%d" % turn: 10 for turn in range(20) if turn % 3}


# ---- offsets ---------------------------------------------------------------------------------------------------------


def test_offsets_commit_with_the_transaction_or_not_at_all(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    tp = TopicPartition(topic, 0)
    group = f"group-{next(numbers)}"
    producer.begin_transaction()
    producer.send_offsets_to_transaction({tp: OffsetAndMetadata(5)}, ConsumerGroupMetadata(group))
    producer.commit_transaction()
    assert committed_offset(cluster, group, topic) == 5
    producer.begin_transaction()
    producer.send_offsets_to_transaction({tp: 9}, group)
    producer.abort_transaction()
    assert committed_offset(cluster, group, topic) == 5


def test_offsets_of_a_consumer_that_left_its_group_force_an_abort(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    producer = make()
    zombie = ConsumerGroupMetadata(f"group-{next(numbers)}", generation_id=3, member_id="gone")
    producer.begin_transaction()
    producer.send(topic, b"undone")
    with pytest.raises(KafkaError) as caught:
        producer.send_offsets_to_transaction({TopicPartition(topic, 0): 1}, zombie)
    assert caught.value.abortable
    assert "abort" in str(caught.value)
    with pytest.raises(KafkaError):
        producer.commit_transaction()
    producer.abort_transaction()
    with producer.transaction():
        producer.send(topic, b"kept")
    assert values(cluster, topic) == [b"kept"]


# ---- fencing, time-outs, sequence errors -----------------------------------------------------------------------------


def test_a_second_producer_fences_the_first(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    first = make("the-only-one")
    first.begin_transaction()
    first.send(topic, b"undone").result(5)
    second = make("the-only-one")
    with pytest.raises(ProducerFenced) as caught:
        first.commit_transaction()
    assert caught.value.fatal
    assert "close" in str(caught.value)
    with pytest.raises(ProducerFenced):
        first.send(topic, b"never")
    with pytest.raises(ProducerFenced):
        first.init_transactions()
    with second.transaction():
        second.send(topic, b"kept")
    assert values(cluster, topic) == [b"kept"]


def test_a_fenced_producer_that_sends_leaves_nothing_behind(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    first = make("again")
    first.begin_transaction()
    first.send(topic, b"undone").result(5)
    second = make("again")
    with pytest.raises(ProducerFenced), _ending(first):
        first.send(topic, b"zombie", partition=0)
    with second.transaction():
        second.send(topic, b"kept")
    assert values(cluster, topic) == [b"kept"]


class _ending:
    """``with``: commit at the end, abort when that is what the error asks for; what a user's loop does."""

    def __init__(self, producer: KafkaProducer) -> None:
        self._producer = producer

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        try:
            self._producer.commit_transaction(10)
        except KafkaError as error:
            if not error.abortable:
                raise
            self._producer.abort_transaction(10)


def test_a_transaction_that_outlives_its_time_says_so(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make(transaction_timeout_ms=300)
    producer.begin_transaction()
    producer.send(topic, b"undone").result(5)
    cluster.wait_until(lambda: _aborted(cluster, topic))
    with pytest.raises(TransactionTimedOut) as caught:
        producer.commit_transaction(10)
    error = caught.value
    assert error.limit == 0.3
    assert error.open_for is not None
    assert error.open_for >= 0.3
    assert "init_transactions()" in str(error)
    assert (error.fatal, error.abortable, error.retriable) == (True, False, False)
    with pytest.raises(TransactionTimedOut):
        producer.send(topic, b"never")
    producer.init_transactions(10)
    with producer.transaction():
        producer.send(topic, b"kept")
    assert values(cluster, topic) == [b"kept"]


def _aborted(cluster: EmbeddedCluster, topic: str) -> bool:
    """Whether the broker has ended what is open: every partition is stable up to its end, and holds something."""
    states = [cluster.partition_info(topic, index) for index in range(PARTITIONS)]
    return any(s.log_end_offset for s in states) and all(s.last_stable_offset == s.log_end_offset for s in states)


def test_sending_into_a_transaction_that_timed_out_is_told_apart_from_fencing(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    producer = make(transaction_timeout_ms=300)
    producer.begin_transaction()
    producer.send(topic, b"undone", partition=0).result(5)
    cluster.wait_until(lambda: _aborted(cluster, topic))
    late = producer.send(topic, b"late", partition=0)
    assert isinstance(late.exception(10), KafkaError)
    with pytest.raises(TransactionTimedOut):
        producer.commit_transaction(10)
    producer.init_transactions(10)
    with producer.transaction():
        producer.send(topic, b"kept", partition=0)
    assert values(cluster, topic) == [b"kept"]


def test_a_time_out_above_the_brokers_maximum_names_both(cluster: EmbeddedCluster, make: Make) -> None:
    producer = make(init=False, transaction_timeout_ms=2_000_000_000)
    with pytest.raises(InvalidTransactionTimeout) as caught:
        producer.init_transactions(10)
    assert "2000000000" in str(caught.value)
    assert "transaction.max.timeout.ms" in str(caught.value)


def test_a_sequence_error_aborts_and_never_starts_over_in_silence(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    """The next record after a lost one must not slip into the same transaction as if nothing had happened."""
    producer = make()
    producer.begin_transaction()
    producer.send(topic, b"undone", partition=0).result(5)
    rule = cluster.faults.error("Produce", "OUT_OF_ORDER_SEQUENCE_NUMBER", count=1)
    lost = producer.send(topic, b"lost", partition=0)
    assert isinstance(lost.exception(5), OutOfOrderSequenceNumber)
    assert rule.hits == 1
    with pytest.raises(OutOfOrderSequenceNumber) as caught:
        producer.send(topic, b"after", partition=0)
    assert caught.value.abortable
    with pytest.raises(OutOfOrderSequenceNumber):
        producer.commit_transaction(5)
    producer.abort_transaction(10)
    with producer.transaction():
        kept = send_all(producer, topic, "kept", 9)
    assert sorted(values(cluster, topic)) == sorted(kept)


def test_a_record_the_broker_refuses_spoils_its_transaction_only(
    cluster: EmbeddedCluster, make: Make, dialect: str
) -> None:
    name = f"small-{next(numbers)}"
    cluster.create_topic(name, 1, config={"max.message.bytes": 2000})
    producer = make()
    with pytest.raises(KafkaError), producer.transaction():
        producer.send(name, bytes(3000))
    with producer.transaction():
        producer.send(name, b"kept")
    assert values(cluster, name) == [b"kept"]


# ---- lost answers ----------------------------------------------------------------------------------------------------


def test_a_commit_whose_answer_is_lost_is_found_to_be_done(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    rule = cluster.faults.drop("EndTxn", after=True, count=3)
    with producer.transaction():
        kept = send_all(producer, topic, "kept")
    assert rule.hits == 3
    assert sorted(values(cluster, topic)) == sorted(kept)


def test_a_commit_that_timed_out_is_called_again(cluster: EmbeddedCluster, topic: str, make: Make) -> None:
    producer = make()
    producer.begin_transaction()
    kept = send_all(producer, topic, "kept")
    producer.flush(5)
    rule = cluster.faults.error("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS")
    with pytest.raises(KafkaTimeoutError, match="call it again") as caught:
        producer.commit_transaction(0.3)
    assert isinstance(caught.value.__cause__, CoordinatorLoadInProgress)
    with pytest.raises(IllegalStateError, match="commit_transaction"):
        producer.abort_transaction()
    rule.remove()
    producer.commit_transaction(10)
    assert sorted(values(cluster, topic)) == sorted(kept)


# ---- the table of states ---------------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[KafkaProducer], object]] = {
    "init_transactions": lambda p: p.init_transactions(1),
    "begin_transaction": lambda p: p.begin_transaction(),
    "send": lambda p: p.send("states", b"x"),
    "send_offsets_to_transaction": lambda p: p.send_offsets_to_transaction({TopicPartition("states", 0): 1}, "g"),
    "commit_transaction": lambda p: p.commit_transaction(1),
    "abort_transaction": lambda p: p.abort_transaction(1),
}
# What is legal in each state, and the call that the refusal of the others must name.
STATES: dict[str, tuple[set[str], str]] = {
    "uninitialized": ({"init_transactions"}, "init_transactions()"),
    "ready": ({"begin_transaction"}, "begin_transaction()"),
    "open": (
        {"send", "send_offsets_to_transaction", "commit_transaction", "abort_transaction"},
        "commit_transaction() or abort_transaction()",
    ),
    "committing": ({"commit_transaction"}, "commit_transaction()"),
    "aborting": ({"abort_transaction"}, "abort_transaction()"),
    "prepared": ({"init_transactions"}, "init_transactions()"),
}


def bring_to(state: str, cluster: EmbeddedCluster, make: Make) -> KafkaProducer:
    producer = make(init=False)
    if state == "uninitialized":
        return producer
    producer.init_transactions(10)
    if state == "ready":
        return producer
    producer.begin_transaction()
    producer.send("states", b"x").result(5)
    if state == "open":
        return producer
    if state == "prepared":
        producer.prepare_transaction(5)
        return producer
    cluster.faults.error("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS")
    with pytest.raises(KafkaTimeoutError):
        if state == "committing":
            producer.commit_transaction(0.05)
        else:
            producer.abort_transaction(0.05)
    return producer


@pytest.mark.parametrize("state", STATES)
def test_an_illegal_call_names_the_legal_one(cluster: EmbeddedCluster, make: Make, state: str) -> None:
    if not cluster.has_topic("states"):
        cluster.create_topic("states", 1)
    legal, hint = STATES[state]
    producer = bring_to(state, cluster, make)
    for name in CALLS.keys() - legal:
        with pytest.raises(IllegalStateError) as caught:
            CALLS[name](producer)
        assert hint in str(caught.value), (state, name)
        assert name in str(caught.value)
    cluster.faults.clear()
    for name in sorted(legal & {"init_transactions", "begin_transaction", "commit_transaction"}):
        CALLS[name](producer)


def test_transactions_need_a_transactional_id(cluster: EmbeddedCluster) -> None:
    producer = producer_for(cluster)
    for name in CALLS.keys() - {"send"}:
        with pytest.raises(UsageError, match="transactional_id"):
            CALLS[name](producer)
    producer.close(1)


def test_a_transaction_over_every_partition_reads_back_in_order(
    cluster: EmbeddedCluster, topic: str, make: Make
) -> None:
    producer = make(batch_size=300)
    with producer.transaction():
        for number in range(300):
            producer.send(topic, b"%d" % number, partition=number % PARTITIONS)
    for partition, records in read_topic(cluster, topic).items():
        assert [int(record.value or b"") for record in records] == list(range(partition, 300, PARTITIONS))
