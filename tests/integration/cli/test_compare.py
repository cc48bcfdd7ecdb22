"""The comparison in its tiny form: every measure gives numbers, and the report is written; never for time."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from benchmarks import compare, compare_report
from benchmarks.compare_report import OURS, Results, Row

pytest.importorskip("confluent_kafka")
ROOT = pathlib.Path(__file__).parents[3]


def test_the_tiny_comparison_measures_everything_and_writes_its_report(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("# Ours\n\nby others\n")
    words = [
        "--tiny", "--clients", "pykclient,confluent-kafka", "--codecs", "lz4", "--repeats", "1", "--seconds", "0.2",
        "--latency-seconds", "0.2", "--records", "30000", "--backlog-records", "12000", "--out", str(tmp_path),
    ]  # fmt: skip
    assert compare.main(words) == 0
    printed = capsys.readouterr().out
    ratios = printed.partition("so many times better")[2]
    for row in compare_report.rows(["lz4"]):
        line = next(line for line in ratios.splitlines() if line.startswith(f"| {row.title} |"))
        assert line.count("**") == 2, f"ours and the peer have a number: {line}"
    page = (tmp_path / "README.md").read_text()
    assert page.startswith("# Ours\n\nby others\n")
    assert "read one by one, lz4" in page
    for name in ("benchmarks/README.md", "docs/comparison.md"):
        assert printed.splitlines()[2] in (tmp_path / name).read_text(), name
    assert (tmp_path / "docs" / "compare.svg").read_text().startswith("<svg")
    assert compare.main(["--render", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "README.md").read_text() == page, "written again from what was kept, in its place"


def test_a_client_that_fails_is_named_and_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def one(plan: compare.Plan, job: compare.Job, client: str) -> dict[str, dict[str, float]]:
        asked.append((client, job.measure))
        if client == "aiokafka":
            raise RuntimeError("the broker closed the connection\nand more")
        if client == "java" and job.measure == "import":
            raise NotImplementedError("Kafka has no tool for it")
        return {codec: {"ms": 2.0 if client == OURS else 4.0} for codec in ("none",)}

    monkeypatch.setattr(compare, "one", one)
    clients = (OURS, "aiokafka", "java")
    plan = compare.Plan("", clients, ("none",), 5, 1, 1, 1, 1, end_at=float("inf"))
    results = Results.begin(clients, plan.codecs, "none")
    assert list(compare.Run(plan, results).rounds()) == [0, 1, 2, 3, 4]
    assert results.rounds == 5
    said = compare_report.text(results)
    assert "- import aiokafka: RuntimeError: the broker closed the connection\n" in said + "\n"
    assert "| import (ms) | 2 (2–2) | failed |  |" in said
    assert "**2.00** (2.00–2.00)" in said
    assert asked.count(("aiokafka", "produce")) == compare.FAILURES_MAX, "not asked for ever"
    assert asked.count(("java", "import")) == 1


def test_the_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "one", lambda plan, job, client: {"none": {"ms": 1.0}})
    plan = compare.Plan("", (OURS,), ("none",), 5, 1, 1, 1, 1, end_at=0.0)
    assert list(compare.Run(plan, Results.begin((OURS,), ("none",), "none")).rounds()) == []


def test_ratios_say_how_many_times_better_ours_is_round_by_round() -> None:
    results = Results([OURS, "java"], ["none"], "none")
    for turn, (mine, theirs) in enumerate([(200.0, 100.0), (100.0, 100.0), (300.0, 50.0)]):
        results.add("speed", "none", OURS, turn, {"n": mine})
        results.add("speed", "none", "java", turn, {"n": theirs})
    assert results.ratios(Row("", "speed", "n", "", more_is_better=True), "java") == [2, 1, 6]
    assert results.ratios(Row("", "speed", "n", ""), "java") == [0.5, 1, pytest.approx(1 / 6)]
    results.add("memory", "none", OURS, 0, {"mb": 5})
    results.add("memory", "none", "java", 1, {"mb": 10})
    assert results.ratios(Row("", "memory", "mb", ""), "java") == [2], "in different rounds: by the medians"


def test_the_pages_say_what_was_measured_and_nothing_else() -> None:
    results = compare_report.load(ROOT)
    assert dataclasses.asdict(results)
    for name, section in compare_report.pages(results).items():
        page = (ROOT / name).read_text(encoding="utf-8")
        assert compare_report.fill(page, section) == page, f"{name}: run python -m benchmarks.compare --render"
    assert (ROOT / compare_report.CHART).read_text(encoding="utf-8") == compare_report.chart(results)
