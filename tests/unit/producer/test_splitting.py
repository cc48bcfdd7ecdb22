"""Splitting always ends: whatever the records, a batch of two or more becomes at least two."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pykclient.net.reactor import SystemClock
from pykclient.producer.accumulator import RecordAccumulator
from pykclient.producer.batch import ProducerBatch
from pykclient.producer.queues import AccumulatorSettings
from pykclient.producer.splitting import split
from pykclient.protocol import batch_builder
from pykclient.protocol.batch_header import read_header
from pykclient.protocol.records import decode_batch
from pykclient.types import TopicPartition

PARTITION = TopicPartition("t", 0)


def accumulator() -> RecordAccumulator:
    settings = AccumulatorSettings(
        batch_bytes=1000, linger_s=0, buffer_bytes=100_000, delivery_timeout_s=1, retry_backoff_s=1,
        retry_backoff_max_s=1, max_block_s=1, compressed=False, adaptive=True, availability_timeout_s=0,
    )  # fmt: skip
    return RecordAccumulator(settings, clock=SystemClock(), random=Random(0), wake_sender=lambda: None)


def batch_of(values: list[bytes]) -> ProducerBatch:
    buffer = bytearray(sum(map(len, values)) + 100 * len(values) + 200)
    batch_builder.begin(buffer)
    for value in values:
        assert batch_builder.append(buffer, len(buffer), 5, None, value, None) >= 0
    batch = ProducerBatch(PARTITION, buffer, len(buffer), 0.0, accumulator())
    batch.record_count = len(values)
    return batch


def values_of(batch: ProducerBatch) -> list[bytes | None]:
    sealed = batch_builder.seal(batch.buffer)
    header = read_header(sealed)
    assert header is not None
    return [record.value for record in decode_batch(sealed, header, "t", 0, check_crc=False)]


@given(
    st.lists(st.one_of(st.integers(0, 30), st.integers(0, 5000)), min_size=2, max_size=20),
    st.sampled_from([1, 100, 10**6]),
)
def test_splitting_always_gives_more_batches_with_the_same_records(sizes: list[int], target: int) -> None:
    sent = [b"%d" % (index % 10) * size for index, size in enumerate(sizes)]
    batch = batch_of(sent)
    parts = split(batch, target, accumulator())
    assert len(parts) >= 2
    assert [value for _, part in parts for value in values_of(part)] == sent
    firsts = [first for first, _ in parts]
    assert firsts[0] == 0
    assert [part.record_count for _, part in parts] == [
        b - a for a, b in zip(firsts, [*firsts[1:], len(sent)], strict=True)
    ]
