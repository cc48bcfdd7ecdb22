"""df.write and df.writeStream: every row once where it belongs; wrong columns are refused by name."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from pykclient.errors import UsageError
from pykclient.spark.clients import close_all
from pykclient.testing import EmbeddedCluster
from pykclient.types import TopicPartition
from tests.spark.data import expected, fill, values

Load = Callable[..., Any]


def save(frame: Any, cluster: EmbeddedCluster, mode: str = "append", **options: str) -> None:
    servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    frame.write.format("pykclient").mode(mode).options(**{**servers, **options}).save()


def write_here(frame: Any, cluster: EmbeddedCluster, **options: str) -> None:
    """What Spark calls for ``save``, in this process: cheaper where only a refusal is looked at."""
    from pykclient.spark import KafkaDataSource

    source = KafkaDataSource({"kafka.bootstrap.servers": cluster.bootstrap_servers, **options})
    source.writer(frame.schema, overwrite=False).write(iter(frame.toArrow().to_batches()))


def test_rows_arrive_with_keys_headers_and_partitions(
    spark: Any, cluster: EmbeddedCluster, topic: str, load: Load
) -> None:
    schema = "key string, value binary, headers array<struct<key:string,value:binary>>, partition int, ignored double"
    rows = [
        ("k", b"a", [("h", b"1"), ("n", None)], 2, 1.0),
        (None, None, None, 0, 1.0),
        ("l", b"", [], 1, 1.0),
    ]
    save(spark.createDataFrame(rows, schema), cluster, topic=topic)
    found = load(subscribe=topic, includeHeaders="true").orderBy("partition").collect()
    assert [(r.partition, r.key, r.value, [tuple(h) for h in r.headers]) for r in found] == [
        (0, None, None, []),
        (1, bytearray(b"l"), bytearray(b""), []),
        (2, bytearray(b"k"), bytearray(b"a"), [("h", bytearray(b"1")), ("n", None)]),
    ]


def test_a_topic_column_sends_each_row_to_its_topic_unless_an_option_says_where(
    spark: Any, cluster: EmbeddedCluster, topic: str, load: Load
) -> None:
    other = topic + "-other"
    cluster.create_topic(other, 1)
    frame = spark.createDataFrame([("a", topic), ("b", other), ("c", topic)], "value string, topic string")
    save(frame, cluster)
    assert (values(load(subscribe=topic)), values(load(subscribe=other))) == (["a", "c"], ["b"])
    save(frame, cluster, topic=other)
    assert values(load(subscribe=other)) == ["a", "b", "b", "c"]


def test_many_rows_over_many_tasks(spark: Any, cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    save(spark.range(20_000).selectExpr("concat('v', id) as value").repartition(5), cluster, topic=topic)
    assert values(load(subscribe=topic)) == expected(20_000)


IN_SPARK_TOO = ("required attribute 'value' not found", "value attribute type must be a string or binary, not int")


@pytest.mark.parametrize(
    ("columns", "options", "complaint"),
    [
        ("'k' as key", {}, "required attribute 'value' not found"),
        ("1 as value", {}, "value attribute type must be a string or binary, not int"),
        ("'v' as value, 1.5 as key", {}, "key attribute type must be a string or binary"),
        ("'v' as value, 1 as topic", {}, "topic attribute type must be a string"),
        ("'v' as value, 'x' as partition", {}, "partition attribute type must be an integer"),
        ("'v' as value, 'x' as headers", {}, "headers attribute type must be array"),
        ("'v' as value", {"topic": None}, "topic option required when no 'topic' attribute is present"),
        ("'v' as value, cast(null as string) as topic", {"topic": None}, "null topic present in the data"),
        ("'v' as value, 7 as partition", {}, "there is no partition 7"),
        ("'v' as value", {"kafka.key.serializer": "x"}, "kafka.key.serializer is not supported"),
        ("'v' as value", {"exactlyOnce": "maybe"}, "exactlyOnce must be true or false"),
        ("'v' as value", {"tpoic": "x"}, "did you mean 'topic'"),
    ],
)
def test_mistakes_show_our_sentence(
    spark: Any, cluster: EmbeddedCluster, topic: str, columns: str, options: dict[str, Any], complaint: str, full: bool
) -> None:
    given = {name: value for name, value in {"topic": topic, **options}.items() if value is not None}
    frame = spark.sql(f"select {columns}")
    with pytest.raises(Exception, match=complaint):
        write_here(frame, cluster, **given)
    close_all()
    if full or complaint in IN_SPARK_TOO:
        with pytest.raises(Exception, match=complaint):
            save(frame, cluster, **given)


def test_overwrite_is_refused(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    with pytest.raises(Exception, match="Kafka only appends"):
        save(spark.sql("select 'v' as value"), cluster, mode="overwrite", topic=topic)


def test_an_unknown_topic_is_named(spark: Any, cluster: EmbeddedCluster) -> None:
    rule = cluster.faults.error("METADATA", "UNKNOWN_TOPIC_OR_PARTITION", topic="nowhere")
    try:
        with pytest.raises(Exception, match="nowhere"):
            save(spark.sql("select 'v' as value"), cluster, topic="nowhere", **{"kafka.max.block.ms": "2000"})
    finally:
        rule.remove()


@pytest.mark.usefixtures("since_4_2")
def test_streams_from_topic_to_topic_with_lag_reported(
    spark: Any, cluster: EmbeddedCluster, topic: str, load: Load, tmp_path: pathlib.Path
) -> None:
    from pykclient.spark import LagListener

    out = topic + "-out"
    cluster.create_topic(out, 2)
    fill(cluster, topic, 500)
    reported: list[tuple[str, dict[TopicPartition, int]]] = []
    listener = LagListener(lambda name, lag: reported.append((name, lag)))
    spark.streams.addListener(listener)
    servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    source = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "200"}
    query = (
        spark.readStream.format("pykclient")
        .options(**servers, **source)
        .load()
        .select("key", "value")
        .writeStream.format("pykclient")
        .options(**servers, topic=out, checkpointLocation=str(tmp_path))
        .queryName("copy")
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)
    assert values(load(subscribe=out)) == expected(500)
    cluster.wait_until(lambda: len(reported) >= 3 or None, "reports of lag")
    spark.streams.removeListener(listener)
    assert [sum(lag.values()) for _, lag in reported[:3]] == [300, 100, 0]
    assert reported[0][0] == "copy"


@pytest.mark.usefixtures("before_4_2")
def test_before_4_2_no_lag_is_reported_rather_than_a_wrong_one() -> None:
    from pykclient.spark import LagListener

    with pytest.raises(UsageError, match=r"LagListener needs Spark 4\.2"):
        LagListener()


def test_updates_can_be_written_with_foreach_batch(
    spark: Any, cluster: EmbeddedCluster, topic: str, load: Load, tmp_path: pathlib.Path
) -> None:
    from pykclient.spark import write_batch

    out = topic + "-out"
    cluster.create_topic(out, 1)
    fill(cluster, topic, 100)
    reader = spark.readStream.format("pykclient").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    counts = reader.options(subscribe=topic, startingOffsets="earliest").load().groupBy("topic").count()
    query = (
        counts.selectExpr("topic as key", "cast(count as string) as value")
        .writeStream.outputMode("update")
        .option("checkpointLocation", str(tmp_path))
        .foreachBatch(write_batch(kafka__bootstrap__servers=cluster.bootstrap_servers, topic=out))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(60)
    assert values(load(subscribe=out)) == ["100"]
