"""A producer while real brokers are killed, stopped and continued: nothing lost or doubled, and writing again soon.

The gray failure is the heart of it: a leader that is stopped (SIGSTOP) keeps its connections and answers nothing. Other
clients wait for their request time-out, 20 to 45 s; the cluster takes writes again after its session time-out of 3 s.
Fresh producers in the same run show what the cluster itself needs. Give ``-s`` to see both.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pykclient.testing.real_kafka import RealBroker, RealKafka
from tests.chaos.conftest import Bench
from tests.chaos.producer_workload import (
    PARTITIONS,
    Control,
    Run,
    check,
    leader_of,
    new_topic,
    others,
    work,
)
from tests.chaos.timing import BROKER_SESSION_S, REPLICA_LAG_S, allowed_s

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(240)]


def disturb(
    kafka: RealKafka, label: str, broker: RealBroker, topic: str, hit: Callable[[Control], None], seconds: float
) -> Run:
    """Run the workload, with the control beside it from the moment of the fault; then make the cluster whole."""

    def fault(run: Run) -> None:
        try:
            with Control(others(kafka, broker.id), run) as control:
                hit(control)
        finally:
            mend(broker)
            kafka.wait_ready()

    run = work(kafka.direct_bootstrap_servers, topic, seconds=seconds, fault=fault)
    gaps = ", ".join(f"{run.gap_s(partition):.2f}" for partition in range(PARTITIONS))
    print(
        f"\n{label}: {len(run.ledger.acked)} records, longest gap per partition {gaps} s, "
        f"fresh producers {run.control_s:.2f} s"
    )
    check(kafka, run)
    return run


def mend(broker: RealBroker) -> None:
    if not broker.running:
        broker.start()
    elif broker.paused:
        broker.resume()


def stop_leader(kafka: RealKafka, pause_s: float) -> None:
    """Writing again within six seconds of the stop."""
    topic = new_topic(kafka)
    broker = kafka.brokers[leader_of(kafka, topic)]

    def hit(control: Control) -> None:
        stopped_at = time.monotonic()
        broker.pause()
        control.wait_for_success()
        time.sleep(max(0.0, stopped_at + pause_s - time.monotonic()))

    run = disturb(kafka, f"E2 leader stopped for {pause_s:g} s", broker, topic, hit, pause_s + 4)
    assert run.gap_s(0) <= allowed_s(6.0, control_s=run.control_s, control_at_rest_s=BROKER_SESSION_S + 2.0)


def test_leader_stopped(bench: Bench) -> None:
    """Long enough for a client that waits for the stopped broker to be seen waiting, short enough for every run."""
    stop_leader(bench[0], 10)


@pytest.mark.full
@pytest.mark.parametrize("pause_s", [20, 45])
def test_leader_stopped_for_long(bench: Bench, pause_s: float) -> None:
    stop_leader(bench[0], pause_s)


@pytest.mark.full
def test_follower_stopped(bench: Bench) -> None:
    """acks=all wait for it until it is out of the in-sync replicas."""
    kafka, _ = bench
    topic = new_topic(kafka)
    leader = leader_of(kafka, topic)
    broker = next(each for node, each in kafka.brokers.items() if node != leader)

    def hit(control: Control) -> None:
        broker.pause()
        control.wait_for_success()
        time.sleep(8)

    run = disturb(kafka, "E3 follower stopped", broker, topic, hit, 14)
    assert run.gap_s(0) <= allowed_s(
        REPLICA_LAG_S + 1.0, control_s=run.control_s, control_at_rest_s=REPLICA_LAG_S + 0.5
    )


@pytest.mark.full
def test_leader_killed_and_started_again(bench: Bench) -> None:
    kafka, _ = bench
    topic = new_topic(kafka)
    broker = kafka.brokers[leader_of(kafka, topic)]

    def hit(control: Control) -> None:
        killed_at = time.monotonic()
        broker.kill()
        control.wait_for_success()
        time.sleep(max(0.0, killed_at + 6 - time.monotonic()))

    run = disturb(kafka, "A1 leader killed", broker, topic, hit, 14)
    assert run.gap_s(0) <= allowed_s(
        BROKER_SESSION_S + 1.5, control_s=run.control_s, control_at_rest_s=BROKER_SESSION_S + 1.0
    )


@pytest.mark.full
def test_leader_shut_down_in_good_order(bench: Bench) -> None:
    """It hands its partitions over first: hardly felt."""
    kafka, _ = bench
    topic = new_topic(kafka)
    broker = kafka.brokers[leader_of(kafka, topic)]

    def hit(control: Control) -> None:
        broker.terminate()
        control.wait_for_success()

    run = disturb(kafka, "A2 leader shut down", broker, topic, hit, 10)
    assert run.gap_s(0) <= allowed_s(0.5, control_s=run.control_s, control_at_rest_s=0.25)
