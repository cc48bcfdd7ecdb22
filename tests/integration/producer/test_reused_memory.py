"""Memory of a batch that expired while its request was still on its way must not carry other records to its topic.

The shape of CVE-2026-35554: a buffer went back to the pool at the delivery time-out before the socket had taken it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from pykclient.broker.listeners import ListenerSpec
from pykclient.errors import BufferExhausted, DeliveryTimedOut, KafkaError
from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import producer_for, read_topic

TOPICS = ("apples", "pears")


class SlowLink:
    """A forwarder that can stop taking bytes, so that requests stay half written in the client."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port: int = self._listener.getsockname()[1]
        self.upstream = 0
        self.flowing = threading.Event()
        self.flowing.set()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", self.upstream))
                self._sockets += [client, broker]
                threading.Thread(target=self._copy, args=(client, broker, True), daemon=True).start()
                threading.Thread(target=self._copy, args=(broker, client, False), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, waits: bool) -> None:
        with contextlib.suppress(OSError):
            while True:
                if waits:
                    self.flowing.wait()
                data = source.recv(4096)
                if not data:
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.flowing.set()
        for each in self._sockets:
            each.close()


@pytest.fixture
def link() -> Iterator[SlowLink]:
    made = SlowLink()
    yield made
    made.close()


def send_much(servers: str, link: SlowLink, records: int, *, stop_flow: bool) -> tuple[int, int]:
    """(expired, delivered) of records that each name their topic; memory for a few dozen of them only."""
    outcomes: list[bool] = []
    producer = producer_for(
        servers,
        delivery_timeout_ms=1000,
        request_timeout_ms=900,
        linger_ms=0,
        buffer_memory=120_000,
        batch_size=8000,
        send_buffer_bytes=4096,
        max_block_ms=20_000,
    )
    for topic in TOPICS:
        producer.partitions_for(topic)
    for number in range(records):
        topic = TOPICS[number % 2]
        if stop_flow and number % 100 == 50:
            link.flowing.clear()
            threading.Timer(1.3, link.flowing.set).start()
        with contextlib.suppress(BufferExhausted):
            producer.send(
                topic,
                topic.encode() * 100,
                key=topic.encode(),
                on_delivery=lambda _, error: outcomes.append(error is None),
            )
    with contextlib.suppress(KafkaError):
        producer.flush(10)
    producer.close(5)
    return outcomes.count(False), outcomes.count(True)


@pytest.mark.timeout(180)
def test_records_never_land_in_another_topic_when_the_network_stalls(link: SlowLink, full: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        link.upstream = probe.getsockname()[1]
    spec = ListenerSpec(port=link.upstream, advertised_port=link.port)
    with EmbeddedCluster(brokers=1, listeners=[spec], topics=dict.fromkeys(TOPICS, 1)):
        expired, delivered = send_much(f"127.0.0.1:{link.port}", link, 2000 if full else 400, stop_flow=True)
        assert expired > 0, "nothing expired, so nothing was proven"
        assert delivered > 0
        check(f"127.0.0.1:{link.port}")


@pytest.mark.timeout(180)
def test_records_never_land_in_another_topic_when_answers_are_late(link: SlowLink, full: bool) -> None:
    with EmbeddedCluster(brokers=1, topics=dict.fromkeys(TOPICS, 1)) as cluster:
        late = cluster.faults.delay("Produce", 2.0, count=20 if full else 3)
        expired, delivered = send_much(cluster.bootstrap_servers, link, 10_000 if full else 1000, stop_flow=False)
        assert late.hits > 0
        assert expired > 0
        assert delivered > 0
        check(cluster.bootstrap_servers)


def check(servers: str) -> None:
    for topic in TOPICS:
        for record in read_topic(servers, topic)[0]:
            assert (record.key, record.value) == (topic.encode(), topic.encode() * 100)


def test_memory_on_the_wire_is_not_free_before_the_request_is_over() -> None:
    """Expired at 1.0 s, sent last at about 0.5 s, the request over at about 1.4 s: in between nobody else has it."""
    with EmbeddedCluster(brokers=1, topics={"apples": 1}) as cluster:
        producer = producer_for(cluster, delivery_timeout_ms=1000, request_timeout_ms=900, linger_ms=0)
        producer.partitions_for("apples")
        cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS", count=12)
        silent = cluster.faults.stall("Produce")
        future = producer.send("apples", b"x")
        assert isinstance(future.exception(5), DeliveryTimedOut)
        assert silent.hits == 1
        measured = producer.metrics()
        assert measured["buffer-available-bytes"] == measured["buffer-total-bytes"] - 16_384
        cluster.wait_until(
            lambda: producer.metrics()["buffer-available-bytes"] == measured["buffer-total-bytes"], timeout_s=3
        )
        producer.close(1)
