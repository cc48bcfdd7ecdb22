"""The producer's examples run as they stand, and do what they say."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import producer_for, read_topic, values

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=1, num_partitions=3) as running:
        yield running


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent)}  # also where the package is not installed
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain(cluster: EmbeddedCluster) -> None:
    assert "1000 delivered, 0 failed" in run("producer_plain.py", cluster.bootstrap_servers, "plain")
    assert len(values(cluster, "plain")) == 1000


def test_keyed(cluster: EmbeddedCluster) -> None:
    output = run("producer_keyed.py", cluster.bootstrap_servers, "keyed")
    assert output.count("partition") == 4
    assert "," not in output, "one partition per key"
    places = {record.key: p for p, found in read_topic(cluster, "keyed").items() for record in found}
    assert len(places) == 4


def test_callbacks(cluster: EmbeddedCluster) -> None:
    output = run("producer_callbacks.py", cluster.bootstrap_servers, "callbacks")
    assert "'delivered': 1000" in output
    assert "max_request_size" in output


def test_transactions(cluster: EmbeddedCluster) -> None:
    with producer_for(cluster) as producer:
        for number in range(50):
            producer.send("source", b"order %d" % number)
    assert "50 records copied" in run("producer_transactions.py", cluster.bootstrap_servers, "source", "target")
    assert sorted(values(cluster, "target")) == sorted(b"ORDER %d" % number for number in range(50))
    assert "0 records copied" in run("producer_transactions.py", cluster.bootstrap_servers, "source", "target")
