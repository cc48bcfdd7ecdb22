"""The topic in which an exactly-once query remembers: ``<prefix>.decisions``, one partition, kept by compaction.

Each record is the whole state, so the newest one says where things stand. Who writes is decided by a transactional id
of its own, ``<prefix>.driver``: taking it fences whoever had it, so a driver that was thought dead can add nothing to
what a later one has read. Runs on the driver.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import ConfigResource, NewTopic, TransactionDescription
from pykclient.config import AdminConfig, ConsumerConfig, ProducerConfig
from pykclient.errors import (
    AuthorizationError,
    ExactlyOnceError,
    InvalidProducerEpoch,
    ProducerFenced,
    TopicAlreadyExists,
    TransactionalIdNotFound,
    UnsupportedVersion,
    UsageError,
)
from pykclient.producer.prepared import PreparedTransaction
from pykclient.producer.producer import KafkaProducer
from pykclient.spark.clients import borrowed_admin, borrowed_consumer, borrowed_producer
from pykclient.types import TopicPartition

RECORDS_BACK = 4
"""How far before the end the newest record is looked for at first; a record is followed by its transaction's marker."""
SEGMENT_MS = "3600000"
"""Compaction leaves the newest segment alone: with Kafka's own week for one, the older records would be many."""
RECORD_MAX = 16 * 1024 * 1024
DRIVER_TIMEOUT_MS = 60_000
"""A driver that dies while it writes a record must not leave it open for long: nobody else would wait for it anyway."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Which batch of which query; of a batch write, its idempotencyToken and 0."""

    query: str
    number: int


@dataclass(frozen=True, slots=True)
class Rows:
    """What a task or a batch consists of, whatever the order: number of rows, and a checksum over all columns."""

    count: int = 0
    checksum: int = 0

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.count + other.count, (self.checksum + other.checksum) % 2**64)


@dataclass(frozen=True, slots=True)
class Slot:
    """What one task has written, and the transaction it is in."""

    number: int
    transaction: PreparedTransaction
    rows: Rows
    committed: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that is committed. ``rows`` None: whatever comes back under its number is taken for it."""

    batch: Batch
    rows: Rows | None


@dataclass(frozen=True, slots=True)
class Decided:
    """A batch that was decided to be committed, and is not known to be so."""

    batch: Batch
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One record: all that is to be known."""

    kind: str = "none"
    """claim, when a batch is planned; decision, before its first transaction is committed; done, after the last."""
    owner: str = ""
    """The checkpoint of a stream, the token of a batch write."""
    claim: str = ""
    """Which plan of a batch has the right to decide."""
    done: Done | None = None
    decided: Decided | None = None
    disputed: bool = False
    """The batch that is done came back with other rows: the operator must say what is right."""
    shared: bool = False
    """The prefix has had more than one owner, so ``done`` may be another's: ours is among the older records."""

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps(dataclasses.asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Entry:
        """As it was stored."""
        found = json.loads(data)
        done, decided = found.pop("done"), found.pop("decided")
        return cls(
            **found,
            done=done and Done(Batch(**done["batch"]), done["rows"] and Rows(**done["rows"])),
            decided=decided and Decided(Batch(**decided["batch"]), tuple(_slot(each) for each in decided["slots"])),
        )


def _slot(found: dict[str, Any]) -> Slot:
    transaction, rows = PreparedTransaction(**found.pop("transaction")), Rows(**found.pop("rows"))
    return Slot(**found, transaction=transaction, rows=rows)


class DecisionLog:
    """The topic of one prefix."""

    def __init__(self, client: Mapping[str, str], prefix: str) -> None:
        self._client = dict(client)
        self.prefix = prefix
        self.topic_partition = TopicPartition(f"{prefix}.decisions", 0)

    def settings(self, table: type, **more: str) -> dict[str, Any]:
        """What of the user's configuration this kind of client has, but for transactions."""
        names = {each.name for each in dataclasses.fields(table)} - {"transactional_id", "transaction_timeout_ms"}
        return {name: value for name, value in self._client.items() if name.replace(".", "_") in names} | more

    def create(self) -> None:
        """Make the topic if it is not there; refuse one that forgets."""
        topic = self.topic_partition.topic
        with KafkaAdminClient(self.settings(AdminConfig)) as admin:
            if topic not in admin.list_topics():
                wanted = NewTopic(topic, 1, configs={"cleanup.policy": "compact", "segment.ms": SEGMENT_MS})
                for error in admin.create_topics([wanted], wait=True).errors.values():
                    if not isinstance(error, TopicAlreadyExists):
                        raise error
            resource = ConfigResource.topic(topic)
            found = admin.describe_configs(resource, names=["cleanup.policy"])
            if found.errors:
                return  # not allowed to look
            policy = found[resource]["cleanup.policy"].value or ""
            if "delete" in policy or "compact" not in policy:
                raise UsageError(f"topic {topic} has cleanup.policy={policy}; it must be compact, or it will forget")

    @contextmanager
    def hold(self) -> Iterator[Holder]:
        """Take the right to write, from whoever has it."""
        identity = {"transactional.id": f"{self.prefix}.driver", "transaction.timeout.ms": str(DRIVER_TIMEOUT_MS)}
        # A decision names every task of its batch, so it may be large; brokers look at its compressed size.
        large = {"max.request.size": str(RECORD_MAX), "compression.type": "gzip"}
        settings = self.settings(ProducerConfig, acks="all", **{"linger.ms": "0", **large, **identity})
        try:
            with borrowed_producer(settings) as producer:
                producer.init_transactions()  # also completes what an earlier holder has begun
                yield Holder(self, producer)
                # An empty transaction that is left open for ever, of which the brokers know nothing: a client in this
                # state may start over with init_transactions() when it is used next.
                producer.begin_transaction()
                producer.prepare_transaction()
        except (ProducerFenced, InvalidProducerEpoch) as error:
            raise ExactlyOnceError(in_use(self.prefix)) from error

    def entries(self) -> list[Entry]:
        """All records that compaction has left, oldest first."""
        return self._read(None)

    def newest(self) -> Entry:
        """Where things stand. Compaction never removes the newest record."""
        back = RECORDS_BACK
        while True:
            found = self._read(back)
            if found or back > 2**40:
                return found[-1] if found else Entry()
            back *= 1024

    def _read(self, back: int | None) -> list[Entry]:
        tp, found = self.topic_partition, []
        fixed = {"auto.offset.reset": "none", "enable.auto.commit": "false", "allow.auto.create.topics": "false"}
        settings = self.settings(ConsumerConfig, **fixed, **{"isolation.level": "read_committed"})
        with borrowed_consumer(settings) as consumer:
            first, end = consumer.beginning_offsets([tp])[tp], consumer.end_offsets([tp])[tp]
            if end > first:
                consumer.assign([tp])
                consumer.seek(tp, first if back is None else max(first, end - back))
                while consumer.position(tp) < end:
                    # With ``until`` nothing is asked for behind the end: that fetch would wait there for records, and
                    # the next look at this log for it.
                    values = consumer.poll_arrow(1.0, until={tp: end})["value"].to_pylist()
                    found += [Entry.from_json(value) for value in values if value is not None]
                consumer.assign([])
        return found

    # ---- what the brokers know of the prefix's transactions

    def marker_group(self, slot: int) -> str:
        """The group whose committed offset says which batch the slot's last transaction was of."""
        return f"{self.prefix}.{slot}"

    def marked(self, slot: Slot, batch: Batch) -> bool:
        """Whether the slot's last committed transaction is the one of this batch."""
        with borrowed_admin(self.settings(AdminConfig)) as admin:
            group = self.marker_group(slot.number)
            found = admin.list_group_offsets(group, [self.topic_partition], require_stable=True)[self.topic_partition]
        return found is not None and found.metadata == marker_text(batch)

    def fence(self, transactional_ids: list[str]) -> None:
        """Stop whoever writes with these, and abort what they have open."""
        with borrowed_admin(self.settings(AdminConfig)) as admin:
            admin.fence_producers(transactional_ids).raise_for_errors()

    def open_transactions(self) -> list[str]:
        """Ids of this prefix's tasks that have a transaction open; none where the brokers cannot tell (before 3.0)."""
        start = f"{self.prefix}."
        try:
            with borrowed_admin(self.settings(AdminConfig)) as admin:
                listed = admin.list_transactions(states=["Ongoing"])
        except (UnsupportedVersion, AuthorizationError):
            return []
        return [name for name in listed if name.startswith(start) and name[len(start) :].isdigit()]

    def described(self, transactional_ids: list[str]) -> dict[str, TransactionDescription | None]:
        """What the coordinators say of them, None for those they do not know; none where they cannot tell."""
        if not transactional_ids:
            return {}
        try:
            with borrowed_admin(self.settings(AdminConfig)) as admin:
                found = admin.describe_transactions(transactional_ids)
        except (UnsupportedVersion, AuthorizationError):
            return {}
        unknown = [name for name, error in found.errors.items() if isinstance(error, TransactionalIdNotFound)]
        return {**found.succeeded, **dict.fromkeys(unknown)}

    def timeout_max_ms(self) -> int | None:
        """transaction.max.timeout.ms of the brokers: the smallest of them. None where we may not see it."""
        with borrowed_admin(self.settings(AdminConfig)) as admin:
            brokers = [ConfigResource.broker(node.id) for node in admin.describe_cluster().brokers]
            found = admin.describe_configs(brokers, names=["transaction.max.timeout.ms"]).succeeded.values()
        values = [each["transaction.max.timeout.ms"].value for each in found if "transaction.max.timeout.ms" in each]
        return min((int(value) for value in values if value is not None), default=None)


class Holder:
    """Has the right to write."""

    def __init__(self, log: DecisionLog, producer: KafkaProducer) -> None:
        self._log = log
        self._producer = producer

    def newest(self) -> Entry:
        """Where things stand; nobody else can change it unnoticed any more."""
        return self._log.newest()

    def write(self, entry: Entry) -> None:
        """Returns when it is stored for good."""
        self._producer.begin_transaction()
        tp = self._log.topic_partition
        future = self._producer.send(tp.topic, entry.to_json(), _key(entry).encode(), partition=tp.partition)
        self._producer.commit_transaction()
        future.result(0)


def _key(entry: Entry) -> str:
    """Compaction keeps the newest of each: what is done, of every query and token."""
    if entry.kind == "done" and entry.done is not None and not entry.done.batch.query.startswith("once:"):
        return entry.done.batch.query
    return entry.kind


def marker_text(batch: Batch) -> str:
    """The note with the committed offset."""
    return json.dumps([batch.query, batch.number])


def in_use(prefix: str) -> str:
    """What two queries with one prefix are told."""
    return (
        f"another query, or another run of this one, uses transactionalIdPrefix {prefix!r}: the batch is not committed "
        "here. Give each query a prefix of its own, and run it once at a time"
    )


__all__ = ["Batch", "Decided", "DecisionLog", "Done", "Entry", "Holder", "Rows", "Slot", "in_use", "marker_text"]
