"""Groups of any protocol: list, describe, delete, remove members.

Operations on the reactor thread. Classic groups and those of KIP-848 are described by different requests; callers need
not know which is which. Bytes that members of other clients left are read with care: what makes no sense is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pykclient.admin.results import Results
from pykclient.admin.routing import Brokers, CoordinatorsOf, Session, ask_once, check, every_broker, fan_out, outcome_of
from pykclient.admin.share_groups import coordinator_node, describe_share, describe_streams
from pykclient.admin.types import GroupDescription, GroupListing, GroupMember, operations_in
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation
from pykclient.errors import GroupIdNotFound, KafkaError, ProtocolError, UnsupportedVersion
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from pykclient.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from pykclient.protocol.messages.describe_groups import (
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from pykclient.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from pykclient.protocol.primitives import DECODE_ERRORS
from pykclient.types import TopicPartition

CONSUMER_PROTOCOL = "consumer"


def list_groups(session: Session, *, states: Iterable[str], types: Iterable[str]) -> Operation[dict[str, GroupListing]]:
    """The groups of every broker, filtered by state and type when given."""
    wanted_states, wanted_types = list(states), list(types)
    version_min = 5 if wanted_types else 4 if wanted_states else 0
    brokers = yield from every_broker(session)

    def ask(items: list[int], node_id: int | None) -> Request[ListGroupsResponse]:
        def build(version: int) -> ListGroupsRequest:
            message = ListGroupsRequest()
            if wanted_states:
                message.states_filter = wanted_states
            if wanted_types:
                message.types_filter = wanted_types
            return message

        return Request(api_key=ApiKey.LIST_GROUPS, build=build, node_id=node_id, version_min=version_min)

    def read(response: ListGroupsResponse, items: list[int]) -> dict[int, list[GroupListing]]:
        check(response.error_code, api="ListGroups")
        return {
            items[0]: [
                GroupListing(row.group_id, row.group_type.capitalize(), row.group_state, row.protocol_type)
                for row in response.groups
            ]
        }

    # A coordinator that still loads its groups would leave them out, so it is asked again.
    route = Brokers(passing=CoordinatorsOf(CoordinatorKind.GROUP).passing)
    results = yield from fan_out(session, brokers, route=route, ask=ask, read=read)
    results.raise_for_errors()
    listings = [listing for node_id in results for listing in results[node_id]]
    return {listing.group_id: listing for listing in sorted(listings, key=lambda each: each.group_id)}


# ---- describe ----


def describe_groups(
    session: Session, groups: Iterable[str], *, include_authorized_operations: bool
) -> Operation[Results[str, GroupDescription]]:
    """Each group by the protocol it speaks: the new one is asked first, as a classic group is not one of its own."""
    wanted = list(dict.fromkeys(groups))
    found: dict[str, GroupDescription | KafkaError] = {}
    try:
        results = yield from _describe_consumer(session, wanted, include_authorized_operations)
    except UnsupportedVersion:
        left = wanted
    else:
        found.update({group: results.error(group) or results[group] for group in results})
        left = [group for group in wanted if isinstance(found[group], GroupIdNotFound)]
    if left:
        classic = yield from _describe_classic(session, left, include_authorized_operations)
        found.update({group: classic.error(group) or classic[group] for group in classic})
    for describe in (describe_share, describe_streams):
        left = [group for group in left if isinstance(found[group], GroupIdNotFound)]
        if left:
            try:
                newer = yield from describe(session, left)
            except UnsupportedVersion:
                continue
            found.update(newer.succeeded)
    return Results({group: found[group] for group in wanted})


def _describe_consumer(
    session: Session, groups: list[str], include_authorized_operations: bool
) -> Operation[Results[str, GroupDescription]]:
    def ask(names: list[str], node_id: int | None) -> Request[ConsumerGroupDescribeResponse]:
        message = ConsumerGroupDescribeRequest(
            group_ids=names, include_authorized_operations=include_authorized_operations
        )
        return Request(message, node_id=node_id)

    def read(response: ConsumerGroupDescribeResponse, names: list[str]) -> dict[str, GroupDescription | KafkaError]:
        return {
            row.group_id: outcome_of(row.error_code, _new_group(session, row), row.error_message, group_id=row.group_id)
            for row in response.groups
        }

    return (yield from fan_out(session, groups, route=CoordinatorsOf(CoordinatorKind.GROUP), ask=ask, read=read))


def _new_group(session: Session, row: Any) -> GroupDescription:
    members = tuple(
        GroupMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            _partitions(member.assignment),
            _partitions(member.target_assignment),
            frozenset(member.subscribed_topic_names),
            member.member_epoch,
            member.rack_id,
        )
        for member in row.members
    )
    return GroupDescription(
        row.group_id,
        "Consumer",
        row.group_state,
        CONSUMER_PROTOCOL,
        row.assignor_name,
        members,
        coordinator_node(session, row.group_id),
        row.group_epoch,
        row.assignment_epoch,
        operations_in(row.authorized_operations),
    )


def _partitions(assignment: Assignment) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(row.topic_name, index) for row in assignment.topic_partitions for index in row.partitions
    )


def _describe_classic(
    session: Session, groups: list[str], include_authorized_operations: bool
) -> Operation[Results[str, GroupDescription]]:
    def ask(names: list[str], node_id: int | None) -> Request[DescribeGroupsResponse]:
        def build(version: int) -> DescribeGroupsRequest:
            message = DescribeGroupsRequest(groups=names)
            if version >= 3:
                message.include_authorized_operations = include_authorized_operations
            return message

        return Request(api_key=ApiKey.DESCRIBE_GROUPS, build=build, node_id=node_id)

    def read(response: DescribeGroupsResponse, names: list[str]) -> dict[str, GroupDescription | KafkaError]:
        found: dict[str, GroupDescription | KafkaError] = {}
        for row in response.groups:
            if row.error_code == 0 and row.group_state == "Dead":
                # Before version 6 a group that is not there was described as a dead one.
                found[row.group_id] = GroupIdNotFound(group_id=row.group_id)
            else:
                group = _classic_group(session, row)
                found[row.group_id] = outcome_of(row.error_code, group, row.error_message, group_id=row.group_id)
        return found

    return (yield from fan_out(session, groups, route=CoordinatorsOf(CoordinatorKind.GROUP), ask=ask, read=read))


def _classic_group(session: Session, row: Any) -> GroupDescription:
    consumers = row.protocol_type == CONSUMER_PROTOCOL
    return GroupDescription(
        row.group_id,
        "Classic",
        row.group_state,
        row.protocol_type,
        row.protocol_data,
        tuple(_classic_member(member, consumers) for member in row.members),
        coordinator_node(session, row.group_id),
        authorized_operations=operations_in(row.authorized_operations),
    )


def _classic_member(row: DescribedGroupMember, consumer: bool) -> GroupMember:
    assigned = read_assignment(row.member_assignment) if consumer else frozenset()
    return GroupMember(
        row.member_id,
        row.group_instance_id,
        row.client_id,
        row.client_host,
        assigned,
        assigned,
        read_subscription(row.member_metadata) if consumer else frozenset(),
    )


def read_assignment(data: bytes) -> frozenset[TopicPartition]:
    """What a classic member was given; nothing when the bytes are empty or not ours to understand."""
    version = int.from_bytes(data[:2], "big", signed=True) if len(data) >= 2 else -1
    if version < 0:
        return frozenset()
    try:
        message, _ = ConsumerProtocolAssignment._read(data, 2, min(version, ConsumerProtocolAssignment.MAX_VERSION))
    except (*DECODE_ERRORS, ProtocolError):
        return frozenset()
    return frozenset(
        TopicPartition(row.topic, index) for row in message.assigned_partitions for index in row.partitions
    )


def read_subscription(data: bytes) -> frozenset[str]:
    """What a classic member subscribes to."""
    version = int.from_bytes(data[:2], "big", signed=True) if len(data) >= 2 else -1
    if version < 0:
        return frozenset()
    try:
        message, _ = ConsumerProtocolSubscription._read(data, 2, min(version, ConsumerProtocolSubscription.MAX_VERSION))
    except (*DECODE_ERRORS, ProtocolError):
        return frozenset()
    return frozenset(message.topics)


# ---- delete, remove ----


def delete_groups(session: Session, groups: Iterable[str]) -> Operation[Results[str, None]]:
    """Delete groups and their offsets; only empty ones can be."""

    def ask(names: list[str], node_id: int | None) -> Request[DeleteGroupsResponse]:
        return Request(DeleteGroupsRequest(groups_names=names), node_id=node_id)

    def read(response: DeleteGroupsResponse, names: list[str]) -> dict[str, KafkaError | None]:
        return {row.group_id: outcome_of(row.error_code, None, group_id=row.group_id) for row in response.results}

    return (yield from fan_out(session, groups, route=CoordinatorsOf(CoordinatorKind.GROUP), ask=ask, read=read))


def remove_members(
    session: Session, group: str, members: Iterable[str] | None, *, reason: str
) -> Operation[Results[str, None]]:
    """Make members leave, given by group instance id or member id; all of them when None."""
    described = yield from describe_groups(session, [group], include_authorized_operations=False)
    present = described[group].members
    by_instance = {member.group_instance_id: member for member in present if member.group_instance_id}
    if members is None:
        wanted = [member.group_instance_id or member.member_id for member in present]
    else:
        wanted = list(dict.fromkeys(members))
    if not wanted:
        return Results()
    identities = [
        MemberIdentity(group_instance_id=name, reason=reason or None)
        if name in by_instance
        else MemberIdentity(member_id=name, reason=reason or None)
        for name in wanted
    ]

    def request(node_id: int | None) -> Request[LeaveGroupResponse]:
        return Request(LeaveGroupRequest(group_id=group, members=identities), node_id=node_id, version_min=3)

    def read(response: LeaveGroupResponse) -> dict[str, KafkaError | None]:
        check(response.error_code, group_id=group)
        found: dict[str, KafkaError | None] = {}
        for row in response.members:
            outcome = outcome_of(row.error_code, None, group_id=group)
            found.update({key: outcome for key in (row.group_instance_id, row.member_id) if key in wanted and key})
        return found

    route = CoordinatorsOf(CoordinatorKind.GROUP, of=lambda item: group)
    found = yield from ask_once(session, request, read, route=route)
    return Results({name: found.get(name) for name in wanted})
