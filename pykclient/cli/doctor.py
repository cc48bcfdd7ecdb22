"""``pykclient doctor``: why can I not reach my cluster? One check after the other, each with what to change.

Goes the way a connection goes: options, DNS, TCP, TLS, SASL, versions, advertised addresses, leaders, clock. Runs on
the command's thread, on sockets of its own where the client would only say the last error. Never prints a secret.
"""

from __future__ import annotations

import argparse
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import ClusterDescription
from pykclient.cli.connect import add_connection, admin_client, client_options
from pykclient.cli.screen import print_json
from pykclient.cli.usage import Usage, counted
from pykclient.client.tls_options import tls_context
from pykclient.config import AdminConfig, HostPort, read_options
from pykclient.errors import (
    AuthenticationError,
    AuthorizationError,
    KafkaConnectionError,
    KafkaError,
    UnsupportedVersion,
)
from pykclient.net.failures import ClientCertificateRefused
from pykclient.net.tls import handshake_failure
from pykclient.net.transport import Endpoint
from pykclient.types import Node

EXAMPLES = """\
  pykclient doctor -b broker.example.com:9092
  pykclient doctor --config-file client.properties
  pykclient doctor --json"""

CONNECT_S = 3.0
CLOCK_SKEW_S = 5.0
EXPIRES_SOON_DAYS = 21
TOPICS_MAX = 2000

# 1 is any other failure.
EXIT_CODES = {
    "options": 2, "DNS": 10, "TCP": 11, "TLS": 12, "SASL": 13, "Kafka": 14, "advertised": 15, "leaders": 16,
}  # fmt: skip
OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"
MARKS = {OK: "ok     ", WARNING: "warning", FAILED: "FAILED ", SKIPPED: "skipped"}


@dataclass(frozen=True)
class Finding:
    """One check: what it found, and what to do about it."""

    check: str
    state: str
    detail: str
    advice: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to look."""
    add_connection(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print each finding as it is made; the exit code says what failed first, for scripts (see EXIT_CODES)."""
    found = []
    for finding in examine(arguments):
        found.append(finding)
        if not arguments.json:
            print(f"{MARKS[finding.state]}  {finding.check:<11} {finding.detail}", flush=True)
            if finding.advice is not None:
                print(f"{'':>9}{'':<11} -> {finding.advice}", flush=True)
    failed = sum(finding.state == FAILED for finding in found)
    if arguments.json:
        print_json(found)
    else:
        print("all is well" if not failed else f"{failed} of {len(found)} checks failed; the first is where to start")
    first = next((finding.check for finding in found if finding.state == FAILED), None)
    return 0 if first is None else EXIT_CODES.get(first, 1)


def examine(arguments: argparse.Namespace) -> Iterator[Finding]:
    """Every check that makes sense after the ones before it."""
    try:
        options = client_options(arguments, AdminConfig)
        config = read_options(AdminConfig, options)
    except Usage as error:
        yield Finding("options", FAILED, error.message, "correct the option; docs/configuration.md lists all")
        return
    servers = config.bootstrap_servers
    yield Finding("options", OK, f"{config.security_protocol} to {', '.join(map(str, servers))}")
    last = "TLS" if config.security_protocol.endswith("SSL") else "TCP"
    reached = False
    for server in servers:
        for finding in _reach(server, config, "bootstrap_servers"):
            reached = reached or (finding.check == last and finding.state != FAILED)
            yield finding
    if reached:
        yield from _ask(arguments, config)


# ---- the way there ----


def _reach(server: HostPort, config: AdminConfig, setting: str) -> Iterator[Finding]:
    """DNS, TCP and TLS to one address."""
    try:
        began = time.monotonic()
        rows = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
        addresses = sorted({str(row[4][0]) for row in rows})
    except OSError as error:
        advice = f"correct the host in {setting}, or DNS and /etc/hosts of this machine"
        yield Finding("DNS", FAILED, f"{server.host}: {error.strerror or error}", advice)
        return
    yield Finding("DNS", OK, f"{server.host} is {', '.join(addresses)} ({(time.monotonic() - began) * 1000:.0f} ms)")
    try:
        began = time.monotonic()
        with socket.create_connection((server.host, server.port), timeout=CONNECT_S) as connection:
            yield Finding("TCP", OK, f"{server} takes connections ({(time.monotonic() - began) * 1000:.0f} ms)")
            if config.security_protocol.endswith("SSL"):
                yield _tls(connection, server, config)
    except ConnectionRefusedError:
        yield Finding("TCP", FAILED, f"{server}: nothing listens there", f"start the broker, or correct {setting}")
    except TimeoutError:
        yield Finding(
            "TCP", FAILED, f"{server}: no answer in {CONNECT_S:g} s", f"open the firewall, or correct {setting}"
        )
    except OSError as error:
        yield Finding("TCP", FAILED, f"{server}: {error.strerror or error}", f"check the network and {setting}")


def _tls(connection: socket.socket, server: HostPort, config: AdminConfig) -> Finding:
    try:
        with tls_context(config).wrap_socket(connection, server_hostname=server.host) as stream:
            certificate = stream.getpeercert() or {}
            state, note, advice = _certificate_note(certificate)
            return Finding("TLS", state, f"{stream.version()}, certificate for {_names(certificate)}{note}", advice)
    except KafkaError as error:
        return Finding("TLS", FAILED, str(error), "correct the ssl_ option it names")
    except OSError as error:
        failure = handshake_failure(error, Endpoint(server.host, server.port))
        sentence, _, advice = failure.message.partition(";")
        return Finding(
            "TLS", FAILED, f"{server}: {sentence}", advice.strip() or "check security_protocol and ssl_cafile"
        )


def _names(certificate: Mapping[str, object]) -> str:
    entries = certificate.get("subjectAltName", ())
    assert isinstance(entries, tuple)
    return ", ".join(str(entry[1]) for entry in entries) or "no host names"


def _certificate_note(certificate: Mapping[str, object]) -> tuple[str, str, str | None]:
    until = certificate.get("notAfter")
    if not isinstance(until, str):
        return OK, "", None
    days = (ssl.cert_time_to_seconds(until) - time.time()) / 86_400
    if days < EXPIRES_SOON_DAYS:
        return WARNING, f", expires in {days:.0f} days", "have the broker's certificate renewed"
    return OK, f", valid for {days:.0f} more days", None


# ---- what the cluster says ----


def _ask(arguments: argparse.Namespace, config: AdminConfig) -> Iterator[Finding]:
    with admin_client(arguments) as admin:
        try:
            cluster = admin.describe_cluster()
        except ClientCertificateRefused as error:
            # With TLS 1.3 the broker says so only after the handshake, which was well.
            advice = "set ssl_certfile and ssl_keyfile to a certificate that the broker's truststore knows"
            yield Finding("TLS", FAILED, str(error), advice)
            return
        except AuthenticationError as error:
            advice = "correct sasl_mechanism, sasl_username and sasl_password (in --config-file)"
            yield Finding("SASL", FAILED, str(error), advice)
            return
        except KafkaError as error:
            yield _unanswered(error, config)
            return
        if config.security_protocol.startswith("SASL"):
            yield Finding("SASL", OK, f"{config.sasl_mechanism} as {config.sasl_username or 'the token says'}")
        yield Finding("Kafka", OK, f"cluster {cluster.cluster_id}, {counted(len(cluster.brokers), 'broker')}")
        yield _versions(admin)
        yield from _advertised(cluster, config)
        yield _leaders(admin)
        yield _clock(admin)


def _unanswered(error: KafkaError, config: AdminConfig) -> Finding:
    """The port is open and Kafka does not answer; or it answers and sends us on to where nobody is."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KafkaConnectionError) and cause.host is not None and cause.port is not None:
            address = HostPort(cause.host, cause.port)
            if address not in config.bootstrap_servers:
                detail = f"the brokers send clients on to {address}: {cause.message}"
                advice = f"correct advertised.listeners of the broker, or make {address} reachable from here"
                return Finding("advertised", FAILED, detail, advice)
        cause = cause.__cause__
    return Finding("Kafka", FAILED, str(error), _kafka_advice(config))


def _kafka_advice(config: AdminConfig) -> str:
    if config.security_protocol == "PLAINTEXT":
        return "the port may want TLS or SASL: set security_protocol to SSL, SASL_SSL or SASL_PLAINTEXT"
    return f"security_protocol is {config.security_protocol}; is that what this port speaks?"


def _versions(admin: KafkaAdminClient) -> Finding:
    try:
        features = admin.describe_features()
    except KafkaError as error:
        return Finding("versions", WARNING, str(error))
    levels = ", ".join(f"{name} {level}" for name, level in sorted(features.finalized.items()))
    return Finding("versions", OK, levels or "the brokers name no feature levels (older than Kafka 3.3?)")


def _advertised(cluster: ClusterDescription, config: AdminConfig) -> Iterator[Finding]:
    """A broker may be reachable at its bootstrap address and not at the one it tells clients to use."""
    known = set(config.bootstrap_servers)
    for node in sorted(cluster.brokers, key=_node_id):
        address = HostPort(node.host, node.port)
        if address in known:
            continue
        failures = [
            finding
            for finding in _reach(address, config, "advertised.listeners of the broker")
            if finding.state == FAILED
        ]
        if failures:
            yield Finding("advertised", FAILED, f"broker {node.id}: {failures[0].detail}", failures[0].advice)
        else:
            yield Finding("advertised", OK, f"broker {node.id} is reachable at {address}")


def _node_id(node: Node) -> int:
    return node.id


def _leaders(admin: KafkaAdminClient) -> Finding:
    try:
        names = sorted(admin.list_topics(include_internal=True))[:TOPICS_MAX]
        topics = admin.describe_topics(names).succeeded.values() if names else ()
    except KafkaError as error:
        return Finding("leaders", WARNING, str(error))
    partitions = [(topic.name, each) for topic in topics for each in topic.partitions]
    without = [f"{name}-{each.partition}" for name, each in partitions if each.leader is None]
    behind = [f"{name}-{each.partition}" for name, each in partitions if len(each.in_sync) < len(each.replicas)]
    if without:
        detail = f"{len(without)} partitions have none: {', '.join(without[:5])}"
        return Finding("leaders", FAILED, detail, "start the brokers that hold them; see pykclient topics describe")
    if behind:
        detail = f"{len(behind)} partitions lack in-sync replicas: {', '.join(behind[:5])}"
        return Finding("leaders", WARNING, detail, "check the brokers that are behind")
    return Finding("leaders", OK, f"all {len(partitions)} partitions of {len(names)} topics have one")


def _clock(admin: KafkaAdminClient) -> Finding:
    """The leader of the controllers says when it last caught up with itself: now, by its clock."""
    before = time.time()
    try:
        quorum = admin.describe_quorum()
    except (UnsupportedVersion, AuthorizationError) as error:
        return Finding("clock", SKIPPED, f"the brokers do not tell their time: {error.message}")
    except KafkaError as error:
        return Finding("clock", WARNING, str(error))
    after = time.time()
    stamp = next((each.last_caught_up for each in quorum.voters if each.node_id == quorum.leader_id), None)
    if stamp is None:
        return Finding("clock", SKIPPED, "the controllers did not say what time it is")
    there = stamp / 1000
    skew_s = 0.0 if before <= there <= after else min(there - before, there - after, key=abs)
    if abs(skew_s) > CLOCK_SKEW_S:
        way = "ahead of" if skew_s > 0 else "behind"
        return Finding(
            "clock",
            WARNING,
            f"the brokers' clock is {abs(skew_s):.1f} s {way} this machine's",
            "set both by NTP: timestamps, retention and tokens depend on it",
        )
    return Finding("clock", OK, f"within {max(abs(skew_s), 0.1):.1f} s of the brokers'")
