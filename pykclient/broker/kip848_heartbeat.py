"""ConsumerGroupHeartbeat (KIP-848): join, keep alive, reconcile, leave; and the members' session and rebalance timers.

A heartbeat is one pass: take in what the member says, bump the group's epoch when subscriptions or topics changed,
compute the target for that epoch, and move this one member a step towards it. Everything is written as records first
(``Draft``). Runs on the node's thread; never reads a clock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

from pykclient.broker.coordinator import Result, ShardTimers
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_topics import TopicCatalog, metadata_hash
from pykclient.broker.kip848_group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    Partition,
    ResolvedRegex,
)
from pykclient.broker.kip848_records import (
    Draft,
    by_topic,
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    regex_record,
    target_epoch_record,
    target_record,
)
from pykclient.broker.reconciliation import reconcile
from pykclient.broker.target_assignment import ASSIGNORS, Subscriber
from pykclient.broker.topic_regex import TopicRegex, matching_topics
from pykclient.errors import FencedMemberEpoch, GroupMaxSizeReached, UnreleasedInstanceId
from pykclient.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeartbeatContext:
    """What a heartbeat says besides its body. ``may_describe`` hides topics from regular expressions of those who may
    not see them.
    """

    client_id: str
    client_host: str
    may_describe: Callable[[str], bool] = lambda topic: True


class Downgrade(Protocol):
    """Where a group goes when its last member of the new protocol leaves (implemented by group_migration.py)."""

    def is_due(self, group: ConsumerGroup, leaving: list[ConsumerMember]) -> bool:
        """Whether only classic members would remain, and may."""
        ...

    def downgrade(self, group: ConsumerGroup, leaving: list[ConsumerMember], wall_ms: int) -> Result[None]:
        """Turn it into a classic group and start its rebalance; the records say so."""
        ...


class ConsumerHeartbeat:
    """The KIP-848 protocol over the consumer groups of one shard."""

    def __init__(
        self,
        config: GroupConfig,
        timers: ShardTimers,
        catalog: TopicCatalog,
        find: Callable[[str], ConsumerGroup | None],
        new_id: Callable[[], str],
    ) -> None:
        self._config = config
        self._timers = timers
        self._catalog = catalog
        self._find = find
        self._new_id = new_id
        self.topics_version = 0
        """Counts the changes of topics; a group that was checked against an older count is checked again at its next
        heartbeat.
        """
        self.migration: Downgrade | None = None

    # ConsumerGroupHeartbeat

    def heartbeat(
        self,
        draft: Draft,
        request: ConsumerGroupHeartbeatRequest,
        context: HeartbeatContext,
        wall_ms: int,
    ) -> Result[ConsumerGroupHeartbeatResponse]:
        """A heartbeat that is not a leave. The draft may hold the records of a conversion already."""
        self.check_room(draft.group, request.member_id)
        member_id = request.member_id or self._new_id()
        member = self._member_for(draft, request, member_id)
        updated = replace(
            member,
            instance_id=request.instance_id if request.instance_id is not None else member.instance_id,
            rack_id=request.rack_id if request.rack_id is not None else member.rack_id,
            rebalance_timeout_ms=(
                request.rebalance_timeout_ms if request.rebalance_timeout_ms != -1 else member.rebalance_timeout_ms
            ),
            assignor=request.server_assignor if request.server_assignor is not None else member.assignor,
            topics=(
                frozenset(request.subscribed_topic_names)
                if request.subscribed_topic_names is not None
                else member.topics
            ),
            regex=request.subscribed_topic_regex if request.subscribed_topic_regex is not None else member.regex,
            client_id=context.client_id,
            client_host=context.client_host,
            classic=None,
        )
        owned = None
        if request.topic_partitions is not None:
            owned = {(topic.topic_id, index) for topic in request.topic_partitions for index in topic.partitions}
        updated = self.update_member(draft, member, updated, owned, context.may_describe, wall_ms)
        self.schedule_session(draft.group.group_id, member_id, self._config.group_consumer_session_timeout_ms)
        response = ConsumerGroupHeartbeatResponse(
            member_id=member_id,
            member_epoch=updated.epoch,
            heartbeat_interval_ms=self._config.group_consumer_heartbeat_interval_ms,
        )
        says_all = request.rebalance_timeout_ms != -1 and request.topic_partitions is not None
        says_all = says_all and (
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        )
        if request.member_epoch == JOIN_EPOCH or says_all or updated.assigned.keys() != member.assigned.keys():
            response.assignment = assignment_message(updated.assigned)
        return Result(response, draft.records, on_written=self.checked(draft))

    def checked(self, draft: Draft) -> Callable[[BaseException | None], None]:
        """For ``on_written``: remember that the group's subscriptions have been checked against the topics of now."""
        group_id, topics_checked = draft.group.group_id, draft.topics_checked

        def written(error: BaseException | None) -> None:
            group = self._find(group_id)
            if error is None and group is not None and topics_checked is not None:
                group.topics_version, group.topics_checked_ms = topics_checked

        return written

    def check_room(self, group: ConsumerGroup, member_id: str) -> None:
        """GroupMaxSizeReached for a new member of a full group."""
        if len(group.members) >= self._config.group_consumer_max_size and member_id not in group.members:
            raise GroupMaxSizeReached(f"group {group.group_id} is full")

    def _member_for(self, draft: Draft, request: ConsumerGroupHeartbeatRequest, member_id: str) -> ConsumerMember:
        group, epoch = draft.group, request.member_epoch
        owned = request.topic_partitions
        if request.instance_id is None:
            if epoch == JOIN_EPOCH:
                return group.members.get(member_id, ConsumerMember(member_id))
            member = group.member(member_id)
        elif epoch == JOIN_EPOCH:
            return self.join_static(draft, member_id, request.instance_id, classic=False)
        else:
            member = group.static_member(request.instance_id, member_id)
        pairs = None if owned is None else {(topic.topic_id, index) for topic in owned for index in topic.partitions}
        check_epoch(member, epoch, pairs)
        return member

    def join_static(self, draft: Draft, member_id: str, instance_id: str, *, classic: bool) -> ConsumerMember:
        """A static member joins: as a new one, or in place of its predecessor, whose partitions it takes over."""
        group = draft.group
        if instance_id not in group.static_members:
            return group.members.get(member_id, ConsumerMember(member_id))
        existing = group.static_member(instance_id)
        if not classic and existing.classic is None and existing.epoch != STATIC_LEAVE_EPOCH:
            raise UnreleasedInstanceId(f"{instance_id} is in use by {existing.member_id}")
        successor = replace(existing, member_id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)
        target = group.target.get(existing.member_id, frozenset())
        draft.write(
            *member_tombstones(group.group_id, existing.member_id),
            member_record(group.group_id, successor),
            target_record(group.group_id, member_id, target),
            current_record(group.group_id, successor),
        )
        if existing.member_id != member_id:
            self.cancel_timers(group.group_id, existing.member_id)
        return successor

    # The pass that a classic member of a consumer group goes through too

    def update_member(
        self,
        draft: Draft,
        member: ConsumerMember,
        updated: ConsumerMember,
        owned: AbstractSet[Partition] | None,
        may_describe: Callable[[str], bool],
        wall_ms: int,
    ) -> ConsumerMember:
        """Write what changed with this member, and what follows from it, up to its own next step. Returns the member
        after it.
        """
        group_id = draft.group.group_id
        is_new = updated.member_id not in draft.group.members
        if updated.regex and updated.regex != member.regex:
            TopicRegex(updated.regex)
        if is_new or updated != member:
            draft.write(member_record(group_id, updated))
        subscription_changed = updated.topics != member.topics or updated.regex != member.regex
        stale = self._is_stale(draft.group, wall_ms)
        bump = subscription_changed
        if stale or subscription_changed:
            bump |= self._resolve_regexes(draft, may_describe, wall_ms, all_of_them=stale)
        if bump or stale:
            self._bump_epoch(draft, force=bump)
        if stale:
            draft.topics_checked = (self.topics_version, wall_ms)
        if draft.group.epoch > draft.group.assignment_epoch and self._may_assign(draft.group, wall_ms):
            self._compute_target(draft, wall_ms)
        return self._reconcile(draft, updated.member_id, owned, subscription_changed)

    def _is_stale(self, group: ConsumerGroup, wall_ms: int) -> bool:
        """Whether topics changed since the group was checked, or, which only regular expressions notice, rights may
        have.
        """
        if group.topics_version != self.topics_version:
            return True
        refresh_ms = self._config.group_consumer_regex_refresh_interval_ms
        return bool(group.regexes) and wall_ms > group.topics_checked_ms + refresh_ms

    def _resolve_regexes(
        self, draft: Draft, may_describe: Callable[[str], bool], wall_ms: int, *, all_of_them: bool
    ) -> bool:
        """Match the regular expressions in use against the topics there are; True when a subscription changed by it."""
        group = draft.group
        used = {member.regex for member in group.members.values() if member.regex}
        changed = False
        for regex in sorted(used):
            before = group.regexes.get(regex)
            if before is not None and not all_of_them:
                continue
            topics = matching_topics(regex, self._catalog.topic_names(), may_describe)
            if before is None or before.topics != topics:
                changed = True
                resolved = ResolvedRegex(topics, self.topics_version, wall_ms)
                draft.write(regex_record(group.group_id, regex, resolved))
        for regex in sorted(group.regexes.keys() - used):
            draft.write(regex_record(group.group_id, regex, None))
            changed = True
        return changed

    def _bump_epoch(self, draft: Draft, *, force: bool) -> None:
        group = draft.group
        new_hash = metadata_hash(group.subscribed_topics(), self._catalog)
        if force or new_hash != group.metadata_hash:
            draft.write(epoch_record(group.group_id, group.epoch + 1, new_hash))

    def _may_assign(self, group: ConsumerGroup, wall_ms: int) -> bool:
        """Whether the last assignment is old enough for the next (KIP-1263); a later heartbeat asks again."""
        interval_ms = self._config.group_consumer_assignment_interval_ms
        assigned_ms = group.assignment_timestamp_ms
        return assigned_ms == 0 or interval_ms == 0 or wall_ms >= assigned_ms + interval_ms

    def _compute_target(self, draft: Draft, wall_ms: int) -> None:
        group = draft.group
        counts: dict[UUID, int] = {}
        subscribers = []
        for member in group.members.values():
            ids = set()
            for name in group.topics_of(member):
                topic = self._catalog.topic(name)
                if topic is not None:
                    counts[topic.topic_id] = topic.partition_count
                    ids.add(topic.topic_id)
            previous = group.target.get(member.member_id, frozenset())
            subscribers.append(Subscriber(member.member_id, member.instance_id, frozenset(ids), previous))
        name = group.preferred_assignor(self._config.group_consumer_assignors[0])
        target = ASSIGNORS[name](subscribers, counts)
        for member_id, partitions in target.items():
            if group.target.get(member_id) != partitions:
                draft.write(target_record(group.group_id, member_id, partitions))
        draft.write(target_epoch_record(group.group_id, group.epoch, wall_ms))
        logger.debug("group %s: target of epoch %d by %s", group.group_id, group.epoch, name)

    def _reconcile(
        self, draft: Draft, member_id: str, owned: AbstractSet[Partition] | None, subscription_changed: bool
    ) -> ConsumerMember:
        group = draft.group
        member = group.members[member_id]
        if not subscription_changed and member.is_reconciled_to(group.assignment_epoch):
            return member
        topics = (self._catalog.topic(name) for name in group.topics_of(member))
        updated = reconcile(
            member,
            target_epoch=group.assignment_epoch,
            target=group.target.get(member_id, frozenset()),
            subscribed_ids={topic.topic_id for topic in topics if topic is not None},
            owners=group.owners,
            owned=owned,
            subscription_changed=subscription_changed,
        )
        if updated == member:
            return member
        draft.write(current_record(group.group_id, updated))
        if updated.classic is None:
            if updated.state is MemberState.UNREVOKED_PARTITIONS:
                self._schedule_rebalance(group.group_id, updated)
            else:
                self._timers.cancel(("rebalance", group.group_id, member_id))
        return updated

    # Leaving and expiry

    def leave(
        self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, wall_ms: int
    ) -> Result[ConsumerGroupHeartbeatResponse]:
        """A heartbeat with epoch -1 (for good) or -2 (a static member that will be back)."""
        member = group.find(request.member_id, request.instance_id)
        response = ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        if request.instance_id is not None and request.member_epoch == STATIC_LEAVE_EPOCH:
            away = replace(
                member,
                epoch=STATIC_LEAVE_EPOCH,
                assigned=dict.fromkeys(member.assigned, 0),
                revoking={},
            )
            return Result(response, [current_record(group.group_id, away)])
        fenced = self.fence(group, [member], wall_ms)
        return Result(response, fenced.records, replay=fenced.replay, on_written=fenced.on_written)

    def fence(self, group: ConsumerGroup, members: list[ConsumerMember], wall_ms: int) -> Result[None]:
        """Take members out of the group; the others get their partitions with the next target."""
        if not members:
            return Result(None)
        if self.migration is not None and self.migration.is_due(group, members):
            for member in group.members.values():
                self.cancel_timers(group.group_id, member.member_id)
            return self.migration.downgrade(group, members, wall_ms)
        draft = Draft(group)
        for member in members:
            self.cancel_timers(group.group_id, member.member_id)
            draft.write(*member_tombstones(group.group_id, member.member_id))
        used = {member.regex for member in draft.group.members.values()}
        draft.write(*(regex_record(group.group_id, regex, None) for regex in draft.group.regexes.keys() - used))
        self._bump_epoch(draft, force=True)
        return Result(None, draft.records)

    def schedule_session(self, group_id: str, member_id: str, timeout_ms: int) -> None:
        """The member was heard of."""
        self._timers.schedule(
            ("session", group_id, member_id),
            timeout_ms / 1000,
            lambda now, wall_ms: self.fence_by_id(group_id, member_id, "its session is over", wall_ms),
        )

    def _schedule_rebalance(self, group_id: str, member: ConsumerMember) -> None:
        epoch, member_id = member.epoch, member.member_id

        def expire(now: float, wall_ms: int) -> Result[None]:
            group = self._find(group_id)
            current = group.members.get(member_id) if group is not None else None
            if current is None or current.epoch != epoch:
                return Result(None)
            return self.fence_by_id(group_id, member_id, "it did not give up its partitions in time", wall_ms)

        self._timers.schedule(("rebalance", group_id, member_id), member.rebalance_timeout_ms / 1000, expire)

    def fence_by_id(self, group_id: str, member_id: str, reason: str, wall_ms: int) -> Result[None]:
        """For timers: nothing when group or member are gone."""
        group = self._find(group_id)
        member = group.members.get(member_id) if group is not None else None
        if group is None or member is None:
            return Result(None)
        logger.info("%s is removed from group %s: %s", member_id, group_id, reason)
        return self.fence(group, [member], wall_ms)

    def cancel_timers(self, group_id: str, member_id: str) -> None:
        """All of a member's timers."""
        for kind in ("session", "rebalance", "classic-join", "classic-sync"):
            self._timers.cancel((kind, group_id, member_id))

    def on_loaded(self, group: ConsumerGroup) -> None:
        """Give every member a whole session, and those that must give up partitions a whole rebalance time-out."""
        for member in group.members.values():
            timeout_ms = self._config.group_consumer_session_timeout_ms
            if member.classic is not None:
                timeout_ms = member.classic.session_timeout_ms
            self.schedule_session(group.group_id, member.member_id, timeout_ms)
            if member.state is MemberState.UNREVOKED_PARTITIONS and member.classic is None:
                self._schedule_rebalance(group.group_id, member)

    def forget(self, group: ConsumerGroup) -> None:
        """Cancel all timers of a group."""
        for member_id in group.members:
            self.cancel_timers(group.group_id, member_id)


def check_epoch(member: ConsumerMember, epoch: int, owned: AbstractSet[Partition] | None) -> None:
    """FencedMemberEpoch unless the member is at this epoch, or has missed only the answer that told it the next."""
    if epoch == member.epoch:
        return
    missed_one = epoch == member.previous_epoch and owned is not None and owned <= member.assigned.keys()
    if epoch > member.epoch or not missed_one:
        raise FencedMemberEpoch(f"epoch {epoch}, but the member is at {member.epoch}: it must abandon its partitions")


def is_leave(epoch: int) -> bool:
    """Whether a heartbeat's epoch says goodbye."""
    return epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)


def assignment_message(partitions: Iterable[Partition]) -> Assignment:
    """As the heartbeat's answer has it."""
    topics = [
        ResponseTopicPartitions(topic_id=topic_id, partitions=indexes)
        for topic_id, indexes in by_topic(partitions).items()
    ]
    return Assignment(topic_partitions=topics)
