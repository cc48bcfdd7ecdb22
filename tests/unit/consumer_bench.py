"""Members of the consumer protocol on the group bench, and classic ones that meet them."""

from __future__ import annotations

import uuid
from typing import Any

from pykclient.broker.authorizer import AclBinding, Operation, PatternType, Permission, ResourceType
from pykclient.broker.consumer_protocol import read_assignment, write_assignment
from pykclient.broker.group_config import GroupConfig
from pykclient.broker.kip848_group import ConsumerGroup, Partition
from pykclient.errors import ErrorCode
from pykclient.net.completion import Completion
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    RequestTopicPartitions,
)
from pykclient.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription, TopicPartition
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.group_bench import GROUP, GroupBench
from tests.unit.offsets_bench import OffsetsBench

REBALANCE_MS = 30_000


CONFIG = GroupConfig(group_initial_rebalance_delay_ms=0, offsets_topic_num_partitions=1)


class Consumer:
    """A member of the new protocol, as the Java client is one: it first gives up what it shall not have, then takes
    the rest.

    A busy one (``beat(busy=True)``) has not come to either yet, and doesn't say what it owns.
    """

    def __init__(
        self,
        bench: GroupBench,
        name: str,
        *,
        topics: list[str] | None = None,
        regex: str | None = None,
        instance_id: str | None = None,
        assignor: str | None = None,
    ) -> None:
        self.bench = bench
        self.member_id = name
        self.topics = topics if topics is not None or regex is not None else ["t"]
        self.regex = regex
        self.instance_id = instance_id
        self.assignor = assignor
        self.epoch = 0
        self.owned: set[Partition] = set()
        self.target: set[Partition] = set()

    def request(self, **overrides: Any) -> ConsumerGroupHeartbeatRequest:
        first = self.epoch == 0
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS if first else -1,
            subscribed_topic_names=self.topics if first else None,
            subscribed_topic_regex=self.regex if first else None,
            server_assignor=self.assignor if first else None,
            topic_partitions=self._owned_message(),
        )
        for field, value in overrides.items():
            setattr(request, field, value)
        return request

    def _owned_message(self) -> list[RequestTopicPartitions]:
        topics: dict[uuid.UUID, list[int]] = {}
        for topic_id, index in sorted(self.owned):
            topics.setdefault(topic_id, []).append(index)
        return [RequestTopicPartitions(topic_id=topic_id, partitions=found) for topic_id, found in topics.items()]

    def beat(self, *, busy: bool = False, **overrides: Any) -> Any:
        """One heartbeat."""
        if busy:
            overrides["topic_partitions"] = None
        else:
            self.owned = set(self.target)
        response = self.bench.call(self.request(**overrides))
        if response.error_code == 0:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                topics = response.assignment.topic_partitions
                self.target = {(topic.topic_id, index) for topic in topics for index in topic.partitions}
            if not busy:
                self.owned = set(self.target)
        elif response.error_code in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
            self.abandon()
        return response

    def abandon(self) -> None:
        """It was fenced, or knows that its session is over: stop, and join anew."""
        self.owned, self.target, self.epoch = set(), set(), 0

    def leave(self, epoch: int = -1) -> Any:
        response = self.bench.call(self.request(member_epoch=epoch))
        self.abandon()
        return response

    def indexes(self, topic: str = "t") -> list[int]:
        topic_id = self.bench.catalog.id(topic)
        return sorted(index for owner, index in self.owned if owner == topic_id)


class ClassicConsumer:
    """A classic member, cooperative: it says what it owns, joins again when told to, and then syncs."""

    def __init__(self, bench: ConsumerBench, instance_id: str | None = None) -> None:
        self.bench = bench
        self.member_id = ""
        self.instance_id = instance_id
        self.generation = -1
        self.owned: set[int] = set()

    def request(self) -> JoinGroupRequest:
        metadata = cooperative_subscription(self.owned)
        return JoinGroupRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        )

    def join(self) -> Any:
        response = self.bench.call(self.request())
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            response = self.bench.call(self.request())
        if not response.error_code:
            self.member_id, self.generation = response.member_id, response.generation_id
        return response

    def sync(self, assignments: dict[str, bytes] | None = None) -> Any:
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            generation_id=self.generation,
            protocol_type="consumer",
            protocol_name="range",
        )
        response = self.bench.call(request)
        if not response.error_code:
            self.owned = set(read_assignment(response.assignment)[0].get("t", []))
        return response

    def beat(self) -> int:
        request = HeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            generation_id=self.generation,
        )
        return int(self.bench.call(request).error_code)

    def follow(self) -> None:
        """A heartbeat, and what it leads to."""
        if self.beat() == ErrorCode.REBALANCE_IN_PROGRESS:
            assert self.join().error_code == 0
            assert self.sync().error_code == 0


def cooperative_subscription(owned: set[int]) -> bytes:
    partitions = [TopicPartition(topic="t", partitions=sorted(owned))] if owned else []
    body = ConsumerProtocolSubscription(topics=["t"], owned_partitions=partitions).write(1)
    return (1).to_bytes(2, "big") + bytes(body)


class ConsumerBench(OffsetsBench):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("config", CONFIG)
        super().__init__(**kwargs)

    def member(self, name: str, **kwargs: Any) -> Consumer:
        return Consumer(self, name, **kwargs)

    def settle(self, *consumers: Consumer) -> None:
        """Heartbeats in turn until nobody changes."""
        for _ in range(20):
            before = [(consumer.epoch, frozenset(consumer.owned)) for consumer in consumers]
            for consumer in consumers:
                assert consumer.beat().error_code == 0
            if before == [(consumer.epoch, frozenset(consumer.owned)) for consumer in consumers]:
                return
        raise AssertionError("the group does not settle")

    def one_stable_member_with_partitions(self) -> ClassicConsumer:
        """A classic group of one member that owns all of topic t."""
        member = ClassicConsumer(self)
        member.join()
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=member.member_id,
            generation_id=member.generation,
            assignments=[
                SyncGroupRequestAssignment(
                    member_id=member.member_id, assignment=write_assignment({"t": [0, 1, 2, 3]}, 1)
                )
            ],
        )
        assert self.call(request).error_code == 0
        member.owned = {0, 1, 2, 3}
        return member

    def topics_changed(self) -> None:
        self.coordinator.on_topics_changed(now=self.timers.now, wall_ms=self.timers.wall_ms)


class ClassicMemberWalk:
    """A classic consumer as a loop: join, sync (assigning if it leads), beat; whatever is refused starts over."""

    def __init__(self, bench: ConsumerBench) -> None:
        self.bench = bench
        self.client = ClassicConsumer(bench)
        self.joining: Completion[Any] | None = None
        self.syncing: Completion[Any] | None = None
        self.joined: Any = None
        self.settled = False

    @property
    def owned(self) -> set[int]:
        return self.client.owned

    def step(self) -> None:
        if self.joining is not None:
            self._on_joined()
        elif self.syncing is not None:
            self._on_synced()
        elif self.joined is not None and not self.settled:
            self._sync()
        elif self.settled:
            code = self.client.beat()
            if code:
                self._start_over(code)
        else:
            self.joining = self.bench.send(self.client.request())

    def _start_over(self, code: int) -> None:
        self.joined, self.settled = None, False
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self.client.owned = set()
            self.client.member_id = ""

    def _on_joined(self) -> None:
        assert self.joining is not None
        if not self.joining.done:
            return
        response, self.joining = self.joining.result(), None
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.client.member_id = response.member_id
        elif response.error_code:
            self._start_over(response.error_code)
        else:
            self.joined = response
            self.client.member_id, self.client.generation = response.member_id, response.generation_id

    def _sync(self) -> None:
        members = sorted(member.member_id for member in self.joined.members)
        assignments = [
            SyncGroupRequestAssignment(
                member_id=member_id,
                assignment=write_assignment({"t": [i for i in range(4) if i % len(members) == place]}, 1),
            )
            for place, member_id in enumerate(members)
        ]
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=self.client.member_id,
            generation_id=self.client.generation,
            assignments=assignments,
        )
        self.syncing = self.bench.send(request)

    def _on_synced(self) -> None:
        assert self.syncing is not None
        if not self.syncing.done:
            return
        response, self.syncing = self.syncing.result(), None
        if response.error_code:
            self._start_over(response.error_code)
        else:
            self.settled = True
            self.client.owned = set(read_assignment(response.assignment)[0].get("t", []))

    def leave(self) -> None:
        members = [MemberIdentity(member_id=self.client.member_id)]
        self.bench.call(LeaveGroupRequest(group_id=GROUP, members=members))


def allow(resource: ResourceType, name: str, operation: Operation) -> AclBinding:
    return AclBinding(
        resource_type=resource,
        resource_name=name,
        pattern_type=PatternType.LITERAL,
        principal="User:ANONYMOUS",
        host="*",
        operation=operation,
        permission=Permission.ALLOW,
    )


def forget_checks(*groups: ConsumerGroup) -> None:
    """When subscriptions were last checked is not durable."""
    for group in groups:
        group.topics_version, group.topics_checked_ms = -1, 0
