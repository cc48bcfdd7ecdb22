"""Act on each outcome without waiting for any: python examples/producer_callbacks.py BOOTSTRAP_SERVERS TOPIC"""

from __future__ import annotations

import sys
from collections import Counter

from pykclient import KafkaProducer, RecordMetadata
from pykclient.errors import RecordTooLarge

outcomes: Counter[str] = Counter()


def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
    """Runs on the producer's own thread: be quick, and do not wait for the producer in here."""
    outcomes["delivered" if metadata is not None else type(error).__name__] += 1


def main(bootstrap_servers: str, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=bootstrap_servers, linger_ms=20, max_request_size=100_000) as producer:
        for number in range(1000):
            producer.send(topic, b"event %d" % number, on_delivery=delivered)
        try:
            producer.send(topic, bytes(200_000), on_delivery=delivered)
        except RecordTooLarge as error:  # what can be known at once is raised at once
            outcomes["refused"] += 1
            print(f"refused: {error}")
        producer.flush(timeout=30)
        measured = producer.metrics()
    print(dict(outcomes))
    print(f"{measured['record-send-total']:.0f} records sent")


if __name__ == "__main__":
    main(*sys.argv[1:3])
