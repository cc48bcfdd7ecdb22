"""Staying alive in a group: when to try again, how long the user may stay away, and the classic heartbeat.

Runs on the reactor thread, so a member that is busy, asleep or stuck in its handler keeps its place, up to
max_poll_interval. Pure but for the requests it asks to be sent: time is an argument. Must never decide what an error
means for the membership: it reports, the membership decides.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Callable

from pykclient.client.coordinators import CoordinatorKind
from pykclient.client.engine import Operation, Poll
from pykclient.consumer.membership import GroupContext
from pykclient.errors import (
    Action,
    AuthenticationError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MaxPollExceeded,
    broker_error,
)
from pykclient.net.client_request import Channel, Request
from pykclient.net.completion import Completion
from pykclient.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykclient.types import ConsumerGroupMetadata

JITTER = 0.2
NOTICES_MAX = 100


class Verdict(enum.Enum):
    """What an error on a group request means, whatever the request."""

    RETRY = "the same again after the back-off"
    FIND_COORDINATOR = "look the coordinator up, then the same again"
    REJOIN = "we are not the member we thought, or the group moved on"
    RAISE = "the user must know; the next poll tries again"
    FATAL = "the user must know, at every call from now on"


def verdict(error: BaseException) -> Verdict:
    """The table of errors.py, seen from a group. Codes that make no sense here still end in one of these."""
    if isinstance(error, AuthenticationError) or not isinstance(error, KafkaError):
        return Verdict.RAISE
    if error.fatal:
        return Verdict.FATAL
    if isinstance(error, (KafkaConnectionError, KafkaTimeoutError)) or error.action is Action.FIND_COORDINATOR:
        return Verdict.FIND_COORDINATOR
    if error.action is Action.REJOIN:
        return Verdict.REJOIN
    if error.retriable or error.action is Action.UPDATE_EPOCH:
        return Verdict.RETRY
    return Verdict.RAISE


class Backoff:
    """Exponential, with jitter, between the configured limits."""

    def __init__(self, context: GroupContext) -> None:
        self._first_s = context.config.retry_backoff_ms / 1000
        self._most_s = context.config.retry_backoff_max_ms / 1000
        self._random = context.random
        self.attempts = 0

    def next_s(self) -> float:
        """How long to wait now; longer the next time."""
        pause_s = min(self._first_s * 2.0 ** min(self.attempts, 16), self._most_s)
        self.attempts += 1
        return pause_s * (1 + JITTER * (2 * self._random() - 1))

    def reset(self) -> None:
        """It worked."""
        self.attempts = 0


class PollInterval:
    """max_poll_interval_ms: how long ago the user polled, and what to say when it was too long."""

    def __init__(self, context: GroupContext) -> None:
        self._limit_ms = context.config.max_poll_interval_ms
        self._group_id = context.config.group_id
        self._polled_at = math.inf
        self._exceeded = False
        self.notices: deque[MaxPollExceeded] = deque(maxlen=NOTICES_MAX)

    @property
    def due_at(self) -> float:
        """When the user is late; never while that is known already."""
        return math.inf if self._exceeded else self._polled_at + self._limit_ms / 1000

    def exceeded(self, now: float) -> MaxPollExceeded | None:
        """Once per overrun: what to log."""
        if now < self.due_at:
            return None
        self._exceeded = True
        return self._describe(now)

    def polled(self, now: float) -> MaxPollExceeded | None:
        """The user is back; the notice when it was too late."""
        notice = None
        if self._exceeded:
            notice = self._describe(now)
            self.notices.append(notice)
        self._exceeded = False
        self._polled_at = now
        return notice

    def _describe(self, now: float) -> MaxPollExceeded:
        overrun_ms = int((now - self._polled_at) * 1000) - self._limit_ms
        return MaxPollExceeded(
            f"poll() was not called within max_poll_interval_ms={self._limit_ms}, overrun by {overrun_ms} ms, "
            "so this member left its group and rejoins with the next poll(); make handlers faster, lower "
            "max_poll_records or raise the limit",
            limit_ms=self._limit_ms,
            overrun_ms=overrun_ms,
            group_id=self._group_id,
        )


class Heartbeats:
    """The classic heartbeat."""

    def __init__(
        self,
        context: GroupContext,
        identity: Callable[[], ConsumerGroupMetadata],
        on_error: Callable[[BaseException], None],
    ) -> None:
        config = context.config
        assert config.group_id is not None, "only groups have heartbeats"
        self._group_id = config.group_id
        self._context = context
        self._identity = identity
        self._on_error = on_error
        self._interval_s = config.heartbeat_interval_ms / 1000
        self._session_s = config.session_timeout_ms / 1000
        # Three tries within a session: a coordinator that does not answer one is looked up again in time.
        self._patience_s = max(self._interval_s, min(config.request_timeout_ms / 1000, self._session_s / 3))
        self._backoff = Backoff(context)
        self._due_at = 0.0
        self._alive_until = math.inf
        self._in_flight: Request[HeartbeatResponse] | None = None
        self._finding = False

    def joined(self, now: float) -> None:
        """The coordinator has just answered a join or sync: its session timer starts again."""
        self._due_at = now + self._interval_s
        self._alive_until = now + self._session_s
        self._backoff.reset()

    def hurry(self) -> None:
        """Ask now."""
        self._due_at = 0.0

    def poll(self, now: float) -> Poll:
        """The next heartbeat when it is due."""
        if now >= self._alive_until:
            # Nobody answered for a whole session: whoever coordinates, it is not where we ask.
            self._context.coordinators.forget(CoordinatorKind.GROUP, self._group_id)
            self._alive_until = now + self._session_s
        if self._in_flight is not None or self._finding:
            return Poll(wake_at=self._alive_until)
        if now < self._due_at:
            return Poll(wake_at=min(self._due_at, self._alive_until))
        node_id = self._context.coordinators.known(CoordinatorKind.GROUP, self._group_id)
        if node_id is None:
            self._finding = True
            self._context.spawn(self._find())
            return Poll(wake_at=self._alive_until)
        return Poll([self._request(node_id, now)], wake_at=self._alive_until)

    def _find(self) -> Operation[None]:
        try:
            yield from self._context.coordinators.find(CoordinatorKind.GROUP, self._group_id)
            self._due_at = 0.0
        except KafkaError as error:
            self._failed(error)
        finally:
            self._finding = False

    def _request(self, node_id: int, now: float) -> Request[HeartbeatResponse]:
        member = self._identity()
        request = Request[HeartbeatResponse](
            HeartbeatRequest(
                group_id=member.group_id,
                generation_id=member.generation_id,
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
            ),
            node_id=node_id,
            channel=Channel.COORDINATOR,
            timeout_s=self._patience_s,
        )
        self._in_flight = request
        self._due_at = now + self._interval_s
        request.completion.add_callback(lambda answer: self._answered(request, member, answer))
        return request

    def _answered(
        self,
        request: Request[HeartbeatResponse],
        member: ConsumerGroupMetadata,
        answer: Completion[HeartbeatResponse],
    ) -> None:
        self._in_flight = None
        error = answer.error
        if error is None and answer.result().error_code != 0:
            error = broker_error(
                answer.result().error_code, group_id=self._group_id, api="Heartbeat", node=request.address
            )
        if error is None:
            self._backoff.reset()
            self._context.counts.heartbeat_answered(self._context.network.now)
            # Counted from when it left: the coordinator's own timer started no earlier than that.
            self._alive_until = (request.sent_at or self._context.network.now) + self._session_s
        elif self._identity() == member:  # else it is about who we were before
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        meaning = verdict(error)
        if meaning in (Verdict.RETRY, Verdict.FIND_COORDINATOR):
            self._due_at = self._context.network.now + self._backoff.next_s()
            if meaning is Verdict.FIND_COORDINATOR:
                self._context.coordinators.forget(CoordinatorKind.GROUP, self._group_id)
        else:
            self._on_error(error)


__all__ = ["Backoff", "Heartbeats", "PollInterval", "Verdict", "verdict"]
