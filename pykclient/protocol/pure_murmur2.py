"""Kafka's murmur2 in plain Python: the twin of the one in ``_accel.c``. Pure functions, any thread."""

from __future__ import annotations

import struct

from pykclient.protocol.buffers import Buffer

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(key: Buffer) -> int:
    """MurmurHash2 of the bytes as Java's Utils.murmur2 gives it: a signed 32-bit number."""
    size = len(key)
    hash_ = _SEED ^ size
    whole = size & ~3
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        word = word * _M & _MASK
        word = (word ^ word >> 24) * _M & _MASK
        hash_ = (hash_ * _M & _MASK) ^ word
    rest = size - whole
    if rest:
        hash_ ^= int.from_bytes(key[whole:], "little")
        hash_ = hash_ * _M & _MASK
    hash_ ^= hash_ >> 13
    hash_ = hash_ * _M & _MASK
    hash_ ^= hash_ >> 15
    return hash_ - 0x100000000 if hash_ & 0x80000000 else hash_
