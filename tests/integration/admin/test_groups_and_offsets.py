"""Groups, their offsets and their lag through KafkaAdminClient, on the embedded cluster and on Apache Kafka."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from pykclient.admin import GroupDescription, NewTopic, OffsetSpec, PartitionLag
from pykclient.errors import (
    GroupIdNotFound,
    KafkaError,
    NonEmptyGroup,
    NoOffsetForPartition,
    OffsetOutOfRange,
    UnknownTopicOrPartition,
    UsageError,
)
from pykclient.testing.real_kafka import run_tool
from tests.integration.admin.conftest import Stage, eventually, fill

PROTOCOLS = ["classic", "consumer"]


@contextmanager
def member(stage: Stage, topic: str, group: str, protocol: str, **options: object) -> Iterator[KafkaConsumer]:
    """A consumer that has joined and holds all partitions."""
    with stage.consumer(
        topic, group_id=group, group_protocol=protocol, enable_auto_commit=False, client_id="reader", **options
    ) as consumer:
        end = time.monotonic() + 20
        while len(consumer.assignment()) < 3:
            consumer.poll(0.05)
            assert time.monotonic() < end, "never got its partitions"
        yield consumer


def described(admin: KafkaAdminClient, group: str) -> GroupDescription:
    return eventually(lambda: admin.describe_groups(group)[group], lambda found: found.state == "Stable")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_is_described_whatever_it_speaks(
    stage: Stage, admin: KafkaAdminClient, topic: str, protocol: str
) -> None:
    group = f"g-{topic}"
    with member(stage, topic, group, protocol):
        found = described(admin, group)
        (reader,) = found.members
        assert reader.client_id == "reader"
        assert reader.assignment == {TopicPartition(topic, index) for index in range(3)}
        assert reader.subscription == {topic}
        assert found.type == {"classic": "Classic", "consumer": "Consumer"}[protocol]
        assert (found.group_epoch is None) == (protocol == "classic")
        assert found.coordinator is not None
        listed = admin.list_groups()[group]
        assert (listed.type, listed.state) == (found.type, "Stable")
        assert group in admin.list_groups(states=["Stable"], types=[protocol])
        assert group not in admin.list_groups(states=["Empty"])
        refused = admin.delete_groups([group, f"{group}-not"])
        assert isinstance(refused.error(group), NonEmptyGroup)
        assert isinstance(refused.error(f"{group}-not"), GroupIdNotFound)
    assert isinstance(admin.describe_groups(f"{group}-not").error(f"{group}-not"), GroupIdNotFound)


def test_members_are_removed(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    group = f"g-{topic}"
    with member(stage, topic, group, "classic", group_instance_id="one"):
        assert admin.remove_members(group, ["one", "nobody"]).errors.keys() == {"nobody"}
        assert admin.describe_groups(group)[group].members == ()
    assert admin.remove_members(group) == {}
    with member(stage, topic, group, "classic"):
        (only,) = described(admin, group).members
        assert admin.remove_members(group, reason="the test wants it") == {only.member_id: None}


def test_offsets_of_a_group_are_set_listed_and_forgotten(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    fill(stage, topic, 30)
    group, first, second = f"g-{topic}", TopicPartition(topic, 0), TopicPartition(topic, 1)
    missing = TopicPartition(f"{topic}-not", 0)
    altered = admin.alter_group_offsets(group, {first: 4, second: OffsetAndMetadata(7, "note"), missing: 1})
    assert altered.succeeded.keys() == {first, second}
    assert isinstance(altered.error(missing), UnknownTopicOrPartition)
    assert admin.list_group_offsets(group) == {first: OffsetAndMetadata(4), second: OffsetAndMetadata(7, "note")}
    asked = admin.list_group_offsets(group, [first, TopicPartition(topic, 2)], require_stable=True)
    assert asked == {first: OffsetAndMetadata(4), TopicPartition(topic, 2): None}
    admin.delete_group_offsets(group, [first]).raise_for_errors()
    assert list(admin.list_group_offsets(group)) == [second]
    admin.delete_groups(group).raise_for_errors()
    assert isinstance(admin.describe_groups(group).error(group), GroupIdNotFound)


def test_a_group_is_moved_to_ends_times_and_by_steps(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    start_ms = fill(stage, topic, 30)  # ten in each partition, three seconds apart
    group, zero, two = f"g-{topic}", TopicPartition(topic, 0), TopicPartition(topic, 2)
    admin.alter_group_offsets(group, {zero: 5}).raise_for_errors()
    told = admin.reset_group_offsets(group, [topic], to="latest", dry_run=True)
    assert {tp.partition: (row.before, row.after) for tp, row in told.items()} == {
        0: (5, 10),
        1: (None, 10),
        2: (None, 10),
    }
    assert admin.list_group_offsets(group) == {zero: OffsetAndMetadata(5)}

    def after(**how: object) -> dict[int, int]:
        results = admin.reset_group_offsets(group, [topic], **how)  # type: ignore[arg-type]
        moved = {tp.partition: row.after for tp, row in results.succeeded.items()}
        committed = {tp.partition: row.offset for tp, row in admin.list_group_offsets(group).items() if row is not None}
        assert {index: committed[index] for index in moved} == moved
        return moved

    assert isinstance(admin.reset_group_offsets(group, [two], shift=1).error(two), NoOffsetForPartition)
    assert after(to="earliest") == {0: 0, 1: 0, 2: 0}
    assert after(to="latest") == {0: 10, 1: 10, 2: 10}
    assert after(shift=-3) == {0: 7, 1: 7, 2: 7}
    assert after(shift=-100) == {0: 0, 1: 0, 2: 0}
    assert after(to=6) == {0: 6, 1: 6, 2: 6}
    assert after(to={zero: 2, TopicPartition(topic, 1): 99, two: 1}) == {0: 2, 1: 10, 2: 1}
    moment = datetime.fromtimestamp(start_ms / 1000, timezone.utc) + timedelta(seconds=7)
    assert after(to=moment) == {0: 3, 1: 2, 2: 2}
    assert after(to=timedelta(seconds=1)) == {0: 10, 1: 10, 2: 10}
    with pytest.raises(UsageError):
        admin.reset_group_offsets(group, to="earliest", shift=1)
    with pytest.raises(UsageError, match="time zone"):
        admin.reset_group_offsets(group, to=datetime(2020, 1, 1))


def test_a_group_with_members_is_not_moved(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    group = f"g-{topic}"
    with member(stage, topic, group, "classic"):
        described(admin, group)
        results = admin.reset_group_offsets(group, [topic], to="earliest")
        assert len(results.errors) == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lag_tells_how_far_how_old_and_whose(stage: Stage, admin: KafkaAdminClient, topic: str, protocol: str) -> None:
    start_ms = fill(stage, topic, 30)
    group = f"g-{topic}"
    with member(stage, topic, group, protocol) as consumer:
        consumer.commit(
            {TopicPartition(topic, 0): OffsetAndMetadata(4), TopicPartition(topic, 1): OffsetAndMetadata(10)}
        )
        described(admin, group)
        rows = admin.lag(group)
        zero, one, two = (rows[TopicPartition(topic, index)] for index in range(3))
        assert (zero.committed, zero.start, zero.end, zero.lag) == (4, 0, 10, 6)
        assert zero.oldest_unread == start_ms + 12_000  # record 12 is the fifth of partition 0
        assert zero.age_s == pytest.approx(time.time() - zero.oldest_unread / 1000, abs=5)
        assert zero.owner is not None
        assert zero.owner.client_id == "reader"
        assert (one.lag, one.age_s, one.oldest_unread) == (0, None, None)
        assert (two.committed, two.lag, two.end) == (None, None, 10)
        assert two.owner == zero.owner
        quick = admin.lag(group, [TopicPartition(topic, 0)], with_age=False)
        assert [(row.lag, row.age_s) for row in quick.values()] == [(6, None)]
    with pytest.raises(GroupIdNotFound):
        admin.lag(f"{group}-not")


def test_lag_of_deleted_records_starts_where_the_log_does(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    start_ms = fill(stage, topic, 10, partitions=1)
    tp = TopicPartition(topic, 0)
    admin.alter_group_offsets(f"g-{topic}", {tp: 2}).raise_for_errors()
    assert admin.delete_records({tp: 6})[tp] == 6
    row: PartitionLag = admin.lag(f"g-{topic}")[tp]
    assert (row.committed, row.start, row.end, row.lag) == (2, 6, 10, 8)  # as Kafka's own tool counts
    assert row.oldest_unread == start_ms + 6000


@pytest.mark.real_kafka
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lag_equals_what_kafkas_own_tool_prints(real_stage: Stage, name: str, protocol: str) -> None:
    with real_stage.admin() as admin:
        admin.create_topics(NewTopic(name, partitions=3), wait=True).raise_for_errors()
        fill(real_stage, name, 50)
        group = f"g-{name}"
        with member(real_stage, name, group, protocol) as consumer:
            consumer.commit(
                {TopicPartition(name, 0): OffsetAndMetadata(3), TopicPartition(name, 2): OffsetAndMetadata(9)}
            )
            described(admin, group)
            printed = run_tool(
                "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
                *("--bootstrap-server", real_stage.bootstrap_servers, "--describe", "--group", group),
            )
            ours = admin.lag(group)
    rows = {}
    for line in printed.splitlines():
        words = line.split()
        if len(words) >= 9 and words[0] == group:
            rows[int(words[2])] = tuple(words[3:9])

    def text(value: object) -> str:
        return "-" if value is None else str(value)

    assert rows == {
        tp.partition: (
            text(row.committed),
            text(row.end),
            text(row.lag),
            row.owner.member_id if row.owner else "-",
            row.owner.client_host if row.owner else "-",
            row.owner.client_id if row.owner else "-",
        )
        for tp, row in ours.items()
    }
    assert len(rows) == 3


def test_offsets_are_looked_up_by_name_and_time(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    start_ms = fill(stage, topic, 30)
    tps = [TopicPartition(topic, index) for index in range(3)]
    missing = TopicPartition(topic, 77)
    found = admin.list_offsets(
        {tps[0]: "earliest", tps[1]: OffsetSpec.LATEST, tps[2]: "max_timestamp", missing: "latest"}
    )
    assert (found[tps[0]].offset, found[tps[1]].offset, found[tps[2]].offset) == (0, 10, 9)
    assert found[tps[2]].timestamp == start_ms + 29_000
    assert isinstance(found.error(missing), UnknownTopicOrPartition)
    moment = datetime.fromtimestamp(start_ms / 1000, timezone.utc) + timedelta(seconds=7)
    by_time = admin.list_offsets({tps[0]: start_ms + 7000, tps[1]: moment, tps[2]: int(time.time() * 1000)})
    assert [by_time[tp].offset for tp in tps] == [3, 2, -1]
    with pytest.raises(UsageError, match="earliest"):
        admin.list_offsets({tps[0]: "erliest"})


def test_records_are_deleted_up_to_an_offset(stage: Stage, admin: KafkaAdminClient, topic: str) -> None:
    fill(stage, topic, 30)
    zero, one, two = (TopicPartition(topic, index) for index in range(3))
    results = admin.delete_records({zero: 4, one: -1, two: 99})
    assert (results[zero], results[one]) == (4, 10)
    assert isinstance(results.error(two), OffsetOutOfRange)
    assert [row.offset for row in admin.list_offsets({zero: "earliest", one: "earliest"}).values()] == [4, 10]


def test_unknown_topics_are_reported_soon_and_by_name(admin: KafkaAdminClient, name: str) -> None:
    began = time.monotonic()
    error: KafkaError | None = admin.list_offsets({TopicPartition(name, 0): "latest"}).error(TopicPartition(name, 0))
    assert isinstance(error, UnknownTopicOrPartition)
    assert error.topic == name
    assert time.monotonic() - began < 4


@pytest.mark.real_kafka
def test_share_groups_are_described_and_moved(real_stage: Stage, name: str) -> None:
    group, tp = f"share-{name}", TopicPartition(name, 0)
    with real_stage.admin() as admin:
        admin.create_topics(name, wait=True).raise_for_errors()
        fill(real_stage, name, 10, partitions=1)
        admin.alter_share_group_offsets(group, {tp: 4}).raise_for_errors()
        described = admin.describe_groups(group)[group]
        assert (described.type, described.state, described.members) == ("Share", "Empty", ())
        assert admin.list_groups(types=["share"])[group].type == "Share"
        assert admin.list_share_group_offsets(group)[tp].start == 4
        assert admin.list_share_group_offsets(group, [tp])[tp].start == 4
        missing = TopicPartition(f"{name}-not", 0)
        assert admin.alter_share_group_offsets(group, {missing: 1}).error(missing) is not None
        admin.delete_share_group_offsets(group, name).raise_for_errors()
        assert tp not in admin.list_share_group_offsets(group)
        admin.delete_groups(group).raise_for_errors()
