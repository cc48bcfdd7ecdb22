"""What this consumer reads: the subscription, the assigned partitions, and where it stands in each.

Shared between the reactor thread (fetches, resets, rebalances) and the thread that polls (takes records): every access
holds ``lock``, which the fetch buffer owns. Plain state and its rules; no requests, no waiting.
"""

from __future__ import annotations

import enum
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple

from pykclient.consumer.fetched import FetchedPart
from pykclient.errors import IllegalStateError
from pykclient.types import OffsetAndMetadata, TopicPartition


class Position(NamedTuple):
    """The next offset to read, and the leader epoch of the record before it (None when unknown)."""

    offset: int
    leader_epoch: int | None = None


class ResetStrategy(NamedTuple):
    """auto_offset_reset: a special timestamp for ListOffsets, or a duration to go back from now (KIP-1106)."""

    name: str
    timestamp: int | None = None
    duration_ms: int | None = None


EARLIEST = ResetStrategy("earliest", timestamp=-2)
LATEST = ResetStrategy("latest", timestamp=-1)
NONE = ResetStrategy("none")


def parse_reset(policy: str) -> ResetStrategy:
    """auto_offset_reset as a strategy. ``by_duration:PnDTnHnMnS`` goes back that long from now."""
    if policy.startswith("by_duration:"):
        return ResetStrategy(policy, duration_ms=duration_ms(policy.partition(":")[2]))
    return {"earliest": EARLIEST, "latest": LATEST, "none": NONE}[policy]


def duration_ms(text: str) -> int:
    """Milliseconds of an ISO 8601 duration in days, hours, minutes and seconds; its form was checked before."""
    total, number, in_time = 0.0, "", False
    units = {("D", False): 86400.0, ("H", True): 3600.0, ("M", True): 60.0, ("S", True): 1.0}
    for sign in text.upper().lstrip("P"):
        if sign == "T":
            in_time = True
        elif sign in "DHMS":
            total += float(number) * units[sign, in_time]
            number = ""
        else:
            number += sign
    return int(total * 1000)


@dataclass(frozen=True, slots=True)
class OutOfRange:
    """What happened when a position was not, or no longer, in the log; kept for the user and logged."""

    topic_partition: TopicPartition
    wanted: int
    earliest: int
    latest: int | None
    reset_to: int
    skipped: int


class Phase(enum.Enum):
    """Where a partition is on the way to being read."""

    INITIALIZING = "has no position yet; a committed offset is looked up, else the reset policy applies"
    RESETTING = "asks the leader for the offset that a reset means"
    VALIDATING = "the leader changed; asks it whether our position still is in its log (KIP-320)"
    FETCHING = "has a valid position"
    STUCK = "cannot go on: the error is raised by every poll until the user decides, or until another attempt succeeds"


LEGAL: dict[Phase, frozenset[Phase]] = {
    Phase.INITIALIZING: frozenset({Phase.INITIALIZING, Phase.RESETTING, Phase.VALIDATING, Phase.FETCHING, Phase.STUCK}),
    Phase.RESETTING: frozenset({Phase.RESETTING, Phase.FETCHING, Phase.VALIDATING, Phase.STUCK}),
    Phase.VALIDATING: frozenset({Phase.VALIDATING, Phase.FETCHING, Phase.RESETTING, Phase.STUCK}),
    Phase.FETCHING: frozenset({Phase.FETCHING, Phase.RESETTING, Phase.VALIDATING, Phase.STUCK}),
    Phase.STUCK: frozenset({Phase.STUCK, Phase.INITIALIZING, Phase.RESETTING, Phase.VALIDATING, Phase.FETCHING}),
}


@dataclass(slots=True, eq=False)
class PartitionState:
    """One assigned partition."""

    topic_partition: TopicPartition
    phase: Phase = Phase.INITIALIZING
    position: Position | None = None
    """What the next record handed to the user follows: everything before it has been handed out."""
    consumed: Position | None = None
    """What may be committed automatically: the position when the user last asked for more."""
    fetch_offset: int = -1
    """What the next fetch asks for: ``position`` plus all that is buffered."""
    fetch_epoch: int | None = None
    version: int = 0
    """Changes with every seek or reset; an answer or a decoded batch of an older version is dropped."""
    paused: bool = False
    revoking: bool = False
    """Being given up: nothing is fetched or handed out, but the position still counts for a last commit."""
    buffered: deque[FetchedPart] = field(default_factory=deque)
    reset: ResetStrategy | None = None
    had_position: bool = False
    """Whether it ever had one: tells "out of range" from "no offset yet"."""
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    preferred_replica: int | None = None
    preferred_until: float = 0.0
    retry_at: float = 0.0
    leader_epoch: int = -1
    """The leader's epoch when the position was last known to be valid under it."""
    error: Exception | None = None
    retry_phase: Phase | None = None
    """Where to go on from when the user has heard of the error; None: the user must seek."""
    out_of_range_at: int | None = None
    """What was asked for when the broker said that it is not in the log; until the user has been told."""
    corrupt_at: int = -1
    """A batch that was damaged here has been asked for again."""

    def to(self, phase: Phase) -> None:
        """The only way to change phase."""
        assert phase in LEGAL[self.phase], f"{self.topic_partition}: {self.phase.name} -> {phase.name}"
        self.phase = phase

    def drop_buffered(self) -> None:
        """Give back what was fetched."""
        while self.buffered:
            self.buffered.popleft().release()

    def seek(self, position: Position) -> None:
        """Go to a position; what is buffered is dropped unless it continues right there."""
        self.version += 1
        self.drop_buffered()
        self.position = self.consumed = position
        self.fetch_offset = position.offset
        self.fetch_epoch = position.leader_epoch
        self.had_position = True
        self.out_of_range_at = None
        self.reset = None
        self.error = None
        self.preferred_replica = None
        self.to(Phase.FETCHING)

    def go_back(self, position: Position) -> None:
        """Go to a position that is not the user's wish: what lies behind it was fetched in vain, or could not be read.
        What may be committed stays as it is: records before it may be on their way to the user right now."""
        consumed = self.consumed
        self.seek(position)
        if consumed is not None and consumed.offset < position.offset:
            self.consumed = consumed

    def request_reset(self, strategy: ResetStrategy) -> None:
        """Find the position by the policy."""
        self.version += 1
        self.drop_buffered()
        self.out_of_range_at = None
        self.reset = strategy
        self.error = None
        self.preferred_replica = None
        self.to(Phase.RESETTING)

    def stuck(self, error: Exception, *, retry: bool = False) -> None:
        """Polls raise: until the user decides, or, with ``retry``, for as long as trying again fails."""
        self.version += 1
        self.drop_buffered()
        if self.phase is not Phase.STUCK:
            self.retry_phase = self.phase if retry else None
        self.error = error
        self.to(Phase.STUCK)

    def tell(self) -> Exception:
        """The error, for the user; what may be tried again is tried again from here on."""
        error = self.error
        assert error is not None, "something to tell"
        if self.retry_phase is not None:
            self.error = None
            if self.position is not None:
                self.fetch_offset, self.fetch_epoch = self.position
            self.to(self.retry_phase)
        return error

    @property
    def fetchable(self) -> bool:
        """Has a valid position and is wanted."""
        return self.phase is Phase.FETCHING and not self.paused and not self.revoking


class SubscriptionKind(enum.Enum):
    """How the partitions were chosen; one consumer, one kind at a time."""

    NONE = "nothing yet"
    TOPICS = "subscribe() with topic names"
    PATTERN = "subscribe() with a pattern matched here"
    BROKER_PATTERN = "subscribe() with a pattern matched by the broker"
    ASSIGNED = "assign()"


class Subscription:
    """The whole of it. Callers hold ``lock``."""

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        self.lock = lock
        self.kind = SubscriptionKind.NONE
        self.topics: frozenset[str] = frozenset()
        """Names subscribed to; with a pattern, those that match now."""
        self.pattern: re.Pattern[str] | None = None
        self.broker_pattern: str | None = None
        self.partitions: dict[TopicPartition, PartitionState] = {}
        self.version = 0
        """Changes with the subscription itself, so that the group rejoins."""

    def choose(self, kind: SubscriptionKind) -> None:
        """Fix the kind; mixing them is a mistake that must not be guessed about."""
        if self.kind not in (SubscriptionKind.NONE, kind):
            raise IllegalStateError(f"already in use: {self.kind.value}; call unsubscribe() first")
        self.kind = kind
        self.version += 1

    def clear(self) -> None:
        """Forget everything."""
        self.kind = SubscriptionKind.NONE
        self.topics = frozenset()
        self.pattern = None
        self.broker_pattern = None
        self.remove(list(self.partitions))
        self.version += 1

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these and no others; those that stay keep their position and whether they are paused."""
        wanted = {TopicPartition(*tp): None for tp in partitions}
        self.remove([tp for tp in self.partitions if tp not in wanted])
        self.add(wanted)

    def add(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these as well."""
        for tp in partitions:
            self.partitions.setdefault(tp, PartitionState(tp))

    def remove(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these no more."""
        for tp in partitions:
            state = self.partitions.pop(tp, None)
            if state is not None:
                state.version += 1
                state.drop_buffered()

    def state(self, topic_partition: TopicPartition) -> PartitionState:
        """The partition's state; IllegalStateError when it is not assigned."""
        state = self.partitions.get(topic_partition)
        if state is None:
            topic, partition = topic_partition
            raise IllegalStateError("the partition is not assigned to this consumer", topic=topic, partition=partition)
        return state

    def in_phase(self, phase: Phase) -> Iterator[PartitionState]:
        """All partitions in a phase."""
        return (state for state in self.partitions.values() if state.phase is phase)

    def matches(self, topics: Collection[str], *, exclude_internal: Collection[str] = ()) -> frozenset[str]:
        """Those of the cluster's topics that the pattern means."""
        assert self.pattern is not None, "no pattern"
        return frozenset(name for name in topics if name not in exclude_internal and self.pattern.search(name))

    def committable(self, *, handed_out: bool) -> dict[TopicPartition, OffsetAndMetadata]:
        """Positions to commit: all that was handed out (an explicit commit), or what the user came back from
        (automatic)."""
        offsets = {}
        for tp, state in self.partitions.items():
            position = state.position if handed_out else state.consumed
            if position is not None and state.had_position:
                offsets[tp] = OffsetAndMetadata(position.offset, "", position.leader_epoch)
        return offsets


__all__ = [
    "EARLIEST",
    "LATEST",
    "NONE",
    "OutOfRange",
    "PartitionState",
    "Phase",
    "Position",
    "ResetStrategy",
    "Subscription",
    "SubscriptionKind",
    "parse_reset",
]
