"""ListGroups, DescribeGroups, ConsumerGroupDescribe and DeleteGroups: requests about many groups, answered over all
their shards.

Runs on the node's thread; never blocks.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.classic_group import ClassicGroup, ClassicState
from pykclient.broker.coordinator import Result
from pykclient.broker.group_access import GroupAccess, code_of, converted, gathered, not_expected
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_shard import Group, GroupShard
from pykclient.broker.kip848_group import ConsumerGroup, ConsumerMember, Partition
from pykclient.broker.kip848_records import by_topic
from pykclient.broker.request import RequestContext
from pykclient.errors import ErrorCode, GroupIdNotFound, NotCoordinator
from pykclient.net.completion import Completion
from pykclient.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    Member,
    TopicPartitions,
)
from pykclient.protocol.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from pykclient.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from pykclient.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from pykclient.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

DESCRIBE_TELLS_NOT_FOUND_VERSION = 6
CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def kind_of(group: Group) -> str:
    """As ListGroups names it."""
    return "classic" if isinstance(group, ClassicGroup) else "consumer"


class GroupListing:
    """See the module text."""

    def __init__(self, access: GroupAccess, config: GroupConfig) -> None:
        self._access = access
        self._config = config

    # ListGroups

    def list_groups(self, context: RequestContext, request: ListGroupsRequest) -> Completion[ListGroupsResponse]:
        """The groups that this node coordinates, filtered by state and type, whatever the filter's case."""
        states = {state.lower() for state in request.states_filter}
        types = {kind.lower() for kind in request.types_filter}
        sees_all = self._access.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)

        def listed(shard: GroupShard) -> Result[list[ListedGroup]]:
            found = [
                ListedGroup(
                    group_id=group.group_id,
                    protocol_type=group.protocol_type or "",
                    group_state=group.state_name,
                    group_type=kind_of(group),
                )
                for group in shard.groups.values()
                if (not states or group.state_name.lower() in states) and (not types or kind_of(group) in types)
            ]
            return Result(found)

        parts = [
            self._access.runtime.run(partition, listed, now=context.now, wall_ms=context.wall_ms)
            for partition in self._access.runtime.partitions()
        ]
        response = ListGroupsResponse()

        def failed(error: BaseException) -> list[ListedGroup]:
            # Meanwhile another node leads the partition: it lists those groups. Anything else must not look like "no
            # groups".
            if not isinstance(error, NotCoordinator):
                response.error_code = code_of(error)
            return []

        def finish(lists: list[list[ListedGroup]]) -> ListGroupsResponse:
            if not response.error_code:
                every = [group for part in lists for group in part]
                response.groups = [
                    group
                    for group in sorted(every, key=lambda group: group.group_id)
                    if sees_all or self._access.allows_group(context, Operation.DESCRIBE, group.group_id)
                ]
            return response

        answered = [converted(part, lambda groups: groups, failed) for part in parts]
        return converted(gathered(answered), finish, not_expected)

    # DescribeGroups

    def describe_groups(
        self, context: RequestContext, request: DescribeGroupsRequest
    ) -> Completion[DescribeGroupsResponse]:
        """Classic groups only; a group that isn't there is Dead."""
        parts = [
            self._describe(context, group_id, request.include_authorized_operations) for group_id in request.groups
        ]
        return converted(gathered(parts), lambda groups: DescribeGroupsResponse(groups=groups), not_expected)

    def _describe(self, context: RequestContext, group_id: str, with_operations: bool) -> Completion[DescribedGroup]:
        if not self._access.allows_group(context, Operation.DESCRIBE, group_id):
            code = ErrorCode.GROUP_AUTHORIZATION_FAILED
            return Completion.of(DescribedGroup(group_id=group_id, error_code=code))

        def operation(shard: GroupShard) -> Result[DescribedGroup]:
            group = shard.groups.get(group_id)
            if not isinstance(group, ClassicGroup):
                return Result(self._not_there(group_id, context.api_version))
            return Result(_described(group))

        def finish(described: DescribedGroup) -> DescribedGroup:
            if with_operations and not described.error_code:
                described.authorized_operations = self._operations(context, group_id)
            return described

        reply = self._access.run(context, group_id, operation)
        return converted(reply, finish, lambda error: DescribedGroup(group_id=group_id, error_code=code_of(error)))

    @staticmethod
    def _not_there(group_id: str, version: int) -> DescribedGroup:
        described = DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.value)
        if version >= DESCRIBE_TELLS_NOT_FOUND_VERSION:
            described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            described.error_message = f"Group {group_id} not found."
        return described

    def _operations(self, context: RequestContext, group_id: str) -> int:
        return self._access.authorizer.authorized_operations(
            context.principal, context.peer.host, ResourceType.GROUP, group_id
        )

    # ConsumerGroupDescribe

    def describe_consumer_groups(
        self, context: RequestContext, request: ConsumerGroupDescribeRequest
    ) -> Completion[ConsumerGroupDescribeResponse]:
        """Groups of the new protocol only."""
        parts = [
            self._describe_consumer(context, group_id, request.include_authorized_operations)
            for group_id in request.group_ids
        ]
        return converted(gathered(parts), lambda groups: ConsumerGroupDescribeResponse(groups=groups), not_expected)

    def _describe_consumer(
        self, context: RequestContext, group_id: str, with_operations: bool
    ) -> Completion[DescribedConsumerGroup]:
        def failed(error: BaseException) -> DescribedConsumerGroup:
            text = error.args[0] if error.args and isinstance(error.args[0], str) else None
            return DescribedConsumerGroup(group_id=group_id, error_code=code_of(error), error_message=text)

        if not self._access.allows_group(context, Operation.DESCRIBE, group_id):
            code = ErrorCode.GROUP_AUTHORIZATION_FAILED
            return Completion.of(DescribedConsumerGroup(group_id=group_id, error_code=code))

        def operation(shard: GroupShard) -> Result[DescribedConsumerGroup]:
            group = shard.groups.get(group_id)
            if not isinstance(group, ConsumerGroup):
                raise GroupIdNotFound(f"Group {group_id} is not a consumer group.")
            return Result(self._described_consumer(group))

        def finish(described: DescribedConsumerGroup) -> DescribedConsumerGroup:
            topics = {
                topic.topic_name
                for member in described.members
                for assignment in (member.assignment, member.target_assignment)
                for topic in assignment.topic_partitions
            }
            if not all(self._access.allows_topic(context, Operation.DESCRIBE, topic) for topic in topics):
                return DescribedConsumerGroup(
                    group_id=group_id,
                    error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                    error_message="The group has described topic(s) that the client is not authorized to describe.",
                )
            if with_operations:
                described.authorized_operations = self._operations(context, group_id)
            return described

        return converted(self._access.run(context, group_id, operation), finish, failed)

    def _described_consumer(self, group: ConsumerGroup) -> DescribedConsumerGroup:
        return DescribedConsumerGroup(
            group_id=group.group_id,
            group_state=group.state_name,
            group_epoch=group.epoch,
            assignment_epoch=group.assignment_epoch,
            assignor_name=group.preferred_assignor(self._config.group_consumer_assignors[0]),
            members=[self._described_member(group, member) for member in group.members.values()],
        )

    def _described_member(self, group: ConsumerGroup, member: ConsumerMember) -> Member:
        return Member(
            member_id=member.member_id,
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            member_epoch=member.epoch,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
            subscribed_topic_regex=member.regex,
            assignment=self._assignment(member.assigned),
            target_assignment=self._assignment(group.target.get(member.member_id, frozenset())),
            member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
        )

    def _assignment(self, partitions: Iterable[Partition]) -> Assignment:
        topics = []
        for topic_id, indexes in by_topic(partitions).items():
            topic = self._access.catalog.topic_by_id(topic_id)
            if topic is not None:
                topics.append(TopicPartitions(topic_id=topic_id, topic_name=topic.name, partitions=indexes))
        return Assignment(topic_partitions=topics)

    # DeleteGroups

    def delete_groups(self, context: RequestContext, request: DeleteGroupsRequest) -> Completion[DeleteGroupsResponse]:
        """Each group on its own."""
        parts = [self._delete(context, group_id) for group_id in dict.fromkeys(request.groups_names)]
        return converted(gathered(parts), lambda results: DeleteGroupsResponse(results=results), not_expected)

    def _delete(self, context: RequestContext, group_id: str) -> Completion[DeletableGroupResult]:
        if not self._access.allows_group(context, Operation.DELETE, group_id):
            code = ErrorCode.GROUP_AUTHORIZATION_FAILED
            return Completion.of(DeletableGroupResult(group_id=group_id, error_code=code))
        reply = self._access.run(context, group_id, lambda shard: shard.delete_group(group_id))
        return converted(
            reply,
            lambda _: DeletableGroupResult(group_id=group_id),
            lambda error: DeletableGroupResult(group_id=group_id, error_code=code_of(error)),
        )


def _described(group: ClassicGroup) -> DescribedGroup:
    stable = group.state is ClassicState.STABLE
    members = [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata(group.protocol) if stable else b"",
            member_assignment=member.assignment if stable else b"",
        )
        for member in group.members.values()
    ]
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if stable else "",
        members=members,
    )
