"""The asyncio face: the same behaviour, awaited; cancelling loses nothing; a blocked loop stops no heartbeat."""

from __future__ import annotations

import asyncio
import inspect
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.admin import NewTopic
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer, generate_admin
from pykclient.errors import BufferExhausted, ClientClosed, UsageError, WakeupError
from pykclient.testing import EmbeddedCluster

from .support import Main, run_on

Run = Callable[[Main], None]


def test_produce_and_consume(cluster: EmbeddedCluster, topic: str, run: Run) -> None:

    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            delivered = await producer.send(topic, b"first", partition=1)
            assert (delivered.partition, delivered.offset) == (1, 0)
            futures = [await producer.send_soon(topic, b"%d" % number) for number in range(500)]
            assert len({(m.partition, m.offset) for m in await asyncio.gather(*futures)}) == 500
        seen = []
        async with AsyncKafkaConsumer(
            topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            async for record in consumer:
                seen.append(record.value)
                if len(seen) == 501:
                    break
        assert sorted(seen) == sorted([b"first", *(b"%d" % number for number in range(500))])

    run(test)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_coroutine_listeners_and_commits(
    cluster: EmbeddedCluster, topic: str, protocol: str, run: Run
) -> None:
    group = topic

    class Listener:
        def __init__(self) -> None:
            self.assigned: list[TopicPartition] = []

        async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            await asyncio.sleep(0)
            self.assigned += partitions

        async def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
            await consumer.commit()  # a listener may use its consumer

        async def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
            pass

    consumer: AsyncKafkaConsumer

    async def test() -> None:
        nonlocal consumer
        listener = Listener()
        consumer = AsyncKafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers,
            group_id=group,
            group_protocol=protocol,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        await consumer.subscribe([topic], listener=listener)
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for number in range(40):
                await producer.send(topic, b"%d" % number, partition=number % 4)
        count = 0
        while count < 40:
            count += (await consumer.poll(5.0)).count
        assert sorted(listener.assigned) == [TopicPartition(topic, index) for index in range(4)]
        await consumer.commit()
        committed = await consumer.committed(listener.assigned)
        assert [offset.offset for offset in committed.values() if offset is not None] == [10] * 4
        await consumer.close()

    run(test)


def test_transactions(cluster: EmbeddedCluster, topic: str, run: Run) -> None:

    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
            await producer.init_transactions()
            async with producer.transaction():
                await producer.send(topic, b"kept", partition=0)
            with pytest.raises(KeyError):
                async with producer.transaction():
                    await producer.send(topic, b"dropped", partition=0)
                    raise KeyError
            async with producer.transaction():
                await producer.send_soon(topic, b"kept too", partition=0)
        async with AsyncKafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", isolation_level="read_committed"
        ) as consumer:
            tp = TopicPartition(topic, 0)
            await consumer.assign([tp])
            [end] = (await consumer.end_offsets([tp])).values()
            seen = []
            while await consumer.position(tp) < end:
                seen += [record.value for record in (await consumer.poll(1.0)).records()]
            assert seen == [b"kept", b"kept too"]

    run(test)


def test_cancelling_a_poll_loses_nothing(cluster: EmbeddedCluster, topic: str, run: Run) -> None:

    async def test() -> None:
        async with AsyncKafkaConsumer(
            topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            for _ in range(5):
                waiting = asyncio.ensure_future(consumer.poll())
                await asyncio.sleep(0.02)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
                await producer.send(topic, b"one")
            [record] = (await consumer.poll(10.0)).records()
            assert record.value == b"one"

    run(test)


def test_wakeup_and_close_end_a_poll(cluster: EmbeddedCluster, topic: str, run: Run) -> None:

    async def test() -> None:
        consumer = AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers)
        waiting = asyncio.ensure_future(consumer.poll())
        await asyncio.sleep(0.05)
        consumer.wakeup()
        with pytest.raises(WakeupError):
            await waiting

        async def read() -> list[Any]:
            return [record async for record in consumer]

        reading = asyncio.ensure_future(read())
        await asyncio.sleep(0.05)
        await consumer.close()
        assert await reading == []
        with pytest.raises(ClientClosed):
            await consumer.poll(0)

    run(test)


def test_memory_is_waited_for_and_never_leaks(cluster: EmbeddedCluster, topic: str, run: Run) -> None:

    async def test() -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=cluster.bootstrap_servers, buffer_memory=4096, batch_size=1024, max_block_ms=1000
        ) as producer:
            await producer.send(topic, b"known")
            rule = cluster.faults.stall("Produce", topic=topic)
            with pytest.raises(BufferExhausted, match="max_block_ms"):
                for _ in range(20):
                    await producer.send_soon(topic, bytes(500))
            waiting = asyncio.ensure_future(producer.send_soon(topic, bytes(900)))
            await asyncio.sleep(0.02)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            rule.remove()
            await producer.flush(30)
            assert producer.metrics()["buffer-available-bytes"] == 4096

    run(test)


def test_a_blocked_loop_causes_no_rebalance() -> None:
    async def test() -> None:
        async with AsyncKafkaConsumer(
            "blocked",
            bootstrap_servers=small.bootstrap_servers,
            group_id="blocked",
            session_timeout_ms=1000,
            heartbeat_interval_ms=200,
        ) as consumer:
            while not consumer.assignment():
                await consumer.poll(0.1)
            generation = consumer.group_metadata().generation_id
            time.sleep(3.0)  # noqa: ASYNC251  blocking the loop is the test
            await consumer.poll(0.5)
            assert consumer.group_metadata().generation_id == generation

    with EmbeddedCluster(topics=["blocked"], group_min_session_timeout_ms=500) as small:
        run_on("asyncio", test, debug=False)


def test_one_client_per_loop(cluster: EmbeddedCluster) -> None:
    producer = AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)

    async def use() -> None:
        await producer.start()

    asyncio.run(use())
    with pytest.raises(UsageError, match="another event loop"):
        asyncio.run(use())
    producer._sync.close(0)


@pytest.mark.parametrize(
    ("blocking", "awaited", "missing"),
    [
        (KafkaProducer, AsyncKafkaProducer, set()),
        (KafkaConsumer, AsyncKafkaConsumer, set()),
        (KafkaAdminClient, AsyncKafkaAdminClient, set()),
    ],
)
def test_signatures_are_equal(blocking: type, awaited: type, missing: set[str]) -> None:
    names = {name for name in vars(blocking) if not name.startswith("_")} - missing
    assert names - set(vars(awaited)) == set()
    for name in names - {"send"}:
        member = inspect.getattr_static(blocking, name)
        if callable(member):
            left = inspect.signature(getattr(blocking, name)).parameters
            right = inspect.signature(getattr(awaited, name)).parameters
            assert list(left.values()) == list(right.values()), name


def test_administration(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    async def test() -> None:
        async with AsyncKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
            await admin.create_topics([NewTopic(f"{topic}-new", 2)], wait=True)
            described = await admin.describe_topics([f"{topic}-new"])
            assert len(described[f"{topic}-new"].partitions) == 2
            names, groups = await asyncio.gather(admin.list_topics(), admin.list_groups())
            assert f"{topic}-new" in names
            assert isinstance(groups, dict)

    run(test)


def test_the_generated_admin_client_is_current() -> None:
    assert generate_admin.TARGET.read_text() == generate_admin.generated()


def test_the_benchmark_against_the_blocking_clients_runs(cluster: EmbeddedCluster) -> None:
    """For correctness only, never for time."""
    root = pathlib.Path(__file__).parents[3]
    for topic in ("bench-aio", "bench-aio-sent"):
        cluster.create_topic(topic, 3)
    command = [sys.executable, "-m", "benchmarks.aio", "--rounds", "1", "--records", "500"]
    done = subprocess.run(
        [*command, "--bootstrap-servers", cluster.bootstrap_servers],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" us |") == 6
