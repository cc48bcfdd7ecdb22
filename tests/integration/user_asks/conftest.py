"""One embedded cluster for most of these tests; every test has a topic and a group of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER

SESSION_S = 1.0


@pytest.fixture(scope="package")
def cluster() -> Iterator[EmbeddedCluster]:
    """Sessions of one second, also for KIP-848, where the broker sets them."""
    options = CLUSTER | {"group_consumer_session_timeout_ms": int(SESSION_S * 1000)}
    with EmbeddedCluster(brokers=2, seed=17, auto_create_topics_enable=False, **options) as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults_left(cluster: EmbeddedCluster) -> Iterator[None]:
    yield
    cluster.faults.clear()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """For topics and groups."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name).strip("-")[-120:]


@pytest.fixture
def new_topic(cluster: EmbeddedCluster, name: str) -> Callable[..., str]:
    """Make a topic named after the test."""

    def make(partitions: int = 1, **config: object) -> str:
        cluster.create_topic(name, partitions, config=config)
        return name

    return make
