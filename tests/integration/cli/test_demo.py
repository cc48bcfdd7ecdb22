"""``pykclient demo``: every stage runs, the totals are checked, the plots are written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pykclient.cli import demo, demo_spark
from tests.integration.cli.conftest import Command


def test_the_demo_checks_its_totals_and_draws(command: Command, tmp_path: Path) -> None:
    report = tmp_path / "demo.html"
    told = command("demo", "--records", "3000", "--no-spark", "--report", str(report)).out
    assert "3,000 orders sent" in told
    assert "Spark was left out" in told
    assert told.endswith("Totals agree: every order came through once.\n")
    assert report.read_text().count("<svg") >= 2


def test_a_lost_order_would_be_noticed(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = demo._read_group
    monkeypatch.setattr(demo, "_read_group", lambda *arguments: whole(*arguments)[1:])
    told = command("demo", "--records", "500", "--no-spark", "--report", str(tmp_path / "x.html"), code=1).out
    assert "TOTALS DIFFER" in told


def test_what_spark_needs_is_said_in_one_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "missing", lambda: "pip install 'pykclient[spark]'")
    told = command("demo", "--records", "100", "--report", str(tmp_path / "x.html")).out
    assert "4. Spark was left out; to see it: pip install 'pykclient[spark]'." in told.splitlines()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "Java 17 or newer" in (demo_spark.missing() or "")
