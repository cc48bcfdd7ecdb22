"""The records of ``__consumer_offsets``: the type in front of each key, the version in front of each value, as Kafka
writes them.

Pure functions between our state and bytes. Anything read here was written by a coordinator, ours or Kafka's, so that
a data directory can be looked at with Kafka's own tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pykclient.broker.classic_group import ClassicGroup, ClassicMember, ClassicState
from pykclient.broker.coordinator import CoordinatorRecord
from pykclient.errors import ProtocolError
from pykclient.protocol.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from pykclient.protocol.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from pykclient.protocol.messages.consumer_group_member_metadata_key import ConsumerGroupMemberMetadataKey
from pykclient.protocol.messages.consumer_group_member_metadata_value import ConsumerGroupMemberMetadataValue
from pykclient.protocol.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from pykclient.protocol.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from pykclient.protocol.messages.consumer_group_partition_metadata_key import ConsumerGroupPartitionMetadataKey
from pykclient.protocol.messages.consumer_group_partition_metadata_value import ConsumerGroupPartitionMetadataValue
from pykclient.protocol.messages.consumer_group_regular_expression_key import ConsumerGroupRegularExpressionKey
from pykclient.protocol.messages.consumer_group_regular_expression_value import ConsumerGroupRegularExpressionValue
from pykclient.protocol.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from pykclient.protocol.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
)
from pykclient.protocol.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from pykclient.protocol.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from pykclient.protocol.messages.group_metadata_key import GroupMetadataKey
from pykclient.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykclient.protocol.messages.offset_commit_key import OffsetCommitKey
from pykclient.protocol.messages.offset_commit_value import OffsetCommitValue

GROUP_METADATA_VALUE_VERSION = 3
OFFSET_COMMIT_VALUE_VERSION = 4
OFFSET_COMMIT_VALUE_WITH_EXPIRY_VERSION = 1
"""The only version that can say when an offset expires (``retention_time_ms`` of old OffsetCommit requests)."""


class Message(Protocol):
    """What the generated classes have in common."""

    def write(self, version: int) -> bytes:
        """The body as bytes."""
        ...


@dataclass(frozen=True, slots=True)
class RecordType:
    """A number in front of the key, and the classes behind it."""

    number: int
    key: type[Any]
    value: type[Any]


TYPES = (
    RecordType(0, OffsetCommitKey, OffsetCommitValue),
    RecordType(1, OffsetCommitKey, OffsetCommitValue),
    RecordType(2, GroupMetadataKey, GroupMetadataValue),
    RecordType(3, ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    RecordType(4, ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    RecordType(5, ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    RecordType(6, ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    RecordType(7, ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    RecordType(8, ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    RecordType(16, ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
)
_BY_NUMBER = {record_type.number: record_type for record_type in TYPES}
_NUMBER_OF = {record_type.key: record_type.number for record_type in TYPES}


def record(key: Message, value: Message | None, version: int = 0) -> CoordinatorRecord:
    """Encode; value None is a tombstone."""
    prefix = _NUMBER_OF[type(key)].to_bytes(2, "big")
    body = None if value is None else version.to_bytes(2, "big") + bytes(value.write(version))
    return CoordinatorRecord(prefix + bytes(key.write(0)), body)


def decode(coordinator_record: CoordinatorRecord) -> tuple[Any, Any | None] | None:
    """The key and the value; None for a type that this broker doesn't know (share and streams groups)."""
    key_bytes, value_bytes = coordinator_record.key, coordinator_record.value
    if len(key_bytes) < 2:
        raise ProtocolError("a key of __consumer_offsets without a type")
    record_type = _BY_NUMBER.get(int.from_bytes(key_bytes[:2], "big"))
    if record_type is None:
        return None
    read_key = cast("Callable[[bytes, int], Any]", record_type.key.read)
    key = read_key(key_bytes[2:], 0)
    if value_bytes is None:
        return key, None
    if len(value_bytes) < 2:
        raise ProtocolError("a value of __consumer_offsets without a version")
    read_value = cast("Callable[[bytes, int], Any]", record_type.value.read)
    return key, read_value(value_bytes[2:], int.from_bytes(value_bytes[:2], "big"))


# Classic groups


def group_metadata_record(group: ClassicGroup, assignments: Mapping[str, bytes] | None = None) -> CoordinatorRecord:
    """The whole group in one record. ``assignments`` replaces what the members have (they get it when the record is
    committed).
    """
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(group.protocol),
            assignment=member.assignment if assignments is None else assignments.get(member.member_id, b""),
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=-1 if group.state_since_ms is None else group.state_since_ms,
        members=members,
    )
    return record(GroupMetadataKey(group=group.group_id), value, GROUP_METADATA_VALUE_VERSION)


def new_group_record(group: ClassicGroup) -> CoordinatorRecord:
    """Of a group that has been created and has no generation yet."""
    state_since_ms = -1 if group.state_since_ms is None else group.state_since_ms
    value = GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=state_since_ms)
    return record(GroupMetadataKey(group=group.group_id), value, GROUP_METADATA_VALUE_VERSION)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """The classic group is no more."""
    return record(GroupMetadataKey(group=group_id), None)


def classic_group_of(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group as a record tells it: empty, or stable with everybody's assignment."""
    group = ClassicGroup(
        group_id,
        state=ClassicState.STABLE if value.members else ClassicState.EMPTY,
        generation=value.generation,
        protocol_type=value.protocol_type or None,
        protocol=value.protocol,
        leader=value.leader,
        state_since_ms=None if value.current_state_timestamp == -1 else value.current_state_timestamp,
    )
    for member in value.members:
        timeout_ms = member.session_timeout if member.rebalance_timeout == -1 else member.rebalance_timeout
        group.add(
            ClassicMember(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=timeout_ms,
                session_timeout_ms=member.session_timeout,
                protocol_type=value.protocol_type,
                protocols=[(value.protocol or "", bytes(member.subscription))],
                assignment=bytes(member.assignment),
            )
        )
    group.subscribed = group.compute_subscribed()
    return group
