"""What must be true of any assignment, for the vector and the property tests."""

from __future__ import annotations

from collections.abc import Sequence

from pykclient.consumer.group_members import Assignment, Member, Topics
from pykclient.types import TopicPartition


def check_sound(topics: Topics, members: Sequence[Member], assignment: Assignment, *, complete: bool) -> None:
    """Disjoint, wanted, existing; and complete where nothing may be held back."""
    by_id = {member.member_id: member for member in members}
    assert set(assignment) == set(by_id)
    given = [partition for partitions in assignment.values() for partition in partitions]
    assert len(given) == len(set(given)), "a partition was given twice"
    for member_id, partitions in assignment.items():
        for topic, number in partitions:
            assert topic in by_id[member_id].topics
            assert 0 <= number < len(topics[topic])
    wanted = {topic for member in members for topic in member.topics}
    everything = {TopicPartition(t, n) for t, racks in topics.items() if t in wanted for n in range(len(racks))}
    if complete:
        assert set(given) == everything
    else:
        assert set(given) <= everything


def max_spread_ok(topics: Topics, members: Sequence[Member], assignment: Assignment) -> bool:
    """Nobody holds a partition that a member with two fewer could have instead."""
    load = {member_id: len(partitions) for member_id, partitions in assignment.items()}
    for member_id, partitions in assignment.items():
        held = {partition.topic for partition in partitions}
        for other in members:
            if held & other.topics and load[member_id] > load[other.member_id] + 1:
                return False
    return True
