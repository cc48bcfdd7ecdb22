"""Small pictures of numbers over time: one line of block characters for the terminal, an HTML file for the browser.

Pure: numbers in, text out. Needs nothing beyond Python.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 40


@dataclass
class Series:
    """Values over time, in seconds since the start."""

    title: str
    unit: str
    points: list[tuple[float, float]] = field(default_factory=list)

    def add(self, seconds: float, value: float) -> None:
        """One more."""
        self.points.append((seconds, value))

    @property
    def peak(self) -> float:
        """The largest."""
        return max((value for _, value in self.points), default=0.0)


def rates(title: str, unit: str, counts: Sequence[tuple[float, float]]) -> Series:
    """Of a count that grows, how fast it grew between one look and the next."""
    series = Series(title, unit)
    for (before, old), (after, new) in itertools.pairwise(counts):
        if after > before:
            series.add(after, (new - old) / (after - before))
    return series


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """A line as wide as there are values, at most ``width``; each character is the largest of its share."""
    if not values:
        return ""
    shown = values
    if len(values) > width:
        edges = [index * len(values) // width for index in range(width + 1)]
        shown = [max(values[begin:end]) for begin, end in itertools.pairwise(edges)]
    top = max(shown) or 1.0
    return "".join(
        BLOCKS[min(len(BLOCKS) - 1, int(value / top * len(BLOCKS)))] if value > 0 else " " for value in shown
    )


def page(title: str, series: Sequence[Series], lines: Sequence[str]) -> str:
    """An HTML page with a chart for each series and some lines of text."""
    charts = "".join(_chart(each) for each in series if each.points)
    text = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<body style="font-family:sans-serif;max-width:760px;margin:2em auto">'
        f"<h1>{html.escape(title)}</h1>{text}{charts}</body></html>\n"
    )


def _chart(series: Series) -> str:
    width, height = 700, 180
    begin, end = series.points[0][0], series.points[-1][0]
    span, top = max(end - begin, 1e-9), max(series.peak, 1e-9)
    points = " ".join(
        f"{(seconds - begin) / span * width:.1f},{height - value / top * height:.1f}"
        for seconds, value in series.points
    )
    return (
        f"<h2>{html.escape(series.title)}</h2>"
        f'<svg viewBox="0 -14 {width} {height + 32}" width="{width}" font-size="11">'
        f'<rect width="{width}" height="{height}" fill="#f4f6f8"/>'
        f'<polyline points="{points}" fill="none" stroke="#4c78a8" stroke-width="2"/>'
        f'<text x="4" y="-3">{series.peak:,.0f} {html.escape(series.unit)}</text>'
        f'<text x="{width}" y="{height + 14}" text-anchor="end">{end - begin:.1f} s</text></svg>'
    )


__all__ = ["Series", "page", "rates", "sparkline"]
