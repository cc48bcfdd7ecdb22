"""What people see: tables, progress, and JSON for machines. The only file that knows ``rich``, which may be missing.

Runs on the command's thread. Tables go to standard output, progress to standard error and only to a terminal. In a pipe
everything is plain text, so that no line is cut to the width of a screen that is not there.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

try:
    import rich.box
    import rich.console
    import rich.progress
    import rich.table

    HAS_RICH = True
except ImportError:  # the extra "cli" is not installed
    HAS_RICH = False

REDRAW_S = 0.2


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print a table; numbers to the right, nothing as a dash."""
    cells = list(rows)
    right = [_is_numeric([row[index] for row in cells]) for index in range(len(columns))]
    texts = [[text(cell) for cell in row] for row in cells]
    if HAS_RICH and sys.stdout.isatty():
        drawn = rich.table.Table(title=title, box=rich.box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
        for name, to_right in zip(columns, right, strict=True):
            drawn.add_column(name, justify="right" if to_right else "left", overflow="fold")
        for row in texts:
            drawn.add_row(*(cell.replace("[", "\\[") for cell in row))
        rich.console.Console().print(drawn)
        return
    if title:
        print(title)
    print(plain_table(columns, texts, right))
    if not texts:
        print("(none)")


def _is_numeric(column: list[object]) -> bool:
    known = [cell for cell in column if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in known)


def plain_table(columns: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Columns two blanks apart, under upper-case heads."""
    widths = [max([len(name), *(len(row[n]) for row in texts)]) for n, name in enumerate(columns)]
    lines = []
    for row in [[name.upper() for name in columns], *texts]:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def text(cell: object) -> str:
    """A value as people read it."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}" if abs(cell) >= 10_000 else str(cell)
    if isinstance(cell, float):
        return f"{cell:,.1f}" if abs(cell) >= 10 else f"{cell:.3g}"
    if isinstance(cell, (tuple, list, set, frozenset)):
        return ", ".join(text(item) for item in cell) or "-"
    return str(cell)


def fields(pairs: Mapping[str, object]) -> None:
    """Print one thing as name and value, a line each."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        print(f"{name.ljust(width)}  {text(value)}")


def print_json(value: object) -> None:
    """One document on one line: easy for ``jq``, easy to append to a file."""
    print(json.dumps(plain(value), ensure_ascii=False), flush=True)


def plain(value: Any) -> Any:
    """Our types as JSON has them: enums by name, named tuples and dataclasses as objects."""
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if value is None or isinstance(value, (str, int, float)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return [plain(item) for item in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


class Progress:
    """A count that grows, with its rate, on a terminal only: ``with Progress("sent", total) as progress``."""

    def __init__(self, what: str, total: int | None = None, *, quiet: bool = False) -> None:
        self._what = what
        self._total = total
        self.count = 0
        self._shown = not quiet and sys.stderr.isatty()
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._rich: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        self._began = time.monotonic()
        if self._shown and HAS_RICH:
            self._rich = rich.progress.Progress(
                rich.progress.TextColumn("{task.description}"),
                rich.progress.BarColumn(),
                rich.progress.TextColumn("{task.completed:,.0f}"),
                rich.progress.TextColumn("{task.fields[rate]}"),
                rich.progress.TimeElapsedColumn(),
                console=rich.console.Console(stderr=True),
                transient=True,
            )
            self._rich.start()
            self._task = self._rich.add_task(self._what, total=self._total, rate="")
        return self

    def advance(self, records: int = 1) -> None:
        """So many more."""
        self.count += records
        if self._shown:
            now = time.monotonic()
            if now - self._drawn_at >= REDRAW_S:
                self._drawn_at = now
                self._draw()

    def _draw(self) -> None:
        rate = f"{self.count / max(self.seconds, 1e-9):,.0f}/s"
        if self._rich is not None:
            self._rich.update(self._task, completed=self.count, rate=rate)
        else:
            whole = "" if self._total is None else f" of {self._total:,}"
            print(f"\r{self._what} {self.count:,}{whole} ({rate})   ", end="", file=sys.stderr, flush=True)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._began

    def __exit__(self, *exc: object) -> None:
        if self._rich is not None:
            self._draw()
            self._rich.stop()
        elif self._shown and self.count:
            self._draw()
            print(file=sys.stderr)


__all__ = ["HAS_RICH", "Progress", "fields", "plain", "plain_table", "print_json", "table", "text"]
