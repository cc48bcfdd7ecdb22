"""The comparison, one command: ``make compare``, or ``python -m benchmarks.compare``.

Starts Apache Kafka once (Java and Maven needed; ``--servers`` uses a broker you have, ``--tiny`` the embedded one) and
lets every client do the same work in a process of its own, round by round and in a new order each round, so that noise
hits all alike. A client that fails is named with its reason and the run goes on. After every round the figures are
written: benchmarks/compare.json, and from it the tables of benchmarks/README.md, README.md and docs/comparison.md and
the chart. ``--render`` writes the tables again without measuring. Times on a shared machine are what they are: the
ratios, taken round by round, are what to read.
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
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks import compare_report, contender, other_peers
from benchmarks.compare_report import Results
from benchmarks.other_peers import JAVA, KFAKE
from pykclient import KafkaAdminClient, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.testing import EmbeddedCluster
from pykclient.testing.kafka_runtime import KAFKA_VERSION

ROOT = pathlib.Path(__file__).parents[1]
OURS = compare_report.OURS
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS = 6
BACKLOG_VALUE_BYTES = 1000
LATENCY_RATE = 1000
PROCESS_TIMEOUT_S = 90.0
FAILURES_MAX = 2
"""A client that failed so often at a measure is not asked again: a run shall end in time."""
CLIENTS = (*contender.CLIENTS, JAVA, KFAKE)


@dataclass(frozen=True)
class Job:
    """One measure: with every codec or without, in every round or once."""

    measure: str
    all_codecs: bool = False
    once: bool = False


JOBS = (
    Job("import"),
    Job("first-record"),
    Job("embedded"),
    Job("latency"),
    Job("produce", all_codecs=True),
    Job("consume-records", all_codecs=True),
    Job("consume-batches", all_codecs=True),
    Job("consume-columns", all_codecs=True),
    Job("memory", once=True),
)


@dataclass(frozen=True)
class Plan:
    """How much of it."""

    servers: str
    clients: tuple[str, ...]
    codecs: tuple[str, ...]
    repeats: int
    seconds: float
    latency_seconds: float
    records: int
    backlog_records: int
    end_at: float
    in_process: bool = False
    broker_start_ms: float | None = None


# ---- running ----


def prepare(plan: Plan) -> None:
    """Topics to read from: one per codec, and the backlog."""
    names = [f"compare-{codec}" for codec in plan.codecs] + ["compare-backlog", "compare-sink"]
    with KafkaAdminClient(bootstrap_servers=plan.servers) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS) for name in names], wait=True).raise_for_errors()
    for codec in plan.codecs:
        _fill(plan.servers, f"compare-{codec}", codec, plan.records, 100)
    _fill(plan.servers, "compare-backlog", "none", plan.backlog_records, BACKLOG_VALUE_BYTES)


def _fill(servers: str, topic: str, codec: str, records: int, size: int) -> None:
    values = contender.values_of(size)
    options = {"compression_type": codec, "batch_size": 65_536, "linger_ms": 20}
    with KafkaProducer(bootstrap_servers=servers, **options) as producer:
        for number in range(records):
            producer.send(topic, values[number % len(values)], partition=number // 500 % PARTITIONS)
        producer.flush()


@dataclass
class Run:
    """A run under way: what was found so far, and who could not do what."""

    plan: Plan
    results: Results
    unable: set[tuple[str, str]] = field(default_factory=set)
    failures: dict[tuple[str, str], int] = field(default_factory=dict)

    def rounds(self) -> Iterator[int]:
        """Measure round by round; gives the number of each one that is done."""
        for client in self.plan.clients:
            if client in contender.CLIENTS:
                self._measure(-1, Job("import"), client)  # compiles it; nobody's first import counts
        for turn in range(self.plan.repeats):
            for job in JOBS:
                if job.once and turn:
                    continue
                order = list(self.plan.clients)
                random.Random(turn).shuffle(order)
                for client in order:
                    if time.monotonic() > self.plan.end_at:
                        _say(f"the time is over in round {turn + 1}; what is measured is kept")
                        return
                    if (client, job.measure) not in self.unable:
                        self._measure(turn, job, client)
            yield turn

    def _measure(self, turn: int, job: Job, client: str) -> None:
        place = (client, job.measure)
        try:
            found = one(self.plan, job, client)
        except (NotImplementedError, ImportError) as error:
            self.unable.add(place)
            self.results.left_out(job.measure, client, str(error))
            _say(f"  {client}: {job.measure} left out: {error}")
            return
        except Exception as error:
            # Whatever befell one client, the others are still to be measured; the report names it.
            self.failures[place] = self.failures.get(place, 0) + 1
            if self.failures[place] >= FAILURES_MAX:
                self.unable.add(place)
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            self.results.failed(job.measure, client, reason)
            _say(f"  {client}: {job.measure} failed: {reason}")
            return
        if turn < 0:
            return
        for codec, numbers in found.items():
            self.results.add(job.measure, codec, client, turn, numbers)
            shown = ", ".join(f"{name} {value:,.4g}" for name, value in numbers.items())
            _say(f"  round {turn + 1}: {client} {job.measure} {codec}: {shown}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def one(plan: Plan, job: Job, client: str) -> dict[str, dict[str, float]]:
    """One measure of one client, in a process of its own: what was found, by codec."""
    codecs = plan.codecs if job.all_codecs else ("none",)
    if client == KFAKE:
        return {"none": other_peers.kfake(job.measure)}
    if client == JAVA:
        if job.measure == "embedded" and plan.broker_start_ms is not None:
            return {"none": {"ms": plan.broker_start_ms}}
        amount = other_peers.Amount(plan.servers, plan.records, plan.backlog_records, plan.seconds)
        return {codec: other_peers.java(job.measure, codec, amount, PROCESS_TIMEOUT_S) for codec in codecs}
    words = [client, job.measure, "--servers", plan.servers, "--codecs", ",".join(codecs)]
    words += [*_amount(plan, job.measure), "--started-ns", str(time.time_ns())]
    if plan.in_process:
        return contender.run(words)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.contender", *words],
        capture_output=True, text=True, env=_environment(client), timeout=PROCESS_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode} and said nothing"])[-1]
        if last.startswith(("NotImplementedError", "ModuleNotFoundError")):
            raise NotImplementedError(last.partition(": ")[2])
        raise RuntimeError(last)
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _amount(plan: Plan, measure: str) -> list[str]:
    if measure == "memory":  # the backlog is read to its end, however long that takes
        return ["--topic", "compare-backlog", "--records", str(plan.backlog_records), "--seconds", "80"]
    if measure.startswith("consume"):
        return ["--topic", "compare-{codec}", "--records", str(plan.records), "--seconds", str(plan.seconds)]
    seconds = plan.latency_seconds if measure == "latency" else plan.seconds
    return ["--topic", "compare-sink", "--seconds", str(seconds), "--rate", str(LATENCY_RATE)]


def _environment(client: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": _compiled_files()}
    # Installed clients come compiled; ours shall not be compiled anew in every process either.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYKCLIENT_ACCEL"] = "off" if client == "pykclient-pure" else "auto"
    return environment


@functools.cache
def _compiled_files() -> str:
    folder = tempfile.mkdtemp(prefix="pykclient-compare-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# ---- the command ----


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", help="a broker to use instead of starting one")
    parser.add_argument("--clients", help=f"comma-separated; default: {','.join(CLIENTS)}")
    parser.add_argument("--codecs", default=",".join(CODECS))
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.6, help="per measure and codec (default: %(default)s)")
    parser.add_argument("--latency-seconds", type=float, default=2.0, help="(default: %(default)s)")
    parser.add_argument("--records", type=int, default=500_000, help="in each topic that is read")
    parser.add_argument("--backlog-records", type=int, default=1_000_000, help="of 1,000 bytes, for the memory row")
    parser.add_argument("--minutes", type=float, default=15.0, help="measure no longer than this")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT, help="the tree whose pages are written")
    parser.add_argument("--render", action="store_true", help="write the pages again from what was measured")
    parser.add_argument(
        "--tiny", action="store_true", help="for correctness, not for time: embedded broker, one process"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the comparison."""
    parser = arguments()
    options = parser.parse_args(words)
    if options.render:
        compare_report.write(options.out, compare_report.load(options.out))
        return 0
    clients = tuple((options.clients or ",".join(CLIENTS)).split(","))
    if set(clients) - set(CLIENTS) or OURS not in clients:
        parser.error(f"clients are {', '.join(CLIENTS)}; {OURS} is always one of them")
    if options.records % contender.CHECK_EVERY:
        parser.error(f"--records is a multiple of {contender.CHECK_EVERY}")
    broker = "embedded" if options.tiny else "a given one" if options.servers else f"Apache Kafka {KAFKA_VERSION}"
    with _broker(options) as (servers, start_ms):
        plan = Plan(
            servers,
            clients,
            tuple(options.codecs.split(",")),
            options.repeats,
            options.seconds,
            options.latency_seconds,
            options.records,
            options.backlog_records,
            end_at=time.monotonic() + options.minutes * 60,
            in_process=options.tiny,
            broker_start_ms=start_ms,
        )
        results = Results.begin(clients, plan.codecs, broker)
        _say(f"filling {plan.records:,} records for each codec, and a backlog of {plan.backlog_records:,}")
        prepare(plan)
        for _ in Run(plan, results).rounds():
            compare_report.write(options.out, results)
    other_peers.forget()
    compare_report.write(options.out, results)
    print(compare_report.text(results))
    return 0


@contextlib.contextmanager
def _broker(options: argparse.Namespace) -> Iterator[tuple[str, float | None]]:
    if options.servers:
        yield options.servers, None
        return
    if options.tiny:
        with EmbeddedCluster() as cluster:
            yield cluster.bootstrap_servers, None
        return
    from pykclient.testing.real_kafka import RealKafka, available

    reason = available()
    if reason is not None:
        raise SystemExit(f"{reason}; or give --servers, or --tiny for the embedded broker")
    kafka = RealKafka(heap_mb=1024)
    began = time.perf_counter()
    with kafka:
        yield kafka.bootstrap_servers, (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
