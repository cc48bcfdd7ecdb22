"""process() and send_arrow() under asyncio: many handlers at once, and nothing committed that is not done."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import ConsumerRecord, TopicPartition
from pykclient.aio import AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.testing import EmbeddedCluster

from .support import Main, condition

Run = Callable[[Main], None]
Record = ConsumerRecord[Any, Any]


def reader(cluster: EmbeddedCluster, topic: str, **options: Any) -> AsyncKafkaConsumer:
    return AsyncKafkaConsumer(
        topic, bootstrap_servers=cluster.bootstrap_servers, group_id=topic, auto_offset_reset="earliest", **options
    )


async def fill(cluster: EmbeddedCluster, topic: str, count: int, keys: int = 7) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        sent = [await producer.send_soon(topic, b"%d" % n, key=b"k%d" % (n % keys)) for n in range(count)]
        await asyncio.gather(*sent)


async def committed(consumer: AsyncKafkaConsumer, topic: str) -> int:
    found = await consumer.committed([TopicPartition(topic, index) for index in range(4)])
    return sum(offset.offset for offset in found.values() if offset is not None)


@pytest.mark.parametrize("ordering", ["key", "partition", "none"])
def test_handlers_run_side_by_side_and_keep_their_order(
    cluster: EmbeddedCluster, topic: str, run: Run, ordering: str
) -> None:
    seen: defaultdict[Any, list[int]] = defaultdict(list)
    busy = most = 0
    chance = random.Random(7)

    async def handle(record: Record) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(chance.random() / 500)
        busy -= 1
        seen[record.key if ordering == "key" else record.partition].append(int(record.value))

    async def test() -> None:
        await fill(cluster, topic, 300)
        async with reader(cluster, topic) as consumer:
            await consumer.process(
                handle, workers=8, ordering=ordering, stop=lambda: sum(map(len, seen.values())) == 300
            )
            assert await committed(consumer, topic) == 300

    run(test)
    assert sorted(value for values in seen.values() for value in values) == list(range(300))
    assert most > 1
    if ordering != "none":
        assert all(values == sorted(values) for values in seen.values())


def test_failure_is_raised_and_what_is_behind_it_comes_again(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    done: list[int] = []

    async def handle(record: Record) -> None:
        if record.value == b"50" and 50 not in done:
            done.append(50)
            raise ValueError("not today")
        done.append(int(record.value))

    async def test() -> None:
        await fill(cluster, topic, 100)
        async with reader(cluster, topic) as consumer:
            with pytest.raises(ValueError, match="not today"):
                await consumer.process(handle)
            assert await committed(consumer, topic) < 100
            await consumer.process(handle, stop=lambda: set(done) == set(range(100)) and done.count(50) == 2)
            assert await committed(consumer, topic) == 100

    run(test)


def test_dead_letters_by_an_async_producer(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    attempts: list[bytes] = []
    good: list[bytes] = []

    def handle(record: Record) -> None:  # a plain function is as good
        if record.value == b"3":
            attempts.append(record.value)
            raise ValueError("bad")
        good.append(record.value)

    async def test() -> None:
        cluster.create_topic(f"{topic}.dead-letters", 1)
        await fill(cluster, topic, 10)
        async with (
            AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer,
            reader(cluster, topic) as consumer,
            reader(cluster, f"{topic}.dead-letters") as letters,
        ):
            await consumer.process(
                handle,
                on_error="dead_letter",
                retries=2,
                retry_backoff_ms=1,
                dead_letter_producer=producer,
                stop=lambda: len(good) == 9 and len(attempts) == 3,
            )
            letter = await letters.getone()
            assert letter.value == b"3"
            assert (b"ValueError: bad") in [value for _, value in letter.headers]
            assert await committed(consumer, topic) == 10

    run(test)


def test_cancelling_cancels_the_handlers_and_loses_nothing(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    begun: list[bytes] = []
    stopped: list[bytes] = []
    done: list[bytes] = []

    async def never_ends(record: Record) -> None:
        begun.append(record.value)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(record.value)
            raise

    async def test() -> None:
        await fill(cluster, topic, 20)
        async with reader(cluster, topic) as consumer:
            task = asyncio.ensure_future(consumer.process(never_ends, workers=3))
            await condition(lambda: len(begun) == 3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert sorted(stopped) == sorted(begun)
            assert await committed(consumer, topic) == 0
            await consumer.process(lambda record: done.append(record.value), stop=lambda: len(done) >= 20)

    run(test)
    assert sorted(done) == sorted(b"%d" % n for n in range(20))


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_partitions_change_hands_with_everything_finished(
    cluster: EmbeddedCluster, topic: str, run: Run, protocol: str
) -> None:
    seen: list[int] = []

    async def handle(record: Record) -> None:
        await asyncio.sleep(0.002)
        seen.append(int(record.value))

    async def test() -> None:
        await fill(cluster, topic, 400)
        async with reader(cluster, topic, group_protocol=protocol) as first:
            one = asyncio.ensure_future(first.process(handle, in_flight_max=20, stop=lambda: len(seen) >= 400))
            await condition(lambda: len(seen) > 40)
            async with reader(cluster, topic, group_protocol=protocol) as second:
                two = asyncio.ensure_future(second.process(handle, in_flight_max=20, stop=lambda: len(seen) >= 400))
                await condition(lambda: len(second.assignment()) == 2 or len(seen) >= 400)
                await asyncio.gather(one, two)
            assert await committed(first, topic) == 400

    run(test)
    assert sorted(seen) == list(range(400)), "a clean hand-over loses nothing and doubles nothing"


def test_arrow_tables_are_sent_and_awaited(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")

    async def test() -> None:
        table = pyarrow.table({"key": [b"a", b"b", None], "value": [b"1", b"2", b"3"]})
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            delivery = await producer.send_arrow(topic, table)
        assert (delivery.row_count, delivery.delivered_count, delivery.failures) == (3, 3, [])
        async with reader(cluster, topic) as consumer:
            assert sorted([(await consumer.getone()).value for _ in range(3)]) == [b"1", b"2", b"3"]

    run(test)
