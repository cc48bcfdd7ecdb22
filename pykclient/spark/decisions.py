"""The memory of an exactly-once query, in Kafka itself: which batch was decided to be committed, and by which
transactions.

A topic of one partition per transactionalIdPrefix, kept by compaction. Records are JSON: a *claim* when a batch is
planned, a *decision* before the first transaction of a batch is committed, *done* after the last. The newest record
says where things stand. Runs on the driver; every write is acknowledged by all replicas before the next step.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import NewTopic
from pykclient.config import AdminConfig, ConsumerConfig, ProducerConfig
from pykclient.errors import (
    ExactlyOnceError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    ProducerFenced,
    TopicAlreadyExists,
)
from pykclient.producer.prepared import PreparedTransaction
from pykclient.spark.clients import borrowed_consumer, borrowed_producer
from pykclient.types import TopicPartition

logger = logging.getLogger(__name__)

LOST = (InvalidTxnState, ProducerFenced, InvalidProducerEpoch)
"""What a coordinator says of a transaction that it has aborted, or that another producer has fenced."""
FORGOTTEN = InvalidProducerIdMapping
"""What it says when it has forgotten the id (transactional.id.expiration.ms): committed or not, nobody knows."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Which batch of which query; of a batch write, its idempotencyToken and 0."""

    query: str
    number: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the topic."""

    kind: str
    owner: str
    """Who wrote it: the checkpoint of a stream, the token of a batch write."""
    batch: Batch | None = None
    transactions: list[PreparedTransaction] = field(default_factory=list)

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps(dataclasses.asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Entry:
        """As it was stored."""
        found = json.loads(data)
        batch = None if found["batch"] is None else Batch(**found["batch"])
        return cls(
            found["kind"], found["owner"], batch, [PreparedTransaction(**each) for each in found["transactions"]]
        )


def _not_before(known: Batch | None, batch: Batch) -> bool:
    return known is not None and known.query == batch.query and known.number >= batch.number


class Decisions:
    """The topic of one prefix, for one plan of one query."""

    def __init__(self, client: Mapping[str, str], prefix: str, owner: str) -> None:
        self._client = dict(client)
        self.prefix = prefix
        self.owner = owner
        self.topic = f"{prefix}.decisions"

    # ---- the topic

    def _settings(self, table: type, **more: str) -> dict[str, Any]:
        """What of the user's configuration this kind of client has."""
        names = {each.name for each in dataclasses.fields(table)}
        return {name: value for name, value in self._client.items() if name.replace(".", "_") in names} | more

    def create(self) -> None:
        """Make the topic if it is not there."""
        tp = TopicPartition(self.topic, 0)
        with borrowed_consumer(self._reader()) as consumer:
            if tp.topic in consumer.list_topics():
                return
        with KafkaAdminClient(self._settings(AdminConfig)) as admin:
            wanted = NewTopic(self.topic, 1, configs={"cleanup.policy": "compact"})
            results = admin.create_topics([wanted], wait=True)
            for error in results.errors.values():
                if not isinstance(error, TopicAlreadyExists):
                    raise error

    def _reader(self) -> dict[str, Any]:
        return self._settings(
            ConsumerConfig,
            **{"auto.offset.reset": "none", "enable.auto.commit": "false", "isolation.level": "read_uncommitted"},
        )

    def _write(self, entry: Entry, key: str) -> None:
        settings = self._settings(ProducerConfig, acks="all", **{"enable.idempotence": "true", "linger.ms": "0"})
        for name in ("transactional.id", "transaction.timeout.ms"):
            settings.pop(name, None)
        with borrowed_producer(settings) as producer:
            producer.send(self.topic, entry.to_json(), key.encode(), partition=0).result(60)

    def entries(self, *, last_only: bool) -> Iterator[Entry]:
        """The records, oldest first; or only the newest, which compaction never removes."""
        tp = TopicPartition(self.topic, 0)
        with borrowed_consumer(self._reader()) as consumer:
            first, end = consumer.beginning_offsets([tp])[tp], consumer.end_offsets([tp])[tp]
            if end > first:
                consumer.assign([tp])
                consumer.seek(tp, end - 1 if last_only else first)
                while consumer.position(tp) < end:
                    for record in consumer.poll(1.0).records():
                        if record.value is not None:
                            yield Entry.from_json(record.value)
                consumer.assign([])

    def last(self) -> Entry | None:
        """Where things stand."""
        return next(iter(list(self.entries(last_only=True))[-1:]), None)

    # ---- the steps of a batch

    def begin(self, token: str | None = None) -> Batch | None:
        """Plan: finish what an earlier driver decided, then claim the prefix. Gives the batch that is committed already
        and must not be written again; for a batch write, only if it is the one of this ``token``."""
        self.create()
        entry = self.last()
        if entry is not None and entry.kind == "decision":
            entry = self._finish(entry)
        committed = entry.batch if entry is not None else None
        if token is not None and (committed is None or committed.query != token):
            known = [each for each in self.entries(last_only=False) if each.kind == "done" and each.batch is not None]
            committed = next((each.batch for each in reversed(known) if each.batch and each.batch.query == token), None)
        # The claim carries the last batch along, so that the newest record alone says all. Spark may plan a batch more
        # than once, so the same owner may claim again and again.
        self._write(Entry("claim", self.owner, entry.batch if entry is not None else None), "claim")
        return committed

    def _finish(self, entry: Entry) -> Entry | None:
        """An earlier driver decided and died before all transactions were committed: commit them."""
        logger.warning("%s: finishing batch %s, which an earlier run decided to commit", self.prefix, entry.batch)
        lost, forgotten = self._commit_all(entry.transactions)
        if forgotten or (lost and len(lost) < len(entry.transactions)):
            raise ExactlyOnceError(
                f"batch {entry.batch} of {self.prefix!r} is committed in part: the transactions of "
                f"{', '.join(lost + forgotten)} were aborted by the broker before they could be committed (the driver "
                "was away for longer than kafka.transaction.timeout.ms, or another query uses this prefix). Their "
                "records are missing. Decide with pykclient.spark.resolve_batch(..., replay=True) to write the batch "
                "again (records of the other transactions are then there twice), or replay=False to go on without them"
            )
        if lost:
            return None  # nothing of it was ever visible, so it is simply written again
        done = Entry("done", entry.owner, entry.batch)
        assert entry.batch is not None
        self._write(done, entry.batch.query)
        return done

    def commit(self, batch: Batch, transactions: list[PreparedTransaction]) -> None:
        """All tasks have prepared: decide, commit, note that it is done."""
        entry = self.last()
        if entry is None or entry.owner != self.owner or entry.kind == "decision" or _not_before(entry.batch, batch):
            raise ExactlyOnceError(
                f"another query, or another run of this one, uses transactionalIdPrefix {self.prefix!r}: {batch} is "
                "not committed here. Give each query a prefix of its own, and run it once at a time"
            )
        decision = Entry("decision", self.owner, batch, transactions)
        self._write(decision, batch.query)
        lost, forgotten = self._commit_all(transactions)
        if lost or forgotten:
            raise ExactlyOnceError(
                f"batch {batch} of {self.prefix!r}: the transactions of {', '.join(lost + forgotten)} were aborted "
                "before they could be committed: by the broker after kafka.transaction.timeout.ms, by a query with "
                "this prefix, or by a speculative task (set spark.speculation=false)"
            )
        self._write(Entry("done", self.owner, batch), batch.query)

    def abort(self, transactions: list[PreparedTransaction]) -> None:
        """The batch failed. What was decided stays decided; what was not is aborted, so that readers need not wait for
        it to time out."""
        entry = self.last()
        if entry is None or entry.owner != self.owner or entry.kind == "decision":
            return
        with borrowed_producer(self._ender()) as producer:
            for each in transactions:
                try:
                    producer.abort_prepared(each)
                except (*LOST, FORGOTTEN):
                    logger.debug("%s: aborted already", each.transactional_id)

    def _ender(self) -> dict[str, Any]:
        settings = self._settings(ProducerConfig)
        return {
            name: value
            for name, value in settings.items()
            if name not in ("transactional.id", "transaction.timeout.ms")
        }

    def _commit_all(self, transactions: list[PreparedTransaction]) -> tuple[list[str], list[str]]:
        """Commit each; gives the ids of those that are lost, and of those that nobody knows any more."""
        lost, forgotten = [], []
        with borrowed_producer(self._ender()) as producer:
            for each in transactions:
                try:
                    producer.commit_prepared(each)
                except LOST as error:
                    logger.error("%s: cannot be committed: %s", each.transactional_id, error)
                    lost.append(each.transactional_id)
                except FORGOTTEN:
                    forgotten.append(each.transactional_id)
        return lost, forgotten

    def resolve(self, *, replay: bool) -> Batch | None:
        """The operator's word on a batch that was committed in part; see ``resolve_batch``."""
        entry = self.last()
        if entry is None or entry.kind != "decision" or entry.batch is None:
            return None
        if replay:
            earlier = [each for each in self.entries(last_only=False) if each.kind == "done"]
            self._write(Entry("claim", self.owner, earlier[-1].batch if earlier else None), "claim")
        else:
            self._write(Entry("done", entry.owner, entry.batch), entry.batch.query)
        return entry.batch


def resolve_batch(transactional_id_prefix: str, *, replay: bool, **client: Any) -> Batch | None:
    """After an ExactlyOnceError about a batch committed in part: ``replay=True`` lets the next run write it again,
    ``replay=False`` lets it go on without the missing records. Client options as keywords (``bootstrap_servers=...``).

    Gives the batch it was about, None when there was none.
    """
    settings = {name.replace("_", "."): str(value) for name, value in client.items()}
    return Decisions(settings, transactional_id_prefix, "operator").resolve(replay=replay)


__all__ = ["Batch", "Decisions", "Entry", "resolve_batch"]
