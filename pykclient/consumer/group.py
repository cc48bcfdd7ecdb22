"""Which group protocol to speak: as configured, or with ``auto`` what the brokers offer, asked once and said in the
log."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection

from pykclient.client.engine import Operation, Poll
from pykclient.consumer.membership import GroupContext, Membership
from pykclient.errors import MaxPollExceeded
from pykclient.types import ConsumerGroupMetadata

logger = logging.getLogger(__name__)


def group_membership(context: GroupContext) -> Membership:
    """The membership that group_protocol names."""
    if context.config.group_protocol == "auto":
        return AutoMembership(context)
    return _membership(context.config.group_protocol, context)


def _membership(protocol: str, context: GroupContext) -> Membership:
    # Imported when needed: a program speaks one of the two, and most of their messages are used nowhere else.
    if protocol == "classic":
        from pykclient.consumer.classic_group import ClassicMembership

        return ClassicMembership(context)
    from pykclient.consumer.kip848_group import Kip848Membership

    return Kip848Membership(context)


class AutoMembership:
    """Waits for the first broker that says what it speaks, then is one of the two for good."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context
        self._chosen: Membership | None = None
        self._polled_at = -math.inf

    def poll(self, now: float) -> Poll:
        """Choose when a broker has told its versions; from then on, pass on."""
        if self._chosen is None:
            versions = self._context.network.any_versions()
            if versions is None:
                return Poll()
            from pykclient.consumer.kip848_group import choose_protocol

            protocol, reason = choose_protocol(versions)
            logger.info("group %s: using the %s protocol (%s)", self._context.config.group_id, protocol, reason)
            self._chosen = _membership(protocol, self._context)
            if self._polled_at >= 0:
                self._chosen.polled(self._polled_at)
            self._chosen.subscription_changed()
        return self._chosen.poll(now)

    def fail(self, error: BaseException) -> None:
        """Pass on."""
        if self._chosen is not None:
            self._chosen.fail(error)

    @property
    def identity(self) -> ConsumerGroupMetadata:
        """Pass on; nobody yet before the choice."""
        if self._chosen is not None:
            return self._chosen.identity
        return ConsumerGroupMetadata(self._context.config.group_id or "")

    @property
    def notices(self) -> Collection[MaxPollExceeded]:
        """Pass on."""
        return () if self._chosen is None else self._chosen.notices

    def subscription_changed(self) -> None:
        """Pass on."""
        if self._chosen is not None:
            self._chosen.subscription_changed()

    def needs_user(self) -> bool:
        """Pass on."""
        return self._chosen is not None and self._chosen.needs_user()

    def process(self) -> Operation[None]:
        """Pass on."""
        if self._chosen is not None:
            yield from self._chosen.process()

    def polled(self, now: float) -> None:
        """Pass on, or remember."""
        self._polled_at = now
        if self._chosen is not None:
            self._chosen.polled(now)

    def rejoin(self, reason: str) -> None:
        """Pass on."""
        if self._chosen is not None:
            self._chosen.rejoin(reason)

    def lost(self, error: BaseException) -> None:
        """Pass on."""
        if self._chosen is not None:
            self._chosen.lost(error)

    def leave(self, reason: str) -> Operation[None]:
        """Pass on."""
        if self._chosen is not None:
            yield from self._chosen.leave(reason)


__all__ = ["AutoMembership", "group_membership"]
