"""A process that writes numbered transactions until it is killed: ``python -m ... BOOTSTRAP TOPIC RECORDS [LAST]``.

Which number comes next is what the group has committed, and that is committed with each transaction: so a restart goes
on where the last whole transaction ended. Every step is announced by one byte on standard output.
"""

from __future__ import annotations

import os
import sys

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition


def main(servers: str, topic: str, records: int, last: int) -> None:
    tp = TopicPartition(topic, 0)
    producer = KafkaProducer(
        bootstrap_servers=servers, transactional_id=f"{topic}-loop", retry_backoff_ms=10, linger_ms=0
    )
    producer.init_transactions()
    with KafkaConsumer(bootstrap_servers=servers, group_id=f"{topic}-loop") as consumer:
        committed = consumer.committed([tp])[tp]
    number = committed.offset if committed is not None else 0
    while number < last:
        step()
        producer.begin_transaction()
        step()
        for index in range(records):
            producer.send(topic, b"%d:%d" % (number, index), partition=index % 2)
            step()
        producer.flush()
        step()
        producer.send_offsets_to_transaction({tp: number + 1}, f"{topic}-loop")
        step()
        producer.commit_transaction()
        step()
        number += 1
    producer.close()


def step() -> None:
    os.write(1, b".")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
