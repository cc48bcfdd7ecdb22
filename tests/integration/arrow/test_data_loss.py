"""failOnDataLoss, each cell of its matrix, as the executors and the driver see it; no Spark needed for that."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pykclient import KafkaAdminClient, KafkaProducer, TopicPartition
from pykclient.errors import DataLoss, KafkaTimeoutError
from pykclient.spark.clients import close_all
from pykclient.spark.offsets import OffsetRange
from pykclient.spark.options import source_options
from pykclient.spark.reading import read_range
from pykclient.testing import EmbeddedCluster

NewTopic = Callable[..., str]
SCHEMA = pa.schema([("value", pa.binary()), ("offset", pa.int64())])
EACH = pytest.mark.parametrize("fail", [True, False])


@pytest.fixture(autouse=True)
def no_idle_clients() -> Any:
    yield
    close_all()


def fill(cluster: EmbeddedCluster, topic: str, count: int, **options: Any) -> None:
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options) as producer:
        producer.send_arrow(topic, pa.table({"value": [b"%d" % i for i in range(count)]}), partition=0).result(10)


def admin(cluster: EmbeddedCluster) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)


def read(
    cluster: EmbeddedCluster,
    topic: str,
    start: int,
    end: int,
    *,
    fail: bool = True,
    options: dict[str, str] | None = None,
) -> list[int]:
    """The offsets that a task for this range gives to Spark."""
    given = {
        "kafka.bootstrap.servers": cluster.bootstrap_servers,
        "subscribe": topic,
        "failOnDataLoss": str(fail),
        "kafkaConsumer.pollTimeoutMs": "5000",
        **(options or {}),
    }
    wanted = OffsetRange(topic, 0, start, end)
    batches = read_range(source_options(given, streaming=False), wanted, SCHEMA)
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]


@EACH
def test_aged_out_before_the_read(
    cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool, caplog: pytest.LogCaptureFixture
) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 100)
    with admin(cluster) as client:
        client.delete_records({TopicPartition(topic, 0): 60})
    if fail:
        with pytest.raises(
            DataLoss, match=r"50 offsets from 10 on are lost: the partition holds 60 to 100.*"
        ) as caught:
            read(cluster, topic, 10, 100)
        assert (caught.value.topic, caught.value.partition, caught.value.offset) == (topic, 0, 10)
        assert "failOnDataLoss" in str(caught.value)
    else:
        with caplog.at_level(logging.WARNING, "pykclient.spark"):
            assert read(cluster, topic, 10, 100, fail=False) == list(range(60, 100))
        assert "50 offsets from 10 on are lost" in caplog.text


@EACH
def test_aged_out_altogether(cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 100)
    with admin(cluster) as client:
        client.delete_records({TopicPartition(topic, 0): 90})
    if fail:
        with pytest.raises(DataLoss, match="40 offsets from 10 on"):
            read(cluster, topic, 10, 50)
    else:
        assert read(cluster, topic, 10, 50, fail=False) == []


@EACH
def test_aged_out_while_it_is_read(cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool) -> None:
    topic = new_topic(1)
    for _ in range(20):
        fill(cluster, topic, 1000)
    options = source_options(
        {
            "kafka.bootstrap.servers": cluster.bootstrap_servers,
            "subscribe": topic,
            "failOnDataLoss": str(fail),
            "kafka.max.partition.fetch.bytes": "1000",  # a batch or two at a time
        },
        streaming=False,
    )
    batches = read_range(options, OffsetRange(topic, 0, 0, 20_000), SCHEMA)
    found = next(batches).column("offset").to_pylist()
    assert found == list(range(len(found)))
    assert len(found) < 18_000
    with admin(cluster) as client:
        client.delete_records({TopicPartition(topic, 0): 19_500})
    if fail:
        with pytest.raises(DataLoss, match="are lost"):
            list(batches)
    else:
        rest = [offset for batch in batches for offset in batch.column("offset").to_pylist()]
        assert rest[-500:] == list(range(19_500, 20_000))
        assert rest == sorted(set(rest))


@EACH
def test_topic_deleted(cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 50)
    with admin(cluster) as client:
        client.delete_topics([topic], wait=True)
    if fail:
        with pytest.raises(DataLoss, match="the partition is gone"):
            read(cluster, topic, 0, 50)
    else:
        assert read(cluster, topic, 0, 50, fail=False) == []


@EACH
@pytest.mark.parametrize("kept", [20, 60])
def test_topic_made_anew_and_smaller(cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool, kept: int) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 100)
    with admin(cluster) as client:
        client.delete_topics([topic], wait=True)
    cluster.create_topic(topic, 1)
    fill(cluster, topic, kept)
    if fail:
        with pytest.raises(DataLoss, match=rf"the partition (holds 0 to|ends at) {kept}"):
            read(cluster, topic, 40, 100)
    else:
        assert read(cluster, topic, 40, 100, fail=False) == list(range(40, kept))


@EACH
def test_aborted_records_and_markers_are_no_loss(cluster: EmbeddedCluster, new_topic: NewTopic, fail: bool) -> None:
    topic = new_topic(1)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for commit in (True, False):
            producer.begin_transaction()
            for number in range(10):
                producer.send(topic, b"%d" % number)
            producer.flush()
            producer.commit_transaction() if commit else producer.abort_transaction()
    committed = {"kafka.isolation.level": "read_committed"}
    assert read(cluster, topic, 0, 22, fail=fail, options=committed) == list(range(10))
    assert read(cluster, topic, 12, 22, fail=fail, options=committed) == []
    assert read(cluster, topic, 0, 22, fail=fail) == [*range(10), *range(11, 21)]


@EACH
def test_compacted_gaps_are_no_loss(fail: bool) -> None:
    topic = "compacted"
    with EmbeddedCluster(log_cleaner_backoff_ms=50) as cluster:
        config = {"cleanup.policy": "compact", "segment.bytes": 1_048_576, "min.cleanable.dirty.ratio": 0}
        cluster.create_topic(topic, 1, config=config)
        with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for number in range(30):
                producer.send(topic, b"x" * 50_000, key=b"%d" % (number % 3)).result(10)
            for number in range(30):
                producer.send(topic, b"y" * 50_000, key=b"%d" % (3 + number % 3)).result(10)

        def first_offset() -> int | None:
            found = read(cluster, topic, 0, 60, fail=fail)
            return len(found) if len(found) < 60 else None

        assert cluster.wait_until(first_offset, "compaction") < 60
        found = read(cluster, topic, 0, 60, fail=fail)
        assert found[-1] == 59
        assert found[0] > 0
        # A range that holds nothing but gaps ends, with no rows and no complaint.
        assert read(cluster, topic, 0, found[0], fail=fail) == []
        close_all()


def test_a_partition_that_says_nothing_is_not_taken_for_lost(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(1)
    fill(cluster, topic, 10)
    rule = cluster.faults.error("FETCH", "NOT_LEADER_OR_FOLLOWER", topic=topic)
    try:
        with pytest.raises(KafkaTimeoutError, match="pollTimeoutMs"):
            read(cluster, topic, 0, 10, options={"kafkaConsumer.pollTimeoutMs": "300"})
    finally:
        rule.remove()
