"""Read, change, write, exactly once: python examples/consumer_exactly_once.py SERVERS SOURCE TARGET COUNT

Start several of them with the same topics; kill them as you like. Readers of the target with
isolation_level=read_committed see the outcome of every record once.
"""

from __future__ import annotations

import sys
import uuid

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.errors import KafkaError


def main(bootstrap_servers: str, source: str, target: str, count: str) -> None:
    copied = 0
    with (
        KafkaConsumer(
            source,
            bootstrap_servers=bootstrap_servers,
            group_id=f"{source}-to-{target}",
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer,
        KafkaProducer(bootstrap_servers=bootstrap_servers, transactional_id=f"{target}-{uuid.uuid4()}") as producer,
    ):
        producer.init_transactions()
        while copied < int(count):
            batch = consumer.poll(1.0)
            if not batch:
                continue
            try:
                with producer.transaction():
                    for record in batch.records():
                        producer.send(target, record.value.upper(), key=record.key)
                    offsets = {tp: records[-1].offset + 1 for tp, records in batch.items()}
                    producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
            except KafkaError as error:
                if error.fatal:
                    raise  # another producer has this transactional id: this one is over
                print("aborted, and done again:", error)
                for tp, records in batch.items():
                    if tp in consumer.assignment():
                        consumer.seek(tp, records[0].offset)
                continue
            copied += batch.count
    print(f"{copied} records copied")


if __name__ == "__main__":
    main(*sys.argv[1:5])
