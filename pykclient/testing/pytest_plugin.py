"""Fixtures for any project that tests against Kafka: ``kafka_cluster``, ``kafka_topic``, ``kafka_faults``.

Registered as a pytest plugin by installing the package. The cluster is started once per session, when first used;
its shape is what the fixture ``kafka_cluster_options`` returns, which a conftest may override.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pykclient.broker.faults import Faults
    from pykclient.testing.embedded import EmbeddedCluster

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def kafka_cluster_options() -> dict[str, Any]:
    """Keyword arguments for the session's ``EmbeddedCluster``; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def kafka_cluster(kafka_cluster_options: dict[str, Any]) -> Iterator[EmbeddedCluster]:
    """A running cluster; ``kafka_cluster.bootstrap_servers`` is where clients connect."""
    from pykclient.testing.embedded import EmbeddedCluster

    with EmbeddedCluster(**kafka_cluster_options) as cluster:
        yield cluster


@pytest.fixture
def kafka_topic(kafka_cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> str:
    """The name of a fresh topic with one partition; with indirect parametrization, with so many."""
    label = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name).strip("-")[:200]
    name = f"{label}-{next(_numbers)}"
    kafka_cluster.create_topic(name, getattr(request, "param", 1))
    return name


@pytest.fixture
def kafka_faults(kafka_cluster: EmbeddedCluster) -> Iterator[Faults]:
    """The cluster's fault rules; all are removed when the test ends."""
    yield kafka_cluster.faults
    kafka_cluster.faults.clear()
