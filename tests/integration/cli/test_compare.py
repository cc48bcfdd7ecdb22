"""The comparison in its tiny form: every measure gives numbers, and the report is written; never for time."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import compare

pytest.importorskip("confluent_kafka")


def test_the_tiny_comparison_measures_everything_and_writes_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("# Benchmarks\n\nby others\n")
    words = [
        "--tiny", "--clients", "pykclient,confluent-kafka", "--codecs", "lz4", "--repeats", "1",
        "--seconds", "0.2", "--records", "2000", "--backlog-records", "500", "--out", str(tmp_path),
    ]  # fmt: skip
    assert compare.main(words) == 0
    printed = capsys.readouterr().out
    for row in compare.rows(("lz4",)):
        line = next(line for line in printed.splitlines() if line.startswith(f"| {row.title} ("))
        assert line.count("x**") == 1, f"ours and the peer have a number: {line}"
    page = (tmp_path / "README.md").read_text()
    assert page.startswith("# Benchmarks\n\nby others\n")
    assert printed.strip().splitlines()[-1] in page
    assert (tmp_path / "compare.svg").read_text().startswith("<svg")
    compare.write(tmp_path, compare.Plan("", ("pykclient",), (), 5, 1, 1, 1, False), "new table", "<svg/>")
    again = (tmp_path / "README.md").read_text()
    assert "new table" in again
    assert again.count(compare.BEGIN) == 1
    assert "by others" in again


def test_ratios_say_how_many_times_better_ours_is() -> None:
    speed = compare.Row("", "", "", "", more_is_better=True)
    cost = compare.Row("", "", "", "")
    assert compare.ratio([200.0, 100.0, 300.0], [100.0], speed) == 2
    assert compare.ratio([5.0], [10.0], cost) == 2
