"""One batch of records on its way to one partition, and the light futures that are views on it.

A batch is filled under the accumulator's lock, then belongs to the Sender (the reactor thread) until it has a
``Delivery``: where it landed or why it did not. A future holds (batch, index) and no state of its own, so that a
million sends cost a million small tuples and not a million locks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pykclient.errors import KafkaTimeoutError
from pykclient.protocol import batch_builder
from pykclient.types import RecordMetadata, TopicPartition

if TYPE_CHECKING:
    from pykclient.producer.accumulator import RecordAccumulator

NO_SEQUENCE = -1


class Delivery(NamedTuple):
    """How a batch ended. ``base_offset`` is -1 when the broker told none (acks=0). ``record_errors`` names records that
    spoiled their batch."""

    base_offset: int = -1
    log_append_time: int = -1
    error: Exception | None = None
    record_errors: dict[int, Exception] | None = None


@dataclass(slots=True, eq=False)
class ProducerBatch:
    """Records for one partition. ``buffer`` is a record batch under construction (see batch_builder) and belongs to the
    BufferPool."""

    topic_partition: TopicPartition
    buffer: bytearray
    limit: int
    """Bytes after which no record is added; smaller than the buffer never, the buffer may be a record's own size."""
    created_at: float
    accumulator: RecordAccumulator
    record_count: int = 0
    open: bool = True
    """Still takes records."""
    sealed: bytes | memoryview | None = None
    """The bytes for the wire, made at the first drain and again when the producer's id, epoch or sequence changed."""
    attempts: int = 0
    last_attempt_at: float = 0.0
    last_error: BaseException | None = None
    """Why the last attempt failed; what the user is told when time runs out."""
    retry_at: float = 0.0
    """When the back-off after the last failed attempt is over."""
    drained_at: float = 0.0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = NO_SEQUENCE
    transactional: bool = False
    possibly_written: bool = False
    """An attempt ended with no answer: the broker may hold the batch. Decides what may be renumbered after a failure.
    """
    pooled: bool = True
    """The buffer counts against the pool (a part of a split batch does not)."""
    in_flight: bool = False
    delivery: Delivery | None = None
    callbacks: list[tuple[int, Callable[[RecordMetadata | None, Exception | None], None], RecordFuture]] | None = None
    children: list[tuple[int, ProducerBatch]] | None = None
    """After a split: (first index in this batch, the batch that took the records from there on)."""

    @property
    def size_bytes(self) -> int:
        """Bytes the records take now, before compression."""
        return batch_builder.size_bytes(self.buffer)

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record; numbers wrap from 2^31-1 to 0."""
        return (self.base_sequence + self.record_count - 1) & 0x7FFFFFFF

    @property
    def has_sequence(self) -> bool:
        """Whether a producer id and a sequence were given to it."""
        return self.base_sequence != NO_SEQUENCE

    def at(self, index: int) -> tuple[ProducerBatch, int]:
        """Where the record ended up after splits: the batch that holds it now, and its index there."""
        batch = self
        while batch.children is not None:
            first, child = next(pair for pair in reversed(batch.children) if pair[0] <= index)
            batch, index = child, index - first
        return batch, index

    def add_callback(
        self, index: int, callback: Callable[[RecordMetadata | None, Exception | None], None], future: RecordFuture
    ) -> None:
        """Remember whom to tell; under the accumulator's lock."""
        if self.callbacks is None:
            self.callbacks = []
        self.callbacks.append((index, callback, future))


class RecordFuture(tuple[ProducerBatch, int, int, int, int]):
    """The promise of a sent record. Fields: batch, index, timestamp, serialised key and value size (-1 for none).

    Also awaitable. Callbacks run on the Sender thread and must not block it.
    """

    __slots__ = ()

    def _settled(self) -> tuple[ProducerBatch, int, Delivery | None]:
        batch, index = self[0].at(self[1])
        return batch, index, batch.delivery

    def done(self) -> bool:
        """Delivered or failed for good."""
        return self._settled()[2] is not None

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Where the record landed; waits up to ``timeout`` seconds, raises why it failed or KafkaTimeoutError."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        metadata = self.metadata()
        assert metadata is not None
        return metadata

    get = result

    def exception(self, timeout: float | None = None) -> Exception | None:
        """Why it failed, None when it was delivered; waits like ``result``."""
        batch, index, delivery = self._settled()
        if delivery is None:
            if not self[0].accumulator.wait_until(self.done, timeout):
                raise KafkaTimeoutError(
                    f"the record for {batch.topic_partition} was not acknowledged within {timeout} s; "
                    "it is still being delivered"
                )
            batch, index, delivery = self._settled()
            assert delivery is not None
        if delivery.record_errors is not None:
            return delivery.record_errors.get(index, delivery.error)
        return delivery.error

    def metadata(self) -> RecordMetadata | None:
        """Where the record landed, None while it is pending or when it failed. Never waits."""
        batch, index, delivery = self._settled()
        if delivery is None or delivery.error is not None:
            return None
        topic, partition = batch.topic_partition
        offset = delivery.base_offset + index if delivery.base_offset >= 0 else -1
        timestamp = delivery.log_append_time if delivery.log_append_time >= 0 else self[2]
        return RecordMetadata(topic, partition, offset, timestamp, self[3], self[4])

    def add_done_callback(self, callback: Callable[[RecordFuture], Any]) -> None:
        """Call ``callback(future)`` when done: on the Sender thread, or at once on this one when it is done already."""
        if not self[0].accumulator.add_callback(self, lambda metadata, error: callback(self)):
            callback(self)

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        # The one place where a sync future meets a loop; the import costs nothing for those who never await.
        from asyncio import get_running_loop

        if not self.done():
            loop = get_running_loop()
            arrived = loop.create_future()

            def arrive() -> None:
                if not arrived.done():  # the awaiting task may have been cancelled meanwhile
                    arrived.set_result(None)

            def wake(future: RecordFuture) -> None:
                loop.call_soon_threadsafe(arrive)

            self.add_done_callback(wake)
            yield from arrived.__await__()
        return self.result(0)

    def __repr__(self) -> str:
        batch, _, delivery = self._settled()
        state = "pending" if delivery is None else "failed" if delivery.error is not None else "delivered"
        return f"<RecordFuture for {batch.topic_partition}, {state}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
