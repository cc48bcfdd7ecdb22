"""Consumer groups as records of ``__consumer_offsets`` and back: one function writes each type, ``apply`` reads them
all.

Pure. ``Draft`` is how an operation works: it writes records and sees at once the group as it will be after them, on a
copy, so that nothing has happened if the records can't be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from pykclient.broker.coordinator import CoordinatorRecord
from pykclient.broker.group_records import decode, record
from pykclient.broker.kip848_group import (
    ClassicPart,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    Partition,
    ResolvedRegex,
)
from pykclient.protocol.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from pykclient.protocol.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from pykclient.protocol.messages.consumer_group_member_metadata_key import ConsumerGroupMemberMetadataKey
from pykclient.protocol.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from pykclient.protocol.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from pykclient.protocol.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from pykclient.protocol.messages.consumer_group_regular_expression_key import ConsumerGroupRegularExpressionKey
from pykclient.protocol.messages.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from pykclient.protocol.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from pykclient.protocol.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from pykclient.protocol.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from pykclient.protocol.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)


def by_topic(partitions: Iterable[Partition]) -> dict[UUID, list[int]]:
    """Partition indexes by topic id, both in order."""
    topics: dict[UUID, list[int]] = {}
    for topic_id, index in sorted(partitions):
        topics.setdefault(topic_id, []).append(index)
    return topics


# Writing


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The group's epoch."""
    key = ConsumerGroupMetadataKey(group_id=group_id)
    return record(key, ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash))


def member_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """What the member is and wants."""
    classic = None
    if member.classic is not None:
        protocols = [ClassicProtocol(name=name, metadata=metadata) for name, metadata in member.classic.protocols]
        classic = ClassicMemberMetadata(
            session_timeout_ms=member.classic.session_timeout_ms, supported_protocols=protocols
        )
    value = ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=classic,
    )
    return record(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value)


def current_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """What the member has."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=int(member.state),
        assigned_partitions=_with_epochs(member.assigned),
        partitions_pending_revocation=_with_epochs(member.revoking),
    )
    return record(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value)


def _with_epochs(partitions: Mapping[Partition, int]) -> list[TopicPartitions]:
    return [
        TopicPartitions(
            topic_id=topic_id,
            partitions=indexes,
            assignment_epochs=[partitions[(topic_id, index)] for index in indexes],
        )
        for topic_id, indexes in by_topic(partitions).items()
    ]


def target_record(group_id: str, member_id: str, partitions: Iterable[Partition]) -> CoordinatorRecord:
    """What the member shall have."""
    topics = [
        TopicPartition(topic_id=topic_id, partitions=indexes) for topic_id, indexes in by_topic(partitions).items()
    ]
    key = ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return record(key, ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics))


def target_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """The epoch that the target belongs to; written behind the targets it completes."""
    key = ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)
    value = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp_ms)
    return record(key, value)


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex | None) -> CoordinatorRecord:
    """The topics that a regular expression matched; None when nobody uses it any more."""
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    if resolved is None:
        return record(key, None)
    value = ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.timestamp_ms
    )
    return record(key, value)


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """The member is no more: first what it has, then what it shall have, then itself."""
    return [
        record(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None),
        record(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None),
        record(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None),
    ]


def consumer_group_tombstones(group: ConsumerGroup) -> list[CoordinatorRecord]:
    """The group is no more, with everything in it."""
    records: list[CoordinatorRecord] = []
    for member_id in group.members:
        records += member_tombstones(group.group_id, member_id)
    records += [regex_record(group.group_id, regex, None) for regex in group.regexes]
    records.append(record(ConsumerGroupTargetAssignmentMetadataKey(group_id=group.group_id), None))
    records.append(record(ConsumerGroupMetadataKey(group_id=group.group_id), None))
    return records


# Reading


def apply(group: ConsumerGroup, key: Any, value: Any | None) -> None:
    """Apply a decoded record to the group. The tombstone of the group itself is the shard's business."""
    if isinstance(key, ConsumerGroupMetadataKey):
        if value is not None:
            group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif isinstance(key, ConsumerGroupMemberMetadataKey):
        if value is None:
            group.apply_member_gone(key.member_id)
        else:
            before = group.members.get(key.member_id, ConsumerMember(key.member_id))
            group.apply_member(_read_member(before, value))
    elif isinstance(key, ConsumerGroupTargetAssignmentMetadataKey):
        if value is not None:
            group.assignment_epoch = value.assignment_epoch
            group.assignment_timestamp_ms = value.assignment_timestamp
    elif isinstance(key, ConsumerGroupTargetAssignmentMemberKey):
        if value is None:
            group.target.pop(key.member_id, None)
        else:
            group.target[key.member_id] = frozenset(
                (topic.topic_id, index) for topic in value.topic_partitions for index in topic.partitions
            )
    elif isinstance(key, ConsumerGroupCurrentMemberAssignmentKey):
        if value is None:
            group.apply_assignment_gone(key.member_id)
        else:
            before = group.members.get(key.member_id, ConsumerMember(key.member_id))
            group.apply_member(_read_current(before, value))
    elif isinstance(key, ConsumerGroupRegularExpressionKey):
        if value is None:
            group.regexes.pop(key.regular_expression, None)
        else:
            resolved = ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
            group.regexes[key.regular_expression] = resolved


def _read_member(before: ConsumerMember, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
    classic = None
    if value.classic_member_metadata is not None:
        protocols = value.classic_member_metadata.supported_protocols
        classic = ClassicPart(
            value.classic_member_metadata.session_timeout_ms,
            tuple((protocol.name, bytes(protocol.metadata)) for protocol in protocols),
        )
    return replace(
        before,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=frozenset(value.subscribed_topic_names),
        regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        assignor=value.server_assignor,
        classic=classic,
    )


def _read_current(before: ConsumerMember, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
    try:
        state = MemberState(value.state)
    except ValueError:
        state = MemberState.UNKNOWN
    return replace(
        before,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=state,
        assigned=_read_partitions(value.assigned_partitions, value.member_epoch),
        revoking=_read_partitions(value.partitions_pending_revocation, value.member_epoch),
    )


def _read_partitions(topics: list[TopicPartitions], member_epoch: int) -> dict[Partition, int]:
    partitions: dict[Partition, int] = {}
    for topic in topics:
        # Records from before Kafka 4.3 have no epochs by partition.
        epochs = topic.assignment_epochs or [member_epoch] * len(topic.partitions)
        for index, epoch in zip(topic.partitions, epochs, strict=True):
            partitions[(topic.topic_id, index)] = epoch
    return partitions


class Draft:
    """An operation's records, and the group as it will be after them."""

    __slots__ = ("_group", "_is_copy", "records", "topics_checked")

    def __init__(self, group: ConsumerGroup, records: list[CoordinatorRecord] | None = None) -> None:
        self._group = group
        self._is_copy = False
        self.records: list[CoordinatorRecord] = records if records is not None else []
        self.topics_checked: tuple[int, int] | None = None
        """The version of the topics that the group's subscriptions were checked against by this operation, and when."""

    @property
    def group(self) -> ConsumerGroup:
        """To look at, not to change."""
        return self._group

    def write(self, *records: CoordinatorRecord) -> None:
        """Add records and apply them to the copy; the copy is made with the first one."""
        if records and not self._is_copy:
            self._group = self._group.copy()
            self._is_copy = True
        for new in records:
            self.records.append(new)
            decoded = decode(new)
            assert decoded is not None
            apply(self._group, *decoded)
