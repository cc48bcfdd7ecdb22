"""The consumer's examples run as they stand, and do what they say."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from pykclient import KafkaProducer
from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import values

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fill(cluster: EmbeddedCluster, topic: str, count: int) -> None:
    cluster.create_topic(topic, 3)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(count):
            producer.send(topic, b"v%d" % number, key=b"k%d" % (number % 50), partition=number % 3)


def test_plain_and_group_and_manual_commit(cluster: EmbeddedCluster) -> None:
    fill(cluster, "example", 30)
    assert "30 records read" in run("consumer_plain.py", cluster.bootstrap_servers, "example")
    output = run("consumer_group.py", cluster.bootstrap_servers, "example", "30")
    assert "assigned: [0, 1, 2]" in output
    assert output.count("b'v") == 30
    assert "30 records stored" in run("consumer_manual_commit.py", cluster.bootstrap_servers, "example", "30")


def test_parallel_with_dead_letters(cluster: EmbeddedCluster) -> None:
    fill(cluster, "parallel-example", 600)
    output = run("consumer_parallel.py", cluster.bootstrap_servers, "parallel-example", "600")
    assert "594 records handled, 6 put away in parallel-example.dead-letters" in output
    assert len(values(cluster, "parallel-example.dead-letters")) == 6


def test_exactly_once(cluster: EmbeddedCluster) -> None:
    fill(cluster, "once-example", 60)
    output = run("consumer_exactly_once.py", cluster.bootstrap_servers, "once-example", "once-target", "60")
    assert "60 records copied" in output
    assert sorted(values(cluster, "once-target")) == sorted(b"V%d" % number for number in range(60))
