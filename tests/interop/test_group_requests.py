"""Requests about groups, raw, on our broker and on Apache Kafka with the same expectations: a difference in behaviour
shows.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from pykclient.broker.consumer_protocol import read_assignment, write_assignment
from pykclient.errors import ErrorCode
from pykclient.protocol.messages import consumer_group_describe, find_coordinator
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest
from pykclient.protocol.messages.describe_groups import DescribeGroupsRequest
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.list_groups import ListGroupsRequest
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykclient.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.interop.raw_client import Pending, RawClient, eventually

E = ErrorCode
PARTITIONS = 4


class Bench:
    """One group and one topic on one broker."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self.client = RawClient(bootstrap_servers)
        self.group = f"group-{uuid.uuid4()}"
        self.topic = topic
        self.topic_id = self.client.create_topic(topic, PARTITIONS)
        keys = find_coordinator.FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group])
        eventually(lambda: self.client.call(keys).coordinators[0].error_code == 0)
        self.client.wait_for_coordinator(self.group)
        self._wait_until_assigned()

    def _wait_until_assigned(self) -> None:
        """Apache Kafka's coordinator hears of a new topic after its Metadata does: see a stranger assigned to it."""
        other = f"{self.group}-first"
        eventually(lambda: partitions_of(self.consumer("first", group_id=other)))
        assert self.consumer("first", -1, group_id=other).error_code == 0

    # Requests

    def subscription(self, owned: list[int] | None = None) -> bytes:
        partitions = [TopicPartition(topic=self.topic, partitions=owned)] if owned else []
        body = ConsumerProtocolSubscription(topics=[self.topic], owned_partitions=partitions)
        return (1).to_bytes(2, "big") + bytes(body.write(1))

    def join_request(self, member_id: str = "", **changes: Any) -> JoinGroupRequest:
        request = JoinGroupRequest(
            group_id=self.group,
            member_id=member_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=self.subscription())],
        )
        for field, value in changes.items():
            setattr(request, field, value)
        return request

    def join(self, member_id: str = "", version: int | None = None, **changes: Any) -> Any:
        return self.client.call(self.join_request(member_id, **changes), version)

    def new_member(self) -> str:
        response = self.join()
        assert response.error_code == E.MEMBER_ID_REQUIRED
        return str(response.member_id)

    def sync_request(self, member_id: str, generation: int, **changes: Any) -> SyncGroupRequest:
        request = SyncGroupRequest(
            group_id=self.group,
            member_id=member_id,
            generation_id=generation,
            protocol_type="consumer",
            protocol_name="range",
        )
        for field, value in changes.items():
            setattr(request, field, value)
        return request

    def sync(self, member_id: str, generation: int, assignments: dict[str, bytes] | None = None, **changes: Any) -> Any:
        given = [SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in (assignments or {}).items()]
        return self.client.call(self.sync_request(member_id, generation, assignments=given, **changes))

    def beat(self, member_id: str, generation: int, instance_id: str | None = None) -> int:
        request = HeartbeatRequest(
            group_id=self.group, member_id=member_id, generation_id=generation, group_instance_id=instance_id
        )
        return int(self.client.call(request).error_code)

    def leave(self, *members: MemberIdentity) -> list[int]:
        response = self.client.call(LeaveGroupRequest(group_id=self.group, members=list(members)))
        assert response.error_code == 0
        return [member.error_code for member in response.members]

    def commit(
        self, member_id: str = "", generation: int = -1, *, partition: int = 0, version: int = 9, **changes: Any
    ) -> int:
        topic = OffsetCommitRequestTopic(
            name=self.topic,
            topic_id=self.topic_id,
            partitions=[OffsetCommitRequestPartition(partition_index=partition, committed_offset=5)],
        )
        for field, value in changes.items():
            setattr(topic.partitions[0] if hasattr(topic.partitions[0], field) else topic, field, value)
        request = OffsetCommitRequest(
            group_id=self.group, member_id=member_id, generation_id_or_member_epoch=generation, topics=[topic]
        )
        return int(self.client.call(request, version).topics[0].partitions[0].error_code)

    def fetch(self, member_id: str | None = None, epoch: int = -1, *, everything: bool = False) -> Any:
        topics = None if everything else [OffsetFetchRequestTopics(name=self.topic, partition_indexes=[0, 1])]
        group = OffsetFetchRequestGroup(group_id=self.group, member_id=member_id, member_epoch=epoch, topics=topics)
        answer = self.client.call(OffsetFetchRequest(groups=[group]), 9).groups[0]
        found = {p.partition_index: p.committed_offset for topic in answer.topics for p in topic.partitions}
        return answer.error_code or found

    def delete_offset(self, topic: str | None = None) -> int:
        partitions = [OffsetDeleteRequestPartition(partition_index=0)]
        topics = [OffsetDeleteRequestTopic(name=topic or self.topic, partitions=partitions)]
        response = self.client.call(OffsetDeleteRequest(group_id=self.group, topics=topics))
        return int(response.error_code or response.topics[0].partitions[0].error_code)

    def delete(self) -> int:
        return int(self.client.call(DeleteGroupsRequest(groups_names=[self.group])).results[0].error_code)

    def listed(self) -> tuple[str, str, str] | None:
        groups = self.client.call(ListGroupsRequest()).groups
        found = [group for group in groups if group.group_id == self.group]
        return (found[0].group_type, found[0].group_state, found[0].protocol_type) if found else None

    # Members of the new protocol

    def consumer(self, name: str, epoch: int = 0, owned: list[int] | None = None, **changes: Any) -> Any:
        """A heartbeat; with epoch 0 it says everything, later only what it owns (None: not even that)."""
        partitions = None if owned is None else [RequestTopicPartitions(topic_id=self.topic_id, partitions=owned)]
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=name, member_epoch=epoch, topic_partitions=partitions if owned else None
        )
        if epoch == 0:
            request.rebalance_timeout_ms = 10_000
            request.subscribed_topic_names = [self.topic]
            request.topic_partitions = []
        for field, value in changes.items():
            setattr(request, field, value)
        return self.client.call(request)

    def consumer_until(self, member_id: str, epoch: int, count: int, owned: list[int] | None = None) -> Any:
        """Heartbeats until the member has so many partitions: (epoch, partitions)."""
        state: dict[str, Any] = {"epoch": epoch, "has": None}

        def step() -> bool:
            response = self.consumer(member_id, state["epoch"], owned)
            assert response.error_code == 0
            state["epoch"] = response.member_epoch
            if response.assignment is not None:
                state["has"] = partitions_of(response)
            return state["has"] is not None and len(state["has"]) == count

        eventually(step)
        return state["epoch"], state["has"]


def partitions_of(response: Any) -> list[int]:
    return sorted(index for topic in response.assignment.topic_partitions for index in topic.partitions)


@pytest.fixture
def bench(bootstrap_servers: str, topic: str) -> Bench:
    return Bench(bootstrap_servers, topic)


# The classic protocol


def test_members_of_nothing_are_refused(bench: Bench) -> None:
    assert bench.beat("x", 1) == E.UNKNOWN_MEMBER_ID
    assert bench.sync("x", 1).error_code == E.UNKNOWN_MEMBER_ID
    assert bench.join("x").error_code == E.UNKNOWN_MEMBER_ID
    assert bench.leave(MemberIdentity(member_id="x")) == [E.UNKNOWN_MEMBER_ID]
    old = LeaveGroupRequest(group_id=bench.group, member_id="x")
    assert bench.client.call(old, 2).error_code == E.UNKNOWN_MEMBER_ID
    assert bench.commit("x", 3, version=8) == E.ILLEGAL_GENERATION
    assert bench.commit("x", 3, version=9) == E.GROUP_ID_NOT_FOUND
    assert bench.fetch() == {0: -1, 1: -1}
    assert bench.fetch(everything=True) == {}
    assert bench.delete() == bench.delete_offset() == E.GROUP_ID_NOT_FOUND


def test_joins_that_make_no_sense_are_refused(bench: Bench) -> None:
    assert bench.join(group_id="").error_code == E.INVALID_GROUP_ID
    assert bench.join(session_timeout_ms=100).error_code == E.INVALID_SESSION_TIMEOUT
    assert bench.join(session_timeout_ms=9_999_999).error_code == E.INVALID_SESSION_TIMEOUT
    assert bench.join(protocols=[]).error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert bench.join(protocol_type="").error_code == E.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join_forms_a_group(bench: Bench, version: int) -> None:
    response = bench.join(version=version)
    if version >= 4:
        assert response.error_code == E.MEMBER_ID_REQUIRED
        response = bench.join(response.member_id, version=version)
    assert (response.error_code, response.generation_id, response.protocol_name) == (0, 1, "range")
    assert response.leader == response.member_id
    assert len(response.members) == 1


def test_the_life_of_a_classic_group(bench: Bench) -> None:
    first = bench.new_member()
    assert bench.listed() == ("classic", "Empty", "")
    joined = bench.join(first)
    assert (joined.generation_id, joined.leader, joined.protocol_type) == (1, first, "consumer")
    assert bench.beat(first, 1) == 0
    assert bench.commit(first, 1) == E.REBALANCE_IN_PROGRESS
    assert bench.sync(first, 9).error_code == E.ILLEGAL_GENERATION
    assert bench.sync(first, 1, protocol_name="x").error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert bench.sync(first, 1, {first: b"A"}).assignment == b"A"
    described = bench.client.call(DescribeGroupsRequest(groups=[bench.group])).groups[0]
    assert (described.group_state, described.protocol_data) == ("Stable", "range")
    assert [(m.member_id, m.member_assignment) for m in described.members] == [(first, b"A")]
    assert bench.join(protocol_type="connect").error_code == E.INCONSISTENT_GROUP_PROTOCOL

    second = bench.new_member()
    waiting: Pending = bench.client.start(bench.join_request(second))
    eventually(lambda: bench.beat(first, 1) == E.REBALANCE_IN_PROGRESS)
    assert bench.sync(first, 1).error_code == E.REBALANCE_IN_PROGRESS
    assert bench.commit(first, 1) == 0
    again, other = bench.join(first), waiting.result()
    assert (again.generation_id, other.generation_id, again.leader) == (2, 2, other.leader)
    leader, follower = (first, second) if again.leader == first else (second, first)
    repeated = bench.join(follower)
    assert (repeated.error_code, repeated.generation_id) == (0, 2)
    held = bench.client.start(bench.sync_request(follower, 2))
    assert bench.sync(leader, 2, {leader: b"L", follower: b"F"}).assignment == b"L"
    assert held.result().assignment == b"F"
    assert bench.delete() == E.NON_EMPTY_GROUP
    assert bench.leave(MemberIdentity(member_id=follower), MemberIdentity(member_id="x")) == [0, E.UNKNOWN_MEMBER_ID]
    assert bench.beat(leader, 2) == E.REBALANCE_IN_PROGRESS
    assert bench.leave(MemberIdentity(member_id=leader)) == [0]
    assert bench.listed() == ("classic", "Empty", "consumer")
    assert bench.delete() == 0
    assert bench.listed() is None


def test_offsets_of_a_classic_group(bench: Bench) -> None:
    member = bench.new_member()
    bench.join(member)
    bench.sync(member, 1, {member: b""})
    assert bench.commit(member, 1) == 0
    assert bench.commit(member, 0) == E.ILLEGAL_GENERATION
    assert bench.commit("x", 1) == bench.commit() == E.UNKNOWN_MEMBER_ID
    assert bench.commit(member, 1, name="no-such-topic") == E.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.commit(member, 1, partition=99) == E.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.commit(member, 1, committed_metadata="x" * 5000) == E.OFFSET_METADATA_TOO_LARGE
    assert bench.commit(member, 1, version=10, committed_offset=6) == 0
    assert bench.commit(member, 1, version=10, topic_id=uuid.uuid4()) == E.UNKNOWN_TOPIC_ID
    assert bench.fetch() == {0: 6, 1: -1}
    assert bench.fetch(everything=True) == {0: 6}
    assert bench.fetch("x", 9) == {0: 6, 1: -1}
    assert bench.delete_offset() == E.GROUP_SUBSCRIBED_TO_TOPIC
    assert bench.delete_offset("no-such-topic") == E.UNKNOWN_TOPIC_OR_PARTITION
    bench.leave(MemberIdentity(member_id=member))
    assert bench.commit() == 0
    assert bench.delete_offset() == 0
    assert bench.fetch() == {0: -1, 1: -1}


def test_static_members_of_a_classic_group(bench: Bench) -> None:
    first = bench.join(group_instance_id="i1")
    assert (first.error_code, first.generation_id) == (0, 1)
    old = first.member_id
    bench.sync(old, 1, {old: b"A"}, group_instance_id="i1")
    back = bench.join(group_instance_id="i1")
    assert (back.error_code, back.generation_id, back.leader, back.skip_assignment) == (0, 1, back.member_id, True)
    assert bench.sync(back.member_id, 1, group_instance_id="i1").assignment == b"A"
    assert bench.beat(old, 1, "i1") == E.FENCED_INSTANCE_ID
    assert bench.join(old, group_instance_id="i1").error_code == E.FENCED_INSTANCE_ID
    assert bench.beat(back.member_id, 1, "i9") == E.UNKNOWN_MEMBER_ID
    older = bench.join(group_instance_id="i1", version=8)
    assert (older.leader, older.members) == (back.member_id, []), "version 8 must not take itself for a leader"
    by_instance = [MemberIdentity(member_id="", group_instance_id=name) for name in ("i1", "i2")]
    assert bench.leave(*by_instance) == [0, E.UNKNOWN_MEMBER_ID]


# The consumer protocol


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"rebalance_timeout_ms": -1}, E.INVALID_REQUEST),
        ({"topic_partitions": None}, E.INVALID_REQUEST),
        ({"subscribed_topic_names": None}, E.INVALID_REQUEST),
        ({"instance_id": ""}, E.INVALID_REQUEST),
        ({"rack_id": ""}, E.INVALID_REQUEST),
        ({"member_epoch": -3}, E.INVALID_REQUEST),
        ({"member_epoch": -2}, E.INVALID_REQUEST),
        ({"member_id": ""}, E.INVALID_REQUEST),
        ({"group_id": ""}, E.INVALID_REQUEST),
        ({"server_assignor": "x"}, E.UNSUPPORTED_ASSIGNOR),
        ({"member_epoch": 1}, E.GROUP_ID_NOT_FOUND),
        ({"member_epoch": -1}, E.GROUP_ID_NOT_FOUND),
        ({"subscribed_topic_regex": "("}, E.INVALID_REGULAR_EXPRESSION),
        ({"subscribed_topic_regex": "(?=a)"}, E.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_heartbeats_that_make_no_sense_are_refused(bench: Bench, changes: dict[str, Any], code: ErrorCode) -> None:
    assert bench.consumer("m", **changes).error_code == code


def test_partitions_move_only_when_they_are_given_up(bench: Bench) -> None:
    first_epoch, everything = bench.consumer_until("A", 0, PARTITIONS)
    assert bench.listed() == ("consumer", "Stable", "consumer")
    dead = bench.client.call(DescribeGroupsRequest(groups=[bench.group])).groups[0]
    assert (dead.error_code, dead.group_state) == (E.GROUP_ID_NOT_FOUND, "Dead")
    assert bench.consumer("A", first_epoch + 5).error_code == E.FENCED_MEMBER_EPOCH
    assert bench.consumer("Z", 1).error_code == E.UNKNOWN_MEMBER_ID
    assert bench.commit("A", first_epoch) == 0
    assert bench.commit("A", first_epoch + 1) == E.STALE_MEMBER_EPOCH
    assert bench.commit("A", first_epoch, version=8) == E.UNSUPPORTED_VERSION
    assert bench.commit() == E.UNKNOWN_MEMBER_ID
    assert bench.fetch("A", first_epoch + 1) == E.STALE_MEMBER_EPOCH
    assert bench.fetch("Z", first_epoch) == E.UNKNOWN_MEMBER_ID
    assert bench.fetch() == bench.fetch("A", first_epoch) == {0: 5, 1: -1}

    joined = bench.consumer("B")
    assert (joined.error_code, partitions_of(joined)) == (0, [])
    epoch, kept = bench.consumer_until("A", first_epoch, PARTITIONS // 2)
    assert epoch == first_epoch, "it has not confirmed yet"
    second_epoch = bench.consumer("B", joined.member_epoch).member_epoch
    told = bench.consumer("A", epoch, kept)
    assert told.member_epoch > epoch
    assert bench.consumer("A", epoch, kept).error_code == 0, "an answer may be lost"
    assert bench.consumer("A", epoch).error_code == E.FENCED_MEMBER_EPOCH
    _, received = bench.consumer_until("B", second_epoch, PARTITIONS // 2)
    assert sorted(kept + received) == everything
    assert bench.commit("A", first_epoch, partition=kept[0]) == 0
    assert bench.commit("A", first_epoch, partition=received[0]) == E.STALE_MEMBER_EPOCH
    request = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[bench.group, "no-such-group"])
    described = {each.group_id: each for each in bench.client.call(request).groups}
    group = described[bench.group]
    assert described["no-such-group"].error_code == E.GROUP_ID_NOT_FOUND
    assert (group.group_state, group.assignor_name, group.group_epoch) == ("Stable", "uniform", group.assignment_epoch)
    assert sorted((member.member_id, member.member_type) for member in group.members) == [("A", 1), ("B", 1)]
    assert bench.consumer("B", -1).member_epoch == -1
    assert bench.consumer("B", -1).error_code == E.UNKNOWN_MEMBER_ID
    assert bench.consumer_until("A", told.member_epoch, PARTITIONS)[1] == everything
    assert bench.delete() == E.NON_EMPTY_GROUP


def test_static_members_of_a_consumer_group(bench: Bench) -> None:
    joined = bench.consumer("one", instance_id="i1")
    epoch = joined.member_epoch
    assert bench.consumer("two", instance_id="i1").error_code == E.UNRELEASED_INSTANCE_ID
    assert bench.consumer("one", instance_id="i1").error_code == E.UNRELEASED_INSTANCE_ID
    assert bench.consumer("two", epoch, instance_id="i1").error_code == E.FENCED_INSTANCE_ID
    assert bench.consumer("one", -2, instance_id="i1").member_epoch == -2
    back = bench.consumer("two", instance_id="i1")
    assert (back.error_code, partitions_of(back)) == (0, partitions_of(joined))
    assert bench.consumer("one", epoch, instance_id="i1").error_code == E.FENCED_INSTANCE_ID
    assert bench.consumer("two", epoch, instance_id="i9").error_code == E.UNKNOWN_MEMBER_ID


def test_a_group_changes_its_protocol_and_back(bench: Bench) -> None:
    classic = bench.new_member()
    bench.join(classic)
    bench.sync(classic, 1, {classic: write_assignment({bench.topic: list(range(PARTITIONS))}, 1)})
    joined = bench.consumer("new")
    assert (joined.error_code, partitions_of(joined)) == (0, [])
    assert bench.listed() == ("consumer", "Reconciling", "consumer")
    assert bench.commit(classic, 1, version=8) == 0
    assert bench.commit(classic, 7, version=8) == E.ILLEGAL_GENERATION
    owned = list(range(PARTITIONS))
    generation = 1
    for _ in range(2):
        assert bench.beat(classic, generation) == E.REBALANCE_IN_PROGRESS
        protocols = [JoinGroupRequestProtocol(name="range", metadata=bench.subscription(owned))]
        again = bench.join(classic, protocols=protocols)
        assert (again.error_code, again.leader, again.protocol_name) == (0, "", "range")
        generation = again.generation_id
        synced = bench.sync(classic, generation)
        owned = read_assignment(synced.assignment)[0][bench.topic]
        assert len(owned) == PARTITIONS // 2
    assert bench.beat(classic, generation) == 0
    assert bench.beat(classic, 99) == bench.sync(classic, 99).error_code == E.ILLEGAL_GENERATION
    assert bench.beat("new", generation) == E.UNKNOWN_MEMBER_ID
    _, received = bench.consumer_until("new", joined.member_epoch, PARTITIONS // 2)
    assert sorted(owned + received) == list(range(PARTITIONS))
    assert bench.join(protocol_type="connect").error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert bench.consumer("new", -1).error_code == 0
    assert bench.listed() == ("classic", "PreparingRebalance", "consumer")
    assert bench.beat(classic, generation) == E.REBALANCE_IN_PROGRESS
