"""OffsetCommit, OffsetFetch, OffsetDelete and TxnOffsetCommit as requests: rights, topic ids, unknown topics, many
groups in one.

What the caller may not do or what doesn't exist is answered here, the rest goes to the group's shard, and both
answers are put together. Runs on the node's thread; never blocks.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pykclient.broker.authorizer import Operation, ResourceType
from pykclient.broker.group_access import (
    GROUP_TOPIC,
    GroupAccess,
    VerifyTransaction,
    code_of,
    converted,
    gathered,
    not_expected,
    refuse,
)
from pykclient.broker.group_topics import ZERO_UUID
from pykclient.broker.request import RequestContext
from pykclient.errors import ErrorCode, GroupAuthorizationFailed, TransactionalIdAuthorizationFailed, error_for_code
from pykclient.net.completion import Completion
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykclient.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from pykclient.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from pykclient.types import TopicPartition

FETCH_IN_BATCHES_VERSION = 8
TOPIC_IDS_VERSION = 10
TXN_ADDS_PARTITION_VERSION = 5

T = TypeVar("T")


class OffsetRequests:
    """See the module text."""

    def __init__(self, access: GroupAccess, verify: VerifyTransaction | None) -> None:
        self._access = access
        self._verify = verify

    def _topic_error(self, context: RequestContext, name: str, operation: Operation) -> ErrorCode:
        if not self._access.allows_topic(context, operation, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if self._access.catalog.topic(name) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NONE

    def _split(self, topic: Any, code: ErrorCode) -> tuple[list[Any], dict[int, ErrorCode]]:
        """The partitions of a request's topic that exist, and codes for the others (``code`` for all, if it is one)."""
        found = self._access.catalog.topic(topic.name)
        accepted, refused = [], {}
        for partition in topic.partitions:
            index = partition.partition_index
            if code:
                refused[index] = code
            elif found is None or not 0 <= index < found.partition_count:
                refused[index] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                accepted.append(partition)
        return accepted, refused

    # OffsetCommit

    def commit(self, context: RequestContext, request: OffsetCommitRequest) -> Completion[OffsetCommitResponse]:
        """Versions 2-10."""
        if not self._access.allows_group(context, Operation.READ, request.group_id):
            return Completion.of(refuse(context, request, GroupAuthorizationFailed(request.group_id)))
        refused: list[OffsetCommitResponseTopic] = []
        accepted: list[OffsetCommitRequestTopic] = []
        for topic in request.topics:
            good, bad = self._split(topic, self._resolve(context, topic))
            if bad:
                partitions = [
                    OffsetCommitResponsePartition(partition_index=index, error_code=code) for index, code in bad.items()
                ]
                answer = OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
                refused.append(answer)
            if good:
                named = OffsetCommitRequestTopic(name=topic.name, topic_id=topic.topic_id, partitions=good)
                accepted.append(named)
        if not accepted and refused:
            return Completion.of(OffsetCommitResponse(topics=refused))
        ours = OffsetCommitRequest(
            group_id=request.group_id,
            generation_id_or_member_epoch=request.generation_id_or_member_epoch,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            retention_time_ms=request.retention_time_ms,
            topics=accepted,
        )
        reply = self._access.run(
            context,
            request.group_id,
            lambda shard: shard.commit_offsets(ours, context.api_version, context.wall_ms),
        )

        def finish(response: OffsetCommitResponse) -> OffsetCommitResponse:
            _add(response.topics, refused)
            return response

        return converted(reply, finish, lambda error: finish(refuse(context, ours, error)))

    def _resolve(self, context: RequestContext, topic: OffsetCommitRequestTopic) -> ErrorCode:
        """Fill in the topic's name or id, whichever the request left out."""
        if context.api_version >= TOPIC_IDS_VERSION:
            found = self._access.catalog.topic_by_id(topic.topic_id)
            if found is None:
                return ErrorCode.UNKNOWN_TOPIC_ID
            topic.name = found.name
            return self._topic_error(context, topic.name, Operation.READ)
        code = self._topic_error(context, topic.name, Operation.READ)
        if not code:
            named = self._access.catalog.topic(topic.name)
            topic.topic_id = named.topic_id if named is not None else ZERO_UUID
        return code

    # TxnOffsetCommit

    def commit_transactional(
        self, context: RequestContext, request: TxnOffsetCommitRequest
    ) -> Completion[TxnOffsetCommitResponse]:
        """Versions 0-5; version 5 adds the group's partition to the transaction by itself (KIP-890)."""

        def failed(error: BaseException) -> TxnOffsetCommitResponse:
            response = refuse(context, ours, error)
            _add(response.topics, refused)
            assert isinstance(response, TxnOffsetCommitResponse)
            return response

        ours = request
        refused: list[TxnOffsetCommitResponseTopic] = []
        if not self._access.allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
            return Completion.of(failed(TransactionalIdAuthorizationFailed(request.transactional_id)))
        if not self._access.allows_group(context, Operation.READ, request.group_id):
            return Completion.of(failed(GroupAuthorizationFailed(request.group_id)))
        ours, refused = self._split_transactional(context, request)
        if not ours.topics and refused:
            return Completion.of(TxnOffsetCommitResponse(topics=refused))
        where = TopicPartition(GROUP_TOPIC, self._access.partition_for(request.group_id))
        result: Completion[TxnOffsetCommitResponse] = Completion()

        def write() -> None:
            reply = self._access.run(
                context,
                request.group_id,
                lambda shard: shard.commit_transactional_offsets(ours, context.api_version, context.wall_ms),
                producer_id=request.producer_id,
                producer_epoch=request.producer_epoch,
            )

            def finish(response: TxnOffsetCommitResponse) -> TxnOffsetCommitResponse:
                _add(response.topics, refused)
                return response

            _pass_on(converted(reply, finish, failed), result)

        def verified(codes: Completion[dict[TopicPartition, ErrorCode]]) -> None:
            if codes.error is not None:
                result.fail(codes.error)
            elif codes.result()[where]:
                result.succeed(failed(error_for_code(codes.result()[where])()))
            else:
                write()

        if self._verify is None:
            write()
        else:
            self._verify(
                context,
                request.transactional_id,
                request.producer_id,
                request.producer_epoch,
                [where],
                supports_v2=context.api_version >= TXN_ADDS_PARTITION_VERSION,
            ).add_callback(verified)
        return result

    def _split_transactional(
        self, context: RequestContext, request: TxnOffsetCommitRequest
    ) -> tuple[TxnOffsetCommitRequest, list[TxnOffsetCommitResponseTopic]]:
        refused, accepted = [], []
        for topic in request.topics:
            good, bad = self._split(topic, self._topic_error(context, topic.name, Operation.READ))
            if bad:
                partitions = [
                    TxnOffsetCommitResponsePartition(partition_index=index, error_code=code)
                    for index, code in bad.items()
                ]
                refused.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=partitions))
            if good:
                accepted.append(TxnOffsetCommitRequestTopic(name=topic.name, partitions=good))
        ours = TxnOffsetCommitRequest(
            transactional_id=request.transactional_id,
            group_id=request.group_id,
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
            generation_id=request.generation_id,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            topics=accepted,
        )
        return ours, refused

    # OffsetFetch

    def fetch(self, context: RequestContext, request: OffsetFetchRequest) -> Completion[OffsetFetchResponse]:
        """Versions 1-10; before version 8 it asks about one group."""
        if context.api_version >= FETCH_IN_BATCHES_VERSION:
            parts = [self._fetch_group(context, group, request.require_stable) for group in request.groups]
            return converted(gathered(parts), lambda groups: OffsetFetchResponse(groups=groups), not_expected)
        topics = None
        if request.topics is not None:
            topics = [
                OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
                for topic in request.topics
            ]
        group = OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)
        reply = self._fetch_group(context, group, request.require_stable)
        return converted(reply, lambda answer: _single(answer, request, context.api_version), not_expected)

    def _fetch_group(
        self, context: RequestContext, group: OffsetFetchRequestGroup, require_stable: bool
    ) -> Completion[OffsetFetchResponseGroup]:
        def failed(error: BaseException) -> OffsetFetchResponseGroup:
            return OffsetFetchResponseGroup(group_id=group.group_id, error_code=code_of(error))

        if not self._access.allows_group(context, Operation.DESCRIBE, group.group_id):
            return Completion.of(failed(GroupAuthorizationFailed(group.group_id)))
        refused: list[OffsetFetchResponseTopics] = []
        asked = group
        if group.topics is not None:
            accepted = []
            for topic in group.topics:
                code = self._resolve_fetch(context, topic)
                if code:
                    partitions = [_no_offset(index, code) for index in topic.partition_indexes]
                    refused.append(
                        OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
                    )
                else:
                    accepted.append(topic)
            asked = OffsetFetchRequestGroup(
                group_id=group.group_id, member_id=group.member_id, member_epoch=group.member_epoch, topics=accepted
            )

        def finish(answer: OffsetFetchResponseGroup) -> OffsetFetchResponseGroup:
            if group.topics is None:
                answer.topics = [topic for topic in answer.topics if self._may_show(context, topic)]
            answer.topics += refused
            return answer

        reply = self._access.run(
            context, group.group_id, lambda shard: shard.fetch_offsets(asked, require_stable=require_stable)
        )
        return converted(reply, finish, failed)

    def _resolve_fetch(self, context: RequestContext, topic: OffsetFetchRequestTopics) -> ErrorCode:
        if context.api_version >= TOPIC_IDS_VERSION:
            found = self._access.catalog.topic_by_id(topic.topic_id)
            if found is None:
                return ErrorCode.UNKNOWN_TOPIC_ID
            topic.name = found.name
        if not self._access.allows_topic(context, Operation.DESCRIBE, topic.name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return ErrorCode.NONE

    def _may_show(self, context: RequestContext, topic: OffsetFetchResponseTopics) -> bool:
        """When all offsets are asked for: topics that the caller may see, with an id where one must be told."""
        if context.api_version >= TOPIC_IDS_VERSION:
            found = self._access.catalog.topic(topic.name)
            if found is None:
                return False
            topic.topic_id = found.topic_id
        return self._access.allows_topic(context, Operation.DESCRIBE, topic.name)

    # OffsetDelete

    def delete(self, context: RequestContext, request: OffsetDeleteRequest) -> Completion[OffsetDeleteResponse]:
        """Version 0."""

        def failed(error: BaseException) -> OffsetDeleteResponse:
            return OffsetDeleteResponse(error_code=code_of(error))

        if not self._access.allows_group(context, Operation.DELETE, request.group_id):
            return Completion.of(failed(GroupAuthorizationFailed(request.group_id)))
        refused, accepted = [], []
        for topic in request.topics:
            good, bad = self._split(topic, self._topic_error(context, topic.name, Operation.READ))
            if bad:
                partitions = [
                    OffsetDeleteResponsePartition(partition_index=index, error_code=code) for index, code in bad.items()
                ]
                refused.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
            if good:
                accepted.append(OffsetDeleteRequestTopic(name=topic.name, partitions=good))
        ours = OffsetDeleteRequest(group_id=request.group_id, topics=accepted)

        def finish(response: OffsetDeleteResponse) -> OffsetDeleteResponse:
            _add(response.topics, refused)
            return response

        reply = self._access.run(context, request.group_id, lambda shard: shard.delete_offsets(ours))
        return converted(reply, finish, failed)


def _add(answered: list[Any], refused: list[Any]) -> None:
    """Put the refused partitions with the answered ones, each topic once."""
    by_name = {topic.name: topic for topic in answered}
    for topic in refused:
        if topic.name and topic.name in by_name:
            by_name[topic.name].partitions.extend(topic.partitions)
        else:
            answered.append(topic)


def _no_offset(index: int, code: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=-1, committed_leader_epoch=-1, metadata="", error_code=code
    )


def _single(answer: OffsetFetchResponseGroup, request: OffsetFetchRequest, version: int) -> OffsetFetchResponse:
    """The answer of one group in the form of the versions before 8."""
    topics = [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=partition.partition_index,
                    committed_offset=partition.committed_offset,
                    committed_leader_epoch=partition.committed_leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
                for partition in topic.partitions
            ],
        )
        for topic in answer.topics
    ]
    if answer.error_code and version < 2:
        # Version 1 can say an error only at the partitions.
        topics = [
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=-1, metadata="", error_code=answer.error_code
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ]
    return OffsetFetchResponse(topics=topics, error_code=answer.error_code)


def _pass_on(source: Completion[T], target: Completion[T]) -> None:
    def done(finished: Completion[T]) -> None:
        if finished.error is not None:
            target.fail(finished.error)
        else:
            target.succeed(finished.result())

    source.add_callback(done)
