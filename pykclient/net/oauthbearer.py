"""OAUTHBEARER (RFC 7628, KIP-255, KIP-342), both sides without I/O, and a verifier for tokens signed with a shared key.

The server side needs a verifier and has no default: a broker that believes unsigned tokens is open to everyone. Time is
an argument. Runs off the loop on the client (token providers may block). Must never show a token.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pykclient.errors import AuthenticationError, ConfigError, SaslAuthenticationFailed
from pykclient.plugins import Token

SEPARATOR = "\x01"
TOKEN_BYTES_MAX = 65_536
KEY_BYTES_MIN = 32
# Texts: an expression is compiled when it is first asked, not at import.
_TOKEN = r"[-_~+/.A-Za-z0-9]+=*\Z"
_EXTENSION_NAME = r"[A-Za-z]+\Z"
_EXTENSION_VALUE = r"[\x21-\x7e \t\r\n]+\Z"
_INITIAL = r"(?s)n,(?:a=((?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+))?,\x01([^\x00]*)\x01\Z"
_BEARER = r"(?i)bearer +([-_~+/.A-Za-z0-9]+=*)\Z"


def _is_extension(name: str, value: str) -> bool:
    return bool(re.match(_EXTENSION_NAME, name) and re.match(_EXTENSION_VALUE, value))


class VerifiedToken(NamedTuple):
    """What a verifier found to be true."""

    principal: str
    expires_at_ms: int


class TokenVerifier(Protocol):
    """Decides whether a token is good. Raises `SaslAuthenticationFailed` with a reason that does not quote it."""

    def verify(self, token: str, wall_ms: int) -> VerifiedToken:
        """Who the token is for and until when."""
        ...


class OAuthBearerClient:
    """The client's side: the token goes out with the first step; an empty answer is success."""

    def __init__(self, provide: Callable[[], Token]) -> None:
        self._provide = provide
        self._sent = False
        self.done = False

    def __repr__(self) -> str:
        return "<OAUTHBEARER client>"

    def step(self, challenge: bytes) -> bytes:
        """The message with the token, then the verdict. Calls the token provider, so it may block."""
        if not self._sent:
            self._sent = True
            return self._initial(self._provide())
        if challenge:
            raise AuthenticationError(f"The broker refused the token: {_status(challenge)}")
        self.done = True
        return b""

    def _initial(self, token: Token) -> bytes:
        if not isinstance(token, Token):
            raise AuthenticationError(f"The token provider returned {type(token).__name__}, not a Token")
        if not re.match(_TOKEN, token.value) or len(token.value) > TOKEN_BYTES_MAX:
            raise AuthenticationError("The token provider returned something that is not a bearer token")
        for name, value in token.extensions:
            if name == "auth" or not _is_extension(name, value):
                raise AuthenticationError("A SASL extension of the token has a name or value that is not allowed")
        pairs = [f"auth=Bearer {token.value}", *(f"{name}={value}" for name, value in token.extensions)]
        return ("n,," + SEPARATOR + SEPARATOR.join(pairs) + SEPARATOR + SEPARATOR).encode()


def _status(challenge: bytes) -> str:
    try:
        status = json.loads(challenge[:4096])["status"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "no reason given"
    return repr(str(status)[:100])


class OAuthBearerServer:
    """The server's side: one message in, the verdict out."""

    def __init__(self, verifier: TokenVerifier, *, wall_ms: int) -> None:
        self._verifier = verifier
        self._wall_ms = wall_ms
        self._verified: VerifiedToken | None = None
        self._spent = False
        self.extensions: dict[str, str] = {}
        """SASL extensions the client sent; nobody has vouched for them."""

    def __repr__(self) -> str:
        return "<OAUTHBEARER server>"

    @property
    def done(self) -> bool:
        """True once a token was found good."""
        return self._verified is not None

    @property
    def principal(self) -> str:
        """Who it is; only when done."""
        assert self._verified is not None, "not authenticated"
        return self._verified.principal

    @property
    def expires_at_ms(self) -> int | None:
        """When the client has to authenticate again; only when done."""
        assert self._verified is not None, "not authenticated"
        return self._verified.expires_at_ms

    def step(self, response: bytes) -> bytes:
        """Empty when the token is good. Raises `SaslAuthenticationFailed` otherwise."""
        if self._spent:
            raise SaslAuthenticationFailed("A second OAUTHBEARER message came in one exchange")
        self._spent = True
        token, authorization_id = self._parse(response)
        verified = self._verifier.verify(token, self._wall_ms)
        if authorization_id and authorization_id != verified.principal:
            raise SaslAuthenticationFailed("The client asks to act as somebody else")
        self._verified = verified
        return b""

    def _parse(self, response: bytes) -> tuple[str, str]:
        try:
            text = response.decode("utf-8") if len(response) <= 2 * TOKEN_BYTES_MAX else ""
        except UnicodeDecodeError:
            text = ""
        match = re.match(_INITIAL, text)
        pairs: dict[str, str] = {}
        for part in (match.group(2) if match else "").split(SEPARATOR):
            name, equals, value = part.partition("=")
            if equals and name in pairs:
                raise SaslAuthenticationFailed("The OAUTHBEARER message repeats a name")
            if equals:
                pairs[name] = value
        bearer = re.match(_BEARER, pairs.pop("auth", ""))
        if match is None or bearer is None:
            raise SaslAuthenticationFailed("The OAUTHBEARER message is malformed")
        if not all(
            re.match(_EXTENSION_NAME, name) and re.match(_EXTENSION_VALUE, value) for name, value in pairs.items()
        ):
            raise SaslAuthenticationFailed("A SASL extension is malformed")
        self.extensions = pairs
        authorization_id = (match.group(1) or "").replace("=2C", ",").replace("=3D", "=")
        return bearer.group(1), authorization_id


@dataclass(frozen=True, repr=False)
class HmacJwtVerifier:
    """Believes JWTs signed with HS256 and our own key, from one issuer, for one audience, and not expired."""

    key: bytes
    issuer: str
    audience: str
    principal_claim: str = "sub"
    clock_skew_ms: int = 30_000

    def __post_init__(self) -> None:
        problems = []
        if len(self.key) < KEY_BYTES_MIN:
            problems.append(f"the key has {len(self.key)} bytes; HS256 needs at least {KEY_BYTES_MIN}")
        if not self.issuer or not self.audience:
            problems.append("issuer and audience must be given: a token for somebody else is not a token for us")
        if problems:
            raise ConfigError(problems)

    def __repr__(self) -> str:
        return f"HmacJwtVerifier(issuer={self.issuer!r}, audience={self.audience!r})"

    def __reduce__(self) -> Any:
        raise TypeError("the key is a secret and is not pickled")

    def verify(self, token: str, wall_ms: int) -> VerifiedToken:
        """The signature first; nothing in a token means anything before that."""
        parts = token.split(".")
        if len(parts) != 3 or len(token) > TOKEN_BYTES_MAX:
            raise SaslAuthenticationFailed("The token is not a signed JWT")
        header = _json_object(parts[0])
        # The algorithm is ours to choose, never the token's: "none" and key confusion die here.
        if header.get("alg") != "HS256" or "crit" in header:
            raise SaslAuthenticationFailed("The token is not signed with HS256")
        expected = hmac.digest(self.key, f"{parts[0]}.{parts[1]}".encode(), "sha256")
        if not hmac.compare_digest(_base64url(parts[2]), expected):
            raise SaslAuthenticationFailed("The token's signature is wrong")
        return self._check_claims(_json_object(parts[1]), wall_ms)

    def _check_claims(self, claims: dict[str, Any], wall_ms: int) -> VerifiedToken:
        if claims.get("iss") != self.issuer:
            raise SaslAuthenticationFailed("The token is from another issuer")
        audiences = claims.get("aud")
        if self.audience not in (audiences if isinstance(audiences, list) else [audiences]):
            raise SaslAuthenticationFailed("The token is for another audience")
        expires_at_ms = _milliseconds(claims.get("exp"))
        if expires_at_ms is None or expires_at_ms + self.clock_skew_ms <= wall_ms:
            raise SaslAuthenticationFailed("The token has expired, or does not say when it does")
        if "nbf" in claims:
            valid_from_ms = _milliseconds(claims["nbf"])
            if valid_from_ms is None or valid_from_ms - self.clock_skew_ms > wall_ms:
                raise SaslAuthenticationFailed("The token is not valid yet")
        principal = claims.get(self.principal_claim)
        if not isinstance(principal, str) or not principal:
            raise SaslAuthenticationFailed("The token names nobody")
        return VerifiedToken(principal, expires_at_ms)


def make_hmac_jwt(key: bytes, claims: dict[str, Any]) -> str:
    """Sign claims the way `HmacJwtVerifier` expects; for tests and small set-ups that issue their own tokens."""
    head = _to_base64url(json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":")).encode())
    body = _to_base64url(json.dumps(claims, separators=(",", ":")).encode())
    return f"{head}.{body}.{_to_base64url(hmac.digest(key, f'{head}.{body}'.encode(), 'sha256'))}"


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e12:
        return None
    return int(seconds * 1000)


def _to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _base64url(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        pass
    raise SaslAuthenticationFailed("The token is not a signed JWT")


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(_base64url(text))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise SaslAuthenticationFailed("The token is not a signed JWT")
    return value


__all__ = [
    "HmacJwtVerifier",
    "OAuthBearerClient",
    "OAuthBearerServer",
    "TokenVerifier",
    "VerifiedToken",
    "make_hmac_jwt",
]
