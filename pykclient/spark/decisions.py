"""How an exactly-once query commits a batch: plan, prepare in the tasks, decide, commit, note that it is done.

The driver's half; the tasks' half is in sink.py, the memory in decision_log.py. Every step begins by fencing whoever
thinks it is the driver too. What was decided is carried out, by this run or by the next one. The argument, case by
case, is in docs/decisions.md.
"""

from __future__ import annotations

import enum
import logging
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from pykclient.admin.types import TransactionDescription
from pykclient.config import ProducerConfig
from pykclient.errors import (
    ExactlyOnceError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaError,
    ProducerFenced,
    UsageError,
)
from pykclient.producer.prepared import PreparedTransaction
from pykclient.producer.producer import KafkaProducer
from pykclient.spark.clients import borrowed_producer
from pykclient.spark.decision_log import Batch, Decided, DecisionLog, Done, Entry, Holder, Rows, Slot, in_use

logger = logging.getLogger(__name__)

TRANSACTION_TIMEOUT_MS = 900_000
"""The longest that brokers allow unless told otherwise: a batch must be written and committed within it."""
COMMITS_AT_A_TIME = 16
_NOT_OPEN = (InvalidTxnState, ProducerFenced, InvalidProducerEpoch, InvalidProducerIdMapping)
"""What a coordinator says of a transaction that is not open any more. It does not say how it ended: the id may have
been used since."""

OPERATORS_STEP = (
    "Decide with pykclient.spark.resolve_batch({prefix!r}, replay=True, bootstrap_servers=...) to let the next run "
    "write the whole batch again, or replay=False to go on without; see 'Operator's steps' in docs/spark.md"
)


_prepared: dict[tuple[object, ...], int] = {}


class Role(enum.Enum):
    """What a task does with its rows."""

    WRITE = "write them in a transaction"
    CHECK = "they are committed already: only count them"


@dataclass(frozen=True, slots=True)
class Plan:
    """What the driver tells the tasks of a batch."""

    claim: str
    timeout_ms: int
    done: Mapping[str, Done] = field(default_factory=dict)
    """By query: the last batch that is committed."""
    recover: Decided | None = None
    """A batch that is committed in part: only what is missing is written, if its rows are where they were."""

    def role(self, batch: Batch, slot: int) -> Role:
        """Whether a task writes; ExactlyOnceError when the batch cannot be the next one."""
        done = self.done.get(batch.query)
        if done is not None and done.batch.number > batch.number:
            raise ExactlyOnceError(
                f"batch {batch.number} is to be written, but {done.batch.number} is committed already: the checkpoint "
                "went back in time. Give the query a new checkpoint and a new transactionalIdPrefix"
            )
        if self.is_done(batch):
            return Role.CHECK
        if self.recover is not None:
            if self.recover.batch != batch:
                raise ExactlyOnceError(
                    f"{self.recover.batch} is committed in part and must come back first, but {batch} is to be written"
                )
            if any(each.number == slot and each.committed for each in self.recover.slots):
                return Role.CHECK
        return Role.WRITE

    def is_done(self, batch: Batch) -> bool:
        """Whether the batch as a whole is committed."""
        done = self.done.get(batch.query)
        return done is not None and done.batch == batch


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a task tells the driver. ``transaction`` None: it had no rows, or only counted them."""

    claim: str
    batch: Batch
    slot: int
    rows: Rows | None
    """None: not even counted."""
    transaction: PreparedTransaction | None = None


class Decisions:
    """The driver's half, for one prefix and one owner: a checkpoint, or the token of a batch write."""

    def __init__(self, client: Mapping[str, str], prefix: str, owner: str) -> None:
        self._client = dict(client)
        self.prefix = prefix
        self.owner = owner
        self.log = DecisionLog(client, prefix)

    # ---- plan

    def plan(self, *, trigger_ms: int | None = None) -> Plan:
        """Before the tasks start: finish what an earlier driver decided, abort what it did not, claim the prefix."""
        timeout_ms = self.check_brokers(trigger_ms)
        with self.log.hold() as holder:
            entry = holder.newest()
            begun = entry.kind in ("claim", "decision")
            if entry.kind == "decision":
                entry = self._finish(holder, entry)
            if entry.decided is not None and entry.owner != self.owner:
                raise ExactlyOnceError(self._in_part(entry.decided, f"it belongs to {entry.owner}, not {self.owner}"))
            if begun:
                self.abort_open()
            done = {} if entry.done is None else {entry.done.batch.query: entry.done}
            shared = entry.shared or (entry.kind != "none" and entry.owner != self.owner)
            if shared and (entry.owner != self.owner or entry.kind != "done"):
                # Somebody else came in between, or the checkpoint was moved: look for our own among the older ones.
                older = [each.done for each in self.log.entries() if each.kind == "done" and each.done is not None]
                done = {each.batch.query: each for each in older} | done
            claim = uuid.uuid4().hex
            holder.write(replace(entry, kind="claim", owner=self.owner, claim=claim, shared=shared))
        return Plan(claim, timeout_ms, done, entry.decided)

    def check_brokers(self, trigger_ms: int | None = None) -> int:
        """Once per process: the topic is there, and the time-out is possible. Gives it, in milliseconds."""
        key = (self.prefix, trigger_ms, *sorted(self._client.items()))
        if key not in _prepared:
            self.log.create()
            _prepared[key] = self._timeout_ms(trigger_ms)
        return _prepared[key]

    def _timeout_ms(self, trigger_ms: int | None) -> int:
        """kafka.transaction.timeout.ms, as long as may be by default; refused when it cannot work."""
        asked, most = self._client.get("transaction.timeout.ms"), self.log.timeout_max_ms()
        if asked is not None and most is not None and int(asked) > most:
            raise UsageError(
                f"kafka.transaction.timeout.ms is {asked}, but the brokers allow {most} at most "
                "(transaction.max.timeout.ms): lower the one or raise the other"
            )
        timeout_ms = int(asked) if asked is not None else min(TRANSACTION_TIMEOUT_MS, most or TRANSACTION_TIMEOUT_MS)
        if trigger_ms is not None and timeout_ms < trigger_ms:
            raise UsageError(
                f"kafka.transaction.timeout.ms is {timeout_ms}, less than the triggerInterval of {trigger_ms} ms: a "
                "batch may take that long, and its transactions would be aborted. Raise it"
                + (f" (the brokers allow {most} at most: transaction.max.timeout.ms)" if most is not None else "")
            )
        return timeout_ms

    def _finish(self, holder: Holder, entry: Entry) -> Entry:
        """An earlier driver decided and died before all was committed: commit the rest. Gives the state after it."""
        decided = entry.decided
        assert decided is not None
        logger.warning("%s: finishing %s, which an earlier run decided to commit", self.prefix, decided.batch)
        settled = self._commit_slots(decided)
        lost = [each for each in settled if not each.committed]
        if not lost:
            rows = sum((each.rows for each in settled), Rows())
            entry = replace(entry, kind="done", done=Done(decided.batch, rows), decided=None)
            holder.write(entry)
            return entry
        logger.error(
            "%s: %s was decided, but the transactions of %s are lost", self.prefix, decided.batch, _names(lost)
        )
        if len(lost) == len(settled):
            return replace(entry, kind="claim", decided=None)  # nothing of it was ever visible: it is written anew
        return replace(entry, kind="claim", decided=Decided(decided.batch, tuple(settled)))

    def abort_open(self) -> None:
        """Abort what earlier attempts have left open, so that readers need not wait for it to time out."""
        left = self.log.open_transactions()
        if left:
            logger.warning("%s: aborting what an earlier run has left: %s", self.prefix, ", ".join(left))
            self.log.fence(left)

    # ---- commit

    def commit(self, prepared: Sequence[Prepared]) -> None:
        """All tasks have prepared: decide, commit, note that it is done."""
        if not prepared:
            return
        batch, claims = prepared[0].batch, {each.claim for each in prepared}
        with self.log.hold() as holder:
            entry = holder.newest()
            if claims != {entry.claim} or entry.kind != "claim":
                raise ExactlyOnceError(in_use(self.prefix))
            if all(each.transaction is None for each in prepared) and self._is_known(holder, entry, prepared):
                return
            slots = [
                Slot(each.slot, each.transaction, each.rows or Rows())
                for each in prepared
                if each.transaction is not None
            ]
            if entry.decided is not None:
                slots = self._recovered(entry.decided, prepared, slots)
            self._check_open([each for each in slots if not each.committed])
            decided = Decided(batch, tuple(slots))
            holder.write(replace(entry, kind="decision", decided=decided))
            lost = [each for each in self._commit_slots(decided) if not each.committed]
            if lost:
                raise ExactlyOnceError(self._in_part(decided, f"the transactions of {_names(lost)} were aborted"))
            rows = sum((each.rows for each in slots), Rows())
            holder.write(replace(entry, kind="done", done=Done(batch, rows), decided=None))

    def _is_known(self, holder: Holder, entry: Entry, prepared: Sequence[Prepared]) -> bool:
        """Whether the batch was committed by an earlier run; if so, that what came back now is the same."""
        batch = prepared[0].batch
        known = [each for each in (entry.done, *(old.done for old in self._older(entry, batch))) if each is not None]
        found = next((each for each in known if each.batch == batch), None)
        if found is None:
            return False
        counted = [each.rows for each in prepared if each.rows is not None]
        rows = sum(counted, Rows())
        if found.rows is not None and len(counted) == len(prepared) and rows != found.rows:
            holder.write(replace(entry, disputed=True, done=found))
            raise ExactlyOnceError(
                f"{batch} of {self.prefix!r} is committed with {found.rows.count} rows, and came back with "
                f"{rows.count}{' others' if rows.count == found.rows.count else ''}: the checkpoint was changed, or "
                "the query computes something else each time (then set checkReplays=false). "
                + OPERATORS_STEP.format(prefix=self.prefix)
            )
        holder.write(replace(entry, kind="done", done=found, disputed=False))
        return True

    def _older(self, entry: Entry, batch: Batch) -> list[Entry]:
        if entry.done is not None and entry.done.batch.query == batch.query:
            return []
        return [each for each in reversed(self.log.entries()) if each.kind == "done"]

    def _recovered(self, decided: Decided, prepared: Sequence[Prepared], written: list[Slot]) -> list[Slot]:
        """A batch that was committed in part came back: the slots it has now, if each has the rows it had then."""
        now = {each.slot: each.rows for each in prepared if each.rows is not None and each.rows.count}
        then = {each.number: each.rows for each in decided.slots}
        moved = sorted(number for number in now.keys() | then.keys() if now.get(number) != then.get(number))
        if moved:
            raise ExactlyOnceError(
                self._in_part(decided, f"it came back with other rows in the tasks {', '.join(map(str, moved))}")
            )
        return [each for each in decided.slots if each.committed] + written

    def _check_open(self, slots: list[Slot]) -> None:
        """Before anything is decided: a transaction that is gone by now means that nothing of the batch is visible."""
        found = self.log.described([each.transaction.transactional_id for each in slots])
        gone = [each for each in slots if each.transaction.transactional_id in found and not _is_open(each, found)]
        if gone:
            state = found[gone[0].transaction.transactional_id]
            timeout = "" if state is None else f" ({state.timeout_ms})"
            raise ExactlyOnceError(
                f"the transactions of {_names(gone)} were aborted before the batch could be committed: it took longer "
                f"than kafka.transaction.timeout.ms{timeout}, another query uses this prefix, or a task was run twice "
                "at a time (set spark.speculation=false). Nothing of the batch is visible; start the query again"
            )

    def _commit_slots(self, decided: Decided) -> list[Slot]:
        """Commit what is not yet, some at a time: a batch of hundreds of tasks should not wait for one after the other.
        Gives the slots with what became of them."""
        left = [each for each in decided.slots if not each.committed]
        with borrowed_producer(self.log.settings(ProducerConfig)) as producer:
            with ThreadPoolExecutor(min(COMMITS_AT_A_TIME, len(left)) or 1) as threads:
                refused = dict(zip(left, threads.map(lambda each: _end(producer, each), left), strict=True))
        settled = []
        for each in decided.slots:
            error = refused.get(each)
            settled.append(replace(each, committed=error is None or self._was_committed(each, decided.batch, error)))
        return settled

    def _was_committed(self, slot: Slot, batch: Batch, error: KafkaError) -> bool:
        """A transaction is not open: was it committed by an earlier try, or aborted? Its marker knows."""
        self.log.fence([slot.transaction.transactional_id])  # from here on nothing of it can change
        if self.log.marked(slot, batch):
            return True
        if isinstance(error, InvalidProducerIdMapping):
            # The coordinator has forgotten the id (transactional.id.expiration.ms); the marker ages the same.
            raise ExactlyOnceError(
                self._in_part(Decided(batch, (slot,)), f"nobody knows any more whether {_names([slot])} was committed")
            )
        return False

    def _in_part(self, decided: Decided, why: str) -> str:
        committed = [each for each in decided.slots if each.committed]
        return (
            f"{decided.batch} of {self.prefix!r} was decided and is committed in part: {why}. "
            + (f"Visible are the tasks {', '.join(str(each.number) for each in committed)}. " if committed else "")
            + "Start the query again with the same number of tasks: what is missing is written if it comes back the "
            "same. Otherwise: " + OPERATORS_STEP.format(prefix=self.prefix)
        )

    # ---- failure

    def abort(self, prepared: Sequence[Prepared]) -> None:
        """The batch failed. What was decided stays decided; what was not is aborted, so that readers need not wait for
        it to time out."""
        transactions = [each.transaction for each in prepared if each.transaction is not None]
        if not transactions:
            return
        with self.log.hold() as holder:  # a decision still on its way is stored or refused now
            entry = holder.newest()
            decided = [] if entry.decided is None else [each.transaction for each in entry.decided.slots]
            self._abort_prepared([each for each in transactions if each not in decided])
            if entry.kind == "claim" and {each.claim for each in prepared} == {entry.claim}:
                self.abort_open()  # what tasks that failed have left, of which there is no message

    def _abort_prepared(self, transactions: list[PreparedTransaction]) -> None:
        with borrowed_producer(self.log.settings(ProducerConfig)) as producer:
            for each in transactions:
                try:
                    producer.abort_prepared(each)
                except _NOT_OPEN:
                    logger.debug("%s: ended already", each.transactional_id)

    def resolve(self, *, replay: bool) -> Batch | None:
        """The operator's word on a batch in doubt; see ``resolve_batch``."""
        with self.log.hold() as holder:
            entry = holder.newest()
            if entry.decided is not None:
                batch, before = entry.decided.batch, entry.done
            elif entry.disputed and entry.done is not None:
                batch = entry.done.batch
                before = Done(replace(batch, number=batch.number - 1), None)
            else:
                return None
            self.abort_open()
            done = before if replay else Done(batch, None)
            holder.write(replace(entry, kind="done", done=done, decided=None, disputed=False))
        return batch


def _end(producer: KafkaProducer, slot: Slot) -> KafkaError | None:
    """Commit one; gives the error that says that it is not open any more."""
    try:
        producer.commit_prepared(slot.transaction)
    except _NOT_OPEN as error:
        logger.error("%s: cannot be committed: %s", slot.transaction.transactional_id, error)
        return error
    return None


def _is_open(slot: Slot, found: Mapping[str, TransactionDescription | None]) -> bool:
    mine, state = slot.transaction, found[slot.transaction.transactional_id]
    return (
        state is not None
        and state.state == "Ongoing"
        and (state.producer_id, state.producer_epoch) == (mine.producer_id, mine.producer_epoch)
    )


def _names(slots: Sequence[Slot]) -> str:
    return ", ".join(each.transaction.transactional_id for each in slots)


def resolve_batch(transactional_id_prefix: str, *, replay: bool, **client: Any) -> Batch | None:
    """After an ExactlyOnceError that asks for it, with the query stopped: ``replay=True`` lets the next run write the
    batch again, ``replay=False`` lets it go on without. Client options as keywords (``bootstrap_servers=...``).

    Gives the batch it was about, None when there was none in doubt.
    """
    settings = {name.replace("_", "."): str(value) for name, value in client.items()}
    return Decisions(settings, transactional_id_prefix, "operator").resolve(replay=replay)


__all__ = ["Batch", "Decisions", "Plan", "Prepared", "Role", "resolve_batch"]
