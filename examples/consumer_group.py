"""Share a topic with others of the same group, until Ctrl-C: python examples/consumer_group.py BOOTSTRAP_SERVERS TOPIC

Start it twice and see partitions move. An optional third argument ends it after so many records.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from pykclient import KafkaConsumer, TopicPartition


class Listener:
    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        print("assigned:", sorted(tp.partition for tp in partitions))

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        print("revoked:", sorted(tp.partition for tp in partitions))

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        print("lost:", sorted(tp.partition for tp in partitions))


def main(bootstrap_servers: str, topic: str, limit: str = "0") -> None:
    with KafkaConsumer(
        bootstrap_servers=bootstrap_servers,
        group_id=f"{topic}-group",
        group_protocol="auto",
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.subscribe([topic], listener=Listener())
        try:
            # A record counts as processed when the next one is asked for; a crash brings the one in hand again.
            for count, record in enumerate(consumer, 1):
                print(record.partition, record.offset, record.value)
                if count == int(limit):
                    break
        except KeyboardInterrupt:
            print("leaving the group")


if __name__ == "__main__":
    main(*sys.argv[1:4])
