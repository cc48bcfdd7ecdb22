"""Topics: make, delete, list, describe, add partitions, and wait until every broker serves them.

Operations on the reactor thread. Waiting must never end before each broker of the cluster has said itself that it knows
the topic and who leads it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from pykclient.admin.results import Results
from pykclient.admin.routing import (
    AnyBroker,
    Controller,
    Session,
    ask_once,
    check,
    every_broker,
    fan_out,
    fetch_topics,
    outcome_of,
)
from pykclient.admin.types import (
    CreatedTopic,
    DeletedTopic,
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicListing,
    operations_in,
)
from pykclient.client.engine import Operation, now, sleep
from pykclient.errors import KafkaError, KafkaTimeoutError, UnsupportedVersion, UsageError
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from pykclient.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from pykclient.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from pykclient.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    RequestCursor,
    TopicRequest,
)
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.types import Node, TopicPartition

ZERO_UUID = UUID(int=0)
PAGE_PARTITIONS = 2000


def many(items: object) -> list[Any]:
    """One item or several, as a list: neither a name nor a partition is taken for a list."""
    if isinstance(items, Iterable) and not isinstance(items, (str, bytes, TopicPartition)):
        return list(items)
    return [items]


def _topic_id(value: UUID) -> UUID | None:
    return None if value == ZERO_UUID else value


def text_of(value: object) -> str:
    """A configuration value as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---- create ----


def create_topics(
    session: Session, topics: Iterable[str | NewTopic], *, validate_only: bool, wait: bool
) -> Operation[Results[str, CreatedTopic]]:
    """Make topics; with ``wait`` until every broker serves them."""
    wanted = {spec.name: spec for spec in (NewTopic(each) if isinstance(each, str) else each for each in topics)}
    needs_defaults = any(spec.assignments is None and -1 in (spec.partitions, spec.replication_factor)
                         for spec in wanted.values())  # fmt: skip

    def ask(names: list[str], node_id: int | None) -> Request[CreateTopicsResponse]:
        message = CreateTopicsRequest(
            topics=[_creatable(wanted[name]) for name in names],
            timeout_ms=session.broker_timeout_ms,
            validate_only=validate_only,
        )
        return Request(message, node_id=node_id, version_min=4 if needs_defaults else 0)

    def read(response: CreateTopicsResponse, names: list[str]) -> dict[str, CreatedTopic | KafkaError]:
        return {
            row.name: outcome_of(row.error_code, _created(row), row.error_message, topic=row.name)
            for row in response.topics
        }

    results = yield from fan_out(session, wanted, route=Controller(), ask=ask, read=read)
    if wait and not validate_only and results.succeeded:
        made = {name: max(1, topic.partitions) for name, topic in results.succeeded.items()}
        late = yield from wait_served(session, made)
        return Results({name: late.get(name) or results.error(name) or results[name] for name in results})
    return results


def _creatable(spec: NewTopic) -> CreatableTopic:
    if spec.assignments is not None and (spec.partitions, spec.replication_factor) != (-1, -1):
        raise UsageError("give assignments, or partitions and replication_factor; not both", topic=spec.name)
    return CreatableTopic(
        name=spec.name,
        num_partitions=spec.partitions,
        replication_factor=spec.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in (spec.assignments or {}).items()
        ],
        configs=[CreatableTopicConfig(name=key, value=text_of(value)) for key, value in spec.configs.items()],
    )


def _created(row: CreatableTopicResult) -> CreatedTopic:
    configs = {config.name: config.value for config in row.configs or ()}
    return CreatedTopic(row.name, _topic_id(row.topic_id), row.num_partitions, row.replication_factor, configs)


def wait_served(session: Session, partitions: Mapping[str, int]) -> Operation[dict[str, KafkaError]]:
    """Until each broker knows all topics with at least so many partitions, each with a leader; those late at the end of
    the call's time, with their error."""
    return (
        yield from _wait_everywhere(
            session,
            list(partitions),
            lambda answer, name: _serves(answer, name, partitions[name]),
            "made; some broker did not serve it",
        )
    )


def wait_gone(session: Session, names: Sequence[str]) -> Operation[dict[str, KafkaError]]:
    """Until no broker knows them; those still known, with their error."""
    return (
        yield from _wait_everywhere(
            session,
            names,
            lambda answer, name: not isinstance(answer, KafkaError) and not _serves(answer, name, 1),
            "deleted; some broker still knew it",
        )
    )


def _wait_everywhere(
    session: Session,
    names: Sequence[str],
    satisfied: Callable[[MetadataResponse | KafkaError, str], bool],
    complaint: str,
) -> Operation[dict[str, KafkaError]]:
    attempts = 0
    left = sorted(names)
    while left:
        brokers = yield from every_broker(session)
        message = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in left])
        message.allow_auto_topic_creation = False
        answers = yield from session.gather(
            [Request[MetadataResponse](message, node_id=node_id, version_min=4) for node_id in brokers]
        )
        left = [name for name in left if not all(satisfied(answer, name) for answer in answers)]
        at = yield from now()
        pause_s = session.pause_s(attempts) / 4
        if left and at + pause_s >= session.deadline:
            return {name: KafkaTimeoutError(f"{complaint} after {session.timeout_s:g} s", topic=name) for name in left}
        if left:
            yield from sleep(pause_s)
        attempts += 1
    return {}


def _serves(answer: MetadataResponse | KafkaError, name: str, partition_count: int) -> bool:
    if isinstance(answer, KafkaError):
        return False
    for topic in answer.topics:
        if topic.name == name and topic.error_code == 0:
            led = sum(row.leader_id >= 0 and row.error_code == 0 for row in topic.partitions)
            return led >= partition_count and led == len(topic.partitions)
    return False


# ---- delete ----


def delete_topics(
    session: Session, topics: Iterable[str | UUID], *, wait: bool
) -> Operation[Results[str | UUID, DeletedTopic]]:
    """Delete by name or by id; with ``wait`` until no broker knows them."""
    wanted = list(topics)

    def ask(items: list[str | UUID], node_id: int | None) -> Request[DeleteTopicsResponse]:
        def build(version: int) -> DeleteTopicsRequest:
            message = DeleteTopicsRequest(timeout_ms=session.broker_timeout_ms)
            if version >= 6:
                message.topics = [
                    DeleteTopicState(topic_id=item) if isinstance(item, UUID) else DeleteTopicState(name=item)
                    for item in items
                ]
            else:
                message.topic_names = [str(item) for item in items]
            return message

        by_id = any(isinstance(item, UUID) for item in items)
        return Request(api_key=ApiKey.DELETE_TOPICS, build=build, node_id=node_id, version_min=6 if by_id else 0)

    def read(response: DeleteTopicsResponse, items: list[str | UUID]) -> dict[str | UUID, DeletedTopic | KafkaError]:
        found: dict[str | UUID, DeletedTopic | KafkaError] = {}
        for row in response.responses:
            gone = DeletedTopic(row.name, _topic_id(row.topic_id))
            outcome = outcome_of(row.error_code, gone, row.error_message, topic=row.name)
            for key in (row.name, row.topic_id):
                if key in items and key is not None:
                    found[key] = outcome
        return found

    results = yield from fan_out(session, wanted, route=Controller(), ask=ask, read=read)
    if wait:
        late = yield from wait_gone(
            session, [gone.name for gone in results.succeeded.values() if gone.name is not None]
        )
        return Results(
            {item: results.error(item) or late.get(results[item].name or "") or results[item] for item in results}
        )
    return results


# ---- partitions ----


def create_partitions(
    session: Session, totals: Mapping[str, int | NewPartitions], *, validate_only: bool, wait: bool
) -> Operation[Results[str, int]]:
    """Grow topics to a total; the result is that total."""
    wanted = {name: NewPartitions(total) if isinstance(total, int) else total for name, total in totals.items()}

    def ask(names: list[str], node_id: int | None) -> Request[CreatePartitionsResponse]:
        rows = []
        for name in names:
            places = wanted[name].assignments
            rows.append(
                CreatePartitionsTopic(
                    name=name,
                    count=wanted[name].total,
                    assignments=None
                    if places is None
                    else [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in places],
                )
            )
        return Request(
            CreatePartitionsRequest(topics=rows, timeout_ms=session.broker_timeout_ms, validate_only=validate_only),
            node_id=node_id,
        )

    def read(response: CreatePartitionsResponse, names: list[str]) -> dict[str, int | KafkaError]:
        return {
            row.name: outcome_of(row.error_code, wanted[row.name].total, row.error_message, topic=row.name)
            for row in response.results
        }

    results = yield from fan_out(session, wanted, route=Controller(), ask=ask, read=read)
    if wait and not validate_only and results.succeeded:
        late = yield from wait_served(session, results.succeeded)
        return Results({name: late.get(name) or results.error(name) or results[name] for name in results})
    return results


# ---- list and describe ----


def list_topics(session: Session, *, include_internal: bool) -> Operation[dict[str, TopicListing]]:
    """All topics we may see."""
    topics = yield from fetch_topics(session, None)
    return {
        name: TopicListing(name, _topic_id(topics[name].topic_id), topics[name].is_internal)
        for name in sorted(topics)
        if include_internal or not topics[name].is_internal
    }


def describe_topics(
    session: Session, topics: Iterable[str | UUID], *, include_authorized_operations: bool
) -> Operation[Results[str | UUID, TopicDescription]]:
    """Topics by name (in pages where the broker can) or by id."""
    wanted = list(dict.fromkeys(topics))
    names = [item for item in wanted if isinstance(item, str)]
    ids = [item for item in wanted if isinstance(item, UUID)]
    found: dict[str | UUID, TopicDescription | KafkaError] = {}
    if names and not include_authorized_operations:
        try:
            found.update((yield from _describe_paged(session, names)))
            names = []
        except UnsupportedVersion:
            pass
    rest: list[str | UUID] = [*names, *ids]
    if rest:
        results = yield from _describe_by_metadata(session, rest, include_authorized_operations)
        found.update({item: results.error(item) or results[item] for item in results})
    return Results({item: found[item] for item in wanted})


def _describe_paged(session: Session, names: list[str]) -> Operation[dict[str, TopicDescription | KafkaError]]:
    """DescribeTopicPartitions: the broker answers in order of the names, so many partitions at a time (KIP-966)."""
    rows: dict[str, Any] = {}
    partitions: dict[str, list[Any]] = {}
    left, cursor = sorted(names), None
    sent: list[Request[DescribeTopicPartitionsResponse]] = []

    def ask(node_id: int | None, message: DescribeTopicPartitionsRequest) -> Request[DescribeTopicPartitionsResponse]:
        sent.append(Request(message, node_id=node_id))
        return sent[-1]

    while True:
        message = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in left],
            response_partition_limit=PAGE_PARTITIONS,
            cursor=cursor,
        )
        response: DescribeTopicPartitionsResponse = yield from ask_once(
            session, functools.partial(ask, message=message), lambda response: response
        )
        for topic in response.topics:
            if topic.name is not None:
                rows[topic.name] = topic
                partitions.setdefault(topic.name, []).extend(topic.partitions)
        following = response.next_cursor
        if following is None:
            break
        reached = (following.topic_name, following.partition_index)
        if cursor is not None and reached <= (cursor.topic_name, cursor.partition_index):
            break  # A page that does not move on would be asked for for ever.
        left = [name for name in left if name >= following.topic_name]
        cursor = RequestCursor(topic_name=following.topic_name, partition_index=following.partition_index)
    brokers = session.office.metadata.cluster.brokers
    return {
        name: session.named(
            outcome_of(row.error_code, _described(row, partitions[name], brokers), topic=name), sent[-1]
        )
        for name, row in rows.items()
    }


def _describe_by_metadata(
    session: Session, items: list[str | UUID], include_authorized_operations: bool
) -> Operation[Results[str | UUID, TopicDescription]]:
    def ask(keys: list[str | UUID], node_id: int | None) -> Request[MetadataResponse]:
        def build(version: int) -> MetadataRequest:
            message = MetadataRequest(
                topics=[
                    MetadataRequestTopic(topic_id=key, name=None)
                    if isinstance(key, UUID)
                    else MetadataRequestTopic(name=key)
                    for key in keys
                ]
            )
            if version >= 4:
                message.allow_auto_topic_creation = False
            if version >= 8:
                message.include_topic_authorized_operations = include_authorized_operations
            return message

        by_id = any(isinstance(key, UUID) for key in keys)
        version_min = 12 if by_id else 8 if include_authorized_operations else 0
        return Request(api_key=ApiKey.METADATA, build=build, node_id=node_id, version_min=version_min)

    def read(response: MetadataResponse, keys: list[str | UUID]) -> dict[str | UUID, TopicDescription | KafkaError]:
        check(response.error_code)
        brokers = {row.node_id: Node(row.node_id, row.host, row.port, row.rack) for row in response.brokers}
        found: dict[str | UUID, TopicDescription | KafkaError] = {}
        for row in response.topics:
            outcome = outcome_of(row.error_code, _described(row, row.partitions, brokers), topic=row.name)
            for key in (row.name, row.topic_id):
                if key is not None and key in keys:
                    found[key] = outcome
        return found

    return (yield from fan_out(session, items, route=AnyBroker(), ask=ask, read=read))


def _described(row: Any, partitions: Sequence[Any], brokers: Mapping[int, Node]) -> TopicDescription:
    return TopicDescription(
        row.name or "",
        _topic_id(row.topic_id),
        row.is_internal,
        tuple(
            PartitionDescription(
                each.partition_index,
                brokers.get(each.leader_id),
                each.leader_epoch,
                tuple(each.replica_nodes),
                tuple(each.isr_nodes),
                tuple(each.offline_replicas),
                tuple(getattr(each, "eligible_leader_replicas", None) or ()),
                tuple(getattr(each, "last_known_elr", None) or ()),
            )
            for each in sorted(partitions, key=lambda each: each.partition_index)
        ),
        operations_in(row.topic_authorized_operations),
    )
