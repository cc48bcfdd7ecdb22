"""The consumer group protocol (KIP-848): epochs, reconciliation, assignors, regular expressions, fencing, migration,
failover.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from pykclient.broker.authorizer import AclBinding, Authorizer, Operation, PatternType, Permission, ResourceType
from pykclient.broker.classic_group import ClassicGroup
from pykclient.broker.consumer_protocol import read_assignment, write_assignment
from pykclient.broker.group_config import GroupConfig, MigrationPolicy
from pykclient.broker.kip848_group import ConsumerGroup, ConsumerMember, MemberState, Partition
from pykclient.broker.reconciliation import reconcile
from pykclient.broker.target_assignment import Subscriber, assign_range, assign_uniform
from pykclient.broker.topic_regex import TopicRegex
from pykclient.errors import ErrorCode, InvalidRegularExpression, NotEnoughReplicas
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.group_bench import GROUP, GroupBench
from tests.unit.test_broker_offsets import OffsetsBench, delete_request

SESSION_S = 45.0
REBALANCE_MS = 30_000
CONFIG = GroupConfig(group_initial_rebalance_delay_ms=0, offsets_topic_num_partitions=1)


class Consumer:
    """A member of the new protocol, as the Java client is one: it first gives up what it shall not have, then takes
    the rest.

    A busy one (``beat(busy=True)``) has not come to either yet, and doesn't say what it owns.
    """

    def __init__(
        self,
        bench: GroupBench,
        name: str,
        *,
        topics: list[str] | None = None,
        regex: str | None = None,
        instance_id: str | None = None,
        assignor: str | None = None,
    ) -> None:
        self.bench = bench
        self.member_id = name
        self.topics = topics if topics is not None or regex is not None else ["t"]
        self.regex = regex
        self.instance_id = instance_id
        self.assignor = assignor
        self.epoch = 0
        self.owned: set[Partition] = set()
        self.target: set[Partition] = set()

    def request(self, **overrides: Any) -> ConsumerGroupHeartbeatRequest:
        first = self.epoch == 0
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS if first else -1,
            subscribed_topic_names=self.topics if first else None,
            subscribed_topic_regex=self.regex if first else None,
            server_assignor=self.assignor if first else None,
            topic_partitions=self._owned_message(),
        )
        for field, value in overrides.items():
            setattr(request, field, value)
        return request

    def _owned_message(self) -> list[RequestTopicPartitions]:
        topics: dict[uuid.UUID, list[int]] = {}
        for topic_id, index in sorted(self.owned):
            topics.setdefault(topic_id, []).append(index)
        return [RequestTopicPartitions(topic_id=topic_id, partitions=found) for topic_id, found in topics.items()]

    def beat(self, *, busy: bool = False, **overrides: Any) -> Any:
        """One heartbeat."""
        if busy:
            overrides["topic_partitions"] = None
        else:
            self.owned = set(self.target)
        response = self.bench.call(self.request(**overrides))
        if response.error_code == 0:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                topics = response.assignment.topic_partitions
                self.target = {(topic.topic_id, index) for topic in topics for index in topic.partitions}
            if not busy:
                self.owned = set(self.target)
        elif response.error_code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.abandon()
        return response

    def abandon(self) -> None:
        """It was fenced, or knows that its session is over: stop, and join anew."""
        self.owned, self.target, self.epoch = set(), set(), 0

    def leave(self, epoch: int = -1) -> Any:
        response = self.bench.call(self.request(member_epoch=epoch))
        self.abandon()
        return response

    def indexes(self, topic: str = "t") -> list[int]:
        topic_id = self.bench.catalog.id(topic)
        return sorted(index for owner, index in self.owned if owner == topic_id)


class ConsumerBench(OffsetsBench):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("config", CONFIG)
        super().__init__(**kwargs)

    def member(self, name: str, **kwargs: Any) -> Consumer:
        return Consumer(self, name, **kwargs)

    def settle(self, *consumers: Consumer) -> None:
        """Heartbeats in turn until nobody changes."""
        for _ in range(20):
            before = [(consumer.epoch, frozenset(consumer.owned)) for consumer in consumers]
            for consumer in consumers:
                assert consumer.beat().error_code == 0
            if before == [(consumer.epoch, frozenset(consumer.owned)) for consumer in consumers]:
                return
        raise AssertionError("the group does not settle")

    def one_stable_member_with_partitions(self) -> ClassicConsumer:
        """A classic group of one member that owns all of topic t."""
        member = ClassicConsumer(self)
        member.join()
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=member.member_id,
            generation_id=member.generation,
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=member.member_id, assignment=write_assignment({"t": [0, 1, 2, 3]}, 1)
                )
            ],
        )
        assert self.call(request).error_code == 0
        member.owned = {0, 1, 2, 3}
        return member

    def topics_changed(self) -> None:
        self.coordinator.on_topics_changed(now=self.timers.now, wall_ms=self.timers.wall_ms)


def allow(resource: ResourceType, name: str, operation: Operation) -> AclBinding:
    return AclBinding(
        resource_type=resource,
        resource_name=name,
        pattern_type=PatternType.LITERAL,
        principal="User:ANONYMOUS",
        host="*",
        operation=operation,
        permission=Permission.ALLOW,
    )


def forget_checks(*groups: ConsumerGroup) -> None:
    """When subscriptions were last checked is not durable."""
    for group in groups:
        group.topics_version, group.topics_checked_ms = -1, 0


# Joining and reconciling


def test_the_first_member_gets_everything_at_once() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    response = one.beat()
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "one", 1)
    assert response.heartbeat_interval_ms == 5000
    assert one.indexes() == [0, 1, 2, 3]
    assert bench.consumer().state_name == "Stable"


def test_a_second_member_receives_only_what_the_first_has_given_up() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    joined = two.beat()
    assert joined.member_epoch == 2
    assert two.owned == set(), "everything is still in the first one's hands"
    assert bench.consumer().members["two"].state is MemberState.UNRELEASED_PARTITIONS
    told = one.beat(busy=True)
    assert (len(one.owned), len(one.target)) == (4, 2)
    assert told.member_epoch == 1, "it stays at its epoch until it has confirmed"
    assert bench.consumer().members["one"].state is MemberState.UNREVOKED_PARTITIONS
    two.beat()
    assert two.owned == set(), "told is not confirmed"
    assert one.beat().member_epoch == 2
    two.beat()
    assert sorted(one.indexes() + two.indexes()) == [0, 1, 2, 3]
    assert bench.consumer().state_name == "Stable"


def test_nothing_is_said_or_written_when_nothing_changes() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    one.beat()
    bench.topics_changed()
    one.beat()
    before = bench.records()
    for _ in range(5):
        assert one.beat(topic_partitions=None).assignment is None
    assert bench.records() == before


def test_a_full_request_is_answered_in_full() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    one.beat()
    response = one.beat(rebalance_timeout_ms=REBALANCE_MS, subscribed_topic_names=["t"])
    assert response.assignment is not None
    assert one.indexes() == [0, 1, 2, 3]


def test_version_0_members_are_given_an_id() -> None:
    bench = ConsumerBench()
    request = bench.member("").request(member_id="")
    assert bench.call(request, 0).member_id == "id1"
    assert bench.call(request, 1).error_code == ErrorCode.INVALID_REQUEST


def test_a_smaller_subscription_takes_effect_at_once_and_a_larger_one_with_the_next_target() -> None:
    bench = ConsumerBench(topics={"t": 2, "u": 2})
    one = bench.member("one", topics=["t", "u"])
    one.beat()
    one.beat(subscribed_topic_names=["t"])
    bench.settle(one)
    assert (one.indexes("t"), one.indexes("u")) == ([0, 1], [])
    one.beat(subscribed_topic_names=["t", "u"])
    assert (one.indexes("t"), one.indexes("u")) == ([0, 1], [0, 1])


def test_new_partitions_and_new_topics_are_noticed_at_the_next_heartbeat() -> None:
    bench = ConsumerBench(topics={"t": 2})
    one = bench.member("one", topics=["t", "later"])
    one.beat()
    bench.catalog.put("t", 3)
    bench.catalog.put("later", 1)
    assert one.beat().assignment is None, "nobody has told the coordinator"
    bench.topics_changed()
    one.beat()
    assert (one.indexes("t"), one.indexes("later")) == ([0, 1, 2], [0])
    del bench.catalog.topics["later"]
    bench.topics_changed()
    bench.settle(one)
    assert {topic for topic, _ in one.owned} == {bench.catalog.id("t")}


def test_a_member_that_missed_an_answer_may_repeat_itself() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    lost = two.request(member_epoch=two.epoch)
    bench.settle(one)
    epoch_before = two.epoch
    two.beat()
    two.beat(subscribed_topic_names=["t", "nothing"])
    assert two.epoch > epoch_before
    again = bench.call(two.request(member_epoch=epoch_before))
    assert again.error_code == 0
    assert again.member_epoch == two.epoch
    assert lost.member_epoch == epoch_before


# Refusals and fencing


def test_wrong_epochs_and_unknown_members_are_refused() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    assert bench.call(one.request(member_epoch=3)).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    one.beat()
    assert bench.call(one.request(member_epoch=3)).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    one.beat(subscribed_topic_names=["t", "u"])
    one.beat(subscribed_topic_names=["t"])
    assert one.epoch == 3
    assert bench.call(one.request(member_epoch=1)).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert bench.call(one.request(member_id="x", member_epoch=3)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    "overrides",
    [
        {"rebalance_timeout_ms": -1},
        {"topic_partitions": None},
        {"subscribed_topic_names": None},
        {"instance_id": ""},
        {"rack_id": ""},
        {"member_epoch": -3},
        {"member_epoch": -2},
        {"member_id": ""},
        {"group_id": ""},
    ],
)
def test_incomplete_requests_are_refused(overrides: dict[str, Any]) -> None:
    bench = ConsumerBench()
    response = bench.call(bench.member("one").request(**overrides))
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert response.error_message


def test_an_assignor_that_is_not_there_is_refused() -> None:
    bench = ConsumerBench()
    response = bench.call(bench.member("one", assignor="mine").request())
    assert response.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_a_full_group_takes_nobody_new() -> None:
    bench = ConsumerBench(config=GroupConfig(group_consumer_max_size=1, offsets_topic_num_partitions=1))
    one = bench.member("one")
    one.beat()
    assert bench.call(bench.member("two").request()).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert one.beat().error_code == 0


def test_topics_one_may_not_describe_cannot_be_subscribed_to() -> None:
    authorizer = Authorizer(enabled=True)
    bench = ConsumerBench(authorizer=authorizer, topics={"t": 1, "secret": 1})
    assert bench.call(bench.member("one").request()).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    authorizer.set_bindings(
        [
            allow(ResourceType.GROUP, GROUP, Operation.READ),
            allow(ResourceType.TOPIC, "t", Operation.DESCRIBE),
        ]
    )
    refused = bench.call(bench.member("one", topics=["secret"]).request())
    assert refused.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    one = bench.member("one", regex=".*")
    one.beat()
    assert {topic for topic, _ in one.owned} == {bench.catalog.id("t")}


def test_a_silent_member_is_removed_and_its_partitions_go_to_the_others() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    bench.settle(one, two)
    for _ in range(10):
        bench.timers.advance(5)
        one.beat()
    assert bench.consumer().members.keys() == {"one"}
    assert one.indexes() == [0, 1, 2, 3]
    assert two.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_give_up_its_partitions_in_time_is_removed() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    for _ in range(6):
        assert one.beat(busy=True).error_code == 0
        two.beat()
        bench.timers.advance(5)
    assert one.beat(busy=True).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    two.beat()
    assert two.indexes() == [0, 1, 2, 3]


def test_leaving_gives_everything_back() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    bench.settle(one, two)
    assert one.leave().member_epoch == -1
    two.beat()
    assert two.indexes() == [0, 1, 2, 3]
    assert two.leave().error_code == 0
    assert bench.consumer().state_name == "Empty"
    assert bench.call(DeleteGroupsRequest(groups_names=[GROUP])).results[0].error_code == 0
    assert bench.coordinator.describe(GROUP) is None


# Static members


def test_a_static_member_comes_back_to_its_partitions() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one", instance_id="i1"), bench.member("two", instance_id="i2")
    one.beat()
    two.beat()
    bench.settle(one, two)
    mine, epoch = set(one.owned), bench.consumer().epoch
    assert one.leave(-2).member_epoch == -2
    two.beat()
    assert len(two.owned) == 2, "they are kept for the one that will be back"
    back = bench.member("one-again", instance_id="i1")
    back.beat()
    assert (back.owned, bench.consumer().epoch) == (mine, epoch)
    assert bench.consumer().members.keys() == {"one-again", "two"}
    old = bench.member("one", instance_id="i1")
    assert bench.call(old.request(member_epoch=epoch)).error_code == ErrorCode.FENCED_INSTANCE_ID


def test_an_instance_id_in_use_is_not_given_away() -> None:
    bench = ConsumerBench()
    bench.member("one", instance_id="i1").beat()
    other = bench.member("two", instance_id="i1")
    assert other.beat().error_code == ErrorCode.UNRELEASED_INSTANCE_ID


def test_a_static_member_that_stays_away_is_removed() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one", instance_id="i1"), bench.member("two")
    one.beat()
    two.beat()
    bench.settle(one, two)
    one.leave(-2)
    for _ in range(10):
        bench.timers.advance(5)
        two.beat()
    assert two.indexes() == [0, 1, 2, 3]
    unknown = bench.call(one.request(member_epoch=2))
    assert unknown.error_code == ErrorCode.UNKNOWN_MEMBER_ID


# Regular expressions


def test_a_regular_expression_follows_the_topics() -> None:
    bench = ConsumerBench(topics={"orders-eu": 1, "orders-us": 1, "other": 1})
    one = bench.member("one", regex="orders-.*")
    one.beat()
    assert (one.indexes("orders-eu"), one.indexes("orders-us"), one.indexes("other")) == ([0], [0], [])
    bench.catalog.put("orders-cn", 2)
    bench.topics_changed()
    one.beat()
    assert one.indexes("orders-cn") == [0, 1]
    assert bench.consumer().is_subscribed_to("orders-cn")
    bench.fail_over()
    assert bench.consumer().is_subscribed_to("orders-cn")
    one.beat(subscribed_topic_regex="other")
    bench.settle(one)
    assert one.owned == {(bench.catalog.id("other"), 0)}
    assert bench.consumer().regexes.keys() == {"other"}


def test_a_regular_expression_is_looked_at_again_after_a_while_since_rights_may_have_changed() -> None:
    authorizer = Authorizer()
    bench = ConsumerBench(authorizer=authorizer, topics={"a": 1, "b": 1})
    one = bench.member("one", regex=".*")
    one.beat()
    assert len(one.owned) == 2
    authorizer.enabled = True
    authorizer.set_bindings(
        [allow(ResourceType.GROUP, GROUP, Operation.READ), allow(ResourceType.TOPIC, "a", Operation.DESCRIBE)]
    )
    for _ in range(15):
        bench.timers.advance(40)
        one.beat()
    assert len(one.owned) == 2
    bench.timers.advance(10)
    bench.settle(one)
    assert one.owned == {(bench.catalog.id("a"), 0)}
    before = bench.records()
    one.beat()
    assert bench.records() == before


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", r"(a)\1", "a" * 1001, "a{2000}"])
def test_what_re2_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRegularExpression):
        TopicRegex(pattern)
    bench = ConsumerBench()
    response = bench.call(bench.member("one", regex=pattern).request())
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert bench.coordinator.describe(GROUP) is None


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("orders", "orders", True),
        ("orders", "orders-1", False),
        ("orders.*", "orders-1", True),
        ("(a|b)+c?", "abbac", True),
        ("[a-c]{2,3}", "abcd", False),
        ("^x$", "x", True),
        (r"\d+", "0123456789", True),
        ("(?i)AbC", "aBc", True),
        ("[^.]+", "a.b", False),
        (r"a\.b", "a.b", True),
        ("(?P<n>a)b", "ab", True),
        ("(?<n>a)b", "ab", True),
        ("[[:alpha:]]+", "abc", True),
        ("", "", True),
        ("a??b", "b", True),
        (r"\bfoo\b.*", "foo-bar", True),
    ],
)
def test_regular_expressions_match_whole_names(pattern: str, name: str, expected: bool) -> None:
    assert TopicRegex(pattern).matches(name) is expected


def test_hostile_patterns_take_linear_time() -> None:
    for pattern in ("(a+)+$", "(a|a)*b", "(.*)*(.*)*(.*)*x", "(a*)*(a*)*b"):
        assert not TopicRegex(pattern).matches("a" * 248 + "!")


# Assignors

TOPIC_IDS = [uuid.uuid5(uuid.NAMESPACE_URL, f"topic-{number}") for number in range(4)]
GROUPS = st.tuples(
    st.dictionaries(st.sampled_from(TOPIC_IDS), st.integers(1, 8), min_size=1),
    st.lists(st.sets(st.sampled_from(TOPIC_IDS)), min_size=1, max_size=7),
)


def subscribers_of(subscriptions: list[set[uuid.UUID]], target: dict[str, frozenset[Partition]]) -> list[Subscriber]:
    return [
        Subscriber(f"m{number}", None, frozenset(topics), target.get(f"m{number}", frozenset()))
        for number, topics in enumerate(subscriptions)
    ]


@settings(max_examples=150, deadline=None)
@given(GROUPS, st.sampled_from([assign_uniform, assign_range]))
def test_every_partition_with_a_subscriber_has_exactly_one_owner(group: Any, assign: Any) -> None:
    counts, subscriptions = group
    members = subscribers_of(subscriptions, {})
    target = assign(members, counts)
    assert target.keys() == {member.member_id for member in members}
    given_out = [partition for partitions in target.values() for partition in partitions]
    wanted = {
        (topic, index)
        for topic, count in counts.items()
        if any(topic in topics for topics in subscriptions)
        for index in range(count)
    }
    assert len(given_out) == len(set(given_out))
    assert set(given_out) == wanted
    for member in members:
        assert {topic for topic, _ in target[member.member_id]} <= member.topic_ids


@settings(max_examples=150, deadline=None)
@given(GROUPS)
def test_uniform_is_balanced_as_far_as_subscriptions_allow(group: Any) -> None:
    counts, subscriptions = group
    members = subscribers_of(subscriptions, {})
    target = assign_uniform(members, counts)
    for giver in members:
        for taker in members:
            shared = {topic for topic, _ in target[giver.member_id]} & taker.topic_ids
            if shared:
                assert len(target[giver.member_id]) - len(target[taker.member_id]) <= 1


@settings(max_examples=150, deadline=None)
@given(GROUPS)
def test_uniform_keeps_what_it_can(group: Any) -> None:
    counts, subscriptions = group
    before = assign_uniform(subscribers_of(subscriptions, {}), counts)
    again = assign_uniform(subscribers_of(subscriptions, before), counts)
    assert again == before, "nothing moves without a reason"
    if len(subscriptions) > 1:
        fewer = subscriptions[:-1]
        alike = all(topics == fewer[0] for topics in fewer)
        after = assign_uniform(subscribers_of(fewer, before), counts)
        if alike and subscriptions[-1] == fewer[0]:
            for member_id, partitions in after.items():
                assert before[member_id] <= partitions, "those who stay keep all they had"


def test_range_gives_the_same_piece_of_topics_of_the_same_size() -> None:
    first, second = TOPIC_IDS[:2]
    members = [Subscriber(name, None, frozenset({first, second})) for name in ("b", "a", "c")]
    target = assign_range(members, {first: 7, second: 7})
    assert {name: sorted(index for topic, index in target[name] if topic == first) for name in target} == {
        "a": [0, 1, 2],
        "b": [3, 4],
        "c": [5, 6],
    }
    for partitions in target.values():
        pieces = [{index for topic, index in partitions if topic == wanted} for wanted in (first, second)]
        assert pieces[0] == pieces[1]


def test_the_assignor_most_members_ask_for_is_used() -> None:
    bench = ConsumerBench(topics={"t": 2, "u": 2})
    members = [
        bench.member(name, topics=["t", "u"], assignor=assignor)
        for name, assignor in (("a", "range"), ("b", "range"), ("c", "uniform"))
    ]
    for member in members:
        member.beat()
    bench.settle(*members)
    described = bench.call(ConsumerGroupDescribeRequest(group_ids=[GROUP])).groups[0]
    assert described.assignor_name == "range"
    assert members[0].indexes("t") == members[0].indexes("u") == [0]


# Reconciliation on its own

PARTITIONS = [(TOPIC_IDS[0], index) for index in range(6)]
SETS = st.frozensets(st.sampled_from(PARTITIONS))


@settings(max_examples=200, deadline=None)
@given(SETS, SETS, SETS, st.one_of(st.none(), SETS), st.booleans())
def test_a_step_never_takes_what_others_own(
    has: frozenset[Partition],
    wants: frozenset[Partition],
    others: frozenset[Partition],
    says: frozenset[Partition] | None,
    changed: bool,
) -> None:
    others = others - has
    member = ConsumerMember("m", epoch=1, previous_epoch=0, assigned=dict.fromkeys(has, 1))
    owners = {**dict.fromkeys(others, "x"), **dict.fromkeys(has, "m")}
    after = reconcile(
        member,
        target_epoch=2,
        target=wants,
        subscribed_ids={TOPIC_IDS[0]},
        owners=owners,
        owned=says,
        subscription_changed=changed,
    )
    assert not (after.assigned.keys() | after.revoking.keys()) & others
    assert after.assigned.keys() <= wants
    if after.state is MemberState.UNREVOKED_PARTITIONS:
        assert after.epoch == 1
        assert after.revoking.keys() == has - wants
    else:
        assert after.epoch == 2
        assert not after.revoking
        assert (after.state is MemberState.STABLE) == (after.assigned.keys() == wants)
        assert not (says is None and has - wants), "silence is no confirmation"


# Offsets of members


def test_commits_carry_the_member_epoch_and_older_ones_count_for_what_is_still_owned() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()

    def commit(member: Consumer, index: int, epoch: int, version: int = 9) -> int:
        return bench.commit({index: 7}, member_id=member.member_id, generation=epoch, version=version)[0]

    assert commit(one, 0, 1) == 0
    assert commit(one, 0, 9) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(one, 0, 1, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert bench.commit({0: 7}) == [ErrorCode.UNKNOWN_MEMBER_ID]
    two.beat()
    bench.settle(one, two)
    kept, gone = one.indexes()[0], two.indexes()[0]
    assert commit(one, kept, 1) == 0, "owned since then (KIP-1251)"
    assert commit(one, gone, 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(two, gone, 1) == ErrorCode.STALE_MEMBER_EPOCH


def test_a_fetch_with_an_epoch_is_checked_and_one_without_is_not() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    one.beat()

    def fetch(member_id: str | None, epoch: int) -> int:
        group = OffsetFetchRequestGroup(group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None)
        return int(bench.call(OffsetFetchRequest(groups=[group]), 9).groups[0].error_code)

    assert fetch("one", 1) == fetch(None, -1) == 0
    assert fetch("one", 2) == ErrorCode.STALE_MEMBER_EPOCH
    assert fetch("x", 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_subscribed_topics_cannot_be_deleted() -> None:
    bench = ConsumerBench(topics={"t": 2, "u": 1})
    one = bench.member("one")
    one.beat()
    bench.commit({0: 7}, member_id="one", generation=1)
    assert bench.call(delete_request(0)).topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


# Describing and failing over


def test_a_consumer_group_is_listed_and_described() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    groups = bench.call(ListGroupsRequest(types_filter=["consumer"])).groups
    assert [(group.group_id, group.group_state, group.group_type, group.protocol_type) for group in groups] == [
        (GROUP, "Reconciling", "consumer", "consumer")
    ]
    bench.settle(one, two)
    group, missing = bench.call(ConsumerGroupDescribeRequest(group_ids=[GROUP, "x"])).groups
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert (group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name) == (
        "Stable",
        2,
        2,
        "uniform",
    )
    for member, consumer in zip(group.members, (one, two), strict=True):
        assert (member.member_id, member.member_epoch, member.member_type) == (consumer.member_id, 2, 1)
        assert member.subscribed_topic_names == ["t"]
        assert [(topic.topic_name, topic.partitions) for topic in member.assignment.topic_partitions] == [
            ("t", consumer.indexes())
        ]
        assert member.target_assignment == member.assignment


def test_a_failover_in_the_middle_of_a_rebalance_goes_on_where_it_was() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    two.beat()
    one.beat(busy=True)
    before = bench.consumer()
    bench.fail_over()
    after = bench.consumer()
    forget_checks(before, after)
    assert after == before
    bench.settle(one, two)
    assert sorted(one.indexes() + two.indexes()) == [0, 1, 2, 3]


def test_a_heartbeat_whose_records_cannot_be_written_has_not_happened() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    one.beat()
    before = bench.consumer().copy()
    bench.log.fail_next = NotEnoughReplicas("isr")
    two = bench.member("two")
    assert two.beat().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.consumer() == before
    two.beat()
    bench.settle(one, two)
    assert sorted(one.indexes() + two.indexes()) == [0, 1, 2, 3]


# Changing the protocol while the group lives


class ClassicConsumer:
    """A classic member, cooperative: it says what it owns, joins again when told to, and then syncs."""

    def __init__(self, bench: ConsumerBench, instance_id: str | None = None) -> None:
        self.bench = bench
        self.member_id = ""
        self.instance_id = instance_id
        self.generation = -1
        self.owned: set[int] = set()

    def request(self) -> JoinGroupRequest:
        metadata = cooperative_subscription(self.owned)
        return JoinGroupRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )

    def join(self) -> Any:
        response = self.bench.call(self.request())
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            response = self.bench.call(self.request())
        if not response.error_code:
            self.member_id, self.generation = response.member_id, response.generation_id
        return response

    def sync(self, assignments: dict[str, bytes] | None = None) -> Any:
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            generation_id=self.generation,
            protocol_type="consumer",
            protocol_name="range",
        )
        response = self.bench.call(request)
        if not response.error_code:
            self.owned = set(read_assignment(response.assignment)[0].get("t", []))
        return response

    def beat(self) -> int:
        request = HeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            generation_id=self.generation,
        )
        return int(self.bench.call(request).error_code)

    def follow(self) -> None:
        """A heartbeat, and what it leads to."""
        if self.beat() == ErrorCode.REBALANCE_IN_PROGRESS:
            assert self.join().error_code == 0
            assert self.sync().error_code == 0


def cooperative_subscription(owned: set[int]) -> bytes:
    partitions = [TopicPartition(topic="t", partitions=sorted(owned))] if owned else []
    body = ConsumerProtocolSubscription(topics=["t"], owned_partitions=partitions).write(1)
    return (1).to_bytes(2, "big") + bytes(body)


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
    assert (joined.error_code, joined.generation_id, joined.protocol_name) == (0, 2, "range")
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


# A random walk


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


ReconciliationMachine.TestCase.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestRandomWalks = ReconciliationMachine.TestCase
