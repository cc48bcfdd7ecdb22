"""One batch of records on its way to one partition, and the light futures that are views on it.

A batch is filled under the accumulator's lock, then belongs to the Sender (the reactor thread) until it has a
``Delivery``: where it landed or why it did not. A future holds (batch, index) and no state of its own, so that a
million sends cost a million small views and not a million locks.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from pykclient.client.crossing import crossing_to
from pykclient.errors import KafkaTimeoutError
from pykclient.protocol import accel, batch_builder
from pykclient.types import RecordMetadata, TopicPartition

if TYPE_CHECKING:
    from pykclient.producer.accumulator import RecordAccumulator
    from pykclient.protocol.pure_batches import OpenBatch, SentRecord
else:
    OpenBatch, SentRecord = accel.active.OpenBatch, accel.active.SentRecord

T = TypeVar("T")
NO_SEQUENCE = -1


class Delivery(NamedTuple):
    """How a batch ended. ``base_offset`` is -1 when the broker told none (acks=0). ``record_errors`` names records that
    spoiled their batch."""

    base_offset: int = -1
    log_append_time: int = -1
    error: Exception | None = None
    record_errors: dict[int, Exception] | None = None


class ProducerBatch(OpenBatch):
    """Records for one partition. ``buffer`` is a record batch under construction (see batch_builder) and belongs to the
    BufferPool."""

    __slots__ = (
        "accumulator",
        "attempts",
        "base_sequence",
        "created_at",
        "drained_at",
        "exclusive",
        "in_flight",
        "last_attempt_at",
        "last_error",
        "pooled",
        "possibly_written",
        "producer_epoch",
        "producer_id",
        "retry_at",
        "sealed",
        "topic_partition",
        "transactional",
    )

    delivery: Delivery | None
    callbacks: list[tuple[int, Callable[[RecordMetadata | None, Exception | None], None], RecordFuture]] | None
    children: list[tuple[int, ProducerBatch]] | None
    """After a split: (first index in this batch, the batch that took the records from there on)."""

    def __init__(
        self,
        topic_partition: TopicPartition,
        buffer: bytearray,
        limit: int,
        created_at: float,
        accumulator: RecordAccumulator | None,
        record_count: int = 0,
        open: bool = True,
        pooled: bool = True,
    ) -> None:
        self.topic_partition = topic_partition
        self.buffer = buffer
        self.limit = limit
        self.created_at = created_at
        self.accumulator = accumulator
        """Where its futures wait. None once it is settled or split: a future that is kept does not keep a producer."""
        self.record_count = record_count
        self.open = open
        self.pooled = pooled
        """The buffer counts against the pool (a part of a split batch does not)."""
        self.exclusive = False
        """No other batch will ever use the buffer, so that it may be sent as it is."""
        self.sealed: bytes | memoryview | None = None
        """The bytes for the wire, made at the first drain and again when the producer's id, epoch or sequence changed.
        """
        self.attempts = 0
        self.last_attempt_at = 0.0
        self.last_error: BaseException | None = None
        """Why the last attempt failed; what the user is told when time runs out."""
        self.retry_at = 0.0
        """When the back-off after the last failed attempt is over."""
        self.drained_at = 0.0
        self.producer_id = -1
        self.producer_epoch = -1
        self.base_sequence = NO_SEQUENCE
        self.transactional = False
        self.possibly_written = False
        """An attempt ended with no answer: the broker may hold the batch. Decides what may be renumbered after a
        failure."""
        self.in_flight = False
        self.delivery = None
        self.callbacks = []
        self.children = None

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
        """Remember whom to tell; under the accumulator's lock, before it is settled."""
        assert self.callbacks is not None, "a batch that was told of has no more callbacks"
        self.callbacks.append((index, callback, future))


def shown(error: Exception) -> Exception:
    """A copy of a batch's error, to be given away. Raised, an error holds the frames it went through and all their
    futures: were it the batch's own, the two would hold each other, which the collector cannot see through a future."""
    try:
        given = copy.copy(error)
    except Exception:
        return error  # not one of ours, and not made to be copied
    given.__cause__, given.__suppress_context__ = error.__cause__, error.__suppress_context__
    return given


def _light(future_type: type[T]) -> type[T]:
    """The same class without what Python adds to every class statement: where SentRecord is native, the methods go onto
    that very type, whose instances the garbage collector neither counts nor sees."""
    if not accel.accelerated:
        return future_type
    for name, item in vars(future_type).items():
        if name != "__slots__":
            setattr(SentRecord, name, item)
    SentRecord.__name__, SentRecord.__qualname__ = future_type.__name__, future_type.__qualname__
    return cast("type[T]", SentRecord)


@_light
class RecordFuture(SentRecord):
    """The promise of a sent record. Also awaitable. Callbacks run on the Sender thread and must not block it."""

    __slots__ = ()

    def _settled(self) -> tuple[ProducerBatch, int, Delivery | None]:
        batch, index = self.batch.at(self.index)
        return batch, index, batch.delivery

    def done(self) -> bool:
        """Delivered or failed for good."""
        return self.delivered or self._settled()[2] is not None

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
        if self.delivered:
            return None
        batch, index, delivery = self._settled()
        while delivery is None:
            # None: it was settled or split after we looked.
            accumulator = batch.accumulator
            if accumulator is not None and not accumulator.wait_until(self.done, timeout):
                raise KafkaTimeoutError(
                    f"the record for {batch.topic_partition} was not acknowledged within {timeout} s; "
                    "it is still being delivered"
                )
            batch, index, delivery = self._settled()
        error = delivery.error
        if delivery.record_errors is not None:
            error = delivery.record_errors.get(index, error)
        return None if error is None else shown(error)

    def metadata(self) -> RecordMetadata | None:
        """Where the record landed, None while it is pending or when it failed. Never waits."""
        batch, index, delivery = self._settled()
        if delivery is None or delivery.error is not None:
            return None
        topic, partition = batch.topic_partition
        offset = delivery.base_offset + index if delivery.base_offset >= 0 else -1
        timestamp = delivery.log_append_time if delivery.log_append_time >= 0 else self.timestamp
        return RecordMetadata(topic, partition, offset, timestamp, self.key_size, self.value_size)

    def add_done_callback(self, callback: Callable[[RecordFuture], Any]) -> None:
        """Call ``callback(future)`` when done: on the Sender thread, or at once on this one when it is done already."""
        while not self.done():
            accumulator = self._settled()[0].accumulator
            if accumulator is not None and accumulator.add_callback(self, lambda metadata, error: callback(self)):
                return
        callback(self)

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        # The one place where a sync future meets a loop; the import costs nothing for those who never await.
        from asyncio import get_running_loop

        if not self.done():
            loop = get_running_loop()
            arrived = loop.create_future()
            crossing = crossing_to(loop)

            def arrive() -> None:
                if not arrived.done():  # the awaiting task may have been cancelled meanwhile
                    arrived.set_result(None)

            # The records of a batch are done together and cross to the loop together.
            self.add_done_callback(lambda future: crossing.post(arrive))
            yield from arrived.__await__()
        return self.result(0)

    def __repr__(self) -> str:
        batch, _, delivery = self._settled()
        state = "pending" if delivery is None else "failed" if delivery.error is not None else "delivered"
        return f"<RecordFuture for {batch.topic_partition}, {state}>"
