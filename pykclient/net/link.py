"""One connection's life as the network client sees it: states, back-off, throttling, the queue in front of it.

Plain state of the reactor thread, changed only by network_client.py. Does no I/O and decides nothing about other links.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pykclient.net.client_request import Channel, Request
from pykclient.net.connection import UNPROVEN_BYTES_MAX, ClientConnection, ConnectionSettings, Random, Security
from pykclient.net.transport import Endpoint

# Each failed attempt multiplies the wait. Four, not Java's two: with the default 50 ms to 1 s a hostile or restarting
# broker then sees at most 10 connects in 8 s instead of 12.
BACKOFF_GROWTH = 4.0
# Only upwards, so that the limit above holds for every seed.
JITTER = 0.2


class LinkState(enum.Enum):
    """Where a link is. TLS and name look-up are part of CONNECTING; ApiVersions and SASL of NEGOTIATING."""

    IDLE = "no connection"
    CONNECTING = "waiting for the transport"
    NEGOTIATING = "versions and authentication"
    READY = "takes requests"


LEGAL = {
    LinkState.IDLE: {LinkState.CONNECTING},
    LinkState.CONNECTING: {LinkState.NEGOTIATING, LinkState.IDLE},
    LinkState.NEGOTIATING: {LinkState.READY, LinkState.IDLE},
    LinkState.READY: {LinkState.IDLE},
}


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """What the network client needs to know, in seconds and bytes; clients fill it from their configuration."""

    client_id: str = "pykclient"
    request_timeout_s: float = 30.0
    reconnect_backoff_s: float = 0.05
    reconnect_backoff_max_s: float = 1.0
    setup_timeout_s: float = 10.0
    """socket.connection.setup.timeout.ms: connect, TLS, versions and authentication together."""
    setup_timeout_max_s: float = 30.0
    idle_s_max: float = 540.0
    in_flight_max: int = 5
    response_bytes_max: int = 100 * 1024 * 1024
    unproven_bytes_max: int = UNPROVEN_BYTES_MAX
    security: Security = field(default_factory=Security)

    def connection_settings(self) -> ConnectionSettings:
        """The part a connection needs."""
        return ConnectionSettings(
            client_id=self.client_id,
            response_bytes_max=self.response_bytes_max,
            unproven_bytes_max=self.unproven_bytes_max,
            security=self.security,
        )


class Link:
    """State of the connection to one node on one channel. ``retry_at`` 0 means: connect whenever needed."""

    def __init__(self, node_id: int, channel: Channel, endpoint: Endpoint, settings: NetworkSettings) -> None:
        self.node_id = node_id
        self.channel = channel
        self.endpoint = endpoint
        self.address = str(endpoint)
        self.state = LinkState.IDLE
        self.queue: deque[Request[Any]] = deque()
        self.protocol: ClientConnection | None = None
        self.connection_id: int | None = None
        self.work_id: int | None = None
        self.answered = False
        self.room_offered = False
        self.error: Exception | None = None
        self.retry_at = 0.0
        self.throttled_until = 0.0
        self.setup_deadline = math.inf
        self.setup_timeout_s = settings.setup_timeout_s
        self.connect_started_at = 0.0
        self.last_used_at = 0.0
        self.last_received_at = 0.0
        self._failures = 0
        self._settings = settings

    def to(self, state: LinkState) -> None:
        """The only way to change state."""
        assert state in LEGAL[self.state], f"{self.state} to {state}"
        self.state = state

    def connecting(self, now: float, rng: Random) -> None:
        """An attempt starts; later attempts get more time, as Java gives them."""
        self.to(LinkState.CONNECTING)
        limit = self._settings.setup_timeout_s * 2.0 ** min(self._failures, 10)
        self.setup_timeout_s = min(limit, self._settings.setup_timeout_max_s)
        self.setup_deadline = now + self.setup_timeout_s * (1 + JITTER * rng.random())
        self.connect_started_at = now
        self.last_received_at = now

    def succeeded(self, now: float) -> None:
        """The broker answered a real request: only that proves it sane, so only that ends the back-off."""
        self.answered = True
        self._failures = 0
        self.retry_at = 0.0
        self.error = None
        self.last_used_at = now

    def failed(self, error: Exception, now: float, rng: Random, *, senseless: bool) -> None:
        """Wait before the next attempt; at once for long when what came back was not Kafka's protocol."""
        self.error = error
        settings = self._settings
        exponent = 16 if senseless else min(self._failures, 16)
        wait_s = min(settings.reconnect_backoff_s * BACKOFF_GROWTH**exponent, settings.reconnect_backoff_max_s)
        self._failures += 1
        self.retry_at = now + wait_s * (1 + JITTER * rng.random())

    def reset(self) -> None:
        """There is no connection any more."""
        if self.state is not LinkState.IDLE:
            self.to(LinkState.IDLE)
        self.connection_id = None
        self.work_id = None
        self.protocol = None
        self.answered = False
        self.room_offered = False
        self.setup_deadline = math.inf
        self.throttled_until = 0.0

    # ---- questions ----

    @property
    def in_flight_count(self) -> int:
        """Requests awaiting an answer."""
        return 0 if self.protocol is None else len(self.protocol.in_flight)

    def in_flight(self) -> list[Request[Any]]:
        """They, oldest first."""
        return (
            [] if self.protocol is None else [each.token for each in self.protocol.in_flight if each.token is not None]
        )

    def overdue(self, now: float) -> bool:
        """True when an answer is."""
        if self.protocol is not None:
            for sent in self.protocol.in_flight:
                if sent.token is not None and now >= sent.token.deadline:
                    return True
        return False

    def can_send(self, now: float) -> bool:
        """True when a request may leave now."""
        return (
            self.state is LinkState.READY
            and self.protocol is not None
            and self.protocol.accepts_requests
            and now >= self.throttled_until
            and len(self.protocol.in_flight) < self._settings.in_flight_max
        )

    def rank(self, now: float) -> tuple[int, int] | None:
        """How good a choice for "any node" (smaller is better), None when it backs off or may not send."""
        load = self.in_flight_count + len(self.queue)
        if self.state is LinkState.READY:
            return (0, load) if now >= self.throttled_until else (3, load)
        if self.state is LinkState.IDLE:
            return (2, load) if now >= self.retry_at else None
        return (1, load)

    def silent_since(self) -> float | None:
        """See NetworkClient.silent_since."""
        if self.state in (LinkState.CONNECTING, LinkState.NEGOTIATING):
            return max(self.connect_started_at, self.last_received_at) if self.queue else None
        waiting = self.in_flight()
        if not waiting:
            return None
        return max(self.last_received_at, waiting[0].sent_at or 0.0)

    def at_rest(self) -> bool:
        """True when time alone changes nothing for this link."""
        resting = self.state is LinkState.IDLE or (self.state is LinkState.READY and self.reauthenticate_at == math.inf)
        return resting and not self.queue and not self.in_flight_count

    @property
    def reauthenticate_at(self) -> float:
        """When the session must be renewed."""
        return math.inf if self.protocol is None else self.protocol.reauthenticate_at

    def wake_at(self, now: float) -> float:
        """When to look at this link again."""
        wake_at = min(self.setup_deadline if self.state is not LinkState.READY else math.inf, self.reauthenticate_at)
        if self.protocol is not None:
            for sent in self.protocol.in_flight:
                if sent.token is not None and sent.token.deadline < wake_at:
                    wake_at = sent.token.deadline
        for request in self.queue:
            wake_at = min(wake_at, request.deadline)
        if self.queue and self.state is LinkState.IDLE:
            wake_at = min(wake_at, self.retry_at)
        if self.queue and self.throttled_until > now:
            wake_at = min(wake_at, self.throttled_until)
        return wake_at

    # ---- the queue ----

    def expire_queue(self, now: float) -> list[Request[Any]]:
        """Take out what is overdue."""
        if not self.queue or not any(now >= request.deadline for request in self.queue):
            return []
        overdue = [request for request in self.queue if now >= request.deadline]
        self.queue = deque(request for request in self.queue if now < request.deadline)
        return overdue

    def take_queue(self) -> list[Request[Any]]:
        """Everything that was not sent."""
        unsent, self.queue = list(self.queue), deque()
        return unsent


__all__ = ["LEGAL", "Link", "LinkState", "NetworkSettings", "Random"]
