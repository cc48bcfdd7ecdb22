"""Groups that change their protocol while they live (KIP-848): classic members inside a consumer group, and the way
there and back.

- A ConsumerGroupHeartbeat to a classic group of consumers turns it into a consumer group; its members go on with
  JoinGroup, SyncGroup and Heartbeat.
- When the last member of the new protocol leaves, the group becomes classic again and rebalances.
Runs on the node's thread; never does I/O, never reads a clock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from pykclient.broker.classic_group import ClassicGroup, ClassicMember, ClassicState
from pykclient.broker.classic_rebalance import ClassicRebalance, JoinContext, protocols_of
from pykclient.broker.consumer_protocol import (
    PROTOCOL_TYPE,
    protocol_version,
    read_assignment,
    read_subscription,
    write_assignment,
)
from pykclient.broker.coordinator import Result, ShardTimers
from pykclient.broker.group_config import GroupConfig, MigrationPolicy
from pykclient.broker.group_records import group_metadata_record, group_tombstone
from pykclient.broker.group_topics import TopicCatalog, metadata_hash
from pykclient.broker.kip848_group import ClassicPart, ConsumerGroup, ConsumerMember, MemberState, Partition
from pykclient.broker.kip848_heartbeat import ConsumerHeartbeat
from pykclient.broker.kip848_records import (
    Draft,
    by_topic,
    consumer_group_tombstones,
    current_record,
    epoch_record,
    member_record,
    target_epoch_record,
    target_record,
)
from pykclient.errors import (
    BrokerError,
    ErrorCode,
    GroupIdNotFound,
    IllegalGeneration,
    InconsistentGroupProtocol,
    ProtocolError,
    RebalanceInProgress,
    UnknownMemberId,
)
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

logger = logging.getLogger(__name__)


class GroupMigration:
    """See the module text. ``put`` replaces a group in the shard."""

    def __init__(
        self,
        config: GroupConfig,
        timers: ShardTimers,
        catalog: TopicCatalog,
        classic: ClassicRebalance,
        consumer: ConsumerHeartbeat,
        put: Callable[[ClassicGroup | ConsumerGroup], None],
        new_id: Callable[[], str],
    ) -> None:
        self._config = config
        self._timers = timers
        self._catalog = catalog
        self._classic = classic
        self._consumer = consumer
        self._put = put
        self._new_id = new_id

    # From classic to consumer

    def upgrade(self, group: ClassicGroup, wall_ms: int) -> Draft:
        """A draft that turns the classic group into a consumer group with the same members and assignment."""
        if not self._config.group_consumer_migration_policy.allows_upgrade:
            raise GroupIdNotFound(f"{group.group_id} is a classic group, and changing it is switched off")
        if not group.speaks_consumer_protocol:
            raise GroupIdNotFound(f"{group.group_id} is a classic group of something else than consumers")
        if len(group.members) > self._config.group_consumer_max_size:
            raise GroupIdNotFound(f"{group.group_id} is too large for a consumer group")
        try:
            members = [self._consumer_member(group, member) for member in group.members.values()]
        except ProtocolError as error:
            raise GroupIdNotFound(f"members of {group.group_id} can't be understood: {error}") from error
        self._classic.fail_waiting(group, ErrorCode.REBALANCE_IN_PROGRESS)
        self._classic.forget(group)
        group_id, epoch = group.group_id, group.generation
        draft = Draft(ConsumerGroup(group_id), [group_tombstone(group_id)])
        draft.write(*(member_record(group_id, member) for member in members))
        new_hash = metadata_hash(draft.group.subscribed_topics(), self._catalog)
        draft.write(epoch_record(group_id, epoch, new_hash))
        draft.write(*(target_record(group_id, member.member_id, member.assigned) for member in members))
        draft.write(target_epoch_record(group_id, epoch, 0))
        draft.write(*(current_record(group_id, member) for member in members))
        for member in members:
            assert member.classic is not None
            self._consumer.schedule_session(group_id, member.member_id, member.classic.session_timeout_ms)
        logger.info("group %s becomes a consumer group", group_id)
        return draft

    def _consumer_member(self, group: ClassicGroup, member: ClassicMember) -> ConsumerMember:
        assigned, user_data = read_assignment(member.assignment)
        if user_data:
            raise ProtocolError("its assignor keeps data of its own, which would be lost")
        metadata = member.metadata(group.protocol) or member.protocols[0][1]
        subscription = read_subscription(metadata)
        return ConsumerMember(
            member_id=member.member_id,
            instance_id=member.instance_id,
            rack_id=subscription.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            topics=frozenset(subscription.topics),
            classic=ClassicPart(member.session_timeout_ms, tuple(member.protocols)),
            epoch=group.generation,
            previous_epoch=group.generation,
            assigned=dict.fromkeys(self._ids(assigned), group.generation),
        )

    def _ids(self, topics: dict[str, list[int]]) -> list[Partition]:
        partitions: list[Partition] = []
        for name, indexes in sorted(topics.items()):
            topic = self._catalog.topic(name)
            if topic is not None:
                partitions += [(topic.topic_id, index) for index in sorted(indexes)]
        return partitions

    # From consumer to classic

    def is_due(self, group: ConsumerGroup, leaving: list[ConsumerMember]) -> bool:
        """Whether only classic members would remain, and may."""
        gone = {member.member_id for member in leaving}
        remaining = [member for member_id, member in group.members.items() if member_id not in gone]
        return (
            bool(remaining)
            and all(member.classic is not None for member in remaining)
            and self._config.group_consumer_migration_policy.allows_downgrade
            and len(remaining) <= self._config.group_max_size
        )

    def downgrade(
        self,
        group: ConsumerGroup,
        leaving: list[ConsumerMember],
        wall_ms: int,
        *,
        before: ConsumerGroup | None = None,
    ) -> Result[None]:
        """Put a classic group in the place of the consumer group, and start its rebalance.

        ``before`` is the group to return to if the records can't be written, where ``group`` is only a draft.
        """
        gone = {member.member_id for member in leaving}
        classic = ClassicGroup(
            group.group_id,
            state=ClassicState.STABLE,
            generation=group.epoch,
            protocol_type=PROTOCOL_TYPE,
            state_since_ms=wall_ms,
        )
        for member in group.members.values():
            if member.member_id not in gone:
                classic.add(self._classic_member(group, member))
        classic.protocol = classic.select_protocol()
        classic.subscribed = classic.compute_subscribed()
        records = [*consumer_group_tombstones(group), group_metadata_record(classic)]
        self._put(classic)
        for classic_member in classic.members.values():
            self._classic.renew_session(classic, classic_member)
        self._classic.prepare(classic, "the last member of the consumer protocol left", wall_ms)
        logger.info("group %s becomes a classic group", group.group_id)

        def written(error: BaseException | None) -> None:
            if error is not None:
                self._classic.forget(classic)
                self._put(before or group)
                self._consumer.on_loaded(before or group)

        return Result(None, records, replay=False, on_written=written)

    def _classic_member(self, group: ConsumerGroup, member: ConsumerMember) -> ClassicMember:
        assert member.classic is not None
        version = protocol_version(member.classic.protocols[0][1])
        return ClassicMember(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            session_timeout_ms=member.classic.session_timeout_ms,
            protocol_type=PROTOCOL_TYPE,
            protocols=list(member.classic.protocols),
            assignment=self._assignment(group.target.get(member.member_id, frozenset()), version),
        )

    def _assignment(self, partitions: Iterable[Partition], version: int) -> bytes:
        topics = {}
        for topic_id, indexes in by_topic(partitions).items():
            topic = self._catalog.topic_by_id(topic_id)
            if topic is not None:
                topics[topic.name] = indexes
        return write_assignment(topics, version)

    # The classic protocol, spoken to a consumer group

    def join(
        self, group: ConsumerGroup, request: JoinGroupRequest, context: JoinContext, wall_ms: int
    ) -> Result[JoinGroupResponse]:
        """A classic member joins a consumer group: reconciled like any other, with its epoch as the generation."""
        if self._config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
            raise InconsistentGroupProtocol(f"{group.group_id} is a consumer group")
        member_id = request.member_id or self._new_id()
        self._consumer.check_room(group, member_id)
        protocols = protocols_of(request)
        if not self._supports(group, request.protocol_type, protocols):
            raise InconsistentGroupProtocol(f"no protocol in common with group {group.group_id}")
        if not request.member_id and request.group_instance_id is None and context.requires_known_member_id:
            return Result(JoinGroupResponse(member_id=member_id, error_code=ErrorCode.MEMBER_ID_REQUIRED))
        draft = Draft(group)
        member = self._joining_member(draft, request, member_id)
        try:
            subscription = read_subscription(protocols[0][1])
        except ProtocolError as error:
            raise InconsistentGroupProtocol(f"a subscription that makes no sense: {error}") from error
        updated = replace(
            member,
            instance_id=request.group_instance_id if request.group_instance_id is not None else member.instance_id,
            rack_id=subscription.rack_id or member.rack_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=frozenset(subscription.topics),
            regex="",
            client_id=context.client_id,
            client_host=context.client_host,
            classic=ClassicPart(request.session_timeout_ms, tuple(protocols)),
        )
        owned = set(self._ids({topic.topic: list(topic.partitions) for topic in subscription.owned_partitions}))
        updated = self._consumer.update_member(draft, member, updated, owned, lambda topic: True, wall_ms)
        response = JoinGroupResponse(
            member_id=member_id,
            generation_id=updated.epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=protocols[0][0],
        )
        if self.is_due(draft.group, []):
            # The member took the place of the last one that spoke the new protocol.
            classic = self.downgrade(draft.group, [], wall_ms, before=group)
            self._consumer.forget(group)
            records = [*draft.records, *classic.records]
            return Result(response, records, replay=False, on_written=classic.on_written)
        checked = self._consumer.checked(draft)

        def written(error: BaseException | None) -> None:
            checked(error)
            if error is None:
                self._timers.cancel(("classic-join", group.group_id, member_id))
                self._consumer.schedule_session(group.group_id, member_id, request.session_timeout_ms)
                reason = "no SyncGroup came after its JoinGroup"
                self._schedule_fence("classic-sync", group.group_id, member_id, request.rebalance_timeout_ms, reason)

        return Result(response, draft.records, on_written=written)

    def _joining_member(self, draft: Draft, request: JoinGroupRequest, member_id: str) -> ConsumerMember:
        if request.group_instance_id is None:
            return draft.group.members.get(member_id, ConsumerMember(member_id))
        if request.member_id:
            return draft.group.static_member(request.group_instance_id, member_id)
        return self._consumer.join_static(draft, member_id, request.group_instance_id, classic=True)

    @staticmethod
    def _supports(group: ConsumerGroup, protocol_type: str, protocols: list[tuple[str, bytes]]) -> bool:
        if protocol_type != PROTOCOL_TYPE or not protocols:
            return False
        offered = {name for name, _ in protocols}
        for member in group.classic_members:
            assert member.classic is not None
            offered &= {name for name, _ in member.classic.protocols}
        return bool(offered)

    def _schedule_fence(self, kind: str, group_id: str, member_id: str, timeout_ms: int, reason: str) -> None:
        self._timers.schedule(
            (kind, group_id, member_id),
            timeout_ms / 1000,
            lambda now, wall_ms: self._consumer.fence_by_id(group_id, member_id, reason, wall_ms),
        )

    def _expect_join(self, group_id: str, member: ConsumerMember) -> None:
        if not self._timers.scheduled(("classic-join", group_id, member.member_id)):
            reason = "it did not join again in time"
            self._schedule_fence("classic-join", group_id, member.member_id, member.rebalance_timeout_ms, reason)

    @staticmethod
    def _classic_part(member: ConsumerMember, generation: int) -> ClassicPart:
        if member.classic is None:
            raise UnknownMemberId(f"{member.member_id} doesn't use the classic protocol")
        if member.epoch != generation:
            raise IllegalGeneration(f"generation {generation}, but the member is at {member.epoch}")
        return member.classic

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest) -> Result[SyncGroupResponse]:
        """The member fetches what its last JoinGroup got it."""
        member = group.find(request.member_id, request.group_instance_id)
        part = self._classic_part(member, request.generation_id)
        protocol = part.protocols[0][0]
        if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (None, protocol):
            raise InconsistentGroupProtocol(f"the member joined with {PROTOCOL_TYPE}/{protocol}")
        if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._expect_join(group.group_id, member)
            raise RebalanceInProgress("there is a newer assignment")
        self._timers.cancel(("classic-sync", group.group_id, member.member_id))
        self._consumer.schedule_session(group.group_id, member.member_id, part.session_timeout_ms)
        response = SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=self._assignment(member.assigned, protocol_version(part.protocols[0][1])),
        )
        return Result(response)

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> Result[HeartbeatResponse]:
        """The member lives; it is told to join again when there is a step to take."""
        member = group.find(request.member_id, request.group_instance_id)
        part = self._classic_part(member, request.generation_id)
        self._consumer.schedule_session(group.group_id, member.member_id, part.session_timeout_ms)
        may_receive = member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)
        must_give_up = member.state is MemberState.UNREVOKED_PARTITIONS
        if member.epoch < group.assignment_epoch or must_give_up or may_receive:
            self._expect_join(group.group_id, member)
            return Result(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        return Result(HeartbeatResponse())

    def leave(self, group: ConsumerGroup, request: LeaveGroupRequest, wall_ms: int) -> Result[LeaveGroupResponse]:
        """LeaveGroup to a consumer group; an operator may remove members of either protocol so."""
        leaving: dict[str, ConsumerMember] = {}
        responses = []
        for identity in request.members:
            answer = MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id)
            try:
                if identity.group_instance_id is None:
                    member = group.member(identity.member_id)
                else:
                    member = group.static_member(identity.group_instance_id, identity.member_id or None)
                leaving[member.member_id] = member
            except BrokerError as error:
                answer.error_code = int(error.code)
            responses.append(answer)
        fenced = self._consumer.fence(group, list(leaving.values()), wall_ms)
        response = LeaveGroupResponse(members=responses)
        return Result(response, fenced.records, replay=fenced.replay, on_written=fenced.on_written)
