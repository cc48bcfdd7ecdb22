"""Who a peer is: SaslHandshake, SaslAuthenticate, and the end of a session (KIP-368).

One ``Authentication`` per connection of a SASL listener, on the node's thread. It must never log or show what a
client sends, and a peer that fails is answered once and then closed.
"""

from __future__ import annotations

import logging
import math
from typing import Any

from pykclient.broker.request import ANONYMOUS, Principal
from pykclient.errors import AuthenticationError, ErrorCode, SaslAuthenticationFailed, UnsupportedSaslMechanism
from pykclient.net.sasl import Entropy, SaslServers, ServerExchange
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

logger = logging.getLogger(__name__)


class Authentication:
    """The state of one connection. ``failed`` asks the server to close it after the answer."""

    def __init__(
        self, servers: SaslServers | None, *, peer: Endpoint, entropy: Entropy, reauthenticate_s: float
    ) -> None:
        self.principal = ANONYMOUS
        self.done = servers is None
        self.failed = False
        self.expires_at = math.inf
        self._servers = servers
        self._peer = peer
        self._entropy = entropy
        self._reauthenticate_s = reauthenticate_s
        self._exchange: ServerExchange | None = None

    @property
    def under_way(self) -> bool:
        """Between a handshake and its end."""
        return self._exchange is not None

    def handshake(self, request: SaslHandshakeRequest, wall_ms: int) -> SaslHandshakeResponse:
        """Agree on a mechanism."""
        if self._servers is None:
            self.failed = True
            return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
        try:
            self._exchange = self._servers.start(request.mechanism, entropy=self._entropy, wall_ms=wall_ms)
        except UnsupportedSaslMechanism:
            self.failed = True
            return SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, list(self._servers.mechanisms))
        return SaslHandshakeResponse(mechanisms=list(self._servers.mechanisms))

    def authenticate(self, request: SaslAuthenticateRequest, now: float, wall_ms: int) -> SaslAuthenticateResponse:
        """One round of the exchange."""
        if self._exchange is None:
            self.failed = True
            return SaslAuthenticateResponse(
                ErrorCode.ILLEGAL_SASL_STATE, "SaslAuthenticate request received without a SaslHandshake"
            )
        try:
            challenge = self._exchange.step(bytes(request.auth_bytes))
        except SaslAuthenticationFailed as error:
            return self._refused(error.message)
        except AuthenticationError:
            return self._refused("Authentication failed")
        response = SaslAuthenticateResponse(error_message=None, auth_bytes=challenge)
        if self._exchange.done:
            exchange, self._exchange = self._exchange, None
            principal = Principal("User", exchange.principal)
            if self.done and principal != self.principal:
                return self._refused("Cannot change principals during re-authentication")
            self.principal = principal
            self.done = True
            response.session_lifetime_ms = self._session_ms(exchange, now, wall_ms)
        return response

    def _session_ms(self, exchange: ServerExchange, now: float, wall_ms: int) -> int:
        limits = [self._reauthenticate_s * 1000] if self._reauthenticate_s > 0 else []
        if exchange.expires_at_ms is not None:
            limits.append(max(1, exchange.expires_at_ms - wall_ms))
        if not limits:
            self.expires_at = math.inf
            return 0
        session_ms = int(min(limits))
        self.expires_at = now + session_ms / 1000
        return session_ms

    def _refused(self, reason: str) -> SaslAuthenticateResponse:
        self.failed = True
        self._exchange = None
        logger.info("%s failed to authenticate: %s", self._peer, reason)
        return SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, reason)


def sasl_message(authentication: Authentication, request: Any, now: float, wall_ms: int) -> Any:
    """Answer either of the two SASL requests."""
    if isinstance(request, SaslHandshakeRequest):
        return authentication.handshake(request, wall_ms)
    return authentication.authenticate(request, now, wall_ms)
