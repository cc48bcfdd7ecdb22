"""Requests to nodes in virtual time: versions, limits, back-off, time-outs, what breaks and what is sent again."""

from __future__ import annotations

import logging
import random
import struct
from typing import Any
from uuid import UUID

import pytest

from pykclient.client.engine import Engine
from pykclient.errors import (
    AuthenticationError,
    ClientClosed,
    KafkaConnectionError,
    KafkaTimeoutError,
    NoBrokersAvailable,
    ProtocolError,
    UnsupportedVersionError,
)
from pykclient.net.client_request import Channel, Request
from pykclient.net.connection import Security
from pykclient.net.failures import (
    ConnectionLost,
    ConnectionRefused,
    ConnectTimedOut,
    PeerIsTls,
    RejectedByPeer,
    RequestExpired,
    StrayAnswer,
)
from pykclient.net.link import NetworkSettings
from pykclient.net.network_client import NetworkClient
from pykclient.net.server_connection import ServerRequest
from pykclient.net.transport import Endpoint, Event, Received
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from pykclient.protocol.wire import encode_response

from .fake_cluster import After, Drop, FakeCluster, FakeNode, Hang, Raw, VirtualClock, run, settle


class World:
    """Three brokers and a client, in virtual time."""

    def __init__(self, seed: int = 1, nodes: int = 1, **settings: Any) -> None:
        self.clock = VirtualClock()
        self.nodes = [FakeNode(Endpoint(f"b{index}.test", 9092)) for index in range(nodes)]
        self.transport = FakeCluster(self.clock, self.nodes)
        self.network = NetworkClient(self.transport, NetworkSettings(**settings), rng=random.Random(seed))
        self.engine = Engine(self.transport, self.clock, self.network)
        self.network.set_nodes({index: node.endpoint for index, node in enumerate(self.nodes)})
        for node in self.nodes:
            node.handlers[ApiKey.METADATA] = lambda request: MetadataResponse(cluster_id="c")
            node.handlers[ApiKey.HEARTBEAT] = lambda request: HeartbeatResponse()

    def send(self, message: Any = None, **options: Any) -> Request[Any]:
        options.setdefault("node_id", 0)
        request = Request[Any](message or MetadataRequest(topics=[]), **options)
        self.network.send(request, self.clock.time)
        return request

    def finish(self, *requests: Request[Any], limit_s: float = 600.0) -> None:
        run(self.engine, self.transport, lambda: all(request.completion.done for request in requests), limit_s)

    def settle(self, seconds: float) -> None:
        settle(self.engine, self.transport, seconds)


def metadata(cluster_id: str) -> Any:
    return lambda request: MetadataResponse(cluster_id=cluster_id)


class InPieces(FakeCluster):
    """What is received comes in pieces, all in one turn, and memory that is offered is held, as by the reactor."""

    PIECE = 3_000_000

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self.offered: memoryview | None = None
        self.offers = 0

    def poll(self, timeout_s: float | None) -> list[Event]:
        pieces: list[Event] = []
        for event in super().poll(timeout_s):
            if not isinstance(event, Received):
                pieces.append(event)
                continue
            for at in range(0, len(event.data), self.PIECE):
                pieces.append(Received(event.connection_id, event.data[at : at + self.PIECE]))
        return pieces

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None:
        self.offered = buffer
        self.offers += buffer is not None


def test_an_answer_larger_than_the_room_that_was_offered_arrives() -> None:
    world = World()
    world.transport = InPieces(world.clock, world.nodes)
    world.network = NetworkClient(world.transport, NetworkSettings(), rng=random.Random(1))
    world.engine = Engine(world.transport, world.clock, world.network)
    world.network.set_nodes({0: world.nodes[0].endpoint})
    names = [f"{index:0200d}" for index in range(60_000)]
    topics = [MetadataResponseTopic(name=name, topic_id=UUID(int=1)) for name in names]
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: MetadataResponse(cluster_id="c", topics=topics)
    request = world.send()
    world.finish(request)
    assert [topic.name for topic in request.completion.result().topics] == names
    assert world.transport.offers >= 2, "there was room to be in the way"


# ---- versions ----


def test_request_uses_the_highest_common_version() -> None:
    world = World()
    world.nodes[0].ranges[ApiKey.METADATA] = (2, 9)
    request = world.send()
    world.finish(request)
    assert request.completion.result().cluster_id == "c"
    assert (request.version, request.sent_to) == (9, 0)
    capped = world.send(version_max=5)
    world.finish(capped)
    assert capped.version == 5


def test_version_that_is_needed_and_not_offered_names_api_and_ranges() -> None:
    world = World()
    world.nodes[0].ranges[ApiKey.METADATA] = (2, 9)
    request = world.send(version_min=10)
    world.finish(request)
    error = request.completion.error
    assert isinstance(error, UnsupportedVersionError)
    assert (error.api, error.needed, error.offered) == ("Metadata", (10, 13), (2, 9))
    del world.nodes[0].ranges[ApiKey.HEARTBEAT]
    world.transport.break_all(world.nodes[0].endpoint)
    world.settle(1.0)
    missing = world.send(HeartbeatRequest())
    world.finish(missing)
    assert isinstance(missing.completion.error, UnsupportedVersionError)
    # The connection is fine: the next request uses it.
    fine = world.send()
    world.finish(fine)
    assert fine.completion.error is None


def test_versions_are_negotiated_again_after_a_reconnect() -> None:
    world = World()
    world.nodes[0].ranges[ApiKey.METADATA] = (0, 9)
    first = world.send()
    world.finish(first)
    world.nodes[0].ranges[ApiKey.METADATA] = (0, 12)
    world.transport.break_all(world.nodes[0].endpoint)
    world.settle(0.1)
    second = world.send()
    world.finish(second)
    assert (first.version, second.version) == (9, 12)


def test_builder_is_given_the_version() -> None:
    world = World()
    world.nodes[0].ranges[ApiKey.METADATA] = (0, 7)
    built: list[int] = []

    def build(version: int) -> MetadataRequest:
        built.append(version)
        return MetadataRequest(topics=None)

    request = Request[MetadataResponse](api_key=ApiKey.METADATA, build=build, node_id=0)
    world.network.send(request, world.clock.time)
    world.finish(request)
    assert built == [7]


def test_message_that_the_version_cannot_carry_fails_alone() -> None:
    world = World()
    world.nodes[0].ranges[ApiKey.METADATA] = (0, 3)
    bad = world.send(MetadataRequest(topics=[], allow_auto_topic_creation=False))
    good = world.send()
    world.finish(bad, good)
    assert bad.completion.error is not None
    assert good.completion.error is None


def test_features_are_known_per_connection() -> None:
    world = World()
    assert world.network.any_versions() is None
    world.finish(world.send())
    versions = world.network.versions(0)
    assert versions is not None
    assert versions.finalized_features == {"transaction.version": 2}
    assert versions.supports(ApiKey.METADATA, 13)
    assert not versions.supports(ApiKey.METADATA, 14)
    assert world.network.any_versions() is versions


# ---- in flight ----


def test_no_more_than_the_limit_is_in_flight() -> None:
    world = World(in_flight_max=3)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: After(1.0, MetadataResponse())
    requests = [world.send() for _ in range(10)]
    run(world.engine, world.transport, lambda: world.network.in_flight_count(0) > 0)
    assert world.network.in_flight_count(0) == 3
    assert not world.network.ready(0, world.clock.time)
    world.finish(*requests)
    assert world.network.in_flight_count() == 0
    assert [request.completion.error for request in requests] == [None] * 10


def test_channels_have_connections_of_their_own() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    world.send()
    heartbeat = world.send(HeartbeatRequest(), channel=Channel.COORDINATOR)
    world.finish(heartbeat, limit_s=1.0)
    assert world.transport.open_count(world.nodes[0].endpoint) == 2


def test_request_without_answer_completes_when_sent() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: None
    sent: list[float] = []
    request = world.send(expects_response=False, on_sent=sent.append)
    world.finish(request, limit_s=1.0)
    assert request.completion.result() is None
    assert sent == [world.clock.time]
    assert world.network.in_flight_count() == 0


# ---- what breaks ----


def test_broken_connection_fails_what_is_in_flight_and_keeps_what_was_not_sent() -> None:
    world = World(in_flight_max=1)
    answers: list[Any] = [Drop(), MetadataResponse(cluster_id="again")]
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: answers.pop(0)
    first, second = world.send(), world.send()
    world.finish(first, second)
    assert isinstance(first.completion.error, ConnectionLost)
    assert first.completion.error.retriable
    assert "b0.test:9092" in str(first.completion.error)
    assert second.completion.result().cluster_id == "again"
    assert len(world.nodes[0].connects) == 2


def test_peer_that_hangs_up_on_the_first_request_may_want_sasl() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Drop()
    request = world.send()
    world.finish(request)
    assert isinstance(request.completion.error, RejectedByPeer)
    assert "SASL" in str(request.completion.error)
    world.nodes[0].on_connect = b""
    world.settle(1.0)
    early = world.send()
    world.finish(early)
    assert isinstance(early.completion.error, PeerIsTls)
    assert "security_protocol" in str(early.completion.error)


def test_refused_connection_fails_requests_to_that_node_at_once() -> None:
    world = World()
    world.nodes[0].refuses = True
    request = world.send()
    world.finish(request, limit_s=0.01)
    assert isinstance(request.completion.error, ConnectionRefused)
    assert world.network.connection_error(0) is request.completion.error
    assert world.network.available_at(0, world.clock.time) > world.clock.time


def test_unknown_node_fails_at_once_and_who_there_is_is_asked_again() -> None:
    world = World()
    asked: list[bool] = []
    world.network.on_failure = lambda: asked.append(True)
    request = world.send(node_id=99)
    assert isinstance(request.completion.error, KafkaConnectionError)
    assert request.completion.error.retriable
    assert asked == [True]


def test_any_node_means_another_when_one_cannot_be_reached() -> None:
    for seed in range(10):
        world = World(seed, nodes=3)
        world.nodes[0].refuses = world.nodes[1].refuses = True
        request = world.send(node_id=None)
        world.finish(request, limit_s=0.01)
        assert request.completion.error is None
        assert request.sent_to == 2


def test_no_node_at_all_names_every_one() -> None:
    world = World(nodes=3)
    for node in world.nodes:
        node.refuses = True
    request = world.send(node_id=None)
    world.finish(request, limit_s=0.01)
    assert isinstance(request.completion.error, NoBrokersAvailable)
    for node in world.nodes:
        assert str(node.endpoint) in str(request.completion.error)


def test_request_may_ask_to_avoid_nodes() -> None:
    for seed in range(10):
        world = World(seed, nodes=2)
        request = world.send(node_id=None, tried={0})
        world.finish(request)
        assert request.sent_to == 1


def test_overdue_answer_closes_the_connection_and_fails_all_behind_it() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    start = world.clock.time
    late, behind = world.send(timeout_s=5.0), world.send(timeout_s=50.0)
    world.finish(late, behind)
    assert world.clock.time == pytest.approx(start + 5.0)
    assert isinstance(late.completion.error, RequestExpired)
    assert isinstance(late.completion.error, TimeoutError)
    assert late.completion.error.retriable
    assert isinstance(behind.completion.error, ConnectionLost)
    assert world.transport.open_count(world.nodes[0].endpoint) == 0


def test_request_that_was_never_sent_times_out_by_itself() -> None:
    world = World(in_flight_max=1)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: After(20.0, MetadataResponse())
    slow, impatient = world.send(), world.send(timeout_s=2.0)
    world.finish(impatient)
    assert isinstance(impatient.completion.error, KafkaTimeoutError)
    assert not isinstance(impatient.completion.error, KafkaConnectionError)
    world.finish(slow)
    assert slow.completion.error is None
    assert len(world.nodes[0].received) == 2


def test_silent_port_is_given_up_after_the_setup_time() -> None:
    world = World(setup_timeout_s=10.0)
    world.nodes[0].silent = True
    start = world.clock.time
    request = world.send()
    world.finish(request)
    assert isinstance(request.completion.error, ConnectTimedOut)
    assert 10.0 <= world.clock.time - start <= 12.0


def test_closed_client_fails_everything_and_takes_nothing() -> None:
    world = World(nodes=2, in_flight_max=1)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    sent, queued, unrouted = world.send(), world.send(), Request[Any](MetadataRequest(topics=[]))
    run(world.engine, world.transport, lambda: world.network.in_flight_count() > 0)
    world.network.send(unrouted, world.clock.time)
    closed = ClientClosed()
    world.network.close(closed)
    for request in (sent, queued, unrouted, world.send()):
        assert request.completion.error is closed


# ---- withdrawing ----


def test_withdrawn_request_never_leaves() -> None:
    world = World()
    request = world.send()
    request.completion.withdraw()
    world.settle(1.0)
    assert world.nodes[0].apis() == []
    assert not request.completion.done


def test_answer_to_a_withdrawn_request_is_thrown_away() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: After(1.0, MetadataResponse())
    request = world.send()
    run(world.engine, world.transport, lambda: world.network.in_flight_count() > 0)
    request.completion.withdraw()
    later = world.send(HeartbeatRequest())
    world.finish(later)
    assert not request.completion.done
    assert later.completion.error is None


# ---- back-off ----


def hostile_frame_size(node: FakeNode) -> None:
    node.on_connect = struct.pack(">i", 0x7FFFFFFF)


def hostile_negative(node: FakeNode) -> None:
    node.on_connect = struct.pack(">i", -5)


def hostile_correlation(node: FakeNode) -> None:
    node.handlers[ApiKey.METADATA] = lambda request: Raw(
        b"".join(encode_response(ApiKey.METADATA, request.version, request.correlation_id + 9, MetadataResponse()))
    )


def hostile_array(node: FakeNode) -> None:
    def answer(request: ServerRequest) -> Raw:
        body = struct.pack(">i", request.correlation_id) + b"\0" * 5 + b"\xff\xff\xff\xff\x07" + b"\0" * 9
        return Raw(struct.pack(">i", len(body)) + body)

    node.handlers[ApiKey.METADATA] = answer


def refuses(node: FakeNode) -> None:
    node.refuses = True


def closes_at_once(node: FakeNode) -> None:
    node.on_connect = b""


def drops_requests(node: FakeNode) -> None:
    node.handlers[ApiKey.METADATA] = lambda request: Drop()


HOSTILE = [hostile_frame_size, hostile_negative, hostile_correlation, hostile_array]


@pytest.mark.parametrize("attack", [*HOSTILE, refuses, closes_at_once, drops_requests])
@pytest.mark.parametrize("seed", range(5))
def test_at_most_ten_connects_in_eight_seconds(attack: Any, seed: int) -> None:
    world = World(seed)
    attack(world.nodes[0])
    end = world.clock.time + 8.0
    failures = 0
    while world.clock.time < end:
        request = world.send(timeout_s=100.0)
        while world.clock.time < end:
            wake_at = world.engine.step(world.clock.time)
            if request.completion.done:
                break
            world.clock.time = max(world.clock.time, min(wake_at, world.transport.next_at(), end))
        failures += request.completion.done
    assert failures >= 3
    assert 3 <= len(world.nodes[0].connects) <= 10


@pytest.mark.parametrize("attack", HOSTILE)
def test_senseless_bytes_are_a_protocol_error_within_an_instant(attack: Any) -> None:
    world = World()
    attack(world.nodes[0])
    request = world.send()
    world.finish(request, limit_s=0.1)
    assert isinstance(request.completion.error, ProtocolError)
    assert world.transport.open_count(world.nodes[0].endpoint) == 0


def test_answer_that_comes_twice_is_a_lost_connection_to_what_waits_behind_it() -> None:
    """So that everybody who asks again after a lost connection asks again: it was not their answer that was wrong."""
    world = World()

    def twice(request: ServerRequest) -> Raw:
        return Raw(2 * b"".join(encode_response(ApiKey.METADATA, request.version, request.correlation_id, answered)))

    answered = MetadataResponse(cluster_id="c")
    world.finish(world.send())
    world.nodes[0].handlers[ApiKey.METADATA] = twice
    world.nodes[0].handlers[ApiKey.HEARTBEAT] = lambda request: Hang()
    first, second = world.send(), world.send(HeartbeatRequest())
    world.finish(first, second, limit_s=0.1)
    assert first.completion.result().cluster_id == "c"
    assert isinstance(second.completion.error, StrayAnswer)
    assert isinstance(second.completion.error, KafkaConnectionError)
    assert isinstance(second.completion.error, ProtocolError)


def test_senseless_answer_is_told_to_the_one_who_asked_and_a_lost_connection_to_the_others() -> None:
    world = World()
    world.finish(world.send())
    hostile_array(world.nodes[0])
    world.nodes[0].handlers[ApiKey.HEARTBEAT] = lambda request: Hang()
    first, second = world.send(), world.send(HeartbeatRequest())
    world.finish(first, second, limit_s=0.1)
    assert isinstance(first.completion.error, ProtocolError)
    assert isinstance(second.completion.error, ConnectionLost)
    assert not isinstance(second.completion.error, ProtocolError)


def test_back_off_ends_after_an_answer() -> None:
    world = World()
    world.nodes[0].refuses = True
    for _ in range(6):
        world.finish(world.send())
    world.nodes[0].refuses = False
    world.finish(world.send())
    world.transport.break_all(world.nodes[0].endpoint)
    world.settle(0.0)
    assert world.network.available_at(0, world.clock.time) - world.clock.time <= 0.06


def test_wrong_credentials_fail_the_request_and_are_not_tried_elsewhere() -> None:
    class Wrong:
        done = False

        def step(self, challenge: bytes) -> bytes:
            raise AuthenticationError("wrong")

    world = World(nodes=3, security=Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: Wrong()))
    for node in world.nodes:
        from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse

        node.handlers[ApiKey.SASL_HANDSHAKE] = lambda request: SaslHandshakeResponse(mechanisms=["PLAIN"])
    request = world.send(node_id=None)
    world.finish(request, limit_s=0.1)
    assert isinstance(request.completion.error, AuthenticationError)
    assert sum(len(node.connects) for node in world.nodes) == 1


# ---- throttling, idleness, load ----


def test_throttled_node_gets_nothing_until_its_time_is_over() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: MetadataResponse(throttle_time_ms=3000)
    world.finish(world.send())
    start = world.clock.time
    assert not world.network.ready(0, start)
    assert world.network.available_at(0, start) == pytest.approx(start + 3.0)
    next_one = world.send(HeartbeatRequest())
    world.finish(next_one)
    assert world.clock.time == pytest.approx(start + 3.0)


def test_idle_connection_is_closed_and_opened_again_on_demand() -> None:
    world = World(idle_s_max=60.0)
    world.finish(world.send())
    world.settle(59.0)
    assert world.transport.open_count(world.nodes[0].endpoint) == 1
    world.settle(10.0)
    assert world.transport.open_count(world.nodes[0].endpoint) == 0
    world.finish(world.send(), limit_s=0.1)


def test_least_loaded_node_is_taken() -> None:
    world = World(nodes=3)
    for node_id in range(3):
        world.finish(world.send(node_id=node_id))
    for node in world.nodes:
        node.handlers[ApiKey.METADATA] = lambda request: After(5.0, MetadataResponse())
    requests = [world.send(node_id=None) for _ in range(3)]
    world.settle(0.0)
    assert sorted(request.sent_to or 0 for request in requests) == [0, 1, 2]
    world.finish(*requests)


def test_a_connected_node_is_preferred_to_a_new_connection() -> None:
    for seed in range(10):
        world = World(seed, nodes=3)
        world.finish(world.send(node_id=1))
        assert world.network.least_loaded_node(world.clock.time) == 1


# ---- silence and changes of the node list ----


def test_silence_is_measured_while_an_answer_is_owed() -> None:
    world = World()
    world.finish(world.send())
    assert world.network.silent_since(0) is None
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    world.send()
    started = world.clock.time
    world.settle(4.0)
    assert world.network.silent_since(0) == pytest.approx(started)
    world.network.disconnect(0, "silent for 4 s")
    assert world.network.silent_since(0) is None


def test_silence_is_measured_while_connecting_too() -> None:
    world = World()
    world.nodes[0].silent = True
    started = world.clock.time
    world.send()
    world.settle(4.0)
    assert world.network.silent_since(0) == pytest.approx(started)


def test_disconnect_fails_what_is_in_flight_with_the_reason() -> None:
    world = World()
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    request = world.send()
    world.settle(0.0)
    world.network.disconnect(0, "the leader moved")
    assert isinstance(request.completion.error, ConnectionLost)
    assert "the leader moved" in str(request.completion.error)
    world.nodes[0].handlers[ApiKey.METADATA] = metadata("back")
    again = world.send()
    world.finish(again, limit_s=0.01)


def test_bootstrap_connection_is_kept_for_the_broker_it_turns_out_to_be() -> None:
    world = World()
    endpoint = world.nodes[0].endpoint
    world.network.set_nodes({-1: endpoint})
    world.finish(world.send(node_id=-1))
    world.network.set_nodes({5: endpoint})
    world.finish(world.send(node_id=5))
    assert len(world.nodes[0].connects) == 1
    assert world.network.connected(5)
    assert not world.network.connected(-1)


def test_broker_that_moved_is_reached_at_its_new_address() -> None:
    world = World(nodes=2)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: Hang()
    old = world.send()
    world.settle(0.0)
    world.network.set_nodes({0: world.nodes[1].endpoint})
    assert isinstance(old.completion.error, ConnectionLost)
    new = world.send()
    world.finish(new, limit_s=0.01)
    assert len(world.nodes[1].received) == 2


def test_broker_that_left_may_finish_what_it_has() -> None:
    world = World(nodes=2, in_flight_max=1)
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: After(1.0, MetadataResponse())
    in_flight, queued, anywhere = world.send(), world.send(), world.send(node_id=None, tried={1})
    world.settle(0.0)
    world.network.set_nodes({1: world.nodes[1].endpoint})
    assert isinstance(queued.completion.error, ConnectionLost)
    anywhere.tried = None
    world.finish(in_flight, anywhere)
    assert in_flight.completion.error is None
    assert anywhere.sent_to == 1
    world.settle(1.0)
    assert world.transport.open_count(world.nodes[0].endpoint) == 0


def test_idle_client_asks_for_no_time_and_sends_nothing() -> None:
    world = World(nodes=3)
    world.finish(world.send())
    steps = 0
    end = world.clock.time + 100.0
    while world.clock.time < end:
        world.clock.time = max(world.clock.time, min(world.engine.step(world.clock.time), end))
        steps += 1
    assert steps < 40


def test_secrets_are_in_no_log_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "hunter2-canary"

    class Wrong:
        done = False

        def step(self, challenge: bytes) -> bytes:
            return f"\0alice\0{canary}".encode()

    from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
    from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse

    world = World(security=Security(sasl_mechanism="PLAIN", sasl=lambda endpoint: Wrong()))
    world.nodes[0].handlers[ApiKey.SASL_HANDSHAKE] = lambda request: SaslHandshakeResponse(mechanisms=["PLAIN"])
    world.nodes[0].handlers[ApiKey.SASL_AUTHENTICATE] = lambda request: SaslAuthenticateResponse(
        error_code=58, error_message="no"
    )
    request = world.send()
    world.finish(request)
    assert isinstance(request.completion.error, AuthenticationError)
    assert caplog.records
    assert canary not in caplog.text
    assert canary not in repr(request.completion.error) + repr(world.network.settings) + repr(request)


def test_old_broker_is_served_through_the_version_0_fallback() -> None:
    world = World()

    def versions(request: ServerRequest) -> Any:
        offered = [ApiVersion(ApiKey.API_VERSIONS, 0, 0), ApiVersion(ApiKey.METADATA, 0, 1)]
        if request.version > 0:
            answer = ApiVersionsResponse(error_code=35, api_keys=offered)
            return Raw(b"".join(encode_response(ApiKey.API_VERSIONS, 0, request.correlation_id, answer)))
        return ApiVersionsResponse(api_keys=offered)

    world.nodes[0].handlers[ApiKey.API_VERSIONS] = versions
    world.nodes[0].handlers[ApiKey.METADATA] = lambda request: MetadataResponse()
    request = world.send()
    world.finish(request)
    assert request.version == 1
