"""Fuzzes frames, headers and primitive readers: `python -m tests.fuzz.fuzz_wire -max_total_time=60 [CORPUS]`.

Needs `atheris`; not run by pytest. Anything but ProtocolError (and, in the small readers, the errors that readers of
whole messages translate) is a finding.
"""

from __future__ import annotations

import contextlib
import sys

import atheris

with atheris.instrument_imports():
    from pykclient.errors import ProtocolError
    from pykclient.protocol import primitives
    from pykclient.protocol.messages import APIS
    from pykclient.protocol.structs import read_unknown_tags
    from pykclient.protocol.wire import FrameSplitter, decode_request_header, decode_response_header

READERS = [
    getattr(primitives, name)
    for name in sorted(vars(primitives))
    if name.startswith("read_") and not name.endswith(("_count", "_numbers"))
]
READERS.append(read_unknown_tags)
NUMBER_READERS = [
    getattr(primitives, f"read_{form}numbers") for form in ("", "nullable_", "compact_", "compact_nullable_")
]


def split_frames(data: bytes) -> None:
    """However the bytes are cut, the frames are the same, or all cuts are refused."""
    cut = data[0] if data else 0
    whole, pieces = FrameSplitter(1024), FrameSplitter(1024)
    try:
        expected = [bytes(frame) for frame in whole.feed(data)]
    except ProtocolError:
        return
    found = [bytes(frame) for part in (data[:cut], data[cut:]) for frame in pieces.feed(part)]
    assert found == expected
    assert pieces.buffered_bytes == whole.buffered_bytes


def read_headers(data: bytes) -> None:
    info = APIS[data[0] % len(APIS)] if data else APIS[0]
    for decode in (decode_request_header, lambda frame: decode_response_header(frame, info.key, info.max_version)):
        with contextlib.suppress(ProtocolError):
            decode(data)


def read_values(data: bytes) -> None:
    for read in READERS:
        try:
            _, position = read(data, 0)
        except (ProtocolError, *primitives.DECODE_ERRORS):
            continue
        assert position <= len(data)
    for read in NUMBER_READERS:
        try:
            _, position = read(data, 0, "i", 4)
        except (ProtocolError, *primitives.DECODE_ERRORS):
            continue
        assert position <= len(data)


def test_one_input(data: bytes) -> None:
    split_frames(data)
    read_headers(data)
    read_values(data)


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
