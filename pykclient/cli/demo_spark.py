"""The Spark part of the demo: orders read as a stream, counted per product and window, written back exactly once.

Runs on the demo's thread, with Spark in a JVM beside it. Loaded only when Spark and Java are there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SCHEMA = "order long, product string, amount int, at_ms long"
WINDOW = "1 minute"


def missing() -> str | None:
    """What to install, in one line; None when all is there."""
    absent = []
    if importlib.util.find_spec("pyspark") is None or importlib.util.find_spec("pyarrow") is None:
        absent.append("pip install 'pykclient[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        absent.append("Java 17 or newer")
    return " and ".join(absent) or None


@contextmanager
def _quiet() -> Iterator[None]:
    """What is started inside greets (a JVM does, at length) where nobody reads it, unless it fails to start."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        except BaseException:
            said.seek(0)
            os.write(kept, said.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def run_pipeline(servers: str, source: str, target: str) -> None:
    """Read what is in ``source``, count per window and product, write to ``target`` exactly once, end."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--conf spark.log.level=ERROR pyspark-shell")
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    session = importlib.import_module("pyspark.sql").SparkSession
    functions: Any = importlib.import_module("pyspark.sql.functions")
    builder = (
        session.builder.master("local[2]")
        .appName("pykclient demo")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.streaming.triggerAvailableNowWrapper.enabled", "true")  # for Spark 4.0 and 4.1
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    with _quiet():
        spark = builder.getOrCreate()
    try:
        spark.sparkContext.setLogLevel("OFF")
        # Spark finds the source by itself when the package is installed; from a source tree it is told.
        spark.dataSource.register(importlib.import_module("pykclient.spark").KafkaDataSource)
        with tempfile.TemporaryDirectory(prefix="pykclient-demo-") as checkpoint:
            _query(spark, functions, servers, source, target, checkpoint).awaitTermination()
    finally:
        spark.stop()


def _query(spark: Any, functions: Any, servers: str, source: str, target: str, checkpoint: str) -> Any:
    orders = (
        spark.readStream.format("pykclient")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("columns", "value")
        .load()
        .select(functions.from_json(functions.col("value").cast("string"), SCHEMA).alias("event"))
        .select("event.*")
    )
    counts = (
        orders.groupBy(functions.window(functions.timestamp_millis("at_ms"), WINDOW), "product")
        .agg(functions.count("order").alias("orders"), functions.sum("amount").alias("amount"))
        .select(
            functions.col("product").alias("key"),
            functions.to_json(
                functions.struct(functions.col("window.start").alias("from"), "product", "orders", "amount")
            ).alias("value"),
        )
    )
    return (
        counts.writeStream.format("pykclient")
        .outputMode("complete")
        .option("kafka.bootstrap.servers", servers)
        .option("topic", target)
        .option("exactlyOnce", "true")
        .option("transactionalIdPrefix", "demo-spark")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )


__all__ = ["missing", "run_pipeline"]
