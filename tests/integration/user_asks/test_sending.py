"""Sending: programs that end, buffers that are full, records that are too large, topics that are not there, keys that
must land where Java puts them, and forks."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import textwrap
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.aio import AsyncKafkaProducer
from pykclient.errors import (
    BufferExhausted,
    ForkedClientError,
    KafkaError,
    MessageTooLarge,
    UnknownTopicOrPartition,
)
from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import producer_for, values
from tests.vectors.test_batches import load

ROOT = Path(__file__).parents[3]


# ---- a full buffer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", ["sync", "asyncio"])
@pytest.mark.timeout(600)
def test_a_plain_loop_against_a_slow_broker_waits_and_stays_within_its_memory(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], face: str, full: bool
) -> None:
    """BufferError: Local: Queue full, in a plain loop (confluent 16, 781; faststream 1276)."""
    topic = new_topic(2)
    count, limit = (1_000_000, 4_000_000) if full else (8_000, 200_000)
    cluster.faults.delay("Produce", 0.02, topic=topic)
    options: dict[str, Any] = {"buffer_memory": limit, "batch_size": 16_384, "max_block_ms": 60_000}
    used: list[float] = []

    def watch(metrics: dict[str, float]) -> None:
        used.append(metrics["buffer-total-bytes"] - metrics["buffer-available-bytes"])

    if face == "sync":
        with producer_for(cluster, **options) as producer:
            for number in range(count):
                producer.send(topic, b"%0100d" % number)
                if number % 100 == 0:
                    watch(producer.metrics())
            producer.flush(60)
    else:

        async def send() -> None:
            async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options) as producer:
                for number in range(count):
                    await producer.send_soon(topic, b"%0100d" % number)
                    if number % 100 == 0:
                        watch(producer.metrics())

        asyncio.run(send())
    assert max(used) <= limit
    assert max(used) > limit / 2, "it was full"
    cluster.faults.clear()
    assert sorted(map(int, values(cluster, topic))) == list(range(count))


@pytest.mark.parametrize("face", ["sync", "asyncio"])
def test_waiting_for_memory_ends_with_the_numbers(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], face: str
) -> None:
    """One full queue cancels the whole batch, and nobody says how full it is (faststream PR 2941)."""
    topic = new_topic()
    cluster.faults.stall("Produce", topic=topic)
    options: dict[str, Any] = {"buffer_memory": 40_000, "batch_size": 8000, "max_block_ms": 300}

    def fill() -> None:
        producer = producer_for(cluster, **options)
        try:
            for _ in range(100):
                producer.send(topic, bytes(3000))
        finally:
            producer.close(0)

    async def fill_async() -> None:
        producer = AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options)
        try:
            for _ in range(100):
                await producer.send_soon(topic, bytes(3000))
        finally:
            await producer.close(0)

    with pytest.raises(BufferExhausted) as caught:
        fill() if face == "sync" else asyncio.run(fill_async())
    error = caught.value
    assert error.limit == 40_000
    assert 0.5 * 40_000 < (error.buffered or 0) <= 40_000
    assert "40000" in str(error)
    assert "max_block_ms" in str(error)


# ---- programs that end -----------------------------------------------------------------------------------------------

SEND = (
    "producer = KafkaProducer(bootstrap_servers=SERVERS, linger_ms=500)\n"
    "for n in range(1000): producer.send(TOPIC, b'%d' % n)\n"
)
SEND_ASYNC = (
    "async def main():\n"
    "    producer = AsyncKafkaProducer(bootstrap_servers=SERVERS, linger_ms=500)\n"
    "    for n in range(1000): await producer.send_soon(TOPIC, b'%d' % n)\n"
)
IN_FUNCTION = "def main():\n" + textwrap.indent(SEND, "    ")
WAYS_TO_END = {
    "inside-a-function": (IN_FUNCTION + "main()\n", 0),
    "inside-a-thread": (IN_FUNCTION + "threading.Thread(target=main).start()\n", 0),
    "end-of-asyncio-run": (SEND_ASYNC + "asyncio.run(main())\n", 0),
    "exception-in-asyncio": (SEND_ASYNC + "    raise RuntimeError\nasyncio.run(main())\n", 1),
    "forked-worker": (
        IN_FUNCTION
        + "worker = multiprocessing.get_context('fork').Process(target=main)\n"
        + "worker.start()\nworker.join()\n",
        0,
    ),
}  # fmt: skip


def test_a_program_that_just_ends_delivers_everything_whatever_the_way(cluster: EmbeddedCluster, name: str) -> None:
    """Nothing arrives unless .get() is called; hours lost (kafka-python 1394, 524; confluent 104)."""
    head = (
        "import asyncio, logging, multiprocessing, threading\nlogging.basicConfig()\n"
        "from pykclient import KafkaProducer\nfrom pykclient.aio import AsyncKafkaProducer\n"
    )
    running = {}
    for way, (script, _) in WAYS_TO_END.items():
        cluster.create_topic(f"{name}-{way}", 3)
        where = f"SERVERS, TOPIC = {cluster.bootstrap_servers!r}, {f'{name}-{way}'!r}\n"
        running[way] = subprocess.Popen(
            [sys.executable, "-c", head + where + script], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
    for way, process in running.items():
        _, errors = process.communicate(timeout=100)
        assert process.returncode == WAYS_TO_END[way][1], f"{way}: {errors}"
        assert "not delivered" not in errors, way
    for way in running:
        assert sorted(map(int, values(cluster, f"{name}-{way}"))) == list(range(1000)), way


# ---- sizes, topics, addresses ----------------------------------------------------------------------------------------


def test_a_record_that_the_broker_finds_too_large_says_whose_limit_it_is(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """ "Broker: Message size too large", when the client's limit was hit (librdkafka 3125; confluent 476)."""
    topic = new_topic(1, max_message_bytes=2000)
    with producer_for(cluster) as producer:
        before, large, after = (producer.send(topic, bytes(size)) for size in (100, 3000, 100))
        error = large.exception(5)
        assert before.exception(5) is None
        assert after.exception(5) is None
    assert isinstance(error, MessageTooLarge)
    assert "max.message.bytes" in str(error)
    assert topic in str(error)


def test_a_topic_that_is_not_there_is_named_within_two_seconds_on_both_faces(cluster: EmbeddedCluster) -> None:
    """ "Failed to update metadata after 60.0 secs", whatever is wrong (kafka-python 1467, 607, 654, 2240)."""

    async def send() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            await producer.send("no-such-topic", b"x")

    def send_and_wait() -> None:
        with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            producer.send("no-such-topic", b"x")

    for attempt in (send_and_wait, lambda: asyncio.run(send())):
        began = time.monotonic()
        with pytest.raises(UnknownTopicOrPartition, match="no-such-topic"):
            attempt()
        assert time.monotonic() - began < 2


def test_a_cluster_out_of_reach_lists_every_address_and_why() -> None:
    """The same text for a missing topic, a dead cluster and a bad listener (kafka-python 2240)."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    producer = KafkaProducer(bootstrap_servers=f"127.0.0.1:{port},no-such-host.invalid:9092", max_block_ms=4000)
    began = time.monotonic()
    with pytest.raises(KafkaError) as caught:
        producer.send("t", b"x")
    producer.close(0)
    assert time.monotonic() - began < 5
    text = str(caught.value)
    assert f"127.0.0.1:{port}" in text
    assert "Nothing listens" in text
    assert "no-such-host.invalid" in text
    assert "could not be resolved" in text


# ---- keys ------------------------------------------------------------------------------------------------------------


def test_a_thousand_keys_land_where_java_puts_them() -> None:
    """Key lands in partition 36, the Java tools put it in 40 (confluent 1481, 293; librdkafka 4510, PR 1816)."""
    vectors = load("murmur2")
    keys = {bytes.fromhex(vector["hex"]) for vector in vectors}
    assert len(keys) >= 1000
    assert b"" in keys
    assert any(vector["murmur2"] < 0 for vector in vectors), "negative hashes"
    assert any(max(key, default=0) > 127 for key in keys), "not only ASCII"


def test_the_hash_of_other_clients_has_its_name(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    """The default of librdkafka is CRC32; who moves must be able to keep it (confluent 293)."""
    topic = new_topic(7)
    with producer_for(cluster, partitioner="crc32") as producer:
        for key in (b"alice", b"bob", "größe".encode(), b"0", b"1"):
            assert producer.send(topic, b"x", key=key).result(5).partition == zlib.crc32(key) % 7


# ---- forks -----------------------------------------------------------------------------------------------------------


def use_in_child(clients: dict[str, Any], report: Any) -> None:
    """What a worker of a pre-forking server sees of what its parent made."""
    outcomes = {}
    for kind, (client, attempt) in clients.items():
        began = time.monotonic()
        try:
            attempt()
            outcome = "worked"
        except ForkedClientError:
            outcome = "refused"
        except BaseException as error:
            outcome = repr(error)
        client.close()
        outcomes[kind] = (outcome, time.monotonic() - began)
    report.put(outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_workers_of_a_pre_forking_server_are_told_at_once_and_the_parent_goes_on(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """A global producer and Celery, Airflow or gunicorn --preload hang for ever (confluent 1122; kafka-python 1098)."""
    topic = new_topic()
    servers = cluster.bootstrap_servers
    producer = producer_for(cluster, linger_ms=100)
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    producer.send(topic, b"before").result(5)
    consumer.poll(5.0)
    admin.list_topics()
    pending = producer.send(topic, b"buffered in the parent")
    clients: dict[str, tuple[Any, Callable[[], object]]] = {
        "producer": (producer, lambda: producer.send(topic, b"from a child")),
        "consumer": (consumer, lambda: consumer.poll(1.0)),
        "admin": (admin, admin.list_topics),
    }
    forking = multiprocessing.get_context("fork")
    reports = forking.SimpleQueue()
    workers = [forking.Process(target=use_in_child, args=(clients, reports)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
        assert worker.exitcode == 0
    for _ in workers:
        for kind, (outcome, took) in reports.get().items():
            assert outcome == "refused", kind
            assert took < 1, kind
    pending.result(5)
    producer.send(topic, b"after").result(5)
    producer.close(5)
    admin.list_topics()
    admin.close()
    consumer.poll(0.2)
    consumer.close()
    assert values(cluster, topic) == [b"before", b"buffered in the parent", b"after"], "and nothing twice"


def test_threads_that_send_while_another_forks_are_not_disturbed(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """Not safe for multi-processing (kafka-python 1061)."""
    topic = new_topic()
    script = textwrap.dedent(
        f"""
        import os, threading, warnings
        warnings.simplefilter("ignore")
        from pykclient import KafkaProducer
        producer = KafkaProducer(bootstrap_servers={cluster.bootstrap_servers!r}, linger_ms=1)
        sent = []
        def send():
            for number in range(500):
                sent.append(producer.send({topic!r}, b"%d" % number))
        thread = threading.Thread(target=send)
        thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        thread.join()
        for future in sent:
            future.result(20)
        producer.close()
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, timeout=60, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(map(int, values(cluster, topic))) == list(range(500))
