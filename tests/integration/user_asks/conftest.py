"""One embedded cluster for most of these tests; every test has a topic and a group of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.conftest import name, new_topic, no_faults_left  # noqa: F401  fixtures
from tests.integration.consumer.support import CLUSTER

SESSION_S = 1.0


@pytest.fixture(scope="package")
def cluster() -> Iterator[EmbeddedCluster]:
    """Sessions of one second, also for KIP-848, where the broker sets them."""
    options = CLUSTER | {"group_consumer_session_timeout_ms": int(SESSION_S * 1000)}
    with EmbeddedCluster(brokers=2, seed=17, auto_create_topics_enable=False, **options) as running:
        yield running
