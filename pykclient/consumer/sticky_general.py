"""The sticky assignment when members want different topics: as even as the wishes allow, with few moves.

Keep what is still valid, hand out the rest to whoever has least, then move single partitions from fuller to emptier
members while that helps. Every move lowers the sum of the squares of the loads, so it ends. Pure; called by
sticky_assignor.py only.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from pykclient.consumer.group_members import Assignment, Member, Topics
from pykclient.consumer.racks import RackMap
from pykclient.types import TopicPartition


def assign_general(
    topics: Topics,
    members: Sequence[Member],
    owned: dict[str, list[TopicPartition]],
    earlier: dict[TopicPartition, str],
) -> Assignment:
    """``earlier`` are owners of older generations, preferred when a partition has to move."""
    levelling = _Levelling(topics, members, earlier)
    revoked = levelling.keep(owned)
    started_empty = not any(levelling.assignment.values())
    fresh = levelling.hand_out_rest()
    levelling.set_aside_fixed()
    before = {member_id: list(partitions) for member_id, partitions in levelling.assignment.items()}
    # Partitions nobody had yet can move without anybody losing something. When somebody loses something anyway, it is
    # no use to spare the others.
    if not revoked:
        levelling.level([partition for partition in fresh if partition.topic in levelling.shared_topics])
    moved = levelling.level(levelling.shared_partitions())
    if moved and not started_empty and _unevenness(levelling.loads()) >= _unevenness(map(len, before.values())):
        return before
    return levelling.assignment


def _unevenness(loads: Iterable[int]) -> int:
    """The sum of the differences over all pairs of members."""
    score, total = 0, 0
    for index, load in enumerate(sorted(loads)):
        score += index * load - total
        total += load
    return score


class _Levelling:
    """The state of one assignment: who has what, and members in the order of their load."""

    def __init__(self, topics: Topics, members: Sequence[Member], earlier: dict[TopicPartition, str]) -> None:
        self.racks = RackMap(topics, members)
        self.assignment: Assignment = {member.member_id: [] for member in members}
        self._earlier = earlier
        self._wants = {member.member_id: member.topics & topics.keys() for member in members}
        self._takers: dict[str, list[str]] = {topic: [] for topic in topics}
        for member_id, wanted in self._wants.items():
            for topic in wanted:
                self._takers[topic].append(member_id)
        # Topics that few can take come first: they leave least choice.
        self._order = [
            TopicPartition(topic, number)
            for topic in sorted(topics, key=lambda topic: (len(self._takers[topic]), topic))
            for number in range(len(topics[topic]))
        ]
        self.shared_topics = frozenset(topic for topic, takers in self._takers.items() if len(takers) > 1)
        self._most = {m: sum(len(topics[topic]) for topic in wanted) for m, wanted in self._wants.items()}
        self._owner: dict[TopicPartition, str] = {}
        self._by_load: list[tuple[int, str]] = []
        self._moves = _Moves()

    def keep(self, owned: dict[str, list[TopicPartition]]) -> bool:
        """Start from what is still valid. True when a member loses a partition that exists."""
        revoked = False
        for member_id in sorted(owned):
            for partition in owned[member_id]:
                if partition.topic not in self._takers:
                    continue
                if partition.topic in self._wants[member_id] and self.racks.near(member_id, partition):
                    self.assignment[member_id].append(partition)
                    self._owner[partition] = member_id
                else:
                    revoked = True
        self._by_load = sorted((len(partitions), member_id) for member_id, partitions in self.assignment.items())
        return revoked

    def hand_out_rest(self) -> list[TopicPartition]:
        """Everything unowned to whoever has least and wants it, near ones first. Returns what was handed out."""
        fresh = [partition for partition in self._order if partition not in self._owner]
        left = fresh
        if self.racks.active:
            left = [partition for partition in fresh if not self._hand_out(partition, nearby=True)]
        for partition in left:
            self._hand_out(partition, nearby=False)
        return fresh

    def _hand_out(self, partition: TopicPartition, *, nearby: bool) -> bool:
        for _, member_id in self._by_load:
            if partition.topic in self._wants[member_id] and (not nearby or self.racks.near(member_id, partition)):
                self._change_load(member_id, partition, add=True)
                self._owner[partition] = member_id
                return True
        return False

    def set_aside_fixed(self) -> None:
        """Members that have all they can and share none of it take no part in what follows."""
        self._by_load = [(load, member_id) for load, member_id in self._by_load if self._takes_part(member_id)]

    def _takes_part(self, member_id: str) -> bool:
        partitions = self.assignment[member_id]
        return len(partitions) < self._most[member_id] or any(p.topic in self.shared_topics for p in partitions)

    def shared_partitions(self) -> list[TopicPartition]:
        """All that more than one member could take."""
        return [partition for partition in self._order if partition.topic in self.shared_topics]

    def loads(self) -> list[int]:
        """How many each member has."""
        return [len(partitions) for partitions in self.assignment.values()]

    def level(self, partitions: list[TopicPartition]) -> bool:
        """Move these while it helps. True when something was moved."""
        moved_at_all = False
        moved = True
        while moved:
            moved = False
            for partition in partitions:
                if self._is_level():
                    return moved_at_all
                target = self._better_owner(partition)
                if target is not None:
                    self._move(self._moves.instead_of(partition, self._owner[partition], target), partition, target)
                    moved = moved_at_all = True
        return moved_at_all

    def _better_owner(self, partition: TopicPartition) -> str | None:
        load = len(self.assignment[self._owner[partition]])
        former = self._earlier.get(partition)
        if former is not None and partition.topic in self._wants[former] and load > len(self.assignment[former]) + 1:
            return former
        for other_load, member_id in self._by_load:
            if other_load + 1 >= load:
                return None
            if partition.topic in self._wants[member_id]:
                return member_id
        return None

    def _move(self, preferred: TopicPartition, asked: TopicPartition, target: str) -> None:
        # Undoing an earlier move serves stickiness better than making another one, as long as it levels too.
        load = len(self.assignment[target])
        partition = preferred if len(self.assignment[self._owner[preferred]]) > load + 1 else asked
        source = self._owner[partition]
        self._moves.record(partition, source, target)
        self._change_load(source, partition, add=False)
        self._change_load(target, partition, add=True)
        self._owner[partition] = target
        self._level_known = None

    _level_known: bool | None = None
    """Whether nothing can be improved; asked before every partition, but only a move changes the answer."""

    def _is_level(self) -> bool:
        if self._level_known is None:
            self._level_known = self._compute_is_level()
        return self._level_known

    def _compute_is_level(self) -> bool:
        if not self._by_load or self._by_load[0][0] >= self._by_load[-1][0] - 1:
            return True
        # The fullest owner of each topic: if even that is not two above a member that wants the topic, all is level.
        fullest: dict[str, int] = {}
        for load, member_id in self._by_load:
            for topic in {partition.topic for partition in self.assignment[member_id]}:
                fullest[topic] = load  # loads ascend, so the last one stays
        return not any(
            fullest.get(topic, 0) > load + 1 for load, member_id in self._by_load for topic in self._wants[member_id]
        )

    def _change_load(self, member_id: str, partition: TopicPartition, *, add: bool) -> None:
        partitions = self.assignment[member_id]
        index = bisect_left(self._by_load, (len(partitions), member_id))
        del self._by_load[index]
        if add:
            partitions.append(partition)
        else:
            partitions.remove(partition)
        insort(self._by_load, (len(partitions), member_id))


class _Moves:
    """Moves so far, so that two partitions of a topic are not swapped between two members for nothing."""

    def __init__(self) -> None:
        self._made: dict[TopicPartition, tuple[str, str]] = {}
        self._by_pair: dict[tuple[str, str, str], set[TopicPartition]] = {}

    def instead_of(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """A partition of the topic that came from ``target`` to where this one was first; else the partition itself."""
        if partition in self._made:
            source = self._made[partition][0]
        return min(self._by_pair.get((partition.topic, target, source), ()), default=partition)

    def record(self, partition: TopicPartition, source: str, target: str) -> None:
        """Chains collapse into one move; a partition that is back where it was has not moved."""
        if partition in self._made:
            first, last = self._made.pop(partition)
            self._by_pair[partition.topic, first, last].discard(partition)
            source = first
        if source != target:
            self._made[partition] = source, target
            self._by_pair.setdefault((partition.topic, source, target), set()).add(partition)
