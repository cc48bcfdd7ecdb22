"""One embedded cluster for all Arrow tests; every test makes a topic of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pykclient.testing import EmbeddedCluster

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture(scope="package")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, seed=7) as running:
        yield running


@pytest.fixture
def new_topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Make a topic named after the test."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)

    def make(partitions: int = 3, **config: str) -> str:
        cluster.create_topic(name, partitions, config={key.replace("_", "."): value for key, value in config.items()})
        return name

    return make
