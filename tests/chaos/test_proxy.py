"""The fault proxy itself: every fault does what it says, and without a rule no byte changes."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from pykclient.testing.chaos_proxy import ChaosProxy, Fault, flip_bit

PRODUCE, FETCH = int(ApiKey.PRODUCE), int(ApiKey.FETCH)


class FrameServer:
    """Answers each request with its correlation id and its own bytes; keeps what it received."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, contextlib.suppress(OSError, struct.error):
            while True:
                (size,) = struct.unpack(">i", stream.read(4))
                body = stream.read(size)
                if len(body) < size:
                    return
                with self.changed:
                    self.received.append(body)
                    self.changed.notify_all()
                answer = self.answer(body)
                connection.sendall(struct.pack(">i", len(answer)) + answer)

    def answer(self, request: bytes) -> bytes:
        return request[4:8] + request

    def wait_for(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.received) >= count, 5)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(5)
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)


class Client:
    """A connection through the proxy."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)

    def send(self, api_key: int, correlation_id: int, body: bytes = b"body") -> bytes:
        request = struct.pack(">hhi", api_key, 0, correlation_id) + body
        self.socket.sendall(struct.pack(">i", len(request)) + request)
        return request

    def read(self, count: int) -> bytes:
        """So many bytes, or fewer when the connection ends."""
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                break
            data += chunk
        return data

    def frame(self) -> bytes:
        return self.read(struct.unpack(">i", self.read(4))[0])


@pytest.fixture
def server() -> Iterator[FrameServer]:
    server = FrameServer()
    yield server
    server.close()


@pytest.fixture
def proxy(server: FrameServer) -> Iterator[ChaosProxy]:
    with ChaosProxy(("127.0.0.1", server.port), seed=1) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: ChaosProxy) -> Iterator[Client]:
    client = Client(proxy.port)
    yield client
    client.socket.close()


def test_without_rules_every_byte_passes(proxy: ChaosProxy, client: Client) -> None:
    for correlation_id in range(20):
        request = client.send(PRODUCE, correlation_id, b"x" * (correlation_id * 5000))
        assert client.frame() == struct.pack(">i", correlation_id) + request
    assert proxy.requests[PRODUCE] == proxy.responses[PRODUCE] == 20
    assert proxy.connections == 1


def test_reset_mid_request(server: FrameServer, proxy: ChaosProxy, client: Client) -> None:
    rule = proxy.add(Fault.RESET_MID_REQUEST, [PRODUCE], hits_max=1)
    client.send(FETCH, 1)
    assert client.frame()
    client.send(PRODUCE, 2)
    with pytest.raises(ConnectionResetError):
        client.read(1)
    assert rule.hits == 1
    assert len(server.received) == 1, "half a request must not be taken for one"
    again = Client(proxy.port)
    again.send(PRODUCE, 3)
    assert again.frame()
    again.socket.close()


def test_response_lost_after_the_broker_did_its_work(server: FrameServer, proxy: ChaosProxy, client: Client) -> None:
    rule = proxy.add(Fault.LOSE_RESPONSE, [PRODUCE])
    request = client.send(PRODUCE, 1)
    with pytest.raises(ConnectionResetError):
        client.read(1)
    assert server.received == [request]
    assert rule.hits == 1


def test_duplicated_response(proxy: ChaosProxy, client: Client) -> None:
    proxy.add(Fault.DUPLICATE_RESPONSE, hits_max=1)
    client.send(PRODUCE, 7)
    assert client.frame() == client.frame()
    client.send(PRODUCE, 8)
    assert client.frame()[:4] == struct.pack(">i", 8)


def test_truncated_response(proxy: ChaosProxy, client: Client) -> None:
    proxy.add(Fault.TRUNCATE_RESPONSE)
    request = client.send(PRODUCE, 7, b"x" * 1000)
    whole = 4 + 4 + len(request)
    assert 0 < len(client.read(whole)) < whole


def test_delayed_response(proxy: ChaosProxy, client: Client) -> None:
    proxy.add(Fault.DELAY_RESPONSE, delay_s=(0.2, 0.2))
    client.send(PRODUCE, 7)
    client.socket.settimeout(0.05)
    with pytest.raises(TimeoutError):
        client.read(1)
    client.socket.settimeout(5)
    assert client.frame()


def test_delays_on_one_connection_overlap_and_keep_the_order(proxy: ChaosProxy, client: Client) -> None:
    """Late is late by its own delay, not by those before it too; and what is not late still does not overtake."""
    proxy.add(Fault.DELAY_RESPONSE, delay_s=(0.3, 0.3), hits_max=5)
    began = time.monotonic()
    for correlation_id in range(6):
        client.send(PRODUCE, correlation_id)
    assert [struct.unpack(">i", client.frame()[:4])[0] for _ in range(6)] == list(range(6))
    assert 0.3 <= time.monotonic() - began < 1.2
    assert [entry.api_key for entry in proxy.held] == [PRODUCE] * 6


def test_half_open_connection_stays_silent_and_open(server: FrameServer, proxy: ChaosProxy, client: Client) -> None:
    rule = proxy.add(Fault.HALF_OPEN, hits_max=1)
    client.send(PRODUCE, 1)
    proxy.wait_for(lambda: rule.hits == 1)
    client.send(PRODUCE, 2)
    client.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        client.read(1)
    assert len(server.received) == 1, "a dead host takes no more requests"
    other = Client(proxy.port)
    other.send(PRODUCE, 3)
    assert other.frame()
    other.socket.close()


def test_held_request_arrives_after_its_client_hung_up(server: FrameServer, proxy: ChaosProxy, client: Client) -> None:
    rule = proxy.add(Fault.HOLD_REQUEST, [int(ApiKey.END_TXN)], hits_max=1)
    held = client.send(int(ApiKey.END_TXN), 1)
    proxy.wait_for(lambda: rule.hits == 1)
    client.socket.close()
    other = Client(proxy.port)
    later = other.send(PRODUCE, 2)
    assert other.frame()
    other.socket.close()
    proxy.release()
    server.wait_for(2)
    assert server.received == [later, held]


def test_reset_of_everything(proxy: ChaosProxy, client: Client) -> None:
    client.send(PRODUCE, 1)
    assert client.frame()
    proxy.reset_all()
    with pytest.raises(ConnectionResetError):
        client.read(1)


def test_unreachable_broker_resets_the_client(proxy: ChaosProxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        proxy.upstream = ("127.0.0.1", nobody.getsockname()[1])
    client = Client(proxy.port)
    with contextlib.suppress(ConnectionResetError):
        assert client.read(1) == b""
    client.socket.close()


def test_the_same_seed_breaks_the_same_requests(server: FrameServer) -> None:
    def outcomes(seed: int) -> list[int]:
        with ChaosProxy(("127.0.0.1", server.port), seed=seed) as proxy:
            rule = proxy.add(Fault.DUPLICATE_RESPONSE, probability=0.3)
            client = Client(proxy.port)
            hits = []
            for correlation_id in range(40):
                before = rule.hits
                client.send(PRODUCE, correlation_id)
                client.frame()
                if rule.hits > before:
                    hits.append(correlation_id)
                    client.frame()
            client.socket.close()
            return hits

    first = outcomes(3)
    assert 4 <= len(first) <= 25
    assert outcomes(3) == first
    assert outcomes(4) != first


@pytest.mark.parametrize("version", [4, 12, 17])
def test_a_flipped_bit_is_inside_the_first_batch(version: int) -> None:
    records = struct.pack(">qi", 0, 100) + bytes(range(100)) + b"second batch, cut off"
    topics = [
        FetchableTopicResponse(
            topic="t" if version < 13 else "",
            partitions=[PartitionData(records=b""), PartitionData(partition_index=1, records=records)],
        )
    ]
    header = struct.pack(">i", 5) + (b"\0" if version >= 12 else b"")
    frame = bytearray(header + FetchResponse(responses=topics).write(version))
    start = frame.index(records)
    for seed in range(50):
        broken = bytearray(frame)
        assert flip_bit(broken, FETCH, version, random.Random(seed))
        (where,) = [index for index, byte in enumerate(broken) if byte != frame[index]]
        assert start + 61 <= where < start + 112
        assert (broken[where] ^ frame[where]).bit_count() == 1
    assert not flip_bit(frame, PRODUCE, version, random.Random(0))
    empty = bytearray(header + FetchResponse(responses=[]).write(version))
    assert not flip_bit(empty, FETCH, version, random.Random(0))
