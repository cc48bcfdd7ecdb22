"""The pure parts of administration: targets, resets, lag, members' bytes, hanging transactions, rounds of users."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from pykclient.admin import (
    AclOperation,
    GroupMember,
    OffsetReset,
    OffsetSpec,
    PartitionLag,
    ProducerState,
    ScramDeletion,
    ScramUpsertion,
    TransactionDescription,
)
from pykclient.admin.groups import read_assignment, read_subscription
from pykclient.admin.lag import first_timestamp, partition_lag, with_timestamp
from pykclient.admin.offsets import committed_in, milliseconds, planned_reset, timestamp_of
from pykclient.admin.routing import concerns_all, coordinators_in, passes
from pykclient.admin.topics import many, text_of
from pykclient.admin.transactions import hanging_in
from pykclient.admin.types import operations_in
from pykclient.admin.users import entity_key, once_per_user
from pykclient.errors import (
    AuthenticationError,
    ClientClosed,
    CoordinatorNotAvailable,
    GroupAuthorizationFailed,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NoOffsetForPartition,
    NotController,
    TopicAuthorizationFailed,
    UnstableOffsetCommit,
    UnsupportedVersionError,
    UsageError,
)
from pykclient.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykclient.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykclient.protocol.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from pykclient.protocol.records import encode_batch
from pykclient.types import OffsetAndMetadata, TopicPartition

TP = TopicPartition("t", 0)


# ---- what users write ----


def test_one_name_is_not_a_list_of_letters() -> None:
    assert many("abc") == ["abc"]
    assert many(["a", "b"]) == ["a", "b"]
    assert many(7) == [7]


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (60000, "60000"), ("x", "x")])
def test_values_are_written_as_kafka_reads_them(value: object, text: str) -> None:
    assert text_of(value) == text


def test_targets_by_name_spec_time_and_moment() -> None:
    assert timestamp_of("earliest") == timestamp_of(OffsetSpec.EARLIEST) == -2
    assert timestamp_of("max-timestamp") == -3
    assert timestamp_of(1234) == 1234
    moment = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp_of(moment) == milliseconds(moment) == 1704067200000
    for wrong in ("first", -5, datetime(2024, 1, 1)):
        with pytest.raises(UsageError):
            timestamp_of(wrong)


# ---- resets ----


@pytest.mark.parametrize(
    ("to", "shift", "by_time", "after"),
    [
        ("earliest", None, None, 10),
        ("latest", None, None, 50),
        ("current", None, None, 20),
        (33, None, None, 33),
        (5, None, None, 10),
        (500, None, None, 50),
        (None, -3, None, 17),
        (None, 1000, None, 50),
        (datetime(2024, 1, 1, tzinfo=timezone.utc), None, 40, 40),
        (timedelta(hours=1), None, -1, 50),
        ({TP: OffsetAndMetadata(12)}, None, None, 12),
    ],
)
def test_a_reset_lands_inside_the_log(to: object, shift: int | None, by_time: int | None, after: int) -> None:
    planned = planned_reset(TP, before=20, earliest=10, latest=50, by_time=by_time, to=to, shift=shift)  # type: ignore[arg-type]
    assert planned == OffsetReset(20, after, 10, 50)
    assert planned.shift == after - 20


def test_a_shift_needs_a_start() -> None:
    for to, shift in ((None, 1), ("current", None)):
        planned = planned_reset(TP, before=None, earliest=0, latest=5, by_time=None, to=to, shift=shift)
        assert isinstance(planned, NoOffsetForPartition)
    with pytest.raises(UsageError):
        planned_reset(TP, before=None, earliest=0, latest=5, by_time=None, to="somewhere", shift=None)


# ---- lag ----


def test_lag_counts_from_the_commit_and_is_unknown_without_one() -> None:
    owner = GroupMember("m", None, "c", "/127.0.0.1", frozenset({TP}), frozenset({TP}))
    row = partition_lag(OffsetAndMetadata(7, "note"), 0, 10, owner)
    assert (row.committed, row.lag, row.owner, row.metadata) == (7, 3, owner, "note")
    assert partition_lag(None, 0, 10, None).lag is None
    assert partition_lag(OffsetAndMetadata(12), 0, 10, None).lag == 0  # committed past a truncated end


def test_age_is_never_negative() -> None:
    row = PartitionLag(1, 0, 5, 4)
    assert with_timestamp(row, 1000, 3500).age_s == 2.5
    assert with_timestamp(row, 5000, 3500).age_s == 0
    assert with_timestamp(row, 5000, 3500).lag == 4


def test_the_oldest_unread_record_is_found_inside_a_batch_and_past_markers() -> None:
    marker = encode_batch([(10, b"\0\0\0\1", b"\0\0\0\0\0\0", [])], base_offset=4, control=True, transactional=True,
                          producer_id=1, producer_epoch=0)  # fmt: skip
    data = encode_batch([(100, None, b"a", []), (200, None, b"b", [])], base_offset=5)
    assert first_timestamp(marker + data, TP, 4) == 100
    assert first_timestamp(marker + data, TP, 6) == 200
    assert first_timestamp(marker, TP, 4) is None
    assert first_timestamp(None, TP, 4) is None


# ---- answers of either shape ----


def test_commits_are_read_from_both_shapes_of_the_answer() -> None:
    old = OffsetFetchResponse(
        topics=[OffsetFetchResponseTopic(name="t", partitions=[OffsetFetchResponsePartition(0, 5, 2, "n", 0)])]
    )
    rows = [OffsetFetchResponsePartitions(0, 5, -1, None, 0), OffsetFetchResponsePartitions(1, -1, -1, None, 0),
            OffsetFetchResponsePartitions(2, -1, -1, None, TopicAuthorizationFailed.code)]  # fmt: skip
    new = OffsetFetchResponse(
        groups=[OffsetFetchResponseGroup(group_id="g", topics=[OffsetFetchResponseTopics(name="t", partitions=rows)])]
    )
    assert committed_in(old, "g") == {TP: OffsetAndMetadata(5, "n", 2)}
    found = committed_in(new, "g")
    assert found[TP] == OffsetAndMetadata(5)
    assert found[TopicPartition("t", 1)] is None
    assert isinstance(found[TopicPartition("t", 2)], TopicAuthorizationFailed)


def test_an_unstable_commit_is_asked_for_again_and_a_refused_group_fails() -> None:
    unstable = OffsetFetchResponsePartitions(0, -1, -1, None, UnstableOffsetCommit.code)
    topics = [OffsetFetchResponseTopics(name="t", partitions=[unstable])]
    with pytest.raises(UnstableOffsetCommit):
        committed_in(OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=topics)]), "g")
    with pytest.raises(GroupAuthorizationFailed):
        committed_in(OffsetFetchResponse(error_code=GroupAuthorizationFailed.code), "g")


def test_coordinators_are_read_from_one_answer_or_many() -> None:
    refused = Coordinator(key="b", node_id=-1, error_code=CoordinatorNotAvailable.code)
    together = FindCoordinatorResponse(coordinators=[Coordinator(key="a", node_id=3), refused])
    found, errors = coordinators_in([together], ["a", "b"])
    assert found == {"a": 3}
    assert isinstance(errors["b"], CoordinatorNotAvailable)
    lost = KafkaConnectionError("gone")
    found, errors = coordinators_in([FindCoordinatorResponse(node_id=2), lost], ["a", "b"])
    assert (found, errors) == ({"a": 2}, {"b": lost})
    assert coordinators_in([lost], ["a", "b"])[1] == {"a": lost, "b": lost}


# ---- members' bytes ----


def test_members_bytes_are_read_and_nonsense_is_nothing() -> None:
    assignment = ConsumerProtocolAssignment(assigned_partitions=[AssignedTopic(topic="t", partitions=[0, 2])])
    data = b"\0\1" + assignment.write(1)
    assert read_assignment(data) == {TP, TopicPartition("t", 2)}
    newer = b"\0\x63" + assignment.write(ConsumerProtocolAssignment.MAX_VERSION) + b"what a later version adds"
    assert read_assignment(newer) == {TP, TopicPartition("t", 2)}
    for nonsense in (b"", b"\0", b"\xff\xff", b"\0\0\0\0\0\7"):
        assert read_assignment(nonsense) == frozenset()
        assert read_subscription(nonsense) == frozenset()
    assert read_subscription(b"\0\0" + ConsumerProtocolSubscription(topics=["t"]).write(0)) == {"t"}


# ---- transactions ----


def test_only_what_the_coordinator_does_not_know_hangs() -> None:
    state = ProducerState(9, 2, 4, 1000, None, 17)
    known = TransactionDescription("tx", "Ongoing", 9, 2, 60000, 5, frozenset({TP}))
    assert hanging_in(TP, state, "tx", {"tx": known}) is None
    elsewhere = TransactionDescription("tx", "Ongoing", 9, 2, 60000, 5, frozenset())
    newer = TransactionDescription("tx", "Ongoing", 10, 0, 60000, 5, frozenset({TP}))
    for transactional_id, described in (("tx", {"tx": elsewhere}), ("tx", {"tx": newer}), (None, {}), ("tx", {})):
        found = hanging_in(TP, state, transactional_id, described)
        assert found is not None
        assert (found.start_offset, found.coordinator_epoch, found.transactional_id) == (17, -1, transactional_id)


# ---- users, quotas, rights ----


def test_no_request_names_a_user_twice() -> None:
    one, two, three = ScramUpsertion("a", "x"), ScramDeletion("a", "SCRAM-SHA-256"), ScramDeletion("b")
    assert once_per_user([one, two, three]) == [{"a": one, "b": three}, {"a": two}]


def test_an_entity_has_one_key_however_it_is_written() -> None:
    assert entity_key({"user": "a", "client-id": None}) == entity_key({"client-id": None, "user": "a"})


def test_authorized_operations_come_from_bits() -> None:
    assert operations_in(-(2**31)) is None
    assert operations_in(1 << 3 | 1 << 8) == frozenset({AclOperation.READ, AclOperation.DESCRIBE})


# ---- what is asked again ----


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (KafkaConnectionError("x"), True),
        (KafkaTimeoutError("x"), True),
        (NotController(), True),
        (CoordinatorNotAvailable(), False),
        (AuthenticationError(), False),
        (ClientClosed(), False),
    ],
)
def test_only_what_passes_by_itself_is_asked_again(error: KafkaError, again: bool) -> None:
    assert passes(error, (NotController,)) is again


def test_failures_that_no_item_caused_concern_the_call() -> None:
    assert concerns_all(AuthenticationError())
    assert concerns_all(UnsupportedVersionError(needed=(1, 2), api="ListTransactions"))
    assert not concerns_all(TopicAuthorizationFailed())
