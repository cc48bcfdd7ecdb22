"""A cluster of broker nodes in one process: one thread per node, one controller, and commands from the outside.

The nodes share no state: they have their own storage, transport and metadata image, and reach each other and the
controller through mailboxes. Public methods belong to the thread that made the cluster; they post to the nodes and
wait. The controller lives on the thread of the first node that runs; when that node stops it moves to the next.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pykclient.broker import config_changes, topic_changes
from pykclient.broker.assembly import Rooms, assemble, not_running
from pykclient.broker.authorizer import AclBinding
from pykclient.broker.clock import AdjustableClock
from pykclient.broker.config_keys import split_list
from pykclient.broker.configs import BrokerConfig
from pykclient.broker.controller import Controller, ControllerLink, ControllerState
from pykclient.broker.directory_lock import DirectoryLock
from pykclient.broker.faults import Faults
from pykclient.broker.image import BrokerImage, MetadataImage
from pykclient.broker.journal import FileJournal, Journal, MemoryJournal
from pykclient.broker.listeners import ListenerSpec, check_listeners
from pykclient.broker.security import SCRAM_MECHANISMS
from pykclient.broker.server import BrokerNode
from pykclient.broker.storage import DirectoryStorage, MemoryStorage, Storage
from pykclient.broker.topic_changes import Decision, TopicResult, TopicSpec
from pykclient.config import Secret
from pykclient.errors import FatalError, UsageError, broker_error
from pykclient.net.completion import Completion
from pykclient.net.reactor import Reactor, SystemClock
from pykclient.net.sasl import SaslServers
from pykclient.net.scram import HASHES, ScramCredential, make_credential
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages import ApiKey

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")
COMMAND_TIMEOUT_S = 30.0
SALT_BYTES = 16


@dataclass(frozen=True)
class ClusterOptions:
    """What a cluster is made of. ``ports`` are those of the first listener, one per node; 0 takes a free one."""

    brokers: int = 1
    data_dir: Path | None = None
    listeners: Sequence[ListenerSpec] = (ListenerSpec(),)
    ports: Sequence[int] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    acls: Sequence[AclBinding] = ()
    racks: Sequence[str | None] = ()
    max_versions: Mapping[Any, int | None] | None = None
    seed: int | None = None
    cluster_id: str | None = None
    allow_open_network: bool = False
    token_verifier: Any = None


class _Running:
    """A node and its thread."""

    def __init__(self, node: BrokerNode, rooms: Rooms, clock: AdjustableClock, on_death: Callable[[int], None]) -> None:
        self.node = node
        self.rooms = rooms
        self._clock = clock
        self._on_death = on_death
        self._stopping = False
        self._failure: BaseException | None = None
        # Requests of other nodes: each is answered, or failed when this node ends. Both ways take it out first, which
        # is atomic, so it happens once.
        self._asked: dict[object, Callable[[Completion[Any]], None]] = {}
        self._gone = False
        self.thread = threading.Thread(target=self._run, name=f"pykclient-broker-{node.node_id}", daemon=True)

    def start(self) -> None:
        self._clock.on_advance(self.node.transport.wake)
        self.thread.start()

    def _run(self) -> None:
        node, clock = self.node, self._clock
        try:
            wake_at = clock.now()
            while not self._stopping:
                events = node.transport.poll(clock.sleep_s(wake_at))
                wake_at = node.step(clock.now(), events)
        except BaseException as error:
            # Nothing is left that could answer: fail loudly, and let every command say why.
            self._failure = error
            logger.critical("broker %d died", node.node_id, exc_info=error)
            self._on_death(node.node_id)
        finally:
            self._clock.forget(node.transport.wake)
            self._shut_down()

    def _shut_down(self) -> None:
        """Connections first, so that nobody is answered from a log that is closing."""
        try:
            self.node.close_connections()
            self.rooms.close(self._clock.wall_ms())
        except Exception as error:  # whatever is broken, the sockets must be let go
            logger.error("broker %d did not close cleanly", self.node.node_id, exc_info=error)
        finally:
            self.node.transport.shut_down()
            self._gone = True
            for call in list(self._asked):
                self._settle(call, Completion.failed(not_running(self.node.node_id)))

    def ask(self, question: Callable[[], Completion[Any]], answer: Callable[[Completion[Any]], None]) -> None:
        """From another thread: put a question to the node's own; ``answer`` is called there, or where the node ends."""
        call = object()
        self._asked[call] = answer
        self.node.post(lambda: question().add_callback(lambda outcome: self._settle(call, outcome)))
        if self._gone:  # since the caller looked: nobody reads that mail any more
            self._settle(call, Completion.failed(not_running(self.node.node_id)))

    def _settle(self, call: object, outcome: Completion[Any]) -> None:
        answer = self._asked.pop(call, None)
        if answer is not None:
            answer(outcome)

    @property
    def alive(self) -> bool:
        return self.thread.is_alive() and self._failure is None

    def call(self, action: Callable[[], T]) -> T:
        """Run on the node's thread and give its result."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(action())
            except BaseException as error:
                future.set_exception(error)

        self.node.post(run)
        while True:
            done, _ = wait([future], timeout=1.0)
            if done:
                return future.result()
            if not self.alive:
                raise FatalError(f"broker {self.node.node_id} is dead") from self._failure

    def stop(self) -> None:
        def halt() -> None:
            self._stopping = True

        self.node.post(halt)
        self.thread.join(COMMAND_TIMEOUT_S)
        if self.thread.is_alive():
            raise FatalError(f"broker {self.node.node_id} did not stop")


class _ControllerMail:
    """The controller's mailbox: drained on the thread of whichever node hosts it."""

    def __init__(self) -> None:
        self._mail: deque[Callable[[], None]] = deque()
        self._host: BrokerNode | None = None

    def move_to(self, host: BrokerNode | None) -> None:
        self._host = host
        if host is not None:
            host.post(self._drain)

    def post(self, message: Callable[[], None]) -> None:
        self._mail.append(message)
        host = self._host
        if host is not None:
            host.post(self._drain)

    def _drain(self) -> None:
        while self._mail:
            self._mail.popleft()()


class Cluster:
    """``start`` it, use its commands, ``close`` it."""

    def __init__(self, options: ClusterOptions, *, clock: AdjustableClock | None = None) -> None:
        if not 1 <= options.brokers <= 100:
            raise UsageError("a cluster has 1 to 100 brokers")
        check_listeners(options.listeners, allow_open_network=options.allow_open_network)
        self.options = options
        self.clock = clock or AdjustableClock(SystemClock())
        seed = secrets.randbits(64) if options.seed is None else options.seed
        self._rng = random.Random(seed)
        self.faults = Faults(random.Random(seed ^ 0xFA017), threading.Condition())
        self.config = BrokerConfig(options.config)
        self._storages: dict[int, Storage] = {}
        self._running: dict[int, _Running] = {}
        self._ports: dict[int, dict[str, int]] = {}
        self._mail = _ControllerMail()
        self._host_id: int | None = None
        self._controller: Controller | None = None
        self._lock: DirectoryLock | None = None

    # ---- life ----

    @property
    def controller(self) -> Controller:
        """The controller; to be used on its own thread only."""
        if self._controller is None:
            raise UsageError("the cluster is not running")
        return self._controller

    def start(self) -> None:
        """Bind, load, register, and return when every node is ready for its first request."""
        try:
            self._open_controller()
            for node_id in range(1, self.options.brokers + 1):
                self.start_node(node_id)
        except BaseException:
            self.close()
            raise

    def _open_controller(self) -> None:
        directory = self.options.data_dir
        journal: Journal = MemoryJournal()
        if directory is not None:
            self._lock = DirectoryLock(directory)
            journal = FileJournal(directory / "__cluster_metadata" / "metadata.journal")
        self._controller = Controller(
            journal=journal, config=self.config, rng=self._rng, cluster_id=self.options.cluster_id
        )
        self._add_users_and_acls(self._controller)

    def close(self) -> None:
        """Stop every node and let go of the data. What is in memory is gone."""
        running, self._running = self._running, {}
        self._mail.move_to(None)
        for each in running.values():
            each.stop()
        if self._controller is not None:
            self._controller.close()
            self._controller = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _add_users_and_acls(self, controller: Controller) -> None:
        if self.options.acls:
            controller.run(lambda _: config_changes.create_acls(self.options.acls))
        numbers = {name: number for number, name in SCRAM_MECHANISMS.items()}
        offered = [each for each in split_list(self.config.text("sasl.enabled.mechanisms")) if each in HASHES]
        if not any(spec.sasl for spec in self.options.listeners):
            return
        upsertions = [
            (user, numbers[mechanism], make_credential(mechanism, password, salt=secrets.token_bytes(SALT_BYTES)))
            for user, password in self.options.users.items()
            for mechanism in offered
        ]
        controller.run(lambda state: config_changes.alter_scram(state.image, [], upsertions))

    # ---- nodes ----

    @property
    def node_ids(self) -> list[int]:
        """The nodes that run."""
        return sorted(self._running)

    def node(self, node_id: int) -> BrokerNode:
        """A running node; its state may only be touched by ``call``."""
        return self._get(node_id).node

    def rooms(self, node_id: int) -> Rooms:
        """The rooms of a running node; to be touched by ``call`` only."""
        return self._get(node_id).rooms

    def _get(self, node_id: int) -> _Running:
        running = self._running.get(node_id)
        if running is None:
            raise UsageError(f"broker {node_id} is not running")
        return running

    def start_node(self, node_id: int, *, port: int | None = None) -> None:
        """Start a node: on the port given, else on the ports it had before, else on those of the options."""
        if node_id in self._running:
            raise UsageError(f"broker {node_id} is running already")
        controller = self.controller
        transport = Reactor(name=f"pykclient-broker-{node_id}")
        try:
            node = BrokerNode(
                node_id=node_id,
                config=self._node_config(node_id),
                transport=transport,
                clock=self.clock,
                entropy=secrets.token_bytes,
                faults=self.faults,
                max_versions=self.options.max_versions,
            )
            node.controller = ControllerLink(controller, self._mail.post, node.post)
            node.sasl = self._sasl(node)
            endpoints = node.listen(self._listeners(node_id, port))
            rooms = assemble(node, self._storage(node_id), self._node_rng(), partial(self._call_peer, node))
        except BaseException:
            transport.shut_down()
            raise
        self._ports[node_id] = {name: each.port for name, each in endpoints.items()}
        node.install(rooms.all)
        running = _Running(node, rooms, self.clock, self._node_died)
        self._running[node_id] = running
        racks = self.options.racks
        broker = BrokerImage(node_id, dict(endpoints), racks[node_id - 1] if len(racks) >= node_id else None)
        if self._host_id is None:
            self._become_host(node_id)
        running.start()
        self._mail.post(lambda: controller.attach(node_id, self._delivery(running)))
        self.run_on_controller(lambda state: topic_changes.register_broker(state.image, broker))

    def _delivery(self, running: _Running) -> Callable[[MetadataImage], None]:
        controller, node = self.controller, running.node

        def take(image: MetadataImage) -> None:
            running.rooms.take_image(image)
            self._mail.post(lambda: controller.acknowledge(node.node_id, image.version))

        return lambda image: node.post(lambda: take(image))

    def _become_host(self, node_id: int) -> None:
        self._host_id = node_id
        self._mail.move_to(self._running[node_id].node)
        controller = self.controller
        self._mail.post(lambda: controller.host(node_id))

    def stop_node(self, node_id: int) -> None:
        """Stop a node as a shutdown does: its data is flushed, its partitions have no leader until it is back."""
        self._get(node_id).stop()
        del self._running[node_id]
        controller = self.controller
        if self._host_id == node_id:
            self._host_id = None
            self._mail.move_to(None)
            if self._running:
                self._become_host(min(self._running))
        if not self._running:
            controller.detach(node_id)
            controller.run(lambda state: topic_changes.unregister_broker(state.image, node_id))
            return
        self._mail.post(lambda: controller.detach(node_id))
        self.run_on_controller(lambda state: topic_changes.unregister_broker(state.image, node_id))

    def _node_died(self, node_id: int) -> None:
        """On the thread of a node that broke down: the others go on without it, and without waiting for it."""
        controller = self.controller
        others = [each for each, running in self._running.items() if each != node_id and running.alive]
        if self._host_id == node_id and others:
            self._become_host(min(others))
        self._mail.post(lambda: controller.detach(node_id))
        self._mail.post(lambda: _run_alone(controller, node_id))

    def _node_config(self, node_id: int) -> BrokerConfig:
        directory = self.options.data_dir
        own = {"node.id": node_id, "broker.id": node_id, "log.dirs": "" if directory is None else str(directory)}
        return BrokerConfig({**own, **self.options.config})

    def _listeners(self, node_id: int, port: int | None) -> list[ListenerSpec]:
        before = self._ports.get(node_id, {})
        specs = []
        for index, spec in enumerate(self.options.listeners):
            wanted = before.get(spec.listener_name, spec.port if self.options.brokers == 1 else 0)
            if index == 0 and port is not None:
                wanted = port
            elif index == 0 and not before and len(self.options.ports) >= node_id:
                wanted = self.options.ports[node_id - 1]
            specs.append(replace(spec, port=wanted))
        return specs

    def _storage(self, node_id: int) -> Storage:
        if node_id not in self._storages:
            directory = self.options.data_dir
            if directory is None:
                self._storages[node_id] = MemoryStorage(f"memory:broker-{node_id}")
            else:
                path = directory / f"broker-{node_id}"
                path.mkdir(parents=True, exist_ok=True)
                self._storages[node_id] = DirectoryStorage(str(path))
        return self._storages[node_id]

    def _sasl(self, node: BrokerNode) -> SaslServers | None:
        if not any(spec.sasl for spec in self.options.listeners):
            return None
        mechanisms = tuple(split_list(self.config.text("sasl.enabled.mechanisms")))
        return SaslServers(
            mechanisms=mechanisms,
            plain_users={user: Secret(password) for user, password in self.options.users.items()},
            scram_users={name: _ScramUsers(node, number) for number, name in SCRAM_MECHANISMS.items()},
            token_verifier=self.options.token_verifier,
        )

    # ---- commands ----

    def bootstrap(self, listener: str | None = None) -> list[Endpoint]:
        """The addresses of the running nodes on one listener (the first unless named)."""
        name = listener or self.options.listeners[0].listener_name
        return [self._running[node_id].node.endpoints[name] for node_id in self.node_ids]

    def call(self, node_id: int, action: Callable[[], T]) -> T:
        """Run something on a node's thread and give its result."""
        return self._get(node_id).call(action)

    def run_on_controller(self, operation: Callable[[ControllerState], Decision[R]]) -> R:
        """Run an operation on the controller; returns when every live node has what it changed."""
        controller = self.controller
        future: Future[R] = Future()

        def finish(done: Completion[R]) -> None:
            if done.error is not None:
                future.set_exception(done.error)
            else:
                future.set_result(done.result())

        def execute() -> None:
            try:
                controller.run(operation).add_callback(finish)
            except BaseException as error:
                future.set_exception(error)

        self._mail.post(execute)
        return future.result(timeout=COMMAND_TIMEOUT_S)

    def create_topics(self, specs: Sequence[TopicSpec]) -> list[TopicResult]:
        """Make topics; raises the first error."""
        results = self.run_on_controller(
            lambda state: topic_changes.create_topics(state.image, state.config, state.rng, specs, validate_only=False)
        )
        for result in results:
            if result.error:
                raise broker_error(result.error, result.message, topic=result.name)
        return results

    def image(self) -> MetadataImage:
        """The metadata as the controller has it now."""
        return self.controller.image

    def move_leader(self, topic: str, partition: int, node_id: int) -> None:
        """Hand a partition over: its log goes to the other node, which leads it in a new epoch."""
        found = self.image().partition(topic, partition)
        if found is None:
            raise broker_error(3, f"there is no partition {topic}-{partition}")
        target = self._get(node_id)
        source_id = found.leader
        if source_id == node_id:
            return
        if source_id not in self._running:
            raise UsageError(f"broker {source_id} holds the only copy of {topic}-{partition} and does not run")
        source = self._get(source_id)
        # From here to the new image the old leader says NOT_LEADER_OR_FOLLOWER, and clients try again.
        content = source.call(lambda: source.rooms.hand_over(topic, partition))
        target.call(lambda: target.rooms.receive(topic, partition, content))
        result = self.run_on_controller(
            lambda state: topic_changes.move_partition(state.image, topic, partition, node_id)
        )
        if result.error:
            raise broker_error(result.error, result.message, topic=topic, partition=partition)

    def _call_peer(
        self,
        sender: BrokerNode,
        node_id: int,
        api_key: ApiKey,
        version: int,
        body: bytes,
        done: Callable[[Completion[Any]], None],
    ) -> None:
        """Used on a node's thread: let another node answer on its own, and call back here."""
        running = self._running.get(node_id)
        if running is None or not running.alive:
            done(Completion.failed(not_running(node_id)))
            return
        running.ask(
            lambda: running.rooms.answer_peer(api_key, version, body),
            lambda outcome: sender.post(lambda: done(outcome)),
        )

    def _node_rng(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))


def _run_alone(controller: Controller, node_id: int) -> None:
    controller.run(lambda state: topic_changes.unregister_broker(state.image, node_id))


class _ScramUsers(Mapping[str, ScramCredential]):
    """The users of one mechanism, as the node's metadata has them at the moment of asking."""

    def __init__(self, node: BrokerNode, mechanism: int) -> None:
        self._node = node
        self._mechanism = mechanism

    def __getitem__(self, user: str) -> ScramCredential:
        return self._node.image.scram[(user, self._mechanism)]

    def __iter__(self) -> Iterator[str]:
        return (user for user, mechanism in self._node.image.scram if mechanism == self._mechanism)

    def __len__(self) -> int:
        return sum(1 for _ in self)
