"""What a fetch brought: every committed record once, nothing aborted, and a position that always reaches the end."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.consumer.fetched import Aborted, FetchedPart, Frame, Usage
from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import read_header
from pykclient.protocol.columns import Columns
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.records import CompressionType, encode_batch
from pykclient.types import ConsumerRecord, TopicPartition

WHERE = TopicPartition("t", 0)
BYTES_MAX = 1 << 20


class Log(NamedTuple):
    """A partition's bytes, what was aborted, and which offsets a reader of either level must see."""

    data: bytes
    aborted: list[Aborted]
    markers: list[int]
    """Where each of those ended."""
    committed: list[int]
    everything: list[int]
    end: int


def marker(*, commit: bool, offset: int, producer_id: int) -> bytes:
    return encode_end_transaction_marker(
        commit=commit, base_offset=offset, producer_id=producer_id, producer_epoch=0, timestamp=1, coordinator_epoch=0
    )


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Transactions of several producers, interleaved, with gaps that compaction left."""
    offset, data = draw(st.integers(0, 50)), b""
    open_since: dict[int, tuple[int, list[int]]] = {}
    aborted: list[tuple[Aborted, int]] = []
    committed: list[int] = []
    everything: list[int] = []
    for _ in range(draw(st.integers(1, 12))):
        producer_id = draw(st.integers(0, 3))
        if producer_id in open_since and draw(st.booleans()):
            first, offsets = open_since.pop(producer_id)
            commits = draw(st.booleans())
            data += marker(commit=commits, offset=offset, producer_id=producer_id)
            if commits:
                committed += offsets
            else:
                aborted.append((Aborted(producer_id, first), offset))
            offset += 1
            continue
        count = draw(st.integers(1, 4))
        kept = sorted(draw(st.sets(st.integers(0, count - 1), max_size=count)))
        transactional = producer_id > 0
        data += encode_batch(
            [(1, None, b"%d" % (offset + index), None) for index in kept],
            base_offset=offset,
            offsets=[offset + index for index in kept],
            last_offset=offset + count - 1,
            base_timestamp=1,
            max_timestamp=1,
            compression=draw(st.sampled_from([CompressionType.NONE, CompressionType.LZ4])),
            producer_id=producer_id if transactional else -1,
            producer_epoch=0 if transactional else -1,
            base_sequence=0 if transactional else -1,
            transactional=transactional,
            partition_leader_epoch=2,
        )
        offsets = [offset + index for index in kept]
        everything += offsets
        if transactional:
            open_since.setdefault(producer_id, (offset, []))[1].extend(offsets)
        else:
            committed += offsets
        offset += count
        if draw(st.booleans()):
            offset += draw(st.integers(0, 5))  # whole batches that compaction took
    for _, offsets in open_since.values():
        # Brokers send a read_committed reader nothing beyond the last stable offset; here these count as committed.
        committed += offsets
    return Log(data, [a for a, _ in aborted], [at for _, at in aborted], sorted(committed), everything, offset)


def part(log: Log, *, committed: bool, at: int = 0) -> FetchedPart:
    """As a broker answers a fetch at this offset: from the batch that holds it on, with what was aborted since."""
    frame = Frame(len(log.data), 1, Usage())
    start = 0
    while (header := read_header(log.data, start)) is not None and header.next_offset <= at:
        start += header.size
    aborted = [each for each, end in zip(log.aborted, log.markers, strict=True) if end >= at]
    return FetchedPart(WHERE, memoryview(log.data)[start:], at, frame, 0, aborted if committed else None)


def read(
    fetched: FetchedPart, position: int = 0, records_max: int = 0
) -> tuple[list[ConsumerRecord[bytes, bytes]], int]:
    found: list[ConsumerRecord[bytes, bytes]] = []
    while (
        decoded := fetched.decode_next(position, check_crcs=True, bytes_max=BYTES_MAX, records_max=records_max)
    ) is not None:
        assert decoded.next_offset >= position, "a position never goes back"
        found += decoded.records  # type: ignore[arg-type]
        position = decoded.next_offset
    return found, position


def read_columns(fetched: FetchedPart, position: int, rows_max: int) -> tuple[list[int], list[bytes], int]:
    columns = Columns()
    while (
        appended := fetched.append_next(
            columns, position, check_crcs=True, bytes_max=BYTES_MAX, rows_max=rows_max, columns_bytes_max=BYTES_MAX
        )
    ) is not None:
        assert appended.next_offset >= position
        position = appended.next_offset
        fetched.passed(appended)
    ends = memoryview(columns.value.offsets).cast("i").tolist()
    values = [bytes(columns.value.data[start:end]) for start, end in pairwise(ends)]
    return memoryview(columns.offsets).cast("q").tolist(), values, position


@given(log=logs(), committed=st.booleans(), many=st.sampled_from([0, 1, 3, 1000]))
@settings(deadline=None, max_examples=150)
def test_each_level_sees_what_it_should_and_reaches_the_end(log: Log, committed: bool, many: int) -> None:
    fetched = part(log, committed=committed)
    end, epoch = fetched.end_offset()
    found, position = read(fetched, 0, many)
    assert [record.offset for record in found] == (log.committed if committed else log.everything)
    assert read_columns(part(log, committed=committed), 0, many) == (
        [record.offset for record in found],
        [record.value for record in found],
        position,
    )
    assert all(record.value == b"%d" % record.offset for record in found)
    assert position == end, "the next fetch and the position agree"
    assert epoch in (2, None)


@given(log=logs(), committed=st.booleans(), many=st.sampled_from([0, 4, 1000]), data=st.data())
@settings(deadline=None, max_examples=200)
def test_reading_from_the_middle_gives_the_rest(log: Log, committed: bool, many: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, log.end))
    found, position = read(part(log, committed=committed, at=start), start, many)
    wanted = log.committed if committed else log.everything
    assert [record.offset for record in found] == [offset for offset in wanted if offset >= start]
    assert position >= start


def test_an_aborted_transaction_before_the_fetch_does_not_hide_a_later_one_of_the_same_producer() -> None:
    data = marker(commit=False, offset=4, producer_id=7)
    data += encode_batch(
        [(1, None, b"good", None)], base_offset=5, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True
    )
    data += marker(commit=True, offset=6, producer_id=7)
    found, position = read(part(Log(data, [Aborted(7, 2)], [4], [], [], 7), committed=True, at=4), 4)
    assert [record.value for record in found] == [b"good"]
    assert position == 7


def test_a_batch_that_is_cut_off_is_left_for_the_next_fetch() -> None:
    whole = encode_batch([(1, None, b"a", None)], base_offset=0)
    cut = encode_batch([(1, None, b"b" * 100, None)], base_offset=1)[:-5]
    fetched = part(Log(whole + cut, [], [], [], [], 0), committed=False)
    assert fetched.end_offset()[0] == 1
    found, position = read(fetched)
    assert ([record.value for record in found], position) == ([b"a"], 1)


@pytest.mark.parametrize("byte", [-1, -3, 20, 61])
def test_damage_is_told_with_its_place_and_moves_nothing(byte: int) -> None:
    good = encode_batch([(1, None, b"a", None)], base_offset=0)
    bad = bytearray(encode_batch([(1, None, b"bcdef", None)], base_offset=1))
    bad[byte] ^= 4
    fetched = part(Log(bytes(good + bad), [], [], [], [], 2), committed=False)
    first = fetched.decode_next(0, check_crcs=True, bytes_max=BYTES_MAX)
    assert first is not None
    for _ in range(2):
        with pytest.raises(CorruptRecordError) as caught:
            fetched.decode_next(1, check_crcs=True, bytes_max=BYTES_MAX)
        assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 0, 1)


@pytest.mark.parametrize("columns", [False, True])
def test_damage_behind_a_gap_is_told_with_the_offset_of_the_batch(columns: bool) -> None:
    bad = bytearray(encode_batch([(1, None, b"a", None)], base_offset=40))
    bad[-1] ^= 1
    fetched = FetchedPart(WHERE, memoryview(bytes(bad)), 7, Frame(len(bad), 1, Usage()), 0)
    with pytest.raises(CorruptRecordError) as caught:
        if columns:
            fetched.append_next(Columns(), 7, check_crcs=True, bytes_max=BYTES_MAX)
        else:
            fetched.decode_next(7, check_crcs=True, bytes_max=BYTES_MAX)
    assert caught.value.offset == 40


def test_bytes_count_until_the_last_partition_of_a_response_is_done_with() -> None:
    usage = Usage()
    frame = Frame(1000, 2, usage)
    parts = [FetchedPart(WHERE, memoryview(b""), 0, frame, 0) for _ in range(2)]
    assert usage.bytes == 1000
    parts[0].release()
    assert usage.bytes == 1000
    parts[1].release()
    assert usage.bytes == 0
