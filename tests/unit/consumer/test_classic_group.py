"""Members of classic groups, in virtual time, against the broker's own group coordinator."""

from __future__ import annotations

from typing import Any

import pytest

from pykclient.consumer.classic_group import ClassicMembership
from pykclient.types import TopicPartition
from tests.unit.consumer.group_fakes import GroupMember, World


def member(world: World, name: str = "a", *topics: str, **options: Any) -> GroupMember:
    made = GroupMember(world, ClassicMembership, name=name, **options)
    made.subscribe(*(topics or ("t",)))
    return made


def tps(*numbers: int, topic: str = "t") -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in numbers]


def test_one_member_gets_everything() -> None:
    world = World()
    a = member(world)
    world.run(world.stable)
    assert a.assigned == tps(0, 1, 2, 3)
    assert a.listener.told == [("assigned", tps(0, 1, 2, 3))]
    assert a.membership.identity.generation_id == 1


@pytest.mark.parametrize(
    "strategy", ["range", "roundrobin", "sticky", "cooperative-sticky", "range,cooperative-sticky"]
)
def test_two_members_share_all_partitions_without_overlap(strategy: str) -> None:
    world = World({"t": 5, "u": 2})
    a = member(world, "a", "t", "u", partition_assignment_strategy=strategy)
    world.run(world.stable)
    b = member(world, "b", "t", "u", partition_assignment_strategy=strategy)
    world.run(lambda: world.stable() and bool(b.assigned))
    assert len(a.assigned) + len(b.assigned) == 7
    assert abs(len(a.assigned) - len(b.assigned)) <= 1
    assert not a.errors
    assert not b.errors


def test_cooperative_members_give_up_only_what_moves_and_in_two_rounds() -> None:
    world = World({"t": 6})
    members = [member(world, name, partition_assignment_strategy="cooperative-sticky") for name in "abc"]
    world.run(lambda: world.stable() and all(each.assigned for each in members))
    world.settle(10)
    generation = members[0].membership.identity.generation_id
    before = {each: set(each.assigned) for each in members}
    for each in members:
        each.listener.told.clear()
    d = member(world, "d", partition_assignment_strategy="cooperative-sticky")
    world.run(lambda: world.stable() and bool(d.assigned))
    assert d.membership.identity.generation_id <= generation + 2
    revoked = {tp for each in members for name, given in each.listener.told if name == "revoked" for tp in given}
    assert revoked == set(d.assigned)
    for each in members:
        assert set(each.assigned) == before[each] - revoked
        assert "lost" not in each.listener.names()
