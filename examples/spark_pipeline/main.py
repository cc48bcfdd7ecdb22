"""Orders and clicks through Spark: enrich, join within a watermark, count in windows, write back exactly once.

    python examples/spark_pipeline/main.py                                   # on an embedded cluster
    python examples/spark_pipeline/main.py --real-kafka                      # on Apache Kafka, brought by Maven
    python examples/spark_pipeline/main.py --bootstrap-servers host:9092     # on a cluster of yours

Needs ``pip install 'pykclient[spark]'`` and Java 17. Prints the revenue per country and window, and which clicks led to
an order. Some events come late: those within the watermark count, the others do not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pykclient import KafkaAdminClient, KafkaProducer
from pykclient.testing import EmbeddedCluster

TOPICS = {"orders": 3, "clicks": 3, "revenue": 1, "attributed": 1}
COUNTRIES = ("AT", "BR", "CA")
BEGIN_MS = 1_760_000_000_000
ORDER = "id int, customer int, cents int, at_ms long"
CLICK = "customer int, page string, at_ms long"


def generate(servers: str, count: int, seed: int = 1) -> None:
    """Orders, each after a click of the same customer; every tenth event half a minute late, one an hour late."""
    chance = random.Random(seed)
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(count):
            at_ms = BEGIN_MS + number * 1000
            customer = chance.randrange(50)
            late_ms = 3_600_000 if number == count - 1 else 30_000 if number % 10 == 9 else 0
            click = {"customer": customer, "page": f"/p{number % 7}", "at_ms": at_ms - 5000 - late_ms}
            order = {"id": number, "customer": customer, "cents": 100 + number, "at_ms": at_ms - late_ms}
            producer.send("clicks", json.dumps(click).encode(), str(customer).encode())
            producer.send("orders", json.dumps(order).encode(), str(customer).encode())


def events(spark: Any, servers: str, topic: str, schema: str) -> Any:
    """A topic of JSON values as columns, with event time and watermark."""
    from pyspark.sql import functions as f

    return (
        spark.readStream.format("pykclient")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("columns", "value")
        .option("maxOffsetsPerTrigger", "500")
        .load()
        .select(f.from_json(f.col("value").cast("string"), schema).alias("event"))
        .select("event.*", f.timestamp_millis(f.col("event.at_ms")).alias("at"))
        .withWatermark("at", "2 minutes")
    )


def write(frame: Any, servers: str, topic: str, folder: str) -> Any:
    """Rows with key and value to a topic, exactly once, until all that is there is read."""
    return (
        frame.writeStream.format("pykclient")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", topic)
        .option("exactlyOnce", "true")
        .option("transactionalIdPrefix", f"pipeline-{topic}")
        .option("checkpointLocation", os.path.join(folder, topic))
        .trigger(availableNow=True)
        .start()
    )


def pipeline(spark: Any, servers: str, folder: str) -> None:
    """Both queries, to their end."""
    from pyspark.sql import functions as f

    customers = spark.createDataFrame([(n, COUNTRIES[n % 3]) for n in range(50)], "customer int, country string")
    orders = events(spark, servers, "orders", ORDER)
    clicks = events(spark, servers, "clicks", CLICK)
    revenue = (
        orders.join(customers, "customer")
        .groupBy(f.window("at", "1 minute"), "country")
        .agg(f.sum("cents").alias("cents"), f.count("id").alias("orders"))
        .select(
            f.col("country").alias("key"),
            f.to_json(f.struct(f.col("window.start").alias("from"), "country", "cents", "orders")).alias("value"),
        )
    )
    attributed = (
        orders.alias("o")
        .join(
            clicks.alias("c"),
            f.expr("o.customer = c.customer and o.at between c.at and c.at + interval 10 seconds"),
        )
        .select(
            f.col("o.id").cast("string").alias("key"),
            f.to_json(f.struct("o.id", "o.customer", "c.page")).alias("value"),
        )
    )
    queries = [write(revenue, servers, "revenue", folder), write(attributed, servers, "attributed", folder)]
    for query in queries:
        query.awaitTermination()


def show(spark: Any, servers: str, topic: str) -> list[Any]:
    """What is in a topic, as committed."""
    rows = (
        spark.read.format("pykclient")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("kafka.isolation.level", "read_committed")
        .load()
        .selectExpr("cast(value as string) as value")
        .collect()
    )
    return sorted((json.loads(row.value) for row in rows), key=str)


@contextmanager
def cluster(servers: str | None, *, real_kafka: bool = False) -> Iterator[str]:
    """The one given, Apache Kafka in a process of its own, or an embedded one."""
    if real_kafka:
        from pykclient.testing.real_kafka import RealKafka

        with RealKafka() as kafka, cluster(kafka.bootstrap_servers) as started:
            yield started
        return
    if servers is None:
        with EmbeddedCluster(topics=TOPICS) as embedded:
            yield embedded.bootstrap_servers
        return
    from pykclient.admin import NewTopic

    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        known = admin.list_topics()
        admin.create_topics([NewTopic(name, count) for name, count in TOPICS.items() if name not in known], wait=True)
    yield servers


def main() -> None:
    """Generate, run, show."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--bootstrap-servers", help="a cluster of yours (default: an embedded one)")
    parser.add_argument("--real-kafka", action="store_true", help="Apache Kafka; needs Maven")
    parser.add_argument("--events", type=int, default=600)
    arguments = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.streaming.triggerAvailableNowWrapper.enabled", "true")  # for Spark 4.0 and 4.1
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    where = cluster(arguments.bootstrap_servers, real_kafka=arguments.real_kafka)
    with where as servers, tempfile.TemporaryDirectory() as folder:
        generate(servers, arguments.events)
        pipeline(spark, servers, folder)
        revenue, attributed = show(spark, servers, "revenue"), show(spark, servers, "attributed")
        for row in revenue[:6]:
            print(row)
        print(f"{len(revenue)} windows of revenue; {len(attributed)} pairs of an order and a click before it")
    spark.stop()


if __name__ == "__main__":
    main()
