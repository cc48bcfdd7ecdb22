"""``pykclient perf``: how fast is it here: produce, consume, latency; beside an installed peer when asked.

Runs on the command's thread. Both clients do the same work in turns, so that noise hits both alike. Percentiles come
from single records, never from averages of averages.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pykclient.admin.types import NewTopic
from pykclient.cli.actions import add_action
from pykclient.cli.connect import add_connection, admin_client, client_options
from pykclient.cli.peers import PEERS, Ours, Peer, wait_until
from pykclient.cli.screen import Progress, print_json, table
from pykclient.cli.usage import Usage
from pykclient.config import CommonConfig
from pykclient.errors import KafkaTimeoutError, TopicAlreadyExists
from pykclient.types import TopicPartition

EXAMPLES = """\
  pykclient perf produce --records 1000000 --size 100
  pykclient perf produce --against confluent --compression lz4
  pykclient perf consume
  pykclient perf latency --rate 1000 --records 5000"""

TOPIC = "pykclient-perf"
SAMPLE_EVERY = 100
"""Of how many records one is timed in throughput runs: timing all would measure the timing."""
TICK_EVERY = 1000
PERCENTILES = (50, 95, 99, 99.9)


@dataclass
class Measured:
    """One run."""

    records: int
    bytes: int
    seconds: float
    cpu_seconds: float
    latencies_ms: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float]:
        """The numbers people compare."""
        found = {
            "records": self.records,
            "seconds": round(self.seconds, 3),
            "records_per_second": round(self.records / self.seconds, 1),
            "mb_per_second": round(self.bytes / self.seconds / 1e6, 2),
            "cpu_us_per_record": round(self.cpu_seconds / self.records * 1e6, 3),
        }
        if self.latencies_ms:
            found.update(percentiles(self.latencies_ms))
        return found


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """By the nearest rank; ``max`` is the largest."""
    ordered = sorted(values)
    found = {}
    for percent in PERCENTILES:
        rank = max(0, math.ceil(percent * len(ordered) / 100) - 1)
        found[f"p{percent:g}_ms"] = round(ordered[rank], 3)
    found["max_ms"] = round(ordered[-1], 3)
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which measure, how much."""
    children = parser.add_subparsers(dest="measure", metavar="MEASURE")
    for name, summary, records in (
        ("produce", "records sent and acknowledged per second", 500_000),
        ("consume", "records read per second, from the beginning of the topic", None),
        ("latency", "time from send to receipt, record by record", 2000),
    ):
        child = add_action(parser, children, name, summary)
        shown = "all there are" if records is None else f"{records:,}"
        child.add_argument("topic", nargs="?", default=TOPIC, help="made when missing (default: %(default)s)")
        child.add_argument("--records", type=int, default=records, help=f"how many (default: {shown})")
        child.add_argument("--partitions", type=int, default=6, help="of a topic that is made (default: %(default)s)")
        child.add_argument("--against", choices=sorted(PEERS), help="also measure this client, in turns")
        child.add_argument("--repeat", type=int, help="runs of each; the median counts (default: 1, with a peer 3)")
        if name != "consume":
            child.add_argument("--size", type=int, default=100, help="bytes per value (default: %(default)s)")
            child.add_argument("--compression", default="none", choices=("none", "gzip", "snappy", "lz4", "zstd"))
            rate = None if name == "produce" else 1000
            child.add_argument(
                "--rate", type=int, default=rate, help=f"records a second (default: {rate or 'no limit'})"
            )
            child.add_argument("--linger-ms", type=int, default=5 if name == "produce" else 0)
        add_connection(child)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    if arguments.records is not None and arguments.records < 1:
        raise Usage("--records is at least 1")
    connection = client_options(arguments, CommonConfig)
    peers: list[Peer] = [Ours(connection)]
    if arguments.against is not None:
        peers.append(PEERS[arguments.against](connection))
    partitions, available = _prepare(arguments)
    measure = _measure(arguments, partitions, available)
    repeats = arguments.repeat or (1 if len(peers) == 1 else 3)
    runs: dict[str, list[Measured]] = {peer.name: [] for peer in peers}
    for _ in range(repeats):
        for peer in peers:
            runs[peer.name].append(measure(peer))
    return _report(arguments, {name: _median(each) for name, each in runs.items()})


def _prepare(arguments: argparse.Namespace) -> tuple[int, int]:
    """Make the topic when it is missing; its partitions, and how many records it holds."""
    with admin_client(arguments) as admin:
        made = admin.create_topics(NewTopic(arguments.topic, arguments.partitions), wait=True)
        error = made.error(arguments.topic)
        if error is not None and not isinstance(error, TopicAlreadyExists):
            raise error
        count = len(admin.describe_topics(arguments.topic)[arguments.topic].partitions)
        tps = [TopicPartition(arguments.topic, number) for number in range(count)]
        first = admin.list_offsets(dict.fromkeys(tps, "earliest"))
        last = admin.list_offsets(dict.fromkeys(tps, "latest"))
        return count, sum(last[tp].offset - first[tp].offset for tp in tps)


def _measure(arguments: argparse.Namespace, partitions: int, available: int) -> Callable[[Peer], Measured]:
    if arguments.measure == "consume":
        if not available:
            raise Usage(f"{arguments.topic} is empty; fill it: pykclient perf produce {arguments.topic}")
        wanted = min(arguments.records or available, available)
        return lambda peer: consume(peer, arguments.topic, partitions, wanted, arguments.timeout)
    options = {"linger_ms": arguments.linger_ms, "compression_type": arguments.compression}
    if arguments.measure == "produce":
        return lambda peer: produce(peer, arguments, options)
    return lambda peer: latency(peer, arguments, partitions, options)


def value_of(size: int, compressible: bool) -> bytes:
    """Text that compresses about threefold, as most messages do."""
    words = b'{"order":1234567,"customer":"customer-42","product":"apples","amount":3,"price":19.90,"note":"none"}'
    return (words * (size // len(words) + 1))[:size] if compressible else b"x" * size


def produce(peer: Peer, arguments: argparse.Namespace, options: Mapping[str, Any]) -> Measured:
    """Send all, wait for all."""
    value = value_of(arguments.size, arguments.compression != "none")
    latencies: list[float] = []
    failures: list[Exception] = []
    sender = peer.sender(arguments.topic, options)
    try:
        sender.send(value, None)  # connections and metadata are not what is measured
        sender.flush()
        with Progress(peer.name, arguments.records) as progress:
            began, cpu = time.perf_counter(), time.process_time()
            due = time.monotonic()
            for number in range(arguments.records):
                timed = number % SAMPLE_EVERY == 0
                sender.send(value, _timer(latencies, failures) if timed else None)
                if number % TICK_EVERY == 0:
                    sender.tick()
                    progress.advance(TICK_EVERY)
                if arguments.rate:
                    due += 1 / arguments.rate
                    wait_until(due)
            sender.flush()
            seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    finally:
        sender.close()
    if failures:
        raise failures[0]
    return Measured(arguments.records, arguments.records * arguments.size, seconds, cpu_seconds, latencies)


def _timer(latencies: list[float], failures: list[Exception]) -> Callable[[Exception | None], None]:
    began = time.perf_counter()

    def delivered(error: Exception | None) -> None:
        if error is not None:
            failures.append(error)
        latencies.append((time.perf_counter() - began) * 1000)

    return delivered


def consume(peer: Peer, topic: str, partitions: int, records: int, timeout_s: float) -> Measured:
    """Read so many from the beginning; the clock starts with the first record."""
    reader = peer.reader(topic, partitions, from_end=False)
    count = size = 0
    try:
        first = reader.read(timeout_s)
        began, cpu = time.perf_counter(), time.process_time()
        with Progress(peer.name, records) as progress:
            before = len(first)
            while count + before < records:
                values = reader.read(timeout_s)
                if not values:
                    raise KafkaTimeoutError(f"no record for {timeout_s:g} s, after {count + before:,}", topic=topic)
                count += len(values)
                size += sum(map(len, values))
                progress.advance(len(values))
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    finally:
        reader.close()
    if not count:
        raise Usage(f"{topic} came in one piece ({before:,} records): too few to measure; send more")
    return Measured(count, size, seconds, cpu_seconds)


def latency(peer: Peer, arguments: argparse.Namespace, partitions: int, options: Mapping[str, Any]) -> Measured:
    """One record after the other at the wished rate; each carries the moment it was sent."""
    padding = b"x" * max(0, arguments.size - 16)
    reader = peer.reader(arguments.topic, partitions, from_end=True)
    sender = peer.sender(arguments.topic, options)
    latencies: list[float] = []
    try:
        _warm_up(sender, reader, arguments.timeout)
        began, cpu = time.perf_counter(), time.process_time()
        with Progress(peer.name, arguments.records) as progress:
            sent = 0
            heard = time.monotonic()
            while len(latencies) < arguments.records:
                while sent < arguments.records and time.perf_counter() - began >= sent / arguments.rate:
                    sender.send(b"%016d" % time.perf_counter_ns() + padding, None)
                    sent += 1
                sender.tick()
                values = reader.read(0.5 / arguments.rate)
                now = time.perf_counter_ns()
                latencies += [(now - int(value[:16])) / 1e6 for value in values]
                progress.advance(len(values))
                if values:
                    heard = time.monotonic()
                elif time.monotonic() - heard > arguments.timeout:
                    raise KafkaTimeoutError(f"{arguments.records - len(latencies)} records did not come back")
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    finally:
        sender.close()
        reader.close()
    return Measured(arguments.records, arguments.records * arguments.size, seconds, cpu_seconds, latencies)


def _warm_up(sender: Any, reader: Any, timeout_s: float) -> None:
    """Until a record comes through: before that the reader may not have found its place yet."""
    end = time.monotonic() + timeout_s
    while True:
        sender.send(b"%016d" % 0, None)
        sender.flush()
        if reader.read(0.5):
            break
        if time.monotonic() > end:
            raise KafkaTimeoutError(f"no record came back within {timeout_s:g} s")
    while reader.read(0.2):
        pass


def _median(runs: list[Measured]) -> Measured:
    return sorted(runs, key=lambda each: each.seconds)[(len(runs) - 1) // 2]


def _report(arguments: argparse.Namespace, results: dict[str, Measured]) -> int:
    rows = {name: each.row() for name, each in results.items()}
    if arguments.json:
        print_json({"measure": arguments.measure, "topic": arguments.topic, "results": rows})
        return 0
    heads = list(next(iter(rows.values())))
    # A line for each number and a column for each client: so it fits the screen.
    shown = [[head.replace("_", " "), *(row[head] for row in rows.values())] for head in heads]
    table([arguments.measure, *rows], shown)
    if len(rows) == 2:
        (ours, mine), (theirs, other) = rows.items()
        if arguments.measure == "latency":
            ratio = mine["p50_ms"] / other["p50_ms"]
            print(f"median latency of {ours}: {ratio:.2f} times that of {theirs}")
        else:
            print(
                f"{ours}: {mine['records_per_second'] / other['records_per_second']:.2f} times the records of {theirs}"
            )
    return 0
