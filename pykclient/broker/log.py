"""One partition's log: batches in segments, from the log start offset to the log end offset.

Owned by the broker node's thread; time comes as an argument. A batch is with the operating system when ``append_*``
returns, and synced to the disk before that when ``flush.messages`` says so. It must never acknowledge what it could
not write: a failed write leaves the log as it was, a failed sync takes the log offline until it is opened and
recovered again.
"""

from __future__ import annotations

import enum
import logging
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pykclient.broker.index import AbortedTransaction
from pykclient.broker.log_config import LogConfig
from pykclient.broker.log_loader import (
    LoadedLog,
    load_log,
    load_snapshot,
    note_completed,
    replay_batch,
    snapshot_offsets,
)
from pykclient.broker.log_validation import (
    ReadyBatch,
    check_leader_batch,
    end_marker_of,
    make_ready,
    read_single_batch,
)
from pykclient.broker.producer_state import AppendOrigin
from pykclient.broker.segment import SNAPSHOT_SUFFIX, FoundRecord, LogSegment, segment_file_name
from pykclient.broker.storage import Storage
from pykclient.errors import CorruptMessage, CorruptRecordError, InvalidRecord, KafkaStorageError, OffsetOutOfRange
from pykclient.protocol.batch_header import BatchHeader, check_batch, iter_batches
from pykclient.protocol.buffers import Buffer
from pykclient.types import TimestampType

_logger = logging.getLogger(__name__)
T = TypeVar("T")


class Isolation(enum.Enum):
    """How far a reader may see: a follower to the log end, a consumer to the high watermark or to the last stable
    offset."""

    LOG_END = "log end"
    READ_UNCOMMITTED = "high watermark"
    READ_COMMITTED = "last stable offset"


class AppendResult(NamedTuple):
    """Where a batch went. For a duplicate: where it went the first time."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class LogRead:
    """Batches as they lie in the log, and where the log stood when they were read."""

    records: bytes
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[AbortedTransaction, ...] = ()


class Log:
    """A partition's log. Make one with ``Log.open``."""

    def __init__(self, storage: Storage, config: LogConfig, loaded: LoadedLog, *, wall_ms: int) -> None:
        self.storage = storage
        self.config = config
        self.producers = loaded.producers
        self.epochs = loaded.epochs
        self.recovery_point = loaded.recovery_point
        self.cleaned_offset = 0
        """Everything before it has been compacted."""
        self.failure: BaseException | None = None
        self._segments = loaded.segments
        self._log_start_offset = loaded.log_start_offset
        self._high_watermark = loaded.log_start_offset
        self._unflushed_count = 0
        self._flushed_ms = wall_ms

    @classmethod
    def open(
        cls,
        storage: Storage,
        config: LogConfig | None = None,
        *,
        wall_ms: int,
        log_start_offset: int = 0,
        recovery_point: int = 0,
        clean: bool = False,
    ) -> Log:
        """Open what is in a directory, or begin a new log there. ``clean``: the broker closed it and nothing touched
        it since."""
        config = config or LogConfig()
        try:
            loaded = load_log(
                storage,
                config,
                log_start_offset=log_start_offset,
                recovery_point=recovery_point,
                clean=clean,
                wall_ms=wall_ms,
            )
        except OSError as error:
            raise KafkaStorageError(f"{storage.path} cannot be opened: {error}") from error
        return cls(storage, config, loaded, wall_ms=wall_ms)

    # --- where it stands

    @property
    def log_start_offset(self) -> int:
        """The first offset that may be read."""
        return self._log_start_offset

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._segments[-1].next_offset

    @property
    def high_watermark(self) -> int:
        """Everything before it is on all in-sync replicas."""
        return self._high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Everything before it is committed and belongs to no open transaction."""
        first_unstable = self.producers.first_unstable_offset
        if first_unstable is None or first_unstable >= self._high_watermark:
            return self._high_watermark
        return max(first_unstable, self._log_start_offset)

    @property
    def segments(self) -> Sequence[LogSegment]:
        """The segments, oldest first; the last one is written to."""
        return self._segments

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self._segments)

    def advance_high_watermark(self, offset: int) -> bool:
        """Move the high watermark forward, at most to the log end; whether it moved."""
        offset = min(offset, self.log_end_offset)
        if offset <= self._high_watermark:
            return False
        self._high_watermark = offset
        self.producers.on_high_watermark(offset)
        return True

    # --- appending

    def append_as_leader(
        self,
        records: Buffer | None,
        *,
        leader_epoch: int,
        wall_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
    ) -> AppendResult:
        """Check a batch, give it the next offsets and write it. Refusals are BrokerErrors; a write that fails is
        KafkaStorageError."""
        self._check_online()
        header, view = read_single_batch(records)
        check_leader_batch(header, view, self.config, origin=origin, wall_ms=wall_ms)
        marker = None
        if header.has_producer_id:
            if header.is_control:
                marker = end_marker_of(header, view)
                if marker is not None:
                    self.producers.check_marker(header, marker, transaction_version=transaction_version)
            else:
                known = self.producers.check(
                    header, origin, expects_zero_sequence=transaction_version >= 2 and header.is_transactional
                )
                if known is not None:
                    return AppendResult(
                        known.first_offset, known.last_offset, -1, self._log_start_offset, duplicate=True
                    )
        ready = make_ready(
            header,
            view,
            self.config,
            base_offset=self.log_end_offset,
            leader_epoch=leader_epoch,
            wall_ms=wall_ms,
            origin=origin,
        )
        self._write(ready, view, wall_ms)
        append_time = wall_ms if self.config.timestamp_type is TimestampType.LOG_APPEND_TIME else -1
        return AppendResult(ready.header.base_offset, ready.header.last_offset, append_time, self._log_start_offset)

    def append_as_follower(self, records: Buffer, *, wall_ms: int) -> AppendResult:
        """Write batches that a leader has given their offsets; a partial one at the end is left out."""
        self._check_online()
        view = memoryview(records)
        first_offset = self.log_end_offset
        try:
            for header in iter_batches(view):
                check_batch(view, header)
                if header.magic != 2 or header.base_offset < self.log_end_offset or header.last_offset_delta < 0:
                    raise InvalidRecord(f"Batch at {header.base_offset} cannot follow offset {self.log_end_offset - 1}")
                content = view[header.position : header.end]
                self._write(ReadyBatch(header._replace(position=0), (content,)), content, wall_ms)
        except CorruptRecordError as error:
            raise CorruptMessage(str(error)) from error
        return AppendResult(first_offset, self.log_end_offset - 1, -1, self._log_start_offset)

    def _write(self, ready: ReadyBatch, content: Buffer, wall_ms: int) -> None:
        header = ready.header
        try:
            segment = self._segment_for(header, wall_ms)
            self.epochs.assign(header.partition_leader_epoch, header.base_offset)
            segment.append(header, ready.parts)
        except OSError as error:
            raise KafkaStorageError(f"{self.storage.path}: {error}") from error
        note_completed(segment, self.producers, replay_batch(self.producers, header, content, wall_ms))
        self._unflushed_count += header.last_offset_delta + 1
        if self._unflushed_count >= self.config.flush_messages:
            self.flush(wall_ms)

    def _segment_for(self, header: BatchHeader, wall_ms: int) -> LogSegment:
        """The active segment, or a new one when this batch needs it."""
        active = self._segments[-1]
        if active.size == 0:
            return active
        if header.max_timestamp >= 0 and active.first_timestamp is not None:
            waited_ms = header.max_timestamp - active.first_timestamp
        else:
            waited_ms = wall_ms - active.created_ms
        full = active.size + header.size > self.config.segment_bytes_max or not active.has_room_for(header.last_offset)
        if full or waited_ms > self.config.segment_ms:
            return self.roll(wall_ms)
        return active

    def roll(self, wall_ms: int) -> LogSegment:
        """Close the active segment and begin another at the log end; an empty one stays."""
        active = self._segments[-1]
        if active.size == 0:
            return active
        end = self.log_end_offset
        active.persist_indexes(sync=False)
        active.close()
        self._write_snapshot(end)
        segment = LogSegment(self.storage, end, self.config, created_ms=wall_ms)
        self._segments.append(segment)
        return segment

    # --- reading

    def read(
        self,
        from_offset: int,
        *,
        bytes_max: int,
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
        at_least_one: bool = True,
    ) -> LogRead:
        """Batches from the one that holds ``from_offset`` on, whole, up to ``bytes_max`` bytes; the first one even if
        larger."""
        self._check_online()
        if not self._log_start_offset <= from_offset <= self.log_end_offset:
            raise OffsetOutOfRange(
                f"Offset {from_offset} is not within [{self._log_start_offset}, {self.log_end_offset}]"
            )
        upper = self._upper_offset(isolation)
        records, end_offset = self._reading(lambda: self._read(from_offset, bytes_max, upper, at_least_one))
        aborted: tuple[AbortedTransaction, ...] = ()
        if isolation is Isolation.READ_COMMITTED and records:
            aborted = tuple(self.aborted_transactions(from_offset, end_offset))
        return LogRead(records, self._high_watermark, self.last_stable_offset, self._log_start_offset, aborted)

    def _read(self, from_offset: int, bytes_max: int, upper: int, at_least_one: bool) -> tuple[bytes, int]:
        if from_offset >= upper:
            return b"", from_offset
        for segment in self._segments[self._slot(from_offset) :]:
            found = segment.read(from_offset, bytes_max=bytes_max, upper_offset=upper, at_least_one=at_least_one)
            if found is not None:
                return found
        return b"", from_offset

    def available_bytes(self, from_offset: int, isolation: Isolation, *, cap: int) -> int:
        """Bytes that a reader at an offset could get, counted up to ``cap``; judged by positions, nothing is read
        out."""
        self._check_online()
        if not self._log_start_offset <= from_offset <= self.log_end_offset:
            raise OffsetOutOfRange(f"Offset {from_offset} is out of range")
        upper = self._upper_offset(isolation)
        available = 0
        if from_offset < upper:
            for segment in self._segments[self._slot(from_offset) :]:
                available += segment.bytes_between(from_offset, upper)
                if available >= cap or segment.next_offset >= upper:
                    break
        return min(available, cap)

    def _upper_offset(self, isolation: Isolation) -> int:
        if isolation is Isolation.LOG_END:
            return self.log_end_offset
        if isolation is Isolation.READ_UNCOMMITTED:
            return self._high_watermark
        return self.last_stable_offset

    def aborted_transactions(self, from_offset: int, upper_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions with records in a range of offsets, in order of their markers."""
        found: list[AbortedTransaction] = []
        for segment in self._segments[self._slot(from_offset) :]:
            if segment.txn_index.collect(from_offset, upper_offset, found):
                break
        return found

    def find_time(self, timestamp: int) -> FoundRecord | None:
        """The first record whose timestamp is at or after the given one."""
        return self._reading(lambda: self._find_time(timestamp))

    def _find_time(self, timestamp: int) -> FoundRecord | None:
        for segment in self._segments:
            if segment.max_timestamp.timestamp >= timestamp and segment.next_offset > self._log_start_offset:
                found = segment.find_time(timestamp, self._log_start_offset)
                if found is not None:
                    return found
        return None

    def find_max_timestamp(self) -> FoundRecord | None:
        """The first record that has the largest timestamp of the log."""
        segment = max(self._segments, key=lambda segment: segment.max_timestamp.timestamp)
        return self._reading(segment.find_max_timestamp)

    def _reading(self, action: Callable[[], T]) -> T:
        """Run a read; what goes wrong in files becomes an answer for clients."""
        try:
            return action()
        except OSError as error:
            raise KafkaStorageError(f"{self.storage.path}: {error}") from error
        except CorruptRecordError as error:
            raise CorruptMessage(f"{self.storage.path}: {error}") from error

    def _slot(self, offset: int) -> int:
        """Index of the segment that an offset belongs to."""
        return max(0, bisect_right(self._segments, offset, key=lambda segment: segment.base_offset) - 1)

    # --- making it shorter

    def delete_records_before(self, offset: int) -> int:
        """Forget everything before an offset (-1 for the high watermark); the new log start offset."""
        self._check_online()
        offset = self._high_watermark if offset == -1 else offset
        if not 0 <= offset <= self._high_watermark:
            raise OffsetOutOfRange(f"Cannot delete up to {offset}; the high watermark is {self._high_watermark}")
        self._move_log_start(offset)
        self._delete_leading(lambda _, following: following.base_offset <= offset)
        return self._log_start_offset

    def apply_retention(self, wall_ms: int) -> int:
        """Delete the oldest segments that retention.ms, retention.bytes or the log start offset no longer cover; how
        many."""
        config = self.config
        start = self._log_start_offset
        deleted = self._delete_leading(lambda _, following: following.base_offset <= start)
        if not config.delete:
            return deleted
        if config.retention_ms >= 0:
            oldest_ms = wall_ms - config.retention_ms
            active = self._segments[-1]
            if self._last_activity_ms(active) < oldest_ms and active.next_offset <= self._high_watermark:
                self.roll(wall_ms)
            deleted += self._delete_leading(
                lambda segment, following: (
                    following.base_offset <= self._high_watermark and self._last_activity_ms(segment) < oldest_ms
                )
            )
        if config.retention_bytes >= 0:
            surplus = self.size - config.retention_bytes

            def in_surplus(segment: LogSegment, following: LogSegment) -> bool:
                nonlocal surplus
                if following.base_offset > self._high_watermark or surplus < segment.size:
                    return False
                surplus -= segment.size
                return True

            deleted += self._delete_leading(in_surplus)
        return deleted

    def _last_activity_ms(self, segment: LogSegment) -> int:
        timestamp = segment.max_timestamp.timestamp
        return timestamp if timestamp >= 0 else segment.created_ms

    def _delete_leading(self, goes: Callable[[LogSegment, LogSegment], bool]) -> int:
        """Delete segments from the oldest on while ``goes(segment, the one behind it)``; the active one always
        stays."""
        count = 0
        while len(self._segments) > 1 and goes(self._segments[0], self._segments[1]):
            self._segments.pop(0).delete()
            count += 1
        if count:
            self._move_log_start(self._segments[0].base_offset)
            for offset in snapshot_offsets(self.storage):
                if offset < self._segments[0].base_offset:
                    self.storage.delete(segment_file_name(offset, SNAPSHOT_SUFFIX))
        return count

    def _move_log_start(self, offset: int) -> None:
        if offset > self._log_start_offset:
            self._log_start_offset = offset
            self._high_watermark = max(self._high_watermark, offset)
            self.epochs.truncate_from_start(offset)
            self.producers.on_log_start(offset)

    def truncate_to(self, offset: int, *, wall_ms: int) -> None:
        """Cut the log so that it ends at or before an offset; whole batches only."""
        if offset >= self.log_end_offset:
            return
        if offset <= self._segments[0].base_offset:
            self.restart_at(offset, wall_ms=wall_ms)
            return
        while self._segments[-1].base_offset >= offset:
            self._segments.pop().delete()
        self._segments[-1].truncate_to(offset)
        end = self.log_end_offset
        self.epochs.truncate_from_end(end)
        self.recovery_point = min(self.recovery_point, end)
        self.cleaned_offset = min(self.cleaned_offset, end)
        self._high_watermark = min(self._high_watermark, end)
        self._log_start_offset = min(self._log_start_offset, end)
        self._rebuild_producers(wall_ms)

    def restart_at(self, offset: int, *, wall_ms: int) -> None:
        """Drop everything and go on at an offset: what a follower does whose leader no longer has what it has."""
        while self._segments:
            self._segments.pop().delete()
        for snapshot in snapshot_offsets(self.storage):
            self.storage.delete(segment_file_name(snapshot, SNAPSHOT_SUFFIX))
        self._segments.append(LogSegment(self.storage, offset, self.config, created_ms=wall_ms))
        self.epochs.clear()
        self.producers.clear()
        self.recovery_point = self.cleaned_offset = min(self.recovery_point, offset)
        self._log_start_offset = self._high_watermark = offset

    def _rebuild_producers(self, wall_ms: int) -> None:
        end = self.log_end_offset
        start = load_snapshot(self.storage, self.producers, at_most=end, wall_ms=wall_ms)
        for segment in self._segments:
            if segment.next_offset > start:
                for header, content in segment.headers(segment.offset_index.lookup(start).position):
                    if header.base_offset >= start:
                        replay_batch(self.producers, header, content, wall_ms)
        self.producers.on_high_watermark(self._high_watermark)

    def replace_segments(self, old: Sequence[LogSegment], new: LogSegment) -> None:
        """Put a compacted segment, already under its final name, into the place of those it was made from."""
        slot = self._segments.index(old[0])
        assert list(self._segments[slot : slot + len(old)]) == list(old)
        self._segments[slot : slot + len(old)] = [new]

    # --- flushing and closing

    def housekeeping(self, wall_ms: int, *, producer_expiration_ms: int) -> None:
        """What time brings: flush.ms, and producers to forget."""
        if self.failure is not None:
            return
        if self._unflushed_count and wall_ms - self._flushed_ms >= self.config.flush_ms:
            self.flush(wall_ms)
        self.producers.expire(wall_ms, producer_expiration_ms)

    def flush(self, wall_ms: int) -> None:
        """Bring everything to the disk. A failure takes the log offline: nobody knows what the disk kept."""
        self._check_online()
        if self.recovery_point < self.log_end_offset:
            self._sync(self._segments[self._slot(self.recovery_point) :], self.log_end_offset)
        self._unflushed_count = 0
        self._flushed_ms = wall_ms

    def flush_oldest(self) -> bool:
        """Bring one closed segment to the disk, so that a crash leaves less to check; whether there was one."""
        slot = self._slot(self.recovery_point)
        if self.failure is not None or slot >= len(self._segments) - 1:
            return False
        self._sync([self._segments[slot]], self._segments[slot + 1].base_offset)
        return True

    def _sync(self, segments: Sequence[LogSegment], recovery_point: int) -> None:
        try:
            for segment in segments:
                segment.sync()
                if segment is not self._segments[-1]:
                    segment.close()
            self.storage.sync()
        except OSError as error:
            self.failure = error
            _logger.error("%s is offline: sync failed: %s", self.storage.path, error)
            raise KafkaStorageError(f"{self.storage.path}: sync failed: {error}") from error
        self.recovery_point = recovery_point

    def close(self, wall_ms: int) -> bool:
        """Flush, write indexes and the producers' snapshot, let go of the files. True when the next start may trust
        them."""
        try:
            if self.failure is None:
                self.flush(wall_ms)
                self._segments[-1].persist_indexes(sync=True)
                self._write_snapshot(self.log_end_offset)
            return self.failure is None
        except (KafkaStorageError, OSError) as error:
            _logger.error("%s was not closed cleanly: %s", self.storage.path, error)
            return False
        finally:
            for segment in self._segments:
                segment.close()

    def _write_snapshot(self, offset: int) -> None:
        self.storage.replace(segment_file_name(offset, SNAPSHOT_SUFFIX), self.producers.to_bytes(), sync=False)
        bases = {segment.base_offset for segment in self._segments}
        for old in snapshot_offsets(self.storage):
            # One per segment makes truncation and recovery short; the others only tell what these tell.
            if old != offset and old not in bases:
                self.storage.delete(segment_file_name(old, SNAPSHOT_SUFFIX))

    def _check_online(self) -> None:
        if self.failure is not None:
            raise KafkaStorageError(f"{self.storage.path} is offline: {self.failure}")


__all__ = ["AppendOrigin", "AppendResult", "Isolation", "Log", "LogRead"]
