"""A replica of a partition on this node: its log, who leads it, and how far it is replicated.

Owned by the broker node's thread. The log knows nothing of leaders; everything that depends on leadership is decided
here: which epoch may ask, what acks=all needs, where the high watermark is. Followers report through ``replica_ends``;
without any, the leader's own log end is what counts.
"""

from __future__ import annotations

import uuid
from typing import Final, NamedTuple

from pykclient.broker.leader_epochs import EpochStart
from pykclient.broker.log import AppendOrigin, AppendResult, Isolation, Log, LogRead
from pykclient.errors import (
    BrokerError,
    ErrorCode,
    FencedLeaderEpoch,
    NotEnoughReplicas,
    NotLeaderOrFollower,
    OffsetOutOfRange,
    UnknownLeaderEpoch,
)
from pykclient.protocol.buffers import Buffer
from pykclient.types import TopicPartition

LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL_TIMESTAMP: Final = -4
LATEST_TIERED_TIMESTAMP: Final = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP: Final = -6
UNKNOWN: Final = -1
NO_EPOCH: Final = -1


class FoundOffset(NamedTuple):
    """An answer to ListOffsets; all -1 when there is no such record."""

    timestamp: int = UNKNOWN
    offset: int = UNKNOWN
    leader_epoch: int = UNKNOWN


class Diverged(NamedTuple):
    """The reader's history and ours part after this epoch's end."""

    end: EpochStart
    read: LogRead


class Partition:
    """A hosted partition. It leads only between ``become_leader`` and ``stop_leading``."""

    __slots__ = ("isr", "key", "leader_epoch", "leads", "log", "node_id", "replica_ends", "replicas", "topic_id")

    def __init__(self, key: TopicPartition, topic_id: uuid.UUID, log: Log, *, node_id: int) -> None:
        self.key = key
        self.topic_id = topic_id
        self.log = log
        self.node_id = node_id
        self.leads = False
        self.leader_epoch = NO_EPOCH
        self.replicas: tuple[int, ...] = (node_id,)
        self.isr: tuple[int, ...] = (node_id,)
        self.replica_ends: dict[int, int] = {}

    # --- leadership

    def become_leader(self, leader_epoch: int, *, replicas: tuple[int, ...], isr: tuple[int, ...]) -> bool:
        """Lead from this epoch on; whether the leadership is new."""
        new = not self.leads or leader_epoch != self.leader_epoch
        self.leads = True
        self.leader_epoch = leader_epoch
        self.replicas, self.isr = replicas, isr
        if new:
            self.replica_ends.clear()
            self.log.epochs.assign(leader_epoch, self.log.log_end_offset)
        self.advance_high_watermark()
        return new

    def stop_leading(self, leader_epoch: int) -> bool:
        """Another node leads; whether this one did before."""
        led, self.leads = self.leads, False
        self.leader_epoch = leader_epoch
        return led

    def check_epoch(self, current_leader_epoch: int, *, must_lead: bool = True) -> None:
        """Raise unless a request that believes in this epoch (-1: in any) may be served here."""
        if current_leader_epoch != NO_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise FencedLeaderEpoch(f"{self.key} is at leader epoch {self.leader_epoch}")
            if current_leader_epoch > self.leader_epoch:
                raise UnknownLeaderEpoch(f"{self.key} is at leader epoch {self.leader_epoch}")
        if must_lead and not self.leads:
            raise NotLeaderOrFollower(f"{self.key} is led by another node")

    def advance_high_watermark(self) -> bool:
        """Move it to what all in-sync replicas have; whether it moved."""
        if not self.leads:
            return False
        end = self.log.log_end_offset
        others = (self.replica_ends.get(node, 0) for node in self.isr if node != self.node_id)
        return self.log.advance_high_watermark(min((end, *others)))

    # --- data

    def append(
        self,
        records: Buffer | None,
        *,
        wall_ms: int,
        acks: int = 1,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
    ) -> AppendResult:
        """Append as leader. The caller tells those who wait for this partition."""
        self.check_epoch(NO_EPOCH)
        if acks == -1:
            needed = min(self.log.config.min_insync_replicas, len(self.replicas))
            if len(self.isr) < needed:
                raise NotEnoughReplicas(f"{self.key} has {len(self.isr)} replicas in sync, {needed} are needed")
        result = self.log.append_as_leader(
            records,
            leader_epoch=self.leader_epoch,
            wall_ms=wall_ms,
            origin=origin,
            transaction_version=transaction_version,
        )
        self.advance_high_watermark()
        return result

    def read(
        self,
        from_offset: int,
        *,
        bytes_max: int,
        isolation: Isolation,
        at_least_one: bool,
        current_leader_epoch: int = NO_EPOCH,
        last_fetched_epoch: int = NO_EPOCH,
    ) -> LogRead | Diverged:
        """Batches for a consumer or a follower, or where its history left ours."""
        self.check_epoch(current_leader_epoch)
        if last_fetched_epoch != NO_EPOCH:
            end = self.log.epochs.end_offset(last_fetched_epoch, self.log.log_end_offset)
            if end.epoch == UNKNOWN or end.start_offset == UNKNOWN:
                raise OffsetOutOfRange(f"{self.key} knows nothing of epoch {last_fetched_epoch}")
            if end.epoch < last_fetched_epoch or end.start_offset < from_offset:
                log = self.log
                return Diverged(end, LogRead(b"", log.high_watermark, log.last_stable_offset, log.log_start_offset))
        return self.log.read(from_offset, bytes_max=bytes_max, isolation=isolation, at_least_one=at_least_one)

    def end_of_epoch(self, epoch: int, *, current_leader_epoch: int) -> EpochStart:
        """The largest epoch at or below the given one, and where it ended."""
        self.check_epoch(current_leader_epoch)
        return self.log.epochs.end_offset(epoch, self.log.log_end_offset)

    def find_offset(self, timestamp: int, *, isolation: Isolation, current_leader_epoch: int) -> FoundOffset:
        """The offset for a time or for one of the special timestamps."""
        self.check_epoch(current_leader_epoch)
        log = self.log
        last_fetchable = {
            Isolation.LOG_END: log.log_end_offset,
            Isolation.READ_UNCOMMITTED: log.high_watermark,
            Isolation.READ_COMMITTED: log.last_stable_offset,
        }[isolation]
        if timestamp == LATEST_TIMESTAMP:
            return FoundOffset(UNKNOWN, last_fetchable, self.leader_epoch)
        if timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
            first = log.epochs.entries[:1]
            epoch = first[0].epoch if first and first[0].start_offset <= log.log_start_offset else UNKNOWN
            return FoundOffset(UNKNOWN, log.log_start_offset, epoch)
        if timestamp in (LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP):
            return FoundOffset()  # there is no remote storage
        found = log.find_max_timestamp() if timestamp == MAX_TIMESTAMP else log.find_time(timestamp)
        if found is None or found.offset >= last_fetchable:
            return FoundOffset()
        return FoundOffset(*found)


def error_code_of(error: BrokerError) -> ErrorCode:
    """The code that stands in an answer for an error."""
    return ErrorCode(error.code)


__all__ = [
    "EARLIEST_LOCAL_TIMESTAMP",
    "EARLIEST_PENDING_UPLOAD_TIMESTAMP",
    "EARLIEST_TIMESTAMP",
    "LATEST_TIERED_TIMESTAMP",
    "LATEST_TIMESTAMP",
    "MAX_TIMESTAMP",
    "Diverged",
    "FoundOffset",
    "Partition",
    "error_code_of",
]
