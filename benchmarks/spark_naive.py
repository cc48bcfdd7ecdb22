"""What one would write first: a Spark source and sink over confluent-kafka, a row at a time; and a source that has its
rows in memory, which is what any Python source costs at least. Only to compare with."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any


def naive_source() -> Any:
    """The data source ``naive``; None where confluent-kafka is not installed."""
    if importlib.util.find_spec("confluent_kafka") is None:
        return None
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        DataSourceWriter,
        InputPartition,
        WriterCommitMessage,
    )

    class Reader(DataSourceReader):
        def __init__(self, options: dict[str, str]) -> None:
            self.servers, self.topic = options["kafka.bootstrap.servers"], options["subscribe"]

        def _consumer(self) -> Any:
            from confluent_kafka import Consumer

            return Consumer({"bootstrap.servers": self.servers, "group.id": "naive", "enable.auto.commit": False})

        def partitions(self) -> list[Any]:
            from confluent_kafka import TopicPartition

            consumer = self._consumer()
            numbers = consumer.list_topics(self.topic, timeout=30).topics[self.topic].partitions
            found = [(n, *consumer.get_watermark_offsets(TopicPartition(self.topic, n), timeout=30)) for n in numbers]
            consumer.close()
            return [InputPartition(each) for each in found]

        def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
            from datetime import datetime, timezone

            from confluent_kafka import TopicPartition

            number, position, end = partition.value
            consumer = self._consumer()
            consumer.assign([TopicPartition(self.topic, number, position)])
            while position < end:
                for message in consumer.consume(min(10_000, end - position), 1.0):
                    kind, at_ms = message.timestamp()
                    at = datetime.fromtimestamp(at_ms / 1000, timezone.utc)
                    position = message.offset() + 1
                    yield (message.key(), message.value(), self.topic, number, position - 1, at, kind - 1)
            consumer.close()

    class Writer(DataSourceWriter):
        def __init__(self, options: dict[str, str]) -> None:
            self.servers, self.topic = options["kafka.bootstrap.servers"], options["topic"]

        def write(self, iterator: Iterator[Any]) -> Any:
            from confluent_kafka import Producer

            producer = Producer({"bootstrap.servers": self.servers})
            for row in iterator:
                while True:
                    try:
                        producer.produce(self.topic, bytes(row.value), bytes(row.key))
                    except BufferError:
                        producer.poll(0.1)
                    else:
                        break
            producer.flush()
            return WriterCommitMessage()

    class Naive(DataSource):
        @classmethod
        def name(cls) -> str:
            return "naive"

        def schema(self) -> str:
            return (
                "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
                "timestampType int"
            )

        def reader(self, schema: Any) -> Any:
            return Reader(self.options)

        def writer(self, schema: Any, overwrite: bool) -> Any:
            return Writer(self.options)

    return Naive


def rows_in_memory() -> Any:
    """The data source ``rows-in-memory``: a stream of 3,000 rows, ``maxOffsetsPerTrigger`` a batch, in three tasks."""
    import pyarrow as pa
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
    from pyspark.sql.streaming.datasource import ReadMaxRows, SupportsTriggerAvailableNow

    class Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
        def __init__(self, rows: int) -> None:
            self.rows = rows

        def initialOffset(self) -> dict[str, int]:
            return {"offset": 0}

        def getDefaultReadLimit(self) -> Any:
            return ReadMaxRows(self.rows)

        def prepareForTriggerAvailableNow(self) -> None:
            pass

        def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
            return {"offset": min(3000, start["offset"] + self.rows)}

        def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Any]:
            return [InputPartition((end["offset"] - start["offset"]) // 3) for _ in range(3)]

        def read(self, partition: Any) -> Iterator[Any]:
            yield pa.RecordBatch.from_pydict({"key": [b"k"] * partition.value, "value": [b"v" * 100] * partition.value})

    class InMemory(DataSource):
        @classmethod
        def name(cls) -> str:
            return "rows-in-memory"

        def schema(self) -> str:
            return "key binary, value binary"

        def streamReader(self, schema: Any) -> Any:
            return Reader(int(self.options["maxOffsetsPerTrigger"]))

    return InMemory
