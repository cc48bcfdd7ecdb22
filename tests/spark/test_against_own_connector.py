"""The same rows and refusals as Spark's own connector, option by option; and checkpoints that move both ways."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

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
        {"subscribe": TOPIC, "minPartitions": "7"},
        {"subscribe": TOPIC, "maxRecordsPerPartition": "6"},
    ],
    ids=lambda options: "-".join(options),
)  # fmt: skip
def test_same_rows(read: Any, options: dict[str, str]) -> None:
    ours, theirs = read("pykclient", options), read("kafka", options)
    if "includeHeaders" in options:  # no headers are null there and an empty list here
        ours, theirs = ([tuple(p for p in row if p[0] != "headers") for row in rows] for rows in (ours, theirs))
    assert ours == theirs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subscribe": TOPIC, "assign": f'{{"{TOPIC}":[0]}}'},
        {"subscribe": ""},
        {"assign": "x"},
        {"subscribePattern": ""},
        {"subscribe": TOPIC, "startingOffsets": "latest"},
        {"subscribe": TOPIC, "startingOffsets": f'{{"{TOPIC}":{{"0":-1,"1":0,"2":0}}}}'},
        {"subscribe": TOPIC, "startingOffsets": f'{{"{TOPIC}":{{"0":0}}}}'},
        {"subscribe": TOPIC, "endingOffsets": "earliest"},
        {"subscribe": TOPIC, "startingTimestamp": str(NOW_MS * 2)},
        {"subscribe": TOPIC, "minPartitions": "0"},
        {"subscribe": TOPIC, "kafka.auto.offset.reset": "earliest"},
        {"subscribe": TOPIC, "kafka.key.deserializer": "x"},
        {"subscribe": TOPIC, "kafka.value.deserializer": "x"},
        {"subscribe": TOPIC, "kafka.enable.auto.commit": "true"},
        {"subscribe": TOPIC, "kafka.interceptor.classes": "x"},
        {"subscribe": "no-such-topic"},
    ],
    ids=lambda options: "-".join(f"{name}={value}" for name, value in options.items())[:50] or "nothing",
)
def test_same_refusals(read: Any, options: dict[str, str]) -> None:
    for source in ("kafka", "pykclient"):
        with pytest.raises(Exception, match=r".") as caught:
            read(source, options)
        assert "DATA_SOURCE_NOT_FOUND" not in str(caught.value)


def test_a_checkpoint_moves_from_their_connector_to_ours_and_back(
    spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path
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

    for turn, source in enumerate(("kafka", "pykclient", "kafka", "pykclient")):
        fill(cluster, topic, 100, first=100 * turn)
        assert run(source) == 100
    assert sorted(row.value for row in spark.read.parquet(str(tmp_path / "out")).collect()) == expected(400)
