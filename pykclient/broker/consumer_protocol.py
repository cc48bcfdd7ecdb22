"""The consumers' own bytes inside the classic protocol: subscriptions and assignments, with their version prefix.

Pure functions over bytes. The broker reads them to know which topics a group uses and to let classic members into
consumer groups (KIP-848 migration); nothing else may depend on what members say to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pykclient.errors import ProtocolError
from pykclient.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykclient.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

PROTOCOL_TYPE = "consumer"


def protocol_version(data: bytes) -> int:
    """The version prefix, bounded by what we know: a newer member also reads what an older one would write."""
    if len(data) < 2:
        raise ProtocolError("consumer protocol bytes without a version")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        raise ProtocolError(f"consumer protocol version {version}")
    return min(version, ConsumerProtocolSubscription.MAX_VERSION)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """A member's subscription; ProtocolError when it makes no sense."""
    return ConsumerProtocolSubscription.read(data[2:], protocol_version(data))


def subscribed_topics(data: bytes) -> list[str]:
    """Only the topics. Every version starts with them, so what follows may be cut short or of another version."""
    protocol_version(data)
    position = 6
    count = int.from_bytes(data[2:position], "big", signed=True)
    if len(data) < position or count < 0:
        raise ProtocolError("a subscription without topics")
    topics = []
    for _ in range(count):
        size = int.from_bytes(data[position : position + 2], "big", signed=True)
        end = position + 2 + size
        if size < 0 or end > len(data):
            raise ProtocolError("a subscription that ends within its topics")
        try:
            topics.append(data[position + 2 : end].decode())
        except UnicodeDecodeError as error:
            raise ProtocolError("a subscribed topic that is no text") from error
        position = end
    return topics


def write_assignment(partitions: Mapping[str, Sequence[int]], version: int, user_data: bytes | None = None) -> bytes:
    """An assignment as a classic member expects it."""
    version = min(version, ConsumerProtocolAssignment.MAX_VERSION)
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedTopic(topic=topic, partitions=sorted(indexes)) for topic, indexes in sorted(partitions.items())
        ],
        user_data=user_data,
    )
    return version.to_bytes(2, "big", signed=True) + assignment.write(version)


def read_assignment(data: bytes) -> tuple[dict[str, list[int]], bytes]:
    """What a classic member was assigned, and what its assignor added for itself; no bytes mean nothing."""
    if not data:
        return {}, b""
    version = min(protocol_version(data), ConsumerProtocolAssignment.MAX_VERSION)
    assignment = ConsumerProtocolAssignment.read(data[2:], version)
    topics = {topic.topic: list(topic.partitions) for topic in assignment.assigned_partitions}
    return topics, bytes(assignment.user_data or b"")
