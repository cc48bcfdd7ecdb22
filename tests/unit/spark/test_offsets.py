"""Planning is exact: no offset read twice, none left out, caps kept; and a function of its arguments alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient import TopicPartition, UsageError
from pykclient.spark.offsets import (
    OffsetRange,
    from_json,
    losses_between,
    partitions_from_json,
    ranges_between,
    rate_limited,
    split_ranges,
    to_json,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
partitions = st.builds(TopicPartition, st.sampled_from(["a", "b", "c"]), st.integers(0, 4))
offset_maps = st.dictionaries(partitions, st.integers(0, 10**12), max_size=10)


def test_json_is_that_of_sparks_own_connector() -> None:
    assert to_json({B0: 5, A1: 7, A0: 23}) == {"a": {"0": 23, "1": 7}, "b": {"0": 5}}
    assert from_json('{"a":{"0":23,"1":-1},"b":{"0":-2}}') == {A0: 23, A1: -1, B0: -2}


@settings(deadline=None)  # a busy machine is no failure
@given(offset_maps)
def test_json_goes_round(offsets: dict[TopicPartition, int]) -> None:
    assert from_json(to_json(offsets)) == offsets


@pytest.mark.parametrize(
    "text", ["latest", "[]", '{"a": 1}', '{"a": {"x": 1}}', '{"a": {"0": "1"}}', '{"a": {"0": true}}', "{"]
)
def test_other_json_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"startingOffsets: expected e\.g\."):
        from_json(text, "startingOffsets")


def test_partitions_to_assign() -> None:
    assert partitions_from_json('{"b":[0],"a":[1,0]}', "assign") == [A0, A1, B0]
    with pytest.raises(UsageError, match="assign: expected"):
        partitions_from_json('{"a":["0"]}', "assign")


@settings(deadline=None)  # a busy machine is no failure
@given(
    start=offset_maps,
    backlog=st.dictionaries(partitions, st.integers(0, 10**9), max_size=10),
    cap=st.integers(1, 10**6),
)
def test_a_capped_batch_never_exceeds_the_cap_and_always_gets_on(
    start: dict[TopicPartition, int], backlog: dict[TopicPartition, int], cap: int
) -> None:
    end = {tp: start.get(tp, 0) + size for tp, size in backlog.items()}
    limited = rate_limited(start, end, cap)
    taken = {tp: limited[tp] - start.get(tp, 0) for tp in end}
    assert sum(taken.values()) == min(cap, sum(backlog.values()))
    assert all(0 <= taken[tp] <= backlog[tp] for tp in end)


def test_a_small_partition_is_not_starved_by_a_large_one() -> None:
    limited = rate_limited({A0: 0, A1: 0}, {A0: 1_000_000, A1: 1}, 100)
    assert limited == {A0: 99, A1: 1}


def test_partitions_take_turns_when_the_cap_is_below_their_number() -> None:
    start, end = {A0: 0, A1: 0, B0: 0}, {A0: 5, A1: 5, B0: 5}
    for _ in range(15):
        start = rate_limited(start, end, 1)
    assert start == end


@settings(deadline=None)  # a busy machine is no failure
@given(start=offset_maps, sizes=st.dictionaries(partitions, st.integers(0, 10**6), max_size=6),
       least=st.none() | st.integers(1, 60), most=st.none() | st.integers(1000, 10**6))  # fmt: skip
def test_split_ranges_cover_every_offset_once(
    start: dict[TopicPartition, int], sizes: dict[TopicPartition, int], least: int | None, most: int | None
) -> None:
    whole = [
        OffsetRange(tp.topic, tp.partition, start.get(tp, 0), start.get(tp, 0) + size) for tp, size in sizes.items()
    ]
    pieces = split_ranges(whole, min_partitions=least, rows_max=most)
    for each in whole:
        mine = [piece for piece in pieces if (piece.topic, piece.partition) == (each.topic, each.partition)]
        bounds = [each.start, *[piece.end for piece in mine]] if mine else [each.start]
        assert [piece.start for piece in mine] == bounds[:-1]
        assert bounds[-1] == each.end
        if mine:
            assert max(piece.size for piece in mine) - min(piece.size for piece in mine) <= 1
    if most is not None:
        assert all(piece.size <= most for piece in pieces)
    total = sum(each.size for each in whole)
    if least is not None and total:
        assert len(pieces) >= min(least, total)
    assert pieces == split_ranges(whole, min_partitions=least, rows_max=most)


def test_pieces_of_skewed_partitions_differ_by_a_factor_of_two_at_most() -> None:
    pieces = split_ranges([OffsetRange("a", 0, 0, 1_000_000), OffsetRange("a", 1, 0, 100_000)], min_partitions=11)
    assert max(piece.size for piece in pieces) <= 2 * min(piece.size for piece in pieces)


def test_new_partitions_are_read_from_their_beginning() -> None:
    assert ranges_between({A0: 5}, {A0: 9, A1: 4}) == [OffsetRange("a", 0, 5, 9), OffsetRange("a", 1, 0, 4)]
    assert ranges_between({A0: 5}, {A0: 5}) == []


def test_a_topic_made_anew_is_read_from_its_beginning() -> None:
    assert ranges_between({A0: 50}, {A0: 9}) == [OffsetRange("a", 0, 0, 9)]
    assert losses_between({A0: 50, A1: 3, B0: 7}, {A0: 9, A1: 3}) == [(A0, 50, 9), (B0, 7, None)]
