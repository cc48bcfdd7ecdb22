"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, 7677) as Kafka speaks them, both sides, without I/O.

Each exchange is a small state machine fed with the other side's messages; nonces are arguments. ``step`` with the key
derivation costs about 1 ms per 4,000 iterations with the GIL released, so run it off the loop. Must never put a
password, a key or a proof into an error. As in Kafka there is no SASLprep: names and passwords are plain UTF-8.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pykclient.config import Secret
from pykclient.errors import AuthenticationError, ConfigError, SaslAuthenticationFailed

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 1_000_000
MESSAGE_BYTES_MAX = 65_536
"""No SCRAM message comes near this; longer ones are refused unread."""

_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?"
_EXTENSIONS = r"((?:,[A-Za-z]+=[\x01-\x2b\x2d-\x7f]+)*)"
_SASL_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
# Texts: an expression is compiled when it is first asked, not at import.
_CLIENT_FIRST = rf"(n,(?:a=({_SASL_NAME}))?,)(n=({_SASL_NAME}),r=({_PRINTABLE}){_EXTENSIONS})\Z"
_SERVER_FIRST = rf"r=({_PRINTABLE}),s=({_BASE64}),i=([0-9]{{1,10}}){_EXTENSIONS}\Z"
_CLIENT_FINAL = rf"(c=({_BASE64}),r=({_PRINTABLE}){_EXTENSIONS}),p=({_BASE64})\Z"
_SERVER_FINAL = rf"(?:e=([\x01-\x2b\x2d-\x7f]+)|v=({_BASE64})){_EXTENSIONS}\Z"


@dataclass(frozen=True)
class ScramCredential:
    """What a server keeps instead of the password. Whoever holds it can pose as the server, so it is not shown."""

    salt: bytes
    iterations: int
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    def __reduce__(self) -> Any:
        raise TypeError("a credential is a secret and is not pickled")


def make_credential(mechanism: str, password: str, *, salt: bytes, iterations: int = ITERATIONS_MIN) -> ScramCredential:
    """Derive what the server stores for a user. Costly on purpose."""
    if mechanism not in HASHES:
        raise ConfigError(f"{mechanism} is not a SCRAM mechanism")
    if iterations < ITERATIONS_MIN:
        raise ConfigError(f"{iterations} SCRAM iterations are too few; at least {ITERATIONS_MIN}")
    salted = salted_password(mechanism, password, salt, iterations)
    client_key = _hmac(mechanism, salted, b"Client Key")
    return ScramCredential(salt, iterations, _hash(mechanism, client_key), _hmac(mechanism, salted, b"Server Key"))


def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    """The costly part (PBKDF2); releases the GIL."""
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode("utf-8"), salt, iterations)


def escape_name(name: str) -> str:
    """A user name as it stands in a message."""
    return name.replace("=", "=3D").replace(",", "=2C")


def unescape_name(name: str) -> str:
    """The user name a message means."""
    return name.replace("=2C", ",").replace("=3D", "=")


class _State(enum.Enum):
    START = "nothing sent"
    FIRST_SENT = "first message sent"
    FINAL_SENT = "proof sent"
    DONE = "both sides proven"
    FAILED = "refused"


_LEGAL = {
    _State.START: {_State.FIRST_SENT, _State.FAILED},
    _State.FIRST_SENT: {_State.FINAL_SENT, _State.DONE, _State.FAILED},
    _State.FINAL_SENT: {_State.DONE, _State.FAILED},
    _State.DONE: set[_State](),
    _State.FAILED: set[_State](),
}


class ScramClient:
    """The client's side: ``step(b"")`` gives the first message, then one ``step`` per answer of the server."""

    def __init__(
        self,
        mechanism: str,
        username: str,
        password: Secret,
        *,
        nonce: str,
        token_auth: bool = False,
        iterations_min: int = ITERATIONS_MIN,
        iterations_max: int = ITERATIONS_MAX,
    ) -> None:
        assert mechanism in HASHES, mechanism
        self._mechanism = mechanism
        self._password = password
        self._nonce = nonce
        self._iterations_min = iterations_min
        self._iterations_max = iterations_max
        extension = ",tokenauth=true" if token_auth else ""
        self._first_bare = f"n={escape_name(username)},r={nonce}{extension}"
        self._server_signature = b""
        self._state = _State.START

    def __repr__(self) -> str:
        return f"<{self._mechanism} client, {self._state.value}>"

    @property
    def done(self) -> bool:
        """True once the server has proven that it knows the password as well."""
        return self._state is _State.DONE

    def step(self, challenge: bytes) -> bytes:
        """The next message; empty when the server's last message was verified. Costly after the server's first."""
        state, self._state = self._state, _State.FAILED  # whatever goes wrong below, nothing follows
        if state is _State.START:
            self._to(state, _State.FIRST_SENT)
            return f"n,,{self._first_bare}".encode()
        text = _text(challenge, AuthenticationError, "The broker's SCRAM message")
        if state is _State.FIRST_SENT:
            answer = self._final(text)
            self._to(state, _State.FINAL_SENT)
            return answer
        if state is _State.FINAL_SENT:
            self._verify(text)
            self._to(state, _State.DONE)
            return b""
        raise AuthenticationError(f"The broker sent a SCRAM message out of turn ({state.value})")

    def _to(self, old: _State, new: _State) -> None:
        assert new in _LEGAL[old], f"{old} -> {new}"
        self._state = new

    def _final(self, server_first: str) -> bytes:
        match = re.match(_SERVER_FIRST, server_first)
        if match is None:
            raise AuthenticationError("The broker's first SCRAM message is malformed")
        nonce, salt_text, iterations = match.group(1), match.group(2), int(match.group(3))
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise AuthenticationError("The broker's SCRAM nonce does not extend ours; this may be a replay")
        if not salt_text:
            raise AuthenticationError("The broker's SCRAM salt is empty")
        # Checked before the derivation: too many would freeze us, too few would give the password away to a guesser.
        if not self._iterations_min <= iterations <= self._iterations_max:
            raise AuthenticationError(
                f"The broker asks for {iterations} SCRAM iterations; allowed are {self._iterations_min} to "
                f"{self._iterations_max} (scram_iterations_min, scram_iterations_max)"
            )
        salted = salted_password(self._mechanism, self._password.reveal(), base64.b64decode(salt_text), iterations)
        # As Kafka does, the message is rebuilt from its known fields: extensions are not part of what is signed.
        server_first = f"r={nonce},s={salt_text},i={iterations}"
        without_proof = f"c=biws,r={nonce}"
        signed = f"{self._first_bare},{server_first},{without_proof}".encode()
        client_key = _hmac(self._mechanism, salted, b"Client Key")
        signature = _hmac(self._mechanism, _hash(self._mechanism, client_key), signed)
        self._server_signature = _hmac(self._mechanism, _hmac(self._mechanism, salted, b"Server Key"), signed)
        proof = base64.b64encode(_xor(client_key, signature)).decode("ascii")
        return f"{without_proof},p={proof}".encode()

    def _verify(self, server_final: str) -> None:
        match = re.match(_SERVER_FINAL, server_final)
        if match is None:
            raise AuthenticationError("The broker's last SCRAM message is malformed")
        if match.group(1) is not None:
            raise AuthenticationError(f"The broker refused the SCRAM login: {match.group(1)[:100]!r}")
        if not hmac.compare_digest(base64.b64decode(match.group(2)), self._server_signature):
            raise AuthenticationError("The broker's SCRAM signature is wrong; it does not know the password")


class ScramServer:
    """The server's side: one ``step`` per message of the client. ``credential_of`` gives None for unknown users.

    With ``token_credential_of``, clients that say ``tokenauth=true`` are looked up there instead.
    """

    def __init__(
        self,
        mechanism: str,
        credential_of: Callable[[str], ScramCredential | None],
        *,
        nonce: str,
        token_credential_of: Callable[[str], ScramCredential | None] | None = None,
    ) -> None:
        assert mechanism in HASHES, mechanism
        self._mechanism = mechanism
        self._credential_of = credential_of
        self._token_credential_of = token_credential_of
        self._nonce = nonce
        self._header = ""
        self._signed = ""
        self._credential: ScramCredential | None = None
        self._username = ""
        self._state = _State.START

    def __repr__(self) -> str:
        return f"<{self._mechanism} server, {self._state.value}>"

    @property
    def done(self) -> bool:
        """True once the client has proven who it is."""
        return self._state is _State.DONE

    @property
    def principal(self) -> str:
        """Who it is; only when done."""
        assert self.done, "not authenticated"
        return self._username

    @property
    def expires_at_ms(self) -> int | None:
        """Passwords do not expire."""
        return None

    def step(self, response: bytes) -> bytes:
        """The answer to the client's message. Raises `SaslAuthenticationFailed`; then the connection is closed."""
        state, self._state = self._state, _State.FAILED
        text = _text(response, SaslAuthenticationFailed, "The SCRAM message")
        if state is _State.START:
            answer = self._first(text)
            self._to(state, _State.FIRST_SENT)
            return answer
        if state is _State.FIRST_SENT:
            answer = self._final(text)
            self._to(state, _State.DONE)
            return answer
        raise SaslAuthenticationFailed("A SCRAM message came out of turn")

    def _to(self, old: _State, new: _State) -> None:
        assert new in _LEGAL[old], f"{old} -> {new}"
        self._state = new

    def _first(self, client_first: str) -> bytes:
        match = re.match(_CLIENT_FIRST, client_first)
        if match is None:
            raise SaslAuthenticationFailed("The client's first SCRAM message is malformed")
        self._header, authorization_id, bare, name, client_nonce, extensions = match.groups(default="")
        self._username = unescape_name(name)
        if authorization_id and unescape_name(authorization_id) != self._username:
            raise SaslAuthenticationFailed("The client asks to act as somebody else")
        by_token = "tokenauth=true" in extensions.split(",")
        lookup = self._token_credential_of if by_token else self._credential_of
        self._credential = lookup(self._username) if lookup is not None else None
        if self._credential is None:
            raise SaslAuthenticationFailed("Unknown user or wrong password")
        self._nonce = client_nonce + self._nonce
        salt = base64.b64encode(self._credential.salt).decode("ascii")
        server_first = f"r={self._nonce},s={salt},i={self._credential.iterations}"
        self._signed = f"{bare},{server_first}"
        return server_first.encode()

    def _final(self, client_final: str) -> bytes:
        assert self._credential is not None, "the first message set it"
        match = re.match(_CLIENT_FINAL, client_final)
        if match is None:
            raise SaslAuthenticationFailed("The client's last SCRAM message is malformed")
        without_proof, binding, nonce, _, proof_text = match.groups()
        # The nonce ties this proof to this exchange: without the check an overheard one could be used again.
        if not hmac.compare_digest(nonce.encode(), self._nonce.encode()):
            raise SaslAuthenticationFailed("The SCRAM nonce is not ours")
        if base64.b64decode(binding) != self._header.encode():
            raise SaslAuthenticationFailed("The SCRAM channel binding does not match the first message")
        signed = f"{self._signed},{without_proof}".encode()
        signature = _hmac(self._mechanism, self._credential.stored_key, signed)
        proof = base64.b64decode(proof_text)
        stored = _hash(self._mechanism, _xor(proof, signature)) if len(proof) == len(signature) else b""
        if not hmac.compare_digest(stored, self._credential.stored_key):
            raise SaslAuthenticationFailed("Unknown user or wrong password")
        verifier = base64.b64encode(_hmac(self._mechanism, self._credential.server_key, signed)).decode("ascii")
        return f"v={verifier}".encode()


def _text(data: bytes, error: type[AuthenticationError] | type[SaslAuthenticationFailed], what: str) -> str:
    if len(data) > MESSAGE_BYTES_MAX:
        raise error(f"{what} has {len(data)} bytes; {MESSAGE_BYTES_MAX} are allowed")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass  # raised outside, so that the bytes do not travel along as the context
    raise error(f"{what} is not UTF-8")


def _hmac(mechanism: str, key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, HASHES[mechanism])


def _hash(mechanism: str, data: bytes) -> bytes:
    return hashlib.new(HASHES[mechanism], data).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


__all__ = [
    "HASHES",
    "ITERATIONS_MAX",
    "ITERATIONS_MIN",
    "ScramClient",
    "ScramCredential",
    "ScramServer",
    "make_credential",
]
