"""The fixed part of a record batch: reading it, checking it, and patching it in place.

A broker works with this file alone: it never looks at records. Pure functions over buffers, any thread.
It must never trust a length before comparing it with what remains.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from pykclient.errors import CorruptRecordError
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import CompressionType, compression_type
from pykclient.protocol.native import crc32c
from pykclient.types import TimestampType

LOG_OVERHEAD_BYTES = 12
"""Base offset and length: what stands before the bytes that the length counts."""
HEADER_BYTES = 61
"""Size of a v2 batch without records."""
NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

_LENGTH_MIN = 14
_LENGTH_MAX = 2**31 - 1 - LOG_OVERHEAD_BYTES
_MAGIC_AT = 16
_CRC_AT = 17
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35
_FRAME = struct.Struct(">qi")
_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_INT64 = struct.Struct(">q")
_AFTER_LENGTH = struct.Struct(">ibIhiqqqhii")
_AFTER_CRC = struct.Struct(">hiqqqhii")
_LEGACY_FRONT = struct.Struct(">Ixb")
_FRONT = struct.Struct(">qiibI")


class BatchHeader(NamedTuple):
    """The header of one batch, and where in the buffer the batch lies.

    For message sets v0 and v1 the fields that they lack hold Kafka's "none" values. A compressed v0 or v1 message is
    one batch whose
    offset field is that of its *last* record; its first offset and its record count are known only after
    decompression (-1 here).
    """

    position: int
    size: int
    base_offset: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def end(self) -> int:
        """The position right behind the batch."""
        return self.position + self.size

    @property
    def last_offset(self) -> int:
        """Offset of the last record; after compaction that record may be gone."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Where to read on after this batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> CompressionType:
        """The codec; an unknown one raises CorruptRecordError."""
        return compression_type(self.attributes & CODEC_MASK)

    @property
    def is_compressed(self) -> bool:
        """Whether the records are compressed."""
        return self.attributes & CODEC_MASK != 0

    @property
    def timestamp_type(self) -> TimestampType:
        """Who set the timestamps of the records."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        return TimestampType.LOG_APPEND_TIME if self.attributes & LOG_APPEND_TIME_BIT else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return self.magic == 2 and self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Whether it holds markers for clients and brokers instead of users' records."""
        return self.magic == 2 and self.attributes & CONTROL_BIT != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the cleaner may drop tombstones and markers of this batch; it stands in the place of the base
        timestamp."""
        return self.base_timestamp if self.magic == 2 and self.attributes & DELETE_HORIZON_BIT else None

    @property
    def has_producer_id(self) -> bool:
        """Whether an idempotent or transactional producer wrote it."""
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record, -1 when there are none."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)


def increment_sequence(sequence: int, count: int) -> int:
    """The sequence number ``count`` records later; 0 follows 2147483647."""
    # In 32 bits, as Java computes it: a hostile negative count then gives the same nonsense on every client.
    if sequence > _wrap_int32(2147483647 - count):
        return _wrap_int32(count - (2147483647 - sequence) - 1)
    return sequence + count


def decrement_sequence(sequence: int, count: int) -> int:
    """The sequence number ``count`` records earlier; 2147483647 precedes 0."""
    if sequence < count:
        return 2147483647 - (count - sequence) + 1
    return sequence - count


def _wrap_int32(number: int) -> int:
    return (number + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader | None:
    """The header of the batch at ``position``, or None when the buffer ends before the batch does. The CRC is not
    checked here."""
    remaining = len(buffer) - position
    if remaining < LOG_OVERHEAD_BYTES:
        return None
    base_offset, length = _FRAME.unpack_from(buffer, position)
    if length < _LENGTH_MIN:
        raise CorruptRecordError(f"batch length {length} is less than the smallest possible, {_LENGTH_MIN}")
    if length > _LENGTH_MAX:
        raise CorruptRecordError(f"batch length {length} is more than the largest possible, {_LENGTH_MAX}")
    if remaining <= _MAGIC_AT:
        return None
    magic = buffer[position + _MAGIC_AT]
    if magic > 2:
        raise CorruptRecordError(f"unknown record batch magic {magic if magic < 128 else magic - 256}")
    size = length + LOG_OVERHEAD_BYTES
    if size > remaining:
        return None
    if magic < 2:
        return _read_legacy_header(buffer, position, size, base_offset, magic)
    if size < HEADER_BYTES:
        raise CorruptRecordError(f"batch of {size} bytes is smaller than a batch header, {HEADER_BYTES}")
    return BatchHeader(position, size, base_offset, *_AFTER_LENGTH.unpack_from(buffer, position + LOG_OVERHEAD_BYTES))


def _read_legacy_header(buffer: Buffer, position: int, size: int, offset: int, magic: int) -> BatchHeader:
    crc, attributes = _LEGACY_FRONT.unpack_from(buffer, position + 12)
    timestamp = NO_TIMESTAMP
    if magic == 1:
        if size < LEGACY_OVERHEAD_BYTES[1]:
            raise CorruptRecordError(f"message of {size} bytes is smaller than a v1 message header")
        (timestamp,) = _INT64.unpack_from(buffer, position + 18)
    count = 1 if attributes & CODEC_MASK == 0 else -1
    return BatchHeader(
        position, size, offset, -1, magic, crc, attributes, 0, timestamp, timestamp, -1, -1, -1, count
    )  # fmt: skip


LEGACY_OVERHEAD_BYTES = (26, 34)
"""Size of a v0 and a v1 message without key and value, offset and length included."""


def iter_batches(buffer: Buffer, position: int = 0) -> Iterator[BatchHeader]:
    """The headers of all whole batches; a partial one at the end is no error, brokers cut fetch responses anywhere."""
    while (header := read_header(buffer, position)) is not None:
        yield header
        position += header.size


def check_batch(buffer: Buffer, header: BatchHeader) -> None:
    """Raise CorruptRecordError unless the stored CRC matches the bytes."""
    computed = compute_crc(buffer, header)
    if computed != header.crc:
        raise CorruptRecordError(
            f"batch at offset {header.base_offset} is corrupt: stored CRC {header.crc}, computed CRC {computed}"
        )


def compute_crc(buffer: Buffer, header: BatchHeader) -> int:
    """The CRC that the batch should have: CRC-32C from the attributes on, or CRC-32 from the magic byte on before
    v2."""
    with memoryview(buffer) as view:
        if header.magic < 2:
            return zlib.crc32(view[header.position + _MAGIC_AT : header.end])
        # crc32c releases the GIL by itself for more than 32 KiB.
        return crc32c(view[header.position + _ATTRIBUTES_AT : header.end])


def build_batch(
    records: Buffer,
    *,
    base_offset: int,
    partition_leader_epoch: int,
    attributes: int,
    last_offset_delta: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    record_count: int,
) -> bytes:
    """A v2 batch from its (already compressed) records section and its header fields."""
    covered = _AFTER_CRC.pack(
        attributes, last_offset_delta, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, record_count,
    )  # fmt: skip
    crc = crc32c(records, crc32c(covered))
    length = HEADER_BYTES - LOG_OVERHEAD_BYTES + len(records)
    return b"".join((_FRONT.pack(base_offset, length, partition_leader_epoch, 2, crc), covered, records))


# --- Patching in place. A broker assigns offsets and epochs without touching the records; both lie outside the CRC.


def patch_base_offset(batch: bytearray | memoryview, base_offset: int, *, position: int = 0) -> None:
    """Set the base offset. No CRC changes."""
    _INT64.pack_into(batch, position, base_offset)


def patch_leader_epoch(batch: bytearray | memoryview, partition_leader_epoch: int, *, position: int = 0) -> None:
    """Set the partition leader epoch. No CRC changes."""
    _INT32.pack_into(batch, position + 12, partition_leader_epoch)


def patch_max_timestamp(
    batch: bytearray | memoryview, timestamp_type: TimestampType, max_timestamp: int, *, position: int = 0
) -> None:
    """Set the timestamp type and the largest timestamp of a v2 batch, and its CRC again; nothing is written when both
    stand already."""
    (attributes,) = _INT16.unpack_from(batch, position + _ATTRIBUTES_AT)
    wanted = attributes & ~LOG_APPEND_TIME_BIT
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        wanted |= LOG_APPEND_TIME_BIT
    (before,) = _INT64.unpack_from(batch, position + _MAX_TIMESTAMP_AT)
    if (attributes, before) == (wanted, max_timestamp):
        return
    _INT16.pack_into(batch, position + _ATTRIBUTES_AT, wanted)
    _INT64.pack_into(batch, position + _MAX_TIMESTAMP_AT, max_timestamp)
    patch_crc(batch, position=position)


def patch_crc(batch: bytearray | memoryview, *, position: int = 0) -> None:
    """Compute the CRC of a v2 batch again after its covered bytes changed."""
    (length,) = _INT32.unpack_from(batch, position + 8)
    covered = memoryview(batch)[position + _ATTRIBUTES_AT : position + LOG_OVERHEAD_BYTES + length]
    _UINT32.pack_into(batch, position + _CRC_AT, crc32c(covered))


__all__ = [
    "CODEC_MASK",
    "CONTROL_BIT",
    "DELETE_HORIZON_BIT",
    "HEADER_BYTES",
    "LEGACY_OVERHEAD_BYTES",
    "LOG_APPEND_TIME_BIT",
    "LOG_OVERHEAD_BYTES",
    "NO_LEADER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "TRANSACTIONAL_BIT",
    "BatchHeader",
    "build_batch",
    "check_batch",
    "compute_crc",
    "decrement_sequence",
    "increment_sequence",
    "iter_batches",
    "patch_base_offset",
    "patch_crc",
    "patch_leader_epoch",
    "patch_max_timestamp",
    "read_header",
]
