"""Eight handlers, in order per key, with dead letters: python examples/consumer_parallel.py SERVERS TOPIC COUNT"""

from __future__ import annotations

import sys
import threading

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.types import ConsumerRecord


def main(bootstrap_servers: str, topic: str, count: str) -> None:
    lock = threading.Lock()
    handled = 0
    refused: set[tuple[int, int]] = set()

    def handle(record: ConsumerRecord[bytes, bytes]) -> None:
        nonlocal handled
        if record.offset % 100 == 99:
            with lock:
                refused.add((record.partition, record.offset))
            raise ValueError("this one cannot be done")
        with lock:
            handled += 1

    with (
        KafkaProducer(bootstrap_servers=bootstrap_servers) as letters,
        KafkaConsumer(
            topic, bootstrap_servers=bootstrap_servers, group_id=f"{topic}-workers", auto_offset_reset="earliest"
        ) as consumer,
    ):
        consumer.process(
            handle,
            workers=8,
            ordering="key",
            on_error="dead_letter",
            retries=2,
            retry_backoff_ms=10,
            dead_letter_producer=letters,
            stop=lambda: handled + len(refused) >= int(count),
        )
    print(f"{handled} records handled, {len(refused)} put away in {topic}.dead-letters")


if __name__ == "__main__":
    main(*sys.argv[1:4])
