"""send_arrow: every row arrives once, where its key says, byte for byte; what cannot be sent is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition, UsageError
from pykclient.errors import BufferExhausted, ClientClosed, IllegalStateError, KafkaTimeoutError, RecordTooLarge
from pykclient.producer.arrow import OffsetRange
from pykclient.protocol.murmur2 import partition_for_key
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerRecord

NewTopic = Callable[..., str]


def read(cluster: EmbeddedCluster, topic: str, **options: Any) -> list[ConsumerRecord[Any, Any]]:
    """All records, partition by partition, in order."""
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", **options) as reader:
        partitions = [TopicPartition(topic, info.partition) for info in reader.partitions_for(topic)]
        ends = reader.end_offsets(partitions)
        reader.assign(partitions)
        found: dict[TopicPartition, list[ConsumerRecord[Any, Any]]] = {tp: [] for tp in partitions}
        while any(reader.position(tp) < end for tp, end in ends.items()):
            for tp, records in reader.poll(1.0).items():
                found[tp] += records
        return [record for tp in partitions for record in found[tp]]


def producer(cluster: EmbeddedCluster, **options: Any) -> KafkaProducer:
    return KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options)


def rows(count: int) -> pa.Table:
    return pa.table({"key": [b"k%d" % i for i in range(count)], "value": [b"v%d" % i for i in range(count)]})


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_rows_arrive_once_in_order_and_where_java_would_put_their_keys(
    cluster: EmbeddedCluster, new_topic: NewTopic, codec: str
) -> None:
    topic = new_topic(3)
    with producer(cluster, compression_type=codec) as sender:
        delivery = sender.send_arrow(topic, rows(5000)).result(30)
    assert (delivery.row_count, delivery.delivered_count, delivery.failures) == (5000, 5000, [])
    found = read(cluster, topic)
    assert sum(r.last - r.first + 1 for ranges in delivery.offsets.values() for r in ranges) == 5000
    by_partition: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
    for index in range(5000):
        by_partition[partition_for_key(b"k%d" % index, 3)].append(b"v%d" % index)
    assert [record.value for record in found] == by_partition[0] + by_partition[1] + by_partition[2]
    assert all(record.key == b"k" + (record.value or b"")[1:] for record in found)


def test_pure_and_native_codecs_send_the_same(
    cluster: EmbeddedCluster, new_topic: NewTopic, implementation: str
) -> None:
    topic = new_topic(2)
    data = pa.table({"key": [b"a", None, b"c"], "value": [b"1", b"2", None], "p": pa.array([None, 1, None], pa.int8())})
    with producer(cluster) as sender:
        sender.send_arrow(topic, data, partition="p").result(10)
    assert sorted((r.key or b"", r.value or b"") for r in read(cluster, topic)) == [
        (b"", b"2"),
        (b"a", b"1"),
        (b"c", b""),
    ]


def test_nulls_headers_and_timestamps_survive(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    data = pa.table(
        {
            "key": pa.array([b"a", None, b""], pa.binary()),
            "value": pa.array(["ü", "", None], pa.string()),
            "meta": pa.array([[{"key": "h", "value": b"1"}, {"key": "i", "value": None}], None, []], header),
            "at": pa.array([1_700_000_000_000, 5, 1_700_000_000_123], pa.timestamp("ms", tz="UTC")),
        }
    )
    with producer(cluster) as sender:
        sender.send_arrow(topic, data, headers="meta", timestamp="at").result(10)
    assert [(r.key, r.value, r.headers, r.timestamp) for r in read(cluster, topic)] == [
        (b"a", "ü".encode(), [("h", b"1"), ("i", None)], 1_700_000_000_000),
        (None, b"", [], 5),
        (b"", None, [], 1_700_000_000_123),
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"xx", b"yy", b"zz"], pa.binary()),
        pa.array([b"xx", b"yy", b"zz"], pa.large_binary()),
        pa.array(["xx", "yy", "zz"], pa.large_string()),
        pa.array([b"xx", b"yy", b"zz"], pa.binary(2)),
        pa.array(["xx", "yy", "zz"]).dictionary_encode(),
        pa.array(["xx", "yy", "zz"], pa.string_view()),
        pa.array([b"no", b"xx", b"yy", b"zz", b"no"]).slice(1, 3),
    ],
    ids=["binary", "large-binary", "large-string", "fixed", "dictionary", "view", "slice"],
)
def test_every_kind_of_byte_column_can_be_sent(cluster: EmbeddedCluster, new_topic: NewTopic, column: Any) -> None:
    topic = new_topic(1)
    batch = pa.RecordBatch.from_arrays([column], names=["value"])
    with producer(cluster) as sender:
        sender.send_arrow(topic, batch).result(10)
    assert [record.value for record in read(cluster, topic)] == [b"xx", b"yy", b"zz"]


def test_headers_of_a_slice_and_of_a_map_are_those_of_its_rows(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    column = pa.array([[("z", b"0")], [("a", b"1")], [], [("b", b"2"), ("c", None)]], pa.map_(pa.string(), pa.binary()))
    data = pa.table({"value": [b"0", b"1", b"2", b"3"], "headers": column}).slice(1)
    with producer(cluster) as sender:
        sender.send_arrow(topic, data, headers="headers").result(10)
    assert [record.headers for record in read(cluster, topic)] == [[("a", b"1")], [], [("b", b"2"), ("c", None)]]


def test_rows_without_keys_are_spread_in_whole_batches(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(3)
    data = pa.table({"value": [b"%050d" % i for i in range(60_000)]})
    with producer(cluster) as sender:
        delivery = sender.send_arrow(
            topic, pa.RecordBatchReader.from_batches(data.schema, data.to_batches(7000))
        ).result(30)
    assert delivery.delivered_count == 60_000
    assert len(delivery.offsets) > 1
    assert sorted(record.value or b"" for record in read(cluster, topic)) == data["value"].to_pylist()


def test_partition_can_be_a_number_or_a_column(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(3)
    with producer(cluster) as sender:
        fixed = sender.send_arrow(topic, rows(4), partition=2).result(10)
        named = sender.send_arrow(topic, rows(3).append_column("p", pa.array([1, 1, 0])), partition="p").result(10)
    assert fixed.offsets == {TopicPartition(topic, 2): [OffsetRange(0, 3)]}
    assert named.offsets == {
        TopicPartition(topic, 0): [OffsetRange(0, 0)],
        TopicPartition(topic, 1): [OffsetRange(0, 1)],
    }


def test_a_partitioner_of_the_users_own_decides(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(3)
    with producer(cluster, partitioner=lambda key, every, available: int(key[1:]) % 2) as sender:
        sender.send_arrow(topic, rows(10)).result(10)
    assert {(record.partition, int((record.key or b"k0")[1:]) % 2) for record in read(cluster, topic)} == {
        (0, 0),
        (1, 1),
    }


@pytest.mark.parametrize(
    ("data", "arguments", "complaint"),
    [
        ({"key": [b"k"]}, {}, "no column 'value'"),
        ({"value": [1, 2]}, {}, "column 'value' has type int64"),
        ({"value": [b"v"], "k": [b"k"]}, {"key": "id"}, "no column 'id' for the key"),
        ({"value": [b"v"], "h": ["x"]}, {"headers": "h"}, "column 'h' has type string"),
        ({"value": [b"v"], "t": ["now"]}, {"timestamp": "t"}, "column 't' has type string"),
        ({"value": [b"v"], "t": [-5]}, {"timestamp": "t"}, "-5"),
        ({"value": [b"v"], "p": [3]}, {"partition": "p"}, "no partition 3"),
        ({"value": [b"v"], "p": [-1]}, {"partition": "p"}, "numbered from 0"),
        ({"value": [b"v"]}, {"partition": 9}, "no partition 9"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name(
    cluster: EmbeddedCluster, new_topic: NewTopic, data: dict[str, Any], arguments: dict[str, Any], complaint: str
) -> None:
    topic = new_topic(3)
    with producer(cluster) as sender, pytest.raises(UsageError, match=complaint):
        sender.send_arrow(topic, pa.table(data), **arguments)
    assert read(cluster, topic) == []


def test_other_objects_are_refused(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    with producer(cluster) as sender, pytest.raises(UsageError, match="not dict"):
        sender.send_arrow(topic, {"value": [b"x"]})


def test_a_row_that_is_too_large_harms_no_other(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    with producer(cluster, max_request_size=5000) as sender:
        with pytest.raises(RecordTooLarge, match="max_request_size"):
            sender.send_arrow(topic, pa.table({"value": [b"a", b"b" * 6000, b"c"]}))
        sender.send_arrow(topic, pa.table({"key": [b"k" * 2400, b""], "value": [b"", b"v" * 2400]})).result(10)
    assert len(read(cluster, topic)) == 2


def test_a_table_larger_than_the_memory_waits_for_it_and_gives_all_of_it_back(
    cluster: EmbeddedCluster, new_topic: NewTopic
) -> None:
    topic = new_topic(2)
    data = pa.table({"value": [b"%0200d" % i for i in range(10_000)]})
    with producer(cluster, buffer_memory=256 * 1024) as sender:
        assert sender.send_arrow(topic, data).result(30).delivered_count == 10_000
        sender.flush()
        assert sender.metrics()["buffer-available-bytes"] == 256 * 1024


def test_memory_that_never_comes_free_says_how_many_rows_were_taken(
    cluster: EmbeddedCluster, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    data = pa.table({"value": [b"%0200d" % i for i in range(10_000)]})
    sender = producer(cluster, buffer_memory=256 * 1024, max_block_ms=300)
    try:
        sender.partitions_for(topic)
        rule = cluster.faults.stall("PRODUCE", topic=topic)
        with pytest.raises(BufferExhausted, match=r"\d+ rows before it were accepted"):
            sender.send_arrow(topic, data)
        rule.remove()
    finally:
        sender.close(0)


def test_order_with_send_is_kept(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    with producer(cluster, linger_ms=50) as sender:
        sender.send(topic, b"first")
        sender.send_arrow(topic, pa.table({"value": [b"second", b"third"]}))
        sender.send(topic, b"fourth")
    assert [record.value for record in read(cluster, topic)] == [b"first", b"second", b"third", b"fourth"]


def test_rows_belong_to_the_open_transaction(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(2)
    with producer(cluster, transactional_id=topic) as sender:
        sender.init_transactions()
        with pytest.raises(IllegalStateError):
            sender.send_arrow(topic, rows(1))
        with sender.transaction():
            sender.send_arrow(topic, rows(100))
        sender.begin_transaction()
        aborted = sender.send_arrow(topic, rows(300))
        aborted.result(10)
        sender.abort_transaction()
    assert len(read(cluster, topic, isolation_level="read_committed")) == 100
    assert len(read(cluster, topic)) == 400


def test_nothing_is_lost_or_doubled_while_produce_fails(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(3)
    with producer(cluster, retry_backoff_ms=10, retry_backoff_max_ms=20) as sender:
        rules = [
            cluster.faults.error("PRODUCE", "NOT_LEADER_OR_FOLLOWER", topic=topic, count=2, skip=1),
            cluster.faults.drop("PRODUCE", after=True, topic=topic, count=2),
        ]
        data = pa.table({"key": [b"k%d" % i for i in range(20_000)], "value": [b"%0100d" % i for i in range(20_000)]})
        delivery = sender.send_arrow(topic, data).result(30)
    assert [rule.hits for rule in rules] == [2, 2]
    assert delivery.delivered_count == 20_000
    assert sorted(record.value or b"" for record in read(cluster, topic)) == data["value"].to_pylist()


def test_failures_are_reported_with_their_rows(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    with producer(cluster) as sender:
        cluster.faults.error("PRODUCE", "INVALID_TOPIC_EXCEPTION", topic=topic, count=1)
        sent = sender.send_arrow(topic, rows(10))
        report = sent.report(10)
        assert (report.row_count, report.delivered_count, report.failures[0].row_count) == (10, 0, 10)
        assert report.failures[0].topic_partition == TopicPartition(topic, 0)
        with pytest.raises(type(report.failures[0].error)):
            sent.result(0)


def test_batches_the_broker_calls_too_large_are_split(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1, max_message_bytes="20000")
    data = pa.table({"value": [b"%0100d" % i for i in range(5000)]})
    with producer(cluster) as sender:
        assert sender.send_arrow(topic, data).result(30).offsets == {TopicPartition(topic, 0): [OffsetRange(0, 4999)]}
    assert [record.value for record in read(cluster, topic)] == data["value"].to_pylist()


def test_waiting_ends_in_time_and_a_closed_producer_refuses(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    sender = producer(cluster)
    sender.partitions_for(topic)
    cluster.faults.delay("PRODUCE", 0.5, topic=topic, count=1)
    sent = sender.send_arrow(topic, rows(5))
    with pytest.raises(KafkaTimeoutError, match="5 of 5 rows"):
        sent.result(0.01)
    assert not sent.done()
    sender.close()
    assert sent.result(0).delivered_count == 5
    with pytest.raises(ClientClosed):
        sender.send_arrow(topic, rows(1))
