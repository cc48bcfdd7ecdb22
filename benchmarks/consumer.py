"""What reading a record costs, against the other Python clients, in one run on one real broker.

python -m benchmarks.consumer [--rounds 5] [--records 500000] [--bootstrap-servers HOST:PORT] [--clients a,b]

100-byte values without keys, in batches as a producer with linger_ms=5 makes them, three partitions, no group, from the
beginning to the end. Every client runs in a process of its own, one after the other, round by round; the table has
medians. CPU is all of the client's process (user and system, all threads) from the moment the consumer exists to the
last record, connecting included: clients that read ahead in the background would hide their work in a warm-up. The
value of every record is looked at once. Checksums are verified, but in the row that says otherwise.

Prints one Markdown table. Without --bootstrap-servers it starts Apache Kafka (Java and Maven needed).
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from benchmarks import turns
from benchmarks.turns import Measured

VALUE_BYTES = 100
PARTITIONS = 3
TOPIC = "bench-consumer"


class Meter:
    """Counts records; measures from when it is made to the last of them."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.count = 0
        self.size = 0
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def done(self) -> bool:
        return self.count >= self.total

    def stop(self) -> Measured:
        measured = Measured(time.process_time() - self._cpu, time.perf_counter() - self._wall, self.count)
        if self.size != self.count * VALUE_BYTES:
            raise SystemExit(f"{self.size} bytes in {self.count} records")
        return measured


# ---- clients ---------------------------------------------------------------------------------------------------------


def _pykclient(servers: str, **options: Any) -> Any:
    from pykclient import KafkaConsumer

    return KafkaConsumer(TOPIC, bootstrap_servers=servers, auto_offset_reset="earliest", **options)


def pykclient_loop(servers: str, records: int) -> Measured:
    with _pykclient(servers) as consumer:
        meter = Meter(records)
        count = size = 0
        for record in consumer:
            size += len(record.value)
            count += 1
            if count == records:
                break
        meter.count, meter.size = count, size
        return meter.stop()


def pykclient_poll(servers: str, records: int) -> Measured:
    with _pykclient(servers, max_poll_records=10_000) as consumer:
        meter = Meter(records)
        while not meter.done:
            for batch in consumer.poll(10.0).values():
                meter.count += len(batch)
                meter.size += sum([len(record.value) for record in batch])
        return meter.stop()


def pykclient_arrow(servers: str, records: int) -> Measured:
    import pyarrow.compute as pc

    from pykclient.consumer import arrow  # noqa: F401  imported by the first poll_arrow; not part of reading

    with _pykclient(servers) as consumer:
        meter = Meter(records)
        while not meter.done:
            table = consumer.poll_arrow(10.0)
            meter.count += table.num_rows
            meter.size += pc.sum(pc.binary_length(table["value"])).as_py() or 0
        return meter.stop()


def _confluent(servers: str, records: int, *, batch: int | None, check_crcs: bool) -> Measured:
    import confluent_kafka

    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "bench",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "check.crcs": check_crcs,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
    meter = Meter(records)
    while not meter.done:
        if batch is None:
            message = consumer.poll(10.0)
            messages = [] if message is None else [message]
        else:
            messages = consumer.consume(batch, 1.0)
        for each in messages:
            meter.size += len(each.value() or b"")
        meter.count += len(messages)
    measured = meter.stop()
    consumer.close()
    return measured


def confluent_consume(servers: str, records: int) -> Measured:
    return _confluent(servers, records, batch=10_000, check_crcs=True)


def confluent_consume_unchecked(servers: str, records: int) -> Measured:
    return _confluent(servers, records, batch=10_000, check_crcs=False)


def confluent_poll(servers: str, records: int) -> Measured:
    return _confluent(servers, records, batch=None, check_crcs=True)


def aiokafka_batches(servers: str, records: int) -> Measured:
    import aiokafka

    async def main() -> Measured:
        consumer = aiokafka.AIOKafkaConsumer(TOPIC, bootstrap_servers=servers, auto_offset_reset="earliest")
        await consumer.start()
        meter = Meter(records)
        while not meter.done:
            for batch in (await consumer.getmany(timeout_ms=10_000, max_records=10_000)).values():
                meter.count += len(batch)
                meter.size += sum([len(record.value) for record in batch])
        measured = meter.stop()
        await consumer.stop()
        return measured

    return asyncio.run(main())


def kafka_python_poll(servers: str, records: int) -> Measured:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(TOPIC, bootstrap_servers=servers, auto_offset_reset="earliest", group_id=None)
    meter = Meter(records)
    while not meter.done:
        for batch in consumer.poll(10_000, max_records=10_000).values():
            meter.count += len(batch)
            meter.size += sum([len(record.value) for record in batch])
    measured = meter.stop()
    consumer.close()
    return measured


CLIENTS: dict[str, turns.Client] = {
    "pykclient": ("pykclient, `for record in consumer`", pykclient_loop, {}),
    "pykclient-poll": ("pykclient, `poll`", pykclient_poll, {}),
    "pykclient-arrow": ("pykclient, `poll_arrow`", pykclient_arrow, {}),
    "pykclient-pure": ("pykclient, the loop without the native code", pykclient_loop, {"PYKCLIENT_ACCEL": "off"}),
    "confluent": ("confluent-kafka, `consume(10000)`", confluent_consume, {}),
    "confluent-unchecked": ("confluent-kafka, `consume(10000)`, no checksums", confluent_consume_unchecked, {}),
    "confluent-poll": ("confluent-kafka, `poll()`", confluent_poll, {}),
    "aiokafka": ("aiokafka, `getmany`", aiokafka_batches, {}),
    "kafka-python": ("kafka-python, `poll`", kafka_python_poll, {}),
}


# ---- the run ---------------------------------------------------------------------------------------------------------


def fill(servers: str, records: int) -> None:
    from pykclient import KafkaProducer

    value = b"x" * VALUE_BYTES
    with KafkaProducer(bootstrap_servers=servers, linger_ms=5) as producer:
        for _ in range(records):
            producer.send(TOPIC, value)


if __name__ == "__main__":
    turns.main(
        turns.Benchmark(
            module="benchmarks.consumer",
            doc=__doc__,
            clients=CLIENTS,
            records=500_000,
            value_bytes=VALUE_BYTES,
            broker_config={"num.partitions": str(PARTITIONS)},
            run=lambda name, servers, records: CLIENTS[name][1](servers, records),
            prepare=fill,
        )
    )
