"""spark.readStream: caps, restarts, new partitions, Trigger.AvailableNow; and what Kafka's tools see of it.

What needs no JVM to be seen is in test_stream_reader.py and always run; the same in Spark itself is long.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, TopicPartition
from pykclient.testing import EmbeddedCluster
from tests.spark.data import expected, fill, forget_last_commit

Run = Callable[..., list[Any]]


@pytest.fixture
def run(spark: Any, cluster: EmbeddedCluster, tmp_path: pathlib.Path) -> Run:
    """Run a query over what there is now (Trigger.AvailableNow); gives its progress. Rows go to ``run.rows``."""

    def run(sink: str = "parquet", **options: str) -> list[Any]:
        frame = spark.readStream.format("pykclient").options(
            **{"kafka.bootstrap.servers": cluster.bootstrap_servers, "startingOffsets": "earliest", **options}
        )
        query = (
            frame.load()
            .selectExpr("cast(value as string) as value", "partition", "offset")
            .writeStream.format(sink)
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(60)
        return [progress for progress in query.recentProgress if progress["numInputRows"]]

    return run


def written(spark: Any, tmp_path: pathlib.Path) -> list[str]:
    return sorted(row.value for row in spark.read.parquet(str(tmp_path / "out")).collect())


@pytest.mark.usefixtures("since_4_2")
def test_batches_keep_the_cap_and_a_restart_goes_on_where_it_was(
    spark: Any, cluster: EmbeddedCluster, topic: str, run: Run, tmp_path: pathlib.Path
) -> None:
    fill(cluster, topic, 1000)
    first = run(subscribe=topic, maxOffsetsPerTrigger="300")
    assert [progress["numInputRows"] for progress in first] == [300, 300, 300, 100]
    assert json.loads(first[-1]["sources"][0]["latestOffset"]) == json.loads(first[-1]["sources"][0]["endOffset"])
    fill(cluster, topic, 50, first=1000)
    assert [progress["numInputRows"] for progress in run(subscribe=topic, maxOffsetsPerTrigger="300")] == [50]
    assert written(spark, tmp_path) == expected(1050)


@pytest.mark.usefixtures("before_4_2")
def test_before_4_2_batches_keep_the_cap_but_for_the_first(
    spark: Any, cluster: EmbeddedCluster, topic: str, run: Run, tmp_path: pathlib.Path
) -> None:
    """With the trigger that goes on; Trigger.AvailableNow reads everything in one batch, with Spark's wrapper."""
    reader = spark.readStream.format("pykclient").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "30"}
    fill(cluster, topic, 100)
    seen = []
    for turn in (1, 2):
        query = (
            reader.options(**options)
            .load()
            .selectExpr("cast(value as string) as value", "partition", "offset")
            .writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        query.processAllAvailable()
        fill(cluster, topic, 70, first=170 * turn - 70)
        query.processAllAvailable()
        seen.append([progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]])
        query.stop()
        fill(cluster, topic, 100, first=170 * turn)
    assert seen == [[100, 30, 30, 10], [30, 30, 30, 10, 30, 30, 10]]
    assert [progress["numInputRows"] for progress in run(**options)] == [100]
    assert written(spark, tmp_path) == expected(440)
    forget_last_commit(tmp_path / "checkpoint")
    fill(cluster, topic, 20, first=440)
    assert [progress["numInputRows"] for progress in run(sink="noop", **options)] == [100, 20]


@pytest.mark.usefixtures("since_4_2")
def test_a_batch_that_was_not_committed_is_read_again_exactly(
    spark: Any, cluster: EmbeddedCluster, topic: str, run: Run, tmp_path: pathlib.Path
) -> None:
    fill(cluster, topic, 200)
    run(subscribe=topic, maxOffsetsPerTrigger="100")
    forget_last_commit(tmp_path / "checkpoint")
    fill(cluster, topic, 30, first=200)
    again = run(sink="noop", subscribe=topic, maxOffsetsPerTrigger="100")
    assert [progress["numInputRows"] for progress in again] == [100, 30]


@pytest.mark.full
def test_new_partitions_are_found_and_read_from_their_beginning(
    spark: Any, cluster: EmbeddedCluster, topic: str, run: Run, tmp_path: pathlib.Path
) -> None:
    fill(cluster, topic, 20)
    run(subscribe=topic)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.create_partitions({topic: 5}, wait=True)
    fill(cluster, topic, 10, first=20, partition=4)
    run(subscribe=topic)
    assert written(spark, tmp_path) == expected(30)


@pytest.mark.full
def test_streams_start_at_the_end_unless_told_otherwise(
    spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path
) -> None:
    fill(cluster, topic, 10)
    reader = spark.readStream.format("pykclient").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    query = reader.option("subscribe", topic).load().writeStream.format("memory").queryName("late").start()
    try:
        cluster.wait_until(lambda: query.lastProgress, "the first progress")
        fill(cluster, topic, 5, first=10)
        query.processAllAvailable()
        found = sorted(bytes(row.value).decode() for row in spark.table("late").collect())
    finally:
        query.stop()
    assert found == expected(5, first=10)


@pytest.mark.full
def test_an_idle_query_asks_the_brokers_a_few_times_a_second(
    spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path
) -> None:
    asked = cluster.faults.observe("LIST_OFFSETS")
    reader = spark.readStream.format("pykclient").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    query = reader.option("subscribe", topic).load().writeStream.format("noop").start()
    try:
        cluster.wait_until(lambda: query.lastProgress, "the first progress")
        before, polls = asked.hits, len(query.recentProgress)
        asked.wait_for(before + 8, timeout_s=60)
        assert query.isActive
        assert polls >= 1
        begun = cluster.clock.wall_ms()
        asked.wait_for(before + 16, timeout_s=60)
        assert cluster.clock.wall_ms() - begun > 1500  # eight questions, a quarter of a second apart
    finally:
        query.stop()
        asked.remove()


@pytest.mark.full
def test_a_group_learns_of_finished_batches(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    fill(cluster, topic, 100, partition=0)
    run(sink="noop", subscribe=topic, maxOffsetsPerTrigger="40", commitGroup=topic)
    fill(cluster, topic, 10, partition=0)
    run(sink="noop", subscribe=topic, commitGroup=topic)  # a batch is reported when the next one is made
    tp = TopicPartition(topic, 0)
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id=topic) as consumer:
        committed = consumer.committed([tp])[tp]
    assert committed is not None
    assert committed.offset == 100


@pytest.mark.full
@pytest.mark.usefixtures("since_4_2")
def test_a_minimum_waits_but_not_for_ever(cluster: EmbeddedCluster, topic: str, spark: Any) -> None:
    fill(cluster, topic, 10)
    reader = spark.readStream.format("pykclient").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    options = {
        "subscribe": topic,
        "startingOffsets": "earliest",
        "minOffsetsPerTrigger": "100",
        "maxTriggerDelay": "2s",
    }
    query = reader.options(**options).load().writeStream.format("memory").queryName("least").start()
    try:
        cluster.wait_until(lambda: spark.table("least").count() == 10 or None, "the first batch")
    finally:
        query.stop()


@pytest.mark.full
@pytest.mark.parametrize("fail", ["true", "false"])
def test_a_topic_that_is_deleted_is_noticed(cluster: EmbeddedCluster, topic: str, run: Run, fail: str) -> None:
    fill(cluster, topic, 20)
    options = {"subscribe": topic, "failOnDataLoss": fail, "fetchOffset.retryIntervalMs": "10"}
    run(sink="noop", **options)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.delete_topics([topic], wait=True)
    if fail == "true":
        with pytest.raises(Exception, match="the partition is gone"):
            run(sink="noop", **options)
        return
    run(sink="noop", **options)
    cluster.create_topic(topic, 3)
    fill(cluster, topic, 5)
    assert sum(progress["numInputRows"] for progress in run(sink="noop", **options)) == 5
