"""Reading one range of offsets on an executor, as Arrow batches of the schema that Spark compares with.

A generator per task; Spark may end it early at any ``yield``. Positions follow the fetched batches, not the records:
markers, aborted and compacted records are no loss. What is loss is decided here: offsets that the log no longer has.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import DataLoss, KafkaTimeoutError, OffsetOutOfRange
from pykclient.protocol import arrow
from pykclient.spark.clients import borrowed_consumer
from pykclient.spark.offsets import OffsetRange
from pykclient.spark.options import SourceOptions, consumer_settings
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

ROWS_MAX = 50_000
ROWS_MIN = 10_000
"""Batches for Spark have from this many rows on, but for the last one."""
LOOK_AFTER_S = 1.0
"""Nothing came for so long: see whether there is anything left to come."""

_RENAMED = {"timestampType": "timestamp_type"}


def read_range(options: SourceOptions, wanted: OffsetRange, schema: Any) -> Iterator[Any]:
    """The records of a range as record batches of ``schema`` (pyarrow's)."""
    names = [_RENAMED.get(name, name) for name in schema.names]
    headers = "headers" in schema.names
    with borrowed_consumer(consumer_settings(options)) as consumer:
        held: list[Any] = []
        for table in _tables(consumer, options, wanted, headers):
            held.append(table.select(names))
            if sum(each.num_rows for each in held) >= ROWS_MIN:
                yield from arrow.as_batches(held, schema)
                held = []
        yield from arrow.as_batches(held, schema)
        _put_away(consumer, TopicPartition(wanted.topic, wanted.partition), wanted.end)


def _tables(consumer: KafkaConsumer, options: SourceOptions, wanted: OffsetRange, headers: bool) -> Iterator[Any]:
    tp = TopicPartition(wanted.topic, wanted.partition)
    position, until = wanted.start, {tp: wanted.end}
    consumer.assign([tp])
    consumer.resume([tp])
    consumer.seek(tp, position)
    deadline = time.monotonic() + options.poll_timeout_s
    while position < wanted.end:
        try:
            table = consumer.poll_arrow(
                min(LOOK_AFTER_S, options.poll_timeout_s), ROWS_MAX, headers=headers, until=until
            )
        except OffsetOutOfRange:
            position = _after_loss(consumer, options, tp, position, wanted.end)
            continue
        reached = _reached(consumer, tp, table, position)
        if table.num_rows or reached > position:
            position = reached
            deadline = time.monotonic() + options.poll_timeout_s
            if table.num_rows:
                yield table
            continue
        position = _look(consumer, options, tp, position, wanted.end)
        if position < wanted.end and time.monotonic() >= deadline:
            raise KafkaTimeoutError(
                f"no record came within kafkaConsumer.pollTimeoutMs ({options.poll_timeout_s} s), though the partition "
                f"has some up to {wanted.end}",
                topic=tp.topic,
                partition=tp.partition,
                offset=position,
            )


def _put_away(consumer: KafkaConsumer, tp: TopicPartition, end: int) -> None:
    """Fetch and keep nothing until the next task. It stays assigned: the next one will be of this topic, and should not
    have to ask who leads it."""
    consumer.pause([tp])
    consumer.seek(tp, end)


def _reached(consumer: KafkaConsumer, tp: TopicPartition, table: Any, position: int) -> int:
    """Where the consumer stands after these rows; behind the last of them when the log was cut off meanwhile."""
    try:
        return consumer.position(tp)
    except OffsetOutOfRange:  # told again by the next poll
        return int(table["offset"][-1].as_py()) + 1 if table.num_rows else position


def _look(consumer: KafkaConsumer, options: SourceOptions, tp: TopicPartition, position: int, end: int) -> int:
    """Nothing came: is the partition gone or too short, or is it only slow? Gives the position to go on from."""
    if tp.partition not in consumer.list_topics().get(tp.topic, ()):
        report_loss(options, tp, position, end, "the partition is gone")
        return end
    latest = consumer.end_offsets([tp])[tp]
    if latest < end:
        report_loss(options, tp, max(position, latest), end, f"the partition ends at {latest}")
        return end
    return position


def _after_loss(consumer: KafkaConsumer, options: SourceOptions, tp: TopicPartition, position: int, end: int) -> int:
    """The log does not have the position (any more): go on where it begins, if that is within the range."""
    earliest, latest = consumer.beginning_offsets([tp])[tp], consumer.end_offsets([tp])[tp]
    if earliest <= position <= latest:
        consumer.seek(tp, position)  # a fetch ahead ran out of the log, the records in hand are still there
        return position
    if position > latest:
        report_loss(options, tp, position, end, f"the partition holds {earliest} to {latest}")
        return end
    report_loss(options, tp, position, min(earliest, end), f"the partition holds {earliest} to {latest}")
    if earliest < end:
        consumer.seek(tp, earliest)
    return min(earliest, end)


def report_loss(options: SourceOptions, tp: TopicPartition, first: int, end: int, available: str) -> None:
    """Raise, or warn and count, as failOnDataLoss says."""
    text = f"{end - first} offsets from {first} on are lost: {available}"
    if options.fail_on_data_loss:
        raise DataLoss(
            f"{text}. Some data may have been lost because they are not available in Kafka any more: aged out, or the "
            "topic was deleted. To go on without them, set the option failOnDataLoss to false",
            topic=tp.topic,
            partition=tp.partition,
            offset=first,
        )
    logger.warning("%s-%s: %s; going on (failOnDataLoss=false)", tp.topic, tp.partition, text)


__all__ = ["read_range", "report_loss"]
