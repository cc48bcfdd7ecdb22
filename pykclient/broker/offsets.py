"""Committed offsets of the groups in one shard: OffsetCommit, OffsetFetch, OffsetDelete, TxnOffsetCommit, and their
expiry.

An offset committed in a transaction stays aside until the transaction's marker is in the log; a reader that wants
stable offsets is told UNSTABLE_OFFSET_COMMIT meanwhile. State changes in ``replay`` and ``end_transaction`` only.
Runs on the node's thread; never reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from pykclient.broker.coordinator import CoordinatorRecord, Position
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.group_records import (
    OFFSET_COMMIT_VALUE_VERSION,
    OFFSET_COMMIT_VALUE_WITH_EXPIRY_VERSION,
    record,
)
from pykclient.broker.group_topics import ZERO_UUID
from pykclient.errors import ErrorCode
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykclient.protocol.messages.offset_commit_key import OffsetCommitKey
from pykclient.protocol.messages.offset_commit_value import OffsetCommitValue
from pykclient.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from pykclient.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

NO_OFFSET = -1
NO_EPOCH = -1

TopicIndex = tuple[str, int]
CheckPartition = Callable[[str, UUID, int], None]
"""Raises when this member may not commit for the partition (an older epoch than the one it was assigned at)."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """One committed position. ``sequence`` orders it against others of the shard, live and at load alike."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int | None
    topic_id: UUID
    sequence: int = -1


class ExpiringGroup(Protocol):
    """What expiry asks of a group."""

    def offset_expiry_base_ms(self, commit_ms: int) -> int | None:
        """From when the retention counts; None while nothing may expire."""
        ...

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a topic is in use."""
        ...


class Offsets:
    """See the module text."""

    def __init__(self, config: GroupConfig) -> None:
        self._config = config
        self.committed: dict[str, dict[TopicIndex, CommittedOffset]] = {}
        self.pending: dict[int, dict[tuple[str, str, int], CommittedOffset]] = {}
        """By producer id: what its open transaction would commit."""
        self._open: dict[str, dict[TopicIndex, set[int]]] = {}

    # Questions

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The committed offset."""
        return self.committed.get(group_id, {}).get((topic, partition))

    def has_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction would change it."""
        return (topic, partition) in self._open.get(group_id, {})

    # OffsetCommit and TxnOffsetCommit

    def commit(
        self, request: OffsetCommitRequest, check: CheckPartition | None, wall_ms: int
    ) -> tuple[list[CoordinatorRecord], OffsetCommitResponse]:
        """The records and the answer; topics are named here (the caller has resolved topic ids)."""
        expire_ms = None if request.retention_time_ms == -1 else wall_ms + request.retention_time_ms
        records: list[CoordinatorRecord] = []
        topics = []
        for topic in request.topics:
            answers = []
            for partition in topic.partitions:
                code = ErrorCode.NONE
                if self._is_too_large(partition.committed_metadata):
                    code = ErrorCode.OFFSET_METADATA_TOO_LARGE
                else:
                    if check is not None:
                        check(topic.name, topic.topic_id, partition.partition_index)
                    offset = CommittedOffset(
                        offset=partition.committed_offset,
                        leader_epoch=partition.committed_leader_epoch,
                        metadata=partition.committed_metadata or "",
                        commit_ms=wall_ms,
                        expire_ms=expire_ms,
                        topic_id=topic.topic_id,
                    )
                    records.append(offset_record(request.group_id, topic.name, partition.partition_index, offset))
                answers.append(
                    OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
                )
            topics.append(OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=answers))
        return records, OffsetCommitResponse(topics=topics)

    def commit_transactional(
        self,
        request: TxnOffsetCommitRequest,
        check: CheckPartition | None,
        topic_id: Callable[[str], UUID],
        wall_ms: int,
    ) -> tuple[list[CoordinatorRecord], TxnOffsetCommitResponse]:
        """As ``commit``; the caller writes the records with the producer's id."""
        records: list[CoordinatorRecord] = []
        topics = []
        for topic in request.topics:
            answers = []
            resolved = topic_id(topic.name)
            for partition in topic.partitions:
                code = ErrorCode.NONE
                if self._is_too_large(partition.committed_metadata):
                    code = ErrorCode.OFFSET_METADATA_TOO_LARGE
                else:
                    if check is not None:
                        check(topic.name, resolved, partition.partition_index)
                    offset = CommittedOffset(
                        offset=partition.committed_offset,
                        leader_epoch=partition.committed_leader_epoch,
                        metadata=partition.committed_metadata or "",
                        commit_ms=wall_ms,
                        expire_ms=None,
                        topic_id=resolved,
                    )
                    records.append(offset_record(request.group_id, topic.name, partition.partition_index, offset))
                answers.append(
                    TxnOffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=code)
                )
            topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=answers))
        return records, TxnOffsetCommitResponse(topics=topics)

    def _is_too_large(self, metadata: str | None) -> bool:
        return metadata is not None and len(metadata) > self._config.offset_metadata_max_bytes

    # OffsetFetch

    def fetch(self, request: OffsetFetchRequestGroup, *, require_stable: bool) -> OffsetFetchResponseGroup:
        """The offsets asked for, or all of the group's; what was never committed is -1 and no error."""
        answers = []
        if request.topics is None:
            for topic, partitions in self._topics(request.group_id).items():
                found = [
                    self._answer(request.group_id, topic, index, require_stable, ZERO_UUID) for index in partitions
                ]
                answers.append(OffsetFetchResponseTopics(name=topic, partitions=found))
        else:
            for asked in request.topics:
                found = [
                    self._answer(request.group_id, asked.name, index, require_stable, asked.topic_id)
                    for index in asked.partition_indexes
                ]
                answers.append(OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=found))
        return OffsetFetchResponseGroup(group_id=request.group_id, topics=answers)

    @staticmethod
    def nothing(request: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        """What a group that doesn't exist is answered: no offsets, no error."""
        answers = [
            OffsetFetchResponseTopics(
                name=asked.name,
                topic_id=asked.topic_id,
                partitions=[_no_offset(index) for index in asked.partition_indexes],
            )
            for asked in request.topics or ()
        ]
        return OffsetFetchResponseGroup(group_id=request.group_id, topics=answers)

    def _answer(
        self, group_id: str, topic: str, index: int, require_stable: bool, topic_id: UUID
    ) -> OffsetFetchResponsePartitions:
        if require_stable and self.has_pending(group_id, topic, index):
            return _no_offset(index, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        found = self.get(group_id, topic, index)
        # The topic was deleted and created again under its name: the old offset means nothing for the new one.
        other_topic = found is not None and ZERO_UUID not in (found.topic_id, topic_id) and found.topic_id != topic_id
        if found is None or other_topic:
            return _no_offset(index)
        return OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=found.offset,
            committed_leader_epoch=found.leader_epoch,
            metadata=found.metadata,
        )

    def _topics(self, group_id: str) -> dict[str, list[int]]:
        topics: dict[str, list[int]] = {}
        for topic, index in sorted(self.committed.get(group_id, {})):
            topics.setdefault(topic, []).append(index)
        return topics

    # OffsetDelete and expiry

    def delete(
        self, request: OffsetDeleteRequest, is_subscribed_to: Callable[[str], bool]
    ) -> tuple[list[CoordinatorRecord], OffsetDeleteResponse]:
        """Delete the offsets named, of topics that the group doesn't use at the moment."""
        records: list[CoordinatorRecord] = []
        topics = []
        for topic in request.topics:
            code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed_to(topic.name) else ErrorCode.NONE
            answers = []
            for partition in topic.partitions:
                index = partition.partition_index
                answers.append(OffsetDeleteResponsePartition(partition_index=index, error_code=code))
                exists = self.get(request.group_id, topic.name, index) is not None
                if not code and (exists or self.has_pending(request.group_id, topic.name, index)):
                    records.append(offset_tombstone(request.group_id, topic.name, index))
            topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=answers))
        return records, OffsetDeleteResponse(topics=topics)

    def delete_all(self, group_id: str) -> list[CoordinatorRecord]:
        """Tombstones for everything the group has, pending ones too."""
        keys = {*self.committed.get(group_id, {}), *self._open.get(group_id, {})}
        return [offset_tombstone(group_id, topic, index) for topic, index in sorted(keys)]

    def delete_topics(self, topics: Iterable[str]) -> list[CoordinatorRecord]:
        """Tombstones for all offsets of topics that are gone."""
        gone = set(topics)
        keys = {
            (group_id, topic, index)
            for source in (self.committed, self._open)
            for group_id, offsets in source.items()
            for topic, index in offsets
            if topic in gone
        }
        return [offset_tombstone(*key) for key in sorted(keys)]

    def expire(self, group_id: str, group: ExpiringGroup, wall_ms: int) -> tuple[list[CoordinatorRecord], bool]:
        """Tombstones for what is too old, and whether nothing is left after them."""
        if group_id not in self.committed:
            return [], group_id not in self._open
        records: list[CoordinatorRecord] = []
        all_gone = True
        for (topic, index), offset in self.committed[group_id].items():
            in_use = group.is_subscribed_to(topic) or self.has_pending(group_id, topic, index)
            if not in_use and self._is_expired(offset, group, wall_ms):
                records.append(offset_tombstone(group_id, topic, index))
            else:
                all_gone = False
        return records, all_gone and group_id not in self._open

    def _is_expired(self, offset: CommittedOffset, group: ExpiringGroup, wall_ms: int) -> bool:
        base_ms = group.offset_expiry_base_ms(offset.commit_ms)
        if base_ms is None:
            return False
        if offset.expire_ms is not None:
            return wall_ms >= offset.expire_ms
        return wall_ms - base_ms >= self._config.offsets_retention_ms

    # State

    def replay(self, key: OffsetCommitKey, value: OffsetCommitValue | None, position: Position) -> None:
        """Apply a record of type 0 or 1."""
        place = (key.topic, key.partition)
        if value is None:
            self._remove(key.group, place)
            for producer_id in self._close(key.group, place):
                self.pending.get(producer_id, {}).pop((key.group, key.topic, key.partition), None)
            return
        offset = CommittedOffset(
            offset=value.offset,
            leader_epoch=value.leader_epoch,
            metadata=value.metadata,
            commit_ms=value.commit_timestamp,
            expire_ms=None if value.expire_timestamp == -1 else value.expire_timestamp,
            topic_id=value.topic_id,
            sequence=position.sequence,
        )
        if position.producer_id < 0:
            self.committed.setdefault(key.group, {})[place] = offset
        else:
            pending = self.pending.setdefault(position.producer_id, {})
            pending[(key.group, key.topic, key.partition)] = offset
            self._open.setdefault(key.group, {}).setdefault(place, set()).add(position.producer_id)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """The producer's marker is in the log."""
        for (group_id, topic, index), offset in self.pending.pop(producer_id, {}).items():
            place = (topic, index)
            producers = self._open.get(group_id, {}).get(place, set())
            producers.discard(producer_id)
            if not producers:
                self._close(group_id, place)
            if committed:
                existing = self.get(group_id, topic, index)
                # A plain commit written after the transactional one is newer, although the transaction ends later.
                if existing is None or existing.sequence < offset.sequence:
                    self.committed.setdefault(group_id, {})[place] = offset

    def _remove(self, group_id: str, place: TopicIndex) -> None:
        offsets = self.committed.get(group_id)
        if offsets is not None:
            offsets.pop(place, None)
            if not offsets:
                del self.committed[group_id]

    def _close(self, group_id: str, place: TopicIndex) -> set[int]:
        by_place = self._open.get(group_id)
        if by_place is None:
            return set()
        producers = by_place.pop(place, set())
        if not by_place:
            del self._open[group_id]
        return producers


def _no_offset(index: int, code: int = 0) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=NO_OFFSET,
        committed_leader_epoch=NO_EPOCH,
        metadata="",
        error_code=code,
    )


def offset_record(group_id: str, topic: str, partition: int, offset: CommittedOffset) -> CoordinatorRecord:
    """A committed offset as Kafka writes it."""
    key = OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    value = OffsetCommitValue(
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_ms,
        expire_timestamp=-1 if offset.expire_ms is None else offset.expire_ms,
        topic_id=offset.topic_id,
    )
    version = OFFSET_COMMIT_VALUE_VERSION if offset.expire_ms is None else OFFSET_COMMIT_VALUE_WITH_EXPIRY_VERSION
    return record(key, value, version)


def offset_tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """The offset is no more."""
    return record(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None)
