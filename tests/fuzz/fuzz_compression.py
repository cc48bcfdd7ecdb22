"""Fuzz target: the four codecs. `python -m tests.fuzz.fuzz_compression -max_total_time=60 [CORPUS]`

The first byte chooses codec and magic. Anything but a CorruptRecordError is a bug, and so is an output above the bound.
"""

from __future__ import annotations

import contextlib
import sys

import atheris

with atheris.instrument_imports(include=["pykclient"]):
    from pykclient.errors import CorruptRecordError
    from pykclient.protocol.compression import CompressionType, compress, decompress

BYTES_MAX = 1 << 18


def one_input(data: bytes) -> None:
    if not data:
        return
    codec, magic = CompressionType(1 + data[0] % 4), data[0] // 4 % 3
    with contextlib.suppress(CorruptRecordError):
        assert len(decompress(codec, data[1:], magic=magic, bytes_max=BYTES_MAX)) <= BYTES_MAX
    packed = compress(codec, data, magic=magic)
    assert bytes(decompress(codec, packed, magic=magic, bytes_max=BYTES_MAX)) == data
    # The same with one byte changed: deep inside a stream that is otherwise right.
    broken = bytearray(packed)
    broken[data[-1] % len(broken)] ^= data[0] | 1
    with contextlib.suppress(CorruptRecordError):
        decompress(codec, broken, magic=magic, bytes_max=BYTES_MAX)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
