"""Committed offsets: what a group has written down at its coordinator, and writing it down.

Operations on the reactor thread. Every error is retried until the caller's time is up, or ends in a typed error that
names the partition. Must never commit for a group whose member this consumer is not: whoever took over may be further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from pykclient.client.coordinators import CoordinatorKind, Coordinators
from pykclient.client.engine import Operation, call, now, sleep
from pykclient.client.metadata import MetadataManager
from pykclient.consumer.subscription import Subscription, SubscriptionKind
from pykclient.errors import (
    Action,
    BrokerError,
    CommitFailed,
    FencedInstanceId,
    FencedMemberEpoch,
    IllegalGeneration,
    KafkaConnectionError,
    KafkaTimeoutError,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMemberId,
    UnknownTopicOrPartition,
    error_for_code,
)
from pykclient.net.client_request import Channel, Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from pykclient.types import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

T = TypeVar("T")
# The topic may have been made a moment ago, and its coordinator not have heard of it; after this it is gone. Java goes
# on until the call is out of time, and says only that.
UNKNOWN_TOPIC_PATIENCE_S = 3.0

# These say that we are not, or no longer, the member we think we are: the membership must hear of it.
LOST_MEMBERSHIP = (
    UnknownMemberId, IllegalGeneration, FencedInstanceId, FencedMemberEpoch, StaleMemberEpoch, RebalanceInProgress,
)  # fmt: skip
# Brokers answer these requests at once, so silence means that something is broken. It grows with every attempt, up to
# request_timeout_ms, for a broker that is merely slow.
ANSWER_PATIENCE_S = 5.0


Failure = tuple[int, dict[str, Any]]
"""A code (0: none) and what belongs into the error."""
NO_FAILURE: Failure = (0, {})


@dataclass(frozen=True, slots=True)
class Retries:
    """How long to wait for an answer, and between two attempts."""

    backoff_s: float
    backoff_max_s: float
    request_timeout_s: float

    def patience_s(self, attempts: int) -> float:
        """For this attempt."""
        return min(ANSWER_PATIENCE_S * 2.0 ** min(attempts, 16), self.request_timeout_s)

    def pause_s(self, attempts: int) -> float:
        """Before the next one."""
        return min(self.backoff_s * 2.0 ** min(attempts, 16), self.backoff_max_s)


class CommittedOffsets:
    """Commits and fetches for one group."""

    def __init__(
        self,
        group_id: str | None,
        subscription: Subscription,
        metadata: MetadataManager,
        coordinators: Coordinators,
        retries: Retries,
        *,
        identity: Callable[[], ConsumerGroupMetadata],
        lost_membership: Callable[[BaseException], None],
    ) -> None:
        self._group_id = group_id
        self._subscription = subscription
        self._metadata = metadata
        self._coordinators = coordinators
        self._retries = retries
        self._identity = identity
        self._lost_membership = lost_membership
        self.on_commit: Callable[[Mapping[TopicPartition, OffsetAndMetadata]], None] | None = None
        """Told of every commit that succeeded. Reactor thread."""

    def fetch_committed(
        self, partitions: Iterable[TopicPartition]
    ) -> Operation[dict[TopicPartition, OffsetAndMetadata]]:
        """What the group committed; partitions without are left out. Waits for open transactions to end
        (require_stable)."""
        wanted = list(partitions)
        identity = self._identity()
        by_id = all(self._metadata.cluster.topic_id(tp.topic) is not None for tp in wanted)
        rows = _rows(wanted)

        def build(version: int) -> OffsetFetchRequest:
            if version < 8:
                topics = [
                    OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in rows.items()
                ]
                return OffsetFetchRequest(group_id=identity.group_id, topics=topics, require_stable=version >= 7)
            group = OffsetFetchRequestGroup(
                group_id=identity.group_id,
                topics=[
                    OffsetFetchRequestTopics(
                        name=name,
                        topic_id=self._metadata.cluster.topic_id(name) or UUID(int=0),
                        partition_indexes=indexes,
                    )
                    for name, indexes in rows.items()
                ],
            )
            # Who is no member may ask as well, as anybody.
            if version >= 9 and identity.member_id and identity.generation_id >= 0:
                group.member_id, group.member_epoch = identity.member_id, identity.generation_id
            return OffsetFetchRequest(groups=[group], require_stable=True)

        try:
            response = yield from self._ask_coordinator(
                lambda node, timeout_s: Request[OffsetFetchResponse](
                    api_key=ApiKey.OFFSET_FETCH,
                    build=build,
                    node_id=node,
                    channel=Channel.COORDINATOR,
                    version_max=10 if by_id else 9,
                    timeout_s=timeout_s,
                ),
                self._fetch_failure,
            )
        except LOST_MEMBERSHIP as error:
            self._lost_membership(error)
            raise
        return self._committed_in(response)

    def _committed_in(self, response: OffsetFetchResponse) -> dict[TopicPartition, OffsetAndMetadata]:
        committed = {}
        topics = response.groups[0].topics if response.groups else response.topics
        for topic in topics:
            name = topic.name or self._metadata.cluster.topic_name(getattr(topic, "topic_id", UUID(int=0))) or ""
            for row in topic.partitions:
                if row.committed_offset >= 0:
                    epoch = row.committed_leader_epoch if row.committed_leader_epoch >= 0 else None
                    committed[TopicPartition(name, row.partition_index)] = OffsetAndMetadata(
                        row.committed_offset, row.metadata or "", epoch
                    )
        return committed

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> Operation[None]:
        """Commit for the group. Retries what can be retried; CommitFailed when the group has moved on."""
        if not offsets:
            return
        identity = self._identity()
        if identity.generation_id < 0 and self._subscription.kind not in (
            SubscriptionKind.NONE,
            SubscriptionKind.ASSIGNED,
        ):
            # The broker would take it from nobody in particular when the group is empty just now, and so undo what
            # members that came and went in between have committed.
            raise CommitFailed(
                "this consumer is not a member of its group now, so nothing was committed; the partitions may belong "
                "to others. Poll again to rejoin; if handlers take long, raise max_poll_interval_ms",
                group_id=identity.group_id,
            )
        cluster = self._metadata.cluster
        by_id = all(cluster.topic_id(tp.topic) is not None for tp in offsets)
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for tp, offset in offsets.items():
            topics.setdefault(
                tp.topic, OffsetCommitRequestTopic(name=tp.topic, topic_id=cluster.topic_id(tp.topic) or UUID(int=0))
            ).partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=tp.partition,
                    committed_offset=offset.offset,
                    committed_leader_epoch=-1 if offset.leader_epoch is None else offset.leader_epoch,
                    committed_metadata=offset.metadata,
                )
            )

        def build(version: int) -> OffsetCommitRequest:
            request = OffsetCommitRequest(
                group_id=identity.group_id,
                generation_id_or_member_epoch=identity.generation_id,
                member_id=identity.member_id,
                topics=list(topics.values()),
            )
            if version >= 7:
                request.group_instance_id = identity.group_instance_id
            return request

        try:
            yield from self._ask_coordinator(
                lambda node, timeout_s: Request[OffsetCommitResponse](
                    api_key=ApiKey.OFFSET_COMMIT,
                    build=build,
                    node_id=node,
                    channel=Channel.COORDINATOR,
                    version_max=10 if by_id else 9,
                    timeout_s=timeout_s,
                ),
                lambda response: self._first_failure(response.topics),
            )
        except LOST_MEMBERSHIP as error:
            self._lost_membership(error)
            raise CommitFailed(
                f"the group moved on before the commit ({error}); the partitions may belong to others now. "
                "Poll again to rejoin; if handlers take long, raise max_poll_interval_ms or lower max_poll_records",
                group_id=identity.group_id,
            ) from error
        if self.on_commit is not None:
            self.on_commit(offsets)

    def _ask_coordinator(
        self, request: Callable[[int, float], Request[T]], failure: Callable[[T], Failure]
    ) -> Operation[T]:
        """Until the coordinator answers for good; the caller's time-out ends it otherwise."""
        group_id = self._group_id
        assert group_id is not None, "only groups have a coordinator"
        attempts, unknown_since = 0, None
        while True:
            try:
                node = yield from self._coordinators.find(CoordinatorKind.GROUP, group_id)
                asked = request(node, self._retries.patience_s(attempts))
                response = yield from call(asked)
                code, context = failure(response)
                if code == 0:
                    return response
                raise error_for_code(code)(group_id=group_id, node=asked.address, **context)
            except (KafkaConnectionError, KafkaTimeoutError):
                self._coordinators.forget(CoordinatorKind.GROUP, group_id)
            except BrokerError as error:
                if not error.retriable or isinstance(error, LOST_MEMBERSHIP):
                    raise
                if isinstance(error, UnknownTopicOrPartition):
                    at = yield from now()
                    unknown_since = at if unknown_since is None else unknown_since
                    if at - unknown_since >= UNKNOWN_TOPIC_PATIENCE_S:
                        raise
                if error.action is Action.FIND_COORDINATOR:
                    self._coordinators.forget(CoordinatorKind.GROUP, group_id)
                elif error.action is Action.REFRESH_METADATA:
                    self._metadata.request_update()
            yield from sleep(self._retries.pause_s(attempts))
            attempts += 1

    def _first_failure(self, topics: Iterable[Any]) -> Failure:
        """The first partition that was refused: the code, and which it is."""
        for topic in topics:
            for partition in topic.partitions:
                if partition.error_code:
                    name = topic.name or self._metadata.cluster.topic_name(topic.topic_id)
                    return partition.error_code, {"topic": name, "partition": partition.partition_index}
        return NO_FAILURE

    def _fetch_failure(self, response: OffsetFetchResponse) -> Failure:
        answer = response.groups[0] if response.groups else response
        return (answer.error_code, {}) if answer.error_code else self._first_failure(answer.topics)


def _rows(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for topic, partition in partitions:
        rows.setdefault(topic, []).append(partition)
    return rows


__all__ = ["LOST_MEMBERSHIP", "CommittedOffsets", "Retries"]
