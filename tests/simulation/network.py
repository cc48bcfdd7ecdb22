"""A network in virtual time: transports whose bytes take a while, come in pieces, and whose connections break.

One thread, one clock, one random source: the same seed gives the same run. Bytes of one direction never overtake
each other; what is on its way when a connection breaks is lost, as with TCP.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ssl import SSLContext

from pykclient.net.failures import ConnectionRefused
from pykclient.net.transport import Accepted, Buffer, Closed, Connected, Endpoint, Event, Listener, Offloaded, Received

LATENCY_S = (0.0001, 0.01)


class VirtualClock:
    """Time that moves from event to event."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def wall_ns(self) -> int:
        return round(self.time * 1_000_000_000)

    def wall_ms(self) -> int:
        return round(self.time * 1000)


@dataclass(eq=False)
class _End:
    """One side of a connection."""

    transport: SimTransport
    connection_id: int
    open: bool = True
    dead: bool = False
    arrives_at: float = 0.0
    """When the last bytes sent to this end arrive."""
    other: _End = field(init=False)


class Network:
    """Who listens where, and what is on its way."""

    def __init__(self, clock: VirtualClock, rng: random.Random) -> None:
        self.clock = clock
        self.rng = rng
        self.silent: set[str] = set()
        """Hosts that nothing reaches and nothing leaves."""
        self._ids = itertools.count(1)
        self._order = itertools.count()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._listening: dict[Endpoint, tuple[SimTransport, int]] = {}
        self._connections: dict[_End, None] = {}

    def next_at(self) -> float | None:
        return self._agenda[0][0] if self._agenda else None

    def deliver(self) -> None:
        """Everything that is due."""
        while self._agenda and self._agenda[0][0] <= self.clock.time:
            heapq.heappop(self._agenda)[2]()

    def at(self, when: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (when, next(self._order), action))

    def latency_s(self) -> float:
        return self.rng.uniform(*LATENCY_S)

    def break_connections(self, host: str | None = None, *, chance: float = 1.0) -> None:
        """Reset the connections of a host, or of all, each with some chance."""
        for end in list(self._connections):
            if host in (None, end.transport.host, end.other.transport.host) and self.rng.random() < chance:
                self._reset(end)

    def silence(self, host: str, seconds: float) -> None:
        """Nothing reaches the host for a while; its connections stay open and never carry a byte again."""
        self.silent.add(host)
        self.at(self.clock.time + seconds, lambda: self.silent.discard(host))
        for end in self._connections:
            if host in (end.transport.host, end.other.transport.host):
                end.dead = True

    def _reset(self, end: _End) -> None:
        for each in (end, end.other):
            if each.open:
                each.open = False
                self._connections.pop(each, None)
                each.transport.report(Closed(each.connection_id, ConnectionResetError("reset by the simulation")))

    # What transports use

    def listen(self, transport: SimTransport, endpoint: Endpoint) -> Listener:
        listener_id = next(self._ids)
        assert endpoint not in self._listening
        self._listening[endpoint] = (transport, listener_id)
        return Listener(listener_id, endpoint)

    def unlisten(self, listener_id: int) -> None:
        self._listening = {where: each for where, each in self._listening.items() if each[1] != listener_id}

    def connect(self, transport: SimTransport, endpoint: Endpoint) -> _End:
        near = _End(transport, next(self._ids))

        def connected() -> None:
            if near.open and not near.dead:
                transport.report(Connected(near.connection_id))

        def arrive() -> None:
            found = self._listening.get(endpoint)
            if not near.open or endpoint.host in self.silent:
                return
            if found is None:
                near.open = False
                transport.report(Closed(near.connection_id, ConnectionRefused(host=endpoint.host, port=endpoint.port)))
                return
            server, listener_id = found
            far = _End(server, next(self._ids))
            near.other, far.other = far, near
            server.ends[far.connection_id] = far
            self._connections |= {near: None, far: None}
            server.report(Accepted(listener_id, far.connection_id, Endpoint(transport.host, 50_000)))
            near.arrives_at = self.clock.time + self.latency_s()
            self.at(near.arrives_at, connected)

        self.at(self.clock.time + self.latency_s(), arrive)
        return near

    def send(self, end: _End, data: bytes) -> None:
        target = end.other
        while data:
            size = len(data) if self.rng.random() < 0.8 else self.rng.randint(1, len(data))
            piece, data = data[:size], data[size:]
            target.arrives_at = max(target.arrives_at, self.clock.time + self.latency_s())
            self.at(target.arrives_at, lambda piece=piece: self._arrive(target, piece))  # type: ignore[misc]

    def _arrive(self, target: _End, piece: bytes) -> None:
        if target.open and not target.dead:
            target.transport.report(Received(target.connection_id, piece))

    def close(self, end: _End) -> None:
        """What was sent before still arrives, then the other side hears of the end."""
        if not end.open:
            return
        end.open = False
        self._connections.pop(end, None)
        other = getattr(end, "other", None)
        if other is not None and other.open:
            when = max(other.arrives_at, self.clock.time + self.latency_s())
            self.at(when, lambda: self._hang_up(other))

    def _hang_up(self, end: _End) -> None:
        if end.open:
            end.open = False
            self._connections.pop(end, None)
            end.transport.report(Closed(end.connection_id, None))


class SimTransport:
    """A Transport of one party of the simulation."""

    def __init__(self, network: Network, host: str) -> None:
        self.network = network
        self.host = host
        self.ends: dict[int, _End] = {}
        self.woken = True
        self._inbox: list[Event] = []
        self._work_ids = itertools.count(1_000_000_000)

    def report(self, event: Event) -> None:
        self._inbox.append(event)
        self.woken = True

    def connect(self, endpoint: Endpoint, *, tls: SSLContext | None = None, server_name: str | None = None) -> int:
        end = self.network.connect(self, endpoint)
        self.ends[end.connection_id] = end
        return end.connection_id

    def listen(self, endpoint: Endpoint, *, tls: SSLContext | None = None) -> Listener:
        return self.network.listen(self, Endpoint(self.host, endpoint.port or 9092))

    def unlisten(self, listener_id: int) -> None:
        self.network.unlisten(listener_id)

    def write(self, connection_id: int, data: Buffer | Sequence[Buffer]) -> None:
        end = self.ends.get(connection_id)
        if end is not None and end.open:
            parts = [data] if isinstance(data, (bytes, bytearray, memoryview)) else data
            self.network.send(end, b"".join(parts))

    def unsent_bytes(self, connection_id: int) -> int:
        return 0

    def set_reading(self, connection_id: int, reading: bool) -> None: ...

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None: ...

    def close(self, connection_id: int, *, after_sending: bool = False) -> None:
        end = self.ends.pop(connection_id, None)
        if end is not None:
            self.network.close(end)

    def offload(self, work: Callable[[], object]) -> int:
        work_id = next(self._work_ids)
        self.report(Offloaded(work_id, work(), None))
        return work_id

    def poll(self, timeout_s: float | None) -> list[Event]:
        events, self._inbox = self._inbox, []
        return [event for event in events if self._is_news(event)]

    def _is_news(self, event: Event) -> bool:
        """No event follows for a connection that this side has closed."""
        return isinstance(event, Offloaded) or event.connection_id in self.ends

    def wake(self) -> None:
        self.woken = True

    def shut_down(self) -> None:
        for connection_id in list(self.ends):
            self.close(connection_id)

    def abandon(self) -> None:
        raise NotImplementedError
