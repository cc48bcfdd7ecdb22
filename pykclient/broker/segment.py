"""One segment of a log: a file of batches, and the sparse indexes that find an offset or a time in it.

Owned by the broker node's thread. It works on batch headers only; the records inside are looked at in one case, to
answer which record of a batch was first at a given time. Reading hands out whole batches as they lie in the file. It
must never believe a length that it has not compared with the bytes that are there: files are edited, torn and filled
with noise, and the answer to all of that is a typed error or a shorter segment.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pykclient.broker.index import (
    RELATIVE_OFFSET_MAX,
    AbortedTransaction,
    OffsetIndex,
    TimeIndex,
    TimestampOffset,
    TransactionIndex,
    read_index_file,
)
from pykclient.broker.log_config import LogConfig
from pykclient.broker.storage import Storage
from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import HEADER_BYTES, BatchHeader, check_batch, iter_batches, read_header
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.records import decode_batch
from pykclient.types import TimestampType

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TXN_INDEX_SUFFIX = ".txnindex"
SNAPSHOT_SUFFIX = ".snapshot"
_FRAME = struct.Struct(">qi")
_LAST_OFFSET_DELTA = struct.Struct(">i")
_LAST_OFFSET_DELTA_AT = 23
_MAX_TIMESTAMP = struct.Struct(">q")
_MAX_TIMESTAMP_AT = 35
_LOG_OVERHEAD_BYTES = 12
_SCAN_BYTES = 16 * 1024
_READ_AHEAD_BYTES = 1 << 20


def segment_file_name(base_offset: int, suffix: str) -> str:
    """Kafka's name of a segment's file."""
    return f"{base_offset:020d}{suffix}"


class Frame(NamedTuple):
    """Where a batch lies in the file and which offsets it covers."""

    position: int
    size: int
    base_offset: int
    last_offset: int


class SegmentRead(NamedTuple):
    """Batches, and the offset behind the last of them."""

    records: bytes
    end_offset: int


class FoundRecord(NamedTuple):
    """A record found by its time."""

    timestamp: int
    offset: int
    leader_epoch: int


class LogSegment:
    """A segment. ``next_offset`` and the largest timestamp are known after ``load``, ``recover`` or the first
    append."""

    def __init__(
        self, storage: Storage, base_offset: int, config: LogConfig, *, created_ms: int, suffix: str = ""
    ) -> None:
        self._storage = storage
        self._suffix = suffix
        self._index_interval_bytes = config.index_interval_bytes
        self._index_bytes_max = config.segment_index_bytes
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.created_ms = created_ms
        self.first_timestamp: int | None = None
        self.max_timestamp = TimestampOffset(-1, base_offset)
        self.offset_index = OffsetIndex(base_offset, bytes_max=self._index_bytes_max)
        self.time_index = TimeIndex(base_offset, bytes_max=self._index_bytes_max)
        self.txn_index = TransactionIndex()
        self.was_truncated = False
        self._trusted = True
        """Every byte was written or checked by this process; otherwise what is read is checked first."""
        self._bytes_since_index = 0
        self._file = storage.open(segment_file_name(base_offset, LOG_SUFFIX + suffix))

    @property
    def size(self) -> int:
        """Bytes of batches."""
        return self._file.size

    # --- writing

    def has_room_for(self, last_offset: int) -> bool:
        """Whether indexes and relative offsets can take another batch."""
        full = self.offset_index.is_full or self.time_index.is_full
        return not full and last_offset - self.base_offset <= RELATIVE_OFFSET_MAX

    def append(self, header: BatchHeader, parts: Sequence[Buffer]) -> int:
        """Write a batch whose header already has its final offsets; gives its position. OSError leaves everything as
        it was."""
        position = self._file.size
        self._file.append(parts)
        self._note(header, position)
        return position

    def _note(self, header: BatchHeader, position: int) -> None:
        """Bring indexes and summaries up to date with a batch that is in the file."""
        last_offset = header.last_offset
        if header.max_timestamp > self.max_timestamp.timestamp:
            self.max_timestamp = TimestampOffset(header.max_timestamp, last_offset)
        if self.first_timestamp is None and header.max_timestamp >= 0:
            self.first_timestamp = header.max_timestamp
        if self._bytes_since_index > self._index_interval_bytes:
            self.offset_index.append(last_offset, position)
            if self.max_timestamp.timestamp >= 0:
                self.time_index.append(*self.max_timestamp)
            self._bytes_since_index = 0
        self._bytes_since_index += header.size
        self.next_offset = last_offset + 1

    def note_aborted(self, transaction: AbortedTransaction) -> None:
        """Remember an aborted transaction whose marker is in this segment."""
        self.txn_index.append(transaction)

    # --- reading

    def frame_at(self, offset: int) -> Frame | None:
        """The first batch that ends at or after an offset."""
        for frame in self.frames(self.offset_index.lookup(offset).position):
            if frame.last_offset >= offset:
                return frame
        return None

    def frames(self, position: int = 0) -> Iterator[Frame]:
        """The batches from a position on, by their first 27 bytes only. What cannot be a batch raises
        CorruptRecordError."""
        end = self._file.size
        chunk, chunk_at = b"", position
        while position < end:
            within = position - chunk_at
            if within + HEADER_BYTES > len(chunk):
                chunk, chunk_at, within = self._file.read(position, _SCAN_BYTES), position, 0
                if len(chunk) < HEADER_BYTES:
                    raise CorruptRecordError(f"torn batch at position {position}")
            base_offset, length = _FRAME.unpack_from(chunk, within)
            size = length + _LOG_OVERHEAD_BYTES
            (delta,) = _LAST_OFFSET_DELTA.unpack_from(chunk, within + _LAST_OFFSET_DELTA_AT)
            if size < HEADER_BYTES or position + size > end or delta < 0:
                raise CorruptRecordError(f"no batch at position {position}")
            yield Frame(position, size, base_offset, base_offset + delta)
            position += size

    def headers(self, position: int = 0, *, check_crc: bool = False) -> Iterator[tuple[BatchHeader, bytes]]:
        """Whole batches from a position on: the header (its position is that in the file) and the bytes. Damage
        raises CorruptRecordError."""
        end = self._file.size
        while position < end:
            chunk = self._file.read(position, _READ_AHEAD_BYTES)
            within = 0
            while (header := read_header(chunk, within)) is not None:
                if header.magic != 2 or header.last_offset_delta < 0:
                    raise CorruptRecordError(f"batch at position {position} has an unusable header")
                if check_crc:
                    check_batch(chunk, header)
                content = chunk[within : within + header.size]
                yield header._replace(position=position), content
                within += header.size
                position += header.size
            if within == 0:  # a batch larger than the chunk, or a torn one
                content = self._whole_batch(position, end)
                header = read_header(content)
                if header is None or header.magic != 2 or header.last_offset_delta < 0:
                    raise CorruptRecordError(f"torn batch at position {position}")
                if check_crc:
                    check_batch(content, header)
                yield header._replace(position=position), content
                position += header.size

    def _whole_batch(self, position: int, end: int) -> bytes:
        frame = self._file.read(position, _FRAME.size)
        if len(frame) < _FRAME.size:
            raise CorruptRecordError(f"torn batch at position {position}")
        size = _FRAME.unpack(frame)[1] + _LOG_OVERHEAD_BYTES
        if size < HEADER_BYTES or position + size > end:
            raise CorruptRecordError(f"torn batch at position {position}")
        return self._file.read(position, size)

    def read(
        self, from_offset: int, *, bytes_max: int, upper_offset: int, at_least_one: bool = True
    ) -> SegmentRead | None:
        """Whole batches from the one that holds ``from_offset`` on, none of them at or beyond ``upper_offset``.

        Empty when the first batch does not fit and need not; None when this segment has nothing at or after
        ``from_offset``.
        """
        first = self.frame_at(from_offset)
        if first is None:
            return None
        fits = first.size <= bytes_max or at_least_one
        if first.base_offset >= upper_offset or not fits:
            return SegmentRead(b"", from_offset)
        end, end_offset = self._file.size, self.next_offset
        if upper_offset < self.next_offset:
            beyond = self.frame_at(upper_offset)
            if beyond is not None:
                end, end_offset = beyond.position, beyond.base_offset
        if first.position + bytes_max < end:
            end, end_offset = self._batch_boundary(first, first.position + bytes_max)
        records = self._file.read(first.position, end - first.position)
        if not self._trusted:
            for header in iter_batches(records):
                check_batch(records, header)
        return SegmentRead(records, end_offset)

    def bytes_between(self, from_offset: int, upper_offset: int) -> int:
        """Bytes of the batches that a read between two offsets would give."""
        first = self.frame_at(from_offset)
        if first is None or first.base_offset >= upper_offset:
            return 0
        beyond = self.frame_at(upper_offset) if upper_offset < self.next_offset else None
        return (self._file.size if beyond is None else beyond.position) - first.position

    def _batch_boundary(self, first: Frame, end: int) -> tuple[int, int]:
        """The end of the last batch that lies wholly before ``end``; the index gives the place to start looking."""
        boundary = first.position + first.size
        if boundary >= end:
            return boundary, first.last_offset + 1
        for frame in self.frames(max(self.offset_index.position_at_or_before(end), boundary)):
            if frame.position + frame.size > end:
                return frame.position, frame.base_offset
        return self._file.size, self.next_offset

    def find_time(self, timestamp: int, from_offset: int) -> FoundRecord | None:
        """The first record at or after ``from_offset`` whose timestamp is at or after the given one."""
        before = self.time_index.lookup(timestamp - 1)
        start = self.offset_index.lookup(max(from_offset, before.offset if before else from_offset)).position
        for header, content in self.headers(start):
            if header.max_timestamp < timestamp or header.last_offset < from_offset:
                continue
            if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
                offset = max(header.base_offset, from_offset)
                return FoundRecord(header.max_timestamp, offset, header.partition_leader_epoch)
            for record in decode_batch(content, header._replace(position=0), "", 0, check_crc=False):
                if record.timestamp >= timestamp and record.offset >= from_offset:
                    return FoundRecord(record.timestamp, record.offset, header.partition_leader_epoch)
        return None

    def find_max_timestamp(self) -> FoundRecord | None:
        """The first record that has the segment's largest timestamp."""
        wanted = self.max_timestamp.timestamp
        return self.find_time(wanted, self.base_offset) if wanted >= 0 else None

    # --- loading and recovering

    def load(self, next_offset_max: int) -> bool:
        """Trust the files as far as they fit together: read the indexes, find the end. False when the segment must be
        recovered."""
        contents = [
            read_index_file(self._storage, self._name(suffix), bytes_max=self._index_bytes_max + 64)
            for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX)
        ]
        txn_content = self._storage.read_all(self._name(TXN_INDEX_SUFFIX))
        if contents[0] is None or contents[1] is None or txn_content is None:
            return False
        if not (
            self.offset_index.load(contents[0], log_bytes=self.size)
            and self.time_index.load(contents[1], next_offset_max=next_offset_max)
            and self.txn_index.load(txn_content, base_offset=self.base_offset, next_offset_max=next_offset_max)
        ):
            return False
        try:
            return self._load_tail(next_offset_max)
        except CorruptRecordError:
            return False

    def _load_tail(self, next_offset_max: int) -> bool:
        """Read on from the last index entry to learn the end, and that the index points at batches."""
        self._trusted = False
        last = self.offset_index.last()
        end = last.position
        self.next_offset = self.base_offset
        self.max_timestamp = self.time_index.last() or TimestampOffset(-1, self.base_offset)
        for header, _ in self.headers(last.position):
            if header.position == last.position and len(self.offset_index) and header.last_offset != last.offset:
                return False
            if not self.next_offset <= header.base_offset <= header.last_offset < next_offset_max:
                return False
            if header.max_timestamp > self.max_timestamp.timestamp:
                self.max_timestamp = TimestampOffset(header.max_timestamp, header.last_offset)
            self.next_offset = header.last_offset + 1
            end = header.position + header.size
        self._bytes_since_index = self.size - last.position
        self._load_first_timestamp()
        return end == self.size

    def _load_first_timestamp(self) -> None:
        start = self._file.read(0, HEADER_BYTES)
        if len(start) == HEADER_BYTES:
            (timestamp,) = _MAX_TIMESTAMP.unpack_from(start, _MAX_TIMESTAMP_AT)
            self.first_timestamp = timestamp if timestamp >= 0 else None

    def recover(self, next_offset_min: int, next_offset_max: int | None = None) -> Iterator[tuple[BatchHeader, bytes]]:
        """Check every batch, build the indexes again, and cut the file behind the last sound batch.

        Gives the sound batches as it goes; ends early, with ``was_truncated`` set, where the file is damaged. Offsets
        are outside of a batch's CRC, so they are held against their neighbours: they grow, and stay below the next
        segment (``next_offset_max``). Gaps are fine, compaction leaves them.
        """
        self.forget_indexes()
        self.was_truncated = False
        self._trusted = True
        expected = max(next_offset_min, self.base_offset)
        limit = self.base_offset + RELATIVE_OFFSET_MAX + 1 if next_offset_max is None else next_offset_max
        end = 0
        try:
            for header, content in self.headers(check_crc=True):
                if header.base_offset < expected or header.last_offset >= limit:
                    break
                self._note(header, header.position)
                expected = self.next_offset
                end = header.position + header.size
                yield header, content
        except CorruptRecordError:
            pass
        if end < self._file.size:
            self.was_truncated = True
            self._file.truncate(end)

    def forget_indexes(self) -> None:
        """Back to what an empty segment knows; the file stays."""
        self.offset_index.clear()
        self.time_index.clear()
        self.txn_index = TransactionIndex()
        self.max_timestamp = TimestampOffset(-1, self.base_offset)
        self.first_timestamp = None
        self.next_offset = self.base_offset
        self._bytes_since_index = 0

    def truncate_to(self, offset: int) -> None:
        """Remove every batch that holds or follows an offset."""
        frame = self.frame_at(offset)
        if frame is None:
            return
        self._file.truncate(frame.position)
        self.offset_index.truncate_to(frame.base_offset)
        self.time_index.truncate_to(frame.base_offset)
        self.txn_index.truncate_to(frame.base_offset)
        self._relearn_tail()

    def _relearn_tail(self) -> None:
        last = self.offset_index.last()
        self.max_timestamp = self.time_index.last() or TimestampOffset(-1, self.base_offset)
        self.next_offset = self.base_offset
        # Time entries are only written together with offset entries, so all that is not indexed lies behind the last
        # of them.
        for header, _ in self.headers(last.position):
            if header.max_timestamp > self.max_timestamp.timestamp:
                self.max_timestamp = TimestampOffset(header.max_timestamp, header.last_offset)
            self.next_offset = header.last_offset + 1
        self._bytes_since_index = self.size - last.position
        if self.size == 0:
            self.first_timestamp = None

    # --- files

    def persist_indexes(self, *, sync: bool) -> None:
        """Write the index files; the time index gets the entry for the largest timestamp first."""
        if self.max_timestamp.timestamp >= 0:
            self.time_index.append(*self.max_timestamp)
        self._storage.replace(self._name(INDEX_SUFFIX), self.offset_index.to_bytes(), sync=sync)
        self._storage.replace(self._name(TIME_INDEX_SUFFIX), self.time_index.to_bytes(), sync=sync)
        # Written even when it is empty: a lost file must not read as "nothing was aborted".
        self._storage.replace(self._name(TXN_INDEX_SUFFIX), self.txn_index.to_bytes(), sync=sync)

    def sync(self) -> None:
        """Bring the batches to the disk."""
        self._file.sync()

    def close(self) -> None:
        """Let go of the file handle."""
        self._file.close()

    def delete(self) -> None:
        """Remove all files of the segment, the batches last: without them the indexes mean nothing."""
        self._file.close()
        for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX, LOG_SUFFIX):
            self._storage.delete(self._name(suffix))

    def _name(self, suffix: str) -> str:
        return segment_file_name(self.base_offset, suffix + self._suffix)


__all__ = [
    "INDEX_SUFFIX",
    "LOG_SUFFIX",
    "SNAPSHOT_SUFFIX",
    "TIME_INDEX_SUFFIX",
    "TXN_INDEX_SUFFIX",
    "FoundRecord",
    "Frame",
    "LogSegment",
    "SegmentRead",
    "segment_file_name",
]
