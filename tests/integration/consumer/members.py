"""Members of a group, each on a thread of its own, and the ledger in which every partition has at most one owner."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from pykclient import KafkaConsumer, TopicPartition
from pykclient.errors import CommitFailed, KafkaError
from tests.integration.consumer.support import Record

Handle = Callable[["Member", list[Record]], None]


class Ledger:
    """Who owns what, as the listeners tell it; and what was read. Thread-safe."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owners: dict[TopicPartition, str] = {}
        self.double: list[str] = []
        self.seen: defaultdict[int, int] = defaultdict(int)
        self.moves: list[tuple[str, str, frozenset[TopicPartition]]] = []

    def took(self, member: str, partitions: Collection[TopicPartition]) -> None:
        with self.lock:
            self.moves.append(("took", member, frozenset(partitions)))
            for tp in partitions:
                owner = self.owners.get(tp)
                if owner not in (None, member):
                    self.double.append(f"{tp} given to {member} while {owner} has it")
                self.owners[tp] = member

    def gave(self, member: str, partitions: Collection[TopicPartition], how: str = "gave") -> None:
        with self.lock:
            self.moves.append((how, member, frozenset(partitions)))
            for tp in partitions:
                if self.owners.get(tp) == member:
                    del self.owners[tp]

    def died(self, member: str) -> None:
        with self.lock:
            self.owners = {tp: owner for tp, owner in self.owners.items() if owner != member}

    def read(self, values: Collection[int]) -> None:
        with self.lock:
            for value in values:
                self.seen[value] += 1

    def shares(self) -> dict[str, set[TopicPartition]]:
        with self.lock:
            found: dict[str, set[TopicPartition]] = {}
            for tp, owner in self.owners.items():
                found.setdefault(owner, set()).add(tp)
            return found


class Member:
    """Polls until it is stopped or killed. A listener of its own keeps the ledger."""

    def __init__(
        self, name: str, ledger: Ledger, open_it: Callable[[], KafkaConsumer], topic: str, handle: Handle | None = None
    ) -> None:
        self.name = name
        self.ledger = ledger
        self.consumer = open_it()
        self.errors: list[BaseException] = []
        self._handle = handle or record_values
        self._stopping = threading.Event()
        self.killed = False
        self.consumer.subscribe([topic], listener=self)
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.ledger.took(self.name, partitions)

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.ledger.gave(self.name, partitions)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self.ledger.gave(self.name, partitions, "lost")

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    records = list(self.consumer.poll(0.1).records())
                    if records:
                        self._handle(self, records)
                except CommitFailed:
                    continue
        except KafkaError as error:
            if not self.killed:
                self.errors.append(error)
        if not self.killed:
            self.consumer.close()

    def stop(self) -> None:
        """In good order."""
        self._stopping.set()
        self.thread.join(30)
        assert not self.thread.is_alive()

    def kill(self) -> None:
        """As kill -9 would: not another byte to anybody."""
        self.killed = True
        self._stopping.set()
        self.consumer._core.engine.stop(5.0)
        self.ledger.died(self.name)
        self.thread.join(10)
        self.ledger.died(self.name)
        self.consumer._core.closed = True


def record_values(member: Member, records: list[Record]) -> None:
    member.ledger.read([int(record.value) for record in records if record.value is not None])


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = 20.0) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s"
        time.sleep(0.02)
