"""Spark: our data source beside Spark's own connector, interleaved in one session, on one Apache Kafka broker.

``python -m benchmarks.spark --jars DIR`` (the jars of the connector: spark-sql-kafka-0-10, its token provider,
kafka-clients, commons-pool2). Rows per second of wall time and CPU seconds of the process tree of Spark; medians with
the spread. Without ``--jars`` only ours is measured. Needs PySpark and Java; the broker is brought by Maven.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from pykclient import KafkaAdminClient, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.testing.real_kafka import RealKafka

TUNED_READ = {
    "kafka.max.poll.records": "100000",
    "kafka.max.partition.fetch.bytes": "8388608",
    "kafka.receive.buffer.bytes": "1048576",
    "minPartitions": "6",
}
TUNED_WRITE = {"kafka.linger.ms": "20", "kafka.batch.size": "262144"}


def tree_cpu_s() -> float:
    """CPU seconds of this process's descendants, those that ended included."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15])) / ticks

    def ours(pid: int) -> bool:
        while pid > 1:
            if pid == spark_pid:
                return True
            pid = parents.get(pid, 0)
        return False

    return sum(seconds for pid, seconds in used.items() if ours(pid))


spark_pid = 0


def session(jars: str | None) -> Any:
    global spark_pid
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.ui.showConsoleProgress", "false")
    if jars is not None:
        builder = builder.config("spark.jars", ",".join(map(str, sorted(pathlib.Path(jars).glob("*.jar")))))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark_pid = spark.sparkContext._gateway.proc.pid
    return spark


@contextmanager
def measured(into: list[tuple[float, float]]) -> Iterator[None]:
    cpu_s, begun = tree_cpu_s(), time.perf_counter()
    yield
    into.append((time.perf_counter() - begun, tree_cpu_s() - cpu_s))


def fill(servers: str, topic: str, rows: int) -> None:
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics([NewTopic(topic, 3), NewTopic(topic + "-out", 3)], wait=True).raise_for_errors()
    body = os.urandom(92)
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for first in range(0, rows, 100_000):
            numbers = range(first, min(first + 100_000, rows))
            table = pa.table({"key": [b"%08d" % i for i in numbers], "value": [body + b"%08d" % i for i in numbers]})
            producer.send_arrow(topic, table).result(60)


def contenders(spark: Any, servers: str, topic: str, jvm: bool) -> dict[str, Callable[[], None]]:
    base = {"kafka.bootstrap.servers": servers}

    def read(source: str, **options: str) -> Callable[[], None]:
        def once() -> None:
            frame = spark.read.format(source).options(**base, subscribe=topic, **options).load()
            frame.write.format("noop").mode("overwrite").save()

        return once

    rows = spark.read.format("pykclient").options(**base, subscribe=topic).load().select("key", "value").cache()
    count = rows.count()
    print(f"{count} rows cached for writing", flush=True)

    def write(sink: str, **options: str) -> Callable[[], None]:
        return lambda: rows.write.format(sink).mode("append").options(**base, topic=topic + "-out", **options).save()

    found = {
        "read, pykclient": read("pykclient"),
        "read, pykclient, minPartitions=6": read("pykclient", minPartitions="6"),
        "read, pykclient, value only": read("pykclient", columns="value"),
        "write, pykclient": write("pykclient"),
        "write, pykclient, exactlyOnce": write("pykclient", exactlyOnce="true", transactionalIdPrefix="bench"),
    }
    if jvm:
        found |= {
            "read, Spark's connector": read("kafka"),
            "read, Spark's connector, tuned": read("kafka", **TUNED_READ),
            "write, Spark's connector": write("kafka"),
            "write, Spark's connector, tuned": write("kafka", **TUNED_WRITE),
        }
    return dict(sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with RealKafka() as kafka:
        fill(kafka.bootstrap_servers, "bench", arguments.rows)
        spark = session(arguments.jars)
        every = contenders(spark, kafka.bootstrap_servers, "bench", arguments.jars is not None)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in every}
        for turn in range(arguments.repeats + 1):
            for name, once in every.items():
                with measured(taken[name] if turn else []):  # the first turn warms up
                    once()
        print("| what | seconds, median (all) | rows/s | CPU s |")
        print("|---|---:|---:|---:|")
        for name, runs in taken.items():
            walls = [wall for wall, _ in runs]
            median = statistics.median(walls)
            shown = " ".join(f"{wall:.2f}" for wall in walls)
            cpu_s = statistics.median(cpu for _, cpu in runs)
            print(f"| {name} | {median:.2f} ({shown}) | {arguments.rows / median:,.0f} | {cpu_s:.2f} |", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
