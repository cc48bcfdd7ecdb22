"""``poll_arrow``: what was fetched, decoded straight into Arrow columns, with no Python object per record.

Runs on the thread that polls, decoding outside the fetch buffer's lock. Must never move a position past a row that is
not returned: a batch that is cut short stays buffered and is decoded again from where it was cut.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pykclient.config import ConsumerConfig
from pykclient.consumer.fetched import FetchedPart
from pykclient.consumer.fetcher import FetchBuffer, FetchSettings
from pykclient.consumer.subscription import PartitionState, Position
from pykclient.errors import KafkaError, UsageError
from pykclient.protocol import arrow
from pykclient.protocol.columns import Columns, HeaderColumns
from pykclient.protocol.records import OFFSET_MAX, ConsumerRecords, encode_batch, read_header
from pykclient.types import TopicPartition

TABLE_BYTES_MAX = 64 * 1024 * 1024
"""No more batches are decoded once a table holds this much; Arrow's offsets end at 2 GiB."""
BRIEF_ROWS, BRIEF_BYTES = 20_000, 4 * 1024 * 1024
"""What one call decodes for those who must not be held up."""

Until = Mapping[TopicPartition, int]


ROWS_MAX = 50_000
"""Rows of one table unless the caller says otherwise."""


def builder(
    buffer: FetchBuffer,
    settings: FetchSettings,
    config: ConsumerConfig,
    rows_max: int | None,
    headers: bool,
    until: Until | None,
) -> TableBuilder:
    """For one ``poll_arrow``."""
    if config.interceptors:
        raise UsageError("poll_arrow() has no record objects to show to interceptors; use a consumer without them")
    buffer.stop_at(until)
    return TableBuilder(buffer, settings, rows_max or ROWS_MAX, headers, until)


CHUNK_BYTES = 128 * 1024
"""Columns with less are appended to by the next fetch; larger ones would have to be moved for that."""


@dataclass(slots=True)
class _Rows:
    """Some rows of one partition in the table under construction."""

    columns: Columns
    part: FetchedPart
    count: int = 0
    """Rows of ``columns`` that are to be returned; the rest was decoded and cut off."""


@dataclass(slots=True)
class TableBuilder:
    """Takes from the buffer for one ``poll_arrow``."""

    buffer: FetchBuffer
    settings: FetchSettings
    rows_max: int
    headers: bool
    until: Until | None = None
    wanted: Callable[[PartitionState], bool] | None = None
    """Take from these partitions only."""
    enough: Callable[[], bool] | None = None
    """Take no further batch once it is."""
    _rows: dict[TopicPartition, list[_Rows]] = field(default_factory=dict)
    _closed: set[TopicPartition] = field(default_factory=set)
    """Partitions that give no more to this table."""
    _moved: bool = False
    """A position moved over something that was not for the user."""

    def take(self) -> Any:
        """A table with up to ``rows_max`` rows; None when there is nothing to return yet."""
        left = self.rows_max
        self._moved, self.buffer.passed = self._moved or self.buffer.passed, False
        try:
            while left > 0 and self._size_bytes() < TABLE_BYTES_MAX:
                filled = [state for state in self.buffer.filled() if self._wants(state)]
                if not filled:
                    break
                for state in filled:
                    left -= self._take_batches(state, left)
                    if left <= 0 or (left < self.rows_max and self.enough is not None and self.enough()):
                        return self._table()
        except KafkaError:
            # As with poll(): what came before is returned first, the error is met again by the next call.
            if left == self.rows_max:
                raise
        return self._table()

    def _table(self) -> Any:
        batches = [
            arrow.record_batch(rows.columns, *tp).slice(0, rows.count)
            for tp, chunks in self._rows.items()
            for rows in chunks
            if rows.count
        ]
        if not batches and not self._moved and not self._all_reached():
            return None
        return arrow.table(batches, headers=self.headers)

    def empty(self) -> Any:
        """A table with no rows."""
        return arrow.table([], headers=self.headers)

    def _wants(self, state: PartitionState) -> bool:
        tp = state.topic_partition
        if tp in self._closed or state.position is None or (self.wanted is not None and not self.wanted(state)):
            return False
        return self.until is None or state.position.offset < self.until.get(tp, 0)

    def _all_reached(self) -> bool:
        if self.until is None:
            return False
        with self.buffer.subscription.lock:
            partitions = self.buffer.subscription.partitions
            return all(
                (state := partitions.get(tp)) is not None
                and state.position is not None
                and state.position.offset >= end
                for tp, end in self.until.items()
            )

    def _size_bytes(self) -> int:
        return sum(rows.columns.size_bytes for chunks in self._rows.values() for rows in chunks)

    def _take_batches(self, state: PartitionState, left: int) -> int:
        """Up to ``left`` rows of the partition's next batches. The reactor may revoke the partition meanwhile."""
        tp, lock = state.topic_partition, self.buffer.subscription.lock
        with lock:
            if not state.buffered or state.position is None:
                return 0
            part, version, position = state.buffered[0], state.version, state.position
        rows = self._rows_for(tp, part)
        try:
            decoded = self._decode(part, rows.columns, position.offset, left)
        except KafkaError as error:
            self.buffer.damaged(state, version, error)
            return 0
        with lock:
            if state.version != version or self.buffer.subscription.partitions.get(tp) is not state:
                self._closed.add(tp)  # sought or revoked while we decoded: these rows are not ours to give
                return 0
            if decoded is None:
                self.buffer.drop_first(state)
                return 0
            next_offset, epoch, advance = decoded
            keep = min(left, self._before_end(tp, rows))
            if rows.count + keep < rows.columns.row_count:
                next_offset = _offset(rows.columns, rows.count + keep)
                self._closed.add(tp)
                advance(keep)
            else:
                advance(None)
            rows.count += keep
            self._moved = self._moved or next_offset > position.offset
            state.position = Position(next_offset, epoch)
            return keep

    def _rows_for(self, tp: TopicPartition, part: FetchedPart) -> _Rows:
        chunks = self._rows.setdefault(tp, [])
        if not chunks or (chunks[-1].part is not part and chunks[-1].columns.size_bytes >= CHUNK_BYTES):
            chunks.append(_Rows(Columns(headers=HeaderColumns() if self.headers else None), part))
        return chunks[-1]

    def _decode(
        self, part: FetchedPart, columns: Columns, position: int, left: int
    ) -> tuple[int, int | None, Callable[[int | None], None]] | None:
        """(position behind the batches, their leader epoch, what to do when some or all (None) of the rows are
        taken)."""
        if part.leftover:
            _append_records(columns, part.leftover)

            def advance(taken: int | None) -> None:
                part.leftover = [] if taken is None else part.leftover[taken:]

            return part.next_offset, part.leader_epoch, advance
        end_offset = OFFSET_MAX if self.until is None else self.until.get(part.topic_partition, OFFSET_MAX)
        brief = self.enough is not None  # one call must not take long
        found = part.append_next(
            columns,
            position,
            check_crcs=self.settings.check_crcs,
            bytes_max=self.settings.decompressed_bytes_max,
            rows_max=min(left, BRIEF_ROWS) if brief else left,
            end_offset=end_offset,
            columns_bytes_max=BRIEF_BYTES if brief else TABLE_BYTES_MAX - self._size_bytes(),
        )
        if found is None:
            return None
        return found.next_offset, found.leader_epoch, lambda taken: part.passed(found) if taken is None else None

    def _before_end(self, tp: TopicPartition, rows: _Rows) -> int:
        """How many of the rows decoded last lie before ``until``."""
        total = rows.columns.row_count
        if self.until is not None and tp in self.until and total > rows.count:
            with memoryview(rows.columns.offsets) as view, view.cast("q") as offsets:
                total = bisect_left(offsets, self.until[tp], rows.count)
        return total - rows.count


def _offset(columns: Columns, row: int) -> int:
    with memoryview(columns.offsets) as view, view.cast("q") as offsets:
        return offsets[row]


def _append_records(columns: Columns, records: ConsumerRecords) -> None:
    """Records that ``poll()`` had decoded and not handed out: rare, so they are simply encoded again."""
    batch = encode_batch(
        [(record.timestamp, record.key, record.value, record.headers) for record in records],
        base_offset=records[0].offset,
        offsets=[record.offset for record in records],
        timestamp_type=records[0].timestamp_type,
    )
    header = read_header(batch)
    assert header is not None
    columns.append_batch(batch, header, check_crc=False)


__all__ = ["TableBuilder"]
