"""Consumers on three brokers of Apache Kafka while brokers are killed, stopped and paused and the network fails. All is
read, in order, by one owner at a time. A: brokers end, E: they stand still, N: network, D: data, G: groups.

Give ``-s`` to see how long each fault was felt.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.errors import CommitFailed, CorruptRecordError
from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import ChaosProxy, Fault, proxied
from pykclient.testing.real_kafka import RealKafka, available, run_tool

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(240)]

PARTITIONS = 3
COUNT = 2000
SESSION_MS = 6000
PROTOCOLS: dict[str, dict[str, Any]] = {
    "classic": {
        "group_protocol": "classic", "session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": 500,
        "partition_assignment_strategy": "cooperative-sticky",
    },
    "consumer": {"group_protocol": "consumer"},
}  # fmt: skip
Bench = tuple[RealKafka, dict[int, ChaosProxy]]
each_protocol = pytest.mark.parametrize("protocol", list(PROTOCOLS))


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    config = {
        "group.consumer.min.heartbeat.interval.ms": "200",
        "group.consumer.heartbeat.interval.ms": "200",
        "group.consumer.min.session.timeout.ms": str(SESSION_MS),
        "group.consumer.session.timeout.ms": str(SESSION_MS),
        "unstable.api.versions.enable": "false",
    }
    kafka = RealKafka(brokers=3, config=config)
    with proxied(kafka, seed=8) as proxies, kafka:
        yield kafka, proxies


@pytest.fixture(autouse=True)
def calm(bench: Bench) -> Iterator[None]:
    yield
    kafka, proxies = bench
    for proxy in proxies.values():
        proxy.clear()
        proxy.release()
    for broker in kafka.brokers.values():
        if not broker.running:
            broker.start()
    kafka.wait_ready()


def new_topic(kafka: RealKafka) -> str:
    name = f"consumer-{uuid.uuid4().hex[:8]}"
    run = ("--create", "--topic", name, "--partitions", str(PARTITIONS), "--replication-factor", "3")
    run_tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", kafka.direct_bootstrap_servers, *run)
    return name


def leader_of(kafka: RealKafka, topic: str, without: int | None = None) -> int | None:
    """Who leads partition 0, by the account of the others."""
    servers = ",".join(f"127.0.0.1:{b.direct_port}" for b in kafka.brokers.values() if b.id != without)
    with KafkaConsumer(bootstrap_servers=servers) as consumer:
        leader = next(p for p in consumer.partitions_for(topic) if p.partition == 0).leader
        return None if leader is None else leader.id


def coordinator_of(kafka: RealKafka, group: str) -> int:
    with KafkaAdminClient(bootstrap_servers=kafka.direct_bootstrap_servers) as admin:
        coordinator = admin.describe_groups([group])[group].coordinator
        assert coordinator is not None
        return int(coordinator.id)


class Flow:
    """About 400 unique integers a second in, a group of one that reads them, and when each arrived."""

    def __init__(self, bench: Bench, protocol: str, count: int = COUNT) -> None:
        self.kafka, self.proxies = bench
        self.topic = new_topic(self.kafka)
        self.count = count
        self.arrived: list[tuple[float, int, int, int]] = []
        self.corrupt = 0
        self.slowest_poll_s = 0.0
        self.errors: list[BaseException] = []
        self.generations: list[int] = []
        self._stop = threading.Event()
        self._options = {"auto_offset_reset": "earliest", "auto_commit_interval_ms": 500} | PROTOCOLS[protocol]

    def _send(self) -> None:
        try:
            with KafkaProducer(bootstrap_servers=self.kafka.direct_bootstrap_servers, linger_ms=5) as producer:
                for value in range(self.count):
                    producer.send(self.topic, b"%d" % value, partition=value % PARTITIONS)
                    time.sleep(0.0025)
        except BaseException as error:
            self.errors.append(error)

    def _read(self) -> None:
        try:
            with KafkaConsumer(
                self.topic, bootstrap_servers=self.kafka.bootstrap_servers, group_id=self.topic, **self._options
            ) as consumer:
                while not self._stop.is_set():
                    began = time.monotonic()
                    try:
                        polled = consumer.poll(0.5)
                    except CorruptRecordError:
                        self.corrupt += 1
                        continue
                    except CommitFailed:
                        continue
                    now = time.monotonic()
                    self.slowest_poll_s = max(self.slowest_poll_s, now - began)
                    self.arrived += [(now, r.partition, r.offset, int(r.value)) for r in polled.records()]
                    generation = consumer.group_metadata().generation_id
                    if not self.generations or self.generations[-1] != generation:
                        self.generations.append(generation)
        except BaseException as error:
            self.errors.append(error)

    def run(self, fault: Callable[[Flow], None], timeout_s: float = 90.0) -> Flow:
        threads = [threading.Thread(target=self._send), threading.Thread(target=self._read)]
        for thread in threads:
            thread.start()
        self.wait(lambda: len(self.arrived) > self.count // 5, 30, "a fifth of the records")
        fault(self)
        self.wait(lambda: len({value for *_, value in self.arrived}) == self.count, timeout_s, "every record")
        self._stop.set()
        for thread in threads:
            thread.join(60)
        assert not self.errors, self.errors
        return self

    def wait(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        give_up_at = time.monotonic() + timeout_s
        while not condition():
            assert not self.errors, self.errors
            assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s; {len(self.arrived)} arrived"
            time.sleep(0.05)

    @property
    def gap_s(self) -> float:
        return max(after[0] - before[0] for before, after in itertools.pairwise(self.arrived))

    def first_after(self, moment: float, partition: int) -> float:
        return next(when for when, number, _, _ in self.arrived if when > moment and number == partition)

    def check(self, label: str, **numbers: object) -> None:
        """Complete and in order; an offset never has two values; duplicates only where the group had to start anew."""
        places: dict[tuple[int, int], int] = {}
        rows: defaultdict[int, list[int]] = defaultdict(list)
        duplicates = 0
        for _, partition, offset, value in self.arrived:
            duplicates += (partition, offset) in places
            assert places.setdefault((partition, offset), value) == value
            rows[partition].append(offset)
        assert {value for *_, value in self.arrived} == set(range(self.count))
        if not duplicates:
            assert all(after > before for row in rows.values() for before, after in itertools.pairwise(row))
        told = {"gap": f"{self.gap_s:.1f} s", "duplicates": duplicates, "generations": len(self.generations), **numbers}
        print(f"\n{label}: " + ", ".join(f"{name} {value}" for name, value in told.items()))
        assert not duplicates or len(self.generations) > 1, f"{duplicates} duplicates without a rebalance"


@each_protocol
def test_a1_kill_the_leader(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol)
    broker = flow.kafka.brokers[leader_of(flow.kafka, flow.topic) or 1]

    def fault(_: Flow) -> None:
        broker.kill()
        time.sleep(6)
        broker.start()

    flow.run(fault).check(f"A1 {protocol}")
    assert flow.gap_s < 10


@each_protocol
def test_a2_stop_the_leader_in_good_order(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol)
    broker = flow.kafka.brokers[leader_of(flow.kafka, flow.topic) or 1]
    flow.run(lambda _: broker.terminate()).check(f"A2 {protocol}")
    assert flow.gap_s < 10


@each_protocol
@pytest.mark.parametrize("who", ["leader", "coordinator"])
def test_e2_pause(bench: Bench, protocol: str, who: str) -> None:
    """Records flow again within six seconds of the election."""
    flow = Flow(bench, protocol, count=4000)
    felt: list[float] = []

    def fault(flow: Flow) -> None:
        node = leader_of(flow.kafka, flow.topic) if who == "leader" else coordinator_of(flow.kafka, flow.topic)
        assert node is not None
        leads = leader_of(flow.kafka, flow.topic) == node
        flow.kafka.brokers[node].pause()
        paused_at = time.monotonic()
        try:
            while leads and leader_of(flow.kafka, flow.topic, without=node) in (node, None):
                time.sleep(0.1)
            elected_at = time.monotonic()
            flow.wait(lambda: any(row[0] > elected_at and row[1] == 0 for row in list(flow.arrived)), 30, "partition 0")
            felt.append(flow.first_after(elected_at, 0) - elected_at)
            time.sleep(max(0.0, paused_at + 15 - time.monotonic()))
        finally:
            flow.kafka.brokers[node].resume()
            flow.kafka.wait_ready()

    flow.run(fault).check(f"E2 {who} {protocol}", after_election=f"{felt[0]:.1f} s")
    assert felt[0] < 6


NETWORK = {
    "N1": (Fault.RESET_MID_REQUEST, 0.05),
    "N2": (Fault.LOSE_RESPONSE, 0.05),
    "N3": (Fault.DUPLICATE_RESPONSE, 0.05),
    "N4": (Fault.TRUNCATE_RESPONSE, 0.05),
    "N5": (Fault.HALF_OPEN, 0.01),
    "N6": (Fault.DELAY_RESPONSE, 0.1),
}
GROUP_APIS = [
    ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH,
    ApiKey.LIST_OFFSETS,
]  # fmt: skip


@each_protocol
@pytest.mark.parametrize("label", list(NETWORK))
def test_network_faults(bench: Bench, protocol: str, label: str) -> None:
    kind, probability = NETWORK[label]
    flow = Flow(bench, protocol)
    rules = [proxy.add(kind, GROUP_APIS, probability=probability) for proxy in flow.proxies.values()]
    try:
        flow.run(lambda _: None)
    finally:
        for proxy in flow.proxies.values():
            proxy.clear()
    hits = sum(rule.hits for rule in rules)
    flow.check(f"{label} {protocol}", hits=hits)
    assert hits, "no fault, no proof"
    assert flow.gap_s < 10


@each_protocol
def test_d1_a_flipped_bit_is_never_delivered(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol)
    rules = [proxy.add(Fault.FLIP_BIT, [ApiKey.FETCH], probability=0.1) for proxy in flow.proxies.values()]
    flow.run(lambda _: None)
    hits = sum(rule.hits for rule in rules)
    flow.check(f"D1 {protocol}", hits=hits, errors=flow.corrupt, slowest_poll=f"{flow.slowest_poll_s:.2f} s")
    assert hits
    assert flow.slowest_poll_s < 1.5


@each_protocol
def test_g2_the_coordinator_is_killed_and_nobody_rebalances(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol)

    def fault(flow: Flow) -> None:
        broker = flow.kafka.brokers[coordinator_of(flow.kafka, flow.topic)]
        broker.kill()
        time.sleep(3)
        broker.start()

    flow.run(fault).check(f"G2 {protocol}")
    assert len(flow.generations) == 1, "a broker's fault is no reason to rebalance"


MEMBER = """
import sys, time
from pykclient import KafkaConsumer
from pykclient.errors import CommitFailed
servers, topic, protocol = sys.argv[1:]
options = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 500,
           "partition_assignment_strategy": "cooperative-sticky"} if protocol == "classic" else {}

class Listener:
    def tell(self, what, partitions):
        print(time.time(), what, *(tp.partition for tp in partitions), flush=True)
    def on_partitions_assigned(self, partitions): self.tell("took", partitions)
    def on_partitions_revoked(self, partitions): self.tell("gave", partitions)
    def on_partitions_lost(self, partitions): self.tell("lost", partitions)

consumer = KafkaConsumer(bootstrap_servers=servers, group_id=topic, group_protocol=protocol,
                         auto_offset_reset="earliest", enable_auto_commit=False, **options)
consumer.subscribe([topic], listener=Listener())
while True:
    for record in consumer.poll(0.2).records():
        print(time.time(), "read", record.partition, record.offset, flush=True)
    try:
        consumer.commit()
    except CommitFailed:
        print(time.time(), "refused", flush=True)
"""


class Process:
    """A member in a process of its own, and what it said."""

    def __init__(self, servers: str, topic: str, protocol: str) -> None:
        self.lines: list[list[str]] = []
        self.ended_at: float | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-c", MEMBER, servers, topic, protocol],
            cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.split())

    def kill(self) -> None:
        self.process.kill()
        self.ended_at = time.time()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def holds(self) -> list[tuple[float, float, int]]:
        """(from, to, partition) for every time it owned one."""
        held: dict[int, float] = {}
        spans = []
        for when, what, *numbers in self.lines:
            for partition in map(int, numbers):
                if what == "took":
                    held[partition] = float(when)
                elif what in ("gave", "lost") and partition in held:
                    spans.append((held.pop(partition), float(when), partition))
        return spans + [(began, self.ended_at or float("inf"), partition) for partition, began in held.items()]

    def reads(self) -> set[tuple[int, int]]:
        return {(int(line[2]), int(line[3])) for line in self.lines if line[1] == "read"}


def double_owned(members: list[Process]) -> list[str]:
    spans = sorted((partition, began, ended) for member in members for began, ended, partition in member.holds())
    return [
        f"partition {p}: {b2 - e1:.3f} s"
        for (p, _, e1), (p2, b2, _) in itertools.pairwise(spans)
        if p == p2 and b2 < e1 - 0.001
    ]


@each_protocol
def test_g1_members_join_and_die_every_second(bench: Bench, protocol: str) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    members: list[Process] = []
    alive: list[Process] = []
    sent = 0
    seconds = int(os.environ.get("PYKCLIENT_G1_SECONDS", "30"))
    with KafkaProducer(bootstrap_servers=kafka.direct_bootstrap_servers) as producer:
        for second in range(seconds):
            if len(alive) < 3 or (second % 2 and len(alive) < 8):
                alive.append(Process(kafka.bootstrap_servers, topic, protocol))
                members.append(alive[-1])
            else:
                alive.pop(second % len(alive)).kill()
            for _ in range(100):
                producer.send(topic, b"%d" % sent, partition=sent % PARTITIONS)
                sent += 1
            time.sleep(1)
    try:
        give_up_at = time.monotonic() + 60
        while len(set().union(*(member.reads() for member in members))) < sent:
            assert time.monotonic() < give_up_at, "not every record was read"
            time.sleep(0.2)
    finally:
        for member in alive:
            member.kill()
    print(f"\nG1 {protocol}: {sent} records, {len(members)} members, {len(members) - len(alive)} killed")
    assert not double_owned(members)


@each_protocol
def test_g3_a_member_paused_beyond_its_session_comes_back_as_nobody(bench: Bench, protocol: str) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    first = Process(kafka.bootstrap_servers, topic, protocol)
    second: Process | None = None
    try:
        wait(lambda: any(line[1] == "took" for line in first.lines), "the first member")
        first.process.send_signal(signal.SIGSTOP)
        second = Process(kafka.bootstrap_servers, topic, protocol)
        wait(lambda: bool(second) and len(second.holds()) == PARTITIONS, "the second has it all", 40)
        paused = len(first.lines)
        first.process.send_signal(signal.SIGCONT)
        with KafkaProducer(bootstrap_servers=kafka.direct_bootstrap_servers) as producer:
            for value in range(30):
                producer.send(topic, b"%d" % value, partition=value % PARTITIONS)
        wait(lambda: any(line[1] == "lost" for line in first.lines[paused:]), "the zombie hears of it")
        wait(lambda: len(first.reads() | second.reads()) == 30, "every record")
        lost = next(index for index, line in enumerate(first.lines) if line[1] == "lost")
        assert not [line for line in first.lines[paused:lost] if line[1] == "read"], "it read what was not its own"
    finally:
        first.kill()
        if second is not None:
            second.kill()


def wait(condition: Callable[[], bool], what: str, timeout_s: float = 30.0) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s"
        time.sleep(0.05)
