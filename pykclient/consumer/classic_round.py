"""One round of the classic protocol: JoinGroup, the leader's assignment, SyncGroup.

An operation on the reactor thread; no user code but the assignor runs in it. It knows nothing of partitions held or
listeners: the membership (classic_group.py) has prepared both before a round begins and acts on its outcome. What goes
wrong is raised as the broker's error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pykclient.client.cluster import Cluster
from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation, call, now, wait
from pykclient.consumer.assignors import ASSIGNORS, Assignor
from pykclient.consumer.consumer_protocol import (
    PROTOCOL_TYPE,
    MemberSubscription,
    read_assignment,
    read_member,
    write_assignment,
    write_subscription,
)
from pykclient.consumer.group_members import NO_GENERATION, Member, RebalanceProtocol
from pykclient.consumer.membership import GroupContext
from pykclient.errors import InconsistentGroupProtocol, KafkaError, MemberIdRequired, ProtocolError, broker_error
from pykclient.net.client_request import Channel, Request
from pykclient.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from pykclient.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from pykclient.types import ConsumerGroupMetadata, TopicPartition

logger = logging.getLogger(__name__)
R = TypeVar("R")

# How long a leader waits to learn of topics that only other members want; then they count as not there.
TOPICS_PATIENCE_S = 5.0

TopicsView = Mapping[str, "tuple[frozenset[str], ...]"]
"""Partitions per topic with the racks of their replicas, as the leader saw them."""


@dataclass(slots=True)
class MemberState:
    """Who we are in the group, as far as the coordinator has said, and what our assignors remember."""

    group_id: str
    group_instance_id: str | None
    member_id: str = ""
    generation: int = NO_GENERATION
    last_assigned: list[TopicPartition] | None = None
    last_generation: int = NO_GENERATION

    def identity(self) -> ConsumerGroupMetadata:
        """For requests and for users."""
        return ConsumerGroupMetadata(self.group_id, self.generation, self.member_id, self.group_instance_id)

    def forget(self, *, keep_member_id: bool) -> None:
        """No longer a member of any generation."""
        self.generation = NO_GENERATION
        if not keep_member_id:
            self.member_id = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """How a round ended."""

    partitions: list[TopicPartition]
    topics: frozenset[str]
    """What we told the group that we subscribe to."""
    leads: bool
    members: frozenset[str] = frozenset()
    """Who is in the group; only the leader knows."""
    view: TopicsView = field(default_factory=dict)
    """The topics the assignment was made from; only the leader has it, and watches them."""
    group_topics: frozenset[str] = frozenset()
    """What all members together subscribe to, known topics or not."""


def resolve_assignors(strategy: Iterable[object]) -> list[Assignor]:
    """Names and objects of ``partition_assignment_strategy`` as assignors, in order of preference."""
    return [ASSIGNORS[item] if isinstance(item, str) else item for item in strategy]  # type: ignore[misc]


def common_protocol(assignors: Sequence[Assignor]) -> RebalanceProtocol:
    """How we give partitions up: the most that every one of our assignors supports (KIP-429)."""
    supported = [set(getattr(assignor, "protocols", (RebalanceProtocol.EAGER,))) for assignor in assignors]
    common = set.intersection(*supported)
    return max(common) if common else RebalanceProtocol.EAGER


def topics_view(cluster: Cluster, topics: Iterable[str]) -> TopicsView:
    """What is known of these topics; unknown ones are left out."""
    view = {}
    for topic in topics:
        state = cluster.topics.get(topic)
        if state is not None:
            view[topic] = tuple(
                frozenset(
                    node.rack
                    for replica in state.partitions[number].replicas
                    if (node := cluster.brokers.get(replica)) is not None and node.rack
                )
                for number in sorted(state.partitions)
            )
    return view


class ClassicRound:
    """See the module. Made for one attempt, then thrown away."""

    def __init__(
        self,
        context: GroupContext,
        assignors: Sequence[Assignor],
        member: MemberState,
        *,
        reason: str,
        patience_s: float,
        owned: Iterable[TopicPartition],
        topics: frozenset[str],
        on_joined: Callable[[float], None],
    ) -> None:
        self._context = context
        self._assignors = assignors
        self._member = member
        self._reason = reason
        self._patience_s = patience_s
        self._owned = sorted(owned)
        self.topics = topics
        self._on_joined = on_joined
        self._abandoned = False
        self.holds_request = False
        """While the coordinator holds our JoinGroup or SyncGroup it counts us as alive; heartbeats would wait behind
        it."""

    def abandon(self) -> None:
        """Nobody wants the outcome any more."""
        self._abandoned = True

    def is_abandoned(self) -> bool:
        """Whether the membership has gone on without it."""
        return self._abandoned

    def run(self) -> Operation[Joined | None]:
        """Join and sync; None when it was abandoned meanwhile."""
        joined = yield from self._join()
        if self.is_abandoned():
            return None
        self._accept(joined)
        self._on_joined((yield from now()))
        leads = joined.leader == joined.member_id
        assignments: list[SyncGroupRequestAssignment] = []
        view: TopicsView = {}
        group_topics: frozenset[str] = frozenset()
        if leads:
            members = [self._read(each) for each in joined.members]
            group_topics = frozenset().union(*(member.topics for member in members))
            view = yield from self._view(group_topics)
            if not joined.skip_assignment:
                assignments = self._assign(joined.protocol_name or "", members, view)
        if self.is_abandoned():
            return None
        synced = yield from self._sync(joined.protocol_name, assignments)
        if self.is_abandoned():
            return None
        self._on_joined((yield from now()))
        return Joined(
            partitions=read_assignment(synced.assignment),
            topics=self.topics,
            leads=leads,
            members=frozenset(each.group_instance_id or each.member_id for each in joined.members),
            view=view,
            group_topics=group_topics,
        )

    # ---- join ----

    def _join(self) -> Operation[JoinGroupResponse]:
        member = self._member
        node_id = yield from self._context.coordinators.find(CoordinatorKind.GROUP, member.group_id)
        config = self._context.config
        message = JoinGroupRequest(
            group_id=member.group_id,
            session_timeout_ms=config.session_timeout_ms,
            rebalance_timeout_ms=config.max_poll_interval_ms,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(name=assignor.name, metadata=self._subscription(assignor))
                for assignor in self._assignors
            ],
            reason=self._reason[:255],
        )
        request = Request[JoinGroupResponse](
            message, node_id=node_id, channel=Channel.GROUP, timeout_s=self._patience_s
        )
        response = yield from self._ask(request)
        if response.error_code != 0 and not self.is_abandoned():
            error = broker_error(response.error_code, group_id=member.group_id, api="JoinGroup", node=request.address)
            if isinstance(error, MemberIdRequired):
                member.member_id = response.member_id
            raise error
        return response

    def _ask(self, request: Request[R]) -> Operation[R]:
        self.holds_request = True
        try:
            return (yield from call(request))
        finally:
            self.holds_request = False

    def _subscription(self, assignor: Assignor) -> bytes:
        member = self._member
        user_data = getattr(assignor, "subscription_user_data", None)
        return write_subscription(
            MemberSubscription(
                topics=self.topics,
                owned=self._owned,
                generation=member.generation,
                rack=self._context.config.client_rack or None,
                user_data=None
                if user_data is None
                else user_data(sorted(self.topics), member.last_assigned, member.last_generation),
            )
        )

    def _accept(self, joined: JoinGroupResponse) -> None:
        if joined.protocol_type is not None and joined.protocol_type != PROTOCOL_TYPE:
            raise InconsistentGroupProtocol(
                f"the group speaks {joined.protocol_type!r}, not {PROTOCOL_TYPE!r}", group_id=self._member.group_id
            )
        self._member.member_id = joined.member_id
        self._member.generation = joined.generation_id

    # ---- the leader ----

    def _read(self, answer: JoinGroupResponseMember) -> Member:
        try:
            return read_member(answer.member_id, answer.group_instance_id, answer.metadata)
        except ProtocolError as error:
            # It gets nothing; the rest of the group goes on.
            logger.warning("%s: member %s is left out: %s", self._context.client_id, answer.member_id, error)
            return Member(answer.member_id, frozenset(), answer.group_instance_id)

    def _view(self, topics: frozenset[str]) -> Operation[TopicsView]:
        metadata = self._context.metadata
        if any(topic not in metadata.cluster.topics for topic in topics):
            deadline = (yield from now()) + TOPICS_PATIENCE_S
            try:
                yield from wait(metadata.wait_for_topics(topics, deadline))
            except KafkaError as error:
                # When they come to be, the watch over the view starts another round.
                logger.info("%s: assigning without some topics of the group: %s", self._context.client_id, error)
        else:
            metadata.add_topics(topics)
        return topics_view(metadata.cluster, topics)

    def _assign(
        self, protocol_name: str, members: Sequence[Member], view: TopicsView
    ) -> list[SyncGroupRequestAssignment]:
        assignor = next((each for each in self._assignors if each.name == protocol_name), None)
        if assignor is None:
            raise InconsistentGroupProtocol(
                f"the group chose assignor {protocol_name!r}, which this member does not have",
                group_id=self._member.group_id,
            )
        assigned = assignor.assign(view, members)
        return [
            SyncGroupRequestAssignment(
                member_id=member.member_id, assignment=write_assignment(assigned.get(member.member_id, ()))
            )
            for member in members
        ]

    # ---- sync ----

    def _sync(
        self, protocol_name: str | None, assignments: list[SyncGroupRequestAssignment]
    ) -> Operation[SyncGroupResponse]:
        member = self._member
        node_id = yield from self._context.coordinators.find(CoordinatorKind.GROUP, member.group_id)
        message = SyncGroupRequest(
            group_id=member.group_id,
            generation_id=member.generation,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=protocol_name,
            assignments=assignments,
        )
        request = Request[SyncGroupResponse](
            message, node_id=node_id, channel=Channel.GROUP, timeout_s=self._patience_s
        )
        response = yield from self._ask(request)
        if response.error_code != 0 and not self.is_abandoned():
            raise broker_error(response.error_code, group_id=member.group_id, api="SyncGroup", node=request.address)
        return response


__all__ = ["ClassicRound", "Joined", "MemberState", "TopicsView", "common_protocol", "resolve_assignors", "topics_view"]
