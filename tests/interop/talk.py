"""Requests that the comparisons share, and waiting until a cluster is ready to be compared."""

from __future__ import annotations

import time

from pykclient.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
)
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import encode_batch
from tests.interop.clients import wait_until
from tests.interop.wire import Conversation

NOW_MS = int(time.time() * 1000)
"""Not a fixed time in the past: next to a marker of today it would roll a segment, and retention would take it away."""


def new_topic(c: Conversation, name: str | None = None, partitions: int = 2) -> str:
    """A topic that is known and led."""
    topic = name or c.names["topic"]
    one = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1)
    c.wire.ask(CreateTopicsRequest(topics=[one]), 7)

    def led() -> bool:
        answers = [c.wire.ask(list_offsets(topic, -1, partition=n), 8) for n in range(partitions)]
        return all(answer.topics[0].partitions[0].error_code == 0 for answer in answers)

    wait_until(led, f"the leaders of {topic}")
    return topic


def coordinated(c: Conversation, key: str, key_type: int) -> None:
    """Somebody coordinates the key; the first to ask makes the internal topic."""
    request = FindCoordinatorRequest(coordinator_keys=[key], key_type=key_type)
    wait_until(lambda: c.wire.ask(request, 5).coordinators[0].error_code == 0, f"the coordinator of {key}")


def batch(*values: bytes, **options: object) -> bytes:
    return encode_batch([(NOW_MS + n, None, value, []) for n, value in enumerate(values)], **options)  # type: ignore[arg-type]


def produce(
    topic: str, records: bytes | None, *, partition: int = 0, acks: int = -1, tx: str | None = None
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        transactional_id=tx,
        acks=acks,
        timeout_ms=5000,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )


def fetch(topic: str, offset: int, *, partition: int = 0, **options: object) -> FetchRequest:
    where = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1_000_000)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=topic, partitions=[where])])
    for name, value in options.items():
        setattr(request, name, value)
    return request


def list_offsets(
    topic: str, timestamp: int, *, partition: int = 0, epoch: int = -1, isolation: int = 0
) -> ListOffsetsRequest:
    where = ListOffsetsPartition(partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch)
    return ListOffsetsRequest(
        replica_id=-1, isolation_level=isolation, topics=[ListOffsetsTopic(name=topic, partitions=[where])]
    )
