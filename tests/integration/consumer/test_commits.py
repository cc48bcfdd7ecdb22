"""What counts as processed: a record is committed only after the next one was asked for, and never before; what a loop
did not reach comes again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pykclient import KafkaConsumer, TopicPartition
from pykclient.errors import CommitFailed, IllegalStateError, UsageError
from pykclient.testing import EmbeddedCluster
from pykclient.types import OffsetAndMetadata
from tests.integration.consumer.support import PROTOCOLS, numbers, open_consumer, produce, read_numbers, wait_assigned

each_protocol = pytest.mark.parametrize("protocol", list(PROTOCOLS))


def committed(cluster: EmbeddedCluster, topic: str, partition: int = 0) -> int | None:
    where = TopicPartition(topic, partition)
    with open_consumer(cluster, group_id=topic) as consumer:
        found = consumer.committed([where])[where]
    return None if found is None else found.offset


class Stop(Exception):
    pass


@each_protocol
def test_an_exception_in_the_loop_leaves_the_record_in_hand_uncommitted(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(10))
    with pytest.raises(Stop), open_consumer(cluster, topic, protocol=protocol, group_id=topic) as consumer:
        for record in consumer:
            if record.offset == 6:
                raise Stop
    assert committed(cluster, topic) == 6


@each_protocol
def test_an_exception_after_poll_leaves_all_that_it_returned_uncommitted(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(10))
    with (
        pytest.raises(Stop),
        open_consumer(cluster, topic, protocol=protocol, group_id=topic, max_poll_records=4) as consumer,
    ):
        assert numbers(consumer.poll(10.0).records()) == [0, 1, 2, 3]
        assert numbers(consumer.poll(10.0).records()) == [4, 5, 6, 7]
        raise Stop
    assert committed(cluster, topic) == 4


@each_protocol
def test_a_clean_end_commits_what_poll_returned(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(10))
    with open_consumer(cluster, topic, protocol=protocol, group_id=topic, max_poll_records=4) as consumer:
        read_numbers(consumer, range(4))
    assert committed(cluster, topic) == 4


def test_background_commits_stay_behind_the_record_in_hand(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(10))
    commits = cluster.faults.observe("OffsetCommit", group=topic)
    with open_consumer(cluster, topic, group_id=topic, auto_commit_interval_ms=10) as consumer:
        for record in consumer:
            before = commits.hits
            if record.offset:
                commits.wait_for(before + 1)
                assert committed(cluster, topic) == record.offset
            if record.offset == 3:
                break


def test_leaving_the_loop_skips_nothing(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic(3)
    produce(cluster, topic, range(60), partitions=3)
    seen: list[int] = []
    with open_consumer(cluster, topic, group_id=topic) as consumer:
        while len(seen) < 60:
            for record in consumer:
                seen += numbers([record])
                if len(seen) % 7 == 0 or len(seen) == 60:
                    break
    assert sorted(seen) == list(range(60))


def test_polling_inside_the_loop_gives_every_record_once(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(40), partitions=2)
    seen: list[int] = []
    with open_consumer(cluster, topic, max_poll_records=5) as consumer:
        for record in consumer:
            seen += numbers([record])
            if len(seen) % 3 == 0:
                seen += numbers(consumer.poll(0.2).records())
            if len(seen) >= 40:
                break
    assert sorted(seen) == list(range(40))


def test_seek_inside_the_loop_takes_effect_with_the_next_record(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(20))
    seen: list[int] = []
    with open_consumer(cluster, topic, group_id=topic) as consumer:
        for record in consumer:
            seen.append(record.offset)
            if seen == [0, 1, 2]:
                consumer.seek(TopicPartition(topic, 0), 17)
                assert consumer.position(TopicPartition(topic, 0)) == 17
            if record.offset == 19:
                break
    assert seen == [0, 1, 2, 17, 18, 19]


def test_commit_and_position_inside_the_loop_mean_the_record_in_hand(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(20), partitions=2)
    done: dict[int, int] = {}
    with open_consumer(cluster, topic, group_id=topic, enable_auto_commit=False) as consumer:
        for record in consumer:
            done[record.partition] = record.offset + 1
            if len(done) == 2 and record.offset == 4:
                assert consumer.position(TopicPartition(topic, record.partition)) == 5
                consumer.commit()
                break
    for partition in range(2):
        assert committed(cluster, topic, partition) == done[partition]


def test_explicit_offsets_metadata_and_callbacks(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    where = TopicPartition(topic, 0)
    heard: list[Exception | None] = []
    with open_consumer(cluster, topic, group_id=topic, enable_auto_commit=False) as consumer:
        wait_assigned(consumer, 1)
        assert consumer.committed([where]) == {where: None}
        consumer.commit({where: OffsetAndMetadata(3, "note")})
        found = consumer.committed([where])[where]
        assert found is not None
        assert (found.offset, found.metadata) == (3, "note")
        consumer.commit_async({where: 4}, lambda offsets, error: heard.append(error))
        cluster.wait_until(lambda: bool(heard), "the callback")
    assert heard == [None]
    assert committed(cluster, topic) == 4


def test_a_commit_after_the_group_moved_on_fails_and_says_so(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    with open_consumer(cluster, topic, protocol="kip848", group_id=topic, enable_auto_commit=False) as consumer:
        read_numbers(consumer, range(5))
        cluster.faults.error("OffsetCommit", "UNKNOWN_MEMBER_ID", group=topic, count=1)
        with pytest.raises(CommitFailed, match="moved on"):
            consumer.commit()


def test_without_a_group_there_is_nothing_to_commit(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic()
    with open_consumer(cluster, topic) as consumer:
        with pytest.raises(UsageError, match="group_id"):
            consumer.commit()
        with pytest.raises(IllegalStateError):
            consumer.seek(TopicPartition("other", 0), 1)


def test_a_closed_consumer_says_so(cluster: EmbeddedCluster) -> None:
    consumer: KafkaConsumer = open_consumer(cluster)
    consumer.close()
    consumer.close()
    with pytest.raises(Exception, match="closed"):
        consumer.poll(0)
