"""Which members are near which partitions, for the sticky assignors. Pure; inactive when racks make no difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pykclient.consumer.group_members import Member, Topics, rack_aware
from pykclient.types import TopicPartition


class RackMap:
    """Asked for every partition and member, so it is two dictionaries and nothing else."""

    def __init__(self, topics: Topics, members: Sequence[Member]) -> None:
        every = [racks for partitions in topics.values() for racks in partitions]
        self.active = rack_aware([member.rack for member in members], every)
        self._rack_of = {m.member_id: m.rack for m in members if m.rack} if self.active else {}
        self._topics = topics
        self._members_in = Counter(self._rack_of.values())

    def _racks(self, partition: TopicPartition) -> AbstractSet[str]:
        return self._topics[partition.topic][partition.partition]

    def near(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether nothing speaks against it: same rack, or the member names none."""
        rack = self._rack_of.get(member_id)
        return rack is None or rack in self._racks(partition)

    def shared(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether the member names a rack and the partition has a replica there."""
        rack = self._rack_of.get(member_id)
        return rack is not None and rack in self._racks(partition)

    def hardest_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Those with the fewest members nearby come first; otherwise the order stays."""
        return sorted(partitions, key=lambda p: sum(self._members_in[rack] for rack in self._racks(p)))
