"""Fuzz target: record batches v2, both implementations at once. `python -m tests.fuzz.fuzz_records -max_total_time=60
[CORPUS]`

Anything but a ProtocolError is a bug, and so is any difference between the pure and the native decoder.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, cast

import atheris

with atheris.instrument_imports(include=["pykclient"]):
    from pykclient.errors import CorruptRecordError, ProtocolError
    from pykclient.protocol import accel, pure_twin, records
    from pykclient.protocol.columns import Columns, HeaderColumns
    from pykclient.types import TimestampType

CODECS: list[accel.Implementation] = [cast(accel.Implementation, pure_twin)]
NATIVE = accel.load_native()
if NATIVE is not None:
    CODECS.append(NATIVE)


def outcome(codec: accel.Implementation, section: bytes, count: int) -> Any:
    columns = Columns(HeaderColumns())
    try:
        found = codec.decode_records(section, count, 5, 7, None, TimestampType.CREATE_TIME, 0, "t", 0, None)
        codec.append_columns(section, count, 5, 7, None, 0, 0, columns._arrays())
    except CorruptRecordError as error:
        return str(error)
    # What was read must be writable, and read the same.
    rows = [(record.timestamp, record.key, record.value, record.headers) for record in found]
    again, _ = codec.encode_records(rows, 7, [record.offset - 5 for record in found])
    assert codec.decode_records(again, len(found), 5, 7, None, TimestampType.CREATE_TIME, 0, "t", 0, None) == found
    return found, columns._arrays(), again


TYPES = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)


def runs(codec: accel.Implementation, data: bytes, check: bool) -> Any:
    """What is plain of it, in one go."""
    columns = Columns(HeaderColumns())
    return (
        codec.skip_batches(data, 0),
        codec.decode_batches(data, 0, 3, 1000, check, True, "t", 0, TYPES),
        codec.append_batches(data, 0, 3, 2**63 - 1, 1000, 1 << 20, check, True, 0, columns._arrays()),
        columns._arrays(),
    )


def one_input(data: bytes) -> None:
    if not data:
        return
    for check in (False, True):
        found = [runs(codec, data, check) for codec in CODECS]
        assert all(other == found[0] for other in found), found
    outcomes = [outcome(codec, data[1:], data[0]) for codec in CODECS]
    assert all(other == outcomes[0] for other in outcomes), outcomes
    for codec in CODECS:
        accel.active = codec
        with contextlib.suppress(ProtocolError):
            for header in records.iter_batches(data):
                records.decode_batch(data, header, "t", 0, check_crc=False, bytes_max=1 << 20)
                Columns(HeaderColumns()).append_batch(data, header, check_crc=False, bytes_max=1 << 20)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
