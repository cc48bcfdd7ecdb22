"""Which leader wrote which offsets: for every leader epoch, the offset of its first record.

Followers and consumers ask it where an old epoch ended, and so find out that their history and the leader's have
parted. Owned by the broker node's
thread; kept in a small file beside the segments, in Kafka's format. It must never keep an entry that contradicts an
earlier one.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from typing import NamedTuple

from pykclient.broker.storage import Storage

FILE_NAME = "leader-epoch-checkpoint"
UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochStart(NamedTuple):
    """An epoch and the offset of the first record written in it."""

    epoch: int
    start_offset: int


class LeaderEpochs:
    """The epochs of one log, oldest first; both numbers grow strictly."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._entries: list[EpochStart] = _parse(storage.read_all(FILE_NAME))

    @property
    def entries(self) -> tuple[EpochStart, ...]:
        """All entries, oldest first."""
        return tuple(self._entries)

    @property
    def latest(self) -> int | None:
        """The newest epoch that wrote something, None for a log that nobody wrote to."""
        return self._entries[-1].epoch if self._entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Note that ``epoch`` writes from ``start_offset`` on; entries that this contradicts go."""
        entries = self._entries
        if epoch < 0 or (entries and entries[-1].epoch == epoch):
            return
        kept = [entry for entry in entries if entry.epoch < epoch and entry.start_offset < start_offset]
        kept.append(EpochStart(epoch, start_offset))
        self._entries = kept
        self._write()

    def epoch_of(self, offset: int) -> int | None:
        """The epoch that wrote an offset."""
        slot = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset) - 1
        return self._entries[slot].epoch if slot >= 0 else None

    def end_offset(self, epoch: int, log_end_offset: int) -> EpochStart:
        """The largest known epoch at or below ``epoch``, and where it ended. (-1, -1) when that cannot be said."""
        if epoch == UNDEFINED_EPOCH or not self._entries or epoch > self._entries[-1].epoch:
            return EpochStart(UNDEFINED_EPOCH, UNDEFINED_OFFSET)
        slot = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
        end = log_end_offset if slot == len(self._entries) else self._entries[slot].start_offset
        # An epoch older than all we know ended where the first known one began.
        return EpochStart(self._entries[slot - 1].epoch if slot else epoch, end)

    def truncate_from_end(self, end_offset: int) -> None:
        """The log now ends at ``end_offset``; epochs that start there or later are gone."""
        kept = [entry for entry in self._entries if entry.start_offset < end_offset]
        if len(kept) != len(self._entries):
            self._entries = kept
            self._write()

    def truncate_from_start(self, start_offset: int) -> None:
        """The log now starts at ``start_offset``; the epoch that covers it starts there."""
        covering = [entry for entry in self._entries if entry.start_offset <= start_offset]
        if covering and (len(covering) > 1 or covering[0].start_offset < start_offset):
            rest = self._entries[len(covering) :]
            self._entries = [EpochStart(covering[-1].epoch, start_offset), *rest]
            self._write()

    def clear(self) -> None:
        """Forget everything."""
        self._entries = []
        self._write()

    def _write(self) -> None:
        lines = ["0", str(len(self._entries)), *(f"{epoch} {start}" for epoch, start in self._entries)]
        self._storage.replace(FILE_NAME, ("\n".join(lines) + "\n").encode(), sync=False)


def _parse(content: bytes | None) -> list[EpochStart]:
    """The entries of the file; a damaged file counts as none, recovery fills them in again from the batches."""
    try:
        lines = (content or b"0\n0\n").decode("ascii").split("\n")
        count = int(lines[1])
        entries = [EpochStart(*map(int, line.split())) for line in lines[2 : 2 + count]]
    except (ValueError, IndexError, TypeError):
        return []
    growing = all(a.epoch < b.epoch and a.start_offset < b.start_offset for a, b in itertools.pairwise(entries))
    sound = len(entries) == count and growing and all(epoch >= 0 and start >= 0 for epoch, start in entries)
    return entries if sound and lines[0] == "0" else []


__all__ = ["FILE_NAME", "UNDEFINED_EPOCH", "UNDEFINED_OFFSET", "EpochStart", "LeaderEpochs"]
