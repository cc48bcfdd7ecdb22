"""Nothing lost, nothing doubled, order kept: idempotent sends while Produce answers with every error a broker may give
for a while."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.broker.faults import Faults
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerRecord

PARTITIONS = 6
THREADS = 3

RETRIABLE = (
    "CORRUPT_MESSAGE",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_OR_FOLLOWER",
    "REQUEST_TIMED_OUT",
    "NETWORK_EXCEPTION",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "KAFKA_STORAGE_ERROR",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "UNKNOWN_TOPIC_ID",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UNKNOWN_PRODUCER_ID",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=3, seed=1) as running:
        yield running


def read_all(cluster: EmbeddedCluster, topic: str) -> dict[int, list[ConsumerRecord[bytes, bytes]]]:
    """Every record of the topic up to its end."""
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, index) for index in range(len(consumer.partitions_for(topic)))]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        found: dict[int, list[ConsumerRecord[bytes, bytes]]] = defaultdict(list)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for tp, records in consumer.poll(5.0).items():
                found[tp.partition] += records
    return found


def send_and_check(cluster: EmbeddedCluster, topic: str, records: int, **options: object) -> None:
    """Several threads send numbered records; each thread's records must be in its partitions once, in order."""
    cluster.create_topic(topic, PARTITIONS)
    settings = {"retry_backoff_ms": 10, "retry_backoff_max_ms": 50, "linger_ms": 1, "batch_size": 600} | options
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **settings)

    def work(thread: int) -> None:
        for number in range(records // THREADS):
            producer.send(topic, b"%d:%d" % (thread, number), key=bytes(40), partition=number % PARTITIONS)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        producer.flush(30)
        failed = producer.metrics()["record-error-total"]
    finally:
        producer.close(1)
    assert failed == 0
    found = read_all(cluster, topic)
    total = sum(map(len, found.values()))
    assert total == records // THREADS * THREADS, f"{total} records stored"
    for partition, stored in found.items():
        wanted = list(range(partition, records // THREADS, PARTITIONS))
        for sender in range(THREADS):
            numbers = [int(r.value.partition(b":")[2]) for r in stored if r.value.startswith(b"%d:" % sender)]
            assert numbers == wanted, f"partition {partition}, thread {sender}"


@pytest.mark.parametrize("error", RETRIABLE)
def test_every_error_that_passes(cluster: EmbeddedCluster, error: str, full: bool) -> None:
    rule = cluster.faults.error("Produce", error, probability=0.3, count=200)
    try:
        send_and_check(cluster, f"error-{error.lower()}-{full}", 100_000 if full else 3000)
    finally:
        rule.remove()
    assert rule.hits > 0


FAULTS: dict[str, Callable[[Faults], object]] = {
    "drop-before": lambda faults: faults.drop("Produce", probability=0.1, count=40),
    "drop-after": lambda faults: faults.drop("Produce", after=True, probability=0.1, count=40),
    "delay": lambda faults: faults.delay("Produce", 0.05, probability=0.3, count=200),
    "truncate": lambda faults: faults.truncate("Produce", probability=0.1, count=20),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_way_a_connection_fails(cluster: EmbeddedCluster, name: str, full: bool) -> None:
    rule = FAULTS[name](cluster.faults)
    try:
        send_and_check(cluster, f"connection-{name}-{full}", 100_000 if full else 3000, reconnect_backoff_ms=5)
    finally:
        cluster.faults.clear()
    assert rule.hits > 0  # type: ignore[attr-defined]


def test_leaders_that_move(cluster: EmbeddedCluster, full: bool) -> None:
    topic = f"moving-{full}"
    stop = threading.Event()

    def move() -> None:
        turn = 0
        while not stop.wait(0.05):
            turn += 1
            if cluster.has_topic(topic):
                cluster.move_leader(topic, turn % PARTITIONS, cluster.nodes[turn % 3])

    mover = threading.Thread(target=move)
    mover.start()
    try:
        send_and_check(cluster, topic, 100_000 if full else 6000)
    finally:
        stop.set()
        mover.join()
