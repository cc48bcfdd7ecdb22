"""A member of a consumer group (KIP-848): one heartbeat that says who we are, what we want and what we hold, and an
answer that says what to hold.

Runs on the reactor thread; the broker assigns. What runs the listener or takes partitions away happens in ``process``,
inside the user's poll; the next heartbeat acknowledges it. Every error either is retried, makes us join again, or is
raised by ``process``: a member never just stands still.
"""

from __future__ import annotations

import base64
import enum
import logging
from collections import deque
from uuid import UUID

from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation, Poll, call, now, sleep
from pykclient.consumer.handover import Handover
from pykclient.consumer.heartbeats import Backoff, PollInterval, Verdict, verdict
from pykclient.consumer.kip848_request import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    Facts,
    HeartbeatFields,
    PartitionId,
    partition_ids,
    topic_ids,
)
from pykclient.consumer.membership import GroupContext
from pykclient.consumer.subscription import SubscriptionKind
from pykclient.errors import KafkaError, MaxPollExceeded, RebalanceInProgress, broker_error
from pykclient.net.client_request import ApiVersions, Channel, Request
from pykclient.net.completion import Completion
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykclient.types import ConsumerGroupMetadata, TopicPartition

logger = logging.getLogger(__name__)

# The broker answers heartbeats at once, so silence means that something is broken.
ANSWER_PATIENCE_S = 5.0
LEAVE_PATIENCE_S = 5.0
# Until the broker has said how often it wants to hear from us.
FIRST_INTERVAL_S = 1.0
REGEX_VERSION = 1
METADATA_BY_ID_VERSION = 12
GROUP_VERSION = "group.version"

_FIRST_JOIN = "this member joined"
_BROKER = "the coordinator changed the assignment (a member joined or left, or topics changed)"


class Stage(enum.Enum):
    """Where a member stands."""

    OUT = "no member, and does not want to be"
    FENCED = "a member no longer; the next poll tells the listener what was lost and joins again"
    JOINING = "asks to be a member"
    STABLE = "holds what the broker wants it to hold, as far as it is known"
    RECONCILING = "the broker wants it to hold something else; the next poll hands over"


LEGAL: dict[Stage, frozenset[Stage]] = {
    Stage.OUT: frozenset({Stage.OUT, Stage.JOINING}),
    Stage.FENCED: frozenset({Stage.FENCED, Stage.JOINING, Stage.OUT}),
    Stage.JOINING: frozenset({Stage.STABLE, Stage.FENCED, Stage.OUT}),
    Stage.STABLE: frozenset({Stage.STABLE, Stage.RECONCILING, Stage.FENCED, Stage.OUT}),
    Stage.RECONCILING: frozenset({Stage.RECONCILING, Stage.STABLE, Stage.FENCED, Stage.OUT}),
}


def choose_protocol(versions: ApiVersions) -> tuple[str, str]:
    """``group_protocol=auto``: what to speak with these brokers, and why."""
    if versions.usable(ApiKey.CONSUMER_GROUP_HEARTBEAT) is None:
        return "classic", "the brokers do not offer ConsumerGroupHeartbeat"
    if versions.finalized_features.get(GROUP_VERSION, 0) < 1:
        return "classic", f"the cluster's {GROUP_VERSION} is below 1"
    return "consumer", "the brokers offer KIP-848"


class Kip848Membership:
    """See the module and ``Membership``."""

    def __init__(self, context: GroupContext) -> None:
        config = context.config
        assert config.group_id is not None, "a group needs an id"
        self._context = context
        self._group_id = config.group_id
        self._instance_id = config.group_instance_id
        self._member_id = _new_member_id(context)
        self._epoch = JOIN_EPOCH
        self._handover = Handover(context)
        self._interval = PollInterval(context)
        self._backoff = Backoff(context)
        self._fields = HeartbeatFields()
        self._stage = Stage.OUT
        self._target: frozenset[PartitionId] = frozenset()
        self._held: dict[TopicPartition, UUID] = {}
        self._regex_told = False
        self._in_flight: Request[ConsumerGroupHeartbeatResponse] | None = None
        self._finding = False
        self._resolving = False
        self._seen_update = -1
        self._due_at = 0.0
        self._interval_s = FIRST_INTERVAL_S
        self._cause = _FIRST_JOIN
        self._error: BaseException | None = None
        self._processing = False

    # ---- what others ask ---------------------------------------------------------------------------------------------

    @property
    def identity(self) -> ConsumerGroupMetadata:
        """See Membership. The generation is the member epoch."""
        epoch = self._epoch if self._epoch > 0 else -1
        return ConsumerGroupMetadata(self._group_id, epoch, self._member_id, self._instance_id)

    @property
    def stage(self) -> Stage:
        """Where we stand; for tests and metrics."""
        return self._stage

    @property
    def notices(self) -> deque[MaxPollExceeded]:
        """The last times this member left because it did not poll."""
        return self._interval.notices

    def needs_user(self) -> bool:
        """See Membership."""
        return (
            self._error is not None
            or self._handover.pending
            or self._stage in (Stage.FENCED, Stage.RECONCILING)
            or (self._stage is Stage.OUT and self._wanted())
        )

    def polled(self, now: float) -> None:
        """See Membership."""
        notice = self._interval.polled(now)
        if notice is not None:
            logger.info("%s: %s", self._context.client_id, notice)

    def subscription_changed(self) -> None:
        """See Membership."""
        if self._stage in (Stage.STABLE, Stage.RECONCILING, Stage.JOINING) and self._wanted():
            if not self._fields.up_to_date(self._facts()):
                self._cause = "this member's subscription changed"
                self._due_at = min(self._due_at, self._context.network.now)
        elif self.needs_user():
            self._context.attention()

    def rejoin(self, reason: str) -> None:
        """See Membership. The broker decides when to rebalance; a member cannot ask for it."""
        logger.info("%s: the broker assigns in group %s; nothing to enforce", self._context.client_id, self._group_id)

    def lost(self, error: BaseException) -> None:
        """See Membership."""
        if verdict(error) is Verdict.FATAL:
            self._surface(error)
        else:
            # The next answer brings the epoch that commits need, or says that we are out.
            self._due_at = min(self._due_at, self._context.network.now)

    def fail(self, error: BaseException) -> None:
        """See Manager."""
        self._error = self._error or error

    def _wanted(self) -> bool:
        return self._context.subscription.kind in (
            SubscriptionKind.TOPICS,
            SubscriptionKind.PATTERN,
            SubscriptionKind.BROKER_PATTERN,
        )

    def _facts(self) -> Facts:
        config, subscription = self._context.config, self._context.subscription
        with subscription.lock:
            by_broker = subscription.kind is SubscriptionKind.BROKER_PATTERN
            regex = subscription.broker_pattern if by_broker else "" if self._regex_told else None
            owned = frozenset((self._held[tp], tp.partition) for tp in subscription.partitions if tp in self._held)
            topics = frozenset() if by_broker else subscription.topics
        return Facts(
            instance_id=self._instance_id,
            rack_id=config.client_rack or None,
            rebalance_timeout_ms=config.max_poll_interval_ms,
            topics=topics,
            regex=regex,
            assignor=config.group_remote_assignor,
            owned=owned,
        )

    # ---- manager: heartbeats -----------------------------------------------------------------------------------------

    def poll(self, now: float) -> Poll:
        """See Manager."""
        if self._stage in (Stage.OUT, Stage.FENCED):
            return Poll()
        late = self._interval.exceeded(now)
        if late is not None:
            self._leave_late(late)
            return Poll()
        self._look_at_topics()
        wake_at = self._interval.due_at
        if self._in_flight is not None or self._finding or self._error is not None:
            return Poll(wake_at=wake_at)
        if now < self._due_at:
            return Poll(wake_at=min(wake_at, self._due_at))
        node_id = self._context.coordinators.known(CoordinatorKind.GROUP, self._group_id)
        if node_id is None:
            self._finding = True
            self._context.spawn(self._find())
            return Poll(wake_at=wake_at)
        return Poll([self._heartbeat(node_id)], wake_at=wake_at)

    def _find(self) -> Operation[None]:
        try:
            yield from self._context.coordinators.find(CoordinatorKind.GROUP, self._group_id)
        except KafkaError as error:
            self._failed(error)
        finally:
            self._finding = False

    def _heartbeat(self, node_id: int) -> Request[ConsumerGroupHeartbeatResponse]:
        facts = self._facts()
        request = Request[ConsumerGroupHeartbeatResponse](
            self._fields.message(self._group_id, self._member_id, self._epoch, facts),
            node_id=node_id,
            channel=Channel.COORDINATOR,
            timeout_s=min(ANSWER_PATIENCE_S, self._context.config.request_timeout_ms / 1000),
            version_min=REGEX_VERSION if facts.regex else 0,
        )
        self._regex_told = self._regex_told or bool(facts.regex)
        self._in_flight = request
        self._due_at = self._context.network.now + self._interval_s
        request.completion.add_callback(lambda answer: self._answered(request, facts, answer))
        return request

    def _answered(
        self,
        request: Request[ConsumerGroupHeartbeatResponse],
        facts: Facts,
        answer: Completion[ConsumerGroupHeartbeatResponse],
    ) -> None:
        if self._in_flight is not request:
            return  # about who we were before
        self._in_flight = None
        error = answer.error
        if error is None:
            response = answer.result()
            if response.error_code == 0:
                self._accepted(response, facts)
                return
            error = broker_error(
                response.error_code,
                response.error_message,
                group_id=self._group_id,
                api="ConsumerGroupHeartbeat",
                node=request.address,
            )
        self._fields.forget()
        self._failed(error)

    def _accepted(self, response: ConsumerGroupHeartbeatResponse, facts: Facts) -> None:
        self._backoff.reset()
        self._context.counts.heartbeat_answered(self._context.network.now)
        self._fields.confirmed(facts)
        self._epoch = response.member_epoch
        if response.member_id:
            self._member_id = response.member_id
        if response.heartbeat_interval_ms > 0:
            self._interval_s = response.heartbeat_interval_ms / 1000
        self._due_at = self._context.network.now + self._interval_s
        if self._stage is Stage.JOINING:
            self._to(Stage.STABLE)
        if response.assignment is not None:
            self._target = partition_ids(response.assignment)
            self._seen_update = -1
            self._look_at_topics()
        if not self._fields.up_to_date(self._facts()):
            self._due_at = self._context.network.now  # something changed while it was under way

    def _failed(self, error: BaseException) -> None:
        """A heartbeat, or the search for whom to send it to."""
        if self._stage in (Stage.OUT, Stage.FENCED):
            return
        meaning = verdict(error)
        if meaning is Verdict.REJOIN and not isinstance(error, RebalanceInProgress):
            self._fence(f"the coordinator no longer knew this member ({type(error).__name__})")
        elif meaning in (Verdict.RAISE, Verdict.FATAL):
            self._surface(error)
        else:
            if meaning is Verdict.FIND_COORDINATOR:
                self._context.coordinators.forget(CoordinatorKind.GROUP, self._group_id)
            self._due_at = self._context.network.now + self._backoff.next_s()

    # ---- transitions -------------------------------------------------------------------------------------------------

    def _to(self, stage: Stage) -> None:
        assert stage in LEGAL[self._stage], f"{self._stage.name} -> {stage.name}"
        self._stage = stage

    def _fence(self, cause: str) -> None:
        """No longer a member; what we held may be others' already."""
        self._forget()
        self._handover.lose_all()
        self._cause = cause
        self._to(Stage.FENCED)
        self._context.attention()

    def _forget(self) -> None:
        self._in_flight = None
        self._epoch = JOIN_EPOCH
        self._target = frozenset()
        self._held.clear()
        self._fields.forget()

    def _surface(self, error: BaseException) -> None:
        """For ``process`` to raise: once, or for ever when it is fatal."""
        if not self._fatal():
            self._error = error
        if self._fatal() and self._stage is not Stage.OUT:
            self._fence("a fatal error")
        self._context.attention()

    def _fatal(self) -> bool:
        return self._error is not None and verdict(self._error) is Verdict.FATAL

    def _leave_late(self, late: MaxPollExceeded) -> None:
        logger.warning("%s (member %s): %s", self._context.client_id, self._member_id, late)
        member_id, joined = self._member_id, self._epoch != JOIN_EPOCH
        self._fence("this member was too slow to poll")
        if joined:
            self._context.spawn(self._send_leave(member_id))

    # ---- the target --------------------------------------------------------------------------------------------------

    def _look_at_topics(self) -> None:
        """Compare what we hold with what the broker wants, as far as we know its topics."""
        cluster = self._context.metadata.cluster
        if cluster.update_count == self._seen_update or self._stage not in (Stage.STABLE, Stage.RECONCILING):
            return
        self._seen_update = cluster.update_count
        unknown = {topic_id for topic_id in topic_ids(self._target) if cluster.topic_name(topic_id) is None}
        if unknown and not self._resolving:
            self._resolving = True
            self._context.spawn(self._resolve())
        going, coming = self._difference()
        if going or coming:
            self._handover.mark_revoking(going)
            self._to(Stage.RECONCILING)
            self._context.attention()
        elif self._stage is Stage.RECONCILING and not self._processing:
            self._to(Stage.STABLE)

    def _named_target(self) -> dict[TopicPartition, UUID]:
        cluster = self._context.metadata.cluster
        names = {topic_id: cluster.topic_name(topic_id) for topic_id in topic_ids(self._target)}
        return {
            TopicPartition(name, number): topic_id
            for topic_id, number in self._target
            if (name := names[topic_id]) is not None
        }

    def _difference(self) -> tuple[set[TopicPartition], set[TopicPartition]]:
        """What has to go and what is to come. A topic made again under its name is both."""
        target, owned = self._named_target(), self._handover.owned()
        going = {tp for tp in owned if (self._held.get(tp), tp.partition) not in self._target}
        coming = {tp for tp, topic_id in target.items() if tp not in owned or self._held.get(tp) != topic_id}
        return going, coming

    def _resolve(self) -> Operation[None]:
        """Ask for topics that are known by their id only: new ones, or those that the broker's pattern found."""
        backoff = Backoff(self._context)
        metadata = self._context.metadata
        try:
            while True:
                unknown = sorted(each for each in topic_ids(self._target) if metadata.cluster.topic_name(each) is None)
                if not unknown or self._stage not in (Stage.STABLE, Stage.RECONCILING):
                    return
                try:
                    question = _question(unknown)
                    response = yield from call(question)
                    metadata.apply(response, (yield from now()), question.address)
                    metadata.add_topics(
                        topic.name for topic in response.topics if topic.error_code == 0 and topic.name is not None
                    )
                except KafkaError as error:
                    if verdict(error) in (Verdict.RAISE, Verdict.FATAL):
                        self._surface(error)
                        return
                self._look_at_topics()
                yield from sleep(backoff.next_s())
        finally:
            self._resolving = False

    # ---- inside poll -------------------------------------------------------------------------------------------------

    def process(self) -> Operation[None]:
        """See Membership. It never waits for the broker: answers come beside it and call for attention."""
        if self._processing:
            return  # a listener polls: what it waits for is itself
        self._processing = True
        try:
            while True:
                if self._handover.pending:
                    yield from self._handover.settle()
                elif self._error is not None:
                    self._raise()
                elif self._stage is Stage.RECONCILING:
                    yield from self._reconcile()
                elif self._stage is Stage.FENCED or (self._stage is Stage.OUT and self._wanted()):
                    self._due_at = 0.0
                    self._to(Stage.JOINING)
                else:
                    return
        finally:
            self._processing = False

    def _raise(self) -> None:
        error = self._error
        assert error is not None, "something to raise"
        if not self._fatal():
            self._error = None
            self._due_at = self._context.network.now + self._backoff.next_s()
        raise error

    def _reconcile(self) -> Operation[None]:
        """Give up what has to go, take what comes, and have the next heartbeat say so."""
        going, _ = self._difference()
        if going:
            yield from self._handover.give_up(going)
            for tp in going:
                self._held.pop(tp, None)
            if self._stage is not Stage.RECONCILING:
                return  # fenced meanwhile
        # The target may have changed while the listener worked; what it asks for now is what counts.
        late, coming = self._difference()
        if late:
            self._handover.mark_revoking(late)
            return
        target = self._named_target()
        self._held.update((tp, target[tp]) for tp in coming)
        self._to(Stage.STABLE)
        self._due_at = self._context.network.now
        cause, self._cause = self._cause, _BROKER
        self._context.counts.rebalanced(self._context.network.now)
        logger.info(
            "%s: group %s, member epoch %d: %d partitions assigned (%d new, %d given up); cause: %s",
            self._context.client_id,
            self._group_id,
            self._epoch,
            len(target),
            len(coming),
            len(going),
            cause,
        )
        yield from self._handover.take(target)

    # ---- leaving -----------------------------------------------------------------------------------------------------

    def leave(self, reason: str) -> Operation[None]:
        """See Membership."""
        failure: Exception | None = None
        try:
            if self._handover.pending:
                yield from self._handover.settle()
            yield from self._handover.give_up(self._handover.owned())
        except Exception as error:
            failure = error  # the listener's; we leave in any case
        # Also while joining: the broker may have taken us in without our knowing it yet.
        was_member = self._stage not in (Stage.OUT, Stage.FENCED)
        self._to(Stage.OUT)
        self._forget()
        if was_member:
            yield from self._send_leave(self._member_id)
        if failure is not None:
            raise failure

    def _send_leave(self, member_id: str) -> Operation[None]:
        """Once; when it does not arrive the session ends by itself. A static member keeps its place for a while."""
        node_id = self._context.coordinators.known(CoordinatorKind.GROUP, self._group_id)
        if node_id is None:
            return
        message = ConsumerGroupHeartbeatRequest(
            group_id=self._group_id,
            member_id=member_id,
            member_epoch=LEAVE_EPOCH if self._instance_id is None else STATIC_LEAVE_EPOCH,
            instance_id=self._instance_id,
        )
        request = Request[ConsumerGroupHeartbeatResponse](
            message, node_id=node_id, channel=Channel.COORDINATOR, timeout_s=LEAVE_PATIENCE_S
        )
        try:
            yield from call(request)
        except KafkaError as error:
            logger.debug("%s: leaving group %s: %s", self._context.client_id, self._group_id, error)


def _question(ids: list[UUID]) -> Request[MetadataResponse]:
    topics = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in ids]
    return Request[MetadataResponse](
        MetadataRequest(topics=topics, allow_auto_topic_creation=False), version_min=METADATA_BY_ID_VERSION
    )


def _new_member_id(context: GroupContext) -> str:
    """A random id in the form Kafka prints its own; the member names itself (KIP-1082)."""
    chance = bytes(int(context.random() * 256) for _ in range(16))
    return base64.urlsafe_b64encode(chance).decode("ascii").rstrip("=")


__all__ = ["Kip848Membership", "Stage", "choose_protocol"]
