"""Live I/O: the Transport over selectors and sockets, and the real clock. The only place where a client waits for the
world.

Owns every socket of one client or one broker node. All methods belong to the thread that calls ``poll``, but for
``wake``. It must never block outside the selector: names are resolved and slow work is done by worker threads
(workers.py), whose outcomes come back as events.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import itertools
import logging
import math
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pykclient.errors import KafkaConnectionError
from pykclient.net.failures import HostNotFound
from pykclient.net.sockets import Address, Phase, SocketConnection, SocketOptions
from pykclient.net.transport import (
    Accepted,
    Buffer,
    Closed,
    Connected,
    Endpoint,
    Event,
    Listener,
    Offloaded,
    Received,
    ReceivedInto,
)
from pykclient.net.workers import Workers

if TYPE_CHECKING:
    from ssl import SSLContext

logger = logging.getLogger(__name__)
# Where a program has not set up logging, Python would print our warnings to standard error; a library prints nothing.
logging.getLogger("pykclient").addHandler(logging.NullHandler())

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
BACKLOG = 1024
ACCEPTS_PER_TURN = 64
WORKERS_MAX = 8
# With several addresses, one that drops packets gets this long before the next is tried.
ADDRESS_TIMEOUT_S = 3.0
# A peer that connects to a TLS listener and says nothing is not kept for ever.
HANDSHAKE_TIMEOUT_S = 10.0
# Out of file descriptors: let the present connections work and look again later, instead of spinning on a ready
# listener.
ACCEPT_PAUSE_S = 1.0
# After our last bytes the peer gets this long to read them; closing at once could reset the connection under them.
LINGER_S = 1.0


class SystemClock:
    """The real time."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    wall_ns = staticmethod(time.time_ns)
    """Nanoseconds since the epoch; the builtin itself, for those who ask a million times a second."""

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


class _Listening:
    __slots__ = ("endpoint", "listener_id", "sock", "tls")

    def __init__(self, listener_id: int, endpoint: Endpoint, sock: socket.socket, tls: SSLContext | None) -> None:
        self.listener_id = listener_id
        self.endpoint = endpoint
        self.sock = sock
        self.tls = tls


class Reactor:
    """See ``Transport`` for the contract of each public method."""

    def __init__(self, *, name: str = "pykclient", options: SocketOptions | None = None) -> None:
        self._options = options or SocketOptions()
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, SocketConnection] = {}
        self._listeners: dict[int, _Listening] = {}
        self._ids = itertools.count(1)
        self._events: list[Event] = []
        # Written to since the last poll: all writes of one step leave in one call per socket.
        self._dirty: dict[SocketConnection, None] = {}
        # TLS may hold decrypted bytes that no selector reports.
        self._unread: dict[SocketConnection, None] = {}
        self._deadlines: list[tuple[float, int, Callable[[], None]]] = []
        self._deadline_order = itertools.count()
        self._outcomes: deque[Callable[[], None]] = deque()
        self._workers = Workers(WORKERS_MAX, name=f"{name}-worker")
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._selector.register(self._wake_receiver, READ, None)
        self._closed = False

    # ---- Transport ----

    def connect(self, endpoint: Endpoint, *, tls: SSLContext | None = None, server_name: str | None = None) -> int:
        connection = SocketConnection(next(self._ids), endpoint, tls=tls, server_name=server_name)
        self._connections[connection.connection_id] = connection
        addresses = _literal(endpoint)
        if addresses is not None:
            self._resolved(connection, addresses, None)
        else:
            self._work(partial(_resolve, endpoint), partial(self._resolved, connection))
        return connection.connection_id

    def listen(self, endpoint: Endpoint, *, tls: SSLContext | None = None) -> Listener:
        family, _, _, _, address = socket.getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.setblocking(False)
            sock.bind(address)
            sock.listen(BACKLOG)
        except OSError:
            sock.close()
            raise
        bound = Endpoint(endpoint.host, sock.getsockname()[1])
        listening = _Listening(next(self._ids), bound, sock, tls)
        self._listeners[listening.listener_id] = listening
        self._selector.register(sock, READ, listening)
        return Listener(listening.listener_id, bound)

    def unlisten(self, listener_id: int) -> None:
        listening = self._listeners.pop(listener_id, None)
        if listening is not None:
            self._unregister(listening.sock)
            listening.sock.close()

    def write(self, connection_id: int, data: Buffer | Sequence[Buffer]) -> None:
        connection = self._connections.get(connection_id)
        if connection is not None and connection.phase is not Phase.CLOSING:
            connection.queue(data)
            self._dirty[connection] = None

    def unsent_bytes(self, connection_id: int) -> int:
        connection = self._connections.get(connection_id)
        return 0 if connection is None else connection.unsent

    def set_reading(self, connection_id: int, reading: bool) -> None:
        connection = self._connections.get(connection_id)
        if connection is not None and connection.reading != reading:
            connection.reading = reading
            if connection.phase is Phase.OPEN:
                self._watch(connection)
                if reading and connection.tls is not None:
                    self._unread[connection] = None

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None:
        connection = self._connections.get(connection_id)
        if connection is not None and connection.phase is not Phase.CLOSING:
            connection.target = buffer

    def close(self, connection_id: int, *, after_sending: bool = False) -> None:
        connection = self._connections.get(connection_id)
        if connection is None:
            return
        if not after_sending or connection.phase is not Phase.OPEN:
            self._drop(connection)
            return
        connection.phase = Phase.CLOSING
        connection.target = None
        connection.reading = True
        self._dirty[connection] = None
        self._after(LINGER_S, partial(self._drop, connection))

    def offload(self, work: Callable[[], object]) -> int:
        work_id = next(self._ids)
        self._work(work, lambda value, error: self._events.append(Offloaded(work_id, value, error)))
        return work_id

    def poll(self, timeout_s: float | None) -> list[Event]:
        self._flush_dirty()
        for key, mask in self._selector.select(self._wait_s(timeout_s)):
            owner = key.data
            if owner is None:
                self._drain_wakes()
            elif isinstance(owner, SocketConnection):
                self._ready(owner, mask)
            else:
                self._accept(owner)
        if self._unread:
            unread, self._unread = self._unread, {}
            for connection in unread:
                if connection.phase is Phase.OPEN and connection.reading:
                    self._read(connection)
        while self._outcomes:
            self._outcomes.popleft()()
        if self._deadlines:
            self._fire_deadlines()
        events, self._events = self._events, []
        return events

    def wake(self) -> None:
        # Full means that a wake-up is pending already; closed, that nobody waits.
        with contextlib.suppress(OSError):
            self._wake_sender.send(b"\0")

    def shut_down(self) -> None:
        if self._closed:
            return
        self._closed = True
        for connection in list(self._connections.values()):
            if connection.phase is Phase.CLOSING or connection.unsent:
                with contextlib.suppress(KafkaConnectionError):
                    self._last_flush(connection)
            self._drop(connection)
        for listener_id in list(self._listeners):
            self.unlisten(listener_id)
        self._workers.shut_down()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()

    def abandon(self) -> None:
        # The selector is the parent's too (an epoll descriptor is shared by a fork): closing our copies is all that
        # is safe.
        self._closed = True
        for connection in self._connections.values():
            if connection.sock is not None:
                # Not SSLSocket.close(): plain close of the descriptor sends nothing either way, and detach keeps it so.
                with contextlib.suppress(OSError):
                    socket.close(connection.sock.detach())
        for listening in self._listeners.values():
            listening.sock.close()
        self._connections.clear()
        self._listeners.clear()
        self._wake_receiver.close()
        self._wake_sender.close()
        self._selector.close()

    # ---- connecting ----

    def _resolved(self, connection: SocketConnection, value: object, error: BaseException | None) -> None:
        if connection.connection_id not in self._connections:
            return
        if error is not None or not isinstance(value, list) or not value:
            failure = HostNotFound(
                f"the host name {connection.endpoint.host!r} could not be resolved: {error or 'no address'}; "
                "check bootstrap_servers, advertised.listeners and DNS",
                host=connection.endpoint.host,
                port=connection.endpoint.port,
            )
            failure.__cause__ = error
            self._fail(connection, failure)
            return
        connection.addresses = value
        self._next_address(connection)

    def _next_address(self, connection: SocketConnection) -> None:
        if not connection.begin_connect(self._options):
            self._fail(connection, connection.connect_error())
            return
        self._watch(connection)
        if connection.addresses:
            self._after(ADDRESS_TIMEOUT_S, partial(self._address_overdue, connection, connection.sock))

    def _address_overdue(self, connection: SocketConnection, sock: socket.socket | None) -> None:
        if connection.phase is Phase.CONNECTING and connection.sock is sock and sock is not None:
            self._forget_socket(connection)
            connection.connect_failed(OSError(errno.ETIMEDOUT, "no answer"))
            self._next_address(connection)

    def _connect_ready(self, connection: SocketConnection) -> None:
        error = connection.connect_outcome()
        if error is not None:
            self._forget_socket(connection)
            connection.connect_failed(error)
            self._next_address(connection)
            return
        self._begin_handshake(connection)

    def _begin_handshake(self, connection: SocketConnection) -> None:
        self._forget_socket(connection)
        try:
            connection.begin_handshake()
        except (OSError, ValueError) as error:
            from pykclient.net.tls import handshake_failure  # with TLS only, see sockets.py

            cause = error if isinstance(error, OSError) else OSError(str(error))
            self._fail(connection, handshake_failure(cause, connection.endpoint))
            return
        if connection.phase is Phase.HANDSHAKING:
            self._handshake(connection)
        else:
            self._opened(connection)

    def _handshake(self, connection: SocketConnection) -> None:
        try:
            done = connection.handshake()
        except KafkaConnectionError as error:
            self._fail(connection, error)
            return
        if done:
            self._unread[connection] = None
            self._opened(connection)
        else:
            self._watch(connection)

    def _opened(self, connection: SocketConnection) -> None:
        if connection.listener_id >= 0:
            self._events.append(Accepted(connection.listener_id, connection.connection_id, connection.endpoint))
        else:
            self._events.append(Connected(connection.connection_id))
        self._watch(connection)
        if connection.unsent:
            self._dirty[connection] = None

    # ---- accepting ----

    def _accept(self, listening: _Listening) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            try:
                sock, address = listening.sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                logger.warning("%s takes no connections for %g s: %s", listening.endpoint, ACCEPT_PAUSE_S, error)
                self._unregister(listening.sock)
                self._after(ACCEPT_PAUSE_S, partial(self._accept_again, listening))
                return
            self._options.apply(sock)
            peer = Endpoint(str(address[0]), int(address[1]))
            connection = SocketConnection(next(self._ids), peer, tls=listening.tls)
            connection.adopt(sock, listening.listener_id)
            self._connections[connection.connection_id] = connection
            if listening.tls is not None:
                self._after(HANDSHAKE_TIMEOUT_S, partial(self._handshake_overdue, connection))
            self._begin_handshake(connection)

    def _accept_again(self, listening: _Listening) -> None:
        if listening.listener_id in self._listeners:
            self._selector.register(listening.sock, READ, listening)

    def _handshake_overdue(self, connection: SocketConnection) -> None:
        if connection.phase is Phase.HANDSHAKING:
            self._drop(connection)

    # ---- bytes ----

    def _ready(self, connection: SocketConnection, mask: int) -> None:
        if connection.phase is Phase.CONNECTING:
            self._connect_ready(connection)
        elif connection.phase is Phase.HANDSHAKING:
            self._handshake(connection)
        else:
            if mask & WRITE:
                self._write(connection)
            if mask & READ and connection.sock is not None:
                self._read(connection)

    def _read(self, connection: SocketConnection) -> None:
        chunks: list[bytes] = []
        try:
            if connection.target is not None:
                size, ended, more = connection.read_into_target()
                if size:
                    self._events.append(ReceivedInto(connection.connection_id, size))
            else:
                chunks, ended, more = connection.read()
        except KafkaConnectionError as error:
            self._fail(connection, error)
            return
        if connection.phase is Phase.CLOSING:
            # We have said our last word; what still comes is read only so that the kernel does not answer it with a
            # reset.
            if ended:
                self._drop(connection)
            return
        for chunk in chunks:
            self._events.append(Received(connection.connection_id, chunk))
        if ended:
            self._fail(connection, None)
        elif more:
            self._unread[connection] = None

    def _write(self, connection: SocketConnection) -> None:
        try:
            connection.flush()
        except KafkaConnectionError as error:
            self._fail(connection, error)
            return
        if connection.phase is Phase.CLOSING and not connection.unsent and connection.sock is not None:
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_WR)
        self._watch(connection)

    def _flush_dirty(self) -> None:
        if self._dirty:
            dirty, self._dirty = self._dirty, {}
            for connection in dirty:
                if connection.phase in (Phase.OPEN, Phase.CLOSING) and connection.sock is not None:
                    self._write(connection)

    def _last_flush(self, connection: SocketConnection) -> None:
        if connection.phase in (Phase.OPEN, Phase.CLOSING) and connection.sock is not None:
            connection.flush()

    # ---- keeping the books ----

    def _watch(self, connection: SocketConnection) -> None:
        """Tell the selector what this connection waits for; nothing happens when it knows."""
        sock = connection.sock
        if sock is None:
            return
        if connection.phase is Phase.CONNECTING:
            mask = WRITE
        elif connection.phase is Phase.HANDSHAKING:
            mask = WRITE if connection.handshake_wants_write else READ
        else:
            mask = (READ if connection.reading else 0) | (WRITE if connection.unsent else 0)
        if mask == connection.mask:
            return
        if connection.mask == 0:
            self._selector.register(sock, mask, connection)
        elif mask == 0:
            self._unregister(sock)
        else:
            self._selector.modify(sock, mask, connection)
        connection.mask = mask

    def _forget_socket(self, connection: SocketConnection) -> None:
        if connection.mask and connection.sock is not None:
            self._unregister(connection.sock)
        connection.mask = 0

    def _unregister(self, sock: socket.socket) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(sock)

    def _drop(self, connection: SocketConnection) -> None:
        self._connections.pop(connection.connection_id, None)
        self._forget_socket(connection)
        connection.drop_socket()
        connection.phase = Phase.CLOSING
        self._dirty.pop(connection, None)

    def _fail(self, connection: SocketConnection, error: KafkaConnectionError | None) -> None:
        known = connection.connection_id in self._connections
        announced = connection.listener_id < 0 or connection.phase is Phase.OPEN
        silent = connection.phase is Phase.CLOSING
        self._drop(connection)
        if known and announced and not silent:
            self._events.append(Closed(connection.connection_id, error))

    def _work(self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]) -> None:
        def report(value: object, error: BaseException | None) -> None:
            self._outcomes.append(partial(done, value, error))
            self.wake()

        self._workers.submit(work, report)

    def _drain_wakes(self) -> None:
        with contextlib.suppress(BlockingIOError, InterruptedError):
            while len(self._wake_receiver.recv(4096)) == 4096:
                pass

    def _after(self, delay_s: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._deadlines, (time.monotonic() + delay_s, next(self._deadline_order), action))

    def _fire_deadlines(self) -> None:
        now = time.monotonic()
        while self._deadlines and self._deadlines[0][0] <= now:
            heapq.heappop(self._deadlines)[2]()

    def _wait_s(self, timeout_s: float | None) -> float | None:
        if self._events or self._unread or self._outcomes:
            return 0.0
        wait_s = math.inf if timeout_s is None else max(0.0, timeout_s)
        if self._deadlines:
            wait_s = min(wait_s, max(0.0, self._deadlines[0][0] - time.monotonic()))
        return None if wait_s == math.inf else wait_s


def _literal(endpoint: Endpoint) -> list[Address] | None:
    """The address itself when the host is one, so that no thread is needed; None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, endpoint.host)
        except OSError:
            continue
        return [(family, (endpoint.host, endpoint.port))]
    return None


def _resolve(endpoint: Endpoint) -> list[Address]:
    found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    # In the system's order of preference (RFC 6724), each address once.
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


__all__ = ["Reactor", "SystemClock"]
