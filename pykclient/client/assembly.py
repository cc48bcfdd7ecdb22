"""Puts one client together from its configuration: reactor, network client, metadata, engine. The same for every kind
of client.

Runs on the thread that makes the client; starts nothing and connects to nothing. The only place where options in
milliseconds become seconds for the network and where credentials are handed to what uses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from pykclient.client.engine import Engine
from pykclient.client.metadata import MetadataManager, MetadataSettings
from pykclient.config import CommonConfig, ConsumerConfig, ProducerConfig
from pykclient.net.connection import Security
from pykclient.net.network_client import NetworkClient, NetworkSettings
from pykclient.net.reactor import Reactor, SystemClock
from pykclient.net.sockets import SocketOptions
from pykclient.net.transport import Clock, Endpoint

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class ClientParts:
    """What every client is made of. Add managers to ``engine``, then ``engine.start()``."""

    engine: Engine
    network: NetworkClient
    metadata: MetadataManager
    clock: Clock
    wall_ns: Callable[[], int]
    random: Random
    client_id: str


def assemble(config: CommonConfig, *, kind: str) -> ClientParts:
    """Everything but the managers of its own kind."""
    client_id = config.client_id or f"pykclient-{kind}-{next(_numbers)}"
    clock = SystemClock()
    random = Random()
    settings = _network_settings(config, client_id)  # may refuse (a certificate file, an extra): nothing is open yet
    reactor = Reactor(
        name=client_id,
        options=SocketOptions(
            send_buffer_bytes=config.send_buffer_bytes, receive_buffer_bytes=config.receive_buffer_bytes
        ),
    )
    network = NetworkClient(reactor, settings, rng=random)
    metadata = MetadataManager(_metadata_settings(config), network, rng=random)
    # Only metadata knows where a broker lives now; as in Java, every failure is a reason to ask.
    network.on_failure = metadata.request_update
    engine = Engine(reactor, clock, network, [metadata], name=client_id)
    return ClientParts(engine, network, metadata, clock, clock.wall_ns, random, client_id)


def _network_settings(config: CommonConfig, client_id: str) -> NetworkSettings:
    idle_ms = config.connections_max_idle_ms
    settings = NetworkSettings(
        client_id=client_id,
        request_timeout_s=config.request_timeout_ms / 1000,
        reconnect_backoff_s=config.reconnect_backoff_ms / 1000,
        reconnect_backoff_max_s=config.reconnect_backoff_max_ms / 1000,
        setup_timeout_s=config.socket_connection_setup_timeout_ms / 1000,
        setup_timeout_max_s=config.socket_connection_setup_timeout_max_ms / 1000,
        idle_s_max=math.inf if idle_ms < 0 else idle_ms / 1000,
        response_bytes_max=config.receive_bytes_max,
        security=_security(config),
    )
    if isinstance(config, ProducerConfig):
        return replace(settings, in_flight_max=config.max_in_flight_requests_per_connection)
    return settings


def _security(config: CommonConfig) -> Security:
    # Each imported by who asks for it: OpenSSL and the SASL mechanisms would be a fifth of what an import costs.
    tls = None
    if config.security_protocol.endswith("SSL"):
        from pykclient.client.tls_options import tls_context

        tls = tls_context(config)
    if not config.security_protocol.startswith("SASL"):
        return Security(tls=tls)
    from secrets import token_bytes

    from pykclient.net.sasl import client_exchange

    if config.sasl_mechanism == "GSSAPI":
        # Now, not at the first connection, where a missing extra would look like a refused login.
        import pykclient.net.kerberos  # noqa: F401
    return Security(
        tls=tls,
        sasl_mechanism=config.sasl_mechanism,
        sasl=lambda endpoint: client_exchange(config, token_bytes, endpoint.host),
    )


def _metadata_settings(config: CommonConfig) -> MetadataSettings:
    auto_create = (
        config.allow_auto_create_topics if isinstance(config, ConsumerConfig) else isinstance(config, ProducerConfig)
    )
    return MetadataSettings(
        bootstrap=tuple(Endpoint(server.host, server.port) for server in config.bootstrap_servers),
        max_age_s=config.metadata_max_age_ms / 1000,
        topic_idle_s=config.metadata_max_idle_ms / 1000 if isinstance(config, ProducerConfig) else math.inf,
        retry_backoff_s=config.retry_backoff_ms / 1000,
        retry_backoff_max_s=config.retry_backoff_max_ms / 1000,
        allow_auto_topic_creation=auto_create,
        rebootstrap=config.metadata_recovery_strategy == "rebootstrap",
        rebootstrap_trigger_s=config.metadata_recovery_rebootstrap_trigger_ms / 1000,
    )


__all__ = ["ClientParts", "assemble"]
