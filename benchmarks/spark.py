"""Spark: our data source beside Spark's own connector and a plain source made with confluent-kafka.

``make bench-spark``, or ``python -m benchmarks.spark`` where PySpark and Java are. One session (``local[2]``), one
broker of Apache Kafka, all contenders interleaved, a warm-up first. Rows per second of wall time and CPU seconds of
Spark's process tree, medians with the spread; then what a tiny micro-batch costs, and streams of 100,000 rows a batch.
Maven brings the broker and the jars of Spark's connector; what is not there is left out. Writes its tables into
README.md beside this file.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from benchmarks.spark_naive import naive_source, rows_in_memory
from pykclient import KafkaAdminClient, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.testing.real_kafka import RealKafka
from pykclient.types import TopicPartition
from tests.spark.own_connector import jars, version

TUNED_READ = {
    "kafka.max.poll.records": "100000",
    "kafka.max.partition.fetch.bytes": "8388608",
    "kafka.receive.buffer.bytes": "1048576",
    "minPartitions": "6",
}
TUNED_WRITE = {"kafka.linger.ms": "20", "kafka.batch.size": "262144"}
README = pathlib.Path(__file__).with_name("README.md")
BEGIN, END = "<!-- spark: begin -->", "<!-- spark: end -->"
STREAM_ROWS = 100_000
"""Rows per micro-batch where the sinks are compared."""
STREAM_BATCHES = 20

Runs = dict[str, list[tuple[float, float]]]
Once = Callable[[], None]


class Tree:
    """CPU seconds of a process and its descendants, those that ended included."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def cpu_s(self) -> float:
        """So far."""
        parents: dict[int, int] = {}
        used: dict[int, float] = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return sum(seconds for pid, seconds in used.items() if self._has(pid, parents))

    def _has(self, pid: int, parents: dict[int, int]) -> bool:
        while pid > 1 and pid != self._pid:
            pid = parents.get(pid, 0)
        return pid == self._pid


def session() -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in (os.getcwd(), *sys.path) if path)
    warnings.filterwarnings("ignore", category=FutureWarning)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.streaming.numRecentProgressUpdates", "1000")
    spark = builder.config("spark.jars", ",".join(jars())).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def fill(servers: str, topic: str, rows: int) -> None:
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics([NewTopic(topic, 3), NewTopic(topic + "-out", 3)], wait=True).raise_for_errors()
    body = os.urandom(92)
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for first in range(0, rows, 100_000):
            numbers = range(first, min(first + 100_000, rows))
            table = pa.table({"key": [b"%08d" % i for i in numbers], "value": [body + b"%08d" % i for i in numbers]})
            producer.send_arrow(topic, table).result(60)


def readers(spark: Any, servers: str, topic: str) -> dict[str, Once]:
    """Reads into nothing."""

    def read(source: str, **options: str) -> Once:
        def once() -> None:
            named = {"kafka.bootstrap.servers": servers, "subscribe": topic, **options}
            spark.read.format(source).options(**named).load().write.format("noop").mode("overwrite").save()

        return once

    found = {"read, pykclient": read("pykclient")}
    if jars():
        found["read, Spark's connector"] = read("kafka")
        found["read, Spark's connector, tuned"] = read("kafka", **TUNED_READ)
    found["read, pykclient, minPartitions=6"] = read("pykclient", minPartitions="6")
    found["read, pykclient, value only"] = read("pykclient", columns="value")
    if naive_source() is not None:
        found["read, plain source with confluent-kafka"] = read("naive")
    return found


def writers(servers: str, topic: str, rows: Any) -> dict[str, Once]:
    """Writes of rows that are cached."""

    def write(sink: str, **options: str) -> Once:
        named = {"kafka.bootstrap.servers": servers, "topic": topic, **options}
        return lambda: rows.write.format(sink).mode("append").options(**named).save()

    found = {"write, pykclient": write("pykclient")}
    if jars():
        found["write, Spark's connector"] = write("kafka")
        found["write, Spark's connector, tuned"] = write("kafka", **TUNED_WRITE)
    exactly = {"exactlyOnce": "true", "transactionalIdPrefix": f"bench-{topic}"}
    found["write, pykclient, exactlyOnce"] = write("pykclient", **exactly)
    if naive_source() is not None:
        found["write, plain sink with confluent-kafka"] = write("naive")
    return found


@contextmanager
def measured(tree: Tree, into: list[tuple[float, float]]) -> Iterator[None]:
    cpu_s, begun = tree.cpu_s(), time.perf_counter()
    yield
    into.append((time.perf_counter() - begun, tree.cpu_s() - cpu_s))


def forget(servers: str, topic: str) -> None:
    """Drop what was written: gigabytes, after some rounds."""
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.delete_records({TopicPartition(topic, number): -1 for number in range(3)}).raise_for_errors()


def interleaved(every: dict[str, Once], tree: Tree, repeats: int, after: Once) -> Runs:
    """Each turn begins with another one: what the one before leaves behind (dirty pages, garbage) hits all alike."""
    taken: Runs = {name: [] for name in every}
    names = list(every)
    for turn in range(repeats + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            with measured(tree, taken[name] if turn else []):  # the first turn warms up
                every[name]()
            after()
            print(f"  {turn}/{repeats} {name}", file=sys.stderr, flush=True)
    return taken


def stream(spark: Any, servers: str, topic: str, source: str, sink: str, rows_per_batch: int, **options: str) -> Any:
    """The milliseconds of each batch of a query that reads the topic through: (trigger, addBatch)."""
    base = {"kafka.bootstrap.servers": servers}
    reader = spark.readStream.format(source).options(**base, subscribe=topic, startingOffsets="earliest")
    frame = reader.option("maxOffsetsPerTrigger", str(rows_per_batch)).load().select("key", "value")
    with tempfile.TemporaryDirectory() as folder:
        writer = frame.writeStream.format(sink).option("checkpointLocation", folder).trigger(availableNow=True)
        if sink != "noop":
            writer = writer.options(**base, topic=topic + "-out", **options)
        query = writer.start()
        query.awaitTermination()
    done = [progress for progress in query.recentProgress if progress["numInputRows"]]
    return [(each["durationMs"]["triggerExecution"], each["durationMs"]["addBatch"]) for each in done]


def stream_table(spark: Any, servers: str, topic: str, rows_per_batch: int, batches: int, repeats: int) -> str:
    """What a micro-batch takes, with each pair of source and sink, interleaved; the first batches warm up."""
    pairs: dict[str, tuple[str, str, dict[str, str]]] = {
        "pykclient -> noop": ("pykclient", "noop", {}),
        "pykclient -> pykclient": ("pykclient", "pykclient", {}),
        "pykclient -> pykclient, exactlyOnce": (
            "pykclient", "pykclient", {"exactlyOnce": "true", "transactionalIdPrefix": f"stream-{topic}"},
        ),
    }  # fmt: skip
    if jars():
        pairs |= {
            "Spark's connector -> noop": ("kafka", "noop", {}),
            "Spark's connector -> Spark's connector": ("kafka", "kafka", {}),
            "pykclient -> Spark's connector, tuned": ("pykclient", "kafka", TUNED_WRITE),
        }
    if rows_per_batch <= 1000:  # else it is not the fixed costs that count
        pairs["a Python source with rows in memory -> noop"] = ("rows-in-memory", "noop", {})
    taken: dict[str, list[Any]] = {name: [] for name in pairs}
    for _ in range(repeats):
        for name, (source, sink, options) in pairs.items():
            found = stream(spark, servers, topic, source, sink, rows_per_batch, **options)
            taken[name] += found[max(1, batches // 5) :]
            print(f"  {name}: {len(found)} batches", file=sys.stderr, flush=True)
    lines = ["| source -> sink | trigger ms, median (quartiles) | addBatch ms, median (quartiles) |", "|---|---:|---:|"]
    for name, times in taken.items():
        cells = [_quartiles([each[index] for each in times]) for index in (0, 1)]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _quartiles(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.0f}" if values else "-"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


def table(rows: int, taken: Runs) -> str:
    def median(name: str) -> float | None:
        return statistics.median(wall for wall, _ in taken[name]) if name in taken else None

    lines = ["| what | seconds, median (all) | rows/s | CPU s | times the default | times the tuned |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for name, runs in taken.items():
        kind, own = name.split(",")[0], statistics.median(wall for wall, _ in runs)
        shown = " ".join(f"{wall:.2f}" for wall, _ in runs)
        cpu_s = statistics.median(cpu for _, cpu in runs)
        against = [median(f"{kind}, Spark's connector{tuned}") for tuned in ("", ", tuned")]
        ratios = " | ".join("" if other is None else f"{other / own:.2f}" for other in against)
        lines.append(f"| {name} | {own:.2f} ({shown}) | {rows / own:,.0f} | {cpu_s:.2f} | {ratios} |")
    return "\n".join(lines)


def report(sections: list[str], out: pathlib.Path) -> None:
    """Put the tables between the marks of README.md; what others wrote there stays."""
    text = out.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    out.write_text(before + BEGIN + "\n" + "\n\n".join(sections) + "\n" + END + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[1_000_000, 5_000_000], help="sizes (default: 1 and 5 million)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="rounds after the warm-up (default %(default)s)")
    parser.add_argument("--batches", type=int, default=25, help="micro-batches of each stream (default %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=README, help="the file to write the tables into")
    arguments = parser.parse_args()
    import pyspark

    sections = [
        f"PySpark {pyspark.__version__}, Spark's connector {version() if jars() else '(not there)'}, CPython "
        f"{sys.version.split()[0]}, {os.cpu_count()} cores; load when it began {os.getloadavg()[0]:.1f}."
    ]
    with RealKafka() as kafka:
        servers, spark = kafka.bootstrap_servers, session()
        for plain in (naive_source(), rows_in_memory()):
            if plain is not None:
                spark.dataSource.register(plain)
        tree = Tree(spark.sparkContext._gateway.proc.pid)
        for rows in arguments.rows:
            topic = f"bench-{rows}"
            fill(servers, topic, rows)
            taken = interleaved(readers(spark, servers, topic), tree, arguments.repeats, lambda: None)
            source = spark.read.format("pykclient").options(**{"kafka.bootstrap.servers": servers, "subscribe": topic})
            cached = source.load().select("key", "value").cache()
            assert cached.count() == rows
            clean = functools.partial(forget, servers, topic + "-out")
            taken |= interleaved(writers(servers, topic + "-out", cached), tree, arguments.repeats, clean)
            sections.append(f"{rows:,} rows:\n\n{table(rows, taken)}")
            print(sections[-1], flush=True)
            cached.unpersist()
        size = min(STREAM_ROWS, arguments.rows[-1] // 5)
        fill(servers, "stream", size * STREAM_BATCHES)
        sections.append(
            f"Streams of {size:,} rows per micro-batch:\n\n"
            + stream_table(spark, servers, "stream", size, STREAM_BATCHES, 3)
        )
        print(sections[-1], flush=True)
        fill(servers, "tiny", 100 * arguments.batches)
        sections.append(
            "Micro-batches of 100 rows, which is what a batch costs before its first row:\n\n"
            + stream_table(spark, servers, "tiny", 100, arguments.batches, 2)
        )
        print(sections[-1], flush=True)
        spark.stop()
    report(sections, arguments.out)


if __name__ == "__main__":
    main()
