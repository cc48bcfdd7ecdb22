"""Groups of processes on three brokers of Apache Kafka: members that join, die and stop all the time.

G1: every record is read, no partition has two owners, commits do not go back. G3: a member paused beyond its session
comes back as nobody.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

from pykclient import KafkaAdminClient, KafkaProducer, TopicPartition
from pykclient.testing.real_kafka import RealKafka
from tests.chaos.conftest import Bench
from tests.chaos.group_member import HOW, Process, double_owned
from tests.chaos.producer_workload import PARTITIONS, new_topic

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(240)]
STORM_S = 60
each_way = pytest.mark.parametrize("how", list(HOW))


def produce(kafka: RealKafka, topic: str, count: int) -> None:
    with KafkaProducer(bootstrap_servers=kafka.direct_bootstrap_servers) as producer:
        for value in range(count):
            producer.send(topic, b"%d" % value, partition=value % PARTITIONS)


def wait(condition: Callable[[], bool], what: str, timeout_s: float = 40.0) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s"
        time.sleep(0.05)


class Commits:
    """What the group has committed, looked at again and again: it never goes back, nor beyond what was read."""

    def __init__(self, kafka: RealKafka, group: str) -> None:
        self._admin = KafkaAdminClient(bootstrap_servers=kafka.direct_bootstrap_servers)
        self._group = group
        self.offsets: dict[TopicPartition, int] = {}
        self.looks = 0

    def look(self) -> dict[TopicPartition, int]:
        found = self._admin.list_group_offsets(self._group)
        offsets = {tp: committed.offset for tp, committed in found.items() if committed is not None}
        for tp, offset in self.offsets.items():
            assert offsets.get(tp, -1) >= offset, f"{tp} was committed at {offset}, now at {offsets.get(tp)}"
        self.offsets = offsets
        self.looks += 1
        return offsets

    def close(self) -> None:
        self._admin.close()


@each_way
def test_g1_members_join_and_die_every_second(bench: Bench, how: str) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    everyone: list[Process] = []
    alive: list[Process] = []
    sent = 0
    commits = Commits(kafka, topic)
    try:
        with KafkaProducer(bootstrap_servers=kafka.direct_bootstrap_servers) as producer:
            for second in range(STORM_S):
                if len(alive) < 3 or (second % 2 and len(alive) < 8):
                    alive.append(Process(kafka.bootstrap_servers, topic, how))
                    everyone.append(alive[-1])
                else:
                    alive.pop(second % len(alive)).kill()
                for _ in range(100):
                    producer.send(topic, b"%d" % sent, partition=sent % PARTITIONS)
                    sent += 1
                commits.look()
                time.sleep(1)  # the pace of the storm, not a wait for anything

        def read() -> set[tuple[int, int]]:
            return set().union(*(member.reads() for member in everyone))

        wait(lambda: len(read()) == sent, "every record", 60)
        wait(lambda: sum(commits.look().values()) == sent, "every record committed", 30)
    finally:
        for member in alive:
            member.kill()
        commits.close()
    killed = len(everyone) - len(alive)
    print(f"\nG1 {how}: {sent} records, {len(everyone)} members, {killed} killed, {commits.looks} looks at the commits")
    assert not double_owned(everyone)
    assert not [line for member in everyone for line in member.lines if line[1] == "error"]


@each_way
def test_g3_a_member_paused_beyond_its_session_comes_back_as_nobody(bench: Bench, how: str) -> None:
    """Its commit is refused, it hears that it has lost its partitions, and only then may it read."""
    kafka, _ = bench
    topic = new_topic(kafka)
    produce(kafka, topic, 30)
    commits = Commits(kafka, topic)
    members = [Process(kafka.direct_bootstrap_servers, topic, how)]
    first = members[0]
    try:
        wait(lambda: len(first.reads()) == 30 and sum(commits.look().values()) == 30, "the first member reads it all")
        first.tell("hold")
        wait(lambda: first.said("holding"), "the first member holds still")
        first.process.send_signal(signal.SIGSTOP)
        members.append(Process(kafka.direct_bootstrap_servers, topic, how))
        second = members[1]
        wait(lambda: len(second.holds()) == PARTITIONS, "the second has it all")
        produce(kafka, topic, 30)
        wait(lambda: len(second.reads()) == 30 and sum(commits.look().values()) == 60, "the second reads the rest")
        paused = len(first.lines)
        first.tell("go on")
        first.process.send_signal(signal.SIGCONT)
        wait(lambda: first.said("lost", paused), "the zombie hears of it")
        produce(kafka, topic, 30)
        wait(lambda: len(first.reads() | second.reads()) == 90, "every record")
        wait(lambda: sum(commits.look().values()) == 90, "every record committed")
        said = [line[1] for line in first.lines[paused:]]
        print(f"\nG3 {how}: the zombie said {said[:4]}")
        assert said[0] == "refused", f"its commit was not refused: {first.lines[paused:]}"
        assert "read" not in said[: said.index("lost")], "it read what was not its own"
    finally:
        for member in members:
            member.kill()
        commits.close()
