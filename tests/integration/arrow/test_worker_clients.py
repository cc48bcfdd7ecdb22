"""The clients of Spark's workers: kept for the next task, closed when they failed, idled or are another process's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pykclient import KafkaConsumer
from pykclient.errors import KafkaError
from pykclient.spark import clients
from pykclient.testing import EmbeddedCluster


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    clients.close_all()
    yield
    clients.close_all()


def borrow(cluster: EmbeddedCluster, **settings: str) -> KafkaConsumer:
    with clients.borrowed_consumer({"bootstrap.servers": cluster.bootstrap_servers, **settings}) as consumer:
        consumer.list_topics()
        return consumer


def is_closed(consumer: KafkaConsumer) -> bool:
    try:
        consumer.list_topics()
    except KafkaError:
        return True
    return False


def test_the_next_task_gets_the_same_client_if_it_wants_the_same(cluster: EmbeddedCluster) -> None:
    first = borrow(cluster)
    assert borrow(cluster) is first
    assert borrow(cluster, client_id="other") is not first
    settings = {"bootstrap.servers": cluster.bootstrap_servers}
    with clients.borrowed_consumer(settings) as one, clients.borrowed_consumer(settings) as two:
        assert one is first
        assert two is not one


def test_a_client_that_failed_is_closed(cluster: EmbeddedCluster) -> None:
    failed = None
    with pytest.raises(ZeroDivisionError):
        with clients.borrowed_consumer({"bootstrap.servers": cluster.bootstrap_servers}) as failed:
            raise ZeroDivisionError
    assert failed is not None
    assert is_closed(failed)
    assert borrow(cluster) is not failed


def test_idle_clients_are_closed_when_the_next_one_is_asked_for(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = borrow(cluster)
    monkeypatch.setattr(clients, "IDLE_S", 0.0)
    assert borrow(cluster) is not idle
    assert is_closed(idle)


def test_a_forked_worker_leaves_its_parents_clients_alone(
    cluster: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = borrow(cluster)
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: clients._pid + 1)
        mine = borrow(cluster)
        assert mine is not parents
        mine.close()
        clients._idle.clear()
    assert not is_closed(parents)
    parents.close()
