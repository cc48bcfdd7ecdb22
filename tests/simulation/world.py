"""Whole clusters and whole clients in virtual time: real broker nodes, real producers and consumers, one thread.

Only the outermost layer is replaced: the transport, the clock, the random source, and waiting, which here means
letting the world go on. ``World.step`` moves time to the next thing that happens.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from pykclient.broker import topic_changes
from pykclient.broker.assembly import Rooms, assemble, not_running
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.controller import Controller, ControllerLink
from pykclient.broker.faults import Faults
from pykclient.broker.image import BrokerImage, MetadataImage
from pykclient.broker.journal import MemoryJournal
from pykclient.broker.listeners import ListenerSpec
from pykclient.broker.server import BrokerNode
from pykclient.broker.storage import MemoryStorage
from pykclient.broker.topic_changes import TopicSpec
from pykclient.client import assembly
from pykclient.client.engine import Engine
from pykclient.client.operations import Delivery, Operation, outcome_of
from pykclient.consumer.fetcher import FetchBuffer
from pykclient.errors import ClientClosed, KafkaTimeoutError
from pykclient.net.completion import Completion
from pykclient.producer.accumulator import RecordAccumulator
from pykclient.protocol.messages import ApiKey
from tests.simulation.network import Network, SimTransport, VirtualClock

T = TypeVar("T")
PORT = 9092
STEPS_MAX = 60_000


class SimNode:
    """A running broker."""

    def __init__(self, node: BrokerNode, rooms: Rooms, transport: SimTransport) -> None:
        self.node = node
        self.rooms = rooms
        self.transport = transport
        self.wake_at = 0.0


class SimClient:
    """A client's engine, wherever it came from."""

    def __init__(self, engine: Engine, transport: SimTransport) -> None:
        self.engine = engine
        self.transport = transport
        self.wake_at = 0.0


class _Mail:
    """An operation's news, for whoever waits in the world."""

    def __init__(self) -> None:
        self.news: deque[Delivery] = deque()

    def deliver(self, deliveries: list[Delivery]) -> None:
        self.news.extend(deliveries)


class World:
    """The cluster, the network and the clients of one seed."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch, *, brokers: int, **config: object) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.clock = VirtualClock()
        self.network = Network(self.clock, random.Random(self.rng.random()))
        self.config = {name.replace("_", "."): value for name, value in config.items()}
        self.nodes: dict[int, SimNode] = {}
        self.clients: list[SimClient] = []
        self.steps = 0
        self.watch: Callable[[], None] = lambda: None
        """Called after every step: what must hold at any time."""
        self._transports: deque[SimTransport] = deque()
        self._storages = {node_id: MemoryStorage(f"memory:{node_id}") for node_id in range(1, brokers + 1)}
        self._soon: deque[Callable[[], None]] = deque()
        self._mail: deque[Callable[[], None]] = deque()
        self._faults = Faults(random.Random(1))
        self.controller = Controller(
            journal=MemoryJournal(), config=BrokerConfig(self.config), rng=random.Random(self.rng.random())
        )
        self._patch(monkeypatch)
        for node_id in self._storages:
            self.start_node(node_id)

    # Clients: everything but their I/O, their clock and their waiting is the real thing

    def _patch(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(assembly, "Reactor", self._new_transport)
        patch.setattr(assembly, "SystemClock", lambda: self.clock)
        patch.setattr(assembly, "Random", lambda: random.Random(self.rng.random()))
        patch.setattr(Engine, "start", self._start_engine)
        patch.setattr(Engine, "stop", self._stop_engine)
        patch.setattr(Engine, "run_blocking", self._run_blocking)
        patch.setattr(Engine, "running", property(lambda engine: engine._ended is None))
        patch.setattr(FetchBuffer, "wait", self._wait)
        patch.setattr(FetchBuffer, "nap", lambda buffer, timeout_s: self.run_for(timeout_s))
        patch.setattr(RecordAccumulator, "wait_until", self._wait_until)

    def _new_transport(self, **options: Any) -> SimTransport:
        transport = SimTransport(self.network, f"client-{len(self.clients) + len(self._transports)}")
        self._transports.append(transport)
        return transport

    @property
    def _start_engine(self) -> Callable[[Engine], None]:
        def start(engine: Engine) -> None:
            self.clients.append(SimClient(engine, self._transports.popleft()))

        return start

    @property
    def _stop_engine(self) -> Callable[..., bool]:
        def stop(engine: Engine, timeout_s: float | None = None) -> bool:
            self.clients = [each for each in self.clients if each.engine is not engine]
            engine._end(ClientClosed(f"{engine.name} is closed"))
            return True

        return stop

    @property
    def _run_blocking(self) -> Callable[..., Any]:
        def run_blocking(engine: Engine, operation: Operation[T], timeout_s: float | None = None) -> T:
            mail = _Mail()
            deadline = math.inf if timeout_s is None else self.clock.time + timeout_s
            task = engine.submit(operation, mail)
            while True:
                while mail.news:
                    delivery = mail.news.popleft()
                    if delivery.invoke is None:
                        return task.completion.result()
                    task.resume(*outcome_of(delivery.invoke))
                if self.clock.time >= deadline:
                    task.cancel_soon()
                    raise KafkaTimeoutError(f"not done after {timeout_s} s")
                self.step(deadline)

        return run_blocking

    @property
    def _wait(self) -> Callable[[FetchBuffer, float], bool]:
        def wait(buffer: FetchBuffer, timeout_s: float) -> bool:
            deadline = self.clock.time + timeout_s
            while not buffer.attention and not buffer._filled():
                if self.clock.time >= deadline:
                    return False
                self.step(deadline)
            return True

        return wait

    @property
    def _wait_until(self) -> Callable[[RecordAccumulator, Callable[[], bool], float | None], bool]:
        def wait_until(accumulator: RecordAccumulator, condition: Callable[[], bool], timeout_s: float | None) -> bool:
            deadline = math.inf if timeout_s is None else self.clock.time + timeout_s
            while not condition():
                if self.clock.time >= deadline:
                    return False
                self.step(deadline)
            return True

        return wait_until

    # Time

    def step(self, until: float = math.inf) -> None:
        """Go to the next thing that happens, or to ``until``, and let everybody concerned do their part."""
        self.steps += 1
        assert self.steps < STEPS_MAX, f"seed {self.seed}: the world spins"
        parties: list[SimNode | SimClient] = [*self.nodes.values(), *self.clients]
        awake = any(party.transport.woken for party in parties) or bool(self._mail)
        if not awake:
            times = [until, *(party.wake_at for party in parties)]
            next_at = self.network.next_at()
            if next_at is not None:
                times.append(next_at)
            assert min(times) < math.inf, f"seed {self.seed}: nothing will ever happen again"
            self.clock.time = max(self.clock.time, min(times))
        self.network.deliver()
        while self._mail:
            self._mail.popleft()()
        self.rng.shuffle(parties)
        now = self.clock.time
        for party in parties:
            if not party.transport.woken and party.wake_at > now:
                continue
            party.transport.woken = False
            if isinstance(party, SimClient):
                if party in self.clients:
                    party.wake_at = party.engine.step(now)
            elif party in self.nodes.values():
                party.wake_at = party.node.step(now, party.transport.poll(0))
        self.watch()
        while self._soon:
            self._soon.popleft()()

    def soon(self, action: Callable[[], None]) -> None:
        """Between two steps, where an action may wait itself."""
        self._soon.append(action)

    def run_until(self, condition: Callable[[], bool], limit_s: float = 600.0) -> None:
        deadline = self.clock.time + limit_s
        while not condition():
            assert self.clock.time < deadline, f"seed {self.seed}: not there after {limit_s} s of virtual time"
            self.step(deadline)

    def run_for(self, seconds: float) -> None:
        deadline = self.clock.time + seconds
        while self.clock.time < deadline:
            self.step(deadline)

    # Brokers

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"broker-{node_id}:{PORT}" for node_id in self._storages)

    def start_node(self, node_id: int) -> None:
        host = f"broker-{node_id}"
        transport = SimTransport(self.network, host)
        node = BrokerNode(
            node_id=node_id,
            config=BrokerConfig({"node.id": node_id, **self.config}),
            transport=transport,
            clock=self.clock,
            entropy=random.Random(self.rng.random()).randbytes,
            faults=self._faults,
        )
        node.controller = ControllerLink(self.controller, self._mail.append, node.post)
        rng = random.Random(self.rng.random())
        rooms = assemble(node, self._storages[node_id], rng, partial(self._call_peer, node))
        node.install(rooms.all)
        endpoints = node.listen([ListenerSpec(host=host, port=PORT)])
        running = SimNode(node, rooms, transport)
        self.nodes[node_id] = running
        self.controller.host(min(self.nodes))
        self.controller.attach(node_id, partial(self._take_image, running))
        broker = BrokerImage(node_id, dict(endpoints), None)
        self.command(lambda state: topic_changes.register_broker(state.image, broker))

    def _take_image(self, running: SimNode, image: MetadataImage) -> None:
        node = running.node

        def take() -> None:
            running.rooms.take_image(image)
            self._mail.append(lambda: self.controller.acknowledge(node.node_id, image.version))

        node.post(take)

    def stop_node(self, node_id: int, *, clean: bool) -> None:
        """A shutdown closes the logs; a crash closes nothing but the connections, which the kernel does."""
        running = self.nodes.pop(node_id)
        running.node.close_connections()
        self.network.break_connections(running.transport.host)
        if clean:
            running.rooms.close(self.clock.wall_ms())
        running.transport.shut_down()
        self.controller.detach(node_id)
        if self.nodes:
            self.controller.host(min(self.nodes))
        self.controller.run(lambda state: topic_changes.unregister_broker(state.image, node_id))

    def _call_peer(
        self,
        sender: BrokerNode,
        node_id: int,
        api_key: ApiKey,
        version: int,
        body: bytes,
        done: Callable[[Completion[Any]], None],
    ) -> None:
        running = self.nodes.get(node_id)
        if running is None:
            done(Completion.failed(not_running(node_id)))
            return
        running.node.post(
            lambda: running.rooms.answer_peer(api_key, version, body).add_callback(
                lambda outcome: sender.post(lambda: done(outcome))
            )
        )

    def command(self, operation: Callable[[Any], Any]) -> Any:
        """Run an operation on the controller and wait until every node knows."""
        outcome = self.controller.run(operation)
        self.run_until(lambda: outcome.done)
        return outcome.result()

    def create_topic(self, name: str, partitions: int) -> None:
        specs = [TopicSpec(name, partitions)]
        self.command(
            lambda state: topic_changes.create_topics(state.image, state.config, state.rng, specs, validate_only=False)
        )

    def move_partition(self, topic: str, partition: int, node_id: int) -> None:
        """Hand a partition to another node, when both run."""
        found = self.controller.image.partition(topic, partition)
        if found is None or found.leader == node_id or not {found.leader, node_id} <= self.nodes.keys():
            return
        moved = self.nodes[found.leader].rooms.hand_over(topic, partition)
        self.nodes[node_id].rooms.receive(topic, partition, moved)
        self.controller.run(lambda state: topic_changes.move_partition(state.image, topic, partition, node_id))
