"""Clusters on real sockets: starting, stopping, moving, and what survives."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from pykclient.broker.cluster_info import coordinator_partition, java_hash
from pykclient.errors import BrokerError, ConfigError, ErrorCode, FatalError, TopicAlreadyExists, UsageError
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykclient.protocol.messages.describe_cluster import DescribeClusterRequest
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import decode_all, encode_batch
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient


def address(cluster: EmbeddedCluster, node: int) -> str:
    return cluster.bootstrap_servers.split(",")[cluster.nodes.index(node)]


def produce(cluster: EmbeddedCluster, topic: str, *values: bytes, partition: int = 0, node: int | None = None) -> int:
    """The error code of one batch sent to the partition's leader (or to ``node``)."""
    batch = encode_batch([(int(time.time() * 1000), None, value, None) for value in values])
    data = [TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])]
    with RawClient(address(cluster, node or cluster.leader(topic, partition))) as client:
        answer = client.ask(ApiKey.PRODUCE, ProduceRequest(acks=-1, timeout_ms=5000, topic_data=data), 9)
    return int(answer.responses[0].partition_responses[0].error_code)


def consume(cluster: EmbeddedCluster, topic: str, partition: int = 0, from_offset: int = 0) -> list[bytes]:
    part = FetchPartition(partition, fetch_offset=from_offset, partition_max_bytes=1 << 20)
    request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic, partitions=[part])])
    with RawClient(address(cluster, cluster.leader(topic, partition))) as client:
        answer = client.ask(ApiKey.FETCH, request, 11).responses[0].partitions[0]
    assert answer.error_code == 0
    return [
        bytes(r.value or b"") for _, records in decode_all(answer.records or b"", topic, partition) for r in records
    ]


def metadata(cluster: EmbeddedCluster, node: int, *topics: str, create: bool = False) -> Any:
    asked = [MetadataRequestTopic(name=name) for name in topics]
    with RawClient(address(cluster, node)) as client:
        return client.ask(ApiKey.METADATA, MetadataRequest(topics=asked, allow_auto_topic_creation=create))


# ---- starting and stopping ----


def test_a_cluster_is_ready_when_start_returns() -> None:
    answer: Any = None
    with EmbeddedCluster(3, topics={"orders": 6}) as cluster:
        assert cluster.nodes == [1, 2, 3]
        for node in cluster.nodes:
            answer = metadata(cluster, node, "orders")
            assert {broker.node_id for broker in answer.brokers} == {1, 2, 3}
            assert [p.error_code for p in answer.topics[0].partitions] == [0] * 6
        with RawClient(cluster.bootstrap_servers) as client:
            described = client.ask(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
        assert (described.cluster_id, described.controller_id) == (cluster.cluster_id, 1)
    with pytest.raises(OSError, match=r"refused|reset"):
        RawClient(cluster_address(answer))


def cluster_address(answer: Any) -> str:
    return f"{answer.brokers[0].host}:{answer.brokers[0].port}"


@pytest.mark.parametrize(("brokers", "limit_s"), [(1, 0.1), (3, 0.5)])
def test_starting_is_quick(brokers: int, limit_s: float) -> None:
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        with EmbeddedCluster(brokers) as cluster, RawClient(cluster.bootstrap_servers) as client:
            client.ask(ApiKey.METADATA, MetadataRequest(topics=[]))
            times.append(time.perf_counter() - begin)
    assert min(times) < limit_s


def test_a_created_topic_is_known_to_every_broker_at_once() -> None:
    with EmbeddedCluster(3) as cluster:
        for number in range(20):
            name = f"topic-{number}"
            with RawClient(cluster.bootstrap_servers) as client:
                created = client.ask(
                    ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=[CreatableTopic(name, 3, 1)]), version=7
                )
            assert created.topics[0].error_code == 0
            for node in cluster.nodes:
                assert metadata(cluster, node, name).topics[0].error_code == 0


def test_creating_what_exists_raises() -> None:
    with EmbeddedCluster(topics=["a"]) as cluster, pytest.raises(TopicAlreadyExists):
        cluster.create_topic("a")


def test_a_stopped_broker_comes_back_on_its_port_or_another_with_its_data() -> None:
    with EmbeddedCluster(2) as cluster:
        cluster.create_topic("t", assignments={0: [2]})
        assert produce(cluster, "t", b"kept") == 0
        before = address(cluster, 2)
        cluster.stop(2)
        answer = metadata(cluster, 1, "t").topics[0].partitions[0]
        assert (answer.error_code, answer.leader_id, answer.offline_replicas) == (
            ErrorCode.LEADER_NOT_AVAILABLE,
            -1,
            [2],
        )
        cluster.start_node(2)
        assert address(cluster, 2) == before
        assert consume(cluster, "t") == [b"kept"]
        epoch = cluster.topic("t").partitions[0].leader_epoch
        cluster.restart(2, port=0)
        assert address(cluster, 2) != before
        assert cluster.topic("t").partitions[0].leader_epoch > epoch
        assert consume(cluster, "t") == [b"kept"]


def test_the_controller_moves_when_its_node_stops() -> None:
    with EmbeddedCluster(3) as cluster:
        assert metadata(cluster, 2).controller_id == 1
        cluster.stop(1)
        assert metadata(cluster, 2).controller_id == 2
        cluster.create_topic("after", 2)
        assert metadata(cluster, 3, "after").topics[0].error_code == 0
        cluster.stop(2)
        cluster.stop(3)
        cluster.start_node(3)
        cluster.start_node(1)
        assert metadata(cluster, 1, "after").controller_id == 3


def test_stopping_twice_and_starting_twice_are_errors() -> None:
    with EmbeddedCluster(2) as cluster:
        with pytest.raises(UsageError, match="running already"):
            cluster.start_node(2)
        cluster.stop(2)
        with pytest.raises(UsageError, match="not running"):
            cluster.stop(2)


@pytest.mark.parametrize("victim", [1, 2])
def test_a_broker_that_breaks_down_does_not_take_the_others_along(
    victim: int, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down() -> None:
        raise ZeroDivisionError("a bug of ours")

    with EmbeddedCluster(3, topics={"t": 3}) as cluster:
        cluster._cluster.node(victim).post(break_down)
        cluster.wait_until(lambda: all(p.leader != victim for p in cluster.topic("t").partitions))
        assert f"broker {victim} died" in caplog.text
        cluster.create_topic("after", 2)
        assert {p.leader for p in cluster.topic("after").partitions} <= {1, 2, 3} - {victim}
        with pytest.raises(FatalError, match="is dead"):
            cluster.connection_count(victim)
        cluster.restart(victim)
        assert sorted(p.leader for p in cluster.topic("t").partitions) == [1, 2, 3]


def test_closing_twice_is_fine() -> None:
    cluster = EmbeddedCluster().start()
    cluster.close()
    cluster.close()


# ---- a directory ----


def test_a_cluster_on_a_directory_is_the_same_after_a_restart(tmp_path: Path) -> None:
    with EmbeddedCluster(2, data_dir=tmp_path, topics={"t": 2}) as cluster:
        for partition in (0, 1):
            assert produce(cluster, "t", b"%d" % partition, partition=partition) == 0
        cluster_id, topic_id = cluster.cluster_id, cluster.topic("t").topic_id
        commit(cluster, "g", "t", 17)
    with EmbeddedCluster(2, data_dir=tmp_path) as cluster:
        assert (cluster.cluster_id, cluster.topic("t").topic_id) == (cluster_id, topic_id)
        assert [consume(cluster, "t", partition) for partition in (0, 1)] == [[b"0"], [b"1"]]
        assert committed(cluster, "g", "t") == 17


def test_two_clusters_cannot_share_a_directory(tmp_path: Path) -> None:
    with EmbeddedCluster(data_dir=tmp_path):
        with pytest.raises(UsageError, match="another broker is using"):
            EmbeddedCluster(data_dir=tmp_path).start()
    with EmbeddedCluster(data_dir=tmp_path):
        pass


def test_a_deleted_topic_leaves_no_files_and_its_name_starts_anew(tmp_path: Path) -> None:
    from pykclient.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

    with EmbeddedCluster(data_dir=tmp_path, topics=["t"]) as cluster:
        produce(cluster, "t", b"old")
        assert list(tmp_path.rglob("t-0"))
        with RawClient(cluster.bootstrap_servers) as client:
            request = DeleteTopicsRequest(topics=[DeleteTopicState(name="t")])
            assert client.ask(ApiKey.DELETE_TOPICS, request).responses[0].error_code == 0
        assert not list(tmp_path.rglob("t-0"))
        cluster.create_topic("t")
        assert consume(cluster, "t") == []


# ---- moving ----


def test_a_partition_moves_with_its_records_and_the_old_leader_says_so() -> None:
    with EmbeddedCluster(2) as cluster:
        cluster.create_topic("t", assignments={0: [1]})
        produce(cluster, "t", b"a", b"b")
        epoch = cluster.topic("t").partitions[0].leader_epoch
        cluster.move_leader("t", 0, 2)
        assert cluster.leader("t") == 2
        assert cluster.topic("t").partitions[0].leader_epoch == epoch + 1
        assert produce(cluster, "t", b"x", node=1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert produce(cluster, "t", b"c") == 0
        assert consume(cluster, "t") == [b"a", b"b", b"c"]
        cluster.move_leader("t", 0, 1)
        assert consume(cluster, "t") == [b"a", b"b", b"c"]
        assert cluster.partition_info("t").log_end_offset == 3


def test_deleted_records_stay_deleted_when_a_partition_moves() -> None:
    from pykclient.protocol.messages.delete_records import (
        DeleteRecordsPartition,
        DeleteRecordsRequest,
        DeleteRecordsTopic,
    )

    with EmbeddedCluster(2) as cluster:
        cluster.create_topic("t", assignments={0: [1]})
        for value in (b"a", b"b", b"c"):
            produce(cluster, "t", value)
        request = DeleteRecordsRequest(topics=[DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 2)])])
        with RawClient(address(cluster, 1)) as client:
            client.ask(ApiKey.DELETE_RECORDS, request)
        cluster.move_leader("t", 0, 2)
        assert cluster.partition_info("t").log_start_offset == 2
        assert consume(cluster, "t", from_offset=2) == [b"c"]


def commit(cluster: EmbeddedCluster, group: str, topic: str, offset: int) -> None:
    topics = [OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, offset)])]
    request = OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, topics=topics)
    with RawClient(address(cluster, cluster.coordinator(group=group))) as client:
        answer = client.ask(ApiKey.OFFSET_COMMIT, request, 9)
    assert answer.topics[0].partitions[0].error_code == 0


def committed(cluster: EmbeddedCluster, group: str, topic: str) -> int:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
    with RawClient(address(cluster, cluster.coordinator(group=group))) as client:
        answer = client.ask(ApiKey.OFFSET_FETCH, request, 9).groups[0]
    assert answer.error_code == 0
    return int(answer.topics[0].partitions[0].committed_offset)


def test_a_coordinator_moves_with_what_it_knows() -> None:
    with EmbeddedCluster(3, topics=["t"]) as cluster:
        commit(cluster, "g", "t", 5)
        old = cluster.coordinator(group="g")
        new = next(node for node in cluster.nodes if node != old)
        cluster.move_coordinator(new, group="g")
        assert cluster.coordinator(group="g") == new
        assert committed(cluster, "g", "t") == 5
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        with RawClient(address(cluster, old)) as client:
            assert client.ask(ApiKey.OFFSET_FETCH, request, 9).groups[0].error_code == ErrorCode.NOT_COORDINATOR
            found = client.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(coordinator_keys=["g"]))
        assert found.coordinators[0].node_id == new


def test_a_transactional_id_keeps_its_producer_when_its_coordinator_moves() -> None:
    def init(cluster: EmbeddedCluster) -> Any:
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
        with RawClient(address(cluster, cluster.coordinator(transactional_id="tx"))) as client:
            return cluster.wait_until(lambda: ready(client.ask(ApiKey.INIT_PRODUCER_ID, request, 4)))

    def ready(answer: Any) -> Any:
        return answer if answer.error_code == 0 else None

    with EmbeddedCluster(2) as cluster:
        first = init(cluster)
        cluster.move_coordinator(3 - cluster.coordinator(transactional_id="tx"), transactional_id="tx")
        second = init(cluster)
    assert second.producer_id == first.producer_id
    assert second.producer_epoch == first.producer_epoch + 1


def test_moving_what_cannot_be_moved() -> None:
    with EmbeddedCluster(2) as cluster:
        cluster.create_topic("t", assignments={0: [2]})
        with pytest.raises(BrokerError):
            cluster.move_leader("nowhere", 0, 1)
        with pytest.raises(UsageError, match="not running"):
            cluster.move_leader("t", 0, 9)
        cluster.stop(2)
        with pytest.raises(UsageError, match="only copy"):
            cluster.move_leader("t", 0, 1)


# ---- coordinators ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("group", 98629247), ("polygenelubricants", -(2**31)), ("\U0001f600", 1772899)],
)
def test_java_string_hashes(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_the_smallest_hash_is_partition_0() -> None:
    assert coordinator_partition("polygenelubricants", 50) == 0
    assert coordinator_partition("group", 50) == 98629247 % 50


def test_share_groups_have_no_coordinator_here() -> None:
    with EmbeddedCluster() as cluster, RawClient(cluster.bootstrap_servers) as client:
        answer = client.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key_type=2, coordinator_keys=["s"]))
        assert answer.coordinators[0].error_code == ErrorCode.INVALID_REQUEST


# ---- time ----


def test_a_pushed_clock_makes_retention_happen() -> None:
    with EmbeddedCluster(clock="frozen") as cluster:
        cluster.create_topic("t", config={"retention.ms": 60_000, "segment.ms": 1_000})
        produce(cluster, "t", b"old")
        cluster.clock.advance(5)
        produce(cluster, "t", b"new")
        assert cluster.partition_info("t").log_start_offset == 0
        cluster.clock.advance(3600)
        state = cluster.wait_until(
            lambda: cluster.partition_info("t") if cluster.partition_info("t").log_start_offset > 0 else None
        )
        assert state.log_start_offset >= 1


def test_a_frozen_clock_leaves_a_long_poll_waiting_until_it_is_pushed() -> None:
    with EmbeddedCluster(clock="frozen", topics=["t"]) as cluster, RawClient(cluster.bootstrap_servers) as client:
        topics = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1000)])]
        client.send(ApiKey.FETCH, 11, FetchRequest(max_wait_ms=30_000, min_bytes=1, max_bytes=1000, topics=topics))
        waiting = cluster.faults.observe("Metadata")
        metadata(cluster, 1)
        assert waiting.hits == 1
        cluster.clock.advance(31)
        assert client.receive().error_code == 0


def test_a_long_poll_ends_with_its_connection() -> None:
    with EmbeddedCluster(clock="frozen", topics=["t"]) as cluster:
        waiting = cluster._cluster.rooms(1).replicas.fetch_purgatory
        topics = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1000)])]
        with RawClient(cluster.bootstrap_servers) as client:
            client.send(ApiKey.FETCH, 11, FetchRequest(max_wait_ms=30_000, min_bytes=1, max_bytes=1000, topics=topics))
            cluster.wait_until(lambda: cluster._cluster.call(1, lambda: len(waiting)) == 1)
        cluster.wait_until(lambda: cluster._cluster.call(1, lambda: len(waiting)) == 0)


# ---- refusals ----


def test_an_open_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        EmbeddedCluster(listeners="PLAINTEXT://0.0.0.0:0")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="Unknown config name"):
        EmbeddedCluster(no_such_option=1)


@pytest.mark.parametrize(
    "options",
    [
        {"group_consumer_heartbeat_interval_ms": 20_000},
        {"group_consumer_heartbeat_interval_ms": 100, "group_consumer_min_heartbeat_interval_ms": 200},
        {"group_consumer_session_timeout_ms": 70_000},
        {"group_consumer_min_session_timeout_ms": 46_000},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be between"):
        EmbeddedCluster(**options)


def test_a_taken_port_is_an_error_and_leaves_nothing_running() -> None:
    with EmbeddedCluster() as cluster:
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            EmbeddedCluster(ports=port).start()
