"""The standard workload against three real brokers: unique integers at about 350 a second, idempotent, acks=all.

Used by the tests of the producer under node and network faults. What is acknowledged goes into a ``Ledger``, with the
time of each acknowledgement per partition, so that a test can say how long a fault was felt and where.
"""

from __future__ import annotations

import itertools
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.errors import KafkaError
from pykclient.testing.real_kafka import RealKafka
from pykclient.types import RecordMetadata
from tests.chaos.ledger import Ledger

PARTITIONS = 3
PER_SECOND = 350
CONTROL = 10**9
"""Values from here on are the control's."""


@dataclass
class Run:
    """What one workload saw."""

    topic: str
    ledger: Ledger = field(default_factory=Ledger)
    acked_at: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    latencies: list[float] = field(default_factory=list)
    fault_at: float = 0.0
    control_s: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    def gap_s(self, partition: int) -> float:
        """The longest time without an acknowledgement for this partition."""
        times = self.acked_at[partition]
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)


def new_topic(kafka: RealKafka) -> str:
    name = f"chaos-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": kafka.direct_bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(20)
    leader_of(kafka, name, PARTITIONS - 1)
    return name


def leader_of(kafka: RealKafka, topic: str, partition: int) -> int:
    """The leader, waited for: just after creation not every broker knows."""
    admin = AdminClient({"bootstrap.servers": kafka.direct_bootstrap_servers})
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = admin.list_topics(topic, timeout=10).topics[topic].partitions
        if partition in found and found[partition].leader >= 0:
            return int(found[partition].leader)
        time.sleep(0.1)
    raise TimeoutError(f"{topic}-{partition} has no leader")


def work(
    servers: str, topic: str, *, seconds: float, fault: Callable[[Run], None], fault_after: float = 2.0, **options: Any
) -> Run:
    """Send for ``seconds`` (and until the fault is over); the fault runs on a thread of its own."""
    run = Run(topic)
    failures: list[BaseException] = []

    def trouble() -> None:
        try:
            run.fault_at = time.monotonic()
            fault(run)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=trouble)
    producer = KafkaProducer(bootstrap_servers=servers, **options)
    try:
        began = time.monotonic()
        for value in itertools.count():
            now = time.monotonic()
            if thread.ident is None and now - began >= fault_after:
                thread.start()
            if now - began >= seconds and thread.ident is not None and not thread.is_alive():
                break
            _send(producer, run, value)
            time.sleep(max(0.0, began + value / PER_SECOND - time.monotonic()))
        producer.flush(90)
        run.notes["flushed_s"] = time.monotonic() - began
    finally:
        producer.close(5)
    if failures:
        raise failures[0]
    return run


def _send(producer: KafkaProducer, run: Run, value: int) -> None:
    partition = value % PARTITIONS
    sent_at = time.monotonic()

    def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
        if metadata is None:
            run.ledger.refused(value, repr(error))
            return
        run.ledger.acknowledged(value, metadata.partition, metadata.offset)
        now = time.monotonic()
        run.acked_at[partition].append(now)
        run.latencies.append(now - sent_at)

    run.ledger.sending(partition, value)
    producer.send(run.topic, str(value).encode(), partition=partition, on_delivery=delivered)


def measure_control(servers: str, run: Run, partition: int, give_up_s: float = 30.0) -> None:
    """How long after the fault a *fresh* producer can write to the partition: what the cluster itself needs."""
    for attempt in itertools.count():
        with KafkaProducer(
            bootstrap_servers=servers, request_timeout_ms=400, delivery_timeout_ms=500, linger_ms=0, max_block_ms=500
        ) as fresh:
            try:
                fresh.send(run.topic, str(CONTROL + attempt).encode(), partition=partition).result(1)
                run.control_s = time.monotonic() - run.fault_at
                return
            except KafkaError:
                if time.monotonic() - run.fault_at > give_up_s:
                    raise
            finally:
                fresh.close(0)


def check(kafka: RealKafka, run: Run) -> None:
    """Nothing lost, doubled, reordered or elsewhere than acknowledged; everything was acknowledged."""
    assert not run.ledger.failed, dict(list(run.ledger.failed.items())[:3])
    sent = sum(map(len, run.ledger.sent.values()))
    assert len(run.ledger.acked) == sent
    assert sent > 500, "no traffic, no proof"
    verdict = run.ledger.check(read_back(kafka, run.topic))
    assert verdict.clean, verdict


def read_back(kafka: RealKafka, topic: str) -> Iterator[tuple[int, int, int]]:
    """All of the topic but the control's values, round the proxies."""
    with KafkaConsumer(bootstrap_servers=kafka.direct_bootstrap_servers, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for tp, records in consumer.poll(1.0).items():
                for record in records:
                    if int(record.value or b"") < CONTROL:
                        yield tp.partition, record.offset, int(record.value or b"")
