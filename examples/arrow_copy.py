"""A pyarrow table to a topic, and the topic back to a table: python examples/arrow_copy.py BOOTSTRAP_SERVERS TOPIC"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.compute as pc

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition


def main(bootstrap_servers: str, topic: str) -> None:
    numbers = range(10_000)
    table = pa.table({"key": [f"sensor-{n % 20}" for n in numbers], "value": [str(n * 0.1) for n in numbers]})
    with KafkaProducer(bootstrap_servers=bootstrap_servers, compression_type="lz4") as producer:
        delivery = producer.send_arrow(topic, table).result(timeout=30)
    print(f"{delivery.delivered_count} rows sent to {len(delivery.offsets)} partitions")
    with KafkaConsumer(bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest") as consumer:
        partitions = [TopicPartition(topic, info.partition) for info in consumer.partitions_for(topic)]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        tables = []
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            tables.append(consumer.poll_arrow(10, until=ends))
    read = pa.concat_tables(tables)
    total = pc.sum(read["value"].cast(pa.string()).cast(pa.float64())).as_py()
    print(f"{read.num_rows} rows read, the values sum up to {total:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
