"""The Arrow example runs and says what it should."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from pykclient.testing import EmbeddedCluster

EXAMPLE = Path(__file__).parents[3] / "examples" / "arrow_copy.py"


def test_every_row_comes_back(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(EXAMPLE))["main"](cluster.bootstrap_servers, new_topic(3))
    assert capsys.readouterr().out.splitlines() == [
        "10000 rows sent to 3 partitions",
        "10000 rows read, the values sum up to 4999500.0",
    ]
