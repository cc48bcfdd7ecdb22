"""A member of a group in a process of its own, that can be killed and paused: ``python -m ... SERVERS TOPIC HOW``.

It reads, commits, and says on standard output what it does and when. A line on standard input makes it hold still, as
a handler that takes long; after a second line it commits at once, before it polls: what a zombie does when it wakes.
"""

from __future__ import annotations

import itertools
import select
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pykclient import KafkaConsumer, TopicPartition
from pykclient.errors import CommitFailed, KafkaError
from tests.chaos.timing import MEMBER_SESSION_MS

CLASSIC = {"group_protocol": "classic", "session_timeout_ms": MEMBER_SESSION_MS, "heartbeat_interval_ms": 500}
HOW: dict[str, dict[str, Any]] = {
    "eager": CLASSIC | {"partition_assignment_strategy": "range"},
    "cooperative": CLASSIC | {"partition_assignment_strategy": "cooperative-sticky"},
    "consumer": {"group_protocol": "consumer"},
}


def tell(what: str, *numbers: int) -> None:
    print(time.time(), what, *numbers, flush=True)


class Listener:
    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        tell("took", *(tp.partition for tp in partitions))

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        tell("gave", *(tp.partition for tp in partitions))

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        tell("lost", *(tp.partition for tp in partitions))


def main(servers: str, topic: str, how: str) -> None:
    consumer = KafkaConsumer(
        bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest", enable_auto_commit=False, **HOW[how]
    )
    consumer.subscribe([topic], listener=Listener())
    while True:
        if select.select([sys.stdin], [], [], 0)[0] and sys.stdin.readline():
            tell("holding")
            sys.stdin.readline()
            commit(consumer, dict.fromkeys(consumer.assignment(), 1))
        for record in consumer.poll(0.2).records():
            tell("read", record.partition, record.offset)
        commit(consumer, None)


def commit(consumer: KafkaConsumer, offsets: dict[TopicPartition, int] | None) -> None:
    try:
        consumer.commit(offsets)
    except CommitFailed:
        tell("refused")
    except KafkaError as error:
        print(time.time(), "error", repr(error).replace("\n", " "), flush=True)
    else:
        if offsets:
            tell("committed")


class Process:
    """A member, and what it said."""

    def __init__(self, servers: str, topic: str, how: str) -> None:
        self.lines: list[list[str]] = []
        self.ended_at: float | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.group_member", servers, topic, how],
            cwd=Path(__file__).parents[2], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.split())

    def said(self, what: str, since: int = 0) -> bool:
        return any(line[1] == what for line in self.lines[since:])

    def tell(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.ended_at = time.time()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.process.stdout.close()
        self.process.stdin.close()

    def holds(self) -> list[tuple[float, float, int]]:
        """(from, to, partition) for every time it owned one."""
        held: dict[int, float] = {}
        spans = []
        for when, what, *numbers in list(self.lines):
            if what not in ("took", "gave", "lost"):
                continue
            for partition in map(int, numbers):
                if what == "took":
                    held[partition] = float(when)
                elif partition in held:
                    spans.append((held.pop(partition), float(when), partition))
        return spans + [(began, self.ended_at or float("inf"), partition) for partition, began in held.items()]

    def reads(self) -> set[tuple[int, int]]:
        return {(int(line[2]), int(line[3])) for line in list(self.lines) if line[1] == "read"}


def double_owned(members: list[Process]) -> list[str]:
    """Every time that a partition was taken before its owner had let go of it."""
    spans = sorted((partition, began, ended) for member in members for began, ended, partition in member.holds())
    return [
        f"partition {p}: {e1 - b2:.3f} s"
        for (p, _, e1), (p2, b2, _) in itertools.pairwise(spans)
        if p == p2 and b2 < e1 - 0.001
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
