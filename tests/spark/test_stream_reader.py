"""The driver's side of spark.readStream, called as Spark calls it, in this process: offsets, caps, losses, commitGroup.

Needs PySpark for its classes, but no JVM. ``Run`` keeps what a checkpoint would: where the last batch ended.
"""

from __future__ import annotations

import inspect
import logging
import pickle
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, TopicPartition
from pykclient.errors import DataLoss
from pykclient.spark.clients import close_all
from pykclient.testing import EmbeddedCluster
from tests.spark.data import expected, fill


class Run:
    """One run of a query, from the start or from where an earlier one ended."""

    def __init__(
        self, cluster: EmbeddedCluster, options: dict[str, str], start: Any = None, *, now: bool = False
    ) -> None:
        from pykclient.spark import KafkaDataSource

        given = {
            "kafka.bootstrap.servers": cluster.bootstrap_servers,
            "startingOffsets": "earliest",
            "fetchOffset.retryIntervalMs": "10",
            **options,
        }
        source = KafkaDataSource(given)
        self.reader: Any = source.streamReader(source.schema())
        self.told_starts = "start" in inspect.signature(self.reader.latestOffset).parameters  # since Spark 4.2
        if now and self.told_starts:
            self.reader.prepareForTriggerAvailableNow()
        self.at = self.reader.initialOffset() if start is None else start

    def end(self) -> Any:
        """Where Spark would end the next batch."""
        if self.told_starts:
            return self.reader.latestOffset(self.at, self.reader.getDefaultReadLimit())
        return self.reader.latestOffset()

    def batch(self, end: Any = None) -> list[str]:
        """The values of the next batch; nothing when there is none."""
        end = self.end() if end is None else end
        if end == self.at:
            return []
        worker = pickle.loads(pickle.dumps(self.reader))  # read() runs elsewhere
        found = [
            value.decode()
            for piece in self.reader.partitions(self.at, end)
            for rows in worker.read(piece)
            for value in rows.column("value").to_pylist()
        ]
        self.at = end
        self.reader.commit(end)
        return sorted(found)


@pytest.fixture(autouse=True)
def no_idle_clients() -> Iterator[None]:
    yield
    close_all()


def admin(cluster: EmbeddedCluster) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)


def test_new_partitions_are_found_and_read_from_their_beginning(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 20)
    run = Run(cluster, {"subscribe": topic})
    assert run.batch() == expected(20)
    with admin(cluster) as client:
        client.create_partitions({topic: 5}, wait=True)
    fill(cluster, topic, 10, first=20, partition=4)
    assert run.batch() == expected(10, first=20)
    run.reader.stop()


def test_streams_start_at_the_end_unless_told_otherwise(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 10)
    run = Run(cluster, {"subscribe": topic, "startingOffsets": "latest"})
    fill(cluster, topic, 5, first=10)
    assert run.batch() == expected(5, first=10)
    run.reader.stop()


@pytest.mark.parametrize("cap", ["7", "1000"])
def test_no_batch_is_over_the_cap_and_all_of_them_are_everything(
    cluster: EmbeddedCluster, topic: str, cap: str
) -> None:
    fill(cluster, topic, 40)
    run = Run(cluster, {"subscribe": topic, "maxOffsetsPerTrigger": cap}, now=True)
    fill(cluster, topic, 9, first=40)  # after Trigger.AvailableNow began: for the next run
    batches = []
    while rows := run.batch():
        batches.append(rows)
    assert max(map(len, batches)) <= int(cap)
    assert sorted(value for rows in batches for value in rows) == (expected(40) if run.told_starts else expected(49))
    run.reader.stop()


def test_a_batch_that_comes_back_is_the_same_and_is_never_taken_back(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 30)
    first = Run(cluster, {"subscribe": topic, "minPartitions": "5"})
    start, end = first.at, first.end()
    pieces = [piece.wanted for piece in first.reader.partitions(start, end)]
    rows = first.batch(end)
    first.reader.stop()
    again = Run(cluster, {"subscribe": topic, "minPartitions": "5"}, start, now=True)
    assert [piece.wanted for piece in again.reader.partitions(start, end)] == pieces
    # The target of Trigger.AvailableNow was set before; what is in the checkpoint may be behind it.
    if again.told_starts:
        again.reader._target = dict.fromkeys(again.reader._target, 0)
    assert again.batch(end) == rows == expected(30)
    assert again.end() == end
    again.reader.stop()


def test_the_brokers_are_asked_a_few_times_a_second_and_errors_are_tried_again(
    cluster: EmbeddedCluster, topic: str
) -> None:
    fill(cluster, topic, 10)
    run = Run(cluster, {"subscribe": topic})
    assert run.batch() == expected(10)
    asked = cluster.faults.observe("LIST_OFFSETS")
    began = time.monotonic()
    while time.monotonic() - began < 1.0:
        assert run.batch() == []
        run.reader.reportLatestOffset()
    seconds = time.monotonic() - began
    assert 1 <= asked.hits <= 4 * seconds + 2
    asked.remove()
    rule = cluster.faults.error("LIST_OFFSETS", "UNKNOWN_SERVER_ERROR", count=2)
    fill(cluster, topic, 3, first=10)
    assert run.batch() == expected(3, first=10)
    assert rule.hits == 2
    rule.remove()
    run.reader.stop()


def test_a_group_learns_of_finished_batches_and_of_no_more(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 100, partition=0)
    run = Run(cluster, {"subscribe": topic, "maxOffsetsPerTrigger": "40", "commitGroup": topic})
    tp = TopicPartition(topic, 0)
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id=topic) as consumer:
        for before, done in ((None, 40), (40, 80), (80, 100)):
            end = run.end()
            planned = consumer.committed([tp])[tp]
            assert (planned and planned.offset) == before
            run.batch(end)
            committed = consumer.committed([tp])[tp]
            assert committed is not None
            assert committed.offset == done
    run.reader.stop()


def test_a_minimum_waits_but_not_for_ever(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 10)
    options = {"subscribe": topic, "minOffsetsPerTrigger": "100", "maxTriggerDelay": "1s"}
    run = Run(cluster, options)
    assert run.batch() == []
    cluster.wait_until(lambda: run.batch() == expected(10) or None, "the batch that is too small")
    fill(cluster, topic, 100, first=10)
    assert run.batch() == expected(100, first=10)  # enough: no wait
    run.reader.stop()


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "made anew"])
@pytest.mark.parametrize("fail", ["true", "false"])
def test_topics_that_are_deleted_or_made_anew_are_noticed(
    cluster: EmbeddedCluster, topic: str, fail: str, again: bool, caplog: pytest.LogCaptureFixture
) -> None:
    fill(cluster, topic, 20, partition=0)
    options = {"subscribe": topic, "failOnDataLoss": fail}
    run = Run(cluster, options)
    assert run.batch() == expected(20)
    with admin(cluster) as client:
        client.delete_topics([topic], wait=True)
    if again:
        cluster.create_topic(topic, 3)
        fill(cluster, topic, 5, partition=0)
    later = Run(cluster, options, run.at)
    what = "the partition ends at 5" if again else "the partition is gone"
    with caplog.at_level(logging.WARNING):
        if fail == "true":
            with pytest.raises(DataLoss, match=rf"offsets .* are lost: {what}.*{topic}"):
                later.batch()
        else:
            assert later.batch() == (expected(5) if again else [])
            assert what in caplog.text
            assert f"{topic}-0: " in caplog.text
    run.reader.stop()
    later.reader.stop()


def test_a_table_remembers_its_options_though_spark_gives_the_reader_none(cluster: EmbeddedCluster, topic: str) -> None:
    from pyspark.sql.types import StructType

    from pykclient.spark import KafkaDataSource

    fill(cluster, topic, 6)
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic, "columns": "value,offset"}
    properties = {"provider": "pykclient", "owner": "me", "foo": "bar"}
    made = KafkaDataSource({**options, **{f"option.{name}": value for name, value in options.items()}, **properties})
    kept = StructType.fromJson(made.schema().jsonValue())  # as the catalog has it
    reader = KafkaDataSource({}).reader(kept)
    rows = [batch for piece in reader.partitions() for batch in reader.read(piece)]
    assert sorted(value.decode() for batch in rows for value in batch.column("value").to_pylist()) == expected(6)
    assert all(batch.schema.names == ["value", "offset"] for batch in rows)
