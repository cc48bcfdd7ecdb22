"""Writing to Kafka from Spark: the driver checks the columns, the executors send the rows as Arrow columns.

At least once, as Spark's own connector: a task that fails is run again, and what it wrote before stays. Exactly once
when asked: each task writes in a transaction of its own and prepares it, and the driver commits them (decisions.py).
Either way ``write`` ends only when every row is acknowledged.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pykclient.errors import UsageError
from pykclient.producer.arrow import SentRows
from pykclient.protocol import arrow
from pykclient.spark import pyspark_api as api
from pykclient.spark.clients import borrowed_producer
from pykclient.spark.decision_log import Batch, DecisionLog, Rows, marker_text
from pykclient.spark.decisions import Decisions, Plan, Prepared, Role
from pykclient.spark.options import SinkOptions
from pykclient.spark.worker import InWorker
from pykclient.types import OffsetAndMetadata

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
        producer.flush()  # no more rows will come: nothing to linger for
        for each in sent:
            count += each.result().row_count
    return count


class Written(api.WriterCommitMessage):  # type: ignore[misc]
    """What a task tells the driver."""

    def __init__(self, row_count: int, prepared: Prepared | None = None) -> None:
        self.row_count = row_count
        self.prepared = prepared


def prepare_rows(
    options: SinkOptions, layout: Layout, batches: Iterator[Any], *, plan: Plan, batch: Batch, slot: int
) -> Written:
    """Write the rows of one task in a transaction and leave its end to the driver. Only counts them when they are
    committed already."""
    if plan.role(batch, slot) is Role.CHECK:
        if plan.is_done(batch) and not options.check_replays:
            return Written(0, Prepared(plan.claim, batch, slot, None))
        rows = sum((rows_of(each) for each in batches), Rows())
        return Written(rows.count, Prepared(plan.claim, batch, slot, rows))
    first = next((each for each in batches if each.num_rows), None)
    if first is None:
        return Written(0, Prepared(plan.claim, batch, slot, Rows()))
    log = DecisionLog(options.client, options.transactional_id_prefix or "")
    settings = {
        **options.client,
        "transaction.timeout.ms": str(plan.timeout_ms),
        "transactional.id": f"{options.transactional_id_prefix}.{slot}",
    }
    with borrowed_producer(settings) as producer:
        producer.init_transactions()  # ends what an earlier attempt at this slot has left
        producer.begin_transaction()
        # The marker is committed with the rows, or not at all: it tells later what became of this transaction.
        marker = OffsetAndMetadata(batch.number, marker_text(batch))
        producer.send_offsets_to_transaction({log.topic_partition: marker}, log.marker_group(slot))
        rows, sent = rows_of(first), send_rows(producer, options, layout, first)
        for each in batches:
            if each.num_rows:
                rows += rows_of(each)
                sent += send_rows(producer, options, layout, each)
        transaction = producer.prepare_transaction()
        for each in sent:
            each.result(0)
        return Written(rows.count, Prepared(plan.claim, batch, slot, rows, transaction))


def rows_of(batch: Any) -> Rows:
    """Number and checksum of rows."""
    return Rows(batch.num_rows, arrow.checksum(batch, ("value", "key", "headers", "topic", "partition")))


def _decisions(options: SinkOptions, owner: str) -> Decisions | None:
    """For an exactly-once query; None for the others."""
    if not options.exactly_once:
        if options.transactional_id_prefix is not None or options.idempotency_token is not None:
            raise UsageError("transactionalIdPrefix and idempotencyToken need exactlyOnce=true")
        return None
    if not options.transactional_id_prefix:
        raise UsageError("exactlyOnce needs transactionalIdPrefix: a name that no other query has, and that stays")
    return Decisions(options.client, options.transactional_id_prefix, owner)


def _prepared(messages: list[Written | None]) -> list[Prepared]:
    return [each.prepared for each in messages if each is not None and each.prepared is not None]


class BatchWriter(InWorker, api.DataSourceArrowWriter):  # type: ignore[misc]
    """For ``df.write``."""

    def __init__(self, options: SinkOptions, schema: Any, *, overwrite: bool) -> None:
        if overwrite:
            raise UsageError("mode 'overwrite' is not possible: Kafka only appends. Use mode('append')")
        self._options = options
        self._layout = checked_layout(schema, options.topic)
        token = options.idempotency_token
        self._batch = Batch(f"once:{uuid.uuid4().hex}" if token is None else f"token:{token}", 0)
        self._decisions = _decisions(options, self._batch.query)
        self._plan = None if self._decisions is None else self._decisions.plan()

    def write(self, iterator: Iterator[Any]) -> Written:
        """On an executor."""
        if self._plan is None:
            return Written(write_rows(self._options, self._layout, iterator))
        slot = _slot_of_task()
        return prepare_rows(self._options, self._layout, iterator, plan=self._plan, batch=self._batch, slot=slot)

    def commit(self, messages: list[Written | None]) -> None:
        """On the driver, when all tasks have written."""
        if self._decisions is not None:
            self._decisions.commit(_prepared(messages))

    def abort(self, messages: list[Written | None]) -> None:
        """On the driver, when one has failed. At least once: what was stored stays."""
        if self._decisions is not None:
            self._decisions.abort(_prepared(messages))


class StreamWriter(InWorker, api.DataSourceStreamArrowWriter):  # type: ignore[misc]
    """For ``df.writeStream``. Spark makes one to plan a batch, which it pickles for the tasks, and another one to
    commit or abort it: what the two must agree on goes with the tasks' messages."""

    def __init__(self, options: SinkOptions, schema: Any) -> None:
        if options.idempotency_token is not None:
            raise UsageError("idempotencyToken is for df.write; a stream has its checkpoint")
        self._options = options
        self._layout = checked_layout(schema, options.topic)
        self._decisions = _decisions(options, options.checkpoint or "stream")
        if self._decisions is not None:
            self._decisions.check_brokers(options.trigger_ms)  # here, where Spark shows an error as it is
        self._plan: Plan | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Packed up for the tasks, so this is the one that plans. The one that commits must not: it would take the
        # prefix from itself.
        if self._decisions is not None and self._plan is None:
            self._plan = self._decisions.plan(trigger_ms=self._options.trigger_ms)
        return self.__dict__

    def write(self, iterator: Iterator[Any]) -> Written:
        """On an executor."""
        if self._plan is None:
            return Written(write_rows(self._options, self._layout, iterator))
        slot, batch = _slot_of_task(), _batch_of_task()
        return prepare_rows(self._options, self._layout, iterator, plan=self._plan, batch=batch, slot=slot)

    def commit(self, messages: list[Written | None], batchId: int) -> None:
        """On the driver, when all tasks have written."""
        if self._decisions is not None:
            self._decisions.commit(_prepared(messages))

    def abort(self, messages: list[Written | None], batchId: int) -> None:
        """On the driver, when one has failed, or when ``commit`` has."""
        if self._decisions is not None:
            self._decisions.abort(_prepared(messages))


def _slot_of_task() -> int:
    """The number of the task among those of its batch. Refuses speculation, which a driver's Python is not told of, but
    tasks are: two attempts at a time would abort each other's transactions."""
    context = api.TaskContext.get()
    if (context.getLocalProperty("spark.speculation") or "false").strip().lower() == "true":
        raise UsageError(
            "exactlyOnce cannot be used with spark.speculation=true: a second attempt at a task aborts what the first "
            "has written. Set spark.speculation=false"
        )
    return int(context.partitionId())


def _batch_of_task() -> Batch:
    """Spark tells a task which batch it is part of, though not by its interface for data sources."""
    context = api.TaskContext.get()
    query, number = context.getLocalProperty("sql.streaming.queryId"), context.getLocalProperty("streaming.sql.batchId")
    if query is None or number is None:
        raise UsageError("this version of Spark does not tell tasks their batch, which exactlyOnce needs")
    return Batch(query, int(number))


__all__ = ["BatchWriter", "Layout", "StreamWriter", "Written", "checked_layout", "prepare_rows", "write_rows"]
