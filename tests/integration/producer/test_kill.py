"""``kill -9`` between any two steps of a transactional loop: after a restart nothing is half visible or twice."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import values

RECORDS = 4
STEPS = RECORDS + 5  # announcements per transaction


@pytest.fixture(scope="module", params=["v1", "v2"])
def cluster(request: pytest.FixtureRequest) -> Iterator[EmbeddedCluster]:
    older = {"EndTxn": 4, "Produce": 11, "TxnOffsetCommit": 4} if request.param == "v1" else None
    with EmbeddedCluster(brokers=1, max_versions=older) as running:
        yield running


def start(cluster: EmbeddedCluster, topic: str, last: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.integration.producer.transactional_loop"),
            *(cluster.bootstrap_servers, topic, str(RECORDS), str(last)),
        ],
        stdout=subprocess.PIPE,
        bufsize=0,
    )


@pytest.mark.timeout(600)
def test_killed_between_any_two_steps(cluster: EmbeddedCluster, full: bool) -> None:
    topic = "killed"
    cluster.create_topic(topic, 2)
    chance = random.Random(20261116)
    points = 50 if full else 5  # in each of the two dialects
    for point in range(points):
        # The first kills walk through the steps of one transaction, the rest fall anywhere in the first three.
        wanted = point + 1 if point < STEPS else chance.randrange(1, 3 * STEPS)
        if not full:
            wanted = chance.randrange(1, 3 * STEPS)
        process = start(cluster, topic, 1_000_000)
        try:
            assert process.stdout is not None
            seen = 0
            while seen < wanted:
                announced = process.stdout.read(wanted - seen)
                assert announced, "the loop ended by itself"
                seen += len(announced)
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        whole(cluster, topic)
    done = max((int(value.split(b":")[0]) for value in values(cluster, topic)), default=-1) + 1
    process = start(cluster, topic, done + 2)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output
    assert whole(cluster, topic) == done + 2


def whole(cluster: EmbeddedCluster, topic: str) -> int:
    """Every visible transaction has all its records once, and none is missing in between; gives how many there are."""
    counts = Counter(value.split(b":")[0] for value in values(cluster, topic))
    assert set(counts.values()) <= {RECORDS}, counts
    assert sorted(map(int, counts)) == list(range(len(counts)))
    assert len(set(values(cluster, topic))) == sum(counts.values())
    return len(counts)
