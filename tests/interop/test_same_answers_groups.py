"""The same requests, byte for byte, to Apache Kafka and to the embedded broker: groups and transactions.

Mostly the questions that well-behaved clients never ask: wrong names, wrong epochs, wrong order, every version.
"""

from __future__ import annotations

from typing import Any

import pytest

from pykclient.errors import ErrorCode
from pykclient.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from pykclient.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from pykclient.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from pykclient.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from pykclient.protocol.messages.delete_groups import DeleteGroupsRequest
from pykclient.protocol.messages.describe_groups import DescribeGroupsRequest
from pykclient.protocol.messages.describe_producers import DescribeProducersRequest
from pykclient.protocol.messages.describe_producers import TopicRequest as ProducersOf
from pykclient.protocol.messages.describe_transactions import DescribeTransactionsRequest
from pykclient.protocol.messages.end_txn import EndTxnRequest
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.list_transactions import ListTransactionsRequest
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
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from pykclient.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.interop.clients import wait_until
from tests.interop.talk import batch, coordinated, fetch, list_offsets, new_topic, produce
from tests.interop.wire import Compare, Conversation

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(120)]


def test_find_coordinator(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        for version in (0, 1, 2, 3):
            c.ask("a group", FindCoordinatorRequest(key="g"), version)
        c.ask("a transaction", FindCoordinatorRequest(key="t", key_type=1), 3)
        for version in (4, 5, 6):
            c.ask("groups", FindCoordinatorRequest(coordinator_keys=["a", "b"]), version)
            c.ask("transactions", FindCoordinatorRequest(coordinator_keys=["a", "b"], key_type=1), version)
        c.ask("an empty key", FindCoordinatorRequest(coordinator_keys=[""]), 5)
        c.ask("an odd type", FindCoordinatorRequest(coordinator_keys=["a"], key_type=9), 5)

    compare(talk)


def test_classic_group(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic, group = new_topic(c), c.names["group"]
        coordinated(c, group, 0)

        def join(label: str, version: int = 9, **options: object) -> Any:
            request = JoinGroupRequest(
                group_id=group,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=10_000,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\1\0\0\0\0\xff\xff\xff\xff")],
            )
            for name, value in options.items():
                setattr(request, name, value)
            return c.ask(f"join {label}", request, version)

        join("without a group", group_id="")
        join("with a short session", session_timeout_ms=1)
        join("with a long session", session_timeout_ms=2**31 - 1)
        join("without protocols", protocols=[])
        join("without a protocol type", protocol_type="")
        join("as a stranger", member_id="stranger")
        first = join("without an id")
        for version in (5, 7):
            join("without an id", version)
        member = first.member_id
        joined = join("with the id", member_id=member)
        generation = joined.generation_id

        def heartbeat(label: str, **options: object) -> None:
            request = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member)
            for name, value in options.items():
                setattr(request, name, value)
            c.ask(f"heartbeat {label}", request, 4)

        heartbeat("before the sync")
        assignment = SyncGroupRequestAssignment(member_id=member, assignment=b"mine")

        def sync(label: str, **options: object) -> None:
            request = SyncGroupRequest(
                group_id=group,
                generation_id=generation,
                member_id=member,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[assignment],
            )
            for name, value in options.items():
                setattr(request, name, value)
            c.ask(f"sync {label}", request, 5)

        sync("of a stranger", member_id="stranger")
        sync("of another generation", generation_id=99)
        sync("of another protocol", protocol_name="other")
        sync("of another type", protocol_type="connect")
        sync("well")
        sync("again")
        heartbeat("well")
        heartbeat("of a stranger", member_id="stranger")
        heartbeat("of another generation", generation_id=99)
        heartbeat("in another group", group_id=f"{group}-none")
        heartbeat("in no group", group_id="")

        def commit(label: str, offset: int, version: int = 9, **options: object) -> None:
            where = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata="note")
            request = OffsetCommitRequest(
                group_id=group,
                generation_id_or_member_epoch=generation,
                member_id=member,
                topics=[OffsetCommitRequestTopic(name=topic, partitions=[where])],
            )
            for name, value in options.items():
                setattr(request, name, value)
            c.ask(f"commit {label}", request, version)

        for version in (2, 5, 6, 7, 8, 9):
            commit("well", 5, version)
        commit("as a stranger", 6, member_id="stranger")
        commit("of another generation", 6, generation_id_or_member_epoch=99)
        commit("from outside", 6, generation_id_or_member_epoch=-1, member_id="")
        commit(
            "of an unknown topic",
            6,
            topics=[OffsetCommitRequestTopic(name=f"{topic}-none", partitions=[OffsetCommitRequestPartition()])],
        )
        commit(
            "of an unknown partition",
            6,
            topics=[
                OffsetCommitRequestTopic(name=topic, partitions=[OffsetCommitRequestPartition(partition_index=99)])
            ],
        )
        commit(
            "with a long note",
            6,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic, partitions=[OffsetCommitRequestPartition(committed_metadata="x" * 5000)]
                )
            ],
        )
        commit("to a new group", 6, group_id=f"{group}-new")
        commit("to a simple group", 6, group_id=f"{group}-simple", generation_id_or_member_epoch=-1, member_id="")
        commit("to no group", 6, group_id="", generation_id_or_member_epoch=-1, member_id="")
        fetch_offsets(c, topic, group)
        c.ask("describe", DescribeGroupsRequest(groups=[group], include_authorized_operations=True), 5)
        c.ask("describe a stranger", DescribeGroupsRequest(groups=[f"{group}-none"]), 5)
        c.ask("describe a stranger", DescribeGroupsRequest(groups=[f"{group}-none"]), 6)
        c.ask("delete while in use", DeleteGroupsRequest(groups_names=[group, f"{group}-none", ""]), 2)
        delete_offsets(c, topic, group, "while empty of subscribers")
        leave = LeaveGroupRequest(
            group_id=group, members=[MemberIdentity(member_id="stranger"), MemberIdentity(member_id=member)]
        )
        c.ask("leave", leave, 5)
        c.ask("leave again", leave, 5)
        # Those who asked for an id and never came back hold Apache Kafka's group up for a moment.
        state = DescribeGroupsRequest(groups=[group])
        wait_until(lambda: c.wire.ask(state, 5).groups[0].group_state == "Empty", "the group to be empty")
        delete_offsets(c, topic, group, "afterwards")
        c.ask("describe the empty", DescribeGroupsRequest(groups=[group]), 5)
        c.ask("delete", DeleteGroupsRequest(groups_names=[group]), 2)

    compare(talk)


def delete_offsets(c: Conversation, topic: str, group: str, label: str) -> None:
    partitions = [OffsetDeleteRequestPartition(partition_index=n) for n in (0, 9)]
    request = OffsetDeleteRequest(group_id=group, topics=[OffsetDeleteRequestTopic(name=topic, partitions=partitions)])
    c.ask(f"delete offsets {label}", request, 0)
    request.group_id = f"{group}-none"
    c.ask(f"delete offsets of a stranger {label}", request, 0)


def fetch_offsets(c: Conversation, topic: str, group: str) -> None:
    for version in (1, 2, 5, 7):
        topics = [OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1, 9])]
        c.ask("offsets", OffsetFetchRequest(group_id=group, topics=topics), version)
        c.ask("offsets of a stranger", OffsetFetchRequest(group_id=f"{group}-none", topics=topics), version)
    asked = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0, 1, 9])]
    groups = [
        OffsetFetchRequestGroup(group_id=group, topics=asked),
        OffsetFetchRequestGroup(group_id=f"{group}-none", topics=asked),
        OffsetFetchRequestGroup(group_id=f"{group}-simple", topics=None),
    ]
    for version in (8, 9):
        c.ask("offsets of several", OffsetFetchRequest(groups=groups, require_stable=True), version)
    stranger = OffsetFetchRequestGroup(group_id=group, member_id="stranger", member_epoch=3, topics=asked)
    c.ask("offsets as a stranger", OffsetFetchRequest(groups=[stranger]), 9)


def test_consumer_group(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic, group = new_topic(c), c.names["group"]
        coordinated(c, group, 0)
        member = "AAAAAAAAAAAAAAAAAAAAAQ"

        def beat(label: str, version: int = 1, **options: object) -> Any:
            request = ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=1)
            for name, value in options.items():
                setattr(request, name, value)
            return c.ask(f"beat {label}", request, version)

        joining = {
            "member_epoch": 0,
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": [topic],
            "topic_partitions": [],
        }
        beat("of an unknown group", group_id=f"{group}-none")
        beat("without a group", group_id="")
        beat("joining without topics", member_epoch=0, rebalance_timeout_ms=10_000, topic_partitions=[])
        beat("joining without a time-out", member_epoch=0, subscribed_topic_names=[topic], topic_partitions=[])
        beat(
            "joining with partitions unsaid",
            member_epoch=0,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=[topic],
        )
        beat("joining without an id", **{**joining, "member_id": ""})  # type: ignore[arg-type]
        beat("with an unknown assignor", **joining, server_assignor="mine")  # type: ignore[arg-type]
        beat(
            "with a bad pattern",
            member_epoch=0,
            rebalance_timeout_ms=10_000,
            topic_partitions=[],
            subscribed_topic_regex="(",
        )
        first = beat("joining", **joining)  # type: ignore[arg-type]
        epoch = first.member_epoch
        beat("well", member_epoch=epoch)
        beat("of a stranger", member_id="BBBBBBBBBBBBBBBBBBBBBQ", member_epoch=epoch)
        beat("from the past", member_epoch=epoch - 1 if epoch > 1 else 77)
        beat("from the future", member_epoch=epoch + 5)
        beat("from a strange epoch", member_epoch=-7)
        c.ask("describe", ConsumerGroupDescribeRequest(group_ids=[group]), 1)
        c.ask("describe a stranger", ConsumerGroupDescribeRequest(group_ids=[f"{group}-none"]), 1)
        c.ask("describe as classic", DescribeGroupsRequest(groups=[group]), 6)
        where = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
        for label, said in (("well", epoch), ("stale", epoch + 3)):
            request = OffsetCommitRequest(
                group_id=group,
                member_id=member,
                generation_id_or_member_epoch=said,
                topics=[OffsetCommitRequestTopic(name=topic, partitions=[where])],
            )
            c.ask(f"commit {label}", request, 9)
            if label == "well":
                c.ask("commit by an old client", request, 8)
        beat("leaving", member_epoch=-1)
        beat("after leaving", member_epoch=epoch)
        c.ask("describe the empty", ConsumerGroupDescribeRequest(group_ids=[group]), 1)

    compare(talk)


def add_to(tx: str, producer: Any, topic: str, partition: int = 0) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=tx,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.producer_epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
    )


def test_transactions(compare: Compare) -> None:
    def talk(c: Conversation) -> None:
        topic, tx, group = new_topic(c), c.names["tx"], c.names["group"]
        coordinated(c, tx, 1)

        def init(label: str, version: int = 5, **options: object) -> Any:
            request = InitProducerIdRequest(transactional_id=tx, transaction_timeout_ms=60_000)
            for name, value in options.items():
                setattr(request, name, value)
            return c.ask(f"init {label}", request, version)

        ask_for = DescribeTransactionsRequest(transactional_ids=[tx])
        not_loading = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        wait_until(
            lambda: c.wire.ask(ask_for, 0).transaction_states[0].error_code == not_loading, "the coordinator to load"
        )
        anybody = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        wait_until(lambda: c.wire.ask(anybody, 5).error_code == 0, "the first block of producer ids")
        init("with no time", transaction_timeout_ms=0)
        init("with too much time", transaction_timeout_ms=2**31 - 1)
        init("with an empty name", transactional_id="")
        init("with half an identity", producer_id=5)
        first = init("first")
        init("first, once more")
        producer = init("going on", producer_id=first.producer_id, producer_epoch=first.producer_epoch + 1)
        init("as somebody else", producer_id=1_234_567, producer_epoch=0)
        init("from an old epoch", producer_id=first.producer_id, producer_epoch=0)
        init("from an old epoch", 3, producer_id=first.producer_id, producer_epoch=0)

        def end(label: str, committed: bool, version: int = 5, **options: object) -> Any:
            request = EndTxnRequest(
                transactional_id=tx,
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                committed=committed,
            )
            for name, value in options.items():
                setattr(request, name, value)
            return c.ask(f"end {label}", request, version)

        end("of nothing by commit", True)
        end("of nothing by commit", True, 4)
        end("of nothing by abort", False, 4)
        end("of an unknown id", True, transactional_id=f"{tx}-none")
        end("of an empty id", True, transactional_id="")
        end("by another producer", True, producer_id=999_999)
        end("by an old epoch", True, producer_epoch=0)
        for version in (0, 1, 3):
            end("by an old epoch", True, version, producer_epoch=0)
        c.ask("add an unknown topic", add_to(tx, producer, f"{topic}-none"), 3)
        c.ask("add an unknown partition", add_to(tx, producer, topic, 9), 3)
        c.ask("add to an unknown id", add_to(f"{tx}-none", producer, topic), 3)
        c.ask("add an internal topic", add_to(tx, producer, "__consumer_offsets"), 3)

        def write(label: str, sequence: int, version: int, epoch: int) -> None:
            records = batch(
                b"v",
                transactional=True,
                producer_id=producer.producer_id,
                producer_epoch=epoch,
                base_sequence=sequence,
            )
            c.ask(f"write {label}", produce(topic, records, tx=tx), version)

        epoch = producer.producer_epoch
        write("before it is added", 0, 9, epoch)
        write("before it is added", 0, 11, epoch)
        c.ask("add", add_to(tx, producer, topic), 3)
        c.ask("add again", add_to(tx, producer, topic), 3)
        write("well", 0, 11, epoch)
        c.ask("describe", DescribeTransactionsRequest(transactional_ids=[tx, f"{tx}-none", ""]), 0)
        c.ask("list", ListTransactionsRequest(state_filters=["Ongoing", "Nonsense"], transactional_id_pattern=tx), 2)
        c.ask("list by a bad pattern", ListTransactionsRequest(transactional_id_pattern="("), 2)
        c.ask("producers", DescribeProducersRequest(topics=[ProducersOf(name=topic, partition_indexes=[0])]), 0)
        c.ask("committed so far", fetch(topic, 0, isolation_level=1), 11)
        c.ask("stable offset", list_offsets(topic, -1, isolation=1), 9)
        offsets = AddOffsetsToTxnRequest(
            transactional_id=tx,
            producer_id=producer.producer_id,
            producer_epoch=epoch,
            group_id=group,
        )
        c.ask("add offsets", offsets, 4)
        commit_in_transaction(c, topic, tx, group, producer.producer_id, epoch)
        end("by abort", False, 4)
        settled(c, tx)
        c.ask("stable offset", list_offsets(topic, -1, isolation=1), 8)
        end("by abort again", False, 3)
        end("by commit afterwards", True, 3)
        c.ask("all of it", fetch(topic, 0, isolation_level=1), 12)
        # The second protocol: the write adds the partition, the end bumps the epoch.
        write("by the second protocol", 1, 12, epoch)
        ended = end("by commit, bumping", True)
        settled(c, tx)
        end("by commit, bumping, again", True)
        end("by abort, bumping, too late", False)
        write("after the bump", 2, 12, epoch)
        bumped = ended.producer_epoch
        write("with the new epoch", 0, 12, bumped)
        end("with the new epoch", False, producer_epoch=bumped)
        settled(c, tx)
        c.ask("all of it in the end", fetch(topic, 0, isolation_level=1), 12)
        c.ask("describe in the end", DescribeTransactionsRequest(transactional_ids=[tx]), 0)

    compare(talk)


def settled(c: Conversation, tx: str) -> None:
    """Markers are written after the answer; what is asked next must not depend on how fast."""
    wait_until(
        lambda: (
            c.wire.ask(DescribeTransactionsRequest(transactional_ids=[tx]), 0)
            .transaction_states[0]
            .transaction_state.startswith("Complete")
        ),
        "the end of the transaction",
    )


def commit_in_transaction(c: Conversation, topic: str, tx: str, group: str, producer_id: int, epoch: int) -> None:
    where = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)

    def commit(label: str, version: int = 4, **options: object) -> None:
        request = TxnOffsetCommitRequest(
            transactional_id=tx,
            group_id=group,
            producer_id=producer_id,
            producer_epoch=epoch,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[where])],
        )
        for name, value in options.items():
            setattr(request, name, value)
        c.ask(f"commit offsets {label}", request, version)

    for version in (0, 2, 3, 4):
        commit("well", version)
    commit("of an old epoch", producer_epoch=0)
    commit("as a member", generation_id=5, member_id="stranger")
    commit("of an unknown topic", topics=[TxnOffsetCommitRequestTopic(name=f"{topic}-none", partitions=[where])])
    asked = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=asked)])
    c.ask("offsets while open", request, 9)
    request.require_stable = True
    c.ask("stable offsets while open", request, 8)
