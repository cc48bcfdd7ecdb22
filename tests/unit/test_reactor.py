"""Live I/O on loopback: bytes, names, TLS, limits."""

from __future__ import annotations

import errno
import os
import random
import re
import resource
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pykclient.errors import AuthenticationError, ConfigError, FrameTooLarge, KafkaConnectionError, KafkaError
from pykclient.net.connection import ClientConnection, ConnectionSettings
from pykclient.net.failures import (
    ClientCertificateRefused,
    ConnectionRefused,
    HostNotFound,
    PeerNotTls,
    TlsVerificationFailed,
)
from pykclient.net.reactor import ACCEPT_PAUSE_S, Reactor, SystemClock
from pykclient.net.tls import TlsSettings, client_context, server_context
from pykclient.net.transport import Accepted, Closed, Connected, Endpoint, Event, Offloaded, Received, ReceivedInto

from . import certificates

LOOPBACK = Endpoint("127.0.0.1", 0)


class Driver:
    """A reactor with everything it reported."""

    def __init__(self) -> None:
        self.reactor = Reactor(name="test")
        self.events: list[Event] = []

    def until(self, condition: Callable[[], bool], limit_s: float = 10.0) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, f"not there in time; saw {self.events[-5:]}"
            self.events += self.reactor.poll(0.2)

    def of(self, kind: type[Any], connection_id: int | None = None) -> list[Any]:
        return [
            event
            for event in self.events
            if isinstance(event, kind) and (connection_id is None or event.connection_id == connection_id)
        ]

    def received(self, connection_id: int) -> bytes:
        return b"".join(event.data for event in self.of(Received, connection_id))

    def pair(self, **options: Any) -> tuple[int, int]:
        """A connected pair: (client id, server id)."""
        listener = self.reactor.listen(LOOPBACK, tls=options.pop("server_tls", None))
        client = self.reactor.connect(options.pop("endpoint", Endpoint("127.0.0.1", listener.endpoint.port)), **options)
        self.until(lambda: bool(self.of(Connected) and self.of(Accepted)))
        return client, self.of(Accepted)[0].connection_id

    def failure(self, endpoint: Endpoint, **options: Any) -> Exception:
        client = self.reactor.connect(endpoint, **options)
        self.until(lambda: bool(self.of(Closed, client)))
        error = self.of(Closed, client)[0].error
        assert isinstance(error, Exception)
        assert not self.of(Connected, client)
        return error


@pytest.fixture
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    made.reactor.shut_down()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# ---- bytes ----


def test_bytes_arrive_in_order_both_ways(driver: Driver) -> None:
    client, server = driver.pair()
    driver.reactor.write(client, [b"one ", bytearray(b"two "), memoryview(b"three")])
    driver.reactor.write(client, b"!")
    driver.reactor.write(server, b"answer")
    driver.until(lambda: driver.received(server) == b"one two three!" and driver.received(client) == b"answer")


def test_what_is_written_before_the_connection_is_up_is_sent_after(driver: Driver) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    client = driver.reactor.connect(Endpoint("localhost", listener.endpoint.port))
    driver.reactor.write(client, b"early")
    driver.until(
        lambda: bool(driver.of(Accepted)) and driver.received(driver.of(Accepted)[0].connection_id) == b"early"
    )


def test_large_writes_in_many_parts_survive_a_slow_reader(driver: Driver) -> None:
    client, server = driver.pair()
    driver.reactor.set_reading(server, False)
    part = os.urandom(300_000)
    for _ in range(60):
        driver.reactor.write(client, [part[:100], part[100:]])
    driver.until(lambda: 0 < driver.reactor.unsent_bytes(client) < 60 * len(part))
    driver.events += driver.reactor.poll(0.05)
    assert driver.received(server) == b""
    driver.reactor.set_reading(server, True)
    driver.until(lambda: sum(len(event.data) for event in driver.of(Received, server)) == 60 * len(part))
    assert driver.received(server) == part * 60
    assert driver.reactor.unsent_bytes(client) == 0


def test_large_reads_come_in_large_pieces(driver: Driver) -> None:
    client, server = driver.pair()
    driver.reactor.write(client, bytes(20_000_000))
    driver.until(lambda: sum(len(event.data) for event in driver.of(Received, server)) == 20_000_000)
    assert max(len(event.data) for event in driver.of(Received, server)) > 64 * 1024


@pytest.mark.parametrize("tls", [False, True])
def test_bytes_are_put_where_they_are_wanted_and_the_rest_is_reported(
    driver: Driver, tmp_path: Path, tls: bool
) -> None:
    options: dict[str, Any] = {}
    if tls:
        options = {"server_tls": tls_server(tmp_path), "tls": tls_client(tmp_path), "server_name": "localhost"}
    client, server = driver.pair(**options)
    content = os.urandom(3_000_000)
    place = bytearray(2_000_000)
    driver.reactor.read_into(server, memoryview(place))
    driver.reactor.write(client, content)
    driver.until(
        lambda: (
            sum(event.size for event in driver.of(ReceivedInto, server)) == len(place)
            and len(driver.received(server)) == 1_000_000
        )
    )
    assert bytes(place) == content[:2_000_000]
    assert driver.received(server) == content[2_000_000:]
    place.append(0)  # nobody holds on to it


def test_an_offer_can_be_taken_back_and_an_end_is_still_seen(driver: Driver) -> None:
    client, server = driver.pair()
    place = bytearray(100)
    driver.reactor.read_into(server, memoryview(place))
    driver.reactor.read_into(server, None)
    driver.reactor.write(client, b"as ever")
    driver.until(lambda: driver.received(server) == b"as ever")
    driver.reactor.read_into(server, memoryview(place))
    driver.reactor.write(client, b"here")
    driver.reactor.close(client, after_sending=True)
    driver.until(lambda: bool(driver.of(Closed, server)))
    assert place[:4] == b"here"
    assert driver.of(Closed, server)[0].error is None


def test_clean_end_and_reset_are_told_apart(driver: Driver) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    for linger, kind in ((False, type(None)), (True, KafkaConnectionError)):
        peer = socket.create_connection(("127.0.0.1", listener.endpoint.port))
        count = len(driver.of(Accepted))
        driver.until(lambda count=count: len(driver.of(Accepted)) > count)  # type: ignore[misc]
        accepted = driver.of(Accepted)[-1].connection_id
        if linger:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        driver.until(lambda accepted=accepted: bool(driver.of(Closed, accepted)))  # type: ignore[misc]
        assert isinstance(driver.of(Closed, accepted)[0].error, kind)


def test_nothing_is_reported_of_a_connection_we_closed(driver: Driver) -> None:
    client, server = driver.pair()
    driver.reactor.close(client)
    driver.until(lambda: bool(driver.of(Closed, server)))
    assert not driver.of(Closed, client)
    driver.reactor.write(client, b"ignored")
    driver.reactor.close(client)
    assert driver.reactor.unsent_bytes(client) == 0


def test_close_after_sending_delivers_the_last_words(driver: Driver) -> None:
    client, server = driver.pair()
    words = os.urandom(5_000_000)
    driver.reactor.write(client, b"unread request")
    driver.until(lambda: bool(driver.received(server)))
    driver.reactor.write(server, words)
    driver.reactor.close(server, after_sending=True)
    driver.until(lambda: bool(driver.of(Closed, client)))
    assert driver.received(client) == words
    assert driver.of(Closed, client)[0].error is None


# ---- reaching somebody ----


def test_refused_port_names_host_and_port(driver: Driver) -> None:
    port = free_port()
    error = driver.failure(Endpoint("127.0.0.1", port))
    assert isinstance(error, ConnectionRefused)
    assert f"127.0.0.1:{port}" in str(error)


def test_unknown_host_name_is_told_apart(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*arguments: object, **options: object) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    error = driver.failure(Endpoint("no-such-host.invalid", 9092))
    assert isinstance(error, HostNotFound)
    assert "no-such-host.invalid:9092" in str(error)


def test_every_address_of_a_name_is_tried(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    refused = free_port()
    threads: list[str] = []

    def look_up(host: str, port: int, *arguments: object, **options: object) -> Any:
        threads.append(threading.current_thread().name)
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, ("127.0.0.1", refused)), (*kind, ("127.0.0.1", listener.endpoint.port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    client = driver.reactor.connect(Endpoint("broker.test", 9092))
    driver.until(lambda: bool(driver.of(Connected, client)))
    assert threads == ["test-worker"]


def test_slow_name_look_up_holds_up_nothing_else(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def look_up(*arguments: object, **options: object) -> Any:
        gate.wait(10)
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    client, server = driver.pair()
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    stuck = driver.reactor.connect(Endpoint("slow.test", 9092))
    driver.reactor.write(client, b"through")
    driver.until(lambda: driver.received(server) == b"through")
    driver.reactor.close(stuck)
    gate.set()
    driver.events += driver.reactor.poll(0.05)
    assert not driver.of(Closed, stuck)


def test_port_in_use_raises_at_once(driver: Driver) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    with pytest.raises(OSError, match="in use"):
        driver.reactor.listen(listener.endpoint)
    driver.reactor.unlisten(listener.listener_id)
    assert driver.reactor.listen(listener.endpoint).endpoint == listener.endpoint


def test_out_of_descriptors_pauses_accepting_and_recovers(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    real = socket.socket.accept
    broken = [True]

    def accept(self: socket.socket) -> Any:
        if broken[0]:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(self)

    monkeypatch.setattr(socket.socket, "accept", accept)
    monkeypatch.setattr("pykclient.net.reactor.ACCEPT_PAUSE_S", 0.05)
    assert ACCEPT_PAUSE_S >= 0.5
    with socket.create_connection(("127.0.0.1", listener.endpoint.port)):
        polls = 0
        end = time.monotonic() + 0.04
        while time.monotonic() < end:
            driver.events += driver.reactor.poll(0.02)
            polls += 1
        assert polls < 10
        broken[0] = False
        driver.until(lambda: bool(driver.of(Accepted)))


# ---- waking and off-loop work ----


def test_wake_ends_a_poll_in_another_thread(driver: Driver) -> None:
    entered = threading.Event()
    took: list[float] = []

    def wait() -> None:
        entered.set()
        start = time.monotonic()
        driver.reactor.poll(30.0)
        took.append(time.monotonic() - start)

    thread = threading.Thread(target=wait)
    thread.start()
    entered.wait(5)
    driver.reactor.wake()
    thread.join(5)
    assert took
    assert took[0] < 5.0


def test_slow_work_runs_off_the_loop_and_its_error_comes_back(driver: Driver) -> None:
    def fail() -> object:
        raise ValueError("no")

    good = driver.reactor.offload(lambda: threading.current_thread().name)
    bad = driver.reactor.offload(fail)
    driver.until(lambda: len([event for event in driver.events if isinstance(event, Offloaded)]) == 2)
    outcomes = {event.work_id: event for event in driver.events if isinstance(event, Offloaded)}
    assert outcomes[good].value == "test-worker"
    assert isinstance(outcomes[bad].error, ValueError)


def test_clock_is_monotonic_and_knows_the_date() -> None:
    clock = SystemClock()
    assert clock.now() <= clock.now()
    assert clock.wall_ms() > 1_700_000_000_000


def test_idle_connections_cost_nothing(driver: Driver) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(1000, (soft - 100) // 2)
    listener = driver.reactor.listen(LOOPBACK)
    for start in range(0, count, 100):
        for _ in range(min(100, count - start)):
            driver.reactor.connect(Endpoint("127.0.0.1", listener.endpoint.port))
        wanted = min(start + 100, count)
        driver.until(lambda wanted=wanted: len(driver.of(Connected)) == len(driver.of(Accepted)) == wanted)  # type: ignore[misc]
    driver.events.clear()
    cpu = time.process_time()
    for _ in range(200):
        assert driver.reactor.poll(0.0) == []
    # 200 turns of a loop with 2 x 1,000 idle sockets; a loop that looks at each would take 100 ms and more.
    assert time.process_time() - cpu < 0.05


# ---- TLS ----


def tls_server(folder: Path, certificate: str = certificates.SERVER, **options: Any) -> ssl.SSLContext:
    ca = certificates.write(folder, "ca", certificates.CA)
    settings = TlsSettings(certfile=certificates.write(folder, "server", certificate), cafile=ca)
    return server_context(settings, **options)


def tls_client(folder: Path, **options: Any) -> ssl.SSLContext:
    return client_context(TlsSettings(cafile=certificates.write(folder, "ca", certificates.CA), **options))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_tls_carries_bytes_both_ways(driver: Driver, tmp_path: Path, host: str) -> None:
    listener = driver.reactor.listen(LOOPBACK, tls=tls_server(tmp_path))
    client = driver.reactor.connect(Endpoint(host, listener.endpoint.port), tls=tls_client(tmp_path))
    driver.until(lambda: bool(driver.of(Connected) and driver.of(Accepted)))
    server = driver.of(Accepted)[0].connection_id
    data = os.urandom(3_000_000)
    for start in range(0, len(data), 70_001):
        driver.reactor.write(client, [data[start : start + 10], data[start + 10 : start + 70_001]])
    driver.reactor.write(server, data)
    driver.until(lambda: driver.received(server) == data and driver.received(client) == data)


def test_paused_tls_reader_loses_nothing(driver: Driver, tmp_path: Path) -> None:
    client, server = driver.pair(server_tls=tls_server(tmp_path), tls=tls_client(tmp_path), server_name="localhost")
    driver.reactor.set_reading(server, False)
    data = os.urandom(2_000_000)
    driver.reactor.write(client, data)
    driver.events += driver.reactor.poll(0.05)
    driver.reactor.set_reading(server, True)
    driver.until(lambda: driver.received(server) == data)


def test_defaults_are_safe(tmp_path: Path) -> None:
    context = tls_client(tmp_path)
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_old_tls_versions_are_refused(tmp_path: Path) -> None:
    assert tls_client(tmp_path, versions=("TLSv1.3",)).minimum_version is ssl.TLSVersion.TLSv1_3
    assert tls_client(tmp_path, versions=("TLSv1.2",)).maximum_version is ssl.TLSVersion.TLSv1_2
    for versions in ((), ("TLSv1.1", "TLSv1.2")):
        with pytest.raises(ConfigError, match="ssl_enabled_protocols"):
            tls_client(tmp_path, versions=versions)


def test_switching_off_the_name_check_warns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    context = tls_client(tmp_path, check_hostname=False)
    assert "ssl_check_hostname" in caplog.text
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [(certificates.ELSEWHERE, "ostname mismatch|not valid for"), (certificates.EXPIRED, "expired")],
)
def test_certificate_for_another_name_or_time_is_refused(
    driver: Driver, tmp_path: Path, certificate: str, reason: str
) -> None:
    listener = driver.reactor.listen(LOOPBACK, tls=tls_server(tmp_path, certificate))
    endpoint = Endpoint("localhost", listener.endpoint.port)
    error = driver.failure(endpoint, tls=tls_client(tmp_path))
    assert isinstance(error, TlsVerificationFailed)
    assert isinstance(error, AuthenticationError)
    assert not error.retriable
    assert str(endpoint) in str(error)
    assert re.search(reason, str(error))
    assert not driver.of(Accepted)


def test_unknown_ca_is_refused(driver: Driver, tmp_path: Path) -> None:
    listener = driver.reactor.listen(LOOPBACK, tls=tls_server(tmp_path))
    error = driver.failure(Endpoint("localhost", listener.endpoint.port), tls=client_context(TlsSettings()))
    assert isinstance(error, TlsVerificationFailed)


def test_plaintext_port_is_told_apart_from_a_bad_certificate(driver: Driver, tmp_path: Path) -> None:
    listener = driver.reactor.listen(LOOPBACK)
    client = driver.reactor.connect(Endpoint("localhost", listener.endpoint.port), tls=tls_client(tmp_path))
    driver.until(lambda: bool(driver.of(Received)))
    # A Kafka broker reads the TLS hello as a frame of 369 MB and hangs up.
    driver.reactor.close(driver.of(Accepted)[0].connection_id)
    driver.until(lambda: bool(driver.of(Closed, client)))
    assert isinstance(driver.of(Closed, client)[0].error, PeerNotTls)


def test_missing_client_certificate_is_told_apart(driver: Driver, tmp_path: Path) -> None:
    listener = driver.reactor.listen(LOOPBACK, tls=tls_server(tmp_path, client_auth=True))
    endpoint = Endpoint("localhost", listener.endpoint.port)
    client = driver.reactor.connect(endpoint, tls=tls_client(tmp_path))
    driver.until(lambda: bool(driver.of(Closed, client)))
    assert isinstance(driver.of(Closed, client)[0].error, ClientCertificateRefused)
    with_one = tls_client(tmp_path, certfile=certificates.write(tmp_path, "client", certificates.CLIENT))
    accepted = driver.reactor.connect(endpoint, tls=with_one)
    driver.until(lambda: bool(driver.of(Connected, accepted) and driver.of(Accepted)))


def test_unusable_files_are_configuration_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ssl_cafile"):
        client_context(TlsSettings(cafile=str(tmp_path / "missing.pem")))
    with pytest.raises(ConfigError, match="ssl_certfile"):
        tls_client(tmp_path, certfile=certificates.write(tmp_path, "ca", certificates.CA))
    assert "hunter2" not in repr(TlsSettings(password="hunter2"))


# ---- a hostile peer, with real memory ----


def test_huge_frame_claim_is_rejected_before_it_is_buffered(driver: Driver) -> None:
    """600 MB behind a claim of 2 GB must not enter our memory."""
    client, server = driver.pair()
    protocol = ClientConnection(ConnectionSettings(), endpoint=LOOPBACK, rng=random.Random(1))
    protocol.start(0.0)
    driver.reactor.write(server, struct.pack(">i", 0x7FFFFFFF))
    block = bytes(1_000_000)
    for _ in range(600):
        driver.reactor.write(server, block)
    before = resident_bytes()
    failure: KafkaError | None = None
    while failure is None:
        for event in driver.reactor.poll(1.0):
            if isinstance(event, Received) and event.connection_id == client:
                try:
                    list(protocol.receive(event.data, 0.0))
                except FrameTooLarge as error:
                    failure = error
                    driver.reactor.close(client)
                    break
    assert resident_bytes() - before < 20_000_000


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
