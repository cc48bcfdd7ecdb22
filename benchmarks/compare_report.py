"""What the comparison found, and how it is told: tables with medians, spreads and ratios, and a chart.

Everything is made from the results, which are kept in benchmarks/compare.json; a test makes the pages again and
compares them, so that no figure there can be anything else than what was measured. Starts and measures nothing.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import statistics
from dataclasses import asdict, dataclass, field

OURS = "pykclient"
BEGIN, END = "<!-- compare: begin (written by make compare) -->", "<!-- compare: end -->"
DATA = "benchmarks/compare.json"
CHART = "docs/compare.svg"
TITLES = {
    "pykclient": "pykclient",
    "pykclient-pure": "pykclient, no C",
    "confluent-kafka": "confluent-kafka",
    "aiokafka": "aiokafka",
    "kafka-python": "kafka-python",
    "java": "Java",
    "kfake": "kfake (Go)",
}


@dataclass(frozen=True)
class Row:
    """One line of a table: which number of which measure, with which codec, and which way is better."""

    title: str
    measure: str
    number: str
    unit: str
    codec: str = "none"
    more_is_better: bool = False
    against: str = ""
    """The peers' measure, where it is another one than ours."""


@dataclass
class Results:
    """Of one run. ``numbers`` has measure, codec, client -> round -> what was found."""

    clients: list[str]
    codecs: list[str]
    broker: str
    machine: str = ""
    day: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, clients: tuple[str, ...], codecs: tuple[str, ...], broker: str) -> Results:
        """An empty one, for the machine we are on."""
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
        machine = (
            f"CPython {platform.python_version()} on {platform.system()} ({_processor()}), {os.cpu_count()} cores, "
            f"load {load:.1f} when it began"
        )
        versions = {}
        for client in clients:
            try:
                versions[client] = importlib.metadata.version(client)
            except importlib.metadata.PackageNotFoundError:
                continue
        return cls(list(clients), list(codecs), broker, machine, datetime.date.today().isoformat(), versions)

    def add(self, measure: str, codec: str, client: str, turn: int, numbers: dict[str, float]) -> None:
        """What one process gave."""
        self.numbers.setdefault(f"{measure} {codec} {client}", {})[str(turn)] = numbers

    def left_out(self, measure: str, client: str, reason: str) -> None:
        """The client has no such thing."""
        self.unable[f"{measure} {client}"] = reason

    def failed(self, measure: str, client: str, reason: str) -> None:
        """The client should have, and did not."""
        self.failures[f"{measure} {client}"] = reason

    @property
    def rounds(self) -> int:
        """How many there were, the last perhaps cut short by the time."""
        return max((len(found) for found in self.numbers.values()), default=0)

    def values(self, row: Row, client: str) -> dict[str, float]:
        """By round."""
        measure = row.against if row.against and not client.startswith(OURS) else row.measure
        found = self.numbers.get(f"{measure} {row.codec} {client}", {})
        return {turn: numbers[row.number] for turn, numbers in found.items() if row.number in numbers}

    def ratios(self, row: Row, client: str) -> list[float]:
        """How many times better ours is, round by round; above 1 is better. What was measured once, by the medians."""
        mine, theirs = self.values(row, OURS), self.values(row, client)
        if not mine or not theirs:
            return []
        both = sorted(set(mine) & set(theirs))
        pairs = [(mine[turn], theirs[turn]) for turn in both] or [
            (statistics.median(mine.values()), statistics.median(theirs.values()))
        ]
        return [a / b if row.more_is_better else b / a for a, b in pairs if a > 0 and b > 0]


def _processor() -> str:
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        return text.partition("model name")[2].partition(":")[2].partition("\n")[0].strip() or platform.machine()
    except OSError:
        return platform.machine()


# ---- the rows ----


def rows(codecs: list[str]) -> list[Row]:
    """Everything that is compared."""
    found = [
        Row("import", "import", "ms", "ms"),
        Row("start of the process to the first record delivered", "first-record", "ms", "ms"),
        Row("a broker for tests: start to the first record", "embedded", "ms", "ms"),
        *(Row(f"end to end at 1,000 records/s, {p}", "latency", f"{p}_ms", "ms") for p in ("p50", "p99", "p99.9")),
    ]
    for codec in codecs:
        found.append(_speed(f"produce, {_named(codec)}", "produce", codec))
        found.append(_cost(f"produce, {_named(codec)}: CPU", "produce", codec))
    for kind, words in (("records", "one by one"), ("batches", "in batches"), ("columns", "as columns")):
        against = "consume-batches" if kind == "columns" else ""
        for codec in codecs:
            found.append(_speed(f"read {words}, {_named(codec)}", f"consume-{kind}", codec, against))
            found.append(_cost(f"read {words}, {_named(codec)}: CPU", f"consume-{kind}", codec, against))
    found.append(Row("memory, reading 1 GB", "memory", "mb", "MB"))
    return found


def headlines(codecs: list[str]) -> list[Row]:
    """What README.md shows."""
    first = _named(codecs[0])
    wanted = {
        f"produce, {first}",
        f"read one by one, {first}",
        f"read in batches, {first}",
        f"read as columns, {first}",
    }
    wanted |= {f"{title}: CPU" for title in wanted}
    return [row for row in rows(codecs) if row.title in wanted or not row.measure.startswith(("produce", "consume"))]


def _named(codec: str) -> str:
    return "uncompressed" if codec == "none" else codec


def _speed(title: str, measure: str, codec: str, against: str = "") -> Row:
    return Row(title, measure, "records_per_s", "records/s", codec, more_is_better=True, against=against)


def _cost(title: str, measure: str, codec: str, against: str = "") -> Row:
    return Row(title, measure, "cpu_us_per_record", "us/record", codec, against=against)


# ---- the tables ----


def figures(results: Results, chosen: list[Row], *, spread: bool) -> str:
    """Markdown: the median of each client, with the lowest and the highest."""
    lines = _head(["", *(TITLES[client] for client in results.clients)])
    for row in chosen:
        cells = [_figure(results, row, client, spread) for client in results.clients]
        if any(cells):
            lines.append(_line([f"{row.title} ({row.unit})", *cells]))
    return "\n".join(lines)


def ratios(results: Results, chosen: list[Row], *, spread: bool) -> str:
    """Markdown: how many times better ours is than each."""
    peers = [client for client in results.clients if client != OURS]
    lines = _head(["pykclient is so many times better than", *(TITLES[client] for client in peers)])
    for row in chosen:
        cells = [_ratio(results.ratios(row, client), spread) for client in peers]
        if any(cells):
            lines.append(_line([row.title, *cells]))
    return "\n".join(lines)


def _head(names: list[str]) -> list[str]:
    return [_line(names), "| --- |" + " ---: |" * (len(names) - 1)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _figure(results: Results, row: Row, client: str, spread: bool) -> str:
    if row.against and not client.startswith(OURS):
        return ""  # their figure stands in the row of that measure
    values = list(results.values(row, client).values())
    if not values:
        return "failed" if f"{row.measure} {client}" in results.failures else ""
    text = _short(statistics.median(values))
    return f"{text} ({_short(min(values))}–{_short(max(values))})" if spread and len(values) > 1 else text


def _ratio(values: list[float], spread: bool) -> str:
    if not values:
        return ""
    text = f"**{_times(statistics.median(values))}**"
    return f"{text} ({_times(min(values))}–{_times(max(values))})" if spread and len(values) > 1 else text


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text(results: Results) -> str:
    """What the command prints at its end."""
    chosen = rows(results.codecs)
    parts = [figures(results, chosen, spread=True), ratios(results, chosen, spread=True), *_problems(results)]
    return "\n\n".join(parts)


def _problems(results: Results) -> list[str]:
    if not results.failures:
        return []
    lines = [f"- {place}: {reason}" for place, reason in sorted(results.failures.items())]
    return ["Failed at least once:\n\n" + "\n".join(lines)]


# ---- the pages ----


def how(results: Results) -> str:
    """How it was measured, in one paragraph."""
    many = f"Medians of {results.rounds} rounds (lowest–highest)" if results.rounds > 1 else "One round"
    versions = ", ".join(
        f"{client} {version}" for client, version in sorted(results.versions.items()) if not client.startswith(OURS)
    )
    return (
        f"{many} of {results.day}; one broker ({results.broker}), six partitions, 100-byte values, acks=all, "
        "idempotent, linger 5 ms (0 for latency), everything else as each client has it; each client in a process of "
        f"its own, in turns, in a new order each round. {results.machine}; {versions}. CPU is the client's process, "
        "user and system. Ratios are taken round by round, so that noise hits both sides; above 1 pykclient is "
        "better. Java is Kafka's own performance tools, without the start of the JVM except where the start is "
        "measured; its end-to-end tool sends one record at a time instead of 1,000 a second, and its broker for tests "
        "is Apache Kafka itself until it is ready. confluent-kafka's broker for tests is librdkafka's mock. Reading "
        "as columns (`poll_arrow`) is set against the others' reading in batches."
    )


def pages(results: Results) -> dict[str, str]:
    """What stands between the marks, by page."""
    short = headlines(results.codecs)
    small = f"{figures(results, short, spread=False)}\n\n{ratios(results, short, spread=False)}"
    source = "Written by `make compare`; the figures are in `benchmarks/compare.json`."
    whole = f"{how(results)}\n\n{text(results)}\n\n{source}"
    return {
        "README.md": f"{small}\n\n{_brief(results)}",
        "benchmarks/README.md": f"## Beside the other clients: `make compare`\n\n![ratios](../{CHART})\n\n{whole}",
        "docs/comparison.md": f"![ratios](compare.svg)\n\n{whole}",
    }


def _brief(results: Results) -> str:
    many = f"Medians of {results.rounds} rounds" if results.rounds > 1 else "One round"
    return (
        f"{many} of {results.day}, one broker ({results.broker}), 100-byte values, acks=all, idempotent; columns are "
        "set against the others' batches. Every codec, spreads, and how it was measured: "
        "[benchmarks](benchmarks/README.md). Run it yourself: `make compare`."
    )


def fill(known: str, section: str) -> str:
    """The page with the section between its marks; what others wrote stays."""
    block = f"{BEGIN}\n{section}\n{END}"
    if BEGIN in known and END in known:
        head, _, rest = known.partition(BEGIN)
        return head + block + rest.partition(END)[2]
    return (known.rstrip("\n") + "\n\n" if known else "") + block + "\n"


def write(root: pathlib.Path, results: Results) -> None:
    """Keep the results, and write the pages and the chart."""
    for name, section in pages(results).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(fill(known, section), encoding="utf-8")
    (root / CHART).write_text(chart(results), encoding="utf-8")
    (root / DATA).write_text(json.dumps(asdict(results), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load(root: pathlib.Path) -> Results:
    """The results of the last run."""
    return Results(**json.loads((root / DATA).read_text(encoding="utf-8")))


# ---- the chart ----

COLOURS = {
    "pykclient-pure": "#9aa5b1",
    "confluent-kafka": "#f58518",
    "aiokafka": "#54a24b",
    "kafka-python": "#b279a2",
    "java": "#4c78a8",
    "kfake": "#72b7b2",
}
LEFT, MIDDLE, HALF, WIDTH = 300, 560, 230, 860
BAR, GAP = 11, 10
OCTAVES = 6.0
"""A bar of full length is two to this power."""


def chart(results: Results) -> str:
    """An SVG: for each headline and peer a bar that ends at the ratio, on a logarithmic scale around 1."""
    peers = [client for client in results.clients if client != OURS]
    parts: list[str] = []
    y = 46
    for row in headlines(results.codecs):
        found = [(peer, statistics.median(each)) for peer in peers if (each := results.ratios(row, peer))]
        if not found:
            continue
        middle = y + len(found) * BAR / 2 + 4
        parts.append(f'<text x="{LEFT}" y="{middle:.0f}" text-anchor="end">{row.title}</text>')
        for peer, value in found:
            parts.append(_bar(peer, value, y))
            y += BAR
        y += GAP
    legend = "".join(
        f'<rect x="{20 + 138 * index}" y="12" width="10" height="10" fill="{COLOURS[peer]}"/>'
        f'<text x="{34 + 138 * index}" y="21">{TITLES[peer]}</text>'
        for index, peer in enumerate(peers)
    )
    grid = "".join(
        f'<line x1="{x:.0f}" y1="36" x2="{x:.0f}" y2="{y}" stroke="{"#333" if power == 0 else "#ddd"}"/>'
        f'<text x="{x:.0f}" y="{y + 13}" text-anchor="middle" fill="#555">{_scale(power)}</text>'
        for power in range(-4, 7, 2)
        if abs(x := MIDDLE + HALF * power / OCTAVES)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 38}" width="{WIDTH}" height="{y + 38}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f"{legend}{grid}{''.join(parts)}"
        f'<text x="{WIDTH - 20}" y="{y + 30}" text-anchor="end">right of the line pykclient is better, by so many times'
        "</text></svg>\n"
    )


def _bar(peer: str, value: float, y: int) -> str:
    length = max(-HALF, min(HALF, HALF * math.log2(max(value, 1e-6)) / OCTAVES))
    x = MIDDLE + min(length, 0)
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{max(abs(length), 1):.1f}" height="{BAR - 1}" fill="{COLOURS[peer]}"/>'
        f'<text x="{MIDDLE + max(length, 0) + 4:.0f}" y="{y + 9}" font-size="9">{_times(value)}x</text>'
    )


def _scale(power: int) -> str:
    return f"{2**power}x" if power >= 0 else f"1/{2**-power}"
