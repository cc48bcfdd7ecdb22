"""What a record costs: encoding and decoding, pure and native, and what importing the package costs.

Run: ``python -m benchmarks.records [RECORDS]``. Best of many short repeats, so that a busy machine disturbs little.
"""

from __future__ import annotations

import array
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import cast

from pykclient.protocol import accel, pure_twin, records
from pykclient.protocol.batch_builder import begin
from pykclient.protocol.columns import Columns, InputColumn, encode_rows, partitions_for_keys
from pykclient.protocol.records import BatchHeader, CompressionType

BASE = 1_700_000_000_000
TARGETS = {
    ("encode a batch from tuples", "native"): 0.15,
    ("encode a batch from tuples", "pure"): 2.5,
    ("decode to ConsumerRecord", "native"): 0.30,
    ("decode to ConsumerRecord", "pure"): 3.0,
    ("decode to columns", "native"): 0.05,
}


def best_us(call: Callable[[], object], count: int, budget_s: float = 0.7) -> float:
    """Microseconds per record, best of as many repeats as fit into the budget (three at least)."""
    best, spent, repeats = float("inf"), 0.0, 0
    while spent < budget_s or repeats < 3:
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, spent, repeats = min(best, took), spent + took, repeats + 1
    return best / count * 1e6


def header_of(batch: bytes) -> BatchHeader:
    header = records.read_header(batch)
    assert header is not None
    return header


def measure(count: int) -> dict[str, float]:
    """All figures of the implementation that is active now."""
    rows: list[records.Record] = [(BASE + index // 10, b"key-%06d" % index, b"v" * 100, None) for index in range(count)]
    batch = records.encode_batch(rows)
    header = header_of(batch)
    ends = array.array("i", range(0, 100 * count + 1, 100)).tobytes()
    value = InputColumn(ends, b"v" * 100 * count)
    key_ends = array.array("i", range(0, 10 * count + 1, 10)).tobytes()
    key = InputColumn(key_ends, b"".join(b"key-%06d" % index for index in range(count)))
    building = bytearray(len(batch) + 100)

    def build() -> None:
        begin(building)
        append = accel.active.append_record
        for timestamp, row_key, row_value, headers in rows:
            append(building, len(building), timestamp, row_key, row_value, headers)

    figures = {
        "encode a batch from tuples": best_us(lambda: records.encode_batch(rows), count),
        "append record by record": best_us(build, count),
        "decode to ConsumerRecord": best_us(lambda: records.decode_batch(batch, header, "topic", 0), count),
        "decode to columns": best_us(lambda: Columns().append_batch(batch, header), count),
        "encode from columns": best_us(
            lambda: encode_rows(row_count=count, timestamps=BASE, key=key, value=value), count
        ),
        "partitions of a key column": best_us(lambda: partitions_for_keys(key, count, 12), count),
    }
    for codec in CompressionType:
        if codec:
            packed = records.encode_batch(rows, compression=codec)
            packed_header = header_of(packed)
            name = codec.name.lower()
            figures[f"decode {name} to columns"] = best_us(
                lambda packed=packed, at=packed_header: Columns().append_batch(packed, at),  # type: ignore[misc]
                count,
            )
    return figures


IMPORTS = {
    "import pykclient": 5,
    "from pykclient.protocol import records": 40,
    "from pykclient import KafkaProducer, KafkaConsumer": 80,
}
"""Milliseconds, the standard library's modules included."""


def import_ms(statement: str) -> float:
    """Milliseconds that an import takes beyond starting Python, from compiled files as after an install; best of
    several."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def once(code: str) -> float:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            return time.perf_counter() - start

        once(statement)
        empty = min(once("pass") for _ in range(9))
        return (min(once(statement) for _ in range(9)) - empty) * 1000


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    native = accel.load_native()
    table: dict[str, dict[str, float]] = {}
    for name, codec in (("native", native), ("pure", cast(accel.Implementation, pure_twin))):
        if codec is not None:
            accel.active = codec
            table[name] = measure(count)
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"{machine}, {count} records of a 10-byte key and a 100-byte value")
    print(f"{'us per record':32}" + "".join(f"{name:>10}{'target':>10}" for name in table))
    for row in next(iter(table.values())):
        cells = ""
        for name, figures in table.items():
            target = TARGETS.get((row, name))
            cells += f"{figures[row]:10.3f}{'' if target is None else f'<= {target}':>10}"
        print(f"{row:32}{cells}")
    for statement, target in IMPORTS.items():
        print(f"{statement:56}{import_ms(statement):8.1f} ms, target <= {target} ms")


if __name__ == "__main__":
    main()
