"""The cluster as last seen: brokers, topics, leaders. Immutable, so that any thread may hold one and read it.

Pure: a view is made from an older view and what a broker said (``merge``), and the rules for what to believe live
here. A leader epoch never goes back while the topic is the same; what a broker claims is bounded before it is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from uuid import UUID

from pykclient.errors import (
    Action,
    BrokerError,
    InvalidTopicException,
    ProtocolError,
    TopicAuthorizationFailed,
    UnknownTopicOrPartition,
    error_for_code,
)
from pykclient.net.transport import Endpoint
from pykclient.protocol.messages.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic
from pykclient.types import Node, PartitionInfo, TopicPartition

# A cluster has some thousands of brokers at the most; more is an attack or nonsense (R22).
BROKERS_MAX = 10_000
_ZERO_UUID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """One partition. ``leader_id`` -1: there is none now. ``leader_epoch`` -1: the broker is too old to say."""

    partition: int
    leader_id: int
    leader_epoch: int
    replicas: tuple[int, ...] = ()
    in_sync: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicState:
    """One topic. ``topic_id`` None: the broker is too old to say."""

    name: str
    topic_id: UUID | None
    partitions: Mapping[int, PartitionState]
    internal: bool = False


@dataclass(frozen=True, slots=True)
class LeaderHint:
    """Who leads a partition now, as a broker mentioned it beside an error (KIP-951)."""

    topic_partition: TopicPartition
    leader_id: int
    leader_epoch: int


def _frozen() -> Mapping[str, TopicState]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cluster:
    """One immutable view. ``errors`` holds what the brokers said of topics we asked for and cannot have."""

    brokers: Mapping[int, Node] = field(default_factory=lambda: MappingProxyType({}))
    topics: Mapping[str, TopicState] = field(default_factory=_frozen)
    errors: Mapping[str, BrokerError] = field(default_factory=lambda: MappingProxyType({}))
    cluster_id: str | None = None
    controller_id: int | None = None
    update_count: int = 0
    """How many answers went into it; 0: only bootstrap servers are known."""
    _names: Mapping[UUID, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    def leader(self, topic_partition: TopicPartition) -> tuple[int, int] | None:
        """(node id, leader epoch), None while there is no leader or we do not know the partition."""
        state = self.partition(topic_partition)
        if state is None or state.leader_id < 0 or state.leader_id not in self.brokers:
            return None
        return state.leader_id, state.leader_epoch

    def partition(self, topic_partition: TopicPartition) -> PartitionState | None:
        """What is known of it."""
        topic = self.topics.get(topic_partition.topic)
        return None if topic is None else topic.partitions.get(topic_partition.partition)

    def partition_count(self, topic: str) -> int | None:
        """None when the topic is not known."""
        state = self.topics.get(topic)
        return None if state is None else len(state.partitions)

    def topic_id(self, topic: str) -> UUID | None:
        """None when the topic is not known, or the broker has no topic ids."""
        state = self.topics.get(topic)
        return None if state is None else state.topic_id

    def topic_name(self, topic_id: UUID) -> str | None:
        """The name behind an id."""
        return self._names.get(topic_id)

    def node(self, node_id: int) -> Node | None:
        """A broker by its id."""
        return self.brokers.get(node_id)

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        """As users see them, in order; empty when the topic is not known."""
        state = self.topics.get(topic)
        if state is None:
            return []
        return [self._info(topic, state.partitions[index]) for index in sorted(state.partitions)]

    def _info(self, topic: str, state: PartitionState) -> PartitionInfo:
        def nodes(ids: Iterable[int]) -> tuple[Node, ...]:
            return tuple(self.brokers.get(node_id) or Node(node_id, "", -1) for node_id in ids)

        leader = self.brokers.get(state.leader_id)
        return PartitionInfo(
            topic, state.partition, leader, nodes(state.replicas), nodes(state.in_sync), nodes(state.offline)
        )

    def endpoints(self) -> dict[int, Endpoint]:
        """Where the brokers are, for the network client."""
        return {node.id: Endpoint(node.host, node.port) for node in self.brokers.values()}


def merge(
    known: Cluster, response: MetadataResponse, *, keep: Iterable[str] | None, brokers_max: int = BROKERS_MAX
) -> Cluster:
    """A new view from an old one and an answer. ``keep``: topics outside the answer that stay; None keeps them all (a
    partial answer).

    ProtocolError when the answer makes no sense. The caller has checked ``error_code`` and that the cluster id is the
    same.
    """
    brokers = _brokers(response, brokers_max)
    kept = known.topics if keep is None else {name: known.topics[name] for name in keep if name in known.topics}
    topics = dict(kept)
    errors = {name: error for name, error in known.errors.items() if keep is None or name in kept}
    for answer in response.topics:
        name = answer.name if answer.name is not None else known.topic_name(answer.topic_id)
        if name is None:
            continue
        errors.pop(name, None)
        before = known.topics.get(name)
        if answer.error_code == 0:
            topics[name] = _topic(name, answer, before)
            continue
        error = topic_error(answer.error_code, name)
        errors[name] = error
        if isinstance(error, _GONE) or before is None:
            topics.pop(name, None)
        else:
            topics[name] = before
    return Cluster(
        brokers=MappingProxyType(brokers),
        topics=MappingProxyType(topics),
        errors=MappingProxyType(errors),
        cluster_id=response.cluster_id if response.cluster_id is not None else known.cluster_id,
        controller_id=response.controller_id if response.controller_id in brokers else None,
        update_count=known.update_count + 1,
        _names=_names_of(topics),
    )


def with_hints(known: Cluster, hints: Iterable[LeaderHint], nodes: Iterable[Node]) -> Cluster:
    """A view in which newer leaders replace older ones; hints that are not newer, or name an unknown broker, are
    ignored."""
    brokers = {**known.brokers, **{node.id: node for node in nodes if _sane(node)}}
    if len(brokers) > BROKERS_MAX:
        return known
    topics = dict(known.topics)
    changed = False
    for hint in hints:
        state = known.partition(hint.topic_partition)
        if state is None or hint.leader_id not in brokers or hint.leader_epoch <= state.leader_epoch:
            continue
        topic = topics[hint.topic_partition.topic]
        newer = replace(state, leader_id=hint.leader_id, leader_epoch=hint.leader_epoch)
        partitions = MappingProxyType({**topic.partitions, state.partition: newer})
        topics[topic.name] = replace(topic, partitions=partitions)
        changed = True
    if not changed:
        return known
    return replace(known, brokers=MappingProxyType(brokers), topics=MappingProxyType(topics))


def topic_error(code: int, topic: str) -> BrokerError:
    """The error of a topic, naming it."""
    return error_for_code(code)(topic=topic)


def is_final(error: BrokerError) -> bool:
    """True when asking again will not help: the name or the rights are wrong."""
    return error.action in (Action.RAISE, Action.FATAL)


# After these we know that the topic is not there for us; other errors say only that the broker cannot tell now.
_GONE = (UnknownTopicOrPartition, InvalidTopicException, TopicAuthorizationFailed)


def _brokers(response: MetadataResponse, brokers_max: int) -> dict[int, Node]:
    if len(response.brokers) > brokers_max:
        raise ProtocolError(
            f"the cluster claims {len(response.brokers)} brokers, more than {brokers_max}", api="Metadata"
        )
    brokers = {}
    for broker in response.brokers:
        node = Node(broker.node_id, broker.host, broker.port, broker.rack)
        if not _sane(node):
            raise ProtocolError(f"the cluster names a broker at {broker.host!r}:{broker.port}", api="Metadata")
        brokers[node.id] = node
    return brokers


def _sane(node: Node) -> bool:
    return node.id >= 0 and bool(node.host) and 0 < node.port <= 65535


def _topic(name: str, answer: MetadataResponseTopic, before: TopicState | None) -> TopicState:
    topic_id = None if answer.topic_id == _ZERO_UUID else answer.topic_id
    # Made again under the same name: epochs start anew, so nothing known of the old one counts.
    same = before if before is not None and before.topic_id == topic_id else None
    partitions = {}
    for partition in answer.partitions:
        known = None if same is None else same.partitions.get(partition.partition_index)
        partitions[partition.partition_index] = _partition(partition, known)
    return TopicState(name, topic_id, MappingProxyType(partitions), answer.is_internal)


def _partition(answer: MetadataResponsePartition, known: PartitionState | None) -> PartitionState:
    if known is not None and 0 <= answer.leader_epoch < known.leader_epoch:
        return known  # A broker that has not heard the news yet must not send us back to the old leader.
    return PartitionState(
        answer.partition_index,
        answer.leader_id,
        answer.leader_epoch,
        tuple(answer.replica_nodes),
        tuple(answer.isr_nodes),
        tuple(answer.offline_replicas),
    )


def _names_of(topics: Mapping[str, TopicState]) -> Mapping[UUID, str]:
    return MappingProxyType({topic.topic_id: topic.name for topic in topics.values() if topic.topic_id is not None})


__all__ = ["BROKERS_MAX", "Cluster", "LeaderHint", "PartitionState", "TopicState", "merge", "with_hints"]
