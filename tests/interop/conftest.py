"""The clusters that other people's clients are tried on: ours, and Apache Kafka itself; each starts once."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence

import pytest

from pykclient.testing import EmbeddedCluster
from pykclient.testing.real_kafka import RealKafka, available
from tests.interop.wire import Compare, Conversation, differences

# Members hear of a rebalance with their next heartbeat; the new protocol's interval is the broker's to set.
HEARTBEAT_MS = 200


@pytest.fixture(scope="session")
def embedded_bootstrap() -> Iterator[str]:
    with EmbeddedCluster(
        group_initial_rebalance_delay_ms=0, group_consumer_heartbeat_interval_ms=HEARTBEAT_MS
    ) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="session")
def real_bootstrap() -> Iterator[str]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    config = {
        "group.consumer.min.heartbeat.interval.ms": str(HEARTBEAT_MS),
        "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    }
    with RealKafka(config=config) as kafka:
        yield kafka.bootstrap_servers


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real_kafka)])
def bootstrap_servers(request: pytest.FixtureRequest) -> str:
    """The same test, the same assertions, both clusters: a difference in behaviour shows."""
    return str(request.getfixturevalue(f"{request.param}_bootstrap"))


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name of its own for every test."""
    return f"{request.node.originalname}-{uuid.uuid4().hex[:8]}"[-100:]


@pytest.fixture
def compare(embedded_bootstrap: str, real_bootstrap: str) -> Compare:
    """Holds the same conversation with both and names every difference."""

    def compare(talk: Callable[[Conversation], None], *, known: Sequence[str] = ()) -> None:
        suffix = uuid.uuid4().hex[:8]
        names = {"topic": f"same-{suffix}", "group": f"group-{suffix}", "tx": f"tx-{suffix}"}
        sides = [Conversation(bootstrap, names) for bootstrap in (real_bootstrap, embedded_bootstrap)]
        for side in sides:
            talk(side)
            side.wire.close()
        real, embedded = (side.answers for side in sides)
        assert real, "nothing was asked"
        lines = [line for label in real for line in differences(real[label], embedded[label], label)]
        found = [line for line in lines if not any(re.match(pattern, line) for pattern in known)]
        assert not found, f"{len(found)} differences:\n" + "\n".join(found)

    return compare
