"""Transactions that span brokers, with librdkafka: markers reach every leader, and coordinators may move meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient import KafkaAdminClient
from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from pykclient.protocol.messages.describe_transactions import DescribeTransactionsRequest
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import encode_batch
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient

confluent_kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3, topics={"in": 3, "out": 3}) as running:
        yield running


def producer_of(cluster: EmbeddedCluster, transactional_id: str) -> Any:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": transactional_id,
            "retry.backoff.ms": 10,
            "log_level": 0,
        }
    )
    producer.init_transactions(20)
    return producer


def consumer_of(cluster: EmbeddedCluster, group: str, isolation: str = "read_committed") -> Any:
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )


def read_to_end(cluster: EmbeddedCluster, topic: str, isolation: str = "read_committed") -> list[bytes]:
    consumer = consumer_of(cluster, "reader", isolation)
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(3)])
    values: list[bytes] = []
    ended: set[int] = set()

    def at_end() -> bool:
        message = consumer.poll(0.1)
        if message is not None:
            if message.error() is None:
                values.append(message.value())
            elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                ended.add(message.partition())
        return len(ended) == 3

    cluster.wait_until(at_end)
    consumer.close()
    return sorted(values)


def send(producer: Any, topic: str, prefix: str, count: int = 9) -> None:
    for number in range(count):
        producer.produce(topic, f"{prefix}{number}".encode(), partition=number % 3)


def test_committed_records_of_all_brokers_are_seen_and_aborted_ones_are_not(cluster: EmbeddedCluster) -> None:
    assert {cluster.leader("out", partition) for partition in range(3)} == {1, 2, 3}
    producer = producer_of(cluster, "tx")
    for number in range(4):
        producer.begin_transaction()
        send(producer, "out", f"{'c' if number % 2 else 'a'}{number}-")
        producer.flush(10)
        if number % 2:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)
    committed = [f"c{number}-{index}".encode() for number in (1, 3) for index in range(9)]
    assert read_to_end(cluster, "out") == committed
    assert len(read_to_end(cluster, "out", "read_uncommitted")) == 36


def test_the_coordinator_may_move_in_the_middle_of_a_transaction(cluster: EmbeddedCluster) -> None:
    producer = producer_of(cluster, "tx")
    for _ in range(3):
        producer.begin_transaction()
        send(producer, "out", "x")
        producer.flush(10)
        cluster.move_coordinator(cluster.coordinator(transactional_id="tx") % 3 + 1, transactional_id="tx")
        producer.commit_transaction(30)
    assert len(read_to_end(cluster, "out")) == 27


def test_markers_for_a_broker_that_is_just_stopping_are_sent_again(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked of a broker between its last step and its end must fail, not wait for ever."""
    cluster.move_leader("out", 0, 2)
    cluster.move_coordinator(1, transactional_id="copier")
    producer = producer_of(cluster, "copier")
    producer.begin_transaction()
    producer.produce("out", b"x", partition=0)
    producer.flush(20)
    stopping, go_on = threading.Event(), threading.Event()
    rooms = cluster._cluster._get(2).rooms
    close = rooms.close

    def close_slowly(wall_ms: int) -> None:
        stopping.set()
        go_on.wait(30)
        close(wall_ms)

    monkeypatch.setattr(rooms, "close", close_slowly)
    thread = threading.Thread(target=cluster.restart, args=(2,))
    thread.start()
    assert stopping.wait(20)
    producer.commit_transaction(20)
    go_on.set()
    thread.join(30)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        cluster.wait_until(
            lambda: admin.list_transactions()["copier"].state == "CompleteCommit" or None, "the commit to be complete"
        )
    assert read_to_end(cluster, "out") == [b"x"]


def test_offsets_and_records_are_committed_together(cluster: EmbeddedCluster) -> None:
    source = producer_of(cluster, "source")
    source.begin_transaction()
    send(source, "in", "m")
    source.commit_transaction(20)
    producer, consumer = producer_of(cluster, "copier"), consumer_of(cluster, "copiers")
    consumer.subscribe(["in"])
    copied = 0

    def copy_some() -> bool:
        nonlocal copied
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            return False
        producer.begin_transaction()
        producer.produce("out", message.value(), partition=message.partition())
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 20)
        copied += 1
        if copied % 2:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)
        return copied == 9

    cluster.wait_until(copy_some)
    consumer.close()
    assert len(read_to_end(cluster, "out")) == 5
    group = cluster.group_info("copiers")
    assert group is not None
    assert set(group.offsets) <= {("in", 0), ("in", 1), ("in", 2)}


def test_a_second_producer_fences_the_first(cluster: EmbeddedCluster) -> None:
    first = producer_of(cluster, "tx")
    first.begin_transaction()
    send(first, "out", "lost")
    first.flush(10)
    second = producer_of(cluster, "tx")
    second.begin_transaction()
    send(second, "out", "kept", 3)
    second.commit_transaction(20)
    with pytest.raises(confluent_kafka.KafkaException):
        first.commit_transaction(20)
    assert read_to_end(cluster, "out") == [b"kept0", b"kept1", b"kept2"]


@pytest.mark.parametrize(("verifies", "version", "error"), [
    (True, 11, ErrorCode.TRANSACTION_ABORTABLE),
    (False, 11, ErrorCode.NONE),
    (True, 12, ErrorCode.NONE),
    (False, 12, ErrorCode.NONE),
])  # fmt: skip
def test_a_write_to_a_partition_that_is_not_in_the_transaction(verifies: bool, version: int, error: ErrorCode) -> None:
    """Without verification it stays for ever, as on brokers before KIP-890; version 12 adds the partition by itself."""
    with EmbeddedCluster(transaction_partition_verification_enable=verifies) as cluster:
        cluster.create_topic("t")
        with RawClient(cluster.bootstrap_servers) as client:
            client.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]))
            producer = client.ask(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest("tx", 60_000), 5)
            records = encode_batch(
                [(1, None, b"v", None)],
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                base_sequence=0,
                transactional=True,
            )
            data = [TopicProduceData(name="t", partition_data=[PartitionProduceData(0, records)])]
            answer = client.ask(ApiKey.PRODUCE, ProduceRequest("tx", -1, 5000, data), version)
            assert answer.responses[0].partition_responses[0].error_code == error
            hanging = client.ask(ApiKey.DESCRIBE_PRODUCERS, DescribeProducersRequest([TopicRequest("t", [0])]))
            open_from = [each.current_txn_start_offset for each in hanging.topics[0].partitions[0].active_producers]
            assert open_from == ([] if error else [0])
            state = client.ask(ApiKey.DESCRIBE_TRANSACTIONS, DescribeTransactionsRequest(["tx"])).transaction_states[0]
            assert state.transaction_state == ("Ongoing" if version == 12 else "Empty")
