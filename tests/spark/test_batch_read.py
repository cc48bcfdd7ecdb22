"""spark.read: rows, columns, bounds and pieces are exact."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import KafkaProducer
from pykclient.testing import EmbeddedCluster
from tests.spark.data import NOW_MS, expected, fill, values

Load = Callable[..., Any]


def test_rows_and_columns_are_those_of_sparks_own_connector(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    fill(cluster, topic, 1, partition=1)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        producer.send(topic, None, partition=1, headers=[("h", b"1"), ("n", None)], timestamp_ms=NOW_MS + 5)
    frame = load(subscribe=topic, includeHeaders="true")
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("offset", "bigint"),
        ("timestamp", "timestamp"),
        ("timestampType", "int"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    at = datetime.datetime.fromtimestamp(NOW_MS / 1000, datetime.timezone.utc).replace(tzinfo=None)
    rows = [tuple(row) for row in frame.orderBy("offset").selectExpr("*", "cast(timestamp as string) as t").collect()]
    assert rows[0][:5] == (bytearray(b"k0"), bytearray(b"v0"), topic, 1, 0)
    assert (rows[0][6], rows[0][7], rows[0][8]) == (0, [], str(at))
    assert rows[1][:5] == (None, None, topic, 1, 1)
    assert [(h.key, h.value) for h in rows[1][7]] == [("h", bytearray(b"1")), ("n", None)]


def test_bounds_by_offset(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    for partition in range(3):
        fill(cluster, topic, 10, first=10 * partition, partition=partition)
    start, end = f'{{"{topic}":{{"0":4,"1":-2,"2":9}}}}', f'{{"{topic}":{{"0":6,"1":-1,"2":3}}}}'
    found = values(load(subscribe=topic, startingOffsets=start, endingOffsets=end))
    assert found == sorted(expected(2, first=4) + expected(10, first=10))


def test_bounds_by_time(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    for partition in range(3):
        fill(cluster, topic, 10, partition=partition)
    by_time = load(subscribe=topic, startingTimestamp=str(NOW_MS + 3000), endingTimestamp=str(NOW_MS + 5001))
    assert values(by_time) == sorted(expected(3, first=3) * 3)
    each = load(
        subscribe=topic,
        startingOffsetsByTimestamp=f'{{"{topic}":{{"0":{NOW_MS + 9000},"1":{NOW_MS + 8000},"2":0}}}}',
        endingOffsetsByTimestamp=f'{{"{topic}":{{"0":{NOW_MS * 2},"1":{NOW_MS + 9000},"2":{NOW_MS + 1000}}}}}',
    )
    assert values(each) == sorted(["v9", "v8", "v0"])


def test_a_time_after_the_end_is_an_error_or_the_end(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    fill(cluster, topic, 10)
    later = str(NOW_MS * 2)
    with pytest.raises(Exception, match="no offset matched from request of topic-partition"):
        load(subscribe=topic, startingTimestamp=later).count()
    assert load(subscribe=topic, startingTimestamp=later, startingOffsetsByTimestampStrategy="latest").count() == 0


@pytest.mark.parametrize(
    ("option", "value", "pieces"), [("minPartitions", "7", 7), ("maxRecordsPerPartition", "20", 6)]
)
def test_ranges_are_split_exactly(
    cluster: EmbeddedCluster, topic: str, load: Load, option: str, value: str, pieces: int
) -> None:
    for partition in range(3):
        fill(cluster, topic, 40, first=40 * partition, partition=partition)
    frame = load(subscribe=topic, **{option: value})
    assert frame.rdd.getNumPartitions() == pieces
    assert values(frame) == expected(120)


def test_assign_and_patterns_choose_topics(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    fill(cluster, topic, 5, partition=0)
    fill(cluster, topic, 5, first=5, partition=2)
    assert values(load(assign=f'{{"{topic}":[2]}}')) == expected(5, first=5)
    assert values(load(subscribePattern=topic[:-2] + ".*")) == expected(10)
    assert load(subscribePattern=topic[:-2]).count() == 0


def test_fewer_columns_are_read_when_asked(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    fill(cluster, topic, 20)
    frame = load(subscribe=topic, columns="value,offset")
    assert frame.columns == ["value", "offset"]
    assert values(frame) == expected(20)


def test_stopping_early_leaves_nothing_behind(cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    fill(cluster, topic, 30_000, partition=0)
    assert len(load(subscribe=topic).limit(5).collect()) == 5
    assert load(subscribe=topic).count() == 30_000


def test_an_empty_topic_is_an_empty_frame(topic: str, load: Load) -> None:
    assert load(subscribe=topic).collect() == []


def test_aborted_and_open_transactions_are_not_seen_with_read_committed(
    cluster: EmbeddedCluster, topic: str, load: Load
) -> None:
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            producer.send(topic, b"v%d" % number, partition=0)
            producer.flush()
            producer.commit_transaction() if number % 2 else producer.abort_transaction()
        assert values(load(subscribe=topic, kafka__isolation__level="read_committed")) == ["v1", "v3", "v5"]
        assert load(subscribe=topic).count() == 6


def test_sql_tables_and_views(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 8)
    options = f"OPTIONS (`kafka.bootstrap.servers` '{cluster.bootstrap_servers}', subscribe '{topic}')"
    spark.sql(f"CREATE TEMPORARY VIEW v8 USING pykclient {options}")
    assert spark.sql("SELECT count(*) FROM v8").collect()[0][0] == 8
    spark.sql(f"CREATE TABLE t8 USING pykclient {options} COMMENT 'orders' TBLPROPERTIES ('foo'='bar')")
    try:
        assert values(spark.sql("SELECT * FROM t8 WHERE offset >= 0")) == expected(8)
        assert spark.sql("SELECT count(*) FROM t8 a JOIN v8 b USING (partition, offset)").collect()[0][0] == 8
    finally:
        spark.sql("DROP TABLE t8")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"subscribe": "no-such-topic"}, "there is no topic 'no-such-topic'"),
        pytest.param({"assign": '{"no-such-topic":[0]}'}, "there is no no-such-topic-0", marks=pytest.mark.full),
        ({"subscribe": "x", "startingOfsets": "earliest"}, "did you mean 'startingOffsets'"),
        pytest.param({"subscribe": "x", "kafka__max__pol__records": "5"}, "did you mean", marks=pytest.mark.full),
        pytest.param({"subscribe": "x", "startingOffsets": "latest"}, "can't be latest", marks=pytest.mark.full),
    ],
)
def test_mistakes_show_our_sentence(load: Load, options: dict[str, str], complaint: str) -> None:
    with pytest.raises(Exception, match=complaint):
        load(**options, fetchOffset__numRetries="0").count()


def test_brokers_that_are_away_are_named(load: Load) -> None:
    with pytest.raises(Exception, match=r"127\.0\.0\.1:1"):
        load(
            subscribe="x",
            kafka__bootstrap__servers="127.0.0.1:1",
            kafka__default__api__timeout__ms="500",
            fetchOffset__numRetries="0",
        ).count()


def test_a_wrong_password_is_told_and_not_shown(load: Load) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    with EmbeddedCluster(topics={"secret": 1}, listeners=["SASL_PLAINTEXT"], users={"alice": "right"}) as cluster:

        def read(password: str) -> int:
            return int(
                load(
                    subscribe="secret",
                    kafka__bootstrap__servers=cluster.bootstrap_servers,
                    kafka__security__protocol="SASL_PLAINTEXT",
                    kafka__sasl__mechanism="PLAIN",
                    kafka__sasl__jaas__config=f'{module} required username="alice" password="{password}";',
                ).count()
            )

        with pytest.raises(Exception, match=r"(?i)authentication") as caught:
            read("wr0ng-pass")
        assert "wr0ng-pass" not in str(caught.value)
        assert read("right") == 0
