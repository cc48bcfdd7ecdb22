"""What the consumer's tests share: quick options for every group protocol, records to read, and readers that know what
they have seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerRecord

Record = ConsumerRecord[bytes, bytes]
QUICK: dict[str, Any] = {
    "auto_offset_reset": "earliest",
    "retry_backoff_ms": 10,
    "retry_backoff_max_ms": 100,
    "reconnect_backoff_ms": 10,
    "reconnect_backoff_max_ms": 100,
    "fetch_max_wait_ms": 100,
}
CLASSIC = {"group_protocol": "classic", "session_timeout_ms": 6000, "heartbeat_interval_ms": 100}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "classic-range": CLASSIC | {"partition_assignment_strategy": "range"},
    "classic-cooperative": CLASSIC | {"partition_assignment_strategy": "cooperative-sticky"},
    "kip848": {"group_protocol": "consumer"},
}
CLUSTER: dict[str, Any] = {
    "group_initial_rebalance_delay_ms": 0,
    "group_min_session_timeout_ms": 100,
    "group_consumer_heartbeat_interval_ms": 100,
}


def open_consumer(
    where: EmbeddedCluster | str, *topics: str, protocol: str | None = None, **options: Any
) -> KafkaConsumer:
    """A consumer that retries quickly; ``protocol`` names one of PROTOCOLS."""
    servers = where if isinstance(where, str) else where.bootstrap_servers
    ours = PROTOCOLS[protocol] if protocol is not None else {}
    return KafkaConsumer(*topics, bootstrap_servers=servers, **(QUICK | ours | options))


def produce(
    where: EmbeddedCluster | str, topic: str, values: Iterable[int], *, partitions: int = 1, **options: Any
) -> None:
    """Integers as text, partition by partition in turn."""
    servers = where if isinstance(where, str) else where.bootstrap_servers
    with KafkaProducer(bootstrap_servers=servers, linger_ms=0, **options) as producer:
        sent = [producer.send(topic, b"%d" % value, partition=value % partitions) for value in values]
        for future in sent:
            future.result(20)


def numbers(records: Iterable[Record]) -> list[int]:
    """The integers that ``produce`` wrote."""
    return [int(record.value) for record in records if record.value is not None]


def read_until(
    consumer: KafkaConsumer, done: Callable[[list[int]], bool], what: str, timeout_s: float = 10.0
) -> list[int]:
    """Poll until it is done; every number seen, in order."""
    seen: list[int] = []
    give_up_at = time.monotonic() + timeout_s
    while not done(seen):
        assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s; {len(seen)} records seen"
        seen += numbers(consumer.poll(0.05).records())
    return seen


def read_numbers(consumer: KafkaConsumer, wanted: Iterable[int], timeout_s: float = 10.0) -> list[int]:
    """Poll until all of these were seen, and no longer."""
    missing = set(wanted)

    def done(seen: list[int]) -> bool:
        missing.difference_update(seen)
        return not missing

    return read_until(consumer, done, f"records to read: {len(missing)}", timeout_s)


def wait_assigned(consumer: KafkaConsumer, count: int, timeout_s: float = 10.0) -> set[TopicPartition]:
    """Poll until so many partitions are assigned."""
    read_until(consumer, lambda _: len(consumer.assignment()) == count, f"{count} partitions", timeout_s)
    return consumer.assignment()
