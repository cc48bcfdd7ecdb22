"""Idempotence and transactions of one producer: its identity, the state of its transaction, and the requests to the
coordinators.

Runs on the Sender thread: the accumulator asks it which batch may leave (``Sequencer``), the Sender tells it what
became of each, and the public methods of the producer run its operations. States change only through ``_to``, by the
table in transaction_states.py. Two dialects: v1 names every partition to the coordinator before the first write
(AddPartitionsToTxn), v2 (KIP-890, brokers from 4.0) lets the partition leaders do it and gives a new epoch with every
commit and abort.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from pykclient.client.coordinators import CoordinatorKind, Coordinators
from pykclient.client.engine import Operation, call, now, sleep, wait
from pykclient.errors import (
    Action,
    ClientClosed,
    CommitFailed,
    ConcurrentTransactions,
    FencedInstanceId,
    IllegalGeneration,
    IllegalStateError,
    InvalidProducerEpoch,
    InvalidTransactionTimeout,
    InvalidTxnState,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    ProtocolError,
    StaleMemberEpoch,
    TransactionAbortable,
    TransactionAborted,
    TransactionTimedOut,
    UnknownMemberId,
    UnknownProducerId,
    error_for_code,
)
from pykclient.net.client_request import Request
from pykclient.net.completion import Completion
from pykclient.net.network_client import NetworkClient
from pykclient.net.transport import Clock
from pykclient.producer.batch import ProducerBatch
from pykclient.producer.sequences import EPOCH_MAX, ProducerIdAndEpoch, Sequences
from pykclient.producer.transaction_states import LEGAL, TransactionSettings, Txn
from pykclient.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from pykclient.types import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

if TYPE_CHECKING:  # the messages of transactions are loaded by the producers that have some
    from pykclient.producer.prepared import PreparedTransaction
    from pykclient.protocol.messages import add_partitions_to_txn

logger = logging.getLogger(__name__)
R = TypeVar("R")


COORDINATOR_PATIENCE_S = 2.0
COORDINATOR_PATIENCE_MAX_S = 30.0
STILL_ENDING_S = 0.02
"""The coordinator is still writing the end of the transaction before: a matter of milliseconds, unlike other errors."""
# What a coordinator or a leader answers when somebody else has ended our transaction: a newer producer, or the broker.
_ENDED_BY_OTHERS = (InvalidProducerEpoch, ProducerFenced, InvalidTxnState, TransactionAbortable)


class TransactionManager:
    """The producer's identity and, when it has a transactional id, its transaction."""

    def __init__(
        self,
        settings: TransactionSettings,
        network: NetworkClient,
        *,
        clock: Clock,
        spawn: Callable[[Operation[None]], None],
        has_incomplete: Callable[[], bool],
        abort_undrained: Callable[[Exception], None],
    ) -> None:
        self._settings = settings
        self.transactional = settings.transactional_id is not None
        """Whether this producer has a transactional id."""
        self._network = network
        self._clock = clock
        self._spawn = spawn
        self._has_incomplete = has_incomplete
        self._abort_undrained = abort_undrained
        self._coordinators = Coordinators()
        self.sequences = Sequences()
        self.state = Txn.UNINITIALIZED
        self.error: Exception | None = None
        self.problem: KafkaError | None = None  # what a coordinator was asked in vain for last
        self._opened_at = 0.0
        self._acquiring = False
        self._adding = False
        self._bump_after_end = False
        self._v2 = False
        self._started = False  # the coordinator or a leader knows of this transaction
        self._partitions: set[TopicPartition] = set()
        self._to_add: set[TopicPartition] = set()
        self._idle_waiters: list[Completion[None]] = []

    @property
    def transactional_id(self) -> str | None:
        """The id, None when only idempotent."""
        return self._settings.transactional_id

    @property
    def uses_v2(self) -> bool:
        """KIP-890: partition leaders add themselves to the transaction."""
        return self._v2

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction was begun and not ended."""
        return self.state in (Txn.OPEN, Txn.COMMITTING, Txn.ABORTING, Txn.ABORTABLE)

    # ---- what the accumulator asks (Sequencer) -----------------------------------------------------------------------

    @property
    def completing(self) -> bool:
        """Nothing lingers while a transaction ends."""
        return self.state is Txn.COMMITTING or self.state is Txn.ABORTING

    def may_drain(self, batch: ProducerBatch) -> bool:
        """Whether the batch may leave; asks for its partition to be added to the transaction when it is not yet."""
        if self.state is Txn.FATAL:
            return False
        if self.transactional and batch.topic_partition not in self._partitions:
            if self.state is Txn.ABORTABLE or self.state is Txn.ABORTING:
                return False
            if not self._v2:
                self._to_add.add(batch.topic_partition)
                return False
        return self.sequences.may_drain(batch)

    def assign(self, batch: ProducerBatch) -> None:
        """Identity and sequence for a batch that leaves."""
        if self.transactional:
            batch.transactional = True
            self._partitions.add(batch.topic_partition)
            self._started = True
        self.sequences.assign(batch)

    # ---- what the Sender tells ---------------------------------------------------------------------------------------

    def maintain(self) -> None:
        """Before each drain: settle doubts, get an identity."""
        for topic_partition in self.sequences.resolve():
            if self.transactional:
                self._bump_after_end = not self._v2
                self.abortable(
                    TransactionAborted(
                        f"records for {topic_partition} were given up and may or may not have been written"
                    )
                )
            else:
                self.sequences.restart(topic_partition, self.sequences.of(topic_partition).next_sequence)
        if self.state is Txn.FATAL and self.error is not None:
            self._abort_undrained(self.error)  # also what came back for a retry, or was sent after the end
        if not self.transactional:
            self._renew_identity()

    def conclude(self) -> None:
        """After each drain: add the partitions it asked for, let those go on who wait for the last batch.

        In the same turn, because nothing else may ever wake the Sender again for either.
        """
        if self._to_add and not self._adding and self.state in (Txn.OPEN, Txn.COMMITTING):
            self._adding = True
            self._spawn(self._add_partitions())
        if self._idle_waiters and not self._has_incomplete():
            waiters, self._idle_waiters = self._idle_waiters, []
            for waiter in waiters:
                waiter.succeed(None)

    def _renew_identity(self) -> None:
        sequences = self.sequences
        if sequences.epoch_bump_wanted and not sequences.restart_blocked():
            if sequences.identity.epoch < EPOCH_MAX:
                sequences.new_identity(sequences.identity._replace(epoch=sequences.identity.epoch + 1))
            else:
                sequences.identity = ProducerIdAndEpoch()
        if (
            not sequences.identity.valid
            and not self._acquiring
            and self.state is not Txn.FATAL
            and self._has_incomplete()
        ):
            self._acquiring = True
            self._spawn(self._acquire_identity())

    def acknowledged(self, batch: ProducerBatch, base_offset: int) -> None:
        """The broker has the batch."""
        if batch.has_sequence:
            self.sequences.acknowledged(batch, base_offset)

    def may_retry(self, batch: ProducerBatch, error: type[KafkaError], log_start_offset: int) -> bool:
        """Whether the same records can be sent again after this answer without a duplicate or a gap."""
        sequences = self.sequences
        if not batch.has_sequence:
            return error.retriable
        if issubclass(error, UnknownProducerId):
            entry = sequences.of(batch.topic_partition)
            if not self.transactional:
                sequences.restart(batch.topic_partition, batch.base_sequence)
                return True
            if log_start_offset >= 0 and entry.last_acked_offset < log_start_offset:
                # Retention took all this producer ever wrote there, and its state with it: 0 is the right next
                # sequence.
                sequences.reset(batch.topic_partition)
                return True
            return log_start_offset < 0
        if issubclass(error, OutOfOrderSequenceNumber):
            doubtful = sequences.is_unresolved(batch.topic_partition)
            if not doubtful and not sequences.is_next(batch):
                return True  # it came before one that must go first; that one is being retried
            if not self.transactional:
                if not doubtful or sequences.follows_unresolved(batch):
                    sequences.restart(batch.topic_partition, batch.base_sequence)
                return True
            return False
        return error.retriable

    def gave_up(self, batch: ProducerBatch, error: Exception, *, refused: bool) -> None:
        """The batch failed for good. ``refused``: the broker said no to it, so it was certainly not written."""
        self.sequences.given_up(batch)
        if isinstance(error, KafkaError) and not isinstance(error, ClientClosed):
            # A leader that refuses the epoch may yet be wrong about it, unless the time is up: then there is no doubt.
            explained = self._explain(error)
            if error.fatal or isinstance(explained, TransactionTimedOut):
                self.fatal(explained)
                return
        if not batch.has_sequence:
            if self.transactional:
                self.abortable(error)
            return
        if self.transactional:
            self._bump_after_end = self._bump_after_end or not self._v2
            if refused and not isinstance(error, OutOfOrderSequenceNumber):
                self.sequences.close_gap(batch)
            elif not refused and batch.possibly_written:
                self.sequences.mark_unresolved(batch)
            self.abortable(error)
        elif refused:
            self.sequences.restart(batch.topic_partition, batch.base_sequence)
        elif batch.possibly_written:
            self.sequences.mark_unresolved(batch)
        else:
            self.sequences.close_gap(batch)

    def abortable(self, error: Exception) -> None:
        """The transaction cannot be committed any more. While it is being aborted anyway, that is no news."""
        if self.state in (Txn.OPEN, Txn.COMMITTING):
            # Whatever its class says elsewhere: here and now, aborting is what helps.
            vars(error)["abortable"] = True
            self._to(Txn.ABORTABLE, error)
            logger.warning("transaction of %s must be aborted: %s", self.transactional_id, error)

    def fatal(self, error: Exception) -> None:
        """Nothing more can be sent by this producer."""
        if self.state is not Txn.FATAL:
            self._to(Txn.FATAL, error)
            self._abort_undrained(error)

    def fail(self, error: Exception) -> None:
        """The client ends: nobody waits on."""
        waiters, self._idle_waiters = self._idle_waiters, []
        for waiter in waiters:
            waiter.fail(error)

    def _to(self, state: Txn, error: Exception | None = None) -> None:
        assert state in LEGAL[self.state], f"{self.state.name} -> {state.name}"
        self.state = state
        self.error = error

    def require_open(self) -> None:
        """Called by ``send`` on the user's thread: only reads."""
        if self.state is not Txn.OPEN:
            self._refuse("send")

    def _refuse(self, what: str) -> None:
        if self.error is not None and self.state in (Txn.ABORTABLE, Txn.FATAL):
            raise copy.copy(self.error)  # not the same object twice: tracebacks would pile up on it
        raise IllegalStateError(
            f"{what} is not possible while the transaction is {self.state.name.lower()}: {self.state.value}",
            transactional_id=self.transactional_id,
        )

    # ---- operations --------------------------------------------------------------------------------------------------

    def init(self) -> Operation[None]:
        """init_transactions(): fence older producers with this id, finish or abort what they left, get an identity."""
        if self.state is Txn.FATAL and not isinstance(self.error, TransactionTimedOut):
            self._refuse("init_transactions()")
        if self.state not in (Txn.UNINITIALIZED, Txn.INITIALIZING, Txn.PREPARED, Txn.FATAL):
            self._refuse("init_transactions()")
        yield from self._all_delivered()  # after a transaction that timed out, something may still be on the wire
        self._to(Txn.INITIALIZING)
        yield from self._init_producer_id(ProducerIdAndEpoch())
        self._ended()

    def _ended(self) -> None:
        """Nothing of the last transaction is left."""
        self._bump_after_end = self._started = False
        self._partitions.clear()
        self._to_add.clear()
        self._to(Txn.READY)

    def begin(self) -> Operation[None]:
        """begin_transaction(): local."""
        if self.state is not Txn.READY:
            self._refuse("begin_transaction()")
        self._opened_at = yield from now()
        self._to(Txn.OPEN)

    def send_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: ConsumerGroupMetadata
    ) -> Operation[None]:
        """send_offsets_to_transaction(): commit consumer offsets with the transaction (KIP-447)."""
        if self.state is not Txn.OPEN:
            self._refuse("send_offsets_to_transaction()")
        if not offsets:
            return
        if not self._v2:
            from pykclient.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

            add = AddOffsetsToTxnRequest(
                transactional_id=self._id(),
                producer_id=self.sequences.identity.producer_id,
                producer_epoch=self.sequences.identity.epoch,
                group_id=group.group_id,
            )
            yield from self._ask(
                CoordinatorKind.TRANSACTION,
                self._id(),
                lambda node: Request[AddOffsetsToTxnResponse](add, node_id=node),
                lambda response: response.error_code,
            )
        self._started = True
        yield from self._commit_offsets(offsets, group)

    def _commit_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: ConsumerGroupMetadata
    ) -> Operation[None]:
        from pykclient.protocol.messages import txn_offset_commit as messages

        topics: dict[str, list[messages.TxnOffsetCommitRequestPartition]] = {}
        for (topic, partition), committed in offsets.items():
            topics.setdefault(topic, []).append(
                messages.TxnOffsetCommitRequestPartition(
                    partition_index=partition,
                    committed_offset=committed.offset,
                    committed_leader_epoch=-1 if committed.leader_epoch is None else committed.leader_epoch,
                    committed_metadata=committed.metadata,
                )
            )
        commit = messages.TxnOffsetCommitRequest(
            transactional_id=self._id(),
            group_id=group.group_id,
            producer_id=self.sequences.identity.producer_id,
            producer_epoch=self.sequences.identity.epoch,
            generation_id=group.generation_id,
            member_id=group.member_id,
            group_instance_id=group.group_instance_id,
            topics=[messages.TxnOffsetCommitRequestTopic(name=name, partitions=rows) for name, rows in topics.items()],
        )
        version_max = 5 if self._v2 else 4
        yield from self._ask(
            CoordinatorKind.GROUP,
            group.group_id,
            lambda node: Request[messages.TxnOffsetCommitResponse](commit, node_id=node, version_max=version_max),
            lambda response: next((p.error_code for t in response.topics for p in t.partitions if p.error_code), 0),
        )

    def commit(self) -> Operation[None]:
        """commit_transaction(): everything sent is delivered first."""
        if self.state not in (Txn.OPEN, Txn.COMMITTING):
            self._refuse("commit_transaction()")
        self._to(Txn.COMMITTING)
        yield from self._all_delivered()
        if self.state is not Txn.COMMITTING:
            self._refuse("commit_transaction()")
        yield from self._end(committed=True)

    def prepare(self) -> Operation[PreparedTransaction]:
        """prepare_transaction(): everything sent is delivered, and the end left to whoever has the answer."""
        if self.state not in (Txn.OPEN, Txn.COMMITTING):
            self._refuse("prepare_transaction()")
        self._to(Txn.COMMITTING)
        yield from self._all_delivered()
        if self.state is not Txn.COMMITTING:
            self._refuse("prepare_transaction()")
        self._to(Txn.PREPARED)
        from pykclient.producer.prepared import PreparedTransaction

        return PreparedTransaction(self._id(), *self.sequences.identity, 5 if self._v2 else 4, not self._started)

    def abort(self) -> Operation[None]:
        """abort_transaction(): what was not sent yet fails with TransactionAborted."""
        if self.state not in (Txn.OPEN, Txn.ABORTABLE, Txn.ABORTING):
            self._refuse("abort_transaction()")
        self._to(Txn.ABORTING)
        self._to_add.clear()
        self._abort_undrained(TransactionAborted(transactional_id=self.transactional_id))
        yield from self._all_delivered()
        if self.state is not Txn.ABORTING:
            self._refuse("abort_transaction()")
        yield from self._end(committed=False)

    def _all_delivered(self) -> Operation[None]:
        if self._has_incomplete():
            waiter: Completion[None] = Completion()
            self._idle_waiters.append(waiter)
            yield from wait(waiter)

    def _end(self, *, committed: bool) -> Operation[None]:
        if self._started:
            from pykclient.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse

            identity = self.sequences.identity
            end = EndTxnRequest(
                transactional_id=self._id(),
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                committed=committed,
            )
            response = yield from self._ask(
                CoordinatorKind.TRANSACTION,
                self._id(),
                lambda node: Request[EndTxnResponse](end, node_id=node, version_max=5 if self._v2 else 4),
                lambda answer: answer.error_code,
            )
            if response.producer_id >= 0:  # v2: every transaction has an epoch of its own
                self.sequences.forget_all()
                self.sequences.identity = ProducerIdAndEpoch(response.producer_id, response.producer_epoch)
        if self._bump_after_end:
            yield from self._init_producer_id(self.sequences.identity)
        self._ended()

    def _add_partitions(self) -> Operation[None]:
        """v1: tell the coordinator which partitions this transaction writes to, before the first write to each."""
        from pykclient.protocol.messages import add_partitions_to_txn as messages

        adding, self._to_add = self._to_add, set()
        topics: dict[str, list[int]] = {}
        for topic, partition in sorted(adding):
            topics.setdefault(topic, []).append(partition)
        identity = self.sequences.identity
        request = messages.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._id(),
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.epoch,
            v3_and_below_topics=[
                messages.AddPartitionsToTxnTopic(name=name, partitions=rows) for name, rows in topics.items()
            ],
        )
        try:
            yield from self._ask(
                CoordinatorKind.TRANSACTION,
                self._id(),
                lambda node: Request[messages.AddPartitionsToTxnResponse](request, node_id=node, version_max=3),
                _worst_of_added,
            )
            self._partitions |= adding
            self._started = True
        except KafkaError as error:
            if not error.fatal:
                self.abortable(error)
            self._abort_undrained(error)
        finally:
            self._adding = False

    def _acquire_identity(self) -> Operation[None]:
        """An id for an idempotent producer, from any broker; tried until the producer is closed or may not have one."""
        try:
            yield from self._init_producer_id(ProducerIdAndEpoch())
        except KafkaError as error:
            self.fatal(error)
        finally:
            self._acquiring = False

    def _init_producer_id(self, current: ProducerIdAndEpoch) -> Operation[None]:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._settings.transaction_timeout_ms if self.transactional else 0x7FFFFFFF,
            producer_id=current.producer_id,
            producer_epoch=current.epoch,
        )
        key = self.transactional_id or ""
        try:
            response = yield from self._ask(
                CoordinatorKind.TRANSACTION if self.transactional else None,
                key,
                lambda node: Request[InitProducerIdResponse](request, node_id=node, version_max=5),
                lambda answer: answer.error_code,
            )
        except InvalidTransactionTimeout:
            from pykclient.producer.transaction_limits import timeout_refused

            coordinator = self._coordinators.known(CoordinatorKind.TRANSACTION, key)
            self.error = yield from timeout_refused(self._settings.transaction_timeout_ms, key, coordinator)
            raise self.error from None
        self.sequences.new_identity(ProducerIdAndEpoch(response.producer_id, response.producer_epoch))
        if self.transactional:
            self.sequences.forget_all()
        versions = self._network.any_versions()
        features = versions.finalized_features if versions is not None else {}
        self._v2 = self.transactional and features.get("transaction.version", 0) >= 2
        logger.debug("producer id %s, epoch %s", response.producer_id, response.producer_epoch)

    def _ask(
        self,
        kind: CoordinatorKind | None,
        key: str,
        request: Callable[[int | None], Request[R]],
        error_code: Callable[[R], int],
    ) -> Operation[R]:
        """Send to the coordinator until it answers for good; the caller's time-out ends it otherwise. Errors set the
        transaction's state."""
        attempts = 0
        while True:
            backoff_s = self._settings.retry_backoff_s
            try:
                node = (yield from self._coordinators.find(kind, key)) if kind is not None else None
                asked = request(node)
                # A coordinator that is stopped keeps its connections. All of these requests may be repeated, so it is
                # better to look for its successor soon, and more patiently each time that did not help.
                asked.timeout_s = min(COORDINATOR_PATIENCE_S * 2 ** max(0, attempts - 2), COORDINATOR_PATIENCE_MAX_S)
                response = yield from call(asked)
                code = error_code(response)
                if code == 0:
                    return response
                raise error_for_code(code)(transactional_id=self.transactional_id, node=asked.address)
            except (KafkaConnectionError, KafkaTimeoutError, ProtocolError) as error:
                self.problem = error
                if kind is not None:
                    self._coordinators.forget(kind, key)
            except KafkaError as error:
                self.problem = error
                if not error.retriable:
                    self._failed(error)
                if error.action is Action.FIND_COORDINATOR and kind is not None:
                    self._coordinators.forget(kind, key)
                if isinstance(error, ConcurrentTransactions):
                    backoff_s = min(backoff_s, STILL_ENDING_S)
            yield from sleep(min(backoff_s * 2 ** min(attempts, 20), self._settings.retry_backoff_max_s))
            attempts += 1

    def _failed(self, error: KafkaError) -> None:
        """A coordinator said no: note what that means for the transaction, and raise it with what to do next."""
        explained = self._explain(error)
        if isinstance(explained, KafkaError) and explained.abortable and self.state in (Txn.OPEN, Txn.COMMITTING):
            self.abortable(explained)
        elif self.transactional:
            self.fatal(explained)
        raise explained

    def _explain(self, error: Exception) -> Exception:
        """Tell apart what the broker answers alike: a newer producer with this id, or our own transaction that took too
        long."""
        if isinstance(error, _ENDED_BY_OTHERS) and self.transactional:
            limit_s = self._settings.transaction_timeout_ms / 1000
            open_s = self._clock.now() - self._opened_at
            if self.state in (Txn.OPEN, Txn.COMMITTING, Txn.ABORTING, Txn.ABORTABLE) and open_s >= limit_s:
                return TransactionTimedOut(open_for=open_s, limit=limit_s, transactional_id=self.transactional_id)
            if isinstance(error, (InvalidProducerEpoch, ProducerFenced)):
                return ProducerFenced(transactional_id=self.transactional_id)
            return error
        if isinstance(error, (UnknownMemberId, IllegalGeneration, FencedInstanceId, StaleMemberEpoch)):
            return CommitFailed(
                f"the consumer is no longer a member of its group ({error}); abort the transaction, "
                "its records go to the next owner",
                transactional_id=self.transactional_id,
            )
        return error

    def _id(self) -> str:
        assert self.transactional_id is not None
        return self.transactional_id


def _worst_of_added(response: add_partitions_to_txn.AddPartitionsToTxnResponse) -> int:
    """The code to act on: OPERATION_NOT_ATTEMPTED (55) only says that another partition spoiled it."""
    codes = [
        result.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for result in topic.results_by_partition
        if result.partition_error_code != 0
    ]
    return next((code for code in codes if code != 55), codes[0] if codes else 0)


__all__ = ["LEGAL", "TransactionManager", "TransactionSettings", "Txn"]
