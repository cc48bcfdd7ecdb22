"""Brokers that restart elsewhere, and one of three that is gone: clients go on by themselves, and dial the dead one
with patience."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.errors import KafkaError
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import CLUSTER, numbers

RECOVERY_S = 10.0
NAME = "kafka-bootstrap.test"


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A name server of our own: NAME is wherever ``["at"]`` says."""
    where = {"at": "127.0.0.1"}
    real = socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **options: Any) -> Any:
        return real(where["at"] if host == NAME else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return where


def free_ports(host: str, count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        open_ones = [stack.enter_context(socket.create_server((host, 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in open_ones]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_every_broker_restarts_at_other_addresses_behind_the_same_names(
    tmp_path: Path, named: dict[str, str], protocol: str
) -> None:
    """All IPs change, as in Kubernetes, and names are never looked up again (kafka-python 1683, aiokafka 456)."""
    ports = free_ports("127.0.0.1", 2)
    servers = ",".join(f"{NAME}:{port}" for port in ports)
    errors: list[str] = []

    def start(host: str) -> EmbeddedCluster:
        return EmbeddedCluster(
            brokers=2, data_dir=tmp_path, ports=ports, listeners=f"PLAINTEXT://{host}:0", cluster_id="moved", **CLUSTER
        ).start()

    running = start("127.0.0.1")
    options: dict[str, Any] = {"bootstrap_servers": servers, "reconnect_backoff_max_ms": 500}
    producer = KafkaProducer(**options)
    consumer = KafkaConsumer("t", group_id="g", group_protocol=protocol, auto_offset_reset="earliest", **options)
    try:
        running.create_topic("t", 4)
        read_on(producer, consumer, range(20), errors)
        running.close()
        # Written while nobody is there, and at another loopback address from here on.
        pending = [producer.send("t", b"%d" % number, partition=number % 4) for number in range(20, 40)]
        named["at"] = "127.0.0.2"
        running = start("127.0.0.2")
        began = time.monotonic()
        for future in pending:
            future.result(RECOVERY_S)
        read_on(producer, consumer, range(40, 60), errors, already=range(20, 40))
        took = time.monotonic() - began
        consumer.commit(timeout=RECOVERY_S)
    finally:
        producer.close(1)
        consumer.close(1)
        running.close()
    assert took < RECOVERY_S, f"{took:.1f} s"


def read_on(
    producer: KafkaProducer, consumer: KafkaConsumer, values: range, errors: list[str], already: range = range(0)
) -> None:
    for number in values:
        producer.send("t", b"%d" % number, partition=number % 4)
    missing = set(values) | set(already)
    give_up_at = time.monotonic() + RECOVERY_S + 5
    while missing:
        assert time.monotonic() < give_up_at, f"{len(missing)} missing; {errors}"
        try:
            missing.difference_update(numbers(consumer.poll(0.1).records()))
        except KafkaError as error:  # "out of reach" is told; polling on is all it takes
            errors.append(str(error))


@contextlib.contextmanager
def hanging_up(port: int) -> Iterator[list[float]]:
    """At the dead broker's address: takes every connection, closes it, and notes when."""
    calls: list[float] = []
    with socket.create_server(("127.0.0.1", port)) as door:

        def answer() -> None:
            while True:
                try:
                    caller, _ = door.accept()
                except OSError:
                    return
                calls.append(time.monotonic())
                caller.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield calls
        door.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_one_dead_broker_of_three_slows_nobody_and_is_dialled_with_patience(full: bool) -> None:
    """One dead broker: an endless loop of look-ups, and no traffic to the healthy ones (integrations-core 14341)."""
    seconds, pace_s = (20.0 if full else 2.0), 0.005
    with EmbeddedCluster(brokers=3, seed=4, **CLUSTER) as three:
        three.create_topic("t", 3)
        for partition, node in enumerate(three.nodes):
            three.move_leader("t", partition, node)
        dead = three.nodes[2]
        port = int(three.bootstrap_servers.split(",")[2].rpartition(":")[2])
        options: dict[str, Any] = {
            "bootstrap_servers": three.bootstrap_servers, "reconnect_backoff_ms": 50, "reconnect_backoff_max_ms": 500,
        }  # fmt: skip
        healthy = [TopicPartition("t", partition) for partition in range(2)]
        with (
            KafkaProducer(linger_ms=0, delivery_timeout_ms=31_000, **options) as producer,
            KafkaConsumer(auto_offset_reset="earliest", fetch_max_wait_ms=50, **options) as consumer,
        ):
            consumer.assign([*healthy, TopicPartition("t", 2)])
            for partition in range(3):
                producer.send("t", b"0", partition=partition).result(10)
            three.stop(dead)
            with hanging_up(port) as calls:
                stuck = [producer.send("t", b"stuck", partition=2) for _ in range(5)]
                done: list[float] = []
                sent = read = 0
                began = time.monotonic()
                while time.monotonic() < began + seconds:
                    future = producer.send("t", b"%d" % sent, partition=sent % 2)
                    future.add_done_callback(lambda _: done.append(time.monotonic()))
                    sent += 1
                    read += len(numbers(consumer.poll(pace_s).records()))
                in_time = sum(at < began + seconds for at in done)
                # 50, 100, 200, 400, 500, 500, ... ms with a fifth of jitter, for a producer and a consumer, of which
                # each may have up to four connections to a broker, all of which share one back-off.
                allowed = 2 * (5 + (seconds - 0.75) / 0.4)
                dialled = len(calls)
            three.start_node(dead, port=port)
            for future in stuck:
                future.result(30)
    print(f"\n{in_time} of {sent} written and {read} read in time; the dead broker was dialled {dialled} times")
    assert in_time >= 0.9 * sent
    assert read >= 0.9 * sent
    assert dialled <= allowed, f"dialled {dialled} times, {allowed:.0f} allowed"
