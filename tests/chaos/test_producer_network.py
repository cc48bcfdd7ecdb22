"""A producer through a proxy that breaks connections: resets, lost, doubled, cut, withheld and late answers."""

from __future__ import annotations

import contextlib
import statistics
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pykclient import KafkaProducer
from pykclient.protocol.messages import ApiKey
from pykclient.testing.chaos_proxy import ChaosProxy, Fault
from tests.chaos.conftest import Bench
from tests.chaos.producer_workload import PARTITIONS, Run, check, leader_of, new_topic, read_values, work
from tests.chaos.timing import Spans, allowed_beyond_delays_s, percentile

pytestmark = [pytest.mark.full, pytest.mark.real_kafka, pytest.mark.timeout(240)]
SECONDS = 8.0
LATE_S = (0.1, 1.0)


def run_with(bench: Bench, fault: Fault, probability: float) -> Run:
    kafka, proxies = bench
    topic = new_topic(kafka)
    rules = [proxy.add(fault, [ApiKey.PRODUCE], probability=probability, delay_s=LATE_S) for proxy in proxies.values()]
    try:
        run = work(kafka.bootstrap_servers, topic, seconds=SECONDS, fault=lambda _: None, fault_after=0)
    finally:
        for proxy in proxies.values():
            proxy.clear()
    gaps = ", ".join(f"{run.gap_s(partition):.2f}" for partition in range(PARTITIONS))
    hits = sum(rule.hits for rule in rules)
    ended = run.notes["flush_s"]
    print(f"\n{fault.name}: {hits} hits, gaps {gaps} s, all acknowledged {ended:.2f} s after the last send")
    assert hits > 0, "no fault, no proof"
    check(kafka, run)
    return run


@pytest.mark.parametrize(
    "fault", [Fault.RESET_MID_REQUEST, Fault.LOSE_RESPONSE, Fault.DUPLICATE_RESPONSE, Fault.TRUNCATE_RESPONSE]
)
def test_every_twentieth_produce_goes_wrong(bench: Bench, fault: Fault) -> None:
    run = run_with(bench, fault, 0.05)
    assert run.notes["flush_s"] < 3.0


def test_connections_that_are_half_open(bench: Bench) -> None:
    run = run_with(bench, Fault.HALF_OPEN, 0.01)
    assert run.notes["flush_s"] < 10.0
    assert max(delivery.acked_at - delivery.sent_at for delivery in run.deliveries) < 10.0


def test_answers_that_come_late(bench: Bench) -> None:
    """The client adds no more than 50 ms to the delays themselves. The control does the same work at the same time,
    without the proxy between.

    A record may wait for two of them: five requests are in flight at most, and when the answer to the first is late,
    the sixth leaves when it has come, and may then meet a late answer of its own. So the time that an answer was held
    is taken off, second by second, from the time that the record took.
    """
    kafka, proxies = bench
    topic = new_topic(kafka)
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(
            work, kafka.direct_bootstrap_servers, topic, seconds=SECONDS, fault=lambda _: None, fault_after=0
        )
        run = run_with(bench, Fault.DELAY_RESPONSE, 0.05)
    held = {
        node_id: Spans((entry.since, entry.until) for entry in proxy.held if entry.api_key == ApiKey.PRODUCE)
        for node_id, proxy in proxies.items()
    }
    leaders = {partition: leader_of(kafka, run.topic, partition) for partition in range(PARTITIONS)}
    control = percentile([delivery.acked_at - delivery.sent_at for delivery in beside.result().deliveries], 99)
    whole = [delivery.acked_at - delivery.sent_at for delivery in run.deliveries]
    ours = [
        acked_at - sent_at - held[leaders[partition]].overlap_s(sent_at, acked_at)
        for partition, sent_at, acked_at in run.deliveries
    ]
    print(
        f"latency p50 {statistics.median(whole):.3f} s, p99 {percentile(whole, 99):.3f} s; without the delays "
        f"p99 {percentile(ours, 99):.3f} s; beside the proxy p99 {control:.3f} s"
    )
    assert percentile(ours, 99) <= allowed_beyond_delays_s(control)
    assert max(total - own for total, own in zip(whole, ours, strict=True)) <= 2 * LATE_S[1] + 0.050


def test_records_that_expire_on_the_wire_never_land_in_another_topic(bench: Bench) -> None:
    """Requests are held for two seconds and let go, after their records have expired at one; memory is scarce, so what
    they held is soon wanted for records of the other topic."""
    kafka, proxies = bench
    topics = [new_topic(kafka), new_topic(kafka)]
    outcomes: Counter[bool] = Counter()
    rules = [
        proxy.add(fault, [ApiKey.PRODUCE], probability=0.02, delay_s=(2.0, 2.0))
        for proxy in proxies.values()
        for fault in (Fault.HOLD_REQUEST, Fault.DELAY_RESPONSE)
    ]
    with (
        releasing(proxies, 2.0),
        KafkaProducer(
            bootstrap_servers=kafka.bootstrap_servers, delivery_timeout_ms=1000, request_timeout_ms=900, linger_ms=0,
            buffer_memory=120_000, batch_size=4000, max_block_ms=30_000,
        ) as producer,
    ):  # fmt: skip
        for number in range(10_000):
            topic = topics[number % 2]
            producer.send(
                topic, topic.encode() * 20, key=b"%d" % number,
                on_delivery=lambda _, error: outcomes.update([error is None]),
            )  # fmt: skip
        producer.flush(30)
        for proxy in proxies.values():
            proxy.clear()
    found = {topic: list(read_values(kafka, topic)) for topic in topics}
    foreign = [value for topic, values in found.items() for value in values if value != topic.encode() * 20]
    stored = sum(map(len, found.values()))
    print(
        f"\nR10: {sum(rule.hits for rule in rules)} held or late, {outcomes[False]} expired, {outcomes[True]} "
        f"delivered, {stored} stored, {len(foreign)} foreign"
    )
    assert outcomes[False] > 0, "nothing expired, so nothing was proven"
    assert outcomes[True] > 0
    assert stored >= outcomes[True]
    assert not foreign


@contextlib.contextmanager
def releasing(proxies: dict[int, ChaosProxy], every_s: float) -> Iterator[None]:
    """Held requests go on in good time."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(every_s):
            for proxy in proxies.values():
                proxy.release()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
