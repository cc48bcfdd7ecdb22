"""Brokers that are gone without saying so: stopped, unreachable, or with a connection on which no answer comes.

On the embedded cluster, so without Java; tests/chaos does the same to three real brokers.
"""

from __future__ import annotations

import time

import pytest

from pykclient.errors import KafkaTimeoutError
from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import producer_for, values


def test_a_silent_leader_is_left_as_soon_as_another_is_elected() -> None:
    """Others wait for request_timeout_ms, 30 s; the question who leads is put to another broker after one second."""
    with EmbeddedCluster(brokers=3) as own:
        old, new = own.nodes[1], own.nodes[2]
        own.create_topic("t", assignments={0: [old]})
        producer = producer_for(own)
        producer.send("t", b"0").result(5)
        silent = own.faults.stall(None, node=old)
        futures = [producer.send("t", b"%d" % number) for number in range(1, 50)]
        silent.wait_for(1)
        began = time.monotonic()
        own.move_leader("t", 0, new)
        for future in futures:
            future.result(10)
        assert time.monotonic() - began < 4.0
        producer.close(1)
        assert values(own, "t") == [b"%d" % number for number in range(50)]


def test_a_connection_that_swallows_answers_is_replaced() -> None:
    """The leader is well, one answer never comes, and the records were stored: they must not be stored again."""
    with EmbeddedCluster(brokers=1, topics={"t": 1}) as own:
        producer = producer_for(own)
        producer.send("t", b"0").result(5)
        swallowed = own.faults.delay("Produce", 3600, count=1)
        began = time.monotonic()
        futures = [producer.send("t", b"%d" % number) for number in range(1, 50)]
        for future in futures:
            future.result(15)
        assert swallowed.hits == 1
        assert 4.0 < time.monotonic() - began < 9.0
        producer.close(1)
        assert values(own, "t") == [b"%d" % number for number in range(50)]


@pytest.mark.parametrize("trouble", ["hangs-up", "silent"])
def test_a_leader_that_cannot_be_reached_is_left_when_another_is_elected(trouble: str) -> None:
    """The others still name it when its connection breaks; who leads must be asked again and again."""
    with EmbeddedCluster(brokers=2) as own:
        first, second = own.nodes
        own.create_topic("t", assignments={0: [second]})
        producer = producer_for(own, retry_backoff_ms=100, retry_backoff_max_ms=1000, reconnect_backoff_ms=50)
        producer.send("t", b"first").result(5)
        gone = own.faults.drop(None, node=second) if trouble == "hangs-up" else own.faults.stall(None, node=second)
        future = producer.send("t", b"x")
        with pytest.raises(KafkaTimeoutError):
            future.result(2.5 if trouble == "hangs-up" else 6.5)
        assert gone.hits > 0
        own.move_leader("t", 0, first)
        began = time.monotonic()
        future.result(15)
        assert time.monotonic() - began < 2.5
        producer.close(1)


def test_a_leader_that_comes_back_is_written_to_at_once() -> None:
    with EmbeddedCluster(brokers=2) as own:
        own.create_topic("t", assignments={0: [own.nodes[1]]})
        producer = producer_for(own, retry_backoff_ms=100, retry_backoff_max_ms=1000)
        producer.partitions_for("t")
        gone = own.nodes[1]
        own.stop(gone)
        future = producer.send("t", b"x")
        with pytest.raises(KafkaTimeoutError):
            future.result(0.5)
        own.start_node(gone)
        began = time.monotonic()
        future.result(10)
        assert time.monotonic() - began < 2.5
        producer.close(1)
