"""The nouns print well, compare by value and travel between processes."""

from __future__ import annotations

import pickle

from pykclient.types import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    Node,
    OffsetAndMetadata,
    RecordMetadata,
    TimestampType,
    TopicPartition,
)


def test_partition_is_a_key_and_reads_as_kafka_writes_it() -> None:
    partition = TopicPartition("orders", 3)
    assert str(partition) == "orders-3"
    assert {partition: 1}[TopicPartition("orders", 3)] == 1
    assert sorted([TopicPartition("b", 0), TopicPartition("a", 10), TopicPartition("a", 2)])[0].partition == 2


def test_records_know_their_partition() -> None:
    record: ConsumerRecord[bytes, bytes] = ConsumerRecord(
        "orders", 3, 7, 1000, TimestampType.CREATE_TIME, b"k", b"v", [("h", None)], 5
    )
    assert record.topic_partition == TopicPartition("orders", 3)
    assert pickle.loads(pickle.dumps(record)) == record
    sent = RecordMetadata("orders", 3, 7, 1000, 1, 1)
    assert sent.topic_partition == record.topic_partition


def test_defaults_are_what_an_unset_field_means() -> None:
    assert OffsetAndMetadata(5) == (5, "", None)
    assert ConsumerGroupMetadata("g") == ("g", -1, "", None)
    assert str(Node(1, "kafka", 9092)) == "kafka:9092 (id 1)"
