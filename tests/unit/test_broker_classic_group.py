"""The classic group protocol: states, members, time-outs, static members, and failover by replay."""

from __future__ import annotations

from typing import Any

import pytest

from pykclient.broker.authorizer import Authorizer
from pykclient.broker.classic_group import LEGAL, ClassicGroup, ClassicState
from pykclient.broker.group_config import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupConfig
from pykclient.errors import ErrorCode, NotEnoughReplicas
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest
from pykclient.protocol.messages.describe_groups import DescribeGroupsRequest
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from tests.unit.broker_fakes import FakeLog
from tests.unit.classic_bench import REBALANCE_MS, SESSION_MS, ClassicBench, join_request, subscription, sync_request
from tests.unit.group_bench import GROUP

# States


def test_the_transition_table_is_kafkas() -> None:
    s = ClassicState
    arrows = {(before.value, after.value) for before, afters in LEGAL.items() for after in afters}
    assert arrows == {
        (s.EMPTY.value, s.PREPARING_REBALANCE.value),
        (s.STABLE.value, s.PREPARING_REBALANCE.value),
        (s.COMPLETING_REBALANCE.value, s.PREPARING_REBALANCE.value),
        (s.PREPARING_REBALANCE.value, s.COMPLETING_REBALANCE.value),
        (s.PREPARING_REBALANCE.value, s.EMPTY.value),
        (s.COMPLETING_REBALANCE.value, s.STABLE.value),
        *((state.value, s.DEAD.value) for state in s),
    }


@pytest.mark.parametrize("before", list(ClassicState))
@pytest.mark.parametrize("after", list(ClassicState))
def test_a_transition_outside_the_table_is_our_bug(before: ClassicState, after: ClassicState) -> None:
    group = ClassicGroup("g", state=before)
    if after in LEGAL[before]:
        group.to(after, 5)
        assert (group.state, group.previous_state, group.state_since_ms) == (after, before, 5)
    else:
        with pytest.raises(AssertionError):
            group.to(after, 5)


# Joining


def test_a_new_member_is_given_an_id_then_joins_leads_and_gets_its_assignment() -> None:
    bench = ClassicBench()
    member_id = bench.new_member()
    joined = bench.join(member_id).result()
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, member_id)
    assert (joined.protocol_type, joined.protocol_name) == ("consumer", "range")
    assert [(member.member_id, member.metadata) for member in joined.members] == [(member_id, subscription("t"))]
    assert bench.classic().state is ClassicState.COMPLETING_REBALANCE
    synced = bench.sync(member_id, 1, {member_id: b"mine"}).result()
    assert (synced.error_code, synced.assignment, synced.protocol_name) == (0, b"mine", "range")
    assert bench.classic().state is ClassicState.STABLE


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join_group_forms_a_generation(version: int) -> None:
    bench = ClassicBench()
    reply = bench.join(version=version)
    if version >= 4:
        required = reply.result()
        assert required.error_code == ErrorCode.MEMBER_ID_REQUIRED
        reply = bench.join(required.member_id, version=version)
    joined = reply.result()
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, joined.member_id)
    member = bench.classic().members[joined.member_id]
    assert member.rebalance_timeout_ms == (SESSION_MS if version == 0 else REBALANCE_MS)


def test_the_initial_delay_waits_for_more_members_and_is_prolonged_once_they_come() -> None:
    bench = ClassicBench(config=GroupConfig(group_initial_rebalance_delay_ms=3000, offsets_topic_num_partitions=1))
    first = bench.join(bench.new_member())
    bench.timers.advance(2)
    second = bench.join(bench.new_member())
    bench.timers.advance(1.5)
    assert not first.done, "the second member prolonged the delay"
    bench.timers.advance(2.6)
    assert first.result().generation_id == second.result().generation_id == 1
    assert first.result().leader == second.result().leader
    assert len(first.result().members) + len(second.result().members) == 2


def test_the_initial_delay_ends_with_the_rebalance_timeout_however_many_come() -> None:
    bench = ClassicBench(config=GroupConfig(group_initial_rebalance_delay_ms=3000, offsets_topic_num_partitions=1))
    first = bench.join(bench.new_member(), rebalance_ms=7000)
    for _ in range(8):
        bench.timers.advance(1)
        bench.join(bench.new_member(), rebalance_ms=7000)
        if first.done:
            break
    assert first.done
    assert bench.timers.now - 1000.0 <= 7.0


def test_a_join_to_a_stable_group_rebalances_and_both_get_the_same_generation() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    assert bench.classic().members.keys() == {first, second}
    assert bench.heartbeat(first, 2) == bench.heartbeat(second, 2) == 0


def test_a_member_that_does_not_rejoin_in_time_is_out() -> None:
    bench = ClassicBench()
    first = bench.one_stable_member()
    joining = bench.join(bench.new_member())
    for _ in range(4):
        bench.timers.advance(4.9)
        bench.heartbeat(first, 1)
    assert not joining.done
    bench.timers.advance(0.5)
    assert joining.result().generation_id == 2
    assert first not in bench.classic().members
    assert bench.heartbeat(first, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_repeated_join_gets_the_same_answer_and_no_rebalance() -> None:
    bench = ClassicBench()
    _, second = bench.two_stable_members()
    again = bench.join(second).result()
    assert (again.error_code, again.generation_id) == (0, 2)
    assert bench.classic().state is ClassicState.STABLE


def test_a_changed_subscription_and_a_rejoining_leader_start_a_rebalance() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    changed = bench.join(second, protocols=(("range", subscription("t", "u")),))
    assert not changed.done
    assert bench.classic().state is ClassicState.PREPARING_REBALANCE
    leader = bench.join(first)
    assert leader.result().generation_id == 3
    bench.sync(second, 3)
    bench.sync(first, 3, {})
    assert bench.classic().subscribed == frozenset({"t", "u"})
    assert not bench.join(first).done, "the leader asks for a rebalance by joining"


def test_a_second_join_of_the_same_member_answers_the_first() -> None:
    bench = ClassicBench()
    first = bench.one_stable_member()
    bench.join(bench.new_member())
    other = bench.new_member()
    waiting = bench.join(other)
    newer = bench.join(other)
    assert waiting.result().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    bench.join(first)
    assert newer.result().error_code == 0


# Refusals


def test_protocols_must_have_one_in_common() -> None:
    bench = ClassicBench()
    bench.one_stable_member()
    other = bench.join(protocols=(("sticky", b""),)).result()
    assert other.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    connect = bench.join(protocol_type="connect").result()
    assert connect.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    nothing = ClassicBench().join(protocols=()).result()
    assert nothing.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_the_protocol_most_members_prefer_of_those_all_support_is_chosen() -> None:
    bench = ClassicBench(config=GroupConfig(group_initial_rebalance_delay_ms=1000, offsets_topic_num_partitions=1))
    a, b, c = b"", b"", b""
    replies = [
        bench.join(bench.new_member(protocols=p), protocols=p)
        for p in (
            (("range", a), ("sticky", b), ("mine", c)),
            (("sticky", b), ("range", a)),
            (("other", c), ("sticky", b), ("range", a)),
        )
    ]
    bench.timers.advance(20)
    assert {reply.result().protocol_name for reply in replies} == {"sticky"}


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_session_timeouts_outside_the_limits_are_refused(session_ms: int) -> None:
    assert ClassicBench().join(session_ms=session_ms).result().error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_an_empty_group_id_is_refused() -> None:
    request = join_request()
    request.group_id = ""
    assert ClassicBench().call(request).error_code == ErrorCode.INVALID_GROUP_ID


def test_a_full_group_refuses_new_members() -> None:
    config = GroupConfig(group_initial_rebalance_delay_ms=0, group_max_size=1, offsets_topic_num_partitions=1)
    bench = ClassicBench(config=config)
    member_id = bench.one_stable_member()
    assert bench.join().result().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert bench.heartbeat(member_id, 1) == 0


def test_requests_of_unknown_members_and_generations_are_refused() -> None:
    bench = ClassicBench()
    assert bench.heartbeat("x", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.sync("x", 1).result().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.join("x").result().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    left = bench.leave(MemberIdentity(member_id="x"))
    assert (left.error_code, left.members[0].error_code) == (0, ErrorCode.UNKNOWN_MEMBER_ID)
    member_id = bench.one_stable_member()
    assert bench.heartbeat("x", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.heartbeat(member_id, 7) == ErrorCode.ILLEGAL_GENERATION
    assert bench.sync(member_id, 7).result().error_code == ErrorCode.ILLEGAL_GENERATION
    wrong = sync_request(member_id, 1)
    wrong.protocol_name = "sticky"
    assert bench.call(wrong).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_without_the_right_on_the_group_everything_is_refused() -> None:
    bench = ClassicBench(authorizer=Authorizer(enabled=True))
    denied = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert bench.join().result().error_code == denied
    assert bench.sync("m", 1).result().error_code == denied
    assert bench.heartbeat("m", 1) == denied
    assert bench.leave(MemberIdentity(member_id="m")).error_code == denied
    assert bench.call(DescribeGroupsRequest(groups=[GROUP])).groups[0].error_code == denied
    assert bench.call(DeleteGroupsRequest(groups_names=[GROUP])).results[0].error_code == denied


# Syncing


def test_a_rebalance_during_sync_tells_those_who_wait() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    bench.join(second, protocols=(("range", subscription("u")),))
    bench.join(first)
    waiting = bench.sync(second, 3)
    assert not waiting.done
    bench.join(bench.new_member())
    assert waiting.result().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.sync(first, 3).result().error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_that_never_syncs_is_out_after_the_rebalance_timeout() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    bench.join(second, protocols=(("range", subscription("u")),))
    bench.join(first)
    bench.sync(first, 3, {})
    for _ in range(5):
        bench.timers.advance(4)
        bench.heartbeat(first, 3)
        bench.heartbeat(second, 3)
    bench.timers.advance(0.1)
    assert second not in bench.classic().members
    assert bench.heartbeat(first, 3) == ErrorCode.REBALANCE_IN_PROGRESS


def test_an_assignment_that_cannot_be_written_fails_the_sync_and_rebalances() -> None:
    bench = ClassicBench()
    member_id = bench.new_member()
    bench.join(member_id)
    bench.log.fail_next = NotEnoughReplicas("isr")
    assert bench.sync(member_id, 1, {member_id: b"A"}).result().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.classic().state is ClassicState.PREPARING_REBALANCE
    assert bench.join(member_id).result().generation_id == 2


def test_the_assignment_is_told_only_when_it_is_committed() -> None:
    bench = ClassicBench(log=FakeLog(commit_at_once=False))
    reply = bench.send(join_request())
    bench.log.commit()
    member_id = reply.result().member_id
    bench.join(member_id)
    synced = bench.sync(member_id, 1, {member_id: b"A"})
    assert not synced.done
    assert bench.classic().state is ClassicState.COMPLETING_REBALANCE
    bench.log.commit()
    assert synced.result().assignment == b"A"
    assert bench.classic().state is ClassicState.STABLE


# Sessions


def test_a_silent_member_loses_its_session_and_the_others_rebalance() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    bench.timers.advance(6)
    bench.heartbeat(first, 2)
    bench.timers.advance(5)
    assert bench.classic().members.keys() == {first}
    assert bench.heartbeat(first, 2) == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.heartbeat(second, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_last_member_leaving_makes_the_group_empty() -> None:
    bench = ClassicBench()
    member_id = bench.one_stable_member()
    bench.timers.advance(SESSION_MS / 1000 + 1)
    assert bench.classic().state is ClassicState.EMPTY
    assert bench.classic().generation == 2
    assert bench.heartbeat(member_id, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_id_that_is_never_used_is_forgotten() -> None:
    bench = ClassicBench()
    bench.new_member()
    assert len(bench.classic().pending_joins) == 1
    bench.timers.advance(SESSION_MS / 1000)
    assert not bench.classic().pending_joins


def test_a_pending_member_holds_up_a_rebalance_until_it_joins_or_expires() -> None:
    bench = ClassicBench()
    first = bench.one_stable_member()
    bench.new_member()
    bench.timers.advance(1)
    rejoining = bench.join(first, protocols=(("range", subscription("u")),))
    assert not rejoining.done
    bench.timers.advance(SESSION_MS / 1000)
    assert rejoining.result().generation_id == 2


def test_a_new_member_that_waits_in_join_can_expire_but_an_old_one_cannot() -> None:
    bench = ClassicBench()
    first = bench.one_stable_member()
    long_ms = NEW_MEMBER_JOIN_TIMEOUT_MS + 60_000
    newcomer = bench.new_member()
    waiting = bench.join(newcomer, rebalance_ms=long_ms)
    for _ in range(NEW_MEMBER_JOIN_TIMEOUT_MS // 5000):
        bench.timers.advance(5)
        bench.heartbeat(first, 1)
    bench.timers.advance(1)
    assert waiting.result().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    held = bench.join(first, protocols=(("range", subscription("u")),))
    assert held.done


# Leaving


@pytest.mark.parametrize("version", range(6))
def test_leaving_removes_the_member_in_every_version(version: int) -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    if version < 3:
        response = bench.call(LeaveGroupRequest(group_id=GROUP, member_id=second), version)
    else:
        members = [MemberIdentity(member_id=second)]
        response = bench.call(LeaveGroupRequest(group_id=GROUP, members=members), version)
        assert [(member.member_id, member.error_code) for member in response.members] == [(second, 0)]
    assert response.error_code == 0
    assert bench.classic().members.keys() == {first}
    if version < 3:
        again = bench.call(LeaveGroupRequest(group_id=GROUP, member_id=second), version)
        assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_each_leaving_member_gets_its_own_answer() -> None:
    bench = ClassicBench()
    first, _ = bench.two_stable_members()
    pending = bench.new_member()
    response = bench.leave(
        MemberIdentity(member_id=first), MemberIdentity(member_id="x"), MemberIdentity(member_id=pending)
    )
    assert [member.error_code for member in response.members] == [0, ErrorCode.UNKNOWN_MEMBER_ID, 0]


# Static members


class StaticBench(ClassicBench):
    def one_static_member(self) -> str:
        joined = self.join(instance_id="i1").result()
        assert joined.error_code == 0
        self.call(sync_request(joined.member_id, 1, {joined.member_id: b"A"}, "i1"))
        assert isinstance(joined.member_id, str)
        return joined.member_id


def test_a_static_member_comes_back_without_a_rebalance_and_fences_its_old_self() -> None:
    bench = StaticBench()
    old = bench.one_static_member()
    back = bench.join(instance_id="i1").result()
    assert (back.error_code, back.generation_id, back.leader) == (0, 1, back.member_id)
    assert back.skip_assignment is True
    assert back.member_id != old
    assert bench.classic().state is ClassicState.STABLE
    synced = bench.call(sync_request(back.member_id, 1, {}, "i1"))
    assert synced.assignment == b"A"
    assert bench.heartbeat(old, 1, "i1") == ErrorCode.FENCED_INSTANCE_ID
    assert bench.call(sync_request(old, 1, {}, "i1")).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert bench.join(old, instance_id="i1").result().error_code == ErrorCode.FENCED_INSTANCE_ID


def test_an_older_static_leader_is_shown_its_old_id_as_leader() -> None:
    bench = StaticBench()
    old = bench.one_static_member()
    back = bench.join(instance_id="i1", version=8).result()
    assert (back.leader, back.members) == (old, [])


def test_a_static_member_with_another_protocol_rebalances() -> None:
    bench = StaticBench()
    bench.one_static_member()
    back = bench.join(instance_id="i1", protocols=(("sticky", b""), ("range", b""))).result()
    assert (back.generation_id, back.protocol_name) == (2, "sticky")


def test_a_static_member_is_not_dropped_by_a_rebalance_it_missed() -> None:
    bench = StaticBench()
    static = bench.one_static_member()
    dynamic = bench.join(bench.new_member(), rebalance_ms=5_000, session_ms=6_000)
    bench.classic().members[static].session_timeout_ms = 60_000
    assert bench.heartbeat(static, 1, "i1") == ErrorCode.REBALANCE_IN_PROGRESS
    bench.timers.advance(REBALANCE_MS / 1000 + 1)
    joined = dynamic.result()
    assert joined.generation_id == 2
    assert joined.leader == joined.member_id, "a leader must have joined"
    assert {member.group_instance_id for member in joined.members} == {None, "i1"}


def test_a_static_member_leaves_by_its_instance_id_alone() -> None:
    bench = StaticBench()
    bench.one_static_member()
    response = bench.leave(
        MemberIdentity(member_id="", group_instance_id="i1"), MemberIdentity(member_id="", group_instance_id="i2")
    )
    assert [member.error_code for member in response.members] == [0, ErrorCode.UNKNOWN_MEMBER_ID]
    assert bench.classic().state is ClassicState.EMPTY


def test_a_takeover_that_cannot_be_written_leaves_the_old_member_in_place() -> None:
    bench = StaticBench()
    old = bench.one_static_member()
    bench.log.fail_next = NotEnoughReplicas("isr")
    assert bench.join(instance_id="i1").result().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.heartbeat(old, 1, "i1") == 0
    assert bench.classic().leader == old


# Failover, listing, deletion


def test_a_new_coordinator_knows_the_stable_group_and_its_assignments() -> None:
    bench = ClassicBench()
    first, second = bench.two_stable_members()
    bench.fail_over()
    assert bench.heartbeat(first, 2) == bench.heartbeat(second, 2) == 0
    assert bench.sync(second, 2).result().assignment == b"2"
    assert bench.classic().subscribed == frozenset({"t"})
    bench.timers.advance(SESSION_MS / 1000 - 0.5)
    assert len(bench.classic().members) == 2, "a whole session for everybody"
    bench.timers.advance(1)
    assert bench.classic().state is ClassicState.EMPTY


def test_whoever_waits_when_the_coordinator_moves_is_told() -> None:
    bench = ClassicBench()
    bench.one_stable_member()
    waiting = bench.join(bench.new_member())
    bench.coordinator.on_partition_resigned(0)
    assert waiting.result().error_code == ErrorCode.NOT_COORDINATOR
    assert bench.heartbeat("x", 1) == ErrorCode.NOT_COORDINATOR


def test_groups_are_listed_by_state_and_type() -> None:
    bench = ClassicBench()
    bench.one_stable_member()

    def listed(states_filter: list[str] | None = None, types_filter: list[str] | None = None) -> list[Any]:
        request = ListGroupsRequest(states_filter=states_filter or [], types_filter=types_filter or [])
        groups = bench.call(request).groups
        return [(group.group_id, group.group_state, group.group_type) for group in groups]

    assert listed() == [(GROUP, "Stable", "classic")]
    assert listed(states_filter=["stable"]) == listed()
    assert listed(states_filter=["Empty"]) == []
    assert listed(types_filter=["Classic"]) == listed()
    assert listed(types_filter=["consumer"]) == []


def test_a_group_is_described_with_its_members_or_as_dead() -> None:
    bench = ClassicBench()
    member_id = bench.one_stable_member()
    request = DescribeGroupsRequest(groups=[GROUP, "other"])
    group, other = bench.call(request, 5).groups
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    assert [(m.member_id, m.client_id, m.client_host, m.member_assignment) for m in group.members] == [
        (member_id, "c", "/127.0.0.1", b"A")
    ]
    assert (other.group_state, other.error_code) == ("Dead", 0)
    assert bench.call(request, 6).groups[1].error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_only_empty_groups_can_be_deleted() -> None:
    bench = ClassicBench()
    member_id = bench.one_stable_member()
    request = DeleteGroupsRequest(groups_names=[GROUP, "other"])
    assert [result.error_code for result in bench.call(request).results] == [
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.GROUP_ID_NOT_FOUND,
    ]
    bench.leave(MemberIdentity(member_id=member_id))
    assert bench.call(request).results[0].error_code == 0
    assert bench.coordinator.describe(GROUP) is None
    bench.fail_over()
    assert bench.coordinator.describe(GROUP) is None
