"""The sticky assignment when all members want the same topics: exact shares in close to linear time.

Everybody keeps what it had up to its share, then the rest is dealt out, first (with racks) to members near a replica.
Pure; called by sticky_assignor.py only.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykclient.consumer.group_members import Assignment, Member, Topics
from pykclient.consumer.racks import RackMap
from pykclient.types import TopicPartition


def assign_even(topics: Topics, members: Sequence[Member], owned: dict[str, list[TopicPartition]]) -> Assignment:
    """Everybody gets the same number, or one more while they last."""
    dealing = _Dealing(topics, members)
    for member_id in sorted(owned, key=lambda member_id: _tie_key(member_id, len(owned))):
        dealing.keep(member_id, owned[member_id])
    dealing.start_dealing()
    left = dealing.left_over()
    if dealing.racks.active:
        left = dealing.racks.hardest_first(left)
        left = [partition for partition in left if not dealing.deal_nearby(partition)]
        dealing.turn = 0
    for partition in left:
        dealing.deal(partition)
    return dealing.assignment


def _tie_key(member_id: str, member_count: int) -> tuple[int, str]:
    """Whom to ask first, where several members could keep one of the larger shares.

    Any fixed order would do. This one is that of Java's hash map, so that the answer stays the same when the leader's
    role passes between this client and a Java one.
    """
    hashed = 0
    units = member_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        hashed = (31 * hashed + (high << 8) + low) & 0xFFFFFFFF
    buckets = 16
    while member_count * 4 > buckets * 3:
        buckets *= 2
    return (hashed ^ (hashed >> 16)) & (buckets - 1), member_id


class _Dealing:
    """The state of one deal. ``hungry`` have less than the least share; ``content`` have it and may take one more."""

    def __init__(self, topics: Topics, members: Sequence[Member]) -> None:
        self.racks = RackMap(topics, members)
        self.assignment: Assignment = {member.member_id: [] for member in members}
        self.hungry: list[str] = []
        self.content: list[str] = []
        self.turn = 0
        self._topics = topics
        total = sum(len(racks) for racks in topics.values())
        self._least, self._larger_shares = divmod(total, len(members))

    def keep(self, member_id: str, partitions: list[TopicPartition]) -> None:
        """Let a member keep what it had, as far as its share and its rack go."""
        near = [p for p in partitions if p.topic in self._topics and self.racks.near(member_id, p)]
        near.sort(key=lambda partition: (partition.partition, partition.topic))
        share = self._least
        if len(near) > share and self._larger_shares:
            share += 1
            self._larger_shares -= 1
        elif len(near) < share:
            self.hungry.append(member_id)
        else:
            self.content.append(member_id)
        self.assignment[member_id] = near[:share]

    def start_dealing(self) -> None:
        """Everybody has said what it keeps."""
        self.hungry.sort()
        self.content.sort()
        self._drop_content_if_no_larger_share()

    def left_over(self) -> list[TopicPartition]:
        """What nobody keeps, in order."""
        kept = {partition for partitions in self.assignment.values() for partition in partitions}
        everything = (
            TopicPartition(topic, n) for topic in sorted(self._topics) for n in range(len(self._topics[topic]))
        )
        return [partition for partition in everything if partition not in kept]

    def deal_nearby(self, partition: TopicPartition) -> bool:
        """Give it to a member near a replica, if one of them may still take something."""
        for step in range(len(self.hungry)):
            index = (self.turn + step) % len(self.hungry)
            if self.racks.shared(self.hungry[index], partition):
                self._feed(index, partition)
                return True
        for index, member_id in enumerate(self.content):
            if self.racks.shared(member_id, partition):
                self._take_larger_share(index, partition)
                return True
        return False

    def deal(self, partition: TopicPartition) -> None:
        """Give it to whoever's turn it is."""
        if self.hungry:
            self._feed(self.turn % len(self.hungry), partition)
        else:
            assert self.content, "shares add up to the number of partitions"
            self._take_larger_share(0, partition)

    def _feed(self, index: int, partition: TopicPartition) -> None:
        member_id = self.hungry[index]
        partitions = self.assignment[member_id]
        partitions.append(partition)
        if len(partitions) < self._least:
            index += 1
        else:
            del self.hungry[index]
            self.content.append(member_id)
            self._drop_content_if_no_larger_share()
        self.turn = index % len(self.hungry) if self.hungry else 0

    def _take_larger_share(self, index: int, partition: TopicPartition) -> None:
        self.assignment[self.content.pop(index)].append(partition)
        self._larger_shares -= 1
        self._drop_content_if_no_larger_share()

    def _drop_content_if_no_larger_share(self) -> None:
        if not self._larger_shares:
            self.content.clear()
