"""The log: what goes in comes out, in order and whole, also after crashes, retention, truncation and damaged files."""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.log import AppendOrigin, AppendResult, Isolation, Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.log_validation import RejectedRecords, RejectedTimestamps
from pykclient.broker.storage import DirectoryStorage, File, MemoryStorage, Storage
from pykclient.errors import (
    BrokerError,
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    KafkaStorageError,
    MessageTooLarge,
    OffsetOutOfRange,
    RecordListTooLarge,
)
from pykclient.protocol.batch_header import patch_crc
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.records import decode_all, encode_batch, iter_batches
from pykclient.types import TimestampType
from tests.fuzz.fuzz_log_recovery import one as damaged_directory

NOW_MS = 1_700_000_000_000


def config(**options: object) -> LogConfig:
    """Options by Python name: ``config(segment_ms=5)``."""
    return LogConfig(**options)  # type: ignore[arg-type]


SMALL = config(internal_segment_bytes=2000, index_interval_bytes=200)


def batch(*values: str, timestamp: int = NOW_MS, key: str | None = "k", **options: object) -> bytes:
    records = [(timestamp, key.encode() if key is not None else None, value.encode(), None) for value in values]
    return encode_batch(records, **options)  # type: ignore[arg-type]


def append(log: Log, *values: str, wall_ms: int = NOW_MS, commit: bool = True, **options: object) -> AppendResult:
    result = log.append_as_leader(batch(*values, **options), leader_epoch=0, wall_ms=wall_ms)  # type: ignore[arg-type]
    if commit:
        log.advance_high_watermark(log.log_end_offset)
    return result


def mark(log: Log, producer_id: int, *, commit: bool, epoch: int = 0) -> AppendResult:
    marker = encode_end_transaction_marker(
        commit=commit, producer_id=producer_id, producer_epoch=epoch, coordinator_epoch=0, timestamp=NOW_MS
    )
    result = log.append_as_leader(marker, leader_epoch=0, wall_ms=NOW_MS, origin=AppendOrigin.COORDINATOR)
    log.advance_high_watermark(log.log_end_offset)
    return result


def values_of(records: bytes) -> list[str]:
    return [
        (record.value or b"").decode()
        for header, found in decode_all(records, "t", 0)
        if not header.is_control
        for record in found
    ]


def read_all(log: Log, isolation: Isolation = Isolation.LOG_END, from_offset: int | None = None) -> list[str]:
    """Everything, fetched in small steps as a consumer does."""
    offset = log.log_start_offset if from_offset is None else from_offset
    found: list[str] = []
    while True:
        read = log.read(offset, bytes_max=300, isolation=isolation)
        if not read.records:
            return found
        last = list(iter_batches(read.records))[-1]
        skipped = max(0, offset - next(iter_batches(read.records)).base_offset)
        found += values_of(read.records)[skipped:]
        offset = last.next_offset


@pytest.fixture(params=["memory", "directory"])
def storage(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Storage:
    return MemoryStorage() if request.param == "memory" else DirectoryStorage(str(tmp_path / "t-0"))


def reopen(log: Log, *, clean: bool) -> Log:
    """What a restart does; without ``clean`` the process was killed."""
    closed = log.close(NOW_MS) if clean else False
    return Log.open(
        log.storage,
        log.config,
        wall_ms=NOW_MS,
        clean=closed,
        recovery_point=log.recovery_point,
        log_start_offset=log.log_start_offset,
    )


# --- appending and reading


def test_batches_get_consecutive_offsets_and_come_back_as_sent(storage: Storage) -> None:
    log = Log.open(storage, wall_ms=NOW_MS)
    assert append(log, "a", "b") == AppendResult(0, 1, -1, 0)
    assert append(log, "c") == AppendResult(2, 2, -1, 0)
    read = log.read(0, bytes_max=10_000)
    assert values_of(read.records) == ["a", "b", "c"]
    assert [header.base_offset for header in iter_batches(read.records)] == [0, 2]
    assert {header.partition_leader_epoch for header in iter_batches(read.records)} == {0}
    assert (read.high_watermark, read.last_stable_offset, read.log_start_offset) == (3, 3, 0)


def test_reading_inside_a_batch_gives_the_whole_batch(storage: Storage) -> None:
    log = Log.open(storage, wall_ms=NOW_MS)
    append(log, "a", "b", "c")
    append(log, "d")
    assert values_of(log.read(1, bytes_max=10_000).records) == ["a", "b", "c", "d"]
    assert values_of(log.read(3, bytes_max=10_000).records) == ["d"]
    assert log.read(4, bytes_max=10_000).records == b""


@pytest.mark.parametrize("offset", [-1, 5, 100])
def test_reading_outside_of_the_log_is_out_of_range(storage: Storage, offset: int) -> None:
    log = Log.open(storage, wall_ms=NOW_MS)
    append(log, "a", "b", "c", "d")
    with pytest.raises(OffsetOutOfRange):
        log.read(offset, bytes_max=100)


def test_bytes_max_cuts_at_a_batch_boundary_but_the_first_batch_always_comes() -> None:
    log = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    for number in range(5):
        append(log, f"value-{number}")
    size = len(log.read(0, bytes_max=1 << 20).records) // 5
    assert len(log.read(0, bytes_max=size * 3 + size // 2).records) == size * 3
    assert len(log.read(0, bytes_max=size * 3).records) == size * 3
    assert len(log.read(0, bytes_max=1).records) == size
    assert log.read(0, bytes_max=1, at_least_one=False).records == b""


def test_consumers_see_the_high_watermark_and_followers_the_log_end() -> None:
    log = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    append(log, "a")
    append(log, "b", commit=False)
    assert read_all(log, Isolation.READ_UNCOMMITTED) == ["a"]
    assert read_all(log, Isolation.LOG_END) == ["a", "b"]
    assert log.read(1, bytes_max=100).records == b""
    assert log.advance_high_watermark(99)
    assert log.high_watermark == 2
    assert not log.advance_high_watermark(1)
    assert read_all(log, Isolation.READ_UNCOMMITTED) == ["a", "b"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=60),
    st.integers(1, 5000),
    st.sampled_from([0, 100, 400, 4096]),
    st.sampled_from([400, 900, 100_000]),
)
def test_any_split_into_batches_segments_and_fetches_gives_the_same_records(
    sizes: list[int], bytes_max: int, interval: int, segment_bytes: int
) -> None:
    log = Log.open(
        MemoryStorage(), config(internal_segment_bytes=segment_bytes, index_interval_bytes=interval), wall_ms=NOW_MS
    )
    expected: list[str] = []
    for count in sizes:
        values = [f"v{len(expected) + index}" for index in range(count)]
        append(log, *values)
        expected += values
    offset, found = 0, list[str]()
    while offset < log.log_end_offset:
        records = log.read(offset, bytes_max=bytes_max).records
        headers = list(iter_batches(records))
        assert sum(header.size for header in headers) == len(records)
        assert len(headers) == 1 or len(records) <= bytes_max
        found += values_of(records)
        offset = headers[-1].next_offset
    assert found == expected
    for offset in range(log.log_end_offset):
        assert (
            values_of(log.read(offset, bytes_max=1).records)[0]
            == expected[next(iter_batches(log.read(offset, bytes_max=1).records)).base_offset]
        )


# --- what is refused


def corrupted(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize(
    ("records", "error"),
    [
        (None, InvalidRecord),
        (b"", InvalidRecord),
        (b"\0" * 40, CorruptMessage),
        (batch("a")[:-1], InvalidRecord),
        (batch("a") + batch("b"), InvalidRecord),
        (corrupted(batch("a")), CorruptMessage),
        (batch("a", base_offset=7), InvalidRecord),
        (batch("a", control=True), InvalidRecord),
        (batch("a", producer_id=5, producer_epoch=0), InvalidRecord),
        (batch("a", transactional=True), InvalidRecord),
        (batch("a", last_offset=3), InvalidRecord),
        (encode_batch([]), InvalidRecord),
        (batch("a", timestamp_type=TimestampType.LOG_APPEND_TIME), InvalidTimestamp),
        (batch("x" * 3000), MessageTooLarge),
    ],
)
def test_bad_batches_are_refused_and_leave_no_trace(records: bytes | None, error: type[BrokerError]) -> None:
    log = Log.open(MemoryStorage(), config(max_message_bytes=2000), wall_ms=NOW_MS)
    append(log, "first")
    with pytest.raises(error):
        log.append_as_leader(records, leader_epoch=0, wall_ms=NOW_MS)
    assert read_all(log) == ["first"]
    assert append(log, "second").base_offset == 1


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_any_bytes_are_taken_or_refused_with_a_brokers_error(seed: int, compact: bool) -> None:
    chance = random.Random(seed)
    codec = chance.choice(list(CompressionType))
    content = bytearray(batch(*["value"] * chance.randrange(1, 5), compression=codec))
    for _ in range(chance.randrange(1, 4)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    if chance.random() < 0.7 and len(content) > 61:
        with contextlib.suppress(Exception):
            patch_crc(content)  # so that the checks behind the checksum are reached
    policy = ("compact",) if compact else ("delete",)
    log = Log.open(
        MemoryStorage(), config(cleanup_policy=policy, message_timestamp_before_max_ms=10**15), wall_ms=NOW_MS
    )
    try:
        log.append_as_leader(content, leader_epoch=0, wall_ms=NOW_MS)
    except BrokerError:
        assert log.log_end_offset == 0
    else:
        assert log.log_end_offset == log.read(0, bytes_max=1, isolation=Isolation.LOG_END).records[26] + 1
    assert append(log, "next").base_offset == log.log_end_offset - 1


def test_batch_larger_than_a_segment_is_refused() -> None:
    log = Log.open(MemoryStorage(), SMALL, wall_ms=NOW_MS)
    with pytest.raises(RecordListTooLarge):
        append(log, "x" * 3000)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_formats_are_refused(magic: int) -> None:
    content = bytearray(batch("a"))
    content[16] = magic
    log = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    with pytest.raises(InvalidRecord):
        log.append_as_leader(content, leader_epoch=0, wall_ms=NOW_MS)


def test_compacted_topic_names_the_records_without_key() -> None:
    log = Log.open(MemoryStorage(), config(cleanup_policy=("compact",)), wall_ms=NOW_MS)
    records = encode_batch([(NOW_MS, b"k", b"1", None), (NOW_MS, None, b"2", None), (NOW_MS, None, b"3", None)])
    with pytest.raises(RejectedRecords) as caught:
        log.append_as_leader(records, leader_epoch=0, wall_ms=NOW_MS)
    assert [error.batch_index for error in caught.value.record_errors] == [1, 2]
    assert log.log_end_offset == 0


@pytest.mark.parametrize(
    ("timestamp", "accepted"),
    [
        (NOW_MS, True),
        (NOW_MS + 1000, True),
        (NOW_MS + 1001, False),
        (NOW_MS - 500, True),
        (NOW_MS - 501, False),
        (-1, True),
    ],
)
def test_timestamps_out_of_range_are_refused(timestamp: int, accepted: bool) -> None:
    limits = config(message_timestamp_after_max_ms=1000, message_timestamp_before_max_ms=500)
    log = Log.open(MemoryStorage(), limits, wall_ms=NOW_MS)
    if accepted:
        append(log, "a", timestamp=timestamp)
    else:
        with pytest.raises(RejectedTimestamps) as caught:
            append(log, "a", timestamp=timestamp)
        assert [error.batch_index for error in caught.value.record_errors] == [0]


def test_log_append_time_replaces_timestamps_and_keeps_the_checksum_right() -> None:
    log = Log.open(MemoryStorage(), config(message_timestamp_type="LogAppendTime"), wall_ms=NOW_MS)
    assert append(log, "a", "b", timestamp=5).log_append_time_ms == NOW_MS
    ((header, records),) = decode_all(log.read(0, bytes_max=1000).records, "t", 0)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp for record in records] == [NOW_MS, NOW_MS]


@pytest.mark.parametrize("source", ["none", "gzip", "zstd"])
@pytest.mark.parametrize("target", ["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"])
def test_topic_codec_is_applied_and_producer_keeps_the_senders(source: str, target: str) -> None:
    sent = CompressionType[source.upper()]
    log = Log.open(MemoryStorage(), config(compression_type=target), wall_ms=NOW_MS)
    append(log, *["value"] * 20, compression=sent, producer_id=7, producer_epoch=1, base_sequence=0)
    ((header, records),) = decode_all(log.read(0, bytes_max=1).records, "t", 0)
    wanted = {"producer": sent, "uncompressed": CompressionType.NONE}.get(target)
    assert header.compression is (wanted if wanted is not None else CompressionType[target.upper()])
    assert [record.value for record in records] == [b"value"] * 20
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 1, 0)


# --- rolling


def test_segments_roll_by_size_by_time_and_by_index(storage: Storage) -> None:
    by_size = Log.open(storage.directory("size"), SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(by_size, f"{number:050d}")
    assert len(by_size.segments) > 2
    assert all(segment.size <= 2000 for segment in by_size.segments)
    by_time = Log.open(storage.directory("time"), config(segment_ms=1000), wall_ms=NOW_MS)
    for step in (0, 500, 1000, 1001, 1500, 2002):
        append(by_time, "x", timestamp=NOW_MS + step)
    assert [segment.base_offset for segment in by_time.segments] == [0, 3, 5]
    by_index = Log.open(
        storage.directory("index"), config(segment_index_bytes=32, index_interval_bytes=0), wall_ms=NOW_MS
    )
    for number in range(20):
        append(by_index, "x", timestamp=NOW_MS + number)
    assert len(by_index.segments) > 3
    assert read_all(by_index) == ["x"] * 20


# --- restarts


@pytest.mark.parametrize("clean", [True, False])
def test_restart_keeps_everything_and_goes_on(storage: Storage, clean: bool) -> None:
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(100):
        append(log, f"value-{number}", producer_id=9, producer_epoch=0, base_sequence=number)
    log = reopen(log, clean=clean)
    assert log.log_end_offset == 100
    assert read_all(log) == [f"value-{number}" for number in range(100)]
    log.advance_high_watermark(100)
    for number in range(95, 100):
        again = append(log, f"value-{number}", producer_id=9, producer_epoch=0, base_sequence=number)
        assert (again.base_offset, again.duplicate) == (number, True)
    assert append(log, "next", producer_id=9, producer_epoch=0, base_sequence=100).base_offset == 100
    assert log.epochs.entries == ((0, 0),)


@pytest.mark.parametrize("cut", [1, 30, 61, 70])
def test_torn_tail_is_cut_and_the_log_goes_on(storage: Storage, cut: int) -> None:
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(30):
        append(log, f"value-{number}")
    segment = log.segments[-1]
    name = f"{segment.base_offset:020d}.log"
    content = storage.read_all(name)
    assert content is not None
    log.segments[-1].close()
    storage.replace(name, content[:-cut])
    log = reopen(log, clean=False)
    assert log.log_end_offset == 29
    assert read_all(log) == [f"value-{number}" for number in range(29)]
    assert append(log, "again").base_offset == 29


def test_flipped_bit_behind_the_recovery_point_ends_the_log_there() -> None:
    storage = MemoryStorage()
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(log, f"value-{number}")
    assert len(log.segments) > 2
    base = log.segments[1].base_offset
    name = f"{base:020d}.log"
    content = bytearray(storage.read_all(name) or b"")
    content[100] ^= 4
    storage.replace(name, content)
    log = reopen(log, clean=False)
    assert log.segments[-1].base_offset == base
    assert read_all(log) == [f"value-{number}" for number in range(log.log_end_offset)]
    assert log.log_end_offset < base + 3
    assert append(log, "on").base_offset == base + 1


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (suffix, damage)
        for suffix in (".index", ".timeindex", ".txnindex", ".snapshot")
        for damage in ("missing", "empty", "noise", "cut")
        if (suffix, damage) != (".txnindex", "empty")  # an empty file is what a log without aborted transactions has
    ],
)
def test_damaged_indexes_and_snapshots_are_built_again(suffix: str, damage: str) -> None:
    storage = MemoryStorage()
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(log, f"v{number}", timestamp=NOW_MS + number, producer_id=1, producer_epoch=0, base_sequence=number,
               transactional=True)  # fmt: skip
        if number % 10 == 9:
            mark(log, 1, commit=number % 20 == 9)
    log.close(NOW_MS)
    before = (read_all(log), log.aborted_transactions(0, 100), log.find_time(NOW_MS + 37))
    for name in [name for name in storage.file_names() if name.endswith(suffix)]:
        content = storage.read_all(name) or b""
        if damage == "missing":
            storage.delete(name)
        else:
            noise = random.Random(7).randbytes(len(content))
            storage.replace(name, {"empty": b"", "noise": noise, "cut": content[:-3]}[damage])
    reopened = Log.open(storage, SMALL, wall_ms=NOW_MS, clean=True, recovery_point=log.recovery_point)
    reopened.advance_high_watermark(log.log_end_offset)
    assert (read_all(reopened), reopened.aborted_transactions(0, 100), reopened.find_time(NOW_MS + 37)) == before
    assert append(reopened, "v59", producer_id=1, producer_epoch=0, base_sequence=59, transactional=True).duplicate


@pytest.mark.parametrize("position", [2, 9, 20, 63, 70])
def test_bits_that_flip_while_the_broker_is_down_are_never_served(position: int) -> None:
    storage = MemoryStorage()
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(log, f"value-{number}")
    log.close(NOW_MS)
    content = bytearray(storage.read_all(f"{0:020d}.log") or b"")
    content[position] ^= 2
    storage.replace(f"{0:020d}.log", content)
    log = Log.open(storage, SMALL, wall_ms=NOW_MS, clean=True, recovery_point=log.recovery_point)
    log.advance_high_watermark(60)
    try:
        assert all(value.startswith("value-") for value in values_of(log.read(0, bytes_max=1 << 20).records))
        assert position < 8  # the base offset has no checksum; readers see the gap
    except CorruptMessage:
        pass
    later = log.segments[1].base_offset
    assert values_of(log.read(later, bytes_max=1).records) == [f"value-{later}"]


@pytest.mark.parametrize("block", range(4))
def test_damaged_directories_open_to_sound_logs(block: int) -> None:
    """The recovery fuzzer with fixed seeds; tests/fuzz runs it for longer."""
    for seed in range(block * 25, block * 25 + 25):
        damaged_directory(seed)


def test_damaged_swap_file_leaves_the_segments_that_it_would_have_replaced() -> None:
    storage = MemoryStorage()
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(log, f"value-{number}")
    first = storage.read_all(f"{0:020d}.log") or b""
    storage.replace(f"{0:020d}.log.swap", first[: len(first) // 2])
    log = reopen(log, clean=False)
    assert read_all(log) == [f"value-{number}" for number in range(60)]


def test_foreign_files_in_the_directory_do_no_harm(storage: Storage) -> None:
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    append(log, "a")
    for name in ("notes.txt", "1.log", "x.log", "00000000000000000000.log.cleaned", "99999999999999999999.log"):
        storage.replace(name, b"whatever")
    log = reopen(log, clean=False)
    assert read_all(log) == ["a"]


def test_killed_process_loses_nothing_that_it_acknowledged(tmp_path: pathlib.Path) -> None:
    """A child appends and prints each offset after it was written; it is killed in the middle of its work, several
    times."""
    acknowledged = 0
    for kill_after in (3, 50, 211, 400):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        with child.stdout:
            for line in itertools.islice(child.stdout, kill_after):
                acknowledged = int(line)
            child.kill()
            rest = child.stdout.read().split("\n")[:-1]
        child.wait()
        acknowledged = int(rest[-1]) if rest else acknowledged
        log = Log.open(DirectoryStorage(str(tmp_path)), SMALL, wall_ms=NOW_MS)
        assert log.log_end_offset > acknowledged
        assert read_all(log) == [f"value-{number}" for number in range(log.log_end_offset)]
        log.segments[-1].close()


CHILD = """
import sys
from pykclient.broker.log import Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.storage import DirectoryStorage
from pykclient.protocol.records import encode_batch
config = LogConfig(internal_segment_bytes=2000, index_interval_bytes=200)
log = Log.open(DirectoryStorage(sys.argv[1]), config, wall_ms=1)
while True:
    batch = encode_batch([(1, b"k", b"value-%d" % log.log_end_offset, None)])
    print(log.append_as_leader(batch, leader_epoch=0, wall_ms=1).base_offset, flush=True)
"""


# --- failing disks


class FaultyFile:
    """A file that does what it is told to: fails to write, writes a part, fails to sync."""

    def __init__(self, file: File, faults: set[str]) -> None:
        self._file, self._faults = file, faults

    @property
    def size(self) -> int:
        return self._file.size

    def append(self, parts: Sequence[Buffer]) -> None:
        if "full" in self._faults:
            raise OSError(28, "No space left on device")
        self._file.append(parts)

    def read(self, position: int, size: int) -> bytes:
        if "read" in self._faults:
            raise OSError(5, "Input/output error")
        return self._file.read(position, size)

    def truncate(self, size: int) -> None:
        self._file.truncate(size)

    def sync(self) -> None:
        if "sync" in self._faults:
            raise OSError(5, "Input/output error")
        self._file.sync()

    def close(self) -> None:
        self._file.close()


class FaultyStorage(MemoryStorage):
    """A memory storage whose files fail on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: set[str] = set()

    def open(self, name: str) -> File:
        return FaultyFile(super().open(name), self.faults)


def test_full_disk_refuses_the_write_and_keeps_what_was_acknowledged() -> None:
    storage = FaultyStorage()
    log = Log.open(storage, wall_ms=NOW_MS)
    append(log, "a", producer_id=1, producer_epoch=0, base_sequence=0)
    storage.faults.add("full")
    with pytest.raises(KafkaStorageError):
        append(log, "b", producer_id=1, producer_epoch=0, base_sequence=1)
    assert read_all(log) == ["a"]
    storage.faults.clear()
    assert append(log, "b", producer_id=1, producer_epoch=0, base_sequence=1).base_offset == 1
    assert read_all(log) == ["a", "b"]


def test_failed_sync_is_never_acknowledged_and_never_tried_again() -> None:
    storage = FaultyStorage()
    log = Log.open(storage, config(flush_messages=1), wall_ms=NOW_MS)
    append(log, "a")
    assert log.recovery_point == 1
    storage.faults.add("sync")
    with pytest.raises(KafkaStorageError):
        append(log, "b")
    storage.faults.clear()
    for attempt in (lambda: append(log, "c"), lambda: log.read(0, bytes_max=10), lambda: log.flush(NOW_MS)):
        with pytest.raises(KafkaStorageError):
            attempt()
    assert not log.close(NOW_MS)
    log = reopen(log, clean=False)
    assert read_all(log) == ["a", "b"]  # unknown to the producer, but consistent


def test_read_error_is_a_storage_error() -> None:
    storage = FaultyStorage()
    log = Log.open(storage, wall_ms=NOW_MS)
    append(log, "a")
    storage.faults.add("read")
    with pytest.raises(KafkaStorageError):
        log.read(0, bytes_max=100)


def test_short_write_on_disk_leaves_the_file_as_it_was(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    log = Log.open(DirectoryStorage(str(tmp_path)), wall_ms=NOW_MS)
    append(log, "a")
    real_writev: Callable[[int, Sequence[Buffer]], int] = os.writev

    def half(descriptor: int, parts: Sequence[Buffer]) -> int:
        content = b"".join(parts)
        return real_writev(descriptor, [content[: len(content) // 2]])

    def fail(descriptor: int, content: Buffer) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "writev", half)
        append(log, "completed by a second write")
        patch.setattr(os, "write", fail)
        with pytest.raises(KafkaStorageError):
            append(log, "lost")
    assert append(log, "b").base_offset == 2
    assert read_all(reopen(log, clean=False)) == ["a", "completed by a second write", "b"]


def test_flush_ms_syncs_in_housekeeping() -> None:
    log = Log.open(MemoryStorage(), config(flush_ms=1000), wall_ms=NOW_MS)
    append(log, "a")
    log.housekeeping(NOW_MS + 999, producer_expiration_ms=10**9)
    assert log.recovery_point == 0
    log.housekeeping(NOW_MS + 1000, producer_expiration_ms=10**9)
    assert log.recovery_point == 1


# --- time


def test_look_up_by_time_finds_the_record_inside_its_batch() -> None:
    log = Log.open(MemoryStorage(), SMALL, wall_ms=NOW_MS)
    for number in range(0, 90, 3):
        log.append_as_leader(
            encode_batch([(NOW_MS + number + step, b"k", b"v", None) for step in range(3)]),
            leader_epoch=4,
            wall_ms=NOW_MS,
        )
    for number in range(90):
        assert log.find_time(NOW_MS + number) == (NOW_MS + number, number, 4)
    assert log.find_time(0) == (NOW_MS, 0, 4)
    assert log.find_time(NOW_MS + 90) is None
    assert log.find_max_timestamp() == (NOW_MS + 89, 89, 4)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=40), st.integers(0, 51))
def test_look_up_by_time_agrees_with_a_scan_when_times_are_out_of_order(batches: list[list[int]], wanted: int) -> None:
    log = Log.open(MemoryStorage(), config(internal_segment_bytes=600, index_interval_bytes=80), wall_ms=NOW_MS)
    for times in batches:
        records = encode_batch([(time, b"k", b"v", None) for time in times])
        log.append_as_leader(records, leader_epoch=0, wall_ms=NOW_MS)
    flat = [time for times in batches for time in times]
    expected = next(((time, offset, 0) for offset, time in enumerate(flat) if time >= wanted), None)
    assert log.find_time(wanted) == expected
    largest = log.find_max_timestamp()
    assert largest is not None
    assert largest.timestamp == max(flat)
    assert flat[largest.offset] == max(flat)


# --- transactions


def test_open_transaction_holds_back_the_last_stable_offset() -> None:
    log = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    append(log, "plain")
    append(log, "t1", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    append(log, "t2", producer_id=2, producer_epoch=0, base_sequence=0, transactional=True)
    assert log.last_stable_offset == 1
    mark(log, 2, commit=True)
    assert log.last_stable_offset == 1
    assert read_all(log, Isolation.READ_COMMITTED) == ["plain"]
    mark(log, 1, commit=False)
    assert log.last_stable_offset == 5
    read = log.read(0, bytes_max=10_000, isolation=Isolation.READ_COMMITTED)
    assert read.aborted == ((1, 1, 4, 5),)
    assert log.read(0, bytes_max=10_000).aborted == ()


def test_marker_beyond_the_high_watermark_does_not_move_the_last_stable_offset() -> None:
    log = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    append(log, "t", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    marker = encode_end_transaction_marker(
        commit=True, producer_id=1, producer_epoch=0, coordinator_epoch=0, timestamp=NOW_MS
    )
    log.append_as_leader(marker, leader_epoch=0, wall_ms=NOW_MS, origin=AppendOrigin.COORDINATOR)
    assert (log.high_watermark, log.last_stable_offset) == (1, 0)
    log.advance_high_watermark(2)
    assert log.last_stable_offset == 2


# --- shorter logs


def test_retention_by_time_moves_the_log_start_and_may_empty_the_log() -> None:
    log = Log.open(MemoryStorage(), config(retention_ms=1000, segment_ms=100), wall_ms=NOW_MS)
    for number in range(10):
        append(log, f"v{number}", timestamp=NOW_MS + number * 101)
    assert len(log.segments) == 10
    assert log.apply_retention(NOW_MS + 1000) == 0
    assert log.apply_retention(NOW_MS + 1000 + 102) == 2
    assert (log.log_start_offset, log.log_end_offset) == (2, 10)
    assert read_all(log) == [f"v{number}" for number in range(2, 10)]
    with pytest.raises(OffsetOutOfRange):
        log.read(1, bytes_max=100)
    log.apply_retention(NOW_MS + 10_000)
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (10, 10, 1)
    assert append(log, "after", timestamp=NOW_MS).base_offset == 10


def test_retention_by_size_keeps_at_least_the_bytes_asked_for() -> None:
    log = Log.open(
        MemoryStorage(), config(internal_segment_bytes=500, retention_bytes=1200, retention_ms=-1), wall_ms=NOW_MS
    )
    for number in range(40):
        append(log, f"{number:030d}")
    before = log.size
    assert log.apply_retention(NOW_MS) > 0
    assert 1200 <= log.size <= 1700 < before
    assert read_all(log)[-1] == f"{39:030d}"


@pytest.mark.parametrize("limits", [{"retention_ms": 0}, {"retention_bytes": 0, "retention_ms": -1}])
def test_retention_never_deletes_what_is_not_committed(limits: dict[str, int]) -> None:
    log = Log.open(MemoryStorage(), config(segment_ms=10, **limits), wall_ms=NOW_MS)
    for number in range(5):
        append(log, "x", timestamp=NOW_MS + number * 20, commit=number < 2)
    log.apply_retention(NOW_MS + 10_000)
    assert log.log_start_offset == 2


def test_delete_records_moves_the_log_start_and_survives_a_restart() -> None:
    log = Log.open(MemoryStorage(), SMALL, wall_ms=NOW_MS)
    for number in range(60):
        append(log, f"v{number}")
    assert log.delete_records_before(37) == 37
    assert log.segments[0].base_offset <= 37
    assert read_all(log)[0] == "v37"
    with pytest.raises(OffsetOutOfRange):
        log.delete_records_before(61)
    log = reopen(log, clean=True)
    log.advance_high_watermark(60)
    assert log.log_start_offset == 37
    assert log.delete_records_before(-1) == 60
    assert read_all(log) == []


@pytest.mark.parametrize("offset", [0, 1, 17, 30, 59, 60])
def test_truncation_forgets_records_producers_and_epochs_behind_it(storage: Storage, offset: int) -> None:
    log = Log.open(storage, SMALL, wall_ms=NOW_MS)
    for number in range(60):
        records = batch(f"v{number}", timestamp=NOW_MS + number, producer_id=1, producer_epoch=0, base_sequence=number)
        log.append_as_leader(records, leader_epoch=number // 20, wall_ms=NOW_MS)
    log.advance_high_watermark(60)
    log.truncate_to(offset, wall_ms=NOW_MS)
    assert (log.log_end_offset, log.high_watermark) == (offset, offset)
    assert read_all(log) == [f"v{number}" for number in range(offset)]
    assert log.find_time(NOW_MS + offset) is None
    assert [entry for entry in log.epochs.entries if entry.start_offset >= offset] == []
    resent = append(log, "again", producer_id=1, producer_epoch=0, base_sequence=offset)
    assert (resent.base_offset, resent.duplicate) == (offset, False)
    assert read_all(reopen(log, clean=True))[-1] == "again"


def test_follower_takes_the_leaders_bytes_as_they_are() -> None:
    leader = Log.open(MemoryStorage(), wall_ms=NOW_MS)
    follower = Log.open(MemoryStorage(), SMALL, wall_ms=NOW_MS)
    for number in range(50):
        leader.append_as_leader(batch(f"v{number}"), leader_epoch=number // 10, wall_ms=NOW_MS)
    while follower.log_end_offset < 50:
        read = leader.read(follower.log_end_offset, bytes_max=700, isolation=Isolation.LOG_END)
        follower.append_as_follower(read.records + b"partial", wall_ms=NOW_MS)
    assert read_all(follower) == read_all(leader)
    assert follower.epochs.entries == leader.epochs.entries
    with pytest.raises(InvalidRecord):
        follower.append_as_follower(leader.read(10, bytes_max=1, isolation=Isolation.LOG_END).records, wall_ms=NOW_MS)
    with pytest.raises(CorruptMessage):
        follower.append_as_follower(corrupted(batch("x", base_offset=50)), wall_ms=NOW_MS)
