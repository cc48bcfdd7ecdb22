"""The core of it on Apache Kafka itself: exactly once through drivers that die, and Spark reading and writing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pykclient import KafkaAdminClient
from pykclient.admin import NewTopic
from pykclient.testing.real_kafka import RealKafka, available
from tests.spark.batch_driver import DIED, OK, Job, Step, drive
from tests.spark.data import expected, fill, values
from tests.spark.test_exactly_once import committed_values, open_ids, rows_of

pytestmark = pytest.mark.real_kafka


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with RealKafka() as kafka:
        yield kafka


@pytest.fixture
def topic(cluster: Any, request: pytest.FixtureRequest) -> str:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        # The records of these tests are years old.
        admin.create_topics([NewTopic(name, 3, configs={"retention.ms": -1})], wait=True).raise_for_errors()
    return name


def test_a_driver_that_dies_at_any_point_loses_and_doubles_nothing(cluster: Any, topic: str) -> None:
    steps = [Step("task", True, 2), Step("decision"), Step("decision", True), Step("end", True), Step("done")]
    for number, step in enumerate(steps):
        batch = Job(cluster.bootstrap_servers, topic, number, rows_of(number), 2)
        assert drive(replace(batch, die=step)) == DIED
        assert drive(replace(batch, slots=3)) == OK
    assert committed_values(cluster, topic) == sorted(row for number in range(len(steps)) for row in rows_of(number))
    assert open_ids(cluster) == []


def test_rows_go_round(spark: Any, cluster: Any, topic: str) -> None:
    fill(cluster, topic, 5000)
    servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    out = {"topic": topic, "exactlyOnce": "true", "transactionalIdPrefix": topic}
    frame = spark.read.format("pykclient").options(**servers, subscribe=topic).load()
    assert values(frame) == expected(5000)
    frame.select("key", "value").write.format("pykclient").mode("append").options(**servers, **out).save()
    committed = {"kafka.isolation.level": "read_committed"}
    again = spark.read.format("pykclient").options(**servers, **committed, subscribe=topic).load()
    assert values(again) == sorted(expected(5000) * 2)
