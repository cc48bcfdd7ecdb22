"""Members of KIP-848 groups, in virtual time, against the broker's own group coordinator."""

from __future__ import annotations

from typing import Any

from pykclient.consumer.kip848_group import Kip848Membership
from pykclient.types import TopicPartition
from tests.unit.consumer.group_fakes import GroupMember, World


def member(world: World, name: str = "a", *topics: str, **options: Any) -> GroupMember:
    made = GroupMember(world, Kip848Membership, name=name, group_protocol="consumer", **options)
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


def test_members_that_come_take_only_what_moves() -> None:
    world = World({"t": 6})
    members = [member(world, name) for name in "abc"]
    world.run(lambda: world.stable() and all(each.assigned for each in members))
    world.settle(20)
    before = {each: set(each.assigned) for each in members}
    for each in members:
        each.listener.told.clear()
    d = member(world, "d")
    world.run(lambda: world.stable() and bool(d.assigned))
    world.settle(20)
    revoked = {tp for each in members for name, given in each.listener.told if name == "revoked" for tp in given}
    assert revoked == set(d.assigned)
    for each in members:
        assert set(each.assigned) == before[each] - revoked
        assert "lost" not in each.listener.names()
