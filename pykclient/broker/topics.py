"""Topics and partitions as clients ask for them: Metadata, DescribeTopicPartitions, create, delete, grow,
elections.

Reads the node's image and sends changes to the controller; holds no state of its own. Runs on the node's thread and
never blocks. It must never show a topic to somebody who may not describe it, nor say that it exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pykclient.broker import topic_changes
from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.config_keys import TOPIC_KEYS, sensitive
from pykclient.broker.configs import broker_layers, resolve
from pykclient.broker.error_replies import error_response
from pykclient.broker.image import NO_LEADER, NO_TOPIC_ID, PartitionImage, TopicImage
from pykclient.broker.node_view import NodeView, allowed, then
from pykclient.broker.request import RequestContext
from pykclient.broker.topic_changes import INTERNAL_TOPICS, TopicResult, TopicSpec, topic_name_problem
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from pykclient.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from pykclient.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from pykclient.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse
from pykclient.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from pykclient.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from pykclient.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from pykclient.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

DESCRIBED_PARTITIONS_MAX = 2000
UNCLEAN_ELECTION = 1
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class Topics:
    """The room."""

    HANDLERS: Mapping[ApiKey, str] = {
        ApiKey.METADATA: "metadata",
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: "describe_topic_partitions",
        ApiKey.CREATE_TOPICS: "create_topics",
        ApiKey.DELETE_TOPICS: "delete_topics",
        ApiKey.CREATE_PARTITIONS: "create_partitions",
        ApiKey.ELECT_LEADERS: "elect_leaders",
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: "alter_partition_reassignments",
        ApiKey.LIST_PARTITION_REASSIGNMENTS: "list_partition_reassignments",
    }

    def __init__(self, node: NodeView) -> None:
        self._node = node

    # ---- Metadata ----

    def metadata(
        self, context: RequestContext, request: MetadataRequest
    ) -> MetadataResponse | Completion[MetadataResponse]:
        """The brokers and the topics asked for; missing topics are created first when that is allowed."""
        missing = self._to_create(context, request)
        if not missing:
            return self._metadata(context, request, {})
        node = self._node

        def decide(state: Any) -> topic_changes.Decision[dict[str, TopicResult]]:
            return _create_missing(state, missing)

        return then(node.controller.run(decide), lambda results: self._metadata(context, request, results))

    def _to_create(self, context: RequestContext, request: MetadataRequest) -> list[str]:
        node = self._node
        if not request.allow_auto_topic_creation or not node.config.flag("auto.create.topics.enable"):
            return []
        return [
            topic.name
            for topic in request.topics or ()
            if topic.name is not None
            and topic.topic_id == NO_TOPIC_ID
            and topic.name not in node.image.topics
            and topic_name_problem(topic.name) is None
            and self._allowed(context, Operation.DESCRIBE, topic.name)
            and self._may_create(context, topic.name)
        ]

    def _may_create(self, context: RequestContext, name: str) -> bool:
        cluster = allowed(self._node, context, Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
        return cluster or self._allowed(context, Operation.CREATE, name)

    def _allowed(self, context: RequestContext, operation: Operation, name: str) -> bool:
        return allowed(self._node, context, operation, ResourceType.TOPIC, name)

    def _metadata(
        self, context: RequestContext, request: MetadataRequest, created: Mapping[str, TopicResult]
    ) -> MetadataResponse:
        image = self._node.image
        everything = request.topics is None or (context.api_version == 0 and not request.topics)
        if everything:
            topics = [self._topic(context, topic, request) for topic in image.topics.values()
                      if self._allowed(context, Operation.DESCRIBE, topic.name)]  # fmt: skip
        else:
            topics = [self._asked_topic(context, asked, request, created) for asked in request.topics or ()]
        response = MetadataResponse(
            brokers=[
                MetadataResponseBroker(broker.node_id, endpoint.host, endpoint.port, broker.rack)
                for broker in image.brokers.values()
                for endpoint in (broker.endpoints.get(context.listener_name),)
                if endpoint is not None
            ],
            cluster_id=image.cluster_id,
            controller_id=image.controller_id,
            topics=topics,
        )
        if request.include_cluster_authorized_operations and 8 <= context.api_version <= 10:
            response.cluster_authorized_operations = self._node.authorizer.authorized_operations(
                context.principal, context.peer.host, ResourceType.CLUSTER, CLUSTER_NAME
            )
        return response

    def _asked_topic(
        self, context: RequestContext, asked: Any, request: MetadataRequest, created: Mapping[str, TopicResult]
    ) -> MetadataResponseTopic:
        image = self._node.image
        if asked.name is None or asked.topic_id != NO_TOPIC_ID:
            topic = image.topic_by_id(asked.topic_id)
            if topic is None or not self._allowed(context, Operation.DESCRIBE, topic.name):
                # Versions before 12 cannot carry a null name.
                name = None if context.api_version >= 12 else ""
                return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, name, asked.topic_id)
            return self._topic(context, topic, request)
        if not self._allowed(context, Operation.DESCRIBE, asked.name):
            return MetadataResponseTopic(TOPIC_DENIED, asked.name)
        topic = image.topics.get(asked.name)
        if topic is not None:
            return self._topic(context, topic, request)
        if topic_name_problem(asked.name) is not None:
            return MetadataResponseTopic(ErrorCode.INVALID_TOPIC_EXCEPTION, asked.name)
        if asked.name in created:
            return MetadataResponseTopic(created[asked.name].error, asked.name)
        if request.allow_auto_topic_creation and not self._may_create(context, asked.name):
            return MetadataResponseTopic(TOPIC_DENIED, asked.name)
        return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, asked.name)

    def _topic(self, context: RequestContext, topic: TopicImage, request: MetadataRequest) -> MetadataResponseTopic:
        partitions = [
            MetadataResponsePartition(
                error_code=partition_error(partition),
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                offline_replicas=self._offline(partition),
            )
            for index, partition in enumerate(topic.partitions)
        ]
        answer = MetadataResponseTopic(
            name=topic.name, topic_id=topic.topic_id, is_internal=topic.name in INTERNAL_TOPICS, partitions=partitions
        )
        if request.include_topic_authorized_operations:
            answer.topic_authorized_operations = self._operations(context, topic.name)
        return answer

    def _operations(self, context: RequestContext, topic: str) -> int:
        return self._node.authorizer.authorized_operations(
            context.principal, context.peer.host, ResourceType.TOPIC, topic
        )

    def _offline(self, partition: PartitionImage) -> list[int]:
        return [replica for replica in partition.replicas if replica not in self._node.image.brokers]

    # ---- DescribeTopicPartitions ----

    def describe_topic_partitions(
        self, context: RequestContext, request: DescribeTopicPartitionsRequest
    ) -> DescribeTopicPartitionsResponse:
        """Topics in the order of their names, page by page."""
        image = self._node.image
        everything = not request.topics
        names = sorted({topic.name for topic in request.topics}) if request.topics else sorted(image.topics)
        first_partition = 0
        if request.cursor is not None:
            names = [name for name in names if name >= request.cursor.topic_name]
            if names and names[0] == request.cursor.topic_name:
                first_partition = request.cursor.partition_index
        room = max(1, min(request.response_partition_limit, DESCRIBED_PARTITIONS_MAX))
        response = DescribeTopicPartitionsResponse()
        for name in names:
            topic = image.topics.get(name)
            if not self._allowed(context, Operation.DESCRIBE, name):
                if not everything:
                    response.topics.append(DescribeTopicPartitionsResponseTopic(TOPIC_DENIED, name))
                continue
            if topic is None:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                if topic_name_problem(name) is not None:
                    error = ErrorCode.INVALID_TOPIC_EXCEPTION
                unknown = DescribeTopicPartitionsResponseTopic(error, name)
                unknown.topic_authorized_operations = self._operations(context, name)
                response.topics.append(unknown)
                continue
            if room == 0:
                response.next_cursor = ResponseCursor(name, first_partition)
                break
            page = list(enumerate(topic.partitions))[first_partition : first_partition + room]
            response.topics.append(self._described(context, topic, page))
            room -= len(page)
            after = first_partition + len(page)
            first_partition = 0
            if after < len(topic.partitions):
                response.next_cursor = ResponseCursor(name, after)
                break
        return response

    def _described(
        self, context: RequestContext, topic: TopicImage, page: Iterable[tuple[int, PartitionImage]]
    ) -> DescribeTopicPartitionsResponseTopic:
        return DescribeTopicPartitionsResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            topic_authorized_operations=self._operations(context, topic.name),
            partitions=[
                DescribeTopicPartitionsResponsePartition(
                    error_code=partition_error(partition),
                    partition_index=index,
                    leader_id=partition.leader,
                    leader_epoch=partition.leader_epoch,
                    replica_nodes=list(partition.replicas),
                    isr_nodes=list(partition.isr),
                    eligible_leader_replicas=[],
                    last_known_elr=[],
                    offline_replicas=self._offline(partition),
                )
                for index, partition in page
            ],
        )

    # ---- create, delete, grow ----

    def create_topics(
        self, context: RequestContext, request: CreateTopicsRequest
    ) -> CreateTopicsResponse | Completion[CreateTopicsResponse]:
        """One result per topic."""
        permitted = [topic for topic in request.topics if self._may_create(context, topic.name)]
        denied = [
            CreatableTopicResult(topic.name, error_code=TOPIC_DENIED, error_message="Topic authorization failed.")
            for topic in request.topics
            if topic not in permitted
        ]
        specs = [_spec(topic) for topic in permitted]

        def decide(state: Any) -> topic_changes.Decision[list[TopicResult]]:
            return topic_changes.create_topics(
                state.image, state.config, state.rng, specs, validate_only=request.validate_only
            )

        def answer(results: list[TopicResult]) -> CreateTopicsResponse:
            return CreateTopicsResponse(topics=[self._created(context, result) for result in results] + denied)

        return then(self._node.controller.run(decide), answer)

    def _created(self, context: RequestContext, result: TopicResult) -> CreatableTopicResult:
        topic = result.topic
        if topic is None:
            return CreatableTopicResult(result.name, error_code=result.error, error_message=result.message, configs=[])
        answer = CreatableTopicResult(
            topic.name,
            topic_id=topic.topic_id,
            num_partitions=len(topic.partitions),
            replication_factor=len(topic.partitions[0].replicas),
            configs=[],
        )
        if not self._allowed(context, Operation.DESCRIBE_CONFIGS, topic.name):
            answer.topic_config_error_code = TOPIC_DENIED
            answer.num_partitions = answer.replication_factor = -1
            return answer
        layers = broker_layers(self._node.config, self._node.node_id, self._node.image.broker_configs)
        for key in TOPIC_KEYS.values():
            if key.internal:
                continue
            entry = resolve(key, layers, topic.configs)
            value = None if sensitive(key) else entry.value
            assert answer.configs is not None
            answer.configs.append(CreatableTopicConfigs(key.name, value, False, entry.source, sensitive(key)))
        return answer

    def delete_topics(
        self, context: RequestContext, request: DeleteTopicsRequest
    ) -> DeleteTopicsResponse | Completion[DeleteTopicsResponse]:
        """By name, or from version 6 also by id."""
        image = self._node.image
        if context.api_version >= 6:
            targets = [(topic.name, topic.topic_id) for topic in request.topics]
        else:
            targets = [(name, NO_TOPIC_ID) for name in request.topic_names]
        denied: list[DeletableTopicResult] = []
        permitted: list[tuple[str | None, Any]] = []
        for name, topic_id in targets:
            known = name if name is not None else image.topic_names.get(topic_id)
            if known is None or self._allowed(context, Operation.DELETE, known):
                permitted.append((name, topic_id))
            elif name is None and not self._allowed(context, Operation.DESCRIBE, known):
                # Who may not see the topic does not learn its name from its id.
                denied.append(DeletableTopicResult(None, topic_id, TOPIC_DENIED))
            else:
                denied.append(DeletableTopicResult(known, topic_id, TOPIC_DENIED))

        def answer(results: list[Any]) -> DeleteTopicsResponse:
            rows = [DeletableTopicResult(name, topic_id, error, text) for name, topic_id, error, text in results]
            return DeleteTopicsResponse(responses=rows + denied)

        return then(
            self._node.controller.run(lambda state: topic_changes.delete_topics(state.image, state.config, permitted)),
            answer,
        )

    def create_partitions(
        self, context: RequestContext, request: CreatePartitionsRequest
    ) -> CreatePartitionsResponse | Completion[CreatePartitionsResponse]:
        """More partitions for topics that exist."""
        permitted = [topic for topic in request.topics if self._allowed(context, Operation.ALTER, topic.name)]
        denied = [
            CreatePartitionsTopicResult(topic.name, TOPIC_DENIED) for topic in request.topics if topic not in permitted
        ]
        wanted = [
            (topic.name, topic.count, None if topic.assignments is None else [a.broker_ids for a in topic.assignments])
            for topic in permitted
        ]

        def decide(state: Any) -> topic_changes.Decision[list[TopicResult]]:
            return topic_changes.create_partitions(state.image, state.rng, wanted, validate_only=request.validate_only)

        def answer(results: list[TopicResult]) -> CreatePartitionsResponse:
            rows = [CreatePartitionsTopicResult(result.name, result.error, result.message) for result in results]
            return CreatePartitionsResponse(results=rows + denied)

        return then(self._node.controller.run(decide), answer)

    # ---- elections and reassignments: honest answers for partitions with one replica ----

    def elect_leaders(self, context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
        """With one replica the preferred leader leads, or nobody can."""
        if not allowed(self._node, context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
            return error_response(context.api_key, context.api_version, request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)  # type: ignore[no-any-return]
        unclean = request.election_type == UNCLEAN_ELECTION
        if request.topic_partitions is None:
            asked = [(topic.name, range(len(topic.partitions))) for topic in self._node.image.topics.values()]
        else:
            asked = [(each.topic, each.partitions) for each in request.topic_partitions]  # type: ignore[misc]
        results = [
            ReplicaElectionResult(topic, [self._election(topic, index, unclean=unclean) for index in partitions])
            for topic, partitions in asked
        ]
        if request.topic_partitions is None:
            # Asking for all partitions reports only those where something was to be done.
            for result in results:
                needless = ErrorCode.ELECTION_NOT_NEEDED
                result.partition_result = [each for each in result.partition_result if each.error_code != needless]
        return ElectLeadersResponse(replica_election_results=[each for each in results if each.partition_result])

    def _election(self, topic: str, index: int, *, unclean: bool) -> PartitionResult:
        partition = self._node.image.partition(topic, index)
        if partition is None:
            error, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "No such topic or partition."
        elif partition.leader != NO_LEADER:
            error, text = ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
        elif unclean:
            error, text = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "The only replica is off line."
        else:
            error, text = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The only replica is off line."
        return PartitionResult(index, error, text)

    def alter_partition_reassignments(
        self, context: RequestContext, request: AlterPartitionReassignmentsRequest
    ) -> AlterPartitionReassignmentsResponse:
        """Replicas cannot be copied by the brokers yet, so only what changes nothing is accepted."""
        response = AlterPartitionReassignmentsResponse(error_message=None)
        if not allowed(self._node, context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
            response.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            return response
        response.responses = [
            ReassignableTopicResponse(topic.name, [self._reassignment(topic.name, each) for each in topic.partitions])
            for topic in request.topics
        ]
        return response

    def _reassignment(self, topic: str, asked: ReassignablePartition) -> ReassignablePartitionResponse:
        partition = self._node.image.partition(topic, asked.partition_index)
        error, text = ErrorCode.NONE, None
        if partition is None:
            error, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
        elif asked.replicas is None:
            error, text = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress."
        elif len(asked.replicas) > 1:
            error, text = ErrorCode.INVALID_REPLICATION_FACTOR, topic_changes.NO_REPLICATION
        elif tuple(asked.replicas) != partition.replicas:
            error = ErrorCode.INVALID_REPLICA_ASSIGNMENT
            text = "This cluster does not copy replicas between its brokers yet."
        return ReassignablePartitionResponse(asked.partition_index, error, text)

    def list_partition_reassignments(
        self, context: RequestContext, request: ListPartitionReassignmentsRequest
    ) -> ListPartitionReassignmentsResponse:
        """There never is one."""
        response = ListPartitionReassignmentsResponse(error_message=None)
        if not allowed(self._node, context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
            response.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return response


def partition_error(partition: PartitionImage) -> ErrorCode:
    """What Metadata says about a partition."""
    return ErrorCode.LEADER_NOT_AVAILABLE if partition.leader == NO_LEADER else ErrorCode.NONE


def _create_missing(state: Any, names: list[str]) -> topic_changes.Decision[dict[str, TopicResult]]:
    """Auto-creation: two clients asking at the same time both find the topic."""
    image, changes, results = state.image, [], {}
    for name in dict.fromkeys(names):
        if name in INTERNAL_TOPICS:
            one = topic_changes.internal_topic(image, state.config, state.rng, name)
            result, found = one.reply, one.changes
        elif name in image.topics:
            result, found = TopicResult(name, topic=image.topics[name]), []
        else:
            many = topic_changes.create_topics(image, state.config, state.rng, [TopicSpec(name)], validate_only=False)
            result, found = many.reply[0], many.changes
        for change in found:
            image = change.apply(image)
        changes += found
        results[name] = result
    return topic_changes.Decision(results, changes)


def _spec(topic: CreatableTopic) -> TopicSpec:
    return TopicSpec(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        assignments={each.partition_index: each.broker_ids for each in topic.assignments},
        configs={each.name: each.value for each in topic.configs},
    )
