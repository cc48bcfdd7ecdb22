"""Cancelling any await, at any moment, also by a time-out around it: the client stays usable, nothing is lost.
test_cancel_every.py goes through all methods."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from pykclient import TopicPartition
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import ClientClosed
from pykclient.producer.batch import RecordFuture
from pykclient.testing import EmbeddedCluster

from .support import Main, cancelled, moments

Run = Callable[[Main], None]
Client = AsyncKafkaProducer | AsyncKafkaConsumer | AsyncKafkaAdminClient


# ---- records ---------------------------------------------------------------------------------------------------------


def test_polls_cancelled_at_random_lose_and_repeat_nothing(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")

    async def test() -> None:
        chance = random.Random(seed)
        numbers: list[int] = []
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer,
            AsyncKafkaConsumer(
                topic,
                bootstrap_servers=cluster.bootstrap_servers,
                group_id=topic,
                auto_offset_reset="earliest",
                heartbeat_interval_ms=100,
            ) as consumer,
        ):
            sending = asyncio.ensure_future(send_slowly(producer))
            while len(numbers) < 400:
                kind = chance.randrange(4)
                if kind == 0:
                    numbers += [int(r.value or b"") for r in (await consumer.poll(0.05, 7)).records()]
                elif kind == 1:
                    numbers.append(int((await consumer.getone()).value))
                else:
                    task = asyncio.ensure_future(consumer.poll(max_records=5))
                    await asyncio.sleep(chance.choice((0, 0.0005, 0.002, 0.01)))
                    task.cancel()
                    await asyncio.wait((task,), timeout=10)
                    if not task.cancelled():
                        numbers += [int(r.value or b"") for r in task.result().records()]
            await sending
        assert sorted(numbers) == list(range(400))

    async def send_slowly(producer: AsyncKafkaProducer) -> None:
        for number in range(400):
            await producer.send_soon(topic, b"%d" % number)
            if number % 20 == 0:
                await asyncio.sleep(0.005)
        await producer.flush()

    run(test)


def test_wait_for_around_a_poll_loses_nothing(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    async def test() -> None:
        numbers: list[int] = []
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer,
            AsyncKafkaConsumer(
                topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
            ) as consumer,
        ):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(consumer.getone(), 0.05)
            futures = [await producer.send_soon(topic, b"%d" % number) for number in range(200)]
            misses = 0
            while len(numbers) < 200:
                try:
                    numbers.append(int((await asyncio.wait_for(consumer.getone(), 0.0003 * (misses + 1))).value))
                except asyncio.TimeoutError:
                    misses += 1
            assert len({(await future).offset for future in futures}) > 1
        assert sorted(numbers) == list(range(200))

    run(test)


def test_sends_cancelled_at_random_are_delivered_once_or_never(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")

    async def test() -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=cluster.bootstrap_servers, buffer_memory=40_000, batch_size=4000, linger_ms=1
        ) as producer:
            sure = set()
            tasks = []
            chance = random.Random(seed)
            for number in range(600):
                task = asyncio.ensure_future(producer.send(topic, b"%06d" % number + bytes(300)))
                tasks.append((number, task))
                if chance.random() < 0.5:
                    victim = chance.choice(tasks)[1]
                    victim.cancel()
                if number % 10 == 0:
                    await asyncio.sleep(0)
            for number, task in tasks:
                await asyncio.wait((task,))
                if not task.cancelled():
                    assert task.exception() is None
                    sure.add(number)
            await producer.flush(30)
            metrics = producer.metrics()
            assert metrics["buffer-available-bytes"] == metrics["buffer-total-bytes"], "memory leaked"
            end = await producer.send(topic, b"end", partition=0)
            assert end.offset >= 0
        found: list[int] = []
        async with AsyncKafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            for tp, last in (await consumer.end_offsets([TopicPartition(topic, n) for n in range(4)])).items():
                await consumer.assign([tp])
                while await consumer.position(tp) < last:
                    found += [int(r.value[:6]) for r in (await consumer.poll(5)).records() if r.value != b"end"]
        assert len(found) == len(set(found)), "a record came twice"
        assert sure <= set(found), "a delivered record is missing"

    run(test)


# ---- closing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["producer", "consumer", "admin"])
def test_a_cancelled_close_can_be_called_again(cluster: EmbeddedCluster, topic: str, run: Run, kind: str) -> None:
    async def test() -> None:
        for turns, delay_s in moments(11, 8):
            client: Client
            future: RecordFuture | None = None
            if kind == "producer":
                client = AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
                future = await client.send_soon(topic, b"kept")
            elif kind == "consumer":
                client = AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, group_id=topic)
                await client.poll(0.01)
            else:
                client = AsyncKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
            await cancelled(client.close(), turns, delay_s)
            await client.close()
            engine = client._core.engine if isinstance(client, AsyncKafkaConsumer) else client._sync._engine
            assert not engine.running, "the client's thread goes on"
            if future is not None:
                assert (await future).offset >= 0

    run(test)


def test_stopping_at_any_moment_ends_a_loop_cleanly(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")

    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for number in range(100):
                await producer.send_soon(topic, b"%d" % number)
        for turns, delay_s in [*moments(seed, 12), (0, 0.1)]:
            consumer = AsyncKafkaConsumer(
                topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", group_id=None
            )

            async def read(consumer: AsyncKafkaConsumer = consumer) -> int:
                return len([record async for record in consumer])

            reading = asyncio.ensure_future(read())
            await consumer.start()
            for _ in range(turns):
                await asyncio.sleep(0)
            await asyncio.sleep(delay_s)
            await consumer.stop()
            assert 0 <= await reading <= 100
            with pytest.raises(ClientClosed):
                await consumer.poll(0)

    run(test)


def test_stopping_inside_the_loop_ends_it(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for number in range(50):
                await producer.send_soon(topic, b"%d" % number)
        consumer = AsyncKafkaConsumer(
            topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", group_id=topic
        )
        count = 0
        async for _ in consumer:
            count += 1
            await consumer.stop()
        assert count == 1

    run(test)


# ---- transactions ----------------------------------------------------------------------------------------------------


def test_transactions_cancelled_at_random_are_whole_or_not_there(
    cluster: EmbeddedCluster, topic: str, run: Run
) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")

    async def test() -> None:
        chance = random.Random(seed)
        sure: set[int] = set()
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
            await cancelled(producer.init_transactions(), 1, 0)
            await producer.init_transactions()

            async def one(number: int) -> None:
                async with producer.transaction():
                    for partition in range(3):
                        await producer.send_soon(topic, b"%d" % number, partition=partition)
                    await producer.send_offsets_to_transaction({TopicPartition(topic, 3): number}, f"{topic}-group")

            for number in range(40):
                if not await cancelled(one(number), chance.randrange(12), chance.choice((0, 0.002, 0.01))):
                    sure.add(number)
            await one(1000)
        seen: dict[int, int] = {}
        async with AsyncKafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            group_id=f"{topic}-group",
        ) as consumer:
            tps = [TopicPartition(topic, partition) for partition in range(3)]
            await consumer.assign(tps)
            for tp, end in (await consumer.end_offsets(tps)).items():
                while await consumer.position(tp) < end:
                    for record in (await consumer.poll(5)).records():
                        seen[int(record.value)] = seen.get(int(record.value), 0) + 1
            [committed] = (await consumer.committed([TopicPartition(topic, 3)])).values()
        assert committed is not None
        assert committed.offset == 1000
        assert set(seen.values()) == {3}, "half a transaction was seen"
        assert sure | {1000} <= set(seen)

    run(test)


def test_a_cancelled_begin_or_commit_is_taken_up_by_the_next_call(
    cluster: EmbeddedCluster, topic: str, run: Run
) -> None:
    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
            await producer.init_transactions()
            for _ in range(3):
                await cancelled(producer.begin_transaction(), 1, 0)
                await producer.begin_transaction()
                await producer.send(topic, b"x")
                rule = cluster.faults.delay("EndTxn", 0.2, count=1)
                assert await cancelled(producer.commit_transaction(), 1, 0.05)
                await producer.commit_transaction()
                rule.remove()

    run(test)
