"""Between pyarrow and the column codec: the only file that imports pyarrow.

Stateless functions, any thread. Buffers are shared, never copied where Arrow's layout allows it; no Python object is
made per row. Import it where it is needed, not at the top of a module: pyarrow is an extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pykclient.errors import UsageError
from pykclient.protocol.columns import Columns, HeaderColumns, InputColumn, InputHeaders, partitions_for_keys

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as missing:
    raise UsageError("this needs pyarrow: pip install 'pykclient[arrow]'") from missing

Table = Any
RecordBatch = Any
Array = Any
"""pyarrow has no type information that mypy could use."""

ROWS_MAX = 131_072
"""Rows taken at a time: enough to spread the cost of a pass, few enough to begin sending early."""

HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))

SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", tz="UTC")),
        ("timestamp_type", pa.int8()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
    ]
)
"""What ``poll_arrow`` returns; without headers when they are not asked for."""


# ---- from decoded columns to pyarrow


def record_batch(columns: Columns, topic: str, partition: int) -> RecordBatch:
    """The rows as a record batch of ``SCHEMA``, on the same memory: the columns must not be appended to any more."""
    rows = columns.row_count
    arrays = [
        pa.repeat(pa.scalar(topic, pa.string()), rows),
        pa.repeat(pa.scalar(partition, pa.int32()), rows),
        pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(columns.offsets)]),
        pa.Array.from_buffers(SCHEMA.field("timestamp").type, rows, [None, pa.py_buffer(columns.timestamps)]),
        pa.Array.from_buffers(pa.int8(), rows, [None, pa.py_buffer(columns.timestamp_types)]),
    ]
    for column in (columns.key, columns.value):
        arrays.append(
            pa.Array.from_buffers(
                pa.binary(),
                rows,
                [
                    pa.py_buffer(column.validity) if column.null_count else None,
                    pa.py_buffer(column.offsets),
                    pa.py_buffer(column.data),
                ],
                column.null_count,
            )
        )
    if columns.headers is None:
        return pa.RecordBatch.from_arrays(arrays, schema=without_headers(SCHEMA))
    return pa.RecordBatch.from_arrays([*arrays, _header_array(columns.headers, rows)], schema=SCHEMA)


def _header_array(headers: HeaderColumns, rows: int) -> Array:
    count = headers.count
    names = pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(headers.name_offsets), pa.py_buffer(headers.name_data)]
    )
    validity = pa.py_buffer(headers.value.validity) if headers.value.null_count else None
    values = pa.Array.from_buffers(
        pa.binary(),
        count,
        [validity, pa.py_buffer(headers.value.offsets), pa.py_buffer(headers.value.data)],
        headers.value.null_count,
    )
    pairs = pa.StructArray.from_arrays([names, values], fields=list(HEADERS.value_type))
    return pa.Array.from_buffers(HEADERS, rows, [None, pa.py_buffer(headers.offsets)], 0, 0, [pairs])


def without_headers(schema: Any) -> Any:
    """The schema less its headers column."""
    return schema.remove(schema.get_field_index("headers"))


def table(batches: list[RecordBatch], *, headers: bool) -> Table:
    """Record batches as one table, none included."""
    return pa.Table.from_batches(batches, schema=SCHEMA if headers else without_headers(SCHEMA))


def as_batches(tables: list[Table], schema: Any) -> list[RecordBatch]:
    """Tables with the columns of ``schema`` in its order, as record batches of exactly that schema, few and large."""
    if not tables:
        return []
    whole = pa.concat_tables(tables).rename_columns(schema.names).cast(schema)
    return list(whole.combine_chunks().to_batches())


def by_text(batch: RecordBatch, name: str) -> Iterator[tuple[str | None, RecordBatch]]:
    """The rows of each text in a column, apart; in their order."""
    column = batch.column(name)
    distinct = pc.unique(column).to_pylist()
    if len(distinct) == 1:
        yield distinct[0], batch
        return
    for text in distinct:
        mask = pc.is_null(column) if text is None else pc.equal(column, text)
        yield text, batch.filter(mask)


# ---- from pyarrow to the encoder


def record_batches(data: Any) -> Iterator[RecordBatch]:
    """A table, a record batch, a reader, or anything else that offers Arrow's stream interface, as record batches of
    bounded size; empty ones are left out."""
    if isinstance(data, pa.RecordBatch):
        source: Any = (data,)
    elif isinstance(data, pa.Table):
        source = data.to_batches()
    elif isinstance(data, pa.RecordBatchReader):
        source = data
    elif hasattr(data, "__arrow_c_stream__"):
        source = pa.RecordBatchReader.from_stream(data)
    else:
        raise UsageError(
            f"send_arrow() takes a pyarrow Table, RecordBatch or RecordBatchReader, not {type(data).__name__}"
        )
    for batch in source:
        for first in range(0, batch.num_rows, ROWS_MAX):
            yield batch.slice(first, ROWS_MAX)


class Fields(NamedTuple):
    """Which column is what. None: there is none."""

    key: str | None = "key"
    value: str | None = "value"
    headers: str | None = None
    timestamp: str | None = None
    partition: str | int | None = None


class InputRows(NamedTuple):
    """One record batch, ready for the encoder. ``partitions`` is int32 per row, -1 where the row names none."""

    row_count: int
    key: InputColumn | None
    value: InputColumn | None
    headers: InputHeaders | None
    timestamps: memoryview | int
    partitions: Array | None
    size_max: int
    """No row's key and value together are larger than this."""


def input_rows(batch: RecordBatch, fields: Fields, *, now_ms: int) -> InputRows:
    """The columns of a record batch as the encoder takes them; UsageError names the column that does not fit."""
    key = _find(batch, fields.key, "key", optional=fields.key == "key")
    value = _find(batch, fields.value, "value")
    headers = _find(batch, fields.headers, "headers")
    timestamps = _find(batch, fields.timestamp, "timestamp")
    partitions = _find(batch, fields.partition, "partition") if isinstance(fields.partition, str) else None
    key, value = _as_binary(key, fields.key), _as_binary(value, fields.value)
    return InputRows(
        batch.num_rows,
        None if key is None else input_column(key),
        None if value is None else input_column(value),
        None if headers is None else _input_headers(headers, fields.headers),
        now_ms if timestamps is None else _milliseconds(timestamps, fields.timestamp, now_ms),
        None if partitions is None else _partitions(partitions, fields.partition),
        sum((pc.max(pc.binary_length(column)).as_py() or 0) for column in (key, value) if column is not None),
    )


def _find(batch: RecordBatch, name: str | None, role: str, *, optional: bool = False) -> Array | None:
    if name is None:
        return None
    index = batch.schema.get_field_index(name)
    if index >= 0:
        return batch.column(index)
    if optional:
        return None
    raise UsageError(
        f"there is no column {name!r} for the {role}; there are: {', '.join(map(repr, batch.schema.names))}"
    )


def _as_binary(array: Array | None, name: str | None) -> Array | None:
    """A column of byte strings with int32 or int64 offsets; others that mean the same are cast to it."""
    if array is None:
        return None
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _as_binary(array.dictionary_decode(), name)
    if any(is_it(kind) for is_it in _PLAIN):
        return array
    if pa.types.is_null(kind):
        return array.cast(pa.binary())
    if pa.types.is_fixed_size_binary(kind) or str(kind) in ("binary_view", "string_view"):
        return array.cast(pa.large_binary())
    raise UsageError(f"column {name!r} has type {kind}; keys and values are binary or string, so cast it first")


_PLAIN = (pa.types.is_binary, pa.types.is_string, pa.types.is_large_binary, pa.types.is_large_string)


def input_column(array: Array) -> InputColumn:
    """A binary or string array as the encoder takes it, on the same memory."""
    validity, offsets, data = array.buffers()
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    return InputColumn(
        _view(offsets), _view(data), _view(validity) if array.null_count else None, 8 if wide else 4, array.offset
    )


def _view(buffer: Any) -> memoryview:
    return memoryview(b"") if buffer is None else memoryview(buffer).cast("B")


def _input_headers(array: Array, name: str | None) -> InputHeaders:
    kind = array.type
    if pa.types.is_large_list(kind):
        array = array.cast(pa.list_(kind.value_field))
        kind = array.type
    is_map = pa.types.is_map(kind)
    if not is_map and not (
        pa.types.is_list(kind)
        and pa.types.is_struct(kind.value_type)
        and [field.name for field in kind.value_type] == ["key", "value"]
    ):
        raise UsageError(
            f"column {name!r} has type {kind}; headers are a list of struct<key: string, value: binary>, or a map"
        )
    validity, offsets = array.buffers()[:2]
    pairs = array.values
    names, values = pairs.flatten() if pairs.null_count else (pairs.field(0), pairs.field(1))
    names, values = _as_binary(names, f"{name}.key"), _as_binary(values, f"{name}.value")
    assert names is not None
    assert values is not None
    return InputHeaders(
        _view(offsets),
        input_column(names) if len(names) else _EMPTY,
        input_column(values) if len(values) else _EMPTY,
        _view(validity) if array.null_count else None,
        array.offset,
    )


_EMPTY = InputColumn(b"\0\0\0\0", b"")


def _milliseconds(array: Array, name: str | None, now_ms: int) -> memoryview:
    kind = array.type
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("ms", tz=kind.tz), safe=False).view(pa.int64())
    elif pa.types.is_integer(kind):
        array = array.cast(pa.int64())
    else:
        raise UsageError(f"column {name!r} has type {kind}; timestamps are milliseconds or an Arrow timestamp")
    if array.null_count:
        array = pc.fill_null(array, now_ms)
    lowest = pc.min(array).as_py()
    if lowest < 0:
        raise UsageError(f"column {name!r} has the timestamp {lowest}; it must not be negative")
    return _view(array.buffers()[1])[array.offset * 8 :]


def _partitions(array: Array, name: str | int | None) -> Array:
    if not pa.types.is_integer(array.type):
        raise UsageError(f"column {name!r} has type {array.type}; partitions are integers")
    lowest = pc.min(array).as_py()
    if lowest is not None and lowest < 0:
        raise UsageError(f"column {name!r} has partition {lowest}; partitions are numbered from 0")
    return pc.fill_null(array.cast(pa.int32()), -1)


def checksum(batch: RecordBatch, names: Iterable[str]) -> int:
    """64 bits over these columns that do not depend on the order of the rows: the sum of a number per row, which is the
    product of a hash per cell. A pass of murmur2 per column, no Python object per row."""
    product = None
    for name in names:
        index = batch.schema.get_field_index(name)
        if index < 0:
            continue
        factor = pc.add(pc.shift_left(_hashes(batch.column(index)), 1), 2 * len(name) + 1)
        product = factor if product is None else pc.multiply(product, factor)
    return 0 if product is None else (pc.sum(product).as_py() or 0) % 2**64


def _hashes(array: Array) -> Array:
    """int64 per row."""
    kind = array.type
    if pa.types.is_integer(kind):
        return pc.fill_null(array.cast(pa.int64()), -1)
    if pa.types.is_nested(kind):
        # Rows of lists are rare and cheap to put into words: as the text of what they hold.
        array = pa.array([repr(each) for each in array.to_pylist()], pa.string())
    column = _as_binary(array, None)
    assert column is not None
    hashed = partitions_for_keys(input_column(column), len(array), 2**31 - 1)
    return int32_array(hashed, len(array)).cast(pa.int64())


def int32_array(buffer: bytearray, count: int) -> Array:
    """Plain int32 numbers, on the same memory."""
    return pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(buffer)])


def merge_partitions(named: Array, by_key: Array) -> Array:
    """The partition a row names, else the one of its key."""
    return pc.if_else(pc.less(named, 0), by_key, named)


def int32_array_of(numbers: list[int]) -> Array:
    """Numbers as an int32 array."""
    return pa.array(numbers, pa.int32())


def highest(numbers: Array) -> int:
    """The largest of them."""
    return int(pc.max(numbers).as_py())


def count_negative(numbers: Array) -> int:
    """How many are below 0."""
    return int(pc.sum(pc.less(numbers, 0)).as_py())


def row_numbers(order: bytearray, first: int) -> memoryview:
    """int32 row numbers that count from row ``first`` on, as numbers of the whole."""
    if first == 0:
        return memoryview(order)
    moved = pc.add(int32_array(order, len(order) // 4), pa.scalar(first, pa.int32()))
    return _view(moved.buffers()[1])[: len(moved) * 4]


def grouping_input(partitions: Array, sticky: int) -> memoryview:
    """int32 for ``group_rows``: rows without a partition (-1) go to ``sticky``."""
    filled = pc.if_else(pc.less(partitions, 0), pa.scalar(sticky, pa.int32()), partitions)
    return _view(filled.buffers()[1])[filled.offset * 4 : (filled.offset + len(filled)) * 4]


__all__ = [
    "SCHEMA",
    "Fields",
    "InputRows",
    "as_batches",
    "by_text",
    "count_negative",
    "grouping_input",
    "highest",
    "input_column",
    "input_rows",
    "int32_array",
    "int32_array_of",
    "merge_partitions",
    "record_batch",
    "record_batches",
    "row_numbers",
    "table",
]
