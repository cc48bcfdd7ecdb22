"""A producer while real brokers are killed, stopped and continued: nothing lost or doubled, and writing again soon.

The gray failure is the heart of it: a leader that is stopped (SIGSTOP) keeps its connections and answers nothing. Other
clients wait for their request time-out, 20 to 45 s; the cluster takes writes again after its session time-out of 3 s.
A fresh producer in the same run shows what the cluster itself needs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("confluent_kafka")

from pykclient.testing.real_kafka import RealKafka, available
from tests.chaos.producer_workload import (
    PARTITIONS,
    Run,
    check,
    leader_of,
    measure_control,
    new_topic,
    work,
)

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(240)]
SESSION_S = 3.0


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with RealKafka(brokers=3) as running:
        yield running


def others(kafka: RealKafka, node_id: int) -> str:
    return ",".join(f"127.0.0.1:{b.port}" for b in kafka.brokers.values() if b.id != node_id)


def report(name: str, run: Run) -> None:
    gaps = ", ".join(f"{run.gap_s(partition):.2f}" for partition in range(PARTITIONS))
    control = "" if run.control_s is None else f", fresh producer {run.control_s:.2f} s"
    print(f"\n{name}: {len(run.ledger.acked)} records, longest gap per partition {gaps} s{control}")


def stop_leader(kafka: RealKafka, pause_s: float) -> Run:
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic, 0)

    def fault(run: Run) -> None:
        kafka.brokers[leader].pause()
        try:
            measure_control(others(kafka, leader), run, 0)
            time.sleep(max(0.0, run.fault_at + pause_s - time.monotonic()))
        finally:
            kafka.brokers[leader].resume()
            kafka.wait_ready()

    run = work(kafka.bootstrap_servers, topic, seconds=pause_s + 6, fault=fault)
    report(f"leader stopped for {pause_s:g} s", run)
    check(kafka, run)
    assert run.control_s is not None
    return run


def test_leader_stopped(kafka: RealKafka) -> None:
    """Long enough for a client that waits for the stopped broker to be seen waiting, short enough for every run."""
    run = stop_leader(kafka, 10)
    assert run.gap_s(0) <= max(6.0, (run.control_s or 0) + 2.0)


@pytest.mark.full
@pytest.mark.parametrize("pause_s", [20, 45])
def test_leader_stopped_for_long(kafka: RealKafka, pause_s: float) -> None:
    run = stop_leader(kafka, pause_s)
    assert run.gap_s(0) <= max(6.0, (run.control_s or 0) + 2.0)


@pytest.mark.full
def test_follower_stopped(kafka: RealKafka) -> None:
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic, 0)
    follower = next(node for node in kafka.brokers if node != leader)

    def fault(run: Run) -> None:
        kafka.brokers[follower].pause()
        measure_control(others(kafka, follower), run, 0)
        time.sleep(12)
        kafka.brokers[follower].resume()
        kafka.wait_ready()

    run = work(kafka.bootstrap_servers, topic, seconds=16, fault=fault)
    report("follower stopped for 12 s", run)
    check(kafka, run)
    assert run.gap_s(0) <= max(6.0, (run.control_s or 0) + 2.0)


@pytest.mark.full
def test_leader_killed_and_started_again(kafka: RealKafka) -> None:
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic, 0)

    def fault(run: Run) -> None:
        kafka.brokers[leader].kill()
        measure_control(others(kafka, leader), run, 0)
        time.sleep(max(0.0, run.fault_at + 6 - time.monotonic()))
        kafka.brokers[leader].start()
        kafka.wait_ready()

    run = work(kafka.bootstrap_servers, topic, seconds=14, fault=fault)
    report("leader killed", run)
    check(kafka, run)
    assert run.gap_s(0) <= max(SESSION_S + 1.5, (run.control_s or 0) + 1.5)


@pytest.mark.full
def test_leader_shut_down_in_good_order(kafka: RealKafka) -> None:
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic, 0)

    def fault(run: Run) -> None:
        kafka.brokers[leader].terminate()
        kafka.brokers[leader].start()
        kafka.wait_ready()

    run = work(kafka.bootstrap_servers, topic, seconds=12, fault=fault)
    report("leader shut down", run)
    check(kafka, run)
    assert run.gap_s(0) <= 3.0
