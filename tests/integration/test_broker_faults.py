"""Each fault rule, as a client that other people wrote (librdkafka) meets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.broker.faults import Faults
from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import encode_batch
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient

confluent_kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def kafka_cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(2) as running:
        yield running


@pytest.fixture
def producer(kafka_cluster: EmbeddedCluster) -> Any:
    return confluent_kafka.Producer(
        {
            "bootstrap.servers": kafka_cluster.bootstrap_servers,
            "enable.idempotence": True,
            "request.timeout.ms": 1000,
            "message.timeout.ms": 15_000,
            "retry.backoff.ms": 10,
            "reconnect.backoff.ms": 10,
            "socket.timeout.ms": 2000,
            "log_level": 0,
            "linger.ms": 0,
        }
    )


def deliver(producer: Any, topic: str, value: bytes = b"v") -> Any:
    """The error of one delivery, None when it went well."""
    outcomes: list[Any] = []
    producer.produce(topic, value, on_delivery=lambda error, message: outcomes.append(error))
    assert producer.flush(20) == 0
    return outcomes[0]


def end_offset(cluster: EmbeddedCluster, topic: str) -> int:
    return cluster.partition_info(topic).log_end_offset


@pytest.mark.parametrize(
    "error", ["NOT_LEADER_OR_FOLLOWER", "KAFKA_STORAGE_ERROR", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"]
)
def test_retriable_errors_are_retried_and_the_record_is_there_once(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults, producer: Any, error: str
) -> None:
    rule = kafka_faults.error("Produce", error, topic=kafka_topic, count=2)
    assert deliver(producer, kafka_topic) is None
    assert rule.hits == 2
    assert end_offset(kafka_cluster, kafka_topic) == 1


def test_a_fatal_error_reaches_the_caller(kafka_topic: str, kafka_faults: Faults, producer: Any) -> None:
    kafka_faults.error("Produce", ErrorCode.TOPIC_AUTHORIZATION_FAILED, topic=kafka_topic)
    assert deliver(producer, kafka_topic).code() == ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("kind", ["drop_before", "drop_after", "truncate", "stall"])
def test_a_lost_or_broken_answer_is_retried_without_a_duplicate(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults, producer: Any, kind: str
) -> None:
    make = {
        "drop_before": lambda: kafka_faults.drop("Produce", topic=kafka_topic, count=1),
        "drop_after": lambda: kafka_faults.drop("Produce", after=True, topic=kafka_topic, count=1),
        "truncate": lambda: kafka_faults.truncate("Produce", topic=kafka_topic, count=1),
        "stall": lambda: kafka_faults.stall("Produce", topic=kafka_topic, count=1),
    }
    rule = make[kind]()
    assert deliver(producer, kafka_topic) is None
    assert rule.hits == 1
    assert end_offset(kafka_cluster, kafka_topic) == 1


def test_a_corrupt_answer_is_noticed_by_the_client(kafka_topic: str, kafka_faults: Faults, producer: Any) -> None:
    rule = kafka_faults.corrupt("Produce", topic=kafka_topic, count=1)
    error = deliver(producer, kafka_topic)
    assert rule.hits == 1
    # librdkafka gives up on bytes that it cannot read.
    assert error.code() == confluent_kafka.KafkaError._UNDERFLOW


def test_a_delayed_answer_is_late_and_right(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults, producer: Any
) -> None:
    rule = kafka_faults.delay("Produce", 0.2, topic=kafka_topic, count=1)
    assert deliver(producer, kafka_topic) is None
    assert rule.hits == 1
    assert end_offset(kafka_cluster, kafka_topic) == 1


def test_other_topics_are_left_alone(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults, producer: Any
) -> None:
    kafka_cluster.create_topic(f"{kafka_topic}-other")
    rule = kafka_faults.error("Produce", "KAFKA_STORAGE_ERROR", topic=kafka_topic)
    assert deliver(producer, f"{kafka_topic}-other") is None
    assert rule.hits == 0


def test_an_error_for_one_topic_of_a_request_leaves_the_other_written(
    kafka_cluster: EmbeddedCluster, kafka_faults: Faults
) -> None:
    for name in ("split-good", "split-bad"):
        kafka_cluster.create_topic(name, assignments={0: [1]})
    kafka_faults.error("Produce", "KAFKA_STORAGE_ERROR", topic="split-bad")
    batch = encode_batch([(0, None, b"v", None)])
    data = [TopicProduceData(n, partition_data=[PartitionProduceData(0, batch)]) for n in ("split-bad", "split-good")]
    with RawClient(kafka_cluster.bootstrap_servers) as client:
        answer = client.ask(ApiKey.PRODUCE, ProduceRequest(acks=1, timeout_ms=1000, topic_data=data), 9)
    codes = {topic.name: topic.partition_responses[0].error_code for topic in answer.responses}
    assert codes == {"split-bad": ErrorCode.KAFKA_STORAGE_ERROR, "split-good": 0}
    assert (end_offset(kafka_cluster, "split-good"), end_offset(kafka_cluster, "split-bad")) == (1, 0)


def test_metadata_with_an_error_still_names_the_brokers(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults
) -> None:
    kafka_faults.error("Metadata", "LEADER_NOT_AVAILABLE", topic=kafka_topic)
    with RawClient(kafka_cluster.bootstrap_servers) as client:
        answer = client.ask(ApiKey.METADATA, MetadataRequest(topics=[MetadataRequestTopic(name=kafka_topic)]))
    assert len(answer.brokers) == 2
    assert answer.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE


def test_a_consumer_survives_errors_of_every_group_request(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, kafka_faults: Faults, producer: Any
) -> None:
    for number in range(10):
        assert deliver(producer, kafka_topic, b"%d" % number) is None
    group = f"g-{kafka_topic}"
    rules = [
        kafka_faults.error("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", group=group, count=1),
        kafka_faults.error("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS", group=group, count=1),
        kafka_faults.error("SyncGroup", "REBALANCE_IN_PROGRESS", group=group, count=1),
        kafka_faults.error("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS", group=group, count=1),
        kafka_faults.error("Fetch", "NOT_LEADER_OR_FOLLOWER", topic=kafka_topic, count=1),
    ]
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka_cluster.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "retry.backoff.ms": 10,
            "reconnect.backoff.ms": 10,
            "log_level": 0,
        }
    )
    consumer.subscribe([kafka_topic])
    values: list[bytes] = []

    def all_read() -> bool:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            values.append(message.value())
        return len(values) == 10

    kafka_cluster.wait_until(all_read)
    assert kafka_cluster.wait_group_stable(group, members=1).kind == "classic"
    consumer.close()
    assert values == [b"%d" % number for number in range(10)]
    assert [rule.hits for rule in rules] == [1] * len(rules)


def test_a_leader_that_moves_under_a_producer_costs_nothing(
    kafka_cluster: EmbeddedCluster, kafka_topic: str, producer: Any
) -> None:
    for number in range(30):
        assert deliver(producer, kafka_topic, b"%d" % number) is None
        if number % 10 == 4:
            kafka_cluster.move_leader(kafka_topic, 0, 3 - kafka_cluster.leader(kafka_topic))
    assert end_offset(kafka_cluster, kafka_topic) == 30
