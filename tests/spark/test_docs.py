"""The Spark blocks of README.md and docs/spark.md run as they stand; ``localhost:9092`` is an embedded cluster."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer
from pykclient.testing import EmbeddedCluster

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- not run[^\n]*tests/spark/test_docs[^\n]*-->\n+```python\n(.*?)```", re.DOTALL)


def blocks_of(page: str) -> list[str]:
    return BLOCK.findall((ROOT / page).read_text())


def orders(servers: str, count: int) -> None:
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(count):
            producer.send("orders", b'{"product":"p%d","amount":%d}' % (number % 3, number), b"k%d" % number)


def read_all(servers: str, topic: str) -> list[bytes]:
    settings: dict[str, Any] = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    with KafkaConsumer(topic, bootstrap_servers=servers, group_id="check", **settings) as consumer:
        found: list[bytes] = []
        while batch := consumer.poll(10.0 if not found else 1.0):
            found += [record.value for record in batch.records()]
        return found


def run(page: str, servers: str, folder: pathlib.Path, **names: Any) -> dict[str, Any]:
    blocks = blocks_of(page)
    assert blocks
    for number, block in enumerate(blocks):
        # Spark takes relative paths from where its JVM was started.
        source = block.replace("localhost:9092", servers).replace('"checkpoints/', f'"{folder}/')
        exec(compile(source, f"{page} block {number}", "exec"), names)
    return names


@pytest.mark.usefixtures("spark")
def test_the_snippet_of_the_readme(tmp_path: pathlib.Path) -> None:
    with EmbeddedCluster(topics={"orders": 3, "orders-upper": 1}) as cluster:
        orders(cluster.bootstrap_servers, 20)
        run("README.md", cluster.bootstrap_servers, tmp_path)
        found = read_all(cluster.bootstrap_servers, "orders-upper")
    assert len(found) == 20
    assert all(value.startswith(b'{"PRODUCT":"P') for value in found)


@pytest.mark.full
def test_the_page_on_spark_and_its_walk_through(
    spark: Any, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topics = {"orders": 3, "orders-upper": 1, "counts": 1, "out": 1}
    with EmbeddedCluster(topics=topics) as cluster:
        orders(cluster.bootstrap_servers, 20)
        names = run("docs/spark.md", cluster.bootstrap_servers, tmp_path, spark=spark)
        assert len(read_all(cluster.bootstrap_servers, "orders-upper")) == 20
        assert read_all(cluster.bootstrap_servers, "counts") == [b"1"] * 20
        assert len(read_all(cluster.bootstrap_servers, "out")) == 20
    windows = names["windows"]
    assert len({(row["from"], row["product"]) for row in windows}) == len(windows) >= 14
    assert {row["sales"] for row in windows if row["product"] == "bread"} & {20}
    assert "600 sales" in capsys.readouterr().out
    assert not names["behind"] or names["behind"][-1] == 0
