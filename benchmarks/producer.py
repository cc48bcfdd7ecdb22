"""What sending a record costs, against the other Python clients, in one run on one real broker.

python -m benchmarks.producer [--rounds 5] [--records 200000] [--bootstrap-servers HOST:PORT] [--clients a,b]

100-byte values without keys, acks=all, idempotent, the outcome of every record checked (but in the row that says
otherwise). Every client runs in a process of its own, one after the other, round by round; the table has medians. CPU
is all of the client's process (user and system, all threads) from the first measured send to the last acknowledgement;
a warm-up before it is not counted. Batch sizes are each client's default, linger is 5 ms everywhere. Prints one
Markdown table. Without --bootstrap-servers it starts Apache Kafka (Java and Maven needed).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

VALUE = b"x" * 100
LINGER_MS = 5
WARM_UP = 20_000


@dataclass
class Measured:
    """Of one process and one round."""

    cpu_s: float
    wall_s: float
    records: int


class Meter:
    """Started after the warm-up."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def stop(self, records: int) -> Measured:
        return Measured(time.process_time() - self._cpu, time.perf_counter() - self._wall, records)


def expect(delivered: int, sent: int) -> None:
    if delivered != sent:
        raise SystemExit(f"{delivered} of {sent} records delivered")


# ---- clients ---------------------------------------------------------------------------------------------------------


def pykclient_futures(servers: str, topic: str, records: int) -> Measured:
    from pykclient import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=LINGER_MS)
    send = producer.send
    for _ in range(WARM_UP):
        send(topic, VALUE)
    producer.flush()
    meter = Meter()
    futures = [send(topic, VALUE) for _ in range(records)]
    producer.flush()
    delivered = sum(future.exception(0) is None for future in futures)
    measured = meter.stop(records)
    expect(delivered, records)
    producer.close()
    return measured


def pykclient_plain(servers: str, topic: str, records: int) -> Measured:
    """Nobody keeps the futures; the producer's own count says whether all were delivered."""
    from pykclient import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=LINGER_MS)
    send = producer.send
    for _ in range(WARM_UP):
        send(topic, VALUE)
    producer.flush()
    meter = Meter()
    for _ in range(records):
        send(topic, VALUE)
    producer.flush()
    failed = int(producer.metrics()["record-error-total"])
    measured = meter.stop(records)
    expect(records - failed, records)
    producer.close()
    return measured


def pykclient_callbacks(servers: str, topic: str, records: int) -> Measured:
    from pykclient import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=LINGER_MS)
    delivered = 0

    def count(metadata: object, error: object) -> None:
        nonlocal delivered
        if error is None:
            delivered += 1

    for _ in range(WARM_UP):
        producer.send(topic, VALUE)
    producer.flush()
    meter = Meter()
    for _ in range(records):
        producer.send(topic, VALUE, on_delivery=count)
    producer.flush()
    measured = meter.stop(records)
    expect(delivered, records)
    producer.close()
    return measured


def pykclient_arrow(servers: str, topic: str, records: int) -> Measured:
    import pyarrow as pa

    from pykclient import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=LINGER_MS)
    table = pa.table({"value": pa.array([VALUE] * 10_000, pa.binary())})
    producer.send_arrow(topic, table, key=None)
    producer.flush()
    meter = Meter()
    results = [producer.send_arrow(topic, table, key=None) for _ in range(records // 10_000)]
    producer.flush()
    delivered = sum(result.result(0).delivered_count for result in results)
    measured = meter.stop(records)
    expect(delivered, records)
    producer.close()
    return measured


def _confluent(servers: str, topic: str, records: int, *, callbacks: bool) -> Measured:
    import confluent_kafka

    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": LINGER_MS,
            "queue.buffering.max.messages": 10_000_000,
            "queue.buffering.max.kbytes": 2_000_000,
        }
    )
    delivered = 0

    def count(error: object, message: object) -> None:
        nonlocal delivered
        if error is None:
            delivered += 1

    options: dict[str, Any] = {"on_delivery": count} if callbacks else {}
    produce, poll = producer.produce, producer.poll
    for _ in range(WARM_UP):
        produce(topic, VALUE)
    producer.flush()
    meter = Meter()
    for number in range(records):
        produce(topic, VALUE, **options)
        if number % 1000 == 0:
            poll(0)
    left = producer.flush()
    measured = meter.stop(records)
    expect(delivered if callbacks else records - left, records)
    return measured


def confluent_callbacks(servers: str, topic: str, records: int) -> Measured:
    return _confluent(servers, topic, records, callbacks=True)


def confluent_plain(servers: str, topic: str, records: int) -> Measured:
    return _confluent(servers, topic, records, callbacks=False)


def aiokafka_futures(servers: str, topic: str, records: int) -> Measured:
    import aiokafka

    async def main() -> Measured:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, enable_idempotence=True, acks="all", linger_ms=LINGER_MS
        ) as producer:
            for _ in range(WARM_UP):
                await producer.send(topic, VALUE)
            await producer.flush()
            meter = Meter()
            futures = [await producer.send(topic, VALUE) for _ in range(records)]
            await producer.flush()
            delivered = sum(future.exception() is None for future in futures)
            measured = meter.stop(records)
        expect(delivered, records)
        return measured

    return asyncio.run(main())


def kafka_python_futures(servers: str, topic: str, records: int) -> Measured:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=True, acks="all", linger_ms=LINGER_MS)
    for _ in range(WARM_UP):
        producer.send(topic, VALUE)
    producer.flush()
    meter = Meter()
    futures = [producer.send(topic, VALUE) for _ in range(records)]
    producer.flush()
    delivered = sum(future.succeeded() for future in futures)
    measured = meter.stop(records)
    expect(delivered, records)
    producer.close()
    return measured


CLIENTS: dict[str, tuple[str, Callable[[str, str, int], Measured], dict[str, str]]] = {
    "pykclient": ("pykclient, a future per record", pykclient_futures, {}),
    "pykclient-plain": ("pykclient, failures counted only", pykclient_plain, {}),
    "pykclient-callbacks": ("pykclient, a callback per record", pykclient_callbacks, {}),
    "pykclient-arrow": ("pykclient, `send_arrow`", pykclient_arrow, {}),
    "pykclient-pure": ("pykclient without the native code", pykclient_futures, {"PYKCLIENT_ACCEL": "off"}),
    "confluent": ("confluent-kafka, a callback per record", confluent_callbacks, {}),
    "confluent-plain": ("confluent-kafka, outcomes not looked at", confluent_plain, {}),
    "aiokafka": ("aiokafka, a future per record", aiokafka_futures, {}),
    "kafka-python": ("kafka-python, a future per record", kafka_python_futures, {}),
}


# ---- the run ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def broker(given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    from pykclient.testing.real_kafka import RealKafka

    with RealKafka(brokers=1, config={"num.partitions": "3", "log.retention.bytes": "200000000"}, heap_mb=768) as kafka:
        yield kafka.bootstrap_servers


def run_child(name: str, servers: str, records: int) -> Measured:
    _, _, environment = CLIENTS[name]
    command = [sys.executable, "-m", "benchmarks.producer", "--child", name, "--bootstrap-servers", servers]
    done = subprocess.run(
        [*command, "--records", str(records)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | environment,
        cwd=pathlib.Path(__file__).parents[1],
    )
    if done.returncode != 0:
        raise SystemExit(f"{name}:\n{done.stderr[-2000:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--records", type=int, default=200_000)
    arguments.add_argument("--bootstrap-servers")
    arguments.add_argument("--clients", default=",".join(CLIENTS))
    arguments.add_argument("--child", help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.child:
        measured = CLIENTS[chosen.child][1](chosen.bootstrap_servers, f"bench-{chosen.child}", chosen.records)
        print(json.dumps(vars(measured)))
        return
    names = chosen.clients.split(",")
    results: dict[str, list[Measured]] = {name: [] for name in names}
    with broker(chosen.bootstrap_servers) as servers:
        for number in range(chosen.rounds):
            for name in names:
                results[name].append(run_child(name, servers, chosen.records))
                latest = results[name][-1]
                print(
                    f"round {number + 1} {name}: {latest.cpu_s / latest.records * 1e6:.2f} us CPU per record, "
                    f"{latest.wall_s:.2f} s",
                    file=sys.stderr,
                )
    print(f"\n{chosen.records} records of {len(VALUE)} bytes, medians of {chosen.rounds} interleaved rounds.\n")
    print("| client | CPU per record | wall time | records per second |")
    print("| --- | ---: | ---: | ---: |")
    for name, rounds in results.items():
        cpu = statistics.median(each.cpu_s / each.records for each in rounds) * 1e6
        wall = statistics.median(each.wall_s for each in rounds)
        print(f"| {CLIENTS[name][0]} | {cpu:.2f} us | {wall:.2f} s | {chosen.records / wall:,.0f} |")


if __name__ == "__main__":
    main()
