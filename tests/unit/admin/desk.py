"""An admin client's means in virtual time, over brokers that are functions: what was asked of whom can be counted."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

from pykclient.admin.routing import AdminSettings, Office, Session
from pykclient.client.engine import Engine, Operation
from pykclient.client.metadata import MetadataManager, MetadataSettings
from pykclient.net.network_client import NetworkClient, NetworkSettings
from pykclient.net.server_connection import ServerRequest
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.metadata import MetadataResponseTopic
from tests.unit.fake_cluster import FakeCluster, FakeNode, VirtualClock, metadata_of, run

T = TypeVar("T")
Handler = Callable[[ServerRequest], Any]


class Desk:
    """Three brokers, 1 to 3. ``topics`` is what their metadata say; ``handle`` sets how one or all answer an API."""

    def __init__(self, *, count: int = 3) -> None:
        self.clock = VirtualClock()
        self.endpoints = {node_id: Endpoint("broker", 9000 + node_id) for node_id in range(1, count + 1)}
        self.nodes = {node_id: FakeNode(endpoint) for node_id, endpoint in self.endpoints.items()}
        self.topics: dict[str, MetadataResponseTopic] = {}
        self.cluster = FakeCluster(self.clock, list(self.nodes.values()))
        for node in self.nodes.values():
            node.handlers[ApiKey.METADATA] = lambda request: metadata_of(request, self.endpoints, self.topics)
        network = NetworkClient(self.cluster, NetworkSettings(), rng=Random(1))
        metadata = MetadataManager(MetadataSettings(bootstrap=(self.endpoints[1],)), network, rng=Random(1))
        self.engine = Engine(self.cluster, self.clock, network, [metadata])
        self.office = Office(
            AdminSettings(30.0, 0.1, 1.0, 2**31 - 1),
            network,
            metadata,
            self.clock,
            lambda count: b"s" * count,
            lambda: 0.0,
        )

    def handle(self, api: ApiKey, handler: Handler, *, node: int | None = None) -> None:
        for node_id, each in self.nodes.items():
            if node in (None, node_id):
                each.handlers[api] = handler

    def asked(self, api: ApiKey) -> list[int]:
        """Which brokers were asked, in the order of their ids, once per request."""
        return [node_id for node_id, node in self.nodes.items() for each in node.apis() if each == api]

    def session(self, timeout_s: float = 60.0) -> Session:
        return Session(self.office, self.clock.now() + timeout_s, timeout_s)

    def run(self, operation: Callable[[Session], Operation[T]], timeout_s: float = 60.0) -> T:
        completion = self.engine.spawn(operation(self.session(timeout_s)))
        run(self.engine, self.cluster, lambda: completion.done)
        return completion.result()
