"""Consumers on three brokers of Apache Kafka while brokers are killed, stopped and paused and the network fails. All is
read, in order. A: brokers end, E: they stand still, N: network, D: data, G2: the coordinator ends.

Give ``-s`` to see how long each fault was felt, by the consumer and by the producer that feeds it.
"""

from __future__ import annotations

import time

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import Fault, Rule
from tests.chaos.conftest import Bench
from tests.chaos.consumer_workload import COUNT, PROTOCOLS, Flow, Reader, coordinator_of
from tests.chaos.producer_workload import PARTITIONS, leader_of
from tests.chaos.timing import BROKER_SESSION_S, Spans, allowed_beyond_delays_s, allowed_s, percentile

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(240)]
each_protocol = pytest.mark.parametrize("protocol", list(PROTOCOLS))
LATE_S = (0.1, 1.0)


@each_protocol
def test_a1_kill_the_leader(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol, direct=True)
    broker = flow.kafka.brokers[leader_of(flow.kafka, flow.topic)]

    def fault(_: Flow) -> None:
        broker.kill()
        time.sleep(6)
        broker.start()

    flow.run(fault).check(f"A1 {protocol}")
    assert flow.rebalances == 0
    assert flow.gap_s <= allowed_s(
        BROKER_SESSION_S + 1.5, control_s=flow.control_s, control_at_rest_s=BROKER_SESSION_S + 0.5
    )


@each_protocol
def test_a2_stop_the_leader_in_good_order(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol, direct=True)
    broker = flow.kafka.brokers[leader_of(flow.kafka, flow.topic)]
    flow.run(lambda _: broker.terminate()).check(f"A2 {protocol}")
    assert flow.rebalances == 0
    assert flow.gap_s <= allowed_s(0.5, control_s=flow.control_s, control_at_rest_s=0.25)


@each_protocol
@pytest.mark.parametrize("who", ["leader", "coordinator"])
def test_e2_pause(bench: Bench, protocol: str, who: str) -> None:
    """Records flow again within six seconds of the election, and a group does not feel it at all."""
    flow = Flow(bench, protocol, count=6000, direct=True)
    felt: list[float] = []

    def fault(flow: Flow) -> None:
        leader = leader_of(flow.kafka, flow.topic)
        node = leader if who == "leader" else coordinator_of(flow.kafka, flow.reader.group)
        partition = next(index for index in range(PARTITIONS) if leader_of(flow.kafka, flow.topic, index) == node)
        flow.kafka.brokers[node].pause()
        paused_at = time.monotonic()
        try:
            leader_of(flow.kafka, flow.topic, partition, without=node)
            elected_at = time.monotonic()
            flow.wait(lambda: flow.first_after(elected_at, partition) is not None, 30, f"partition {partition}")
            felt.append((flow.first_after(elected_at, partition) or 0.0) - elected_at)
            time.sleep(max(0.0, paused_at + 12 - time.monotonic()))
        finally:
            flow.kafka.brokers[node].resume()
            flow.kafka.wait_ready()

    flow.run(fault).check(f"E2 {who} {protocol}", after_election=f"{felt[0]:.2f} s")
    assert felt[0] < 6
    assert flow.rebalances == 0


NETWORK = {
    "N1": (Fault.RESET_MID_REQUEST, 0.05, 3.0),
    "N2": (Fault.LOSE_RESPONSE, 0.05, 3.0),
    "N3": (Fault.DUPLICATE_RESPONSE, 0.05, 3.0),
    "N4": (Fault.TRUNCATE_RESPONSE, 0.05, 3.0),
    "N5": (Fault.HALF_OPEN, 0.01, 10.0),
}  # fault, probability, longest time without a record
GROUP_APIS = [
    ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH,
    ApiKey.LIST_OFFSETS,
]  # fmt: skip


@each_protocol
@pytest.mark.parametrize("label", list(NETWORK))
def test_network_faults(bench: Bench, protocol: str, label: str) -> None:
    kind, probability, wanted_s = NETWORK[label]
    flow = Flow(bench, protocol)
    rules = [proxy.add(kind, GROUP_APIS, probability=probability) for proxy in flow.proxies.values()]
    try:
        flow.run()
    finally:
        for proxy in flow.proxies.values():
            proxy.clear()
    hits = sum(rule.hits for rule in rules)
    flow.check(f"{label} {protocol}", hits=hits)
    assert hits, "no fault, no proof"
    assert flow.gap_s <= allowed_s(wanted_s, control_s=flow.control_s, control_at_rest_s=0.25)


@each_protocol
def test_n6_answers_that_come_late(bench: Bench, protocol: str) -> None:
    """From acknowledged to read: 50 ms beyond the delays themselves. The control reads the same records at the same
    time, without the proxy between."""
    flow = Flow(bench, protocol, count=2 * COUNT)
    beside = Reader(flow.kafka.direct_bootstrap_servers, flow.topic, protocol, group="-beside")
    rules: list[Rule] = []

    def delay(flow: Flow) -> None:
        for proxy in flow.proxies.values():
            rules.append(proxy.add(Fault.DELAY_RESPONSE, GROUP_APIS, probability=0.05, delay_s=LATE_S))

    try:
        flow.run(delay)
        flow.wait(lambda: len(beside.values()) == flow.count, 30, "every record, beside the proxy")
    finally:
        beside.stop()
        for proxy in flow.proxies.values():
            proxy.clear()
    held = {
        partition: Spans(
            (entry.since, entry.until)
            for entry in flow.proxies[leader_of(flow.kafka, flow.topic, partition)].held
            if entry.api_key == ApiKey.FETCH
        )
        for partition in range(PARTITIONS)
    }
    lags = flow.lags_s()[flow.count // 5 :]
    control = percentile([end - begin for _, begin, end in flow.lags_s(beside)[flow.count // 5 :]], 99)
    whole = percentile([arrived - acked for _, acked, arrived in lags], 99)
    ours = percentile([end - begin - held[partition].overlap_s(begin, end) for partition, begin, end in lags], 99)
    flow.check(
        f"N6 {protocol}", hits=sum(rule.hits for rule in rules), p99=f"{whole:.3f} s",
        p99_without_the_delays=f"{ours:.3f} s", p99_beside=f"{control:.3f} s",
    )  # fmt: skip
    assert any(rule.hits for rule in rules), "no fault, no proof"
    assert ours <= allowed_beyond_delays_s(control)


@each_protocol
def test_d1_a_flipped_bit_is_never_delivered(bench: Bench, protocol: str) -> None:
    """Every value that arrives is the one acknowledged for its offset; what was damaged is fetched again."""
    flow = Flow(bench, protocol)
    rules = [proxy.add(Fault.FLIP_BIT, [ApiKey.FETCH], probability=0.1) for proxy in flow.proxies.values()]
    flow.run()
    hits = sum(rule.hits for rule in rules)
    flow.check(
        f"D1 {protocol}", hits=hits, errors=len(flow.reader.corrupt), slowest_poll=f"{flow.reader.slowest_poll_s:.2f} s"
    )
    assert hits
    assert flow.reader.slowest_poll_s < 1.5
    for error in flow.reader.corrupt:
        assert error.topic == flow.topic, repr(error)
        assert error.partition in range(PARTITIONS), repr(error)
        assert error.offset in range(flow.count), repr(error)


@each_protocol
def test_g2_the_coordinator_is_killed_and_nobody_rebalances(bench: Bench, protocol: str) -> None:
    flow = Flow(bench, protocol, direct=True)

    def fault(flow: Flow) -> None:
        broker = flow.kafka.brokers[coordinator_of(flow.kafka, flow.reader.group)]
        broker.kill()
        time.sleep(3)
        broker.start()

    flow.run(fault).check(f"G2 {protocol}")
    assert flow.rebalances == 0, "a broker's fault is no reason to rebalance"
