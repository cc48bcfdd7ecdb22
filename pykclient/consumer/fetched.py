"""What a fetch brought for one partition, and how it becomes records: batch by batch, on the thread that polls.

Owns nothing but its view of the response frame. Skips what is not for the user: markers, aborted transactions, records
before the position. A batch is checked, decompressed and decoded in one go; a whole response never is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import BatchHeader, check_batch, read_header
from pykclient.protocol.columns import Columns
from pykclient.protocol.control_records import ControlRecordType, control_type
from pykclient.protocol.records import ConsumerRecords, decode_batch
from pykclient.types import TopicPartition


class Usage:
    """How many bytes of frames are held."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class Frame:
    """One response buffer, shared by the partitions in it; its bytes count until the last of them is released."""

    __slots__ = ("parts", "size", "usage")

    def __init__(self, size: int, parts: int, usage: Usage) -> None:
        self.size = size
        self.parts = parts
        self.usage = usage
        usage.bytes += size


class Aborted(NamedTuple):
    """A transaction that was aborted, as the broker lists it: its records from here on, up to its marker, are not for
    us."""

    producer_id: int
    first_offset: int


class Decoded(NamedTuple):
    """Records and where the position is after them. No records with a new position: the batch held nothing for the
    user."""

    records: ConsumerRecords
    next_offset: int
    leader_epoch: int | None


class Appended(NamedTuple):
    """Where the position is after a batch whose rows were appended to columns, and the batch's bytes."""

    next_offset: int
    leader_epoch: int | None
    size: int


class FetchedPart:
    """The batches of one partition from one response."""

    __slots__ = (
        "_aborted",
        "_aborted_producers",
        "_at",
        "_view",
        "fetch_offset",
        "frame",
        "leader_epoch",
        "leftover",
        "next_offset",
        "topic_partition",
        "version",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        view: memoryview,
        fetch_offset: int,
        frame: Frame,
        version: int,
        aborted: Sequence[Aborted] | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.fetch_offset = fetch_offset
        self.frame = frame
        self.version = version
        self.leftover: ConsumerRecords = []
        self.next_offset = fetch_offset
        self.leader_epoch: int | None = None
        self._view = view
        self._at = 0
        # Sorted, as markers are met in offset order. None: read_uncommitted, everything is for the user.
        self._aborted = None if aborted is None else sorted(aborted, key=lambda a: a.first_offset)
        self._aborted_producers: set[int] = set()

    def release(self) -> None:
        """It is handed out or dropped; called once, under the buffer's lock."""
        self.frame.parts -= 1
        if self.frame.parts == 0:
            self.frame.usage.bytes -= self.frame.size
        self._view = memoryview(b"")

    @property
    def size_bytes(self) -> int:
        """Bytes not decoded yet."""
        return len(self._view) - self._at

    def end_offset(self) -> tuple[int, int | None]:
        """(offset after the last whole batch, its leader epoch): where the next fetch goes on. Reads headers only."""
        at, end, epoch = self._at, self.next_offset, None
        while (header := read_header(self._view, at)) is not None:
            end = max(end, header.next_offset)
            epoch = header.partition_leader_epoch if header.partition_leader_epoch >= 0 else None
            at += header.size
        return end, epoch

    def decode_next(self, position: int, *, check_crcs: bool, bytes_max: int) -> Decoded | None:
        """The records at or after ``position`` of the next batch; None when there is no further whole batch."""
        header = read_header(self._view, self._at)
        if header is None:
            return None
        topic, partition = self.topic_partition
        epoch = header.partition_leader_epoch if header.partition_leader_epoch >= 0 else None
        try:
            if check_crcs:
                check_batch(self._view, header)
            if self._is_hidden(header):
                records: ConsumerRecords = []
            else:
                records = decode_batch(
                    self._view, header, topic, partition, from_offset=position, check_crc=False, bytes_max=bytes_max
                )
        except CorruptRecordError as error:
            error.topic, error.partition, error.offset = topic, partition, max(position, header.base_offset)
            raise
        self._at += header.size
        self.next_offset = max(position, header.next_offset)
        self.leader_epoch = epoch
        return Decoded(records, self.next_offset, epoch)

    def append_next(self, columns: Columns, position: int, *, check_crcs: bool, bytes_max: int) -> Appended | None:
        """As ``decode_next``, onto columns. The part stays where it is until ``passed``, so that a batch can be taken
        in pieces."""
        header = read_header(self._view, self._at)
        if header is None:
            return None
        try:
            if check_crcs:
                check_batch(self._view, header)
            if not self._is_hidden(header):
                columns.append_batch(self._view, header, from_offset=position, check_crc=False, bytes_max=bytes_max)
        except CorruptRecordError as error:
            error.topic, error.partition = self.topic_partition
            error.offset = max(position, header.base_offset)
            raise
        epoch = header.partition_leader_epoch if header.partition_leader_epoch >= 0 else None
        return Appended(max(position, header.next_offset), epoch, header.size)

    def passed(self, appended: Appended) -> None:
        """All of the batch was taken."""
        self._at += appended.size
        self.next_offset = appended.next_offset
        self.leader_epoch = appended.leader_epoch

    def _is_hidden(self, header: BatchHeader) -> bool:
        """Markers are never shown; aborted records only to those who read uncommitted."""
        if self._aborted is None:
            return header.is_control
        # Also at a marker: one that ends a transaction whose records came before this fetch must end it here, or the
        # same producer's next transaction would be taken for the aborted one.
        while self._aborted and self._aborted[0].first_offset <= header.last_offset:
            self._aborted_producers.add(self._aborted.pop(0).producer_id)
        if header.is_control:
            if self._is_abort(header):
                self._aborted_producers.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._aborted_producers

    def _is_abort(self, header: BatchHeader) -> bool:
        topic, partition = self.topic_partition
        markers = decode_batch(self._view, header, topic, partition, check_crc=False)
        return any(control_type(marker.key) is ControlRecordType.ABORT for marker in markers)


__all__ = ["Aborted", "Appended", "Decoded", "FetchedPart", "Frame", "Usage"]
