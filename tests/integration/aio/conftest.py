"""A cluster for all tests of a module, and every kind of event loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from pykclient.testing import EmbeddedCluster

from .support import Main, run_on

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(
        brokers=2,
        group_consumer_heartbeat_interval_ms=100,
        group_initial_rebalance_delay_ms=0,
        group_min_session_timeout_ms=500,
    ) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> str:
    """A new topic of four partitions."""
    name = f"aio-{next(_numbers)}"
    cluster.create_topic(name, 4)
    return name


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Main], None]:
    """Runs a coroutine function in asyncio's debug mode, on asyncio's own loop and on uvloop's."""
    return lambda main: run_on(request.param, main)
