"""Which partition a key belongs to: Kafka's murmur2, so that every client in every language agrees.

Pure functions, any thread. MurmurHash3, which ``mmh3`` offers, gives other partitions than Java: never use it for this.
"""

from __future__ import annotations

from pykclient.protocol import accel
from pykclient.protocol.buffers import Buffer


def murmur2(key: Buffer) -> int:
    """MurmurHash2 of a key, signed, equal to Java's ``Utils.murmur2``."""
    return accel.active.murmur2(key)


def to_positive(number: int) -> int:
    """Drop the sign bit, as Java's ``Utils.toPositive`` does; this is not the absolute value."""
    return number & 0x7FFFFFFF


def partition_for_key(key: Buffer, partition_count: int) -> int:
    """The partition that the default partitioner gives a serialised key."""
    return (accel.active.murmur2(key) & 0x7FFFFFFF) % partition_count


__all__ = ["murmur2", "partition_for_key", "to_positive"]
