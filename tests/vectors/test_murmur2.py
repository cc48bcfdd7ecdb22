"""Kafka's own murmur2 and partition numbers, over both implementations."""

from __future__ import annotations

from pykclient.protocol.murmur2 import murmur2, partition_for_key, to_positive
from tests.vectors.test_batches import load

VECTORS = load("murmur2")


def test_hashes_and_partitions_equal_javas(implementation: str) -> None:
    assert VECTORS
    for vector in VECTORS:
        key = bytes.fromhex(vector["hex"])
        assert murmur2(key) == vector["murmur2"]
        assert to_positive(murmur2(key)) == vector["positive"]
        for name in ("mod", "partitionForKey"):
            assert {count: partition_for_key(key, int(count)) for count in vector[name]} == vector[name]
