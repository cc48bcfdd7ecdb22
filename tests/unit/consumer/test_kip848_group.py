"""Members of KIP-848 groups, in virtual time, against the broker's own group coordinator. What both protocols promise
is in test_membership.py.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_topics import TopicInfo
from pykclient.consumer.kip848_group import Kip848Membership, choose_protocol
from pykclient.consumer.subscription import SubscriptionKind
from pykclient.errors import ErrorCode, InvalidRegularExpression, UnsupportedAssignor, UnsupportedVersion
from pykclient.net.client_request import ApiVersions
from pykclient.protocol.messages import ApiKey
from pykclient.types import TopicPartition
from tests.unit.consumer.group_fakes import GroupMember, World
from tests.unit.fake_cluster import Drop

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT


def unsubscribed(world: World, name: str = "a", **options: Any) -> GroupMember:
    return GroupMember(world, Kip848Membership, name=name, group_protocol="consumer", **options)


def member(world: World, name: str = "a", *topics: str, **options: Any) -> GroupMember:
    made = unsubscribed(world, name, **options)
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
    assert a.membership.identity.generation_id > 0


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


def test_member_names_itself_and_says_everything_once() -> None:
    world = World()
    a = member(world, client_rack="r1", group_remote_assignor="uniform", max_poll_interval_ms=20_000)
    world.run(world.stable)
    world.settle(11)
    first, acknowledged, *later = world.requests(HEARTBEAT)
    assert first.member_id == a.membership.identity.member_id != ""
    assert (first.member_epoch, first.rebalance_timeout_ms, first.rack_id) == (0, 20_000, "r1")
    assert (first.subscribed_topic_names, first.server_assignor, first.topic_partitions) == (["t"], "uniform", [])
    assert [row.partitions for row in acknowledged.topic_partitions] == [[0, 1, 2, 3]]
    assert acknowledged.subscribed_topic_names is None
    assert len(later) == 2
    for beat in later:
        assert (beat.member_epoch, beat.rebalance_timeout_ms, beat.rack_id) == (acknowledged.member_epoch, -1, None)
        assert beat.subscribed_topic_names is beat.server_assignor is beat.topic_partitions is None


def test_after_a_failure_everything_is_said_again() -> None:
    world = World()
    member(world)
    world.run(world.stable)
    world.settle(6)
    world.faults[HEARTBEAT] = [Drop()]
    world.settle(10)
    said = [beat for beat in world.requests(HEARTBEAT) if beat.subscribed_topic_names is not None]
    assert len(said) == 2
    assert said[1].member_epoch > 0
    assert [row.partitions for row in said[1].topic_partitions] == [[0, 1, 2, 3]]


def test_broker_says_how_often_it_wants_to_hear() -> None:
    config = GroupConfig(offsets_topic_num_partitions=1, group_consumer_heartbeat_interval_ms=5000)
    world = World(config=config)
    member(world)
    world.run(world.stable)
    world.settle(1)
    count = len(world.requests(HEARTBEAT))
    world.settle(50)
    assert len(world.requests(HEARTBEAT)) - count == 10


def test_partitions_are_acknowledged_only_after_the_listener_let_go() -> None:
    world = World()
    a = member(world, "a")
    world.run(world.stable)
    world.settle(1)
    a.stuck = True
    b = member(world, "b")
    world.run(lambda: bool(a.waiting()))
    world.settle(30)
    beats = [beat for beat in world.requests(HEARTBEAT) if beat.member_id == a.membership.identity.member_id]
    assert [row.partitions for row in beats[1].topic_partitions] == [[0, 1, 2, 3]]
    assert all(beat.topic_partitions is None for beat in beats[2:]), "it still holds them"
    assert b.assigned == []
    assert sum(state.revoking for state in a.subscription.partitions.values()) == 2
    a.stuck = False
    world.run(lambda: world.stable() and bool(b.assigned), limit_s=10)


def test_topics_known_by_id_only_are_asked_for_by_id() -> None:
    world = World({"t": 2})
    world.hidden.add("t")
    a = member(world, "a")
    world.run(world.stable, limit_s=10)
    assert a.assigned == tps(0, 1)


def test_topic_that_metadata_does_not_know_yet_stays_pending_and_the_rest_is_read() -> None:
    world = World({"t": 2, "u": 2})
    known = world._topics

    def without_u() -> Any:
        return {name: topic for name, topic in known().items() if name != "u"}

    world._topics = without_u  # type: ignore[method-assign]
    a = member(world, "a", "t", "u")
    world.run(lambda: a.assigned == tps(0, 1), limit_s=10)
    world.settle(20)
    assert a.assigned == tps(0, 1)
    world._topics = known  # type: ignore[method-assign]
    world.run(world.stable, limit_s=10)
    assert a.assigned == tps(0, 1) + tps(0, 1, topic="u")
    assert not a.errors


def test_topic_made_again_under_its_name_is_another_topic() -> None:
    world = World({"t": 2})
    a = member(world, "a")
    world.run(world.stable)
    a.listener.told.clear()
    world.bench.catalog.topics["t"] = TopicInfo("t", uuid.UUID(int=99), 2)
    world.bench.coordinator.on_topics_changed(now=world.bench.timers.now, wall_ms=world.bench.timers.wall_ms)
    world.settle(20)
    assert world.stable()
    assert a.listener.told[0] == ("revoked", tps(0, 1))
    assert a.listener.told[-1] == ("assigned", tps(0, 1))
    owned = [beat.topic_partitions for beat in world.requests(HEARTBEAT) if beat.topic_partitions is not None][-1]
    assert [row.topic_id.int for row in owned] == [99]


def test_pattern_is_matched_by_the_broker_and_taken_back_by_a_list() -> None:
    world = World({"orders-1": 2, "orders-2": 2, "other": 2})
    a = unsubscribed(world)
    a.subscription.choose(SubscriptionKind.BROKER_PATTERN)
    a.subscription.broker_pattern = "orders-.*"
    a.membership.subscription_changed()
    world.run(lambda: len(a.assigned) == 4, limit_s=10)
    assert world.requests(HEARTBEAT)[0].subscribed_topic_regex == "orders-.*"
    a.subscription.kind = SubscriptionKind.NONE
    a.subscribe("other")
    world.run(lambda: a.assigned == tps(0, 1, topic="other"), limit_s=20)
    assert "" in [beat.subscribed_topic_regex for beat in world.requests(HEARTBEAT)]


def test_pattern_that_the_broker_cannot_use_is_a_typed_error() -> None:
    world = World()
    a = unsubscribed(world)
    a.subscription.choose(SubscriptionKind.BROKER_PATTERN)
    a.subscription.broker_pattern = "(unbalanced"
    world.run(lambda: bool(a.errors), limit_s=10)
    assert isinstance(a.errors[0], InvalidRegularExpression)


def test_pattern_needs_a_broker_that_knows_them() -> None:
    world = World()
    world.node.ranges[HEARTBEAT] = (0, 0)
    a = unsubscribed(world)
    a.subscription.choose(SubscriptionKind.BROKER_PATTERN)
    a.subscription.broker_pattern = "t.*"
    world.run(lambda: bool(a.errors), limit_s=10)
    assert isinstance(a.errors[0], UnsupportedVersion)


def test_first_version_of_the_heartbeat_works_too() -> None:
    world = World()
    world.node.ranges[HEARTBEAT] = (0, 0)
    a, b = member(world, "a"), member(world, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))


def test_assignor_that_the_broker_does_not_have_is_fatal() -> None:
    world = World()
    a = member(world, group_remote_assignor="nonsense")
    world.run(lambda: len(a.errors) > 1, limit_s=10)
    assert all(isinstance(error, UnsupportedAssignor) for error in a.errors)


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("one", -2)])
def test_user_who_stays_away_too_long_makes_the_member_leave(instance_id: str | None, epoch: int) -> None:
    world = World()
    options = {} if instance_id is None else {"group_instance_id": instance_id}
    a = member(world, max_poll_interval_ms=10_000, **options)
    world.run(world.stable)
    a.polling = False
    world.settle(11)
    assert world.requests(HEARTBEAT)[-1].member_epoch == epoch
    count = len(world.requests(HEARTBEAT))
    world.settle(60)
    assert len(world.requests(HEARTBEAT)) == count
    a.polling = True
    world.run(world.stable, limit_s=10)
    assert a.listener.names() == ["assigned", "lost", "assigned"]


@pytest.mark.parametrize("code", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_fenced_member_comes_back_under_its_own_id(code: ErrorCode) -> None:
    world = World()
    a = member(world)
    world.run(world.stable)
    before = a.membership.identity.member_id
    world.faults[HEARTBEAT] = [code]
    world.run(lambda: "lost" in a.listener.names())
    world.run(world.stable, limit_s=10)
    assert a.membership.identity.member_id == before
    assert [beat.member_epoch for beat in world.requests(HEARTBEAT)].count(0) == 2


@pytest.mark.parametrize(
    ("ranges", "features", "protocol"),
    [
        ({HEARTBEAT: (0, 1)}, {"group.version": 1}, "consumer"),
        ({HEARTBEAT: (0, 0)}, {"group.version": 1}, "consumer"),
        ({HEARTBEAT: (0, 1)}, {"group.version": 0}, "classic"),
        ({HEARTBEAT: (0, 1)}, {}, "classic"),
        ({}, {"group.version": 1}, "classic"),
        ({HEARTBEAT: (7, 9)}, {"group.version": 1}, "classic"),
    ],
)
def test_auto_speaks_what_the_brokers_have(
    ranges: dict[ApiKey, tuple[int, int]], features: dict[str, int], protocol: str
) -> None:
    versions = ApiVersions({int(key): offered for key, offered in ranges.items()}, finalized_features=features)
    chosen, reason = choose_protocol(versions)
    assert chosen == protocol
    assert reason
