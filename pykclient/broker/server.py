"""A broker node's front: connections, requests to the rooms that own the state, answers back in order.

One thread runs a node: it polls the transport, hands the events to ``step(now, events)`` and sleeps until
``wake_at``. Other threads reach it through ``post`` only. Nothing a client sends may raise out of here or harm
another connection: bytes that make no sense close that connection with one log line.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from pykclient.broker.api_versions import ServedVersions
from pykclient.broker.authentication import Authentication, sasl_message
from pykclient.broker.authorizer import Authorizer
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.error_replies import error_response, merge, split_by_topic
from pykclient.broker.faults import FaultKind, FaultRule, Faults
from pykclient.broker.image import MetadataImage
from pykclient.broker.listeners import ListenerSpec
from pykclient.broker.node_view import BROKER_PRINCIPAL, Link
from pykclient.broker.quotas import CONSUME, PRODUCE, Quotas
from pykclient.broker.request import Handler, RequestContext
from pykclient.broker.timing_wheel import TimingWheel, WheelTimers
from pykclient.errors import BrokerError, ErrorCode, KafkaError, ProtocolError, UsageError
from pykclient.net.completion import Completion
from pykclient.net.sasl import Entropy, SaslServers
from pykclient.net.server_connection import ServerConnection, ServerRequest
from pykclient.net.transport import Accepted, Buffer, Clock, Closed, Endpoint, Event, Received, Transport
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.protocol.primitives import DECODE_ERRORS

logger = logging.getLogger(__name__)

# An answer that the peer does not read holds back the next request; beyond this much no further one is taken.
UNSENT_BYTES_MAX = 4 * 1024 * 1024
CLOG_CHECK_S = 0.02
# A peer that has sent many requests at once must not keep the others waiting for all of them.
REQUESTS_PER_TURN = 16
IDLE_CHECK_S = 30.0
SASL_KEYS = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
SERVER_KEYS = frozenset({ApiKey.API_VERSIONS, *SASL_KEYS})


class Room(Protocol):
    """Owns some state of the broker and the requests about it."""

    @property
    def HANDLERS(self) -> Mapping[ApiKey, str]:
        """Which method answers which API."""
        ...


class Peer:
    """One accepted connection."""

    __slots__ = (
        "authentication",
        "connection",
        "connection_id",
        "endpoint",
        "gone",
        "last_active",
        "listener",
        "muted_until",
        "reading",
    )

    def __init__(
        self,
        connection_id: int,
        endpoint: Endpoint,
        listener: ListenerSpec,
        connection: ServerConnection,
        authentication: Authentication,
        now: float,
    ) -> None:
        self.connection_id = connection_id
        self.endpoint = endpoint
        self.listener = listener
        self.connection = connection
        self.authentication = authentication
        self.last_active = now
        self.muted_until = 0.0
        self.reading = True
        self.gone = False


class BrokerNode:
    """See the module. Made and closed by a cluster; ``rooms`` are given once, before the first request."""

    def __init__(
        self,
        *,
        node_id: int,
        config: BrokerConfig,
        transport: Transport,
        clock: Clock,
        entropy: Entropy,
        faults: Faults,
        max_versions: Mapping[object, int | None] | None = None,
    ) -> None:
        self.node_id = node_id
        self.config = config
        self.image = MetadataImage(cluster_id="")
        self.authorizer = Authorizer(
            enabled=config.flag("authorizer.enable"),
            super_users=[str(BROKER_PRINCIPAL), *(user.strip() for user in config.text("super.users").split(";"))],
            allow_when_no_acl_found=config.flag("allow.everyone.if.no.acl.found"),
        )
        self.controller: Link
        self.sasl: SaslServers | None = None
        self.on_connection_closed: Callable[[int], None] | None = None
        """Told of every connection that is gone, so that nothing waits for a client that left."""
        self.transport = transport
        self.clock = clock
        self.wheel = TimingWheel(clock.now())
        self.timers = WheelTimers(self.wheel)
        self.endpoints: dict[str, Endpoint] = {}
        self.served = ServedVersions(SERVER_KEYS, max_versions)
        self._entropy = entropy
        self._faults = faults
        self._max_versions = max_versions
        self._quotas = Quotas()
        self._handlers: dict[int, Handler] = {}
        self._listeners: dict[int, ListenerSpec] = {}
        self._peers: dict[int, Peer] = {}
        self._peers_per_host: Counter[str] = Counter()
        self._mailbox: deque[Callable[[], None]] = deque()
        self._ready: deque[Peer] = deque()
        self._clogged: set[int] = set()
        self._idle_check_at = clock.now() + IDLE_CHECK_S

    # ---- life ----

    def install(self, rooms: Iterable[Room]) -> None:
        """Merge the rooms' handler tables; two rooms that claim one API are our bug."""
        for room in rooms:
            for key, name in room.HANDLERS.items():
                if key in self._handlers or key in SERVER_KEYS:
                    raise UsageError(f"two rooms answer {ApiKey(key).name}")
                self._handlers[key] = getattr(room, name) if isinstance(name, str) else name
        self.served = ServedVersions([*map(ApiKey, self._handlers), *SERVER_KEYS], self._max_versions)

    def listen(self, listeners: Sequence[ListenerSpec]) -> dict[str, Endpoint]:
        """Bind; the advertised address of each listener by its name."""
        for spec in listeners:
            bound = self.transport.listen(Endpoint(spec.host, spec.port), tls=spec.tls)
            self._listeners[bound.listener_id] = spec
            self.endpoints[spec.listener_name] = spec.advertised(bound.endpoint)
        addresses = ",".join(f"{name}://{endpoint}" for name, endpoint in self.endpoints.items())
        self.config.static.update({"listeners": addresses, "advertised.listeners": addresses})
        return self.endpoints

    def post(self, message: Callable[[], None]) -> None:
        """Run something on the node's thread, soon. The one door for other threads."""
        self._mailbox.append(message)
        self.transport.wake()

    def take_image(self, image: MetadataImage) -> None:
        """Work with this metadata from now on."""
        self.image = image
        self.authorizer.set_bindings(image.acls)
        self._quotas.set_quotas(image.quotas)

    @property
    def connection_count(self) -> int:
        """Accepted connections that are open."""
        return len(self._peers)

    def close_connections(self) -> None:
        """Close every connection and listener."""
        for listener_id in self._listeners:
            self.transport.unlisten(listener_id)
        for peer in list(self._peers.values()):
            self._forget(peer)
            self.transport.close(peer.connection_id)

    # ---- the step ----

    def step(self, now: float, events: Sequence[Event]) -> float:
        """Take what happened and do what is due; when to be called again at the latest."""
        for event in events:
            if isinstance(event, Received):
                peer = self._peers.get(event.connection_id)
                if peer is not None:
                    self._receive(peer, event.data)
            elif isinstance(event, Accepted):
                self._accept(event, now)
            elif isinstance(event, Closed):
                gone = self._peers.get(event.connection_id)
                if gone is not None:
                    self._forget(gone)
        self._drain()
        self.wheel.advance(now)
        self._drain()
        if self._clogged:
            self._unclog()
        if now >= self._idle_check_at:
            self._close_idle(now)
        return self._wake_at(now)

    def _drain(self) -> None:
        """One round of what is waiting; what is added meanwhile has its turn after the next look at the sockets."""
        for _ in range(len(self._mailbox)):
            self._mailbox.popleft()()
        for _ in range(len(self._ready)):
            self._pump(self._ready.popleft())

    def _wake_at(self, now: float) -> float:
        if self._mailbox or self._ready:
            return now
        wake_at = self._idle_check_at if self._peers else math.inf
        if self._clogged:
            wake_at = min(wake_at, now + CLOG_CHECK_S)
        expiry = self.wheel.next_expiry()
        return wake_at if expiry is None else min(wake_at, expiry)

    # ---- connections ----

    def _accept(self, event: Accepted, now: float) -> None:
        spec = self._listeners.get(event.listener_id)
        host = event.peer.host
        total_max = self._limit("max.connections")
        host_max = self._limit("max.connections.per.ip")
        if spec is None or len(self._peers) >= total_max or self._peers_per_host[host] >= host_max:
            logger.info("node %d: connection from %s refused: too many", self.node_id, event.peer)
            self.transport.close(event.connection_id)
            return
        connection = ServerConnection(
            bytes_max=self.config.number("socket.request.max.bytes"), authenticated=not spec.sasl
        )
        authentication = Authentication(
            self.sasl if spec.sasl else None,
            peer=event.peer,
            entropy=self._entropy,
            reauthenticate_s=self.config.seconds("connections.max.reauth.ms"),
        )
        self._peers[event.connection_id] = Peer(event.connection_id, event.peer, spec, connection, authentication, now)
        self._peers_per_host[host] += 1

    def _limit(self, name: str) -> int:
        for source in (str(self.node_id), ""):
            value = self.image.broker_configs.get(source, {}).get(name)
            if value is not None:
                return int(value)
        return self.config.number(name)

    def _forget(self, peer: Peer) -> None:
        peer.gone = True
        if self._peers.pop(peer.connection_id, None) is not None:
            self._peers_per_host[peer.endpoint.host] -= 1
            if not self._peers_per_host[peer.endpoint.host]:
                del self._peers_per_host[peer.endpoint.host]
            if self.on_connection_closed is not None:
                self.on_connection_closed(peer.connection_id)
        self._clogged.discard(peer.connection_id)

    def _drop(self, peer: Peer, *, after_sending: bool = False) -> None:
        self._forget(peer)
        self.transport.close(peer.connection_id, after_sending=after_sending)

    def _refuse(self, peer: Peer, error: KafkaError) -> None:
        # repr: what a client sent may be quoted in the reason, and must not be able to forge a log line (R23).
        logger.warning("node %d: closing the connection from %s: %r", self.node_id, peer.endpoint, str(error))
        self._drop(peer)

    def _close_idle(self, now: float) -> None:
        idle_s = self.config.seconds("connections.max.idle.ms")
        self._idle_check_at = now + min(IDLE_CHECK_S, idle_s / 2)
        for peer in list(self._peers.values()):
            if now - peer.last_active >= idle_s and not peer.connection.busy:
                logger.info("node %d: closing the idle connection from %s", self.node_id, peer.endpoint)
                self._drop(peer)

    # ---- requests ----

    def _receive(self, peer: Peer, data: bytes) -> None:
        try:
            peer.connection.receive(data)
        except ProtocolError as error:
            self._refuse(peer, error)
            return
        self._pump(peer)

    def _pump(self, peer: Peer) -> None:
        """Work on the peer's requests until one has to wait, or until others should have their turn."""
        for _ in range(REQUESTS_PER_TURN):
            if peer.gone or peer.muted_until != 0.0:
                break
            if self.transport.unsent_bytes(peer.connection_id) > UNSENT_BYTES_MAX:
                self._clogged.add(peer.connection_id)
                break
            try:
                request = peer.connection.next_request()
                if request is None:
                    break
                self._handle(peer, request)
            except ProtocolError as error:
                self._refuse(peer, error)
                return
        else:
            self._ready.append(peer)
        if not peer.gone:
            reading = not peer.connection.wants_pause and peer.muted_until == 0.0
            if reading != peer.reading:
                peer.reading = reading
                self.transport.set_reading(peer.connection_id, reading)

    def _unclog(self) -> None:
        for connection_id in list(self._clogged):
            if self.transport.unsent_bytes(connection_id) <= UNSENT_BYTES_MAX:
                self._clogged.discard(connection_id)
                peer = self._peers.get(connection_id)
                if peer is not None:
                    self._pump(peer)

    def _handle(self, peer: Peer, request: ServerRequest) -> None:
        now = self.clock.now()
        peer.last_active = now
        key, version = request.api_key, request.version
        if not self.served.serves(key, version):
            if key != ApiKey.API_VERSIONS:
                raise ProtocolError(f"API {key} in version {version} is not served")
            answer = self.served.answer(None, 0, {}, -1)
            self._send(peer, peer.connection.respond(request, answer, version=0))
            return
        message = decode(request)
        if key in SERVER_KEYS:
            self._own_answer(peer, request, message, now)
            return
        if now >= peer.authentication.expires_at:
            raise ProtocolError("the SASL session has ended")
        context = RequestContext(
            api_key=key,
            api_version=version,
            client_id=request.client_id,
            principal=peer.authentication.principal,
            peer=peer.endpoint,
            listener_name=peer.listener.listener_name,
            connection_id=peer.connection_id,
            now=now,
            wall_ms=self.clock.wall_ms(),
        )
        rule = self._faults.hit(self.node_id, context, message, self.image.topic_names)
        if rule is None:
            self._answer_when_done(peer, request, message, self._call(context, message), None)
        else:
            self._apply(rule, peer, request, context, message)

    def _own_answer(self, peer: Peer, request: ServerRequest, message: Any, now: float) -> None:
        if isinstance(message, ApiVersionsRequest):
            # Posing as an older broker, it has no features to speak of.
            features = {} if self.served.poses else self.image.features
            epoch = -1 if self.served.poses else self.image.version
            answer: Any = self.served.answer(message, request.version, features, epoch)
        else:
            answer = sasl_message(peer.authentication, message, now, self.clock.wall_ms())
            if peer.authentication.done and not peer.connection.authenticated:
                peer.connection.authentication_done()
        self._send(peer, peer.connection.respond(request, answer))
        if peer.authentication.failed:
            self._drop(peer, after_sending=True)

    def handle(self, context: RequestContext, message: Any) -> Any:
        """Answer a request that did not come from a connection: another broker's."""
        return self._call(context, message)

    def _call(self, context: RequestContext, message: Any) -> Any:
        """The handler's answer, or a Completion of it; what a handler raises becomes an answer too."""
        try:
            return self._handlers[context.api_key](context, message)
        except ProtocolError:
            raise
        except Exception as error:  # a broken handler must not take the node down with it
            return self._failure(context.api_key, context.api_version, message, error)

    def _failure(self, api_key: int, version: int, message: Any, error: BaseException) -> Any:
        if isinstance(error, BrokerError):
            return error_response(api_key, version, message, error.code)
        logger.error("node %d: %s failed", self.node_id, ApiKey(api_key).name, exc_info=error)
        return error_response(api_key, version, message, ErrorCode.UNKNOWN_SERVER_ERROR)

    def _answer_when_done(
        self, peer: Peer, request: ServerRequest, message: Any, answer: Any, rule: FaultRule | None
    ) -> None:
        if not isinstance(answer, Completion):
            self._answer(peer, request, message, answer, rule)
            return
        if answer.done:
            self._answer(peer, request, message, self._outcome(request, message, answer), rule)
            return

        def finish(done: Completion[Any]) -> None:
            if not peer.gone:
                self._answer(peer, request, message, self._outcome(request, message, done), rule)
                # Not here: this may run deep inside another request, and the next one of this peer could be as deep.
                self._ready.append(peer)

        answer.add_callback(finish)

    def _outcome(self, request: ServerRequest, message: Any, done: Completion[Any]) -> Any:
        if done.error is not None:
            return self._failure(request.api_key, request.version, message, done.error)
        return done.result()

    def _answer(self, peer: Peer, request: ServerRequest, message: Any, answer: Any, rule: FaultRule | None) -> None:
        throttle_s = self._charge(peer, request, message, answer)
        try:
            data = peer.connection.respond(request, answer)
        except UsageError as error:
            # Our own mistake: an answer that this version cannot carry. Only this client may suffer from it.
            logger.error(
                "node %d: %s version %d: %s", self.node_id, ApiKey(request.api_key).name, request.version, error
            )
            self._drop(peer)
            return
        if rule is None:
            self._send(peer, data)
        else:
            self._spoil(rule, peer, data)
        if throttle_s > 0 and not peer.gone and peer.muted_until == 0.0:
            self._mute(peer, throttle_s)

    def _send(self, peer: Peer, data: list[Buffer]) -> None:
        if data:
            self.transport.write(peer.connection_id, data)

    # ---- quotas ----

    def _charge(self, peer: Peer, request: ServerRequest, message: Any, answer: Any) -> float:
        if not self._quotas.active:
            return 0.0
        if request.api_key == ApiKey.PRODUCE:
            kind, size = PRODUCE, len(request.frame)
        elif request.api_key == ApiKey.FETCH and answer is not None:
            kind = CONSUME
            size = sum(len(part.records or b"") for topic in answer.responses for part in topic.partitions)
        else:
            return 0.0
        user = peer.authentication.principal.name
        throttle_s = self._quotas.charge(kind, user, request.client_id or "", size, self.clock.now())
        if throttle_s > 0 and answer is not None:
            answer.throttle_time_ms = math.ceil(throttle_s * 1000)
        return throttle_s

    def _mute(self, peer: Peer, throttle_s: float) -> None:
        peer.muted_until = self.clock.now() + throttle_s

        def unmute(now: float) -> None:
            if not peer.gone:
                peer.muted_until = 0.0
                peer.last_active = now
                self._pump(peer)

        self.wheel.add(throttle_s, unmute)

    # ---- faults ----

    def _apply(
        self, rule: FaultRule, peer: Peer, request: ServerRequest, context: RequestContext, message: Any
    ) -> None:
        if rule.kind is FaultKind.DROP_BEFORE:
            self._drop(peer)
        elif rule.kind is FaultKind.STALL:
            # Left unanswered: the connection takes no further request, as with a broker that hangs.
            logger.debug("node %d: stalling %s", self.node_id, peer.endpoint)
        elif rule.kind is FaultKind.ERROR:
            self._answer_when_done(peer, request, message, self._erroneous(rule, context, message), None)
        else:
            self._answer_when_done(peer, request, message, self._call(context, message), rule)

    def _erroneous(self, rule: FaultRule, context: RequestContext, message: Any) -> Any:
        key, version = context.api_key, context.api_version
        if key == ApiKey.METADATA:
            # Without its brokers the answer would say that the cluster has none.
            return self._spoilt_metadata(rule, self._call(context, message))
        if rule.match.topic is None:
            return error_response(key, version, message, rule.error)
        hit, rest = split_by_topic(key, message, self.image.topic_names, lambda name: name == rule.match.topic)
        if hit is None or rest is None:
            return error_response(key, version, message, rule.error)
        extra = error_response(key, version, hit, rule.error)
        return _mapped(
            self._call(context, rest), lambda answer: merge(key, answer, extra) if answer is not None else None
        )

    def _spoilt_metadata(self, rule: FaultRule, answer: Any) -> Any:
        def spoil(response: Any) -> Any:
            if rule.error == ErrorCode.REBOOTSTRAP_REQUIRED:
                response.error_code = rule.error
            for topic in response.topics:
                if rule.match.topic in (None, topic.name):
                    topic.error_code = rule.error
                    topic.partitions = []
            return response

        return _mapped(answer, spoil)

    def _spoil(self, rule: FaultRule, peer: Peer, data: list[Buffer]) -> None:
        """Send the answer as the rule wants it."""
        if rule.kind is FaultKind.DELAY:
            # The next request waits too, or answers would overtake each other.
            peer.muted_until = math.inf

            def send_late(now: float) -> None:
                if not peer.gone:
                    peer.muted_until = 0.0
                    self._send(peer, data)
                    self._pump(peer)

            self.wheel.add(rule.delay_s, send_late)
        elif rule.kind is FaultKind.DROP_AFTER:
            self._drop(peer)
        elif rule.kind is FaultKind.TRUNCATE:
            whole = b"".join(data)
            self._send(peer, [whole[: max(5, len(whole) // 2)]])
            self._drop(peer, after_sending=True)
        elif rule.kind is FaultKind.CORRUPT:
            # The size stays right, so that what is wrong is the content: every byte behind the correlation id.
            whole = b"".join(data)
            self._send(peer, [whole[:8], bytes(byte ^ 0xA5 for byte in whole[8:])])


def decode(request: ServerRequest) -> Any:
    """The request's message. Bytes behind it are ignored, as Kafka does: librdkafka sends some behind Metadata v13."""
    message_class = api(request.api_key).request_class()
    try:
        message, _ = message_class._read(request.frame, request.position, request.version)
    except DECODE_ERRORS as error:
        raise ProtocolError(
            f"{message_class.__name__} version {request.version} does not fit its {len(request.frame)} bytes: {error}"
        ) from error
    return message


def _mapped(answer: Any, convert: Callable[[Any], Any]) -> Any:
    if not isinstance(answer, Completion):
        return convert(answer)
    result: Completion[Any] = Completion()

    def go_on(done: Completion[Any]) -> None:
        if done.error is not None:
            result.fail(done.error)
        else:
            result.succeed(convert(done.result()))

    answer.add_callback(go_on)
    return result
