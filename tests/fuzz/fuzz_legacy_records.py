"""Fuzz target: message sets v0 and v1. `python -m tests.fuzz.fuzz_legacy_records -max_total_time=60 [CORPUS]`

Once as it is, without the checksum, and once inside a compressed message; anything but a ProtocolError is a bug.
"""

from __future__ import annotations

import contextlib
import sys

import atheris

with atheris.instrument_imports(include=["pykclient"]):
    from pykclient.errors import ProtocolError
    from pykclient.protocol import records
    from pykclient.protocol.compression import CompressionType, compress
    from pykclient.protocol.legacy_records import _message


def one_input(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        for header in records.iter_batches(data):
            records.decode_batch(data, header, "t", 0, check_crc=False, bytes_max=1 << 20)
    if len(data) < 3:
        return
    # Inside a wrapper: the inner set is the fuzzer's, the wrapper is right.
    codec = CompressionType(1 + data[0] % 3)
    magic = data[0] & 1
    wrapper = _message(9, magic, codec, 1, None, compress(codec, data[1:], magic=magic))
    with contextlib.suppress(ProtocolError):
        list(records.decode_all(wrapper, "t", 0, bytes_max=1 << 20))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
