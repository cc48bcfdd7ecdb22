"""What members of a classic group say to each other through the coordinator: subscriptions and assignments, with their
version prefix.

Pure functions over bytes; no thread of its own. The bytes come from other members, of any client and any age: what a
newer version adds is not read, and what cannot be read at all is a ProtocolError.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pykclient.consumer.group_members import NO_GENERATION, Member
from pykclient.errors import ProtocolError
from pykclient.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykclient.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykclient.protocol.messages.consumer_protocol_subscription import TopicPartition as OwnedTopic
from pykclient.protocol.primitives import DECODE_ERRORS
from pykclient.types import TopicPartition

PROTOCOL_TYPE = "consumer"
_VERSION_BYTES = 2


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """What one member tells the leader about itself."""

    topics: Collection[str]
    owned: Collection[TopicPartition] = ()
    generation: int = NO_GENERATION
    rack: str | None = None
    user_data: bytes | None = None


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Sorted partition numbers per topic, topics in order."""
    rows: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        rows.setdefault(topic, []).append(partition)
    return rows


def write_subscription(subscription: MemberSubscription) -> bytes:
    """In the newest version; older members read the part they know."""
    message = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=[
            OwnedTopic(topic=topic, partitions=numbers) for topic, numbers in by_topic(subscription.owned).items()
        ],
        generation_id=subscription.generation,
        rack_id=subscription.rack,
    )
    return _prefixed(ConsumerProtocolSubscription.MAX_VERSION, message.write(ConsumerProtocolSubscription.MAX_VERSION))


def read_member(member_id: str, group_instance_id: str | None, data: bytes) -> Member:
    """A member as the leader's assignor sees it."""
    version = min(_version(data), ConsumerProtocolSubscription.MAX_VERSION)
    try:
        message = _read_subscription(data, version)
    except ProtocolError:
        # Some clients announce a version whose fields they do not write; all versions begin as version 0 does.
        message = _read_subscription(data, 0)
    return Member(
        member_id=member_id,
        topics=frozenset(message.topics),
        group_instance_id=group_instance_id,
        rack=message.rack_id,
        owned=tuple(
            TopicPartition(row.topic, partition) for row in message.owned_partitions for partition in row.partitions
        ),
        generation=message.generation_id,
        user_data=message.user_data,
    )


def write_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """What the leader gives one member."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            AssignedTopic(topic=topic, partitions=numbers) for topic, numbers in by_topic(partitions).items()
        ]
    )
    return _prefixed(ConsumerProtocolAssignment.MAX_VERSION, message.write(ConsumerProtocolAssignment.MAX_VERSION))


def read_assignment(data: bytes) -> list[TopicPartition]:
    """What the leader gave us; no bytes mean nothing."""
    if not data:
        return []
    version = min(_version(data), ConsumerProtocolAssignment.MAX_VERSION)
    try:
        message, _ = ConsumerProtocolAssignment._read(data, _VERSION_BYTES, version)
    except DECODE_ERRORS as error:
        raise ProtocolError(f"the group's leader sent an assignment that makes no sense: {error}") from error
    return [TopicPartition(row.topic, partition) for row in message.assigned_partitions for partition in row.partitions]


def _read_subscription(data: bytes, version: int) -> ConsumerProtocolSubscription:
    # Not ``read``: bytes after what we know belong to a newer version and are no error.
    try:
        message, _ = ConsumerProtocolSubscription._read(data, _VERSION_BYTES, version)
    except DECODE_ERRORS as error:
        raise ProtocolError(f"a group member sent a subscription that makes no sense: {error}") from error
    return message


def _prefixed(version: int, body: bytes) -> bytes:
    return version.to_bytes(_VERSION_BYTES, "big", signed=True) + body


def _version(data: bytes) -> int:
    if len(data) < _VERSION_BYTES:
        raise ProtocolError("a group member sent consumer protocol bytes without a version")
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < 0:
        raise ProtocolError(f"a group member sent consumer protocol version {version}")
    return version


__all__ = [
    "PROTOCOL_TYPE",
    "MemberSubscription",
    "by_topic",
    "read_assignment",
    "read_member",
    "write_assignment",
    "write_subscription",
]
