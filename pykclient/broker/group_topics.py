"""What the group coordinator wants to know of topics, and where it asks.

``ImageCatalog`` is the node's metadata image seen as a ``TopicCatalog``; tests use a dictionary. Values are immutable
snapshots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol
from uuid import UUID

from pykclient.broker.image import MetadataImage, TopicImage

ZERO_UUID = UUID(int=0)
"""No topic id."""


class TopicInfo(NamedTuple):
    """A topic as it is now. ``racks`` has the racks of each partition's replicas, by partition, or is empty when
    there are none.
    """

    name: str
    topic_id: UUID
    partition_count: int
    racks: tuple[frozenset[str], ...] = ()


class TopicCatalog(Protocol):
    """The topics of the cluster."""

    def topic(self, name: str) -> TopicInfo | None:
        """By name."""
        ...

    def topic_by_id(self, topic_id: UUID) -> TopicInfo | None:
        """By id."""
        ...

    def topic_names(self) -> Iterable[str]:
        """All of them, internal ones too."""
        ...


def metadata_hash(topic_names: Iterable[str], catalog: TopicCatalog) -> int:
    """A number that changes when one of the topics appears, vanishes, grows or moves between racks; 0 when none exists.

    Kept in the group's epoch record, so it must be the same in every process; the algorithm is our own (Kafka's uses
    XXH3).
    """
    digest = hashlib.blake2b(digest_size=8)
    found = False
    for name in sorted(topic_names):
        topic = catalog.topic(name)
        if topic is not None:
            found = True
            racks = [sorted(racks) for racks in topic.racks]
            digest.update(repr((topic.name, topic.topic_id.hex, topic.partition_count, racks)).encode())
    return int.from_bytes(digest.digest(), "big", signed=True) if found else 0


class ImageCatalog:
    """The topics of the node's current metadata image."""

    def __init__(self, image: Callable[[], MetadataImage]) -> None:
        self._image = image

    def topic(self, name: str) -> TopicInfo | None:
        """By name."""
        image = self._image()
        found = image.topics.get(name)
        return None if found is None else _info(image, found)

    def topic_by_id(self, topic_id: UUID) -> TopicInfo | None:
        """By id."""
        image = self._image()
        found = image.topic_by_id(topic_id)
        return None if found is None else _info(image, found)

    def topic_names(self) -> Iterable[str]:
        """All of them."""
        return self._image().topics.keys()


def _info(image: MetadataImage, topic: TopicImage) -> TopicInfo:
    rack_of = {node_id: broker.rack for node_id, broker in image.brokers.items() if broker.rack is not None}
    racks: tuple[frozenset[str], ...] = ()
    if rack_of:
        racks = tuple(
            frozenset(rack_of[node_id] for node_id in partition.replicas if node_id in rack_of)
            for partition in topic.partitions
        )
    return TopicInfo(topic.name, topic.topic_id, len(topic.partitions), racks)
