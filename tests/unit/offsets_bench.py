"""Commits and fetches on the group bench."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from pykclient.broker.group_access import GROUP_TOPIC
from pykclient.net.completion import Completion
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykclient.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from pykclient.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.unit.classic_bench import ClassicBench
from tests.unit.group_bench import GROUP

PRODUCER = 77


class OffsetsBench(ClassicBench):
    def commit(
        self,
        offsets: dict[int, int],
        *,
        topic: str = "t",
        group_id: str = GROUP,
        member_id: str = "",
        generation: int = -1,
        metadata: str = "",
        version: int = 9,
        retention_ms: int = -1,
    ) -> list[int]:
        """The codes, by partition."""
        request = OffsetCommitRequest(
            group_id=group_id,
            member_id=member_id,
            generation_id_or_member_epoch=generation,
            retention_time_ms=retention_ms,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    topic_id=self.catalog.id(topic) if topic in self.catalog.topics else uuid.uuid4(),
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=index, committed_offset=offset, committed_metadata=metadata
                        )
                        for index, offset in offsets.items()
                    ],
                )
            ],
        )
        topics = self.call(request, version).topics
        return [partition.error_code for partition in topics[0].partitions]

    def txn_commit(
        self, offsets: dict[int, int], *, producer_id: int = PRODUCER, generation: int = -1, member_id: str = ""
    ) -> Completion[Any]:
        request = TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=GROUP,
            producer_id=producer_id,
            producer_epoch=0,
            generation_id=generation,
            member_id=member_id,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=index, committed_offset=offset, committed_metadata=""
                        )
                        for index, offset in offsets.items()
                    ],
                )
            ],
        )
        return self.send(request)

    def end(self, *, committed: bool, producer_id: int = PRODUCER) -> None:
        self.log.append_marker(
            GROUP_TOPIC,
            0,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            committed=committed,
            now=self.timers.now,
            wall_ms=self.timers.wall_ms,
        )
        self.coordinator.complete_transaction(0, producer_id=producer_id, producer_epoch=0, committed=committed)

    def fetch(
        self,
        partitions: Iterable[int] | None = (0, 1),
        *,
        require_stable: bool = False,
        group_id: str = GROUP,
        version: int = 9,
    ) -> dict[int, tuple[int, int]]:
        """(offset, code) by partition of topic t."""
        indexes = None if partitions is None else list(partitions)
        if version < 8:
            topics = None if indexes is None else [OffsetFetchRequestTopic(name="t", partition_indexes=indexes)]
            request = OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=require_stable)
            found: list[Any] = self.call(request, version).topics
        else:
            asked = None
            if indexes is not None:
                asked = [OffsetFetchRequestTopics(name="t", topic_id=self.catalog.id("t"), partition_indexes=indexes)]
            group = OffsetFetchRequestGroup(group_id=group_id, topics=asked)
            request = OffsetFetchRequest(groups=[group], require_stable=require_stable)
            found = self.call(request, version).groups[0].topics
        return {
            partition.partition_index: (partition.committed_offset, partition.error_code)
            for topic in found
            for partition in topic.partitions
        }


def delete_request(*indexes: int, topic: str = "t") -> OffsetDeleteRequest:
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
    return OffsetDeleteRequest(group_id=GROUP, topics=[OffsetDeleteRequestTopic(name=topic, partitions=partitions)])
