"""Every kind of fault once, one after another, while a producer writes and two groups read: for every run of the tests.

The long runs (``--full``) put each of them to a client alone, for longer, and measure.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import Fault
from pykclient.testing.real_kafka import RealBroker
from tests.chaos.conftest import Bench
from tests.chaos.consumer_workload import PROTOCOLS, Reader, coordinator_of
from tests.chaos.producer_workload import PARTITIONS, Control, Run, check, leader_of, new_topic, others, work
from tests.chaos.timing import BROKER_SESSION_S, allowed_s

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(180)]
APIS = [
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.OFFSET_COMMIT,
]  # fmt: skip
NETWORK = {
    "N1": Fault.RESET_MID_REQUEST,
    "N2": Fault.LOSE_RESPONSE,
    "N3": Fault.DUPLICATE_RESPONSE,
    "N4": Fault.TRUNCATE_RESPONSE,
    "N6": Fault.DELAY_RESPONSE,
}
HITS = 6
HALF_OPEN_S = 10.0


def wait(condition: Callable[[], bool], what: str, timeout_s: float = 30.0) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, f"{what}: not within {timeout_s} s"
        time.sleep(0.02)


class Troubles:
    """The faults, each of which ends before the next begins."""

    def __init__(self, bench: Bench, readers: list[Reader]) -> None:
        self.kafka, self.proxies = bench
        self.readers = readers

    def __call__(self, run: Run) -> None:
        for label, action in {
            **{label: self._network(fault) for label, fault in NETWORK.items()},
            "N5": self._half_open,
            "D1": self._flipped_bits,
            "A2": self._shut_down,
            "A1 G2": self._kill,
        }.items():
            began = time.monotonic()
            action(run)
            self._flows_again(run, label)
            gaps = [
                min(after, time.monotonic()) - max(before, began)
                for times in run.acked_at.values()
                for before, after in itertools.pairwise(list(times))
                if after > began
            ]
            print(f"\n{label}: {time.monotonic() - began:.1f} s, longest without an acknowledgement {max(gaps):.2f} s")

    def _flows_again(self, run: Run, label: str) -> None:
        """All that has been sent by now is acknowledged and read."""
        sent = [values[-1] for values in run.ledger.sent.values()]
        wait(lambda: all(value in run.ledger.acked for value in sent), f"{label}: acknowledged")
        for reader in self.readers:
            wait(lambda reader=reader: reader.values().issuperset(sent), f"{label}: read by {reader.protocol}")  # type: ignore[misc]

    def _network(self, fault: Fault) -> Callable[[Run], None]:
        def act(_: Run) -> None:
            rules = [proxy.add(fault, APIS, probability=0.1, delay_s=(0.1, 0.5)) for proxy in self.proxies.values()]
            wait(lambda: sum(rule.hits for rule in rules) >= HITS, fault.name)
            for proxy in self.proxies.values():
                proxy.clear()

        return act

    def _half_open(self, run: Run) -> None:
        proxy = self.proxies[leader_of(self.kafka, run.topic)]
        rule = proxy.add(Fault.HALF_OPEN, [ApiKey.PRODUCE], hits_max=1)
        proxy.wait_for(lambda: rule.hits == 1)
        sent = [values[-1] for values in run.ledger.sent.values()]
        wait(lambda: all(value in run.ledger.acked for value in sent), "half-open", HALF_OPEN_S)

    def _flipped_bits(self, _: Run) -> None:
        rules = [proxy.add(Fault.FLIP_BIT, [ApiKey.FETCH], probability=0.2) for proxy in self.proxies.values()]
        wait(lambda: sum(rule.hits for rule in rules) >= HITS, "flipped bits")
        for proxy in self.proxies.values():
            proxy.clear()

    def _shut_down(self, run: Run) -> None:
        broker = self.kafka.brokers[leader_of(self.kafka, run.topic)]
        self._beside_control(run, broker, broker.terminate, wanted_s=0.5, at_rest_s=0.25)
        broker.start()
        self.kafka.wait_ready()

    def _kill(self, run: Run) -> None:
        """The coordinator of a group, which leads a partition too."""
        broker = self.kafka.brokers[coordinator_of(self.kafka, self.readers[0].group)]
        self._beside_control(
            run, broker, broker.kill, wanted_s=BROKER_SESSION_S + 1.5, at_rest_s=BROKER_SESSION_S + 0.5
        )

    def _beside_control(
        self, run: Run, broker: RealBroker, end: Callable[[], None], *, wanted_s: float, at_rest_s: float
    ) -> None:
        """Fresh producers show how long the cluster itself needs, on this machine and now."""
        led = [index for index in range(PARTITIONS) if leader_of(self.kafka, run.topic, index) == broker.id]
        partition = led[0] if led else 0
        run.fault_at = time.monotonic()
        with Control(others(self.kafka, broker.id), run, partition) as control:
            end()
            control.wait_for_success()
            self._flows_again(run, end.__name__)
        times = list(run.acked_at[partition])
        felt = max(after - before for before, after in itertools.pairwise(times) if after > run.fault_at)
        print(f"\n{end.__name__}: felt for {felt:.2f} s, by fresh producers for {run.control_s:.2f} s")
        assert felt <= allowed_s(wanted_s, control_s=run.control_s, control_at_rest_s=at_rest_s)


def test_nothing_is_lost_doubled_or_out_of_order(bench: Bench) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    readers = [Reader(kafka.bootstrap_servers, topic, protocol) for protocol in PROTOCOLS]
    try:
        wait(lambda: all(reader.generations or reader.errors for reader in readers), "the groups")
        assert not any(reader.errors for reader in readers), [reader.errors for reader in readers]
        run = work(kafka.bootstrap_servers, topic, seconds=1, fault=Troubles(bench, readers), fault_after=0.5)
        for reader in readers:
            wait(lambda reader=reader: len(reader.values()) == len(run.ledger.acked), f"{reader.group}: every record")  # type: ignore[misc]
    finally:
        for reader in readers:
            reader.stop()
    check(kafka, run)
    went_back = [reader.check(run.ledger.acked) for reader in readers]
    print(f"\n{len(run.ledger.acked)} records; the groups went back {went_back} times")
