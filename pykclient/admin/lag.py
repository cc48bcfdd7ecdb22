"""How far a group is behind, seen from outside: committed, end, lag, age of the oldest unread record, owner.

Operations on the reactor thread. It must never join the group nor change anything: it reads commits, the ends of the
logs, the group's description, and one batch per partition that is behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from pykclient.admin.groups import describe_groups
from pykclient.admin.offsets import list_group_offsets, list_offsets
from pykclient.admin.results import Results
from pykclient.admin.routing import Leaders, Session, check, fan_out
from pykclient.admin.types import GroupMember, OffsetSpec, PartitionLag
from pykclient.client.engine import Operation
from pykclient.errors import GroupIdNotFound, KafkaError, broker_error
from pykclient.net.client_request import Channel, Request
from pykclient.protocol.batch_header import iter_batches
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykclient.protocol.records import decode_batch
from pykclient.types import OffsetAndMetadata, TopicPartition

# A broker gives a whole batch even when it is larger than this, if it is the first: so one request per partition. Some
# more than one batch, as the first may hold nothing but a transaction's marker.
PARTITION_BYTES = 16 * 1024


def lag(
    session: Session, group: str, partitions: Iterable[TopicPartition] | None, *, with_age: bool
) -> Operation[Results[TopicPartition, PartitionLag]]:
    """Per partition that the group committed in or owns (or those named)."""
    described = yield from describe_groups(session, [group], include_authorized_operations=False)
    problem = described.error(group)
    committed = yield from list_group_offsets(
        session, group, None if partitions is None else list(partitions), require_stable=False
    )
    if problem is not None and not (isinstance(problem, GroupIdNotFound) and any(committed.succeeded.values())):
        raise problem
    members = () if problem is not None else described[group].members
    owners = {tp: member for member in members for tp in member.assignment}
    wanted = list(committed) if partitions is not None else sorted({*committed, *owners})
    starts = yield from list_offsets(session, dict.fromkeys(wanted, OffsetSpec.EARLIEST), read_committed=False)
    ends = yield from list_offsets(session, dict.fromkeys(wanted, OffsetSpec.LATEST), read_committed=False)
    found: dict[TopicPartition, PartitionLag | KafkaError] = {}
    for tp in wanted:
        error = starts.error(tp) or ends.error(tp) or (committed.error(tp) if tp in committed else None)
        row = committed[tp] if tp in committed and error is None else None
        found[tp] = error or partition_lag(row, starts[tp].offset, ends[tp].offset, owners.get(tp))
    if with_age:
        unread = {
            tp: max(row.committed, row.start)
            for tp, row in found.items()
            if isinstance(row, PartitionLag) and row.committed is not None and row.lag
        }
        times = yield from _timestamps(session, unread)
        wall_ms = session.office.clock.wall_ms()
        for tp, time in times.items():
            row_now = found[tp]
            if time is not None and isinstance(row_now, PartitionLag):
                found[tp] = with_timestamp(row_now, time, wall_ms)
    return Results(found)


def partition_lag(committed: OffsetAndMetadata | None, start: int, end: int, owner: GroupMember | None) -> PartitionLag:
    """As Kafka's own tool counts: the end of the log minus what is committed."""
    if committed is None:
        return PartitionLag(None, start, end, None, owner=owner)
    behind = max(0, end - committed.offset)
    return PartitionLag(committed.offset, start, end, behind, owner=owner, metadata=committed.metadata)


def with_timestamp(row: PartitionLag, oldest_unread: int, wall_ms: int) -> PartitionLag:
    """The same, with the age of its oldest unread record; clocks may differ, an age is never negative."""
    age_s = max(0, wall_ms - oldest_unread) / 1000
    return PartitionLag(
        row.committed, row.start, row.end, row.lag, oldest_unread, age_s, owner=row.owner, metadata=row.metadata
    )


def _timestamps(session: Session, offsets: dict[TopicPartition, int]) -> Operation[dict[TopicPartition, int | None]]:
    """When the first record at or after an offset was made; left out where it could not be read now."""
    route = Leaders()

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[FetchResponse]:
        tp = items[0]
        topic_id = route.topic_ids.get(tp.topic) or UUID(int=0)

        def build(version: int) -> FetchRequest:
            row = FetchPartition(
                partition=tp.partition,
                current_leader_epoch=route.epochs.get(tp, -1) if version >= 9 else -1,
                fetch_offset=offsets[tp],
                partition_max_bytes=PARTITION_BYTES,
            )
            topic = FetchTopic(topic=tp.topic, topic_id=topic_id, partitions=[row])
            return FetchRequest(
                replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=PARTITION_BYTES, topics=[topic], session_epoch=-1
            )

        return Request(
            api_key=ApiKey.FETCH,
            build=build,
            node_id=node_id,
            channel=Channel.FETCH,
            version_max=12 if topic_id == UUID(int=0) else 18,
        )

    def read(response: FetchResponse, items: list[TopicPartition]) -> dict[TopicPartition, int | KafkaError | None]:
        check(response.error_code, api="Fetch")
        tp = items[0]
        for topic in response.responses:
            for row in topic.partitions:
                if row.error_code:
                    return {tp: broker_error(row.error_code, topic=tp.topic, partition=tp.partition)}
                return {tp: first_timestamp(row.records, tp, offsets[tp])}
        return {tp: None}

    results = yield from fan_out(session, offsets, route=route, ask=ask, read=read, alone=True)
    # What cannot be read (deleted meanwhile, or no right to read) has no age; the lag is worth having without it.
    return results.succeeded


def first_timestamp(records: Any, tp: TopicPartition, offset: int) -> int | None:
    """The timestamp of the first record at or after ``offset``; None when only markers are there."""
    for header in iter_batches(records or b""):
        if header.is_control:
            continue
        for record in decode_batch(records, header, tp.topic, tp.partition, from_offset=offset):
            return record.timestamp if record.timestamp >= 0 else None
    return None


__all__ = ["first_timestamp", "lag", "partition_lag", "with_timestamp"]
