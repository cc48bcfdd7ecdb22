"""Splitting a batch that the broker called too large (KIP-126): the same records in smaller batches, their futures
following them.

Runs on the Sender thread. Rare, so it decodes and appends again instead of being clever.
"""

from __future__ import annotations

from pykclient.producer.accumulator import RecordAccumulator
from pykclient.producer.batch import ProducerBatch
from pykclient.protocol import batch_builder
from pykclient.protocol.batch_header import read_header
from pykclient.protocol.records import decode_batch


def split(batch: ProducerBatch, target_bytes: int, accumulator: RecordAccumulator) -> list[tuple[int, ProducerBatch]]:
    """(index of its first record, part) in order. Each part is at most half of what was refused, so that splitting
    always ends."""
    target_bytes = min(target_bytes, max(batch.size_bytes // 2, 1))
    sealed = batch_builder.seal(batch.buffer)
    header = read_header(sealed)
    assert header is not None, "a sealed batch has a header"
    topic, partition = batch.topic_partition
    records = decode_batch(sealed, header, topic, partition, check_crc=False)
    parts: list[tuple[int, ProducerBatch]] = []
    current: ProducerBatch | None = None
    for index, record in enumerate(records):
        headers = record.headers or None
        while True:
            if current is None:
                size = max(target_bytes, batch_builder.size_upper_bound(record.key, record.value, headers))
                buffer = accumulator.allocate_for_split(size)
                batch_builder.begin(buffer)
                current = ProducerBatch(
                    batch.topic_partition, buffer, size, batch.created_at, accumulator, open=False, pooled=False
                )
                current.transactional = batch.transactional
                parts.append((index, current))
            # A record larger than the target has a buffer of its own size, with some slack. Were another one let into
            # that, the part could be the batch that was refused, and splitting would never end.
            room = current.limit if current.record_count == 0 else target_bytes
            taken = batch_builder.append(current.buffer, room, record.timestamp, record.key, record.value, headers)
            if taken >= 0:
                current.record_count = taken + 1
                break
            current = None
    return parts
