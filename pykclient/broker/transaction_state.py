"""The life of one transactional id: its states, the legal steps between them, and how it stands in the log.

Owns the decisions of the transaction coordinator as functions from a ``Transaction`` to the next one; a refusal is a
BrokerError. Runs on the broker node's thread (or anywhere: it is pure). Must never read a clock, allocate a producer
id on its own, or change a Transaction in place.

Two protocols live side by side. Version 1 (TV1): the client adds partitions by request and keeps its epoch over many
transactions. Version 2 (TV2, KIP-890): every end of a transaction bumps the epoch, so a request that was delayed past
the end of its own transaction is told apart from the next one's by its epoch alone.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pykclient.errors import (
    ConcurrentTransactions,
    ErrorCode,
    InvalidProducerIdMapping,
    InvalidTxnState,
    ProducerFenced,
)
from pykclient.types import TopicPartition

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
PRODUCER_EPOCH_MAX = 2**15 - 1
FIRST_VERSION_WITH_EPOCH_BUMP = 2


class TransactionState(enum.IntEnum):
    """Numbers as they stand in ``__transaction_state``."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def title(self) -> str:
        """The name in ListTransactions and DescribeTransactions: ``CompleteCommit``."""
        return "".join(word.capitalize() for word in self.name.split("_"))


BY_TITLE = {state.title: state for state in TransactionState}

_E, _O, _PC, _PA = (
    TransactionState.EMPTY,
    TransactionState.ONGOING,
    TransactionState.PREPARE_COMMIT,
    TransactionState.PREPARE_ABORT,
)
_CC, _CA, _D, _F = (
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
    TransactionState.DEAD,
    TransactionState.PREPARE_EPOCH_FENCE,
)

# Empty and complete ids may go to PrepareAbort since TV2: its client aborts when it cannot know whether anything began.
LEGAL: dict[TransactionState, frozenset[TransactionState]] = {
    _E: frozenset({_E, _O, _PA, _D}),
    _O: frozenset({_O, _PC, _PA, _F}),
    _PC: frozenset({_CC}),
    _PA: frozenset({_CA}),
    _CC: frozenset({_E, _O, _PA, _D}),
    _CA: frozenset({_E, _O, _PA, _D}),
    _D: frozenset(),
    _F: frozenset({_PA}),
}

IDLE = frozenset({_E, _CC, _CA})
"""No transaction is open: the id may be initialised again, begin a transaction, or expire."""

PREPARED = frozenset({_PC, _PA})
"""The outcome is decided and logged; markers are on their way."""


class ProducerIdentity(NamedTuple):
    """Who writes: the id, and the epoch that fences its predecessors."""

    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """Everything known about a transactional id. ``last_producer_epoch`` is not in the log: a failover forgets it."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = -1
    last_update_ms: int = -1
    client_version: int = 0

    @property
    def producer(self) -> ProducerIdentity:
        """The id and epoch in use."""
        return ProducerIdentity(self.producer_id, self.producer_epoch)

    @property
    def epoch_exhausted(self) -> bool:
        """The highest epoch is kept back, so that a producer with the last usable one can still be fenced."""
        return self.producer_epoch >= PRODUCER_EPOCH_MAX - 1

    def to(self, state: TransactionState, **changes: Any) -> Transaction:
        """The next value; anything outside the table is our bug."""
        assert state in LEGAL[self.state], f"{self.transactional_id}: {self.state.name} -> {state.name}"
        return replace(self, state=state, previous_producer_id=self.producer_id, **changes)


# InitProducerId


def initialize(
    current: Transaction,
    *,
    timeout_ms: int,
    expected: ProducerIdentity | None,
    new_producer_id: Callable[[], int],
    server_version: int,
    wall_ms: int,
) -> Transaction:
    """A producer starts, or goes on after an error (KIP-360: ``expected`` is what it believes to be).

    The result is Empty with a new epoch; or PrepareAbort when a transaction was open, and then the producer must ask
    again once that one is aborted.
    """
    if expected is not None and not _may_be(current, expected):
        raise ProducerFenced(transactional_id=current.transactional_id)
    if current.state in PREPARED:
        raise ConcurrentTransactions(transactional_id=current.transactional_id)
    if current.state is TransactionState.ONGOING:
        return fence(current, server_version=server_version, new_producer_id=new_producer_id, wall_ms=wall_ms)
    fresh = {"timeout_ms": timeout_ms, "partitions": frozenset(), "start_ms": -1, "last_update_ms": wall_ms}
    if current.epoch_exhausted and (expected is None or expected.producer_epoch == current.producer_epoch):
        last = NO_PRODUCER_EPOCH if expected is None else current.producer_epoch
        return current.to(_E, producer_id=new_producer_id(), producer_epoch=0, last_producer_epoch=last, **fresh)
    epoch, last = _epochs_after_initialize(current, expected)
    return current.to(_E, producer_epoch=epoch, last_producer_epoch=last, **fresh)


def _may_be(current: Transaction, expected: ProducerIdentity) -> bool:
    if current.producer_epoch == NO_PRODUCER_EPOCH or expected.producer_id == current.producer_id:
        return True
    # The answer that rotated the exhausted id away may have been lost.
    exhausted = expected.producer_epoch >= PRODUCER_EPOCH_MAX - 1
    return exhausted and expected.producer_id == current.previous_producer_id


def _epochs_after_initialize(current: Transaction, expected: ProducerIdentity | None) -> tuple[int, int]:
    """The new (epoch, last epoch)."""
    bumped = current.producer_epoch + 1
    if expected is None:
        # A new producer: forgetting the last epoch is what fences the old one's retries.
        return bumped, NO_PRODUCER_EPOCH
    if current.producer_epoch in (NO_PRODUCER_EPOCH, expected.producer_epoch):
        return bumped, current.producer_epoch
    if expected.producer_epoch == current.last_producer_epoch:
        # The same request again, whose answer was lost.
        return current.producer_epoch, current.last_producer_epoch
    raise ProducerFenced(transactional_id=current.transactional_id)


# AddPartitionsToTxn, AddOffsetsToTxn, and their implicit forms


def add_partitions(
    current: Transaction,
    producer: ProducerIdentity,
    partitions: Iterable[TopicPartition],
    *,
    client_version: int,
    wall_ms: int,
) -> Transaction | None:
    """The transaction with these partitions in it, begun if need be; None when there is nothing to change."""
    _check_producer(current, producer)
    added = frozenset(partitions)
    if current.state is TransactionState.ONGOING:
        if added <= current.partitions:
            return None
        start_ms = current.start_ms
    else:
        start_ms = wall_ms
    return current.to(
        _O,
        partitions=current.partitions | added,
        start_ms=start_ms,
        last_update_ms=wall_ms,
        client_version=client_version,
    )


def verify_partitions(
    current: Transaction, producer: ProducerIdentity, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Whether each partition is in the open transaction: what stops a write that arrives after its end (KIP-890)."""
    _check_producer(current, producer)
    return {
        partition: ErrorCode.NONE if partition in current.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for partition in partitions
    }


def _check_producer(current: Transaction, producer: ProducerIdentity) -> None:
    if current.producer_id != producer.producer_id:
        raise InvalidProducerIdMapping(transactional_id=current.transactional_id)
    if current.producer_epoch != producer.producer_epoch:
        raise ProducerFenced(transactional_id=current.transactional_id)
    if current.state in PREPARED:
        raise ConcurrentTransactions(transactional_id=current.transactional_id)


# EndTxn


def end(
    current: Transaction,
    producer: ProducerIdentity,
    *,
    committed: bool,
    client_version: int,
    new_producer_id: Callable[[], int],
    wall_ms: int,
) -> Transaction | None:
    """The prepared transaction; None when this is the repetition of a request that has been carried out already."""
    if client_version >= FIRST_VERSION_WITH_EPOCH_BUMP:
        return _end_v2(current, producer, committed, client_version, new_producer_id, wall_ms)
    if current.producer_id != producer.producer_id:
        raise InvalidProducerIdMapping(transactional_id=current.transactional_id)
    if current.producer_epoch != producer.producer_epoch:
        raise ProducerFenced(transactional_id=current.transactional_id)
    if current.state is TransactionState.ONGOING:
        return _prepare(current, _PC if committed else _PA, client_version, NO_PRODUCER_ID, wall_ms)
    if current.state in IDLE and current.state is (_CC if committed else _CA):
        return None
    raise _cannot_end(current, committed)


def _end_v2(
    current: Transaction,
    producer: ProducerIdentity,
    committed: bool,
    client_version: int,
    new_producer_id: Callable[[], int],
    wall_ms: int,
) -> Transaction | None:
    # A repeated request carries the epoch from before the bump, or the exhausted id from before the rotation.
    after_bump = current.producer_id == producer.producer_id and current.producer_epoch == producer.producer_epoch + 1
    after_rotation = (
        current.previous_producer_id == producer.producer_id
        and producer.producer_epoch == PRODUCER_EPOCH_MAX - 1
        and current.producer_epoch == 0
    )
    repeated = after_bump or after_rotation
    if current.producer_id != producer.producer_id and not after_rotation:
        raise InvalidProducerIdMapping(transactional_id=current.transactional_id)
    same = current.producer_epoch == producer.producer_epoch
    if current.state in PREPARED:
        if not after_bump:
            raise ProducerFenced(transactional_id=current.transactional_id)
        raise _cannot_end(current, committed)
    if not (same or (repeated and current.state in (_CC, _CA))):
        raise ProducerFenced(transactional_id=current.transactional_id)
    if current.state is TransactionState.ONGOING:
        target = _PC if committed else _PA
    elif repeated and current.state is (_CC if committed else _CA):
        return None
    elif repeated or committed:
        raise _cannot_end(current, committed)
    else:
        target = (
            _PA  # Nothing was added, or nothing that this coordinator heard of: still a bump, to fence what is late.
        )
    next_producer_id = new_producer_id() if current.epoch_exhausted else NO_PRODUCER_ID
    return _prepare(current, target, client_version, next_producer_id, wall_ms)


def _cannot_end(current: Transaction, committed: bool) -> ConcurrentTransactions | InvalidTxnState:
    if current.state is (_PC if committed else _PA):
        return ConcurrentTransactions(transactional_id=current.transactional_id)
    return InvalidTxnState(transactional_id=current.transactional_id)


def _prepare(
    current: Transaction, target: TransactionState, version: int, next_producer_id: int, wall_ms: int
) -> Transaction:
    changes: dict[str, Any] = {"next_producer_id": next_producer_id, "client_version": version}
    if version >= FIRST_VERSION_WITH_EPOCH_BUMP:
        changes["producer_epoch"] = min(current.producer_epoch + 1, PRODUCER_EPOCH_MAX)
        changes["last_producer_epoch"] = current.producer_epoch
    if current.state in IDLE:  # A transaction without partitions has no start of its own, and the log wants one.
        changes["start_ms"] = wall_ms
    return current.to(target, last_update_ms=wall_ms, **changes)


def fence(
    current: Transaction, *, server_version: int, new_producer_id: Callable[[], int], wall_ms: int
) -> Transaction:
    """Abort the open transaction on the coordinator's own account, with an epoch that its producer does not have."""
    fenced = current.to(_F)
    if server_version >= FIRST_VERSION_WITH_EPOCH_BUMP:
        next_producer_id = new_producer_id() if current.epoch_exhausted else NO_PRODUCER_ID
        return _prepare(fenced, _PA, server_version, next_producer_id, wall_ms)
    epoch = min(current.producer_epoch + 1, PRODUCER_EPOCH_MAX)
    bumped = replace(fenced, producer_epoch=epoch, last_producer_epoch=NO_PRODUCER_EPOCH)
    return _prepare(bumped, _PA, 0, NO_PRODUCER_ID, wall_ms)


def complete(current: Transaction, wall_ms: int) -> Transaction:
    """Every partition has its marker."""
    target = _CC if current.state is TransactionState.PREPARE_COMMIT else _CA
    changes: dict[str, Any] = {"next_producer_id": NO_PRODUCER_ID}
    rotates = current.client_version >= FIRST_VERSION_WITH_EPOCH_BUMP and current.next_producer_id != NO_PRODUCER_ID
    if rotates:
        changes["producer_id"] = current.next_producer_id
        changes["producer_epoch"] = 0
    return current.to(target, partitions=frozenset(), last_update_ms=wall_ms, **changes)
