"""A program that uses all of the asyncio clients, cancels, abandons and closes; test_silent.py runs it with every
warning an error. Prints ``done``; anything else it or Python prints is a fault."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

from pykclient import TopicPartition
from pykclient.admin import NewTopic
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer


class Listener:
    async def on_partitions_assigned(self, partitions: Any) -> None:
        await asyncio.sleep(0)

    async def on_partitions_revoked(self, partitions: Any) -> None:
        await asyncio.sleep(0)

    async def on_partitions_lost(self, partitions: Any) -> None:
        await asyncio.sleep(0)


async def give_up(task: asyncio.Future[Any], delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    task.cancel()
    await asyncio.wait((task,))


async def main(servers: str, topic: str) -> None:
    asyncio.get_running_loop().slow_callback_duration = 10.0  # a loaded machine is no fault of ours
    async with AsyncKafkaAdminClient(bootstrap_servers=servers) as admin:
        await admin.create_topics([NewTopic(topic, 2)], wait=True)
        await give_up(asyncio.ensure_future(admin.list_groups()), 0)
    told = []

    async def on_delivery(metadata: Any, error: Any) -> None:
        await asyncio.sleep(0)
        told.append(metadata)

    async with AsyncKafkaProducer(bootstrap_servers=servers, transactional_id=topic) as producer:
        await producer.init_transactions()
        async with producer.transaction():
            for number in range(100):
                await producer.send_soon(topic, b"%d" % number, on_delivery=on_delivery)
        for delay_s in (0, 0.001, 0.01):
            await give_up(asyncio.ensure_future(one_more(producer, topic)), delay_s)
    assert len(told) == 100
    consumer = AsyncKafkaConsumer(
        bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    await consumer.subscribe([topic], listener=Listener())
    seen = 0
    async for _ in consumer:
        seen += 1
        if seen == 100:
            break
    for delay_s in (0, 0.01, 0.1):
        await give_up(asyncio.ensure_future(consumer.poll()), delay_s)
        await give_up(asyncio.ensure_future(consumer.commit()), delay_s)
    await asyncio.gather(consumer.poll(0.2), consumer.commit(), consumer.end_offsets([TopicPartition(topic, 0)]))
    reading = asyncio.ensure_future(read(consumer))
    await asyncio.sleep(0.05)
    await consumer.stop()
    await reading
    # Left open on purpose: the loop ends under them.
    abandoned = AsyncKafkaProducer(bootstrap_servers=servers, linger_ms=50)
    asyncio.ensure_future(abandoned.send(topic, b"last words"))  # noqa: RUF006
    idle = AsyncKafkaConsumer(topic, bootstrap_servers=servers, group_id=f"{topic}-idle")
    asyncio.ensure_future(read(idle))  # noqa: RUF006
    await asyncio.sleep(0.2)


async def one_more(producer: AsyncKafkaProducer, topic: str) -> None:
    async with producer.transaction():
        await producer.send(topic, b"more")


async def read(consumer: AsyncKafkaConsumer) -> None:
    async for _ in consumer:
        pass


if __name__ == "__main__":
    if sys.argv[3] == "uvloop":
        import uvloop

        uvloop.run(main(sys.argv[1], sys.argv[2]), debug=True)
    else:
        asyncio.run(main(sys.argv[1], sys.argv[2]), debug=True)
    gc.collect()
    print("done")
