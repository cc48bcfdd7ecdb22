"""kill -9 in the middle of a handler, with automatic commits: nothing is lost, whatever the moment."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER, produce

# Says which record the handler has finished; kills itself, without a warning, in the middle of another.
HANDLER = """
import os, signal, sys
from pykclient import KafkaConsumer
servers, topic, protocol, style, kill_after = sys.argv[1:]
session = {"session_timeout_ms": 500, "heartbeat_interval_ms": 100} if protocol == "classic" else {}
left = int(kill_after)
consumer = KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, group_protocol=protocol,
                         auto_offset_reset="earliest", auto_commit_interval_ms=1,
                         max_poll_records=7, fetch_max_wait_ms=50, **session)

def batches():
    while True:
        yield from consumer.poll(1.0).records()

for record in (consumer if style == "for" else batches()):
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    os.write(1, record.value + b"\\n")
"""


@pytest.fixture(scope="module")
def short() -> Iterator[EmbeddedCluster]:
    """The dead stay in their group for half a second only."""
    with EmbeddedCluster(brokers=1, seed=2, group_consumer_session_timeout_ms=500, **CLUSTER) as running:
        yield running


@pytest.mark.parametrize(("protocol", "style"), [("classic", "for"), ("consumer", "for"), ("consumer", "poll")])
@pytest.mark.timeout(400)
def test_kill_in_the_handler_loses_nothing(
    short: EmbeddedCluster, name: str, protocol: str, style: str, full: bool
) -> None:
    topic = name
    short.create_topic(topic, 2)
    kills = 70 if full else 3
    chance = random.Random(4)
    count = 30 * kills
    produce(short, topic, range(count), partitions=2)
    done: list[int] = []
    for _ in range(kills):
        process = subprocess.run(
            [
                sys.executable,
                "-c",
                HANDLER,
                short.bootstrap_servers,
                topic,
                protocol,
                style,
                str(chance.randrange(25)),
            ],
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        assert process.returncode == -9
        done += [int(line) for line in process.stdout.split()]
    with subprocess.Popen(
        [sys.executable, "-c", HANDLER, short.bootstrap_servers, topic, protocol, style, "-1"],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
    ) as last:
        assert last.stdout is not None
        missing = set(range(count)) - set(done)
        while missing:
            line = last.stdout.readline()
            assert line, "the last reader ended"
            missing.discard(int(line))
        last.kill()
