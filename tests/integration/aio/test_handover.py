"""Rebalances under asyncio: listeners that are coroutines, commit, take long, or call back into the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import pytest

from pykclient import TopicPartition
from pykclient.aio import AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import FencedInstanceId, KafkaError
from pykclient.testing import EmbeddedCluster

from .support import Main, condition

Run = Callable[[Main], None]
PROTOCOLS: dict[str, dict[str, Any]] = {
    "classic": {"group_protocol": "classic", "heartbeat_interval_ms": 100, "session_timeout_ms": 10_000},
    "consumer": {"group_protocol": "consumer"},
}


class Listener:
    """Commits what was handed out when partitions go, as the books say."""

    def __init__(self, work: Callable[[], Any] | None = None) -> None:
        self.consumer: AsyncKafkaConsumer | None = None
        self.assigned: set[TopicPartition] = set()
        self.revocations = 0
        self.committed = 0
        self._work = work

    async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.assigned |= set(partitions)

    async def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.revocations += 1
        if self._work is not None:
            await self._work()
        assert self.consumer is not None
        await self.consumer.commit()
        self.committed += 1
        self.assigned -= set(partitions)

    async def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self.assigned -= set(partitions)


async def member(
    cluster: EmbeddedCluster, topic: str, protocol: str, listener: Listener, **options: Any
) -> AsyncKafkaConsumer:
    consumer = AsyncKafkaConsumer(
        bootstrap_servers=cluster.bootstrap_servers,
        group_id=topic,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **(PROTOCOLS[protocol] | options),
    )
    listener.consumer = consumer
    await consumer.subscribe([topic], listener=listener)
    return consumer


async def produce(cluster: EmbeddedCluster, topic: str, numbers: range) -> None:
    async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in numbers:
            await producer.send_soon(topic, b"%d" % number, partition=number % 4)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_the_new_owner_begins_where_the_listener_committed(
    cluster: EmbeddedCluster, topic: str, run: Run, protocol: str
) -> None:
    async def test() -> None:
        seen: list[int] = []
        stop = asyncio.Event()

        async def read(consumer: AsyncKafkaConsumer) -> None:
            while not stop.is_set():
                seen.extend(int(record.value) for record in (await consumer.poll(0.1, max_records=7)).records())

        async def until(count: int) -> None:
            await condition(lambda: len(set(seen)) >= count)

        await produce(cluster, topic, range(200))
        first, second = Listener(), Listener()
        one = await member(cluster, topic, protocol, first)
        reading = [asyncio.ensure_future(read(one))]
        await until(50)
        other = await member(cluster, topic, protocol, second)
        reading.append(asyncio.ensure_future(read(other)))
        await until(200)
        await condition(lambda: bool(first.revocations and second.assigned))
        await produce(cluster, topic, range(200, 400))
        await until(400)
        stop.set()
        await asyncio.gather(*reading)
        await asyncio.gather(one.close(), other.close())
        assert sorted(seen) == list(range(400)), "a record came twice or not at all"

    run(test)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_poll_and_commit_together_with_a_listener_that_uses_the_client_end_soon(
    cluster: EmbeddedCluster, topic: str, run: Run, protocol: str
) -> None:
    async def test() -> None:
        async def use_everything() -> None:
            consumer = listener.consumer
            assert consumer is not None
            await consumer.poll(0)
            await consumer.committed(consumer.assignment())
            await asyncio.gather(consumer.commit(), consumer.end_offsets(consumer.assignment()))

        listener = Listener(use_everything)
        await produce(cluster, topic, range(40))
        consumer = await member(cluster, topic, protocol, listener)
        while not listener.assigned:
            await consumer.poll(0.1)
        for _ in range(3):
            consumer.enforce_rebalance()
            other = await member(cluster, topic, protocol, Listener())
            began = asyncio.get_running_loop().time()
            joining = asyncio.ensure_future(other.poll(2.0))
            for _ in range(5):
                await asyncio.gather(consumer.poll(0.2), consumer.commit(), return_exceptions=False)
            assert asyncio.get_running_loop().time() - began < 5.0
            joining.cancel()
            await asyncio.wait((joining,))
            await other.close()
        while not listener.committed:
            await consumer.poll(0.1)
        await consumer.close()

    run(test)


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_partitions_go_only_when_a_slow_listener_is_done_although_its_poll_was_cancelled(
    cluster: EmbeddedCluster, topic: str, run: Run, protocol: str
) -> None:
    async def test() -> None:
        entered, leave = asyncio.Event(), asyncio.Event()

        async def slow() -> None:
            entered.set()
            await leave.wait()

        first, second = Listener(slow), Listener()
        await produce(cluster, topic, range(40))
        one = await member(cluster, topic, protocol, first)
        count = 0
        while count < 40:
            count += (await one.poll(0.2)).count
        other = await member(cluster, topic, protocol, second)
        joining = asyncio.ensure_future(other.poll())
        polling = asyncio.ensure_future(one.poll())
        await entered.wait()
        polling.cancel()
        await asyncio.wait((polling,))
        assert polling.cancelled()
        # Short polls meanwhile give nothing up, and tell the listener nothing twice.
        for _ in range(5):
            assert (await one.poll(0.05)).count == 0
        assert second.assigned == set()
        assert (first.revocations, first.committed) == (1, 0)
        leave.set()
        while not second.assigned:
            await one.poll(0.05)
        assert first.committed >= 1
        taken = await other.committed(second.assigned)
        assert all(offset is not None and offset.offset == 10 for offset in taken.values())
        joining.cancel()
        await asyncio.wait((joining,))
        await asyncio.gather(one.close(), other.close())

    run(test)


def test_an_error_of_a_listener_comes_out_of_the_poll(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    class Broken(Listener):
        async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            await asyncio.sleep(0)
            raise ZeroDivisionError

    async def test() -> None:
        consumer = await member(cluster, topic, "classic", Broken())
        with pytest.raises(ZeroDivisionError):
            await consumer.poll(10)
        await produce(cluster, topic, range(1))
        assert (await consumer.poll(10)).count == 1
        await consumer.close()

    run(test)


def test_a_listener_may_close_the_consumer(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    class Closing(Listener):
        async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            assert self.consumer is not None
            await self.consumer.close()

    async def test() -> None:
        consumer = await member(cluster, topic, "consumer", Closing())
        with pytest.raises(KafkaError):
            await consumer.poll(10)
        await consumer.close()

    run(test)


def test_a_fenced_static_member_hears_of_it_in_its_loop(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    async def test() -> None:
        listener = Listener()
        loser = await member(cluster, topic, "classic", listener, group_instance_id="one")
        while not listener.assigned:
            await loser.poll(0.1)
        winner = await member(cluster, topic, "classic", Listener(), group_instance_id="one")
        joining = asyncio.ensure_future(winner.poll(5.0))
        with pytest.raises(FencedInstanceId) as caught:
            async for _ in loser:
                pass
        assert caught.value.fatal
        for _ in range(2):
            with pytest.raises(FencedInstanceId):
                await loser.poll(1)
        joining.cancel()
        await asyncio.wait((joining,))
        await asyncio.gather(loser.close(), winner.close())

    run(test)


def test_leaving_by_an_exception_does_not_commit_the_record_in_hand(
    cluster: EmbeddedCluster, topic: str, run: Run
) -> None:
    async def test() -> None:
        await produce(cluster, topic, range(0, 40, 4))
        options: dict[str, Any] = {"group_id": topic, "auto_offset_reset": "earliest"}
        with pytest.raises(KeyError):
            async with AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, **options) as consumer:
                async for record in consumer:
                    if record.offset == 4:
                        raise KeyError
        async with AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, **options) as consumer:
            assert (await consumer.getone()).offset == 4

    run(test)
