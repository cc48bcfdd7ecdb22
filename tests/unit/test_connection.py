"""Both sides of a connection, bytes in and bytes out."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.config import Secret
from pykclient.errors import (
    AuthenticationError,
    FrameTooLarge,
    KafkaError,
    ProtocolError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanism,
)
from pykclient.net.connection import (
    SASL_ROUNDS_MAX,
    UNPROVEN_BYTES_MAX,
    ClientConnection,
    ConnectionSettings,
    Offload,
    Ready,
    Response,
    SaslExchange,
    Security,
)
from pykclient.net.failures import PeerIsTls
from pykclient.net.sasl import PlainClient, SaslServers
from pykclient.net.scram import ScramClient, make_credential
from pykclient.net.server_connection import WAITING_MAX, ServerConnection, ServerRequest
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import APIS, ApiKey
from pykclient.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse
from pykclient.protocol.wire import encode_request, encode_response

ENDPOINT = Endpoint("broker.test", 9092)
CANARY = "hunter2-canary"


def all_apis() -> list[ApiVersion]:
    return [ApiVersion(info.key, info.min_version, info.max_version) for info in APIS]


def client(security: Security | None = None, bytes_max: int = 1_000_000) -> ClientConnection:
    configured = ConnectionSettings(response_bytes_max=bytes_max, security=security or Security())
    connection = ClientConnection(configured, endpoint=ENDPOINT, rng=random.Random(1))
    connection.start(0.0)
    return connection


def requests_of(connection: ClientConnection, server: ServerConnection) -> list[ServerRequest]:
    server.receive(b"".join(connection.take_output()))
    found = []
    while (request := server.next_request()) is not None:
        found.append(request)
        server.respond(request, None)
    return found


def reply(request: ServerRequest, message: Any, version: int | None = None) -> bytes:
    in_version = request.version if version is None else version
    return b"".join(encode_response(request.api_key, in_version, request.correlation_id, message))


def ready_client(bytes_max: int = 1_000_000) -> tuple[ClientConnection, ServerConnection]:
    connection, server = client(bytes_max=bytes_max), ServerConnection()
    (request,) = requests_of(connection, server)
    (event,) = connection.receive(reply(request, ApiVersionsResponse(api_keys=all_apis())), 0.0)
    assert isinstance(event, Ready)
    return connection, server


# A function, as the type checker believes that a property keeps the value it was asserted to have.
def accepts(connection: ClientConnection) -> bool:
    return connection.accepts_requests


def pauses(server: ServerConnection) -> bool:
    return server.wants_pause


# ---- versions ----


def test_versions_are_asked_first_in_the_newest_version() -> None:
    connection, server = client(), ServerConnection()
    (request,) = requests_of(connection, server)
    assert (request.api_key, request.version) == (ApiKey.API_VERSIONS, 4)
    assert request.message().client_software_name == "pykclient"
    assert not accepts(connection)
    assert list(connection.receive(reply(request, ApiVersionsResponse(api_keys=all_apis())), 0.0)) == [
        Ready(connection.versions)
    ]
    assert accepts(connection)
    assert connection.versions.pick(ApiKey.METADATA) == 13


@pytest.mark.parametrize(("offered", "asked_next"), [([ApiVersion(18, 0, 2)], 2), ([], 0), ([ApiVersion(18, 0, 9)], 3)])
def test_old_broker_answers_in_version_0_and_is_asked_again(offered: list[ApiVersion], asked_next: int) -> None:
    connection, server = client(), ServerConnection()
    (request,) = requests_of(connection, server)
    refusal = ApiVersionsResponse(error_code=35, api_keys=offered)
    assert list(connection.receive(reply(request, refusal, version=0), 0.0)) == []
    (second,) = requests_of(connection, server)
    assert (second.api_key, second.version) == (ApiKey.API_VERSIONS, asked_next)
    events = list(connection.receive(reply(second, ApiVersionsResponse(api_keys=all_apis())), 0.0))
    assert len(events) == 1
    assert accepts(connection)


def test_other_error_to_api_versions_is_raised() -> None:
    connection, server = client(), ServerConnection()
    (request,) = requests_of(connection, server)
    with pytest.raises(KafkaError, match=r"broker\.test:9092"):
        list(connection.receive(reply(request, ApiVersionsResponse(error_code=42)), 0.0))


# ---- requests and answers ----


def test_answers_are_matched_in_order() -> None:
    connection, server = ready_client()
    connection.send("first", ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    connection.send("second", ApiKey.HEARTBEAT, 4, HeartbeatRequest(group_id="g", member_id="m"))
    first, second = requests_of(connection, server)
    data = reply(first, MetadataResponse(cluster_id="c")) + reply(second, HeartbeatResponse(error_code=27))
    one, two = connection.receive(data, 0.0)
    assert isinstance(one, Response)
    assert (one.token, one.message.cluster_id) == ("first", "c")
    assert isinstance(two, Response)
    assert (two.token, two.message.error_code) == ("second", 27)
    assert not connection.in_flight


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_any_cutting_of_the_stream_gives_the_same_answers(sizes: list[int], seed: int) -> None:
    connection, server = ready_client()
    expected = [f"cluster-{index}" for index in range(5)]
    for name in expected:
        connection.send(name, ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    stream = b"".join(
        reply(each, MetadataResponse(cluster_id=f"cluster-{index}"))
        for index, each in enumerate(requests_of(connection, server))
    )
    rng = random.Random(seed)
    got: list[str] = []
    while stream:
        size = sizes.pop() if sizes else rng.randint(1, 64)
        got += [
            event.message.cluster_id for event in connection.receive(stream[:size], 0.0) if isinstance(event, Response)
        ]
        stream = stream[size:]
    assert got == expected


def test_request_without_answer_is_not_waited_for() -> None:
    connection, server = ready_client()
    connection.send("acks=0", ApiKey.HEARTBEAT, 4, HeartbeatRequest(), expects_response=False)
    assert len(requests_of(connection, server)) == 1
    assert not connection.in_flight


# ---- hostile peers ----


def test_wrong_correlation_id_ends_the_connection_at_once() -> None:
    connection, server = ready_client()
    connection.send("t", ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    (request,) = requests_of(connection, server)
    answer = b"".join(encode_response(ApiKey.METADATA, 12, request.correlation_id + 1, MetadataResponse()))
    with pytest.raises(ProtocolError, match="was due"):
        list(connection.receive(answer, 0.0))


def test_answer_that_nobody_asked_for_ends_the_connection() -> None:
    connection, _ = ready_client()
    with pytest.raises(ProtocolError, match="nobody asked"):
        list(connection.receive(b"".join(encode_response(ApiKey.METADATA, 12, 5, MetadataResponse())), 0.0))


@pytest.mark.parametrize("size", [-1, -(2**31)])
def test_negative_frame_size_is_a_protocol_error(size: int) -> None:
    connection, _ = ready_client()
    with pytest.raises(ProtocolError):
        list(connection.receive(struct.pack(">i", size), 0.0))


def test_frame_limit_is_small_before_and_configured_after_negotiation() -> None:
    with pytest.raises(FrameTooLarge):
        list(client(bytes_max=10_000_000).receive(struct.pack(">i", UNPROVEN_BYTES_MAX + 1), 0.0))
    connection, _ = ready_client(bytes_max=10_000_000)
    assert list(connection.receive(struct.pack(">i", 10_000_000), 0.0)) == []
    connection, _ = ready_client(bytes_max=10_000_000)
    with pytest.raises(FrameTooLarge):
        list(connection.receive(struct.pack(">i", 10_000_001), 0.0))


@pytest.mark.parametrize("alert", [b"\x15\x03\x03\x00\x02\x02\x46", b"\x16\x03\x01", b"\x15"])
def test_tls_port_is_named_as_such(alert: bytes) -> None:
    with pytest.raises(PeerIsTls, match=r"broker\.test:9092"):
        list(client().receive(alert, 0.0))


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_only_our_errors_escape_from_senseless_bytes(noise: bytes) -> None:
    connection, server = client(), ServerConnection()
    (request,) = requests_of(connection, server)
    body = struct.pack(">i", request.correlation_id) + noise
    try:
        for chunk in (struct.pack(">i", len(body)) + body, noise):
            list(connection.receive(chunk, 0.0))
    except KafkaError:
        pass


def test_array_count_beyond_the_frame_is_a_protocol_error() -> None:
    connection, server = client(), ServerConnection()
    (request,) = requests_of(connection, server)
    body = struct.pack(">ih", request.correlation_id, 0) + b"\xff\xff\xff\xff\x07" + b"\0" * 20
    with pytest.raises(ProtocolError):
        list(connection.receive(struct.pack(">i", len(body)) + body, 0.0))


# ---- SASL ----


class Broker:
    """The broker's side of SASL, driven by hand."""

    def __init__(self, servers: SaslServers, lifetime_ms: int = 0) -> None:
        self.servers = servers
        self.server = ServerConnection(authenticated=False)
        self.exchange: Any = None
        self.lifetime_ms = lifetime_ms
        self.seen: list[int] = []

    def answer(self, data: bytes) -> bytes:
        out = b""
        self.server.receive(data)
        while (request := self.server.next_request()) is not None:
            self.seen.append(request.api_key)
            out += b"".join(self.server.respond(request, self.message(request)))
        return out

    def message(self, request: ServerRequest) -> Any:
        if request.api_key == ApiKey.API_VERSIONS:
            return ApiVersionsResponse(api_keys=all_apis())
        if request.api_key == ApiKey.SASL_HANDSHAKE:
            try:
                self.exchange = self.servers.start(request.message().mechanism, entropy=bytes, wall_ms=0)
            except UnsupportedSaslMechanism:
                return SaslHandshakeResponse(error_code=33, mechanisms=list(self.servers.mechanisms))
            return SaslHandshakeResponse(mechanisms=list(self.servers.mechanisms))
        if request.api_key == ApiKey.SASL_AUTHENTICATE:
            sent: SaslAuthenticateRequest = request.message()
            try:
                answer = self.exchange.step(sent.auth_bytes)
            except SaslAuthenticationFailed as error:
                return SaslAuthenticateResponse(error_code=58, error_message=str(error.message))
            if self.exchange.done:
                self.server.authentication_done()
            return SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=self.lifetime_ms)
        return MetadataResponse()


def converse(connection: ClientConnection, broker: Broker, now: float = 0.0) -> list[Any]:
    """Carry bytes both ways until nobody has more to say; off-loop work is done here."""
    events: list[Any] = []
    while data := b"".join(connection.take_output()):
        work = list(connection.receive(broker.answer(data), now))
        while work:
            event = work.pop(0)
            events.append(event)
            if isinstance(event, Offload):
                value, failure = None, None
                try:
                    value = event.work()
                except Exception as error:
                    failure = error
                work += connection.offload_done(value, failure, now)
    return events


PLAIN = SaslServers(("PLAIN",), plain_users={"alice": Secret(CANARY)})
SCRAM = SaslServers(
    ("SCRAM-SHA-256",),
    scram_users={"SCRAM-SHA-256": {"alice": make_credential("SCRAM-SHA-256", CANARY, salt=b"salt" * 4)}},
)


def plain(password: str = CANARY) -> Security:
    return Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: PlainClient("alice", Secret(password)))


def test_plain_login_comes_before_any_request() -> None:
    connection, broker = client(plain()), Broker(PLAIN)
    events = converse(connection, broker)
    assert broker.seen == [ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE]
    assert isinstance(events[-1], Ready)
    assert accepts(connection)
    assert connection.reauthenticate_at == math.inf


def test_wrong_password_is_an_authentication_error_that_names_the_broker_and_not_the_password() -> None:
    connection, broker = client(plain("wrong-" + CANARY)), Broker(PLAIN)
    with pytest.raises(AuthenticationError, match=r"broker\.test:9092") as caught:
        converse(connection, broker)
    assert CANARY not in f"{caught.value!r} {caught.value}"
    assert not caught.value.retriable


def test_mechanism_that_is_not_offered_lists_those_that_are() -> None:
    connection, broker = client(plain()), Broker(SCRAM)
    with pytest.raises(UnsupportedSaslMechanism, match="SCRAM-SHA-256"):
        converse(connection, broker)


def test_listener_without_sasl_is_told_apart() -> None:
    connection, server = client(plain()), ServerConnection()
    (request,) = requests_of(connection, server)
    with pytest.raises(AuthenticationError, match="security_protocol"):
        list(connection.receive(reply(request, ApiVersionsResponse(api_keys=[ApiVersion(18, 0, 4)])), 0.0))


def test_scram_login_verifies_the_broker_before_it_is_ready() -> None:
    security = Security(
        sasl_mechanism="SCRAM-SHA-256",
        sasl=lambda endpoint: ScramClient("SCRAM-SHA-256", "alice", Secret(CANARY), nonce="n" * 24),
    )
    connection, broker = client(security), Broker(SCRAM)
    events = converse(connection, broker)
    assert broker.seen[2:] == [ApiKey.SASL_AUTHENTICATE] * 2
    assert [type(event) for event in events] == [Offload, Offload, Offload, Ready]


class Endless:
    """A mechanism that never comes to an end."""

    done = False

    def step(self, challenge: bytes) -> bytes:
        return b"again"


def test_endless_exchange_is_ended() -> None:
    class EndlessServers:
        mechanisms = ("PLAIN",)

        def start(self, mechanism: str, **context: object) -> SaslExchange:
            return Endless()

    broker = Broker(EndlessServers())  # type: ignore[arg-type]
    connection = client(Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: Endless()))
    with pytest.raises(AuthenticationError, match=str(SASL_ROUNDS_MAX)):
        converse(connection, broker)


def test_foreign_error_of_a_token_provider_is_not_quoted() -> None:
    class Leaky:
        done = False

        def step(self, challenge: bytes) -> bytes:
            raise ValueError(f"cannot use {CANARY}")

    connection = client(Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: Leaky()))
    with pytest.raises(AuthenticationError, match="ValueError") as caught:
        converse(connection, Broker(PLAIN))
    assert CANARY not in f"{caught.value!r} {caught.value}"
    assert caught.value.__cause__ is None


def test_session_is_renewed_before_it_ends_and_requests_wait_meanwhile() -> None:
    connection, broker = client(plain()), Broker(PLAIN, lifetime_ms=10_000)
    converse(connection, broker, now=100.0)
    assert 108.5 <= connection.reauthenticate_at <= 109.5
    connection.send("in flight", ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    connection.advance(108.0)
    assert accepts(connection)
    connection.advance(109.5)
    assert not accepts(connection)
    events = converse(connection, broker, now=109.5)
    assert isinstance(events[0], Response)
    assert events[0].token == "in flight"
    assert isinstance(events[-1], Ready)
    assert accepts(connection)
    assert 118.0 <= connection.reauthenticate_at <= 119.0
    assert broker.seen[-2:] == [ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE]


def test_nothing_that_shows_itself_shows_a_secret() -> None:
    connection, broker = client(plain()), Broker(PLAIN)
    events = converse(connection, broker)
    shown = f"{connection!r} {events!r} {plain()!r} {ConnectionSettings(security=plain())!r}"
    assert CANARY not in shown


# ---- the broker's side ----


def metadata_request(correlation_id: int) -> bytes:
    return b"".join(encode_request(ApiKey.METADATA, 12, correlation_id, "c", MetadataRequest(topics=[])))


def test_server_works_on_one_request_at_a_time_in_order() -> None:
    server = ServerConnection()
    server.receive(metadata_request(1) + metadata_request(2))
    first = server.next_request()
    assert first is not None
    assert (first.correlation_id, first.client_id) == (1, "c")
    assert server.busy
    assert server.next_request() is None
    assert server.respond(first, MetadataResponse())
    second = server.next_request()
    assert second is not None
    assert second.correlation_id == 2
    assert server.respond(second, None) == []
    assert server.next_request() is None
    assert not server.busy


@pytest.mark.parametrize(
    "frame", [b"", b"\0\x03", b"\0\x03\0\x0c\0\0\0\x01\x7f\xff", b"\x7f\x00\0\x00\0\0\0\x01\xff\xff"]
)
def test_malformed_header_is_a_protocol_error(frame: bytes) -> None:
    with pytest.raises(ProtocolError):
        ServerConnection().receive(struct.pack(">i", len(frame)) + frame)


def test_unauthenticated_peer_may_only_authenticate_and_claim_little() -> None:
    server = ServerConnection(authenticated=False)
    server.receive(metadata_request(1))
    with pytest.raises(ProtocolError, match="before authentication"):
        server.next_request()
    with pytest.raises(FrameTooLarge):
        ServerConnection(authenticated=False).receive(struct.pack(">i", 100 * 1024 * 1024))
    server = ServerConnection(authenticated=False)
    server.authentication_done()
    server.receive(struct.pack(">i", 100 * 1024 * 1024))
    with pytest.raises(FrameTooLarge):
        ServerConnection(bytes_max=100).receive(struct.pack(">i", 101))


def test_server_asks_for_a_pause_when_requests_pile_up() -> None:
    server = ServerConnection()
    server.receive(b"".join(map(metadata_request, range(WAITING_MAX))))
    assert pauses(server)
    request = server.next_request()
    assert request is not None
    assert not pauses(server)
    small = ServerConnection(bytes_max=30)
    small.receive(metadata_request(1) + metadata_request(2))
    assert small.wants_pause


def test_versions_in_a_version_of_the_future_are_answered_in_version_0() -> None:
    server = ServerConnection()
    head = struct.pack(">hhih", 18, 99, 7, -1) + b"\0" + b"whatever the future holds"
    server.receive(struct.pack(">i", len(head)) + head)
    request = server.next_request()
    assert request is not None
    assert not request.known_version
    answer = b"".join(server.respond(request, ApiVersionsResponse(error_code=35), version=0))
    assert answer[4:10] == struct.pack(">ih", 7, 35)
