"""Every fault that the exactly-once sink must survive, at random points: drivers and tasks that are killed, brokers
that restart, coordinators that move, commits that raise, checkpoints that are behind, tasks that are fewer or more.

Without Spark's JVM, with the classes and the pickling that it uses (batch_driver.py); test_driver_killed.py has the
JVM. Twenty turns each with ``--full``, and once each on three brokers of Apache Kafka. Always: what a read_committed
reader sees is the input as a multiset, nothing is left open, or the error says what to do, and doing it helps.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import pytest

from pykclient import KafkaAdminClient
from pykclient.admin import NewTopic
from pykclient.broker.cluster_info import coordinator_partition
from pykclient.testing import EmbeddedCluster
from pykclient.testing.real_kafka import RealKafka, available
from pykclient.types import TopicPartition
from tests.spark.batch_driver import DIED, OK, Job, Step, drive
from tests.spark.test_exactly_once import EVERY_STEP, abort_as_if_timed_out, committed_values, open_ids, rows_of

SEED = 20


class Brokers(Protocol):
    """What a fault needs of a cluster, embedded or not."""

    @property
    def bootstrap_servers(self) -> str: ...

    def moment(self, chance: random.Random) -> Callable[[], bool]:
        """Tells whether a random moment has come."""

    def restart(self, node: int, *, port: int | None = None) -> None: ...
    def move(self, transactional_id: str) -> None: ...
    def new_topic(self, name: str) -> None: ...


# ---- the faults: each runs one batch to its end, with its fault, and gives how often it needed a restart

Outcome = int


def _until_done(job: Job, first: str) -> Outcome:
    """Start the query again until the batch is through: what every operator does."""
    restarts, outcome = 0, first
    while outcome != OK:
        assert restarts < 5, outcome
        print(f"turn {job.number}: {outcome}")
        restarts += 1
        outcome = drive(replace(job, die=None, fails=None, task_dies=None))
    return restarts


def _dies(job: Job, step: Step) -> Outcome:
    assert drive(replace(job, die=step)) == DIED, step
    return _until_done(job, DIED)


def killed_before_end(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    return _dies(job, chance.choice([Step("decision"), Step("decision", True), Step("end")]))


def killed_during_end(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    nth = chance.randint(1, job.slots - 1)
    return _dies(job, chance.choice([Step("end", True, nth), Step("end", False, nth + 1)]))


def killed_after_end(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    return _dies(job, chance.choice([Step("end", True, job.slots), Step("done"), Step("done", True)]))


def task_killed_after_prepare(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    return _until_done(job, drive(replace(job, task_dies=chance.randrange(job.slots))))


def commit_file_deleted(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    assert drive(job) == OK
    assert drive(replace(job, slots=chance.randint(1, 5))) == OK
    return 1


def _disturbed(brokers: Brokers, job: Job, chance: random.Random, disturb: Callable[[], None]) -> Outcome:
    """Run the batch, and disturb the brokers at a random moment of it; after it, if it was over sooner."""
    has_come, over = brokers.moment(chance), threading.Event()

    def wait() -> None:
        while not has_come() and not over.wait(0.002):
            pass
        disturb()

    thread = threading.Thread(target=wait)
    thread.start()
    outcome = drive(job)
    over.set()
    thread.join()
    return _until_done(job, outcome)


def broker_restarted(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    node = chance.randint(1, 3)
    return _disturbed(brokers, job, chance, lambda: brokers.restart(node))


def coordinator_moved(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    name = chance.choice([f"{job.topic}.driver", *(f"{job.topic}.{slot}" for slot in range(job.slots))])
    return _disturbed(brokers, job, chance, lambda: brokers.move(name))


def commit_raises(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    steps = [Step("decision"), Step("decision", True), Step("end", True, chance.randint(1, job.slots)), Step("done")]
    outcome = drive(replace(job, fails=chance.choice(steps)))
    assert outcome.startswith("OSError: injected"), outcome
    return _until_done(job, outcome)


def slots_changed(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    two = replace(job, slots=2)
    steps = [step for step in EVERY_STEP if step.what != "send" or step.nth < 4]
    assert drive(replace(two, die=chance.choice(steps))) == DIED
    return _until_done(replace(job, slots=chance.choice([1, 3, 4, 5])), DIED)


def transactions_lost(brokers: Brokers, job: Job, chance: random.Random) -> Outcome:
    """The driver is away until the brokers have aborted some of what it had decided to commit."""
    assert drive(replace(job, die=Step("end", True, chance.randint(1, job.slots - 1)))) == DIED
    for slot in sorted(chance.sample(range(job.slots), chance.randint(1, job.slots))):
        abort_as_if_timed_out(brokers, f"{job.topic}.{slot}")
    return _until_done(job, DIED)


FAULTS = [
    killed_before_end, killed_during_end, killed_after_end, task_killed_after_prepare, commit_file_deleted,
    broker_restarted, coordinator_moved, commit_raises, slots_changed, transactions_lost,
]  # fmt: skip


def run_turns(brokers: Brokers, topic: str, fault: Callable[..., Outcome], turns: int) -> None:
    brokers.new_topic(topic)
    chance = random.Random(f"{SEED} {fault.__name__}")
    print(f"seed {SEED}, {fault.__name__}, {turns} turns")
    restarts, expected = [], []
    for number in range(turns):
        rows = rows_of(number, chance.randint(12, 60))
        job = Job(brokers.bootstrap_servers, topic, number, rows, chance.randint(2, 4))
        restarts.append(fault(brokers, job, chance))
        expected += rows
        _wait_until_nothing_is_open(brokers)
        assert committed_values(brokers, topic) == sorted(expected), f"turn {number}"
    print(f"restarts per turn: {restarts}")


def _wait_until_nothing_is_open(brokers: Brokers) -> None:
    """A commit is answered when it is decided; its markers, without which nobody reads on, may come later."""
    deadline = time.monotonic() + 30.0
    while still_open := open_ids(brokers):
        assert time.monotonic() < deadline, still_open
        time.sleep(0.05)  # of real brokers, too, which tell nobody


# ---- on embedded brokers


class Embedded(EmbeddedCluster):
    """Three of them; what one holds is away while it restarts."""

    def __init__(self) -> None:
        super().__init__(3, seed=SEED)

    def moment(self, chance: random.Random) -> Callable[[], bool]:
        seen, hits = self.faults.observe(), chance.randint(1, 150)
        return lambda: seen.hits >= hits

    def move(self, transactional_id: str) -> None:
        now = self.coordinator(transactional_id=transactional_id)
        self.move_coordinator(now % 3 + 1, transactional_id=transactional_id)

    def new_topic(self, name: str) -> None:
        self.create_topic(name, 3)


@pytest.fixture(scope="module")
def embedded() -> Iterator[Embedded]:
    brokers = Embedded()
    with brokers:
        yield brokers


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.timeout(1500)
def test_on_embedded_brokers(embedded: Embedded, fault: Callable[..., Outcome], full: bool) -> None:
    run_turns(embedded, f"matrix-{fault.__name__.replace('_', '-')}", fault, 20 if full else 2)


# ---- on Apache Kafka


class Real(RealKafka):
    """Three brokers, everything replicated."""

    def moment(self, chance: random.Random) -> Callable[[], bool]:
        at = time.monotonic() + chance.uniform(0.0, 0.7)
        return lambda: time.monotonic() >= at

    def restart(self, node: int, *, port: int | None = None) -> None:
        self.brokers[node].terminate()
        self.brokers[node].start()
        self.wait_ready()

    def move(self, transactional_id: str) -> None:
        topic = "__transaction_state"
        with KafkaAdminClient(bootstrap_servers=self.bootstrap_servers) as admin:
            partitions = admin.describe_topics(topic)[topic].partitions
            tp = TopicPartition(topic, coordinator_partition(transactional_id, len(partitions)))
            replicas = [*partitions[tp.partition].replicas]
            admin.alter_partition_reassignments({tp: replicas[1:] + replicas[:1]}).raise_for_errors()
            admin.elect_leaders([tp]).raise_for_errors()

    def new_topic(self, name: str) -> None:
        with KafkaAdminClient(bootstrap_servers=self.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(name, 3, 3)], wait=True).raise_for_errors()


@pytest.fixture(scope="module")
def real() -> Iterator[Any]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with Real(brokers=3) as kafka:
        yield kafka


@pytest.mark.full
@pytest.mark.real_kafka
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.timeout(300)
def test_on_apache_kafka(real: Real, fault: Callable[..., Outcome]) -> None:
    run_turns(real, f"matrix-{fault.__name__.replace('_', '-')}", fault, 1)
