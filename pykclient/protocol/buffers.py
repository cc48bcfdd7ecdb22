"""The buffer type of this room, in one place.

Python 3.12 has collections.abc.Buffer; until 3.10 and 3.11 are gone we name the three that we pass around.
"""

from __future__ import annotations

from typing import TypeAlias

Buffer: TypeAlias = "bytes | bytearray | memoryview"

__all__ = ["Buffer"]
