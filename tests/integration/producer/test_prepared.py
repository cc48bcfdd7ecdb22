"""Transactions that one producer prepares and another ends."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pickle
from collections.abc import Iterator

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition, UsageError
from pykclient.aio import AsyncKafkaProducer
from pykclient.errors import IllegalStateError, KafkaError
from pykclient.producer.prepared import PreparedTransaction
from pykclient.testing import EmbeddedCluster


@pytest.fixture(scope="module", params=["v2", "v1"])
def cluster(request: pytest.FixtureRequest) -> Iterator[EmbeddedCluster]:
    old = {"END_TXN": 4} if request.param == "v1" else None
    with EmbeddedCluster(seed=5, max_versions=old) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> str:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    cluster.create_topic(name, 1)
    return name


def producer(cluster: EmbeddedCluster, transactional_id: str | None = None) -> KafkaProducer:
    return KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=transactional_id)


def committed(cluster: EmbeddedCluster, topic: str) -> list[bytes | None]:
    tp = TopicPartition(topic, 0)
    options = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, **options) as consumer:
        consumer.assign([tp])
        end = consumer.end_offsets([tp])[tp]
        found: list[bytes | None] = []
        while consumer.position(tp) < end:
            found += [record.value for record in consumer.poll(0.2).records()]
        return found


def prepare(cluster: EmbeddedCluster, topic: str, value: bytes = b"x") -> PreparedTransaction:
    """By a producer that is gone when this returns."""
    with producer(cluster, topic) as first:
        first.init_transactions()
        first.begin_transaction()
        first.send(topic, value)
        return first.prepare_transaction()


def test_another_producer_commits_it_and_may_repeat_that(cluster: EmbeddedCluster, topic: str) -> None:
    prepared = prepare(cluster, topic)
    assert committed(cluster, topic) == []
    again = PreparedTransaction(**json.loads(json.dumps(dataclasses.asdict(prepared))))
    assert pickle.loads(pickle.dumps(prepared)) == again == prepared
    with producer(cluster) as other:
        other.commit_prepared(again)
        other.commit_prepared(again)
    assert committed(cluster, topic) == [b"x"]


def test_another_producer_aborts_it(cluster: EmbeddedCluster, topic: str) -> None:
    prepared = prepare(cluster, topic)
    with producer(cluster) as other:
        other.abort_prepared(prepared)
        with pytest.raises(KafkaError):
            other.commit_prepared(prepared)
    assert committed(cluster, topic) == []


def test_a_new_producer_with_the_id_aborts_it(cluster: EmbeddedCluster, topic: str) -> None:
    prepared = prepare(cluster, topic)
    with producer(cluster, topic) as second:
        second.init_transactions()
        with pytest.raises(KafkaError):
            second.commit_prepared(prepared)
        with second.transaction():
            second.send(topic, b"y")
    assert committed(cluster, topic) == [b"y"]


def test_the_same_producer_goes_on_after_init_transactions(cluster: EmbeddedCluster, topic: str) -> None:
    with producer(cluster, topic) as one:
        one.init_transactions()
        for value in (b"1", b"2", b"3"):
            one.begin_transaction()
            one.send(topic, value)
            prepared = one.prepare_transaction()
            with pytest.raises(IllegalStateError, match="init_transactions"):
                one.send(topic, b"no")
            one.commit_prepared(prepared)
            one.init_transactions()
    assert committed(cluster, topic) == [b"1", b"2", b"3"]


def test_asyncio_producers_prepare_and_end_too(cluster: EmbeddedCluster, topic: str) -> None:
    async def run() -> None:
        servers = cluster.bootstrap_servers
        async with AsyncKafkaProducer(bootstrap_servers=servers, transactional_id=topic) as one:
            for value in (b"kept", b"dropped", b"kept too"):
                await one.init_transactions()
                await one.begin_transaction()
                await one.send(topic, value)
                prepared = await one.prepare_transaction()
                async with AsyncKafkaProducer(bootstrap_servers=servers) as other:
                    await (other.abort_prepared if value == b"dropped" else other.commit_prepared)(prepared)

    asyncio.run(run())
    with producer(cluster) as other:
        other.commit_prepared(prepare(cluster, topic, b"sync"))
    assert committed(cluster, topic) == [b"kept", b"kept too", b"sync"]


def test_an_empty_one_can_be_ended_too(cluster: EmbeddedCluster, topic: str) -> None:
    with producer(cluster, topic) as one:
        one.init_transactions()
        one.begin_transaction()
        prepared = one.prepare_transaction()
        assert prepared.empty
        one.commit_prepared(prepared)


def test_preparing_needs_an_open_transaction(cluster: EmbeddedCluster, topic: str) -> None:
    with producer(cluster, topic) as one:
        one.init_transactions()
        with pytest.raises(IllegalStateError):
            one.prepare_transaction()
    with producer(cluster) as other, pytest.raises(UsageError, match="transactional_id"):
        other.prepare_transaction()


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "CONCURRENT_TRANSACTIONS"])
def test_a_commit_goes_on_through_passing_errors(cluster: EmbeddedCluster, topic: str, error: str) -> None:
    prepared = prepare(cluster, topic)
    rules = [cluster.faults.error("END_TXN", error, count=2), cluster.faults.drop("END_TXN", after=True, count=1)]
    with producer(cluster) as other:
        other.commit_prepared(prepared)
    assert [rule.hits for rule in rules] == [2, 1]
    assert committed(cluster, topic) == [b"x"]
