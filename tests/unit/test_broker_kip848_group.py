"""The consumer group protocol (KIP-848): epochs, reconciliation, static members, fencing, failover."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pykclient.broker.authorizer import Authorizer, Operation, ResourceType
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.kip848_group import MemberState
from pykclient.errors import ErrorCode, NotEnoughReplicas
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.unit.consumer_bench import (
    CONFIG,
    Consumer,
    ConsumerBench,
    allow,
    forget_checks,
)
from tests.unit.group_bench import GROUP
from tests.unit.offsets_bench import delete_request

# Joining and reconciling


def test_the_first_member_gets_everything_at_once() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    response = one.beat()
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "one", 2)
    assert response.heartbeat_interval_ms == 5000
    assert one.indexes() == [0, 1, 2, 3]
    assert bench.consumer().state_name == "Stable"


def test_a_second_member_receives_only_what_the_first_has_given_up() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    joined = two.beat()
    assert joined.member_epoch == 3
    assert two.owned == set(), "everything is still in the first one's hands"
    assert bench.consumer().members["two"].state is MemberState.UNRELEASED_PARTITIONS
    told = one.beat(busy=True)
    assert (len(one.owned), len(one.target)) == (4, 2)
    assert told.member_epoch == 2, "it stays at its epoch until it has confirmed"
    assert bench.consumer().members["one"].state is MemberState.UNREVOKED_PARTITIONS
    two.beat()
    assert two.owned == set(), "told is not confirmed"
    assert one.beat().member_epoch == 3
    two.beat()
    assert sorted(one.indexes() + two.indexes()) == [0, 1, 2, 3]
    assert bench.consumer().state_name == "Stable"


def test_a_group_is_assigned_anew_once_per_interval() -> None:
    config = replace(CONFIG, group_consumer_assignment_interval_ms=1000)
    bench = ConsumerBench(config=config)
    one, two = bench.member("one"), bench.member("two")
    one.beat()
    assert one.indexes() == [0, 1, 2, 3], "the first assignment waits for nothing"
    two.beat()
    one.beat()
    assert one.indexes() == [0, 1, 2, 3]
    assert bench.consumer().state_name == "Assigning"
    bench.timers.advance(1.0)
    bench.settle(one, two)
    assert sorted(one.indexes() + two.indexes()) == [0, 1, 2, 3]
    assert len(two.indexes()) == 2


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
    response = one.beat(rebalance_timeout_ms=30_000, subscribed_topic_names=["t"])
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
    assert one.epoch == 4
    assert bench.call(one.request(member_epoch=2)).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    stranger = bench.call(one.request(member_id="x", member_epoch=4))
    assert stranger.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert (stranger.member_id, stranger.member_epoch) == (None, 0), "a refusal names no member"


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
    same = bench.member("one", instance_id="i1")
    assert same.beat().error_code == ErrorCode.UNRELEASED_INSTANCE_ID, "as in Kafka: it must leave first"


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


# Offsets of members


def test_commits_carry_the_member_epoch_and_older_ones_count_for_what_is_still_owned() -> None:
    bench = ConsumerBench()
    one, two = bench.member("one"), bench.member("two")
    one.beat()

    def commit(member: Consumer, index: int, epoch: int, version: int = 9) -> int:
        return bench.commit({index: 7}, member_id=member.member_id, generation=epoch, version=version)[0]

    assert commit(one, 0, 2) == 0
    assert commit(one, 0, 9) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(one, 0, 2, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert bench.commit({0: 7}) == [ErrorCode.UNKNOWN_MEMBER_ID]
    two.beat()
    bench.settle(one, two)
    kept, gone = one.indexes()[0], two.indexes()[0]
    assert commit(one, kept, 2) == 0, "owned since then (KIP-1251)"
    assert commit(one, gone, 2) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(two, gone, 2) == ErrorCode.STALE_MEMBER_EPOCH


def test_a_fetch_with_an_epoch_is_checked_and_one_without_is_not() -> None:
    bench = ConsumerBench()
    one = bench.member("one")
    one.beat()

    def fetch(member_id: str | None, epoch: int) -> int:
        group = OffsetFetchRequestGroup(group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None)
        return int(bench.call(OffsetFetchRequest(groups=[group]), 9).groups[0].error_code)

    assert fetch("one", 2) == fetch(None, -1) == 0
    assert fetch("one", 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert fetch("x", 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_subscribed_topics_cannot_be_deleted() -> None:
    bench = ConsumerBench(topics={"t": 2, "u": 1})
    one = bench.member("one")
    one.beat()
    bench.commit({0: 7}, member_id="one", generation=2)
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
        3,
        3,
        "uniform",
    )
    for member, consumer in zip(group.members, (one, two), strict=True):
        assert (member.member_id, member.member_epoch, member.member_type) == (consumer.member_id, 3, 1)
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
