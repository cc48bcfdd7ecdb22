"""What one poll gave, on its way to the user record by record: which one is in hand, and what was not reached.

Runs on the polling thread; the reactor reads it for automatic commits, under the subscription's lock. Lists are
shortened in place, so a loop over them ends when the user seeks, or polls in the middle of it. Must never let a record
be skipped: what is not reached goes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from pykclient.consumer.subscription import PartitionState, Position
from pykclient.types import ConsumerRecord

Records = list[ConsumerRecord[Any, Any]]
Row = tuple[PartitionState, int, Records]


def never() -> bool:
    """Go on until something fails or ends the consumer."""
    return False


class Iteration:
    """Set ``index`` for every record given; call ``next_partition`` when a list is through."""

    __slots__ = ("_records", "_version", "_waiting", "index", "state", "states")

    def __init__(self, rows: Iterable[Row]) -> None:
        self._waiting = deque(rows)
        self.states = [state for state, _, _ in self._waiting]
        """All partitions of it."""
        self._records: Records = []
        self._version = 0
        self.state: PartitionState | None = None
        self.index = 0

    def next_partition(self, lock: AbstractContextManager[object]) -> Records | None:
        """The next partition's records; None when there are no more. Those of the one before count as processed."""
        with lock:
            state = self.state
            if state is not None and self._records and state.version == self._version:
                last = self._records[-1]
                state.consumed = Position(last.offset + 1, last.leader_epoch)
            while self._waiting:
                self.state, self._version, self._records = self._waiting.popleft()
                self.index = 0
                if self._records:
                    return self._records
            self.state, self._records = None, []
            return None

    def in_hand(self, state: PartitionState) -> ConsumerRecord[Any, Any] | None:
        """The record that the user has of this partition; None when it is of another, or the position was moved."""
        if state is not self.state or state.version != self._version or self.index >= len(self._records):
            return None
        return self._records[self.index]

    def drop(self, state: PartitionState) -> None:
        """The position was moved: what was taken before is not wanted. Under the lock."""
        if state is self.state:
            del self._records[self.index + 1 :]
        for waiting, _, records in self._waiting:
            if waiting is state:
                records.clear()

    def end(self) -> None:
        """No more than what is in hand: the consumer is being closed, and a loop over it ends. Positions stay. Under
        the lock."""
        del self._records[self.index + 1 :]
        for _, _, records in self._waiting:
            records.clear()

    def give_back(self) -> None:
        """The user left the loop: positions go back to the first record that was not given. Under the lock."""
        if self.state is not None and self.state.version == self._version and self.index + 1 < len(self._records):
            record = self._records[self.index]
            self.state.seek(Position(self._records[self.index + 1].offset, record.leader_epoch))
        del self._records[self.index + 1 :]
        for state, version, records in self._waiting:
            if records and state.version == version:
                state.seek(Position(records[0].offset, None))
            records.clear()


__all__ = ["Iteration"]
