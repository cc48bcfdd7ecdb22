"""Compaction: of all records with one key only the last stays; offsets keep their gaps and their order.

Runs on the broker node's thread, one partition at a time, on closed segments below the last stable offset. Tombstones
and transaction markers go ``delete.retention.ms`` after a pass first found them removable; until then the batch
carries that moment as its delete horizon. It must never reorder, never touch the active segment, and never leave a
directory that a crash makes unreadable: new files take their final name last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pykclient.broker.index import RELATIVE_OFFSET_MAX, AbortedTransaction
from pykclient.broker.log import Log
from pykclient.broker.log_config import LONG_MAX
from pykclient.broker.log_loader import CLEANED_SUFFIX, SWAP_SUFFIX
from pykclient.broker.log_validation import end_marker_of
from pykclient.broker.segment import LOG_SUFFIX, LogSegment, segment_file_name
from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import BatchHeader, read_header
from pykclient.protocol.records import ConsumerRecords, decode_batch, encode_batch

KEY_COUNT_MAX = 1_000_000
"""Keys remembered in one round; what does not fit waits for the next."""


@dataclass(slots=True)
class Compacted:
    """What a round did."""

    end_offset: int
    bytes_before: int = 0
    bytes_after: int = 0
    records_removed: int = 0


@dataclass(slots=True)
class _Transactions:
    """Which transactions the cleaner is inside of, and so which batches and markers may go."""

    upcoming: list[AbortedTransaction]
    aborted: dict[int, tuple[AbortedTransaction, bool]] = field(default_factory=dict)
    committed: set[int] = field(default_factory=set)
    kept_markers: list[AbortedTransaction] = field(default_factory=list)

    def is_aborted(self, header: BatchHeader) -> bool:
        """Whether a data batch belongs to an aborted transaction."""
        self._advance(header.last_offset)
        if not header.is_transactional:
            return False
        found = self.aborted.get(header.producer_id)
        if found is None:
            self.committed.add(header.producer_id)
            return False
        self.aborted[header.producer_id] = found[0], True
        return True

    def is_marker_useless(self, header: BatchHeader, content: bytes) -> bool:
        """Whether a control batch marks the end of nothing that is still in the log."""
        self._advance(header.last_offset)
        marker = end_marker_of(header, content)
        if marker is None:
            return header.record_count == 0
        if marker.committed:
            seen = header.producer_id in self.committed
            self.committed.discard(header.producer_id)
            return not seen
        entry, has_data = self.aborted.pop(header.producer_id, (None, False))
        if entry is not None and has_data:
            self.kept_markers.append(entry)
        return not has_data

    def _advance(self, offset: int) -> None:
        while self.upcoming and self.upcoming[0].first_offset <= offset:
            entry = self.upcoming.pop(0)
            self.aborted.setdefault(entry.producer_id, (entry, False))


def compact(log: Log, wall_ms: int, *, force: bool = False) -> Compacted | None:
    """Do one round when enough of the log is dirty (always with ``force``); None when there was nothing to do."""
    cleanable = _cleanable_segments(log, wall_ms)
    first_dirty = max(log.cleaned_offset, log.log_start_offset)
    dirty = [segment for segment in cleanable if segment.next_offset > first_dirty]
    if not dirty or not (force or _is_worthwhile(log, cleanable, dirty, wall_ms)):
        return None
    offsets, end_offset = _last_offsets(log, dirty, first_dirty)
    cleanable = [segment for segment in cleanable if segment.next_offset <= end_offset]
    result = Compacted(end_offset)
    aborted = sorted(
        log.aborted_transactions(cleanable[0].base_offset, end_offset), key=lambda entry: entry.first_offset
    )
    transactions = _Transactions(aborted)
    for group in _groups(cleanable, log.config.segment_bytes_max):
        _Round(log, offsets, end_offset, transactions, wall_ms, result).clean(group)
    log.cleaned_offset = end_offset
    return result


def _cleanable_segments(log: Log, wall_ms: int) -> list[LogSegment]:
    limit = log.last_stable_offset
    newest_ms = wall_ms - log.config.min_compaction_lag_ms
    found: list[LogSegment] = []
    for segment in log.segments[:-1]:
        too_young = log.config.min_compaction_lag_ms > 0 and segment.max_timestamp.timestamp > newest_ms
        if segment.next_offset > limit or too_young:
            break
        found.append(segment)
    return found


def _is_worthwhile(log: Log, cleanable: list[LogSegment], dirty: list[LogSegment], wall_ms: int) -> bool:
    total_bytes = sum(segment.size for segment in cleanable)
    dirty_bytes = sum(segment.size for segment in dirty)
    if total_bytes and dirty_bytes / total_bytes > log.config.min_cleanable_dirty_ratio:
        return True
    oldest = dirty[0].first_timestamp
    lag_max = log.config.max_compaction_lag_ms
    return lag_max < LONG_MAX and oldest is not None and wall_ms - oldest > lag_max


def _last_offsets(log: Log, dirty: Sequence[LogSegment], first_dirty: int) -> tuple[dict[bytes, int], int]:
    """The last offset of every key in the dirty part, and where that part ends."""
    offsets: dict[bytes, int] = {}
    end_offset = first_dirty
    aborted = sorted(log.aborted_transactions(first_dirty, dirty[-1].next_offset), key=lambda entry: entry.first_offset)
    transactions = _Transactions(aborted)
    for segment in dirty:
        if len(offsets) >= KEY_COUNT_MAX:
            break
        for header, content in segment.headers():
            if header.is_control:
                transactions.is_marker_useless(header, content)
            elif not transactions.is_aborted(header) and header.last_offset >= first_dirty:
                for record in _decode(header, content) or ():
                    if record.key is not None and record.offset >= first_dirty:
                        offsets[record.key] = record.offset
        end_offset = segment.next_offset
    return offsets, end_offset


def _decode(header: BatchHeader, content: bytes) -> ConsumerRecords | None:
    """The records of a batch; None for one that cannot be read, which then stays as it is."""
    try:
        return decode_batch(content, header._replace(position=0), "", 0, check_crc=False)
    except CorruptRecordError:
        return None


def _groups(segments: Sequence[LogSegment], bytes_max: int) -> Iterator[list[LogSegment]]:
    """Neighbours that fit into one segment together, so that compacted segments do not stay tiny."""
    group: list[LogSegment] = []
    for segment in segments:
        size = sum(each.size for each in group) + segment.size
        if group and (size > bytes_max or segment.next_offset - group[0].base_offset > RELATIVE_OFFSET_MAX):
            yield group
            group = []
        group.append(segment)
    if group:
        yield group


@dataclass(slots=True)
class _Round:
    """The cleaning of one group of segments into one."""

    log: Log
    offsets: dict[bytes, int]
    end_offset: int
    transactions: _Transactions
    wall_ms: int
    result: Compacted

    def clean(self, group: list[LogSegment]) -> None:
        """Write what stays, then swap the files; a crash at any point leaves the old segments or the new one."""
        log, storage = self.log, self.log.storage
        base, created_ms = group[0].base_offset, group[-1].created_ms
        storage.delete(segment_file_name(base, LOG_SUFFIX + CLEANED_SUFFIX))
        cleaned = LogSegment(storage, base, log.config, created_ms=created_ms, suffix=CLEANED_SUFFIX)
        self.transactions.kept_markers = []
        for segment in group:
            self.result.bytes_before += segment.size
            for header, content in segment.headers():
                kept = self._kept(header, content)
                if kept is not None:
                    kept_header = read_header(kept)
                    assert kept_header is not None
                    cleaned.append(kept_header, (kept,))
        self.result.bytes_after += cleaned.size
        cleaned.sync()
        cleaned.close()
        swap = segment_file_name(base, LOG_SUFFIX + SWAP_SUFFIX)
        storage.rename(segment_file_name(base, LOG_SUFFIX + CLEANED_SUFFIX), swap)
        storage.sync()
        for segment in group:
            segment.delete()
        storage.rename(swap, segment_file_name(base, LOG_SUFFIX))
        storage.sync()
        replacement = LogSegment(storage, base, log.config, created_ms=created_ms)
        for _ in replacement.recover(base):
            pass
        for entry in sorted(self.transactions.kept_markers, key=lambda entry: entry.last_offset):
            replacement.note_aborted(entry)
        replacement.persist_indexes(sync=False)
        replacement.close()
        log.replace_segments(group, replacement)

    def _kept(self, header: BatchHeader, content: bytes) -> bytes | None:
        """What stays of a batch: the same bytes, fewer records, an empty batch, or nothing."""
        if header.is_control:
            return self._kept_marker(header, content)
        records = _decode(header, content)
        if records is None:
            return content
        discard = self.transactions.is_aborted(header)
        kept = (
            []
            if discard
            else [record for record in records if self._stays(header, record.offset, record.key, record.value)]
        )
        self.result.records_removed += len(records) - len(kept)
        if not kept and not self._must_stay(header):
            return None
        horizon = header.delete_horizon_ms
        if horizon is None and any(record.value is None for record in kept):
            horizon = self.wall_ms + self.log.config.delete_retention_ms
        if len(kept) == len(records) and horizon == header.delete_horizon_ms:
            return content
        return _rewritten(header, kept, horizon)

    def _kept_marker(self, header: BatchHeader, content: bytes) -> bytes | None:
        useless = self.transactions.is_marker_useless(header, content)
        horizon = header.delete_horizon_ms
        if not useless:
            return content
        if horizon is not None and horizon <= self.wall_ms:
            return _rewritten(header, [], horizon) if self._must_stay(header) else None
        if horizon is not None or header.record_count == 0:
            return content if horizon is not None or self._must_stay(header) else None
        # From now on it counts: whoever reads from the start must be able to get past the transaction in this time.
        return _rewritten(header, _decode(header, content) or [], self.wall_ms + self.log.config.delete_retention_ms)

    def _stays(self, header: BatchHeader, offset: int, key: bytes | None, value: bytes | None) -> bool:
        if offset >= self.end_offset:
            return True
        if key is None or offset < self.offsets.get(key, -1):
            return False
        horizon = header.delete_horizon_ms
        return value is not None or horizon is None or self.wall_ms < horizon

    def _must_stay(self, header: BatchHeader) -> bool:
        """Even empty: it carries a producer's last sequence, or the end of what was cleaned."""
        entry = self.log.producers.entries.get(header.producer_id) if header.has_producer_id else None
        if entry is not None:
            last = entry.last_data_offset
            if last is None and header.is_control and header.producer_epoch == entry.epoch:
                return True
            if last is not None and last == header.last_offset:
                return True
        return header.next_offset == self.end_offset


def _rewritten(header: BatchHeader, kept: ConsumerRecords, horizon: int | None) -> bytes:
    """The batch with fewer records: same offsets, same producer, same header otherwise."""
    keep_time = not kept or header.attributes & 0x08
    return encode_batch(
        [(record.timestamp, record.key, record.value, record.headers) for record in kept],
        base_offset=header.base_offset,
        compression=header.compression,
        timestamp_type=header.timestamp_type,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        control=header.is_control,
        partition_leader_epoch=header.partition_leader_epoch,
        offsets=[record.offset for record in kept],
        last_offset=header.last_offset,
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp if keep_time else None,
        delete_horizon_ms=horizon,
    )


__all__ = ["KEY_COUNT_MAX", "Compacted", "compact"]
