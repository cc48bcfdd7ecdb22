"""The two record codecs are twins: same results, same errors, on good, random and damaged input; and the choice
between them is never silent."""

from __future__ import annotations

import array
import contextlib
import dataclasses
import itertools
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pykclient
from pykclient.errors import CorruptRecordError
from pykclient.protocol import accel, pure_twin
from pykclient.protocol.accel import Implementation
from pykclient.protocol.batch_builder import begin
from pykclient.protocol.batch_header import patch_crc
from pykclient.protocol.columns import Columns, HeaderColumns, InputColumn, InputHeaders
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.records import encode_batch
from pykclient.types import ConsumerRecord, TimestampType

PURE = cast(Implementation, pure_twin)
NATIVE = None if os.environ.get("PYKCLIENT_ACCEL") == "off" else accel.load_native()
needs_native = pytest.mark.skipif(
    NATIVE is None and os.environ.get("PYKCLIENT_ACCEL") != "require", reason="no C extension here"
)

int64 = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(1_700_000_000_000, 1_700_000_100_000), st.integers(-5, 5)
)
content = st.one_of(st.none(), st.binary(max_size=80), st.binary(min_size=60, max_size=70))
names = st.text(st.characters(codec="utf-8"), max_size=8)
headers = st.one_of(st.none(), st.lists(st.tuples(names, content), max_size=4))
rows = st.lists(st.tuples(int64, content, content, headers), max_size=12)


def native() -> Implementation:
    assert NATIVE is not None, "PYKCLIENT_ACCEL=require, but the C extension did not load"
    return NATIVE


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """A result, or the type and text of the error: what the twins must agree on."""
    try:
        return call(*arguments)
    except (CorruptRecordError, ValueError, OverflowError, TypeError) as error:
        return type(error), str(error)


def decode(codec: Implementation, section: bytes, count: int, start: int = -(2**63), base: int = 0) -> Any:
    arguments = (section, count, 10 + base, base, None, TimestampType.CREATE_TIME, start, "t", 3, 7)
    return outcome(codec.decode_records, *arguments)


def to_columns(codec: Implementation, section: bytes, count: int, start: int, with_headers: bool, times: int) -> Any:
    columns = Columns(HeaderColumns() if with_headers else None)
    added = []
    for _ in range(times):
        result = outcome(codec.append_columns, section, count, 10, 0, None, start, columns.row_count, columns._arrays())
        added.append(result)
        if isinstance(result[0], int):
            columns.row_count += result[0]
    return added, columns._arrays()


@needs_native
@settings(max_examples=150, deadline=None)
@given(rows=rows, base=int64)
def test_both_encode_the_same_bytes_and_read_them_back(rows: list[Any], base: int) -> None:
    section, largest = PURE.encode_records(rows, base)
    assert native().encode_records(rows, base) == (section, largest)
    expected = [(key, value, headers or []) for _, key, value, headers in rows]
    for codec in (PURE, native()):
        found = codec.decode_records(
            section, len(rows), 0, base, None, TimestampType.CREATE_TIME, 0, "t", 0, None
        )  # fmt: skip
        assert [(record.key, record.value, record.headers) for record in found] == expected
        assert [record.timestamp for record in found] == [row[0] for row in rows]


mutation = st.tuples(st.integers(0, 400), st.integers(0, 255), st.sampled_from(["set", "drop", "add"]))


def mutate(section: bytes, changes: list[tuple[int, int, str]]) -> bytes:
    out = bytearray(section)
    for position, byte, kind in changes:
        position %= len(out) + 1
        if kind == "add":
            out.insert(position, byte)
        elif position < len(out) and kind == "set":
            out[position] = byte
        elif position < len(out):
            del out[position]
    return bytes(out)


@st.composite
def responses(draw: st.DrawFn) -> bytes:
    """Batches of all kinds one after the other, as in a fetch response; some damaged, the last one perhaps cut off."""
    data, offset = b"", draw(st.integers(0, 20))
    for _ in range(draw(st.integers(0, 6))):
        records = draw(st.lists(st.tuples(int64, content, content, headers), max_size=5))
        last = offset + max(0, len(records) - 1) + draw(st.integers(0, 2))
        batch = encode_batch(
            records,
            base_offset=offset,
            last_offset=last,
            compression=draw(st.sampled_from([CompressionType.NONE] * 5 + [CompressionType.GZIP])),
            timestamp_type=draw(st.sampled_from([TimestampType.CREATE_TIME] * 3 + [TimestampType.LOG_APPEND_TIME])),
            producer_id=4,
            producer_epoch=0,
            base_sequence=0,
            transactional=draw(st.booleans()),
            control=draw(st.integers(0, 9)) == 0,
            partition_leader_epoch=draw(st.integers(-1, 3)),
        )
        if draw(st.integers(0, 7)) == 0:
            damaged = bytearray(mutate(batch, draw(st.lists(mutation, min_size=1, max_size=2))))
            if draw(st.booleans()) and len(damaged) > 61:
                with contextlib.suppress(IndexError, ValueError, struct.error):
                    patch_crc(damaged)
            batch = bytes(damaged)
        data += batch
        offset = last + 1 + draw(st.integers(0, 3))
    return data[: len(data) - draw(st.sampled_from([0, 0, 0, 1, 30, 70]))]


def run_of_columns(codec: Implementation, data: bytes, arguments: tuple[Any, ...], with_headers: bool) -> Any:
    columns = Columns(HeaderColumns() if with_headers else None)
    results = []
    for position in (0, 0):  # onto empty columns, and onto some rows
        result = outcome(codec.append_batches, data, position, *arguments, columns.row_count, columns._arrays())
        results.append(result)
        columns.row_count += result[4]
    return results, columns._arrays()


@needs_native
@settings(max_examples=300, deadline=None)
@given(
    data=responses(),
    start=st.sampled_from([-(2**63), 0, 9, 2**63 - 1]),
    end=st.sampled_from([2**63 - 1, 15]),
    most=st.sampled_from([0, 3, 10, 1000]),
    bytes_max=st.sampled_from([2**31 - 1, 100]),
    check=st.booleans(),
    transactions=st.booleans(),
    with_headers=st.booleans(),
)
def test_runs_of_batches_are_read_alike(
    data: bytes, start: int, end: int, most: int, bytes_max: int, check: bool, transactions: bool, with_headers: bool
) -> None:
    assert PURE.skip_batches(data, 0) == native().skip_batches(data, 0)
    types = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)
    found = [
        codec.decode_batches(data, 0, start, most, check, transactions, "t", 3, types) for codec in (PURE, native())
    ]
    assert found[0] == found[1]
    arguments = (start, end, most, bytes_max, check, transactions)
    pure, ours = (run_of_columns(codec, data, arguments, with_headers) for codec in (PURE, native()))
    assert pure == ours


@needs_native
@settings(max_examples=60, deadline=None)
@given(size=st.integers(0, 9000), seed=st.integers(0, 255), data=st.data())
def test_a_flipped_bit_ends_a_run_whatever_the_size(size: int, seed: int, data: st.DataObject) -> None:
    value = bytes((seed + 7 * index) & 0xFF for index in range(size))
    batch = encode_batch([(1, None, value, None)])
    types = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)
    for codec in (PURE, native()):
        records, end, _, _ = codec.decode_batches(batch, 0, 0, 10, True, True, "t", 0, types)
        assert (len(records), end) == (1, len(batch))
    damaged = bytearray(batch)
    damaged[data.draw(st.integers(21, len(batch) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    for codec in (PURE, native()):
        assert codec.decode_batches(damaged, 0, 0, 10, True, True, "t", 0, types)[0] == []


@needs_native
@pytest.mark.parametrize("position", [-1, 6])
def test_a_position_outside_the_buffer_is_refused_alike(position: int) -> None:
    for codec in (PURE, native()):
        with pytest.raises(ValueError, match="outside the buffer"):
            codec.skip_batches(b"12345", position)


@needs_native
def test_a_buffer_is_resized_and_keeps_what_it_held() -> None:
    for codec in (PURE, native()):
        buffer = bytearray(b"abc")
        codec.resize(buffer, 5_000_000)
        assert len(buffer) == 5_000_000
        assert buffer[:3] == b"abc"
        codec.resize(buffer, 2)
        assert buffer == b"ab"
        with memoryview(buffer), pytest.raises(BufferError):
            codec.resize(buffer, 3)
    for arguments in ((bytearray(), -1), (b"", 1)):
        assert outcome(PURE.resize, *arguments) == outcome(native().resize, *arguments)


@needs_native
@settings(max_examples=100, deadline=None)
@given(rows=rows, data=st.data())
def test_offset_gaps_are_encoded_alike(rows: list[Any], data: st.DataObject) -> None:
    deltas = data.draw(
        st.lists(st.integers(-(2**31) - 1, 2**31), min_size=max(0, len(rows) - 1), max_size=len(rows) + 1)
    )
    assert outcome(PURE.encode_records, rows, 0, deltas) == outcome(native().encode_records, rows, 0, deltas)


@needs_native
@settings(max_examples=300, deadline=None)
@given(
    rows=rows,
    changes=st.lists(mutation, max_size=3),
    count_error=st.integers(-2, 2),
    start=st.integers(5, 20),
    with_headers=st.booleans(),
    base=int64,
)
def test_damaged_records_give_the_same_result_or_the_same_error(
    rows: list[Any],
    changes: list[tuple[int, int, str]],
    count_error: int,
    start: int,
    with_headers: bool,
    base: int,
) -> None:
    section = mutate(PURE.encode_records(rows, 0)[0], changes)
    count = len(rows) + count_error
    base = min(base, 2**63 - 20)
    assert decode(PURE, section, count, start, base) == decode(native(), section, count, start, base)
    assert to_columns(PURE, section, count, start, with_headers, 2) == to_columns(
        native(), section, count, start, with_headers, 2
    )


@needs_native
@settings(max_examples=200, deadline=None)
@given(section=st.binary(max_size=120), count=st.integers(-1, 20), with_headers=st.booleans())
def test_random_bytes_give_the_same_result_or_the_same_error(section: bytes, count: int, with_headers: bool) -> None:
    assert decode(PURE, section, count) == decode(native(), section, count)
    assert to_columns(PURE, section, count, 0, with_headers, 1) == to_columns(
        native(), section, count, 0, with_headers, 1
    )


@needs_native
@settings(max_examples=200, deadline=None)
@given(key=st.binary(max_size=40))
def test_murmur2_is_the_same(key: bytes) -> None:
    assert PURE.murmur2(key) == native().murmur2(key) == native().murmur2(memoryview(key))


cells = st.lists(st.one_of(st.none(), st.binary(max_size=70)), min_size=1, max_size=12)


def column(rows: Sequence[bytes | None], width: int, pad: int) -> InputColumn:
    values = [b"left over" for _ in range(pad)] + list(rows)
    ends, data = [0], b""
    validity = bytearray((len(values) + 7) // 8)
    for index, value in enumerate(values):
        data += value or b""
        ends.append(len(data))
        if value is not None:
            validity[index // 8] |= 1 << index % 8
    offsets = array.array("i" if width == 4 else "q", ends).tobytes()
    return InputColumn(offsets, data, None if None not in values else bytes(validity), width, pad)


def encode(codec: Implementation, *arguments: Any) -> Any:
    return outcome(codec.encode_columns, *arguments)


@needs_native
@settings(max_examples=200, deadline=None)
@given(
    values=cells, width=st.sampled_from([4, 8]), pad=st.integers(0, 9), data=st.data(), first=st.integers(0, 4),
    bytes_max=st.integers(0, 400), rows_max=st.integers(0, 12),
)  # fmt: skip
def test_rows_of_columns_are_encoded_alike(
    values: list[bytes | None], width: int, pad: int, data: st.DataObject, first: int, bytes_max: int, rows_max: int
) -> None:
    size = len(values)
    value, key = column(values, width, pad), column(values[::-1], 12 - width, 0)
    times = array.array("q", data.draw(st.lists(int64, min_size=size, max_size=size))).tobytes()
    counts = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    pairs = sum(counts)
    lists = [0]
    for number in counts:
        lists.append(lists[-1] + number)
    header_values = data.draw(st.lists(st.one_of(st.none(), st.binary(max_size=9)), min_size=pairs, max_size=pairs))
    header_columns = InputHeaders(
        array.array("i", lists).tobytes(), column([b"name"] * pairs, 4, 1), column(header_values, 4, 0)
    )
    selection = data.draw(st.one_of(st.none(), st.lists(st.integers(-1, size), max_size=15)))
    chosen = None if selection is None else array.array("i", selection).tobytes()
    timestamps = data.draw(st.sampled_from([times, 5]))
    with_headers = data.draw(st.sampled_from([None, header_columns]))
    arguments = (key, value, with_headers, timestamps, size, chosen, first, rows_max, bytes_max)
    assert encode(PURE, *arguments) == encode(native(), *arguments)


@needs_native
@settings(max_examples=200, deadline=None)
@given(
    offsets=st.binary(max_size=40), payload=st.binary(max_size=20), validity=st.one_of(st.none(),
    st.binary(max_size=2)), width=st.sampled_from([0, 4, 8]), first=st.integers(-2, 12), row_count=st.integers(-1, 12),
)  # fmt: skip
def test_columns_that_lie_about_themselves_are_refused_alike(
    offsets: bytes, payload: bytes, validity: bytes | None, width: int, first: int, row_count: int
) -> None:
    lying = InputColumn(offsets, payload, validity, width, first)
    arguments = (lying, None, None, 1, row_count, None, 0, 100, 1000)
    assert encode(PURE, *arguments) == encode(native(), *arguments)
    keyed = (lying, row_count, 7)
    assert outcome(PURE.murmur2_column, *keyed) == outcome(native().murmur2_column, *keyed)


@needs_native
@settings(max_examples=100, deadline=None)
@given(values=cells, width=st.sampled_from([4, 8]), pad=st.integers(0, 9), partitions=st.integers(1, 100))
def test_a_key_column_gets_the_same_partitions_as_its_keys(
    values: list[bytes | None], width: int, pad: int, partitions: int
) -> None:
    keys = column(values, width, pad)
    expected = [-1 if key is None else (PURE.murmur2(key) & 0x7FFFFFFF) % partitions for key in values]
    for codec in (PURE, native()):
        assert array.array("i", codec.murmur2_column(keys, len(values), partitions)).tolist() == expected


@needs_native
@settings(max_examples=100, deadline=None)
@given(partitions=st.lists(st.integers(-1, 5), max_size=20), count=st.integers(0, 6))
def test_rows_are_grouped_alike(partitions: list[int], count: int) -> None:
    packed = array.array("i", partitions).tobytes()
    assert outcome(PURE.group_rows, packed, count) == outcome(native().group_rows, packed, count)


@needs_native
@settings(max_examples=100, deadline=None)
@given(rows=rows, limit=st.integers(61, 900))
def test_a_batch_grows_alike_record_by_record(rows: list[Any], limit: int) -> None:
    buffers = [bytearray(b"\xaa" * 800), bytearray(b"\xaa" * 800)]
    for buffer in buffers:
        begin(buffer)
    # A delta of 64 bits is for hostile batches; producers send timestamps that are a long way from overflow.
    near = [(abs(timestamp) % 2**40, *rest) for timestamp, *rest in rows]
    for row in near:
        assert PURE.append_record(buffers[0], limit, *row) == native().append_record(buffers[1], limit, *row)
        assert buffers[0] == buffers[1]


@needs_native
def test_the_native_decoder_knows_every_slot_of_a_record() -> None:
    section = PURE.encode_records([(5, b"k", b"v", [("h", None)])], 0)[0]
    (record,) = native().decode_records(section, 1, 9, 0, None, TimestampType.CREATE_TIME, 0, "t", 3, 7)
    assert record == ConsumerRecord("t", 3, 9, 5, TimestampType.CREATE_TIME, b"k", b"v", [("h", None)], 7)
    assert len(dataclasses.fields(ConsumerRecord)) == 9
    assert type(record) is ConsumerRecord


@needs_native
@pytest.mark.parametrize("wrong", [5, "text", [1, 2], object()])
def test_what_is_no_buffer_is_refused_by_both(wrong: object) -> None:
    for codec in (PURE, native()):
        for row in ((1, wrong, None, None), (1, None, wrong, None), (1, None, None, [("h", wrong)])):
            with pytest.raises(TypeError):
                codec.encode_records(cast(Any, [row]), 0)


@needs_native
def test_any_buffer_may_be_a_key_a_value_or_a_header() -> None:
    row = (1, bytearray(b"key"), memoryview(b"-value-")[1:-1], [("h", bytearray(b"x"))])
    plain = (1, b"key", b"value", [("h", b"x")])
    assert PURE.encode_records([row], 0) == native().encode_records([row], 0) == PURE.encode_records([plain], 0)


def test_every_function_has_its_twin() -> None:
    wanted = {name for name in vars(Implementation) if not name.startswith("_")}
    assert set(pure_twin.__all__) == wanted
    if NATIVE is not None:
        assert {name for name in vars(NATIVE) if not name.startswith("_")} == wanted


def run(mode: str, code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYKCLIENT_ACCEL": mode}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


def test_the_variable_chooses_the_implementation() -> None:
    assert run("off", "import pykclient; print(pykclient.accelerated)").stdout == "False\n"
    if NATIVE is not None:
        assert run("require", "import pykclient; print(pykclient.accelerated)").stdout == "True\n"
    assert "must be one of auto, off, require" in run("sometimes", "import pykclient; pykclient.accelerated").stderr


def test_requiring_an_absent_extension_is_an_error() -> None:
    code = "import sys; sys.modules['pykclient.protocol._accel'] = None; import pykclient; pykclient.accelerated"
    assert "the C extension pykclient.protocol._accel is not there" in run("require", code).stderr
    assert run("auto", code + "; print(pykclient.accelerated)").stdout == "False\n"


def test_the_package_says_which_one_is_in_use() -> None:
    assert pykclient.accelerated is accel.accelerated
    with pytest.raises(AttributeError):
        _ = pykclient.no_such_name


@needs_native
@settings(max_examples=150, deadline=None)
@given(rows=rows, every=st.integers(0, 5), count=st.integers(-1, 14), changes=st.lists(mutation, max_size=2))
def test_both_split_a_section_at_the_same_records(
    rows: list[Any], every: int, count: int, changes: list[tuple[int, int, str]]
) -> None:
    section, _ = PURE.encode_records(rows, 0)
    damaged = mutate(section, changes)
    assert outcome(PURE.split_records, damaged, count, every) == outcome(native().split_records, damaged, count, every)
    cuts = native().split_records(section, len(rows), max(1, every))
    pieces = [section[start:end] for start, end in itertools.pairwise(cuts)]
    found: list[Any] = []
    for index, piece in enumerate(pieces):
        found += decode(native(), piece, min(max(1, every), len(rows) - index * max(1, every)))
    assert found == decode(native(), section, len(rows))
