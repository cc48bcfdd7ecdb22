"""Where things are: FindCoordinator, DescribeCluster, DescribeQuorum, and the features of the cluster.

Reads the node's image; the internal topics are made when a coordinator is first asked for. Runs on the node's
thread and never blocks.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from pykclient.broker import config_changes, topic_changes
from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.node_view import NodeView, allowed, then
from pykclient.broker.request import RequestContext
from pykclient.broker.topic_changes import GROUP_TOPIC, TRANSACTION_TOPIC
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from pykclient.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from pykclient.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from pykclient.protocol.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

METADATA_TOPIC = "__cluster_metadata"
BATCHES_FROM = 4
BROKER_ENDPOINTS, CONTROLLER_ENDPOINTS = 1, 2


class CoordinatorType(enum.IntEnum):
    """What a coordinator is for; numbers as on the wire."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_TOPIC_OF = {CoordinatorType.GROUP: GROUP_TOPIC, CoordinatorType.TRANSACTION: TRANSACTION_TOPIC}
_RESOURCE_OF = {
    CoordinatorType.GROUP: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    CoordinatorType.TRANSACTION: (
        ResourceType.TRANSACTIONAL_ID,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ),
}


def java_hash(text: str) -> int:
    """``String.hashCode()`` of Java: over UTF-16 code units, as a signed 32-bit number."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(encoded), 2):
        value = (31 * value + (encoded[position] << 8) + encoded[position + 1]) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def coordinator_partition(key: str, partition_count: int) -> int:
    """The partition of the internal topic that a group or transactional id lives in."""
    value = java_hash(key)
    return (0 if value == -(1 << 31) else abs(value)) % partition_count


class ClusterInfo:
    """The room."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.FIND_COORDINATOR: "find_coordinator",
        ApiKey.DESCRIBE_CLUSTER: "describe_cluster",
        ApiKey.DESCRIBE_QUORUM: "describe_quorum",
        ApiKey.UPDATE_FEATURES: "update_features",
    }

    def __init__(self, node: NodeView) -> None:
        self._node = node

    def find_coordinator(
        self, context: RequestContext, request: FindCoordinatorRequest
    ) -> FindCoordinatorResponse | Completion[FindCoordinatorResponse]:
        """The leader of the partition that each key hashes to."""
        topic = _TOPIC_OF.get(request.key_type)  # type: ignore[call-overload]
        if topic is None or topic in self._node.image.topics:
            return self._coordinators(context, request, topic)

        def decide(state: Any) -> topic_changes.Decision[topic_changes.TopicResult]:
            return topic_changes.internal_topic(state.image, state.config, state.rng, topic)

        return then(self._node.controller.run(decide), lambda _: self._coordinators(context, request, topic))

    def _coordinators(
        self, context: RequestContext, request: FindCoordinatorRequest, topic: str | None
    ) -> FindCoordinatorResponse:
        keys = request.coordinator_keys if context.api_version >= BATCHES_FROM else [request.key]
        found = [self._coordinator(context, request.key_type, key, topic) for key in keys]
        if context.api_version >= BATCHES_FROM:
            return FindCoordinatorResponse(coordinators=found)
        one = found[0]
        return FindCoordinatorResponse(
            error_code=one.error_code,
            error_message=one.error_message,
            node_id=one.node_id,
            host=one.host,
            port=one.port,
        )

    def _coordinator(self, context: RequestContext, key_type: int, key: str, topic: str | None) -> Coordinator:
        nowhere = Coordinator(key=key, node_id=-1, host="", port=-1)
        if topic is None:
            nowhere.error_code = ErrorCode.INVALID_REQUEST
            nowhere.error_message = f"Coordinators of type {key_type} are not supported."
            return nowhere
        resource, denied = _RESOURCE_OF[CoordinatorType(key_type)]
        if not allowed(self._node, context, Operation.DESCRIBE, resource, key):
            nowhere.error_code = denied
            return nowhere
        if key_type == CoordinatorType.TRANSACTION and not key:
            nowhere.error_code = ErrorCode.INVALID_REQUEST
            nowhere.error_message = "The transactional id is empty."
            return nowhere
        image = self._node.image
        partitions = image.topics[topic].partitions if topic in image.topics else ()
        leader = partitions[coordinator_partition(key, len(partitions))].leader if partitions else -1
        broker = image.brokers.get(leader)
        endpoint = None if broker is None else broker.endpoints.get(context.listener_name)
        if endpoint is None:
            nowhere.error_code = ErrorCode.COORDINATOR_NOT_AVAILABLE
            return nowhere
        return Coordinator(key=key, node_id=leader, host=endpoint.host, port=endpoint.port, error_message=None)

    def describe_cluster(self, context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
        """The living brokers, at the addresses of the listener that was asked."""
        image = self._node.image
        if context.api_version >= 1 and request.endpoint_type != BROKER_ENDPOINTS:
            response = DescribeClusterResponse()
            response.error_code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
            if request.endpoint_type == CONTROLLER_ENDPOINTS:
                response.error_code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
            response.error_message = "This listener serves brokers."
            return response
        response = DescribeClusterResponse(
            cluster_id=image.cluster_id, controller_id=image.controller_id, endpoint_type=BROKER_ENDPOINTS
        )
        response.brokers = [
            DescribeClusterBroker(broker.node_id, endpoint.host, endpoint.port, broker.rack)
            for broker in image.brokers.values()
            for endpoint in (broker.endpoints.get(context.listener_name),)
            if endpoint is not None
        ]
        if request.include_cluster_authorized_operations:
            response.cluster_authorized_operations = self._node.authorizer.authorized_operations(
                context.principal, context.peer.host, ResourceType.CLUSTER, CLUSTER_NAME
            )
        return response

    def describe_quorum(self, context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
        """One voter: the node that runs the controller. Its log end is the version of the metadata."""
        if not allowed(self._node, context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
            return DescribeQuorumResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=None)
        image = self._node.image
        response = DescribeQuorumResponse(error_message=None)
        for topic in request.topics:
            partitions = []
            for partition in topic.partitions:
                if topic.topic_name == METADATA_TOPIC and partition.partition_index == 0:
                    voter = ReplicaState(
                        replica_id=image.controller_id,
                        log_end_offset=image.version,
                        last_fetch_timestamp=context.wall_ms,
                        last_caught_up_timestamp=context.wall_ms,
                    )
                    data = ResponsePartitionData(
                        partition_index=0,
                        leader_id=image.controller_id,
                        leader_epoch=1,
                        high_watermark=image.version,
                        current_voters=[voter],
                        error_message=None,
                    )
                else:
                    data = ResponsePartitionData(
                        partition_index=partition.partition_index, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    )
                partitions.append(data)
            response.topics.append(ResponseTopicData(topic.topic_name, partitions))
        controller = image.brokers.get(image.controller_id)
        if context.api_version >= 2 and controller is not None:
            listeners = [Listener(name, each.host, each.port) for name, each in controller.endpoints.items()]
            response.nodes = [Node(controller.node_id, listeners)]
        return response

    def update_features(
        self, context: RequestContext, request: UpdateFeaturesRequest
    ) -> UpdateFeaturesResponse | Completion[UpdateFeaturesResponse]:
        """Levels up, or down when the request says so."""
        if not allowed(self._node, context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
            return UpdateFeaturesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=None)
        updates = []
        for each in request.feature_updates:
            how = each.upgrade_type
            if context.api_version == 0:
                how = 2 if each.allow_downgrade else 1
            updates.append((each.feature, each.max_version_level, how))

        def answer(results: list[tuple[str, ErrorCode, str | None]]) -> UpdateFeaturesResponse:
            failed = next(((error, text) for _, error, text in results if error != ErrorCode.NONE), None)
            response = UpdateFeaturesResponse(error_message=None)
            if context.api_version <= 1:
                response.results = [UpdatableFeatureResult(name, error, text) for name, error, text in results]
            elif failed is not None:
                response.error_code, response.error_message = failed
            return response

        return then(
            self._node.controller.run(
                lambda state: config_changes.update_features(state.image, updates, validate_only=request.validate_only)
            ),
            answer,
        )
