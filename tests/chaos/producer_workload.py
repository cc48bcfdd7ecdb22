"""The standard workload against three real brokers: unique integers at about 350 a second, idempotent, acks=all.

Used by the tests of the producer under node and network faults. What is acknowledged goes into a ``Ledger``, with the
time of each acknowledgement per partition, so that a test can say how long a fault was felt and where.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.admin.types import NewTopic
from pykclient.errors import KafkaError
from pykclient.testing.real_kafka import RealKafka
from pykclient.types import ConsumerRecord, RecordMetadata
from tests.chaos.ledger import Ledger

PARTITIONS = 3
PER_SECOND = 350
CONTROL = 10**9
"""Values from here on are the control's."""
CONTROL_PAUSE_S = 0.05
_turns = itertools.count()


class Delivery(NamedTuple):
    partition: int
    sent_at: float
    acked_at: float


@dataclass
class Run:
    """What one workload saw."""

    topic: str
    ledger: Ledger = field(default_factory=Ledger)
    acked_at: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    deliveries: list[Delivery] = field(default_factory=list)
    fault_at: float = 0.0
    control_s: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)

    def gap_s(self, partition: int) -> float:
        """The longest time without an acknowledgement for this partition."""
        times = self.acked_at[partition]
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)


def new_topic(kafka: RealKafka) -> str:
    """Every broker leads one partition; which of them leads partition 0 changes from topic to topic."""
    name = f"chaos-{uuid.uuid4().hex[:8]}"
    turn = next(_turns)
    rows = {index: [(turn + index + copy) % 3 + 1 for copy in range(3)] for index in range(PARTITIONS)}
    with KafkaAdminClient(bootstrap_servers=kafka.direct_bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, assignments=rows)], wait=True)
    for partition in range(PARTITIONS):
        leader_of(kafka, name, partition)
    return name


def leader_of(kafka: RealKafka, topic: str, partition: int = 0, *, without: int | None = None) -> int:
    """The leader by the account of the others, waited for: just after creation not every broker knows."""
    give_up_at = time.monotonic() + 30
    while time.monotonic() < give_up_at:
        with KafkaConsumer(bootstrap_servers=others(kafka, without)) as consumer, contextlib.suppress(KafkaError):
            for found in consumer.partitions_for(topic):
                if found.partition == partition and found.leader is not None and found.leader.id != without:
                    return found.leader.id
        time.sleep(0.05)
    raise TimeoutError(f"{topic}-{partition} has no leader")


def others(kafka: RealKafka, node_id: int | None) -> str:
    """Where the rest of the cluster is, round the proxies."""
    return ",".join(f"127.0.0.1:{b.direct_port}" for b in kafka.brokers.values() if b.id != node_id)


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
        producer.partitions_for(topic)
        began = time.monotonic()
        for value in itertools.count():
            now = time.monotonic()
            if thread.ident is None and now - began >= fault_after:
                thread.start()
            if now - began >= seconds and thread.ident is not None and not thread.is_alive():
                break
            _send(producer, run, value)
            time.sleep(max(0.0, began + value / PER_SECOND - time.monotonic()))
        last_sent_at = time.monotonic()
        producer.flush(90)
        run.notes["flush_s"] = time.monotonic() - last_sent_at
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
        run.deliveries.append(Delivery(partition, sent_at, now))

    run.ledger.sending(partition, value)
    producer.send(run.topic, str(value).encode(), partition=partition, on_delivery=delivered)


class Control:
    """Fresh producers, one after another, that write to a partition from the moment of the fault until told to stop.

    The longest time without a success is what the cluster itself needed, on this machine, at this moment.
    """

    def __init__(self, servers: str, run: Run, partition: int = 0) -> None:
        self._servers = servers
        self._partition = partition
        self._run = run
        self._done_at = [run.fault_at]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._succeeded = threading.Event()

    def _work(self) -> None:
        for value in itertools.count(CONTROL):
            with KafkaProducer(
                bootstrap_servers=self._servers, request_timeout_ms=400, delivery_timeout_ms=500, linger_ms=0,
                max_block_ms=500,
            ) as fresh:  # fmt: skip
                with contextlib.suppress(KafkaError):
                    fresh.send(self._run.topic, b"%d" % value, partition=self._partition).result(1)
                    self._done_at.append(time.monotonic())
                    self._succeeded.set()
                fresh.close(0)
            if self._stop.wait(CONTROL_PAUSE_S):
                return

    def __enter__(self) -> Control:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        assert len(self._done_at) > 1, "the control could not write at all"
        self._run.control_s = max(after - before for before, after in itertools.pairwise(self._done_at))

    def wait_for_success(self, timeout_s: float = 40.0) -> None:
        assert self._succeeded.wait(timeout_s), f"the cluster takes no writes, {timeout_s} s after the fault"


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
    for record in _records(kafka, topic):
        if int(record.value or b"") < CONTROL:
            yield record.partition, record.offset, int(record.value or b"")


def read_values(kafka: RealKafka, topic: str) -> Iterator[bytes | None]:
    """All of the topic, round the proxies."""
    return (record.value for record in _records(kafka, topic))


def _records(kafka: RealKafka, topic: str) -> Iterator[ConsumerRecord[bytes, bytes]]:
    with KafkaConsumer(bootstrap_servers=kafka.direct_bootstrap_servers, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            yield from consumer.poll(1.0).records()
