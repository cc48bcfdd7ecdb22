"""Partitions for keys: the hash of every client in every language."""

from __future__ import annotations

import array

import pytest

from pykclient.protocol.columns import InputColumn, group_rows, partitions_for_keys
from pykclient.protocol.murmur2 import murmur2, partition_for_key, to_positive

# Published in Kafka's own UtilsTest.
KAFKA_VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def test_the_published_vectors_match(implementation: str) -> None:
    assert {key: murmur2(key) for key in KAFKA_VECTORS} == KAFKA_VECTORS


def test_the_sign_bit_is_dropped_not_negated(implementation: str) -> None:
    assert to_positive(-1) == 2147483647
    assert partition_for_key(b"21", 10) == (-973932308 & 0x7FFFFFFF) % 10


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_can_be_a_key(implementation: str, kind: type[bytes] | type[bytearray] | type[memoryview]) -> None:
    assert murmur2(kind(b"foobar")) == -790332482


def test_a_key_column_gives_partitions_and_marks_nulls(implementation: str) -> None:
    column = InputColumn(array.array("i", [0, 2, 2, 8]).tobytes(), b"21foobar", b"\x05")
    partitions = array.array("i", partitions_for_keys(column, 3, 10))
    assert partitions.tolist() == [partition_for_key(b"21", 10), -1, partition_for_key(b"foobar", 10)]


def test_rows_are_grouped_by_partition_in_their_order(implementation: str) -> None:
    rows, starts = group_rows(array.array("i", [2, 0, 2, 0, 3]).tobytes(), 4)
    assert array.array("i", rows).tolist() == [1, 3, 0, 2, 4]
    assert starts == [0, 2, 2, 4, 5]
