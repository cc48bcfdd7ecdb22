"""Who reads what in a classic group: the assignors by name, and the two simple ones (range and round robin).

Run by the group's leader on the reactor thread. Pure: members and topics in, assignment out, the same for the same
input whatever its order. Must never give a partition to two members, or to one that did not ask for its topic. The
sticky ones are in sticky_assignor.py. Results equal Kafka 4.3's, except where those hang on the order of a hash map.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pykclient.consumer.group_members import Assignment, Member, Racks, RebalanceProtocol, Topics, rack_aware
from pykclient.consumer.sticky_assignor import CooperativeStickyAssignor, StickyAssignor
from pykclient.types import TopicPartition


class Assignor(Protocol):
    """What an assignor must have; users may bring their own."""

    @property
    def name(self) -> str:
        """What the members of a group agree on."""
        ...

    @property
    def protocols(self) -> tuple[RebalanceProtocol, ...]:
        """How members may give partitions up under it, best first."""
        ...

    def subscription_user_data(
        self, topics: Collection[str], assigned: Sequence[TopicPartition] | None, generation: int
    ) -> bytes | None:
        """Bytes a member sends along when it joins; ``assigned`` is None before its first assignment."""
        ...

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        """Every partition of every subscribed topic to one member; every member has an entry."""
        ...


class RangeAssignor:
    """Topic by topic, neighbouring partitions to each member: equal partition numbers of equal topics stay together."""

    name = "range"
    protocols = (RebalanceProtocol.EAGER,)

    def subscription_user_data(
        self, topics: Collection[str], assigned: Sequence[TopicPartition] | None, generation: int
    ) -> bytes | None:
        """It needs none."""
        return None

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        """Ranges in the order of the members; with racks, what can be read nearby goes first."""
        ordered = sorted(members, key=Member.sort_key)
        shares = [
            _TopicShares(topic, racks, [member for member in ordered if topic in member.topics])
            for topic, racks in sorted(topics.items())
        ]
        shares = [share for share in shares if share.members and share.open]
        if any(share.rack_aware for share in shares):
            _assign_nearby(shares)
        for share in shares:
            share.fill(anywhere=True)
        assignment: Assignment = {member.member_id: [] for member in members}
        for share in shares:
            for member_id, partitions in share.given.items():
                assignment[member_id].extend(TopicPartition(share.topic, number) for number in sorted(partitions))
        return assignment


class _TopicShares:
    """One topic while its partitions are given out: who may take how many more, and what is left."""

    def __init__(self, topic: str, racks: Racks, members: list[Member]) -> None:
        self.topic = topic
        self.racks = racks
        self.members = members
        self.open = dict.fromkeys(range(len(racks)))
        self.given: dict[str, list[int]] = {member.member_id: [] for member in members}
        self.has_racks = any(member.rack for member in members)
        self.rack_aware = rack_aware([member.rack for member in members], racks)
        self._least, self._larger_shares_left = divmod(len(racks), len(members)) if members else (0, 0)

    def room(self, member: Member) -> int:
        """How many more the member may take. The larger shares go to whoever comes first."""
        most = self._least + (1 if self._larger_shares_left else 0)
        return max(0, most - len(self.given[member.member_id]))

    def near(self, member: Member, number: int) -> bool:
        """Whether the partition has a replica in the member's rack; a member that names none is near to all."""
        return not member.rack or member.rack in self.racks[number]

    def give(self, member: Member, numbers: list[int]) -> None:
        """Hand them over."""
        taken = self.given[member.member_id]
        taken.extend(numbers)
        if numbers and len(taken) > self._least:
            self._larger_shares_left -= 1
        for number in numbers:
            del self.open[number]

    def fill(self, *, anywhere: bool) -> None:
        """Each member in turn takes the first partitions that are left, as many as it has room for."""
        for member in self.members:
            numbers = [number for number in self.open if anywhere or self.near(member, number)]
            self.give(member, numbers[: self.room(member)])


def _assign_nearby(shares: list[_TopicShares]) -> None:
    """Give out what can be read in the member's own rack, keeping topics of one shape in step."""
    shapes: dict[tuple[tuple[str, ...], int], list[_TopicShares]] = {}
    for share in shares:
        if share.has_racks:
            shape = tuple(member.member_id for member in share.members), len(share.racks)
            shapes.setdefault(shape, []).append(share)
    for (_, count), alike in shapes.items():
        if len(alike) > 1:
            _assign_nearby_in_step(alike, count)
        elif alike[0].rack_aware:
            alike[0].fill(anywhere=False)


def _assign_nearby_in_step(alike: list[_TopicShares], count: int) -> None:
    """Partition n of all these topics goes to one member, if there is one that is near to all of them."""
    for number in range(count):
        for member in alike[0].members:
            if all(share.room(member) and share.near(member, number) for share in alike):
                for share in alike:
                    share.give(member, [number])
                break


class RoundRobinAssignor:
    """All partitions of all topics dealt out like cards."""

    name = "roundrobin"
    protocols = (RebalanceProtocol.EAGER,)

    def subscription_user_data(
        self, topics: Collection[str], assigned: Sequence[TopicPartition] | None, generation: int
    ) -> bytes | None:
        """It needs none."""
        return None

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        """In the order of topics and members; a member that does not want the topic is passed over."""
        ordered = sorted(members, key=Member.sort_key)
        assignment: Assignment = {member.member_id: [] for member in members}
        wanted = set().union(*(member.topics for member in members)) if members else set()
        turn = 0
        for topic, racks in sorted(topics.items()):
            if topic not in wanted:
                continue
            for number in range(len(racks)):
                while topic not in ordered[turn].topics:
                    turn = (turn + 1) % len(ordered)
                assignment[ordered[turn].member_id].append(TopicPartition(topic, number))
                turn = (turn + 1) % len(ordered)
        return assignment


ASSIGNORS: Mapping[str, Assignor] = {
    assignor.name: assignor
    for assignor in (RangeAssignor(), RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor())
}
"""The built-in ones by the names that ``partition_assignment_strategy`` uses."""

__all__ = [
    "ASSIGNORS",
    "Assignor",
    "CooperativeStickyAssignor",
    "RangeAssignor",
    "RoundRobinAssignor",
    "StickyAssignor",
]
