"""Runs clients in turns, each in a process of its own, round by round, and prints one Markdown table of medians: what
benchmarks/producer.py and benchmarks/consumer.py share. Noise of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Client = tuple[str, Callable[..., "Measured"], dict[str, str]]
"""What the table says of it, what runs it, and its environment variables."""


@dataclass
class Measured:
    """Of one process and one round."""

    cpu_s: float
    wall_s: float
    records: int


@dataclass(frozen=True)
class Benchmark:
    """Which clients, on what, and how large."""

    module: str
    doc: str | None
    clients: Mapping[str, Client]
    records: int
    value_bytes: int
    broker_config: Mapping[str, str]
    run: Callable[[str, str, int], Measured]
    """One client's turn: its name, the servers, how many records."""
    prepare: Callable[[str, int], None] = lambda servers, records: None


def main(benchmark: Benchmark) -> None:
    """The command: all of it, or one client's turn."""
    arguments = argparse.ArgumentParser(description=benchmark.doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--records", type=int, default=benchmark.records)
    arguments.add_argument("--bootstrap-servers")
    arguments.add_argument("--clients", default=",".join(benchmark.clients))
    arguments.add_argument("--child", help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.child:
        measured = benchmark.run(chosen.child, chosen.bootstrap_servers, chosen.records)
        print(json.dumps(vars(measured)))
        return
    results: dict[str, list[Measured]] = {name: [] for name in chosen.clients.split(",")}
    with _broker(chosen.bootstrap_servers, benchmark.broker_config) as servers:
        benchmark.prepare(servers, chosen.records)
        for number in range(chosen.rounds):
            for name, rounds in results.items():
                latest = _turn(benchmark, name, servers, chosen.records)
                rounds.append(latest)
                print(
                    f"round {number + 1} {name}: {latest.cpu_s / latest.records * 1e6:.2f} us CPU per record, "
                    f"{latest.wall_s:.2f} s",
                    file=sys.stderr,
                )
    size, count = benchmark.value_bytes, chosen.rounds
    print(f"\n{chosen.records} records of {size} bytes, medians of {count} interleaved rounds.\n")
    print("| client | CPU per record | wall time | records per second |")
    print("| --- | ---: | ---: | ---: |")
    for name, rounds in results.items():
        cpu = statistics.median(each.cpu_s / each.records for each in rounds) * 1e6
        wall = statistics.median(each.wall_s for each in rounds)
        print(f"| {benchmark.clients[name][0]} | {cpu:.2f} us | {wall:.2f} s | {rounds[0].records / wall:,.0f} |")


@contextlib.contextmanager
def _broker(given: str | None, config: Mapping[str, str]) -> Iterator[str]:
    if given is not None:
        yield given
        return
    from pykclient.testing.real_kafka import RealKafka

    with RealKafka(brokers=1, config=dict(config), heap_mb=768) as kafka:
        yield kafka.bootstrap_servers


def _turn(benchmark: Benchmark, name: str, servers: str, records: int) -> Measured:
    _, _, environment = benchmark.clients[name]
    command = [sys.executable, "-m", benchmark.module, "--child", name, "--bootstrap-servers", servers]
    done = subprocess.run(
        [*command, "--records", str(records)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | environment,
        cwd=pathlib.Path(__file__).parents[1],
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{name}:\n{done.stderr[-2000:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))
