"""The same rows and refusals as Spark's own connector, option by option; and checkpoints that move both ways."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient.spark.clients import close_all
from pykclient.testing import EmbeddedCluster
from tests.spark.data import NOW_MS, expected, fill
from tests.spark.own_connector import jars

TOPIC = "compared"


@pytest.fixture(autouse=True)
def connector() -> None:
    if not jars():
        pytest.skip("the jars of Spark's own connector are not here and Maven cannot bring them")


@pytest.fixture(scope="module")
def read(spark: Any, cluster: EmbeddedCluster) -> Callable[[str, dict[str, str]], list[tuple[Any, ...]]]:
    """What a format reads with these options, sorted."""
    cluster.create_topic(TOPIC, 3)
    cluster.create_topic(TOPIC + "-2", 1)
    for partition in range(3):
        fill(cluster, TOPIC, 20, first=20 * partition, partition=partition)
    fill(cluster, TOPIC + "-2", 5)

    def read(source: str, options: dict[str, str]) -> list[tuple[Any, ...]]:
        reader = spark.read.format(source).option("kafka.bootstrap.servers", cluster.bootstrap_servers)
        rows = reader.options(**options).load().collect()
        return sorted((tuple(row.asDict(recursive=True).items()) for row in rows), key=str)

    return read


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": TOPIC},
        {"subscribe": f"{TOPIC},{TOPIC}-2"},
        {"subscribePattern": TOPIC + ".*"},
        {"assign": f'{{"{TOPIC}":[0,2]}}'},
        {"subscribe": TOPIC, "includeHeaders": "true"},
        {"subscribe": TOPIC, "startingOffsets": f'{{"{TOPIC}":{{"0":3,"1":-2,"2":19}}}}'},
        {"subscribe": TOPIC, "endingOffsets": f'{{"{TOPIC}":{{"0":3,"1":-1,"2":0}}}}'},
        {"subscribe": TOPIC, "startingTimestamp": str(NOW_MS + 15_000)},
        {"subscribe": TOPIC, "endingTimestamp": str(NOW_MS + 15_000)},
        {"subscribe": TOPIC, "startingOffsetsByTimestamp": f'{{"{TOPIC}":{{"0":{NOW_MS},"1":{NOW_MS + 9000},"2":0}}}}'},
        {"subscribe": TOPIC, "startingTimestamp": str(NOW_MS + 30_000), "startingOffsetsByTimestampStrategy": "latest"},
        {"subscribe": TOPIC, "endingOffsetsByTimestamp": f'{{"{TOPIC}":{{"0":{NOW_MS + 3},"1":{NOW_MS * 2},"2":0}}}}'},
        {"subscribe": TOPIC, "minPartitions": "7"},
        {"subscribe": TOPIC, "maxRecordsPerPartition": "6"},
        {"subscribe": TOPIC, "failOnDataLoss": "false", "startingOffsets": "earliest", "endingOffsets": "latest",
         "kafkaConsumer.pollTimeoutMs": "9000", "fetchOffset.numRetries": "2", "fetchOffset.retryIntervalMs": "5",
         "groupIdPrefix": "mine", "kafka.isolation.level": "read_committed", "kafka.max.poll.records": "3"},
        {"subscribe": TOPIC, "kafka.group.id": "named", "kafka.client.id": "someone"},
        # The first of these counts: one time for all, then times, then offsets.
        {"subscribe": TOPIC, "startingTimestamp": str(NOW_MS + 19_000),
         "startingOffsetsByTimestamp": f'{{"{TOPIC}":{{"0":0,"1":0,"2":0}}}}', "startingOffsets": "earliest"},
    ],
    ids=lambda options: "-".join(options),
)  # fmt: skip
def test_same_rows(read: Any, options: dict[str, str]) -> None:
    ours, theirs = read("pykclient", options), read("kafka", options)
    if "includeHeaders" in options:  # no headers are null there and an empty list here
        ours, theirs = ([tuple(p for p in row if p[0] != "headers") for row in rows] for rows in (ours, theirs))
    assert ours == theirs


BATCH_REFUSALS: list[dict[str, str]] = [
    {},
    {"subscribe": TOPIC, "assign": f'{{"{TOPIC}":[0]}}'},
    {"subscribe": ""},
    {"assign": "x"},
    {"assign": "{}"},
    {"subscribePattern": ""},
    {"subscribe": TOPIC, "startingOffsets": "latest"},
    {"subscribe": TOPIC, "startingOffsets": f'{{"{TOPIC}":{{"0":-1,"1":0,"2":0}}}}'},
    {"subscribe": TOPIC, "startingOffsets": f'{{"{TOPIC}":{{"0":0}}}}'},
    {"subscribe": TOPIC, "startingOffsets": "x"},
    {"subscribe": TOPIC, "endingOffsets": "earliest"},
    {"subscribe": TOPIC, "endingOffsets": f'{{"{TOPIC}":{{"0":-2,"1":0,"2":0}}}}'},
    {"subscribe": TOPIC, "endingOffsets": f'{{"{TOPIC}":{{"0":5}}}}'},
    {"subscribe": TOPIC, "startingTimestamp": str(NOW_MS * 2)},
    {"subscribe": TOPIC, "startingTimestamp": "x"},
    {"subscribe": TOPIC, "startingOffsetsByTimestamp": f'{{"{TOPIC}":{{"0":0}}}}'},
    {"subscribe": TOPIC, "startingTimestamp": "5", "startingOffsetsByTimestampStrategy": "x"},
    {"subscribe": TOPIC, "minPartitions": "0"},
    {"subscribe": TOPIC, "minPartitions": "x"},
    {"subscribe": TOPIC, "maxRecordsPerPartition": "0"},
    {"subscribe": TOPIC, "failOnDataLoss": "x"},
    {"subscribe": TOPIC, "includeHeaders": "x"},
    {"subscribe": TOPIC, "kafka.auto.offset.reset": "earliest"},
    {"subscribe": TOPIC, "kafka.key.deserializer": "x"},
    {"subscribe": TOPIC, "kafka.value.deserializer": "x"},
    {"subscribe": TOPIC, "kafka.enable.auto.commit": "true"},
    {"subscribe": TOPIC, "kafka.interceptor.classes": "x"},
    {"subscribe": TOPIC, "kafka.bootstrap.servers": ""},
    {"subscribe": "no-such-topic", "fetchOffset.numRetries": "0"},
]
STREAM_REFUSALS: list[dict[str, str]] = [
    {"subscribe": TOPIC, "endingOffsets": "latest"},
    {"subscribe": TOPIC, "endingTimestamp": "5"},
    {"subscribe": TOPIC, "endingOffsetsByTimestamp": "{}"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "5"},
    {"subscribe": TOPIC, "maxOffsetsPerTrigger": "0"},
    {"subscribe": TOPIC, "maxOffsetsPerTrigger": "x"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "0"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "5", "maxTriggerDelay": "x"},
    {"subscribe": TOPIC, "kafka.auto.offset.reset": "earliest"},
]

# Their connector reads nothing then, or takes no notice of the option.
ONLY_WE_REFUSE: list[dict[str, str]] = [
    {"assign": "{}"},
    {"subscribe": TOPIC, "endingTimestamp": "5"},
    {"subscribe": TOPIC, "maxOffsetsPerTrigger": "0"},
    {"subscribe": TOPIC, "minOffsetsPerTrigger": "0"},
]


def _refusal(way: Callable[[dict[str, str]], object], options: dict[str, str]) -> str | None:
    try:
        way(options)
    except Exception as refusal:
        return str(refusal)
    return None


def _name(options: Any) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items())[:60] or "nothing"


@pytest.fixture
def no_idle_clients() -> Iterator[None]:
    yield
    close_all()


@pytest.mark.usefixtures("no_idle_clients")
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
def test_same_refusals(read: Any, spark: Any, cluster: EmbeddedCluster, streaming: bool, full: bool) -> None:
    """Theirs in Spark; ours as Spark's planner calls it, and with ``--full`` in Spark as well."""
    from pykclient.spark import KafkaDataSource

    def theirs(options: dict[str, str]) -> None:
        if not streaming:
            read("kafka", options)
            return
        frame = spark.readStream.format("kafka").options(**options).load()
        query = frame.writeStream.format("noop").trigger(availableNow=True).start()
        query.awaitTermination(60)

    def ours(options: dict[str, str]) -> None:
        source = KafkaDataSource(options)
        schema = source.schema()
        if streaming:
            source.streamReader(schema).initialOffset()
        else:
            source.reader(schema).partitions()

    accepted: list[tuple[str, str]] = []
    for options in STREAM_REFUSALS if streaming else BATCH_REFUSALS:
        given = {"kafka.bootstrap.servers": cluster.bootstrap_servers, **options}
        ways: dict[str, Callable[[dict[str, str]], object]] = {"ours": ours}
        if options not in ONLY_WE_REFUSE:
            ways["theirs"] = theirs
        if full and not streaming:
            ways["ours, in Spark"] = lambda given: read("pykclient", given)
        for name, way in ways.items():
            refusal = _refusal(way, given)
            if refusal is None:
                accepted.append((name, _name(options)))
            else:
                assert "DATA_SOURCE_NOT_FOUND" not in refusal
    assert accepted == []


def test_a_checkpoint_moves_from_their_connector_to_ours_and_back(
    spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path, full: bool
) -> None:
    def run(source: str) -> int:
        reader = spark.readStream.format(source).option("kafka.bootstrap.servers", cluster.bootstrap_servers)
        frame = reader.options(subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="40").load()
        query = (
            frame.selectExpr("cast(value as string) as value")
            .writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
        return sum(progress["numInputRows"] for progress in query.recentProgress)

    turns = ("kafka", "pykclient", "kafka", "pykclient") if full else ("kafka", "pykclient", "kafka")
    for turn, source in enumerate(turns):
        fill(cluster, topic, 60, first=60 * turn)
        assert run(source) == 60
    assert sorted(row.value for row in spark.read.parquet(str(tmp_path / "out")).collect()) == expected(60 * len(turns))
