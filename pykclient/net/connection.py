"""The client's side of one connection, without I/O: bytes in, events out, bytes to send collected on the way.

Owns the order of things: ApiVersions first (with the fallback for old brokers), then SASL, then requests; answers
matched in order; the session renewed before it ends (KIP-368); limits on what a peer may claim. Runs on the reactor
thread and belongs to one link. It must never log or show what it sends: credentials pass through here. The broker's
side is server_connection.py.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pykclient import __version__
from pykclient.errors import (
    AuthenticationError,
    ErrorCode,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanism,
    UnsupportedVersionError,
    broker_error,
)
from pykclient.net.client_request import ApiVersions
from pykclient.net.failures import PeerIsTls, StrayAnswer
from pykclient.net.transport import Buffer, Endpoint
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykclient.protocol.wire import FrameSplitter, decode_response_header, encode_request

if TYPE_CHECKING:
    from ssl import SSLContext

    from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
    from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse

# Before a peer has proven anything, nothing it sends needs more (R1).
UNPROVEN_BYTES_MAX = 512 * 1024
# SCRAM takes two rounds, OAUTHBEARER two, GSSAPI some; a peer that wants more is playing with us.
SASL_ROUNDS_MAX = 16
# Renew a session in this part of its life, at a random point so that a fleet of clients does not renew together (as
# Java).
RENEW_FROM, RENEW_SPREAD = 0.85, 0.10
SOFTWARE_NAME = "pykclient"


class Random(Protocol):
    """What we need of ``random.Random``; passed in, so that a seed repeats a run."""

    def random(self) -> float:
        """In [0, 1)."""
        ...


class SaslExchange(Protocol):
    """One SASL conversation, client side. Each call may take long (key derivation, a token provider) and runs off the
    loop."""

    def step(self, challenge: bytes) -> bytes:
        """The next message for the broker; the first call gets ``b""``. Raises AuthenticationError when the broker is
        a fraud."""
        ...

    @property
    def done(self) -> bool:
        """True when the client has sent its last message and verified the broker as far as the mechanism can."""
        ...


@dataclass(frozen=True, slots=True)
class Security:
    """How a connection is protected. Credentials live inside what ``sasl`` makes and are never shown."""

    tls: SSLContext | None = None
    server_name: str | None = None
    """The name the certificate must carry; None: the host we connect to."""
    sasl_mechanism: str | None = None
    sasl: Callable[[Endpoint], SaslExchange] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What one connection needs to know."""

    client_id: str = "pykclient"
    client_version: str = __version__
    response_bytes_max: int = 100 * 1024 * 1024
    unproven_bytes_max: int = UNPROVEN_BYTES_MAX
    """The same until the broker has said what it speaks and is authenticated."""
    security: Security = field(default_factory=Security)


@dataclass(frozen=True, slots=True)
class Ready:
    """Negotiated and authenticated: requests may be sent. Comes again after each renewal of the session."""

    versions: ApiVersions


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, with the token its request was sent under."""

    token: Any
    message: Any


@dataclass(frozen=True, slots=True)
class Offload:
    """Run this off the loop and call ``offload_done`` with the outcome."""

    work: Callable[[], object] = field(repr=False)


@dataclass(slots=True)
class InFlight:
    """A request that awaits its answer. ``token`` None: one of our own."""

    correlation_id: int
    api_key: int
    version: int
    token: Any


class Stage(enum.Enum):
    """How far the connection is."""

    VERSIONS = "asking what the broker speaks"
    HANDSHAKE = "agreeing on a mechanism"
    AUTHENTICATE = "proving who we are"
    OPEN = "taking requests"


NEXT = {
    Stage.VERSIONS: {Stage.HANDSHAKE, Stage.OPEN},
    Stage.HANDSHAKE: {Stage.AUTHENTICATE},
    Stage.AUTHENTICATE: {Stage.OPEN},
    Stage.OPEN: {Stage.HANDSHAKE},
}


class ClientConnection:
    """See the module. Methods that take bytes or outcomes give an iterator of events; a KafkaError out of it means:
    close."""

    def __init__(self, settings: ConnectionSettings, *, endpoint: Endpoint, rng: Random) -> None:
        self.versions = ApiVersions({})
        self.in_flight: deque[InFlight] = deque()
        self.reauthenticate_at = math.inf
        self._settings = settings
        self._endpoint = endpoint
        self._rng = rng
        self._stage = Stage.VERSIONS
        self._splitter = FrameSplitter(settings.unproven_bytes_max)
        self._output: list[Buffer] = []
        self._correlation_id = 0
        self._exchange: SaslExchange | None = None
        self._rounds = 0
        self._answered = False
        self._asked_with = ApiVersionsRequest.MAX_VERSION
        self._session_lifetime_ms = 0

    def __repr__(self) -> str:
        return f"<ClientConnection to {self._endpoint}, {self._stage.value}>"

    @property
    def accepts_requests(self) -> bool:
        """False before negotiation ended and while the session is renewed."""
        return self._stage is Stage.OPEN

    def start(self, now: float) -> None:
        """The transport is connected: ask what the broker speaks."""
        self._ask_versions(ApiVersionsRequest.MAX_VERSION)

    def send(self, token: Any, api_key: int, version: int, message: Any, *, expects_response: bool = True) -> None:
        """Encode a request; its answer comes as a Response with this token. Raises UsageError for a message the
        version cannot carry."""
        assert self._stage is Stage.OPEN or token is None, "requests wait until the connection is ready"
        correlation_id = self._correlation_id
        encoded = encode_request(api_key, version, correlation_id, self._settings.client_id, message)
        self._correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        self._output.extend(encoded)
        if expects_response:
            self.in_flight.append(InFlight(correlation_id, api_key, version, token))

    def take_output(self) -> list[Buffer]:
        """Bytes to write, in order."""
        output, self._output = self._output, []
        return output

    def advance(self, now: float) -> None:
        """Renew the session when it is time; until that is done no requests are accepted, those in flight go on."""
        if now >= self.reauthenticate_at and self._stage is Stage.OPEN:
            self.reauthenticate_at = math.inf
            self._begin_handshake()

    def receive(self, data: bytes, now: float) -> Iterator[Ready | Response | Offload]:
        """Bytes from the broker."""
        if not self._answered and data[:1] in (b"\x15", b"\x16") and data[1:2] in (b"", b"\x03"):
            # A TLS alert or hello where a frame size should be: read as a size it would be 350 MB.
            raise PeerIsTls(host=self._endpoint.host, port=self._endpoint.port)
        self._answered = True
        for frame in self._splitter.feed(data):
            yield from self._take_frame(frame, now)

    def room(self) -> memoryview | None:
        """Where the bytes to come may be put directly; tell ``received_into`` how many. See FrameSplitter."""
        return self._splitter.room()

    def received_into(self, size: int, now: float) -> Iterator[Ready | Response | Offload]:
        """Bytes from the broker, put into ``room``."""
        for frame in self._splitter.filled(size):
            yield from self._take_frame(frame, now)

    def offload_done(
        self, value: object, error: BaseException | None, now: float
    ) -> Iterator[Ready | Response | Offload]:
        """The outcome of an Offload."""
        if error is not None:
            if isinstance(error, KafkaError):
                raise error
            # The text of a foreign error may quote what it was given; its type says enough.
            failure = AuthenticationError(
                f"the SASL exchange failed with {type(error).__name__}", node=str(self._endpoint)
            )
            raise failure from None
        if self._stage is Stage.AUTHENTICATE and isinstance(value, _SaslStep):
            if value.response is not None:
                from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest

                version = self.versions.usable(ApiKey.SASL_AUTHENTICATE) or 0
                self.send(None, ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(auth_bytes=value.response))
            else:
                yield self._open(now)

    # ---- inside ----

    def _to(self, stage: Stage) -> None:
        assert stage in NEXT[self._stage], f"{self._stage} to {stage}"
        self._stage = stage

    def _take_frame(self, frame: Buffer, now: float) -> Iterator[Ready | Response | Offload]:
        if not self.in_flight:
            raise StrayAnswer("an answer came that nobody asked for", node=str(self._endpoint))
        sent = self.in_flight[0]
        correlation_id, position = decode_response_header(frame, sent.api_key, sent.version)
        if correlation_id != sent.correlation_id:
            wanted = f"answer {correlation_id} came where {sent.correlation_id} was due"
            raise StrayAnswer(wanted, node=str(self._endpoint), api=api(sent.api_key).name)
        if sent.token is not None:
            message = api(sent.api_key).response_class().read(frame, sent.version, position)
            self.in_flight.popleft()
            yield Response(sent.token, message)
            return
        self.in_flight.popleft()
        if sent.api_key == ApiKey.API_VERSIONS:
            yield from self._take_versions(frame, position, sent.version, now)
        elif sent.api_key == ApiKey.SASL_HANDSHAKE:
            from pykclient.protocol.messages.sasl_handshake import SaslHandshakeResponse

            yield self._take_handshake(SaslHandshakeResponse.read(frame, sent.version, position))
        else:
            from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateResponse

            yield self._take_challenge(SaslAuthenticateResponse.read(frame, sent.version, position), now)

    def _ask_versions(self, version: int) -> None:
        self._asked_with = version
        request = ApiVersionsRequest(SOFTWARE_NAME, self._settings.client_version)
        self.send(None, ApiKey.API_VERSIONS, version, request)

    def _take_versions(self, frame: Buffer, position: int, version: int, now: float) -> Iterator[Ready]:
        # A broker that does not know our version answers in version 0, whatever we asked with (KIP-511).
        code = int.from_bytes(frame[position : position + 2], "big", signed=True)
        if version > 0 and code == ErrorCode.UNSUPPORTED_VERSION:
            answer = ApiVersionsResponse.read(frame, 0, position)
            offered = next((each.max_version for each in answer.api_keys if each.api_key == ApiKey.API_VERSIONS), 0)
            self._ask_versions(max(0, min(offered, version - 1)))
            return
        answer = ApiVersionsResponse.read(frame, version, position)
        if answer.error_code != 0:
            raise broker_error(answer.error_code, node=str(self._endpoint), api="ApiVersions")
        self.versions = ApiVersions(
            {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys},
            finalized_features={each.name: each.max_version_level for each in answer.finalized_features},
            finalized_features_epoch=answer.finalized_features_epoch,
            supported_features={each.name: (each.min_version, each.max_version) for each in answer.supported_features},
        )
        if self._settings.security.sasl is None:
            yield self._open(now)
        else:
            self._begin_handshake()

    def _begin_handshake(self) -> None:
        security = self._settings.security
        assert security.sasl is not None, "SASL needs credentials"
        assert security.sasl_mechanism is not None, "SASL needs a mechanism"
        from pykclient.protocol.messages.sasl_handshake import SaslHandshakeRequest

        self._to(Stage.HANDSHAKE)
        self._exchange = security.sasl(self._endpoint)
        self._rounds = 0
        try:
            # Version 1 is what makes the broker take SaslAuthenticate frames; raw tokens (version 0) died with Kafka 4.
            version = self.versions.pick(ApiKey.SASL_HANDSHAKE, version_min=1)
        except UnsupportedVersionError as error:
            raise AuthenticationError(
                "the broker's listener offers no SASL; check security_protocol", node=str(self._endpoint)
            ) from error
        self.send(None, ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism=security.sasl_mechanism))

    def _take_handshake(self, answer: SaslHandshakeResponse) -> Offload:
        if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            offered = ", ".join(answer.mechanisms) or "none"
            raise UnsupportedSaslMechanism(
                f"the broker offers {offered}, not {self._settings.security.sasl_mechanism}; set sasl_mechanism",
                node=str(self._endpoint),
            )
        if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            raise AuthenticationError(
                "this listener does not use SASL; check security_protocol", node=str(self._endpoint)
            )
        if answer.error_code != 0:
            raise broker_error(answer.error_code, node=str(self._endpoint), api="SaslHandshake")
        self._to(Stage.AUTHENTICATE)
        return self._next_step(b"")

    def _take_challenge(self, answer: SaslAuthenticateResponse, now: float) -> Ready | Offload:
        if answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED:
            reason = f"the broker refuses the login ({answer.error_message or 'it does not say why'})"
            gssapi = self._settings.security.sasl_mechanism == "GSSAPI"
            settings = "the sasl_kerberos options" if gssapi else "sasl_username, sasl_password and sasl_mechanism"
            raise SaslAuthenticationFailed(f"{reason}; check {settings}", node=str(self._endpoint))
        if answer.error_code != 0:
            raise broker_error(
                answer.error_code, answer.error_message, node=str(self._endpoint), api="SaslAuthenticate"
            )
        self._session_lifetime_ms = answer.session_lifetime_ms
        assert self._exchange is not None, "an exchange is under way"
        if self._exchange.done:
            return self._open(now)
        return self._next_step(answer.auth_bytes)

    def _next_step(self, challenge: bytes) -> Offload:
        self._rounds += 1
        if self._rounds > SASL_ROUNDS_MAX:
            raise AuthenticationError(f"no end after {SASL_ROUNDS_MAX} rounds of SASL", node=str(self._endpoint))
        exchange = self._exchange
        assert exchange is not None, "an exchange is under way"

        first = self._rounds == 1

        def work() -> _SaslStep:
            response = exchange.step(challenge)
            # The last challenge (SCRAM's server signature) is only verified: nothing goes back.
            return _SaslStep(None if exchange.done and not response and not first else response)

        return Offload(work)

    def _open(self, now: float) -> Ready:
        self._to(Stage.OPEN)
        self._exchange = None
        self._splitter.bytes_max = self._settings.response_bytes_max
        if self._session_lifetime_ms > 0:
            share = RENEW_FROM + RENEW_SPREAD * self._rng.random()
            self.reauthenticate_at = now + self._session_lifetime_ms / 1000 * share
        return Ready(self.versions)


@dataclass(frozen=True, slots=True)
class _SaslStep:
    """What to send next, None when the exchange ended with the broker's last message."""

    response: bytes | None = field(repr=False)


__all__ = [
    "ClientConnection",
    "ConnectionSettings",
    "InFlight",
    "Offload",
    "Random",
    "Ready",
    "Response",
    "SaslExchange",
    "Security",
]
