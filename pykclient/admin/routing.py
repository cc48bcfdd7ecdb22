"""Which broker is asked for what, and when it is asked again: the part that every admin call shares.

A call is a set of items. Each round places the items that are still open on brokers, asks those brokers side by side,
reads one outcome per item, and goes round again for the outcomes that pass by themselves, until the call's time is up.
Runs on the reactor thread, as part of operations. It must never ask again after an answer that is final, nor wait for a
topic that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pykclient.admin.results import Results
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation, now, sleep, wait
from pykclient.client.metadata import UNKNOWN_TOPIC_PATIENCE_S, MetadataManager
from pykclient.errors import (
    Action,
    BrokerError,
    ClientClosed,
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    FencedLeaderEpoch,
    KafkaConnectionError,
    KafkaError,
    KafkaStorageError,
    KafkaTimeoutError,
    LeaderNotAvailable,
    NotController,
    NotCoordinator,
    NotLeaderOrFollower,
    OffsetNotAvailable,
    ProtocolError,
    ReplicaNotAvailable,
    ThrottlingQuotaExceeded,
    UnknownLeaderEpoch,
    UnknownTopicId,
    UnknownTopicOrPartition,
    UnsupportedVersion,
    broker_error,
)
from pykclient.net.client_request import Request
from pykclient.net.network_client import NetworkClient
from pykclient.net.transport import Clock
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.types import TopicPartition

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
R = TypeVar("R")

CoordinatorKey = tuple[CoordinatorKind, str]
LEADER_ERRORS: tuple[type[KafkaError], ...] = (
    NotLeaderOrFollower,
    LeaderNotAvailable,
    FencedLeaderEpoch,
    UnknownLeaderEpoch,
    KafkaStorageError,
    OffsetNotAvailable,
    ReplicaNotAvailable,
    UnknownTopicId,
)


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """From the client's configuration, in seconds."""

    request_timeout_s: float
    retry_backoff_s: float
    retry_backoff_max_s: float
    retries_max: int


@dataclass(slots=True)
class Office:
    """What all calls of one client share."""

    settings: AdminSettings
    network: NetworkClient
    metadata: MetadataManager
    clock: Clock
    random_bytes: Callable[[int], bytes]
    jitter: Callable[[], float]
    coordinators: dict[CoordinatorKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """One call: the client's means, and how long it may take."""

    office: Office
    deadline: float
    timeout_s: float

    def request_timeout_s(self, at: float) -> float:
        """For a request sent now: the usual time-out, or what is left of the call."""
        return max(0.001, min(self.office.settings.request_timeout_s, self.deadline - at))

    @property
    def broker_timeout_ms(self) -> int:
        """For requests that tell the broker how long it may work."""
        return int(min(self.office.settings.request_timeout_s, self.timeout_s) * 1000)

    def pause_s(self, attempts: int) -> float:
        """Before the next round; grows, and differs a little from client to client."""
        settings = self.office.settings
        pause_s = min(settings.retry_backoff_s * 2.0 ** min(attempts, 16), settings.retry_backoff_max_s)
        return pause_s * (1 + 0.2 * self.office.jitter())

    def connected(self) -> Operation[None]:
        """Wait until some broker has told us of the others; its failure tells why not."""
        metadata = self.office.metadata
        if not metadata.cluster.brokers:
            yield from wait(metadata.wait_for_update(self.deadline))

    def named(self, outcome: V, request: Request[Any]) -> V:
        """The outcome; if it is an error, it says which broker it comes from."""
        if isinstance(outcome, KafkaError) and outcome.node is None:
            outcome.node = request.address
        return outcome

    def gather(self, requests: Sequence[Request[R]]) -> Operation[list[R | KafkaError]]:
        """Send all, then wait for all; one outcome each."""
        at = yield from now()
        for request in requests:
            request.timeout_s = self.request_timeout_s(at)
            self.office.network.send(request, at)
        outcomes: list[R | KafkaError] = []
        try:
            for request in requests:
                try:
                    outcomes.append((yield from wait(request.completion)))
                except KafkaError as error:
                    outcomes.append(error)
        finally:
            # A call that was given up must not send later what still stands in line.
            for request in requests:
                if not request.completion.done:
                    request.completion.withdraw()
        return outcomes


# ---- where items go ----


@dataclass(slots=True)
class Placement:
    """One round's plan. ``by_node``: which items go to which broker (None: any). ``failed``: items without one."""

    by_node: dict[int | None, list[Any]] = field(default_factory=dict)
    failed: dict[Any, KafkaError] = field(default_factory=dict)

    def put(self, node_id: int | None, item: Any) -> None:
        """This item goes there."""
        self.by_node.setdefault(node_id, []).append(item)


class Route(Protocol):
    """Knows the brokers for items, and which errors mean "ask again, perhaps elsewhere"."""

    passing: tuple[type[KafkaError], ...]

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """Plan a round. Raises what keeps the whole call from going on."""
        ...

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """An item came back with an error that passes: forget what may be wrong."""
        ...


class AnyBroker:
    """For requests that every broker answers alike."""

    passing: tuple[type[KafkaError], ...] = ()

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """All to whoever is least busy."""
        yield from session.connected()
        return Placement({None: list(items)})

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """The network client tries another broker by itself."""


class Controller:
    """For changes of the cluster. A KRaft broker names any broker as controller and forwards; before KRaft it is the
    one that must be asked."""

    passing: tuple[type[KafkaError], ...] = (NotController, ThrottlingQuotaExceeded)

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """All to the controller the metadata names, to any broker when it names none."""
        yield from session.connected()
        return Placement({session.office.metadata.cluster.controller_id: list(items)})

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """Learn who it is now."""
        session.office.metadata.request_update()


@dataclass(slots=True)
class Brokers:
    """For what a broker knows about itself; ``of`` gives the broker's id, None for any."""

    of: Callable[[Any], int | None] = lambda item: item
    passing: tuple[type[KafkaError], ...] = (NotController,)

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """Each to its own broker; a broker that is not in the cluster fails its items at once."""
        yield from session.connected()
        placement = Placement()
        brokers = session.office.metadata.cluster.brokers
        unknown = [item for item in items if (node_id := self.of(item)) is not None and node_id not in brokers]
        if unknown:
            brokers = (yield from wait(session.office.metadata.wait_for_update(session.deadline))).brokers
        for item in items:
            node_id = self.of(item)
            if node_id is not None and node_id not in brokers:
                placement.failed[item] = BrokerUnknown(f"broker {node_id} is not in the cluster now")
            else:
                placement.put(node_id, item)
        return placement

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """It may have moved."""
        session.office.metadata.request_update()


class BrokerUnknown(KafkaError):
    """The broker is not in the cluster; describe_cluster() lists those that are."""


@dataclass(slots=True)
class Leaders:
    """For what the leader of a partition knows. ``of`` gives the item's partition."""

    of: Callable[[Any], TopicPartition] = lambda item: item
    epochs: dict[TopicPartition, int] = field(default_factory=dict)
    topic_ids: dict[str, Any] = field(default_factory=dict)
    _nodes: dict[TopicPartition, int] = field(default_factory=dict)
    _unknown_since: float | None = None
    passing: tuple[type[KafkaError], ...] = LEADER_ERRORS

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """Each to its partition's leader, as a broker tells us now."""
        partitions = {item: TopicPartition(*self.of(item)) for item in items}
        missing = {tp for tp in partitions.values() if tp not in self._nodes}
        errors = (yield from self._look_up(session, missing)) if missing else {}
        placement = Placement()
        for item, tp in partitions.items():
            if tp in self._nodes:
                placement.put(self._nodes[tp], item)
            else:
                placement.failed[item] = errors[tp]
        return placement

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """Ask who leads it before the next round."""
        self._nodes.pop(TopicPartition(*self.of(item)), None)

    def _look_up(self, session: Session, missing: set[TopicPartition]) -> Operation[dict[TopicPartition, KafkaError]]:
        topics = yield from fetch_topics(session, sorted({tp.topic for tp in missing}))
        at = yield from now()
        errors: dict[TopicPartition, KafkaError] = {}
        for tp in missing:
            answer = topics.get(tp.topic)
            rows = [] if answer is None else [p for p in answer.partitions if p.partition_index == tp.partition]
            if answer is not None and answer.error_code == 0 and rows and rows[0].leader_id >= 0:
                self._nodes[tp] = rows[0].leader_id
                self.epochs[tp] = rows[0].leader_epoch
                self.topic_ids[tp.topic] = answer.topic_id
            elif answer is not None and answer.error_code == 0 and rows:
                errors[tp] = LeaderNotAvailable(topic=tp.topic, partition=tp.partition)
            else:
                code = 0 if answer is None else answer.error_code
                errors[tp] = self._unknown(code, tp, at, session.office.metadata.answered_by)
        return errors

    def _unknown(self, code: int, tp: TopicPartition, at: float, node: str | None) -> KafkaError:
        error = broker_error(code or UnknownTopicOrPartition.code, topic=tp.topic, partition=tp.partition, node=node)
        if isinstance(error, UnknownTopicOrPartition):
            since = self._unknown_since = at if self._unknown_since is None else self._unknown_since
            if at - since < UNKNOWN_TOPIC_PATIENCE_S:
                return LeaderNotAvailable(topic=tp.topic, partition=tp.partition)
        return error


def fetch_topics(session: Session, names: Sequence[str] | None) -> Operation[dict[str, Any]]:
    """Topics as some broker sees them, by name (None: all of them); their brokers become known to the client."""
    yield from session.connected()

    def build(version: int) -> MetadataRequest:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        message = MetadataRequest(topics=topics)
        if version >= 4:
            message.allow_auto_topic_creation = False
        return message

    attempts = 0
    while True:
        request = Request[MetadataResponse](api_key=ApiKey.METADATA, build=build)
        (outcome,) = yield from session.gather([request])
        at = yield from now()
        if isinstance(outcome, MetadataResponse):
            session.office.metadata.apply(outcome, at, request.address)
            return {topic.name: topic for topic in outcome.topics if topic.name is not None}
        if not passes(outcome, ()) or at + session.pause_s(attempts) >= session.deadline:
            raise outcome
        yield from sleep(session.pause_s(attempts))
        attempts += 1


@dataclass(slots=True)
class CoordinatorsOf:
    """For what the coordinator of a group or of a transactional id knows; items are their names."""

    kind: CoordinatorKind
    of: Callable[[Any], str] = lambda item: item
    also: tuple[type[KafkaError], ...] = ()
    passing: tuple[type[KafkaError], ...] = field(default=())

    def __post_init__(self) -> None:
        self.passing = (NotCoordinator, CoordinatorNotAvailable, CoordinatorLoadInProgress, *self.also)

    def place(self, session: Session, items: Sequence[Any]) -> Operation[Placement]:
        """Each to its coordinator, looked up together where the broker can."""
        yield from session.connected()
        known, placement = session.office.coordinators, Placement()
        missing = sorted({self.of(item) for item in items if (self.kind, self.of(item)) not in known})
        errors = (yield from self._look_up(session, missing)) if missing else {}
        for item in items:
            node_id = known.get((self.kind, self.of(item)))
            if node_id is not None:
                placement.put(node_id, item)
            else:
                placement.failed[item] = errors[self.of(item)]
        return placement

    def note(self, session: Session, item: Any, error: KafkaError) -> None:
        """Look it up again unless it only loads."""
        if not isinstance(error, CoordinatorLoadInProgress):
            session.office.coordinators.pop((self.kind, self.of(item)), None)

    def _look_up(self, session: Session, names: list[str]) -> Operation[dict[str, KafkaError]]:
        together = FindCoordinatorRequest(key_type=self.kind, coordinator_keys=names)
        (outcome,) = yield from session.gather([Request[FindCoordinatorResponse](together, version_min=4)])
        outcomes: list[FindCoordinatorResponse | KafkaError] = [outcome]
        if isinstance(outcome, UnsupportedVersion):
            requests = [
                Request[FindCoordinatorResponse](FindCoordinatorRequest(key=name, key_type=self.kind), version_max=3)
                for name in names
            ]
            outcomes = yield from session.gather(requests)
        found, errors = coordinators_in(outcomes, names)
        for name, node_id in found.items():
            session.office.coordinators[self.kind, name] = node_id
        return {name: errors.get(name) or CoordinatorNotAvailable() for name in names if name not in found}


def coordinators_in(
    outcomes: Sequence[FindCoordinatorResponse | KafkaError], names: Sequence[str]
) -> tuple[dict[str, int], dict[str, KafkaError]]:
    """Who coordinates what, from one answer for all names or from one answer each."""
    found: dict[str, int] = {}
    errors: dict[str, KafkaError] = {}
    for index, outcome in enumerate(outcomes):
        about = [names[index]] if len(outcomes) == len(names) else list(names)
        if isinstance(outcome, KafkaError):
            errors.update(dict.fromkeys(about, outcome))
            continue
        rows: Sequence[Any] = outcome.coordinators or [outcome]
        for row in rows:
            name = getattr(row, "key", about[0])
            if row.error_code:
                errors[name] = broker_error(row.error_code, row.error_message)
            else:
                found[name] = row.node_id
    return found, errors


# ---- the rounds ----


def passes(error: KafkaError, passing: tuple[type[KafkaError], ...]) -> bool:
    """True when the same question, asked again, may be answered."""
    if isinstance(error, ClientClosed) or error.fatal:
        return False
    return isinstance(error, (KafkaConnectionError, KafkaTimeoutError, *passing))


def concerns_all(error: KafkaError) -> bool:
    """True for failures that no item caused: who we are, what the broker can do, bytes without sense."""
    return not isinstance(error, BrokerError) or isinstance(error, UnsupportedVersion)


def fan_out(
    session: Session,
    items: Iterable[K],
    *,
    route: Route,
    ask: Callable[[list[K], int | None], Request[R]],
    read: Callable[[R, list[K]], Mapping[K, V | KafkaError]],
    alone: bool = False,
) -> Operation[Results[K, V]]:
    """Ask the right brokers about the items until each has a result or a final error, or the time is up.

    ``ask`` makes the request for some items at one broker; ``read`` takes its answer apart, and may raise a BrokerError
    that concerns all of them. ``alone``: one request per item. Failures that no item caused are raised.
    """
    order = list(dict.fromkeys(items))
    outcomes: dict[K, V | KafkaError] = {}
    last: dict[K, KafkaError] = {}
    attempts = 0
    while len(outcomes) < len(order):
        open_items = [item for item in order if item not in outcomes]
        answers = yield from _round(session, open_items, route, ask, read, alone)
        for item, outcome in answers.items():
            if isinstance(outcome, KafkaError) and passes(outcome, route.passing):
                last[item] = outcome
                route.note(session, item, outcome)
            else:
                outcomes[item] = outcome
        if len(outcomes) == len(order):
            break
        at = yield from now()
        pause_s = session.pause_s(attempts)
        if at + pause_s >= session.deadline or attempts >= session.office.settings.retries_max:
            for item in order:
                if item not in outcomes:
                    outcomes[item] = _gave_up(session, last.get(item))
            break
        yield from sleep(pause_s)
        attempts += 1
    return Results({item: outcomes[item] for item in order})


def _round(
    session: Session,
    items: list[K],
    route: Route,
    ask: Callable[[list[K], int | None], Request[R]],
    read: Callable[[R, list[K]], Mapping[K, V | KafkaError]],
    alone: bool,
) -> Generator[Any, Any, dict[K, V | KafkaError]]:
    placement = yield from route.place(session, items)
    answers: dict[K, V | KafkaError] = dict(placement.failed)
    rows = [
        (node_id, group)
        for node_id, some in placement.by_node.items()
        for group in ([[item] for item in some] if alone else [some])
    ]
    requests = [ask(group, node_id) for node_id, group in rows]
    responses = yield from session.gather(requests)
    for (_, group), request, response in zip(rows, requests, responses, strict=True):
        if isinstance(response, KafkaError):
            if concerns_all(response) and not passes(response, route.passing):
                raise response
            answers.update(dict.fromkeys(group, response))
            continue
        try:
            read_rows = read(response, group)
        except BrokerError as error:
            answers.update(dict.fromkeys(group, session.named(error, request)))
            continue
        for item in group:
            if item in read_rows:
                answers[item] = session.named(read_rows[item], request)
            else:
                answers[item] = ProtocolError("the broker's answer does not mention this item")
    return answers


def _gave_up(session: Session, last: KafkaError | None) -> KafkaError:
    if last is not None and isinstance(last, BrokerError) and last.action is Action.RAISE:
        return last
    because = "" if last is None else f"; last problem: {last}"
    error = KafkaTimeoutError(f"not done within {session.timeout_s:g} s{because}")
    error.__cause__ = last
    return error


def ask_once(
    session: Session,
    request: Callable[[int | None], Request[R]],
    read: Callable[[R], V],
    *,
    route: Route | None = None,
) -> Operation[V]:
    """One question with one answer; retried alike, and its error raised."""

    def answer(response: R, items: list[int]) -> dict[int, V | KafkaError]:
        return {0: read(response)}

    results: Results[int, V] = yield from fan_out(
        session,
        [0],
        route=route or AnyBroker(),
        ask=lambda items, node_id: request(node_id),
        read=answer,
    )
    return results[0]


def check(code: int, message: str | None = None, **context: Any) -> None:
    """Raise the error of a non-zero code."""
    if code:
        raise broker_error(code, message, **context)


def outcome_of(code: int, value: V, message: str | None = None, **context: Any) -> V | KafkaError:
    """The value, or the error of a non-zero code."""
    return broker_error(code, message, **context) if code else value


def every_broker(session: Session) -> Operation[list[int]]:
    """The ids of all brokers, freshly asked."""
    yield from fetch_topics(session, [])
    return sorted(session.office.metadata.cluster.brokers)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Sorted partition numbers per topic, topics in order."""
    rows: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        rows.setdefault(topic, []).append(partition)
    return rows


__all__ = [
    "AdminSettings",
    "AnyBroker",
    "BrokerUnknown",
    "Brokers",
    "Controller",
    "CoordinatorsOf",
    "Leaders",
    "Office",
    "Placement",
    "Route",
    "Session",
    "ask_once",
    "by_topic",
    "check",
    "every_broker",
    "fan_out",
    "fetch_topics",
    "outcome_of",
]
