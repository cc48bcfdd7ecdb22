"""What the driver of a Spark query asks the brokers, and what it says when they do not answer. No Spark needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pykclient import KafkaProducer, TopicPartition, UsageError
from pykclient.errors import AuthenticationError, KafkaError
from pykclient.spark.options import Bound, source_options
from pykclient.spark.view import KafkaView
from pykclient.testing import EmbeddedCluster

NewTopic = Callable[..., str]


def view(servers: str, **options: str) -> KafkaView:
    named = {name.replace("__", "."): value for name, value in options.items()}
    return KafkaView(source_options({"kafka.bootstrap.servers": servers, **named}, streaming=False))


def test_passing_errors_are_asked_again(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(2)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        producer.send(topic, b"x", partition=1).result(10)
    rules = [
        cluster.faults.drop("LIST_OFFSETS", count=2),
        cluster.faults.error("LIST_OFFSETS", "NOT_LEADER_OR_FOLLOWER", count=2),
    ]
    asked = view(cluster.bootstrap_servers, subscribe=topic, fetchOffset__retryIntervalMs="1")
    found = asked.latest(asked.partitions())
    asked.close()
    assert found == {TopicPartition(topic, 0): 0, TopicPartition(topic, 1): 1}
    assert [rule.hits for rule in rules] == [2, 2]


def test_a_wrong_password_is_told_at_once_and_not_tried_again() -> None:
    with EmbeddedCluster(listeners="SASL_PLAINTEXT", users={"alice": "right"}) as cluster:
        asked = view(
            cluster.bootstrap_servers,
            subscribe="t",
            kafka__security__protocol="SASL_PLAINTEXT",
            kafka__sasl__mechanism="PLAIN",
            kafka__sasl__username="alice",
            kafka__sasl__password="s3cret",
        )
        tries = cluster.faults.observe("SASL_AUTHENTICATE")
        with pytest.raises(AuthenticationError) as caught:
            asked.partitions()
        assert tries.hits <= 3
        assert "s3cret" not in str(caught.value)


def test_brokers_that_are_away_are_an_error_in_time() -> None:
    options = {"kafka__default__api__timeout__ms": "300", "fetchOffset__numRetries": "1"}
    asked = view("127.0.0.1:1", subscribe="t", fetchOffset__retryIntervalMs="1", **options)
    with pytest.raises(KafkaError):
        asked.partitions()


def test_named_partitions_must_be_all(cluster: EmbeddedCluster, new_topic: NewTopic) -> None:
    topic = new_topic(2)
    bound = Bound(offsets={TopicPartition(topic, 0): 0})
    asked = view(cluster.bootstrap_servers, subscribe=topic)
    with pytest.raises(UsageError, match=rf"Specified: {topic}-0. Assigned: {topic}-0, {topic}-1"):
        asked.resolve(bound, starting=True)
    asked.close()
