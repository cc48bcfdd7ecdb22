"""Ending: close() that keeps its time, Ctrl-C in every call that waits, cancelled awaits, and closed clients."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.admin import NewTopic
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import ClientClosed, KafkaError
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER, PROTOCOLS, QUICK, open_consumer, wait_assigned
from tests.integration.producer.support import producer_for

ROOT = Path(__file__).parents[3]


# ---- close -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["classic-range", "kip848"])
@pytest.mark.parametrize("trouble", ["dead", "silent", "mid-rebalance"])
@pytest.mark.parametrize("face", ["sync", "asyncio"])
def test_close_of_a_consumer_keeps_its_time(protocol: str, trouble: str, face: str) -> None:
    """close() never returns while brokers crash; the workaround is a daemon thread (confluent 1667, 1573, 107)."""
    timeout_s = 0.3
    with EmbeddedCluster(topics={"t": 4}, **CLUSTER) as own, contextlib.ExitStack() as stack:
        options: dict[str, Any] = {"group_id": "g"} | QUICK | PROTOCOLS[protocol]
        if trouble == "mid-rebalance":  # who holds everything does not poll, so nobody else gets anything
            other = stack.enter_context(open_consumer(own, "t", **options))
            wait_assigned(other, 4)
            stack.callback(other.close, 0)

        def trouble_comes() -> None:
            if trouble == "dead":
                own.close()
            elif trouble == "silent":
                own.faults.stall(None)

        wanted = 0 if trouble == "mid-rebalance" else 4

        def close_it() -> float:
            consumer = KafkaConsumer("t", bootstrap_servers=own.bootstrap_servers, **options)
            wait_assigned(consumer, wanted) if wanted else consumer.poll(0.3)
            trouble_comes()
            began = time.monotonic()
            consumer.close(timeout_s)
            took = time.monotonic() - began
            consumer.close()  # nothing more to do
            return took

        async def close_it_async() -> float:
            consumer = AsyncKafkaConsumer("t", bootstrap_servers=own.bootstrap_servers, **options)
            await consumer.poll(0.3)
            while len(consumer.assignment()) != wanted:
                await consumer.poll(0.05)
            trouble_comes()
            began = time.monotonic()
            await consumer.close(timeout_s)
            took = time.monotonic() - began
            await consumer.close()
            return took

        took = close_it() if face == "sync" else asyncio.run(close_it_async())
        own.faults.clear()
    assert took < timeout_s + 1.0, f"{took:.2f} s"


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------


@contextmanager
def ctrl_c(after_s: float = 0.3) -> Iterator[list[float]]:
    """A signal to this process, once the call has had time to begin to wait; when it was sent."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after_s, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        timer.join()


def test_ctrl_c_ends_every_call_that_waits(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    """Ctrl-C does nothing in poll() and flush(): every beginner hits it (confluent 209, gcn-kafka-python 13)."""
    topic = new_topic(2)
    servers = cluster.bootstrap_servers
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        nobody = f"127.0.0.1:{silent.getsockname()[1]}"
        lost = producer_for(nobody)
        full = producer_for(cluster, buffer_memory=20_000, batch_size=8000)
        stuck = producer_for(cluster)
        open_one = producer_for(cluster, transactional_id=topic)
        consumer = KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, **QUICK)
        admin = KafkaAdminClient(bootstrap_servers=servers)
        full.partitions_for(topic)
        open_one.init_transactions(10)
        open_one.begin_transaction()
        wait_assigned(consumer, 2)
        where = next(iter(consumer.assignment()))
        cluster.faults.stall(("Produce", "EndTxn", "OffsetCommit", "OffsetFetch", "ListOffsets", "CreateTopics"))
        waiting = stuck.send(topic, b"x")
        open_one.send(topic, b"x")
        calls: dict[str, Callable[[], object]] = {
            "send, no metadata": lambda: lost.send(topic, b"x"),
            "send, no memory": lambda: [full.send(topic, bytes(5000), partition=0) for _ in range(20)],
            "flush": lambda: stuck.flush(30),
            "future": lambda: waiting.result(30),
            "commit_transaction": lambda: open_one.commit_transaction(30),
            "poll": lambda: consumer.poll(30),
            "iteration": lambda: next(iter(consumer)),
            "commit": lambda: consumer.commit({where: 1}),
            "committed": lambda: consumer.committed([where]),
            "end_offsets": lambda: consumer.end_offsets([where]),
            "process": lambda: consumer.process(print),
            "admin": lambda: admin.create_topics([NewTopic("never", 1)]),
        }
        late: dict[str, float] = {}
        for name, call in calls.items():
            with ctrl_c(0.15) as sent:
                try:
                    call()
                    pytest.fail(f"{name} returned")
                except KeyboardInterrupt:
                    late[name] = time.monotonic() - sent[0]
                except KafkaError as error:
                    pytest.fail(f"{name}: {error!r}")
        cluster.faults.clear()
        for client in (lost, full, stuck, open_one, consumer, admin):
            client.close(0) if not isinstance(client, KafkaAdminClient) else client.close()
    assert all(seconds < 0.5 for seconds in late.values()), late


# ---- stopping --------------------------------------------------------------------------------------------------------

# Every way to stop, at awkward moments; with asyncio's debug mode and every warning an error.
STOPS = """
import asyncio, gc, sys
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
servers, topic = sys.argv[1:]
options = dict(bootstrap_servers=servers)

async def read(consumer):
    return [record async for record in consumer]

async def main():
    for make in (AsyncKafkaProducer, AsyncKafkaAdminClient, lambda **o: AsyncKafkaConsumer(topic, group_id=topic, **o)):
        client = make(**options)
        await client.close()                              # never used
        client = make(**options)
        starting = asyncio.ensure_future(client.start()) if hasattr(client, "start") else None
        await asyncio.sleep(0)
        await client.close()                              # straight after start
        if starting is not None:
            await asyncio.gather(starting, return_exceptions=True)
    for moment in (0, 0.001, 0.05, 0.3):
        consumer = AsyncKafkaConsumer(topic, group_id=topic, **options)
        reading = [asyncio.ensure_future(read(consumer))]
        await asyncio.sleep(moment)
        await consumer.stop()
        assert await asyncio.wait_for(reading[0], 5) == []
        producer = AsyncKafkaProducer(**options)
        sending = asyncio.ensure_future(producer.send(topic + "-2", b"x"))
        await asyncio.sleep(moment)
        await producer.stop()
        await asyncio.gather(sending, return_exceptions=True)
    del consumer, producer, reading, sending
    gc.collect()
    assert asyncio.all_tasks() == {asyncio.current_task()}, asyncio.all_tasks()

asyncio.run(main(), debug=True)
print("done")
"""


def test_stopping_at_any_moment_ends_the_loop_and_leaves_no_task_behind(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """stop() after start() raises CancelledError; "Task was destroyed but it is pending" (aiokafka 647, 80)."""
    topic = new_topic(1)
    cluster.create_topic(f"{topic}-2", 1)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", STOPS, cluster.bootstrap_servers, topic],
        cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
        env=os.environ | {"PYTHONASYNCIODEBUG": "1"},
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if "took" not in line and "selector" not in line]
    assert (done.returncode, done.stdout, complaints) == (0, "done\n", []), done.stderr


# ---- closed clients --------------------------------------------------------------------------------------------------

ARGUMENTS: dict[str, Any] = {
    "topics": ["t"], "topic": "t", "partitions": [TopicPartition("t", 0)], "partition": TopicPartition("t", 0),
    "offset": 0, "timestamps": {TopicPartition("t", 0): 1_700_000_000_000}, "handler": print, "value": b"x",
    "offsets": {TopicPartition("t", 0): 0}, "group_metadata": "g", "table": None, "prepared": None, "rows": [],
}  # fmt: skip
# What still works on a closed client, because it tells about the past.
STILL_FINE = {"close", "stop", "out_of_range_events", "max_poll_exceeded_events", "metrics"}


@pytest.mark.parametrize(
    "kind",
    [KafkaConsumer, KafkaProducer, KafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer, AsyncKafkaAdminClient],
)
def test_every_method_of_a_closed_client_says_so(cluster: EmbeddedCluster, kind: Any) -> None:
    """A call on a closed consumer: segmentation fault (confluent 1942, 1761, 1797)."""

    async def call_all() -> list[str]:
        options = {"group_id": "closed"} if "Consumer" in kind.__name__ else {}
        if "Producer" in kind.__name__:
            options = {"transactional_id": f"closed-{kind.__name__}"}
        client = kind(bootstrap_servers=cluster.bootstrap_servers, **options)
        first = client.close()
        if inspect.isawaitable(first):
            await first
        wrong = []
        for name in sorted(name for name in dir(kind) if not name.startswith("_")):
            member = inspect.getattr_static(kind, name)
            if name in STILL_FINE or not callable(member):
                continue
            parameters = list(inspect.signature(getattr(client, name)).parameters.values())
            needed = [
                each for each in parameters if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
            ]
            try:
                outcome = getattr(client, name)(*(ARGUMENTS.get(each.name) for each in needed))
                if inspect.isawaitable(outcome):
                    await asyncio.wait_for(outcome, 5)
                elif hasattr(outcome, "__aenter__"):
                    await outcome.__aenter__()
                elif hasattr(outcome, "__enter__"):
                    outcome.__enter__()
                wrong.append(f"{name}: went on")
            except ClientClosed:
                pass
            except Exception as error:
                wrong.append(f"{name}: {error!r}")
        again = client.close()
        if inspect.isawaitable(again):
            await again
        return wrong

    assert asyncio.run(call_all()) == []
