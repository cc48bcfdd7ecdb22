"""Engine, network client and metadata against the embedded broker: every way in, every way to be turned away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pykclient.client.assembly import ClientParts, assemble
from pykclient.client.cluster import Cluster
from pykclient.client.engine import Operation, Request, call, now, wait
from pykclient.config import ProducerConfig, read_options
from pykclient.errors import AuthenticationError, UnsupportedVersionError
from pykclient.net.failures import PeerIsTls, PeerNotTls, RejectedByPeer, TlsVerificationFailed
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykclient.testing.embedded import EmbeddedCluster
from pykclient.types import TopicPartition

CANARY = "hunter2-canary"
USERS = {"alice": CANARY}


@contextmanager
def client(bootstrap: str, **options: Any) -> Iterator[ClientParts]:
    parts = assemble(read_options(ProducerConfig, bootstrap_servers=bootstrap, **options), kind="test")
    parts.engine.start()
    try:
        yield parts
    finally:
        assert parts.engine.stop(5.0)


def topics(parts: ClientParts, *names: str, within_s: float = 10.0) -> Cluster:
    def operation() -> Operation[Cluster]:
        start = yield from now()
        return (yield from wait(parts.metadata.wait_for_topics(names, start + within_s)))

    return parts.engine.run_blocking(operation(), timeout_s=within_s + 1)


def fetch_cluster_id(**options: Any) -> Operation[str | None]:
    response = yield from call(Request[MetadataResponse](MetadataRequest(topics=[]), **options))
    return response.cluster_id


def sasl(mechanism: str, password: str = CANARY, protocol: str = "SASL_PLAINTEXT") -> dict[str, Any]:
    return {
        "security_protocol": protocol,
        "sasl_mechanism": mechanism,
        "sasl_username": "alice",
        "sasl_password": password,
    }


def test_cluster_and_topics_are_found_over_one_connection() -> None:
    with EmbeddedCluster(topics={"orders": 3}) as cluster, client(cluster.bootstrap_servers) as parts:
        assert parts.engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == cluster.cluster_id
        view = topics(parts, "orders")
        assert view.partition_count("orders") == 3
        assert view.leader(TopicPartition("orders", 0)) is not None
        assert parts.network.connects_total == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_sasl_gets_in(mechanism: str) -> None:
    with EmbeddedCluster(topics=["orders"], listeners="SASL_PLAINTEXT", users=USERS) as cluster:
        with client(cluster.bootstrap_servers, **sasl(mechanism)) as parts:
            topics(parts, "orders")


def test_tls_and_sasl_over_tls_get_in() -> None:
    with EmbeddedCluster(topics=["orders"], listeners=["SSL", "SASL_SSL"], users=USERS) as cluster:
        trust = {"ssl_truststore_location": str(cluster.certificates.ca)}
        with client(cluster.bootstrap_for("SSL"), security_protocol="SSL", **trust) as parts:
            topics(parts, "orders")
        with client(cluster.bootstrap_for("SASL_SSL"), **sasl("PLAIN", protocol="SASL_SSL"), **trust) as parts:
            topics(parts, "orders")


@pytest.mark.parametrize(
    ("listener", "options", "error"),
    [
        ("SASL_PLAINTEXT", sasl("PLAIN", "wrong-" + CANARY), AuthenticationError),
        ("SASL_PLAINTEXT", sasl("SCRAM-SHA-256", "wrong-" + CANARY), AuthenticationError),
        ("SASL_PLAINTEXT", {}, RejectedByPeer),
        ("SSL", {}, PeerIsTls),
        ("SSL", {"security_protocol": "SSL"}, TlsVerificationFailed),
        ("PLAINTEXT", {"security_protocol": "SSL"}, PeerNotTls),
        ("PLAINTEXT", sasl("PLAIN"), AuthenticationError),
    ],
)
def test_every_way_to_be_turned_away_has_its_own_error(
    listener: str, options: dict[str, Any], error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    users = USERS if listener.startswith("SASL") else None
    with EmbeddedCluster(listeners=listener, users=users) as cluster:
        start = time.monotonic()
        with client(cluster.bootstrap_servers, **options) as parts, pytest.raises(error) as caught:
            topics(parts, "orders")
        assert time.monotonic() - start < 5.0
        assert cluster.bootstrap_servers in str(caught.value)
        assert CANARY not in f"{caught.value} {caught.value!r} {caplog.text}"


def test_session_is_renewed_without_a_new_connection() -> None:
    with (
        EmbeddedCluster(listeners="SASL_PLAINTEXT", users=USERS, connections_max_reauth_ms=300) as cluster,
        client(cluster.bootstrap_servers, **sasl("SCRAM-SHA-256")) as parts,
    ):
        end = time.monotonic() + 1.5
        asked = 0
        while time.monotonic() < end:
            assert parts.engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == cluster.cluster_id
            asked += 1
        assert asked > 10
        assert parts.network.connects_total == 1


def test_older_broker_is_spoken_to_in_its_versions() -> None:
    with EmbeddedCluster(max_versions={"Metadata": 7}) as cluster, client(cluster.bootstrap_servers) as parts:
        assert parts.engine.run_blocking(fetch_cluster_id(), timeout_s=5.0) == cluster.cluster_id
        with pytest.raises(UnsupportedVersionError, match="Metadata"):
            parts.engine.run_blocking(fetch_cluster_id(version_min=10), timeout_s=5.0)


def test_broker_that_comes_back_is_used_again() -> None:
    with EmbeddedCluster(topics=["orders"]) as cluster, client(cluster.bootstrap_servers) as parts:
        topics(parts, "orders")
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        cluster.restart(cluster.nodes[0], port=port)
        parts.engine.call_soon(lambda: parts.metadata.request_update())

        def fresh() -> Operation[Cluster]:
            start = yield from now()
            return (yield from wait(parts.metadata.wait_for_update(start + 10.0)))

        assert parts.engine.run_blocking(fresh(), timeout_s=11.0).partition_count("orders") == 1
