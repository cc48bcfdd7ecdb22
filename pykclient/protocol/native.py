"""Chooses, once, whether the C extension is used, and gives what no record needs: the CRC-32C of a buffer.

``PYKCLIENT_ACCEL`` decides: ``auto`` (the default), ``off`` (always Python), ``require`` (an ImportError without the
extension). Read at import, by whichever thread imports first. Below ``accel``, which chooses who encodes and decodes
records: the Python twin of that needs CRCs itself.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pykclient.protocol.accel import Implementation

MODES = ("auto", "off", "require")


def load_native() -> Implementation | None:
    """The C extension, or None where it was not built."""
    try:
        from pykclient.protocol import _accel
    except ImportError:
        return None
    return cast("Implementation", _accel)


def _chosen(mode: str) -> Implementation | None:
    if mode not in MODES:
        raise ImportError(f"PYKCLIENT_ACCEL is {mode!r}; it must be one of {', '.join(MODES)}")
    native = None if mode == "off" else load_native()
    if native is None and mode == "require":
        raise ImportError("PYKCLIENT_ACCEL=require, but the C extension pykclient.protocol._accel is not there")
    return native


native = _chosen(os.environ.get("PYKCLIENT_ACCEL", "auto") or "auto")

if native is not None:
    crc32c = native.crc32c
else:
    from pykclient.protocol.pure_crc import crc32c

__all__ = ["MODES", "crc32c", "load_native", "native"]
