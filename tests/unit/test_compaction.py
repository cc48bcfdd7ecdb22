"""Compaction: the last record of every key stays, nothing else moves, and a crash in the middle loses nothing."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.compaction import Compacted, compact
from pykclient.broker.log import AppendOrigin, Isolation, Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.storage import File, MemoryStorage
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.records import decode_all, encode_batch, iter_batches

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000
Seen = tuple[int, "bytes | None", "bytes | None", int]


def options(**changed: object) -> LogConfig:
    values: dict[str, object] = {
        "cleanup_policy": ("compact",),
        "internal_segment_bytes": 400,
        "index_interval_bytes": 100,
        "min_cleanable_dirty_ratio": 0.0,
    }
    return LogConfig(**{**values, **changed})  # type: ignore[arg-type]


def new_log(storage: MemoryStorage | None = None, **changed: object) -> Log:
    return Log.open(storage or MemoryStorage(), options(**changed), wall_ms=NOW_MS)


def put(log: Log, *pairs: tuple[str, str | None], wall_ms: int = NOW_MS, **batch_options: object) -> None:
    records = [
        (wall_ms + index, key.encode(), None if value is None else value.encode(), [("h", b"x")])
        for index, (key, value) in enumerate(pairs)
    ]
    log.append_as_leader(encode_batch(records, **batch_options), leader_epoch=0, wall_ms=wall_ms)  # type: ignore[arg-type]
    log.advance_high_watermark(log.log_end_offset)


def mark(log: Log, producer_id: int, *, commit: bool, wall_ms: int = NOW_MS) -> None:
    batch = encode_end_transaction_marker(
        commit=commit, producer_id=producer_id, producer_epoch=0, coordinator_epoch=0, timestamp=wall_ms
    )
    log.append_as_leader(batch, leader_epoch=0, wall_ms=wall_ms, origin=AppendOrigin.COORDINATOR)
    log.advance_high_watermark(log.log_end_offset)


def raw(log: Log) -> bytes:
    offset, parts = log.log_start_offset, list[bytes]()
    while True:
        read = log.read(offset, bytes_max=1 << 20, isolation=Isolation.LOG_END)
        if not read.records:
            return b"".join(parts)
        parts.append(read.records)
        offset = list(iter_batches(read.records))[-1].next_offset


def seen(log: Log, *, data_only: bool = True) -> list[Seen]:
    """Every record that a reader from the start gets; CRCs are checked on the way."""
    return [
        (record.offset, record.key, record.value, record.timestamp)
        for header, records in decode_all(raw(log), "t", 0)
        if not (data_only and header.is_control)
        for record in records
    ]


def clean(log: Log, wall_ms: int = NOW_MS) -> Compacted:
    log.roll(wall_ms)
    result = compact(log, wall_ms, force=True)
    assert result is not None
    return result


def test_only_the_last_record_of_each_key_stays_with_its_offset_and_headers() -> None:
    log = new_log()
    for number in range(30):
        put(log, (f"k{number % 4}", f"v{number}"))
    before = seen(log)
    result = clean(log)
    after = seen(log)
    assert [record[0] for record in after] == [26, 27, 28, 29]
    assert set(after) <= set(before)
    assert (result.end_offset, result.records_removed) == (30, 26)
    assert result.bytes_after < result.bytes_before
    assert log.log_end_offset == 30
    assert log.log_start_offset == 0
    put(log, ("k0", "new"))
    assert seen(log)[-1][0] == 30


@pytest.mark.parametrize("codec", list(CompressionType))
def test_batches_that_lose_records_keep_their_codec_and_offsets(codec: CompressionType) -> None:
    log = new_log(internal_segment_bytes=5000)
    put(log, *[(f"k{i}", f"v{i}") for i in range(10)], compression=codec)
    put(log, *[(f"k{i}", "new") for i in range(0, 10, 2)], compression=codec)
    before = seen(log)
    clean(log)
    assert seen(log) == [record for record in before if record[2] != f"v{record[0]}".encode() or record[0] % 2]
    assert {header.compression for header in iter_batches(raw(log))} == {codec}
    first = next(iter_batches(raw(log)))
    assert (first.base_offset, first.last_offset, first.record_count) == (0, 9, 5)


def test_reading_from_a_removed_offset_gives_the_next_record() -> None:
    log = new_log()
    for number in range(30):
        put(log, ("same", f"v{number}"))
    clean(log)
    for offset in range(30):
        headers = list(iter_batches(log.read(offset, bytes_max=1 << 20).records))
        assert headers[-1].last_offset == 29


def test_tombstones_stay_for_delete_retention_and_then_go() -> None:
    log = new_log(delete_retention_ms=1000)
    put(log, ("a", "1"), ("b", "1"))
    put(log, ("a", None))
    clean(log)
    assert [(offset, value) for offset, _, value, _ in seen(log)] == [(1, b"1"), (2, None)]
    times = [record[3] for record in seen(log)]
    for later, expected in ((999, [1, 2, 3]), (1001, [1, 4])):
        put(log, ("c", str(later)), wall_ms=NOW_MS)
        log.roll(NOW_MS + later)
        assert compact(log, NOW_MS + later, force=True)
        assert [record[0] for record in seen(log)] == expected
    assert seen(log)[0][3] == times[0]  # the horizon took the base timestamp's place, the records' times stand


def test_active_segment_and_young_records_are_left_alone() -> None:
    log = new_log(min_compaction_lag_ms=1000, internal_segment_bytes=100)
    for number in range(6):
        put(log, ("k", f"v{number}"), wall_ms=NOW_MS + number * 300)
    assert len(log.segments) == 6
    assert compact(log, NOW_MS + 1500, force=True) is not None
    assert [record[0] for record in seen(log)] == [1, 2, 3, 4, 5]
    assert compact(log, NOW_MS + 10_000, force=True) is not None
    assert [record[0] for record in seen(log)] == [4, 5]


def test_round_waits_until_enough_is_dirty_or_the_lag_is_over() -> None:
    log = new_log(min_cleanable_dirty_ratio=0.5, max_compaction_lag_ms=5000)
    for number in range(40):
        put(log, (f"k{number}", "v"))
    assert compact(log, NOW_MS) is not None
    assert compact(log, NOW_MS) is None
    for number in range(10):
        put(log, (f"k{number}", "w"))
    log.roll(NOW_MS)
    assert compact(log, NOW_MS) is None
    assert compact(log, NOW_MS + 5001) is not None
    assert len(seen(log)) == 40


def test_open_transaction_stops_the_cleaner() -> None:
    log = new_log()
    put(log, ("k", "1"))
    put(log, ("k", "2"))
    put(log, ("k", "t"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    log.roll(NOW_MS)
    put(log, ("k", "3"))
    log.roll(NOW_MS)
    assert compact(log, NOW_MS, force=True) is None
    mark(log, 1, commit=True)
    clean(log)
    assert [record[2] for record in seen(log)] == [b"3"]


def test_aborted_records_go_and_do_not_hide_older_ones() -> None:
    log = new_log(internal_segment_bytes=5000, delete_retention_ms=1000)
    put(log, ("k", "committed"))
    put(log, ("k", "aborted"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    mark(log, 1, commit=False)
    put(log, ("other", "x"))
    clean(log)
    assert [record[2] for record in seen(log)] == [b"committed", b"x"]
    assert log.aborted_transactions(0, 10) == [(1, 1, 2, 3)]  # the marker may still be read by somebody
    put(log, ("other", "y"))
    clean(log, NOW_MS + 500)
    assert any(header.is_control for header in iter_batches(raw(log)))
    put(log, ("other", "z"))
    clean(log, NOW_MS + 5000)
    assert [record[2] for record in seen(log)] == [b"committed", b"z"]


def test_commit_marker_stays_as_long_as_its_records() -> None:
    log = new_log(internal_segment_bytes=5000, delete_retention_ms=0)
    put(log, ("k", "1"), producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    mark(log, 1, commit=True)
    for step in range(3):
        put(log, ("filler", str(step)))
        clean(log, NOW_MS + step * DAY_MS)
        assert any(header.is_control for header in iter_batches(raw(log)))
    put(log, ("k", "2"))
    log.producers.expire(NOW_MS + 10 * DAY_MS, DAY_MS)  # while it lives, its last batch stays, empty, with the marker
    for step in range(4, 8):
        put(log, ("filler", str(step)))
        clean(log, NOW_MS + step * DAY_MS)
    markers = [header for header in iter_batches(raw(log)) if header.is_control and header.record_count]
    assert markers == []


def test_sequence_of_an_active_producer_survives_compaction_and_a_crash() -> None:
    storage = MemoryStorage()
    log = new_log(storage)
    for number in range(5):
        put(log, ("k", f"v{number}"), producer_id=7, producer_epoch=2, base_sequence=number)
    put(log, ("k", "other producer"))
    clean(log)
    assert [record[0] for record in seen(log)] == [5]
    for name in [name for name in storage.file_names() if name.endswith(".snapshot")]:
        storage.delete(name)
    again = Log.open(storage, log.config, wall_ms=NOW_MS)  # only the batches are left to learn from
    again.advance_high_watermark(again.log_end_offset)
    entry = again.producers.entries[7]
    assert (entry.epoch, entry.last_sequence) == (2, 4)


def test_end_of_the_cleaned_part_survives_when_its_last_records_are_gone() -> None:
    log = new_log(delete_retention_ms=0)
    put(log, ("a", "1"))
    put(log, ("a", None))
    clean(log)
    put(log, ("b", "1"))
    clean(log, NOW_MS + 10)
    assert [record[0] for record in seen(log)] == [2]
    log.close(NOW_MS)
    assert Log.open(log.storage, log.config, wall_ms=NOW_MS).log_end_offset == 3


def test_last_batch_of_a_round_stays_even_when_it_is_empty() -> None:
    log = new_log(cleanup_policy=("delete",), internal_segment_bytes=5000)
    put(log, ("k", "1"))
    keyless = encode_batch([(NOW_MS, None, b"no key", None)])
    log.append_as_leader(keyless, leader_epoch=0, wall_ms=NOW_MS)
    log.advance_high_watermark(2)
    log.config = options(internal_segment_bytes=5000)
    clean(log)
    assert [(header.last_offset, header.record_count) for header in iter_batches(raw(log))] == [(0, 1), (1, 0)]


def test_gap_that_hides_the_high_watermark_does_not_let_a_consumer_see_beyond_it() -> None:
    log = new_log()
    for number in range(30):
        put(log, ("same", f"v{number}"))
    clean(log)
    again = Log.open(log.storage, log.config, wall_ms=NOW_MS)
    again.advance_high_watermark(10)
    assert again.read(5, bytes_max=1 << 20).records == b""
    assert again.available_bytes(5, Isolation.READ_UNCOMMITTED, cap=100) == 0
    again.advance_high_watermark(30)
    assert again.read(5, bytes_max=1 << 20).records


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=4), min_size=1, max_size=40),
    st.lists(st.integers(0, 39), max_size=3),
    st.integers(150, 1500),
)
def test_reader_of_the_compacted_log_ends_with_the_same_values(
    batches: list[list[tuple[int, bool]]], rounds: list[int], segment_bytes: int
) -> None:
    """Whatever was written and whenever it was compacted: same final value per key, a subsequence of the records, same
    end."""
    log = new_log(internal_segment_bytes=segment_bytes, delete_retention_ms=DAY_MS)
    written: list[Seen] = []
    for number, pairs in enumerate(batches):
        put(log, *[(f"k{key}", f"v{number}" if has_value else None) for key, has_value in pairs])
        written += [(len(written) + i, *rest) for i, (_, *rest) in enumerate(seen(log)[-len(pairs) :])]  # type: ignore[misc]
        if number in rounds:
            log.roll(NOW_MS)
            compact(log, NOW_MS, force=True)
    log.roll(NOW_MS)
    compact(log, NOW_MS, force=True)
    after = seen(log)
    assert {key: value for _, key, value, _ in after} == {key: value for _, key, value, _ in written}
    assert len({key for _, key, _, _ in after}) == len(after)
    assert [record for record in written if record in set(after)] == after
    assert log.log_end_offset == len(written)
    log.close(NOW_MS)
    for is_clean in (True, False):
        again = Log.open(log.storage, log.config, wall_ms=NOW_MS, clean=is_clean)
        assert seen(again) == after
        assert again.log_end_offset == len(written)


# --- crashes


class CrashingStorage(MemoryStorage):
    """Dies at the n-th change of the directory."""

    class Crash(Exception):
        """The process is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.changes_left: int | None = None

    def _change(self) -> None:
        if self.changes_left is not None:
            if self.changes_left == 0:
                raise self.Crash
            self.changes_left -= 1

    def open(self, name: str) -> File:
        self._change()
        return super().open(name)

    def rename(self, name: str, to: str) -> None:
        self._change()
        super().rename(name, to)

    def delete(self, name: str) -> None:
        self._change()
        super().delete(name)


@pytest.mark.parametrize("crash_at", range(24))
def test_crash_at_any_point_of_compaction_loses_no_last_value(crash_at: int) -> None:
    storage = CrashingStorage()
    log = new_log(storage)
    for number in range(24):
        put(log, (f"k{number % 5}", f"v{number}"))
    log.roll(NOW_MS)
    expected = {key: value for _, key, value, _ in seen(log)}
    storage.changes_left = crash_at
    with contextlib.suppress(CrashingStorage.Crash):
        compact(log, NOW_MS, force=True)
    storage.changes_left = None
    again = Log.open(storage, log.config, wall_ms=NOW_MS)
    assert {key: value for _, key, value, _ in seen(again)} == expected
    assert again.log_end_offset == 24
    offsets = [record[0] for record in seen(again)]
    assert offsets == sorted(offsets)
    assert not [name for name in storage.file_names() if name.endswith((".cleaned", ".swap"))]


def test_damaged_records_inside_a_sound_batch_are_left_as_they_are() -> None:
    chance = random.Random(5)
    log = new_log(cleanup_policy=("delete",), internal_segment_bytes=5000)
    from pykclient.protocol.batch_header import build_batch

    noise = build_batch(
        chance.randbytes(50), base_offset=0, partition_leader_epoch=0, attributes=0, last_offset_delta=2,
        base_timestamp=0, max_timestamp=0, producer_id=-1, producer_epoch=-1, base_sequence=-1, record_count=3,
    )  # fmt: skip
    log.append_as_leader(noise, leader_epoch=0, wall_ms=NOW_MS)
    log.advance_high_watermark(3)
    log.config = options(internal_segment_bytes=5000)
    put(log, ("k", "1"))
    put(log, ("k", "2"))
    clean(log)
    assert [header.base_offset for header in iter_batches(raw(log))] == [0, 4]
