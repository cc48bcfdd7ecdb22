"""One non-blocking socket: connect, TLS handshake, reading, writing. What the reactor does per connection.

Reactor thread only. Never blocks, never calls back: it returns what happened and leaves the selector to the reactor.
"""

from __future__ import annotations

import enum
import errno
import socket
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pykclient.errors import KafkaConnectionError
from pykclient.net.failures import ConnectionLost, ConnectionRefused, ConnectTimedOut
from pykclient.net.transport import Buffer, Endpoint

if TYPE_CHECKING:
    from ssl import SSLContext

READ_BYTES_MIN = 64 * 1024
READ_BYTES_MAX = 1024 * 1024
# More than this per turn would let one busy peer starve the others.
READ_BYTES_PER_TURN = 4 * 1024 * 1024
# A TLS record carries 16 KiB; a few of them joined make fewer calls without a large copy.
TLS_WRITE_BYTES = 64 * 1024
BUFFERS_PER_CALL = 64

_NOT_NOW = (BlockingIOError, InterruptedError)

Address = tuple[socket.AddressFamily, tuple[object, ...]]


class Phase(enum.Enum):
    """Where a socket is in its life."""

    RESOLVING = 0
    CONNECTING = 1
    HANDSHAKING = 2
    OPEN = 3
    CLOSING = 4


class SocketConnection:
    """A connection, outgoing or accepted. ``wants_write`` says whether the reactor must watch for room."""

    __slots__ = (
        "_not_now",
        "_outgoing",
        "_read_size",
        "_server_side",
        "addresses",
        "connection_id",
        "endpoint",
        "handshake_wants_write",
        "last_error",
        "listener_id",
        "mask",
        "phase",
        "reading",
        "server_name",
        "sock",
        "target",
        "tls",
        "unsent",
    )

    def __init__(
        self, connection_id: int, endpoint: Endpoint, *, tls: SSLContext | None, server_name: str | None = None
    ) -> None:
        self.connection_id = connection_id
        self.endpoint = endpoint
        self.tls = tls
        self.server_name = server_name
        self.listener_id = -1
        self.phase = Phase.RESOLVING
        self.sock: socket.socket | None = None
        self.addresses: list[Address] = []
        self.last_error: OSError | None = None
        self.mask = 0
        self.reading = True
        self.handshake_wants_write = False
        self.unsent = 0
        self.target: memoryview | None = None
        self._outgoing: deque[memoryview] = deque()
        self._read_size = READ_BYTES_MIN
        self._server_side = False
        self._not_now: tuple[type[OSError], ...] = _NOT_NOW
        if tls is not None:
            # Here and below, not at the top: who speaks no TLS need not load OpenSSL, a sixth of what an import cost.
            from ssl import SSLWantReadError, SSLWantWriteError

            self._not_now = (SSLWantReadError, SSLWantWriteError, *_NOT_NOW)

    # ---- setting up ----

    def begin_connect(self, options: SocketOptions) -> bool:
        """Start on the next address; False when there is none left."""
        while self.addresses:
            family, address = self.addresses.pop(0)
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                self.last_error = error
                continue
            options.apply(sock)
            self.sock = sock
            self.phase = Phase.CONNECTING
            code = sock.connect_ex(address)
            if code in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
                return True
            self.connect_failed(OSError(code, errno.errorcode.get(code, "unknown")))
        return False

    def connect_failed(self, error: OSError) -> None:
        """This address did not work."""
        self.last_error = error
        self.drop_socket()

    def connect_outcome(self) -> OSError | None:
        """Whether the address that became ready is connected."""
        assert self.sock is not None, "connecting"
        code = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return OSError(code, errno.errorcode.get(code, "unknown")) if code else None

    def adopt(self, sock: socket.socket, listener_id: int) -> None:
        """A listener accepted this socket."""
        self.sock = sock
        self.listener_id = listener_id
        self._server_side = True

    def begin_handshake(self) -> None:
        """TCP is up. Raises OSError when TLS cannot even start."""
        assert self.sock is not None, "connected"
        if self.tls is None:
            self.phase = Phase.OPEN
            return
        name = None if self._server_side else self.server_name or self.endpoint.host
        self.phase = Phase.HANDSHAKING
        self.sock = self.tls.wrap_socket(
            self.sock, server_side=self._server_side, server_hostname=name, do_handshake_on_connect=False
        )

    def handshake(self) -> bool:
        """One turn; True when done. Raises KafkaConnectionError."""
        from ssl import SSLSocket, SSLWantWriteError

        from pykclient.net.tls import handshake_failure

        assert isinstance(self.sock, SSLSocket), "TLS"
        try:
            self.sock.do_handshake()
        except SSLWantWriteError:
            self.handshake_wants_write = True
            return False
        except self._not_now:
            self.handshake_wants_write = False
            return False
        except (OSError, ValueError) as error:
            # ValueError: a host name that no certificate could carry.
            cause = error if isinstance(error, OSError) else OSError(str(error))
            raise handshake_failure(cause, self.endpoint) from error
        self.handshake_wants_write = False
        self.phase = Phase.OPEN
        return True

    def connect_error(self) -> KafkaConnectionError:
        """Why none of the addresses worked."""
        host, port = self.endpoint.host, self.endpoint.port
        error = self.last_error
        failure: KafkaConnectionError
        if error is not None and error.errno == errno.ECONNREFUSED:
            failure = ConnectionRefused(host=host, port=port)
        elif error is not None and error.errno in (errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH):
            failure = ConnectTimedOut(f"the host cannot be reached: {error}", host=host, port=port)
        else:
            failure = ConnectionLost(f"could not connect: {error}", host=host, port=port)
        failure.__cause__ = error
        return failure

    def _broken(self, error: OSError) -> KafkaConnectionError:
        """Why an open connection is one no more."""
        if self.tls is not None:
            from pykclient.net.tls import stream_failure

            return stream_failure(error, self.endpoint)
        sentence = f"the connection broke: {error.strerror or error}"
        failure = ConnectionLost(sentence, host=self.endpoint.host, port=self.endpoint.port)
        failure.__cause__ = error
        return failure

    # ---- bytes ----

    def read(self) -> tuple[list[bytes], bool, bool]:
        """What is there: chunks, whether the peer ended, and whether more may be there unseen by the selector.

        Raises KafkaConnectionError.
        """
        assert self.sock is not None, "open"
        chunks: list[bytes] = []
        size = 0
        recv = self.sock.recv
        try:
            while size < READ_BYTES_PER_TURN:
                chunk = recv(self._read_size)
                if not chunk:
                    return chunks, True, False
                chunks.append(chunk)
                size += len(chunk)
                if len(chunk) == self._read_size:
                    self._read_size = min(self._read_size * 4, READ_BYTES_MAX)
                elif self.tls is None:
                    # A short read empties the kernel's buffer: asking again would only cost a system call.
                    if len(chunk) * 8 < self._read_size:
                        self._read_size = max(self._read_size // 2, READ_BYTES_MIN)
                    return chunks, False, False
        except self._not_now:
            return chunks, False, False
        except OSError as error:
            if chunks:
                return chunks, False, True  # The error comes again with the next read; the bytes would not.
            raise self._broken(error) from error
        return chunks, False, self.tls is not None

    def read_into_target(self) -> tuple[int, bool, bool]:
        """As ``read``, into the buffer that was offered for it: gives the number of bytes. A full one is let go."""
        assert self.sock is not None, "open"
        size = 0
        recv_into = self.sock.recv_into
        try:
            while (target := self.target) is not None and size < READ_BYTES_PER_TURN:
                room = target.nbytes
                count = recv_into(target)
                if not count:
                    return size, True, False
                size += count
                self.target = None if count == room else target[count:]
                if count < room and self.tls is None:
                    return size, False, False
        except self._not_now:
            return size, False, False
        except OSError as error:
            if size:
                return size, False, True
            raise self._broken(error) from error
        return size, False, self.tls is not None

    def queue(self, data: Buffer | Sequence[Buffer]) -> None:
        """Keep bytes for ``flush``."""
        buffers = (data,) if isinstance(data, (bytes, bytearray, memoryview)) else data
        for buffer in buffers:
            if len(buffer):
                view = memoryview(buffer)
                self._outgoing.append(view)
                self.unsent += view.nbytes

    def flush(self) -> None:
        """Write as much as the kernel takes. Raises KafkaConnectionError."""
        assert self.sock is not None, "open"
        try:
            while self._outgoing:
                sent = self._send_some()
                self.unsent -= sent
                self._consume(sent)
        except self._not_now:
            return
        except OSError as error:
            raise self._broken(error) from error

    def _send_some(self) -> int:
        sock, outgoing = self.sock, self._outgoing
        assert sock is not None, "open"
        if self.tls is not None:
            first = outgoing[0]
            if first.nbytes < TLS_WRITE_BYTES and len(outgoing) > 1:
                self._join_small()
            return sock.send(outgoing[0])
        if len(outgoing) == 1 or not hasattr(sock, "sendmsg"):
            return sock.send(outgoing[0])
        if len(outgoing) <= BUFFERS_PER_CALL:
            return sock.sendmsg(outgoing)
        return sock.sendmsg([outgoing[index] for index in range(BUFFERS_PER_CALL)])

    def _join_small(self) -> None:
        parts: list[memoryview] = []
        size = 0
        while self._outgoing and size < TLS_WRITE_BYTES:
            parts.append(self._outgoing.popleft())
            size += parts[-1].nbytes
        self._outgoing.appendleft(memoryview(b"".join(parts)))

    def _consume(self, sent: int) -> None:
        outgoing = self._outgoing
        while sent:
            first = outgoing[0]
            if sent >= first.nbytes:
                sent -= first.nbytes
                outgoing.popleft()
            else:
                outgoing[0] = first[sent:]
                return

    def drop_socket(self) -> None:
        """Close the socket, without ceremony."""
        if self.sock is not None:
            self.sock.close()
            self.sock = None


class SocketOptions:
    """What every socket of a reactor gets."""

    def __init__(self, *, send_buffer_bytes: int = -1, receive_buffer_bytes: int = -1) -> None:
        self._sizes = ((socket.SO_SNDBUF, send_buffer_bytes), (socket.SO_RCVBUF, receive_buffer_bytes))

    def apply(self, sock: socket.socket) -> None:
        """Set them; -1 leaves a size to the system, as in Java."""
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, size in self._sizes:
            if size > 0:
                sock.setsockopt(socket.SOL_SOCKET, option, size)


__all__ = ["Address", "Phase", "SocketConnection", "SocketOptions"]
