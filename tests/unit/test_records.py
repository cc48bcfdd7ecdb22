"""Record batches v2: what goes in comes out, headers say what they should, brokers patch without touching records."""

from __future__ import annotations

import array
import itertools
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.errors import CorruptRecordError, DecompressedTooLarge, ProtocolError, UsageError
from pykclient.protocol import records
from pykclient.protocol.columns import Columns, HeaderColumns, InputColumn, InputHeaders, encode_rows
from pykclient.protocol.control_records import (
    ControlRecordType,
    control_type,
    decode_control_record,
    encode_end_transaction_marker,
)
from pykclient.protocol.legacy_records import encode_message_set
from pykclient.protocol.records import BatchHeader, CompressionType
from pykclient.types import ConsumerRecord, Headers, TimestampType

Row = tuple[int, "bytes | None", "bytes | None", "Headers | None"]
ROWS: list[Row] = [
    (1_000, b"k0", b"v0", None),
    (1_005, None, b"", [("h", b"1"), ("h", None), ("\N{SNOWMAN}", b"")]),
    (995, b"", None, []),
    (1_000, None, None, None),
    (9_000, b"k" * 70, b"v" * 10_000, [("x", b"y" * 100)]),
]


def header_of(batch: bytes | bytearray, position: int = 0) -> BatchHeader:
    header = records.read_header(batch, position)
    assert header is not None
    return header


def decode(batch: bytes, **options: Any) -> list[ConsumerRecord[bytes | None, bytes | None]]:
    return records.decode_batch(batch, header_of(batch), "topic", 3, **options)


@pytest.mark.parametrize("compression", CompressionType)
def test_what_was_encoded_comes_back(implementation: str, compression: CompressionType) -> None:
    batch = records.encode_batch(ROWS, base_offset=100, compression=compression, partition_leader_epoch=4)
    found = decode(batch)
    assert found == [
        ConsumerRecord("topic", 3, 100 + index, timestamp, TimestampType.CREATE_TIME, key, value, headers or [], 4)
        for index, (timestamp, key, value, headers) in enumerate(ROWS)
    ]
    assert all(type(record.key) in (bytes, type(None)) for record in found)


def test_the_header_says_what_the_batch_holds() -> None:
    batch = records.encode_batch(
        ROWS, base_offset=7, producer_id=9, producer_epoch=2, base_sequence=2147483646, transactional=True
    )
    header = header_of(batch)
    assert (header.base_offset, header.last_offset, header.next_offset, header.record_count) == (7, 11, 12, 5)
    assert (header.base_timestamp, header.max_timestamp) == (1_000, 9_000)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 2147483646)
    assert header.is_transactional
    assert not header.is_control
    assert header.has_producer_id
    assert header.size == header.end == len(batch)


def test_sequences_wrap_to_zero_after_the_largest() -> None:
    header = header_of(records.encode_batch(ROWS, base_sequence=2147483646, producer_id=1, producer_epoch=0))
    assert [records.record_sequence(header, offset) for offset in range(5)] == [2147483646, 2147483647, 0, 1, 2]
    assert header.last_sequence == 2
    assert records.decrement_sequence(1, 3) == 2147483646
    assert records.increment_sequence(2147483646, 3) == 1


def test_a_batch_without_producer_has_no_sequences() -> None:
    header = header_of(records.encode_batch(ROWS))
    assert (header.last_sequence, records.record_sequence(header, 2), header.has_producer_id) == (-1, -1, False)


def test_log_append_time_gives_every_record_the_batch_timestamp(implementation: str) -> None:
    batch = records.encode_batch(ROWS, timestamp_type=TimestampType.LOG_APPEND_TIME, max_timestamp=77)
    found = decode(batch)
    assert {record.timestamp for record in found} == {77}
    assert {record.timestamp_type for record in found} == {TimestampType.LOG_APPEND_TIME}
    assert found[0].timestamp_type is TimestampType.LOG_APPEND_TIME


def test_the_delete_horizon_stands_in_for_the_base_timestamp(implementation: str) -> None:
    batch = records.encode_batch(ROWS, delete_horizon_ms=123_456)
    header = header_of(batch)
    assert header.delete_horizon_ms == header.base_timestamp == 123_456
    assert [record.timestamp for record in decode(batch)] == [row[0] for row in ROWS]


def test_compacted_batches_keep_their_gaps(implementation: str) -> None:
    batch = records.encode_batch(ROWS[:2], base_offset=50, offsets=[53, 58], last_offset=60)
    assert [record.offset for record in decode(batch)] == [53, 58]
    assert header_of(batch).next_offset == 61


def test_records_before_the_fetch_offset_are_left_out(implementation: str) -> None:
    batch = records.encode_batch(ROWS, base_offset=10)
    assert [record.offset for record in decode(batch, from_offset=13)] == [13, 14]
    assert decode(batch, from_offset=99) == []


def test_an_empty_batch_keeps_its_header(implementation: str) -> None:
    batch = records.encode_batch([], base_offset=5, last_offset=9, max_timestamp=4)
    header = header_of(batch)
    assert (header.next_offset, header.record_count, header.max_timestamp, len(batch)) == (10, 0, 4, 61)
    assert decode(batch) == []


def test_a_partial_batch_at_the_end_is_no_error(implementation: str) -> None:
    batch = records.encode_batch(ROWS)
    for cut in (*range(70), len(batch) - 1):
        found = list(records.decode_all(batch + batch[:cut], "t", 0))
        assert [len(batch_records) for _, batch_records in found] == [5]


def test_batches_of_all_formats_follow_each_other(implementation: str) -> None:
    parts = [
        encode_message_set(ROWS[:1], magic=0, base_offset=0),
        encode_message_set([(5, b"a", b"b", None)] * 2, magic=1, base_offset=1, compression=CompressionType.GZIP),
        records.encode_batch(ROWS, base_offset=3, compression=CompressionType.ZSTD),
    ]
    buffer = memoryview(b"".join(parts))
    found = list(records.decode_all(buffer, "t", 0))
    assert [header.magic for header, _ in found] == [0, 1, 2]
    assert [record.offset for _, batch in found for record in batch] == list(range(8))


def test_every_changed_byte_under_the_checksum_is_found() -> None:
    batch = records.encode_batch(ROWS[:2])
    for position in range(17, len(batch)):
        broken = bytearray(batch)
        broken[position] ^= 0x10
        with pytest.raises(CorruptRecordError):
            records.check_batch(broken, header_of(broken))
    unchecked = bytearray(batch)
    unchecked[-2] ^= 0x10
    assert decode(bytes(unchecked), check_crc=False)


def test_offsets_and_epochs_are_patched_outside_the_checksum(implementation: str) -> None:
    log = bytearray(b"....") + records.encode_batch(ROWS)
    records.patch_base_offset(log, 2**40, position=4)
    records.patch_leader_epoch(memoryview(log), 12, position=4)
    header = header_of(log, 4)
    records.check_batch(log, header)
    assert (header.base_offset, header.partition_leader_epoch) == (2**40, 12)
    found = records.decode_batch(log, header, "t", 0)
    assert [record.offset for record in found] == list(range(2**40, 2**40 + 5))
    assert {record.leader_epoch for record in found} == {12}


def test_the_append_time_is_patched_with_the_checksum(implementation: str) -> None:
    batch = bytearray(records.encode_batch(ROWS, compression=CompressionType.LZ4))
    records.patch_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, 4_242)
    header = header_of(batch)
    records.check_batch(batch, header)
    assert (header.timestamp_type, header.max_timestamp) == (TimestampType.LOG_APPEND_TIME, 4_242)
    assert header.compression is CompressionType.LZ4
    assert {record.timestamp for record in records.decode_batch(batch, header, "t", 0)} == {4_242}
    before = bytes(batch)
    records.patch_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, 4_242)
    assert batch == before
    records.patch_max_timestamp(batch, TimestampType.CREATE_TIME, 9_000)
    assert [record.timestamp for record in records.decode_batch(batch, header_of(batch), "t", 0)] == [
        row[0] for row in ROWS
    ]


@pytest.mark.parametrize("commit", [True, False])
def test_transaction_markers_come_back(implementation: str, commit: bool) -> None:
    batch = encode_end_transaction_marker(
        commit=commit, producer_id=4, producer_epoch=1, coordinator_epoch=17, timestamp=5, base_offset=9
    )
    header = header_of(batch)
    assert (header.is_control, header.is_transactional, header.producer_id, header.base_sequence) == (True, True, 4, -1)
    (record,) = decode(batch)
    marker = decode_control_record(record)
    assert marker.type is (ControlRecordType.COMMIT if commit else ControlRecordType.ABORT)
    assert marker.coordinator_epoch == 17


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\0"])
def test_a_control_record_without_a_valid_key_is_corrupt(key: bytes | None) -> None:
    with pytest.raises(CorruptRecordError):
        control_type(key)


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0", b"\xff\xff\0\0\0\0"])
def test_a_marker_without_a_valid_value_is_corrupt(value: bytes | None) -> None:
    record: ConsumerRecord[bytes | None, bytes | None] = ConsumerRecord(
        "t", 0, 0, 0, TimestampType.CREATE_TIME, b"\0\0\0\1", value, [], None
    )
    with pytest.raises(CorruptRecordError):
        decode_control_record(record)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1), st.one_of(st.none(), st.binary(max_size=200)),
    st.one_of(st.none(), st.binary(max_size=200)),
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8"), max_size=70), st.one_of(st.none(), st.binary())), max_size=3
    ),
)  # fmt: skip
def test_record_sizes_are_exact_and_bounded(
    offset_delta: int, delta: int, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> None:
    from pykclient.protocol.pure import encode_records

    section, _ = encode_records([(delta, key, value, headers)], 0, [offset_delta])
    assert records.record_size(offset_delta, delta, key, value, headers) == len(section)
    assert records.record_size_upper_bound(key, value, headers) >= len(section)


@pytest.mark.parametrize("compression", [codec for codec in CompressionType if codec])
def test_decompression_is_bounded_by_the_argument(compression: CompressionType) -> None:
    batch = records.encode_batch([(1, None, b"\0" * 300_000, None)], compression=compression)
    assert len(decode(batch)) == 1
    with pytest.raises(DecompressedTooLarge):
        decode(batch, bytes_max=100_000)


def test_a_count_beyond_the_bytes_is_refused_before_it_is_believed(implementation: str) -> None:
    batch = bytearray(records.encode_batch(ROWS))
    batch[57:61] = (2**31 - 1).to_bytes(4, "big")
    records.patch_crc(batch)
    with pytest.raises(CorruptRecordError, match="2147483647 records cannot be in"):
        decode(bytes(batch))


@pytest.mark.parametrize("compression", CompressionType)
def test_mutated_batches_raise_protocol_errors_or_decode(implementation: str, compression: CompressionType) -> None:
    chance = random.Random(compression)
    batch = records.encode_batch(ROWS[:4], base_offset=3, compression=compression)
    for _ in range(400):
        broken = bytearray(batch)
        for _ in range(chance.randint(1, 3)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            for header in records.iter_batches(broken):
                records.decode_batch(broken, header, "t", 0, check_crc=False, bytes_max=1 << 16)
                Columns(HeaderColumns()).append_batch(broken, header, check_crc=False, bytes_max=1 << 16)
        except ProtocolError:
            pass


# --- columns


def arrow_columns(columns: Columns) -> dict[str, list[Any]]:
    """Read with pyarrow, which takes the buffers as they are."""

    def binary(column: Any, count: int) -> Any:
        buffers = [pa.py_buffer(column.validity), pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
        return pa.Array.from_buffers(pa.binary(), count, buffers, column.null_count)

    count = columns.row_count
    seen = {
        "offset": pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(columns.offsets)]).to_pylist(),
        "timestamp": pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(columns.timestamps)]).to_pylist(),
        "type": pa.Array.from_buffers(pa.int8(), count, [None, pa.py_buffer(columns.timestamp_types)]).to_pylist(),
        "key": binary(columns.key, count).to_pylist(),
        "value": binary(columns.value, count).to_pylist(),
    }
    if columns.headers is not None:
        names = pa.Array.from_buffers(
            pa.string(),
            columns.headers.count,
            [None, pa.py_buffer(columns.headers.name_offsets), pa.py_buffer(columns.headers.name_data)],
        )
        pairs = pa.StructArray.from_arrays([names, binary(columns.headers.value, columns.headers.count)], ["k", "v"])
        lists = pa.ListArray.from_arrays(
            pa.Array.from_buffers(pa.int32(), count + 1, [None, pa.py_buffer(columns.headers.offsets)]), pairs
        )
        lists.validate(full=True)
        seen["headers"] = [[(pair["k"], pair["v"]) for pair in row] for row in lists.to_pylist()]
    return seen


def test_columns_over_many_batches_equal_the_records(implementation: str) -> None:
    batches = b"".join(
        (
            records.encode_batch(ROWS, base_offset=0),
            encode_message_set([(5, b"a", None, None)] * 3, magic=1, base_offset=5, compression=CompressionType.LZ4),
            encode_message_set(ROWS[:1], magic=0, base_offset=8),
            records.encode_batch(
                ROWS, base_offset=9, compression=CompressionType.GZIP, timestamp_type=TimestampType.LOG_APPEND_TIME
            ),
        )
    )
    columns = Columns(HeaderColumns())
    added = [columns.append_batch(batches, header, from_offset=2) for header in records.iter_batches(batches)]
    expected = [
        record for _, batch in records.decode_all(batches, "t", 0, from_offset=2) for record in batch
    ]  # fmt: skip
    assert added == [3, 3, 1, 5]
    assert arrow_columns(columns) == {
        "offset": [record.offset for record in expected],
        "timestamp": [record.timestamp for record in expected],
        "type": [record.timestamp_type for record in expected],
        "key": [record.key for record in expected],
        "value": [record.value for record in expected],
        "headers": [record.headers for record in expected],
    }
    assert columns.size_bytes == sum(
        len(record.key or b"") + len(record.value or b"")
        + sum(len(name.encode()) + len(value or b"") for name, value in record.headers)
        for record in expected
    )  # fmt: skip


def test_a_corrupt_batch_leaves_the_columns_as_they_were(implementation: str) -> None:
    good = records.encode_batch(ROWS[::-1])
    columns = Columns(HeaderColumns())
    columns.append_batch(good, header_of(good))
    before = arrow_columns(columns)
    broken = bytearray(good)
    broken[-1] = 3
    records.patch_crc(broken)
    with pytest.raises(CorruptRecordError):
        columns.append_batch(broken, header_of(broken))
    assert arrow_columns(columns) == before
    assert columns.append_batch(good, header_of(good)) == 5
    assert columns.row_count == 10


def test_columns_without_headers_leave_them_out(implementation: str) -> None:
    batch = records.encode_batch(ROWS)
    columns = Columns()
    assert columns.append_batch(batch, header_of(batch)) == 5
    assert "headers" not in arrow_columns(columns)


def test_arrow_rows_are_encoded_partition_by_partition(implementation: str) -> None:
    table = pa.table(
        {
            "key": pa.array([b"a", None, b"c", b"", b"e"], pa.binary()),
            "value": pa.array(["v0", "v1", None, "v3", "v4"], pa.large_string()),
            "time": pa.array([10, 11, 12, 9, 14], pa.int64()),
        }
    ).slice(1)
    key, value, time = (table.column(name).chunk(0) for name in ("key", "value", "time"))
    times = memoryview(time.buffers()[1])[8 * time.offset :]
    encoded = encode_rows(
        row_count=4,
        timestamps=times,
        key=InputColumn(memoryview(key.buffers()[1]), memoryview(key.buffers()[2]), memoryview(key.buffers()[0]), 4, 1),
        value=InputColumn(
            memoryview(value.buffers()[1]), memoryview(value.buffers()[2]), memoryview(value.buffers()[0]), 8, 1
        ),
        rows=array.array("i", [3, 0, 1]).tobytes(),
        first=1,
    )
    assert (encoded.row_count, encoded.base_timestamp, encoded.max_timestamp) == (2, 11, 12)
    batch = records.build_batch(
        encoded.section, base_offset=0, partition_leader_epoch=-1, attributes=0, last_offset_delta=1, base_timestamp=11,
        max_timestamp=12, producer_id=-1, producer_epoch=-1, base_sequence=-1, record_count=2,
    )  # fmt: skip
    assert [(r.timestamp, r.key, r.value) for r in decode(batch)] == [(11, None, b"v1"), (12, b"c", None)]


def test_rows_are_taken_until_the_bytes_are_full_and_one_at_least(implementation: str) -> None:
    value = InputColumn(array.array("i", range(0, 1001, 100)).tobytes(), b"x" * 1000)
    headers = InputHeaders(
        array.array("i", range(11)).tobytes(),
        InputColumn(array.array("i", range(11)).tobytes(), b"h" * 10),
        InputColumn(array.array("i", [0] * 11).tobytes(), b""),
    )
    taken = []
    for first, limit in itertools.product((0, 9), (1, 350, 10_000)):
        encoded = encode_rows(
            row_count=10, timestamps=5, key=None, value=value, headers=headers, first=first, bytes_max=limit
        )
        assert encoded.row_count == 1 or len(encoded.section) <= limit
        taken.append(encoded.row_count)
    assert taken == [1, 3, 10, 1, 1, 1]
    assert encode_rows(row_count=10, timestamps=5, key=None, value=value, rows_max=4).row_count == 4


def test_a_column_over_2_gib_is_refused_and_says_so(implementation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = records.encode_batch(ROWS)

    def full(*arguments: object) -> None:
        raise OverflowError

    columns = Columns()
    from pykclient.protocol import accel

    monkeypatch.setattr(accel, "active", type("Full", (), {"append_columns": staticmethod(full)}))
    with pytest.raises(UsageError, match="2 GiB"):
        columns.append_batch(batch, header_of(batch))
