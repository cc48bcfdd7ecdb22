"""Read a topic to its end, without a group: python examples/consumer_plain.py BOOTSTRAP_SERVERS TOPIC"""

from __future__ import annotations

import sys

from pykclient import KafkaConsumer, TopicPartition


def main(bootstrap_servers: str, topic: str) -> None:
    with KafkaConsumer(bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, info.partition) for info in consumer.partitions_for(topic)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        count = 0
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for record in consumer.poll(1.0).records():
                count += 1
                print(record.partition, record.offset, record.value)
        print(f"{count} records read")


if __name__ == "__main__":
    main(*sys.argv[1:3])
