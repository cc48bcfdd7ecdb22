"""Varints as Java writes them, and odd encodings as Java reads or refuses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pykclient.errors import ProtocolError
from pykclient.protocol import primitives
from pykclient.protocol.primitives import DECODE_ERRORS

READERS = {
    "varint": primitives.read_varint,
    "varlong": primitives.read_varlong,
    "uvarint": primitives.read_uvarint,
    "uvarlong": primitives.read_uvarlong,
}
ENCODERS = {
    "varint": primitives.encode_varint,
    "varlong": primitives.encode_varlong,
    "uvarint": primitives.encode_uvarint,
    "uvarlong": primitives.encode_uvarlong,
}


def test_every_varint_is_read_and_written_as_java_does(
    vectors: Callable[[str], Iterator[dict[str, Any]]], bundled: bool
) -> None:
    count = 0
    for vector in vectors("varints"):
        count += 1
        raw, read = bytes.fromhex(vector["hex"]), READERS[vector["kind"]]
        if "error" in vector:
            assert is_refused(read, raw), vector
            continue
        value, position = read(b"\x80" + raw + b"\x7f", 1)
        assert (value, position - 1) == (vector["value"], vector.get("consumed", len(raw))), vector
        if not vector.get("decodeOnly"):
            assert ENCODERS[vector["kind"]](vector["value"]) == raw, vector
    assert count == 1134 if bundled else count > 0


def is_refused(read: Callable[[bytes, int], tuple[int, int]], raw: bytes) -> bool:
    try:
        read(raw, 0)
    except (ProtocolError, *DECODE_ERRORS):
        return True
    return False
