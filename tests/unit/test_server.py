"""A broker node without sockets or threads: bytes in, bytes out, time by hand."""

from __future__ import annotations

import logging
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pykclient.broker.clock import AdjustableClock
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.describe import refreshed
from pykclient.broker.faults import Faults
from pykclient.broker.image import MetadataImage
from pykclient.broker.listeners import ListenerSpec, check_listeners, parse_listener
from pykclient.broker.request import RequestContext
from pykclient.broker.server import UNSENT_BYTES_MAX, BrokerNode
from pykclient.config import Secret
from pykclient.errors import ConfigError, ErrorCode, NotCoordinator, UsageError
from pykclient.net.completion import Completion
from pykclient.net.sasl import SaslServers
from pykclient.net.transport import Accepted, Buffer, Closed, Endpoint, Listener, Received
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeRequest
from pykclient.protocol.wire import decode_response_header, encode_request

LOG = "pykclient.broker.server"


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def wall_ms(self) -> int:
        return int(self.time * 1000)


class FakeTransport:
    """Remembers what it was told to do."""

    def __init__(self) -> None:
        self.written: dict[int, bytes] = {}
        self.closed: dict[int, bool] = {}
        self.unsent: dict[int, int] = {}
        self.reading: dict[int, bool] = {}
        self.wakes = 0
        self._listeners = 0

    def listen(self, endpoint: Endpoint, *, tls: Any = None) -> Listener:
        self._listeners += 1
        return Listener(self._listeners, Endpoint(endpoint.host, endpoint.port or 40_000 + self._listeners))

    def write(self, connection_id: int, data: Buffer | Sequence[Buffer]) -> None:
        parts = [data] if isinstance(data, (bytes, bytearray, memoryview)) else data
        self.written[connection_id] = self.written.get(connection_id, b"") + b"".join(bytes(part) for part in parts)

    def unsent_bytes(self, connection_id: int) -> int:
        return self.unsent.get(connection_id, 0)

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None: ...

    def set_reading(self, connection_id: int, reading: bool) -> None:
        self.reading[connection_id] = reading

    def close(self, connection_id: int, *, after_sending: bool = False) -> None:
        self.closed[connection_id] = after_sending

    def wake(self) -> None:
        self.wakes += 1

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not expected here")


class Room:
    """Answers what a test has prepared."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.HEARTBEAT: "heartbeat",
        ApiKey.PRODUCE: "produce",
        ApiKey.FETCH: "fetch",
    }

    def __init__(self) -> None:
        self.contexts: list[RequestContext] = []
        self.answers: list[Any] = []
        self.records = b""

    def heartbeat(self, context: RequestContext, request: HeartbeatRequest) -> Any:
        self.contexts.append(context)
        answer = self.answers.pop(0) if self.answers else HeartbeatResponse()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def produce(self, context: RequestContext, request: ProduceRequest) -> Any:
        return None if request.acks == 0 else ProduceResponse()

    def fetch(self, context: RequestContext, request: FetchRequest) -> FetchResponse:
        return FetchResponse(responses=[FetchableTopicResponse("t", partitions=[PartitionData(records=self.records)])])


class Bench:
    """A node with one listener and the means to talk to it."""

    def __init__(
        self,
        *,
        listener: ListenerSpec | None = None,
        sasl: SaslServers | None = None,
        max_versions: Any = None,
        **config: object,
    ) -> None:
        self.clock = FakeClock()
        self.transport = FakeTransport()
        self.faults = Faults(random.Random(1))
        self.node = BrokerNode(
            node_id=1,
            config=BrokerConfig({name.replace("_", "."): value for name, value in config.items()}),
            transport=self.transport,
            clock=self.clock,
            entropy=random.Random(2).randbytes,
            faults=self.faults,
            max_versions=max_versions,
        )
        self.node.sasl = sasl
        self.room = Room()
        self.node.install([self.room])
        self.node.listen([listener or ListenerSpec()])

    def step(self, *events: Any) -> float:
        return self.node.step(self.clock.time, events)

    def accept(self, connection_id: int = 7, host: str = "127.0.0.1") -> int:
        self.step(Accepted(1, connection_id, Endpoint(host, 50_000 + connection_id)))
        return connection_id

    def send(self, connection_id: int, key: ApiKey, message: Any, version: int | None = None, number: int = 1) -> None:
        version = api(key).max_version if version is None else version
        data = b"".join(bytes(part) for part in encode_request(key, version, number, "client", message))
        self.step(Received(connection_id, data))

    def answers(self, connection_id: int, key: ApiKey, version: int | None = None) -> list[tuple[int, Any]]:
        """Whole answers so far, as (correlation id, message)."""
        version = api(key).max_version if version is None else version
        data = self.transport.written.pop(connection_id, b"")
        found = []
        while data:
            (size,) = struct.unpack(">i", data[:4])
            frame, data = data[4 : 4 + size], data[4 + size :]
            number, position = decode_response_header(frame, key, version)
            found.append((number, api(key).response_class().read(frame, version, position)))
        return found

    def beat(self, connection_id: int = 7, number: int = 1) -> None:
        self.send(connection_id, ApiKey.HEARTBEAT, HeartbeatRequest(group_id="g"), number=number)

    def beats(self, connection_id: int = 7) -> list[tuple[int, int]]:
        return [(number, answer.error_code) for number, answer in self.answers(connection_id, ApiKey.HEARTBEAT)]

    def later(self, seconds: float) -> None:
        self.clock.time += seconds
        self.step()


def test_a_request_reaches_its_room_with_who_and_where() -> None:
    bench = Bench()
    bench.accept()
    bench.beat(number=5)
    assert bench.beats() == [(5, 0)]
    context = bench.room.contexts[0]
    assert (context.client_id, str(context.principal), context.listener_name) == (
        "client",
        "User:ANONYMOUS",
        "PLAINTEXT",
    )
    assert context.peer == Endpoint("127.0.0.1", 50_007)


def test_answers_come_in_the_order_of_the_requests_whatever_finishes_first() -> None:
    bench = Bench()
    bench.accept()
    slow: Completion[HeartbeatResponse] = Completion()
    bench.room.answers = [slow]
    bench.beat(number=1)
    bench.beat(number=2)
    bench.beat(number=3)
    assert bench.beats() == []
    slow.succeed(HeartbeatResponse(error_code=27))
    bench.step()
    assert bench.beats() == [(1, 27), (2, 0), (3, 0)]


def test_other_connections_do_not_wait_for_a_slow_one() -> None:
    bench = Bench()
    bench.accept(7)
    bench.accept(8)
    bench.room.answers = [Completion()]
    bench.beat(7)
    bench.beat(8)
    assert bench.beats(8) == [(1, 0)]


def test_an_answer_for_a_connection_that_is_gone_is_dropped() -> None:
    bench = Bench()
    bench.accept()
    slow: Completion[HeartbeatResponse] = Completion()
    bench.room.answers = [slow]
    bench.beat()
    bench.step(Closed(7, None))
    slow.succeed(HeartbeatResponse())
    bench.step()
    assert bench.transport.written == {}
    assert bench.node.connection_count == 0


def test_what_a_handler_raises_becomes_its_error_answer(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.accept()
    failing: Completion[HeartbeatResponse] = Completion.failed(NotCoordinator("moved"))
    bench.room.answers = [NotCoordinator("moved"), failing, ValueError("a bug of ours")]
    for number in (1, 2, 3):
        bench.beat(number=number)
    assert bench.beats() == [
        (1, ErrorCode.NOT_COORDINATOR),
        (2, ErrorCode.NOT_COORDINATOR),
        (3, ErrorCode.UNKNOWN_SERVER_ERROR),
    ]
    assert "HEARTBEAT failed" in caplog.text


def test_an_answer_the_version_cannot_carry_costs_only_its_own_connection() -> None:
    bench = Bench()
    bench.accept(7)
    bench.accept(8)
    bench.room.answers = [HeartbeatResponse(error_code=10**6)]
    bench.beat(7)
    bench.beat(8)
    assert 7 in bench.transport.closed
    assert bench.beats(8) == [(1, 0)]


def test_acks_0_has_no_answer_and_the_next_request_goes_on() -> None:
    bench = Bench()
    bench.accept()
    bench.send(7, ApiKey.PRODUCE, ProduceRequest(acks=0))
    bench.beat(number=2)
    assert bench.beats() == [(2, 0)]


def test_two_rooms_for_one_api_are_refused() -> None:
    bench = Bench()
    with pytest.raises(UsageError, match="two rooms answer HEARTBEAT"):
        bench.node.install([Room()])


def test_a_room_may_not_take_over_authentication() -> None:
    class Impostor:
        HANDLERS: Mapping[ApiKey, str] = {ApiKey.SASL_AUTHENTICATE: "anything"}

    with pytest.raises(UsageError, match="two rooms answer SASL_AUTHENTICATE"):
        Bench().node.install([Impostor()])


# ---- versions ----


def asked_versions(bench: Bench, version: int) -> Any:
    bench.send(7, ApiKey.API_VERSIONS, ApiVersionsRequest("test", "1.0"), version)
    return bench.answers(7, ApiKey.API_VERSIONS, version)[0][1]


def test_what_is_announced_is_what_is_served() -> None:
    bench = Bench()
    bench.accept()
    announced = {each.api_key: (each.min_version, each.max_version) for each in asked_versions(bench, 4).api_keys}
    served = {int(key): (low, high) for key, low, high in bench.node.served}
    assert announced == served
    assert set(announced) == {0, 1, 12, 17, 18, 36}


def test_an_unknown_apiversions_version_is_answered_in_version_0() -> None:
    bench = Bench()
    bench.accept()
    body = struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 9, -1) + b"\0"
    bench.step(Received(7, struct.pack(">i", len(body)) + body))
    ((number, answer),) = bench.answers(7, ApiKey.API_VERSIONS, 0)
    assert (number, answer.error_code) == (9, ErrorCode.UNSUPPORTED_VERSION)
    assert {each.api_key for each in answer.api_keys} >= {18, 12}
    assert 7 not in bench.transport.closed


def test_a_bad_software_name_is_refused() -> None:
    bench = Bench()
    bench.accept()
    bench.send(7, ApiKey.API_VERSIONS, ApiVersionsRequest("-bad name", "1"), 3)
    assert bench.answers(7, ApiKey.API_VERSIONS, 3)[0][1].error_code == ErrorCode.INVALID_REQUEST


def test_features_are_announced_from_version_3_and_zero_levels_from_4() -> None:
    bench = Bench()
    bench.node.take_image(MetadataImage("c", version=5, features={"transaction.version": 2}))
    bench.accept()
    assert asked_versions(bench, 2).finalized_features == []
    third, fourth = asked_versions(bench, 3), asked_versions(bench, 4)
    assert [(f.name, f.max_version_level) for f in fourth.finalized_features] == [("transaction.version", 2)]
    assert fourth.finalized_features_epoch == 5
    assert {f.name for f in third.supported_features} < {f.name for f in fourth.supported_features}


def test_posing_as_an_older_broker() -> None:
    bench = Bench(max_versions={"Fetch": 11, "Heartbeat": None})
    bench.accept()
    answer = asked_versions(bench, 3)
    versions = {each.api_key: each.max_version for each in answer.api_keys}
    assert versions[ApiKey.FETCH] == 11
    assert ApiKey.HEARTBEAT not in versions
    assert answer.finalized_features == []
    bench.send(7, ApiKey.FETCH, FetchRequest(), 12)
    assert 7 in bench.transport.closed


def test_a_version_below_all_that_exist_cannot_be_posed() -> None:
    with pytest.raises(ConfigError, match="Fetch below version 4"):
        Bench(max_versions={"Fetch": 1})


@pytest.mark.parametrize(("key", "version"), [(ApiKey.HEARTBEAT, 50), (ApiKey.VOTE, 0), (9999, 0)])
def test_what_is_not_served_closes_the_connection(key: int, version: int) -> None:
    bench = Bench()
    bench.accept()
    body = struct.pack(">hhih", key, version, 1, -1) + b"\0"
    bench.step(Received(7, struct.pack(">i", len(body)) + body))
    assert 7 in bench.transport.closed


# ---- hostile bytes ----


def test_nonsense_closes_that_connection_with_one_line_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOG)
    bench = Bench()
    bench.accept(7)
    bench.accept(8)
    body = struct.pack(">hhih", ApiKey.HEARTBEAT, 4, 1, -1) + b"\0" + b"\xff" * 20
    bench.step(Received(7, struct.pack(">i", len(body)) + body))
    bench.beat(8)
    assert list(bench.transport.closed) == [7]
    assert bench.beats(8) == [(1, 0)]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 100 * 1024 * 1024 + 1])
def test_a_frame_size_out_of_bounds_closes_before_anything_is_buffered(size: int) -> None:
    bench = Bench()
    bench.accept()
    bench.step(Received(7, struct.pack(">i", size)))
    assert 7 in bench.transport.closed


def test_line_breaks_from_a_client_cannot_forge_log_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bench = Bench()
    bench.accept()
    bench.faults.observe("Heartbeat")
    body = struct.pack(">hhih", ApiKey.HEARTBEAT, 3, 1, 22) + b"x\r\nCRITICAL forged!!\r\n!"
    bench.step(Received(7, struct.pack(">i", len(body)) + body))
    assert 7 in bench.transport.closed
    assert all("\n" not in record.getMessage() and "\r" not in record.getMessage() for record in caplog.records)


def test_bytes_behind_a_request_are_ignored_as_kafka_does() -> None:
    bench = Bench()
    bench.accept()
    data = b"".join(bytes(p) for p in encode_request(ApiKey.HEARTBEAT, 4, 3, "c", HeartbeatRequest(group_id="g")))
    longer = struct.pack(">i", len(data) - 4 + 3) + data[4:] + b"\0\0\0"
    bench.step(Received(7, longer))
    assert bench.beats() == [(3, 0)]


# ---- limits ----


def test_connections_are_limited_in_total_and_per_address() -> None:
    bench = Bench(max_connections=3, max_connections_per_ip=2)
    for number, host in enumerate(["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"]):
        bench.accept(number, host)
    assert set(bench.transport.closed) == {2, 4}
    bench.step(Closed(0, None))
    bench.accept(9, "10.0.0.1")
    assert 9 not in bench.transport.closed


def test_connection_limits_can_be_altered_while_it_runs() -> None:
    bench = Bench()
    bench.node.take_image(MetadataImage("c", broker_configs={"": {"max.connections": "1"}}))
    bench.accept(1)
    bench.accept(2)
    assert list(bench.transport.closed) == [2]


def test_idle_connections_are_closed_and_waiting_ones_are_not() -> None:
    bench = Bench(connections_max_idle_ms=60_000)
    bench.accept(7)
    bench.accept(8)
    bench.accept(9)
    bench.room.answers = [Completion()]
    bench.beat(8)
    bench.later(40)
    bench.beat(9)
    bench.later(40)
    assert list(bench.transport.closed) == [7]


def test_half_a_request_does_not_keep_a_connection_alive() -> None:
    bench = Bench(connections_max_idle_ms=60_000)
    bench.accept()
    for byte in b"\0\0\1\0\0\1":
        bench.step(Received(7, bytes([byte])))
        bench.later(15)
    assert 7 in bench.transport.closed


def test_a_peer_that_does_not_read_gets_no_more_answers_until_it_does() -> None:
    bench = Bench()
    bench.accept()
    bench.transport.unsent[7] = UNSENT_BYTES_MAX + 1
    bench.beat()
    assert bench.beats() == []
    assert bench.step() <= bench.clock.time + 0.1
    bench.transport.unsent[7] = 0
    bench.step()
    assert bench.beats() == [(1, 0)]


def test_a_peer_that_sends_faster_than_we_answer_is_not_read() -> None:
    bench = Bench()
    bench.accept()
    slow: Completion[HeartbeatResponse] = Completion()
    bench.room.answers = [slow]
    for number in range(60):
        bench.beat(number=number)
    assert bench.transport.reading == {7: False}
    slow.succeed(HeartbeatResponse())
    while bench.step() <= bench.clock.time:
        pass
    assert bench.transport.reading == {7: True}
    assert len(bench.beats()) == 60


def test_many_requests_of_one_peer_leave_room_for_the_others() -> None:
    bench = Bench()
    bench.accept(7)
    bench.accept(8)
    beat = HeartbeatRequest(group_id="g")
    flood = b"".join(bytes(part) for part in encode_request(ApiKey.HEARTBEAT, 4, 1, "c", beat)) * 500
    bench.step(Received(7, flood))
    served = len(bench.beats(7))
    assert 0 < served < 100
    bench.beat(8)
    assert bench.beats(8) == [(1, 0)]
    while bench.step() <= bench.clock.time:
        pass
    assert served < 500
    assert served + len(bench.beats(7)) == 500


# ---- quotas ----


def quota(rate: float, key: str = "producer_byte_rate") -> MetadataImage:
    return MetadataImage("c", quotas={(("client-id", "client"),): {key: rate}})


def test_a_producer_over_its_quota_is_answered_at_once_and_then_not_heard_for_a_while() -> None:
    bench = Bench()
    bench.node.take_image(quota(1000))
    bench.accept()
    big = ProduceRequest(
        acks=1, topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(records=b"x" * 4000)])]
    )
    bench.send(7, ApiKey.PRODUCE, big, 9)
    ((_, answer),) = bench.answers(7, ApiKey.PRODUCE, 9)
    assert 2500 <= answer.throttle_time_ms <= 3500
    bench.beat(number=2)
    assert bench.transport.reading == {7: False}
    bench.later(answer.throttle_time_ms / 1000 - 0.1)
    assert bench.beats() == []
    bench.later(0.2)
    assert bench.beats() == [(2, 0)]
    assert bench.transport.reading == {7: True}


def test_a_consumer_over_its_quota_is_throttled_by_what_it_got() -> None:
    bench = Bench()
    bench.node.take_image(quota(1000, "consumer_byte_rate"))
    bench.accept()
    bench.room.records = b"x" * 500
    throttles = []
    for number in range(4):
        bench.send(7, ApiKey.FETCH, FetchRequest(), 11, number)
        throttles += [answer.throttle_time_ms for _, answer in bench.answers(7, ApiKey.FETCH, 11)]
    assert throttles == [0, 0, 500]


# ---- SASL ----


def sasl_bench(**config: object) -> Bench:
    sasl = SaslServers(mechanisms=("PLAIN",), plain_users={"alice": Secret("wonder")})
    return Bench(listener=ListenerSpec("SASL_PLAINTEXT"), sasl=sasl, **config)


def log_in(bench: Bench, message: bytes = b"\0alice\0wonder", connection_id: int = 7) -> Any:
    bench.send(connection_id, ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("PLAIN"))
    bench.answers(connection_id, ApiKey.SASL_HANDSHAKE)
    bench.send(connection_id, ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(message))
    ((_, answer),) = bench.answers(connection_id, ApiKey.SASL_AUTHENTICATE)
    return answer


def test_a_client_that_logs_in_is_known_by_its_name() -> None:
    bench = sasl_bench()
    bench.accept()
    assert log_in(bench).error_code == 0
    bench.beat()
    assert bench.beats() == [(1, 0)]
    assert str(bench.room.contexts[0].principal) == "User:alice"


def test_before_logging_in_nothing_else_is_served() -> None:
    bench = sasl_bench()
    bench.accept()
    assert asked_versions(bench, 4).error_code == 0
    bench.beat()
    assert bench.room.contexts == []
    assert 7 in bench.transport.closed


@pytest.mark.parametrize("message", [b"\0alice\0wrong", b"\0bob\0wonder", b"bob\0alice\0wonder", b"nonsense", b""])
def test_a_failed_login_is_answered_and_closed(message: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bench = sasl_bench()
    bench.accept()
    answer = log_in(bench, message)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert bench.transport.closed == {7: True}
    assert "wonder" not in caplog.text
    assert "wrong" not in caplog.text.replace("wrong password", "")


def test_an_unknown_mechanism_is_told_which_there_are() -> None:
    bench = sasl_bench()
    bench.accept()
    bench.send(7, ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("GSSAPI"))
    ((_, answer),) = bench.answers(7, ApiKey.SASL_HANDSHAKE)
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["PLAIN"])


def test_sasl_on_a_listener_without_it_is_an_illegal_state() -> None:
    bench = Bench()
    bench.accept()
    bench.send(7, ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("PLAIN"))
    ((_, answer),) = bench.answers(7, ApiKey.SASL_HANDSHAKE)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_before_logging_in_large_frames_are_refused_and_afterwards_not() -> None:
    bench = sasl_bench()
    bench.accept(7)
    bench.step(Received(7, struct.pack(">i", 600 * 1024)))
    assert 7 in bench.transport.closed
    bench.accept(8)
    log_in(bench, connection_id=8)
    bench.step(Received(8, struct.pack(">i", 600 * 1024)))
    assert 8 not in bench.transport.closed


def test_a_session_ends_unless_it_is_renewed_by_the_same_user() -> None:
    bench = sasl_bench(connections_max_reauth_ms=60_000)
    bench.node.sasl = SaslServers(
        mechanisms=("PLAIN",), plain_users={"alice": Secret("wonder"), "bob": Secret("builder")}
    )
    bench.accept(7)
    bench.accept(8)
    bench.accept(9)
    for connection_id in (7, 8, 9):
        assert log_in(bench, connection_id=connection_id).session_lifetime_ms == 60_000
    bench.later(50)
    assert log_in(bench, connection_id=8).error_code == 0
    assert log_in(bench, b"\0bob\0builder", connection_id=9).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    bench.later(20)
    bench.beat(7)
    bench.beat(8)
    assert 7 in bench.transport.closed
    assert bench.beats(8) == [(1, 0)]


# ---- faults on the way ----


@pytest.mark.parametrize("pending", [False, True])
def test_a_delayed_answer_comes_late_and_holds_up_the_next(pending: bool) -> None:
    bench = Bench()
    bench.accept()
    slow: Completion[HeartbeatResponse] = Completion()
    bench.room.answers = [slow] if pending else []
    rule = bench.faults.delay("Heartbeat", 2.0, count=1)
    bench.beat(number=1)
    bench.beat(number=2)
    if pending:
        slow.succeed(HeartbeatResponse())
    bench.later(1.9)
    assert bench.beats() == []
    bench.later(0.2)
    assert bench.beats() == [(1, 0), (2, 0)]
    assert rule.hits == 1


def test_an_injected_error_does_nothing_and_says_the_error() -> None:
    bench = Bench()
    bench.accept()
    bench.faults.error("Heartbeat", ErrorCode.REBALANCE_IN_PROGRESS, group="g", count=1)
    bench.beat(number=1)
    bench.beat(number=2)
    assert bench.beats() == [(1, ErrorCode.REBALANCE_IN_PROGRESS), (2, 0)]
    assert len(bench.room.contexts) == 1


@pytest.mark.parametrize(("after", "done"), [(False, 0), (True, 1)])
def test_a_dropped_connection_before_or_after_the_work(after: bool, done: int) -> None:
    bench = Bench()
    bench.accept()
    bench.faults.drop("Heartbeat", after=after)
    bench.beat()
    assert bench.transport.closed == {7: False}
    assert bench.transport.written == {}
    assert len(bench.room.contexts) == done


def test_a_stalled_request_is_never_answered_and_the_connection_stays() -> None:
    bench = Bench()
    bench.accept()
    bench.faults.stall("Heartbeat", count=1)
    bench.beat(number=1)
    bench.beat(number=2)
    bench.later(500)
    assert bench.beats() == []
    assert bench.transport.closed == {}
    assert bench.room.contexts == []


def test_a_truncated_answer_ends_in_the_middle() -> None:
    bench = Bench()
    bench.accept()
    bench.faults.truncate("Heartbeat")
    bench.beat()
    data = bench.transport.written[7]
    (size,) = struct.unpack(">i", data[:4])
    assert 4 < len(data) < 4 + size
    assert bench.transport.closed == {7: True}


def test_a_corrupt_answer_is_whole_and_wrong() -> None:
    bench = Bench()
    bench.accept()
    bench.beat()
    right = bench.transport.written.pop(7)
    bench.faults.corrupt("Heartbeat")
    bench.beat()
    wrong = bench.transport.written[7]
    assert len(wrong) == len(right)
    assert wrong[:8] == right[:8]
    assert wrong != right


# ---- time ----


def test_other_threads_reach_the_node_by_post() -> None:
    bench = Bench()
    done: list[Callable[[], None] | int] = []
    bench.node.post(lambda: done.append(1))
    assert (done, bench.transport.wakes) == ([], 1)
    bench.step()
    assert done == [1]


def test_an_idle_node_sleeps() -> None:
    bench = Bench()
    assert bench.step() == float("inf")
    bench.node.wheel.add(5.0, lambda now: None)
    assert 1.0 < bench.step() - bench.clock.time < 5.2


def test_an_adjustable_clock_runs_jumps_or_stands() -> None:
    base = FakeClock()
    running, frozen = AdjustableClock(base), AdjustableClock(base, frozen=True)
    woken: list[int] = []
    running.on_advance(lambda: woken.append(1))
    base.time += 1
    assert (running.now(), frozen.now()) == (1001.0, 1000.0)
    running.advance(10)
    frozen.advance(10)
    assert (running.now(), frozen.now(), woken) == (1011.0, 1010.0, [1])
    assert frozen.wall_ms() == 1_010_000
    assert running.sleep_s(1014.0) == 3.0
    assert frozen.sleep_s(1014.0) is None
    assert frozen.sleep_s(1000.0) == 0.0


# ---- listeners ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLAINTEXT", ("PLAINTEXT", "127.0.0.1", 0)),
        ("sasl_plaintext://:9092", ("SASL_PLAINTEXT", "127.0.0.1", 9092)),
        ("PLAINTEXT://localhost:1", ("PLAINTEXT", "localhost", 1)),
        ("SSL://[::1]:7", ("SSL", "::1", 7)),
    ],
)
def test_listeners_are_parsed(text: str, expected: tuple[str, str, int]) -> None:
    spec = parse_listener(text)
    assert (spec.protocol, spec.host, spec.port) == expected


@pytest.mark.parametrize("text", ["HTTP://x:1", "PLAINTEXT://x:99999", "PLAINTEXT://x:port"])
def test_listeners_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_listener(text)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_an_open_listener_on_the_network_must_be_asked_for(host: str) -> None:
    spec = ListenerSpec(host=host)
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        check_listeners([spec])
    check_listeners([spec], allow_open_network=True)
    check_listeners([ListenerSpec("SASL_PLAINTEXT", host=host)])


def test_loopback_listeners_are_fine_and_tls_needs_a_certificate() -> None:
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        check_listeners([ListenerSpec(host=host)])
    with pytest.raises(ConfigError, match="needs a certificate"):
        check_listeners([ListenerSpec("SSL")])
    with pytest.raises(ConfigError, match="same name"):
        check_listeners([ListenerSpec(), ListenerSpec()])


# ---- documentation ----


def test_the_tables_of_the_documentation_are_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "embedded-broker.md"
    text = page.read_text(encoding="utf-8")
    assert text == refreshed(text), "run: python -m pykclient.broker.describe docs/embedded-broker.md"
    assert "| 0 | Produce | 3-13 |" in text
