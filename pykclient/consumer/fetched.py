"""What a fetch brought for one partition, and how it becomes records: batch by batch, on the thread that polls.

Owns nothing but its view of the response frame. Skips what is not for the user: markers, aborted transactions, records
before the position. A batch is checked, decompressed and decoded in one go, or several plain ones up to what one poll
may return; a whole response never is. Those who must not be held up for long (an event loop) have heavy batches
prepared on another thread, and then decode them in pieces.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pykclient.errors import CorruptRecordError, KafkaError, MissingCodec
from pykclient.protocol.batch_header import BatchHeader, check_batch, read_header
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.control_records import ControlRecordType, control_type
from pykclient.protocol.records import (
    OFFSET_MAX,
    ConsumerRecords,
    decode_batch,
    decode_batches,
    decode_section,
    records_section,
    skip_batches,
    split_section,
)
from pykclient.types import TopicPartition

if TYPE_CHECKING:
    from pykclient.protocol.columns import Columns

# A compressed batch of this size, or any of this many records, is worth another thread: less costs a loop under 2 ms.
HEAVY_BYTES = 16 * 1024
PIECE_RECORDS = 4000


class Usage:
    """How many bytes of frames are held."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class Frame:
    """One response buffer, shared by the partitions in it; its bytes count until the last of them is released."""

    __slots__ = ("node", "parts", "size", "usage")

    def __init__(self, size: int, parts: int, usage: Usage, node: str | None = None) -> None:
        self.size = size
        self.parts = parts
        self.usage = usage
        self.node = node
        """Whose answer it is, as host:port."""
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
    """Where the position is after batches whose rows were appended to columns, and where they end in the response."""

    next_offset: int
    leader_epoch: int | None
    end: int


class Prepared:
    """A batch whose records are decompressed, and how far they were decoded. Or why they could not be."""

    __slots__ = ("cuts", "done", "error", "header", "hidden", "section")

    def __init__(self, header: BatchHeader, section: Buffer, cuts: list[int], error: KafkaError | None = None) -> None:
        self.header = header
        self.section = memoryview(section)
        self.cuts = cuts
        self.done = 0
        self.hidden: bool | None = None
        self.error = error

    @property
    def last(self) -> bool:
        """Whether the piece at hand is the last one."""
        return self.hidden is True or self.done >= len(self.cuts) - 2

    def piece(self) -> tuple[Buffer, int]:
        """The bytes of the piece at hand, and the number of its records."""
        if len(self.cuts) < 2:
            return b"", 0
        count = min(PIECE_RECORDS, self.header.record_count - self.done * PIECE_RECORDS)
        return self.section[self.cuts[self.done] : self.cuts[self.done + 1]], count


class FetchedPart:
    """The batches of one partition from one response."""

    __slots__ = (
        "_aborted",
        "_aborted_producers",
        "_at",
        "_header",
        "_prepared",
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
        self._header: BatchHeader | None = None
        self._prepared: Prepared | None = None
        # Sorted, as markers are met in offset order. None: read_uncommitted, everything is for the user.
        self._aborted = None if aborted is None else sorted(aborted, key=lambda a: a.first_offset)
        self._aborted_producers: set[int] = set()

    def release(self) -> None:
        """It is handed out or dropped; called once, under the buffer's lock."""
        self.frame.parts -= 1
        if self.frame.parts == 0:
            self.frame.usage.bytes -= self.frame.size
        self._view = memoryview(b"")
        self._header = self._prepared = None

    @property
    def size_bytes(self) -> int:
        """Bytes not decoded yet."""
        return len(self._view) - self._at

    def end_offset(self) -> tuple[int, int | None]:
        """(offset after the last whole batch, its leader epoch): where the next fetch goes on. Reads headers only, and
        stops at one that makes no sense: whoever decodes it will say so."""
        at, end, epoch = skip_batches(self._view, self._at)
        with contextlib.suppress(CorruptRecordError):
            while (header := read_header(self._view, at)) is not None:
                end = max(end, header.next_offset)
                epoch = header.partition_leader_epoch
                at += header.size
        return max(end, self.next_offset), epoch if epoch >= 0 else None

    # ---- heavy batches, for those who must not be held up ----

    @property
    def heavy(self) -> bool:
        """Whether the next batch should be prepared by another thread, and was not yet."""
        if self.leftover or self._prepared is not None:
            return False
        header = self._header
        if header is None or header.position != self._at:
            try:
                header = self._header = read_header(self._view, self._at)
            except CorruptRecordError:
                return False  # whoever decodes it will say so
        if header is None or header.magic < 2 or header.is_control:
            return False
        return (header.is_compressed and header.size >= HEAVY_BYTES) or header.record_count > PIECE_RECORDS

    def prepare(self, *, check_crcs: bool, bytes_max: int) -> None:
        """Check and decompress the next batch, on any thread; what is wrong with it is raised when it is decoded. The
        thread that polls leaves a heavy part alone meanwhile, or drops it: then this was in vain."""
        view, header = self._view, self._header
        if header is None:
            return
        try:
            if check_crcs:
                check_batch(view, header)
            section = records_section(view, header, bytes_max=bytes_max)
            self._prepared = Prepared(header, section, split_section(section, header.record_count, PIECE_RECORDS))
        except KafkaError as error:
            self._prepared = Prepared(header, b"", [], error)

    def _decode_prepared(self, prepared: Prepared, position: int) -> Decoded:
        topic, partition = self.topic_partition
        records: ConsumerRecords = []
        with self._placing_errors(position):
            if self._shown(prepared):
                section, count = prepared.piece()
                records = decode_section(section, prepared.header, count, topic, partition, from_offset=position)
        self._piece_done(prepared, records[-1].offset + 1 if records else position)
        return Decoded(records, self.next_offset, self.leader_epoch)

    def _append_prepared(self, prepared: Prepared, columns: Columns, position: int) -> Appended:
        header, next_offset, before = prepared.header, position, columns.row_count
        with self._placing_errors(position):
            if self._shown(prepared):
                section, count = prepared.piece()
                columns.append_section(section, header, count, from_offset=position)
        if columns.row_count > before:
            next_offset = columns.last_offset + 1
        if prepared.last:
            next_offset = max(next_offset, header.next_offset)
        return Appended(next_offset, _known(header.partition_leader_epoch), header.end)

    def _shown(self, prepared: Prepared) -> bool:
        if prepared.error is not None:
            self._prepared = None
            raise prepared.error
        if prepared.hidden is None:
            prepared.hidden = self._is_hidden(prepared.header)
        return not prepared.hidden

    def _piece_done(self, prepared: Prepared, next_offset: int) -> None:
        header = prepared.header
        self.leader_epoch = _known(header.partition_leader_epoch)
        if prepared.last:
            self._at = header.end
            self._prepared = None
            next_offset = max(next_offset, header.next_offset)
        prepared.done += 1
        self.next_offset = next_offset

    # ---- decoding ----

    def decode_next(self, position: int, *, check_crcs: bool, bytes_max: int, records_max: int = 0) -> Decoded | None:
        """The records at or after ``position`` of the next batch, or of several that hold ``records_max`` at most, or
        of a piece of a prepared one; None when there is no further whole batch."""
        if self._prepared is not None:
            return self._decode_prepared(self._prepared, position)
        topic, partition = self.topic_partition
        run = decode_batches(
            self._view,
            self._at,
            topic,
            partition,
            from_offset=position,
            records_max=records_max,
            check_crc=check_crcs,
            with_transactions=self._nothing_aborted(),
        )
        if run.position > self._at:
            return self._decoded(run.records, position, run.position, run.next_offset, run.leader_epoch)
        with self._placing_errors(position):
            header = read_header(self._view, self._at)
            if header is None:
                return None
            if check_crcs:
                check_batch(self._view, header)
            records: ConsumerRecords = []
            if not self._is_hidden(header):
                records = decode_batch(
                    self._view, header, topic, partition, from_offset=position, check_crc=False, bytes_max=bytes_max
                )
        return self._decoded(records, position, header.end, header.next_offset, header.partition_leader_epoch)

    def _decoded(
        self, records: ConsumerRecords, position: int, end: int, next_offset: int, leader_epoch: int
    ) -> Decoded:
        self._at = end
        self.next_offset = max(position, next_offset)
        self.leader_epoch = _known(leader_epoch)
        return Decoded(records, self.next_offset, self.leader_epoch)

    def append_next(
        self,
        columns: Columns,
        position: int,
        *,
        check_crcs: bool,
        bytes_max: int,
        rows_max: int = 0,
        end_offset: int = OFFSET_MAX,
        columns_bytes_max: int = 0,
    ) -> Appended | None:
        """As ``decode_next``, onto columns: ``rows_max`` rows, ``columns_bytes_max`` bytes and offsets before
        ``end_offset`` when it is several batches. The part stays where it is until ``passed``, so that a batch can be
        taken in pieces."""
        if self._prepared is not None:
            return self._append_prepared(self._prepared, columns, position)
        run = columns.append_batches(
            self._view,
            self._at,
            from_offset=position,
            end_offset=end_offset,
            rows_max=rows_max,
            bytes_max=columns_bytes_max,
            check_crc=check_crcs,
            with_transactions=self._nothing_aborted(),
        )
        if run.position > self._at:
            return Appended(max(position, run.next_offset), _known(run.leader_epoch), run.position)
        with self._placing_errors(position):
            header = read_header(self._view, self._at)
            if header is None:
                return None
            if check_crcs:
                check_batch(self._view, header)
            if not self._is_hidden(header):
                columns.append_batch(self._view, header, from_offset=position, check_crc=False, bytes_max=bytes_max)
        return Appended(max(position, header.next_offset), _known(header.partition_leader_epoch), header.end)

    @contextlib.contextmanager
    def _placing_errors(self, position: int) -> Iterator[None]:
        """What is wrong with a batch is told with its place."""
        try:
            yield
        except (CorruptRecordError, MissingCodec) as error:
            error.topic, error.partition = self.topic_partition
            error.offset, error.node = position, self.frame.node
            with contextlib.suppress(CorruptRecordError):
                header = read_header(self._view, self._at)
                if header is not None:
                    error.offset = max(position, header.base_offset)  # before it, compaction may have left a gap
            raise

    def passed(self, appended: Appended) -> None:
        """All of the batch, or of the piece at hand, was taken."""
        if self._prepared is not None:
            self._piece_done(self._prepared, appended.next_offset)
            return
        self._at = appended.end
        self.next_offset = appended.next_offset
        self.leader_epoch = appended.leader_epoch

    def _nothing_aborted(self) -> bool:
        """Whether transactions need no looking at here: none is open to doubt in what this fetch brought."""
        return not self._aborted and not self._aborted_producers

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


def _known(leader_epoch: int) -> int | None:
    return leader_epoch if leader_epoch >= 0 else None


__all__ = ["Aborted", "Appended", "Decoded", "FetchedPart", "Frame", "Usage"]
