"""The seam between a consumer and its group: what the facade asks of either protocol, classic or KIP-848.

A membership is a manager and a set of operations on the reactor thread. Whatever must run user code (listeners) or must
happen while the user is not working on records (giving partitions up) is done in ``process``, which the consumer runs
inside ``poll``; everything else, heartbeats first of all, goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from pykclient.client.coordinators import Coordinators
from pykclient.client.engine import Operation, Poll
from pykclient.client.metadata import MetadataManager
from pykclient.config import ConsumerConfig
from pykclient.consumer.metrics import ConsumerCounts
from pykclient.consumer.subscription import Subscription
from pykclient.errors import MaxPollExceeded
from pykclient.net.network_client import NetworkClient
from pykclient.plugins import RebalanceListener
from pykclient.types import ConsumerGroupMetadata


@dataclass(slots=True)
class GroupContext:
    """What a membership works with. ``listener`` changes with subscribe()."""

    config: ConsumerConfig
    client_id: str
    subscription: Subscription
    network: NetworkClient
    metadata: MetadataManager
    coordinators: Coordinators
    spawn: Callable[[Operation[None]], object]
    """Start an operation on the reactor thread."""
    attention: Callable[[], None]
    """Tell the polling thread that ``process`` has something to do; wakes a poll that waits."""
    commit_before_revoke: Callable[[], Operation[None]]
    """Commit what was consumed, when enable_auto_commit is on; never raises for lost membership."""
    random: Callable[[], float]
    listener: RebalanceListener | None = None
    counts: ConsumerCounts = field(default_factory=ConsumerCounts)


class Membership(Protocol):
    """One consumer's place in its group."""

    def poll(self, now: float) -> Poll:
        """Manager: heartbeats and everything that needs no user code."""
        ...

    def fail(self, error: BaseException) -> None:
        """Manager: the client ends."""
        ...

    @property
    def identity(self) -> ConsumerGroupMetadata:
        """Group, generation or member epoch, member id: for commits and for transactions (KIP-447)."""
        ...

    @property
    def notices(self) -> Collection[MaxPollExceeded]:
        """The last times this member left because it did not poll."""
        ...

    def subscription_changed(self) -> None:
        """subscribe() or unsubscribe() was called, or the topics that match a pattern changed. Reactor thread."""
        ...

    def needs_user(self) -> bool:
        """Whether ``process`` has something to do now."""
        ...

    def process(self) -> Operation[None]:
        """Inside poll: run listeners (by ``invoke``), give partitions up, take new ones, join or rejoin. Raises fatal
        errors (FencedInstanceId, GroupAuthorizationFailed, ...) and MaxPollExceeded's notice. Returns when nothing is
        left to do with the user's thread."""
        ...

    def polled(self, now: float) -> None:
        """The user called poll: max_poll_interval starts again. Time inside poll does not count."""
        ...

    def rejoin(self, reason: str) -> None:
        """enforce_rebalance()."""
        ...

    def lost(self, error: BaseException) -> None:
        """A commit was refused because we are not, or no longer, this member: act on it."""
        ...

    def leave(self, reason: str) -> Operation[None]:
        """close() or unsubscribe(): give all up (listener told) and leave, unless static."""
        ...


__all__ = ["GroupContext", "Membership"]
