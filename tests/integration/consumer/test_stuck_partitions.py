"""A partition that cannot be read never stands still in silence: every poll raises until the user decides, or until
another attempt succeeds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import KafkaProducer, TopicPartition
from pykclient.consumer import fetcher
from pykclient.consumer.fetched import FetchedPart
from pykclient.errors import (
    CorruptRecordError,
    DeserializationError,
    GroupAuthorizationFailed,
    NoOffsetForPartition,
    OffsetOutOfRangeError,
    TopicAuthorizationFailed,
)
from pykclient.testing import EmbeddedCluster
from pykclient.types import Headers
from tests.integration.consumer.support import numbers, open_consumer, produce, read_numbers


def test_no_offset_raises_at_every_poll_until_the_user_seeks(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(10), partitions=2)
    with open_consumer(cluster, topic, group_id=topic, auto_offset_reset="none") as consumer:
        for _ in range(3):
            with pytest.raises(NoOffsetForPartition) as caught:
                consumer.poll(10.0)
            assert caught.value.topic == topic
        consumer.seek(TopicPartition(topic, 0), 0)
        with pytest.raises(NoOffsetForPartition) as caught:
            consumer.poll(10.0)
        assert caught.value.partition == 1
        consumer.seek(TopicPartition(topic, 1), 2)
        assert sorted(read_numbers(consumer, [0, 2, 4, 6, 8, 5, 7, 9])) == [0, 2, 4, 5, 6, 7, 8, 9]


def test_out_of_range_raises_with_the_numbers_until_the_user_seeks(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    where = TopicPartition(topic, 0)
    with open_consumer(cluster, auto_offset_reset="none") as consumer:
        consumer.assign([where])
        consumer.seek(where, 99)
        for _ in range(2):
            with pytest.raises(OffsetOutOfRangeError) as caught:
                consumer.poll(10.0)
            assert caught.value.wanted == 99
        consumer.seek_to_beginning()
        assert read_numbers(consumer, range(5)) == list(range(5))


def test_out_of_range_with_a_policy_is_an_event_with_the_numbers(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    where = TopicPartition(topic, 0)
    with open_consumer(cluster) as consumer:
        consumer.assign([where])
        consumer.seek(where, 99)
        assert read_numbers(consumer, range(5)) == list(range(5))
        [event] = consumer.out_of_range_events
    assert (event.topic_partition, event.wanted, event.earliest, event.skipped) == (where, 99, 0, 0)
    assert "out of range" in caplog.text


def test_a_right_that_comes_back_is_noticed_without_a_seek(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    denied = cluster.faults.error("Fetch", "TOPIC_AUTHORIZATION_FAILED", topic=topic)
    with open_consumer(cluster, topic) as consumer:
        for _ in range(3):
            with pytest.raises(TopicAuthorizationFailed):
                consumer.poll(10.0)
        denied.remove()
        give_up_at = time.monotonic() + 10
        seen: list[int] = []
        while len(seen) < 5 and time.monotonic() < give_up_at:
            try:
                seen += numbers(consumer.poll(1.0).records())
            except TopicAuthorizationFailed:
                continue
        assert seen == list(range(5))


def test_group_rights_missing_raise_and_heal(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic()
    produce(cluster, topic, range(5))
    denied = cluster.faults.error("OffsetFetch", "GROUP_AUTHORIZATION_FAILED", group=topic)
    with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as consumer:
        for _ in range(2):
            with pytest.raises(GroupAuthorizationFailed):
                consumer.poll(10.0)
        denied.remove()
        seen: list[int] = []
        give_up_at = time.monotonic() + 10
        while len(seen) < 5 and time.monotonic() < give_up_at:
            try:
                seen += numbers(consumer.poll(1.0).records())
            except GroupAuthorizationFailed:
                continue
        assert seen == list(range(5))


class Picky:
    """Reads all but one value; a deserializer must never see null."""

    def deserialize(self, topic: str, data: bytes, headers: Headers) -> int:
        assert data is not None
        if data == b"poison":
            raise ValueError("bad")
        return int(data)


def test_a_value_that_cannot_be_read_raises_with_its_place_and_can_be_stepped_over(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for value in (b"1", b"2", b"poison", None, b"5"):
            producer.send(topic, value)
    where = TopicPartition(topic, 0)
    options: dict[str, Any] = {"value_deserializer": Picky()}
    with open_consumer(cluster, topic, **options) as consumer:
        assert [record.value for record in consumer.poll(10.0).records()] == [1, 2]
        for _ in range(2):
            with pytest.raises(DeserializationError) as caught:
                consumer.poll(10.0)
            assert (caught.value.topic, caught.value.partition, caught.value.offset) == (topic, 0, 2)
            assert caught.value.raw_value == b"poison"
        consumer.seek(where, 3)
        assert [record.value for record in consumer.poll(10.0).records()] == [None, 5]


@pytest.mark.parametrize("times", [1, None])
def test_damaged_records_are_fetched_again_and_never_delivered(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch, times: int | None
) -> None:
    """Once: the user sees nothing of it. For ever: a typed error with the place at every poll, in time."""
    topic = new_topic()
    produce(cluster, topic, range(3))
    damaged = 0
    real = FetchedPart

    def damage(tp: TopicPartition, view: memoryview, *rest: Any) -> FetchedPart:
        nonlocal damaged
        if times is None or damaged < times:
            damaged += 1
            copy = bytearray(view)
            copy[-2] ^= 1
            view = memoryview(copy)
        return real(tp, view, *rest)

    monkeypatch.setattr(fetcher, "FetchedPart", damage)
    with open_consumer(cluster, topic) as consumer:
        if times is not None:
            assert read_numbers(consumer, range(3)) == [0, 1, 2]
        else:
            for _ in range(3):
                with pytest.raises(CorruptRecordError) as caught:
                    consumer.poll(10.0)
                assert (caught.value.topic, caught.value.partition) == (topic, 0)
    assert damaged
