"""Everything the source and the sink do, over Spark Connect; run as a program, since Spark is either classic or Connect
in one process. ``python -m tests.spark.connect_job SERVERS FOLDER``; prints ``all of it`` at the end."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest

from tests.spark.conftest import JAVA_OPTIONS


def main(servers: str, folder: pathlib.Path) -> None:
    from pyspark.sql import SparkSession

    from pykclient.spark import KafkaDataSource

    spark: Any = (
        SparkSession.builder.remote("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "600m")
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    assert "connect" in type(spark).__module__
    kafka = {"kafka.bootstrap.servers": servers}

    def read(topic: str, **options: str) -> list[str]:
        frame = spark.read.format("pykclient").options(**kafka, subscribe=topic, **options).load()
        return sorted(row.value for row in frame.selectExpr("cast(value as string) as value").collect())

    def stream(target: str, **options: str) -> None:
        source = spark.readStream.format("pykclient").options(**kafka, subscribe="in", startingOffsets="earliest")
        query = (
            source.option("maxOffsetsPerTrigger", "60").load().select("key", "value")
            .writeStream.format("pykclient").options(**kafka, topic=target, **options)
            .option("checkpointLocation", str(folder / target)).trigger(availableNow=True).start()
        )  # fmt: skip
        assert query.awaitTermination(120)
        assert query.exception() is None

    rows = [f"v{number}" for number in range(100)]
    frame = spark.range(100).selectExpr("concat('k', id) as key", "concat('v', id) as value")
    # Found by its name alone first, then registered.
    frame.write.format("pykclient").mode("append").options(**kafka, topic="in").save()
    assert read("in") == sorted(rows)
    spark.dataSource.register(KafkaDataSource)
    assert read("in", minPartitions="4") == sorted(rows)
    stream("out")
    assert read("out") == sorted(rows)
    stream("once", exactlyOnce="true", transactionalIdPrefix="connect")
    assert read("once", **{"kafka.isolation.level": "read_committed"}) == sorted(rows)
    options = f"OPTIONS (`kafka.bootstrap.servers` '{servers}', subscribe 'in')"
    spark.sql(f"CREATE TEMPORARY VIEW v USING pykclient {options}")
    spark.sql(f"CREATE TABLE t USING pykclient {options}")
    assert spark.sql("SELECT count(*) FROM v JOIN t USING (partition, offset)").collect()[0][0] == 100
    with pytest.raises(Exception, match="there is no topic 'no-such-topic'"):
        read("no-such-topic")
    print("all of it")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
