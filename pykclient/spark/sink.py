"""Writing to Kafka from Spark: the driver checks the columns, the executors send the rows as Arrow columns.

At least once, as Spark's own connector: a task that fails is run again, and what it wrote before stays. ``write`` ends
only when every row is acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pykclient.errors import UsageError
from pykclient.producer.arrow import SentRows
from pykclient.protocol import arrow
from pykclient.spark import pyspark_api as api
from pykclient.spark.clients import borrowed_producer
from pykclient.spark.options import SinkOptions

_TEXT = (api.StringType, api.BinaryType)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns the rows have."""

    has_key: bool
    has_headers: bool
    has_topic: bool
    has_partition: bool


def checked_layout(schema: Any, topic: str | None) -> Layout:
    """Refuse columns of the wrong type by name, as Spark's own connector does; others are ignored, as there."""
    fields = {field.name: field.dataType for field in schema.fields}
    if "value" not in fields:
        raise UsageError(f"required attribute 'value' not found; the columns are {', '.join(fields) or 'none'}")
    for name in ("key", "value"):
        if name in fields and not isinstance(fields[name], _TEXT):
            raise UsageError(f"{name} attribute type must be a string or binary, not {fields[name].simpleString()}")
    if "topic" in fields and not isinstance(fields["topic"], api.StringType):
        raise UsageError(f"topic attribute type must be a string, not {fields['topic'].simpleString()}")
    if "partition" in fields and not isinstance(fields["partition"], api.IntegerType):
        raise UsageError(f"partition attribute type must be an integer, not {fields['partition'].simpleString()}")
    if "headers" in fields and not _is_headers(fields["headers"]):
        raise UsageError(
            f"headers attribute type must be {api.HEADERS.simpleString()}, not {fields['headers'].simpleString()}"
        )
    if topic is None and "topic" not in fields:
        raise UsageError("topic option required when no 'topic' attribute is present")
    if topic == "":
        raise UsageError("the topic option is empty")
    return Layout("key" in fields, "headers" in fields, "topic" in fields and topic is None, "partition" in fields)


def _is_headers(kind: Any) -> bool:
    return isinstance(kind, api.ArrayType) and kind.elementType.simpleString() == "struct<key:string,value:binary>"


def send_rows(producer: Any, options: SinkOptions, layout: Layout, batch: Any) -> list[SentRows]:
    """Hand one record batch to the producer."""
    if layout.has_topic:
        by_topic = list(arrow.by_text(batch, "topic"))
        if any(topic is None for topic, _ in by_topic):
            raise UsageError("null topic present in the data. Use the topic option for setting a topic")
    else:
        by_topic = [(options.topic, batch)]
    return [
        producer.send_arrow(
            topic,
            rows,
            key="key" if layout.has_key else None,
            headers="headers" if layout.has_headers else None,
            partition="partition" if layout.has_partition else None,
        )
        for topic, rows in by_topic
    ]


def write_rows(options: SinkOptions, layout: Layout, batches: Iterator[Any]) -> int:
    """Send all rows and wait until they are stored; gives their number. Opens nothing when there are none."""
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return 0
    count = 0
    with borrowed_producer(options.client) as producer:
        sent = send_rows(producer, options, layout, first)
        for batch in batches:
            if batch.num_rows:
                sent += send_rows(producer, options, layout, batch)
            while len(sent) > 1 and sent[0].done():
                count += sent.pop(0).result(0).row_count  # a failure shows now, not after all rows
        for each in sent:
            count += each.result().row_count
    return count


class Written(api.WriterCommitMessage):  # type: ignore[misc]
    """What a task tells the driver."""

    def __init__(self, row_count: int) -> None:
        self.row_count = row_count


class BatchWriter(api.DataSourceArrowWriter):  # type: ignore[misc]
    """For ``df.write``."""

    def __init__(self, options: SinkOptions, schema: Any, *, overwrite: bool) -> None:
        if overwrite:
            raise UsageError("mode 'overwrite' is not possible: Kafka only appends. Use mode('append')")
        _refuse_exactly_once(options)
        self._options = options
        self._layout = checked_layout(schema, options.topic)

    def write(self, iterator: Iterator[Any]) -> Written:
        """On an executor."""
        return Written(write_rows(self._options, self._layout, iterator))

    def commit(self, messages: list[Written | None]) -> None:
        """All rows are stored already."""

    def abort(self, messages: list[Written | None]) -> None:
        """What was stored stays: at least once."""


class StreamWriter(api.DataSourceStreamArrowWriter):  # type: ignore[misc]
    """For ``df.writeStream``."""

    def __init__(self, options: SinkOptions, schema: Any) -> None:
        _refuse_exactly_once(options)
        self._options = options
        self._layout = checked_layout(schema, options.topic)
        self._schema = schema

    def write(self, iterator: Iterator[Any]) -> Written:
        """On an executor."""
        return Written(write_rows(self._options, self._layout, iterator))

    def commit(self, messages: list[Written | None], batchId: int) -> None:
        """All rows are stored already."""

    def abort(self, messages: list[Written | None], batchId: int) -> None:
        """What was stored stays: at least once."""


def _refuse_exactly_once(options: SinkOptions) -> None:
    if options.exactly_once or options.transactional_id_prefix is not None or options.idempotency_token is not None:
        raise UsageError(
            "exactlyOnce, transactionalIdPrefix and idempotencyToken are not supported yet; the sink writes at least "
            "once, so a batch that is run again may write records twice"
        )


__all__ = ["BatchWriter", "Layout", "StreamWriter", "Written", "checked_layout", "write_rows"]
