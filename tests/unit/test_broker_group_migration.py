"""Groups that change their protocol while they live (KIP-848), there and back."""

from __future__ import annotations

import pytest

from pykclient.broker.classic_group import ClassicGroup
from pykclient.broker.group_config import GroupConfig, MigrationPolicy
from pykclient.broker.kip848_group import ConsumerGroup
from pykclient.errors import ErrorCode, NotEnoughReplicas
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from tests.unit.consumer_bench import (
    ClassicConsumer,
    Consumer,
    ConsumerBench,
)
from tests.unit.group_bench import GROUP


def converge(bench: ConsumerBench, classic: list[ClassicConsumer], modern: list[Consumer]) -> None:
    for _ in range(15):
        for member in classic:
            member.follow()
        for consumer in modern:
            assert consumer.beat().error_code == 0
    owned = sorted([index for member in classic for index in member.owned] + [i for c in modern for i in c.indexes()])
    assert owned == [0, 1, 2, 3]


def test_a_classic_group_becomes_a_consumer_group_when_the_first_new_member_comes_and_back_when_it_leaves() -> None:
    bench = ConsumerBench()
    old = bench.one_stable_member_with_partitions()
    new = bench.member("new")
    assert new.beat().error_code == 0
    group = bench.consumer()
    assert group.members.keys() == {old.member_id, "new"}
    assert new.owned == set(), "the classic member has everything"
    converge(bench, [old], [new])
    assert len(old.owned) == 2
    described = bench.call(ConsumerGroupDescribeRequest(group_ids=[GROUP])).groups[0]
    assert sorted(member.member_type for member in described.members) == [0, 1]
    bench.fail_over()
    converge(bench, [old], [new])
    new.leave()
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert (view.kind, view.state) == ("classic", "PreparingRebalance")
    assert old.beat() == ErrorCode.REBALANCE_IN_PROGRESS
    rejoined = old.join()
    assert (rejoined.error_code, rejoined.leader) == (0, old.member_id)


def test_a_classic_member_joins_a_consumer_group() -> None:
    bench = ConsumerBench()
    new = bench.member("new")
    new.beat()
    old = ClassicConsumer(bench)
    joined = old.join()
    assert (joined.error_code, joined.generation_id, joined.protocol_name) == (0, 3, "range")
    assert joined.leader != old.member_id
    assert old.sync().error_code == 0
    assert old.owned == set()
    converge(bench, [old], [new])
    assert len(old.owned) == 2
    left = bench.call(LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(member_id=old.member_id)]))
    assert left.members[0].error_code == 0
    bench.settle(new)
    assert new.indexes() == [0, 1, 2, 3]


def test_classic_requests_to_a_consumer_group_are_checked() -> None:
    bench = ConsumerBench()
    bench.member("new").beat()
    old = ClassicConsumer(bench)
    old.join()
    old.sync()
    generation = old.generation
    old.generation = 77
    assert old.beat() == ErrorCode.ILLEGAL_GENERATION
    assert old.sync().error_code == ErrorCode.ILLEGAL_GENERATION
    old.generation = generation
    stranger = ClassicConsumer(bench)
    stranger.member_id = "new"
    assert stranger.beat() == ErrorCode.UNKNOWN_MEMBER_ID
    bad = old.request()
    bad.protocol_type = "connect"
    assert bench.call(bad).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    bad = old.request()
    bad.protocols = [JoinGroupRequestProtocol(name="range", metadata=b"\xff")]
    assert bench.call(bad).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_classic_member_that_does_not_come_back_is_removed() -> None:
    bench = ConsumerBench()
    new = bench.member("new")
    new.beat()
    old = ClassicConsumer(bench)
    old.join()
    bench.timers.advance(9)
    assert old.beat() == 0
    bench.timers.advance(9)
    assert old.beat() in (0, ErrorCode.REBALANCE_IN_PROGRESS)
    bench.timers.advance(3)
    assert old.beat() == ErrorCode.UNKNOWN_MEMBER_ID, "no SyncGroup within the rebalance time-out"


def test_classic_members_that_wait_are_told_when_the_group_changes_its_kind() -> None:
    bench = ConsumerBench()
    bench.one_stable_member_with_partitions()
    waiting = bench.join(bench.new_member())
    assert not waiting.done
    bench.member("new").beat()
    assert waiting.result().error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_group_whose_last_new_member_is_replaced_by_its_classic_self_becomes_classic() -> None:
    bench = ConsumerBench()
    old = bench.one_stable_member_with_partitions()
    new = bench.member("new", instance_id="i")
    new.beat()
    converge(bench, [old], [new])
    back = ClassicConsumer(bench, instance_id="i")
    assert back.join().error_code == 0
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert view.kind == "classic"
    assert set(view.members) == {old.member_id, back.member_id}
    bench.fail_over()
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert (view.kind, len(view.members)) == ("classic", 2)


@pytest.mark.parametrize("way", ["upgrade", "downgrade"])
def test_a_change_of_kind_that_cannot_be_written_has_not_happened(way: str) -> None:
    bench = ConsumerBench()
    old = bench.one_stable_member_with_partitions()
    new = bench.member("new")
    if way == "upgrade":
        bench.log.fail_next = NotEnoughReplicas("isr")
        assert new.beat().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert old.beat() == 0
        assert isinstance(bench.shard().groups[GROUP], ClassicGroup)
    else:
        new.beat()
        converge(bench, [old], [new])
        bench.log.fail_next = NotEnoughReplicas("isr")
        assert new.leave().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert isinstance(bench.shard().groups[GROUP], ConsumerGroup)
        assert old.beat() == 0
    bench.timers.advance(50)
    assert bench.shard().groups[GROUP].is_empty, "sessions are still watched"


def test_migration_can_be_switched_off() -> None:
    config = GroupConfig(
        group_initial_rebalance_delay_ms=0,
        offsets_topic_num_partitions=1,
        group_consumer_migration_policy=MigrationPolicy.DISABLED,
    )
    bench = ConsumerBench(config=config)
    bench.one_stable_member_with_partitions()
    assert bench.member("new").beat().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    other = ConsumerBench(config=config)
    other.member("new").beat()
    assert ClassicConsumer(other).join().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_an_empty_group_changes_its_kind_freely_and_keeps_its_offsets() -> None:
    bench = ConsumerBench()
    bench.commit({0: 5})
    new = bench.member("new")
    new.beat()
    new.leave()
    assert bench.fetch([0]) == {0: (5, 0)}
    old = ClassicConsumer(bench)
    old.join()
    assert isinstance(bench.shard().groups[GROUP], ClassicGroup)
    bench.fail_over()
    assert bench.fetch([0]) == {0: (5, 0)}
    assert not isinstance(bench.shard().groups.get(GROUP), ConsumerGroup)


def test_a_group_of_other_than_consumers_stays_what_it_is() -> None:
    bench = ConsumerBench()
    request = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="connect",
        protocols=[JoinGroupRequestProtocol(name="x", metadata=b"")],
    )
    request.member_id = bench.call(request).member_id
    bench.call(request)
    assert bench.member("new").beat().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert isinstance(bench.shard().groups[GROUP], ClassicGroup)
