"""The example pipeline gives what the events say."""

from __future__ import annotations

import importlib.util
import pathlib
from collections import Counter
from typing import Any

from pykclient.testing import EmbeddedCluster

MAIN = pathlib.Path(__file__).parents[2] / "examples" / "spark_pipeline" / "main.py"


def test_the_pipeline_counts_and_joins_every_event_that_is_in_time(spark: Any, tmp_path: pathlib.Path) -> None:
    spec = importlib.util.spec_from_file_location("pipeline_example", MAIN)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with EmbeddedCluster(topics=example.TOPICS) as cluster:
        example.generate(cluster.bootstrap_servers, 300)
        example.pipeline(spark, cluster.bootstrap_servers, str(tmp_path))
        attributed = example.show(spark, cluster.bootstrap_servers, "attributed")
        revenue = example.show(spark, cluster.bootstrap_servers, "revenue")
    ids = Counter(row["id"] for row in attributed)
    assert set(ids) >= set(range(299))  # each order has at least its own click; the last came an hour late
    assert revenue
    assert len({(row["from"], row["country"]) for row in revenue}) == len(revenue)  # no window twice
    assert sum(row["orders"] for row in revenue) <= 299
