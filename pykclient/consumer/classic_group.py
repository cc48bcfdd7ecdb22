"""A member of a classic group: joins, keeps alive, hands partitions over, leaves (KIP-62, KIP-345, KIP-429, KIP-559).

Runs on the reactor thread. Rounds (classic_round.py) and heartbeats go on without the user; what runs the listener or
takes partitions away happens in ``process``, inside the user's poll, and no JoinGroup leaves before the listener has
let go. Every error either is retried, makes us rejoin, or is raised by ``process``: a member never just stands still.
"""

from __future__ import annotations

import enum
import logging
from collections import deque

from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation, Poll, call, sleep
from pykclient.consumer.classic_round import (
    ClassicRound,
    Joined,
    MemberState,
    common_protocol,
    resolve_assignors,
    topics_view,
)
from pykclient.consumer.group_members import NO_GENERATION, RebalanceProtocol
from pykclient.consumer.handover import Handover
from pykclient.consumer.heartbeats import Backoff, Heartbeats, PollInterval, Verdict, verdict
from pykclient.consumer.membership import GroupContext
from pykclient.consumer.subscription import SubscriptionKind
from pykclient.errors import (
    IllegalGeneration,
    IllegalStateError,
    KafkaError,
    MaxPollExceeded,
    MemberIdRequired,
    RebalanceInProgress,
)
from pykclient.net.client_request import Channel, Request
from pykclient.net.failures import RequestExpired
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from pykclient.types import ConsumerGroupMetadata, TopicPartition

logger = logging.getLogger(__name__)

# The coordinator may hold a JoinGroup for a whole rebalance, which cannot be told from a connection that died silently.
# Sending it again is harmless (the coordinator keeps the newer one), so we do, after this long at first.
ROUND_PATIENCE_S = 5.0
ROUND_GRACE_S = 5.0
LEAVE_PATIENCE_S = 5.0
# Trying in vain for this long is worth a warning.
SILENCE_S_MAX = 30.0


class Stage(enum.Enum):
    """Where a member stands."""

    OUT = "no member, and does not want to be"
    PREPARING = "must join; the next poll gives up what has to go and starts the round"
    JOINING = "a round is under way"
    TAKING = "the round ended with an assignment; the next poll takes it"
    STABLE = "reads its partitions"


LEGAL: dict[Stage, frozenset[Stage]] = {
    Stage.OUT: frozenset({Stage.OUT, Stage.PREPARING}),
    Stage.PREPARING: frozenset({Stage.PREPARING, Stage.JOINING, Stage.OUT}),
    Stage.JOINING: frozenset({Stage.TAKING, Stage.PREPARING, Stage.OUT}),
    Stage.TAKING: frozenset({Stage.STABLE, Stage.PREPARING, Stage.OUT}),
    Stage.STABLE: frozenset({Stage.PREPARING, Stage.OUT}),
}

_FIRST_JOIN = "this member joined"
_OTHERS = "another member joined, left or changed its subscription"


class ClassicMembership:
    """See the module and ``Membership``."""

    def __init__(self, context: GroupContext) -> None:
        config = context.config
        assert config.group_id is not None, "a group needs an id"
        self._context = context
        self._member = MemberState(config.group_id, config.group_instance_id)
        self._assignors = resolve_assignors(config.partition_assignment_strategy)
        self._protocol = common_protocol(self._assignors)
        self._handover = Handover(context)
        self._heartbeats = Heartbeats(context, self._member.identity, self._on_heartbeat_error)
        self._interval = PollInterval(context)
        self._backoff = Backoff(context)
        self._stage = Stage.OUT
        self._round: ClassicRound | None = None
        self._joined: Joined | None = None
        self._taking: Joined | None = None
        self._before: set[TopicPartition] = set()
        self._reason = _FIRST_JOIN
        self._again: str | None = None
        self._expired_rounds = 0
        self._ids_given = 0
        self._seen_update = -1
        self._error: BaseException | None = None
        self._processing = False

    # ---- what others ask ---------------------------------------------------------------------------------------------

    @property
    def identity(self) -> ConsumerGroupMetadata:
        """See Membership."""
        return self._member.identity()

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
            or self._stage in (Stage.PREPARING, Stage.TAKING)
            or (self._stage is Stage.OUT and self._wanted())
        )

    def polled(self, now: float) -> None:
        """See Membership."""
        notice = self._interval.polled(now)
        if notice is not None:
            logger.info("%s: %s", self._context.client_id, notice)

    def subscription_changed(self) -> None:
        """See Membership."""
        if self._stage is Stage.OUT:
            if self._wanted():
                self._request_join(_FIRST_JOIN)
        elif self._wanted() and self._told_topics() != self._handover.topics():
            self._request_join("this member's subscription changed")

    def rejoin(self, reason: str) -> None:
        """See Membership."""
        if self._stage is not Stage.OUT:
            self._request_join(reason or "a rebalance was enforced")

    def lost(self, error: BaseException) -> None:
        """See Membership."""
        if verdict(error) is Verdict.FATAL:
            self._surface(error)
        else:
            # The commit may have been sent by who we were a generation ago; the coordinator knows who we are now.
            self._heartbeats.hurry()

    def fail(self, error: BaseException) -> None:
        """See Manager."""
        self._error = self._error or error

    def _wanted(self) -> bool:
        return self._context.subscription.kind in (
            SubscriptionKind.TOPICS,
            SubscriptionKind.PATTERN,
            SubscriptionKind.BROKER_PATTERN,
        )

    def _told_topics(self) -> frozenset[str] | None:
        """The topics of the round under way, or of the last one."""
        if self._round is not None:
            return self._round.topics
        return None if self._joined is None else self._joined.topics

    # ---- manager -----------------------------------------------------------------------------------------------------

    def poll(self, now: float) -> Poll:
        """See Manager."""
        if self._stage is Stage.OUT:
            return Poll()
        if self._stage is Stage.JOINING or self._member.generation != NO_GENERATION:
            late = self._interval.exceeded(now)
            if late is not None:
                self._leave_late(late)
        self._watch_topics()
        if not self._heartbeats_wanted():
            return Poll(wake_at=self._interval.due_at)
        answer = self._heartbeats.poll(now)
        return answer._replace(wake_at=min(answer.wake_at, self._interval.due_at))

    def _heartbeats_wanted(self) -> bool:
        if self._member.generation == NO_GENERATION or self._fatal():
            return False
        return self._round is None or not self._round.holds_request

    def _watch_topics(self) -> None:
        """The leader: partitions that come or go need a new assignment."""
        joined, cluster = self._joined, self._context.metadata.cluster
        if cluster.update_count == self._seen_update or joined is None or not joined.leads or not cluster.brokers:
            return
        self._seen_update = cluster.update_count
        if (
            self._stage in (Stage.STABLE, Stage.TAKING)
            and self._again is None
            and topics_view(cluster, joined.group_topics) != joined.view
        ):
            self._request_join("the partitions of a subscribed topic changed")

    def _on_heartbeat_error(self, error: BaseException) -> None:
        """A heartbeat was refused for what it says about us."""
        if isinstance(error, RebalanceInProgress):
            # While a round is under way it is old news: the answer to a heartbeat that left before.
            if self._stage is not Stage.JOINING:
                self._request_join(_OTHERS)
            return
        meaning = verdict(error)
        if meaning is Verdict.REJOIN:
            self._lose(
                f"the coordinator no longer knew this member ({type(error).__name__}), its session expired perhaps",
                keep_member_id=isinstance(error, IllegalGeneration),
            )
        elif meaning in (Verdict.RAISE, Verdict.FATAL):
            self._surface(error)

    def _leave_late(self, late: MaxPollExceeded) -> None:
        logger.warning("%s (member %s): %s", self._context.client_id, self._member.member_id, late)
        member = self.identity
        self._lose("this member was too slow to poll", keep_member_id=False)
        if member.member_id and member.group_instance_id is None:
            self._context.spawn(self._send_leave(member, "poll() was not called within max.poll.interval.ms"))

    # ---- transitions -------------------------------------------------------------------------------------------------

    def _to(self, stage: Stage) -> None:
        assert stage in LEGAL[self._stage], f"{self._stage.name} -> {stage.name}"
        self._stage = stage

    def _request_join(self, reason: str) -> None:
        """Have another round as soon as the user polls."""
        if self._stage in (Stage.JOINING, Stage.TAKING):
            self._again = self._again or reason
            return
        if self._stage is not Stage.PREPARING:
            self._reason = reason
            self._to(Stage.PREPARING)
            if self._protocol is RebalanceProtocol.EAGER:
                self._handover.mark_revoking()
        self._context.attention()

    def _lose(self, reason: str, *, keep_member_id: bool) -> None:
        """We are a member no longer; what we held may be others' already."""
        self._abandon_round()
        self._member.forget(keep_member_id=keep_member_id)
        self._handover.lose_all()
        self._taking = self._again = None
        self._before.clear()
        if self._stage is not Stage.OUT:
            self._reason = reason
            self._to(Stage.PREPARING)
        self._context.attention()

    def _surface(self, error: BaseException) -> None:
        """For ``process`` to raise: once, or for ever when it is fatal."""
        if not self._fatal():
            self._error = error
        if self._fatal():
            self._abandon_round()
            self._member.forget(keep_member_id=True)
            self._handover.lose_all()
        if self._stage in (Stage.JOINING, Stage.TAKING, Stage.STABLE) and (self._fatal() or self._round is None):
            self._to(Stage.PREPARING)
        self._context.attention()

    def _fatal(self) -> bool:
        return self._error is not None and verdict(self._error) is Verdict.FATAL

    def _abandon_round(self) -> None:
        abandoned, self._round = self._round, None
        if abandoned is None:
            return
        abandoned.abandon()
        node_id = self._context.coordinators.known(CoordinatorKind.GROUP, self._member.group_id)
        if abandoned.holds_request and node_id is not None:
            # The coordinator answers one request after the other: what comes next must not wait behind this one.
            self._context.network.disconnect(node_id, "a join was given up", Channel.COORDINATOR)
        if self._stage is Stage.JOINING:
            self._to(Stage.PREPARING)

    # ---- inside poll -------------------------------------------------------------------------------------------------

    def process(self) -> Operation[None]:
        """See Membership. It never waits for the group: rounds run beside it and call for attention when they end."""
        if self._processing:
            return  # a listener polls: what it waits for is itself
        self._processing = True
        try:
            while True:
                if self._handover.pending:
                    yield from self._handover.settle()
                elif self._error is not None:
                    self._raise()
                elif self._stage is Stage.TAKING:
                    yield from self._take()
                elif self._stage is Stage.PREPARING:
                    yield from self._prepare()
                elif self._stage is Stage.OUT and self._wanted():
                    self._request_join(_FIRST_JOIN)
                else:
                    return
        finally:
            self._processing = False

    def _raise(self) -> None:
        error = self._error
        assert error is not None, "something to raise"
        if not self._fatal():
            self._error = None
        raise error

    def _prepare(self) -> Operation[None]:
        """Give up what has to go before a join, then start the round."""
        subscription = self._context.subscription
        if subscription.kind is SubscriptionKind.BROKER_PATTERN:
            raise IllegalStateError("a pattern matched by the broker needs group_protocol=consumer")
        topics = self._handover.topics()
        going = self._handover.owned()
        if self._protocol is RebalanceProtocol.COOPERATIVE:
            going = {tp for tp in going if tp.topic not in topics}
        self._before |= self._handover.owned()
        yield from self._handover.give_up(going)
        # While the listener worked, the world went on: membership may be lost, or the subscription another one.
        if (
            self._stage is Stage.PREPARING
            and self._error is None
            and not self._handover.pending
            and topics == self._handover.topics()
        ):
            self._to(Stage.JOINING)
            self._round = self._new_round()
            self._context.spawn(self._run_rounds())

    def _take(self) -> Operation[None]:
        """Take the assignment, after giving up what it takes away."""
        joined = self._taking
        assert joined is not None, "an assignment to take"
        topics = self._handover.topics()
        assigned = {tp for tp in joined.partitions if tp.topic in topics}
        if topics != joined.topics:
            self._again = self._again or "this member's subscription changed"
        going = self._handover.owned() - assigned
        self._before |= self._handover.owned()
        if going:
            self._handover.mark_revoking(going)
            # Their new owners get them in the next round, when all have let go.
            self._again = self._again or "this member gave up partitions for others"
            yield from self._handover.give_up(going)
            if self._taking is not joined:
                return  # lost meanwhile
        before, self._before = self._before, set()
        self._taking = None
        self._to(Stage.STABLE)
        self._context.counts.rebalanced(self._context.network.now)
        logger.info(
            "%s: group %s, generation %d: %d partitions assigned (%d new, %d given up); cause: %s",
            self._context.client_id,
            self._member.group_id,
            self._member.generation,
            len(assigned),
            len(assigned - before),
            len(before - assigned),
            self._reason,
        )
        again, self._again = self._again, None
        # Before the listener is told, so that nothing is forgotten when it raises; the round starts after it.
        if again is not None:
            self._request_join(again)
        yield from self._handover.take(assigned)

    # ---- the round ---------------------------------------------------------------------------------------------------

    def _new_round(self) -> ClassicRound:
        longest_s = self._context.config.max_poll_interval_ms / 1000 + ROUND_GRACE_S
        return ClassicRound(
            self._context,
            self._assignors,
            self._member,
            reason=self._reason,
            patience_s=min(ROUND_PATIENCE_S * 2.0 ** min(self._expired_rounds, 16), longest_s),
            owned=self._handover.owned(),
            topics=self._handover.topics(),
            on_joined=self._heartbeats.joined,
        )

    def _run_rounds(self) -> Operation[None]:
        """Until one succeeds, needs the user, or is abandoned."""
        failing_since: float | None = None
        self._backoff.reset()
        self._ids_given = 0
        while (current := self._round) is not None:
            try:
                joined = yield from current.run()
            except Exception as error:
                # Anything: the assignor is the user's code, and whatever it raises belongs to the user's poll.
                if current.is_abandoned():
                    return
                self._round = None
                pause_s = self._after_failure(error)
                if pause_s is None:
                    return
                failing_since = self._note_failure(failing_since, error)
                self._round = following = self._new_round()
                yield from sleep(pause_s)
                if following.is_abandoned():
                    return
            else:
                if joined is not None and not current.is_abandoned():
                    self._succeeded(joined)
                return

    def _note_failure(self, since: float | None, error: BaseException) -> float | None:
        if isinstance(error, RequestExpired):
            return None  # others may take their time to give up partitions
        if since is None or self._context.network.now - since < SILENCE_S_MAX:
            return self._context.network.now if since is None else since
        logger.warning(
            "%s: group %s: cannot join since %.0f s, still trying: %s",
            self._context.client_id,
            self._member.group_id,
            self._context.network.now - since,
            error,
        )
        return self._context.network.now

    def _after_failure(self, error: Exception) -> float | None:
        """How long to wait before the next round; None when the round needs the user first."""
        if isinstance(error, MemberIdRequired):
            # An ordinary step of the first join, unless the coordinator asks for it again and again.
            self._ids_given += 1
            return 0.0 if self._ids_given == 1 else self._backoff.next_s()
        self._expired_rounds = self._expired_rounds + 1 if isinstance(error, RequestExpired) else 0
        meaning = verdict(error)
        if meaning in (Verdict.RAISE, Verdict.FATAL):
            self._surface(error)
            return None
        if meaning is Verdict.FIND_COORDINATOR:
            self._context.coordinators.forget(CoordinatorKind.GROUP, self._member.group_id)
        if meaning is Verdict.REJOIN and not isinstance(error, RebalanceInProgress):
            self._member.forget(keep_member_id=isinstance(error, IllegalGeneration))
            if self._handover.owned():
                self._lose(f"the coordinator no longer knew this member ({type(error).__name__})", keep_member_id=True)
                return None
        if self._again is not None:
            # The user changed something; it may have to give up partitions before we ask again.
            self._reason, self._again = self._again, None
            self._to(Stage.PREPARING)
            self._context.attention()
            return None
        return self._backoff.next_s()

    def _succeeded(self, joined: Joined) -> None:
        self._expired_rounds = 0
        if joined.leads and self._reason == _OTHERS:
            self._reason = _difference(self._joined, joined)
        self._round = None
        self._joined = self._taking = joined
        self._seen_update = -1
        self._member.last_assigned = list(joined.partitions)
        self._member.last_generation = self._member.generation
        self._to(Stage.TAKING)
        if self._protocol is RebalanceProtocol.COOPERATIVE:
            self._handover.mark_revoking(self._handover.owned() - set(joined.partitions))
        self._context.attention()

    # ---- leaving -----------------------------------------------------------------------------------------------------

    def leave(self, reason: str) -> Operation[None]:
        """See Membership."""
        self._abandon_round()
        self._taking = self._again = None
        failure: Exception | None = None
        try:
            if self._handover.pending:
                yield from self._handover.settle()
            yield from self._handover.give_up(self._handover.owned())
        except Exception as error:
            failure = error  # the listener's; we leave in any case
        member = self.identity
        self._to(Stage.OUT)
        self._joined = None
        self._member.forget(keep_member_id=False)
        if member.member_id and member.group_instance_id is None:
            yield from self._send_leave(member, reason)
        if failure is not None:
            raise failure

    def _send_leave(self, member: ConsumerGroupMetadata, reason: str) -> Operation[None]:
        """Once; when it does not arrive the session ends by itself."""
        node_id = self._context.coordinators.known(CoordinatorKind.GROUP, member.group_id)
        if node_id is None:
            return

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                return LeaveGroupRequest(group_id=member.group_id, member_id=member.member_id)
            return LeaveGroupRequest(
                group_id=member.group_id, members=[MemberIdentity(member_id=member.member_id, reason=reason[:255])]
            )

        request = Request[LeaveGroupResponse](
            api_key=ApiKey.LEAVE_GROUP,
            build=build,
            node_id=node_id,
            channel=Channel.COORDINATOR,
            timeout_s=LEAVE_PATIENCE_S,
        )
        try:
            yield from call(request)
        except KafkaError as error:
            logger.debug("%s: leaving group %s: %s", self._context.client_id, member.group_id, error)


def _difference(before: Joined | None, after: Joined) -> str:
    """Who came and went, as the leader can tell."""
    if before is None or not before.members:
        return _OTHERS
    came, went = sorted(after.members - before.members), sorted(before.members - after.members)
    changes = [f"member {name} joined" for name in came]
    changes += [f"member {name} left or its session expired" for name in went]
    return ", ".join(changes) or _OTHERS


__all__ = ["ClassicMembership", "Stage"]
