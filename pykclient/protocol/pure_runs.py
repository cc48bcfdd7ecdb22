"""Runs of batches in plain Python: the twin of the batch functions of ``_accel.c``, same arguments, same results.

A run is as many batches, one after the other, as can be decoded in one go just as they lie in a fetch response: v2, not
compressed, no markers, intact, within the limits given. It ends, without an error, in front of the first batch that is
anything else; whoever asked deals with that one by itself, and knows what is wrong with it if something is.
Stateless functions over buffers, any thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import HEADER_BYTES, BatchHeader, compute_crc, read_header
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.pure import decode_records
from pykclient.protocol.pure_columns import append_columns
from pykclient.types import ConsumerRecord, TimestampType

RECORD_BYTES_MIN = 7
OFFSET_MAX = 2**62 - 1
UNLIMITED = 2**63 - 1


def _batches(buffer: Buffer, position: int) -> Iterator[BatchHeader]:
    """Whole v2 batches with sane offsets."""
    if not 0 <= position <= len(buffer):
        raise ValueError(f"position {position} is outside the buffer")
    while True:
        try:
            header = read_header(buffer, position)
        except CorruptRecordError:
            return
        if header is None or header.magic != 2 or not 0 <= header.base_offset <= OFFSET_MAX:
            return
        if header.last_offset_delta < 0:
            return
        yield header
        position += header.size


def _is_plain(buffer: Buffer, header: BatchHeader, end_offset: int, check_crc: bool, with_transactions: bool) -> bool:
    if header.is_compressed or header.is_control or (header.is_transactional and not with_transactions):
        return False
    if header.last_offset >= end_offset:
        return False
    if not 0 <= header.record_count <= (header.size - HEADER_BYTES) // RECORD_BYTES_MIN:
        return False
    return not check_crc or compute_crc(buffer, header) == header.crc


def skip_batches(buffer: Buffer, position: int) -> tuple[int, int, int]:
    """Over headers only: (position behind the last whole batch, the offset to read on from there, its leader epoch).

    The offset and the epoch are -1 where there is none.
    """
    next_offset = leader_epoch = -1
    for header in _batches(buffer, position):
        position = header.end
        next_offset = max(next_offset, header.next_offset)
        leader_epoch = header.partition_leader_epoch
    return position, next_offset, leader_epoch


def decode_batches(
    buffer: Buffer,
    position: int,
    from_offset: int,
    records_max: int,
    check_crc: bool,
    with_transactions: bool,
    topic: str,
    partition: int,
    timestamp_types: tuple[TimestampType, TimestampType],
) -> tuple[list[ConsumerRecord[bytes | None, bytes | None]], int, int, int]:
    """Records of a run at or after ``from_offset``; the run holds ``records_max`` at most.

    Gives them, the position behind the run, the offset to read on from and the last batch's leader epoch (-1: none).
    ``timestamp_types`` are what records get whose time was set by the producer, and by the broker.
    """
    records: list[ConsumerRecord[bytes | None, bytes | None]] = []
    count = 0
    next_offset = leader_epoch = -1
    for header in _batches(buffer, position):
        if not _is_plain(buffer, header, UNLIMITED, check_crc, with_transactions):
            break
        if header.record_count > records_max - count:
            break
        appended = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        try:
            records += decode_records(
                memoryview(buffer)[header.position + HEADER_BYTES : header.end],
                header.record_count,
                header.base_offset,
                header.base_timestamp,
                header.max_timestamp if appended else None,
                timestamp_types[appended],
                from_offset,
                topic,
                partition,
                header.partition_leader_epoch if header.partition_leader_epoch >= 0 else None,
            )
        except CorruptRecordError:
            break
        count += header.record_count
        position, next_offset, leader_epoch = header.end, header.next_offset, header.partition_leader_epoch
    return records, position, next_offset, leader_epoch


def append_batches(
    buffer: Buffer,
    position: int,
    from_offset: int,
    end_offset: int,
    rows_max: int,
    bytes_max: int,
    check_crc: bool,
    with_transactions: bool,
    row_count: int,
    arrays: tuple[bytearray, ...],
) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Decode a run onto the end of the arrays of ``Columns``: records at or after ``from_offset`` of batches that lie
    before ``end_offset`` as a whole and have one kind of timestamps; ``rows_max`` rows and ``bytes_max`` bytes at most.

    Gives the position behind the run, the offset to read on from, the last batch's leader epoch, whether the broker
    set the timestamps (each -1 for a run of no batch), and what ``append_columns`` gives.
    """
    totals = (0, 0, 0, 0, 0)
    next_offset = leader_epoch = append_time = -1
    for header in _batches(buffer, position):
        appended = int(header.timestamp_type is TimestampType.LOG_APPEND_TIME)
        if append_time not in (-1, appended):
            break
        if not _is_plain(buffer, header, end_offset, check_crc, with_transactions):
            break
        sizes = [len(array) for array in arrays]
        try:
            added = append_columns(
                memoryview(buffer)[header.position + HEADER_BYTES : header.end],
                header.record_count,
                header.base_offset,
                header.base_timestamp,
                header.max_timestamp if appended else None,
                from_offset,
                row_count + totals[0],
                arrays,
            )
        except CorruptRecordError:
            break
        bytes_max -= sum(len(arrays[index]) - sizes[index] for index in (3, 6, 10, 12) if index < len(arrays))
        if totals[0] + added[0] > rows_max or bytes_max < 0:
            _cut(arrays, sizes, row_count + totals[0])
            break
        totals = (
            totals[0] + added[0], totals[1] + added[1], totals[2] + added[2], totals[3] + added[3], totals[4] + added[4]
        )  # fmt: skip
        position, next_offset, leader_epoch = header.end, header.next_offset, header.partition_leader_epoch
        append_time = appended
    return position, next_offset, leader_epoch, append_time, *totals


def _cut(arrays: tuple[bytearray, ...], sizes: list[int], row_count: int) -> None:
    """Take back what the last batch added; bits of the byte that both share are cleared."""
    for array, size in zip(arrays, sizes, strict=True):
        del array[size:]
    _clear_bits(arrays[4], row_count)
    _clear_bits(arrays[7], row_count)
    if len(arrays) == 14:
        _clear_bits(arrays[13], len(arrays[9]) // 4 - 1)


def _clear_bits(validity: bytearray, count: int) -> None:
    if count % 8:
        validity[-1] &= (1 << count % 8) - 1


__all__ = ["append_batches", "decode_batches", "skip_batches"]
