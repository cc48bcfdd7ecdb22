"""What only the embedded cluster can stage: moves under the client's feet, faults, silence, an old broker."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from pykclient import KafkaAdminClient, KafkaProducer, TopicPartition
from pykclient.admin import NewTopic
from pykclient.errors import (
    AuthenticationError,
    ClientClosed,
    ErrorCode,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from pykclient.testing import EmbeddedCluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=3) as made:
        yield made


@pytest.fixture
def admin(cluster: EmbeddedCluster) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as client:
        yield client
    cluster.faults.clear()


def test_calls_follow_a_coordinator_and_a_leader_that_move(cluster: EmbeddedCluster, admin: KafkaAdminClient) -> None:
    admin.create_topics(NewTopic("moving", 1), wait=True).raise_for_errors()
    tp = TopicPartition("moving", 0)
    for node in cluster.nodes:
        cluster.move_leader("moving", 0, node)
        cluster.move_coordinator(node, group="movers")
        assert admin.list_offsets({tp: "latest"})[tp].offset == 0
        assert admin.alter_group_offsets("movers", {tp: 0})[tp].offset == 0
        described = admin.describe_groups("movers")["movers"]
        assert described.coordinator is not None
        assert described.coordinator.id == node


def test_a_coordinator_that_was_away_when_the_client_began_is_found() -> None:
    """Its broker is not among those that the client knows, and nothing else makes it ask who there is."""
    with EmbeddedCluster(2, topics={"t": 1}) as cluster:
        cluster.move_coordinator(2, transactional_id="writer")
        with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id="writer") as producer:
            producer.init_transactions()
        cluster.stop(2)
        with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
            assert [broker.id for broker in admin.describe_cluster().brokers] == [1]
            cluster.start_node(2)
            assert admin.describe_transactions("writer", timeout=20)["writer"].state == "Empty"


def test_errors_that_pass_are_not_seen(cluster: EmbeddedCluster, admin: KafkaAdminClient) -> None:
    moved = cluster.faults.error("CreateTopics", ErrorCode.NOT_CONTROLLER, count=2)
    lost = cluster.faults.drop("ListGroups", count=1)
    loading = cluster.faults.error("DescribeGroups", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, count=1)
    assert admin.create_topics("in-the-end", wait=True)["in-the-end"].partitions == 1
    admin.alter_group_offsets("patient", {TopicPartition("in-the-end", 0): 0}).raise_for_errors()
    assert "patient" in admin.list_groups()
    assert admin.describe_groups("patient")["patient"].state == "Empty"
    assert (moved.hits, lost.hits, loading.hits) == (2, 1, 1)


def test_a_call_ends_with_its_own_time(cluster: EmbeddedCluster, admin: KafkaAdminClient) -> None:
    admin.describe_cluster()
    cluster.faults.stall("DescribeCluster")
    began = time.monotonic()
    with pytest.raises(KafkaTimeoutError, match=r"0\.5 s"):
        admin.describe_cluster(timeout=0.5)
    assert time.monotonic() - began < 2


def test_many_threads_share_one_client(admin: KafkaAdminClient) -> None:
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            admin.create_topics(f"shared-{number}", wait=True).raise_for_errors()
            assert admin.describe_topics(f"shared-{number}")[f"shared-{number}"].partitions
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert problems == []


def test_a_closed_client_says_so(cluster: EmbeddedCluster) -> None:
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    client.close()
    client.close()
    assert "closed" in repr(client)
    with pytest.raises(ClientClosed):
        client.list_topics()


def test_an_old_broker_serves_what_it_can_and_names_what_it_cannot() -> None:
    old: dict[str, int | None] = {
        "DescribeCluster": None,
        "DescribeTopicPartitions": None,
        "ConsumerGroupDescribe": None,
        "DescribeTransactions": None,
        "FindCoordinator": 3,
        "DeleteTopics": 5,
        "OffsetFetch": 5,
        "Metadata": 8,
        "ListOffsets": 5,
    }
    with (
        EmbeddedCluster(max_versions=old) as cluster,
        KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin,
    ):
        admin.create_topics("t", wait=True).raise_for_errors()
        tp = TopicPartition("t", 0)
        assert len(admin.describe_cluster().brokers) == 1
        assert len(admin.describe_topics("t")["t"].partitions) == 1
        admin.alter_group_offsets("g", {tp: 0}).raise_for_errors()
        assert admin.describe_groups("g")["g"].state == "Empty"
        assert admin.lag("g")[tp].lag == 0
        with pytest.raises(UnsupportedVersionError, match="DescribeTransactions"):
            admin.describe_transactions("tx")
        with pytest.raises(UnsupportedVersionError, match="ListOffsets"):
            admin.list_offsets({tp: "max_timestamp"})
        admin.delete_topics("t").raise_for_errors()


def test_a_refused_port_and_a_wrong_password_are_told_soon() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    began = time.monotonic()
    with KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}") as admin:
        with pytest.raises(KafkaConnectionError, match=str(port)):
            admin.list_topics()
    with EmbeddedCluster(listeners="SASL_PLAINTEXT", users={"al": "right"}) as cluster:
        with KafkaAdminClient(
            bootstrap_servers=cluster.bootstrap_servers,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_username="al",
            sasl_password="s3same",
        ) as admin:
            with pytest.raises(AuthenticationError) as raised:
                admin.list_topics()
            assert "s3same" not in str(raised.value)
    assert time.monotonic() - began < 10
