"""Where reading starts and that it ends: reset policies, times, markers, aborted records, pauses."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone

import pytest

from pykclient import KafkaProducer, TopicPartition
from pykclient.errors import KafkaError, UsageError
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import numbers, open_consumer, produce, read_numbers, read_until, wait_assigned


def read_to_end(cluster: EmbeddedCluster, topic: str, isolation: str) -> list[int]:
    where = TopicPartition(topic, 0)
    seen: list[int] = []
    with open_consumer(cluster, isolation_level=isolation) as consumer:
        consumer.assign([where])
        end = consumer.end_offsets([where])[where]
        give_up_at = time.monotonic() + 10
        while consumer.position(where) < end:
            assert time.monotonic() < give_up_at, f"stands at {consumer.position(where)} of {end}"
            seen += numbers(consumer.poll(0.1).records())
        assert consumer.current_lag(where) == 0
    return seen


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("last", ["aborted", "committed"])
def test_reading_to_the_end_of_transactions_ends(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], isolation: str, last: str
) -> None:
    topic = new_topic()
    committed: list[int] = []
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            for value in range(10 * number, 10 * number + 5):
                producer.send(topic, b"%d" % value, partition=0)
            producer.flush()  # an abort drops what was not sent yet
            if (number % 2 == 0) == (last == "aborted"):
                producer.commit_transaction()
                committed += range(10 * number, 10 * number + 5)
            else:
                producer.abort_transaction()
    everything = [10 * number + index for number in range(6) for index in range(5)]
    seen = read_to_end(cluster, topic, isolation)
    assert seen == (committed if isolation == "read_committed" else everything)


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_every_offset_is_a_place_to_start_from(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], isolation: str
) -> None:
    topic = new_topic()
    where = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            for index in range(2):
                producer.send(topic, b"%d" % (2 * number + index), partition=0)
            producer.flush()
            producer.abort_transaction() if number % 2 else producer.commit_transaction()
    visible = {3 * number + index for number in range(6) for index in range(2)}
    if isolation == "read_committed":
        visible = {offset for offset in visible if offset // 3 % 2 == 0}
    with open_consumer(cluster, isolation_level=isolation) as consumer:
        consumer.assign([where])
        for start in range(18):
            consumer.seek(where, start)
            wanted = sorted(offset for offset in visible if offset >= start)
            found: list[int] = []
            while consumer.position(where) < 18:
                found += [record.offset for record in consumer.poll(0.05).records()]
            assert found == wanted, start


def test_an_open_transaction_holds_back_only_those_who_read_committed(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(3))
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"3", partition=0).result(10)
        assert read_to_end(cluster, topic, "read_committed") == [0, 1, 2]
        assert read_to_end(cluster, topic, "read_uncommitted") == [0, 1, 2, 3]
        producer.commit_transaction()
    assert read_to_end(cluster, topic, "read_committed") == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("policy", "expected"), [("earliest", [0, 1, 2, 3]), ("latest", [3]), ("by_duration:PT1H", [1, 2, 3])]
)
def test_where_a_new_group_starts(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], policy: str, expected: list[int]
) -> None:
    topic = new_topic()
    now_ms = int(time.time() * 1000)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for value, age_ms in ((0, 7_200_000), (1, 1_800_000), (2, 0)):
            producer.send(topic, b"%d" % value, timestamp_ms=now_ms - age_ms).result(10)
    with open_consumer(cluster, topic, group_id=topic, auto_offset_reset=policy) as consumer:
        seen = read_until(consumer, lambda _: bool(consumer.assignment()), "the partition")
        consumer.position(TopicPartition(topic, 0))
        produce(cluster, topic, [3])
        assert seen + read_numbers(consumer, [3]) == expected


def test_a_duration_without_a_record_that_young_starts_at_the_end(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    old = int(time.time() * 1000) - 7_200_000
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        producer.send(topic, b"0", timestamp_ms=old).result(10)
    with open_consumer(cluster, topic, auto_offset_reset="by_duration:PT1H") as consumer:
        wait_assigned(consumer, 1)
        assert consumer.position(TopicPartition(topic, 0)) == 1


def test_offsets_for_times(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic()
    where = TopicPartition(topic, 0)
    base = 1_700_000_000_000
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for index in range(3):
            producer.send(topic, b"%d" % index, timestamp_ms=base + index * 1000).result(10)
    with open_consumer(cluster) as consumer:
        moment = datetime.fromtimestamp((base + 1) / 1000, timezone.utc)
        found = consumer.offsets_for_times({where: moment})[where]
        assert found is not None
        assert (found.offset, found.timestamp) == (1, base + 1000)
        assert consumer.offsets_for_times({where: base + 5000}) == {where: None}
        with pytest.raises(UsageError, match="milliseconds"):
            consumer.offsets_for_times({where: base // 1000})
        with pytest.raises(UsageError, match="time zone"):
            consumer.offsets_for_times({where: datetime(2024, 1, 1)})


def test_pause_survives_and_a_topic_that_is_not_there_is_told(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(10), partitions=2)
    quiet = TopicPartition(topic, 0)
    with open_consumer(cluster, topic, allow_auto_create_topics=False) as consumer:
        wait_assigned(consumer, 2)
        consumer.seek_to_beginning()
        consumer.pause([quiet])
        assert consumer.paused() == {quiet}
        assert sorted(read_numbers(consumer, [1, 3, 5, 7, 9])) == [1, 3, 5, 7, 9]
        assert not consumer.poll(0.2)
        consumer.resume([quiet])
        assert read_numbers(consumer, [0, 2, 4, 6, 8]) == [0, 2, 4, 6, 8]
        with pytest.raises(KafkaError):
            consumer.end_offsets([TopicPartition("nothing-here", 0)], timeout=5)


def test_leaving_the_loop_before_markers_is_no_reason_to_wait(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """The loop had passed the markers with the last record; the poll after it says so at once."""
    topic = new_topic(2)
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic) as producer:
        producer.init_transactions()
        with producer.transaction():
            for partition in (0, 1):
                producer.send(topic, b"0", partition=partition)
    with open_consumer(cluster, auto_offset_reset="earliest") as consumer:
        consumer.assign(partitions)
        cluster.wait_until(lambda: consumer.metrics()["fetch-buffer-bytes"] > 200 or None, "both are buffered")
        loop = iter(consumer)
        assert [next(loop).offset, next(loop).offset] == [0, 0]
        began_at = time.monotonic()
        while any(consumer.position(tp) < 2 for tp in partitions):
            consumer.poll(20.0)
        assert time.monotonic() - began_at < 20.0


def test_a_loop_that_was_left_says_nothing_about_what_is_read_next(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """Other partitions since then, or the same ones anew: a poll waits for their records."""
    topic = new_topic()
    tp = TopicPartition(topic, 0)
    produce(cluster, topic, range(20))
    with open_consumer(cluster, group_id=None) as consumer:
        consumer.assign([tp])
        next(iter(consumer))
        consumer.unsubscribe()
        consumer.assign([tp])
        consumer.seek(tp, 15)
        assert numbers(consumer.poll(10).records()) == list(range(15, 20))
