"""What a batch must be like before a leader appends it, and how it is made ready: offsets, epoch, timestamps, codec.

Pure functions, any thread. The cost belongs to the batch: records are decoded only where a topic's configuration asks
a question that the header cannot answer (keys of a compacted topic, timestamps out of range, another codec). Bytes
come from outside; whatever is wrong with them is a BrokerError.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from pykclient.broker.log_config import LONG_MAX, LogConfig
from pykclient.broker.producer_state import AppendOrigin, EndMarker
from pykclient.errors import (
    CorruptMessage,
    CorruptRecordError,
    InvalidRecord,
    InvalidTimestamp,
    MessageTooLarge,
    RecordListTooLarge,
)
from pykclient.protocol.batch_header import (
    NO_TIMESTAMP,
    BatchHeader,
    check_batch,
    patch_base_offset,
    patch_leader_epoch,
    patch_max_timestamp,
    read_header,
)
from pykclient.protocol.buffers import Buffer
from pykclient.protocol.control_records import ControlRecordType, decode_control_record
from pykclient.protocol.records import ConsumerRecords, decode_batch, encode_batch
from pykclient.types import TimestampType

_PREFIX = struct.Struct(">qii")
_SHOWN_ERROR_COUNT = 3


class RecordError(NamedTuple):
    """Why one record of a batch was refused."""

    batch_index: int
    message: str


class RejectedRecords(InvalidRecord):
    """Records of the batch break a rule of the topic."""

    def __init__(self, message: str, record_errors: list[RecordError]) -> None:
        super().__init__(message)
        self.record_errors = record_errors


class RejectedTimestamps(InvalidTimestamp):
    """Records of the batch have timestamps that the topic does not take."""

    def __init__(self, message: str, record_errors: list[RecordError]) -> None:
        super().__init__(message)
        self.record_errors = record_errors


class ReadyBatch(NamedTuple):
    """A batch with its final header, as buffers that go to the file one after the other."""

    header: BatchHeader
    parts: tuple[Buffer, ...]


def read_single_batch(records: Buffer | None) -> tuple[BatchHeader, memoryview]:
    """The one batch of a produce request, by its header; Kafka has allowed no other shape since message format v2."""
    if records is None:
        raise InvalidRecord("Produce requests must contain exactly one record batch, found none")
    view = memoryview(records)
    try:
        header = read_header(view)
        if header is None:
            raise InvalidRecord("Produce requests must contain exactly one record batch, found none")
        if header.magic != 2:
            raise InvalidRecord(f"Produce requests take record batches of magic 2, found {header.magic}")
        if header.size < len(view) and read_header(view, header.size) is not None:
            raise InvalidRecord("Produce requests must contain exactly one record batch, found more")
    except CorruptRecordError as error:
        raise CorruptMessage(str(error)) from error
    return header, view[: header.size]


def check_leader_batch(
    header: BatchHeader, view: memoryview, config: LogConfig, *, origin: AppendOrigin, wall_ms: int
) -> None:
    """Raise unless a leader may append this batch."""
    if origin is AppendOrigin.CLIENT and header.base_offset != 0:
        raise InvalidRecord(f"The base offset of a produced batch must be 0, it is {header.base_offset}")
    check_size(header.size, config, origin)
    try:
        check_batch(view, header)
        # An unknown codec is found here, before the batch is in the log and every consumer falls over it.
        _ = header.compression
    except CorruptRecordError as error:
        raise CorruptMessage(str(error)) from error
    if origin is AppendOrigin.CLIENT:
        _check_client_header(header)
        _check_records(header, view, config, wall_ms)


def check_size(size: int, config: LogConfig, origin: AppendOrigin) -> None:
    """Raise when a batch is larger than the topic takes or than a segment can hold."""
    if size > config.max_message_bytes and origin is AppendOrigin.CLIENT:
        raise MessageTooLarge(f"The batch has {size} bytes, max.message.bytes is {config.max_message_bytes}")
    if size > config.segment_bytes_max:
        raise RecordListTooLarge(f"The batch has {size} bytes, segment.bytes is {config.segment_bytes_max}")


def _check_client_header(header: BatchHeader) -> None:
    if header.record_count <= 0 or header.last_offset_delta < 0:
        raise InvalidRecord(f"Batch with count {header.record_count} and last offset delta {header.last_offset_delta}")
    if header.record_count != header.last_offset_delta + 1:
        raise InvalidRecord(f"Batch of {header.record_count} records covers {header.last_offset_delta + 1} offsets")
    if header.is_control:
        raise InvalidRecord("Clients are not allowed to write control records")
    if header.has_producer_id and header.base_sequence < 0:
        raise InvalidRecord(f"Invalid sequence number {header.base_sequence} of producer {header.producer_id}")
    if header.is_transactional and not header.has_producer_id:
        raise InvalidRecord("A transactional batch needs a producer id")


def _check_records(header: BatchHeader, view: memoryview, config: LogConfig, wall_ms: int) -> None:
    create_time = config.timestamp_type is TimestampType.CREATE_TIME
    if create_time and header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        raise InvalidTimestamp("Producers must not set the timestamp type to LogAppendTime")
    earliest = wall_ms - config.message_timestamp_before_max_ms
    latest = wall_ms + config.message_timestamp_after_max_ms
    has_lower_limit = config.message_timestamp_before_max_ms != LONG_MAX
    check_times = create_time and (has_lower_limit or header.max_timestamp > latest)
    if not check_times and not config.compact:
        return
    errors: list[RecordError] = []
    keyless = False
    for index, record in enumerate(_decode(header, view)):
        if check_times and record.timestamp != NO_TIMESTAMP and not earliest <= record.timestamp <= latest:
            errors.append(RecordError(index, f"Timestamp {record.timestamp} is not within [{earliest}, {latest}]"))
        elif config.compact and record.key is None:
            keyless = True
            errors.append(RecordError(index, "Compacted topic cannot accept message without key"))
    if errors and not keyless:
        raise RejectedTimestamps("One or more records have been rejected due to invalid timestamp", errors)
    if errors:
        shown = "; ".join(error.message for error in errors[:_SHOWN_ERROR_COUNT])
        raise RejectedRecords(f"{len(errors)} records have been rejected, the first for: {shown}", errors)


def _decode(header: BatchHeader, view: memoryview) -> ConsumerRecords:
    try:
        return decode_batch(view, header, "", 0, check_crc=False)
    except CorruptRecordError as error:
        raise InvalidRecord(str(error)) from error


def make_ready(
    header: BatchHeader,
    view: memoryview,
    config: LogConfig,
    *,
    base_offset: int,
    leader_epoch: int,
    wall_ms: int,
    origin: AppendOrigin,
) -> ReadyBatch:
    """Give a checked batch its offset and leader epoch, and what the topic's configuration changes. Usually nothing
    is copied."""
    target, level = config.target_compression(header.compression)
    append_time = config.timestamp_type is TimestampType.LOG_APPEND_TIME
    if target is not header.compression and not header.is_control:
        again = encode_batch(
            [(record.timestamp, record.key, record.value, record.headers) for record in _decode(header, view)],
            compression=target,
            level=level,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
            transactional=header.is_transactional,
            base_timestamp=header.base_timestamp,
        )
        check_size(len(again), config, origin)
        header, view = read_single_batch(again)
    elif not append_time:
        prefix = _PREFIX.pack(base_offset, header.size - 12, leader_epoch)
        final = header._replace(base_offset=base_offset, partition_leader_epoch=leader_epoch)
        return ReadyBatch(final, (prefix, view[_PREFIX.size :]))
    patched = bytearray(view)
    patch_base_offset(patched, base_offset)
    patch_leader_epoch(patched, leader_epoch)
    if append_time:
        patch_max_timestamp(patched, TimestampType.LOG_APPEND_TIME, wall_ms)
    final_header = read_header(patched)
    assert final_header is not None
    return ReadyBatch(final_header, (patched,))


def end_marker_of(header: BatchHeader, content: Buffer) -> EndMarker | None:
    """The transaction marker in a control batch; None for other control records and for batches that compaction
    emptied."""
    records = decode_batch(content, header._replace(position=0), "", 0, check_crc=False)
    if not records:
        return None
    control = decode_control_record(records[0])
    if control.type not in (ControlRecordType.COMMIT, ControlRecordType.ABORT):
        return None
    return EndMarker(control.type is ControlRecordType.COMMIT, control.coordinator_epoch or 0)


__all__ = [
    "ReadyBatch",
    "RecordError",
    "RejectedRecords",
    "RejectedTimestamps",
    "check_leader_batch",
    "check_size",
    "end_marker_of",
    "make_ready",
    "read_single_batch",
]
