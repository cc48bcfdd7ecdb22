"""poll_arrow: the same records as poll(), as a table; positions, gaps, isolation, limits and ends are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition, UsageError
from pykclient.errors import ClientClosed, CorruptRecordError
from pykclient.testing import EmbeddedCluster

NewTopic = Callable[..., str]


def consumer(cluster: EmbeddedCluster, *partitions: TopicPartition, **options: Any) -> KafkaConsumer:
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", **options)
    if partitions:
        reader.assign(partitions)
    return reader


def fill(cluster: EmbeddedCluster, topic: str, count: int, **options: Any) -> None:
    """Numbered records with keys, headers and some nulls, in many small batches."""
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, batch_size=2000, **options) as sender:
        for i in range(count):
            key = None if i % 5 == 0 else b"k%d" % i
            value = None if i % 7 == 0 else b"v%d" % i
            headers = [("n", b"%d" % i), ("null", None)] if i % 3 == 0 else None
            sender.send(topic, value, key, headers=headers, timestamp_ms=1_700_000_000_000 + i)


def as_rows(table: Any) -> list[tuple[Any, ...]]:
    return [
        (
            row["topic"],
            row["partition"],
            row["offset"],
            int(row["timestamp"].timestamp() * 1000 + 0.5),
            row["timestamp_type"],
            row["key"],
            row["value"],
            [(h["key"], h["value"]) for h in row["headers"]],
        )
        for row in table.to_pylist()
    ]


def drain(reader: KafkaConsumer, ends: dict[TopicPartition, int], **arguments: Any) -> list[Any]:
    tables = []
    while any(reader.position(tp) < end for tp, end in ends.items()):
        tables.append(reader.poll_arrow(0.2, **arguments))
    return tables


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_rows_equal_the_records_of_poll(cluster: EmbeddedCluster, new_topic: NewTopic, codec: str) -> None:
    topic = new_topic(2)
    fill(cluster, topic, 1000, compression_type=codec)
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    with consumer(cluster, *partitions) as reader:
        ends = reader.end_offsets(partitions)
        found = sorted(as_rows(pa.concat_tables(drain(reader, ends, headers=True))))
        reader.seek_to_beginning()
        expected = []
        while any(reader.position(tp) < end for tp, end in ends.items()):
            expected += [
                (r.topic, r.partition, r.offset, r.timestamp, r.timestamp_type, r.key, r.value, list(r.headers))
                for r in reader.poll(1.0).records()
            ]
    assert len(found) == 1000
    assert found == sorted(expected)


def test_pure_and_native_codecs_read_the_same(
    cluster: EmbeddedCluster, new_topic: NewTopic, implementation: str
) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 50)
    tp = TopicPartition(topic, 0)
    with consumer(cluster, tp) as reader:
        table = pa.concat_tables(drain(reader, {tp: 50}, headers=True))
    assert table["offset"].to_pylist() == list(range(50))
    assert table["key"].null_count == 10
    assert table["headers"].to_pylist()[3] == [{"key": "n", "value": b"3"}, {"key": "null", "value": None}]
    table.validate(full=True)


def test_a_table_can_be_sent_on_as_it_is(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    copy = topic + "-copy"
    cluster.create_topic(copy, 1)
    fill(cluster, topic, 300)
    with consumer(cluster, TopicPartition(topic, 0)) as reader:
        table = pa.concat_tables(drain(reader, {TopicPartition(topic, 0): 300}, headers=True))
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as sender:
        sender.send_arrow(copy, table, headers="headers", timestamp="timestamp").result(10)
    with consumer(cluster, TopicPartition(copy, 0)) as reader:
        again = pa.concat_tables(drain(reader, {TopicPartition(copy, 0): 300}, headers=True))
    assert again.drop_columns(["topic"]).equals(table.drop_columns(["topic"]))


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_limit_cuts_batches_and_nothing_is_lost_or_doubled(
    cluster: EmbeddedCluster, new_topic: NewTopic, limit: int
) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 150)
    tp = TopicPartition(topic, 0)
    with consumer(cluster, tp) as reader:
        tables = drain(reader, {tp: 150}, max_records=limit)
    assert max(table.num_rows for table in tables) <= limit
    assert pa.concat_tables(tables)["offset"].to_pylist() == list(range(150))


def test_poll_and_poll_arrow_may_take_turns(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 200)
    offsets: list[int] = []
    with consumer(cluster, TopicPartition(topic, 0)) as reader:
        while len(offsets) < 200:
            offsets += [record.offset for record in reader.poll(1.0, max_records=3).records()]
            offsets += reader.poll_arrow(0.1, max_records=5)["offset"].to_pylist()
    assert offsets == list(range(200))


def test_markers_and_aborted_rows_are_passed_over(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    tp = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as sender:
        sender.init_transactions()
        for number in range(4):
            sender.begin_transaction()
            for i in range(10):
                sender.send(topic, b"%d-%d" % (number, i))
            sender.flush()
            sender.commit_transaction() if number % 2 == 0 else sender.abort_transaction()
    with consumer(cluster, tp, isolation_level="read_committed") as reader:
        end = reader.end_offsets([tp])[tp]
        assert end == 44
        committed = pa.concat_tables(drain(reader, {tp: end}, until={tp: end}))
    with consumer(cluster, tp) as reader:
        everything = pa.concat_tables(drain(reader, {tp: end}))
    assert [value[:1] for value in committed["value"].to_pylist()] == [b"0"] * 10 + [b"2"] * 10
    assert everything.num_rows == 40


def test_until_stops_exactly_there_and_returns_when_only_gaps_are_left(
    cluster: EmbeddedCluster, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    tp = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as sender:
        sender.init_transactions()
        with sender.transaction():
            sender.send_arrow(topic, pa.table({"value": [b"%d" % i for i in range(100)]}))
    with consumer(cluster, tp) as reader:
        first = reader.poll_arrow(10, until={tp: 37})
        assert first["offset"].to_pylist() == list(range(37))
        assert reader.position(tp) == 37
        assert reader.poll_arrow(10, until={tp: 37}).num_rows == 0
        rest = reader.poll_arrow(10, until={tp: 101})
        assert rest["offset"].to_pylist() == list(range(37, 100))
        # 100 is the commit marker: nothing to return, and yet the end is reached, long before the time is up.
        assert reader.poll_arrow(60, until={tp: 101}).num_rows == 0
        assert reader.position(tp) == 101


def test_out_of_time_gives_an_empty_table_with_the_columns(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    with consumer(cluster, TopicPartition(topic, 0)) as reader:
        table = reader.poll_arrow(0.05, headers=True)
    assert table.num_rows == 0
    assert table.schema.names == [
        "topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value", "headers",
    ]  # fmt: skip


def test_a_seek_is_honoured_inside_a_batch(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    tp = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as sender:
        sender.send_arrow(topic, pa.table({"value": [b"%d" % i for i in range(100)]})).result(10)
    with consumer(cluster, tp) as reader:
        reader.seek(tp, 60)
        assert reader.poll_arrow(10)["offset"].to_pylist() == list(range(60, 100))


def test_group_members_commit_what_a_table_returned(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 60)
    with consumer(cluster, group_id=topic, enable_auto_commit=False) as reader:
        reader.subscribe([topic])
        count = 0
        while count < 40:
            count += reader.poll_arrow(10, max_records=40 - count).num_rows
        reader.commit()
        assert reader.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)].offset == 40  # type: ignore[union-attr]


def test_damaged_bytes_are_never_returned(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    tp = TopicPartition(topic, 0)
    fill(cluster, topic, 500)
    rule = cluster.faults.corrupt("FETCH", topic=topic, count=1)
    with consumer(cluster, tp) as reader:
        offsets: list[int] = []
        complaints: list[tuple[str | None, int | None]] = []
        while len(offsets) < 500:
            try:
                offsets += reader.poll_arrow(10)["offset"].to_pylist()
            except CorruptRecordError as error:
                complaints.append((error.topic, error.partition))
    assert rule.hits == 1
    assert complaints in ([], [(topic, 0)])
    assert offsets == list(range(500))


def test_interceptors_and_closed_consumers_are_refused(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)

    class Interceptor:
        def on_consume(self, records: Any) -> Any:
            return records

        def on_commit(self, offsets: Any) -> None: ...

        def close(self) -> None: ...

    with consumer(cluster, TopicPartition(topic, 0), interceptors=[Interceptor()]) as reader:
        with pytest.raises(UsageError, match="interceptors"):
            reader.poll_arrow(0)
    with pytest.raises(ClientClosed):
        reader.poll_arrow(0)
