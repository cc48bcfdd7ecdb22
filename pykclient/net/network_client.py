"""Requests to nodes: which connection, when, in which version, and what happens when it breaks.

Owns the node list and one link per (node, channel): connect back-off, in-flight limits, time-outs, throttling, idle
close. Runs on the reactor thread over a Transport; time is an argument and randomness is passed in. It must never
retry a request that may have reached a broker: that is the caller's decision, who knows whether twice is once too
often.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from pykclient.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, NoBrokersAvailable, ProtocolError
from pykclient.net.client_request import ApiVersions, Channel, Request
from pykclient.net.connection import ClientConnection, Offload, Ready, Response
from pykclient.net.failures import ConnectionLost, ConnectTimedOut, PeerIsTls, RejectedByPeer, RequestExpired
from pykclient.net.link import Link, LinkState, NetworkSettings, Random
from pykclient.net.transport import Closed, Connected, Endpoint, Event, Offloaded, Received, ReceivedInto, Transport

logger = logging.getLogger(__name__)

# Idle connections are looked for this often at most; closing one some seconds late harms nobody.
IDLE_CHECK_S = 5.0


class NetworkClient:
    """Sends requests to brokers. See ``Request`` for what callers promise and get."""

    def __init__(self, transport: Transport, settings: NetworkSettings, *, rng: Random) -> None:
        self.settings = settings
        self.finished_count = 0
        """Requests completed, well or badly; the engine polls the managers again when it moves."""
        self.now = 0.0
        """The time of the step under way, for callbacks of completed requests."""
        self.connects_total = 0
        """Connections begun."""
        self.bytes_received_total = 0
        self.bytes_sent_total = 0
        self._transport = transport
        self._rng = rng
        self._nodes: dict[int, Endpoint] = {}
        self._links: dict[tuple[int, Channel], Link] = {}
        self._by_connection: dict[int, Link] = {}
        self._by_work: dict[int, Link] = {}
        # Links with something to do; an idle cluster of a thousand brokers costs a step nothing.
        self._active: dict[Link, None] = {}
        self._unrouted: deque[Request[Any]] = deque()
        self._idle_check_at = math.inf
        self._closed_by: BaseException | None = None
        self.on_failure: Callable[[], None] = lambda: None
        """Called when a connection failed or could not be made, or when a broker is not known: it may live elsewhere
        now."""

    # ---- nodes ----

    @property
    def nodes(self) -> Mapping[int, Endpoint]:
        """The nodes requests may go to."""
        return self._nodes

    def set_nodes(self, nodes: Mapping[int, Endpoint]) -> None:
        """Replace the node list. A node that moved is disconnected; one that left may finish what it has in flight.

        A connection to an address that is now known under another id (a bootstrap server turning out to be broker 3)
        is kept for it.
        """
        before, self._nodes = self._nodes, dict(nodes)
        self._adopt()
        for link in list(self._links.values()):
            node_id = link.node_id
            if self._nodes.get(node_id) == before.get(node_id, link.endpoint):
                continue
            if node_id in self._nodes or not link.in_flight_count:
                self._break(link, ConnectionLost("the broker moved or left the cluster", **_where(link)))
                del self._links[node_id, link.channel]
                self._active.pop(link, None)
            for request in link.take_queue():
                if request.node_id is None or request.node_id in self._nodes:
                    self._requeue(request)
                else:
                    self._fail(request, ConnectionLost("the broker left the cluster", **_where(link)))

    def _adopt(self) -> None:
        owners = {endpoint: node_id for node_id, endpoint in self._nodes.items()}
        for link in list(self._links.values()):
            owner = owners.get(link.endpoint)
            if link.node_id in self._nodes or owner is None or (owner, link.channel) in self._links:
                continue
            del self._links[link.node_id, link.channel]
            link.node_id = owner
            self._links[owner, link.channel] = link

    def _requeue(self, request: Request[Any]) -> None:
        if request.node_id is None:
            self._unrouted.append(request)
        else:
            self._enqueue(self._link(request.node_id, request.channel), request)

    def ready(self, node_id: int, now: float, channel: Channel = Channel.MAIN) -> bool:
        """True when a request would be sent at once. When not connected, starts to connect unless it backs off."""
        if node_id not in self._nodes:
            return False
        link = self._link(node_id, channel)
        if link.state is LinkState.IDLE and now >= link.retry_at:
            self._connect(link, now)
        return link.can_send(now)

    def connected(self, node_id: int, channel: Channel = Channel.MAIN) -> bool:
        """True when the connection is up and negotiated."""
        link = self._links.get((node_id, channel))
        return link is not None and link.state is LinkState.READY

    def available_at(self, node_id: int, now: float, channel: Channel = Channel.MAIN) -> float:
        """When it makes sense to look at this node again: end of back-off or throttling, ``now`` when neither holds."""
        link = self._links.get((node_id, channel))
        return now if link is None else max(now, link.throttled_until, link.retry_at)

    def connection_error(self, node_id: int, channel: Channel = Channel.MAIN) -> Exception | None:
        """Why the last attempt to use this node failed; None after a success."""
        link = self._links.get((node_id, channel))
        return None if link is None else link.error

    @property
    def connection_count(self) -> int:
        """Connections that stand or are being made. Any thread."""
        return len(self._by_connection)

    def in_flight_count(self, node_id: int | None = None) -> int:
        """Requests awaiting an answer from this node (or from all), on all channels."""
        return sum(len(link.in_flight()) for link in self._links.values() if node_id in (None, link.node_id))

    def silent_since(self, node_id: int, channel: Channel = Channel.MAIN) -> float | None:
        """Since when a node owes us an answer without sending a single byte; None when it owes nothing."""
        link = self._links.get((node_id, channel))
        return None if link is None else link.silent_since()

    def versions(self, node_id: int, channel: Channel = Channel.MAIN) -> ApiVersions | None:
        """What the node speaks, None while it is not connected."""
        link = self._links.get((node_id, channel))
        return None if link is None or link.protocol is None else link.protocol.versions

    def any_versions(self) -> ApiVersions | None:
        """The versions of some connected node, for decisions that concern the cluster."""
        for link in self._links.values():
            if link.state is LinkState.READY and link.protocol is not None:
                return link.protocol.versions
        return None

    def least_loaded_node(self, now: float, *, without: frozenset[int] | set[int] = frozenset()) -> int | None:
        """The node that would answer soonest: connected and idle first, then connecting, then one to connect to; None
        when all back off."""
        best: tuple[int, int] | None = None
        best_node: int | None = None
        nodes = [node_id for node_id in self._nodes if node_id not in without]
        start = int(self._rng.random() * len(nodes)) if nodes else 0
        for node_id in nodes[start:] + nodes[:start]:
            link = self._links.get((node_id, Channel.MAIN))
            rank = (2, 0) if link is None else link.rank(now)
            if rank is not None and (best is None or rank < best):
                best, best_node = rank, node_id
        return best_node

    def disconnect(self, node_id: int, reason: str, channel: Channel | None = None) -> None:
        """Close now; what was in flight fails with a retriable KafkaConnectionError. The next use connects again."""
        for link in [
            link for link in self._links.values() if link.node_id == node_id and channel in (None, link.channel)
        ]:
            self._break(link, ConnectionLost(reason, **_where(link)))

    # ---- requests ----

    def send(self, request: Request[Any], now: float) -> None:
        """Take a request over; it is sent when a connection is up and has room. Its completion always completes,
        unless withdrawn."""
        if self._closed_by is not None:
            request.completion.fail(self._closed_by)
            return
        timeout_s = self.settings.request_timeout_s if request.timeout_s is None else request.timeout_s
        request.deadline = now + timeout_s
        request.completion.on_withdraw = lambda: self.cancel(request)
        if request.node_id is not None and request.node_id not in self._nodes:
            self.on_failure()  # others name it, so it may have come since we last asked who there is
            self._fail(request, KafkaConnectionError(f"node {request.node_id} is not known in this cluster"))
        else:
            self._requeue(request)

    def cancel(self, request: Request[Any]) -> None:
        """Withdraw it: unsent, it never leaves; in flight, its answer is thrown away. The completion stays pending."""
        request.withdrawn = True
        if request.sent_at is None:
            link = self._links.get((request.routed_to, request.channel)) if request.routed_to is not None else None
            with contextlib.suppress(ValueError):
                (self._unrouted if link is None else link.queue).remove(request)

    def handle(self, events: Sequence[Event], now: float) -> bool:
        """Take what the transport reports. Callbacks of completed requests run in here. False when all of it was parts
        of answers to come, which nobody needs to act on."""
        self.now = now
        news = False
        for event in events:
            if isinstance(event, Offloaded):
                news = True
                link = self._by_work.pop(event.work_id, None)
                if link is not None and link.protocol is not None and link.work_id == event.work_id:
                    link.work_id = None
                    self._feed(link, link.protocol.offload_done(event.value, event.error, now), now)
                continue
            link = self._by_connection.get(event.connection_id)
            if link is None:
                continue
            if isinstance(event, Received):
                link.last_received_at = now
                self.bytes_received_total += len(event.data)
                assert link.protocol is not None, "a link with a connection has a protocol"
                if link.room_offered:
                    # Read in the same turn as what made us offer it; memory that is offered cannot grow.
                    link.room_offered = False
                    self._transport.read_into(event.connection_id, None)
                news = self._feed(link, link.protocol.receive(event.data, now), now) or news
                self._offer_room(link)
                continue
            if isinstance(event, ReceivedInto):
                link.last_received_at = now
                self.bytes_received_total += event.size
                assert link.protocol is not None, "a link with a connection has a protocol"
                news = self._feed(link, link.protocol.received_into(event.size, now), now) or news
                self._offer_room(link)
                continue
            news = True
            if isinstance(event, Connected):
                self._negotiate(link, now)
            elif isinstance(event, Closed):
                self._closed(link, event, now)
        return news

    def advance(self, now: float) -> None:
        """Let time pass: route, connect, send, expire, close idle connections."""
        self.now = now
        self._route(now)
        for link in list(self._active):
            self._advance_link(link, now)
        if now >= self._idle_check_at:
            self._close_idle(now)

    def wake_at(self, now: float) -> float:
        """When ``advance`` is needed next, if nothing happens before."""
        wake_at = self._idle_check_at
        for link in self._active:
            wake_at = min(wake_at, link.wake_at(now))
        for request in self._unrouted:
            wake_at = min(wake_at, request.deadline)
        if self._unrouted:
            wake_at = min([wake_at, *(link.retry_at for link in self._links.values() if link.retry_at > now)])
        return wake_at

    def close(self, error: BaseException) -> None:
        """Close every connection and fail every request with ``error``."""
        self._closed_by = error
        for link in list(self._links.values()):
            waiting = [*link.in_flight(), *link.take_queue()]
            self._drop_connection(link)
            for request in waiting:
                self._fail(request, error)
        while self._unrouted:
            self._fail(self._unrouted.popleft(), error)
        self._links.clear()
        self._active.clear()

    # ---- inside ----

    def _link(self, node_id: int, channel: Channel) -> Link:
        link = self._links.get((node_id, channel))
        if link is None:
            link = self._links[node_id, channel] = Link(node_id, channel, self._nodes[node_id], self.settings)
        return link

    def _enqueue(self, link: Link, request: Request[Any]) -> None:
        request.routed_to, request.address = link.node_id, link.address
        link.queue.append(request)
        self._active[link] = None

    def _route(self, now: float) -> None:
        for _ in range(len(self._unrouted)):
            request = self._unrouted.popleft()
            if request.withdrawn:
                continue
            if now >= request.deadline:
                self._fail(request, self._expired_unsent(request, None))
                continue
            node_id = self.least_loaded_node(now, without=request.tried or frozenset())
            if node_id is None:
                self._unrouted.append(request)
            else:
                self._enqueue(self._link(node_id, request.channel), request)

    def _advance_link(self, link: Link, now: float) -> None:
        if link.state in (LinkState.CONNECTING, LinkState.NEGOTIATING) and now >= link.setup_deadline:
            error = ConnectTimedOut(f"no answer within {link.setup_timeout_s:.1f} s", **_where(link))
            self._break(link, error, now, backs_off=True)
        if link.overdue(now):
            self._expire_in_flight(link, now)
        for request in link.expire_queue(now):
            self._fail(request, self._expired_unsent(request, link))
        if link.state is LinkState.IDLE and link.queue and now >= link.retry_at:
            self._connect(link, now)
        if link.state is LinkState.READY:
            self._send_queued(link, now)
        if link.at_rest():
            self._active.pop(link, None)
            if link.node_id not in self._nodes:
                self._drop_connection(link)
                self._links.pop((link.node_id, link.channel), None)

    def _connect(self, link: Link, now: float) -> None:
        link.connecting(now, self._rng)
        self.connects_total += 1
        security = self.settings.security
        link.connection_id = self._transport.connect(link.endpoint, tls=security.tls, server_name=security.server_name)
        self._by_connection[link.connection_id] = link
        self._active[link] = None

    def _negotiate(self, link: Link, now: float) -> None:
        link.to(LinkState.NEGOTIATING)
        link.protocol = ClientConnection(self.settings.connection_settings(), endpoint=link.endpoint, rng=self._rng)
        link.protocol.start(now)
        self._flush(link)

    def _feed(self, link: Link, events: Iterator[Response | Ready | Offload], now: float) -> bool:
        """Act on what the protocol says, until it is done or finds the bytes senseless. False when it says nothing."""
        connection_id = link.connection_id
        news = False
        try:
            for event in events:
                news = True
                if isinstance(event, Response):
                    self._finish(link, event, now)
                elif isinstance(event, Ready):
                    if link.state is LinkState.NEGOTIATING:
                        link.to(LinkState.READY)
                        link.last_used_at = now
                        self._idle_check_at = min(self._idle_check_at, now + IDLE_CHECK_S)
                        self._active[link] = None
                else:
                    link.work_id = self._transport.offload(event.work)
                    self._by_work[link.work_id] = link
                if link.connection_id != connection_id:
                    return True  # A callback disconnected us; the rest of the bytes belong to nobody.
        except KafkaError as error:
            self._break(link, error, now, backs_off=True)
            return True
        return self._flush(link) or news

    def _offer_room(self, link: Link) -> None:
        """Let the rest of a large answer be received where it belongs instead of being copied there."""
        if link.protocol is None or link.connection_id is None:
            return
        room = link.protocol.room()
        if room is not None or link.room_offered:
            link.room_offered = room is not None
            self._transport.read_into(link.connection_id, room)

    def _finish(self, link: Link, response: Response, now: float) -> None:
        request: Request[Any] = response.token
        link.succeeded(now)
        throttle_ms = getattr(response.message, "throttle_time_ms", 0)
        if throttle_ms > 0:
            # KIP-219: the broker answered at once and counts on us to stay silent; every broker of our versions works
            # so.
            link.throttled_until = max(link.throttled_until, now + throttle_ms / 1000)
        self.finished_count += 1
        if not request.withdrawn:
            request.completion.succeed(response.message)

    def _send_queued(self, link: Link, now: float) -> None:
        protocol = link.protocol
        assert protocol is not None, "a ready link has a protocol"
        protocol.advance(now)
        while link.queue and link.can_send(now):
            request = link.queue.popleft()
            if request.withdrawn:
                continue
            try:
                request.version = protocol.versions.pick(request.api_key, request.version_min, request.version_max)
                message = request.message if request.build is None else request.build(request.version)
                protocol.send(
                    request, request.api_key, request.version, message, expects_response=request.expects_response
                )
            except KafkaError as error:
                # The message and this broker's version do not fit: that is between the two, the connection is fine.
                self._fail(request, error)
                continue
            request.sent_at, request.sent_to = now, link.node_id
            link.last_used_at = now
            if request.on_sent is not None:
                request.on_sent(now)
            if not request.expects_response:
                self.finished_count += 1
                request.completion.succeed(None)
        self._flush(link)

    def _flush(self, link: Link) -> bool:
        if link.protocol is None or link.connection_id is None:
            return False
        output = link.protocol.take_output()
        if output:
            self.bytes_sent_total += sum(map(len, output))
            self._transport.write(link.connection_id, output)
        return bool(output)

    def _closed(self, link: Link, event: Closed, now: float) -> None:
        error = event.error
        host, port = link.endpoint.host, link.endpoint.port
        if link.state is LinkState.NEGOTIATING and (error is None or isinstance(error, ConnectionLost)):
            # Every Kafka listener answers a question for its versions, but for one that waits for a TLS hello.
            kind = PeerIsTls if self.settings.security.tls is None else RejectedByPeer
            hint = "it may want TLS; check security_protocol" if kind is PeerIsTls else "check security_protocol"
            error = kind(f"the broker hung up before it said what it speaks; {hint}", host=host, port=port)
        elif self._rejects_first_request(link):
            error = RejectedByPeer(host=host, port=port)
        elif error is None:
            error = ConnectionLost("the broker closed the connection", host=host, port=port)
        elif not isinstance(error, KafkaError):
            cause, error = error, ConnectionLost(str(error), host=host, port=port)
            error.__cause__ = cause
        self._break(link, error, now, backs_off=True)

    def _rejects_first_request(self, link: Link) -> bool:
        """A SASL listener lets everybody ask for versions and hangs up on the first real request of a stranger."""
        return bool(link.in_flight()) and not link.answered and self.settings.security.sasl is None

    def _expire_in_flight(self, link: Link, now: float) -> None:
        """Answers come in order, so one that is overdue blocks all behind it: the connection is of no more use."""
        host, port = link.endpoint.host, link.endpoint.port
        for request in link.in_flight():
            if now >= request.deadline and not request.withdrawn:
                request.withdrawn = True
                error = RequestExpired(f"no answer to {request!r} within its time", host=host, port=port)
                self.finished_count += 1
                request.completion.fail(error)
        self._break(link, ConnectionLost("closed, as an answer is overdue", host=host, port=port), now, backs_off=True)

    def _break(self, link: Link, error: Exception, now: float | None = None, *, backs_off: bool = False) -> None:
        """The connection is over. In-flight requests fail; unsent ones go elsewhere when they may, and fail when they
        cannot."""
        was_connected = link.state is LinkState.READY
        if link.state is not LinkState.IDLE:
            # A broker that is away is told once, not with every attempt to reach it.
            level = logging.INFO if was_connected else logging.WARNING if link.error is None else logging.DEBUG
            logger.log(
                level,
                "%s: connection to node %s at %s ended: %s",
                self.settings.client_id,
                link.node_id,
                link.endpoint,
                error,
            )
        in_flight = link.in_flight()
        self._drop_connection(link)
        if backs_off and now is not None:
            link.failed(error, now, self._rng, senseless=isinstance(error, ProtocolError))
            self.on_failure()
        cause = error
        for request in in_flight:
            self._fail(request, cause)
            if isinstance(cause, ProtocolError) and not isinstance(cause, KafkaConnectionError):
                # The bytes that made no sense answered the first; those behind it merely lost their connection.
                cause = ConnectionLost(f"closed, as an answer made no sense: {error}", **_where(link))
        if was_connected and not getattr(error, "fatal", False):
            return  # Unsent requests wait for the reconnect; they were not part of what broke.
        for request in link.take_queue():
            self._reroute(request, link, error)

    def _reroute(self, request: Request[Any], link: Link, error: Exception) -> None:
        if request.node_id is not None or getattr(error, "fatal", False):
            self._fail(request, error)
            return
        request.tried = (request.tried or set()) | {link.node_id}
        if any(node_id not in request.tried for node_id in self._nodes):
            self._unrouted.append(request)
        elif len(request.tried) == 1:
            self._fail(request, error)
        else:
            errors = [str(self.connection_error(node_id) or "") for node_id in sorted(request.tried)]
            none_left = NoBrokersAvailable("no broker could be reached: " + "; ".join(filter(None, errors)))
            none_left.__cause__ = error
            self._fail(request, none_left)

    def _drop_connection(self, link: Link) -> None:
        if link.connection_id is not None:
            self._by_connection.pop(link.connection_id, None)
            self._transport.close(link.connection_id)
        if link.work_id is not None:
            self._by_work.pop(link.work_id, None)
        link.reset()

    def _close_idle(self, now: float) -> None:
        self._idle_check_at = math.inf
        for link in self._links.values():
            if link.state is not LinkState.READY:
                continue
            self._idle_check_at = now + IDLE_CHECK_S
            if not link.queue and not link.in_flight_count and now - link.last_used_at >= self.settings.idle_s_max:
                logger.debug("%s: closing the idle connection to node %s", self.settings.client_id, link.node_id)
                self._drop_connection(link)
                self._active.pop(link, None)

    def _fail(self, request: Request[Any], error: BaseException) -> None:
        self.finished_count += 1
        if not request.withdrawn and not request.completion.done:
            request.completion.fail(error)

    def _expired_unsent(self, request: Request[Any], link: Link | None) -> KafkaTimeoutError:
        error = KafkaTimeoutError(f"{request!r} was not sent in its time; no connection was free or up")
        causes = [link] if link is not None else list(self._links.values())
        error.__cause__ = next((each.error for each in causes if each.error is not None), None)
        return error


class _Where(TypedDict):
    host: str
    port: int


def _where(link: Link) -> _Where:
    return {"host": link.endpoint.host, "port": link.endpoint.port}


__all__ = ["ApiVersions", "Channel", "NetworkClient", "NetworkSettings", "Request"]
