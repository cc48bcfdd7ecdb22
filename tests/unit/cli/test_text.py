"""How the command reads times, pairs and records, and how it prints tables."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest

from pykclient.admin.types import Acl, AclOperation, AclResourceType
from pykclient.cli import plot, screen
from pykclient.cli.main import main
from pykclient.cli.perf import percentiles
from pykclient.cli.records import formatter, from_json, from_line, to_json
from pykclient.cli.usage import Usage, pairs, parse_time, shown_time, unescape
from pykclient.types import ConsumerRecord, Node, TimestampType

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15m", NOW - timedelta(minutes=15)),
        ("1.5h", NOW - timedelta(minutes=90)),
        ("2D", NOW - timedelta(days=2)),
        ("1w", NOW - timedelta(days=7)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)),
        ("2026-01-01T00:00Z", datetime(2026, 1, 1, tzinfo=timezone.utc)),
        ("2026-01-01T00:00+01:00", datetime(2025, 12, 31, 23, tzinfo=timezone.utc)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    assert parse_time(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "soon", "12", "2026-13-01", "5y"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(Usage, match="not a time"):
        parse_time(text, NOW)


def test_shown_time() -> None:
    assert shown_time(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert shown_time(-1) is None
    assert shown_time(None) is None


def test_pairs_and_escapes() -> None:
    assert pairs(["a=b=c", " d = e"], "-c") == {"a": "b=c", "d": " e"}
    with pytest.raises(Usage, match="KEY=VALUE"):
        pairs(["secret"], "-c")
    assert unescape(r"a\tb\\n\0") == "a\tb\\n\0"


def test_a_line_with_a_key() -> None:
    record = from_line("a:b:c", key_separator=":", null=None)
    assert (record.key, record.value) == (b"a", b"b:c")
    assert from_line("NULL", key_separator=None, null="NULL").value is None
    assert from_line("NULL", key_separator=None, null=None).value == b"NULL"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "each line is an object"),
        ('{"partition": "1"}', "partition is a whole number"),
        ('{"timestamp": true}', "timestamp is a whole number"),
        ('{"value_base64": "?"}', "not base64"),
        ('{"value_base64": 1}', "not base64"),
        ('{"headers": [1]}', "headers is an object"),
        ('{"headers": {"a": {"base64": "?"}}}', "not base64"),
    ],
)
def test_json_lines_that_are_wrong(line: str, said: str) -> None:
    with pytest.raises(Usage, match=said):
        from_json(line)


def record(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
) -> ConsumerRecord[object, object]:
    return ConsumerRecord("t", 1, 2, 3, TimestampType.CREATE_TIME, key, value, headers, None)


def test_json_and_back() -> None:
    headers: list[tuple[str, bytes | None]] = [("h", b"\xff"), ("h", None), ("i", b"x")]
    back = from_json(to_json(record(None, b"\xfe", headers)))
    assert (back.key, back.value, back.headers, back.partition, back.timestamp) == (None, b"\xfe", headers, 1, 3)


def test_bytes_go_through_a_format_unchanged() -> None:
    render = formatter(r"{key}={value}|{headers}|{key_bytes}{nothing_here".replace("{nothing_here", "{topic}"))
    assert render(record(b"\xff", None, [("h", b"1"), ("i", None)])) == b"\xff=null|h=1,i=null|1t"


def test_plain_tables_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    screen.table(("name", "count", "ready"), [("a", 1, True), ("long name", 123456, None)], title="things")
    assert (
        capsys.readouterr().out == "things\nNAME         COUNT  READY\na                1  yes\nlong name  123,456  -\n"
    )


def test_json_knows_our_types() -> None:
    acl = Acl("User:a", AclOperation.READ, AclResourceType.TOPIC, "t")
    assert screen.plain(acl)["operation"] == "read"
    assert screen.plain({1: {frozenset({"b", "a"})}}) == {"1": [["a", "b"]]}
    assert screen.plain(Node(1, "h", 9092))["host"] == "h"
    assert screen.plain(UUID(int=0)) == "00000000-0000-0000-0000-000000000000"
    assert screen.plain([True, None, 1.5]) == [True, None, 1.5]


def test_percentiles_are_single_values() -> None:
    found = percentiles([float(n) for n in range(1, 1001)])
    assert (found["p50_ms"], found["p99_ms"], found["p99.9_ms"], found["max_ms"]) == (500, 990, 999, 1000)
    assert percentiles([7.0])["p99.9_ms"] == 7


class Terminal(io.StringIO):
    """Somebody is looking."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("with_rich", [True, False])
def test_a_terminal_gets_a_table_and_progress_with_and_without_rich(
    monkeypatch: pytest.MonkeyPatch, with_rich: bool
) -> None:
    if with_rich:
        pytest.importorskip("rich")
    monkeypatch.setattr(screen, "HAS_RICH", with_rich)
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    screen.table(("name", "count"), [("[bold]not markup", 12)], title="things")
    assert "[bold]not markup" in out.getvalue()
    assert "12" in out.getvalue()
    with screen.Progress("sent", 10) as progress:
        progress.advance(7)
    assert "sent" in err.getvalue()
    assert "7" in err.getvalue()


def test_progress_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with screen.Progress("sent") as progress:
        progress.advance(5)
    assert progress.count == 5
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_anywhere_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pykclient.cli.cluster.run", interrupted)
    assert main(["cluster"]) == 130
    assert capsys.readouterr() == ("", "")


def test_only_the_subcommand_asked_for_is_imported() -> None:
    program = "import sys; from pykclient.cli.main import main; main(['cluster', '--help'])"
    check = "print(sorted(name for name in sys.modules if name.startswith('pykclient.cli.')), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"try:\n    {program}\nexcept SystemExit:\n    {check}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pykclient.cli.cluster" in done.stderr
    assert "pykclient.cli.produce" not in done.stderr
    assert "pykclient.cli.broker" not in done.stderr


def test_sparklines_and_rates() -> None:
    assert plot.sparkline([]) == ""
    assert plot.sparkline([0, 1, 4, 8]) == " ▂▅█"
    assert plot.sparkline([0.0] * 5) == "     "
    assert len(plot.sparkline(list(range(1000)), width=40)) == 40
    series = plot.rates("r", "records/s", [(0.0, 0.0), (0.5, 10.0), (0.5, 20.0), (1.5, 30.0)])
    assert series.points == [(0.5, 20.0), (1.5, 10.0)]
    assert series.peak == 20
    page = plot.page("a & b", [series, plot.Series("empty", "x")], ["<line>"])
    assert "a &amp; b" in page
    assert "&lt;line&gt;" in page
    assert page.count("<svg") == 1
