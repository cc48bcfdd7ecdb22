"""Read, change and write exactly once: python examples/producer_transactions.py BOOTSTRAP_SERVERS SOURCE TARGET

Each batch that is read becomes one transaction: its results and the position in the source are committed together, so a
crash at any point neither loses nor repeats a result. Start it again after killing it: it goes on where it was.
"""

from __future__ import annotations

import sys

from pykclient import KafkaConsumer, KafkaProducer, OffsetAndMetadata
from pykclient.errors import KafkaError


def main(bootstrap_servers: str, source: str, target: str) -> None:
    consumer = KafkaConsumer(
        source,
        bootstrap_servers=bootstrap_servers,
        group_id=f"{source}-to-{target}",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers, transactional_id=f"{source}-to-{target}")
    producer.init_transactions()
    copied = idle = 0
    with consumer, producer:
        while idle < 3:  # a service would loop for ever
            batches = consumer.poll(0.5)
            idle = 0 if batches else idle + 1
            if not batches:
                continue
            try:
                with producer.transaction():  # commits, or aborts when anything below raises
                    positions = {}
                    for partition, records in batches.items():
                        for record in records:
                            producer.send(target, (record.value or b"").upper(), key=record.key)
                            copied += 1
                        positions[partition] = OffsetAndMetadata(records[-1].offset + 1)
                    producer.send_offsets_to_transaction(positions, consumer.group_metadata())
            except KafkaError as error:
                if not error.abortable:
                    raise  # fenced or timed out: let a supervisor start us again
                for partition, records in batches.items():
                    consumer.seek(partition, records[0].offset)
    print(f"{copied} records copied from {source} to {target}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
