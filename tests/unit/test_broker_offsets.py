"""Committed offsets: commit, fetch, delete, transactions, expiry, rights, and every version on the wire."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.authorizer import AclBinding, Authorizer, Operation, PatternType, Permission, ResourceType
from pykclient.broker.group_access import GROUP_TOPIC
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.offset_requests import OffsetRequests
from pykclient.broker.request import RequestContext
from pykclient.errors import ErrorCode, RequestTimedOut
from pykclient.net.completion import Completion
from pykclient.protocol.messages.leave_group import MemberIdentity
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from pykclient.types import TopicPartition
from tests.unit.broker_fakes import FakeLog
from tests.unit.group_bench import GROUP, GroupBench
from tests.unit.offsets_bench import PRODUCER, OffsetsBench, delete_request


@pytest.mark.parametrize("version", range(2, 11))
def test_every_version_of_commit_is_stored(version: int) -> None:
    bench = OffsetsBench()
    assert bench.commit({0: 5, 1: 6}, version=version) == [0, 0]
    assert bench.fetch() == {0: (5, 0), 1: (6, 0)}


@pytest.mark.parametrize("version", range(1, 11))
def test_every_version_of_fetch_answers(version: int) -> None:
    bench = OffsetsBench()
    bench.commit({0: 5})
    assert bench.fetch(version=version) == {0: (5, 0), 1: (-1, 0)}
    if version >= 2:
        assert bench.fetch(None, version=version) == {0: (5, 0)}


@pytest.mark.parametrize("version", range(1, 11))
def test_an_unknown_group_has_no_offsets_and_no_error(version: int) -> None:
    assert OffsetsBench().fetch(group_id="nobody", version=version) == {0: (-1, 0), 1: (-1, 0)}


def test_leader_epoch_and_metadata_come_back() -> None:
    bench = OffsetsBench()
    request = OffsetCommitRequest(
        group_id=GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name="t",
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=0, committed_offset=9, committed_leader_epoch=3, committed_metadata="note"
                    )
                ],
            )
        ],
    )
    bench.call(request, 9)
    bench.fail_over()
    group = OffsetFetchRequestGroup(group_id=GROUP, topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])])
    partition = bench.call(OffsetFetchRequest(groups=[group]), 9).groups[0].topics[0].partitions[0]
    assert (partition.committed_offset, partition.committed_leader_epoch, partition.metadata) == (9, 3, "note")


def test_several_groups_in_one_fetch_may_live_in_different_shards() -> None:
    bench = OffsetsBench(config=GroupConfig(offsets_topic_num_partitions=5))
    names = [f"group-{number}" for number in range(8)]
    assert len({bench.coordinator.partition_for(name) for name in names}) > 1
    for number, name in enumerate(names):
        bench.commit({0: number}, group_id=name)
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(group_id=name, topics=topics) for name in names]
    answers = bench.call(OffsetFetchRequest(groups=groups), 9).groups
    assert [(answer.group_id, answer.topics[0].partitions[0].committed_offset) for answer in answers] == [
        (name, number) for number, name in enumerate(names)
    ]


def test_too_long_metadata_is_refused_alone() -> None:
    bench = OffsetsBench()
    assert bench.commit({0: 1}, metadata="x" * 4096) == [0]
    assert bench.commit({0: 2}, metadata="x" * 4097) == [ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert bench.fetch([0]) == {0: (1, 0)}


def test_unknown_topics_are_refused_by_name_and_by_id() -> None:
    bench = OffsetsBench()
    assert bench.commit({0: 1}, topic="nope") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert bench.commit({0: 1}, topic="nope", version=10) == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert sorted(bench.commit({0: 1, 4: 1})) == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert bench.fetch(None) == {0: (1, 0)}


def test_an_offset_of_a_topic_deleted_and_made_again_is_not_the_new_topics() -> None:
    bench = OffsetsBench()
    bench.commit({0: 5}, version=10)
    info = bench.catalog.topics["t"]
    bench.catalog.topics["t"] = info._replace(topic_id=uuid.uuid4())
    assert bench.fetch([0], version=10) == {0: (-1, 0)}


def test_offsets_of_deleted_topics_are_removed() -> None:
    bench = OffsetsBench(topics={"t": 4, "u": 1})
    bench.commit({0: 5})
    bench.commit({0: 6}, topic="u")
    bench.coordinator.on_topics_changed(now=bench.timers.now, wall_ms=bench.timers.wall_ms, deleted=["u"])
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert view.offsets == {("t", 0): 5}


# Members


def test_only_the_current_generation_may_commit() -> None:
    bench = OffsetsBench()
    member = bench.one_stable_member()
    assert bench.commit({0: 1}, member_id=member, generation=1) == [0]
    assert bench.commit({0: 2}, member_id=member, generation=0) == [ErrorCode.ILLEGAL_GENERATION]
    assert bench.commit({0: 2}, member_id="x", generation=1) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert bench.commit({0: 2}) == [ErrorCode.UNKNOWN_MEMBER_ID], "a group with members takes commits of members only"
    assert bench.fetch([0]) == {0: (1, 0)}


def test_a_commit_of_a_group_that_is_not_there() -> None:
    bench = OffsetsBench()
    assert bench.commit({0: 1}, member_id="m", generation=3, version=8) == [ErrorCode.ILLEGAL_GENERATION]
    assert bench.commit({0: 1}, member_id="m", generation=3, version=9) == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_commits_are_refused_while_the_assignment_is_being_made_and_keep_the_session_alive() -> None:
    bench = OffsetsBench()
    member = bench.new_member()
    bench.join(member)
    assert bench.commit({0: 1}, member_id=member, generation=1) == [ErrorCode.REBALANCE_IN_PROGRESS]
    bench.sync(member, 1, {member: b""})
    for _ in range(5):
        bench.timers.advance(8)
        assert bench.commit({0: 1}, member_id=member, generation=1) == [0]


# Transactions


def test_transactional_offsets_wait_for_the_marker() -> None:
    bench = OffsetsBench()
    bench.commit({0: 1})
    assert bench.txn_commit({0: 10}).result().topics[0].partitions[0].error_code == 0
    assert bench.fetch([0, 1]) == {0: (1, 0), 1: (-1, 0)}
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert bench.fetch([0, 1], require_stable=True) == {0: (-1, unstable), 1: (-1, 0)}
    bench.end(committed=True)
    assert bench.fetch([0], require_stable=True) == {0: (10, 0)}


def test_an_aborted_transaction_leaves_the_offsets_as_they_were() -> None:
    bench = OffsetsBench()
    bench.commit({0: 1})
    bench.txn_commit({0: 10, 1: 11})
    bench.end(committed=False)
    assert bench.fetch([0, 1], require_stable=True) == {0: (1, 0), 1: (-1, 0)}


def test_a_plain_commit_after_the_transactional_one_wins() -> None:
    bench = OffsetsBench()
    bench.txn_commit({0: 10})
    bench.commit({0: 20})
    bench.end(committed=True)
    assert bench.fetch([0]) == {0: (20, 0)}


def test_open_transactions_survive_a_failover() -> None:
    bench = OffsetsBench()
    bench.txn_commit({0: 10})
    bench.fail_over()
    assert bench.fetch([0], require_stable=True) == {0: (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)}
    bench.end(committed=True)
    assert bench.fetch([0]) == {0: (10, 0)}


def test_a_zombie_of_an_older_generation_cannot_commit_in_a_transaction() -> None:
    bench = OffsetsBench()
    member = bench.one_stable_member()

    def code(**kwargs: Any) -> int:
        return int(bench.txn_commit({0: 1}, **kwargs).result().topics[0].partitions[0].error_code)

    assert code(member_id=member, generation=0) == ErrorCode.ILLEGAL_GENERATION
    assert code(member_id="x", generation=1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert code(member_id=member, generation=1) == 0
    assert code() == 0, "producers from before KIP-447 don't say who they are"


def test_the_transaction_is_verified_before_anything_is_written() -> None:
    bench = OffsetsBench()
    verdict: Completion[dict[TopicPartition, ErrorCode]] = Completion()
    asked: list[tuple[str, int, bool, list[TopicPartition]]] = []

    def verify(
        context: RequestContext,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        *,
        supports_v2: bool,
    ) -> Completion[dict[TopicPartition, ErrorCode]]:
        asked.append((transactional_id, producer_id, supports_v2, list(partitions)))
        return verdict

    bench.coordinator._offsets = OffsetRequests(bench.coordinator._access, verify)
    reply = bench.txn_commit({0: 10})
    where = TopicPartition(GROUP_TOPIC, 0)
    assert asked == [("tx", PRODUCER, True, [where])]
    assert not reply.done
    before = bench.records()
    verdict.succeed({where: ErrorCode.INVALID_TXN_STATE})
    assert reply.result().topics[0].partitions[0].error_code == ErrorCode.INVALID_TXN_STATE
    assert bench.records() == before


def test_offsets_of_topics_not_subscribed_to_can_be_deleted() -> None:
    bench = OffsetsBench(topics={"t": 2, "u": 1})
    assert bench.call(delete_request(0)).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    bench.commit({0: 1}, topic="u")
    bench.commit({0: 1, 1: 2})
    member = bench.one_stable_member()
    subscribed = bench.call(delete_request(0)).topics[0].partitions[0]
    assert subscribed.error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert bench.call(delete_request(0, topic="u")).topics[0].partitions[0].error_code == 0
    assert bench.call(delete_request(0, topic="x")).topics[0].partitions[0].error_code == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    bench.leave(MemberIdentity(member_id=member))
    assert bench.call(delete_request(0)).topics[0].partitions[0].error_code == 0
    bench.fail_over()
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert view.offsets == {("t", 1): 2}


def test_a_subscription_that_is_cut_off_still_names_its_topics() -> None:
    bench = OffsetsBench(topics={"t": 2, "u": 1})
    bench.commit({0: 1})
    bench.commit({0: 1}, topic="u")
    # Version 1 without the owned partitions that should follow the (null) user data.
    metadata = b"\x00\x01" + b"\x00\x00\x00\x01" + b"\x00\x01u" + b"\xff\xff\xff\xff"
    member = bench.new_member(protocols=(("range", metadata),))
    bench.join(member, protocols=(("range", metadata),)).result()
    assert bench.call(delete_request(0)).topics[0].partitions[0].error_code == 0
    used = bench.call(delete_request(0, topic="u")).topics[0].partitions[0]
    assert used.error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\x00\x01",
        b"\xff\xff\x00\x00\x00\x00",
        b"\x00\x01\xff\xff\xff\xff",
        b"\x00\x01\x7f\xff\xff\xff\x00\x00",
        b"\x00\x01\x00\x00\x00\x01",
        b"\x00\x01\x00\x00\x00\x01\x00\x05ab",
        b"\x00\x00\x00\x00\x00\x01\x00\x01\xff",
    ],
)
def test_a_subscription_that_cannot_be_read_is_taken_for_everything(metadata: bytes) -> None:
    bench = OffsetsBench()
    bench.commit({0: 1})
    member = bench.new_member(protocols=(("range", metadata),))
    bench.join(member, protocols=(("range", metadata),)).result()
    in_doubt = bench.call(delete_request(0)).topics[0].partitions[0]
    assert in_doubt.error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


DAY_S = 24 * 3600.0


def test_offsets_of_a_group_without_members_expire_and_the_group_with_them() -> None:
    bench = OffsetsBench()
    bench.commit({0: 1})
    bench.timers.advance(3 * DAY_S)
    bench.commit({1: 1})
    bench.timers.advance(4 * DAY_S + 700)
    assert bench.fetch() == {0: (-1, 0), 1: (1, 0)}
    bench.timers.advance(3 * DAY_S + 700)
    assert bench.coordinator.describe(GROUP) is None


def test_offsets_of_a_group_with_members_stay_while_their_topic_is_subscribed() -> None:
    bench = OffsetsBench(topics={"t": 2, "u": 1})
    bench.commit({0: 1}, topic="u")
    bench.commit({0: 1})
    member = bench.one_stable_member()
    for _ in range(8 * 24):
        for _ in range(450):
            bench.timers.now += 8
        bench.timers.due = {
            key: (max(at, bench.timers.now), order, action) for key, (at, order, action) in bench.timers.due.items()
        }
        bench.heartbeat(member, 1)
        bench.timers.advance(0)
    view = bench.coordinator.describe(GROUP)
    assert view is not None
    assert view.offsets == {("t", 0): 1}
    bench.leave(MemberIdentity(member_id=member))
    bench.timers.advance(7 * DAY_S - 1200)
    assert bench.coordinator.describe(GROUP) is not None, "the week counts from when the group became empty"
    bench.timers.advance(2400)
    assert bench.coordinator.describe(GROUP) is None


def test_an_offset_with_a_retention_of_its_own_expires_by_it() -> None:
    bench = OffsetsBench()
    bench.commit({0: 1}, version=4, retention_ms=3_600_000)
    bench.commit({1: 1})
    bench.fail_over()
    bench.timers.advance(3600 + 700)
    assert bench.fetch() == {0: (-1, 0), 1: (1, 0)}


def test_pending_transactional_offsets_keep_the_group() -> None:
    bench = OffsetsBench()
    bench.txn_commit({0: 1})
    bench.timers.advance(9 * DAY_S)
    assert bench.coordinator.describe(GROUP) is not None


# Rights and failures


def acl(resource: ResourceType, name: str, operation: Operation) -> AclBinding:
    return AclBinding(
        resource_type=resource,
        resource_name=name,
        pattern_type=PatternType.LITERAL,
        principal="User:ANONYMOUS",
        host="*",
        operation=operation,
        permission=Permission.ALLOW,
    )


def test_topics_one_may_not_see_are_left_out_or_refused() -> None:
    authorizer = Authorizer(enabled=True)
    bench = OffsetsBench(topics={"t": 2, "u": 1}, authorizer=authorizer)
    authorizer.set_bindings(
        [
            acl(ResourceType.GROUP, GROUP, Operation.READ),
            acl(ResourceType.TOPIC, "t", Operation.READ),
            acl(ResourceType.TOPIC, "u", Operation.READ),
        ]
    )
    assert bench.commit({0: 1}) == bench.commit({0: 1}, topic="u") == [0]
    authorizer.set_bindings(
        [acl(ResourceType.GROUP, GROUP, Operation.READ), acl(ResourceType.TOPIC, "u", Operation.READ)]
    )
    assert bench.commit({0: 2}) == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    assert bench.fetch([0]) == {0: (-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED)}
    everything = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=None)])
    assert [topic.name for topic in bench.call(everything, 9).groups[0].topics] == ["u"]
    assert bench.txn_commit({0: 1}).result().topics[0].partitions[0].error_code == (
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    )
    authorizer.set_bindings([])
    assert bench.call(everything, 9).groups[0].error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert bench.call(delete_request(0)).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_a_commit_is_answered_when_it_is_safe_and_a_fetch_sees_only_safe_ones() -> None:
    bench = OffsetsBench(log=FakeLog(commit_at_once=False))
    request = OffsetCommitRequest(
        group_id=GROUP,
        topics=[
            OffsetCommitRequestTopic(
                name="t", partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=5)]
            )
        ],
    )
    commit = bench.send(request, 9)
    group = OffsetFetchRequestGroup(group_id=GROUP, topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])])
    fetch = bench.send(OffsetFetchRequest(groups=[group]), 9)
    assert not commit.done
    assert not fetch.done
    bench.log.commit(RequestTimedOut("slow"))
    assert commit.result().topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert fetch.result().groups[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_requests_to_a_broker_that_does_not_coordinate_the_group() -> None:
    bench = OffsetsBench()
    bench.coordinator.on_partition_resigned(0)
    assert bench.commit({0: 1}) == [ErrorCode.NOT_COORDINATOR]
    group = OffsetFetchRequestGroup(group_id=GROUP, topics=None)
    assert bench.call(OffsetFetchRequest(groups=[group]), 9).groups[0].error_code == ErrorCode.NOT_COORDINATOR
    single = OffsetFetchRequest(group_id=GROUP, topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0])])
    assert bench.call(single, 7).error_code == ErrorCode.NOT_COORDINATOR
    assert bench.call(single, 1).topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR


# Replay


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.integers(0, 2), st.integers(0, 99)),
        st.tuples(st.just("txn"), st.integers(0, 2), st.integers(0, 99), st.integers(1, 2)),
        st.tuples(st.just("end"), st.booleans(), st.integers(1, 2)),
        st.tuples(st.just("delete"), st.integers(0, 2)),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_replayed_log_gives_the_same_offsets(steps: list[Any]) -> None:
    bench = OffsetsBench()
    for step in steps:
        if step[0] == "commit":
            bench.commit({step[1]: step[2]})
        elif step[0] == "txn":
            bench.txn_commit({step[1]: step[2]}, producer_id=step[3])
        elif step[0] == "end":
            bench.end(committed=step[1], producer_id=step[2])
        else:
            bench.call(delete_request(step[1]))
    live = bench.shard().offsets
    bench.fail_over()
    loaded = bench.shard().offsets

    def plain(offsets: Any) -> Any:
        committed = {
            group: {place: offset.offset for place, offset in by_place.items()}
            for group, by_place in offsets.committed.items()
        }
        pending = {
            producer: {place: offset.offset for place, offset in by_place.items()}
            for producer, by_place in offsets.pending.items()
            if by_place
        }
        return committed, pending, offsets._open

    assert plain(loaded) == plain(live)


def test_group_ids_hash_to_partitions_as_in_java() -> None:
    bench = GroupBench(config=GroupConfig(offsets_topic_num_partitions=50))
    assert [bench.coordinator.partition_for(name) for name in ("", "a", "my-group", "grüße")] == [0, 47, 12, 23]
