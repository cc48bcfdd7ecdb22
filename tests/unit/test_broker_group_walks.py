"""Random walks through the group protocols: nothing is owned twice, nobody waits for ever, replay agrees."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from pykclient.broker.classic_group import ClassicGroup, ClassicState
from pykclient.broker.consumer_protocol import write_assignment
from pykclient.broker.group_config import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupConfig
from pykclient.broker.kip848_group import ConsumerGroup, Partition
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages.leave_group import MemberIdentity
from tests.unit.classic_bench import ClassicBench
from tests.unit.consumer_bench import (
    ClassicMemberWalk,
    Consumer,
    ConsumerBench,
    forget_checks,
)
from tests.unit.group_bench import GROUP


class ClassicGroupMachine(RuleBasedStateMachine):
    """Members join, sync, beat, leave and go silent in any order; the coordinator moves now and then."""

    members = Bundle("members")

    def __init__(self) -> None:
        super().__init__()
        self.bench = ClassicBench()
        self.joins: dict[str, Completion[Any]] = {}
        self.generation: dict[str, int] = {}
        self.owned: dict[str, tuple[int, frozenset[int]]] = {}
        self.syncs: dict[str, tuple[int, Completion[Any]]] = {}

    @initialize(delay_ms=st.sampled_from([0, 0, 3000]))
    def choose_delay(self, delay_ms: int) -> None:
        config = GroupConfig(group_initial_rebalance_delay_ms=delay_ms, offsets_topic_num_partitions=1)
        self.bench = ClassicBench(config=config)

    @rule(target=members)
    def new_member(self) -> Any:
        response = self.bench.join().result()
        if response.error_code != ErrorCode.MEMBER_ID_REQUIRED:
            return multiple()
        return response.member_id

    @rule(member=members)
    def join(self, member: str) -> None:
        if member in self.joins and not self.joins[member].done:
            return
        self.joins[member] = self.bench.join(member)

    @rule(member=members)
    def sync(self, member: str) -> None:
        joined = self._joined(member)
        if joined is None:
            return
        assignments = {}
        if joined.leader == member:
            ids = [other.member_id for other in joined.members]
            for place, other in enumerate(ids):
                indexes = [index for index in range(4) if index % len(ids) == place]
                assignments[other] = write_assignment({"t": indexes}, 1)
        reply = self.bench.sync(member, joined.generation_id, assignments)
        self.syncs[member] = (joined.generation_id, reply)

    @rule(member=members)
    def heartbeat(self, member: str) -> None:
        joined = self._joined(member)
        if joined is not None:
            code = self.bench.heartbeat(member, joined.generation_id)
            assert code in (
                0,
                ErrorCode.REBALANCE_IN_PROGRESS,
                ErrorCode.ILLEGAL_GENERATION,
                ErrorCode.UNKNOWN_MEMBER_ID,
            )

    @rule(member=consumes(members))
    def leave(self, member: str) -> None:
        self.bench.leave(MemberIdentity(member_id=member))

    @rule(seconds=st.sampled_from([1.0, 6.0, 21.0]))
    def time_passes(self, seconds: float) -> None:
        self.bench.timers.advance(seconds)

    @rule()
    def fail_over(self) -> None:
        before = self.bench.shard().groups.get(GROUP)
        stable = before.members if isinstance(before, ClassicGroup) and before.state is ClassicState.STABLE else None
        self.bench.fail_over()
        after = self.bench.shard().groups.get(GROUP)
        if stable is not None:
            assert isinstance(after, ClassicGroup)
            assert {m.member_id: m.assignment for m in after.members.values()} == {
                m.member_id: m.assignment for m in stable.values()
            }
            assert isinstance(before, ClassicGroup)
            assert (after.generation, after.protocol) == (before.generation, before.protocol)

    def _joined(self, member: str) -> Any:
        reply = self.joins.get(member)
        if reply is None or not reply.done or reply.result().error_code:
            return None
        return reply.result()

    @invariant()
    def everybody_in_a_generation_agrees(self) -> None:
        seen: dict[int, tuple[str, str]] = {}
        for member in self.joins:
            joined = self._joined(member)
            if joined is not None:
                agreed = seen.setdefault(joined.generation_id, (joined.leader, joined.protocol_name))
                # A failover may number a new generation like a lost one; within one coordinator it can't happen.
                if self.bench.epoch == 1:
                    assert agreed == (joined.leader, joined.protocol_name)

    @invariant()
    def no_partition_has_two_owners_in_a_generation(self) -> None:
        group = self.bench.shard().groups.get(GROUP)
        if not isinstance(group, ClassicGroup) or group.state is not ClassicState.STABLE:
            return
        assignments = [member.assignment for member in group.members.values() if member.assignment]
        assert len(assignments) == len(set(assignments))
        for member, (generation, reply) in self.syncs.items():
            if member in group.members and generation == group.generation and reply.done:
                answer = reply.result()
                if not answer.error_code:
                    assert answer.assignment == group.members[member].assignment

    @invariant()
    def the_group_is_consistent(self) -> None:
        group = self.bench.shard().groups.get(GROUP)
        if not isinstance(group, ClassicGroup):
            return
        if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
            assert group.leader in group.members
            assert group.members
        if group.state is ClassicState.EMPTY:
            assert not group.members
        for member in group.members.values():
            assert member.awaiting_join is None or group.state is ClassicState.PREPARING_REBALANCE
            assert member.awaiting_sync is None or group.state is ClassicState.COMPLETING_REBALANCE

    def teardown(self) -> None:
        # Nobody waits for ever: after all time-outs every request has been answered.
        self.bench.timers.advance(NEW_MEMBER_JOIN_TIMEOUT_MS / 1000 + 100)
        assert all(reply.done for reply in self.joins.values())
        assert all(reply.done for _, reply in self.syncs.values())
        group = self.bench.shard().groups.get(GROUP)
        assert group is None or group.is_empty


ClassicGroupMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


TestClassicWalks = ClassicGroupMachine.TestCase


class ReconciliationMachine(RuleBasedStateMachine):
    """Members come, beat, change their mind, vanish and return; topics grow; the coordinator moves."""

    consumers = Bundle("consumers")

    def __init__(self) -> None:
        super().__init__()
        self.bench = ConsumerBench(topics={"t": 3, "u": 2})
        self.alive: list[Consumer] = []
        self.count = 0

    @rule(target=consumers, topics=st.sampled_from([["t"], ["u"], ["t", "u"]]), static=st.booleans())
    def join(self, topics: list[str], static: bool) -> Consumer:
        self.count += 1
        instance_id = f"i{self.count}" if static else None
        consumer = self.bench.member(f"m{self.count}", topics=topics, instance_id=instance_id)
        consumer.beat()
        self.alive.append(consumer)
        return consumer

    @rule(consumer=consumers)
    def beat(self, consumer: Consumer) -> None:
        self._beat(consumer)

    def _beat(self, consumer: Consumer) -> None:
        response = consumer.beat()
        assert response.error_code in (
            0,
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.FENCED_MEMBER_EPOCH,
            ErrorCode.GROUP_ID_NOT_FOUND,
        )
        if response.error_code:
            consumer.abandon()
            assert consumer.beat().error_code == 0

    @rule(consumer=consumers)
    def beat_while_busy(self, consumer: Consumer) -> None:
        if consumer.epoch > 0:
            consumer.beat(busy=True)

    @rule(consumer=consumers, topics=st.sampled_from([["t"], ["u"], ["t", "u"]]))
    def change_subscription(self, consumer: Consumer, topics: list[str]) -> None:
        consumer.topics = topics
        if consumer.epoch > 0:
            consumer.beat(subscribed_topic_names=topics)

    @rule(consumer=consumes(consumers))
    def leave(self, consumer: Consumer) -> None:
        consumer.leave()
        self.alive.remove(consumer)

    @rule(consumer=consumers)
    def restart_static(self, consumer: Consumer) -> None:
        if consumer.instance_id is not None and consumer.epoch > 0:
            response = consumer.leave(-2)
            self.count += 1
            consumer.member_id = f"m{self.count}"
            if response.error_code == 0:
                assert consumer.beat().error_code == 0

    @rule()
    def topic_grows(self) -> None:
        self.bench.catalog.put("t", min(self.bench.catalog.topics["t"].partition_count + 1, 6))
        self.bench.topics_changed()

    @rule(seconds=st.sampled_from([5.0, 20.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.bench.timers.advance(seconds)
        group = self.bench.shard().groups.get(GROUP)
        members = group.members if isinstance(group, ConsumerGroup) else {}
        for consumer in self.alive:
            # A client that was not heard of for a whole session stops working by itself.
            if consumer.member_id not in members:
                consumer.abandon()

    @rule()
    def fail_over(self) -> None:
        before = self.bench.shard().groups.get(GROUP)
        self.bench.fail_over()
        after = self.bench.shard().groups.get(GROUP)
        if isinstance(before, ConsumerGroup):
            assert isinstance(after, ConsumerGroup)
            forget_checks(before, after)
        assert after == before

    @invariant()
    def nobody_owns_what_another_owns(self) -> None:
        seen: dict[Partition, str] = {}
        for consumer in self.alive:
            for partition in consumer.owned:
                assert partition not in seen, f"{partition}: {seen.get(partition)} and {consumer.member_id}"
                seen[partition] = consumer.member_id

    @invariant()
    def what_members_own_is_what_the_coordinator_thinks(self) -> None:
        group = self.bench.shard().groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            owners: dict[Partition, str] = {}
            for member in group.members.values():
                for partition in (*member.assigned, *member.revoking):
                    assert partition not in owners
                    owners[partition] = member.member_id
            assert owners == group.owners

    def teardown(self) -> None:
        for consumer in self.alive:
            self._beat(consumer)
        for _ in range(30):
            for consumer in self.alive:
                self._beat(consumer)
        wanted = {
            (self.bench.catalog.id(topic), index)
            for topic in ("t", "u")
            if any(topic in (consumer.topics or []) for consumer in self.alive)
            for index in range(self.bench.catalog.topics[topic].partition_count)
        }
        owned = [partition for consumer in self.alive for partition in consumer.owned]
        assert sorted(owned) == sorted(wanted), "everything has an owner once the group has settled"
        if self.alive:
            assert self.bench.consumer().state_name == "Stable"


class MigrationMachine(RuleBasedStateMachine):
    """Members of both protocols in one group that changes its kind under them."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = ConsumerBench(topics={"t": 4})
        self.modern: list[Consumer] = []
        self.classic: list[ClassicMemberWalk] = []
        self.count = 0

    @precondition(lambda self: len(self.modern) < 3)
    @rule()
    def modern_joins(self) -> None:
        self.count += 1
        consumer = self.bench.member(f"m{self.count}")
        assert consumer.beat().error_code == 0
        self.modern.append(consumer)

    @precondition(lambda self: len(self.classic) < 3)
    @rule()
    def classic_joins(self) -> None:
        member = ClassicMemberWalk(self.bench)
        self.classic.append(member)
        member.step()

    @precondition(lambda self: self.modern)
    @rule(data=st.data())
    def modern_beats(self, data: st.DataObject) -> None:
        self._beat(data.draw(st.sampled_from(self.modern)))

    def _beat(self, consumer: Consumer) -> None:
        response = consumer.beat()
        if response.error_code:
            assert response.error_code in (
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.FENCED_MEMBER_EPOCH,
                ErrorCode.GROUP_ID_NOT_FOUND,
            )
            consumer.abandon()
            assert consumer.beat().error_code == 0

    @precondition(lambda self: self.classic)
    @rule(data=st.data())
    def classic_steps(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.classic)).step()

    @precondition(lambda self: self.modern)
    @rule(data=st.data())
    def modern_leaves(self, data: st.DataObject) -> None:
        consumer = data.draw(st.sampled_from(self.modern))
        self.modern.remove(consumer)
        consumer.leave()

    @precondition(lambda self: self.classic)
    @rule(data=st.data())
    def classic_leaves(self, data: st.DataObject) -> None:
        member = data.draw(st.sampled_from(self.classic))
        self.classic.remove(member)
        member.leave()

    @rule()
    def fail_over(self) -> None:
        self.bench.fail_over()

    @invariant()
    def nobody_owns_what_another_owns(self) -> None:
        group = self.bench.shard().groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            owners: dict[Partition, str] = {}
            for member in group.members.values():
                for partition in (*member.assigned, *member.revoking):
                    assert partition not in owners
                    owners[partition] = member.member_id
            assert owners == group.owners

    def teardown(self) -> None:
        """Left alone, the group settles with everything owned once, whatever kind it ended as."""
        for _ in range(60):
            self.bench.timers.advance(0.5)
            for member in self.classic:
                member.step()
            for consumer in self.modern:
                self._beat(consumer)
        owned = [index for member in self.classic for index in member.owned]
        owned += [index for consumer in self.modern for index in consumer.indexes()]
        assert sorted(owned) == ([0, 1, 2, 3] if self.modern or self.classic else [])
        view = self.bench.coordinator.describe(GROUP)
        if self.modern:
            assert view is not None
            assert view.kind == "consumer"


ReconciliationMachine.TestCase.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


TestReconciliationWalks = ReconciliationMachine.TestCase


MigrationMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


TestMigrationWalks = MigrationMachine.TestCase
