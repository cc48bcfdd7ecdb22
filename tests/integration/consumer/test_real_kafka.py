"""The core of the consumer on Apache Kafka, and groups that it shares with the clients of others: every partition has
exactly one owner, whoever that is."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.testing.real_kafka import RealBroker, RealKafka, available, run_tool, start_tool
from tests.integration.consumer.members import Ledger, Member, wait_until
from tests.integration.consumer.support import QUICK, open_consumer, produce, read_numbers, wait_assigned
from tests.interop.java import TOOLS, Running

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(120)]
PARTITIONS = 6
CLASSIC = {"group_protocol": "classic", "session_timeout_ms": 6000, "heartbeat_interval_ms": 200}


@pytest.fixture(scope="module")
def kafka() -> Iterator[str]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    config = {
        "group.consumer.min.heartbeat.interval.ms": "200",
        "group.consumer.heartbeat.interval.ms": "200",
    }
    with RealKafka(config=config) as running:
        yield running.bootstrap_servers


@pytest.fixture(autouse=True)
def no_faults_left() -> None:
    """There are none to clear here."""


def new_topic(servers: str, partitions: int = PARTITIONS) -> str:
    topic = f"consumer-{uuid.uuid4().hex[:8]}"
    run_tool(
        "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", servers,
        "--create", "--topic", topic, "--partitions", str(partitions), "--replication-factor", "1",
    )  # fmt: skip
    return topic


@pytest.mark.parametrize("protocol", ["classic-range", "classic-cooperative", "kip848"])
def test_the_core_of_it(kafka: str, protocol: str) -> None:
    """Two members share, commit, hand over; transactions are hidden until they end; positions reach the end."""
    topic = new_topic(kafka, 4)
    produce(kafka, topic, range(40), partitions=4)
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "isolation_level": "read_committed"}
    with open_consumer(kafka, topic, max_poll_records=7, **options) as first:
        seen = read_numbers(first, range(40))
        with open_consumer(kafka, topic, **options) as second:
            wait_until(lambda: first.poll(0.05) or second.poll(0.05) or len(second.assignment()) == 2, "a share of two")
            with KafkaProducer(bootstrap_servers=kafka, transactional_id=topic) as producer:
                producer.init_transactions()
                for commit, values in ((False, range(100, 140)), (True, range(40, 80))):
                    producer.begin_transaction()
                    for value in values:
                        producer.send(topic, b"%d" % value, partition=value % 4)
                    producer.commit_transaction() if commit else producer.abort_transaction()
            give_up = 200
            while len(seen) < 80 and give_up:
                for consumer in (first, second):
                    seen += [int(record.value) for record in consumer.poll(0.1).records()]
                give_up -= 1
    assert sorted(seen) == list(range(80)), "each once, and nothing that was aborted"
    with open_consumer(kafka, isolation_level="read_committed") as reader:
        partitions = [TopicPartition(topic, number) for number in range(4)]
        reader.assign(partitions)
        ends = reader.end_offsets(partitions)
        wait_until(lambda: reader.poll(0.1) is None or all(reader.position(tp) >= ends[tp] for tp in partitions), "end")
    with open_consumer(kafka, group_id=topic) as asker:
        assert sum(o.offset for o in asker.committed(partitions).values() if o is not None) >= 80


# ---- groups shared with others ----


class Peer:
    """Somebody else's member: what it holds, and what it has read."""

    def __init__(self, run: Callable[[Peer], None]) -> None:
        self.holds: set[int] = set()
        self.seen: list[int] = []
        self.stopping = threading.Event()
        self.failure: BaseException | None = None
        self._run = run
        self._thread = threading.Thread(target=self._guarded, daemon=True)
        self._thread.start()

    def _guarded(self) -> None:
        try:
            self._run(self)
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        self.stopping.set()
        self._thread.join(30)
        if self.failure is not None:
            raise self.failure


def kafka_python(servers: str, topic: str, strategy: str) -> Callable[[Peer], None]:
    pytest.importorskip("kafka")
    from kafka import KafkaConsumer as Theirs
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignor = {"range": RangePartitionAssignor, "sticky": StickyPartitionAssignor}[strategy]

    def run(peer: Peer) -> None:
        consumer = Theirs(
            topic, bootstrap_servers=servers.split(","), group_id=topic, auto_offset_reset="earliest",
            partition_assignment_strategy=[assignor], heartbeat_interval_ms=200, session_timeout_ms=6000,
        )  # fmt: skip
        while not peer.stopping.is_set():
            for records in consumer.poll(50).values():
                peer.seen += [int(record.value) for record in records]
            peer.holds = {tp.partition for tp in consumer.assignment()}
        consumer.close()

    return run


def aiokafka(servers: str, topic: str, strategy: str) -> Callable[[Peer], None]:
    pytest.importorskip("aiokafka")
    from aiokafka import AIOKafkaConsumer
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

    assignor = {"range": RangePartitionAssignor, "sticky": StickyPartitionAssignor}[strategy]

    async def main(peer: Peer) -> None:
        consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest",
            partition_assignment_strategy=[assignor], heartbeat_interval_ms=200, session_timeout_ms=6000,
        )  # fmt: skip
        await consumer.start()
        while not peer.stopping.is_set():
            for records in (await consumer.getmany(timeout_ms=50)).values():
                peer.seen += [int(record.value) for record in records]
            peer.holds = {tp.partition for tp in consumer.assignment()}
        await consumer.stop()

    return lambda peer: asyncio.run(main(peer))


def confluent(servers: str, topic: str, strategy: str) -> Callable[[Peer], None]:
    pytest.importorskip("confluent_kafka")
    import confluent_kafka

    config: dict[str, Any] = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest"}
    if strategy == "kip848":
        config["group.protocol"] = "consumer"
    else:
        config |= {
            "partition.assignment.strategy": strategy, "heartbeat.interval.ms": 200, "session.timeout.ms": 6000,
        }  # fmt: skip

    def run(peer: Peer) -> None:
        consumer = confluent_kafka.Consumer(config)
        consumer.subscribe([topic])
        while not peer.stopping.is_set():
            for message in consumer.consume(100, 0.05):
                if message.error() is None:
                    peer.seen.append(int(message.value() or b"-1"))
            peer.holds = {tp.partition for tp in consumer.assignment()}
        consumer.close()

    return run


JAVA = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}


def java(servers: str, topic: str, strategy: str) -> Callable[[Peer], None]:
    arguments = ("--group-protocol", "consumer") if strategy == "kip848" else ("--assignment-strategy", JAVA[strategy])

    def run(peer: Peer) -> None:
        common = ("--bootstrap-server", servers, "--topic", topic, "--group-id", topic, "--reset-policy", "earliest")
        running = Running(start_tool(f"{TOOLS}.VerifiableConsumer", *common, *arguments, "--verbose"))
        try:
            while not peer.stopping.wait(0.05):
                running.drain()
                peer.holds = running.owned()
                peer.seen = [int(event["value"]) for event in running.named("record_data")]
        finally:
            running.end()
            for stream in (running.process.stdin, running.process.stdout):
                if stream is not None:
                    stream.close()

    return run


PEERS = {"kafka-python": kafka_python, "aiokafka": aiokafka, "confluent": confluent, "java": java}
SHARED = [
    ("kafka-python", "range"), ("kafka-python", "sticky"), ("aiokafka", "range"), ("aiokafka", "sticky"),
    ("confluent", "range"), ("confluent", "cooperative-sticky"), ("confluent", "kip848"),
    ("java", "range"), ("java", "sticky"), ("java", "cooperative-sticky"), ("java", "kip848"),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("library", "strategy"), SHARED)
def test_a_group_shared_with_another_client(kafka: str, library: str, strategy: str) -> None:
    topic = new_topic(kafka)
    ledger = Ledger()
    options: dict[str, Any] = (
        {"group_protocol": "consumer"}
        if strategy == "kip848"
        else CLASSIC | {"partition_assignment_strategy": strategy}
    )

    def open_it() -> KafkaConsumer:
        return KafkaConsumer(bootstrap_servers=kafka, group_id=topic, **(QUICK | options))

    ours = [Member(f"m{number}", ledger, open_it, topic) for number in range(2)]
    peer = Peer(PEERS[library](kafka, topic, strategy))
    everything = set(range(PARTITIONS))

    def shared_out() -> bool:
        if peer.failure is not None:
            raise peer.failure
        held = [{tp.partition for tp in held} for held in ledger.shares().values()] + [peer.holds]
        return len(held) == 3 and all(held) and sum(map(len, held)) == PARTITIONS and set().union(*held) == everything

    try:
        wait_until(shared_out, "complete and disjoint shares for all three", 60)
        produce(kafka, topic, range(60), partitions=PARTITIONS)
        wait_until(lambda: len(set(ledger.seen) | set(peer.seen)) == 60, "every record", 30)
        assert shared_out()
        assert peer.seen
        assert ledger.seen
        total = [value for value, count in ledger.seen.items() for _ in range(count)] + peer.seen
        assert sorted(total) == list(range(60)), "each once"
        peer.stop()
        wait_until(lambda: len(ledger.owners) == PARTITIONS, "ours take over", 30)
    finally:
        peer.stopping.set()
        for member in ours:
            member.stop()
    assert not [error for member in ours for error in member.errors]
    assert not ledger.double


def test_wait_assigned_is_quick_under_both_protocols(kafka: str) -> None:
    """A single member has its partitions within two seconds of its first poll."""
    topic = new_topic(kafka, 2)
    for protocol in ("classic-cooperative", "kip848"):
        with open_consumer(kafka, topic, group_id=f"{topic}-{protocol}", protocol=protocol) as consumer:
            wait_assigned(consumer, 2, 5.0)


class Racked(RealKafka):
    """Three brokers in three racks, and the selector that reads nearby."""

    def _properties(self, broker: RealBroker) -> dict[str, str]:
        selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
        return super()._properties(broker) | {"broker.rack": f"rack-{broker.id}", "replica.selector.class": selector}


@pytest.mark.full
@pytest.mark.timeout(240)
def test_a_replica_in_the_same_rack_is_read_from_and_left_when_it_dies() -> None:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with Racked(brokers=3) as running:
        topic = f"racks-{uuid.uuid4().hex[:8]}"
        servers = running.bootstrap_servers
        run_tool(
            "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", servers,
            "--create", "--topic", topic, "--partitions", "1", "--replication-factor", "3",
        )  # fmt: skip
        produce(servers, topic, range(20))
        where = TopicPartition(topic, 0)
        with open_consumer(servers) as asker:
            leader = asker.partitions_for(topic)[0].leader
        assert leader is not None
        near = next(node for node in running.brokers if node != leader.id)
        with open_consumer(servers, client_rack=f"rack-{near}") as consumer:
            consumer.assign([where])
            state = consumer._core.subscription.partitions[where]
            assert read_numbers(consumer, range(20)) == list(range(20))
            wait_until(lambda: consumer.poll(0.05) is None or state.preferred_replica == near, "reading nearby", 20)
            produce(servers, topic, range(20, 30))
            assert read_numbers(consumer, range(20, 30)) == list(range(20, 30))
            running.brokers[near].kill()
            produce(servers, topic, range(30, 40))
            assert read_numbers(consumer, range(30, 40), timeout_s=20.0) == list(range(30, 40))
            assert state.preferred_replica != near
