"""What happens to a classic group on JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and when its timers expire.

One rebalance: EMPTY or STABLE -> PREPARING_REBALANCE (members join, their requests are held) -> COMPLETING_REBALANCE
(answered; the leader computes) -> STABLE (the leader's assignment is committed to the log, and everybody's SyncGroup
is answered). Each entry returns a ``Result``; state is changed here directly and the record only makes it durable
(``replay=False``), since half of it (who waits in which request) can't be in a record. Runs on the node's thread;
never does I/O, never reads a clock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from pykclient.broker.classic_group import ClassicGroup, ClassicMember, ClassicState
from pykclient.broker.coordinator import Result, ShardTimers
from pykclient.broker.group_config import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupConfig
from pykclient.broker.group_records import group_metadata_record
from pykclient.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    ErrorCode,
    GroupMaxSizeReached,
    IllegalGeneration,
    InconsistentGroupProtocol,
    RebalanceInProgress,
    UnknownMemberId,
)
from pykclient.net.completion import Completion
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from pykclient.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

logger = logging.getLogger(__name__)

REASON_LENGTH_MAX = 255
STABLE, EMPTY, DEAD = ClassicState.STABLE, ClassicState.EMPTY, ClassicState.DEAD
PREPARING, COMPLETING = ClassicState.PREPARING_REBALANCE, ClassicState.COMPLETING_REBALANCE

NOTHING: Result[None] = Result(None, replay=False)


@dataclass(frozen=True, slots=True)
class JoinContext:
    """What a JoinGroup says besides its body."""

    client_id: str
    client_host: str
    requires_known_member_id: bool
    """KIP-394 (v4+): a new dynamic member is first given an id, and joins with it."""
    supports_skip_assignment: bool
    """KIP-814 (v9+): the static leader that comes back may be told to keep the assignment."""


def reason_of(text: str | None) -> str:
    """A client's reason as it may stand in a log line: bounded, without line breaks."""
    return repr(text[:REASON_LENGTH_MAX]) if text else "not provided"


def protocols_of(request: JoinGroupRequest) -> list[tuple[str, bytes]]:
    """The request's protocols as we keep them."""
    return [(protocol.name, bytes(protocol.metadata)) for protocol in request.protocols]


class ClassicRebalance:
    """The classic protocol over the groups of one shard. ``groups`` finds a classic group by id, or gives None."""

    def __init__(
        self,
        config: GroupConfig,
        timers: ShardTimers,
        find: Callable[[str], ClassicGroup | None],
        new_id: Callable[[], str],
    ) -> None:
        self._config = config
        self._timers = timers
        self._find = find
        self._new_id = new_id

    # JoinGroup

    def join(
        self, group: ClassicGroup, request: JoinGroupRequest, context: JoinContext, wall_ms: int
    ) -> Result[JoinGroupResponse]:
        """Let a member in, or tell it why not. The reply is held until the generation is formed."""
        member_id = request.member_id
        protocols = protocols_of(request)
        if not self._has_room(group, member_id):
            group.remove(member_id)
            raise GroupMaxSizeReached(f"group {group.group_id} is full")
        if group.state is DEAD:
            raise CoordinatorNotAvailable(f"group {group.group_id} is gone")
        if not group.supports(request.protocol_type, protocols):
            raise InconsistentGroupProtocol(f"no protocol in common with group {group.group_id}")
        reply: Completion[JoinGroupResponse] = Completion()
        if not member_id:
            done = self._join_new(group, request, context, reply, wall_ms)
        elif member_id in group.pending_joins:
            done = self._add_member(group, request, context, member_id, reply, wall_ms)
        else:
            done = self._join_known(group, request, reply, wall_ms)
        return Result(reply, done.records, replay=False, on_written=done.on_written)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        size_max = self._config.group_max_size
        if group.state is PREPARING:
            member = group.members.get(member_id)
            return (member is not None and member.awaiting_join is not None) or group.awaiting_join_count < size_max
        if group.state in (COMPLETING, STABLE):
            return member_id in group.members or len(group.members) < size_max
        return True

    def _join_new(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        context: JoinContext,
        reply: Completion[JoinGroupResponse],
        wall_ms: int,
    ) -> Result[None]:
        instance_id = request.group_instance_id
        if instance_id is not None:
            new_id = f"{instance_id}-{self._new_id()}"
            old_id = group.static_members.get(instance_id)
            if old_id is not None:
                return self._replace_static(group, request, context, old_id, new_id, reply, wall_ms)
            return self._add_member(group, request, context, new_id, reply, wall_ms)
        new_id = f"{context.client_id}-{self._new_id()}"
        if not context.requires_known_member_id:
            return self._add_member(group, request, context, new_id, reply, wall_ms)
        group.pending_joins.add(new_id)
        self._schedule_session(group, new_id, request.session_timeout_ms)
        reply.succeed(JoinGroupResponse(member_id=new_id, error_code=ErrorCode.MEMBER_ID_REQUIRED))
        return NOTHING

    def _join_known(
        self, group: ClassicGroup, request: JoinGroupRequest, reply: Completion[JoinGroupResponse], wall_ms: int
    ) -> Result[None]:
        member = group.validate_member(request.member_id, request.group_instance_id)
        if group.state is EMPTY:
            raise UnknownMemberId(f"group {group.group_id} has no members")
        unchanged = member.protocols == protocols_of(request)
        # A retry whose first answer was lost gets the same answer. The leader re-joins a stable group to ask for a
        # rebalance (its metadata changed), so its join is never taken for a retry there.
        is_retry = unchanged and (
            group.state is COMPLETING or (group.state is STABLE and group.leader != member.member_id)
        )
        if is_retry:
            response = group.joined_response(member.member_id)
            reply.succeed(response)
            return NOTHING
        self._update_member(member, request, reply)
        reason = f"{member.member_id} joined again; client reason: {reason_of(request.reason)}"
        return self._prepare_or_complete(group, reason, wall_ms)

    def _add_member(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        context: JoinContext,
        member_id: str,
        reply: Completion[JoinGroupResponse],
        wall_ms: int,
    ) -> Result[None]:
        member = ClassicMember(
            member_id=member_id,
            instance_id=request.group_instance_id,
            client_id=context.client_id,
            client_host=context.client_host,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=protocols_of(request),
            awaiting_join=reply,
            is_new=True,
        )
        if member.instance_id is not None and member.instance_id in group.static_members:
            raise UnknownMemberId(f"{member.instance_id} belongs to another member id")
        if group.state is PREPARING and group.previous_state is EMPTY:
            group.new_member_added = True
        group.add(member)
        self._schedule_session(group, member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
        reason = f"{member_id} joined; client reason: {reason_of(request.reason)}"
        return self._prepare_or_complete(group, reason, wall_ms)

    @staticmethod
    def _update_member(member: ClassicMember, request: JoinGroupRequest, reply: Completion[JoinGroupResponse]) -> None:
        member.protocols = protocols_of(request)
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
        member.session_timeout_ms = request.session_timeout_ms
        # The older request of a member that asks twice is answered, so that nothing waits for ever.
        ClassicGroup.complete_join(
            member, JoinGroupResponse(member_id=member.member_id, error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        )
        member.awaiting_join = reply

    def _replace_static(
        self,
        group: ClassicGroup,
        request: JoinGroupRequest,
        context: JoinContext,
        old_id: str,
        new_id: str,
        reply: Completion[JoinGroupResponse],
        wall_ms: int,
    ) -> Result[None]:
        """A static member came back without its id: it takes over, without a rebalance where nothing else changed
        (KIP-345).
        """
        assert request.group_instance_id is not None
        leader_before = group.leader
        member = group.replace_static(request.group_instance_id, old_id, new_id)
        self._timers.cancel(("session", group.group_id, old_id))
        before = (member.protocols, member.rebalance_timeout_ms, member.session_timeout_ms)
        self._update_member(member, request, reply)
        member.client_id, member.client_host = context.client_id, context.client_host
        self._schedule_session(group, new_id, member.session_timeout_ms)
        reason = f"static member {request.group_instance_id} came back; client reason: {reason_of(request.reason)}"
        if group.state is COMPLETING:
            return self._prepare(group, reason, wall_ms)
        if group.state is not STABLE:
            return self._maybe_complete_join(group, wall_ms)
        if group.select_protocol() != group.protocol:
            return self._prepare_or_complete(group, reason, wall_ms)

        def written(error: BaseException | None) -> None:
            if member.awaiting_join is not reply:
                return
            if error is not None:
                member.awaiting_join = None
                member.protocols, member.rebalance_timeout_ms, member.session_timeout_ms = before
                assert member.instance_id is not None
                restored = group.replace_static(member.instance_id, new_id, old_id)
                self._schedule_session(group, old_id, restored.session_timeout_ms)
                return
            if context.supports_skip_assignment:
                response = group.joined_response(new_id, skip_assignment=group.leader == new_id)
            else:
                # An old client would take itself for a leader that must assign; it is shown the leader it knew.
                response = group.joined_response(new_id)
                response.leader, response.members = leader_before or "", []
            group.complete_join(member, response)

        return Result(None, [group_metadata_record(group)], replay=False, on_written=written)

    # The rebalance

    def _prepare_or_complete(self, group: ClassicGroup, reason: str, wall_ms: int) -> Result[None]:
        if group.state in (STABLE, COMPLETING, EMPTY):
            return self._prepare(group, reason, wall_ms)
        return self._maybe_complete_join(group, wall_ms)

    def prepare(self, group: ClassicGroup, reason: str, wall_ms: int) -> Result[None]:
        """Start a rebalance for a reason outside the protocol (a group became classic, or is too large)."""
        return self._prepare(group, reason, wall_ms)

    def _prepare(self, group: ClassicGroup, reason: str, wall_ms: int) -> Result[None]:
        if group.state is COMPLETING:
            self._reset_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_syncs.clear()
        self._timers.cancel(("sync", group.group_id))
        initial = group.state is EMPTY
        group.to(PREPARING, wall_ms)
        logger.info("group %s generation %d rebalances: %s", group.group_id, group.generation, reason)
        if initial:
            delay_ms = self._config.group_initial_rebalance_delay_ms
            left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            group.new_member_added = False
            if delay_ms <= 0:
                return self._complete_join_phase(group, wall_ms)
            self._schedule_initial(group, delay_ms, left_ms)
            return NOTHING
        if group.all_members_joined:
            return self._complete_join_phase(group, wall_ms)
        return self._wait(group)

    def _wait(self, group: ClassicGroup) -> Result[None]:
        group_id = group.group_id
        self._timers.schedule(
            ("join", group_id),
            group.rebalance_timeout_ms / 1000,
            lambda now, wall_ms: self._expire_join(group_id, wall_ms),
        )
        return NOTHING

    def _schedule_initial(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        group_id = group.group_id

        def expire(now: float, wall_ms: int) -> Result[None]:
            found = self._find(group_id)
            if found is None or found.state is not PREPARING:
                return NOTHING
            if found.new_member_added and left_ms > 0:
                # More members keep coming: wait again, as long as the rebalance time-out of the first allows.
                found.new_member_added = False
                again_ms = min(self._config.group_initial_rebalance_delay_ms, left_ms)
                self._schedule_initial(found, again_ms, max(left_ms - delay_ms, 0))
                return NOTHING
            return self._complete_join_phase(found, wall_ms)

        self._timers.schedule(("join", group_id), delay_ms / 1000, expire)

    def _maybe_complete_join(self, group: ClassicGroup, wall_ms: int) -> Result[None]:
        # During the initial delay only its timer ends the phase, even when all known members are there.
        initial = group.previous_state is EMPTY and self._config.group_initial_rebalance_delay_ms > 0
        if group.state is not PREPARING or initial or not group.all_members_joined:
            return NOTHING
        return self._complete_join_phase(group, wall_ms)

    def _expire_join(self, group_id: str, wall_ms: int) -> Result[None]:
        group = self._find(group_id)
        if group is None or group.state is not PREPARING:
            return NOTHING
        return self._complete_join_phase(group, wall_ms)

    def _complete_join_phase(self, group: ClassicGroup, wall_ms: int) -> Result[None]:
        """Form the generation out of those who joined; dynamic members that didn't are out, static ones keep their
        place.
        """
        self._timers.cancel(("join", group.group_id))
        for member in list(group.members.values()):
            if member.awaiting_join is None and member.instance_id is None:
                group.remove(member.member_id)
                self._timers.cancel(("session", group.group_id, member.member_id))
        if group.members and not group.elect_joined_leader():
            return self._wait(group)
        group.next_generation(wall_ms)
        if group.state is EMPTY:
            logger.info("group %s generation %d is empty", group.group_id, group.generation)
            return Result(None, [group_metadata_record(group)], replay=False)
        for member in group.members.values():
            member.is_new = False
            group.pending_syncs.add(member.member_id)
            group.complete_join(member, group.joined_response(member.member_id))
            self._schedule_session(group, member.member_id, member.session_timeout_ms)
        group_id, generation = group.group_id, group.generation
        self._timers.schedule(
            ("sync", group_id),
            group.rebalance_timeout_ms / 1000,
            lambda now, wall_ms: self._expire_sync(group_id, generation, wall_ms),
        )
        return NOTHING

    def _expire_sync(self, group_id: str, generation: int, wall_ms: int) -> Result[None]:
        group = self._find(group_id)
        if group is None or group.generation != generation or group.state not in (COMPLETING, STABLE):
            return NOTHING
        late = sorted(group.pending_syncs)
        if not late:
            return NOTHING
        for member_id in late:
            group.remove(member_id)
            self._timers.cancel(("session", group_id, member_id))
        return self._prepare(group, f"no SyncGroup from {', '.join(late)}", wall_ms)

    # SyncGroup

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, wall_ms: int) -> Result[SyncGroupResponse]:
        """Take the leader's assignment, or hold a follower until it is there."""
        if group.state is DEAD:
            raise CoordinatorNotAvailable(f"group {group.group_id} is gone")
        member = group.validate_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise IllegalGeneration(f"generation {request.generation_id}, but the group is at {group.generation}")
        if request.protocol_type not in (None, group.protocol_type) or request.protocol_name not in (
            None,
            group.protocol,
        ):
            raise InconsistentGroupProtocol(f"group {group.group_id} uses {group.protocol_type}/{group.protocol}")
        if group.state is PREPARING:
            raise RebalanceInProgress(f"group {group.group_id} is rebalancing")
        group.pending_syncs.discard(member.member_id)
        if not group.pending_syncs:
            self._timers.cancel(("sync", group.group_id))
        if group.state is STABLE:
            return Result(self._synced_response(group, member), replay=False)
        reply: Completion[SyncGroupResponse] = Completion()
        group.complete_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        member.awaiting_sync = reply
        if member.member_id != group.leader:
            return Result(reply, replay=False)
        return self._assign(group, request, reply, wall_ms)

    def _assign(
        self,
        group: ClassicGroup,
        request: SyncGroupRequest,
        reply: Completion[SyncGroupResponse],
        wall_ms: int,
    ) -> Result[SyncGroupResponse]:
        given = {assignment.member_id: bytes(assignment.assignment) for assignment in request.assignments}
        assignments = {member_id: given.get(member_id, b"") for member_id in group.members}

        def written(error: BaseException | None) -> None:
            # Meanwhile another member may have come or gone, and that started the next rebalance.
            if group.state is not COMPLETING or group.generation != request.generation_id:
                return
            if error is not None:
                code = error.code if isinstance(error, BrokerError) else ErrorCode.UNKNOWN_SERVER_ERROR
                self._reset_assignment(group, int(code))
                self._prepare(group, "the assignment could not be written", wall_ms)
                return
            for member in group.members.values():
                member.assignment = assignments.get(member.member_id, b"")
            group.to(STABLE, wall_ms)
            self._propagate(group, ErrorCode.NONE)

        record = group_metadata_record(group, assignments)
        return Result(reply, [record], replay=False, on_written=written)

    def _reset_assignment(self, group: ClassicGroup, error_code: int) -> None:
        for member in group.members.values():
            member.assignment = b""
        self._propagate(group, error_code)

    def _propagate(self, group: ClassicGroup, error_code: int) -> None:
        for member in list(group.members.values()):
            response = SyncGroupResponse(error_code=error_code) if error_code else self._synced_response(group, member)
            if group.complete_sync(member, response):
                self._schedule_session(group, member.member_id, member.session_timeout_ms)

    @staticmethod
    def _synced_response(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
        return SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
        )

    # Heartbeat and LeaveGroup

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest) -> Result[HeartbeatResponse]:
        """The member lives; during a rebalance it is told to join again."""
        if group.state is DEAD:
            raise CoordinatorNotAvailable(f"group {group.group_id} is gone")
        member = group.validate_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise IllegalGeneration(f"generation {request.generation_id}, but the group is at {group.generation}")
        if group.state is EMPTY:
            raise UnknownMemberId(f"group {group.group_id} has no members")
        self.renew_session(group, member)
        code = ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE
        return Result(HeartbeatResponse(error_code=code), replay=False)

    def leave(self, group: ClassicGroup, request: LeaveGroupRequest, wall_ms: int) -> Result[LeaveGroupResponse]:
        """Remove the members named; each gets its own answer."""
        if group.state is DEAD:
            raise CoordinatorNotAvailable(f"group {group.group_id} is gone")
        responses = [self._leave_one(group, identity) for identity in request.members]
        done = NOTHING
        left = [response.member_id for response in responses if not response.error_code]
        if left:
            if group.state in (STABLE, COMPLETING):
                done = self._prepare_or_complete(group, f"{', '.join(left)} left", wall_ms)
            elif group.state is PREPARING:
                done = self._maybe_complete_join(group, wall_ms)
        response = LeaveGroupResponse(members=responses)
        return Result(response, done.records, replay=False, on_written=done.on_written)

    def _leave_one(self, group: ClassicGroup, identity: MemberIdentity) -> MemberResponse:
        response = MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id)
        if not identity.member_id and identity.group_instance_id is not None:
            # An operator removes a static member by its instance id alone (KIP-345).
            member_id = group.static_members.get(identity.group_instance_id, "")
        else:
            member_id = identity.member_id
        if member_id in group.pending_joins:
            group.remove(member_id)
            self._timers.cancel(("session", group.group_id, member_id))
            return response
        try:
            member = group.validate_member(member_id, identity.group_instance_id)
        except BrokerError as error:
            response.error_code = int(error.code)
            return response
        logger.info("%s leaves group %s: %s", member_id, group.group_id, reason_of(identity.reason))
        self._timers.cancel(("session", group.group_id, member_id))
        self._drop(group, member)
        return response

    @staticmethod
    def _drop(group: ClassicGroup, member: ClassicMember) -> None:
        group.complete_join(member, JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        group.complete_sync(member, SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)

    # Sessions

    def renew_session(self, group: ClassicGroup, member: ClassicMember) -> None:
        """The member was heard of."""
        self._schedule_session(group, member.member_id, member.session_timeout_ms)

    def _schedule_session(self, group: ClassicGroup, member_id: str, timeout_ms: int) -> None:
        group_id = group.group_id
        self._timers.schedule(
            ("session", group_id, member_id),
            timeout_ms / 1000,
            lambda now, wall_ms: self._expire_session(group_id, member_id, wall_ms),
        )

    def _expire_session(self, group_id: str, member_id: str, wall_ms: int) -> Result[None]:
        group = self._find(group_id)
        if group is None or group.state is DEAD:
            return NOTHING
        if member_id in group.pending_joins:
            group.remove(member_id)
        else:
            member = group.members.get(member_id)
            if member is None or member.satisfies_heartbeat:
                return NOTHING
            logger.info("the session of %s in group %s is over", member_id, group_id)
            self._drop(group, member)
            if group.state in (STABLE, COMPLETING):
                return self._prepare_or_complete(group, f"the session of {member_id} is over", wall_ms)
        if group.state is PREPARING and group.all_members_joined:
            return self._complete_join_phase(group, wall_ms)
        return NOTHING

    # The life of the shard

    def on_loaded(self, group: ClassicGroup, wall_ms: int) -> None:
        """Give every member a whole session: nobody could have sent heartbeats while the group was being loaded."""
        for member in group.members.values():
            self.renew_session(group, member)
        if len(group.members) > self._config.group_max_size:
            self._prepare(group, "the group is larger than group.max.size", wall_ms)

    def forget(self, group: ClassicGroup) -> None:
        """Cancel all timers of a group that is deleted or changes its type."""
        self._timers.cancel(("join", group.group_id))
        self._timers.cancel(("sync", group.group_id))
        for member_id in (*group.members, *group.pending_joins):
            self._timers.cancel(("session", group.group_id, member_id))

    def fail_waiting(self, group: ClassicGroup, code: int) -> None:
        """Answer every request we hold for the group with an error."""
        for member in list(group.members.values()):
            group.complete_join(member, JoinGroupResponse(member_id=member.member_id, error_code=code))
            group.complete_sync(member, SyncGroupResponse(error_code=code))
