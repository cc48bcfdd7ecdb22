"""A producer through a proxy that breaks connections: resets, lost, doubled, cut, withheld and late answers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("confluent_kafka")

from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import ChaosProxy, Fault, Rule, proxied
from pykclient.testing.real_kafka import RealKafka, available
from tests.chaos.producer_workload import PARTITIONS, Run, check, new_topic, work

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(240)]
SECONDS = 8.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[RealKafka, dict[int, ChaosProxy]]]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    kafka = RealKafka(brokers=3)
    with proxied(kafka, seed=11) as proxies, kafka:
        yield kafka, proxies


def run_with(
    cluster: tuple[RealKafka, dict[int, ChaosProxy]],
    fault: Fault,
    probability: float,
    delay_s: tuple[float, float] = (0.1, 1.0),
) -> tuple[Run, list[Rule]]:
    kafka, proxies = cluster
    topic = new_topic(kafka)
    rules = [proxy.add(fault, [ApiKey.PRODUCE], probability=probability, delay_s=delay_s) for proxy in proxies.values()]
    try:
        run = work(kafka.bootstrap_servers, topic, seconds=SECONDS, fault=lambda _: time.sleep(1), fault_after=0)
    finally:
        for proxy in proxies.values():
            proxy.clear()
    gaps = ", ".join(f"{run.gap_s(partition):.2f}" for partition in range(PARTITIONS))
    hits = sum(rule.hits for rule in rules)
    ended = run.notes["flushed_s"] - SECONDS
    print(f"\n{fault.name}: {hits} hits, gaps {gaps} s, all acknowledged {ended:.2f} s after the last send")
    assert hits > 0, "no fault, no proof"
    check(kafka, run)
    return run, rules


@pytest.mark.parametrize(
    "fault", [Fault.RESET_MID_REQUEST, Fault.LOSE_RESPONSE, Fault.DUPLICATE_RESPONSE, Fault.TRUNCATE_RESPONSE]
)
def test_every_twentieth_produce_goes_wrong(cluster: tuple[RealKafka, dict[int, ChaosProxy]], fault: Fault) -> None:
    run, _ = run_with(cluster, fault, 0.05)
    assert run.notes["flushed_s"] - SECONDS < 3.0


def test_connections_that_are_half_open(cluster: tuple[RealKafka, dict[int, ChaosProxy]]) -> None:
    run, _ = run_with(cluster, Fault.HALF_OPEN, 0.01)
    assert run.notes["flushed_s"] - SECONDS < 10.0
    assert max(run.gap_s(partition) for partition in range(PARTITIONS)) < 10.0


def test_answers_that_come_late(cluster: tuple[RealKafka, dict[int, ChaosProxy]]) -> None:
    run, _ = run_with(cluster, Fault.DELAY_RESPONSE, 0.05, delay_s=(0.1, 1.0))
    p99 = statistics.quantiles(run.latencies, n=100)[-1]
    print(f"latency p50 {statistics.median(run.latencies):.3f} s, p99 {p99:.3f} s")
    assert p99 < 2.0
