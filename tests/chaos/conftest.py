"""One cluster of three real brokers for all tests here, each broker behind a fault proxy; ``direct`` goes round them.

Faults of nodes are put to clients that connect directly: a proxy would answer the handshake for a stopped broker.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykclient.testing.chaos_proxy import ChaosProxy, proxied
from pykclient.testing.real_kafka import RealKafka, available
from tests.chaos.timing import MEMBER_SESSION_MS

Bench = tuple[RealKafka, dict[int, ChaosProxy]]


@pytest.fixture(scope="package")
def cluster() -> Iterator[Bench]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    config = {
        "group.consumer.min.heartbeat.interval.ms": "200",
        "group.consumer.heartbeat.interval.ms": "200",
        "group.consumer.min.session.timeout.ms": str(MEMBER_SESSION_MS),
        "group.consumer.session.timeout.ms": str(MEMBER_SESSION_MS),
        "unstable.api.versions.enable": "false",
    }
    kafka = RealKafka(brokers=3, config=config)
    with proxied(kafka, seed=8) as proxies, kafka:
        yield kafka, proxies


@pytest.fixture
def bench(cluster: Bench) -> Iterator[Bench]:
    """The cluster, made whole before a test and not after it: nobody waits for what the last one broke."""
    kafka, proxies = cluster
    for broker in kafka.brokers.values():
        if not broker.running:
            broker.start()
    kafka.wait_ready()
    yield cluster
    for proxy in proxies.values():
        proxy.clear()
        proxy.release()
        proxy.held.clear()
