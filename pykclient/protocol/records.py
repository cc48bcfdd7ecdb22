"""Record batches, both ways: the door of this room for producers, consumers and the broker.

Pure functions over buffers, any thread. Cost belongs to the batch: one native (or pure) call encodes or decodes all
of its records.
It must never hold on to a buffer it was given: decoded keys and values are copies, so that a fetch response can be
freed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pykclient.errors import CorruptRecordError
from pykclient.protocol import accel
from pykclient.protocol.batch_header import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    NO_LEADER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL_BIT,
    BatchHeader,
    build_batch,
    check_batch,
    decrement_sequence,
    increment_sequence,
    iter_batches,
    patch_base_offset,
    patch_crc,
    patch_leader_epoch,
    patch_max_timestamp,
    read_header,
)
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import DECOMPRESSED_BYTES_MAX, CompressionType, compress, decompress
from pykclient.protocol.pure import HeaderPairs, Record, varint_size
from pykclient.types import ConsumerRecord, TimestampType

RECORD_OVERHEAD_BYTES_MAX = 36
"""More than any record adds to its key, value and headers."""
OFFSET_MIN = -(2**63)
OFFSET_MAX = 2**63 - 1
_TIMESTAMP_TYPES = (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME)

ConsumerRecords = list[ConsumerRecord["bytes | None", "bytes | None"]]


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    compression: CompressionType = CompressionType.NONE,
    level: int | None = None,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    partition_leader_epoch: int = NO_LEADER_EPOCH,
    offsets: Sequence[int] | None = None,
    last_offset: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytes:
    """A v2 batch of ``(timestamp_ms, key, value, headers)`` tuples.

    The later arguments are for brokers that write a batch again with records missing: ``offsets`` of those that remain,
    and what the header said before. ``delete_horizon_ms`` takes the place of the base timestamp.
    """
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    elif base_timestamp is None:
        base_timestamp = records[0][0] if records else NO_TIMESTAMP
    deltas = None if offsets is None else [offset - base_offset for offset in offsets]
    section, largest = accel.active.encode_records(records, base_timestamp, deltas)
    if compression is not CompressionType.NONE:
        section = compress(compression, section, level)
    if last_offset is not None:
        last_offset_delta = last_offset - base_offset
    else:
        last_offset_delta = deltas[-1] if deltas else len(records) - 1
    return build_batch(
        section,
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        attributes=batch_attributes(
            compression,
            timestamp_type,
            transactional=transactional,
            control=control,
            delete_horizon=delete_horizon_ms is not None,
        ),
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=largest if max_timestamp is None else max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )


def batch_attributes(
    compression: CompressionType,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    *,
    transactional: bool = False,
    control: bool = False,
    delete_horizon: bool = False,
) -> int:
    """The attributes field of a v2 batch."""
    return (
        int(compression)
        | (LOG_APPEND_TIME_BIT if timestamp_type is TimestampType.LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL_BIT if transactional else 0)
        | (CONTROL_BIT if control else 0)
        | (DELETE_HORIZON_BIT if delete_horizon else 0)
    )


def record_size(
    offset_delta: int, timestamp_delta: int, key: bytes | None, value: bytes | None, headers: HeaderPairs | None
) -> int:
    """Bytes that a record takes in an uncompressed batch, exactly."""
    size = 2 + varint_size(timestamp_delta) + varint_size(offset_delta)
    size += 1 if key is None else varint_size(len(key)) + len(key)
    size += 1 if value is None else varint_size(len(value)) + len(value)
    if headers:
        size += varint_size(len(headers)) - 1
        for name, content in headers:
            encoded_size = len(name) if name.isascii() else len(name.encode())
            size += varint_size(encoded_size) + encoded_size
            size += 1 if content is None else varint_size(len(content)) + len(content)
    return size + varint_size(size)


def record_size_upper_bound(key: bytes | None, value: bytes | None, headers: HeaderPairs | None) -> int:
    """No fewer bytes than the record takes, whatever its deltas; cheaper than the exact size."""
    size = RECORD_OVERHEAD_BYTES_MAX
    if key is not None:
        size += len(key)
    if value is not None:
        size += len(value)
    if headers:
        for name, content in headers:
            size += 10 + (len(name) if name.isascii() else 4 * len(name)) + (0 if content is None else len(content))
    return size


# --- decoding


def records_section(buffer: Buffer, header: BatchHeader, *, bytes_max: int = DECOMPRESSED_BYTES_MAX) -> Buffer:
    """The records of a v2 batch as encoded, decompressed if need be; a view of ``buffer`` when they are not
    compressed."""
    view = memoryview(buffer)[header.position + HEADER_BYTES : header.end]
    if not header.is_compressed:
        return view
    return decompress(header.compression, view, bytes_max=bytes_max)


def decode_batch(
    buffer: Buffer,
    header: BatchHeader,
    topic: str,
    partition: int,
    *,
    from_offset: int = OFFSET_MIN,
    check_crc: bool = True,
    bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> ConsumerRecords:
    """The records of one batch at or after ``from_offset``; for any magic. Control batches give their markers: skip
    those by the header.

    The leader epoch of the records is the batch's, None before v2 or when unknown.
    """
    if check_crc:
        check_batch(buffer, header)
    if header.magic < 2:
        from pykclient.protocol import legacy_records  # what no broker has written since 2017

        return legacy_records.decode_message(buffer, header, topic, partition, from_offset, bytes_max)
    section = records_section(buffer, header, bytes_max=bytes_max)
    return decode_section(section, header, header.record_count, topic, partition, from_offset=from_offset)


def decode_section(
    section: Buffer, header: BatchHeader, count: int, topic: str, partition: int, *, from_offset: int = OFFSET_MIN
) -> ConsumerRecords:
    """The records of a v2 batch, or ``count`` of them that stand together, once they are decompressed."""
    timestamp_type = header.timestamp_type
    return accel.active.decode_records(
        section,
        count,
        header.base_offset,
        header.base_timestamp,
        header.max_timestamp if timestamp_type is TimestampType.LOG_APPEND_TIME else None,
        timestamp_type,
        from_offset,
        topic,
        partition,
        header.partition_leader_epoch if header.partition_leader_epoch >= 0 else None,
    )


class DecodedRun(NamedTuple):
    """Records of some batches; where in the buffer the next one begins, the offset to read on from, the leader epoch
    (-1: unknown)."""

    records: ConsumerRecords
    position: int
    next_offset: int
    leader_epoch: int


def decode_batches(
    buffer: Buffer,
    position: int,
    topic: str,
    partition: int,
    *,
    from_offset: int = OFFSET_MIN,
    records_max: int,
    check_crc: bool = True,
    with_transactions: bool = True,
) -> DecodedRun:
    """All batches from ``position`` on that need no special care and hold ``records_max`` records at most together, in
    one go; see ``pure_runs``. ``decode_batch`` takes the one in front of which this ends."""
    return DecodedRun(
        *accel.active.decode_batches(
            buffer, position, from_offset, records_max, check_crc, with_transactions, topic, partition, _TIMESTAMP_TYPES
        )
    )


def skip_batches(buffer: Buffer, position: int) -> tuple[int, int, int]:
    """Over the headers of batches: where the next one begins, the offset to read on from, the leader epoch (-1: none).
    Ends, without an error, in front of what is old, cut off or senseless."""
    return accel.active.skip_batches(buffer, position)


def split_section(section: Buffer, count: int, every: int) -> list[int]:
    """Where every so manieth record of the section begins, and its end; see ``decode_section``."""
    return accel.active.split_records(section, count, every)


def decode_all(
    buffer: Buffer,
    topic: str,
    partition: int,
    *,
    from_offset: int = OFFSET_MIN,
    check_crc: bool = True,
    bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> Iterator[tuple[BatchHeader, ConsumerRecords]]:
    """Batch by batch: the header and its records, for every whole batch in the buffer."""
    for header in iter_batches(buffer):
        yield (
            header,
            decode_batch(
                buffer, header, topic, partition, from_offset=from_offset, check_crc=check_crc, bytes_max=bytes_max
            ),
        )


def record_sequence(header: BatchHeader, offset: int) -> int:
    """The sequence number of the record at ``offset``, -1 when its batch has none."""
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return increment_sequence(header.base_sequence, offset - header.base_offset)


__all__ = [
    "HEADER_BYTES",
    "NO_LEADER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "RECORD_OVERHEAD_BYTES_MAX",
    "BatchHeader",
    "CompressionType",
    "ConsumerRecords",
    "CorruptRecordError",
    "DecodedRun",
    "Record",
    "batch_attributes",
    "build_batch",
    "check_batch",
    "decode_all",
    "decode_batch",
    "decode_batches",
    "decode_section",
    "decrement_sequence",
    "encode_batch",
    "increment_sequence",
    "iter_batches",
    "patch_base_offset",
    "patch_crc",
    "patch_leader_epoch",
    "patch_max_timestamp",
    "read_header",
    "record_sequence",
    "record_size",
    "record_size_upper_bound",
    "records_section",
    "skip_batches",
    "split_section",
]
