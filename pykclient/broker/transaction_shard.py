"""The transactional ids of one partition of ``__transaction_state``, and the operations on them.

Owns the ids, their time-outs and the delivery of their markers while this node leads the partition. Runs on the
broker node's thread under the CoordinatorRuntime: an operation returns the record it wants written and the reply;
``replay`` is the only place where an id changes. Must never send markers for a decision that is not committed yet:
a failover could take it back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pykclient.broker import transaction_state as machine
from pykclient.broker.coordinator import CoordinatorRecord, Position, Result, ShardTimers
from pykclient.broker.producer_ids import ProducerIdAllocator
from pykclient.broker.transaction_markers import MarkerSender
from pykclient.broker.transaction_records import decode, decode_key, encode, encode_key
from pykclient.broker.transaction_state import (
    IDLE,
    PREPARED,
    ProducerIdentity,
    Transaction,
    TransactionState,
)
from pykclient.errors import (
    ConcurrentTransactions,
    CoordinatorNotAvailable,
    ErrorCode,
    InvalidProducerIdMapping,
    TransactionalIdNotFound,
)
from pykclient.net.completion import Completion
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

R = TypeVar("R")

RETRY_S = 0.1
"""Wait this long before asking again for markers that were not taken, or for an append that was not committed."""

TOMBSTONES_PER_BATCH_MAX = 1000


@dataclass(frozen=True, slots=True)
class TransactionConfig:
    """The attribute ``transaction_max_timeout_ms`` is Kafka's ``transaction.max.timeout.ms``, and so on."""

    transaction_state_log_num_partitions: int = 50
    transaction_max_timeout_ms: int = 15 * 60 * 1000
    transactional_id_expiration_ms: int = 7 * 24 * 60 * 60 * 1000
    transaction_remove_expired_transaction_cleanup_interval_ms: int = 60 * 60 * 1000
    transaction_version: int = 2
    """The finalized level of the feature: 2 announces KIP-890's protocol to the clients."""


Submit = Callable[[Callable[["TransactionShard"], Result[None]], float, int], Completion[None]]
"""Runs an operation on this shard through the runtime, at the given (now, wall_ms)."""


class TransactionShard:
    """Fulfils ``coordinator.Shard``."""

    def __init__(
        self,
        *,
        timers: ShardTimers,
        config: TransactionConfig,
        producer_ids: ProducerIdAllocator,
        markers: MarkerSender,
        coordinator_epoch: int,
        submit: Submit,
    ) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._timers = timers
        self._config = config
        self._producer_ids = producer_ids
        self._markers = markers
        self._coordinator_epoch = coordinator_epoch
        self._submit = submit
        self._closed = False
        # What the log has no field for, carried from the operation to the replay of its own record.
        self._last_epochs: dict[str, int] = {}

    # Shard

    def replay(self, record: CoordinatorRecord, position: Position) -> None:
        """Take the value over."""
        transactional_id = decode_key(record.key)
        if transactional_id is None:
            logger.warning("a record of an unknown type in the transaction log is ignored")
            return
        last_epoch = self._last_epochs.pop(transactional_id, machine.NO_PRODUCER_EPOCH)
        if record.value is None:
            self.transactions.pop(transactional_id, None)
            return
        transaction = decode(transactional_id, record.value)
        if transaction is None:
            logger.warning("a transaction record of an unknown version is ignored: %s", transactional_id)
            return
        self.transactions[transactional_id] = replace(transaction, last_producer_epoch=last_epoch)

    def end_transaction(self, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Nothing is written into this log transactionally."""

    def on_loaded(self, now: float, wall_ms: int) -> None:
        """Finish what a predecessor had decided, and watch what it had left open."""
        for transaction in list(self.transactions.values()):
            if transaction.state in PREPARED:
                self._deliver(transaction, transaction.partitions, now, wall_ms)
            elif transaction.state is TransactionState.ONGOING:
                self._watch(transaction, wall_ms)
        self._schedule_removal()

    def on_unloaded(self) -> None:
        """Answers to markers may still arrive; they concern another node now."""
        self._closed = True

    # Requests

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdentity | None, *, now: float, wall_ms: int
    ) -> Result[ProducerIdentity]:
        """Give the producer its id and epoch; or abort what its predecessor left open, and let it ask again."""
        current = self.transactions.get(transactional_id)
        if current is None:
            current = Transaction(transactional_id, producer_id=self._producer_ids.next(), timeout_ms=timeout_ms)
        after = machine.initialize(
            current,
            timeout_ms=timeout_ms,
            expected=expected,
            new_producer_id=self._producer_ids.next,
            server_version=self._config.transaction_version,
            wall_ms=wall_ms,
        )
        if after.state is TransactionState.PREPARE_ABORT:
            again = ConcurrentTransactions(transactional_id=transactional_id)
            return self._prepare(after, Completion.failed(again), now, wall_ms)
        return Result(after.producer, [self._record(after)])

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Iterable[TopicPartition],
        *,
        client_version: int,
        wall_ms: int,
    ) -> Result[None]:
        """The transaction has these partitions in it; it begins with the first."""
        current = self._find(transactional_id)
        after = machine.add_partitions(current, producer, partitions, client_version=client_version, wall_ms=wall_ms)
        if after is None:
            return Result(None)
        if current.state is not TransactionState.ONGOING:
            self._watch(after, wall_ms)
        return Result(None, [self._record(after)])

    def verify_partitions(
        self, transactional_id: str, producer: ProducerIdentity, partitions: Iterable[TopicPartition]
    ) -> Result[dict[TopicPartition, ErrorCode]]:
        """Whether each partition is in the open transaction."""
        return Result(machine.verify_partitions(self._find(transactional_id), producer, partitions))

    def end(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        *,
        committed: bool,
        client_version: int,
        now: float,
        wall_ms: int,
    ) -> Result[ProducerIdentity]:
        """Decide the outcome. The reply, who the producer is from now on, leaves when the decision is durable."""
        current = self._find(transactional_id)
        after = machine.end(
            current,
            producer,
            committed=committed,
            client_version=client_version,
            new_producer_id=self._producer_ids.next,
            wall_ms=wall_ms,
        )
        if after is None:
            return Result(current.producer)
        return self._prepare(after, machine.complete(after, wall_ms).producer, now, wall_ms)

    def describe(self, transactional_id: str) -> Result[Transaction]:
        """The id as it stands."""
        current = self.transactions.get(transactional_id)
        if current is None:
            raise TransactionalIdNotFound(transactional_id=transactional_id)
        return Result(current)

    def _find(self, transactional_id: str) -> Transaction:
        current = self.transactions.get(transactional_id)
        if current is None:
            raise InvalidProducerIdMapping(transactional_id=transactional_id)
        return current

    def _record(self, transaction: Transaction) -> CoordinatorRecord:
        self._last_epochs[transaction.transactional_id] = transaction.last_producer_epoch
        return encode(transaction, server_version=self._config.transaction_version)

    # From the decision to the last marker

    def _prepare(self, prepared: Transaction, reply: R | Completion[R], now: float, wall_ms: int) -> Result[R]:
        transactional_id = prepared.transactional_id
        self._timers.cancel(("timeout", transactional_id))

        def written(error: BaseException | None) -> None:
            current = self.transactions.get(transactional_id)
            if error is None:
                self._deliver(prepared, prepared.partitions, now, wall_ms)
            elif current is not None and current.state is TransactionState.ONGOING:
                self._watch(current, wall_ms, delay_min_s=RETRY_S)  # Refused: still open, so it can still time out.
            else:
                self._again(prepared, lambda at, wall: self._prepare(prepared, None, at, wall))

        return Result(reply, [self._record(prepared)], on_written=written)

    def _deliver(self, prepared: Transaction, partitions: frozenset[TopicPartition], now: float, wall_ms: int) -> None:
        attempt = self._markers.send(
            prepared, partitions, coordinator_epoch=self._coordinator_epoch, now=now, wall_ms=wall_ms
        )

        def done(attempt: Completion[frozenset[TopicPartition]]) -> None:
            if self._closed:
                return
            if attempt.error is not None:
                logger.warning("no more markers for %s: %s", prepared.transactional_id, attempt.error)
            elif left := attempt.result():
                self._again(prepared, lambda at, wall: self._deliver_again(prepared, left, at, wall))
            else:
                self._complete(prepared, now, wall_ms)

        attempt.add_callback(done)

    def _deliver_again(
        self, prepared: Transaction, partitions: frozenset[TopicPartition], now: float, wall_ms: int
    ) -> Result[None]:
        if self._still(prepared):
            self._deliver(prepared, partitions, now, wall_ms)
        return Result(None)

    def _complete(self, prepared: Transaction, now: float, wall_ms: int) -> None:
        written = self._submit(lambda shard: shard._completed(prepared, wall_ms), now, wall_ms)

        def done(written: Completion[None]) -> None:
            # With any other error another node coordinates this id, and finishes it after loading.
            if isinstance(written.error, CoordinatorNotAvailable) and not self._closed:
                self._again(prepared, lambda _, wall: self._completed(prepared, wall))

        written.add_callback(done)

    def _completed(self, prepared: Transaction, wall_ms: int) -> Result[None]:
        if not self._still(prepared):
            return Result(None)
        return Result(None, [self._record(machine.complete(prepared, wall_ms))])

    def _still(self, prepared: Transaction) -> bool:
        """A slow answer must not complete a later transaction of the same id."""
        current = self.transactions.get(prepared.transactional_id)
        return current is not None and current.state is prepared.state and current.producer == prepared.producer

    def _again(self, prepared: Transaction, operation: Callable[[float, int], Result[Any]]) -> None:
        self._timers.schedule(("again", prepared.transactional_id), RETRY_S, operation)

    # Time

    def _watch(self, transaction: Transaction, wall_ms: int, *, delay_min_s: float = 0.0) -> None:
        delay_s = (transaction.start_ms + transaction.timeout_ms + 1 - wall_ms) / 1000.0
        self._timers.schedule(
            ("timeout", transaction.transactional_id),
            max(delay_s, delay_min_s),
            lambda at, wall: self._time_out(transaction, at, wall),
        )

    def _time_out(self, watched: Transaction, now: float, wall_ms: int) -> Result[None]:
        current = self.transactions.get(watched.transactional_id)
        if (
            current is None
            or current.state is not TransactionState.ONGOING
            or (current.producer, current.start_ms) != (watched.producer, watched.start_ms)
        ):
            return Result(None)
        logger.info("the transaction of %s has timed out and is aborted", current.transactional_id)
        self._watch(current, wall_ms, delay_min_s=RETRY_S)  # In case there is no producer id to be had just now.
        fenced = machine.fence(
            current,
            server_version=self._config.transaction_version,
            new_producer_id=self._producer_ids.next,
            wall_ms=wall_ms,
        )
        return self._prepare(fenced, None, now, wall_ms)

    def _schedule_removal(self) -> None:
        interval_s = self._config.transaction_remove_expired_transaction_cleanup_interval_ms / 1000.0
        self._timers.schedule("expired ids", interval_s, self._remove_expired)

    def _remove_expired(self, now: float, wall_ms: int) -> Result[None]:
        self._schedule_removal()
        before_ms = wall_ms - self._config.transactional_id_expiration_ms
        expired = [
            transaction.to(TransactionState.DEAD)
            for transaction in self.transactions.values()
            if transaction.state in IDLE and transaction.last_update_ms <= before_ms
        ][:TOMBSTONES_PER_BATCH_MAX]
        return Result(None, [CoordinatorRecord(encode_key(dead.transactional_id), None) for dead in expired])
