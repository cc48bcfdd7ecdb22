"""Brokers move, stop and come back at other addresses; leaders and coordinators move: readers go on, unaided."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER, open_consumer, produce, read_numbers

RECOVERY_S = 10.0
each_protocol = pytest.mark.parametrize("protocol", ["classic-cooperative", "kip848"])


@pytest.fixture
def three() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=3, seed=9, **CLUSTER) as running:
        yield running


def read_on(cluster: EmbeddedCluster, consumer: KafkaConsumer, topic: str, values: range) -> float:
    """Send more and read it; how long that took."""
    began = time.monotonic()
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, b"%d" % value, partition=value % 3)
    read_numbers(consumer, values, RECOVERY_S + 5)
    return time.monotonic() - began


@each_protocol
def test_leaders_and_coordinators_move(three: EmbeddedCluster, name: str, protocol: str) -> None:
    three.create_topic(name, 3)
    produce(three, name, range(9), partitions=3)
    with open_consumer(three, name, group_id=name, protocol=protocol) as consumer:
        read_numbers(consumer, range(9))
        for round_number in range(2):
            for partition in range(3):
                three.move_leader(name, partition, three.nodes[(partition + round_number) % 3])
            three.move_coordinator(three.nodes[round_number], group=name)
            first = 9 + 9 * round_number
            assert read_on(three, consumer, name, range(first, first + 9)) < RECOVERY_S
        consumer.commit()


@each_protocol
def test_one_of_three_brokers_is_gone(three: EmbeddedCluster, name: str, protocol: str) -> None:
    three.create_topic(name, 3)
    produce(three, name, range(9), partitions=3)
    with open_consumer(three, name, group_id=name, protocol=protocol) as consumer:
        read_numbers(consumer, range(9))
        gone = three.coordinator(group=name)
        first, second = (node for node in three.nodes if node != gone)
        for partition in range(3):
            three.move_leader(name, partition, (first, second)[partition % 2])
        three.move_coordinator(first, group=name)
        three.stop(gone)
        assert read_on(three, consumer, name, range(9, 18)) < RECOVERY_S
        consumer.commit(timeout=RECOVERY_S)


@each_protocol
def test_every_broker_comes_back_at_another_address(three: EmbeddedCluster, name: str, protocol: str) -> None:
    three.create_topic(name, 3)
    produce(three, name, range(9), partitions=3)
    with open_consumer(three, name, group_id=name, protocol=protocol) as consumer:
        read_numbers(consumer, range(9))
        for round_number, node in enumerate(list(three.nodes)):
            three.stop(node)
            three.start_node(node, port=0)
            first = 9 + 9 * round_number
            assert read_on(three, consumer, name, range(first, first + 9)) < RECOVERY_S
        consumer.commit(timeout=RECOVERY_S)
