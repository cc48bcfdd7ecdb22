"""Members of classic groups, in virtual time, against the broker's own group coordinator."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Sequence
from typing import Any

import pytest

from pykclient.consumer.classic_group import ClassicMembership
from pykclient.consumer.consumer_protocol import (
    MemberSubscription,
    read_assignment,
    read_member,
    write_assignment,
    write_subscription,
)
from pykclient.consumer.group_members import Assignment, Member, Topics
from pykclient.errors import FencedInstanceId, IllegalGeneration, InconsistentGroupProtocol, KafkaError, ProtocolError
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
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


def joins(world: World, name: str) -> int:
    return sum(request.api_key == ApiKey.JOIN_GROUP and request.client_id == name for request in world.node.received)


def beats(world: World, name: str) -> int:
    return sum(request.api_key == ApiKey.HEARTBEAT and request.client_id == name for request in world.node.received)


def test_no_join_leaves_before_the_listener_has_let_go_while_heartbeats_go_on() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    joined, beaten = joins(world, "a"), beats(world, "a")
    a.stuck = True
    b = member(world, "b")
    world.run(lambda: bool(a.waiting()))
    assert not any(state.fetchable for state in a.subscription.partitions.values())
    world.settle(60)
    assert joins(world, "a") == joined
    assert beats(world, "a") >= beaten + 15
    assert a.assigned == b.assigned == []
    a.stuck = False
    world.run(lambda: world.stable() and bool(b.assigned), limit_s=15)
    assert joins(world, "a") == joined + 1


def test_commit_comes_before_the_listener_and_the_listener_before_the_join() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    seen: list[tuple[str, int, int]] = []
    a.listener.on_call = lambda name: seen.append((name, len(a.commits), joins(world, "a")))
    b = member(world, "b")
    world.run(lambda: world.stable() and bool(b.assigned))
    assert seen == [("revoked", 1, 2), ("assigned", 1, 3)]


@pytest.mark.parametrize("version", [0, 1, 3, 4, 5, 6, 7, 8, 9])
def test_every_version_of_join_group_works(version: int) -> None:
    world = World()
    world.node.ranges[ApiKey.JOIN_GROUP] = (0, version)
    world.node.ranges[ApiKey.SYNC_GROUP] = (0, min(version, 5))
    world.node.ranges[ApiKey.HEARTBEAT] = (0, min(version, 4))
    world.node.ranges[ApiKey.LEAVE_GROUP] = (0, min(version, 5))
    a, b = member(world, "a"), member(world, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    b.polling = False
    b.start(b.membership.leave("done"))
    world.run(b.idle)
    world.members.remove(b)
    world.run(lambda: len(a.assigned) == 4, limit_s=10)


def test_static_membership_on_an_old_broker_is_a_typed_error() -> None:
    world = World()
    world.node.ranges[ApiKey.JOIN_GROUP] = (0, 4)
    a = member(world, "a", group_instance_id="one")
    world.run(lambda: bool(a.errors))
    assert isinstance(a.errors[0], KafkaError)


def test_upgrade_from_eager_to_cooperative_keeps_every_partition_read() -> None:
    world = World({"t": 6})
    old = [member(world, name, partition_assignment_strategy="range,cooperative-sticky") for name in "ab"]
    world.run(lambda: world.stable() and all(each.assigned for each in old))
    new = member(world, "c", partition_assignment_strategy="cooperative-sticky")
    world.run(lambda: world.stable() and bool(new.assigned))
    for each in old:
        each.polling = False
        each.start(each.membership.leave("bounce"))
        world.run(each.idle)
        world.members.remove(each)
        fresh = member(world, f"{each.context.client_id}2", partition_assignment_strategy="cooperative-sticky")
        world.run(lambda fresh=fresh: world.stable() and bool(fresh.assigned))  # type: ignore[misc]
    assert sum(len(each.assigned) for each in world.members) == 6
    assert "lost" not in new.listener.names()


def test_members_without_a_common_assignor_are_told_so() -> None:
    world = World()
    member(world, "a", partition_assignment_strategy="range")
    world.run(world.stable)
    b = member(world, "b", partition_assignment_strategy="sticky")
    world.run(lambda: bool(b.errors))
    assert isinstance(b.errors[0], InconsistentGroupProtocol)


class OneForAll:
    """A user's assignor, with the least it can have."""

    name = "one-for-all"

    def __init__(self) -> None:
        self.broken = False

    def assign(self, topics: Topics, members: Sequence[Member]) -> Assignment:
        if self.broken:
            raise ZeroDivisionError("user code")
        first = min(each.member_id for each in members)
        return {first: [TopicPartition(topic, n) for topic, racks in topics.items() for n in range(len(racks))]}


def test_assignor_of_the_user_is_used_and_what_it_raises_reaches_poll() -> None:
    world = World()
    assignor = OneForAll()
    a = member(world, "a", partition_assignment_strategy=[assignor])
    world.run(world.stable)
    assert len(a.assigned) == 4
    assignor.broken = True
    a.membership.rejoin("try it")
    world.run(lambda: bool(a.errors))
    assert isinstance(a.errors[0], ZeroDivisionError)
    assignor.broken = False
    world.run(world.stable, limit_s=10)


def test_topic_that_comes_later_is_assigned_then() -> None:
    world = World({"t": 2})
    a = member(world, "a", "t", "later")
    world.run(lambda: a.assigned == tps(0, 1) and not a.membership.needs_user())
    world.bench.catalog.put("later", 2)
    a.metadata.request_update()
    world.run(lambda: world.stable() and len(a.assigned) == 4, limit_s=30)


def test_leader_counts_topics_that_only_others_want() -> None:
    world = World({"t": 2, "u": 2})
    a = member(world, "a", "t")
    world.run(world.stable)
    b = member(world, "b", "u")
    world.run(lambda: world.stable() and b.assigned == tps(0, 1, topic="u"))
    assert a.assigned == tps(0, 1)


def test_leader_names_who_came_and_who_went(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="pykclient.consumer")
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    b = member(world, "b")
    world.run(lambda: world.stable() and bool(b.assigned))
    b.polling = False
    b.start(b.membership.leave("bye"))
    world.run(b.idle)
    world.members.remove(b)
    world.run(lambda: len(a.assigned) == 4)
    causes = [text for record in caplog.records if (text := record.getMessage()).startswith("a: ")]
    assert "cause: this member joined" in causes[0]
    assert re.search(r"cause: member b-\S+ joined", causes[1])
    assert re.search(r"cause: member b-\S+ left or its session expired", causes[2])


def test_enforced_rebalance_tells_the_broker_why() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    a.membership.rejoin("because I say so")
    world.run(lambda: world.stable() and a.membership.identity.generation_id == 2)
    assert world.requests(ApiKey.JOIN_GROUP)[-1].reason == "because I say so"


def test_member_says_what_it_owns_since_when_and_where_it_stands() -> None:
    world = World()
    a = member(world, "a", partition_assignment_strategy="cooperative-sticky", client_rack="r1")
    world.run(world.stable)
    a.membership.rejoin("again")
    world.run(lambda: world.stable() and a.membership.identity.generation_id == 2)
    metadata = world.requests(ApiKey.JOIN_GROUP)[-1].protocols[0].metadata
    told = read_member("a", None, metadata)
    assert (told.owned, told.generation, told.rack) == (tuple(tps(0, 1, 2, 3)), 1, "r1")


def test_leaving_in_the_middle_of_a_join_does_not_wait_for_it() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    a.stuck = True
    b = member(world, "b")
    world.run(lambda: bool(a.waiting()))
    b.polling = False
    b.start(b.membership.leave("changed my mind"))
    world.run(b.idle, limit_s=1)
    world.members.remove(b)
    a.stuck = False
    world.run(lambda: len(a.assigned) == 4, limit_s=10)


def test_commit_that_is_refused_asks_the_coordinator_before_giving_up_anything() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    world.settle(0.5)
    beaten = beats(world, "a")
    a.membership.lost(IllegalGeneration())
    world.settle(0.5)
    assert beats(world, "a") == beaten + 1
    assert a.listener.names() == ["assigned"]
    a.membership.lost(FencedInstanceId())
    world.run(lambda: bool(a.errors))
    assert isinstance(a.errors[0], FencedInstanceId)


# ---- bytes -----------------------------------------------------------------------------------------------------------


def test_subscription_of_an_older_or_newer_member_is_read_as_far_as_we_know_it() -> None:
    ours = write_subscription(MemberSubscription(topics=["t"], owned=tps(1), generation=5, rack="r"))
    assert read_member("m", "i", ours).rack == "r"
    newer = b"\x00\x09" + ours[2:] + b"something new"
    assert read_member("m", None, newer).generation == 5
    liar = b"\x00\x01" + ConsumerProtocolSubscription(topics=["t"]).write(0)
    assert read_member("m", None, liar).topics == {"t"}


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xff", b"\x00\x00\x00\x00\x00\x09", b"\x00\x03\xff\xff\xff\xff"])
def test_subscription_that_makes_no_sense_is_a_protocol_error_or_empty(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        assert read_member("m", None, data).topics == frozenset()


def test_assignment_survives_the_wire() -> None:
    assert read_assignment(write_assignment(tps(3, 1, 2))) == tps(1, 2, 3)
    assert read_assignment(b"") == []
