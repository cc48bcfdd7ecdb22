"""The sparse indexes and the small files beside the segments: floor look-up, truncation, and what damaged files
become."""

from __future__ import annotations

import pathlib
import random
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker import checkpoints
from pykclient.broker.index import AbortedTransaction, OffsetIndex, TimeIndex, TransactionIndex
from pykclient.broker.leader_epochs import FILE_NAME, EpochStart, LeaderEpochs
from pykclient.broker.storage import DirectoryStorage, MemoryStorage, _OpenFiles
from pykclient.errors import KafkaStorageError
from pykclient.types import TopicPartition

MIB = 1 << 20


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(100, (100, 0)), (104, (100, 0)), (105, (105, 700)), (106, (105, 700)), (119, (110, 1500)), (120, (120, 2600)),
     (10**9, (120, 2600))],
)  # fmt: skip
def test_offset_look_up_gives_the_entry_at_or_before(wanted: int, found: tuple[int, int]) -> None:
    index = OffsetIndex(100, bytes_max=MIB)
    for offset, position in [(105, 700), (110, 1500), (120, 2600)]:
        index.append(offset, position)
    assert index.lookup(wanted) == found


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 5000)), max_size=60),
    st.integers(-5, 3100),
    st.integers(0, 3100),
)
def test_offset_index_agrees_with_a_linear_search(steps: list[tuple[int, int]], wanted: int, cut: int) -> None:
    base = 1000
    index = OffsetIndex(base, bytes_max=MIB)
    entries: list[tuple[int, int]] = []
    offset, position = base, 0
    for offset_step, position_step in steps:
        offset, position = offset + offset_step, position + position_step
        index.append(offset, position)
        entries.append((offset, position))
    wanted += base
    expected = [(base, 0)] + [entry for entry in entries if entry[0] <= wanted]
    assert index.lookup(wanted) == expected[-1]
    assert index.position_at_or_before(cut * 80) == max([0] + [entry[1] for entry in entries if entry[1] <= cut * 80])
    loaded = OffsetIndex(base, bytes_max=MIB)
    assert loaded.load(index.to_bytes(), log_bytes=position + 1)
    assert loaded.to_bytes() == index.to_bytes()
    index.truncate_to(base + cut)
    kept = [entry for entry in entries if entry[0] < base + cut]
    assert len(index) == len(kept)
    assert index.last() == (kept[-1] if kept else (base, 0))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 9)), max_size=60), st.integers(-1, 600))
def test_time_index_agrees_with_a_linear_search(steps: list[tuple[int, int]], wanted: int) -> None:
    index = TimeIndex(50, bytes_max=MIB)
    entries: list[tuple[int, int]] = []
    offset = 50
    for timestamp, offset_step in steps:
        offset += offset_step
        index.append(timestamp, offset)
        if not entries or timestamp > entries[-1][0]:
            entries.append((timestamp, offset))
    assert list(index.entries()) == entries
    expected = [entry for entry in entries if entry[0] <= wanted]
    assert index.lookup(wanted) == (expected[-1] if expected else None)
    loaded = TimeIndex(50, bytes_max=MIB)
    assert loaded.load(index.to_bytes(), next_offset_max=offset + 1)
    assert list(loaded.entries()) == entries


def test_full_indexes_ask_for_a_new_segment() -> None:
    offsets, times = OffsetIndex(0, bytes_max=24), TimeIndex(0, bytes_max=36)
    states = []
    for number in range(1, 4):
        offsets.append(number, number)
        times.append(number, number)
        states.append((offsets.is_full, times.is_full))
    assert states == [(False, False), (False, True), (True, True)]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 10_000))
def test_any_bytes_load_into_a_sound_index_or_none(content: bytes, bound: int) -> None:
    """Never an exception, and whatever is taken keeps the order that searching needs."""
    offsets, times, transactions = OffsetIndex(7, bytes_max=MIB), TimeIndex(7, bytes_max=MIB), TransactionIndex()
    if offsets.load(content, log_bytes=bound):
        assert offsets.to_bytes() == content
        assert offsets.last().position < max(bound, 1)
    else:
        assert len(offsets) == 0
    if times.load(content, next_offset_max=bound):
        assert times.to_bytes() == content
    else:
        assert len(times) == 0
    if transactions.load(content, base_offset=7, next_offset_max=bound):
        assert transactions.to_bytes() == content
    else:
        assert transactions.entries == []


def test_aborted_transactions_are_found_by_overlap() -> None:
    index = TransactionIndex()
    entries = [AbortedTransaction(1, 10, 19, 5), AbortedTransaction(2, 5, 29, 30), AbortedTransaction(1, 25, 40, 41)]
    for entry in entries:
        index.append(entry)
    found: list[AbortedTransaction] = []
    assert not index.collect(0, 100, found)
    assert found == entries
    found = []
    assert index.collect(20, 25, found)  # the second one's last stable offset says that nothing later can matter
    assert found == [entries[1]]
    index.truncate_to(40)
    assert index.entries == entries[:2]


# --- leader epochs


def test_epochs_answer_where_they_ended() -> None:
    epochs = LeaderEpochs(MemoryStorage())
    assert epochs.end_offset(0, 10) == (-1, -1)
    for epoch, start in [(2, 0), (5, 100), (6, 150)]:
        epochs.assign(epoch, start)
    table = {-1: (-1, -1), 0: (0, 0), 2: (2, 100), 3: (2, 100), 5: (5, 150), 6: (6, 200), 7: (-1, -1)}
    assert {epoch: tuple(epochs.end_offset(epoch, 200)) for epoch in table} == table
    assert [epochs.epoch_of(offset) for offset in (0, 99, 100, 149, 150, 999)] == [2, 2, 5, 5, 6, 6]


def test_epochs_drop_what_a_newer_truth_contradicts() -> None:
    epochs = LeaderEpochs(MemoryStorage())
    for epoch, start in [(1, 0), (2, 10), (3, 20)]:
        epochs.assign(epoch, start)
    epochs.assign(3, 30)  # known already: the first offset stands
    assert list(epochs.entries) == [(1, 0), (2, 10), (3, 20)]
    epochs.assign(4, 20)  # epoch 3 wrote nothing after all
    assert list(epochs.entries) == [(1, 0), (2, 10), (4, 20)]
    epochs.truncate_from_end(15)
    assert list(epochs.entries) == [(1, 0), (2, 10)]
    epochs.truncate_from_start(12)
    assert list(epochs.entries) == [(2, 12)]


@pytest.mark.parametrize(
    "content", [b"", b"1\n0\n", b"0\n2\n1 0\n", b"0\n1\n1 x\n", b"0\n2\n2 0\n1 5\n", b"0\n1\n-1 0\n", b"\xff\xfe", b"0"]
)
def test_damaged_epoch_file_counts_as_none(content: bytes) -> None:
    storage = MemoryStorage()
    storage.replace(FILE_NAME, content)
    assert LeaderEpochs(storage).entries == ()


def test_epochs_survive_a_restart() -> None:
    storage = MemoryStorage()
    epochs = LeaderEpochs(storage)
    epochs.assign(1, 0)
    epochs.assign(4, 33)
    assert LeaderEpochs(storage).entries == (EpochStart(1, 0), EpochStart(4, 33))
    assert storage.read_all(FILE_NAME) == b"0\n2\n1 0\n4 33\n"


# --- checkpoints and storage


def test_checkpoints_are_read_back_in_kafkas_format() -> None:
    storage = MemoryStorage()
    offsets = {TopicPartition("b", 0): 5, TopicPartition("a.b_c-d", 10): 0}
    checkpoints.write_offsets(storage, checkpoints.HIGH_WATERMARKS, offsets)
    assert storage.read_all(checkpoints.HIGH_WATERMARKS) == b"0\n2\na.b_c-d 10 0\nb 0 5\n"
    assert checkpoints.read_offsets(storage, checkpoints.HIGH_WATERMARKS) == offsets
    topic_id = uuid.UUID(int=5)
    checkpoints.write_topic_id(storage, topic_id)
    assert checkpoints.read_topic_id(storage) == topic_id


@pytest.mark.parametrize(
    "content", [b"", b"0\n", b"0\n3\na 0 1\n", b"9\n0\n", b"0\n1\na 0 -5\n", b"0\n1\na b c\n", b"\xff"]
)
def test_damaged_checkpoints_count_as_none(content: bytes) -> None:
    storage = MemoryStorage()
    storage.replace(checkpoints.LOG_STARTS, content)
    storage.replace(checkpoints.PARTITION_METADATA, content)
    assert checkpoints.read_offsets(storage, checkpoints.LOG_STARTS) == {}
    assert checkpoints.read_topic_id(storage) is None


def test_mark_of_a_clean_stop_is_taken_once() -> None:
    storage = MemoryStorage()
    assert not checkpoints.take_clean_shutdown(storage)
    checkpoints.mark_clean_shutdown(storage)
    assert checkpoints.take_clean_shutdown(storage)
    assert not checkpoints.take_clean_shutdown(storage)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "/etc/passwd", "a\0b", "a\\b", "x" * 256])
def test_storage_refuses_names_that_are_not_plain(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    for storage in (MemoryStorage(), DirectoryStorage(str(tmp_path_factory.mktemp("s") / "d"))):
        for use in (storage.open, storage.directory, lambda name, storage=storage: storage.replace(name, b"")):
            with pytest.raises(KafkaStorageError):
                use(name)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_memory_and_disk_behave_alike(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    memory = MemoryStorage()
    disk = DirectoryStorage(str(tmp_path_factory.mktemp("s")))
    files = [(memory.open("f"), disk.open("f"))]
    for _ in range(30):
        kind = chance.choice(["append", "read", "truncate", "close", "rename", "replace"])
        size, position = chance.randrange(200), chance.randrange(400)
        parts = [chance.randbytes(chance.randrange(50)) for _ in range(chance.randrange(1, 4))]
        for first, second in files:
            if kind == "append":
                first.append(parts)
                second.append(parts)
            elif kind == "truncate":
                first.truncate(position)
                second.truncate(position)
            elif kind == "close":
                second.close()
            assert first.size == second.size
            assert first.read(position, size) == second.read(position, size)
        if kind == "replace":
            memory.replace("g", parts[0])
            disk.replace("g", parts[0])
        elif kind == "rename" and "g" in memory.file_names():
            memory.rename("g", "h")
            disk.rename("g", "h")
        assert memory.file_names() == disk.file_names()
        assert memory.read_all("h") == disk.read_all("h")
    for _, file in files:
        file.close()


def test_open_files_of_a_directory_tree_are_limited(tmp_path: pathlib.Path) -> None:
    open_files = _OpenFiles(3)
    root = DirectoryStorage(str(tmp_path), open_files)
    files = [root.directory(f"d{number % 2}").open(f"f{number}") for number in range(10)]
    for _ in range(2):
        for number, file in enumerate(files):
            file.append([b"%d" % number])
            assert len(open_files) <= 3
    assert [file.read(0, 10) for file in files] == [b"%d%d" % (number, number) for number in range(10)]
    for file in files:
        file.close()
    assert len(open_files) == 0
