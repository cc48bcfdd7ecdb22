"""A consumer group of the new protocol (KIP-848): members with epochs, the target assignment, and who owns which
partition now.

Data, ``apply_*`` (the only way it changes, one per record type) and questions. Decisions are in kip848_heartbeat.py,
the step of one member towards its target in reconciliation.py, the target itself in target_assignment.py. Owned by
the shard of the group's partition.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from pykclient.broker.consumer_protocol import PROTOCOL_TYPE
from pykclient.errors import (
    FencedInstanceId,
    IllegalGeneration,
    NonEmptyGroup,
    StaleMemberEpoch,
    UnknownMemberId,
    UnsupportedVersion,
)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
"""A static member that will be back: its partitions stay with it until its session ends."""

Partition = tuple[UUID, int]
NO_PARTITIONS: Mapping[Partition, int] = {}


class MemberState(enum.IntEnum):
    """How far a member is on its way to the target; the numbers stand in records."""

    STABLE = 0
    """It has what the target of its epoch gives it."""
    UNREVOKED_PARTITIONS = 1
    """It must confirm that it gave up partitions before it may go on."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others still own."""
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class ClassicPart:
    """What is known of a member that speaks the classic protocol inside a consumer group."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """One member. ``assigned`` and ``revoking`` map partitions to the epoch at which the member got them."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    regex: str = ""
    """Empty: it subscribes by name only."""
    assignor: str | None = None
    classic: ClassicPart | None = None
    epoch: int = JOIN_EPOCH
    previous_epoch: int = LEAVE_EPOCH
    state: MemberState = MemberState.STABLE
    assigned: Mapping[Partition, int] = field(default_factory=dict)
    revoking: Mapping[Partition, int] = field(default_factory=dict)

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether nothing remains to be done for the target of this epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def with_epoch(self, epoch: int) -> ConsumerMember:
        """Advance; the epoch before is remembered, because the answer that tells the member may be lost."""
        return replace(self, epoch=epoch, previous_epoch=self.epoch)


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics a regular expression matched, and when."""

    topics: frozenset[str]
    version: int
    timestamp_ms: int


@dataclass(slots=True)
class ConsumerGroup:
    """See the module text."""

    group_id: str
    epoch: int = 1
    """Kafka starts with 1, so that no member of a group is ever at the epoch that means joining."""
    metadata_hash: int = 0
    assignment_epoch: int = 0
    assignment_timestamp_ms: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    target: dict[str, frozenset[Partition]] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    owners: dict[Partition, str] = field(default_factory=dict)
    """Who owns a partition now, or still owns it while giving it up. Derived from the members."""
    topics_version: int = -1
    """Up to which version of the topics the metadata hash was checked. Not durable: a new leader checks again."""
    topics_checked_ms: int = 0
    """When that was, on the wall clock."""

    def copy(self) -> ConsumerGroup:
        """For an operation to try its records on; members and targets are immutable and shared."""
        return replace(
            self,
            members=dict(self.members),
            static_members=dict(self.static_members),
            target=dict(self.target),
            regexes=dict(self.regexes),
            owners=dict(self.owners),
        )

    # What records do

    def apply_member(self, member: ConsumerMember) -> None:
        """Put a member in, whole."""
        self._release(self.members.get(member.member_id))
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        for partition in (*member.assigned, *member.revoking):
            self.owners[partition] = member.member_id

    def apply_member_gone(self, member_id: str) -> None:
        """Take a member out."""
        member = self.members.pop(member_id, None)
        self._release(member)
        instance_id = member.instance_id if member is not None else None
        # The instance id may have been taken over by the member's successor already.
        if instance_id is not None and self.static_members.get(instance_id) == member_id:
            del self.static_members[instance_id]

    def apply_assignment_gone(self, member_id: str) -> None:
        """The member owns nothing any more."""
        member = self.members.get(member_id)
        if member is not None:
            self.apply_member(
                replace(
                    member,
                    epoch=LEAVE_EPOCH,
                    previous_epoch=LEAVE_EPOCH,
                    state=MemberState.STABLE,
                    assigned=NO_PARTITIONS,
                    revoking=NO_PARTITIONS,
                )
            )

    def _release(self, member: ConsumerMember | None) -> None:
        if member is not None:
            for partition in (*member.assigned, *member.revoking):
                if self.owners.get(partition) == member.member_id:
                    del self.owners[partition]

    # Questions

    @property
    def state_name(self) -> str:
        """As ListGroups shows it."""
        if not self.members:
            return "Empty"
        if self.epoch > self.assignment_epoch:
            return "Assigning"
        reconciled = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return "Stable" if reconciled else "Reconciling"

    @property
    def is_empty(self) -> bool:
        """No members (offsets may remain)."""
        return not self.members

    @property
    def protocol_type(self) -> str:
        """Always consumers."""
        return PROTOCOL_TYPE

    def member(self, member_id: str) -> ConsumerMember:
        """The member, or UnknownMemberId."""
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberId(f"{member_id} is not a member of {self.group_id}")
        return member

    def static_member(self, instance_id: str, member_id: str | None = None) -> ConsumerMember:
        """The member with the instance id; FencedInstanceId when it is not ``member_id`` (when that is given)."""
        existing = self.static_members.get(instance_id)
        if existing is None:
            raise UnknownMemberId(f"{instance_id} is not a static member of {self.group_id}")
        if member_id is not None and existing != member_id:
            raise FencedInstanceId(f"{instance_id} is {existing} now")
        return self.members[existing]

    def find(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """By instance id where there is one, else by member id."""
        return self.member(member_id) if instance_id is None else self.static_member(instance_id, member_id)

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """What a member subscribes to, by name and by regular expression."""
        resolved = self.regexes.get(member.regex) if member.regex else None
        return member.topics | resolved.topics if resolved is not None else member.topics

    def subscribed_topics(self) -> frozenset[str]:
        """Of all members."""
        return frozenset().union(*(self.topics_of(member) for member in self.members.values()))

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether anybody subscribes to the topic."""
        return any(topic in self.topics_of(member) for member in self.members.values())

    @property
    def classic_members(self) -> list[ConsumerMember]:
        """Those that speak the classic protocol."""
        return [member for member in self.members.values() if member.classic is not None]

    def preferred_assignor(self, default: str) -> str:
        """The one most members ask for; of equals the first in the alphabet."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.assignor is not None:
                votes[member.assignor] = votes.get(member.assignor, 0) + 1
        return min(votes, key=lambda name: (-votes[name], name)) if votes else default

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether a partition of its target is still owned by somebody else."""
        if member.state is not MemberState.UNRELEASED_PARTITIONS:
            return False
        target = self.target.get(member.member_id, frozenset())
        return any(partition not in member.assigned and partition in self.owners for partition in target)

    # What other requests may do to it

    def validate_offset_commit(
        self, *, member_id: str, instance_id: str | None, epoch: int, transactional: bool, api_version: int
    ) -> ConsumerMember | None:
        """Raise what a commit would be answered with. A member returned commits at an older epoch: check each
        partition.
        """
        if epoch < 0 and not self.members:
            return None
        if transactional and epoch == -1 and not member_id and instance_id is None:
            return None
        member = self.member(member_id)
        if not transactional and member.classic is None and api_version < 9:
            raise UnsupportedVersion("members of the consumer protocol commit with OffsetCommit 9 or newer")
        if epoch == member.epoch:
            return None
        if epoch > member.epoch:
            raise self._wrong_epoch(member, f"epoch {epoch}, but the member is at {member.epoch}")
        return member

    def validate_commit_partition(self, member: ConsumerMember, epoch: int, topic: str, partition: Partition) -> None:
        """An older epoch may commit for what the member has owned since then (KIP-1251)."""
        since = member.assigned.get(partition, member.revoking.get(partition))
        if since is None:
            raise self._wrong_epoch(member, f"{topic}-{partition[1]} is not assigned to the member")
        if epoch < since:
            raise self._wrong_epoch(member, f"{topic}-{partition[1]} is assigned since epoch {since}, not {epoch}")

    def validate_offset_fetch(self, member_id: str | None, epoch: int) -> None:
        """Raise what an OffsetFetch of this member would be answered with."""
        if member_id is None and epoch < 0:
            return
        member = self.member(member_id or "")
        if member.epoch != epoch:
            raise self._wrong_epoch(member, f"epoch {epoch}, but the member is at {member.epoch}")

    @staticmethod
    def _wrong_epoch(member: ConsumerMember, text: str) -> IllegalGeneration | StaleMemberEpoch:
        return StaleMemberEpoch(text) if member.classic is None else IllegalGeneration(text)

    def validate_offset_delete(self) -> None:
        """Always possible; topics in use are refused one by one."""

    def validate_delete(self) -> None:
        """Only an empty group can be deleted."""
        if self.members:
            raise NonEmptyGroup(f"group {self.group_id} has members")

    def offset_expiry_base_ms(self, commit_ms: int) -> int | None:
        """Retention counts from the commit."""
        return commit_ms
