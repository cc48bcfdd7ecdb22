"""SASL for both roles without I/O: PLAIN here, SCRAM in scram.py, OAUTHBEARER in oauthbearer.py, GSSAPI (the client's
side only) in kerberos.py, and who starts which.

An exchange is fed with the other side's messages by ``step`` and says when it is ``done``. A client's ``step`` may take
long (key derivation, token providers) and belongs off the loop. Entropy and time are arguments. Secrets never show in
``repr``, errors or pickles; whatever fails leaves the exchange unusable.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pykclient.config import CommonConfig, Secret
from pykclient.errors import AuthenticationError, ConfigError, SaslAuthenticationFailed, UnsupportedSaslMechanism
from pykclient.net.oauthbearer import OAuthBearerClient, OAuthBearerServer, TokenVerifier
from pykclient.net.scram import HASHES, ScramClient, ScramCredential, ScramServer

Entropy = Callable[[int], bytes]
"""So many unpredictable bytes: ``secrets.token_bytes`` in life, a seeded source in the simulator."""

PLAIN_BYTES_MAX = 65_536
NONCE_BYTES = 24


class ClientExchange(Protocol):
    """The client's side of one authentication."""

    def step(self, challenge: bytes) -> bytes:
        """The next message for the broker; the first call gets ``b""``."""
        ...

    @property
    def done(self) -> bool:
        """True when nothing more is to be sent and the broker is proven as far as the mechanism can."""
        ...


class ServerExchange(Protocol):
    """The broker's side of one authentication."""

    def step(self, response: bytes) -> bytes:
        """The answer to a message; raises `SaslAuthenticationFailed`."""
        ...

    @property
    def done(self) -> bool:
        """True once the client is known."""
        ...

    @property
    def principal(self) -> str:
        """The client's name; only when done."""
        ...

    @property
    def expires_at_ms(self) -> int | None:
        """Until when (epoch milliseconds) the proof holds; None: for ever."""
        ...


class PlainClient:
    """RFC 4616: name and password in one message. Only as safe as the connection below."""

    def __init__(self, username: str, password: Secret) -> None:
        if "\0" in username or "\0" in password.reveal():
            raise AuthenticationError("PLAIN cannot carry a NUL character in the name or the password")
        self._username = username
        self._password = password
        self.done = False

    def __repr__(self) -> str:
        return "<PLAIN client>"

    def step(self, challenge: bytes) -> bytes:
        """The one message."""
        if self.done:
            raise AuthenticationError("The broker sent a PLAIN message out of turn")
        self.done = True
        return f"\0{self._username}\0{self._password.reveal()}".encode()


class PlainServer:
    """Checks one message against the passwords of known users."""

    def __init__(self, password_of: Callable[[str], Secret | None]) -> None:
        self._password_of = password_of
        self._username: str | None = None
        self._spent = False

    def __repr__(self) -> str:
        return "<PLAIN server>"

    @property
    def done(self) -> bool:
        """True once the password was right."""
        return self._username is not None

    @property
    def principal(self) -> str:
        """Who it is; only when done."""
        assert self._username is not None, "not authenticated"
        return self._username

    @property
    def expires_at_ms(self) -> int | None:
        """Passwords do not expire."""
        return None

    def step(self, response: bytes) -> bytes:
        """Empty when the password is right."""
        if self._spent:
            raise SaslAuthenticationFailed("A second PLAIN message came in one exchange")
        self._spent = True
        authorization_id, username, password = self._parse(response)
        if authorization_id and authorization_id != username:
            raise SaslAuthenticationFailed("The client asks to act as somebody else")
        expected = self._password_of(username)
        # Unknown users cost the same comparison, so that the time taken does not tell which names exist.
        right = hmac.compare_digest(password.encode(), (expected.reveal() if expected else password + "x").encode())
        if expected is None or not right:
            raise SaslAuthenticationFailed("Unknown user or wrong password")
        self._username = username
        return b""

    @staticmethod
    def _parse(response: bytes) -> tuple[str, str, str]:
        try:
            parts = response.decode("utf-8").split("\0") if len(response) <= PLAIN_BYTES_MAX else []
        except UnicodeDecodeError:
            parts = []
        if len(parts) != 3 or not parts[1] or not parts[2]:
            raise SaslAuthenticationFailed("The PLAIN message is malformed")
        return parts[0], parts[1], parts[2]


def client_exchange(config: CommonConfig, entropy: Entropy, host: str) -> ClientExchange:
    """A new exchange for one connection to ``host``, as the configuration says."""
    mechanism = config.sasl_mechanism
    if mechanism == "GSSAPI":
        from pykclient.net.kerberos import GssapiClient  # an extra

        assert config.sasl_kerberos_service_name is not None, "the configuration was checked"
        return GssapiClient(
            host,
            config.sasl_kerberos_service_name,
            principal=config.sasl_kerberos_principal,
            keytab=config.sasl_kerberos_keytab,
        )
    if mechanism == "OAUTHBEARER":
        assert config.sasl_oauth_token_provider is not None, "the configuration was checked"
        return OAuthBearerClient(config.sasl_oauth_token_provider.token)
    assert config.sasl_username is not None, "the configuration was checked"
    assert config.sasl_password is not None, "the configuration was checked"
    if mechanism == "PLAIN":
        return PlainClient(config.sasl_username, config.sasl_password)
    assert mechanism in HASHES, mechanism
    return ScramClient(
        mechanism,
        config.sasl_username,
        config.sasl_password,
        nonce=make_nonce(entropy),
        token_auth=config.sasl_token_auth,
        iterations_min=config.scram_iterations_min,
        iterations_max=config.scram_iterations_max,
    )


@dataclass(frozen=True)
class SaslServers:
    """What a listener accepts. Give it the users of each mechanism it shall offer; refuses to exist half configured."""

    mechanisms: tuple[str, ...]
    plain_users: Mapping[str, Secret] | None = field(default=None, repr=False)
    scram_users: Mapping[str, Mapping[str, ScramCredential]] | None = field(default=None, repr=False)
    """Mechanism -> user -> credential. Looked up at each login, so it may be a live view."""
    scram_tokens: Mapping[str, Mapping[str, ScramCredential]] | None = field(default=None, repr=False)
    """The same for delegation tokens (``tokenauth=true``)."""
    token_verifier: TokenVerifier | None = None

    def __post_init__(self) -> None:
        problems = []
        for mechanism in self.mechanisms:
            if mechanism not in ("PLAIN", "OAUTHBEARER", *HASHES):
                problems.append(f"{mechanism} is not a mechanism this broker has")
        if not self.mechanisms:
            problems.append("a SASL listener needs at least one mechanism")
        if "PLAIN" in self.mechanisms and self.plain_users is None:
            problems.append("PLAIN needs plain_users")
        if set(self.mechanisms) & set(HASHES) and self.scram_users is None:
            problems.append("SCRAM needs scram_users")
        if "OAUTHBEARER" in self.mechanisms and self.token_verifier is None:
            problems.append("OAUTHBEARER needs token_verifier: without one every token would have to be believed")
        if problems:
            raise ConfigError(problems)

    def start(self, mechanism: str, *, entropy: Entropy, wall_ms: int) -> ServerExchange:
        """A new exchange; `UnsupportedSaslMechanism` when this listener does not offer the mechanism."""
        if mechanism not in self.mechanisms:
            raise UnsupportedSaslMechanism(f"This listener offers {', '.join(self.mechanisms)}")
        if mechanism == "PLAIN":
            assert self.plain_users is not None, "checked when made"
            return PlainServer(self.plain_users.get)
        if mechanism == "OAUTHBEARER":
            assert self.token_verifier is not None, "checked when made"
            return OAuthBearerServer(self.token_verifier, wall_ms=wall_ms)
        assert self.scram_users is not None, "checked when made"
        tokens = self.scram_tokens.get(mechanism, {}) if self.scram_tokens is not None else None
        return ScramServer(
            mechanism,
            self.scram_users.get(mechanism, {}).get,
            nonce=make_nonce(entropy),
            token_credential_of=tokens.get if tokens is not None else None,
        )


def make_nonce(entropy: Entropy) -> str:
    """Printable, without a comma, 192 bits."""
    return base64.urlsafe_b64encode(entropy(NONCE_BYTES)).decode("ascii").rstrip("=")


__all__ = [
    "ClientExchange",
    "Entropy",
    "PlainClient",
    "PlainServer",
    "SaslServers",
    "ServerExchange",
    "client_exchange",
    "make_nonce",
]
