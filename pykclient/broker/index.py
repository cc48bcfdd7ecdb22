"""The sparse indexes of one segment: offset -> position in the file, and timestamp -> offset.

Both are sorted arrays searched by halving for the entry at or before the key; a short scan of the segment does the
rest. Owned by the broker node's
thread. An index is a hint that can be built again from the log, so its bytes wait in memory until the segment is
flushed, rolled or closed; what is
read back is checked, and anything odd means "build it again", never an exception or a wrong answer. File formats are
Kafka's.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from pykclient.broker.storage import Storage

RELATIVE_OFFSET_MAX = 2**31 - 1
_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")


class OffsetPosition(NamedTuple):
    """An offset, and where in the file the batch that ends with it begins."""

    offset: int
    position: int


class TimestampOffset(NamedTuple):
    """A timestamp, and the offset of the last record of the batch that has it; nothing before that batch has a larger
    one."""

    timestamp: int
    offset: int


class OffsetIndex:
    """Entries (last offset of a batch, position of the batch), both strictly growing."""

    ENTRY_BYTES = _OFFSET_ENTRY.size

    def __init__(self, base_offset: int, *, bytes_max: int) -> None:
        self.base_offset = base_offset
        self._entry_count_max = max(1, bytes_max // self.ENTRY_BYTES)
        self._offsets = array("q")
        self._positions = array("q")

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def is_full(self) -> bool:
        """Whether the segment must roll before another entry."""
        return len(self._offsets) >= self._entry_count_max

    def append(self, offset: int, position: int) -> None:
        """Remember that the batch at ``position`` ends with ``offset``."""
        relative = offset - self.base_offset
        assert 0 <= relative <= RELATIVE_OFFSET_MAX
        assert not self._offsets or relative > self._offsets[-1]
        self._offsets.append(relative)
        self._positions.append(position)

    def lookup(self, offset: int) -> OffsetPosition:
        """The last entry at or before ``offset``; the start of the segment when there is none."""
        slot = bisect_right(self._offsets, offset - self.base_offset) - 1
        if slot < 0:
            return OffsetPosition(self.base_offset, 0)
        return OffsetPosition(self._offsets[slot] + self.base_offset, self._positions[slot])

    def position_at_or_before(self, position: int) -> int:
        """The largest indexed position that is not beyond the given one; 0 when there is none."""
        slot = bisect_right(self._positions, position) - 1
        return self._positions[slot] if slot >= 0 else 0

    def last(self) -> OffsetPosition:
        """The last entry, or the start of the segment."""
        return self.lookup(self.base_offset + RELATIVE_OFFSET_MAX)

    def truncate_to(self, offset: int) -> None:
        """Forget all entries at or after ``offset``."""
        keep = bisect_right(self._offsets, offset - self.base_offset - 1)
        del self._offsets[keep:]
        del self._positions[keep:]

    def to_bytes(self) -> bytes:
        """The file's content."""
        return b"".join(map(_OFFSET_ENTRY.pack, self._offsets, self._positions))

    def load(self, content: bytes, *, log_bytes: int) -> bool:
        """Take a file's content; False, and empty, when it cannot belong to a log of this size."""
        self.clear()
        if len(content) % self.ENTRY_BYTES:
            return False
        last_offset, last_position = -1, -1
        for offset, position in _OFFSET_ENTRY.iter_unpack(content):
            if not (last_offset < offset and last_position < position < log_bytes):
                self.clear()
                return False
            last_offset, last_position = offset, position
            self._offsets.append(offset)
            self._positions.append(position)
        return True

    def clear(self) -> None:
        """Forget everything."""
        del self._offsets[:]
        del self._positions[:]


class TimeIndex:
    """Entries (largest timestamp so far, offset of its batch), both growing."""

    ENTRY_BYTES = _TIME_ENTRY.size

    def __init__(self, base_offset: int, *, bytes_max: int) -> None:
        self.base_offset = base_offset
        self._entry_count_max = max(2, bytes_max // self.ENTRY_BYTES)
        self._timestamps = array("q")
        self._offsets = array("q")

    def __len__(self) -> int:
        return len(self._timestamps)

    @property
    def is_full(self) -> bool:
        """Whether the segment must roll; one place is kept for the entry written when it does."""
        return len(self._timestamps) >= self._entry_count_max - 1

    def append(self, timestamp: int, offset: int) -> None:
        """Remember the largest timestamp so far; one that is not larger than the last entry's adds nothing."""
        relative = offset - self.base_offset
        if self._timestamps and (timestamp <= self._timestamps[-1] or relative <= self._offsets[-1]):
            return
        self._timestamps.append(timestamp)
        self._offsets.append(relative)

    def lookup(self, timestamp: int) -> TimestampOffset | None:
        """The last entry whose timestamp is at or before the given one."""
        slot = bisect_right(self._timestamps, timestamp) - 1
        if slot < 0:
            return None
        return TimestampOffset(self._timestamps[slot], self._offsets[slot] + self.base_offset)

    def last(self) -> TimestampOffset | None:
        """The last entry."""
        if not self._timestamps:
            return None
        return TimestampOffset(self._timestamps[-1], self._offsets[-1] + self.base_offset)

    def entries(self) -> Iterator[TimestampOffset]:
        """All entries, for tests and tools."""
        for timestamp, offset in zip(self._timestamps, self._offsets, strict=True):
            yield TimestampOffset(timestamp, offset + self.base_offset)

    def truncate_to(self, offset: int) -> None:
        """Forget all entries at or after ``offset``."""
        keep = bisect_right(self._offsets, offset - self.base_offset - 1)
        del self._offsets[keep:]
        del self._timestamps[keep:]

    def to_bytes(self) -> bytes:
        """The file's content."""
        return b"".join(map(_TIME_ENTRY.pack, self._timestamps, self._offsets))

    def load(self, content: bytes, *, next_offset_max: int) -> bool:
        """Take a file's content; False, and empty, when it cannot belong to this segment."""
        self.clear()
        if len(content) % self.ENTRY_BYTES:
            return False
        last_timestamp, last_offset = -1, -1
        for timestamp, offset in _TIME_ENTRY.iter_unpack(content):
            if not (last_timestamp < timestamp and last_offset < offset < next_offset_max - self.base_offset):
                self.clear()
                return False
            last_timestamp, last_offset = timestamp, offset
            self._timestamps.append(timestamp)
            self._offsets.append(offset)
        return True

    def clear(self) -> None:
        """Forget everything."""
        del self._offsets[:]
        del self._timestamps[:]


class AbortedTransaction(NamedTuple):
    """An aborted transaction: its first data offset, its marker's offset, and the last stable offset when the marker
    was written."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """The aborted transactions whose markers are in a segment, in order of their markers."""

    VERSION = 0
    _ENTRY = struct.Struct(">hqqqq")

    def __init__(self) -> None:
        self.entries: list[AbortedTransaction] = []

    def append(self, entry: AbortedTransaction) -> None:
        """Add one; markers come in order of offset."""
        assert not self.entries or self.entries[-1].last_offset < entry.last_offset
        self.entries.append(entry)

    def collect(self, from_offset: int, upper_offset: int, found: list[AbortedTransaction]) -> bool:
        """Add those that overlap a range of offsets; True when no later segment can hold another."""
        for entry in self.entries:
            if entry.last_offset >= from_offset and entry.first_offset < upper_offset:
                found.append(entry)
            if entry.last_stable_offset >= upper_offset:
                return True
        return False

    def truncate_to(self, offset: int) -> None:
        """Forget the markers at or after ``offset``."""
        self.entries = [entry for entry in self.entries if entry.last_offset < offset]

    def to_bytes(self) -> bytes:
        """The file's content."""
        return b"".join(self._ENTRY.pack(self.VERSION, *entry) for entry in self.entries)

    def load(self, content: bytes, *, base_offset: int, next_offset_max: int) -> bool:
        """Take a file's content; False, and empty, when it cannot belong to this segment."""
        self.entries = []
        if len(content) % self._ENTRY.size:
            return False
        last_marker = base_offset - 1
        for version, *fields in self._ENTRY.iter_unpack(content):
            entry = AbortedTransaction(*fields)
            sound = version == self.VERSION and last_marker < entry.last_offset < next_offset_max
            if not (sound and 0 <= entry.first_offset <= entry.last_offset):
                self.entries = []
                return False
            last_marker = entry.last_offset
            self.entries.append(entry)
        return True


def read_index_file(storage: Storage, name: str, *, bytes_max: int) -> bytes | None:
    """An index file's content; None when it is missing or larger than any index may be."""
    content = storage.read_all(name)
    return content if content is not None and len(content) <= bytes_max else None


__all__ = [
    "RELATIVE_OFFSET_MAX",
    "AbortedTransaction",
    "OffsetIndex",
    "OffsetPosition",
    "TimeIndex",
    "TimestampOffset",
    "TransactionIndex",
    "read_index_file",
]
