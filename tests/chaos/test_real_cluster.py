"""Three brokers of Apache Kafka under kill, stop and continue, and behind the fault proxy: the bench itself works.

A client of others (librdkafka) proves the bench; the same faults are put to our own clients in their own tests.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import Fault
from pykclient.testing.real_kafka import RealKafka
from tests.chaos.conftest import Bench
from tests.chaos.ledger import Ledger

confluent_kafka = pytest.importorskip("confluent_kafka")
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # noqa: E402

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(180)]

PARTITIONS = 3


def leader_of(kafka: RealKafka, topic: str, partition: int) -> int:
    """Asks until the news of a new topic has reached the broker that answers."""
    admin = AdminClient({"bootstrap.servers": kafka.direct_bootstrap_servers})
    give_up_at = time.monotonic() + 20
    while time.monotonic() < give_up_at:
        partitions = admin.list_topics(topic, timeout=10).topics[topic].partitions
        if len(partitions) == PARTITIONS and partitions[partition].leader > 0:
            return int(partitions[partition].leader)
    raise AssertionError(f"{topic} has no leader")


def new_topic(kafka: RealKafka) -> str:
    name = f"chaos-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": kafka.direct_bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(20)
    return name


def read_back(kafka: RealKafka, topic: str) -> Iterator[tuple[int, int, int]]:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka.direct_bootstrap_servers, "group.id": "check", "enable.auto.commit": False}
    )
    for partition in range(PARTITIONS):
        where = confluent_kafka.TopicPartition(topic, partition, 0)
        _, end = consumer.get_watermark_offsets(where, timeout=20)
        consumer.assign([where])
        position = 0
        while position < end:
            message = consumer.poll(20)
            assert message is not None, f"nothing more at {position} of {end}"
            assert message.error() is None, message.error()
            yield partition, message.offset(), int(message.value())
            position = message.offset() + 1
    consumer.close()


def run_workload(bootstrap_servers: str, topic: str, fault: Callable[[Ledger], None], count: int = 1500) -> Ledger:
    """Send unique integers at about 400 a second; the fault runs in the middle, on a thread of its own."""
    ledger = Ledger()
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "enable.idempotence": True,
            "linger.ms": 5,
            "socket.timeout.ms": 10_000,
            "log_level": 0,
        }
    )

    def acknowledged(error: object, message: object) -> None:
        value = int(message.value())  # type: ignore[attr-defined]
        if error is not None:
            ledger.refused(value, str(error))
        else:
            ledger.acknowledged(value, message.partition(), message.offset())  # type: ignore[attr-defined]

    trouble = threading.Thread(target=fault, args=(ledger,))
    for value in range(count):
        if value == count // 4:
            trouble.start()
        partition = value % PARTITIONS
        ledger.sending(partition, value)
        producer.produce(topic, str(value).encode(), partition=partition, on_delivery=acknowledged)
        producer.poll(0.0025)
    trouble.join()
    assert producer.flush(90) == 0
    return ledger


def check(kafka: RealKafka, topic: str, ledger: Ledger, count: int = 1500) -> None:
    assert not ledger.failed
    assert len(ledger.acked) == count
    verdict = ledger.check(read_back(kafka, topic))
    assert verdict.clean, verdict


def test_kill_the_leader_and_start_it_again(bench: Bench) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    broker = kafka.brokers[leader_of(kafka, topic, 0)]

    def fault(_: Ledger) -> None:
        broker.kill()
        broker.start()
        kafka.wait_ready()

    ledger = run_workload(kafka.bootstrap_servers, topic, fault)
    check(kafka, topic, ledger)


def test_stop_the_leader_and_continue(bench: Bench) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic, 0)
    moved: list[int] = []

    def fault(_: Ledger) -> None:
        kafka.brokers[leader].pause()
        try:
            others = [b.direct_port for b in kafka.brokers.values() if b.id != leader]
            admin = AdminClient({"bootstrap.servers": ",".join(f"127.0.0.1:{port}" for port in others)})
            while not moved:
                now = admin.list_topics(topic, timeout=10).topics[topic].partitions[0].leader
                if now != leader:
                    moved.append(now)
        finally:
            kafka.brokers[leader].resume()
            kafka.wait_ready()

    ledger = run_workload(kafka.bootstrap_servers, topic, fault)
    assert moved, "the other brokers elect a leader while this one is silent"
    check(kafka, topic, ledger)


@pytest.mark.parametrize(
    "fault", [Fault.RESET_MID_REQUEST, Fault.LOSE_RESPONSE, Fault.DUPLICATE_RESPONSE, Fault.TRUNCATE_RESPONSE]
)
def test_network_faults_on_every_twentieth_produce(bench: Bench, fault: Fault) -> None:
    kafka, proxies = bench
    topic = new_topic(kafka)
    rules = [proxy.add(fault, [ApiKey.PRODUCE], probability=0.05) for proxy in proxies.values()]
    try:
        ledger = run_workload(kafka.bootstrap_servers, topic, lambda _: None)
    finally:
        for proxy in proxies.values():
            proxy.clear()
    assert sum(rule.hits for rule in rules) > 0, "no fault, no proof"
    check(kafka, topic, ledger)
