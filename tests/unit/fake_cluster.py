"""Brokers in virtual time for tests of the client's side: a Transport whose peers are functions, and a clock moved by
hand.

``FakeCluster`` answers with what ``handlers`` say, through the real server side of a connection, so both roles are
exercised.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from pykclient.client.engine import Engine
from pykclient.net.failures import ConnectionRefused
from pykclient.net.server_connection import ServerConnection, ServerRequest
from pykclient.net.transport import Accepted, Buffer, Closed, Connected, Endpoint, Event, Listener, Offloaded, Received
from pykclient.protocol.messages import APIS, ApiKey
from pykclient.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse, FinalizedFeatureKey
from pykclient.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class VirtualClock:
    """Time that moves when told."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def wall_ms(self) -> int:
        return int(self.time * 1000)


@dataclass
class After:
    """A handler's answer that comes later."""

    delay_s: float
    message: Any


class Hang:
    """A handler's answer that never comes."""


class Drop:
    """A handler that closes the connection instead."""


@dataclass
class Raw:
    """A handler's answer as bytes, whatever they mean."""

    data: bytes


@dataclass
class FakeNode:
    """One broker: what it speaks and how it answers."""

    endpoint: Endpoint
    ranges: dict[int, tuple[int, int]] = field(
        default_factory=lambda: {int(info.key): (info.min_version, info.max_version) for info in APIS}
    )
    handlers: dict[int, Callable[[ServerRequest], Any]] = field(default_factory=dict)
    refuses: bool = False
    silent: bool = False
    on_connect: bytes | None = None
    """Sent to whoever connects, instead of speaking Kafka."""
    authenticated: bool = True
    received: list[ServerRequest] = field(default_factory=list)
    connects: list[float] = field(default_factory=list)

    def apis(self) -> list[int]:
        """What was asked, in order, without the negotiation."""
        return [each.api_key for each in self.received if each.api_key != ApiKey.API_VERSIONS]

    def answer(self, request: ServerRequest) -> Any:
        handler = self.handlers.get(request.api_key)
        if handler is not None:
            return handler(request)
        if request.api_key == ApiKey.API_VERSIONS:
            return ApiVersionsResponse(
                api_keys=[ApiVersion(key, low, high) for key, (low, high) in self.ranges.items()],
                finalized_features=[FinalizedFeatureKey(name="transaction.version", max_version_level=2)]
                if request.version >= 3
                else [],
            )
        return Hang()


@dataclass
class _Connection:
    connection_id: int
    node: FakeNode
    server: ServerConnection
    last_at: float = 0.0


class FakeCluster:
    """A Transport."""

    def __init__(self, clock: VirtualClock, nodes: Sequence[FakeNode]) -> None:
        self.clock = clock
        self.nodes = {node.endpoint: node for node in nodes}
        self.woken = 0
        self.shut = False
        self._connections: dict[int, _Connection] = {}
        self._ids = itertools.count(1)
        self._agenda: list[tuple[float, int, Event]] = []

    # ---- Transport ----

    def connect(self, endpoint: Endpoint, *, tls: SSLContext | None = None, server_name: str | None = None) -> int:
        connection_id = next(self._ids)
        node = self.nodes[endpoint]
        node.connects.append(self.clock.now())
        if node.refuses:
            self._later(0, Closed(connection_id, ConnectionRefused(host=endpoint.host, port=endpoint.port)))
            return connection_id
        server = ServerConnection(authenticated=node.authenticated)
        self._connections[connection_id] = _Connection(connection_id, node, server)
        self._later(0, Connected(connection_id))
        if node.on_connect is not None:
            self._later(0, Received(connection_id, node.on_connect) if node.on_connect else Closed(connection_id, None))
        return connection_id

    def write(self, connection_id: int, data: Buffer | Sequence[Buffer]) -> None:
        connection = self._connections.get(connection_id)
        if connection is None or connection.node.silent or connection.node.on_connect is not None:
            return
        parts = [data] if isinstance(data, (bytes, bytearray, memoryview)) else data
        connection.server.receive(b"".join(parts))
        self._serve(connection)

    def close(self, connection_id: int, *, after_sending: bool = False) -> None:
        self._connections.pop(connection_id, None)

    def offload(self, work: Callable[[], object]) -> int:
        work_id = next(self._ids)
        try:
            self._later(0, Offloaded(work_id, work(), None))
        except Exception as error:
            self._later(0, Offloaded(work_id, None, error))
        return work_id

    def poll(self, timeout_s: float | None) -> list[Event]:
        events = []
        while self._agenda and self._agenda[0][0] <= self.clock.now():
            event = heapq.heappop(self._agenda)[2]
            refused = isinstance(event, Closed) and isinstance(event.error, ConnectionRefused)
            if (
                not isinstance(event, (Offloaded, Accepted))
                and not refused
                and event.connection_id not in self._connections
            ):
                continue
            if isinstance(event, Closed):
                self._connections.pop(event.connection_id, None)
            events.append(event)
        return events

    def wake(self) -> None:
        self.woken += 1

    def shut_down(self) -> None:
        self.shut = True

    def abandon(self) -> None:
        self.shut = True

    def listen(self, endpoint: Endpoint, *, tls: SSLContext | None = None) -> Listener:
        raise NotImplementedError

    def unlisten(self, listener_id: int) -> None:
        raise NotImplementedError

    def unsent_bytes(self, connection_id: int) -> int:
        return 0

    def set_reading(self, connection_id: int, reading: bool) -> None: ...

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None: ...

    # ---- for tests ----

    def next_at(self) -> float:
        """When something happens by itself."""
        return self._agenda[0][0] if self._agenda else math.inf

    def break_all(self, endpoint: Endpoint) -> None:
        """The node's connections end."""
        for connection in list(self._connections.values()):
            if connection.node.endpoint == endpoint:
                self._later(0, Closed(connection.connection_id, None))

    def open_count(self, endpoint: Endpoint) -> int:
        return sum(connection.node.endpoint == endpoint for connection in self._connections.values())

    def _serve(self, connection: _Connection) -> None:
        server, node = connection.server, connection.node
        while (request := server.next_request()) is not None:
            node.received.append(request)
            answer = node.answer(request)
            delay_s = 0.0
            if isinstance(answer, After):
                delay_s, answer = answer.delay_s, answer.message
            if isinstance(answer, Hang):
                return
            if isinstance(answer, Drop):
                self._later(0, Closed(connection.connection_id, None))
                return
            if isinstance(answer, Raw):
                server.respond(request, None)
                data = answer.data
            else:
                data = b"".join(server.respond(request, answer))
            if data:
                # Answers leave in order, so one that is late holds up those behind it.
                connection.last_at = max(connection.last_at, self.clock.now() + delay_s)
                self._later(connection.last_at - self.clock.now(), Received(connection.connection_id, data))

    def _later(self, delay_s: float, event: Event) -> None:
        heapq.heappush(self._agenda, (self.clock.now() + delay_s, next(self._ids), event))


def run(engine: Engine, cluster: FakeCluster, until: Callable[[], bool], limit_s: float = 600.0) -> None:
    """Step in virtual time until the condition holds."""
    clock = cluster.clock
    end = clock.time + limit_s
    for _ in range(100_000):
        wake_at = engine.step(clock.time)
        if until():
            return
        next_at = min(wake_at, cluster.next_at())
        assert next_at <= end, f"not there after {limit_s} s of virtual time (next event at {next_at})"
        clock.time = max(clock.time, next_at)
    raise AssertionError("the loop spins")


def settle(engine: Engine, cluster: FakeCluster, seconds: float) -> None:
    """Let this much virtual time pass."""
    clock = cluster.clock
    end = clock.time + seconds
    while True:
        next_at = min(engine.step(clock.time), cluster.next_at())
        if next_at > end:
            clock.time = end
            engine.step(end)
            return
        clock.time = max(clock.time, next_at)


def metadata_of(
    request: ServerRequest,
    nodes: dict[int, Endpoint],
    topics: dict[str, MetadataResponseTopic] | None = None,
    cluster_id: str | None = "test-cluster",
) -> MetadataResponse:
    """A plain answer to a Metadata request; topics that are not given are unknown."""
    asked: MetadataRequest = request.message()
    known = topics or {}
    names = list(known) if asked.topics is None else [topic.name or "" for topic in asked.topics]
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id, each.host, each.port) for node_id, each in nodes.items()],
        cluster_id=cluster_id,
        controller_id=next(iter(nodes), -1),
        topics=[known.get(name) or MetadataResponseTopic(error_code=3, name=name) for name in names],
    )


def topic_of(name: str, leaders: dict[int, tuple[int, int]], topic_id: int = 7) -> MetadataResponseTopic:
    """A topic whose partitions have these leaders: partition -> (node id, epoch)."""
    from uuid import UUID

    return MetadataResponseTopic(
        name=name,
        topic_id=UUID(int=topic_id),
        partitions=[
            MetadataResponsePartition(
                error_code=0 if leader >= 0 else 5,
                partition_index=index,
                leader_id=leader,
                leader_epoch=epoch,
                replica_nodes=[leader],
                isr_nodes=[leader],
            )
            for index, (leader, epoch) in leaders.items()
        ],
    )
