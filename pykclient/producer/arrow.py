"""``send_arrow``: columns become record batches of the right partitions with no Python object per row.

Runs on the caller's thread up to the accumulator; everything after is the Sender's, as with ``send``. Must never send a
row whose table was refused: types, partitions and sizes of a record batch are checked before its first row is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pykclient.config import ProducerConfig
from pykclient.errors import KafkaError, KafkaTimeoutError, RecordTooLarge, UsageError
from pykclient.producer.accumulator import RecordAccumulator
from pykclient.producer.batch import ProducerBatch
from pykclient.producer.partitioners import Partitions
from pykclient.producer.queues import TopicQueues, settled
from pykclient.protocol import arrow
from pykclient.protocol.batch_builder import HEADER_BYTES
from pykclient.protocol.columns import EncodedRows, encode_rows, group_rows, partitions_for_keys
from pykclient.types import TopicPartition

BATCH_BYTES = 256 * 1024
"""Rows are there already, so batches are made this large whatever batch_size says; the broker's limit is 1 MiB."""
STICKY_ROWS = 8192
"""In a table where only some rows have a key, the others change their partition after so many rows."""
# More than key and value: lengths, timestamp and offset deltas, attributes; see batch_builder.size_upper_bound.
RECORD_OVERHEAD_BYTES = HEADER_BYTES + 36


class OffsetRange(NamedTuple):
    """Consecutive offsets, both ends included. -1 where the broker told none (acks=0)."""

    first: int
    last: int


class RowFailure(NamedTuple):
    """Rows of one partition that were not delivered, and why."""

    topic_partition: TopicPartition
    row_count: int
    error: Exception


@dataclass(frozen=True, slots=True)
class ArrowDelivery:
    """What became of the rows of one ``send_arrow``."""

    row_count: int
    delivered_count: int
    offsets: dict[TopicPartition, list[OffsetRange]]
    failures: list[RowFailure]


class SentRows:
    """The promise of the rows of one ``send_arrow``."""

    __slots__ = ("_batches", "row_count")

    def __init__(self, batches: list[ProducerBatch]) -> None:
        self._batches = batches
        self.row_count = sum(batch.record_count for batch in batches)

    def done(self) -> bool:
        """Every row is delivered or has failed for good."""
        return all(map(settled, self._batches))

    def result(self, timeout: float | None = None) -> ArrowDelivery:
        """Where the rows landed; raises the first failure when there is one, KafkaTimeoutError when out of time."""
        delivery = self.report(timeout)
        if delivery.failures:
            raise delivery.failures[0].error
        return delivery

    def report(self, timeout: float | None = None) -> ArrowDelivery:
        """As ``result``, but failures are only reported."""
        while not self.done():
            accumulators = (batch.accumulator for batch in _leaves(self._batches))
            accumulator = next(filter(None, accumulators), None)  # None: settled or split after we looked
            if accumulator is None or accumulator.wait_until(self.done, timeout):
                continue
            left = sum(batch.record_count for batch in self._batches if not settled(batch))
            raise KafkaTimeoutError(
                f"{left} of {self.row_count} rows were not acknowledged within {timeout} s; they are still being sent"
            )
        offsets: dict[TopicPartition, list[OffsetRange]] = {}
        failures: list[RowFailure] = []
        for batch in _leaves(self._batches):
            assert batch.delivery is not None
            if batch.delivery.error is not None:
                failures.append(RowFailure(batch.topic_partition, batch.record_count, batch.delivery.error))
            else:
                _note(offsets.setdefault(batch.topic_partition, []), batch.delivery.base_offset, batch.record_count)
        failed = sum(failure.row_count for failure in failures)
        return ArrowDelivery(self.row_count, self.row_count - failed, offsets, failures)

    def __repr__(self) -> str:
        return f"<SentRows {self.row_count} rows, {'done' if self.done() else 'pending'}>"


def _leaves(batches: list[ProducerBatch]) -> Iterator[ProducerBatch]:
    for batch in batches:
        if batch.children is None:
            yield batch
        else:
            yield from _leaves([child for _, child in batch.children])


def _note(ranges: list[OffsetRange], first: int, count: int) -> None:
    if first < 0:
        ranges.append(OffsetRange(-1, -1))
    elif ranges and ranges[-1].last == first - 1:
        ranges[-1] = OffsetRange(ranges[-1].first, first + count - 1)
    else:
        ranges.append(OffsetRange(first, first + count - 1))


@dataclass(frozen=True, slots=True)
class Target:
    """What ``send_arrow`` needs of its producer."""

    topic: str
    servers: str
    partition_count: Callable[[], int]
    """Asked for every record batch: partitions may be added meanwhile."""
    append: Callable[[int, EncodedRows], ProducerBatch]
    """Into the accumulator. Waits for memory."""
    draw_sticky: Callable[[int], int]
    """The partition for so many bytes of rows that have none."""
    wall_ms: Callable[[], int]
    batch_bytes: int
    record_bytes_max: int
    hash_keys: bool
    """The default partitioner: murmur2 of the key. Without it, ``choose`` decides row by row, or all rows are sticky.
    """
    choose: Callable[[bytes | None, bytes | None], int | None] | None = None


Choose = Callable[[str, Any, "bytes | None", Any, "bytes | None", Partitions], "int | None"]


def target(
    topic: str,
    config: ProducerConfig,
    accumulator: RecordAccumulator,
    queues: Callable[[], TopicQueues],
    choose: Choose,
    wall_ms: Callable[[], int],
) -> Target:
    """What a producer with this configuration is to ``send_arrow``."""
    if config.interceptors:
        raise UsageError("send_arrow() has no record objects to show to interceptors; use a producer without them")
    record_bytes_max = min(config.max_request_size, config.buffer_memory)
    current = queues()

    def partition_count() -> int:
        nonlocal current
        current = queues()
        return current.partitions.count

    default = config.partitioner == "default"
    return Target(
        topic=topic,
        servers=", ".join(map(str, config.bootstrap_servers)),
        partition_count=partition_count,
        append=lambda partition, rows: accumulator.append_rows(current, partition, rows),
        draw_sticky=lambda size: accumulator.draw_sticky(current, size),
        wall_ms=wall_ms,
        # A quarter of the memory at most, so that encoding goes on while batches are on their way.
        batch_bytes=min(max(BATCH_BYTES, config.batch_size), record_bytes_max, max(config.buffer_memory // 4, 1024)),
        record_bytes_max=record_bytes_max,
        hash_keys=default and not config.partitioner_ignore_keys,
        choose=None if default else lambda key, value: choose(topic, key, key, value, value, current.partitions),
    )


def send_columns(
    target: Target,
    data: Any,
    columns: tuple[str | None, str | None, str | None, str | None, str | int | None],
) -> SentRows:
    """Encode and append everything; gives the promise of all of it. ``columns``: key, value, headers, timestamp,
    partition."""
    fields = arrow.Fields(*columns)
    sent: list[ProducerBatch] = []
    try:
        for batch in arrow.record_batches(data):
            _send_batch(target, batch, fields, sent)
    except KafkaError as error:
        accepted = sum(batch.record_count for batch in sent)
        if accepted:
            # The rows before it are on their way and cannot be called back; the caller must know.
            error.message += f"; {accepted} rows before it were accepted and are being delivered"
        raise
    return SentRows(sent)


def _send_batch(target: Target, batch: Any, fields: arrow.Fields, sent: list[ProducerBatch]) -> None:
    rows = arrow.input_rows(batch, fields, now_ms=target.wall_ms())
    if rows.size_max + RECORD_OVERHEAD_BYTES > target.record_bytes_max:
        _find_too_large(target, rows)
    count = target.partition_count()
    partitions = _partitions(target, batch, rows, fields, count)
    if partitions is None:
        fixed = fields.partition if isinstance(fields.partition, int) else None
        _append_groups(target, rows, [(fixed, None)], sent)
        return
    if (sticky_rows := arrow.count_negative(partitions)) == rows.row_count:
        _append_groups(target, rows, [(None, None)], sent)
        return
    # Rows with and without a partition of their own: those without go to one partition for a while, in the table's
    # order with the others, and then to the next.
    step = STICKY_ROWS if sticky_rows else rows.row_count
    for first in range(0, rows.row_count, step):
        chosen = partitions.slice(first, step)
        sticky = target.draw_sticky(BATCH_BYTES) if sticky_rows else 0
        order, starts = group_rows(arrow.grouping_input(chosen, sticky), count)
        view = arrow.row_numbers(order, first)
        groups: list[tuple[int | None, memoryview | None]] = [
            (group, view[starts[group] * 4 : starts[group + 1] * 4])
            for group in range(count)
            if starts[group + 1] > starts[group]
        ]
        _append_groups(target, rows, groups, sent)


def _append_groups(
    target: Target,
    rows: arrow.InputRows,
    groups: list[tuple[int | None, memoryview | None]],
    sent: list[ProducerBatch],
) -> None:
    """A batch of each group in turn, so that all leaders have work from the start."""
    waiting = [(partition, selection, 0) for partition, selection in groups]
    while waiting:
        further = []
        for partition, selection, first in waiting:
            try:
                encoded = encode_rows(
                    row_count=rows.row_count,
                    timestamps=rows.timestamps,
                    key=rows.key,
                    value=rows.value,
                    headers=rows.headers,
                    rows=selection,
                    first=first,
                    bytes_max=target.batch_bytes - HEADER_BYTES,
                    before=HEADER_BYTES,
                )
            except ValueError as error:
                raise UsageError(f"the columns cannot be read: {error}", topic=target.topic) from error
            _check_size(target, len(encoded.section) - HEADER_BYTES)
            to = target.draw_sticky(len(encoded.section)) if partition is None else partition
            sent.append(target.append(to, encoded))
            first += encoded.row_count
            if first < (rows.row_count if selection is None else len(selection) // 4):
                further.append((partition, selection, first))
        waiting = further


def _partitions(target: Target, batch: Any, rows: arrow.InputRows, fields: arrow.Fields, count: int) -> Any:
    """int32 per row, -1 for the sticky partition; None when all rows go the same way."""
    if isinstance(fields.partition, int):
        if not 0 <= fields.partition < count:
            raise _no_partition(target, fields.partition, count)
        return None
    by_key = None
    if target.choose is not None:
        by_key = arrow.int32_array_of(_choose_rows(target.choose, batch, fields))
    elif target.hash_keys and rows.key is not None:
        by_key = arrow.int32_array(partitions_for_keys(rows.key, rows.row_count, count), rows.row_count)
    if rows.partitions is None:
        chosen = by_key
    else:
        chosen = rows.partitions if by_key is None else arrow.merge_partitions(rows.partitions, by_key)
    if chosen is not None and (top := arrow.highest(chosen)) >= count:
        raise _no_partition(target, top, count)
    return chosen


def _choose_rows(
    choose: Callable[[bytes | None, bytes | None], int | None], batch: Any, fields: arrow.Fields
) -> list[int]:
    """A partitioner of the user's own sees rows one by one: the one case that makes objects per row."""
    nothing = [None] * batch.num_rows
    has_key = fields.key is not None and fields.key in batch.schema.names
    keys = batch.column(fields.key).to_pylist() if has_key else nothing
    values = batch.column(fields.value).to_pylist() if fields.value is not None else nothing
    chosen = (choose(_bytes(key), _bytes(value)) for key, value in zip(keys, values, strict=True))
    return [-1 if partition is None else partition for partition in chosen]


def _bytes(item: Any) -> bytes | None:
    return item.encode() if isinstance(item, str) else item


def _no_partition(target: Target, partition: int, count: int) -> UsageError:
    return UsageError(
        f"there is no partition {partition}: the topic has {count}, numbered from 0",
        topic=target.topic,
        partition=partition,
    )


def _find_too_large(target: Target, rows: arrow.InputRows) -> None:
    """The largest key and the largest value would not fit together; see whether any row really is too large."""
    first = 0
    while first < rows.row_count:
        encoded = encode_rows(
            row_count=rows.row_count,
            timestamps=0,
            key=rows.key,
            value=rows.value,
            first=first,
            bytes_max=target.record_bytes_max - HEADER_BYTES,
        )
        _check_size(target, len(encoded.section))
        first += encoded.row_count


def _check_size(target: Target, section_bytes: int) -> None:
    size = section_bytes + HEADER_BYTES
    if size > max(target.record_bytes_max, target.batch_bytes):
        raise RecordTooLarge(
            f"a row takes {size} bytes where max_request_size and buffer_memory allow {target.record_bytes_max}; "
            f"send less, or raise them for the producer to {target.servers}",
            size=size,
            limit=target.record_bytes_max,
            topic=target.topic,
        )


__all__ = ["ArrowDelivery", "OffsetRange", "RowFailure", "SentRows", "Target", "send_columns", "target"]
