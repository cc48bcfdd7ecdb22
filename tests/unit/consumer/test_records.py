"""What poll returns, how bytes become objects, and how a loop over records remembers what it has not reached."""

from __future__ import annotations

import gc
from threading import RLock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykclient.consumer.iteration import Iteration
from pykclient.consumer.records import PolledRecords, deserialize
from pykclient.consumer.subscription import PartitionState, Position
from pykclient.errors import DeserializationError
from pykclient.protocol.records import decode_batch, encode_batch, read_header
from pykclient.types import ConsumerRecord, Headers, TimestampType, TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def record(
    where: TopicPartition, offset: int, value: bytes | None, key: bytes | None = None
) -> ConsumerRecord[Any, Any]:
    return ConsumerRecord(where.topic, where.partition, offset, 1, TimestampType.CREATE_TIME, key, value, [], 3)


def number(topic: str, data: bytes | None, headers: Headers) -> int:
    assert data is not None, "null never reaches a deserializer"
    return int(data)


def test_records_go_by_partition_in_order_and_are_counted() -> None:
    polled = PolledRecords({A: [record(A, 0, b"1"), record(A, 1, b"2")], B: [record(B, 7, b"3")]})
    assert [(r.partition, r.offset) for r in polled.records()] == [(0, 0), (0, 1), (1, 7)]
    assert polled.count == 3
    assert not PolledRecords()


def test_nulls_stay_null() -> None:
    found = deserialize({A: [record(A, 0, None), record(A, 1, b"5", b"6")]}, number, number, lambda tp, offset: None)
    assert [(r.key, r.value) for r in found[A]] == [(None, None), (6, 5)]


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=4))
def test_nothing_before_a_bad_record_is_lost_and_nothing_after_it_is_skipped(readable: list[list[bool]]) -> None:
    batches = {
        TopicPartition("t", index): [
            record(TopicPartition("t", index), offset, b"1" if good else b"x") for offset, good in enumerate(row)
        ]
        for index, row in enumerate(readable)
    }
    total = {tp: len(batch) for tp, batch in batches.items()}
    back: dict[TopicPartition, int] = {}
    done: dict[TopicPartition, list[Any]] = {}
    failure: DeserializationError | None = None
    try:
        done = deserialize(batches, None, number, back.__setitem__)
    except DeserializationError as caught:
        failure = caught
    if failure is not None:
        assert (failure.partition, failure.offset) == (0, 0), "it raises only when nothing came before"
        assert failure.raw_value == b"x"
    for tp, count in total.items():
        assert back.get(tp, count) == len(done.get(tp, [])), "the position is right behind what was returned"


def test_a_bad_key_names_itself_and_leaves_the_bytes() -> None:
    bad = record(A, 4, b"1", b"k")
    with pytest.raises(DeserializationError) as caught:
        deserialize({A: [bad]}, number, number, lambda tp, offset: None)
    assert (caught.value.origin, caught.value.offset, caught.value.raw_key) == ("key", 4, b"k")
    assert (bad.key, bad.value) == (b"k", b"1")


# ---- the loop ----


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 16), st.booleans())
def test_what_a_loop_did_not_reach_is_given_back(sizes: list[int], steps: int, seek: bool) -> None:
    lock = RLock()
    states = []
    rows = []
    for index, size in enumerate(sizes):
        where = TopicPartition("t", index)
        state = PartitionState(where)
        state.seek(Position(0))
        state.position = Position(size, 3)
        states.append(state)
        rows.append((state, state.version, [record(where, offset, b"") for offset in range(size)]))
    iteration = Iteration(rows)
    given_out: list[tuple[int, int]] = []
    while len(given_out) < steps and (records := iteration.next_partition(lock)) is not None:
        for index, each in enumerate(records):
            if len(given_out) == steps:
                break
            iteration.index = index
            given_out.append((each.partition, each.offset))
            state = states[each.partition]
            assert iteration.in_hand(state) is each
        if len(given_out) == steps:
            break
    if steps == 0:
        return
    if seek:
        states[-1].seek(Position(99))
        iteration.drop(states[-1])
    iteration.give_back()
    for index, state in enumerate(states):
        reached = [offset for partition, offset in given_out if partition == index]
        expected = 99 if seek and index == len(states) - 1 else (reached[-1] + 1 if reached else 0)
        assert state.position is not None
        assert state.position.offset == expected
    assert iteration.next_partition(lock) is None


def test_a_partition_counts_as_processed_when_the_next_one_is_asked_for() -> None:
    state = PartitionState(A)
    state.seek(Position(5))
    iteration = Iteration([(state, state.version, [record(A, 5, b""), record(A, 8, b"")])])
    assert iteration.next_partition(RLock()) is not None
    assert state.consumed == Position(5)
    assert iteration.next_partition(RLock()) is None
    assert state.consumed == Position(9, 3)


def test_decoded_records_are_no_work_for_the_garbage_collector(implementation: str) -> None:
    """A reader of small records spent a third of its time there."""
    batch = encode_batch([(1, b"k", b"v", [("h", b"1")]), (1, None, b"w", None)])
    header = read_header(batch, 0)
    assert header is not None
    found = decode_batch(batch, header, "t", 0)
    if implementation == "native":
        assert not any(gc.is_tracked(each) or gc.is_tracked(each.headers) for each in found)
    found[0].headers.append(("more", b"2"))
    held: Any = found[1]
    held.value = {"any": ["object"]}
    gc.collect()
    assert found[0].headers == [("h", b"1"), ("more", b"2")]
    assert held.value == {"any": ["object"]}
