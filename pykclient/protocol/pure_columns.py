"""Columns in plain Python: the twin of the column functions of ``_accel.c``, same arguments, same bytes, same errors.

Stateless functions over buffers, any thread. See ``columns.py`` for what the buffers mean.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_builder import HEADER_BYTES
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.pure import (
    check_count,
    check_end,
    malformed,
    read_varint,
    read_varlong,
    varint,
    wrap_int64,
)
from pykclient.protocol.pure_murmur2 import murmur2

if TYPE_CHECKING:
    from pykclient.protocol.columns import InputColumn, InputHeaders

_INT32_MAX = 2**31 - 1
_INT32 = struct.Struct("=i")
_INT64 = struct.Struct("=q")
_NULL = b"\x01"

Span = tuple[int, int]
"""Start and end in the section; (-1, -1) is null."""
_NULL_SPAN: Span = (-1, -1)


def _read_span(section: Buffer, position: int, end: int) -> tuple[Span, int]:
    size, position = read_varint(section, position)
    if size < 0:
        return _NULL_SPAN, position
    if position + size > end:
        raise IndexError
    return (position, position + size), position + size


def _read_header_spans(section: Buffer, position: int, end: int) -> tuple[list[tuple[Span, Span]], int]:
    count, position = read_varint(section, position)
    if count < 0 or count * 2 > end - position:
        raise IndexError
    found = []
    for _ in range(count):
        name, position = _read_span(section, position, end)
        if name is _NULL_SPAN:
            raise IndexError
        value, position = _read_span(section, position, end)
        found.append((name, value))
    return found, position


def append_columns(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    from_offset: int,
    row_count: int,
    arrays: tuple[bytearray, ...],
) -> tuple[int, int, int, int, int]:
    """Decode a records section onto the end of the arrays of ``Columns``; see there for their order.

    Gives rows added, null keys, null values, headers added, null header values. On any error the arrays are as before.
    """
    if len(arrays) not in (8, 14):
        raise ValueError("8 arrays are needed, or 14 with headers")
    _check_lengths(arrays, row_count)
    check_count(count, len(section))
    offsets, timestamps = array("q"), array("q")
    keys: list[Span] = []
    values: list[Span] = []
    headers: list[list[tuple[Span, Span]]] = []
    position = index = 0
    try:
        for index in range(count):  # noqa: B007 - the error names it
            size, position = read_varint(section, position)
            end = position + size
            if size < 0 or end > len(section):
                raise IndexError
            delta, position = read_varlong(section, position + 1)
            timestamp = wrap_int64(base_timestamp + delta)
            delta, position = read_varint(section, position)
            offset = wrap_int64(base_offset + delta)
            key, position = _read_span(section, position, end)
            value, position = _read_span(section, position, end)
            header_spans, position = _read_header_spans(section, position, end)
            if position != end:
                raise IndexError
            if offset >= from_offset:
                offsets.append(offset)
                timestamps.append(timestamp if append_timestamp is None else append_timestamp)
                keys.append(key)
                values.append(value)
                headers.append(header_spans)
    except (IndexError, CorruptRecordError):
        raise malformed(index) from None
    check_end(position, len(section))
    return _append(section, row_count, arrays, (offsets, timestamps), keys, values, headers)


def _check_lengths(arrays: tuple[bytearray, ...], row_count: int) -> None:
    bits = (row_count + 7) // 8
    wanted = {0: row_count * 8, 1: row_count * 8, 2: row_count * 4 + 4, 4: bits, 5: row_count * 4 + 4, 7: bits}
    if len(arrays) == 14:
        wanted[8] = row_count * 4 + 4
    if any(len(arrays[index]) != size for index, size in wanted.items()):
        raise ValueError(f"the arrays do not hold {row_count} rows")


def _append(
    section: Buffer,
    row_count: int,
    arrays: tuple[bytearray, ...],
    fixed: tuple[array[int], array[int]],
    keys: list[Span],
    values: list[Span],
    headers: list[list[tuple[Span, Span]]],
) -> tuple[int, int, int, int, int]:
    pairs = [pair for row in headers for pair in row]
    names = [name for name, _ in pairs]
    contents = [content for _, content in pairs]
    targets: list[tuple[bytearray, list[Span]]] = [(arrays[3], keys), (arrays[6], values)]
    header_count = 0
    if len(arrays) == 14:
        header_count = len(arrays[9]) // 4 - 1
        targets += [(arrays[10], names), (arrays[12], contents)]
        if header_count + len(pairs) > _INT32_MAX:
            raise OverflowError("too many headers")
    for data, spans in targets:
        if len(data) + sum(end - start for start, end in spans) > _INT32_MAX:
            raise OverflowError("too many bytes")
    arrays[0].extend(fixed[0].tobytes())
    arrays[1].extend(fixed[1].tobytes())
    key_nulls = _append_binary(section, row_count, arrays[2], arrays[3], arrays[4], keys)
    value_nulls = _append_binary(section, row_count, arrays[5], arrays[6], arrays[7], values)
    if len(arrays) == 8:
        return len(keys), key_nulls, value_nulls, 0, 0
    total = header_count
    for row in headers:
        total += len(row)
        arrays[8].extend(_INT32.pack(total))
    _append_binary(section, header_count, arrays[9], arrays[10], None, names)
    header_nulls = _append_binary(section, header_count, arrays[11], arrays[12], arrays[13], contents)
    return len(keys), key_nulls, value_nulls, len(pairs), header_nulls


def _append_binary(
    section: Buffer, row: int, offsets: bytearray, data: bytearray, validity: bytearray | None, spans: Sequence[Span]
) -> int:
    nulls = 0
    ends = array("i")
    for start, end in spans:
        if start < 0:
            nulls += 1
        else:
            data += section[start:end]
        ends.append(len(data))
        if validity is not None:
            if row % 8 == 0:
                validity.append(0)
            if start >= 0:
                validity[row // 8] |= 1 << row % 8
        row += 1
    offsets += ends.tobytes()
    return nulls


# --- from columns to records


def _cell(column: InputColumn, row: int) -> Buffer | None:
    """The bytes in a row, None for null; a row or an offset outside the buffers is the caller's mistake."""
    offsets, data, validity, width, first = column
    at = first + row
    if at < 0 or (at + 2) * width > len(offsets) or (validity is not None and at // 8 >= len(validity)):
        raise ValueError(f"column row {row} is out of bounds")
    if validity is not None and not validity[at // 8] >> at % 8 & 1:
        return None
    number = _INT32 if width == 4 else _INT64
    start, end = number.unpack_from(offsets, at * width)[0], number.unpack_from(offsets, (at + 1) * width)[0]
    if not 0 <= start <= end <= len(data) or end - start > _INT32_MAX:
        raise ValueError(f"column row {row} is out of bounds")
    return data[start:end]


def _check_column(column: InputColumn | None) -> None:
    if column is not None and column[3] not in (4, 8):
        raise ValueError("offsets must be of 4 or 8 bytes")


def _row_headers(headers: InputHeaders, row: int) -> bytes:
    offsets, names, values, validity, first = headers
    at = first + row
    if at < 0 or (at + 2) * 4 > len(offsets) or (validity is not None and at // 8 >= len(validity)):
        raise ValueError(f"column row {row} is out of bounds")
    if validity is not None and not validity[at // 8] >> at % 8 & 1:
        return b"\0"
    start, end = _INT32.unpack_from(offsets, at * 4)[0], _INT32.unpack_from(offsets, at * 4 + 4)[0]
    if not 0 <= start <= end:
        raise ValueError(f"column row {row} is out of bounds")
    parts: list[Buffer] = [varint(end - start)]
    for index in range(start, end):
        name = _cell(names, index)
        if name is None:
            raise ValueError(f"column row {row} has a header without a name")
        content = _cell(values, index)
        parts += (varint(len(name)), name)
        parts += (_NULL,) if content is None else (varint(len(content)), content)
    return b"".join(parts)


def encode_columns(
    key: InputColumn | None,
    value: InputColumn | None,
    headers: InputHeaders | None,
    timestamps: Buffer | int,
    row_count: int,
    rows: Buffer | None,
    first: int,
    rows_max: int,
    bytes_max: int,
    before: int = 0,
) -> tuple[bytearray, int, int, int]:
    """The records section made of some rows, behind ``before`` bytes of room; see ``columns.encode_rows``."""
    if not 0 <= before <= HEADER_BYTES:
        raise ValueError("the room in front must not be larger than a batch header")
    for column in (key, value, *(() if headers is None else (headers[1], headers[2]))):
        _check_column(column)
    available = row_count if rows is None else len(rows) // 4
    if first < 0 or row_count < 0 or rows_max < 1:
        raise ValueError("row numbers and limits must not be negative")
    parts: list[bytes] = [bytes(before)]
    size = taken = base_timestamp = max_timestamp = 0
    while first + taken < available and taken < rows_max:
        row = first + taken if rows is None else _INT32.unpack_from(rows, (first + taken) * 4)[0]
        if not 0 <= row < row_count:
            raise ValueError(f"column row {row} is out of bounds")
        if isinstance(timestamps, int):
            timestamp = timestamps
        elif (row + 1) * 8 > len(timestamps):
            raise ValueError(f"column row {row} is out of bounds")
        else:
            (timestamp,) = _INT64.unpack_from(timestamps, row * 8)
        if not taken:
            base_timestamp = max_timestamp = timestamp
        key_bytes = None if key is None else _cell(key, row)
        value_bytes = None if value is None else _cell(value, row)
        body = b"".join(
            (
                b"\0",
                varint(wrap_int64(timestamp - base_timestamp)),
                varint(taken),
                *((_NULL,) if key_bytes is None else (varint(len(key_bytes)), key_bytes)),
                *((_NULL,) if value_bytes is None else (varint(len(value_bytes)), value_bytes)),
                b"\0" if headers is None else _row_headers(headers, row),
            )
        )
        record = varint(len(body)) + body
        if taken and size + len(record) > bytes_max:
            break
        parts.append(record)
        size += len(record)
        taken += 1
        max_timestamp = max(max_timestamp, timestamp)
    return bytearray().join(parts), taken, base_timestamp, max_timestamp


def murmur2_column(key: InputColumn, row_count: int, partition_count: int) -> bytearray:
    """int32 per row: the partition of the key, -1 for null."""
    if partition_count < 1:
        raise ValueError("partition_count must be at least 1")
    _check_column(key)
    if row_count < 0:
        raise ValueError("row numbers and limits must not be negative")
    out = array("i")
    for row in range(row_count):
        content = _cell(key, row)
        out.append(-1 if content is None else (murmur2(content) & 0x7FFFFFFF) % partition_count)
    return bytearray(out.tobytes())


def group_rows(partitions: Buffer, partition_count: int) -> tuple[bytearray, list[int]]:
    """A stable counting sort of row numbers by partition; see ``columns.group_rows``."""
    if partition_count < 1:
        raise ValueError("partition_count must be at least 1")
    groups: list[list[int]] = [[] for _ in range(partition_count)]
    for row, (partition,) in enumerate(struct.iter_unpack("=i", memoryview(partitions)[: len(partitions) // 4 * 4])):
        if not 0 <= partition < partition_count:
            raise ValueError(f"row {row} has partition {partition}")
        groups[partition].append(row)
    starts = [0]
    for group in groups:
        starts.append(starts[-1] + len(group))
    return bytearray(array("i", [row for group in groups for row in group]).tobytes()), starts
