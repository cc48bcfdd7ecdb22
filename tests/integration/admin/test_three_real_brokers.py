"""Moves of replicas and leaders, and the death of a broker, on three brokers of Apache Kafka; only with --full."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykclient import KafkaAdminClient, KafkaProducer, TopicPartition
from pykclient.admin import NewTopic
from pykclient.testing.real_kafka import RealKafka, available
from tests.integration.admin.conftest import eventually

pytestmark = [pytest.mark.real_kafka, pytest.mark.full]


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with RealKafka(brokers=3) as running:
        yield running


def test_replicas_and_leaders_move_and_a_dead_broker_is_worked_around(kafka: RealKafka) -> None:
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics(NewTopic("moving", 6, 3), wait=True).raise_for_errors()
        with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
            for index in range(600):
                producer.send("moving", value=b"x" * 100, partition=index % 6)
        tps = [TopicPartition("moving", index) for index in range(6)]
        first, second, _ = admin.describe_topics("moving")["moving"].partitions[0].replicas
        admin.alter_partition_reassignments({tps[0]: [second, first]}).raise_for_errors()
        eventually(admin.list_partition_reassignments, lambda found: not found)
        eventually(
            lambda: admin.describe_topics("moving")["moving"].partitions[0].replicas,
            lambda replicas: replicas == (second, first),
        )
        admin.elect_leaders([tps[0]]).raise_for_errors()
        leader = eventually(
            lambda: admin.describe_topics("moving")["moving"].partitions[0].leader,
            lambda node: node is not None and node.id == second,
        )
        assert leader is not None
        groups = [f"g{number}" for number in range(20)]
        for group in groups:
            admin.alter_group_offsets(group, dict.fromkeys(tps, 10)).raise_for_errors()
        described = admin.describe_groups(groups).raise_for_errors()
        assert {group.coordinator.id for group in described.values() if group.coordinator} == {1, 2, 3}
        assert sum(row.lag or 0 for row in admin.lag("g0").values()) == 540

        kafka.brokers[3].kill()
        assert sum(row.offset for row in admin.list_offsets(dict.fromkeys(tps, "latest")).values()) == 600
        for group in groups:
            assert len(admin.list_group_offsets(group)) == 6
        assert set(groups) <= set(admin.list_groups())
        assert admin.create_topics(NewTopic("later", 3, 2), wait=True)["later"].partitions == 3
        assert [node.id for node in admin.describe_cluster(include_fenced=True).fenced] == [3]
        admin.unregister_broker(3)
        eventually(lambda: admin.describe_cluster(include_fenced=True).fenced, lambda fenced: fenced == ())
