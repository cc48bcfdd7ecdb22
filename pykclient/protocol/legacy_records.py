"""Message sets v0 and v1, from before Kafka 0.11: what old segments and old clients still hold.

Pure functions over buffers, any thread; plain Python, since nothing hot speaks these formats any more.
A compressed message wraps an inner message set; wrappers within wrappers are refused, so nothing here recurses.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

from pykclient.errors import CorruptRecordError, UsageError
from pykclient.protocol.batch_header import (
    CODEC_MASK,
    LEGACY_OVERHEAD_BYTES,
    LOG_APPEND_TIME_BIT,
    NO_TIMESTAMP,
    BatchHeader,
    check_batch,
    iter_batches,
)
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.compression import CompressionType, compress, decompress
from pykclient.protocol.pure import Record, as_bytes, wrap_int64
from pykclient.types import ConsumerRecord, TimestampType

_FRAME = struct.Struct(">qi")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_HEADS = (struct.Struct(">bb"), struct.Struct(">bbq"))
_NULL = _INT32.pack(-1)

ConsumerRecords = list[ConsumerRecord["bytes | None", "bytes | None"]]


def encode_message_set(
    records: Sequence[Record],
    *,
    magic: int,
    base_offset: int = 0,
    offsets: Sequence[int] | None = None,
    compression: CompressionType = CompressionType.NONE,
    level: int | None = None,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    max_timestamp: int | None = None,
) -> bytes:
    """A message set of the tuples that ``encode_batch`` takes. Headers cannot be carried; v0 has no timestamps
    either."""
    if magic not in (0, 1):
        raise UsageError(f"message sets have magic 0 or 1, not {magic}")
    if compression is CompressionType.ZSTD:
        raise UsageError("message sets cannot be compressed with zstd")
    if any(record[3] for record in records):
        raise UsageError(f"message sets of magic {magic} cannot carry headers")
    if offsets is None:
        offsets = range(base_offset, base_offset + len(records))
    attributes = LOG_APPEND_TIME_BIT if magic == 1 and timestamp_type is TimestampType.LOG_APPEND_TIME else 0
    if compression is CompressionType.NONE or not records:
        return b"".join(
            _message(offset, magic, attributes, timestamp, key, value)
            for offset, (timestamp, key, value, _) in zip(offsets, records, strict=True)
        )
    # v1 counts inner offsets from the first record, so that a broker can assign offsets without compressing again.
    first = offsets[0] if magic == 1 else 0
    inner = b"".join(
        _message(offset - first, magic, attributes, timestamp, key, value)
        for offset, (timestamp, key, value, _) in zip(offsets, records, strict=True)
    )
    if max_timestamp is None:
        max_timestamp = max(record[0] for record in records)
    packed = compress(compression, inner, level, magic=magic)
    return _message(offsets[-1], magic, attributes | compression, max_timestamp, None, packed)


def _message(
    offset: int, magic: int, attributes: int, timestamp: int, key: Buffer | None, value: Buffer | None
) -> bytes:
    head = _HEADS[0].pack(0, attributes) if magic == 0 else _HEADS[1].pack(1, attributes, timestamp)
    body = b"".join((head, _content(key), _content(value)))
    return b"".join((_FRAME.pack(offset, len(body) + 4), _UINT32.pack(zlib.crc32(body)), body))


def _content(content: Buffer | None) -> bytes:
    if content is None:
        return _NULL
    content = as_bytes(content)
    return _INT32.pack(len(content)) + content


def decode_message(
    buffer: Buffer, header: BatchHeader, topic: str, partition: int, from_offset: int, bytes_max: int
) -> ConsumerRecords:
    """The records of one message: itself, or, when it is compressed, those of the message set it wraps."""
    timestamp_type = header.timestamp_type
    key, value = _read_contents(buffer, header)
    if not header.is_compressed:
        found = [(header.base_offset, header.base_timestamp, key, value)]
    else:
        found = _unwrap(header, value, bytes_max)
    return [
        ConsumerRecord(topic, partition, offset, timestamp, timestamp_type, key, value, [], None)
        for offset, timestamp, key, value in found
        if offset >= from_offset
    ]


def _unwrap(
    wrapper: BatchHeader, value: bytes | None, bytes_max: int
) -> list[tuple[int, int, bytes | None, bytes | None]]:
    codec = wrapper.compression
    if codec is CompressionType.ZSTD:
        raise CorruptRecordError(f"zstd cannot be used in a message set of magic {wrapper.magic}")
    if value is None:
        raise CorruptRecordError("compressed message has no value")
    inner = decompress(codec, value, magic=wrapper.magic, bytes_max=bytes_max)
    found: list[tuple[int, int, bytes | None, bytes | None]] = []
    end = 0
    for message in iter_batches(inner):
        check_batch(inner, message)
        if message.magic != wrapper.magic:
            raise CorruptRecordError(f"message of magic {message.magic} inside one of magic {wrapper.magic}")
        if message.attributes & CODEC_MASK:
            raise CorruptRecordError("compressed message inside a compressed message")
        found.append((message.base_offset, message.base_timestamp, *_read_contents(inner, message)))
        end = message.end
    if not found:
        raise CorruptRecordError("compressed message wraps no messages")
    if end != len(inner):
        raise CorruptRecordError(f"{len(inner) - end} bytes remain after the last message")
    if wrapper.magic == 0:
        return found
    # The wrapper carries the last offset; the inner ones are relative, with gaps where compaction took messages away.
    first = wrapper.base_offset - found[-1][0]
    if wrapper.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return [(wrap_int64(first + offset), wrapper.max_timestamp, key, value) for offset, _, key, value in found]
    return [(wrap_int64(first + offset), timestamp, key, value) for offset, timestamp, key, value in found]


def _read_contents(buffer: Buffer, message: BatchHeader) -> tuple[bytes | None, bytes | None]:
    position = message.position + LEGACY_OVERHEAD_BYTES[message.magic] - 8
    key, position = _read_content(buffer, position, message.end - 4)
    value, position = _read_content(buffer, position, message.end)
    if position != message.end:
        raise CorruptRecordError(f"message at offset {message.base_offset} is malformed")
    return key, value


def _read_content(buffer: Buffer, position: int, end: int) -> tuple[bytes | None, int]:
    if position + 4 > end:
        raise CorruptRecordError("message ends too early")
    (size,) = _INT32.unpack_from(buffer, position)
    position += 4
    if size == -1:
        return None, position
    if not 0 <= size <= end - position:
        raise CorruptRecordError(f"message claims {size} bytes where {end - position} remain")
    return bytes(buffer[position : position + size]), position + size


__all__ = ["NO_TIMESTAMP", "decode_message", "encode_message_set"]
