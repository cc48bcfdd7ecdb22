"""SCRAM against 93 exchanges recorded from Kafka 4.3.1's own client and server, both sides, byte for byte."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pykclient.config import Secret
from pykclient.errors import AuthenticationError, SaslAuthenticationFailed
from pykclient.net.scram import ScramClient, ScramCredential, ScramServer, make_credential
from tests.vectors.conftest import load_vectors

VECTORS = list(load_vectors("scram"))


def client_for(vector: dict[str, Any]) -> ScramClient:
    return ScramClient(
        vector["mechanism"],
        vector["username"],
        Secret(vector["password"]),
        nonce=vector["clientNonce"],
        token_auth=vector["extensions"].get("tokenauth") == "true",
    )


def refused_by_us(vector: dict[str, Any]) -> bool:
    """What Kafka's client takes and RFC 5802 forbids, or what weakens the login: see the surprises of the vectors."""
    first: str = vector["serverFirst"]
    return ",s=," in first or first.startswith(("m=", f"r={vector['clientNonce']},"))


def ids(vector: dict[str, Any]) -> str:
    return str(vector["case"])


@pytest.mark.parametrize("vector", VECTORS, ids=ids)
def test_client_side(vector: dict[str, Any]) -> None:
    client = client_for(vector)
    assert client.step(b"") == vector["clientFirst"].encode()
    assert not client.done
    if "serverFirst" not in vector:
        assert vector["serverErrorAt"] == "clientFirst"
        return
    if vector.get("clientErrorAt") == "serverFirst" or refused_by_us(vector):
        with pytest.raises(AuthenticationError):
            client.step(vector["serverFirst"].encode())
        return
    assert client.step(vector["serverFirst"].encode()) == vector["clientFinal"].encode()
    assert not client.done
    if "serverFinal" not in vector:
        return
    if vector.get("clientErrorAt") == "serverFinal":
        with pytest.raises(AuthenticationError):
            client.step(vector["serverFinal"].encode())
        assert not client.done
    else:
        assert client.step(vector["serverFinal"].encode()) == b""
        assert client.done


@pytest.mark.parametrize("vector", [v for v in VECTORS if "serverNonce" in v], ids=ids)
def test_server_side(vector: dict[str, Any]) -> None:
    mechanism, salt, iterations = vector["mechanism"], bytes.fromhex(vector["saltHex"]), vector["iterations"]
    # Where the server refused the proof, the recorded keys are those of the password the client typed.
    wrong_password = vector.get("serverErrorAt") == "clientFinal"
    password = vector["password"] + "x" if wrong_password else vector["password"]
    credential = make_credential(mechanism, password, salt=salt, iterations=iterations)
    users = {vector["username"]: credential}
    nobody: dict[str, ScramCredential] = {}
    server = ScramServer(
        mechanism,
        nobody.get if vector["extensions"] else users.get,
        nonce=vector["serverNonce"],
        token_credential_of=users.get if vector["extensions"] else None,
    )
    if vector.get("serverErrorAt") == "clientFirst":
        with pytest.raises(SaslAuthenticationFailed):
            server.step(vector["clientFirst"].encode())
        return
    assert server.step(vector["clientFirst"].encode()) == vector["serverFirst"].encode()
    if wrong_password:
        with pytest.raises(SaslAuthenticationFailed):
            server.step(vector["clientFinal"].encode())
        assert not server.done
        return
    assert server.step(vector["clientFinal"].encode()) == vector["serverFinal"].encode()
    assert server.done
    assert server.principal == vector["username"]
    keys = ScramCredential(
        salt, iterations, bytes.fromhex(vector["storedKeyHex"]), bytes.fromhex(vector["serverKeyHex"])
    )
    assert credential == keys


def test_vectors_are_all_there() -> None:
    refused = sum(map(refused_by_us, (v for v in VECTORS if "serverFirst" in v)))
    assert "PYKCLIENT_VECTORS" in os.environ or (len(VECTORS), refused) == (93, 6)
