"""Offsets of groups and of logs: list, alter, delete, reset; look-ups by name and time; deleting records.

Operations on the reactor thread. A reset with ``dry_run`` must change nothing, and a real one never moves a group
outside what the log holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone

from pykclient.admin.results import Results
from pykclient.admin.routing import (
    CoordinatorsOf,
    Leaders,
    Session,
    ask_once,
    by_topic,
    check,
    fan_out,
    fetch_topics,
    outcome_of,
)
from pykclient.admin.types import OffsetReset, OffsetSpec, OffsetTarget, ResetTarget
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation
from pykclient.errors import (
    KafkaError,
    NoOffsetForPartition,
    RebalanceInProgress,
    UnknownTopicOrPartition,
    UnstableOffsetCommit,
    UsageError,
)
from pykclient.net.client_request import Request
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from pykclient.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from pykclient.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from pykclient.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from pykclient.types import OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

# Requests by topic id need ids on both sides; an administrator names topics, and all brokers take names.
BY_NAME_MAX = 9
# What each special timestamp needs: max timestamp came with KIP-734, the rest with tiered storage.
VERSION_FOR = {
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
}


# ---- the offsets of a log ----


def timestamp_of(target: OffsetTarget) -> int:
    """A look-up's target as it stands on the wire."""
    if isinstance(target, OffsetSpec):
        return int(target)
    if isinstance(target, str):
        try:
            return int(OffsetSpec[target.upper().replace("-", "_")])
        except KeyError:
            names = ", ".join(spec.name.lower() for spec in OffsetSpec)
            raise UsageError(f"{target!r} is no offset; give one of {names}, milliseconds or a datetime") from None
    if isinstance(target, datetime):
        return milliseconds(target)
    if target < 0:
        raise UsageError("a time is milliseconds since the epoch; for the ends of the log use OffsetSpec")
    return target


def milliseconds(moment: datetime) -> int:
    """Since the epoch. A moment without a time zone would mean another hour on another machine."""
    if moment.tzinfo is None:
        raise UsageError("give the datetime a time zone, for instance datetime.timezone.utc")
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


def list_offsets(
    session: Session, targets: Mapping[TopicPartition, OffsetTarget], *, read_committed: bool
) -> Operation[Results[TopicPartition, OffsetAndTimestamp]]:
    """One offset per partition; offset -1 when no record is that young."""
    wanted = {TopicPartition(*tp): timestamp_of(target) for tp, target in targets.items()}
    specials = [VERSION_FOR[OffsetSpec(time)] for time in wanted.values() if time in VERSION_FOR]
    route = Leaders()

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[ListOffsetsResponse]:
        topics = [
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(
                        partition_index=index,
                        current_leader_epoch=route.epochs.get(TopicPartition(topic, index), -1),
                        timestamp=wanted[TopicPartition(topic, index)],
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(items).items()
        ]

        def build(version: int) -> ListOffsetsRequest:
            message = ListOffsetsRequest(replica_id=-1, topics=topics)
            if version >= 2:
                message.isolation_level = int(read_committed)
            if version >= 10:
                message.timeout_ms = session.broker_timeout_ms
            return message

        version_min = max([2 if read_committed else 0, *specials])
        return Request(api_key=ApiKey.LIST_OFFSETS, build=build, node_id=node_id, version_min=version_min)

    def read(
        response: ListOffsetsResponse, items: list[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndTimestamp | KafkaError]:
        return {
            TopicPartition(topic.name, row.partition_index): outcome_of(
                row.error_code,
                OffsetAndTimestamp(row.offset, row.timestamp, row.leader_epoch if row.leader_epoch >= 0 else None),
                topic=topic.name,
                partition=row.partition_index,
            )
            for topic in response.topics
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=route, ask=ask, read=read))


def delete_records(session: Session, before: Mapping[TopicPartition, int]) -> Operation[Results[TopicPartition, int]]:
    """Drop what lies before an offset (-1: everything); the result is where the log starts now."""
    wanted = {TopicPartition(*tp): offset for tp, offset in before.items()}

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[DeleteRecordsResponse]:
        topics = [
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(partition_index=index, offset=wanted[TopicPartition(topic, index)])
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(items).items()
        ]
        return Request(DeleteRecordsRequest(topics=topics, timeout_ms=session.broker_timeout_ms), node_id=node_id)

    def read(response: DeleteRecordsResponse, items: list[TopicPartition]) -> dict[TopicPartition, int | KafkaError]:
        return {
            TopicPartition(topic.name, row.partition_index): outcome_of(
                row.error_code, row.low_watermark, topic=topic.name, partition=row.partition_index
            )
            for topic in response.topics
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=Leaders(), ask=ask, read=read))


# ---- the offsets of a group ----


def _coordinator_of(group: str, *also: type[KafkaError]) -> CoordinatorsOf:
    return CoordinatorsOf(CoordinatorKind.GROUP, of=lambda item: group, also=also)


def list_group_offsets(
    session: Session, group: str, partitions: Iterable[TopicPartition] | None, *, require_stable: bool
) -> Operation[Results[TopicPartition, OffsetAndMetadata | None]]:
    """What a group committed; None for partitions asked for in which it committed nothing."""
    wanted = None if partitions is None else [TopicPartition(*tp) for tp in partitions]
    rows = None if wanted is None else by_topic(wanted)

    def build(version: int) -> OffsetFetchRequest:
        stable = require_stable and version >= 7
        if version < 8:
            old = [
                OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in (rows or {}).items()
            ]
            return OffsetFetchRequest(group_id=group, topics=None if rows is None else old, require_stable=stable)
        topics = [
            OffsetFetchRequestTopics(name=name, partition_indexes=indexes) for name, indexes in (rows or {}).items()
        ]
        asked = OffsetFetchRequestGroup(group_id=group, topics=None if rows is None else topics)
        return OffsetFetchRequest(groups=[asked], require_stable=stable)

    def request(node_id: int | None) -> Request[OffsetFetchResponse]:
        return Request(
            api_key=ApiKey.OFFSET_FETCH,
            build=build,
            node_id=node_id,
            version_min=7 if require_stable else 2 if rows is None else 0,
            version_max=BY_NAME_MAX,
        )

    route = _coordinator_of(group, UnstableOffsetCommit)
    found = yield from ask_once(session, request, lambda response: committed_in(response, group), route=route)
    if wanted is None:
        return Results({tp: found[tp] for tp in sorted(found) if found[tp] is not None})
    return Results({tp: found.get(tp) for tp in wanted})


def committed_in(
    response: OffsetFetchResponse, group: str
) -> dict[TopicPartition, OffsetAndMetadata | KafkaError | None]:
    """Commits by partition, from either shape of the answer."""
    answer = response.groups[0] if response.groups else response
    check(answer.error_code, group_id=group)
    found: dict[TopicPartition, OffsetAndMetadata | KafkaError | None] = {}
    for topic in answer.topics:
        for row in topic.partitions:
            check(row.error_code if row.error_code == UnstableOffsetCommit.code else 0, group_id=group)
            epoch = row.committed_leader_epoch if row.committed_leader_epoch >= 0 else None
            value = (
                None if row.committed_offset < 0 else OffsetAndMetadata(row.committed_offset, row.metadata or "", epoch)
            )
            found[TopicPartition(topic.name, row.partition_index)] = outcome_of(
                row.error_code, value, topic=topic.name, partition=row.partition_index, group_id=group
            )
    return found


def alter_group_offsets(
    session: Session, group: str, offsets: Mapping[TopicPartition, int | OffsetAndMetadata]
) -> Operation[Results[TopicPartition, OffsetAndMetadata]]:
    """Commit in the name of a group that has no members; a group with members refuses with UnknownMemberId."""
    wanted = {
        TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else OffsetAndMetadata(*offset)
        for tp, offset in offsets.items()
    }

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[OffsetCommitResponse]:
        message = OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, member_id="")
        for topic, indexes in by_topic(items).items():
            row = OffsetCommitRequestTopic(name=topic)
            for index in indexes:
                offset = wanted[TopicPartition(topic, index)]
                row.partitions.append(
                    OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=offset.offset,
                        committed_leader_epoch=-1 if offset.leader_epoch is None else offset.leader_epoch,
                        committed_metadata=offset.metadata,
                    )
                )
            message.topics.append(row)
        return Request(message, node_id=node_id, version_max=BY_NAME_MAX)

    def read(
        response: OffsetCommitResponse, items: list[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | KafkaError]:
        return {
            (tp := TopicPartition(topic.name, row.partition_index)): outcome_of(
                row.error_code, wanted[tp], topic=tp.topic, partition=tp.partition, group_id=group
            )
            for topic in response.topics
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=_coordinator_of(group, RebalanceInProgress), ask=ask, read=read))


def delete_group_offsets(
    session: Session, group: str, partitions: Iterable[TopicPartition]
) -> Operation[Results[TopicPartition, None]]:
    """Forget what a group committed in these partitions; refused for topics its members subscribe to."""
    wanted = [TopicPartition(*tp) for tp in partitions]

    def ask(items: list[TopicPartition], node_id: int | None) -> Request[OffsetDeleteResponse]:
        topics = [
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
            )
            for topic, indexes in by_topic(items).items()
        ]
        return Request(OffsetDeleteRequest(group_id=group, topics=topics), node_id=node_id)

    def read(response: OffsetDeleteResponse, items: list[TopicPartition]) -> dict[TopicPartition, KafkaError | None]:
        check(response.error_code, group_id=group)
        return {
            TopicPartition(topic.name, row.partition_index): outcome_of(
                row.error_code, None, topic=topic.name, partition=row.partition_index, group_id=group
            )
            for topic in response.topics
            for row in topic.partitions
        }

    return (yield from fan_out(session, wanted, route=_coordinator_of(group), ask=ask, read=read))


# ---- reset ----


def reset_group_offsets(
    session: Session,
    group: str,
    partitions: Iterable[TopicPartition | str] | None,
    *,
    to: ResetTarget | None,
    shift: int | None,
    dry_run: bool,
) -> Operation[Results[TopicPartition, OffsetReset]]:
    """Move a group: see the facade for what ``to`` and ``shift`` mean."""
    if (to is None) == (shift is None):
        raise UsageError("reset_group_offsets() takes 'to' or 'shift', one of the two")
    wanted = yield from _reset_partitions(session, group, partitions, to)
    committed = yield from list_group_offsets(session, group, wanted, require_stable=False)
    earliest = yield from list_offsets(session, dict.fromkeys(wanted, OffsetSpec.EARLIEST), read_committed=False)
    latest = yield from list_offsets(session, dict.fromkeys(wanted, OffsetSpec.LATEST), read_committed=False)
    moments = _moments(session, wanted, to)
    by_time = yield from list_offsets(session, moments, read_committed=False)
    plan: dict[TopicPartition, OffsetReset | KafkaError] = {}
    for tp in wanted:
        error = next((e for each in (committed, earliest, latest) if (e := each.error(tp)) is not None), None)
        if error is None and tp in by_time:
            error = by_time.error(tp)
        plan[tp] = error or planned_reset(
            tp,
            before=None if (row := committed[tp]) is None else row.offset,
            earliest=earliest[tp].offset,
            latest=latest[tp].offset,
            by_time=by_time[tp].offset if tp in by_time else None,
            to=to,
            shift=shift,
        )
    good = {tp: reset.after for tp, reset in plan.items() if isinstance(reset, OffsetReset)}
    if not dry_run and good:
        done = yield from alter_group_offsets(session, group, good)
        plan.update(done.errors)
    return Results(plan)


def _reset_partitions(
    session: Session, group: str, partitions: Iterable[TopicPartition | str] | None, to: ResetTarget | None
) -> Operation[list[TopicPartition]]:
    if partitions is None:
        if isinstance(to, Mapping):
            return [TopicPartition(*tp) for tp in to]
        committed = yield from list_group_offsets(session, group, None, require_stable=False)
        return list(committed)
    asked = list(partitions)
    names = sorted({each for each in asked if isinstance(each, str)})
    topics = (yield from fetch_topics(session, names)) if names else {}
    found = [TopicPartition(*each) for each in asked if not isinstance(each, str)]
    for name in names:
        if name not in topics or topics[name].error_code:
            raise UnknownTopicOrPartition(topic=name)
        found += [TopicPartition(name, row.partition_index) for row in topics[name].partitions]
    return sorted(set(found))


def _moments(
    session: Session, partitions: Iterable[TopicPartition], to: ResetTarget | None
) -> dict[TopicPartition, OffsetTarget]:
    """What to look up by time, if the target is one."""
    if isinstance(to, datetime):
        return dict.fromkeys(partitions, to)
    if isinstance(to, timedelta):
        ago_ms = to // timedelta(milliseconds=1)
        return dict.fromkeys(partitions, session.office.clock.wall_ms() - ago_ms)
    return {}


def planned_reset(
    tp: TopicPartition,
    *,
    before: int | None,
    earliest: int,
    latest: int,
    by_time: int | None,
    to: ResetTarget | None,
    shift: int | None,
) -> OffsetReset | KafkaError:
    """Where one partition goes. Offsets outside the log are moved to its nearest end."""
    if shift is not None or to == "current":
        if before is None:
            return NoOffsetForPartition("nothing is committed to start from", topic=tp.topic, partition=tp.partition)
        after = before + (shift or 0)
    elif to == "earliest":
        after = earliest
    elif to == "latest":
        after = latest
    elif by_time is not None:
        after = latest if by_time < 0 else by_time
    elif isinstance(to, Mapping):
        given = to[tp]
        after = given if isinstance(given, int) else given.offset
    elif isinstance(to, int):
        after = to
    else:
        raise UsageError(f"cannot reset to {to!r}; see reset_group_offsets")
    return OffsetReset(before, min(max(after, earliest), latest), earliest, latest)


__all__ = [
    "alter_group_offsets",
    "delete_group_offsets",
    "delete_records",
    "list_group_offsets",
    "list_offsets",
    "reset_group_offsets",
]
