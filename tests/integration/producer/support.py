"""What the producer's tests share: reading a topic back whole, and producers that do not wait long."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerRecord

Record = ConsumerRecord[bytes, bytes]
QUICK: dict[str, Any] = {"retry_backoff_ms": 10, "retry_backoff_max_ms": 50, "reconnect_backoff_ms": 5, "linger_ms": 1}


def producer_for(where: EmbeddedCluster | str, **options: Any) -> KafkaProducer:
    """A producer that retries quickly."""
    servers = where if isinstance(where, str) else where.bootstrap_servers
    return KafkaProducer(bootstrap_servers=servers, **(QUICK | options))


def read_topic(where: EmbeddedCluster | str, topic: str, *, committed: bool = True) -> dict[int, list[Record]]:
    """Every record of the topic up to its end now, by partition; only committed ones unless told otherwise."""
    servers = where if isinstance(where, str) else where.bootstrap_servers
    level = "read_committed" if committed else "read_uncommitted"
    found: dict[int, list[Record]] = defaultdict(list)
    with KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest", isolation_level=level) as consumer:
        partitions = [TopicPartition(topic, index) for index in range(len(consumer.partitions_for(topic)))]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for tp, records in consumer.poll(0.1).items():
                found[tp.partition] += records
    return found


def values(where: EmbeddedCluster | str, topic: str, *, committed: bool = True) -> list[bytes]:
    """The values of the topic, partition after partition."""
    found = read_topic(where, topic, committed=committed)
    return [record.value for partition in sorted(found) for record in found[partition] if record.value is not None]
