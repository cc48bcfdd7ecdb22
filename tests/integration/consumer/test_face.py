"""Every call of a consumer does what it says: subscriptions, places to go to, questions to the cluster,
interceptors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, TopicPartition
from pykclient.errors import IllegalStateError, UsageError
from pykclient.testing import EmbeddedCluster
from pykclient.types import ConsumerRecord, OffsetAndMetadata
from tests.integration.consumer.support import numbers, open_consumer, produce, read_numbers, read_until, wait_assigned

BOTH = pytest.mark.parametrize("protocol", ["classic-range", "classic-cooperative", "kip848"])


@BOTH
@pytest.mark.parametrize("compiled", [False, True])
def test_a_pattern_follows_topics_as_they_come(
    cluster: EmbeddedCluster, name: str, protocol: str, compiled: bool
) -> None:
    first, second, other = f"{name}-a", f"{name}-b", f"other-{name}"
    for topic in (first, other):
        cluster.create_topic(topic, 1)
        produce(cluster, topic, range(5))
    with open_consumer(cluster, protocol=protocol, group_id=name, metadata_max_age_ms=300) as consumer:
        pattern = f"^{re.escape(name)}-.*"
        consumer.subscribe(pattern=re.compile(pattern) if compiled else pattern)
        assert read_numbers(consumer, range(5)) == [0, 1, 2, 3, 4]
        assert consumer.assignment() == {TopicPartition(first, 0)}
        cluster.create_topic(second, 1)
        produce(cluster, second, range(10, 15))
        assert read_numbers(consumer, range(10, 15)) == [10, 11, 12, 13, 14]
        assert consumer.assignment() == {TopicPartition(first, 0), TopicPartition(second, 0)}


@BOTH
def test_unsubscribing_leaves_the_group_and_forgets_all(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(4), partitions=2)
    gone: list[set[TopicPartition]] = []

    class Listener:
        def on_partitions_revoked(self, partitions: set[TopicPartition]) -> None:
            gone.append(set(partitions))

    with open_consumer(cluster, protocol=protocol, group_id=topic) as consumer:
        consumer.subscribe([topic], listener=Listener())  # type: ignore[arg-type]
        read_numbers(consumer, range(4))
        assert consumer.subscription() == {topic}
        consumer.unsubscribe()
        assert gone == [{TopicPartition(topic, 0), TopicPartition(topic, 1)}]
        assert (consumer.assignment(), consumer.subscription()) == (set(), set())
        with pytest.raises(IllegalStateError, match="subscribe"):
            consumer.poll(0)
        with open_consumer(cluster, topic, protocol=protocol, group_id=topic) as heir:
            assert len(wait_assigned(heir, 2, timeout_s=5.0)) == 2, "at once, not when a session ends"
        consumer.subscribe([topic])
        assert len(wait_assigned(consumer, 2)) == 2, "and it may come back"


@BOTH
def test_an_enforced_rebalance_happens_and_nothing_is_lost(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(2)
    produce(cluster, topic, range(4), partitions=2)
    with open_consumer(cluster, topic, protocol=protocol, group_id=topic) as consumer:
        read_numbers(consumer, range(4))
        before = consumer.metrics()["rebalance-total"]
        consumer.enforce_rebalance("a test wants it")
        produce(cluster, topic, range(4, 8), partitions=2)
        assert sorted(read_numbers(consumer, range(4, 8))) == [4, 5, 6, 7]
        if protocol != "kip848":  # there the broker alone decides, as in Java: the call has no effect
            read_until(consumer, lambda _: consumer.metrics()["rebalance-total"] > before, "another round")
        assert consumer.assignment() == {TopicPartition(topic, 0), TopicPartition(topic, 1)}


def test_places_to_go_to(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic(2)
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    produce(cluster, topic, range(20), partitions=2)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.delete_records({partitions[0]: 3})
    with open_consumer(cluster) as consumer:
        consumer.assign(partitions)
        assert consumer.beginning_offsets(partitions) == {partitions[0]: 3, partitions[1]: 0}
        assert consumer.end_offsets(partitions) == dict.fromkeys(partitions, 10)
        consumer.seek_to_end()
        assert [consumer.position(tp) for tp in partitions] == [10, 10]
        assert not consumer.poll(0.2)
        consumer.seek_to_beginning([partitions[0]])
        assert [consumer.position(tp) for tp in partitions] == [3, 10]
        assert read_numbers(consumer, range(6, 20, 2)) == list(range(6, 20, 2))
        consumer.seek(partitions[1], OffsetAndMetadata(8))
        assert read_numbers(consumer, [17, 19]) == [17, 19]
        for wrong, error in ((-1, UsageError), (-2, UsageError)):
            with pytest.raises(error, match="negative"):
                consumer.seek(partitions[0], wrong)
        with pytest.raises(IllegalStateError, match="not assigned"):
            consumer.seek(TopicPartition(topic, 9), 0)


def test_questions_to_the_cluster(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic(3)
    with open_consumer(cluster) as consumer:
        assert [info.partition for info in consumer.partitions_for(topic)] == [0, 1, 2]
        assert all(info.leader is not None for info in consumer.partitions_for(topic))
        assert consumer.list_topics()[topic] == [0, 1, 2]


@pytest.mark.parametrize("way", ["poll", "loop"])
def test_interceptors_see_what_is_returned_and_what_is_committed(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], way: str, caplog: pytest.LogCaptureFixture
) -> None:
    topic = new_topic()
    where = TopicPartition(topic, 0)
    produce(cluster, topic, range(10))
    committed: list[int] = []

    class OnlyEven:
        def on_consume(
            self, records: Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]
        ) -> Mapping[TopicPartition, list[ConsumerRecord[Any, Any]]]:
            return {tp: [record for record in rows if record.offset % 2 == 0] for tp, rows in records.items()}

        def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
            committed.append(offsets[where].offset)

    class Broken:
        def on_consume(self, records: Any) -> Any:
            raise ValueError("a bug of the user's")

        def on_commit(self, offsets: Any) -> None:
            raise ValueError("another")

    options: dict[str, Any] = {"group_id": topic, "enable_auto_commit": False, "interceptors": [Broken(), OnlyEven()]}
    with open_consumer(cluster, topic, **options) as consumer, caplog.at_level("ERROR"):
        if way == "poll":
            seen = read_numbers(consumer, range(0, 10, 2))
        else:
            seen = [int(record.value) for _, record in zip(range(5), consumer, strict=False)]
        assert seen == [0, 2, 4, 6, 8]
        consumer.commit()
    assert committed
    assert committed[-1] >= 9
    assert "on_consume raised" in caplog.text
    assert "on_commit raised" in caplog.text


def test_the_subscription_of_a_consumer_is_one_kind_at_a_time(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(3))
    with open_consumer(cluster, topic, group_id=topic) as consumer:
        with pytest.raises(IllegalStateError, match="unsubscribe"):
            consumer.assign([TopicPartition(topic, 0)])
        consumer.unsubscribe()
        consumer.assign([TopicPartition(topic, 0)])
        assert numbers(read_records(consumer, 3)) == [0, 1, 2]


def read_records(consumer: KafkaConsumer, count: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < count:
        found += consumer.poll(5.0).records()
    return found
