"""The groups of one partition of ``__consumer_offsets``: which kind each is, replay, and the requests that concern
any kind.

The classic protocol is in classic_rebalance.py, the new one in kip848_heartbeat.py, moving between them in
group_migration.py, offsets in offsets.py; this file sends each request to the right one. It fulfils ``Shard`` for the
coordinator runtime. Runs on the node's thread; never reads a clock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import UUID

from pykclient.broker import kip848_records
from pykclient.broker.classic_group import ClassicGroup, ClassicState
from pykclient.broker.classic_rebalance import ClassicRebalance, JoinContext
from pykclient.broker.coordinator import CoordinatorRecord, Position, Result, ShardTimers
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_migration import GroupMigration
from pykclient.broker.group_records import classic_group_of, decode, group_tombstone, new_group_record
from pykclient.broker.group_topics import ZERO_UUID, TopicCatalog
from pykclient.broker.kip848_group import JOIN_EPOCH, ConsumerGroup
from pykclient.broker.kip848_heartbeat import ConsumerHeartbeat, HeartbeatContext, is_leave
from pykclient.broker.kip848_records import Draft, consumer_group_tombstones
from pykclient.broker.offsets import CheckPartition, Offsets
from pykclient.errors import (
    ErrorCode,
    GroupIdNotFound,
    IllegalGeneration,
    StaleMemberEpoch,
    UnknownMemberId,
)
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from pykclient.protocol.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from pykclient.protocol.messages.consumer_group_partition_metadata_key import ConsumerGroupPartitionMetadataKey
from pykclient.protocol.messages.group_metadata_key import GroupMetadataKey
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from pykclient.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from pykclient.protocol.messages.offset_commit_key import OffsetCommitKey
from pykclient.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from pykclient.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

logger = logging.getLogger(__name__)

Group = ClassicGroup | ConsumerGroup

_EXPIRY = "offset-expiry"


class GroupShard:
    """See the module text. ``new_id`` gives random member ids."""

    def __init__(
        self, config: GroupConfig, timers: ShardTimers, catalog: TopicCatalog, new_id: Callable[[], str]
    ) -> None:
        self._config = config
        self._timers = timers
        self._catalog = catalog
        self.groups: dict[str, Group] = {}
        self.offsets = Offsets(config)
        self.classic = ClassicRebalance(config, timers, self._find_classic, new_id)
        self.consumer = ConsumerHeartbeat(config, timers, catalog, self._find_consumer, new_id)
        self.migration = GroupMigration(config, timers, catalog, self.classic, self.consumer, self._put, new_id)
        self.consumer.migration = self.migration

    # Groups

    def _find_classic(self, group_id: str) -> ClassicGroup | None:
        group = self.groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def _find_consumer(self, group_id: str) -> ConsumerGroup | None:
        group = self.groups.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def _put(self, group: Group) -> None:
        self.groups[group.group_id] = group

    def _member_group(self, group_id: str) -> Group:
        """For requests of members: who asks about a group that isn't here is a member of nothing."""
        group = self.groups.get(group_id)
        if group is None:
            raise UnknownMemberId(f"there is no group {group_id}")
        return group

    def _forget(self, group: Group) -> None:
        if isinstance(group, ClassicGroup):
            self.classic.forget(group)
        else:
            self.consumer.forget(group)

    @staticmethod
    def _tombstones(group: Group) -> list[CoordinatorRecord]:
        if isinstance(group, ClassicGroup):
            return [group_tombstone(group.group_id)]
        return consumer_group_tombstones(group)

    # The classic protocol

    def join(self, request: JoinGroupRequest, context: JoinContext, wall_ms: int) -> Result[JoinGroupResponse]:
        """JoinGroup."""
        existing = self.groups.get(request.group_id)
        if isinstance(existing, ConsumerGroup) and not existing.is_empty:
            return self.migration.join(existing, request, context, wall_ms)
        records: list[CoordinatorRecord] = []
        group = existing if isinstance(existing, ClassicGroup) else None
        if group is None:
            if request.member_id:
                raise UnknownMemberId(f"there is no group {request.group_id}")
            group = ClassicGroup(request.group_id)
            if existing is not None:
                records += self._tombstones(existing)
            self.groups[request.group_id] = group
        is_new = group is not existing
        try:
            result = self.classic.join(group, request, context, wall_ms)
        except Exception:
            if is_new:
                self._restore(request.group_id, existing)
            raise
        if not is_new:
            return result
        # A group that exists is in the log, even while its first member has only been given an id.
        records += result.records or [new_group_record(group)]
        return Result(result.reply, records, replay=False, on_written=self._undo_if_failed(result, group, existing))

    def _restore(self, group_id: str, before: Group | None) -> None:
        if before is None:
            del self.groups[group_id]
        else:
            self.groups[group_id] = before

    def _undo_if_failed(
        self, result: Result[JoinGroupResponse], group: ClassicGroup, before: Group | None
    ) -> Callable[[BaseException | None], None]:
        def written(error: BaseException | None) -> None:
            if result.on_written is not None:
                result.on_written(error)
            if error is not None and self.groups.get(group.group_id) is group:
                self.classic.forget(group)
                self.classic.fail_waiting(group, ErrorCode.COORDINATOR_NOT_AVAILABLE)
                self._restore(group.group_id, before)

        return written

    def sync(self, request: SyncGroupRequest, wall_ms: int) -> Result[SyncGroupResponse]:
        """SyncGroup."""
        group = self._member_group(request.group_id)
        if group.is_empty:
            raise UnknownMemberId(f"group {request.group_id} has no members")
        if isinstance(group, ClassicGroup):
            return self.classic.sync(group, request, wall_ms)
        return self.migration.sync(group, request)

    def heartbeat(self, request: HeartbeatRequest) -> Result[HeartbeatResponse]:
        """Heartbeat."""
        group = self._member_group(request.group_id)
        if isinstance(group, ClassicGroup):
            return self.classic.heartbeat(group, request)
        return self.migration.heartbeat(group, request)

    def leave(self, request: LeaveGroupRequest, wall_ms: int) -> Result[LeaveGroupResponse]:
        """LeaveGroup."""
        group = self._member_group(request.group_id)
        if isinstance(group, ClassicGroup):
            return self.classic.leave(group, request, wall_ms)
        return self.migration.leave(group, request, wall_ms)

    # The consumer protocol

    def consumer_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, context: HeartbeatContext, wall_ms: int
    ) -> Result[ConsumerGroupHeartbeatResponse]:
        """ConsumerGroupHeartbeat."""
        group = self.groups.get(request.group_id)
        if isinstance(group, ConsumerGroup):
            if is_leave(request.member_epoch):
                return self.consumer.leave(group, request, wall_ms)
            return self.consumer.heartbeat(Draft(group), request, context, wall_ms)
        if request.member_epoch != JOIN_EPOCH:
            raise GroupIdNotFound(f"there is no consumer group {request.group_id}")
        if group is None:
            return self.consumer.heartbeat(Draft(ConsumerGroup(request.group_id)), request, context, wall_ms)
        if group.is_empty:
            self.classic.forget(group)
            draft = Draft(ConsumerGroup(request.group_id), self._tombstones(group))
            return self.consumer.heartbeat(draft, request, context, wall_ms)
        return self._upgrade(group, request, context, wall_ms)

    def _upgrade(
        self, group: ClassicGroup, request: ConsumerGroupHeartbeatRequest, context: HeartbeatContext, wall_ms: int
    ) -> Result[ConsumerGroupHeartbeatResponse]:
        draft = self.migration.upgrade(group, wall_ms)
        try:
            result = self.consumer.heartbeat(draft, request, context, wall_ms)
        except Exception:
            self.classic.on_loaded(group, wall_ms)
            raise
        checked = result.on_written

        def written(error: BaseException | None) -> None:
            if checked is not None:
                checked(error)
            if error is not None:
                self.classic.on_loaded(group, wall_ms)

        result.on_written = written
        return result

    # Offsets

    def commit_offsets(
        self, request: OffsetCommitRequest, api_version: int, wall_ms: int
    ) -> Result[OffsetCommitResponse]:
        """OffsetCommit; topics are named."""
        group = self.groups.get(request.group_id)
        epoch = request.generation_id_or_member_epoch
        check: CheckPartition | None = None
        if group is None:
            if epoch >= 0:
                raise (
                    GroupIdNotFound(f"there is no group {request.group_id}")
                    if api_version >= 9
                    else IllegalGeneration(f"there is no group {request.group_id}")
                )
        elif isinstance(group, ClassicGroup):
            group.validate_offset_commit(
                member_id=request.member_id,
                instance_id=request.group_instance_id,
                generation=epoch,
                transactional=False,
            )
            member = group.members.get(request.member_id)
            if member is not None and group.is_in(ClassicState.STABLE, ClassicState.PREPARING_REBALANCE):
                self.classic.renew_session(group, member)
        else:
            check = self._check_commit(
                group, request.member_id, request.group_instance_id, epoch, transactional=False, api_version=api_version
            )
        records, response = self.offsets.commit(request, check, wall_ms)
        return Result(response, records)

    def commit_transactional_offsets(
        self, request: TxnOffsetCommitRequest, api_version: int, wall_ms: int
    ) -> Result[TxnOffsetCommitResponse]:
        """TxnOffsetCommit; the records are written with the producer's id."""
        group = self.groups.get(request.group_id)
        check: CheckPartition | None = None
        if group is None:
            if request.generation_id >= 0:
                raise IllegalGeneration(f"there is no group {request.group_id}")
        elif isinstance(group, ClassicGroup):
            group.validate_offset_commit(
                member_id=request.member_id,
                instance_id=request.group_instance_id,
                generation=request.generation_id,
                transactional=True,
            )
        else:
            try:
                check = self._check_commit(
                    group,
                    request.member_id,
                    request.group_instance_id,
                    request.generation_id,
                    transactional=True,
                    api_version=api_version,
                )
                records, response = self.offsets.commit_transactional(request, check, self._topic_id, wall_ms)
            except StaleMemberEpoch as error:
                # TxnOffsetCommit has no epochs of the new protocol; the producer knows this error (KIP-447).
                raise IllegalGeneration(str(error)) from error
            return Result(response, records)
        records, response = self.offsets.commit_transactional(request, check, self._topic_id, wall_ms)
        return Result(response, records)

    @staticmethod
    def _check_commit(
        group: ConsumerGroup,
        member_id: str,
        instance_id: str | None,
        epoch: int,
        *,
        transactional: bool,
        api_version: int,
    ) -> CheckPartition | None:
        member = group.validate_offset_commit(
            member_id=member_id,
            instance_id=instance_id,
            epoch=epoch,
            transactional=transactional,
            api_version=api_version,
        )
        if member is None:
            return None
        older = member

        def check(topic: str, topic_id: UUID, index: int) -> None:
            group.validate_commit_partition(older, epoch, topic, (topic_id, index))

        return check

    def _topic_id(self, name: str) -> UUID:
        topic = self._catalog.topic(name)
        return topic.topic_id if topic is not None else ZERO_UUID

    def fetch_offsets(
        self, request: OffsetFetchRequestGroup, *, require_stable: bool
    ) -> Result[OffsetFetchResponseGroup]:
        """OffsetFetch of one group. A group that doesn't exist has no offsets, which is no error."""
        group = self.groups.get(request.group_id)
        if group is None or (isinstance(group, ClassicGroup) and group.state is ClassicState.DEAD):
            return Result(self.offsets.nothing(request))
        if isinstance(group, ConsumerGroup):
            group.validate_offset_fetch(request.member_id, request.member_epoch)
        return Result(self.offsets.fetch(request, require_stable=require_stable))

    def delete_offsets(self, request: OffsetDeleteRequest) -> Result[OffsetDeleteResponse]:
        """OffsetDelete."""
        group = self.groups.get(request.group_id)
        if group is None:
            raise GroupIdNotFound(f"there is no group {request.group_id}")
        group.validate_offset_delete()
        records, response = self.offsets.delete(request, group.is_subscribed_to)
        return Result(response, records)

    # Deletion

    def delete_group(self, group_id: str) -> Result[None]:
        """DeleteGroups, for one of them."""
        group = self.groups.get(group_id)
        if group is None:
            raise GroupIdNotFound(f"there is no group {group_id}")
        group.validate_delete()
        self._forget(group)
        return Result(None, [*self.offsets.delete_all(group_id), *self._tombstones(group)])

    def delete_topics(self, names: list[str]) -> Result[None]:
        """The topics are gone: so are their offsets."""
        return Result(None, self.offsets.delete_topics(names))

    def expire_offsets(self, wall_ms: int) -> Result[None]:
        """Drop offsets past their retention, and empty groups that have none left."""
        records: list[CoordinatorRecord] = []
        for group_id, group in list(self.groups.items()):
            expired, nothing_left = self.offsets.expire(group_id, group, wall_ms)
            records += expired
            pending = isinstance(group, ClassicGroup) and bool(group.pending_joins)
            if nothing_left and group.is_empty and not pending:
                self._forget(group)
                records += self._tombstones(group)
        return Result(None, records)

    def _schedule_expiry(self) -> None:
        def expire(now: float, wall_ms: int) -> Result[None]:
            self._schedule_expiry()
            return self.expire_offsets(wall_ms)

        self._timers.schedule(_EXPIRY, self._config.offsets_retention_check_interval_ms / 1000, expire)

    # Shard

    def replay(self, record: CoordinatorRecord, position: Position) -> None:
        """Apply a record."""
        decoded = decode(record)
        if decoded is None:
            logger.info("a record of an unknown type in __consumer_offsets is left alone")
            return
        key, value = decoded
        if isinstance(key, OffsetCommitKey):
            if value is not None and key.group not in self.groups:
                self.groups[key.group] = ClassicGroup(key.group)
            self.offsets.replay(key, value, position)
        elif isinstance(key, GroupMetadataKey):
            if value is None:
                if isinstance(self.groups.get(key.group), ClassicGroup):
                    del self.groups[key.group]
            else:
                self.groups[key.group] = classic_group_of(key.group, value)
        elif not isinstance(key, ConsumerGroupPartitionMetadataKey):
            group = self._consumer_group_for_replay(key.group_id, create=value is not None)
            if group is not None:
                kip848_records.apply(group, key, value)
                if value is None and isinstance(key, ConsumerGroupMetadataKey):
                    del self.groups[key.group_id]

    def _consumer_group_for_replay(self, group_id: str, *, create: bool) -> ConsumerGroup | None:
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        # A simple group stands there only because offsets were replayed before the group's own records.
        if not create or (group is not None and not group.is_simple):
            return None
        created = ConsumerGroup(group_id)
        self.groups[group_id] = created
        return created

    def end_transaction(self, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """The marker of a transaction that may have committed offsets here."""
        self.offsets.end_transaction(producer_id, committed=committed)

    def on_loaded(self, now: float, wall_ms: int) -> None:
        """Start everybody's timers."""
        for group in self.groups.values():
            if isinstance(group, ClassicGroup):
                self.classic.on_loaded(group, wall_ms)
            else:
                self.consumer.on_loaded(group)
        self._schedule_expiry()

    def on_unloaded(self) -> None:
        """Whoever waits is told by the runtime; here the groups are only marked."""
        for group in self.groups.values():
            if isinstance(group, ClassicGroup):
                group.to(ClassicState.DEAD, group.state_since_ms or 0)
