"""What a partition remembers of its idempotent and transactional producers.

For each producer id: its epoch, its last five batches (a batch sent twice is answered with the offset it got the
first time), and where its open
transaction began. Open transactions hold back the last stable offset. Owned by the broker node's thread. ``check``
only looks and ``update`` only
records, so that a failed write leaves no trace here; everything can be rebuilt from batch headers and is kept in
snapshot files to make that short.
"""

from __future__ import annotations

import enum
import struct
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from pykclient.errors import (
    CorruptRecordError,
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)
from pykclient.protocol.batch_header import BatchHeader, decrement_sequence

BATCH_COUNT_MAX = 5
EPOCH_MAX = 32767
_SEQUENCE_MAX = 2**31 - 1
# Kafka's version 1 keeps one batch per producer; ours keeps all five, so that a restart forgets nothing.
_SNAPSHOT_VERSION = 2
_SNAPSHOT_HEAD = struct.Struct(">hI")
_PRODUCER = struct.Struct(">qhqiqb")
_BATCH = struct.Struct(">iqiq")


class AppendOrigin(enum.Enum):
    """Who appends, and so how much is checked."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class AppendedBatch(NamedTuple):
    """What is remembered of a batch."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """Sequence number of its first record."""
        return decrement_sequence(self.last_sequence, self.offset_delta)

    @property
    def first_offset(self) -> int:
        """Offset of its first record."""
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class ProducerEntry:
    """One producer on one partition."""

    producer_id: int
    epoch: int = -1
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=BATCH_COUNT_MAX))
    last_timestamp: int = -1
    coordinator_epoch: int = -1
    transaction_first_offset: int | None = None
    active_ms: int = 0
    """Wall clock of its last append here. Not the records' timestamps: replayed history must not expire a live
    producer."""

    @property
    def last_sequence(self) -> int:
        """Sequence number of its last record, -1 when unknown."""
        return self.batches[-1].last_sequence if self.batches else -1

    @property
    def last_data_offset(self) -> int | None:
        """Offset of its last record that we know of."""
        return self.batches[-1].last_offset if self.batches else None


class CompletedTransaction(NamedTuple):
    """A transaction whose marker was just written."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class EndMarker(NamedTuple):
    """The control record that ends a transaction."""

    committed: bool
    coordinator_epoch: int


class ProducerStates:
    """All producers of one partition."""

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        # First offset -> producer id. Offsets only grow, so the first key is the oldest open transaction.
        self._open: dict[int, int] = {}
        # First offset -> marker offset of finished transactions that the high watermark has not passed yet.
        self._unreplicated: dict[int, int] = {}

    # --- decisions

    def check(
        self, header: BatchHeader, origin: AppendOrigin, *, expects_zero_sequence: bool = False
    ) -> AppendedBatch | None:
        """The batch that this one repeats, None for a new one that may be appended; anything else raises.

        ``expects_zero_sequence``: the producer speaks transactions v2, so an unknown producer can only begin at
        sequence 0 (KIP-890).
        """
        entry = self.entries.get(header.producer_id)
        if origin is not AppendOrigin.CLIENT:
            if entry is not None and origin is AppendOrigin.COORDINATOR:
                _check_epoch(entry, header)
            return None
        if entry is None:
            if expects_zero_sequence and header.base_sequence != 0:
                raise OutOfOrderSequenceNumber(
                    f"Producer {header.producer_id} is new here and must begin with 0, not {header.base_sequence}"
                )
            return None
        duplicate = _find_duplicate(entry, header)
        if duplicate is not None:
            return duplicate
        _check_epoch(entry, header)
        _check_sequence(entry, header)
        if (
            entry.transaction_first_offset is not None
            and not header.is_transactional
            and header.producer_epoch == entry.epoch
        ):
            raise InvalidTxnState(f"Producer {header.producer_id} has an open transaction and wrote outside of it")
        return None

    def check_marker(self, header: BatchHeader, marker: EndMarker, *, transaction_version: int = 0) -> None:
        """Raise unless the coordinator may end the producer's transaction with this marker."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return
        epoch = header.producer_epoch
        stale = epoch <= entry.epoch if transaction_version >= 2 else epoch < entry.epoch
        # A marker repeated after a coordinator's restart: its transaction has ended already, writing it twice harms
        # nobody.
        repeated = epoch == entry.epoch and (entry.transaction_first_offset is None or epoch == EPOCH_MAX)
        if stale and not (transaction_version >= 2 and repeated):
            raise InvalidProducerEpoch(
                f"Marker of producer {header.producer_id} has epoch {epoch}, known is {entry.epoch}"
            )
        if entry.coordinator_epoch > marker.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"Marker of producer {header.producer_id} comes from coordinator epoch {marker.coordinator_epoch},"
                f" known is {entry.coordinator_epoch}"
            )

    # --- records of what happened

    def update(self, header: BatchHeader, *, active_ms: int) -> None:
        """Remember a data batch that was appended."""
        entry = self._entry(header.producer_id)
        if header.producer_epoch != entry.epoch:
            entry.epoch = header.producer_epoch
            entry.batches.clear()
        if header.base_sequence >= 0:
            delta = header.last_offset_delta
            entry.batches.append(AppendedBatch(header.last_sequence, header.last_offset, delta, header.max_timestamp))
        entry.last_timestamp = header.max_timestamp
        entry.active_ms = active_ms
        if header.is_transactional and entry.transaction_first_offset is None:
            entry.transaction_first_offset = header.base_offset
            self._open[header.base_offset] = header.producer_id

    def update_marker(self, header: BatchHeader, marker: EndMarker, *, active_ms: int) -> CompletedTransaction | None:
        """Remember a marker that was appended; what it ended, None when the transaction had no data here."""
        entry = self._entry(header.producer_id)
        if header.producer_epoch > entry.epoch:
            entry.epoch = header.producer_epoch
            entry.batches.clear()
        entry.coordinator_epoch = max(marker.coordinator_epoch, entry.coordinator_epoch)
        entry.last_timestamp = header.max_timestamp
        entry.active_ms = active_ms
        first_offset, entry.transaction_first_offset = entry.transaction_first_offset, None
        if first_offset is None:
            return None
        self._open.pop(first_offset, None)
        self._unreplicated[first_offset] = header.last_offset
        return CompletedTransaction(header.producer_id, first_offset, header.last_offset, not marker.committed)

    def on_high_watermark(self, high_watermark: int) -> None:
        """Forget finished transactions whose markers are committed."""
        if self._unreplicated:
            self._unreplicated = {
                first: marker for first, marker in self._unreplicated.items() if marker >= high_watermark
            }

    def on_log_start(self, log_start_offset: int) -> None:
        """The log begins later now; an open transaction whose first records are gone still holds what is left of it."""
        self._unreplicated = {
            first: marker for first, marker in self._unreplicated.items() if marker >= log_start_offset
        }

    def expire(self, wall_ms: int, expiration_ms: int) -> int:
        """Forget producers that were silent for too long and have no open transaction; how many."""
        expired = [
            entry.producer_id
            for entry in self.entries.values()
            if entry.transaction_first_offset is None and wall_ms - entry.active_ms >= expiration_ms
        ]
        for producer_id in expired:
            del self.entries[producer_id]
        return len(expired)

    # --- what others ask

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset that belongs to a transaction whose outcome is not known to all replicas."""
        first = next(iter(self._open), None)
        unreplicated = min(self._unreplicated, default=None)
        if first is None or unreplicated is None:
            return unreplicated if first is None else first
        return min(first, unreplicated)

    def last_stable_offset_after(self, completed: CompletedTransaction) -> int:
        """The last stable offset once a finished transaction is committed: the next oldest open one, or just behind
        its marker."""
        return next(iter(self._open), completed.last_offset + 1)

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self._open.clear()
        self._unreplicated.clear()

    def _entry(self, producer_id: int) -> ProducerEntry:
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self.entries[producer_id] = ProducerEntry(producer_id)
        return entry

    # --- snapshots

    def to_bytes(self) -> bytes:
        """A snapshot of the producers."""
        parts: list[bytes] = []
        for entry in self.entries.values():
            first_offset = -1 if entry.transaction_first_offset is None else entry.transaction_first_offset
            parts.append(
                _PRODUCER.pack(
                    entry.producer_id,
                    entry.epoch,
                    entry.last_timestamp,
                    entry.coordinator_epoch,
                    first_offset,
                    len(entry.batches),
                )
            )
            parts.extend(_BATCH.pack(*batch) for batch in entry.batches)
        body = b"".join(parts)
        return _SNAPSHOT_HEAD.pack(_SNAPSHOT_VERSION, zlib.crc32(body)) + body

    def load(self, content: bytes, *, active_ms: int) -> None:
        """Replace everything by a snapshot; CorruptRecordError when it is not one."""
        try:
            entries = list(_parse_snapshot(content, active_ms))
        except (struct.error, ValueError) as error:
            raise CorruptRecordError(f"producer snapshot is damaged: {error}") from error
        self.clear()
        self.entries = {entry.producer_id: entry for entry in entries}
        opened = sorted(
            (e.transaction_first_offset, e.producer_id) for e in entries if e.transaction_first_offset is not None
        )
        self._open = dict(opened)


def _parse_snapshot(content: bytes, active_ms: int) -> list[ProducerEntry]:
    version, crc = _SNAPSHOT_HEAD.unpack_from(content)
    position = _SNAPSHOT_HEAD.size
    if version != _SNAPSHOT_VERSION or crc != zlib.crc32(memoryview(content)[position:]):
        raise ValueError("wrong version or checksum")
    entries = []
    while position < len(content):
        producer_id, epoch, timestamp, coordinator_epoch, first_offset, count = _PRODUCER.unpack_from(content, position)
        position += _PRODUCER.size
        entry = ProducerEntry(
            producer_id, epoch, last_timestamp=timestamp, coordinator_epoch=coordinator_epoch, active_ms=active_ms
        )
        entry.transaction_first_offset = first_offset if first_offset >= 0 else None
        for _ in range(count):
            entry.batches.append(AppendedBatch(*_BATCH.unpack_from(content, position)))
            position += _BATCH.size
        entries.append(entry)
    return entries


def _find_duplicate(entry: ProducerEntry, header: BatchHeader) -> AppendedBatch | None:
    if header.producer_epoch != entry.epoch:
        return None
    first, last = header.base_sequence, header.last_sequence
    for batch in entry.batches:
        if batch.last_sequence == last and batch.first_sequence == first:
            return batch
    return None


def _check_epoch(entry: ProducerEntry, header: BatchHeader) -> None:
    if header.producer_epoch < entry.epoch:
        raise InvalidProducerEpoch(
            f"Producer {header.producer_id} wrote with epoch {header.producer_epoch}, known is {entry.epoch}"
        )


def _check_sequence(entry: ProducerEntry, header: BatchHeader) -> None:
    first = header.base_sequence
    if header.producer_epoch != entry.epoch:
        if first != 0 and entry.epoch != -1:
            raise OutOfOrderSequenceNumber(
                f"Producer {header.producer_id} began epoch {header.producer_epoch} with sequence {first} instead of 0"
            )
        return
    last = entry.last_sequence
    # After only a marker in this epoch there is no sequence yet; a transaction's first batch then starts at 0.
    in_sequence = first == last + 1 or (first == 0 and last == _SEQUENCE_MAX)
    if not in_sequence:
        raise OutOfOrderSequenceNumber(f"Producer {header.producer_id} sent sequence {first} after {last}")


__all__ = [
    "BATCH_COUNT_MAX",
    "AppendOrigin",
    "AppendedBatch",
    "CompletedTransaction",
    "EndMarker",
    "ProducerEntry",
    "ProducerStates",
]
