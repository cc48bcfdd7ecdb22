"""The example pipeline and the demo's give what the events say, on an embedded cluster and on Apache Kafka."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from collections import Counter
from typing import Any

import pytest

from pykclient import KafkaProducer
from pykclient.cli import demo_spark
from pykclient.testing import EmbeddedCluster
from pykclient.testing.real_kafka import available
from tests.spark.data import values

MAIN = pathlib.Path(__file__).parents[2] / "examples" / "spark_pipeline" / "main.py"


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.full)], ids=["embedded", "real"])
def test_the_pipeline_counts_and_joins_every_event_that_is_in_time(
    spark: Any, tmp_path: pathlib.Path, real: bool
) -> None:
    if real and (reason := available()) is not None:
        pytest.skip(reason)
    spec = importlib.util.spec_from_file_location("pipeline_example", MAIN)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with example.cluster(None, real_kafka=real) as servers:
        example.generate(servers, 300)
        example.pipeline(spark, servers, str(tmp_path))
        attributed = example.show(spark, servers, "attributed")
        revenue = example.show(spark, servers, "revenue")
    ids = Counter(row["id"] for row in attributed)
    assert set(ids) >= set(range(299))  # each order has at least its own click; the last came an hour late
    assert revenue
    assert len({(row["from"], row["country"]) for row in revenue}) == len(revenue)  # no window twice
    assert sum(row["orders"] for row in revenue) <= 299


def test_the_query_of_the_demo_counts_every_order_that_was_committed(
    spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path, load: Any
) -> None:
    from pyspark.sql import functions

    target = topic + "-out"
    cluster.create_topic(target, 2)
    orders: list[dict[str, Any]] = [
        {"order": n, "product": "ab"[n % 2], "amount": n, "at_ms": 1_760_000_000_000 + n * 1000} for n in range(90)
    ]
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for commit in (True, False):
            producer.begin_transaction()
            for order in orders:
                producer.send(topic, json.dumps(order).encode())
            producer.flush()
            producer.commit_transaction() if commit else producer.abort_transaction()
    query = demo_spark._query(spark, functions, cluster.bootstrap_servers, topic, target, str(tmp_path))
    assert query.awaitTermination(120)
    counts = [json.loads(value) for value in values(load(subscribe=target, kafka__isolation__level="read_committed"))]
    for name in "ab":
        mine = [order for order in orders if order["product"] == name]
        assert sum(row["orders"] for row in counts if row["product"] == name) == len(mine)
        assert sum(row["amount"] for row in counts if row["product"] == name) == sum(order["amount"] for order in mine)
    assert len({(row["from"], row["product"]) for row in counts}) == len(counts)
