"""Members come and die while records flow: every record is seen, no partition has two owners, and what is consumed,
transformed and produced in transactions comes out exactly once."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient import KafkaProducer, TopicPartition
from pykclient.errors import KafkaError
from pykclient.testing import EmbeddedCluster
from pykclient.types import OffsetAndMetadata
from tests.integration.consumer.members import Ledger, Member, wait_until
from tests.integration.consumer.support import CLUSTER, Record, open_consumer
from tests.integration.producer.support import values

PARTITIONS = 6
SESSION_MS = 1500
one_of_each = pytest.mark.parametrize("protocol", ["classic-cooperative", "kip848"])


@pytest.fixture(scope="module")
def churned() -> Iterator[EmbeddedCluster]:
    options = CLUSTER | {"group_consumer_session_timeout_ms": SESSION_MS}
    with EmbeddedCluster(brokers=1, seed=3, **options) as running:
        yield running


class Feed:
    """Unique integers into a topic until stopped."""

    def __init__(self, cluster: EmbeddedCluster, topic: str) -> None:
        self.count = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(cluster.bootstrap_servers, topic), daemon=True)
        self._thread.start()

    def _run(self, servers: str, topic: str) -> None:
        with KafkaProducer(bootstrap_servers=servers) as producer:
            while not self._stop.is_set():
                for _ in range(10):
                    producer.send(topic, b"%d" % self.count, partition=self.count % PARTITIONS)
                    self.count += 1
                self._stop.wait(0.02)

    def stop(self) -> int:
        self._stop.set()
        self._thread.join(20)
        return self.count


def churn(open_member: Callable[[str], Member], seconds: float, every_s: float) -> tuple[list[Member], list[Member]]:
    """Three members; every so often one is killed or one is added. Who is alive, and who ever was."""
    chance = random.Random(7)
    numbers = itertools.count()
    alive = [open_member(f"m{next(numbers)}") for _ in range(3)]
    everyone = list(alive)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(every_s)  # the pace of the churn, not a wait for anything
        if len(alive) >= 3:
            alive.pop(chance.randrange(len(alive))).kill()
        else:
            alive.append(open_member(f"m{next(numbers)}"))
            everyone.append(alive[-1])
    return alive, everyone


def session(protocol: str) -> dict[str, Any]:
    return {} if protocol == "kip848" else {"session_timeout_ms": SESSION_MS}


@one_of_each
@pytest.mark.timeout(180)
def test_every_record_is_seen_and_no_partition_has_two_owners(
    churned: EmbeddedCluster, name: str, protocol: str, full: bool
) -> None:
    churned.create_topic(name, PARTITIONS)
    ledger = Ledger()
    options: dict[str, Any] = {"group_id": name, "protocol": protocol, "auto_commit_interval_ms": 100}

    def open_member(member: str) -> Member:
        return Member(member, ledger, lambda: open_consumer(churned, **options, **session(protocol)), name)

    feed = Feed(churned, name)
    alive, everyone = churn(open_member, *((60.0, 2.0) if full else (4.5, 0.8)))
    count = feed.stop()
    try:
        wait_until(lambda: len(ledger.seen) == count, "every record")
        wait_until(lambda: len(ledger.owners) == PARTITIONS, "an owner for every partition")
    finally:
        for member in alive:
            member.stop()
    assert not ledger.double
    assert not [error for member in everyone for error in member.errors]


class Copier:
    """Consume, transform, produce: input and output in one transaction."""

    def __init__(self, cluster: EmbeddedCluster, member: str, target: str) -> None:
        self.target = target
        self.producer = KafkaProducer(
            bootstrap_servers=cluster.bootstrap_servers,
            transactional_id=f"{target}-{member}",
            transaction_timeout_ms=2000,
        )
        self.producer.init_transactions()

    def __call__(self, member: Member, records: list[Record]) -> None:
        producer, consumer = self.producer, member.consumer
        producer.begin_transaction()
        try:
            for record in records:
                producer.send(self.target, record.value, partition=record.partition)
            offsets = {TopicPartition(r.topic, r.partition): OffsetAndMetadata(r.offset + 1) for r in records}
            producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
            producer.commit_transaction()
        except KafkaError:
            if member.killed:
                raise
            producer.abort_transaction()
            mine = consumer.assignment()
            first = {TopicPartition(r.topic, r.partition): r.offset for r in reversed(records)}
            for tp, offset in first.items():
                if tp in mine:
                    consumer.seek(tp, offset)


@one_of_each
@pytest.mark.timeout(180)
def test_transactions_copy_every_record_exactly_once(
    churned: EmbeddedCluster, name: str, protocol: str, full: bool
) -> None:
    target = f"{name}-copy"
    for topic in (name, target):
        churned.create_topic(topic, PARTITIONS)
    ledger = Ledger()
    copiers: dict[str, Copier] = {}
    options: dict[str, Any] = {
        "group_id": name, "protocol": protocol, "enable_auto_commit": False, "isolation_level": "read_committed",
    }  # fmt: skip

    def open_member(member: str) -> Member:
        copiers[member] = Copier(churned, member, target)
        opened = Member(
            member, ledger, lambda: open_consumer(churned, **options, **session(protocol)), name, copiers[member]
        )
        kill = opened.kill

        def kill_both() -> None:
            opened.killed = True
            copiers[member].producer._engine.stop(5.0)
            kill()

        opened.kill = kill_both  # type: ignore[method-assign]
        return opened

    feed = Feed(churned, name)
    alive, everyone = churn(open_member, *((60.0, 2.0) if full else (4.0, 0.8)))
    count = feed.stop()
    try:
        # A member killed after its commit arrived has not told anybody: the topic is the only witness.
        wait_until(lambda: len(values(churned, target)) >= count, "every record", 40.0)
    finally:
        for member in alive:
            member.stop()
            copiers[member.name].producer.close()
    copied = Counter(int(value) for value in values(churned, target))
    assert copied == Counter(range(count)), (copied - Counter(range(count)), Counter(range(count)) - copied)
    assert not ledger.double
    assert not [error for member in everyone for error in member.errors]
