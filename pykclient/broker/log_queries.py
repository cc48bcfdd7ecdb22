"""Questions about logs, and one order: ListOffsets, OffsetForLeaderEpoch, DescribeProducers, DescribeLogDirs,
DeleteRecords.

Owned by the broker node's thread; everything here is answered at once. It must never tell about a topic what the asker
may not know.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pykclient.broker.authorizer import CLUSTER_NAME, Operation, ResourceType
from pykclient.broker.log import Isolation
from pykclient.broker.partition import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    MAX_TIMESTAMP,
    error_code_of,
)
from pykclient.broker.produce import ADMIN_CLIENT_ID, INTERNAL_TOPICS
from pykclient.broker.request import RequestContext
from pykclient.errors import (
    BrokerError,
    ErrorCode,
    InvalidRequest,
    InvalidTopicException,
    PolicyViolation,
    TopicAuthorizationFailed,
    UnsupportedVersion,
)
from pykclient.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from pykclient.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from pykclient.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from pykclient.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykclient.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from pykclient.types import TopicPartition

if TYPE_CHECKING:
    from pykclient.broker.replica_manager import ReplicaManager

# The special timestamps and the ListOffsets version that brought each of them.
_TIMESTAMP_FROM_VERSION = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}


class LogQueries:
    """These APIs of one broker."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    def list_offsets(self, context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """Offsets by time."""
        counts = Counter((topic.name, asked.partition_index) for topic in request.topics for asked in topic.partitions)
        isolation = Isolation.READ_COMMITTED if request.isolation_level == 1 else Isolation.READ_UNCOMMITTED
        response = ListOffsetsResponse(topics=[])
        for topic in request.topics:
            allowed = self._replicas.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
            partitions = []
            for asked in topic.partitions:
                try:
                    if not allowed:
                        raise TopicAuthorizationFailed()
                    if counts[topic.name, asked.partition_index] > 1:
                        raise InvalidRequest("The partition is asked for twice")
                    partitions.append(self._offset_of(context, topic.name, asked, isolation))
                except BrokerError as error:
                    partitions.append(
                        ListOffsetsPartitionResponse(
                            partition_index=asked.partition_index,
                            error_code=error_code_of(error),
                            timestamp=-1,
                            offset=-1,
                            leader_epoch=-1,
                        )
                    )
            response.topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
        return response

    def _offset_of(
        self, context: RequestContext, topic: str, asked: ListOffsetsPartition, isolation: Isolation
    ) -> ListOffsetsPartitionResponse:
        if asked.timestamp < 0 and context.api_version < _TIMESTAMP_FROM_VERSION.get(asked.timestamp, 0):
            raise UnsupportedVersion(f"Timestamp {asked.timestamp} is unknown to version {context.api_version}")
        if asked.timestamp < EARLIEST_PENDING_UPLOAD_TIMESTAMP:
            raise UnsupportedVersion(f"Timestamp {asked.timestamp} has no meaning")
        partition = self._replicas.hosted(TopicPartition(topic, asked.partition_index))
        found = partition.find_offset(
            asked.timestamp, isolation=isolation, current_leader_epoch=asked.current_leader_epoch
        )
        return ListOffsetsPartitionResponse(
            partition_index=asked.partition_index,
            timestamp=found.timestamp,
            offset=found.offset,
            # Older versions have no place for it.
            leader_epoch=found.leader_epoch if context.api_version >= 4 else -1,
        )

    def offset_for_leader_epoch(
        self, context: RequestContext, request: OffsetForLeaderEpochRequest
    ) -> OffsetForLeaderEpochResponse:
        """Where epochs ended, for consumers and followers that want to know whether they read what still stands."""
        everywhere = self._replicas.allows(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)
        response = OffsetForLeaderEpochResponse(topics=[])
        for topic in request.topics:
            allowed = everywhere or self._replicas.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.topic)
            results = [self._epoch_end(topic.topic, asked, allowed) for asked in topic.partitions]
            response.topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=results))
        return response

    def _epoch_end(self, topic: str, asked: OffsetForLeaderPartition, allowed: bool) -> EpochEndOffset:
        result = EpochEndOffset(partition=asked.partition, leader_epoch=-1, end_offset=-1)
        try:
            if not allowed:
                raise TopicAuthorizationFailed()
            partition = self._replicas.hosted(TopicPartition(topic, asked.partition))
            end = partition.end_of_epoch(asked.leader_epoch, current_leader_epoch=asked.current_leader_epoch)
            result.leader_epoch, result.end_offset = end.epoch, end.start_offset
        except BrokerError as error:
            result.error_code = error_code_of(error)
        return result

    def delete_records(self, context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
        """Move log starts forward. There is one replica of everything, so the low watermark is the log start itself."""
        response = DeleteRecordsResponse(topics=[])
        for topic in request.topics:
            allowed = self._replicas.allows(context, Operation.DELETE, ResourceType.TOPIC, topic.name)
            partitions = [self._delete(context, topic.name, asked, allowed) for asked in topic.partitions]
            response.topics.append(DeleteRecordsTopicResult(name=topic.name, partitions=partitions))
        self._replicas.checkpoint_log_starts()
        return response

    def _delete(
        self, context: RequestContext, topic: str, asked: DeleteRecordsPartition, allowed: bool
    ) -> DeleteRecordsPartitionResult:
        result = DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=-1)
        try:
            if not allowed:
                raise TopicAuthorizationFailed()
            if topic in INTERNAL_TOPICS and context.client_id != ADMIN_CLIENT_ID:
                raise InvalidTopicException(f"Cannot delete records of internal topic {topic}")
            partition = self._replicas.hosted(TopicPartition(topic, asked.partition_index))
            partition.check_epoch(-1)
            if not partition.log.config.delete:
                raise PolicyViolation(f"Records of {topic} can only be deleted when cleanup.policy has delete")
            result.low_watermark = partition.log.delete_records_before(asked.offset)
            self._replicas.changed(partition)
        except BrokerError as error:
            result.error_code = error_code_of(error)
        return result

    def describe_producers(
        self, context: RequestContext, request: DescribeProducersRequest
    ) -> DescribeProducersResponse:
        """The producers that partitions remember."""
        response = DescribeProducersResponse(topics=[])
        for topic in request.topics:
            allowed = self._replicas.allows(context, Operation.READ, ResourceType.TOPIC, topic.name)
            partitions = [self._producers(topic.name, index, allowed) for index in topic.partition_indexes]
            response.topics.append(TopicResponse(name=topic.name, partitions=partitions))
        return response

    def _producers(self, topic: str, index: int, allowed: bool) -> PartitionResponse:
        response = PartitionResponse(partition_index=index, active_producers=[])
        try:
            if not allowed:
                raise TopicAuthorizationFailed()
            partition = self._replicas.hosted(TopicPartition(topic, index))
            partition.check_epoch(-1)
        except BrokerError as error:
            response.error_code, response.error_message = error_code_of(error), error.message
            return response
        for entry in partition.log.producers.entries.values():
            response.active_producers.append(
                ProducerState(
                    producer_id=entry.producer_id,
                    producer_epoch=entry.epoch,
                    last_sequence=entry.last_sequence,
                    last_timestamp=entry.last_timestamp,
                    coordinator_epoch=entry.coordinator_epoch,
                    current_txn_start_offset=-1
                    if entry.transaction_first_offset is None
                    else entry.transaction_first_offset,
                )
            )
        return response

    def describe_log_dirs(self, context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
        """Sizes of the logs, and of the volume they are on."""
        if not self._replicas.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
            return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, results=[])
        wanted = None
        if request.topics is not None:
            wanted = {TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions}
        topics: dict[str, DescribeLogDirsTopic] = {}
        for partition in self._replicas.partitions():
            name, index = partition.key
            if wanted is not None and partition.key not in wanted:
                continue
            topic = topics.setdefault(name, DescribeLogDirsTopic(name=name, partitions=[]))
            lag = max(0, partition.log.high_watermark - partition.log.log_end_offset)
            topic.partitions.append(DescribeLogDirsPartition(index, partition.log.size, lag, False))
        total, usable = self._replicas.storage.space()
        result = DescribeLogDirsResult(
            log_dir=self._replicas.storage.path,
            topics=list(topics.values()),
            total_bytes=total,
            usable_bytes=usable,
        )
        return DescribeLogDirsResponse(results=[result])


__all__ = ["LogQueries"]
