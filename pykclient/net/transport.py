"""The seam between decisions and live I/O: what a reactor (or the simulator) offers, and the events it reports.

Everything above this file is driven by ``poll(timeout)`` returning events and by ``now`` as an argument.
``reactor.py`` implements it with selectors and sockets; the simulator implements it in virtual time. Nothing here
does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from ssl import SSLContext

Buffer: TypeAlias = "bytes | bytearray | memoryview"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host (name or address) and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A listener took a connection; for TLS only after the handshake."""

    listener_id: int
    connection_id: int
    peer: Endpoint


@dataclass(frozen=True, slots=True)
class Connected:
    """An outgoing connection is usable; for TLS only after the handshake and the host name check."""

    connection_id: int


@dataclass(frozen=True, slots=True)
class Received:
    """Some bytes, in order, with no framing."""

    connection_id: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ReceivedInto:
    """The next bytes are in the buffer given to ``read_into``: this many, after those reported before."""

    connection_id: int
    size: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is gone. Reported once per connection, never for one that we closed. ``error`` says why it
    broke, None for a clean end."""

    connection_id: int
    error: Exception | None


@dataclass(frozen=True, slots=True)
class Offloaded:
    """Work given to ``offload`` is done: its value, or the error it raised."""

    work_id: int
    value: object
    error: BaseException | None


Event: TypeAlias = Accepted | Connected | Received | ReceivedInto | Closed | Offloaded


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound port. ``endpoint`` holds the real port when 0 was asked for."""

    listener_id: int
    endpoint: Endpoint


class Clock(Protocol):
    """Where time comes from: the real one lives in reactor.py, a hand-driven one in testing."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def wall_ms(self) -> int:
        """Milliseconds since the epoch, for timestamps that leave this process."""
        ...


class Transport(Protocol):
    """What does the bytes. Not thread-safe but for ``wake``. Connection and listener ids are never reused."""

    def connect(self, endpoint: Endpoint, *, tls: SSLContext | None = None, server_name: str | None = None) -> int:
        """Start to connect (names resolved off the loop, every address tried); the outcome is a Connected or Closed
        event."""
        ...

    def listen(self, endpoint: Endpoint, *, tls: SSLContext | None = None) -> Listener:
        """Bind now; raises OSError at once when it cannot."""
        ...

    def unlisten(self, listener_id: int) -> None:
        """Stop accepting and free the port; accepted connections stay."""
        ...

    def write(self, connection_id: int, data: Buffer | Sequence[Buffer]) -> None:
        """Queue bytes; never blocks. The buffers must not change until they are sent. Unknown or closed ids are
        ignored."""
        ...

    def unsent_bytes(self, connection_id: int) -> int:
        """Bytes queued and not yet taken by the kernel: the measure for back-pressure."""
        ...

    def set_reading(self, connection_id: int, reading: bool) -> None:
        """Stop or go on reading from a peer that sends faster than we work."""
        ...

    def read_into(self, connection_id: int, buffer: memoryview | None) -> None:
        """Put the next bytes here, until it is full, and report them as ReceivedInto; None: no more. It is an offer: a
        transport may report them as Received all the same. Holds until the next call or until the buffer is full."""
        ...

    def close(self, connection_id: int, *, after_sending: bool = False) -> None:
        """Close now, or when what is queued has left. No event follows."""
        ...

    def offload(self, work: Callable[[], object]) -> int:
        """Run slow work (a key derivation, a token provider) off the loop; the outcome is an Offloaded event."""
        ...

    def poll(self, timeout_s: float | None) -> list[Event]:
        """Wait for events, a wake-up or the time-out; may return an empty list."""
        ...

    def wake(self) -> None:
        """Make a ``poll`` that waits in another thread return soon. Thread- and signal-safe."""
        ...

    def shut_down(self) -> None:
        """Close everything: connections, listeners, the resolver."""
        ...

    def abandon(self) -> None:
        """In a forked child: let go of everything without a byte to any peer and without touching what the parent
        shares."""
        ...
