"""The comparison, one command: ``make compare``, or ``python -m benchmarks.compare``.

Starts Apache Kafka once (Java and Maven needed; ``--servers`` uses a broker you have, ``--tiny`` the embedded one) and
lets every client do the same work in a process of its own, round by round and in a new order each round, so that noise
hits all alike. Prints medians with their spread and ratios of ours to each peer, and writes them into
benchmarks/README.md with a chart. Times on a shared machine are what they are: the ratios are what to read.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import functools
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import contender
from pykclient import KafkaAdminClient, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.testing import EmbeddedCluster

FOLDER = pathlib.Path(__file__).parent
OURS = "pykclient"
JAVA = "java"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS = 6
BEGIN, END = "<!-- compare: begin -->", "<!-- compare: end -->"
PROCESS_TIMEOUT_S = 180.0


@dataclass(frozen=True)
class Row:
    """One line of the table: which measure with which codec, which number of it, and which way is better."""

    title: str
    measure: str
    number: str
    unit: str
    codec: str = "none"
    more_is_better: bool = False
    once: bool = False


def rows(codecs: tuple[str, ...]) -> list[Row]:
    """Everything that is compared."""
    found = [
        Row("import", "import", "ms", "ms"),
        Row("start-up to first record", "first-record", "ms", "ms"),
    ]
    for codec in codecs:
        found.append(Row(f"produce, {codec}", "produce", "records_per_s", "records/s", codec, more_is_better=True))
        found.append(Row(f"produce, {codec}: CPU", "produce", "cpu_us_per_record", "us/record", codec))
    for codec in codecs:
        found.append(
            Row(f"consume records, {codec}", "consume", "records_per_s", "records/s", codec, more_is_better=True)
        )
        found.append(Row(f"consume records, {codec}: CPU", "consume", "cpu_us_per_record", "us/record", codec))
        found.append(
            Row(
                f"consume batches, {codec}", "consume-batches", "records_per_s", "records/s", codec, more_is_better=True
            )
        )
    found += [Row(f"latency at 1,000/s, {p}", "latency", f"{p}_ms", "ms") for p in ("p50", "p99", "p99.9")]
    found.append(Row("memory while reading a backlog", "memory", "mb", "MB", once=True))
    found.append(Row("a broker in the process, first record", "embedded", "ms", "ms"))
    return found


@dataclass(frozen=True)
class Plan:
    """How much of it."""

    servers: str
    clients: tuple[str, ...]
    codecs: tuple[str, ...]
    repeats: int
    seconds: float
    records: int
    backlog_records: int
    in_process: bool


Numbers = dict[tuple[str, str, str], list[dict[str, float]]]
"""By measure, codec and client: what each round gave."""


# ---- running ----


def prepare(plan: Plan) -> None:
    """Topics to read from: one per codec, and the backlog."""
    names = [f"compare-{codec}" for codec in plan.codecs] + ["compare-backlog", "compare-sink"]
    with KafkaAdminClient(bootstrap_servers=plan.servers) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS) for name in names], wait=True)
    for codec in plan.codecs:
        _fill(plan.servers, f"compare-{codec}", codec, plan.records, 100)
    _fill(plan.servers, "compare-backlog", "none", plan.backlog_records, 1000)


def _fill(servers: str, topic: str, codec: str, records: int, size: int) -> None:
    value = contender.value_of(size)
    with KafkaProducer(bootstrap_servers=servers, compression_type=codec, batch_size=65_536) as producer:
        for _ in range(records):
            producer.send(topic, value)
        producer.flush()


def measure_all(plan: Plan) -> Numbers:
    """Round by round; a client that cannot do a measure is left out of it, one that fails is named."""
    jobs = list(dict.fromkeys((row.measure, row.codec, row.once) for row in rows(plan.codecs)))
    numbers: Numbers = defaultdict(list)
    for client in plan.clients:
        with contextlib.suppress(NotImplementedError):
            one(plan, client, "import", "none")  # compiles it; nobody's first import counts
    unable: set[tuple[str, str]] = set()
    for turn in range(plan.repeats):
        for measure, codec, once in jobs:
            order = list(plan.clients)
            random.Random(turn).shuffle(order)
            for client in order:
                if (client, measure) in unable or (once and turn):
                    continue
                try:
                    found = one(plan, client, measure, codec)
                except (NotImplementedError, ImportError) as error:
                    unable.add((client, measure))
                    print(f"  {client}: {measure} left out: {error}", file=sys.stderr)
                    continue
                numbers[measure, codec, client].append(found)
                shown = ", ".join(f"{name} {value:,.3g}" for name, value in found.items())
                print(f"  round {turn + 1} {measure} {codec} {client}: {shown}", file=sys.stderr, flush=True)
    return numbers


def one(plan: Plan, client: str, measure: str, codec: str) -> dict[str, float]:
    """One measure of one client, in a process of its own."""
    topic = {"memory": "compare-backlog", "consume": f"compare-{codec}", "consume-batches": f"compare-{codec}"}.get(
        measure, "compare-sink"
    )
    limit = {"memory": plan.backlog_records, "produce": 10**9}.get(measure, plan.records)
    # The backlog is read to its end, however long that takes.
    seconds = PROCESS_TIMEOUT_S / 2 if measure == "memory" else plan.seconds
    if client == JAVA:
        return java(plan, measure, codec, topic)
    words = [client, measure, "--servers", plan.servers, "--topic", topic, "--codec", codec]
    words += ["--seconds", str(seconds), "--records", str(limit)]
    if plan.in_process:
        return contender.run(words)
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent), "PYTHONPYCACHEPREFIX": _compiled_files()}
    # Installed clients come compiled; ours shall not be compiled anew in every process either.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if client == "pykclient-pure":
        environment["PYKCLIENT_ACCEL"] = "off"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.contender", *words],
        capture_output=True, text=True, env=environment, timeout=PROCESS_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        if "NotImplementedError" in last or "ModuleNotFoundError" in last:
            raise NotImplementedError(last.partition(": ")[2])
        raise RuntimeError(f"{client} {measure} {codec}: {last}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@functools.cache
def _compiled_files() -> str:
    folder = tempfile.mkdtemp(prefix="pykclient-compare-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def java(plan: Plan, measure: str, codec: str, topic: str) -> dict[str, float]:
    """Kafka's own performance tools; they say their rate themselves, so the start of the JVM does not count."""
    from pykclient.testing.real_kafka import run_tool

    if measure == "produce":
        settings = [f"bootstrap.servers={plan.servers}", f"compression.type={codec}", "linger.ms=5", "acks=all"]
        output = run_tool(
            "org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records", str(plan.records),
            "--record-size", "100", "--throughput", "-1", "--producer-props", *settings, timeout_s=PROCESS_TIMEOUT_S,
        )  # fmt: skip
        match = re.search(r"records sent, ([\d.]+) records/sec", output.strip().splitlines()[-1])
        if match is None:
            raise RuntimeError(f"ProducerPerformance said {output[-200:]!r}")
        return {"records_per_s": float(match.group(1))}
    if measure == "consume":
        output = run_tool(
            "org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", plan.servers, "--topic", topic,
            "--num-records", str(plan.records), timeout_s=PROCESS_TIMEOUT_S,
        )  # fmt: skip
        lines = [line for line in output.splitlines() if line.count(",") > 5]
        named = dict(zip((part.strip() for part in lines[0].split(",")), lines[-1].split(","), strict=False))
        return {"records_per_s": float(named["fetch.nMsg.sec"])}
    raise NotImplementedError("no such tool")


# ---- telling ----


def table(plan: Plan, numbers: Numbers) -> str:
    """Markdown: median and spread of each, and how many times better ours is."""
    heads = ["", *plan.clients]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(plan.clients)]
    for row in rows(plan.codecs):
        cells = [f"{row.title} ({row.unit})"]
        mine = _values(numbers, row, OURS)
        for client in plan.clients:
            values = _values(numbers, row, client)
            cells.append(_cell(values, mine, row, ours=client == OURS))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _values(numbers: Numbers, row: Row, client: str) -> list[float]:
    return [found[row.number] for found in numbers.get((row.measure, row.codec, client), []) if row.number in found]


def _cell(values: list[float], mine: list[float], row: Row, *, ours: bool) -> str:
    if not values:
        return ""
    text = _short(statistics.median(values))
    if len(values) > 1:
        text += f" ({_short(min(values))}–{_short(max(values))})"
    if ours or not mine:
        return text
    return f"{text}; **{ratio(mine, values, row):.2f}x**"


def ratio(mine: list[float], theirs: list[float], row: Row) -> float:
    """How many times better ours is, by the medians; above 1 is better."""
    a, b = statistics.median(mine), statistics.median(theirs)
    return a / b if row.more_is_better else b / a


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def chart(plan: Plan, numbers: Numbers) -> str:
    """An SVG: for each row and peer a bar that ends at the ratio, on a logarithmic scale around 1."""
    import math

    peers = [client for client in plan.clients if client != OURS]
    colours = dict(zip(peers, ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d"), strict=False))
    bars: list[str] = []
    y = 40
    for row in rows(plan.codecs):
        mine = _values(numbers, row, OURS)
        found = [(peer, ratio(mine, values, row)) for peer in peers if mine and (values := _values(numbers, row, peer))]
        if not found:
            continue
        bars.append(f'<text x="290" y="{y + 9}" text-anchor="end">{row.title}</text>')
        for peer, value in found:
            length = max(-290.0, min(290.0, 90 * math.log2(max(value, 1e-6)) / 2))
            x = 600 + min(length, 0)
            bars.append(
                f'<rect x="{x:.0f}" y="{y}" width="{max(abs(length), 1):.0f}" height="9" fill="{colours[peer]}"/>'
                f'<text x="{600 + max(length, 0) + 4:.0f}" y="{y + 9}">{value:.2f}x</text>'
            )
            y += 12
        y += 6
    legend = "".join(
        f'<rect x="{300 + 140 * index}" y="8" width="10" height="10" fill="{colours[peer]}"/>'
        f'<text x="{314 + 140 * index}" y="17">{peer}</text>'
        for index, peer in enumerate(peers)
    )
    size = f'width="960" height="{y + 20}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="10">'
        f'<rect {size} fill="white"/>{legend}'
        f'<line x1="600" y1="30" x2="600" y2="{y}" stroke="black"/>{"".join(bars)}'
        f'<text x="604" y="{y + 14}">right of the line: pykclient is better, by so many times</text></svg>\n'
    )


def write(folder: pathlib.Path, plan: Plan, text: str, picture: str) -> None:
    """Put the section into README.md of the folder, and the chart beside it; what others wrote there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.svg").write_text(picture, encoding="utf-8")
    readme = folder / "README.md"
    known = readme.read_text(encoding="utf-8") if readme.exists() else "# Benchmarks\n"
    many = f"Median of {plan.repeats} rounds (lowest–highest)" if plan.repeats > 1 else "One round"
    section = (
        f"{BEGIN}\n## Beside the other clients: `make compare`\n\n{many}; **x** is how many times better pykclient is "
        "than that client, by the medians, above 1 being better. One broker, 100-byte values, acks=all, idempotent; "
        "each client in a process of its own, in turns. CPU is the client's process, user and system.\n\n"
        f"{text}\n\n![ratios](compare.svg)\n{END}"
    )
    if BEGIN in known and END in known:
        head, _, rest = known.partition(BEGIN)
        known = head + section + rest.partition(END)[2]
    else:
        known = known.rstrip("\n") + "\n\n" + section + "\n"
    readme.write_text(known, encoding="utf-8")


# ---- the command ----


def main(words: list[str] | None = None) -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", help="a broker to use instead of starting one")
    parser.add_argument("--clients", help="comma-separated; default: all that are installed")
    parser.add_argument("--codecs", default=",".join(CODECS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="per measure (default: %(default)s)")
    parser.add_argument("--records", type=int, default=500_000, help="in each topic that is read")
    parser.add_argument("--backlog-records", type=int, default=1_000_000, help="of 1,000 bytes, for the memory row")
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER, help="where README.md and the chart go")
    parser.add_argument(
        "--tiny", action="store_true", help="for correctness, not for time: embedded broker, one process"
    )
    arguments = parser.parse_args(words)
    clients = tuple((arguments.clients or ",".join([*contender.CLIENTS, JAVA])).split(","))
    unknown = set(clients) - {*contender.CLIENTS, JAVA}
    if unknown or OURS not in clients:
        parser.error(f"clients are {', '.join([*contender.CLIENTS, JAVA])}; {OURS} is always one of them")
    with _broker(arguments) as servers:
        plan = Plan(
            servers,
            clients,
            tuple(arguments.codecs.split(",")),
            arguments.repeats,
            arguments.seconds,
            arguments.records,
            arguments.backlog_records,
            in_process=arguments.tiny,
        )
        prepare(plan)
        numbers = measure_all(plan)
    text = table(plan, numbers)
    print(text)
    write(arguments.out, plan, text, chart(plan, numbers))
    return 0


@contextlib.contextmanager
def _broker(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.servers:
        yield arguments.servers
        return
    if arguments.tiny:
        with EmbeddedCluster() as cluster:
            yield cluster.bootstrap_servers
        return
    from pykclient.testing.real_kafka import RealKafka, available

    reason = available()
    if reason is not None:
        raise SystemExit(f"{reason}; or give --servers, or --tiny for the embedded broker")
    with RealKafka() as kafka:
        yield kafka.bootstrap_servers


if __name__ == "__main__":
    sys.exit(main())
