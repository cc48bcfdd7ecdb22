"""One client, one measure, one process: ``python -m benchmarks.contender CLIENT MEASURE --servers HOST:PORT ...``.

Prints one JSON object: what was found, by codec. benchmarks/compare.py starts it again and again, in turns; nothing
here compares. All clients do the same work with the same settings: acks=all, idempotent, linger 5 ms (0 for latency),
their own defaults otherwise. "records" are taken one by one, "batches" as many at a time as the client gives, "columns"
as Arrow columns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import importlib
import itertools
import json
import pathlib
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

POLL_RECORDS = 10_000
CHECK_EVERY = 500
DIFFERENT_VALUES = 1000

Read = Callable[[float], int | list[bytes]]
"""Waits up to so many seconds: the values that came, or how many there were of them."""


class Client(Protocol):
    """A blocking client under measurement."""

    topic: str

    def load(self) -> None:
        """Import it."""
        ...

    def producer(self, codec: str, linger_ms: int) -> tuple[Callable[[bytes], Any], Callable[[], None]]:
        """Functions that send a value and that wait for all."""
        ...

    def reader(self, *, kind: str, from_end: bool) -> Read:
        """A function that reads, in one of the ways that the client has."""
        ...


class Ours:
    """pykclient; PYKCLIENT_ACCEL decides whether native or pure."""

    def __init__(self, servers: str, topic: str, stack: contextlib.ExitStack) -> None:
        self._servers, self.topic, self._stack = servers, topic, stack

    def load(self) -> None:
        for name in ("pykclient.consumer.consumer", "pykclient.producer.producer"):
            importlib.import_module(name)

    def producer(self, codec: str, linger_ms: int) -> tuple[Callable[[bytes], Any], Callable[[], None]]:
        from pykclient import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=self._servers, compression_type=codec, linger_ms=linger_ms)
        self._stack.callback(producer.close)
        send, topic = producer.send, self.topic
        return lambda value: send(topic, value), lambda: producer.flush(60)

    def reader(self, *, kind: str, from_end: bool) -> Read:
        from pykclient import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=self._servers, max_poll_records=POLL_RECORDS)
        self._stack.callback(consumer.close)
        tps = [TopicPartition(self.topic, info.partition) for info in consumer.partitions_for(self.topic)]
        consumer.assign(tps)
        if from_end:
            consumer.seek_to_end()
            for tp in tps:
                consumer.position(tp)
        else:
            consumer.seek_to_beginning()
        if kind == "columns":
            return lambda timeout: int(consumer.poll_arrow(timeout).num_rows)
        if kind == "records":
            one_by_one = iter(consumer)
            return lambda timeout: [record.value for record in itertools.islice(one_by_one, CHECK_EVERY)]
        return lambda timeout: [record.value for record in consumer.poll(timeout).records()]


class Confluent:
    """confluent-kafka."""

    def __init__(self, servers: str, topic: str, stack: contextlib.ExitStack) -> None:
        self._servers, self.topic, self._stack = servers, topic, stack

    def load(self) -> None:
        importlib.import_module("confluent_kafka")

    def producer(self, codec: str, linger_ms: int) -> tuple[Callable[[bytes], Any], Callable[[], None]]:
        from confluent_kafka import Producer

        producer = Producer(
            {
                "bootstrap.servers": self._servers,
                "compression.type": codec,
                "linger.ms": linger_ms,
                "enable.idempotence": True,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        failures: list[Any] = []

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                failures.append(error)

        def send(value: bytes) -> None:
            while True:
                try:
                    producer.produce(self.topic, value, on_delivery=delivered)
                    producer.poll(0)
                    return
                except BufferError:
                    producer.poll(0.01)

        def flush() -> None:
            left = producer.flush(60)
            if left or failures:
                raise RuntimeError(f"{left} not delivered, {failures[:1]}")

        return send, flush

    def reader(self, *, kind: str, from_end: bool) -> Read:
        from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, TopicPartition

        _no_columns(kind)
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": "compare", "enable.auto.commit": False})
        self._stack.callback(consumer.close)
        known = consumer.list_topics(self.topic, timeout=10).topics[self.topic].partitions
        place = OFFSET_END if from_end else OFFSET_BEGINNING
        consumer.assign([TopicPartition(self.topic, number, place) for number in known])
        if kind == "batches":
            return lambda timeout: [message.value() or b"" for message in consumer.consume(POLL_RECORDS, timeout)]

        def one(timeout: float) -> list[bytes]:
            message = consumer.poll(timeout)
            return [] if message is None or message.error() else [message.value() or b""]

        return one


class KafkaPython:
    """kafka-python."""

    def __init__(self, servers: str, topic: str, stack: contextlib.ExitStack) -> None:
        self._servers, self.topic, self._stack = servers, topic, stack

    def load(self) -> None:
        importlib.import_module("kafka")

    def producer(self, codec: str, linger_ms: int) -> tuple[Callable[[bytes], Any], Callable[[], None]]:
        from kafka import KafkaProducer

        producer = KafkaProducer(
            bootstrap_servers=self._servers,
            compression_type=None if codec == "none" else codec,
            linger_ms=linger_ms,
            acks="all",
            enable_idempotence=True,
        )
        self._stack.callback(producer.close)
        return lambda value: producer.send(self.topic, value), lambda: producer.flush(60)

    def reader(self, *, kind: str, from_end: bool) -> Read:
        from kafka import KafkaConsumer, TopicPartition

        _no_columns(kind)
        consumer = KafkaConsumer(bootstrap_servers=self._servers, max_poll_records=POLL_RECORDS)
        self._stack.callback(consumer.close)
        tps = [TopicPartition(self.topic, number) for number in consumer.partitions_for_topic(self.topic)]
        consumer.assign(tps)
        if from_end:
            consumer.seek_to_end(*tps)
            for tp in tps:
                consumer.position(tp)
        else:
            consumer.seek_to_beginning(*tps)
        if kind == "records":
            one_by_one = iter(consumer)
            return lambda timeout: [record.value for record in itertools.islice(one_by_one, CHECK_EVERY)]

        def read(timeout: float) -> list[bytes]:
            polled = consumer.poll(timeout_ms=int(timeout * 1000))
            return [record.value for records in polled.values() for record in records]

        return read


class Aiokafka:
    """aiokafka, on an event loop in a thread of its own; what it does there is what is measured."""

    def __init__(self, servers: str, topic: str, stack: contextlib.ExitStack) -> None:
        self._servers, self.topic, self._stack = servers, topic, stack

    def load(self) -> None:
        importlib.import_module("aiokafka")

    async def produce(self, codec: str, values: list[bytes], more: Callable[[int], bool]) -> tuple[int, float, float]:
        """Send while ``more``; the count, the time and the CPU time."""
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(
            bootstrap_servers=self._servers,
            compression_type=None if codec == "none" else codec,
            linger_ms=5,
            enable_idempotence=True,
        )
        await producer.start()
        try:
            await producer.send_and_wait(self.topic, values[0])
            began, cpu, count = time.perf_counter(), time.process_time(), 0
            waiting: list[Any] = []
            some = itertools.cycle(values)
            while more(count):
                waiting.append(await producer.send(self.topic, next(some)))
                count += 1
                if len(waiting) >= POLL_RECORDS:
                    await asyncio.gather(*waiting)
                    waiting.clear()
            await asyncio.gather(*waiting)
            return count, time.perf_counter() - began, time.process_time() - cpu
        finally:
            await producer.stop()

    async def consume(self, more: Callable[[int], bool], *, kind: str) -> tuple[int, float, float]:
        """Read while ``more``."""
        from aiokafka import AIOKafkaConsumer, TopicPartition

        _no_columns(kind)

        consumer = AIOKafkaConsumer(bootstrap_servers=self._servers, auto_offset_reset="earliest")
        await consumer.start()
        try:
            known = await _partitions(consumer, self.topic)
            consumer.assign([TopicPartition(self.topic, number) for number in known])
            await consumer.seek_to_beginning()
            first = len([await consumer.getone() for _ in range(CHECK_EVERY)])
            began, cpu, count = time.perf_counter(), time.process_time(), 0
            while more(first + count):
                if kind == "records":
                    count += len([(await consumer.getone()).value for _ in range(CHECK_EVERY)])
                    continue
                polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
                count += sum(len([record.value for record in records]) for records in polled.values())
            return count, time.perf_counter() - began, time.process_time() - cpu
        finally:
            await consumer.stop()

    async def latencies(self, records: int, rate: int, size: int) -> list[float]:
        """Milliseconds from send to receipt."""
        from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

        consumer = AIOKafkaConsumer(bootstrap_servers=self._servers, auto_offset_reset="latest")
        producer = AIOKafkaProducer(bootstrap_servers=self._servers, linger_ms=0, enable_idempotence=True)
        await consumer.start()
        await producer.start()
        found: list[float] = []
        try:
            known = await _partitions(consumer, self.topic)
            consumer.assign([TopicPartition(self.topic, number) for number in known])
            await consumer.seek_to_end()

            async def read() -> None:
                while len(found) < records:
                    polled = await consumer.getmany(timeout_ms=100)
                    now = time.perf_counter_ns()
                    for each in polled.values():
                        found.extend(latency for record in each if (latency := _age_ms(record.value, now)) >= 0)

            reading = asyncio.ensure_future(read())
            await producer.send_and_wait(self.topic, _stamp(size, warm_up=True))
            began = time.perf_counter()
            for number in range(records):
                await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
                await producer.send(self.topic, _stamp(size))
            await asyncio.wait_for(reading, 30)
            return found
        finally:
            await producer.stop()
            await consumer.stop()


def _no_columns(kind: str) -> None:
    if kind == "columns":
        raise NotImplementedError("has no columns")


async def _partitions(consumer: Any, topic: str) -> list[int]:
    consumer.subscribe([topic])
    await consumer._client.force_metadata_update()
    found = sorted(consumer.partitions_for_topic(topic) or ())
    consumer.unsubscribe()
    return found


def _stamp(size: int, *, warm_up: bool = False) -> bytes:
    return b"%019d" % (0 if warm_up else time.perf_counter_ns()) + b"x" * max(0, size - 19)


def _age_ms(value: bytes, now_ns: int) -> float:
    sent_ns = int(value[:19])
    return (now_ns - sent_ns) / 1e6 if sent_ns else -1.0


CLIENTS: dict[str, type[Any]] = {
    "pykclient": Ours,
    "pykclient-pure": Ours,
    "confluent-kafka": Confluent,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}


# ---- the measures ----


def _until(seconds: float, records_max: int, every: int = CHECK_EVERY) -> Callable[[int], bool]:
    """True while there is time and work; looks at the clock now and then only."""
    end: list[float] = []

    def more(count: int) -> bool:
        if not end:
            end.append(time.perf_counter() + seconds)
        return count < records_max and (count % every != 0 or time.perf_counter() < end[0])

    return more


def import_time(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """Milliseconds."""
    began = time.perf_counter()
    client.load()
    return {"ms": (time.perf_counter() - began) * 1000}


def first_record(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """From the start of this process, as its parent saw it, to the first record delivered."""
    value = values_of(settings.size)[0]
    if isinstance(client, Aiokafka):
        asyncio.run(client.produce("none", [value], lambda count: False))
    else:
        send, flush = client.producer("none", 0)
        send(value)
        flush()
    return {"ms": (time.time_ns() - settings.started_ns) / 1e6}


def values_of(size: int) -> list[bytes]:
    """A thousand different values of that size, which compress about as messages do."""
    dice = random.Random(7)
    found = []
    for _ in range(DIFFERENT_VALUES):
        order, customer, amount = dice.randrange(10**7), dice.randrange(10**4), dice.randrange(1, 10)
        product = dice.choice(("apples", "pears", "cherries", "plums", "quinces"))
        text = b'{"order":%07d,"customer":"customer-%04d","product":"%s","amount":%d,"note":"%08x"}' % (
            order, customer, product.encode(), amount, dice.randrange(2**32),
        )  # fmt: skip
        found.append((text * (size // len(text) + 1))[:size])
    return found


def produce(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """Send for a while, wait for all."""
    values, more = values_of(settings.size), _until(settings.seconds, settings.records)
    if isinstance(client, Aiokafka):
        count, seconds, cpu_s = asyncio.run(client.produce(settings.codec, values, more))
    else:
        send, flush = client.producer(settings.codec, 5)
        send(values[0])
        flush()
        some = itertools.cycle(values)
        began, cpu, count = time.perf_counter(), time.process_time(), 0
        while more(count):
            send(next(some))
            count += 1
        flush()
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    return _rate(count, seconds, cpu_s)


def consume(client: Any, settings: argparse.Namespace, *, kind: str) -> dict[str, float]:
    """Read for a while, or to the end."""
    # A client that takes one record per call looks at the clock now and then only.
    every = CHECK_EVERY if kind == "records" and isinstance(client, Confluent) else 1
    # Neither is a first reader counted, with which come the modules that are loaded when they are needed, nor the first
    # answer to the second, with which come its connections.
    more = _until(settings.seconds, settings.records, every=every)
    if isinstance(client, Aiokafka):
        asyncio.run(client.consume(_until(0, CHECK_EVERY, every=1), kind=kind))
        count, seconds, cpu_s = asyncio.run(client.consume(more, kind=kind))
    else:
        with contextlib.ExitStack() as stack:
            type(client)(settings.servers, client.topic, stack).reader(kind=kind, from_end=False)(5.0)
        read = client.reader(kind=kind, from_end=False)
        began, cpu, first, count = time.perf_counter(), time.process_time(), _count(read(10.0)), 0
        if first < settings.records:
            began, cpu = time.perf_counter(), time.process_time()
        else:
            first, count = 0, first  # all came at once
        while more(first + count):
            count += _count(read(1.0))
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    return _rate(count, seconds, cpu_s)


def _count(found: int | list[bytes]) -> int:
    return found if isinstance(found, int) else len(found)


def _rate(count: int, seconds: float, cpu_s: float) -> dict[str, float]:
    if not count:
        raise RuntimeError("no record came")
    return {"records": count, "records_per_s": count / seconds, "cpu_us_per_record": cpu_s / count * 1e6}


def latency(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """At a steady rate, record by record, sent and read in this process."""
    count = min(settings.records, int(settings.rate * settings.seconds))
    if isinstance(client, Aiokafka):
        found = asyncio.run(client.latencies(count, settings.rate, settings.size))
    else:
        found = _latencies(client, count, settings)
    ordered = sorted(found)
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "p99.9_ms": 0.999}
    return {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in shares.items()}


def _latencies(client: Any, count: int, settings: argparse.Namespace) -> list[float]:
    # One call per record where that is how the client is used; otherwise whatever has come.
    read = client.reader(kind="records" if isinstance(client, Confluent) else "batches", from_end=True)
    send, flush = client.producer("none", 0)
    found: list[float] = []
    ready, problems = threading.Event(), []

    def receive() -> None:
        try:
            end = time.monotonic() + 60
            while len(found) < count and time.monotonic() < end:
                values = read(0.1)
                now = time.perf_counter_ns()
                found.extend(age for value in values if (age := _age_ms(value, now)) >= 0)
                if values:
                    ready.set()
        except Exception as error:
            problems.append(error)

    reader = threading.Thread(target=receive, daemon=True)
    reader.start()
    while not ready.is_set() and reader.is_alive():
        send(_stamp(settings.size, warm_up=True))
        flush()
        ready.wait(0.2)
    began = time.perf_counter()
    for number in range(count):
        wait_s = began + number / settings.rate - time.perf_counter()
        if wait_s > 0:
            time.sleep(wait_s)
        send(_stamp(settings.size))
    reader.join(60)
    if problems or len(found) < count:
        raise RuntimeError(f"{len(found)} of {count} came back {problems[:1]}")
    return found


def memory(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """The most memory this process ever had while it read through the backlog."""
    consume(client, settings, kind="batches")
    return {"mb": _peak_mb()}


def _peak_mb() -> float:
    try:
        # Of this program alone; what getrusage says begins with the size of the process that started it.
        status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except (OSError, IndexError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def embedded(client: Any, settings: argparse.Namespace) -> dict[str, float]:
    """From nothing (but what is imported) to a record delivered to a broker inside the process."""
    client.load()
    if isinstance(client, Ours):
        from pykclient import KafkaProducer
        from pykclient.testing import EmbeddedCluster

        began = time.perf_counter()
        with EmbeddedCluster(topics=["t"]) as cluster:
            with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, linger_ms=0) as producer:
                producer.send("t", b"x").result(10)
                return {"ms": (time.perf_counter() - began) * 1000}
    if isinstance(client, Confluent):
        make: Any = importlib.import_module("confluent_kafka").Producer

        began = time.perf_counter()
        options: dict[str, Any] = {"test.mock.num.brokers": 1, "linger.ms": 0, "bootstrap.servers": ""}
        mock = make(options)
        mock.produce("t", b"x")
        if mock.flush(10):
            raise RuntimeError("the mock cluster took nothing")
        return {"ms": (time.perf_counter() - began) * 1000}
    raise NotImplementedError("has no broker inside")


MEASURES: dict[str, Callable[[Any, argparse.Namespace], dict[str, float]]] = {
    "import": import_time,
    "first-record": first_record,
    "produce": produce,
    **{f"consume-{kind}": functools.partial(consume, kind=kind) for kind in ("records", "batches", "columns")},
    "latency": latency,
    "memory": memory,
    "embedded": embedded,
}


def arguments() -> argparse.ArgumentParser:
    """What a run takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("--servers", default="localhost:9092")
    parser.add_argument("--topic", default="compare")
    parser.add_argument("--records", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--codecs", default="none", help="comma-separated; {codec} in --topic is each of them")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--started-ns", type=int, default=time.time_ns(), help="when this process was started")
    return parser


def run(words: list[str]) -> dict[str, dict[str, float]]:
    """One measure, with one codec after the other."""
    settings = arguments().parse_args(words)
    found = {}
    for codec in settings.codecs.split(","):
        settings.codec = codec
        with contextlib.ExitStack() as stack:
            topic = settings.topic.replace("{codec}", codec)
            client = CLIENTS[settings.client](settings.servers, topic, stack)
            found[codec] = MEASURES[settings.measure](client, settings)
    return found


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:])))
