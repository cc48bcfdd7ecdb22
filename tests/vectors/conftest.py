"""Where the reference vectors are: `tests/vectors/data`, or the folder that PYKCLIENT_VECTORS names."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BUNDLED = Path(__file__).parent / "data"
VECTORS = Path(os.environ.get("PYKCLIENT_VECTORS") or BUNDLED)


def load_vectors(name: str) -> Iterator[dict[str, Any]]:
    """The vectors of one file, one at a time; fails when the file is not there, since no vector may be skipped."""
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="ascii") as lines:
        for line in lines:
            yield json.loads(line)


@pytest.fixture(scope="session")
def bundled() -> bool:
    """Whether the vectors are the project's own, whose numbers are known."""
    return VECTORS.resolve() == BUNDLED


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], Iterator[dict[str, Any]]]:
    """`vectors("murmur2")` iterates over murmur2.jsonl.gz."""
    return load_vectors
