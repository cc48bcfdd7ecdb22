"""One group member in virtual time: the real engine, network client and metadata over a fake transport, a coordinator
that is a script, and a user who polls when told.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection
from functools import partial
from random import Random
from typing import Any

from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_coordinator import GroupCoordinator
from pykclient.client.coordinators import Coordinators
from pykclient.client.engine import Delivery, Engine, Operation, Task
from pykclient.client.metadata import MetadataManager, MetadataSettings
from pykclient.config import ConsumerConfig, read_options
from pykclient.consumer.membership import GroupContext, Membership
from pykclient.consumer.subscription import Subscription, SubscriptionKind
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.net.network_client import NetworkClient, NetworkSettings
from pykclient.net.server_connection import ServerRequest
from pykclient.net.transport import Closed, Endpoint, Received
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from pykclient.types import TopicPartition
from tests.unit.fake_cluster import Drop, FakeCluster, FakeNode, Hang, VirtualClock, metadata_of, topic_of
from tests.unit.group_bench import GroupBench

GROUP = "g"
ENDPOINT = Endpoint("kafka", 9092)
LATENCY_S = 0.001
POLL_PAUSE_S = 0.05
"""How long a user takes to poll again after an error."""
GROUP_APIS = tuple(GroupCoordinator.HANDLERS)


class Listener:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[TopicPartition]]] = []
        self.on_call: Callable[[str], None] = lambda name: None

    def _note(self, name: str, partitions: Collection[TopicPartition]) -> None:
        self.told.append((name, sorted(partitions)))
        self.on_call(name)

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self._note("revoked", partitions)

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._note("assigned", partitions)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self._note("lost", partitions)

    def names(self) -> list[str]:
        return [name for name, _ in self.told]


class _User:
    """The thread inside poll, as an outlet: runs what it is given when the test says so."""

    def __init__(self) -> None:
        self.inbox: list[Delivery] = []

    def deliver(self, deliveries: list[Delivery]) -> None:
        self.inbox.extend(deliveries)


class GroupTransport(FakeCluster):
    """A fake transport whose handlers may answer later, with a Completion. Like a broker it works on one request per
    connection at a time."""

    def _serve(self, connection: Any) -> None:
        server, node = connection.server, connection.node
        while (request := server.next_request()) is not None:
            node.received.append(request)
            answer = node.answer(request)
            if isinstance(answer, Hang):
                return
            if isinstance(answer, Drop):
                self._later(0, Closed(connection.connection_id, None))
                return
            if isinstance(answer, Completion):
                if not answer.done:
                    answer.add_callback(partial(self._resume, connection, request))
                    return
                answer = answer.result()
            self._send(connection, request, answer)

    def _resume(self, connection: Any, request: ServerRequest, done: Completion[Any]) -> None:
        if connection.connection_id in self._connections:
            self._send(connection, request, done.result())
            self._serve(connection)

    def _send(self, connection: Any, request: ServerRequest, answer: Any) -> None:
        data = b"".join(connection.server.respond(request, answer))
        self._later(LATENCY_S, Received(connection.connection_id, data))


Fault = int | Hang | Drop
"""An error code, silence, or a closed connection."""


class World:
    """What all members of a test share: the clock, the topics, and a broker with the real group coordinator."""

    def __init__(self, topics: dict[str, int] | None = None, config: GroupConfig | None = None) -> None:
        self.clock = VirtualClock()
        self.bench = GroupBench(topics=topics or {"t": 4}, config=config)
        self.node = FakeNode(ENDPOINT)
        self.members: list[GroupMember] = []
        self.seeds = itertools.count(1)
        self.faults: dict[ApiKey, list[Fault]] = {}
        """Answers to give before the real ones, per API; each is used once."""
        self.victim: str | None = None
        """Whom they are for; None: whoever asks first."""
        self.hidden: set[str] = set()
        """Topics that metadata requests by name do not find, as if the news had not spread."""
        self.node.handlers[ApiKey.METADATA] = self._metadata
        self.node.handlers[ApiKey.FIND_COORDINATOR] = self._find_coordinator
        for key in GROUP_APIS:
            self.node.handlers[key] = self._group_request

    def _metadata(self, request: ServerRequest) -> MetadataResponse:
        topics = self._topics()
        shown = {name: topic for name, topic in topics.items() if name not in self.hidden}
        answer = metadata_of(request, {1: ENDPOINT}, shown)
        asked: MetadataRequest = request.message()
        by_id = [topic.topic_id for topic in asked.topics or () if topic.name is None]
        if by_id:
            known = {topic.topic_id: topic for topic in topics.values()}
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
            answer.topics = [
                known.get(each) or MetadataResponseTopic(error_code=unknown, name=None, topic_id=each) for each in by_id
            ]
        return answer

    def _topics(self) -> dict[str, MetadataResponseTopic]:
        found = {}
        for name, topic in self.bench.catalog.topics.items():
            found[name] = topic_of(name, dict.fromkeys(range(topic.partition_count), (1, 1)))
            found[name].topic_id = topic.topic_id
        return found

    def _find_coordinator(self, request: ServerRequest) -> Any:
        fault = self._fault(request)
        if isinstance(fault, (Hang, Drop)):
            return fault
        return coordinator_is(request, 1, error_code=fault or 0)

    def _fault(self, request: ServerRequest) -> Fault | None:
        faults = self.faults.get(ApiKey(request.api_key))
        return faults.pop(0) if faults and self.victim in (None, request.client_id) else None

    def _group_request(self, request: ServerRequest) -> Any:
        fault = self._fault(request)
        if isinstance(fault, (Hang, Drop)):
            return fault
        if fault is not None:
            response: Any = api(request.api_key).response_class()()
            response.error_code = fault
            return response
        return self.bench.send(request.message(), request.version, client_id=request.client_id or "")

    # ---- time ----

    def run(self, until: Callable[[], bool], limit_s: float = 60.0) -> None:
        """Let time pass until the condition holds."""
        self._advance(until, self.clock.time + limit_s)
        assert until(), f"not there after {limit_s} s of virtual time"

    def settle(self, seconds: float) -> None:
        """Let this much time pass."""
        self._advance(lambda: False, self.clock.time + seconds)

    def _advance(self, until: Callable[[], bool], end: float) -> None:
        timers = self.bench.timers
        for _ in range(20_000):
            wake_at = min(member.step() for member in self.members)
            if until():
                return
            due = [at for at, _, _ in timers.due.values()]
            next_at = min([wake_at, *due, *(member.transport.next_at() for member in self.members)])
            if self.clock.time >= end:
                return
            self.clock.time = min(end, max(self.clock.time, next_at))
            timers.advance(self.clock.time - timers.now)
        raise AssertionError("the loop spins")

    def stable(self) -> bool:
        """Whether all partitions of the group's topics have exactly one reader, and nobody waits for anything."""
        held = [tp for member in self.members for tp in member.assigned]
        wanted = sorted(
            TopicPartition(name, number)
            for name in {topic for member in self.members for topic in member.subscription.topics}
            for number in range(
                self.bench.catalog.topics[name].partition_count if name in self.bench.catalog.topics else 0
            )
        )
        return sorted(held) == wanted and all(
            member.idle() and not member.membership.needs_user() and member.settled() for member in self.members
        )

    def requests(self, api_key: ApiKey) -> list[Any]:
        """The messages of this kind that arrived, in order."""
        return [request.message() for request in self.node.received if request.api_key == api_key]


def coordinator_is(request: ServerRequest, node_id: int, error_code: int = 0) -> FindCoordinatorResponse:
    host, port = ENDPOINT.host, ENDPOINT.port
    if request.version < 4:
        return FindCoordinatorResponse(error_code=error_code, node_id=node_id, host=host, port=port)
    return FindCoordinatorResponse(
        coordinators=[Coordinator(key=GROUP, error_code=error_code, node_id=node_id, host=host, port=port)]
    )


class GroupMember:
    """A consumer reduced to its membership."""

    def __init__(
        self, world: World, make: Callable[[GroupContext], Membership], *, name: str = "member", **options: Any
    ) -> None:
        self.world = world
        config = read_options(ConsumerConfig, None, bootstrap_servers="kafka:9092", group_id=GROUP, **options)
        rng = Random(next(world.seeds))
        self.transport = GroupTransport(world.clock, [world.node])
        network = NetworkClient(
            self.transport, NetworkSettings(client_id=name, request_timeout_s=30.0, reconnect_backoff_s=0.05), rng=rng
        )
        self.metadata = MetadataManager(MetadataSettings(bootstrap=(ENDPOINT,)), network, rng=rng)
        self.engine = Engine(self.transport, world.clock, network, [self.metadata], name=name)
        self.subscription = Subscription(threading.RLock())
        self.listener = Listener()
        self.commits: list[float] = []
        self.context = GroupContext(
            config=config,
            client_id=name,
            subscription=self.subscription,
            network=network,
            metadata=self.metadata,
            coordinators=Coordinators(),
            spawn=self.engine.spawn,
            attention=lambda: None,
            commit_before_revoke=self._commit,
            random=rng.random,
            listener=self.listener,
        )
        self.membership = make(self.context)
        self.engine.add_manager(self.membership)
        self.polling = True
        """Whether the user sits in poll()."""
        self.stuck = False
        """Whether the user's thread hangs in the listener."""
        self.errors: list[BaseException] = []
        self._next_poll_at = 0.0
        self._user = _User()
        self._task: Task[None] | None = None
        world.members.append(self)

    def _commit(self) -> Operation[None]:
        yield from ()
        self.commits.append(self.world.clock.time)

    def subscribe(self, *topics: str) -> None:
        if self.subscription.kind is SubscriptionKind.NONE:
            self.subscription.choose(SubscriptionKind.TOPICS)
        self.subscription.topics = frozenset(topics)
        self.metadata.add_topics(topics)
        self.membership.subscription_changed()

    def start(self, operation: Operation[None]) -> None:
        """Have the user wait for an operation."""
        assert self._task is None, "busy"
        self._task = self.engine.submit(operation, self._user)

    def settled(self) -> bool:
        """Whether the member is where it wants to be, by its protocol."""
        return getattr(self.membership, "stage").name in ("STABLE", "OUT")  # noqa: B009

    def idle(self) -> bool:
        return self._task is None

    def step(self) -> float:
        """One turn of the reactor and, when it polls, of the user."""
        now = self.world.clock.time
        if self.polling:
            self.membership.polled(now)
            if self._task is None and now >= self._next_poll_at and self.membership.needs_user():
                self.start(self.membership.process())
        wake_at = self.engine.step(now)
        if self.polling and self._task is None and self.membership.needs_user():
            wake_at = min(wake_at, max(now, self._next_poll_at))
        inbox, self._user.inbox = self._user.inbox, []
        for delivery in inbox:
            if self.stuck and delivery.invoke is not None:
                self._user.inbox.append(delivery)
                continue
            wake_at = now
            if delivery.invoke is None:
                error, self._task = delivery.task.completion.error, None
                if error is not None:
                    self.errors.append(error)
                    self._next_poll_at = now + POLL_PAUSE_S
                continue
            try:
                value, failure = delivery.invoke(), None
            except Exception as error:
                value, failure = None, error
            delivery.task.resume(value, failure)
        return wake_at

    def waiting(self) -> list[Delivery]:
        """User code that a stuck user has not run yet."""
        return [delivery for delivery in self._user.inbox if delivery.invoke is not None]

    def run_callback_and_cancel(self) -> None:
        """The callback runs to its end, and then the poll is given up before it can go on."""
        delivery = self.waiting()[0]
        self._user.inbox.clear()
        assert delivery.invoke is not None
        delivery.invoke()
        delivery.task.cancel()
        self._user.inbox.clear()
        self._task = None

    @property
    def assigned(self) -> list[TopicPartition]:
        return sorted(tp for tp, state in self.subscription.partitions.items() if not state.revoking)
