"""What sending a record costs, against the other Python clients, in one run on one real broker.

python -m benchmarks.producer [--rounds 5] [--records 200000] [--bootstrap-servers HOST:PORT] [--clients a,b]

100-byte values without keys, acks=all, idempotent, the outcome of every record checked (but in the row that says
otherwise). Every client runs in a process of its own, one after the other, round by round; the table has medians. CPU
is all of the client's process (user and system, all threads) from the first measured send to the last acknowledgement;
a warm-up before it is not counted. Batch sizes are each client's default, linger is 5 ms everywhere. Prints one
Markdown table. Without --bootstrap-servers it starts Apache Kafka (Java and Maven needed).
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from benchmarks import turns
from benchmarks.turns import Measured

VALUE = b"x" * 100
LINGER_MS = 5
WARM_UP = 20_000


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


CLIENTS: dict[str, turns.Client] = {
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


if __name__ == "__main__":
    turns.main(
        turns.Benchmark(
            module="benchmarks.producer",
            doc=__doc__,
            clients=CLIENTS,
            records=200_000,
            value_bytes=len(VALUE),
            broker_config={"num.partitions": "3", "log.retention.bytes": "200000000"},
            run=lambda name, servers, records: CLIENTS[name][1](servers, f"bench-{name}", records),
        )
    )
