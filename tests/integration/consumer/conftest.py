"""One embedded cluster of two brokers for most consumer tests; every test has a topic and a group of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER


@pytest.fixture(scope="package")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, seed=11, **CLUSTER) as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults_left(cluster: EmbeddedCluster) -> Iterator[None]:
    yield
    cluster.faults.clear()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """For topics and groups."""
    return re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name).strip("-")[-150:]


@pytest.fixture
def new_topic(cluster: EmbeddedCluster, name: str) -> Callable[..., str]:
    """Make a topic named after the test."""

    def make(partitions: int = 1, **config: object) -> str:
        cluster.create_topic(name, partitions, config=config)
        return name

    return make
