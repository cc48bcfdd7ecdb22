"""The standard workload for a consumer: unique integers in at about 400 a second, a group of one that reads them.

The producer that feeds it goes round the proxies, and is the control: what is not acknowledged cannot be read, and how
long the cluster took no writes is the cluster's affair.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.errors import CommitFailed, CorruptRecordError
from pykclient.testing.real_kafka import RealKafka
from pykclient.types import RecordMetadata
from tests.chaos.conftest import Bench
from tests.chaos.producer_workload import CONTROL, PARTITIONS, new_topic
from tests.chaos.timing import MEMBER_SESSION_MS

COUNT = 2000
PER_SECOND = 400
PROTOCOLS: dict[str, dict[str, Any]] = {
    "classic": {
        "group_protocol": "classic", "session_timeout_ms": MEMBER_SESSION_MS, "heartbeat_interval_ms": 500,
        "partition_assignment_strategy": "cooperative-sticky",
    },
    "consumer": {"group_protocol": "consumer"},
}  # fmt: skip


Place = tuple[int, int]
"""Partition and offset."""


class Arrival(NamedTuple):
    at: float
    partition: int
    offset: int
    value: int
    generation: int


def coordinator_of(kafka: RealKafka, group: str) -> int:
    with KafkaAdminClient(bootstrap_servers=kafka.direct_bootstrap_servers) as admin:
        coordinator = admin.describe_groups([group])[group].coordinator
        assert coordinator is not None
        return int(coordinator.id)


class Reader:
    """A group of one on a thread of its own, and what arrived when."""

    def __init__(self, servers: str, topic: str, protocol: str, *, group: str = "") -> None:
        self.topic = topic
        self.protocol = protocol
        self.group = f"{topic}-{protocol}{group}"
        self.arrived: list[Arrival] = []
        self.corrupt: list[CorruptRecordError] = []
        self.errors: list[BaseException] = []
        self.generations: list[int] = []
        self.slowest_poll_s = 0.0
        self._stop = threading.Event()
        self._options = PROTOCOLS[protocol] | {
            "bootstrap_servers": servers, "group_id": self.group, "auto_offset_reset": "earliest",
            "auto_commit_interval_ms": 500,
        }  # fmt: skip
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            with KafkaConsumer(self.topic, **self._options) as consumer:
                while not self._stop.is_set():
                    self._poll(consumer)
        except BaseException as error:
            self.errors.append(error)

    def _poll(self, consumer: KafkaConsumer) -> None:
        began = time.monotonic()
        try:
            polled = consumer.poll(0.5)
        except CorruptRecordError as error:
            self.corrupt.append(error)
            return
        except CommitFailed:
            return
        now = time.monotonic()
        self.slowest_poll_s = max(self.slowest_poll_s, now - began)
        generation = consumer.group_metadata().generation_id
        rows = [Arrival(now, r.partition, r.offset, int(r.value), generation) for r in polled.records()]
        self.arrived += [row for row in rows if row.value < CONTROL]
        if generation > 0 and self.generations[-1:] != [generation]:  # not while it is still joining
            self.generations.append(generation)

    def values(self) -> set[int]:
        return {row.value for row in list(self.arrived)}

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def check(self, acked: dict[int, Place]) -> int:
        """Complete, in order, at the offsets acknowledged; back to an earlier offset only when the group began anew.
        Gives how often it went back."""
        assert not self.errors, self.errors
        missing = acked.keys() - self.values()
        assert not missing, f"{len(missing)} never read: {sorted(missing)[:5]}"
        by_partition: defaultdict[int, list[Arrival]] = defaultdict(list)
        for row in self.arrived:
            by_partition[row.partition].append(row)
            place = acked.get(row.value)
            assert place == (row.partition, row.offset), f"{row} is elsewhere than acknowledged: {place}"
        went_back = 0
        for rows in by_partition.values():
            for before, after in itertools.pairwise(rows):
                if after.offset <= before.offset:
                    assert after.generation != before.generation, f"{before} then {after} without a rebalance"
                    went_back += 1
                else:
                    assert after.value > before.value, f"{before} then {after}"
        return went_back

    @property
    def gap_s(self) -> float:
        """The longest time in which nothing of a partition arrived."""
        return _longest([(row.at, row.partition) for row in self.arrived])


class Flow:
    """Records in, records out, and when each was acknowledged and arrived."""

    def __init__(self, bench: Bench, protocol: str, *, count: int = COUNT, direct: bool = False) -> None:
        self.kafka, self.proxies = bench
        self.topic = new_topic(self.kafka)
        self.count = count
        self.acked: dict[int, tuple[float, Place]] = {}
        self.errors: list[BaseException] = []
        self.reader = Reader(
            self.kafka.direct_bootstrap_servers if direct else self.kafka.bootstrap_servers, self.topic, protocol
        )

    def _send(self) -> None:
        try:
            with KafkaProducer(bootstrap_servers=self.kafka.direct_bootstrap_servers, linger_ms=5) as producer:
                began = time.monotonic()
                for value in range(self.count):
                    producer.send(
                        self.topic, b"%d" % value, partition=value % PARTITIONS, on_delivery=self._delivered(value)
                    )
                    time.sleep(max(0.0, began + value / PER_SECOND - time.monotonic()))
        except BaseException as error:
            self.errors.append(error)

    def _delivered(self, value: int) -> Callable[[RecordMetadata | None, Exception | None], None]:
        def told(metadata: RecordMetadata | None, error: Exception | None) -> None:
            if metadata is not None:
                self.acked[value] = (time.monotonic(), (metadata.partition, metadata.offset))
            elif error is not None:
                self.errors.append(error)

        return told

    def run(self, fault: Callable[[Flow], None] = lambda _: None, timeout_s: float = 90.0) -> Flow:
        sending = threading.Thread(target=self._send)
        sending.start()
        try:
            self.wait(lambda: len(self.reader.arrived) > self.count // 5, 30, "a fifth of the records")
            fault(self)
            self.wait(lambda: len(self.reader.values()) == self.count, timeout_s, "every record")
        finally:
            sending.join(60)
            self.reader.stop()
        assert not self.errors, self.errors
        return self

    def wait(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        give_up_at = time.monotonic() + timeout_s
        while not condition():
            errors = self.errors + self.reader.errors
            assert not errors, errors
            arrived = len(self.reader.arrived)
            assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s; {arrived} arrived"
            time.sleep(0.05)

    @property
    def gap_s(self) -> float:
        return self.reader.gap_s

    @property
    def control_s(self) -> float:
        """The longest time in which nothing of a partition was acknowledged to the producer."""
        return _longest(sorted((at, partition) for at, (partition, _) in self.acked.values()))

    @property
    def rebalances(self) -> int:
        return len(self.reader.generations) - 1

    def lags_s(self, reader: Reader | None = None) -> list[tuple[int, float, float]]:
        """(partition, acknowledged at, arrived at) of every record, for the first time that it arrived."""
        first: dict[int, float] = {}
        for row in (reader or self.reader).arrived:
            first.setdefault(row.value, row.at)
        return [(partition, at, first[value]) for value, (at, (partition, _)) in sorted(self.acked.items())]

    def first_after(self, moment: float, partition: int) -> float | None:
        rows = list(self.reader.arrived)
        return next((row.at for row in rows if row.at > moment and row.partition == partition), None)

    def check(self, label: str, **numbers: object) -> None:
        """See ``Reader.check``; prints what was measured."""
        assert self.acked.keys() == set(range(self.count))
        went_back = self.reader.check({value: place for value, (_, place) in self.acked.items()})
        lag = max(arrived - acked for _, acked, arrived in self.lags_s())
        told = {
            "gap": f"{self.gap_s:.2f} s", "producer's gap": f"{self.control_s:.2f} s",
            "longest from acknowledged to read": f"{lag:.2f} s", "went back": went_back,
            "generations": self.reader.generations, **numbers,
        }  # fmt: skip
        print(f"\n{label}: " + ", ".join(f"{name} {value}" for name, value in told.items()))


def _longest(rows: list[tuple[float, int]]) -> float:
    by_partition: defaultdict[int, list[float]] = defaultdict(list)
    for at, partition in rows:
        by_partition[partition].append(at)
    gaps = [after - before for times in by_partition.values() for before, after in itertools.pairwise(times)]
    return max(gaps, default=0.0)
