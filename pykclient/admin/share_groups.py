"""Groups of the newer kinds: share groups (KIP-932) and streams groups (KIP-1071), and the offsets of share groups.

Operations on the reactor thread. Brokers that do not have these kinds have no such groups: that is no error here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pykclient.admin.results import Results
from pykclient.admin.routing import CoordinatorsOf, Session, ask_once, by_topic, check, fan_out, outcome_of
from pykclient.admin.types import GroupDescription, GroupMember, ShareOffset, operations_in
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation
from pykclient.errors import KafkaError
from pykclient.net.client_request import Request
from pykclient.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from pykclient.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)
from pykclient.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
)
from pykclient.protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from pykclient.protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from pykclient.types import TopicPartition


def coordinator_node(session: Session, group: str) -> Any:
    """The broker that was found to coordinate a group."""
    node_id = session.office.coordinators.get((CoordinatorKind.GROUP, group))
    return None if node_id is None else session.office.metadata.cluster.node(node_id)


# ---- describe ----


def describe_share(session: Session, groups: list[str]) -> Operation[Results[str, GroupDescription]]:
    """Share groups."""

    def ask(names: list[str], node_id: int | None) -> Request[ShareGroupDescribeResponse]:
        return Request(ShareGroupDescribeRequest(group_ids=names), node_id=node_id)

    def read(response: ShareGroupDescribeResponse, names: list[str]) -> dict[str, GroupDescription | KafkaError]:
        found: dict[str, GroupDescription | KafkaError] = {}
        for row in response.groups:
            members = tuple(_share_member(member) for member in row.members)
            group = _group(session, row, "Share", "share", row.assignor_name, members)
            found[row.group_id] = outcome_of(row.error_code, group, row.error_message, group_id=row.group_id)
        return found

    return (yield from fan_out(session, groups, route=CoordinatorsOf(CoordinatorKind.GROUP), ask=ask, read=read))


def _share_member(row: Any) -> GroupMember:
    assigned = frozenset(
        TopicPartition(topic.topic_name, index)
        for topic in row.assignment.topic_partitions
        for index in topic.partitions
    )
    return GroupMember(
        row.member_id,
        None,
        row.client_id,
        row.client_host,
        assigned,
        assigned,
        frozenset(row.subscribed_topic_names),
        row.member_epoch,
        row.rack_id,
    )


def describe_streams(session: Session, groups: list[str]) -> Operation[Results[str, GroupDescription]]:
    """Streams groups; a member's partitions are those of the source topics of its active tasks."""

    def ask(names: list[str], node_id: int | None) -> Request[StreamsGroupDescribeResponse]:
        return Request(StreamsGroupDescribeRequest(group_ids=names), node_id=node_id)

    def read(response: StreamsGroupDescribeResponse, names: list[str]) -> dict[str, GroupDescription | KafkaError]:
        found: dict[str, GroupDescription | KafkaError] = {}
        for row in response.groups:
            parts = [] if row.topology is None else row.topology.subtopologies or []
            sources = {part.subtopology_id: list(part.source_topics) for part in parts}
            members = tuple(_streams_member(member, sources) for member in row.members)
            group = _group(session, row, "Streams", "streams", "", members)
            found[row.group_id] = outcome_of(row.error_code, group, row.error_message, group_id=row.group_id)
        return found

    return (yield from fan_out(session, groups, route=CoordinatorsOf(CoordinatorKind.GROUP), ask=ask, read=read))


def _streams_member(row: Any, sources: Mapping[str, list[str]]) -> GroupMember:
    def partitions(assignment: Any) -> frozenset[TopicPartition]:
        return frozenset(
            TopicPartition(topic, index)
            for task in assignment.active_tasks
            for topic in sources.get(task.subtopology_id, ())
            for index in task.partitions
        )

    return GroupMember(
        row.member_id,
        row.instance_id,
        row.client_id,
        row.client_host,
        partitions(row.assignment),
        partitions(row.target_assignment),
        frozenset(topic for topics in sources.values() for topic in topics),
        row.member_epoch,
        row.rack_id,
    )


def _group(
    session: Session, row: Any, kind: str, protocol: str, assignor: str, members: tuple[GroupMember, ...]
) -> GroupDescription:
    return GroupDescription(
        row.group_id,
        kind,
        row.group_state,
        protocol,
        assignor,
        members,
        coordinator_node(session, row.group_id),
        row.group_epoch,
        row.assignment_epoch,
        operations_in(row.authorized_operations),
    )


# ---- the offsets of share groups ----


def list_share_group_offsets(
    session: Session, group: str, partitions: Iterable[TopicPartition] | None
) -> Operation[Results[TopicPartition, ShareOffset]]:
    """Where a share group starts in each partition, and how far that is behind where the broker can say."""
    topics = (
        None
        if partitions is None
        else [
            DescribeShareGroupOffsetsRequestTopic(topic_name=topic, partitions=indexes)
            for topic, indexes in by_topic(TopicPartition(*tp) for tp in partitions).items()
        ]
    )
    message = DescribeShareGroupOffsetsRequest(
        groups=[DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=topics)]
    )

    def read(response: DescribeShareGroupOffsetsResponse) -> dict[TopicPartition, ShareOffset | KafkaError]:
        answer = response.groups[0]
        check(answer.error_code, answer.error_message, group_id=group)
        return {
            TopicPartition(topic.topic_name, row.partition_index): outcome_of(
                row.error_code,
                ShareOffset(None if row.start_offset < 0 else row.start_offset, None if row.lag < 0 else row.lag),
                row.error_message,
                topic=topic.topic_name,
                partition=row.partition_index,
            )
            for topic in answer.topics
            for row in topic.partitions
        }

    def request(node_id: int | None) -> Request[DescribeShareGroupOffsetsResponse]:
        return Request(message, node_id=node_id)

    return Results((yield from ask_once(session, request, read, route=_coordinator_of(group))))


def _coordinator_of(group: str) -> CoordinatorsOf:
    return CoordinatorsOf(CoordinatorKind.GROUP, of=lambda item: group)


def alter_share_group_offsets(
    session: Session, group: str, offsets: Mapping[TopicPartition, int]
) -> Operation[Results[TopicPartition, None]]:
    """Let a share group without members start elsewhere."""
    wanted = {TopicPartition(*tp): offset for tp, offset in offsets.items()}

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[AlterShareGroupOffsetsResponse]:
        topics = [
            AlterShareGroupOffsetsRequestTopic(
                topic_name=topic,
                partitions=[
                    AlterShareGroupOffsetsRequestPartition(
                        partition_index=index, start_offset=wanted[TopicPartition(topic, index)]
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(items).items()
        ]
        return Request(AlterShareGroupOffsetsRequest(group_id=group, topics=topics), node_id=node_id)

    def read(
        response: AlterShareGroupOffsetsResponse, items: list[TopicPartition]
    ) -> dict[TopicPartition, KafkaError | None]:
        check(response.error_code, response.error_message, group_id=group)
        return {
            TopicPartition(topic.topic_name, row.partition_index): outcome_of(
                row.error_code, None, row.error_message, topic=topic.topic_name, partition=row.partition_index
            )
            for topic in response.responses
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=_coordinator_of(group), ask=ask, read=read))


def delete_share_group_offsets(session: Session, group: str, topics: Iterable[str]) -> Operation[Results[str, None]]:
    """Let a share group without members forget whole topics."""

    def ask(names: list[str], node_id: int | None) -> Request[DeleteShareGroupOffsetsResponse]:
        rows = [DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in names]
        return Request(DeleteShareGroupOffsetsRequest(group_id=group, topics=rows), node_id=node_id)

    def read(response: DeleteShareGroupOffsetsResponse, names: list[str]) -> dict[str, KafkaError | None]:
        check(response.error_code, response.error_message, group_id=group)
        return {
            row.topic_name: outcome_of(row.error_code, None, row.error_message, topic=row.topic_name)
            for row in response.responses
        }

    return (yield from fan_out(session, topics, route=_coordinator_of(group), ask=ask, read=read))
