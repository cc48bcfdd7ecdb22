"""Idempotence, partition by partition: which sequence a batch gets, what is in flight, and what a failure means for
those behind it.

Runs on the Sender thread only; pure bookkeeping, no requests. A broker accepts a batch when its sequence follows the
last one it has of this producer id and epoch; it remembers the last five. So batches of a partition leave in order, at
most five unanswered, and a batch that is given up for good leaves a gap that only a new epoch (starting again at
sequence 0) can close.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pykclient.producer.batch import NO_SEQUENCE, ProducerBatch
from pykclient.types import TopicPartition

SEQUENCE_MASK = 0x7FFFFFFF
EPOCH_MAX = 0x7FFF - 1  # the last epoch is the broker's, to fence with


def _before(sequence: int, other: int) -> bool:
    """Whether a sequence comes before another; numbers wrap, so the distance decides."""
    return sequence != other and (other - sequence) & SEQUENCE_MASK < 0x40000000


class ProducerIdAndEpoch(NamedTuple):
    """Who writes. Both are -1 while the broker has not given an id."""

    producer_id: int = -1
    epoch: int = -1

    @property
    def valid(self) -> bool:
        """Whether the broker has given an id."""
        return self.producer_id >= 0


@dataclass(slots=True)
class PartitionSequences:
    """What this producer knows of its own writes to one partition."""

    identity: ProducerIdAndEpoch
    next_sequence: int = 0
    last_acked_sequence: int = NO_SEQUENCE
    last_acked_offset: int = -1
    in_flight: list[ProducerBatch] = field(default_factory=list)
    """Batches with a sequence and no outcome, in sequence order: sent, or queued again for a retry."""
    unresolved_sequence: int = NO_SEQUENCE
    """The sequence after a batch that was given up although the broker may hold it; nothing new leaves until it is
    known."""


class Sequences:
    """The sequence numbers of one producer over all its partitions."""

    def __init__(self) -> None:
        self.identity = ProducerIdAndEpoch()
        self._partitions: dict[TopicPartition, PartitionSequences] = {}
        self._confirmed: dict[TopicPartition, int] = {}  # partition -> producer id it has acknowledged a batch of
        self._gaps: dict[
            TopicPartition, int
        ] = {}  # partitions that need a new epoch -> the first sequence that will never be written

    def of(self, topic_partition: TopicPartition) -> PartitionSequences:
        """The partition's entry, made on first use."""
        entry = self._partitions.get(topic_partition)
        if entry is None:
            entry = self._partitions[topic_partition] = PartitionSequences(self.identity)
        return entry

    @property
    def epoch_bump_wanted(self) -> bool:
        """A gap was left behind: the producer needs a new epoch before those partitions can go on."""
        return bool(self._gaps)

    def has_in_flight(self) -> bool:
        """Whether any batch anywhere has no outcome yet."""
        return any(entry.in_flight for entry in self._partitions.values())

    # ---- leaving -----------------------------------------------------------------------------------------------------

    def may_drain(self, batch: ProducerBatch) -> bool:
        """Whether this batch, the first of its queue, may leave now."""
        if self.identity.producer_id < 0:
            return False
        entry = self.of(batch.topic_partition)
        gap = self._gaps.get(batch.topic_partition)
        if gap is not None and not (batch.has_sequence and _before(batch.base_sequence, gap)):
            return False  # what lies before the gap is settled under the old epoch, the rest waits for the new one
        if not batch.has_sequence:
            if entry.in_flight and entry.identity != self.identity:
                return False  # sequence 0 of the new epoch must not overtake what is still out under the old one
            if entry.unresolved_sequence != NO_SEQUENCE:
                return False
            if entry.in_flight and self._confirmed.get(batch.topic_partition) != self.identity.producer_id:
                # A broker that knows nothing of this producer takes any sequence. Were the first batch refused for a
                # passing reason and the second taken, the first could never be written: so the first goes alone.
                return False
            # While something is being retried, new batches wait: they would be refused as out of order anyway.
            return not (entry.in_flight and entry.in_flight[0].attempts > 0)
        return bool(entry.in_flight) and entry.in_flight[0] is batch

    def assign(self, batch: ProducerBatch) -> None:
        """Give a new batch its identity and sequence; a retried one keeps what it has."""
        if batch.has_sequence:
            return
        entry = self.of(batch.topic_partition)
        if entry.identity != self.identity and not entry.in_flight:
            self._start_over(entry)
        self._number(entry, batch)
        entry.in_flight.append(batch)

    def _number(self, entry: PartitionSequences, batch: ProducerBatch) -> None:
        batch.producer_id, batch.producer_epoch = entry.identity
        batch.base_sequence = entry.next_sequence
        batch.sealed = None
        entry.next_sequence = (entry.next_sequence + batch.record_count) & SEQUENCE_MASK

    def _start_over(self, entry: PartitionSequences) -> None:
        entry.identity = self.identity
        entry.next_sequence = 0
        entry.last_acked_sequence = NO_SEQUENCE
        entry.unresolved_sequence = NO_SEQUENCE

    def replace(self, batch: ProducerBatch, parts: Iterable[ProducerBatch]) -> None:
        """A batch was split: its parts take over its range of sequences."""
        entry = self.of(batch.topic_partition)
        sequence = batch.base_sequence
        at = entry.in_flight.index(batch)
        numbered = []
        for part in parts:
            part.producer_id, part.producer_epoch, part.base_sequence = (
                batch.producer_id,
                batch.producer_epoch,
                sequence,
            )
            sequence = (sequence + part.record_count) & SEQUENCE_MASK
            numbered.append(part)
        entry.in_flight[at : at + 1] = numbered

    # ---- coming back -------------------------------------------------------------------------------------------------

    def acknowledged(self, batch: ProducerBatch, base_offset: int) -> None:
        """The broker has it."""
        entry = self.of(batch.topic_partition)
        if batch in entry.in_flight:
            entry.in_flight.remove(batch)
        self._confirmed[batch.topic_partition] = batch.producer_id
        if (batch.producer_id, batch.producer_epoch) != entry.identity:
            return
        last = batch.last_sequence
        if entry.last_acked_sequence == NO_SEQUENCE or _before(entry.last_acked_sequence, last):
            entry.last_acked_sequence = last
        if base_offset >= 0:
            entry.last_acked_offset = max(entry.last_acked_offset, base_offset + batch.record_count - 1)

    def is_next(self, batch: ProducerBatch) -> bool:
        """Whether the broker should have taken it: it directly follows what was acknowledged last."""
        entry = self.of(batch.topic_partition)
        acked = entry.last_acked_sequence
        expected = 0 if acked == NO_SEQUENCE else (acked + 1) & SEQUENCE_MASK
        return batch.base_sequence == expected

    def given_up(self, batch: ProducerBatch) -> None:
        """Forget a batch that failed for good, without judging what that means for the next."""
        entry = self.of(batch.topic_partition)
        if batch in entry.in_flight:
            entry.in_flight.remove(batch)

    def mark_unresolved(self, batch: ProducerBatch) -> None:
        """The batch expired after it had been sent: the broker may or may not hold it."""
        entry = self.of(batch.topic_partition)
        following = (batch.last_sequence + 1) & SEQUENCE_MASK
        known = entry.unresolved_sequence
        if known == NO_SEQUENCE or _before(known, following):
            entry.unresolved_sequence = following

    def is_unresolved(self, topic_partition: TopicPartition) -> bool:
        """Whether an earlier batch of the partition is in doubt."""
        return self.of(topic_partition).unresolved_sequence != NO_SEQUENCE

    def follows_unresolved(self, batch: ProducerBatch) -> bool:
        """Whether the batch is the one right behind the batch in doubt."""
        return self.of(batch.topic_partition).unresolved_sequence == batch.base_sequence

    def resolve(self) -> list[TopicPartition]:
        """Settle doubts where nothing is in flight any more; gives the partitions that turned out to have a gap."""
        gaps = []
        for topic_partition, entry in self._partitions.items():
            if entry.unresolved_sequence == NO_SEQUENCE or entry.in_flight:
                continue
            acked = entry.last_acked_sequence
            expected = 0 if acked == NO_SEQUENCE else (acked + 1) & SEQUENCE_MASK
            entry.unresolved_sequence = NO_SEQUENCE
            if entry.next_sequence != expected:
                gaps.append(topic_partition)
        return gaps

    def close_gap(self, batch: ProducerBatch) -> None:
        """A batch was refused and never written: those behind it move up (within a transaction, where the epoch must
        stay)."""
        entry = self.of(batch.topic_partition)
        if (batch.producer_id, batch.producer_epoch) != tuple(entry.identity):
            return
        distance = batch.record_count
        entry.next_sequence = (entry.next_sequence - distance) & SEQUENCE_MASK
        for later in entry.in_flight:
            if _before(batch.base_sequence, later.base_sequence):
                later.base_sequence = (later.base_sequence - distance) & SEQUENCE_MASK
                later.sealed = None

    def restart(self, topic_partition: TopicPartition, from_sequence: int) -> None:
        """The partition needs a new epoch from this sequence on, which was not and will not be written (idempotent, not
        transactional)."""
        known = self._gaps.get(topic_partition)
        if known is None or _before(from_sequence, known):
            self._gaps[topic_partition] = from_sequence

    def restart_blocked(self) -> bool:
        """Whether renumbering must wait: a batch before the gap may be written already, and only its old number tells
        the broker so.

        Nor is a batch renumbered while it is on the wire. (Java's client renumbers at once, and can write a batch twice
        here.)
        """
        return any(
            batch.in_flight or _before(batch.base_sequence, gap)
            for topic_partition, gap in self._gaps.items()
            for batch in self.of(topic_partition).in_flight
        )

    def reset(self, topic_partition: TopicPartition) -> None:
        """The broker has no state of this producer: number everything in flight again from 0, in order."""
        entry = self.of(topic_partition)
        self._start_over(entry)
        for batch in entry.in_flight:
            self._number(entry, batch)

    def new_identity(self, identity: ProducerIdAndEpoch) -> None:
        """Adopt an id and epoch; partitions that waited for a new epoch start over under it."""
        self.identity = identity
        for topic_partition in self._gaps:
            self.reset(topic_partition)
        self._gaps.clear()

    def forget_all(self) -> None:
        """A new transaction epoch: every partition starts again at 0. Only when nothing is in flight."""
        self._partitions.clear()
        self._gaps.clear()
