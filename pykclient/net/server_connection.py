"""The broker's side of one connection, without I/O: bytes in, requests out one at a time, answers in the order of the
requests.

Owns the limits on what a peer may send before and after it has proven who it is, and the rule that one request of a
connection is worked on at a time (as in Kafka: order for free, and a peer that never reads costs one answer).
Belongs to the broker node's thread; does no I/O, decodes nothing but headers, never logs a body.
The client's side is connection.py.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pykclient.errors import ProtocolError
from pykclient.net.transport import Buffer
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.wire import FrameSplitter, decode_request_header, encode_response

REQUEST_BYTES_MAX = 100 * 1024 * 1024
# What a peer may claim before it is authenticated (R15): enough for any SASL message.
UNPROVEN_BYTES_MAX = 512 * 1024
# Frames that wait behind the one being worked on; past this the server stops reading from the peer.
WAITING_MAX = 32

BEFORE_AUTHENTICATION = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request as it arrived. The body is decoded by whoever handles it."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    frame: Buffer = field(repr=False)
    position: int

    @property
    def known_version(self) -> bool:
        """Whether our messages can read this version at all."""
        info = api(self.api_key)
        return info.min_version <= self.version <= info.max_version

    @property
    def body(self) -> memoryview:
        """Everything behind the header."""
        return memoryview(self.frame)[self.position :]

    def message(self) -> Any:
        """The decoded request; ProtocolError when its bytes make no sense."""
        return api(self.api_key).request_class().read(self.frame, self.version, self.position)


class ServerConnection:
    """See the module. A ProtocolError out of any method means: close this connection, and harm no other."""

    __slots__ = (
        "_authenticated",
        "_bytes_max",
        "_splitter",
        "_waiting",
        "_waiting_bytes",
        "_working_on",
        "requests_total",
    )

    def __init__(self, *, bytes_max: int = REQUEST_BYTES_MAX, authenticated: bool = True) -> None:
        self.requests_total = 0
        self._bytes_max = bytes_max
        self._authenticated = authenticated
        self._splitter = FrameSplitter(bytes_max if authenticated else min(bytes_max, UNPROVEN_BYTES_MAX))
        self._waiting: deque[ServerRequest] = deque()
        self._waiting_bytes = 0
        self._working_on: ServerRequest | None = None

    @property
    def authenticated(self) -> bool:
        """Whether every API is open to this peer."""
        return self._authenticated

    def authentication_done(self) -> None:
        """The peer has proven who it is: larger frames and all APIs from now on."""
        self._authenticated = True
        self._splitter.bytes_max = self._bytes_max

    @property
    def busy(self) -> bool:
        """A request is being worked on."""
        return self._working_on is not None

    @property
    def wants_pause(self) -> bool:
        """True while the peer sends faster than we answer: the server should stop reading until this is False."""
        return len(self._waiting) >= WAITING_MAX or self._waiting_bytes >= self._bytes_max

    def receive(self, data: bytes) -> None:
        """Bytes from the peer."""
        for frame in self._splitter.feed(data):
            head = decode_request_header(frame)
            self._waiting_bytes += len(frame)
            self._waiting.append(
                ServerRequest(head.api_key, head.version, head.correlation_id, head.client_id, frame, head.position)
            )

    def next_request(self) -> ServerRequest | None:
        """The next request to work on; None while one is, or when there is none."""
        if self._working_on is not None or not self._waiting:
            return None
        request = self._waiting.popleft()
        self._waiting_bytes -= len(request.frame)
        # Checked here and not on arrival: what is pipelined behind the last SASL message is judged after it.
        if not self._authenticated and request.api_key not in BEFORE_AUTHENTICATION:
            raise ProtocolError("a request came before authentication", api=api(request.api_key).name)
        self._working_on = request
        self.requests_total += 1
        return request

    def respond(self, request: ServerRequest, message: Any, *, version: int | None = None) -> list[Buffer]:
        """The bytes of the answer; the next request may be taken. ``message`` None: the protocol has no answer
        (acks=0).

        ``version`` overrides the request's own: ApiVersions in a version we do not know is answered in version 0.
        """
        assert request is self._working_on, "answers come in the order of the requests"
        self._working_on = None
        if message is None:
            return []
        answered_in = request.version if version is None else version
        return encode_response(request.api_key, answered_in, request.correlation_id, message)


__all__ = ["ServerConnection", "ServerRequest"]
