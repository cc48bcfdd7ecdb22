"""A streaming query from topic to topic, exactly once, in a process of its own that a test can kill."""

from __future__ import annotations

import sys

from tests.spark.conftest import new_session


def main(servers: str, source: str, target: str, checkpoint: str, shuffles: str) -> None:
    spark = new_session()
    spark.conf.set("spark.sql.shuffle.partitions", shuffles)
    options = {"kafka.bootstrap.servers": servers}
    query = (
        spark.readStream.format("pykclient")
        .options(**options, subscribe=source, startingOffsets="earliest", maxOffsetsPerTrigger="200")
        .load()
        .selectExpr("key", "value")
        .repartition(int(shuffles))
        .writeStream.format("pykclient")
        .options(**options, topic=target, exactlyOnce="true", transactionalIdPrefix=target)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
