"""Clients that mean harm, on real sockets: nothing grows, nothing dies, nobody else notices."""

from __future__ import annotations

import resource
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient

MEGABYTE = 1024 * 1024


def rss() -> int:
    """Bytes this process has in memory now."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        yield running


def connect(cluster: EmbeddedCluster) -> socket.socket:
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def still_serves(cluster: EmbeddedCluster) -> None:
    with RawClient(cluster.bootstrap_servers) as client:
        assert client.ask(ApiKey.METADATA, MetadataRequest(topics=[])).brokers


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("size", [-1, 2**31 - 1, 101 * MEGABYTE])
def test_a_frame_that_is_too_large_or_negative_closes_the_connection_at_once(
    cluster: EmbeddedCluster, size: int
) -> None:
    with connect(cluster) as connection:
        connection.sendall(struct.pack(">i", size))
        assert is_closed(connection)
    still_serves(cluster)


def test_strangers_that_claim_large_frames_take_no_memory() -> None:
    with EmbeddedCluster(listeners=["SASL_PLAINTEXT"], users={"a": "b"}) as cluster:
        before = rss()
        connections = [connect(cluster) for _ in range(200)]
        for connection in connections:
            connection.sendall(struct.pack(">i", 100 * MEGABYTE))
        assert all(is_closed(connection) for connection in connections)
        assert rss() - before < 50 * MEGABYTE
        for connection in connections:
            connection.close()


def test_a_claimed_frame_is_not_allocated_before_its_bytes_come(cluster: EmbeddedCluster) -> None:
    before = rss()
    connections = [connect(cluster) for _ in range(50)]
    for connection in connections:
        connection.sendall(struct.pack(">i", 99 * MEGABYTE) + b"x" * 1000)
    still_serves(cluster)
    assert rss() - before < 50 * MEGABYTE
    for connection in connections:
        connection.close()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">i", 2**31 - 1), id="array of 2^31-1"),
        pytest.param(struct.pack(">hhih", 3, 0, 1, -1) + struct.pack(">i", -2), id="array of -2"),
        pytest.param(struct.pack(">hhih", 3, 12, 1, -1) + b"\0\xff\xff\xff\xff\x0f", id="compact array of 2^32"),
        pytest.param(struct.pack(">hhih", 3, 1, 1, 32767), id="client id that is not there"),
        pytest.param(struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">ih", 1, 9) + b"\xff" * 9, id="not utf-8"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\0", id="one byte"),
        pytest.param(bytes(range(256)), id="every byte"),
    ],
)
def test_nonsense_is_answered_by_closing(cluster: EmbeddedCluster, body: bytes) -> None:
    with connect(cluster) as connection:
        connection.sendall(struct.pack(">i", len(body)) + body)
        assert is_closed(connection)
    still_serves(cluster)


def test_http_and_tls_are_closed(cluster: EmbeddedCluster) -> None:
    for greeting in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", bytes.fromhex("16030100f1010000ed0303") + b"\0" * 64):
        with connect(cluster) as connection:
            connection.sendall(greeting)
            assert is_closed(connection)
    still_serves(cluster)


@pytest.mark.parametrize("name", ["../x", "..", ".", "/etc/passwd", "a/b", "nul\0", "x" * 250, "%2e%2e", "töpic"])
def test_no_name_leads_out_of_the_data_directory(tmp_path: Path, name: str) -> None:
    data_dir = tmp_path / "data"
    with EmbeddedCluster(data_dir=data_dir) as cluster:
        before = sorted(tmp_path.rglob("*"))
        with RawClient(cluster.bootstrap_servers) as client:
            created = client.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1)]))
            assert created.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
            asked = client.ask(ApiKey.METADATA, MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
            assert asked.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert sorted(tmp_path.rglob("*")) == before


def test_five_hundred_slow_clients_do_not_slow_the_others(cluster: EmbeddedCluster) -> None:
    def median_ms() -> float:
        times = []
        with RawClient(cluster.bootstrap_servers) as client:
            for _ in range(200):
                begin = time.perf_counter()
                client.ask(ApiKey.METADATA, MetadataRequest(topics=[]))
                times.append(time.perf_counter() - begin)
        return sorted(times)[len(times) // 2] * 1000

    alone = median_ms()
    slow = [connect(cluster) for _ in range(500)]
    for position, byte in enumerate(struct.pack(">i", 1000)):
        for connection in slow:
            connection.sendall(bytes([byte]))
        if position == 2:
            crowded = median_ms()
            assert crowded < max(2 * alone, alone + 2.0)
    for connection in slow:
        connection.close()
    still_serves(cluster)


def test_connections_over_the_limit_are_closed_and_the_rest_live() -> None:
    with EmbeddedCluster(max_connections=5) as cluster:
        connections = [connect(cluster) for _ in range(5)]
        cluster.wait_until(lambda: cluster.connection_count(1) == 5)
        with connect(cluster) as surplus:
            assert is_closed(surplus)
        connections.pop().close()
        cluster.wait_until(lambda: cluster.connection_count(1) == 4)
        still_serves(cluster)
        for connection in connections:
            connection.close()


def test_a_client_that_never_reads_does_not_fill_the_broker(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("wide", 2000)
    before = rss()
    with connect(cluster) as connection:
        request = struct.pack(">hhih", ApiKey.METADATA, 1, 7, -1) + struct.pack(">i", -1)
        frame = struct.pack(">i", len(request)) + request
        connection.settimeout(0.5)
        sent = 0
        try:
            for _ in range(400):
                connection.sendall(frame * 5000)
                sent += 5000
        except TimeoutError:
            pass
        assert sent < 2_000_000, "the broker went on reading"
        still_serves(cluster)
        assert rss() - before < 100 * MEGABYTE
