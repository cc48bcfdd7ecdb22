"""The cluster itself: brokers, features, the controllers' quorum, disks, elections and moves of replicas.

Operations on the reactor thread. What a broker knows of itself is asked of that broker; changes go to the controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from pykclient.admin.results import Results
from pykclient.admin.routing import (
    AnyBroker,
    Brokers,
    Controller,
    Session,
    ask_once,
    by_topic,
    check,
    every_broker,
    fan_out,
    outcome_of,
)
from pykclient.admin.types import (
    ClusterDescription,
    Features,
    LogDir,
    QuorumDescription,
    QuorumReplica,
    Reassignment,
    ReplicaLog,
    operations_in,
)
from pykclient.client.engine import Operation, wait
from pykclient.errors import ElectionNotNeeded, KafkaError, UnsupportedVersion, UsageError, broker_error
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from pykclient.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from pykclient.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykclient.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from pykclient.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from pykclient.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    RequestPartitionData,
    RequestTopicData,
)
from pykclient.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from pykclient.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from pykclient.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from pykclient.types import Node, TopicPartition

METADATA_TOPIC = "__cluster_metadata"
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
CLIENT_NAME = "pykclient"
ELECTION_KINDS = {"preferred": 0, "unclean": 1}


def describe_cluster(
    session: Session, *, include_fenced: bool, include_authorized_operations: bool
) -> Operation[ClusterDescription]:
    """Who is there. Brokers before 2.8 answer by their metadata."""

    def read(response: DescribeClusterResponse) -> ClusterDescription:
        check(response.error_code, response.error_message, api="DescribeCluster")
        nodes = {row.broker_id: Node(row.broker_id, row.host, row.port, row.rack) for row in response.brokers}
        fenced = {row.broker_id for row in response.brokers if row.is_fenced}
        return ClusterDescription(
            response.cluster_id,
            nodes.get(response.controller_id),
            tuple(nodes[each] for each in sorted(nodes) if each not in fenced),
            tuple(nodes[each] for each in sorted(fenced)),
            operations_in(response.cluster_authorized_operations),
        )

    message = DescribeClusterRequest(include_cluster_authorized_operations=include_authorized_operations)
    message.include_fenced_brokers = include_fenced
    try:
        return (
            yield from ask_once(
                session,
                lambda node_id: Request[DescribeClusterResponse](
                    message, node_id=node_id, version_min=2 if include_fenced else 0
                ),
                read,
            )
        )
    except UnsupportedVersion:
        if include_fenced or include_authorized_operations:
            raise
    cluster = yield from wait(session.office.metadata.wait_for_update(session.deadline))
    brokers = tuple(cluster.brokers[node_id] for node_id in sorted(cluster.brokers))
    controller = None if cluster.controller_id is None else cluster.node(cluster.controller_id)
    return ClusterDescription(cluster.cluster_id, controller, brokers)


def describe_features(session: Session, node_id: int | None) -> Operation[Features]:
    """Feature levels, as one broker (any, or the one named) has them."""

    def read(response: ApiVersionsResponse) -> Features:
        check(response.error_code, api="ApiVersions")
        epoch = response.finalized_features_epoch
        return Features(
            {row.name: row.max_version_level for row in response.finalized_features},
            {row.name: (row.min_version, row.max_version) for row in response.supported_features},
            None if epoch < 0 else epoch,
        )

    message = ApiVersionsRequest(client_software_name=CLIENT_NAME, client_software_version="admin")
    return (
        yield from ask_once(
            session,
            lambda chosen: Request[ApiVersionsResponse](message, node_id=chosen, version_min=3),
            read,
            route=AnyBroker() if node_id is None else Brokers(lambda item: node_id),
        )
    )


def update_features(
    session: Session, levels: Mapping[str, int], *, downgrade: bool, unsafe: bool, validate_only: bool
) -> Operation[Results[str, None]]:
    """Put feature levels into force."""
    kind = UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE if downgrade else UPGRADE

    def request(node_id: int | None) -> Request[UpdateFeaturesResponse]:
        message = UpdateFeaturesRequest(
            timeout_ms=session.broker_timeout_ms,
            feature_updates=[
                FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
                for name, level in levels.items()
            ],
            validate_only=validate_only,
        )
        return Request(message, node_id=node_id, version_min=1)

    def read(response: UpdateFeaturesResponse) -> dict[str, KafkaError | None]:
        check(response.error_code, response.error_message, api="UpdateFeatures")
        # From version 2 on the answer names no features: all or none were updated.
        rows = {row.feature: outcome_of(row.error_code, None, row.error_message) for row in response.results}
        return {name: rows.get(name) for name in levels}

    return Results((yield from ask_once(session, request, read, route=Controller())))


def describe_quorum(session: Session) -> Operation[QuorumDescription]:
    """The controllers' log and who follows it."""

    def read(response: DescribeQuorumResponse) -> QuorumDescription:
        check(response.error_code, response.error_message, api="DescribeQuorum")
        row = response.topics[0].partitions[0]
        check(row.error_code, row.error_message, api="DescribeQuorum")
        return QuorumDescription(
            row.leader_id,
            row.leader_epoch,
            row.high_watermark,
            tuple(_replica(each) for each in row.current_voters),
            tuple(_replica(each) for each in row.observers),
        )

    message = DescribeQuorumRequest(
        topics=[RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])]
    )
    return (
        yield from ask_once(
            session,
            lambda node_id: Request[DescribeQuorumResponse](message, node_id=node_id),
            read,
            route=Controller(),
        )
    )


def _replica(row: ReplicaState) -> QuorumReplica:
    return QuorumReplica(
        row.replica_id,
        row.log_end_offset,
        None if row.last_fetch_timestamp < 0 else row.last_fetch_timestamp,
        None if row.last_caught_up_timestamp < 0 else row.last_caught_up_timestamp,
        None if row.replica_directory_id == UUID(int=0) else row.replica_directory_id,
    )


# ---- disks ----


def describe_log_dirs(
    session: Session, brokers: Iterable[int] | None, partitions: Iterable[TopicPartition] | None
) -> Operation[Results[int, dict[str, LogDir | KafkaError]]]:
    """Each broker's directories by path; a directory that is offline has its error in its place."""
    wanted = (yield from every_broker(session)) if brokers is None else list(brokers)
    topics = (
        None
        if partitions is None
        else [
            DescribableLogDirTopic(topic=topic, partitions=indexes)
            for topic, indexes in by_topic(TopicPartition(*tp) for tp in partitions).items()
        ]
    )

    def ask(items: list[int], node_id: int | None) -> Request[DescribeLogDirsResponse]:
        return Request(DescribeLogDirsRequest(topics=topics), node_id=node_id)

    def read(response: DescribeLogDirsResponse, items: list[int]) -> dict[int, dict[str, LogDir | KafkaError]]:
        check(response.error_code, api="DescribeLogDirs")
        return {items[0]: {row.log_dir: outcome_of(row.error_code, _log_dir(row)) for row in response.results}}

    return (yield from fan_out(session, wanted, route=Brokers(), ask=ask, read=read))


def _log_dir(row: DescribeLogDirsResult) -> LogDir:
    replicas = {
        TopicPartition(topic.name, each.partition_index): ReplicaLog(
            each.partition_size, each.offset_lag, each.is_future_key
        )
        for topic in row.topics
        for each in topic.partitions
    }
    total, usable = row.total_bytes, row.usable_bytes
    return LogDir(row.log_dir, replicas, None if total < 0 else total, None if usable < 0 else usable)


Replica = tuple[int, TopicPartition]
"""A broker's copy of a partition: (broker id, partition)."""


def alter_log_dirs(session: Session, moves: Mapping[Replica, str]) -> Operation[Results[Replica, None]]:
    """Move a broker's copies of partitions to other directories of the same broker."""
    wanted = {(node_id, TopicPartition(*tp)): path for (node_id, tp), path in moves.items()}

    def ask(items: list[Replica], node_id: int | None) -> Request[AlterReplicaLogDirsResponse]:
        dirs: dict[str, list[TopicPartition]] = {}
        for item in items:
            dirs.setdefault(wanted[item], []).append(item[1])
        message = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=path,
                    topics=[
                        AlterReplicaLogDirTopic(name=topic, partitions=indexes)
                        for topic, indexes in by_topic(partitions).items()
                    ],
                )
                for path, partitions in dirs.items()
            ]
        )
        return Request(message, node_id=node_id)

    def read(response: AlterReplicaLogDirsResponse, items: list[Replica]) -> dict[Replica, KafkaError | None]:
        node_id = items[0][0]
        return {
            (node_id, TopicPartition(topic.topic_name, row.partition_index)): outcome_of(
                row.error_code, None, topic=topic.topic_name, partition=row.partition_index
            )
            for topic in response.results
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=Brokers(lambda item: int(item[0])), ask=ask, read=read))


# ---- leaders and replicas ----


def elect_leaders(
    session: Session, kind: str, partitions: Iterable[TopicPartition] | None
) -> Operation[Results[TopicPartition, bool]]:
    """Hold an election; the result says whether one was needed. None: every partition that needs one."""
    if kind not in ELECTION_KINDS:
        raise UsageError(f"an election is preferred or unclean, not {kind!r}")
    wanted = None if partitions is None else [TopicPartition(*tp) for tp in partitions]
    rows = (
        None
        if wanted is None
        else [TopicPartitions(topic=topic, partitions=indexes) for topic, indexes in by_topic(wanted).items()]
    )

    def build(version: int) -> ElectLeadersRequest:
        message = ElectLeadersRequest(topic_partitions=rows, timeout_ms=session.broker_timeout_ms)
        if version >= 1:
            message.election_type = ELECTION_KINDS[kind]
        return message

    def read(response: ElectLeadersResponse) -> dict[TopicPartition, bool | KafkaError]:
        check(response.error_code, api="ElectLeaders")
        found: dict[TopicPartition, bool | KafkaError] = {}
        for topic in response.replica_election_results:
            for row in topic.partition_result:
                tp = TopicPartition(topic.topic, row.partition_id)
                if row.error_code == ElectionNotNeeded.code:
                    found[tp] = False
                else:
                    found[tp] = outcome_of(
                        row.error_code, True, row.error_message, topic=tp.topic, partition=tp.partition
                    )
        return found

    version_min = 1 if kind == "unclean" else 0
    found = yield from ask_once(
        session,
        lambda node_id: Request[ElectLeadersResponse](
            api_key=ApiKey.ELECT_LEADERS, build=build, node_id=node_id, version_min=version_min
        ),
        read,
        route=Controller(),
    )
    return Results({tp: found.get(tp, False) for tp in (sorted(found) if wanted is None else wanted)})


def alter_partition_reassignments(
    session: Session, moves: Mapping[TopicPartition, Sequence[int] | None], *, allow_replication_factor_change: bool
) -> Operation[Results[TopicPartition, None]]:
    """Start to move partitions to these brokers; None stops a move under way."""
    wanted = {TopicPartition(*tp): replicas for tp, replicas in moves.items()}

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[AlterPartitionReassignmentsResponse]:
        def partition(tp: TopicPartition) -> ReassignablePartition:
            replicas = wanted[tp]
            return ReassignablePartition(
                partition_index=tp.partition, replicas=None if replicas is None else list(replicas)
            )

        message = AlterPartitionReassignmentsRequest(
            timeout_ms=session.broker_timeout_ms,
            topics=[
                ReassignableTopic(name=topic, partitions=[partition(TopicPartition(topic, each)) for each in indexes])
                for topic, indexes in by_topic(items).items()
            ],
        )
        message.allow_replication_factor_change = allow_replication_factor_change
        return Request(message, node_id=node_id, version_min=0 if allow_replication_factor_change else 1)

    def read(
        response: AlterPartitionReassignmentsResponse, items: list[TopicPartition]
    ) -> dict[TopicPartition, KafkaError | None]:
        if response.error_code:
            raise broker_error(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, row.partition_index): outcome_of(
                row.error_code, None, row.error_message, topic=topic.name, partition=row.partition_index
            )
            for topic in response.responses
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=Controller(), ask=ask, read=read))


def list_partition_reassignments(
    session: Session, partitions: Iterable[TopicPartition] | None
) -> Operation[dict[TopicPartition, Reassignment]]:
    """Moves under way."""
    topics = (
        None
        if partitions is None
        else [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(TopicPartition(*tp) for tp in partitions).items()
        ]
    )

    def read(response: ListPartitionReassignmentsResponse) -> dict[TopicPartition, Reassignment]:
        check(response.error_code, response.error_message, api="ListPartitionReassignments")
        return {
            TopicPartition(topic.name, row.partition_index): Reassignment(
                tuple(row.replicas), tuple(row.adding_replicas), tuple(row.removing_replicas)
            )
            for topic in response.topics
            for row in topic.partitions
        }

    message = ListPartitionReassignmentsRequest(timeout_ms=session.broker_timeout_ms, topics=topics)
    return (
        yield from ask_once(
            session,
            lambda node_id: Request[ListPartitionReassignmentsResponse](message, node_id=node_id),
            read,
            route=Controller(),
        )
    )
