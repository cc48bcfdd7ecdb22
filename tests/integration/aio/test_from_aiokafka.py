"""Programs of aiokafka's users: what its pages show first, in our own words, runs here when only the import line and
the class names are other. The same text runs with aiokafka itself, where it is installed, to prove that it is one."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest

from pykclient.testing import EmbeddedCluster

OURS = """
from pykclient import TopicPartition
from pykclient.aio import AsyncKafkaConsumer as AIOKafkaConsumer
from pykclient.aio import AsyncKafkaProducer as AIOKafkaProducer
"""
THEIRS = "from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition\n"

SEND_ONE = """
async def main():
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS)
    await producer.start()
    try:
        await producer.send_and_wait("my_topic", b"Super message")
        await producer.send_and_wait("my_other_topic", b"Another", key=b"key", partition=0)
    finally:
        await producer.stop()
    return "sent"
"""
CONSUME = """
async def main():
    consumer = AIOKafkaConsumer(
        "my_topic", "my_other_topic", bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest"
    )
    await consumer.start()
    seen = []
    try:
        async for msg in consumer:
            seen.append((msg.topic, msg.partition, msg.offset, msg.key, msg.value, msg.timestamp > 0))
            if len(seen) == 2:
                break
    finally:
        await consumer.stop()
    return sorted(seen)
"""
MANUAL_COMMIT = """
async def main():
    options = dict(bootstrap_servers=SERVERS, group_id=GROUP, enable_auto_commit=False, auto_offset_reset="earliest")
    tp = TopicPartition("numbers", 0)
    consumer = AIOKafkaConsumer("numbers", **options)
    await consumer.start()
    try:
        batch = []
        while len(batch) < 5:
            result = await consumer.getmany(timeout_ms=5000, max_records=5 - len(batch))
            for tp, messages in result.items():
                batch += messages
        await consumer.commit({tp: batch[-1].offset + 1})
    finally:
        await consumer.stop()
    consumer = AIOKafkaConsumer("numbers", **options)
    await consumer.start()
    try:
        message = await consumer.getone()
        assert [m.value for m in batch] == [b"0", b"1", b"2", b"3", b"4"]
        return message.offset, message.value
    finally:
        await consumer.stop()
"""
SEEK = """
async def main():
    consumer = AIOKafkaConsumer("numbers", bootstrap_servers=SERVERS, group_id=GROUP, auto_offset_reset="earliest")
    await consumer.start()
    tp = TopicPartition("numbers", 0)
    try:
        await consumer.getone()
        consumer.seek(tp, 7)
        first = await consumer.getone()
        at = await consumer.position(tp)
        ends = await consumer.end_offsets([tp])
        begins = await consumer.beginning_offsets([tp])
        return first.value, at, ends[tp], begins[tp], sorted(await consumer.topics() & {"numbers"})
    finally:
        await consumer.stop()
"""
TRANSFORM = """
async def main():
    consumer = AIOKafkaConsumer(
        "numbers", bootstrap_servers=SERVERS, group_id=GROUP, enable_auto_commit=False, auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await consumer.start()
    producer = AIOKafkaProducer(bootstrap_servers=SERVERS, transactional_id=GROUP)
    await producer.start()
    try:
        done = 0
        while done < 10:
            for tp, messages in (await consumer.getmany(timeout_ms=5000)).items():
                async with producer.transaction():
                    for message in messages:
                        await producer.send_and_wait(OUTPUT, message.value + b"!", partition=0)
                    await producer.send_offsets_to_transaction({tp: messages[-1].offset + 1}, GROUP)
                done += len(messages)
    finally:
        await consumer.stop()
        await producer.stop()
    return done
"""
PROGRAMS = {"send": SEND_ONE, "consume": CONSUME, "manual commit": MANUAL_COMMIT, "seek": SEEK, "transform": TRANSFORM}


@pytest.mark.parametrize(
    "client",
    [
        "ours",
        pytest.param(
            "theirs",
            marks=pytest.mark.skipif(importlib.util.find_spec("aiokafka") is None, reason="aiokafka is not installed"),
        ),
    ],
)
def test_programs_run_with_another_import(client: str) -> None:
    with EmbeddedCluster(group_initial_rebalance_delay_ms=0) as cluster:
        for topic in ("my_topic", "my_other_topic", "numbers", f"output-{client}"):
            cluster.create_topic(topic, 1)

        def run(name: str) -> Any:
            names: dict[str, Any] = {"SERVERS": cluster.bootstrap_servers, "GROUP": f"{client} {name}"}
            names["OUTPUT"] = f"output-{client}"
            exec(compile((OURS if client == "ours" else THEIRS) + PROGRAMS[name], name, "exec"), names)
            return asyncio.run(names["main"]())

        assert run("send") == "sent"
        assert run("consume") == [
            ("my_other_topic", 0, 0, b"key", b"Another", True),
            ("my_topic", 0, 0, None, b"Super message", True),
        ]
        fill(cluster)
        assert run("manual commit") == (5, b"5")
        assert run("seek") == (b"7", 8, 10, 0, ["numbers"])
        assert run("transform") == 10


def fill(cluster: EmbeddedCluster) -> None:
    from pykclient import KafkaProducer

    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(10):
            producer.send("numbers", b"%d" % number)
