"""Keys keep what belongs together in one partition and in order: python examples/producer_keyed.py SERVERS TOPIC"""

from __future__ import annotations

import sys
from collections import defaultdict

from pykclient import KafkaProducer

CUSTOMERS = ("alice", "bob", "carol", "dave")


def main(bootstrap_servers: str, topic: str) -> None:
    used: defaultdict[str, set[int]] = defaultdict(set)
    futures = []
    with KafkaProducer(
        bootstrap_servers=bootstrap_servers,
        key_serializer="string",
        value_serializer="json",
        compression_type="zstd",
    ) as producer:
        for number in range(400):
            customer = CUSTOMERS[number % len(CUSTOMERS)]
            order = {"customer": customer, "number": number}
            future = producer.send(topic, order, key=customer, headers=[("kind", b"order")])
            futures.append((customer, future))
        for customer, future in futures:
            used[customer].add(future.result(timeout=30).partition)
        # A tombstone: in a compacted topic it deletes everything with this key.
        producer.send(topic, None, key="dave").result(timeout=30)
    for customer, partitions in sorted(used.items()):
        print(f"{customer}: partition {', '.join(map(str, partitions))}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
