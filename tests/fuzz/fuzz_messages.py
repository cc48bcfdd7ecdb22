"""Fuzzes the readers of all messages: `python -m tests.fuzz.fuzz_messages -max_total_time=60 [CORPUS]`.

Needs `atheris`; not run by pytest. The first two bytes pick message and version, the rest is its body. What is read
must be writable again and read the same; anything but ProtocolError is a finding.
"""

from __future__ import annotations

import importlib
import sys

import atheris

with atheris.instrument_imports():
    from pykclient.errors import ProtocolError
    from pykclient.protocol.specs.generate import load_tables

    MESSAGES = [
        getattr(importlib.import_module(f"pykclient.protocol.messages.{module}"), spec.name)
        for module, specs in load_tables().items()
        for spec in specs
    ]


def test_one_input(data: bytes) -> None:
    if len(data) < 2:
        return
    message_class = MESSAGES[(data[0] | (data[1] & 1) << 8) % len(MESSAGES)]
    version = message_class.MIN_VERSION + (data[1] >> 1) % (message_class.MAX_VERSION - message_class.MIN_VERSION + 1)
    try:
        message = message_class.read(data, version, 2)
    except ProtocolError:
        return
    written = message.write(version)
    assert message_class.read(written, version).write(version) == written


if __name__ == "__main__":
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()
