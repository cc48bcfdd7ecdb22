"""Administration over the wire: topics, partitions, settings, quotas, features, as admin clients ask for them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.broker.config_keys import ConfigSource
from pykclient.errors import ErrorCode
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from pykclient.protocol.messages.alter_configs import AlterableConfig as OldConfig
from pykclient.protocol.messages.alter_configs import AlterConfigsRequest
from pykclient.protocol.messages.alter_configs import AlterConfigsResource as OldResource
from pykclient.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from pykclient.protocol.messages.api_versions import ApiVersionsRequest
from pykclient.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from pykclient.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykclient.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from pykclient.protocol.messages.describe_acls import DescribeAclsRequest
from pykclient.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from pykclient.protocol.messages.describe_cluster import DescribeClusterRequest
from pykclient.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykclient.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from pykclient.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from pykclient.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from pykclient.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND = 0, 1, 2


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3, num_partitions=2, racks=["a", "b", "a"]) as running:
        yield running


@pytest.fixture
def client(cluster: EmbeddedCluster) -> Iterator[RawClient]:
    with RawClient(cluster.bootstrap_servers) as connected:
        yield connected


def create(client: RawClient, *topics: CreatableTopic, validate_only: bool = False, version: int = 7) -> list[Any]:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    return list(client.ask(ApiKey.CREATE_TOPICS, request, version).topics)


def metadata(client: RawClient, *names: str, create: bool = False, version: int = 13) -> Any:
    topics = [MetadataRequestTopic(name=name) for name in names]
    # Before version 4 nobody could say no.
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=create or version < 4)
    return client.ask(ApiKey.METADATA, request, version)


# ---- topics ----


@pytest.mark.parametrize("version", [2, 4, 5, 6, 7])
def test_a_created_topic_says_what_it_is_and_never_has_null_configs(client: RawClient, version: int) -> None:
    config = CreatableTopicConfig("retention.ms", "1000")
    (result,) = create(client, CreatableTopic(f"t{version}", 3, 1, configs=[config]), version=version)
    assert result.error_code == 0
    if version >= 5:
        assert (result.num_partitions, result.replication_factor) == (3, 1)
        values = {c.name: (c.value, c.config_source) for c in result.configs}
        assert values["retention.ms"] == ("1000", ConfigSource.TOPIC_CONFIG)
        assert values["cleanup.policy"] == ("delete", ConfigSource.DEFAULT_CONFIG)
    if version >= 7:
        assert result.topic_id == metadata(client, "t7").topics[0].topic_id


def test_defaults_assignments_validation_and_errors_side_by_side(client: RawClient) -> None:
    assigned = [CreatableReplicaAssignment(0, [2]), CreatableReplicaAssignment(1, [3])]
    results = create(
        client,
        CreatableTopic("default", -1, -1),
        CreatableTopic("assigned", -1, -1, assignments=assigned),
        CreatableTopic("factor", 1, 3),
        CreatableTopic("bad config", 1, 1),
        CreatableTopic("wrong", 1, 1, configs=[CreatableTopicConfig("segment.bytes", "x")]),
    )
    assert {r.name: r.error_code for r in results} == {
        "default": 0,
        "assigned": 0,
        "factor": ErrorCode.INVALID_REPLICATION_FACTOR,
        "bad config": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "wrong": ErrorCode.INVALID_CONFIG,
    }
    topics = {topic.name: topic for topic in metadata(client, "default", "assigned").topics}
    assert len(topics["default"].partitions) == 2
    assert [p.leader_id for p in topics["assigned"].partitions] == [2, 3]
    (result,) = create(client, CreatableTopic("tried", 1, 1), validate_only=True)
    assert (result.error_code, result.configs is not None) == (0, True)
    assert metadata(client, "tried").topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_topics_are_deleted_by_name_and_by_id(client: RawClient) -> None:
    _, by_id = create(client, CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1))
    states = [
        DeleteTopicState(name="a"),
        DeleteTopicState(topic_id=by_id.topic_id),
        DeleteTopicState(topic_id=uuid.UUID(int=3)),
    ]
    answer = client.ask(ApiKey.DELETE_TOPICS, DeleteTopicsRequest(topics=states))
    assert [(r.name, r.error_code) for r in answer.responses] == [
        ("a", 0),
        ("b", 0),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    old = client.ask(ApiKey.DELETE_TOPICS, DeleteTopicsRequest(topic_names=["a"]), 5)
    assert old.responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_grows(client: RawClient) -> None:
    create(client, CreatableTopic("t", 1, 1))
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic("t", 4, None), CreatePartitionsTopic("no", 2, None)]
    )
    answer = client.ask(ApiKey.CREATE_PARTITIONS, request)
    assert {r.name: r.error_code for r in answer.results} == {"t": 0, "no": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(metadata(client, "t").topics[0].partitions) == 4


@pytest.mark.parametrize("version", range(14))
def test_metadata_in_every_version(client: RawClient, cluster: EmbeddedCluster, version: int) -> None:
    cluster.create_topic("t", 3)
    answer = metadata(client, "t", version=version)
    assert {broker.node_id for broker in answer.brokers} == {1, 2, 3}
    assert [p.partition_index for p in answer.topics[0].partitions] == [0, 1, 2]
    if version >= 1:
        assert {broker.node_id: broker.rack for broker in answer.brokers} == {1: "a", 2: "b", 3: "a"}
    if version >= 2:
        assert answer.cluster_id == cluster.cluster_id
    if version >= 10:
        assert answer.topics[0].topic_id == cluster.topic("t").topic_id
    every = client.ask(ApiKey.METADATA, MetadataRequest(topics=[] if version == 0 else None), version)
    assert [topic.name for topic in every.topics] == ["t"]


def test_an_id_wins_over_a_name(client: RawClient, cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")
    topics = [MetadataRequestTopic(topic_id=uuid.UUID(int=5), name="t")]
    topics.append(MetadataRequestTopic(topic_id=cluster.topic("t").topic_id, name="other"))
    answer = client.ask(ApiKey.METADATA, MetadataRequest(topics=topics, allow_auto_topic_creation=True), 12)
    assert [(topic.error_code, topic.name, len(topic.partitions)) for topic in answer.topics] == [
        (ErrorCode.UNKNOWN_TOPIC_ID, None, 0),
        (0, "t", 2),
    ]
    assert metadata(client, "other").topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_asking_for_a_topic_creates_it_when_allowed(client: RawClient) -> None:
    assert metadata(client, "auto").topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    created = metadata(client, "auto", "bad/name", create=True).topics
    assert {t.name: (t.error_code, len(t.partitions)) for t in created} == {
        "auto": (0, 2),
        "bad/name": (ErrorCode.INVALID_TOPIC_EXCEPTION, 0),
    }
    with EmbeddedCluster(auto_create_topics_enable=False) as strict, RawClient(strict.bootstrap_servers) as other:
        assert metadata(other, "auto", create=True).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_partitions_are_described_page_by_page(client: RawClient, cluster: EmbeddedCluster) -> None:
    for name in ("b", "a", "c"):
        cluster.create_topic(name, 3)
    cursor, seen, pages = None, [], 0
    while True:
        request = DescribeTopicPartitionsRequest(response_partition_limit=2, cursor=cursor)
        answer = client.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, request)
        seen += [(topic.name, p.partition_index) for topic in answer.topics for p in topic.partitions]
        pages += 1
        if answer.next_cursor is None:
            break
        cursor = RequestCursor(answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    assert seen == [(name, index) for name in "abc" for index in range(3)]
    assert pages == 5
    named = client.ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, DescribeTopicPartitionsRequest([TopicRequest("no")]))
    assert named.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert named.topics[0].topic_authorized_operations == 3576


def test_elections_and_reassignments_tell_the_truth(client: RawClient, cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t", assignments={0: [1], 1: [3]})
    cluster.stop(3)

    def elect(kind: int, partitions: list[TopicPartitions] | None) -> dict[int, int]:
        answer = client.ask(ApiKey.ELECT_LEADERS, ElectLeadersRequest(kind, partitions))
        return {p.partition_id: p.error_code for t in answer.replica_election_results for p in t.partition_result}

    asked = [TopicPartitions("t", [0, 1, 9])]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert elect(0, asked) == {
        0: ErrorCode.ELECTION_NOT_NEEDED,
        1: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        9: unknown,
    }
    assert elect(1, asked)[1] == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    assert elect(0, None) == {1: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    wishes = [ReassignablePartition(0, None), ReassignablePartition(1, [1, 2]), ReassignablePartition(9, [1])]
    answer = client.ask(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        AlterPartitionReassignmentsRequest(topics=[ReassignableTopic("t", wishes)]),
    )
    assert [p.error_code for p in answer.responses[0].partitions] == [
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
        ErrorCode.INVALID_REPLICATION_FACTOR,
        unknown,
    ]


# ---- settings ----


def described(client: RawClient, kind: int, name: str, **options: Any) -> Any:
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, options.pop("keys", None))], **options)
    return client.ask(ApiKey.DESCRIBE_CONFIGS, request).results[0]


def alter(client: RawClient, kind: int, name: str, *changes: tuple[str, int, str | None], **options: Any) -> int:
    configs = [AlterableConfig(*change) for change in changes]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, configs)], **options)
    return int(client.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, request).responses[0].error_code)


def test_a_topic_setting_has_a_source_and_synonyms(client: RawClient, cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")

    def retention() -> Any:
        (entry,) = described(client, TOPIC, "t", keys=["retention.ms"], include_synonyms=True).configs
        return entry

    assert (retention().value, retention().config_source) == ("604800000", ConfigSource.DEFAULT_CONFIG)
    assert alter(client, BROKER, "", ("log.retention.ms", SET, "7000")) == 0
    assert (retention().value, retention().config_source) == ("7000", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
    assert alter(client, TOPIC, "t", ("retention.ms", SET, "5000"), validate_only=True) == 0
    assert retention().value == "7000"
    assert alter(client, TOPIC, "t", ("retention.ms", SET, "5000")) == 0
    assert [(s.name, s.value, s.source) for s in retention().synonyms] == [
        ("retention.ms", "5000", ConfigSource.TOPIC_CONFIG),
        ("log.retention.ms", "7000", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        ("log.retention.ms", "604800000", ConfigSource.DEFAULT_CONFIG),
    ]
    assert alter(client, TOPIC, "t", ("retention.ms", DELETE, None), ("cleanup.policy", APPEND, "compact")) == 0
    assert retention().value == "7000"
    (policy,) = described(client, TOPIC, "t", keys=["cleanup.policy"], include_documentation=True).configs
    assert policy.value == "delete,compact"
    assert policy.documentation


def test_the_old_alter_configs_unsets_what_it_does_not_name(client: RawClient, cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t", config={"retention.ms": 5, "segment.ms": 6})
    request = AlterConfigsRequest([OldResource(TOPIC, "t", [OldConfig("retention.ms", "9")])])
    assert client.ask(ApiKey.ALTER_CONFIGS, request).responses[0].error_code == 0
    assert dict(cluster.topic("t").configs) == {"retention.ms": "9"}


def test_a_broker_describes_itself_only(client: RawClient, cluster: EmbeddedCluster) -> None:
    own = described(client, BROKER, "1")
    values = {c.name: c for c in own.configs}
    assert values["advertised.listeners"].value == f"PLAINTEXT://{cluster.bootstrap_servers.split(',')[0]}"
    assert values["node.id"].value == "1"
    assert values["node.id"].read_only
    assert not values["log.retention.ms"].read_only
    assert described(client, BROKER, "2").error_code == ErrorCode.INVALID_REQUEST


def test_a_topic_that_cannot_exist_is_not_merely_unknown(client: RawClient) -> None:
    assert described(client, TOPIC, "a/b").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert described(client, TOPIC, "none").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("kind", "name", "change", "error"),
    [
        (TOPIC, "no", ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (BROKER, "1", ("node.id", SET, "7"), ErrorCode.INVALID_REQUEST),
        (BROKER, "77", ("log.retention.ms", SET, "7"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("log.retention.ms", SET, "x"), ErrorCode.INVALID_CONFIG),
        (99, "x", ("a", SET, "b"), ErrorCode.INVALID_REQUEST),
    ],
)
def test_settings_that_cannot_be_altered(
    client: RawClient, kind: int, name: str, change: tuple[str, int, str], error: ErrorCode
) -> None:
    assert alter(client, kind, name, change) == error


# ---- the cluster ----


def test_the_cluster_and_its_quorum(client: RawClient, cluster: EmbeddedCluster) -> None:
    answer = client.ask(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest(True))
    assert {broker.broker_id for broker in answer.brokers} == {1, 2, 3}
    assert answer.cluster_authorized_operations > 0
    wrong = client.ask(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest(endpoint_type=2))
    assert wrong.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
    assert (wrong.cluster_id, wrong.controller_id, wrong.brokers) == ("", -1, [])
    asked = [
        RequestTopicData("__cluster_metadata", [RequestPartitionData(0)]),
        RequestTopicData("t", [RequestPartitionData(0)]),
    ]
    quorum = client.ask(ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest(asked))
    metadata_log, other = (topic.partitions[0] for topic in quorum.topics)
    assert (metadata_log.leader_id, len(metadata_log.current_voters)) == (1, 1)
    assert metadata_log.high_watermark > 0
    assert other.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_features_go_down_only_when_said_so(client: RawClient) -> None:
    def level() -> int:
        answer = client.ask(ApiKey.API_VERSIONS, ApiVersionsRequest("t", "1"))
        return int({f.name: f.max_version_level for f in answer.finalized_features}.get("transaction.version", 0))

    def update(to: int, how: int) -> int:
        request = UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("transaction.version", to, upgrade_type=how)])
        return int(client.ask(ApiKey.UPDATE_FEATURES, request).error_code)

    assert level() == 2
    assert update(1, 1) == ErrorCode.INVALID_UPDATE_VERSION
    assert update(9, 1) == ErrorCode.INVALID_UPDATE_VERSION
    assert update(1, 2) == 0
    assert level() == 1


def test_quotas_are_set_found_and_enforced(client: RawClient, cluster: EmbeddedCluster) -> None:
    def put(
        entity: list[RequestEntityData], value: float, *, remove: bool = False, key: str = "producer_byte_rate"
    ) -> int:
        entry = RequestEntryData(entity, [OpData(key, value, remove)])
        return int(client.ask(ApiKey.ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest([entry])).entries[0].error_code)

    def found(match_type: int, match: str | None = None) -> dict[str | None, float]:
        request = DescribeClientQuotasRequest([ComponentData("client-id", match_type, match)])
        entries = client.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, request).entries
        return {e.entity[0].entity_name: e.values[0].value for e in entries}

    named, default = [RequestEntityData("client-id", "slow")], [RequestEntityData("client-id", None)]
    assert put(named, 1000.0) == 0
    assert put(default, 2000.0) == 0
    assert put(named, 1.0, key="no_such_key") == ErrorCode.INVALID_REQUEST
    assert put([RequestEntityData("planet", "x")], 1.0) == ErrorCode.INVALID_REQUEST
    assert put(named, -1.0) == ErrorCode.INVALID_REQUEST
    assert (found(0, "slow"), found(1), found(2)) == ({"slow": 1000.0}, {None: 2000.0}, {"slow": 1000.0, None: 2000.0})
    cluster.create_topic("t", assignments={0: [1]})
    with RawClient(cluster.bootstrap_servers, client_id="slow") as slow:
        assert throttle_of(slow) > 1000
    assert put(named, 0.0, remove=True) == 0
    assert found(0, "slow") == {}


def throttle_of(client: RawClient) -> int:
    from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
    from pykclient.protocol.records import encode_batch

    batch = encode_batch([(0, None, b"x" * 5000, None)])
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    answer = client.ask(ApiKey.PRODUCE, ProduceRequest(acks=1, timeout_ms=1000, topic_data=data), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0
    return int(answer.throttle_time_ms)


def test_acls_without_an_authorizer_are_refused_as_kafka_does(client: RawClient) -> None:
    answer = client.ask(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest(1, None, 1, None, None, 1, 1))
    assert answer.error_code == ErrorCode.SECURITY_DISABLED
