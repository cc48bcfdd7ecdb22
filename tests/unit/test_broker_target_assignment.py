"""What consumer groups compute: targets, steps towards them, and the topics of a regular expression."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.kip848_group import ConsumerMember, MemberState, Partition
from pykclient.broker.reconciliation import reconcile
from pykclient.broker.target_assignment import Subscriber, assign_range, assign_uniform
from pykclient.broker.topic_regex import TopicRegex
from pykclient.errors import ErrorCode, InvalidRegularExpression
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from tests.unit.consumer_bench import (
    ConsumerBench,
)
from tests.unit.group_bench import GROUP


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
