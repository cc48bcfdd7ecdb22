"""What a consumer costs: memory bounded by one limit, nothing left behind by polls and closed consumers, no work when
idle. And what it must get through: backlogs on many partitions, in turns."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pykclient import KafkaProducer
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import open_consumer, produce, wait_assigned

MB = 1 << 20

SLOW_READER = """
import resource, sys, time
from pykclient import KafkaConsumer
servers, topic, limit, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def rss():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()

consumer = KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest", fetch_buffer_bytes_max=limit,
                         max_poll_records=1)
before, most, count = rss(), 0, 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    count += consumer.poll(1.0).count
    most = max(most, rss())
    time.sleep(seconds / 60)
buffered = consumer.metrics()["fetch-buffer-bytes"]
consumer.close()
print(most - before, int(buffered), count)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
@pytest.mark.timeout(400)
def test_a_slow_reader_of_a_large_backlog_stays_within_its_limit(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    partitions, limit, backlog = (100, 64 * MB, 1024 * MB) if full else (50, 8 * MB, 60 * MB)
    topic = new_topic(partitions)
    value = os.urandom(1000)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, batch_size=256 * 1024, linger_ms=50) as producer:
        for number in range(backlog // len(value)):
            producer.send(topic, value, partition=number % partitions)
    done = subprocess.run(
        [sys.executable, "-c", SLOW_READER, cluster.bootstrap_servers, topic, str(limit), "60" if full else "4"],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    growth, buffered, count = map(int, done.stdout.split())
    print(f"\ngrowth {growth / MB:.0f} MB, buffered {buffered / MB:.0f} MB, limit {limit / MB:.0f} MB, {count} read")
    assert count > 10
    assert buffered <= limit + 2 * MB
    assert growth <= limit + 50 * MB


def test_polls_of_an_idle_topic_leave_nothing_behind(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    topic = new_topic(3)
    with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as consumer:
        wait_assigned(consumer, 3)
        for _ in range(500):
            consumer.poll(0)
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(10_000 if full else 2_000):
            consumer.poll(0)
        gc.collect()
        assert len(gc.get_objects()) - before < 500


def test_consumers_that_come_and_go_leave_nothing_behind(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))

    def open_and_close() -> None:
        with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as consumer:
            wait_assigned(consumer, 1)

    def counts() -> tuple[int, int, int]:
        gc.collect()
        return threading.active_count(), len(os.listdir("/proc/self/fd")), len(gc.get_objects())

    for _ in range(3):
        open_and_close()
    threads, files, objects = counts()
    for _ in range(200 if full else 10):
        open_and_close()
    cluster.wait_until(lambda: counts()[1] <= files + 2, "sockets closed")
    after = counts()
    assert after[0] <= threads
    assert after[2] - objects < 4000


IDLE = """
import sys, time
from pykclient import KafkaConsumer
servers, topic, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, group_protocol="classic") as consumer:
    consumer.poll(2.0)
    cpu = time.process_time()
    consumer.poll(seconds)
    print((time.process_time() - cpu) / seconds)
"""


def test_an_idle_consumer_needs_less_than_a_hundredth_of_a_core(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    topic = new_topic(3)
    done = subprocess.run(
        [sys.executable, "-c", IDLE, cluster.bootstrap_servers, topic, "20" if full else "3"],
        cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    print(f"\nidle: {float(done.stdout):.2%} of a core")
    assert float(done.stdout) < 0.01


def test_partitions_take_turns(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    """A partition with a large backlog does not keep the others waiting."""
    topic = new_topic(4)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, batch_size=4096) as producer:
        for _ in range(20_000):
            producer.send(topic, b"x" * 100, partition=0)
        for number in range(30):
            producer.send(topic, b"y", partition=1 + number % 3)
    first: dict[int, int] = {}
    with open_consumer(cluster, topic, max_partition_fetch_bytes=64 * 1024) as consumer:
        seen = 0
        give_up_at = time.monotonic() + 20
        while len(first) < 4 and time.monotonic() < give_up_at:
            for record in consumer.poll(1.0).records():
                seen += 1
                first.setdefault(record.partition, seen)
    assert len(first) == 4
    assert max(first.values()) < 10_000, first
