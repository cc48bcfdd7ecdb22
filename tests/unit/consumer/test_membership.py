"""What both group protocols promise, in virtual time against the broker's own coordinator: whatever a coordinator
answers, a member is stable again within ten seconds or says why not; it stays alive while the user works; it hands
over cleanly.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pykclient.broker.group_config import GroupConfig
from pykclient.consumer.classic_group import ClassicMembership
from pykclient.consumer.heartbeats import Verdict, verdict
from pykclient.consumer.kip848_group import Kip848Membership
from pykclient.errors import (
    BrokerError,
    ErrorCode,
    FencedInstanceId,
    KafkaError,
    UnreleasedInstanceId,
    error_for_code,
)
from pykclient.net.failures import StrayAnswer
from pykclient.protocol.messages import ApiKey
from pykclient.types import TopicPartition
from tests.unit.consumer.group_fakes import Fault, GroupMember, World
from tests.unit.fake_cluster import Drop, Hang

PROTOCOLS = ["eager", "cooperative", "consumer"]
both = pytest.mark.parametrize("protocol", PROTOCOLS)

CONFIG = GroupConfig(
    group_initial_rebalance_delay_ms=0,
    offsets_topic_num_partitions=1,
    group_min_session_timeout_ms=1000,
)


def make_world(topics: dict[str, int] | None = None) -> World:
    return World(topics, CONFIG)


def member(world: World, protocol: str, name: str = "a", *topics: str, **options: Any) -> GroupMember:
    if protocol == "consumer":
        made = GroupMember(world, Kip848Membership, name=name, group_protocol="consumer", **options)
    else:
        strategy = "range" if protocol == "eager" else "cooperative-sticky"
        options.setdefault("partition_assignment_strategy", strategy)
        options.setdefault("session_timeout_ms", 6000)
        options.setdefault("heartbeat_interval_ms", 1000)
        made = GroupMember(world, ClassicMembership, name=name, **options)
    made.subscribe(*(topics or ("t",)))
    return made


def tps(*numbers: int, topic: str = "t") -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in numbers]


# ---- every error, on every request -----------------------------------------------------------------------------------

FAULTS: list[Fault] = [
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.UNRELEASED_INSTANCE_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.OFFSET_OUT_OF_RANGE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ErrorCode.INVALID_SESSION_TIMEOUT,
    ErrorCode.INVALID_GROUP_ID,
    ErrorCode.UNSUPPORTED_ASSIGNOR,
    ErrorCode.INVALID_REGULAR_EXPRESSION,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    9999,
    Drop(),
    Hang(),
]


def fault_name(fault: object) -> str:
    if isinstance(fault, ErrorCode):
        return fault.name
    return type(fault).__name__.lower() if not isinstance(fault, int) else f"code {fault}"


REQUESTS = [
    ("eager", ApiKey.FIND_COORDINATOR),
    ("eager", ApiKey.JOIN_GROUP),
    ("eager", ApiKey.SYNC_GROUP),
    ("eager", ApiKey.HEARTBEAT),
    ("cooperative", ApiKey.JOIN_GROUP),
    ("cooperative", ApiKey.SYNC_GROUP),
    ("cooperative", ApiKey.HEARTBEAT),
    ("consumer", ApiKey.FIND_COORDINATOR),
    ("consumer", ApiKey.CONSUMER_GROUP_HEARTBEAT),
]


def test_stray_answer_is_no_reason_to_trouble_the_user() -> None:
    assert verdict(StrayAnswer("answer 3 came where 4 was due")) is Verdict.FIND_COORDINATOR


def recovers(world: World, a: GroupMember, fault: Fault, limit_s: float) -> None:
    """Stable again within ten seconds after the fault, or a typed error of that code was raised. A fatal one is raised
    by every poll from then on, and partitions are let go."""
    world.run(lambda: not any(world.faults.values()), limit_s=30)
    world.settle(0.01)  # the member hears of it
    world.run(lambda: world.stable() or any(getattr(error, "fatal", False) for error in a.errors), limit_s=limit_s)
    for error in a.errors:
        assert isinstance(error, BrokerError)
        assert isinstance(fault, int)
        assert error.code == fault
    must_raise = isinstance(fault, int) and verdict(error_for_code(fault)()) in (Verdict.RAISE, Verdict.FATAL)
    assert bool(a.errors) == must_raise, "what trying again cannot help is told, and nothing else"
    if not world.stable():
        raised = len(a.errors)
        world.settle(5)
        assert len(a.errors) > raised, "a fatal error is raised by every call"
        assert a.assigned == []


@pytest.mark.parametrize(("protocol", "api_key"), REQUESTS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_first_join_survives_or_says_why_not(protocol: str, api_key: ApiKey, fault: Fault) -> None:
    world = make_world()
    world.faults[api_key] = [fault]
    a = member(world, protocol)
    recovers(world, a, fault, 10.0)


@pytest.mark.parametrize(("protocol", "api_key"), REQUESTS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_rebalance_survives_or_says_why_not(protocol: str, api_key: ApiKey, fault: Fault) -> None:
    world = make_world()
    a = member(world, protocol, "a", "t")
    world.run(world.stable)
    world.bench.catalog.put("u", 2)
    if api_key is ApiKey.FIND_COORDINATOR:
        a.context.coordinators.forget(*_group_key())
    world.faults[api_key] = [fault]
    a.subscribe("t", "u")
    recovers(world, a, fault, 10.0)
    if not any(getattr(error, "fatal", False) for error in a.errors):
        world.run(lambda: world.stable() and len(a.assigned) == 6, limit_s=10)


def _group_key() -> Any:
    from pykclient.client.coordinators import CoordinatorKind

    return CoordinatorKind.GROUP, "g"


@both
def test_membership_that_was_lost_is_told_as_lost_and_won_again(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol)
    world.run(world.stable)
    key = ApiKey.CONSUMER_GROUP_HEARTBEAT if protocol == "consumer" else ApiKey.HEARTBEAT
    world.faults[key] = [ErrorCode.UNKNOWN_MEMBER_ID]
    world.run(lambda: not world.faults[key])
    world.run(lambda: a.assigned == [], limit_s=1)
    # The old self is still in the classic group until its session ends.
    world.run(world.stable, limit_s=20)
    assert a.listener.names() == ["assigned", "lost", "assigned"]
    assert a.commits == [], "what was lost is not committed"
    assert not a.errors


@both
def test_error_that_is_not_fatal_is_raised_once_and_the_next_poll_goes_on(protocol: str) -> None:
    world = make_world()
    key = ApiKey.CONSUMER_GROUP_HEARTBEAT if protocol == "consumer" else ApiKey.JOIN_GROUP
    world.faults[key] = [ErrorCode.GROUP_AUTHORIZATION_FAILED] * 3
    a = member(world, protocol)
    world.run(world.stable, limit_s=10)
    assert [type(error).__name__ for error in a.errors] == ["GroupAuthorizationFailed"] * 3


# ---- liveness --------------------------------------------------------------------------------------------------------


@both
def test_user_who_works_for_ten_sessions_causes_no_rebalance(protocol: str) -> None:
    world = make_world()
    a, b = member(world, protocol, "a"), member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    world.settle(20)
    before = a.membership.identity
    told = list(a.listener.told), list(b.listener.told)
    a.polling = False
    world.settle(100)
    assert a.membership.identity == before
    assert (a.listener.told, b.listener.told) == told


@both
def test_partitions_that_will_go_are_read_no_more_while_the_user_is_away(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.polling = False
    member(world, protocol, "b")
    world.settle(20)
    # Cooperative members learn what goes only from the next round, which waits for the user.
    assert len(a.assigned) == {"eager": 0, "cooperative": 4, "consumer": 2}[protocol]
    assert len(_held(a)) == 4
    a.polling = True
    world.run(lambda: world.stable() and len(a.assigned) == 2, limit_s=20)


@both
def test_listener_that_takes_long_keeps_its_place_and_no_one_joins_before_it_is_done(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.stuck = True
    b = member(world, protocol, "b")
    world.settle(60)
    assert b.assigned == [] or not set(b.assigned) & set(_held(a)), "nothing is in two hands"
    a.stuck = False
    world.run(lambda: world.stable() and bool(b.assigned))
    assert "lost" not in a.listener.names()
    assert a.commits, "committed before it gave up"


def _held(each: GroupMember) -> list[TopicPartition]:
    return list(each.subscription.partitions)


@both
def test_user_who_stays_away_too_long_loses_its_place_once_and_gets_it_back(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="pykclient.consumer")
    world = make_world()
    a = member(world, protocol, "a", max_poll_interval_ms=30_000)
    b = member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    world.settle(20)
    a.polling = False
    world.settle(29)
    assert a.assigned
    world.run(lambda: len(b.assigned) == 4, limit_s=20)
    assert a.assigned == []
    world.settle(100)
    a.polling = True
    world.run(lambda: world.stable() and len(a.assigned) == 2, limit_s=20)
    assert "lost" in a.listener.names()
    assert a.errors == []
    notices = list(a.membership.notices)
    assert len(notices) == 1
    assert "30000" in str(notices[0])
    assert "overrun by" in str(notices[0])
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "max_poll_interval_ms=30000" in warnings[0].getMessage()


@both
def test_member_that_was_stopped_past_its_session_hears_of_it_and_comes_back(protocol: str) -> None:
    world = make_world()
    a, b = member(world, protocol, "a"), member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    world.settle(20)
    world.members.remove(a)  # the whole process stands still
    world.run(lambda: len(b.assigned) == 4, limit_s=100)
    world.members.append(a)
    world.run(lambda: world.stable() and len(a.assigned) == 2, limit_s=30)
    assert "lost" in a.listener.names()
    assert not a.errors


@both
def test_time_inside_poll_does_not_count(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a", max_poll_interval_ms=10_000)
    world.run(world.stable)
    world.settle(200)
    assert a.listener.names() == ["assigned"]


@both
def test_normal_rebalance_logs_one_line_per_member_and_no_warning(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="pykclient.consumer")
    world = make_world({"t": 4})
    member(world, protocol, "a")
    world.run(world.stable)
    caplog.clear()
    b = member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(b.assigned))
    world.settle(20)
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("pykclient.consumer")]
    assert all("cause: " in line for line in lines)
    assert all(record.levelno == logging.INFO for record in caplog.records)
    # A cooperative hand-over takes two generations; each is said once by each member.
    assert sum(line.startswith("a: ") for line in lines) == (2 if protocol == "cooperative" else 1)


# ---- hand-over -------------------------------------------------------------------------------------------------------


@both
def test_partition_is_never_held_by_two_and_never_rests_for_long(protocol: str) -> None:
    world = make_world({"t": 8})
    members: list[GroupMember] = []

    def nothing_in_two_hands() -> bool:
        held = [tp for each in members for tp in each.assigned]
        assert len(held) == len(set(held)), "a partition has two readers"
        return world.stable()

    for name in "abcd":
        members.append(member(world, protocol, name))
        world.run(lambda: nothing_in_two_hands() and all(each.assigned for each in members), limit_s=60)
    for leaver in (members[0], members[2]):
        leaver.polling = False
        world.run(leaver.idle)
        leaver.start(leaver.membership.leave("the test says so"))
        world.run(leaver.idle)
        members.remove(leaver)
        leaver.subscription.clear()
        leaver.subscription.topics = frozenset()
        world.run(lambda: nothing_in_two_hands() and sum(len(each.assigned) for each in members) == 8, limit_s=60)
    assert not any(each.errors for each in world.members)


@both
def test_leaving_tells_the_listener_commits_and_says_goodbye(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.polling = False
    a.start(a.membership.leave("closing"))
    world.run(a.idle)
    assert a.listener.names() == ["assigned", "revoked"]
    assert len(a.commits) == 1
    assert a.membership.identity.generation_id == -1
    if protocol == "consumer":
        assert world.requests(ApiKey.CONSUMER_GROUP_HEARTBEAT)[-1].member_epoch == -1
    else:
        assert world.requests(ApiKey.LEAVE_GROUP)[-1].members[0].reason == "closing"


@both
def test_listener_that_raises_does_not_stop_the_rebalance(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)

    def fail(name: str) -> None:
        raise ValueError(name)

    a.listener.on_call = fail
    b = member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(b.assigned))
    expected = {"revoked", "assigned"}
    assert {str(error) for error in a.errors} <= expected
    assert "revoked" in {str(error) for error in a.errors}
    assert len(a.assigned) == 2


@both
def test_poll_that_is_given_up_half_way_tells_nothing_twice(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.listener.told.clear()
    b = member(world, protocol, "b")
    a.stuck = True
    world.run(lambda: bool(a.waiting()), limit_s=30)
    # The callback runs, but the poll ends before anyone hears of it: a time-out, or Ctrl-C.
    a.run_callback_and_cancel()
    a.stuck = False
    world.run(lambda: world.stable() and bool(b.assigned))
    assert a.listener.names().count("revoked") == 1
    assert len(a.assigned) == 2


@both
def test_listener_may_have_none_of_the_methods(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    a.context.listener = object()  # type: ignore[assignment]
    world.run(world.stable)
    b = member(world, protocol, "b")
    b.context.listener = None
    world.run(lambda: world.stable() and bool(b.assigned))
    assert not a.errors
    assert not b.errors


@both
def test_pause_outlives_a_rebalance_for_partitions_that_stay(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    for state in a.subscription.partitions.values():
        state.paused = True
    b = member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(b.assigned))
    assert all(state.paused for state in a.subscription.partitions.values())
    assert not any(state.paused for state in b.subscription.partitions.values())


@both
def test_new_partitions_are_found_and_assigned(protocol: str) -> None:
    world = make_world({"t": 2})
    a, b = member(world, protocol, "a"), member(world, protocol, "b")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    world.bench.catalog.put("t", 6)
    world.bench.coordinator.on_topics_changed(now=world.bench.timers.now, wall_ms=world.bench.timers.wall_ms)
    for each in (a, b):
        each.metadata.request_update()
    world.run(lambda: world.stable() and len(a.assigned) == 3, limit_s=30)


@both
def test_changed_subscription_gives_up_only_what_is_no_longer_wanted(protocol: str) -> None:
    world = make_world({"t": 2, "u": 2, "v": 2})
    a = member(world, protocol, "a", "t", "u")
    world.run(world.stable)
    a.listener.told.clear()
    a.subscribe("u", "v")
    world.run(lambda: world.stable() and a.assigned == tps(0, 1, topic="u") + tps(0, 1, topic="v"))
    if protocol != "eager":
        revoked = [given for name, given in a.listener.told if name == "revoked"]
        assert revoked == [tps(0, 1, topic="t")]


@both
def test_coordinator_that_moves_is_found_again_without_a_rebalance(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    world.settle(10)
    told = list(a.listener.told)
    world.bench.fail_over()
    a.transport.break_all(world.node.endpoint)
    world.settle(60)
    assert world.stable()
    assert a.listener.told == told
    assert not a.errors


@both
def test_subscribing_again_after_leaving_joins_again(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.polling = False
    a.start(a.membership.leave("unsubscribe"))
    world.run(a.idle)
    a.subscription.clear()
    a.membership.subscription_changed()
    world.settle(5)
    a.polling = True
    a.subscribe("t")
    world.run(lambda: world.stable() and len(a.assigned) == 4)


# ---- static members --------------------------------------------------------------------------------------------------


@both
def test_static_member_that_restarts_causes_no_rebalance(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a", group_instance_id="one")
    b = member(world, protocol, "b", group_instance_id="two")
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned))
    world.settle(20)
    held, told = a.assigned, list(b.listener.told)
    a.polling = False
    a.start(a.membership.leave("restart"))
    world.run(a.idle)
    world.members.remove(a)
    again = member(world, protocol, "a2", group_instance_id="one")
    world.run(lambda: world.stable() and bool(again.assigned))
    assert again.assigned == held
    assert b.listener.told == told
    assert not world.requests(ApiKey.LEAVE_GROUP)


@both
def test_second_live_instance_ends_one_of_the_two_for_good(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a", group_instance_id="one")
    world.run(world.stable)
    b = member(world, protocol, "b", group_instance_id="one")
    # Classic: the newcomer wins. KIP-848: the one who is there stays.
    loser, winner = (b, a) if protocol == "consumer" else (a, b)
    kind: type[KafkaError] = UnreleasedInstanceId if protocol == "consumer" else FencedInstanceId
    world.run(lambda: bool(loser.errors), limit_s=30)
    world.settle(5)
    assert len(loser.errors) > 1
    assert all(isinstance(error, kind) and error.fatal for error in loser.errors)
    assert loser.assigned == []
    loser.polling = False
    world.settle(60)
    assert winner.assigned == tps(0, 1, 2, 3)
    assert not winner.errors


# ---- two things at once ----------------------------------------------------------------------------------------------


@both
def test_membership_lost_while_the_listener_works_is_won_again(protocol: str) -> None:
    world = make_world()
    a = member(world, protocol, "a")
    world.run(world.stable)
    a.stuck = True
    b = member(world, protocol, "b")
    world.run(lambda: bool(a.waiting()))
    key = ApiKey.CONSUMER_GROUP_HEARTBEAT if protocol == "consumer" else ApiKey.HEARTBEAT
    lost = len(world.requests(key))
    world.faults[key], world.victim = [ErrorCode.UNKNOWN_MEMBER_ID], "a"
    world.run(lambda: len(world.requests(key)) > lost and a.membership.identity.generation_id == -1)
    world.faults.clear()
    a.stuck = False
    world.run(lambda: world.stable() and bool(a.assigned) and bool(b.assigned), limit_s=20)
    assert not a.errors
    told = [tp for name, given in a.listener.told if name in ("revoked", "lost") for tp in given]
    assert len(told) == len(set(told)), "each partition is taken away once"


@pytest.mark.parametrize("before", ["eager", "cooperative"])
def test_group_changes_from_classic_to_kip848_member_by_member(before: str) -> None:
    world = make_world({"t": 6})
    old = [member(world, before, name) for name in "ab"]
    world.run(lambda: world.stable() and all(each.assigned for each in old))

    def nothing_in_two_hands() -> bool:
        held = [tp for each in world.members for tp in each.assigned]
        assert len(held) == len(set(held)), "a partition has two readers"
        return world.stable()

    for each in old:
        fresh = member(world, "consumer", f"{each.context.client_id}-new")
        world.run(lambda: nothing_in_two_hands() and all(one.assigned for one in world.members), limit_s=60)
        assert fresh.assigned
        each.polling = False
        world.run(each.idle)
        each.start(each.membership.leave("bounce"))
        world.run(each.idle)
        world.members.remove(each)
        world.run(lambda: nothing_in_two_hands() and sum(len(one.assigned) for one in world.members) == 6, limit_s=60)
    assert not any(each.errors for each in (*old, *world.members))
