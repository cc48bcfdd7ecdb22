"""The states of a transactional producer, which may follow which, and the settings it was made with.

Pure data. ``TransactionManager._to`` is the only place that changes a state, and it asserts this table.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Txn(enum.Enum):
    """Where a transactional producer stands. Each says what may be called."""

    UNINITIALIZED = "call init_transactions()"
    INITIALIZING = "init_transactions() has begun; call it again if it timed out"
    READY = "call begin_transaction()"
    OPEN = "send, then call commit_transaction() or abort_transaction()"
    COMMITTING = "commit_transaction() has begun; call it again if it timed out"
    PREPARED = "its end is left to commit_prepared() or abort_prepared(); then init_transactions() to go on"
    ABORTING = "abort_transaction() has begun; call it again if it timed out"
    ABORTABLE = "something failed; call abort_transaction()"
    FATAL = "this producer cannot go on; close it"


LEGAL: dict[Txn, frozenset[Txn]] = {
    Txn.UNINITIALIZED: frozenset({Txn.INITIALIZING, Txn.FATAL}),
    Txn.INITIALIZING: frozenset({Txn.INITIALIZING, Txn.READY, Txn.FATAL}),
    Txn.READY: frozenset({Txn.OPEN, Txn.FATAL}),
    Txn.OPEN: frozenset({Txn.COMMITTING, Txn.ABORTING, Txn.ABORTABLE, Txn.FATAL}),
    Txn.COMMITTING: frozenset({Txn.COMMITTING, Txn.READY, Txn.PREPARED, Txn.ABORTABLE, Txn.FATAL}),
    Txn.PREPARED: frozenset({Txn.INITIALIZING, Txn.FATAL}),
    Txn.ABORTING: frozenset({Txn.ABORTING, Txn.READY, Txn.FATAL}),
    Txn.ABORTABLE: frozenset({Txn.ABORTABLE, Txn.ABORTING, Txn.FATAL}),
    # Only after a transaction that timed out: starting over is the user's decision, the same as making a new producer.
    Txn.FATAL: frozenset({Txn.FATAL, Txn.INITIALIZING}),
}


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """From the producer's configuration."""

    transactional_id: str | None
    transaction_timeout_ms: int
    retry_backoff_s: float
    retry_backoff_max_s: float


__all__ = ["LEGAL", "TransactionSettings", "Txn"]
