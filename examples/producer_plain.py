"""Send records and wait for them: python examples/producer_plain.py BOOTSTRAP_SERVERS TOPIC"""

from __future__ import annotations

import sys

from pykclient import KafkaProducer


def main(bootstrap_servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        futures = [producer.send(topic, f"message {number}".encode()) for number in range(1000)]
        # Nothing has to be waited for: leaving the block delivers everything. A result says where a record landed.
        last = futures[-1].result(timeout=30)
        print(f"the last record is at offset {last.offset} of {last.topic}-{last.partition}")
    failed = [future.exception() for future in futures if future.exception() is not None]
    print(f"{len(futures) - len(failed)} delivered, {len(failed)} failed")


if __name__ == "__main__":
    main(*sys.argv[1:3])
