"""Topics and configurations through KafkaAdminClient, on the embedded cluster and on Apache Kafka."""

from __future__ import annotations

import uuid

import pytest

from pykclient import KafkaAdminClient
from pykclient.admin import Append, ConfigResource, ConfigResourceType, ConfigSource, NewPartitions, NewTopic, Subtract
from pykclient.errors import (
    InvalidConfig,
    InvalidPartitions,
    InvalidTopicException,
    TopicAlreadyExists,
    UnknownTopicId,
    UnknownTopicOrPartition,
    UsageError,
)
from tests.integration.admin.conftest import eventually


def test_one_bad_topic_does_not_hide_the_good_one(admin: KafkaAdminClient, name: str) -> None:
    bad = f"{name}!"
    results = admin.create_topics([NewTopic(name, 2, configs={"retention.ms": 60000}), bad], wait=True)
    assert list(results) == [name, bad]
    assert results[name].partitions == 2
    assert results[name].configs["retention.ms"] == "60000"
    assert isinstance(results.error(bad), InvalidTopicException)
    with pytest.raises(InvalidTopicException):
        results.raise_for_errors()
    assert isinstance(admin.create_topics(name).error(name), TopicAlreadyExists)


def test_waiting_creation_is_described_at_once_with_its_id(admin: KafkaAdminClient, name: str) -> None:
    made = admin.create_topics(name, wait=True)[name]
    described = admin.describe_topics([name, f"{name}-not"])
    assert described[name].topic_id == made.topic_id
    assert [row.leader is not None for row in described[name].partitions] == [True]
    assert isinstance(described.error(f"{name}-not"), UnknownTopicOrPartition)
    listed = admin.list_topics()
    assert listed[name].topic_id == made.topic_id
    assert not any(row.internal for row in listed.values())


def test_topics_are_described_and_deleted_by_id(admin: KafkaAdminClient, topic: str) -> None:
    topic_id = admin.list_topics()[topic].topic_id
    assert topic_id is not None
    described = admin.describe_topics(topic_id, include_authorized_operations=True)[topic_id]
    assert described.name == topic
    assert described.authorized_operations
    nobody = uuid.UUID(int=12345)
    gone = admin.delete_topics([topic_id, nobody, f"{topic}-not"], wait=True)
    assert gone[topic_id].name == topic
    assert isinstance(gone.error(nobody), UnknownTopicId)
    assert isinstance(gone.error(f"{topic}-not"), UnknownTopicOrPartition)
    assert topic not in admin.list_topics()


def test_validation_creates_nothing(admin: KafkaAdminClient, name: str) -> None:
    assert admin.create_topics(name, validate_only=True)[name].partitions >= 1
    assert name not in admin.list_topics()


def test_places_are_chosen_by_hand(admin: KafkaAdminClient, name: str) -> None:
    node = admin.describe_cluster().brokers[-1].id
    admin.create_topics(NewTopic(name, assignments={0: [node], 1: [node]}), wait=True).raise_for_errors()
    assert [row.replicas for row in admin.describe_topics(name)[name].partitions] == [(node,), (node,)]
    with pytest.raises(UsageError):
        admin.create_topics(NewTopic(name, partitions=2, assignments={0: [node]}))


def test_topics_grow(admin: KafkaAdminClient, topic: str) -> None:
    assert admin.create_partitions({topic: 5}, wait=True)[topic] == 5
    assert len(admin.describe_topics(topic)[topic].partitions) == 5
    node = admin.describe_cluster().brokers[0].id
    results = admin.create_partitions({topic: NewPartitions(6, [[node]]), f"{topic}-not": 2}, wait=True)
    assert results[topic] == 6
    assert isinstance(results.error(f"{topic}-not"), UnknownTopicOrPartition)
    assert isinstance(admin.create_partitions({topic: 1}).error(topic), InvalidPartitions)


def test_options_are_set_and_taken_back_one_by_one(admin: KafkaAdminClient, topic: str) -> None:
    resource, missing = ConfigResource.topic(topic), ConfigResource.topic(f"{topic}-not")
    changed = admin.alter_configs(
        {resource: {"retention.ms": 123456, "cleanup.policy": Append("compact")}, missing: {"retention.ms": 1}}
    )
    assert changed.succeeded == {resource: None}
    assert isinstance(changed.error(missing), UnknownTopicOrPartition)
    entries = eventually(
        lambda: admin.describe_configs(resource, include_synonyms=True)[resource],
        lambda found: found["retention.ms"].value == "123456",
    )
    assert entries["retention.ms"].source is ConfigSource.DYNAMIC_TOPIC
    assert set((entries["cleanup.policy"].value or "").split(",")) == {"delete", "compact"}
    assert len(entries) > 20
    assert any(name == "log.retention.ms" or name == "retention.ms" for name, _, _ in entries["retention.ms"].synonyms)
    admin.alter_configs({resource: {"retention.ms": None, "cleanup.policy": Subtract("compact")}}).raise_for_errors()
    entries = eventually(
        lambda: admin.describe_configs(resource, names=["retention.ms", "cleanup.policy"])[resource],
        lambda found: found["retention.ms"].is_default,
    )
    assert set(entries) == {"retention.ms", "cleanup.policy"}
    assert entries["cleanup.policy"].value == "delete"


def test_a_senseless_value_is_refused_and_validation_changes_nothing(admin: KafkaAdminClient, topic: str) -> None:
    resource = ConfigResource.topic(topic)
    assert isinstance(admin.alter_configs({resource: {"retention.ms": "soon"}}).error(resource), InvalidConfig)
    admin.alter_configs({resource: {"retention.ms": 777}}, validate_only=True).raise_for_errors()
    assert admin.describe_configs(resource, names=["retention.ms"])[resource]["retention.ms"].is_default


def test_each_broker_describes_itself(admin: KafkaAdminClient) -> None:
    nodes = [node.id for node in admin.describe_cluster().brokers]
    asked = [ConfigResource.broker(node) for node in nodes]
    results = admin.describe_configs([*asked, ConfigResource.broker(4711)], names=["num.partitions"])
    assert all(results[each]["num.partitions"].value for each in asked)
    assert results.error(ConfigResource.broker(4711)) is not None
    documented = admin.describe_configs(asked[0], names=["num.partitions"], include_documentation=True)
    assert documented[asked[0]]["num.partitions"].documentation
    resources = admin.list_config_resources([ConfigResourceType.BROKER])
    assert {each.name for each in resources} >= {str(node) for node in nodes}
