"""Where records go: equal to Java for keys, even and adaptive without."""

from __future__ import annotations

import random

import pytest

from pykclient.producer.partitioners import (
    NAMED_PARTITIONERS,
    Partitions,
    RoundRobin,
    StickyPartition,
    UniformStickyPartition,
    fnv1a,
    hash_partitioner,
    random_partitioner,
)

SEED = 20261116


def test_sticky_moves_only_after_its_share() -> None:
    sticky = StickyPartition(100, random.Random(SEED))
    partitions = Partitions(8, range(8))
    first = sticky.choose(partitions)
    assert not sticky.appended(60, partitions, batch_ready=True)
    assert sticky.choose(partitions) == first
    assert sticky.appended(60, partitions, batch_ready=True)


def test_sticky_waits_for_the_batch_but_not_for_ever() -> None:
    sticky = StickyPartition(100, random.Random(SEED))
    partitions = Partitions(8, range(8))
    sticky.choose(partitions)
    assert not sticky.appended(150, partitions, batch_ready=False)
    assert sticky.appended(60, partitions, batch_ready=False)


def test_sticky_draws_long_queues_less_often() -> None:
    sticky = StickyPartition(1, random.Random(SEED))
    partitions = Partitions(3, range(3))
    sticky.update_load({0: 0, 1: 0, 2: 9})
    drawn = [0, 0, 0]
    for _ in range(3000):
        sticky.move(partitions)
        drawn[sticky.current] += 1
    # Weights are 10, 10 and 1 of 21.
    assert drawn[2] < 3000 / 21 * 1.5
    assert 0.8 < drawn[0] / drawn[1] < 1.25


def test_sticky_leaves_out_partitions_without_a_leader() -> None:
    sticky = StickyPartition(1, random.Random(SEED))
    for _ in range(50):
        sticky.move(Partitions(4, (1, 3)))
        assert sticky.current in (1, 3)


def test_sticky_still_chooses_when_nothing_is_available() -> None:
    assert StickyPartition(1, random.Random(SEED)).choose(Partitions(4, ())) in range(4)


def test_uniform_sticky_never_draws_the_same_twice() -> None:
    sticky = UniformStickyPartition(random.Random(SEED))
    partitions = Partitions(3, range(3))
    previous = sticky.choose(partitions)
    for _ in range(50):
        sticky.new_batch(partitions)
        assert sticky.current != previous
        previous = sticky.current


def test_round_robin_goes_over_available_partitions() -> None:
    chooser = RoundRobin()
    assert [chooser(None, Partitions(4, (0, 2, 3))) for _ in range(6)] == [0, 2, 3, 0, 2, 3]


@pytest.mark.parametrize(("key", "expected"), [(b"", 0x7EE3623B), (b"a", 0x1BF3D6D4), (b"foobar", 0x40630698)])
def test_fnv1a_is_the_absolute_value_of_the_signed_hash(key: bytes, expected: int) -> None:
    # 32-bit FNV-1a of "" is 0x811c9dc5, of "a" 0xe40c292c, of "foobar" 0xbf9cf968: all negative as signed numbers.
    assert fnv1a(key) == expected


def test_random_suffix_scatters_records_without_a_key() -> None:
    partitions = Partitions(10, range(10))
    consistent = hash_partitioner("consistent", random.Random(SEED))
    scattered = hash_partitioner("consistent_random", random.Random(SEED))
    assert {consistent(None, partitions) for _ in range(50)} == {0}
    assert len({scattered(None, partitions) for _ in range(50)}) > 5
    assert consistent(b"key", partitions) == scattered(b"key", partitions)


def test_every_name_makes_a_partitioner() -> None:
    rng = random.Random(SEED)
    for name in NAMED_PARTITIONERS:
        if name in ("default", "uniform_sticky", "round_robin"):
            continue
        chooser = random_partitioner(rng) if name == "random" else hash_partitioner(name, rng)
        assert 0 <= chooser(b"key", Partitions(5, range(5))) < 5
