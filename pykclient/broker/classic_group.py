"""A classic group: its members, its state, the generation and the protocol they agreed on (KIP-62, KIP-345, KIP-394).

Holds the data and the questions one may ask of it; what happens on JoinGroup, SyncGroup, Heartbeat and LeaveGroup is in
classic_rebalance.py. Owned by the shard of the group's partition; never does I/O, never reads a clock.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from pykclient.broker.consumer_protocol import PROTOCOL_TYPE, subscribed_topics
from pykclient.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    ErrorCode,
    FencedInstanceId,
    GroupIdNotFound,
    IllegalGeneration,
    NonEmptyGroup,
    ProtocolError,
    RebalanceInProgress,
    UnknownMemberId,
)
from pykclient.net.completion import Completion
from pykclient.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from pykclient.protocol.messages.sync_group import SyncGroupResponse


class ClassicState(enum.Enum):
    """Where a classic group stands; the values are the names Kafka shows."""

    EMPTY = "Empty"
    """No members; offsets may remain."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """Waiting for the members to (re)join."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """A generation exists; waiting for the leader's assignment."""
    STABLE = "Stable"
    DEAD = "Dead"
    """Deleted, or this broker coordinates it no longer."""


LEGAL: dict[ClassicState, frozenset[ClassicState]] = {
    ClassicState.EMPTY: frozenset({ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}),
    ClassicState.PREPARING_REBALANCE: frozenset(
        {ClassicState.COMPLETING_REBALANCE, ClassicState.EMPTY, ClassicState.DEAD}
    ),
    ClassicState.COMPLETING_REBALANCE: frozenset(
        {ClassicState.STABLE, ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}
    ),
    ClassicState.STABLE: frozenset({ClassicState.PREPARING_REBALANCE, ClassicState.DEAD}),
    ClassicState.DEAD: frozenset({ClassicState.DEAD}),
}


@dataclass(slots=True)
class ClassicMember:
    """One member. ``protocols`` are (name, metadata) in the order the member prefers them."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: list[tuple[str, bytes]]
    assignment: bytes = b""
    awaiting_join: Completion[JoinGroupResponse] | None = None
    awaiting_sync: Completion[SyncGroupResponse] | None = None
    is_new: bool = False
    """Joined for the first time and not answered yet: such a member can expire although its JoinGroup waits."""

    def metadata(self, protocol: str | None) -> bytes:
        """What it sent for a protocol."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    @property
    def satisfies_heartbeat(self) -> bool:
        """A member whose request we are holding cannot send heartbeats, so it owes none."""
        return not self.is_new and (self.awaiting_join is not None or self.awaiting_sync is not None)


@dataclass(slots=True)
class ClassicGroup:
    """See the module text. Members stand in the order they joined."""

    group_id: str
    state: ClassicState = ClassicState.EMPTY
    previous_state: ClassicState = ClassicState.DEAD
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    state_since_ms: int | None = None
    """When it entered its state, on the wall clock; offsets of an empty group expire counted from here."""
    members: dict[str, ClassicMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending_joins: set[str] = field(default_factory=set)
    """Member ids given out with MEMBER_ID_REQUIRED and not used yet."""
    pending_syncs: set[str] = field(default_factory=set)
    new_member_added: bool = False
    """Somebody came during the initial rebalance delay, so it is worth waiting once more."""
    subscribed: frozenset[str] | None = None
    """Topics of the current generation; None when the members don't speak the consumer protocol, or unreadably."""

    # States

    def to(self, state: ClassicState, wall_ms: int) -> None:
        """Every change of state goes through here."""
        assert state in LEGAL[self.state], f"group {self.group_id}: {self.state.name} -> {state.name}"
        self.previous_state, self.state = self.state, state
        self.state_since_ms = wall_ms

    def is_in(self, *states: ClassicState) -> bool:
        """Whether it is in one of the states."""
        return self.state in states

    @property
    def state_name(self) -> str:
        """As ListGroups shows it."""
        return self.state.value

    @property
    def is_empty(self) -> bool:
        """No members (offsets may remain)."""
        return self.state is ClassicState.EMPTY

    @property
    def is_simple(self) -> bool:
        """Only ever used to store offsets; it has no members to protect."""
        return self.protocol_type is None and self.is_empty and not self.pending_joins

    @property
    def speaks_consumer_protocol(self) -> bool:
        """Whether the members are consumers (and not Connect workers, say)."""
        return self.protocol_type == PROTOCOL_TYPE

    # Members

    def add(self, member: ClassicMember) -> None:
        """Add a member; the first one leads until the next generation is formed."""
        if member.instance_id is not None:
            assert member.instance_id not in self.static_members, "a static member is replaced, not added twice"
            self.static_members[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self.pending_joins.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Forget a member, known or pending. Another one leads if it led."""
        member = self.members.pop(member_id, None)
        if member is not None and member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_joins.discard(member_id)
        self.pending_syncs.discard(member_id)

    def replace_static(self, instance_id: str, old_id: str, new_id: str) -> ClassicMember:
        """Give a static member a new id; whoever still waits under the old one is fenced."""
        old = self.members.pop(old_id)
        self.complete_join(old, JoinGroupResponse(member_id=old_id, error_code=ErrorCode.FENCED_INSTANCE_ID))
        self.complete_sync(old, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))
        new = ClassicMember(
            member_id=new_id,
            instance_id=old.instance_id,
            client_id=old.client_id,
            client_host=old.client_host,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            session_timeout_ms=old.session_timeout_ms,
            protocol_type=old.protocol_type,
            protocols=old.protocols,
            assignment=old.assignment,
        )
        self.members[new_id] = new
        if old_id in self.pending_syncs:
            self.pending_syncs.discard(old_id)
        if self.leader == old_id:
            self.leader = new_id
        self.static_members[instance_id] = new_id
        return new

    def validate_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """The member, or UnknownMemberId, or FencedInstanceId when its instance id is somebody else's now."""
        if instance_id is not None:
            existing = self.static_members.get(instance_id)
            if existing is None:
                raise UnknownMemberId(f"{instance_id} is not a static member of {self.group_id}")
            if existing != member_id:
                raise FencedInstanceId(f"{instance_id} is {existing} now")
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId(f"{member_id} is not a member of {self.group_id}")
        return member

    @property
    def awaiting_join_count(self) -> int:
        """How many members wait in JoinGroup."""
        return sum(member.awaiting_join is not None for member in self.members.values())

    @property
    def all_members_joined(self) -> bool:
        """Everybody known waits in JoinGroup and nobody who was given an id is still on the way."""
        return not self.pending_joins and all(member.awaiting_join is not None for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of the members'."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is a member that has joined; False when nobody has."""
        if self.leader is None:
            return False
        if self.members[self.leader].awaiting_join is not None:
            return True
        joined = next((member for member in self.members.values() if member.awaiting_join is not None), None)
        if joined is None:
            return False
        self.leader = joined.member_id
        return True

    # Requests we hold

    @staticmethod
    def complete_join(member: ClassicMember, response: JoinGroupResponse) -> None:
        """Answer the member's JoinGroup, if it waits in one."""
        waiting, member.awaiting_join = member.awaiting_join, None
        if waiting is not None:
            waiting.succeed(response)

    @staticmethod
    def complete_sync(member: ClassicMember, response: SyncGroupResponse) -> bool:
        """Answer the member's SyncGroup; False when it doesn't wait in one."""
        waiting, member.awaiting_sync = member.awaiting_sync, None
        if waiting is None:
            return False
        waiting.succeed(response)
        return True

    def joined_response(self, member_id: str, *, skip_assignment: bool = False) -> JoinGroupResponse:
        """What a member of the current generation is told; the leader also learns everybody's subscription."""
        members = []
        if member_id == self.leader:
            members = [
                JoinGroupResponseMember(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    metadata=member.metadata(self.protocol),
                )
                for member in self.members.values()
            ]
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            skip_assignment=skip_assignment,
            member_id=member_id,
            members=members,
        )

    # Protocols

    def supports(self, protocol_type: str, protocols: list[tuple[str, bytes]]) -> bool:
        """Whether a member with these protocols can be in the group: everybody must have one in common."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if protocol_type != self.protocol_type:
            return False
        common = self._common_protocols()
        return not self.members or any(name in common for name, _ in protocols)

    def select_protocol(self) -> str:
        """Each member votes for the first of its protocols that all support; most votes win, and of equals the first
        named.
        """
        common = self._common_protocols()
        votes: dict[str, int] = {}
        for member in self.members.values():
            vote = next(name for name, _ in member.protocols if name in common)
            votes[vote] = votes.get(vote, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def _common_protocols(self) -> set[str]:
        members = list(self.members.values())
        if not members:
            return set()
        return set.intersection(*({name for name, _ in member.protocols} for member in members))

    def next_generation(self, wall_ms: int) -> None:
        """All who will come have come: number the generation and settle its protocol."""
        self.generation += 1
        self.pending_syncs.clear()
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed = self.compute_subscribed()
        self.to(ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY, wall_ms)

    def compute_subscribed(self) -> frozenset[str] | None:
        """The topics that the members subscribe to, where that can be read."""
        if not self.speaks_consumer_protocol:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        topics: set[str] = set()
        try:
            for member in self.members.values():
                topics.update(subscribed_topics(member.metadata(self.protocol)))
        except ProtocolError:
            return None
        return frozenset(topics)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether offsets of the topic are in use; in doubt they are."""
        if self.subscribed is not None:
            return topic in self.subscribed
        return self.speaks_consumer_protocol

    # What other requests may do to it

    def validate_offset_commit(
        self, *, member_id: str, instance_id: str | None, generation: int, transactional: bool
    ) -> None:
        """Raise what an OffsetCommit or TxnOffsetCommit by this member would be answered with."""
        if self.state is ClassicState.DEAD:
            raise CoordinatorNotAvailable(f"group {self.group_id} is gone")
        if generation < 0 and self.state is ClassicState.EMPTY:
            return
        if generation >= 0 or member_id or instance_id is not None:
            self.validate_member(member_id, instance_id)
            if generation != self.generation:
                raise IllegalGeneration(f"generation {generation}, but the group is at {self.generation}")
        elif not transactional and self.state is not ClassicState.EMPTY:
            raise UnknownMemberId("the group has members: only they may commit")
        if not transactional and self.state is ClassicState.COMPLETING_REBALANCE:
            raise RebalanceInProgress("the new assignment is not known yet")

    def validate_offset_delete(self) -> None:
        """Offsets of a group with members can be deleted only where subscriptions are known."""
        if self.state is ClassicState.DEAD:
            raise GroupIdNotFound(f"group {self.group_id} is gone")
        if self.state is not ClassicState.EMPTY and not self.speaks_consumer_protocol:
            raise NonEmptyGroup(f"group {self.group_id} has members")

    def validate_delete(self) -> None:
        """Only an empty group can be deleted."""
        error: BrokerError | None = None
        if self.state is ClassicState.DEAD:
            error = GroupIdNotFound(f"group {self.group_id} is gone")
        elif self.state is not ClassicState.EMPTY:
            error = NonEmptyGroup(f"group {self.group_id} has members")
        if error is not None:
            raise error

    def offset_expiry_base_ms(self, commit_ms: int) -> int | None:
        """From when the retention of an offset counts; None while no offset may expire."""
        if self.protocol_type is None:
            return commit_ms
        if self.state is ClassicState.EMPTY:
            return self.state_since_ms if self.state_since_ms is not None else commit_ms
        if self.state is ClassicState.STABLE and self.speaks_consumer_protocol and self.subscribed is not None:
            return commit_ms
        return None
