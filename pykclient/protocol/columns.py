"""Records as columns in Arrow's memory layout: what ``poll_arrow``, ``send_arrow`` and Spark move, with no object per
record.

Plain buffers in the machine's byte order; pyarrow is not imported here, ``pyarrow.py_buffer`` takes every field as it
is. Any thread, one at a time per Columns. It must never leave a half-appended batch behind: a corrupt one changes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pykclient.errors import UsageError
from pykclient.protocol import accel
from pykclient.protocol.batch_header import BatchHeader, check_batch
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import DECOMPRESSED_BYTES_MAX
from pykclient.protocol.records import OFFSET_MAX, OFFSET_MIN, encode_batch, read_header, records_section
from pykclient.types import TimestampType

COLUMN_BYTES_MAX = 2**31 - 1
_TIMESTAMP_TYPES = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)


class AppendedRun(NamedTuple):
    """Batches that were appended: where in the buffer the next one begins, the offset to read on from and the leader
    epoch (-1 when there were none), and the rows."""

    position: int
    next_offset: int
    leader_epoch: int
    row_count: int


def _first_offset() -> bytearray:
    return bytearray(4)


@dataclass(slots=True)
class BinaryColumn:
    """Byte strings: int32 offsets (one more than rows), the bytes end to end, and a bit per row that says "not
    null"."""

    offsets: bytearray = field(default_factory=_first_offset)
    data: bytearray = field(default_factory=bytearray)
    validity: bytearray = field(default_factory=bytearray)
    null_count: int = 0


@dataclass(slots=True)
class HeaderColumns:
    """Record headers as a list column: ``offsets`` says where the headers of each row begin. Names are UTF-8, never
    null."""

    offsets: bytearray = field(default_factory=_first_offset)
    count: int = 0
    name_offsets: bytearray = field(default_factory=_first_offset)
    name_data: bytearray = field(default_factory=bytearray)
    value: BinaryColumn = field(default_factory=BinaryColumn)


@dataclass(slots=True)
class Columns:
    """Decoded records, a row each. ``append_batch`` adds more; ``offsets`` and ``timestamps`` are int64,
    ``timestamp_types`` int8."""

    headers: HeaderColumns | None = None
    """Given, headers are decoded too; None leaves them out."""
    row_count: int = 0
    offsets: bytearray = field(default_factory=bytearray)
    timestamps: bytearray = field(default_factory=bytearray)
    timestamp_types: bytearray = field(default_factory=bytearray)
    key: BinaryColumn = field(default_factory=BinaryColumn)
    value: BinaryColumn = field(default_factory=BinaryColumn)

    @property
    def size_bytes(self) -> int:
        """Bytes held in keys, values and headers."""
        size = len(self.key.data) + len(self.value.data)
        if self.headers is not None:
            size += len(self.headers.name_data) + len(self.headers.value.data)
        return size

    def append_batch(
        self,
        buffer: Buffer,
        header: BatchHeader,
        *,
        from_offset: int = OFFSET_MIN,
        check_crc: bool = True,
        bytes_max: int = DECOMPRESSED_BYTES_MAX,
    ) -> int:
        """Decode one batch (any magic) onto the end; gives the rows added. Skip control batches by their header
        first."""
        if check_crc:
            check_batch(buffer, header)
        if header.magic < 2:
            buffer, header = _as_v2(buffer, header, bytes_max)
        section = records_section(buffer, header, bytes_max=bytes_max)
        return self.append_section(section, header, header.record_count, from_offset=from_offset)

    def append_section(self, section: Buffer, header: BatchHeader, count: int, *, from_offset: int = OFFSET_MIN) -> int:
        """As ``append_batch``, for the records of a v2 batch, or ``count`` of them that stand together, once they are
        decompressed."""
        append_time = header.max_timestamp if header.timestamp_type is TimestampType.LOG_APPEND_TIME else None
        try:
            added = accel.active.append_columns(
                section,
                count,
                header.base_offset,
                header.base_timestamp,
                append_time,
                from_offset,
                self.row_count,
                self._arrays(),
            )
        except OverflowError:
            raise UsageError("one column cannot hold more than 2 GiB; begin new columns") from None
        self._count(added, header.timestamp_type)
        return added[0]

    def append_batches(
        self,
        buffer: Buffer,
        position: int,
        *,
        from_offset: int,
        end_offset: int = OFFSET_MAX,
        rows_max: int,
        bytes_max: int = COLUMN_BYTES_MAX,
        check_crc: bool = True,
        with_transactions: bool = True,
    ) -> AppendedRun:
        """Decode all batches from ``position`` on that need no special care, in one go; see ``pure_runs``. None of them
        has to: ``append_batch`` takes the one in front of which this ends, or says what is wrong with it."""
        end, next_offset, leader_epoch, append_time, *added = accel.active.append_batches(
            buffer,
            position,
            from_offset,
            end_offset,
            rows_max,
            min(bytes_max, COLUMN_BYTES_MAX - self.size_bytes),
            check_crc,
            with_transactions,
            self.row_count,
            self._arrays(),
        )
        if append_time >= 0:
            self._count(added, _TIMESTAMP_TYPES[append_time])
        return AppendedRun(end, next_offset, leader_epoch, added[0])

    def _count(self, added: Sequence[int], timestamp_type: int) -> None:
        rows, key_nulls, value_nulls, headers, header_nulls = added
        self.row_count += rows
        self.key.null_count += key_nulls
        self.value.null_count += value_nulls
        self.timestamp_types += bytes((timestamp_type & 0xFF,)) * rows
        if self.headers is not None:
            self.headers.count += headers
            self.headers.value.null_count += header_nulls

    @property
    def last_offset(self) -> int:
        """Of the last row; there must be one."""
        with memoryview(self.offsets) as view, view.cast("q") as offsets:
            return offsets[self.row_count - 1]

    def _arrays(self) -> tuple[bytearray, ...]:
        key, value, headers = self.key, self.value, self.headers
        arrays = (
            self.offsets, self.timestamps,
            key.offsets, key.data, key.validity,
            value.offsets, value.data, value.validity,
        )  # fmt: skip
        if headers is None:
            return arrays
        return (
            *arrays,
            headers.offsets, headers.name_offsets, headers.name_data,
            headers.value.offsets, headers.value.data, headers.value.validity,
        )  # fmt: skip


def _as_v2(buffer: Buffer, header: BatchHeader, bytes_max: int) -> tuple[bytes, BatchHeader]:
    """An old message (set) written again as a v2 batch: old formats are too rare for a second column decoder."""
    from pykclient.protocol import legacy_records

    records = legacy_records.decode_message(buffer, header, "", 0, OFFSET_MIN, bytes_max)
    batch = encode_batch(
        [(record.timestamp, record.key, record.value, None) for record in records],
        base_offset=records[0].offset,
        offsets=[record.offset for record in records],
    )
    again = read_header(batch)
    assert again is not None
    return batch, again._replace(attributes=header.attributes & ~7, magic=header.magic)


class InputColumn(NamedTuple):
    """A column of byte strings to be sent, as Arrow holds it; buffers are only read."""

    offsets: Buffer
    """int32 or int64, see ``offset_bytes``."""
    data: Buffer
    validity: Buffer | None = None
    """A bit per row, lowest first; None when no row is null."""
    offset_bytes: int = 4
    first_row: int = 0
    """Where the column begins within the buffers; Arrow slices share them."""


class InputHeaders(NamedTuple):
    """A list column of headers to be sent; ``offsets`` are int32."""

    offsets: Buffer
    names: InputColumn
    values: InputColumn
    validity: Buffer | None = None
    first_row: int = 0


class EncodedRows(NamedTuple):
    """The records section of one batch made from columns, with the room that was asked for in front of it."""

    section: bytearray
    row_count: int
    base_timestamp: int
    max_timestamp: int


def encode_rows(
    *,
    row_count: int,
    timestamps: Buffer | int,
    key: InputColumn | None,
    value: InputColumn | None,
    headers: InputHeaders | None = None,
    rows: Buffer | None = None,
    first: int = 0,
    rows_max: int = 2**31 - 1,
    bytes_max: int = 2**31 - 1,
    before: int = 0,
) -> EncodedRows:
    """Encode rows as the records of one batch, until the rows, ``rows_max`` or ``bytes_max`` are reached; at least
    one is taken.

    ``row_count`` is the length of the columns. ``rows`` is an int32 selection of them (those of one partition, see
    ``group_rows``), ``first`` is where in it to go on; without it, rows ``first`` and on are taken. ``timestamps``
    are int64 milliseconds or one for all. ``before`` bytes are left free in front, for a batch header.
    """
    return EncodedRows(
        *accel.active.encode_columns(
            key, value, headers, timestamps, row_count, rows, first, rows_max, bytes_max, before
        )
    )


def partitions_for_keys(key: InputColumn, row_count: int, partition_count: int) -> bytearray:
    """int32 per row: the partition the default partitioner gives the key, -1 where the key is null."""
    return accel.active.murmur2_column(key, row_count, partition_count)


def group_rows(partitions: Buffer, partition_count: int) -> tuple[bytearray, list[int]]:
    """Row numbers (int32) sorted by partition, in order within each; and where each partition's rows begin (one entry
    more at the end).

    ``partitions`` is int32 per row, each within 0 to ``partition_count``: give rows with null keys a partition first.
    """
    return accel.active.group_rows(partitions, partition_count)


__all__ = [
    "AppendedRun",
    "BinaryColumn",
    "Columns",
    "EncodedRows",
    "HeaderColumns",
    "InputColumn",
    "InputHeaders",
    "encode_rows",
    "group_rows",
    "partitions_for_keys",
]
