"""The cluster's metadata as one immutable value, and the changes that lead from one image to the next.

The controller owns the current image; every node holds the last one delivered to it and reads it on its own thread
without a lock. A change is plain data with ``apply(image) -> image``, so that replaying the journal is the same
code as the first application. Pure: no I/O, no clock.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from pykclient.broker.authorizer import AclBinding
from pykclient.net.scram import ScramCredential
from pykclient.net.transport import Endpoint

NO_LEADER = -1
NO_TOPIC_ID = uuid.UUID(int=0)
QuotaEntity: TypeAlias = "tuple[tuple[str, str | None], ...]"
"""Sorted (entity type, entity name) pairs; the name None is the default entity."""


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A live broker: where each of its listeners is reached."""

    node_id: int
    endpoints: Mapping[str, Endpoint]
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionImage:
    """Who leads a partition and who holds it."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic; partition n is ``partitions[n]``. ``configs`` has only what was set on the topic itself."""

    name: str
    topic_id: uuid.UUID
    partitions: tuple[PartitionImage, ...]
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetadataImage:
    """Everything the brokers agree on. ``version`` grows by one with every committed set of changes."""

    cluster_id: str
    version: int = 0
    controller_id: int = NO_LEADER
    brokers: Mapping[int, BrokerImage] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    topic_names: Mapping[uuid.UUID, str] = field(default_factory=dict)
    broker_configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    acls: tuple[AclBinding, ...] = ()
    scram: Mapping[tuple[str, int], ScramCredential] = field(default_factory=dict)
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    next_producer_id: int = 0

    def topic_by_id(self, topic_id: uuid.UUID) -> TopicImage | None:
        """The topic with this id, or None."""
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def partition(self, topic: str, partition: int) -> PartitionImage | None:
        """One partition, or None when there is no such."""
        found = self.topics.get(topic)
        if found is None or not 0 <= partition < len(found.partitions):
            return None
        return found.partitions[partition]


@dataclass(frozen=True, slots=True)
class TopicPut:
    """The topic exists and looks like this."""

    KIND: ClassVar[str] = "topic"
    topic: TopicImage

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(
            image,
            topics={**image.topics, self.topic.name: self.topic},
            topic_names={**image.topic_names, self.topic.topic_id: self.topic.name},
        )


@dataclass(frozen=True, slots=True)
class TopicRemoved:
    """The topic is gone."""

    KIND: ClassVar[str] = "topic-removed"
    name: str

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        gone = image.topics[self.name]
        return replace(
            image,
            topics={name: topic for name, topic in image.topics.items() if name != self.name},
            topic_names={key: name for key, name in image.topic_names.items() if key != gone.topic_id},
        )


@dataclass(frozen=True, slots=True)
class BrokerUp:
    """A broker has registered. Never journalled: who is alive is not a fact that survives a restart."""

    KIND: ClassVar[str] = "broker-up"
    broker: BrokerImage

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, brokers=dict(sorted({**image.brokers, self.broker.node_id: self.broker}.items())))


@dataclass(frozen=True, slots=True)
class BrokerDown:
    """A broker has left. Never journalled."""

    KIND: ClassVar[str] = "broker-down"
    node_id: int

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, brokers={key: broker for key, broker in image.brokers.items() if key != self.node_id})


@dataclass(frozen=True, slots=True)
class ControllerMoved:
    """Another node runs the controller. Never journalled."""

    KIND: ClassVar[str] = "controller"
    node_id: int

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, controller_id=self.node_id)


@dataclass(frozen=True, slots=True)
class BrokerConfigsPut:
    """The dynamic settings of one broker, or of all when ``name`` is empty. Empty settings remove the entry."""

    KIND: ClassVar[str] = "broker-configs"
    name: str
    configs: Mapping[str, str]

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, broker_configs=_put(image.broker_configs, self.name, self.configs or None))


@dataclass(frozen=True, slots=True)
class AclsChanged:
    """Bindings added and removed; adding one that exists changes nothing."""

    KIND: ClassVar[str] = "acls"
    added: tuple[AclBinding, ...] = ()
    removed: tuple[AclBinding, ...] = ()

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, acls=tuple(sorted((set(image.acls) - set(self.removed)) | set(self.added))))


@dataclass(frozen=True, slots=True)
class ScramPut:
    """A user's credential for one mechanism; None removes it."""

    KIND: ClassVar[str] = "scram"
    user: str
    mechanism: int
    credential: ScramCredential | None

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, scram=_put(image.scram, (self.user, self.mechanism), self.credential))


@dataclass(frozen=True, slots=True)
class QuotaPut:
    """All quota values of one entity; none removes the entity."""

    KIND: ClassVar[str] = "quota"
    entity: QuotaEntity
    values: Mapping[str, float]

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, quotas=_put(image.quotas, self.entity, self.values or None))


@dataclass(frozen=True, slots=True)
class FeaturePut:
    """The finalized level of a feature."""

    KIND: ClassVar[str] = "feature"
    name: str
    level: int

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, features=_put(image.features, self.name, self.level or None))


@dataclass(frozen=True, slots=True)
class ProducerIdsAllocated:
    """Producer ids below ``next_producer_id`` belong to somebody."""

    KIND: ClassVar[str] = "producer-ids"
    next_producer_id: int

    def apply(self, image: MetadataImage) -> MetadataImage:
        """The image after it."""
        return replace(image, next_producer_id=self.next_producer_id)


Change: TypeAlias = (
    TopicPut
    | TopicRemoved
    | BrokerUp
    | BrokerDown
    | ControllerMoved
    | BrokerConfigsPut
    | AclsChanged
    | ScramPut
    | QuotaPut
    | FeaturePut
    | ProducerIdsAllocated
)
VOLATILE = (BrokerUp, BrokerDown, ControllerMoved)


def apply_changes(image: MetadataImage, changes: list[Change]) -> MetadataImage:
    """The next image: all changes in order, one version later."""
    for change in changes:
        image = change.apply(image)
    return replace(image, version=image.version + 1)


def _put(mapping: Mapping, key: object, value: object | None) -> Mapping:  # type: ignore[type-arg]
    """A copy with the key set, or without the key when the value is None."""
    result = {**mapping, key: value}
    if value is None:
        del result[key]
    return result
