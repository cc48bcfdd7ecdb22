"""The group coordinator: the room that answers every request about groups and their offsets (``HANDLERS``).

A group lives in the partition of ``__consumer_offsets`` that its id hashes to; the partition's leader coordinates it.
This file checks requests and rights and sends them to the shards; all state is in group_shard.py and below. The
server tells it about leadership (``on_partition_elected``, ``on_partition_resigned``), about topics
(``on_topics_changed``) and about transaction markers (``complete_transaction``). Runs on the node's thread; never
blocks, never reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pykclient.broker.authorizer import Authorizer, Operation
from pykclient.broker.classic_group import ClassicGroup
from pykclient.broker.classic_rebalance import JoinContext
from pykclient.broker.cluster_info import coordinator_partition
from pykclient.broker.coordinator import CoordinatorRuntime, InternalLog, Result, ShardTimers, Timers
from pykclient.broker.group_access import GROUP_TOPIC, GroupAccess, VerifyTransaction, converted, refuse
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_listing import GroupListing
from pykclient.broker.group_shard import GroupShard
from pykclient.broker.group_topics import TopicCatalog
from pykclient.broker.kip848_group import LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from pykclient.broker.kip848_heartbeat import HeartbeatContext
from pykclient.broker.offset_requests import OffsetRequests
from pykclient.broker.request import RequestContext
from pykclient.errors import (
    BrokerError,
    CoordinatorLoadInProgress,
    GroupAuthorizationFailed,
    InvalidGroupId,
    InvalidRequest,
    InvalidSessionTimeout,
    TopicAuthorizationFailed,
    UnknownMemberId,
    UnsupportedAssignor,
)
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from pykclient.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from pykclient.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from pykclient.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from pykclient.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from pykclient.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

JOIN_WITH_KNOWN_ID_VERSION = 4
JOIN_WITH_SKIP_ASSIGNMENT_VERSION = 9
JOIN_WITH_NULL_PROTOCOL_VERSION = 7
LEAVE_IN_BATCHES_VERSION = 3
CLIENT_MADE_MEMBER_ID_VERSION = 1
"""From this ConsumerGroupHeartbeat version on the member names itself (KIP-1082)."""


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group as ``describe`` shows it. ``epoch`` is the generation of a classic group."""

    group_id: str
    kind: str
    state: str
    epoch: int
    members: tuple[str, ...]
    offsets: Mapping[tuple[str, int], int]


class GroupCoordinator:
    """See the module text. ``new_id`` gives the random part of member ids; ``verify`` checks transactional offset
    commits.
    """

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.JOIN_GROUP: "join_group",
        ApiKey.SYNC_GROUP: "sync_group",
        ApiKey.HEARTBEAT: "heartbeat",
        ApiKey.LEAVE_GROUP: "leave_group",
        ApiKey.CONSUMER_GROUP_HEARTBEAT: "consumer_group_heartbeat",
        ApiKey.CONSUMER_GROUP_DESCRIBE: "consumer_group_describe",
        ApiKey.LIST_GROUPS: "list_groups",
        ApiKey.DESCRIBE_GROUPS: "describe_groups",
        ApiKey.DELETE_GROUPS: "delete_groups",
        ApiKey.OFFSET_COMMIT: "offset_commit",
        ApiKey.OFFSET_FETCH: "offset_fetch",
        ApiKey.OFFSET_DELETE: "offset_delete",
        ApiKey.TXN_OFFSET_COMMIT: "txn_offset_commit",
    }

    def __init__(
        self,
        *,
        log: InternalLog,
        timers: Timers,
        catalog: TopicCatalog,
        authorizer: Authorizer,
        new_id: Callable[[], str],
        verify: VerifyTransaction | None = None,
        config: GroupConfig | None = None,
    ) -> None:
        self.config = config or GroupConfig()
        self._catalog = catalog
        self._new_id = new_id
        self.runtime: CoordinatorRuntime[GroupShard] = CoordinatorRuntime(GROUP_TOPIC, log, timers, self._new_shard)
        self._access = GroupAccess(self.runtime, authorizer, catalog, self.partition_for)
        self._offsets = OffsetRequests(self._access, verify)
        self._listing = GroupListing(self._access, self.config)

    def _new_shard(self, partition: int, timers: ShardTimers) -> GroupShard:
        return GroupShard(self.config, timers, self._catalog, self._new_id)

    # What the server tells

    def partition_for(self, group_id: str) -> int:
        """The partition of ``__consumer_offsets`` whose leader coordinates the group."""
        topic = self._catalog.topic(GROUP_TOPIC)
        count = topic.partition_count if topic is not None else self.config.offsets_topic_num_partitions
        return coordinator_partition(group_id, count)

    def on_partition_elected(self, partition: int, leader_epoch: int, *, now: float, wall_ms: int) -> None:
        """This node leads the partition of ``__consumer_offsets`` from this epoch on: load its groups."""
        self.runtime.elect(partition, leader_epoch, now=now, wall_ms=wall_ms)

    def on_partition_resigned(self, partition: int) -> None:
        """It leads it no longer: whoever waits is told NOT_COORDINATOR."""
        self.runtime.resign(partition)

    def on_topics_changed(self, *, now: float, wall_ms: int, deleted: Iterable[str] = ()) -> None:
        """Topics appeared, grew or vanished. Consumer groups notice at their members' next heartbeat; offsets of
        deleted topics go now.
        """
        names = sorted(deleted)
        for partition in self.runtime.partitions():
            try:
                self.runtime.shard(partition).consumer.topics_version += 1
            except BrokerError:
                continue  # Not loaded yet: it will see the topics of then.
            if names:
                self.runtime.run(partition, lambda shard: shard.delete_topics(names), now=now, wall_ms=wall_ms)

    def complete_transaction(self, partition: int, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """A marker has been written into the partition of ``__consumer_offsets``."""
        self.runtime.end_transaction(
            partition, producer_id=producer_id, producer_epoch=producer_epoch, committed=committed
        )

    def describe(self, group_id: str) -> GroupView | None:
        """The group as it is on this node, for tests and tools; None when there is none."""
        shard = self.runtime.shard(self.partition_for(group_id))
        group = shard.groups.get(group_id)
        if group is None:
            return None
        classic = isinstance(group, ClassicGroup)
        committed = shard.offsets.committed.get(group_id, {})
        return GroupView(
            group_id=group_id,
            kind="classic" if classic else "consumer",
            state=group.state_name,
            epoch=group.generation if isinstance(group, ClassicGroup) else group.epoch,
            members=tuple(group.members),
            offsets={place: offset.offset for place, offset in committed.items()},
        )

    # The classic protocol

    def _member_request(
        self, context: RequestContext, request: Any, operation: Callable[[GroupShard], Result[Any]]
    ) -> Completion[Any]:
        """A request of a member: rights, a group id, and errors as answers."""

        def failed(error: BaseException) -> Any:
            return refuse(context, request, error)

        if not self._access.allows_group(context, Operation.READ, request.group_id):
            return Completion.of(failed(GroupAuthorizationFailed(request.group_id)))
        if not request.group_id:
            return Completion.of(failed(InvalidGroupId("a group id must not be empty")))
        return converted(self._access.run(context, request.group_id, operation), lambda response: response, failed)

    def join_group(self, context: RequestContext, request: JoinGroupRequest) -> Completion[JoinGroupResponse]:
        """Versions 0-9."""
        version = context.api_version
        if version == 0:
            request.rebalance_timeout_ms = request.session_timeout_ms
        join = JoinContext(
            client_id=context.client_id or "",
            client_host=f"/{context.peer.host}",
            requires_known_member_id=version >= JOIN_WITH_KNOWN_ID_VERSION,
            supports_skip_assignment=version >= JOIN_WITH_SKIP_ASSIGNMENT_VERSION,
        )

        def operation(shard: GroupShard) -> Result[JoinGroupResponse]:
            low, high = self.config.group_min_session_timeout_ms, self.config.group_max_session_timeout_ms
            if not low <= request.session_timeout_ms <= high:
                raise InvalidSessionTimeout(f"the session time-out must be between {low} and {high} ms")
            return shard.join(request, join, context.wall_ms)

        def finish(response: JoinGroupResponse) -> JoinGroupResponse:
            if version < JOIN_WITH_NULL_PROTOCOL_VERSION:
                response.protocol_name = response.protocol_name or ""
            elif response.error_code:
                response.protocol_name = None
            return response

        reply = self._member_request(context, request, operation)
        return converted(reply, finish, lambda error: refuse(context, request, error))

    def sync_group(self, context: RequestContext, request: SyncGroupRequest) -> Completion[SyncGroupResponse]:
        """Versions 0-5."""
        return self._member_request(context, request, lambda shard: shard.sync(request, context.wall_ms))

    def heartbeat(self, context: RequestContext, request: HeartbeatRequest) -> Completion[HeartbeatResponse]:
        """Versions 0-4."""

        def operation(shard: GroupShard) -> Result[HeartbeatResponse]:
            return shard.heartbeat(request)

        reply = self._member_request(context, request, operation)

        def finish(response: HeartbeatResponse) -> HeartbeatResponse:
            # A member must not rebalance only because its new coordinator is still loading the group.
            if response.error_code == CoordinatorLoadInProgress.code:
                response.error_code = 0
            return response

        return converted(reply, finish, lambda error: refuse(context, request, error))

    def leave_group(self, context: RequestContext, request: LeaveGroupRequest) -> Completion[LeaveGroupResponse]:
        """Versions 0-5; before version 3 it names one member."""
        single = context.api_version < LEAVE_IN_BATCHES_VERSION
        if single:
            request.members = [MemberIdentity(member_id=request.member_id)]
        reply = self._member_request(context, request, lambda shard: shard.leave(request, context.wall_ms))

        def finish(response: LeaveGroupResponse) -> LeaveGroupResponse:
            if single and response.members:
                response.error_code = response.error_code or response.members[0].error_code
                response.members = []
            elif response.error_code == UnknownMemberId.code:
                # There is no such group: each member is told, and the request as a whole went well.
                response.error_code = 0
            return response

        return converted(reply, finish, lambda error: refuse(context, request, error))

    # The consumer protocol

    def consumer_group_heartbeat(
        self, context: RequestContext, request: ConsumerGroupHeartbeatRequest
    ) -> Completion[ConsumerGroupHeartbeatResponse]:
        """Versions 0-1."""
        heartbeat = HeartbeatContext(
            client_id=context.client_id or "",
            client_host=f"/{context.peer.host}",
            may_describe=lambda topic: self._access.allows_topic(context, Operation.DESCRIBE, topic),
        )

        def operation(shard: GroupShard) -> Result[ConsumerGroupHeartbeatResponse]:
            self._check_heartbeat(context, request)
            return shard.consumer_heartbeat(request, heartbeat, context.wall_ms)

        if not request.group_id:
            error = InvalidRequest("GroupId can't be empty.")
            return Completion.of(refuse(context, request, error))
        return self._member_request(context, request, operation)

    def _check_heartbeat(self, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
        epoch = request.member_epoch
        named = context.api_version >= CLIENT_MADE_MEMBER_ID_VERSION or epoch > 0 or epoch == LEAVE_EPOCH
        problem = None
        if named and not request.member_id:
            problem = "MemberId can't be empty."
        elif request.instance_id == "":
            problem = "InstanceId can't be empty."
        elif request.rack_id == "":
            problem = "RackId can't be empty."
        elif epoch < STATIC_LEAVE_EPOCH:
            problem = "MemberEpoch is invalid."
        elif epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
            problem = "InstanceId can't be null."
        elif epoch == 0 and request.rebalance_timeout_ms == -1:
            problem = "RebalanceTimeoutMs must be provided in first request."
        elif epoch == 0 and (request.topic_partitions is None or request.topic_partitions):
            problem = "TopicPartitions must be empty when (re-)joining."
        elif epoch == 0 and request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            problem = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        if problem is not None:
            raise InvalidRequest(problem)
        assignors = self.config.group_consumer_assignors
        if request.server_assignor is not None and request.server_assignor not in assignors:
            raise UnsupportedAssignor(f"{request.server_assignor} is not one of {', '.join(assignors)}")
        for topic in request.subscribed_topic_names or ():
            if not self._access.allows_topic(context, Operation.DESCRIBE, topic):
                raise TopicAuthorizationFailed(topic)

    # The rest, each in its room

    def list_groups(self, context: RequestContext, request: ListGroupsRequest) -> Completion[ListGroupsResponse]:
        """Versions 0-5."""
        return self._listing.list_groups(context, request)

    def describe_groups(
        self, context: RequestContext, request: DescribeGroupsRequest
    ) -> Completion[DescribeGroupsResponse]:
        """Versions 0-6."""
        return self._listing.describe_groups(context, request)

    def consumer_group_describe(
        self, context: RequestContext, request: ConsumerGroupDescribeRequest
    ) -> Completion[ConsumerGroupDescribeResponse]:
        """Versions 0-1."""
        return self._listing.describe_consumer_groups(context, request)

    def delete_groups(self, context: RequestContext, request: DeleteGroupsRequest) -> Completion[DeleteGroupsResponse]:
        """Versions 0-2."""
        return self._listing.delete_groups(context, request)

    def offset_commit(self, context: RequestContext, request: OffsetCommitRequest) -> Completion[OffsetCommitResponse]:
        """Versions 2-10."""
        return self._offsets.commit(context, request)

    def offset_fetch(self, context: RequestContext, request: OffsetFetchRequest) -> Completion[OffsetFetchResponse]:
        """Versions 1-10."""
        return self._offsets.fetch(context, request)

    def offset_delete(self, context: RequestContext, request: OffsetDeleteRequest) -> Completion[OffsetDeleteResponse]:
        """Version 0."""
        return self._offsets.delete(context, request)

    def txn_offset_commit(
        self, context: RequestContext, request: TxnOffsetCommitRequest
    ) -> Completion[TxnOffsetCommitResponse]:
        """Versions 0-5."""
        return self._offsets.commit_transactional(context, request)
