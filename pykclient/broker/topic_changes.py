"""What the controller decides about topics: which changes a request leads to, or why not.

Pure functions from an image to a ``Decision``; the controller commits the changes and only then lets the reply out.
Until the nodes replicate, a replication factor above 1 is refused with Kafka's own error instead of being
pretended.
"""

from __future__ import annotations

import base64
import re
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from pykclient.broker.config_keys import TOPIC_KEYS
from pykclient.broker.configs import BrokerConfig, check
from pykclient.broker.image import (
    NO_LEADER,
    BrokerDown,
    BrokerImage,
    BrokerUp,
    Change,
    MetadataImage,
    PartitionImage,
    ProducerIdsAllocated,
    TopicImage,
    TopicPut,
    TopicRemoved,
)
from pykclient.errors import ErrorCode

R = TypeVar("R")

GROUP_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({GROUP_TOPIC, TRANSACTION_TOPIC})
PRODUCER_ID_BLOCK_SIZE = 1000
TOPIC_NAME_SIZE_MAX = 249
PARTITIONS_PER_TOPIC_MAX = 10_000
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+\Z")


class Randomness(Protocol):
    """The part of ``random.Random`` that decisions use; passed in, so that a seed repeats a run."""

    def random(self) -> float:
        """A number in [0, 1)."""
        ...

    def getrandbits(self, count: int, /) -> int:
        """That many random bits."""
        ...

    def randrange(self, stop: int, /) -> int:
        """A number in [0, stop)."""
        ...


@dataclass(slots=True)
class Decision(Generic[R]):
    """What to commit, then what to answer."""

    reply: R
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic that somebody wants; -1 asks for the default. ``assignments`` names the replicas of each partition."""

    name: str
    partition_count: int = -1
    replication_factor: int = -1
    assignments: Mapping[int, Sequence[int]] = field(default_factory=dict)
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicResult:
    """What became of one item: an error with its words, or the topic."""

    name: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    topic: TopicImage | None = None


class Refused(Exception):
    """Why one item of a request is not done."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def topic_name_problem(name: str) -> str | None:
    """Why this cannot be a topic (and so not a directory either), or None."""
    if not name:
        return "Topic name is invalid: the empty string is not allowed"
    if name in (".", ".."):
        return f"Topic name is invalid: '{name}' is not allowed"
    if len(name) > TOPIC_NAME_SIZE_MAX:
        return f"Topic name is invalid: the length of {len(name)} is more than {TOPIC_NAME_SIZE_MAX}"
    if not _LEGAL_NAME.match(name):
        return "Topic name is invalid: only ASCII letters, digits, '.', '_' and '-' are allowed"
    return None


def new_topic_id(rng: Randomness) -> uuid.UUID:
    """A fresh id. One whose text begins with a dash would look like a command line option, so Kafka avoids it too."""
    while True:
        topic_id = uuid.UUID(int=rng.getrandbits(128), version=4)
        if not base64.urlsafe_b64encode(topic_id.bytes).startswith(b"-"):
            return topic_id


def new_cluster_id(rng: Randomness) -> str:
    """A cluster id in Kafka's spelling."""
    return base64.urlsafe_b64encode(new_topic_id(rng).bytes).decode().rstrip("=")


def create_topics(
    image: MetadataImage, config: BrokerConfig, rng: Randomness, specs: Sequence[TopicSpec], *, validate_only: bool
) -> Decision[list[TopicResult]]:
    """One result per item; the legal ones are created even when others are refused."""
    counts = Counter(spec.name for spec in specs)
    results: dict[str, TopicResult] = {}
    changes: list[Change] = []
    for spec in specs:
        try:
            if counts[spec.name] > 1:
                raise Refused(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            topic = _new_topic(image, config, rng, spec)
        except Refused as refusal:
            results[spec.name] = TopicResult(spec.name, refusal.error, refusal.message)
        else:
            results[spec.name] = TopicResult(spec.name, topic=topic)
            changes.append(TopicPut(topic))
            image = changes[-1].apply(image)
    return Decision(list(results.values()), [] if validate_only else changes)


def _new_topic(image: MetadataImage, config: BrokerConfig, rng: Randomness, spec: TopicSpec) -> TopicImage:
    problem = topic_name_problem(spec.name)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if spec.name in image.topics:
        raise Refused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{spec.name}' already exists.")
    twin = spec.name.replace(".", "_")
    for other in image.topics:
        if other.replace(".", "_") == twin:
            raise Refused(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{spec.name}' collides with existing topic: {other}"
            )
    configs = {name: value for name, value in spec.configs.items() if value is not None}
    if len(configs) != len(spec.configs):
        raise Refused(ErrorCode.INVALID_CONFIG, "Null value not supported for topic configs")
    problem = check(TOPIC_KEYS, configs)
    if problem is not None:
        raise Refused(ErrorCode.INVALID_CONFIG, problem)
    if spec.assignments:
        replicas = _given_replicas(image, spec)
    else:
        replicas = _chosen_replicas(image, config, rng, spec)
    partitions = tuple(PartitionImage(leader_of(image, each), 0, each, each) for each in replicas)
    return TopicImage(spec.name, new_topic_id(rng), partitions, configs)


def _given_replicas(image: MetadataImage, spec: TopicSpec) -> list[tuple[int, ...]]:
    if spec.replication_factor != -1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if spec.partition_count != -1:
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    if sorted(spec.assignments) != list(range(len(spec.assignments))):
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partitions should be a consecutive 0-based integer sequence"
        )
    return [check_replicas(image, spec.assignments[index]) for index in range(len(spec.assignments))]


def check_replicas(image: MetadataImage, replicas: Sequence[int]) -> tuple[int, ...]:
    """The replicas as asked for, when a partition can live on them."""
    if not replicas:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list."
        )
    if len(set(replicas)) != len(replicas):
        raise Refused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes a replica twice.")
    if len(replicas) > 1:
        raise Refused(ErrorCode.INVALID_REPLICATION_FACTOR, NO_REPLICATION)
    if replicas[0] not in image.brokers:
        raise Refused(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"The manual partition assignment includes broker {replicas[0]}, but no such broker is registered.",
        )
    return tuple(replicas)


NO_REPLICATION = "This cluster does not replicate between its brokers yet: the replication factor must be 1 (or -1)."


def _chosen_replicas(
    image: MetadataImage, config: BrokerConfig, rng: Randomness, spec: TopicSpec
) -> list[tuple[int, ...]]:
    count = config.number("num.partitions") if spec.partition_count == -1 else spec.partition_count
    factor = config.number("default.replication.factor") if spec.replication_factor == -1 else spec.replication_factor
    if count <= 0:
        raise Refused(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if count > PARTITIONS_PER_TOPIC_MAX:
        raise Refused(ErrorCode.INVALID_PARTITIONS, f"More than {PARTITIONS_PER_TOPIC_MAX} partitions are not allowed.")
    if factor <= 0:
        raise Refused(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0, or -1.")
    if factor > len(image.brokers):
        raise Refused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): only {len(image.brokers)} broker(s) are registered.",
        )
    if factor > 1:
        raise Refused(ErrorCode.INVALID_REPLICATION_FACTOR, NO_REPLICATION)
    return spread(image, count, first=rng.randrange(len(image.brokers)))


def spread(image: MetadataImage, count: int, *, first: int) -> list[tuple[int, ...]]:
    """The partitions one after the other over the live brokers."""
    nodes = list(image.brokers)
    return [(nodes[(first + index) % len(nodes)],) for index in range(count)]


def leader_of(image: MetadataImage, replicas: Sequence[int]) -> int:
    """The first replica that lives."""
    return next((node for node in replicas if node in image.brokers), NO_LEADER)


def delete_topics(
    image: MetadataImage, config: BrokerConfig, targets: Sequence[tuple[str | None, uuid.UUID]]
) -> Decision[list[tuple[str | None, uuid.UUID, ErrorCode, str | None]]]:
    """Each target is a name, or None and an id. The reply has both where they are known."""
    results: list[tuple[str | None, uuid.UUID, ErrorCode, str | None]] = []
    changes: list[Change] = []
    for name, topic_id in targets:
        topic = image.topics.get(name) if name is not None else image.topic_by_id(topic_id)
        if not config.flag("delete.topic.enable"):
            results.append((name, topic_id, ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled."))
        elif topic is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_ID if name is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            results.append((name, topic_id, unknown, "This server does not host this topic-partition."))
        elif any(isinstance(change, TopicRemoved) and change.name == topic.name for change in changes):
            results.append((name, topic_id, ErrorCode.INVALID_REQUEST, "Duplicate topic name or id."))
        else:
            changes.append(TopicRemoved(topic.name))
            results.append((topic.name, topic.topic_id, ErrorCode.NONE, None))
    return Decision(results, changes)


def create_partitions(
    image: MetadataImage,
    rng: Randomness,
    wanted: Sequence[tuple[str, int, Sequence[Sequence[int]] | None]],
    *,
    validate_only: bool,
) -> Decision[list[TopicResult]]:
    """Each item: a topic, the new total, and optionally the replicas of each new partition."""
    counts = Counter(name for name, _, _ in wanted)
    results: dict[str, TopicResult] = {}
    changes: list[Change] = []
    for name, count, assignments in wanted:
        try:
            if counts[name] > 1:
                raise Refused(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
            topic = _grown(image, rng, name, count, assignments)
        except Refused as refusal:
            results[name] = TopicResult(name, refusal.error, refusal.message)
        else:
            results[name] = TopicResult(name, topic=topic)
            changes.append(TopicPut(topic))
    return Decision(list(results.values()), [] if validate_only else changes)


def _grown(
    image: MetadataImage, rng: Randomness, name: str, count: int, assignments: Sequence[Sequence[int]] | None
) -> TopicImage:
    topic = image.topics.get(name)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
    extra = count - len(topic.partitions)
    if extra <= 0:
        raise Refused(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {name} currently has {len(topic.partitions)} partition(s); {count} would not be an increase.",
        )
    if count > PARTITIONS_PER_TOPIC_MAX:
        raise Refused(ErrorCode.INVALID_PARTITIONS, f"More than {PARTITIONS_PER_TOPIC_MAX} partitions are not allowed.")
    if assignments is not None:
        if len(assignments) != extra:
            raise Refused(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"{extra} partition(s) would be added, but {len(assignments)} assignment(s) were given.",
            )
        replicas = [check_replicas(image, each) for each in assignments]
    else:
        replicas = spread(image, extra, first=rng.randrange(len(image.brokers)))
    added = tuple(PartitionImage(leader_of(image, each), 0, each, each) for each in replicas)
    return replace(topic, partitions=topic.partitions + added)


def register_broker(image: MetadataImage, broker: BrokerImage) -> Decision[None]:
    """The broker is alive: what it holds has a leader again, in a new epoch."""
    up = BrokerUp(broker)
    return Decision(None, [up, *_elections(up.apply(image), broker.node_id)])


def unregister_broker(image: MetadataImage, node_id: int) -> Decision[None]:
    """The broker is gone: what it led has no leader (with one replica there is nobody else)."""
    down = BrokerDown(node_id)
    return Decision(None, [down, *_elections(down.apply(image), node_id)])


def _elections(image: MetadataImage, node_id: int) -> list[Change]:
    changes: list[Change] = []
    for topic in image.topics.values():
        partitions = tuple(
            _elected(image, partition) if node_id in partition.replicas else partition for partition in topic.partitions
        )
        if partitions != topic.partitions:
            changes.append(TopicPut(replace(topic, partitions=partitions)))
    return changes


def _elected(image: MetadataImage, partition: PartitionImage) -> PartitionImage:
    leader = leader_of(image, partition.replicas)
    # Registering again without having been missed still starts a new epoch: the broker may have lost its unsynced
    # tail.
    return replace(partition, leader=leader, leader_epoch=partition.leader_epoch + 1)


def move_partition(image: MetadataImage, topic: str, partition: int, node_id: int) -> Decision[TopicResult]:
    """Another broker holds and leads the partition from now on. Its log must be there already."""
    found = image.topics.get(topic)
    current = image.partition(topic, partition)
    if found is None or current is None:
        return Decision(TopicResult(topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "No such partition."))
    if node_id not in image.brokers:
        return Decision(TopicResult(topic, ErrorCode.BROKER_NOT_AVAILABLE, f"Broker {node_id} is not registered."))
    moved = PartitionImage(node_id, current.leader_epoch + 1, (node_id,), (node_id,))
    partitions = (*found.partitions[:partition], moved, *found.partitions[partition + 1 :])
    result = replace(found, partitions=partitions)
    return Decision(TopicResult(topic, topic=result), [TopicPut(result)])


def internal_topic(image: MetadataImage, config: BrokerConfig, rng: Randomness, name: str) -> Decision[TopicResult]:
    """Make ``__consumer_offsets`` or ``__transaction_state`` when it is first needed."""
    existing = image.topics.get(name)
    if existing is not None:
        return Decision(TopicResult(name, topic=existing))
    prefix = "offsets.topic" if name == GROUP_TOPIC else "transaction.state.log"
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer" if name == GROUP_TOPIC else "uncompressed",
        "segment.bytes": config.text(f"{prefix}.segment.bytes"),
    }
    spec = TopicSpec(name, config.number(f"{prefix}.num.partitions"), 1, configs=configs)
    decision = create_topics(image, config, rng, [spec], validate_only=False)
    return Decision(decision.reply[0], decision.changes)


def allocate_producer_ids(image: MetadataImage) -> Decision[tuple[int, int]]:
    """A block of producer ids nobody had before: the first one and how many."""
    first = image.next_producer_id
    return Decision((first, PRODUCER_ID_BLOCK_SIZE), [ProducerIdsAllocated(first + PRODUCER_ID_BLOCK_SIZE)])
