"""Authentication of both sides: what is right gets through, what is forged does not, and no secret is ever shown."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import pickle
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.config import AdminConfig, Secret, read_options
from pykclient.errors import AuthenticationError, ConfigError, SaslAuthenticationFailed, UnsupportedSaslMechanism
from pykclient.net.oauthbearer import HmacJwtVerifier, OAuthBearerClient, OAuthBearerServer, make_hmac_jwt
from pykclient.net.sasl import (
    ClientExchange,
    PlainClient,
    PlainServer,
    SaslServers,
    ServerExchange,
    client_exchange,
    make_nonce,
)
from pykclient.net.scram import ScramClient, ScramServer, make_credential
from pykclient.plugins import Token

CANARY = "canary-7f3a"
KEY = b"k" * 32
NOW_MS = 1_700_000_000_000
CLAIMS = {"sub": "alice", "iss": "us", "aud": "kafka", "exp": NOW_MS // 1000 + 60}
CREDENTIAL = make_credential("SCRAM-SHA-256", CANARY, salt=b"salt")
CREDENTIAL_512 = make_credential("SCRAM-SHA-512", CANARY, salt=b"salt")


def fixed_entropy(count: int) -> bytes:
    return hashlib.sha256(b"seed").digest()[:count]


def converse(client: ClientExchange, server: ServerExchange) -> None:
    """Carry messages to and fro as connections do."""
    answer = b""
    for _ in range(5):
        message = client.step(answer)
        if server.done:
            assert message == b""
            break
        answer = server.step(message)
        if client.done:
            break
    assert client.done
    assert server.done


class Provider:
    def __init__(self, value: str, **kwargs: Any) -> None:
        self.value = Token(value, **kwargs)

    def token(self) -> Token:
        return self.value


def servers(**changes: Any) -> SaslServers:
    settings: dict[str, Any] = {
        "mechanisms": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"),
        "plain_users": {"alice": Secret(CANARY)},
        "scram_users": {
            "SCRAM-SHA-256": {"alice": CREDENTIAL},
            "SCRAM-SHA-512": {"alice": CREDENTIAL_512},
        },
        "token_verifier": HmacJwtVerifier(KEY, "us", "kafka"),
    }
    return SaslServers(**{**settings, **changes})


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_configured_client_logs_in_to_configured_server(mechanism: str) -> None:
    options: dict[str, Any] = {"sasl_username": "alice", "sasl_password": CANARY}
    if mechanism == "OAUTHBEARER":
        options = {"sasl_oauth_token_provider": Provider(make_hmac_jwt(KEY, CLAIMS))}
    config = read_options(
        AdminConfig, bootstrap_servers="a:1", security_protocol="SASL_SSL", sasl_mechanism=mechanism, **options
    )
    client = client_exchange(config, fixed_entropy, "broker")
    server = servers().start(mechanism, entropy=fixed_entropy, wall_ms=NOW_MS)
    converse(client, server)
    assert server.principal == "alice"
    assert server.expires_at_ms == (CLAIMS["exp"] * 1000 if mechanism == "OAUTHBEARER" else None)  # type: ignore[operator]


def test_listener_refuses_to_be_half_configured() -> None:
    with pytest.raises(ConfigError, match="token_verifier"):
        SaslServers(("OAUTHBEARER",))
    with pytest.raises(ConfigError, match="plain_users"):
        SaslServers(("PLAIN",))
    with pytest.raises(ConfigError, match="scram_users"):
        SaslServers(("SCRAM-SHA-512",))
    with pytest.raises(ConfigError, match="GSSAPI"):
        SaslServers(("GSSAPI",))
    with pytest.raises(ConfigError, match="at least one"):
        SaslServers(())


def test_mechanism_not_offered_is_refused() -> None:
    with pytest.raises(UnsupportedSaslMechanism, match="offers PLAIN"):
        servers(mechanisms=("PLAIN",)).start("OAUTHBEARER", entropy=fixed_entropy, wall_ms=0)


# PLAIN


@pytest.mark.parametrize(
    "message",
    [
        b"\0alice\0wrong",
        b"\0bob\0" + CANARY.encode(),
        b"bob\0alice\0" + CANARY.encode(),
        b"\0alice\0",
        b"\0\0" + CANARY.encode(),
        b"alice\0" + CANARY.encode(),
        b"\0alice\0" + CANARY.encode() + b"\0",
        b"\xff\0alice\0x",
        b"",
        b"x" * 100_000,
    ],
)
def test_plain_server_refuses(message: bytes) -> None:
    server = PlainServer({"alice": Secret(CANARY)}.get)
    with pytest.raises(SaslAuthenticationFailed) as caught:
        server.step(message)
    assert not server.done
    assert CANARY not in repr(caught.value) + str(caught.value)
    with pytest.raises(SaslAuthenticationFailed):
        server.step(b"\0alice\0" + CANARY.encode())


def test_plain_accepts_the_users_own_authorization_id() -> None:
    server = PlainServer({"alice": Secret(CANARY)}.get)
    assert server.step(b"alice\0alice\0" + CANARY.encode()) == b""
    assert server.principal == "alice"


def test_plain_client_refuses_what_it_cannot_carry() -> None:
    with pytest.raises(AuthenticationError, match="NUL"):
        PlainClient("a\0b", Secret("x"))
    client = PlainClient("alice", Secret("x"))
    client.step(b"")
    with pytest.raises(AuthenticationError, match="turn"):
        client.step(b"")


# SCRAM


def scram_client(**kwargs: Any) -> ScramClient:
    client = ScramClient("SCRAM-SHA-256", "alice", Secret(CANARY), nonce="abc", **kwargs)
    client.step(b"")
    return client


@pytest.mark.parametrize("iterations", [0, 1, 4095, 1_000_001, 2**31 - 1])
def test_scram_client_refuses_iterations_before_deriving_anything(iterations: int) -> None:
    client = scram_client()
    start = time.perf_counter()
    with pytest.raises(AuthenticationError, match=f"{iterations} SCRAM iterations"):
        client.step(f"r=abcdef,s=c2FsdA==,i={iterations}".encode())
    assert time.perf_counter() - start < 0.1


def test_scram_iteration_bounds_can_be_set() -> None:
    assert scram_client(iterations_min=1).step(b"r=abcdef,s=c2FsdA==,i=1").startswith(b"c=biws")
    with pytest.raises(AuthenticationError, match="4096 to 5000"):
        scram_client(iterations_max=5000).step(b"r=abcdef,s=c2FsdA==,i=5001")


@pytest.mark.parametrize("nonce", ["abc", "ab", "xabc", "def"])
def test_scram_client_refuses_a_nonce_that_does_not_extend_its_own(nonce: str) -> None:
    with pytest.raises(AuthenticationError, match="nonce"):
        scram_client().step(f"r={nonce},s=c2FsdA==,i=4096".encode())


def test_scram_client_is_unusable_after_a_refusal() -> None:
    client = scram_client()
    with pytest.raises(AuthenticationError):
        client.step(b"garbage")
    with pytest.raises(AuthenticationError, match="turn"):
        client.step(b"r=abcdef,s=c2FsdA==,i=4096")


def test_scram_client_refuses_a_forged_server_signature() -> None:
    client = scram_client()
    client.step(b"r=abcdef,s=c2FsdA==,i=4096")
    with pytest.raises(AuthenticationError, match="signature"):
        client.step(b"v=" + base64.b64encode(b"\0" * 32))
    assert not client.done


def scram_final(nonce: str = "cliserv", binding: str = "biws", password: str = CANARY) -> bytes:
    """What an honest client with this password would send, but for the parts an attacker chooses."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), b"salt", 4096)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    without_proof = f"c={binding},r={nonce}"
    signed = f"n=alice,r=cli,r=cliserv,s=c2FsdA==,i=4096,{without_proof}"
    signature = hmac.digest(hashlib.sha256(client_key).digest(), signed.encode(), "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()


def scram_server() -> ScramServer:
    server = ScramServer("SCRAM-SHA-256", {"alice": CREDENTIAL}.get, nonce="serv")
    assert server.step(b"n,,n=alice,r=cli") == b"r=cliserv,s=c2FsdA==,i=4096"
    return server


def test_scram_server_accepts_the_honest_proof() -> None:
    server = scram_server()
    assert server.step(scram_final()).startswith(b"v=")
    assert server.principal == "alice"


@pytest.mark.parametrize(
    "final",
    [
        scram_final(nonce="cliother"),
        scram_final(nonce="cli"),
        scram_final(binding=base64.b64encode(b"y,,").decode()),
        scram_final(password="wrong"),
        b"c=biws,r=cliserv,p=",
        b"c=biws,r=cliserv,p=AAAA",
        b"c=biws,r=cliserv",
        b"",
        b"\xff",
    ],
)
def test_scram_server_refuses_a_forged_proof(final: bytes) -> None:
    server = scram_server()
    with pytest.raises(SaslAuthenticationFailed):
        server.step(final)
    assert not server.done
    with pytest.raises(SaslAuthenticationFailed, match="turn"):
        server.step(scram_final())


@pytest.mark.parametrize(
    "first",
    [
        b"n,a=bob,n=alice,r=cli",
        b"n,,n=nobody,r=cli",
        b"p=tls-unique,,n=alice,r=cli",
        b"n,,n=ali=ce,r=cli",
        b"n,,n=alice,r=cli,tokenauth=true",
        b"n,,r=cli",
        b"n,,n=alice,r=" + b"x" * 100_000,
    ],
)
def test_scram_server_refuses_a_bad_first_message(first: bytes) -> None:
    server = ScramServer("SCRAM-SHA-256", {"alice": CREDENTIAL}.get, nonce="serv")
    with pytest.raises(SaslAuthenticationFailed):
        server.step(first)


def test_scram_server_knows_delegation_tokens_apart_from_users() -> None:
    server = ScramServer("SCRAM-SHA-256", {}.get, nonce="serv", token_credential_of={"id": CREDENTIAL}.get)  # type: ignore[arg-type]
    client = ScramClient("SCRAM-SHA-256", "id", Secret(CANARY), nonce="abc", token_auth=True)
    converse(client, server)
    assert server.principal == "id"


def test_weak_credentials_are_not_made() -> None:
    with pytest.raises(ConfigError, match="too few"):
        make_credential("SCRAM-SHA-256", "x", salt=b"s", iterations=1000)
    with pytest.raises(ConfigError, match="not a SCRAM"):
        make_credential("PLAIN", "x", salt=b"s")


# OAUTHBEARER


def jwt_with_header(header: dict[str, Any], key: bytes = KEY) -> str:
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, CLAIMS)
    )
    signature = base64.urlsafe_b64encode(hmac.digest(key, f"{head}.{body}".encode(), "sha256")).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


GOOD_JWT = make_hmac_jwt(KEY, CLAIMS)


@pytest.mark.parametrize(
    "token",
    [
        jwt_with_header({"alg": "none"}),
        jwt_with_header({"alg": "none"}).rsplit(".", 1)[0] + ".",
        jwt_with_header({"alg": "hs256"}),
        jwt_with_header({"alg": "RS256"}),
        jwt_with_header({}),
        jwt_with_header({"alg": "HS256", "crit": ["exp"]}),
        make_hmac_jwt(b"x" * 32, CLAIMS),
        make_hmac_jwt(KEY, {**CLAIMS, "iss": "them"}),
        make_hmac_jwt(KEY, {**CLAIMS, "aud": "mail"}),
        make_hmac_jwt(KEY, {**CLAIMS, "aud": ["mail", "web"]}),
        make_hmac_jwt(KEY, {**CLAIMS, "exp": NOW_MS // 1000 - 31}),
        make_hmac_jwt(KEY, {**CLAIMS, "exp": "9999999999"}),
        make_hmac_jwt(KEY, {**CLAIMS, "exp": True}),
        make_hmac_jwt(KEY, {**CLAIMS, "nbf": NOW_MS // 1000 + 100}),
        make_hmac_jwt(KEY, {**CLAIMS, "sub": ""}),
        make_hmac_jwt(KEY, {key: value for key, value in CLAIMS.items() if key != "exp"}),
        make_hmac_jwt(KEY, {key: value for key, value in CLAIMS.items() if key != "sub"}),
        GOOD_JWT[:-2],
        GOOD_JWT.replace(".", "", 1),
        "a.b.c",
        "..",
    ],
)
def test_forged_or_stale_tokens_are_refused(token: str) -> None:
    server = OAuthBearerServer(HmacJwtVerifier(KEY, "us", "kafka"), wall_ms=NOW_MS)
    with pytest.raises(SaslAuthenticationFailed) as caught:
        server.step(f"n,,\x01auth=Bearer {token}\x01\x01".encode())
    assert not server.done
    assert len(token) < 5 or token not in str(caught.value)


def test_token_for_several_audiences_and_a_little_late_is_good() -> None:
    verifier = HmacJwtVerifier(KEY, "us", "kafka")
    claims = {**CLAIMS, "aud": ["web", "kafka"], "exp": NOW_MS / 1000 - 20, "nbf": NOW_MS / 1000 + 20}
    assert verifier.verify(make_hmac_jwt(KEY, claims), NOW_MS).principal == "alice"


@pytest.mark.parametrize(
    "message",
    [
        f"n,a=bob,\x01auth=Bearer {GOOD_JWT}\x01\x01",
        f"n,,\x01auth=Basic {GOOD_JWT}\x01\x01",
        f"n,,\x01auth=Bearer {GOOD_JWT}\x01auth=Bearer x\x01\x01",
        f"n,,\x01auth=Bearer {GOOD_JWT}\x01bad-name=x\x01\x01",
        f"n,,auth=Bearer {GOOD_JWT}",
        "n,,\x01\x01",
        "",
        "\x01",
    ],
)
def test_malformed_oauth_messages_are_refused(message: str) -> None:
    server = OAuthBearerServer(HmacJwtVerifier(KEY, "us", "kafka"), wall_ms=NOW_MS)
    with pytest.raises(SaslAuthenticationFailed):
        server.step(message.encode())
    with pytest.raises(SaslAuthenticationFailed, match="second"):
        server.step(f"n,,\x01auth=Bearer {GOOD_JWT}\x01\x01".encode())


def test_oauth_extensions_are_carried() -> None:
    server = OAuthBearerServer(HmacJwtVerifier(KEY, "us", "kafka"), wall_ms=NOW_MS)
    client = OAuthBearerClient(Provider(GOOD_JWT, extensions=(("logicalCluster", "lkc-1"),)).token)
    converse(client, server)
    assert server.extensions == {"logicalCluster": "lkc-1"}


@pytest.mark.parametrize(
    "token",
    [
        Token(f"{CANARY}\x01auth=Bearer x"),
        Token(""),
        Token("x" * 70_000),
        Token("good", extensions=(("auth", "x"),)),
        Token("good", extensions=(("a", f"{CANARY}\x01"),)),
        "a plain string",
    ],
)
def test_oauth_client_refuses_what_would_break_the_message(token: Any) -> None:
    with pytest.raises(AuthenticationError) as caught:
        OAuthBearerClient(lambda: token).step(b"")
    assert CANARY not in str(caught.value)


def test_oauth_client_tells_why_the_broker_refused() -> None:
    client = OAuthBearerClient(Provider(GOOD_JWT).token)
    client.step(b"")
    with pytest.raises(AuthenticationError, match="invalid_token"):
        client.step(b'{"status":"invalid_token\\r\\n"}')
    other = OAuthBearerClient(Provider(GOOD_JWT).token)
    other.step(b"")
    with pytest.raises(AuthenticationError, match="no reason"):
        other.step(b"\xff[")


def test_short_keys_and_open_verifiers_are_refused() -> None:
    with pytest.raises(ConfigError, match="32"):
        HmacJwtVerifier(b"short", "us", "kafka")
    with pytest.raises(ConfigError, match="audience"):
        HmacJwtVerifier(KEY, "us", "")


# All


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"]))
def test_servers_answer_any_bytes_with_a_refusal(data: bytes, mechanism: str) -> None:
    server = servers().start(mechanism, entropy=fixed_entropy, wall_ms=NOW_MS)
    with contextlib.suppress(SaslAuthenticationFailed):
        server.step(data)
    assert not server.done


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.from_regex(rb"r=abc[a-z]*,s=[A-Za-z0-9+/=]*,i=[0-9]{1,4}"))
def test_scram_client_answers_any_bytes_with_a_refusal(data: bytes) -> None:
    with pytest.raises(AuthenticationError):
        scram_client(iterations_min=10_000).step(data)


def test_secrets_are_not_shown() -> None:
    things = [
        PlainClient("alice", Secret(CANARY)),
        scram_client(),
        CREDENTIAL,
        servers(),
        HmacJwtVerifier(CANARY.encode() * 4, "us", "kafka"),
        OAuthBearerClient(Provider(CANARY).token),
    ]
    for thing in things:
        assert CANARY not in repr(thing) + str(thing)
    assert CANARY not in repr(vars(things[0])) + repr(vars(things[1]))
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(CREDENTIAL)


def test_nonces_are_printable_and_come_from_the_given_entropy() -> None:
    assert make_nonce(fixed_entropy) == make_nonce(fixed_entropy)
    assert len(make_nonce(fixed_entropy)) == 32
    assert "," not in make_nonce(fixed_entropy)
