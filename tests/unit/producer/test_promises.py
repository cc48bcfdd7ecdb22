"""Batches that fill and the promises of their records: the two implementations agree, threads do not tear them, and
what is kept of them keeps nothing else alive."""

from __future__ import annotations

import gc
import os
import random
import threading
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykclient.errors import DeliveryTimedOut, KafkaError
from pykclient.net.reactor import SystemClock
from pykclient.producer.accumulator import RecordAccumulator
from pykclient.producer.batch import Delivery, RecordFuture
from pykclient.producer.partitioners import Partitions
from pykclient.producer.queues import AccumulatorSettings
from pykclient.protocol import accel, batch_builder, pure_twin
from pykclient.protocol.accel import Implementation
from pykclient.protocol.batch_header import read_header
from pykclient.protocol.records import decode_batch
from pykclient.types import TopicPartition

TWINS = [cast(Implementation, pure_twin)]
if os.environ.get("PYKCLIENT_ACCEL") != "off" and (native := accel.load_native()) is not None:
    TWINS.append(native)

contents = st.one_of(st.none(), st.binary(max_size=40), st.binary(max_size=40).map(bytearray))
rows = st.tuples(
    contents,
    contents,
    st.one_of(st.none(), st.integers(-1, 5), st.just(True)),
    st.one_of(st.none(), st.integers(-2, 2**40), st.just(2**70)),
    st.booleans(),
    st.sampled_from(["t", "t", "t", "other", b"t", 5]),
)


class Lane:
    """Three open batches and the one for records without a key, in one implementation."""

    def __init__(self, twin: Implementation, limit: int) -> None:
        self.twin = twin
        self.batches: list[Any] = []
        for _ in range(3):
            batch = twin.OpenBatch()
            batch.buffer = bytearray(500)
            batch_builder.begin(batch.buffer)
            batch.limit, batch.record_count, batch.open = limit, 0, True
            batch.callbacks, batch.delivery, batch.children = [], None, None
            self.batches.append(batch)
        self.lane = [self.batches[1], *self.batches]

    def send(self, key: Any, value: Any, partition: Any, timestamp: Any, callback: Any, topic: Any) -> Any:
        promise = self.twin.append_direct(
            self.twin.SentRecord, {"t": self.lane}, topic, value, key, partition, timestamp, callback,
            lambda: 7_000_000, nullcontext(),
        )  # fmt: skip
        return self.shape(promise)

    def append(self, at: int, timestamp: int, key: Any, value: Any, headers: Any, callback: Any) -> Any:
        try:
            promise = self.twin.append_to(
                self.twin.SentRecord, self.batches[at], timestamp, key, value, headers, callback
            )
        except TypeError:
            return TypeError
        return self.shape(promise)

    def shape(self, promise: Any) -> Any:
        if promise is None:
            return None
        at = self.batches.index(promise.batch)
        return at, promise.index, promise.timestamp, promise.key_size, promise.value_size, promise.delivered

    def state(self) -> Any:
        return [
            (bytes(b.buffer), b.record_count, b.open, [(i, callback) for i, callback, _ in b.callbacks])
            for b in self.batches
        ]


@pytest.mark.skipif(len(TWINS) < 2, reason="no C extension here")
@given(st.lists(rows, max_size=30), st.integers(61, 600), st.integers(0, 30))
def test_both_put_the_same_records_into_the_same_batches(records: list[Any], limit: int, close_at: int) -> None:
    pure, native = (Lane(twin, limit) for twin in TWINS)
    told = object()
    for number, (key, value, partition, timestamp, wants_call, topic) in enumerate(records):
        if number == close_at:
            for lane in (pure, native):
                lane.batches[1].open = False
        row = (key, value, partition, timestamp, told if wants_call else None, topic)
        assert pure.send(*row) == native.send(*row)
    assert pure.state() == native.state()


@pytest.mark.skipif(len(TWINS) < 2, reason="no C extension here")
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 2**40), contents, contents,
            st.sampled_from([None, [], [("h", b"v")], [("name", None), ("x", b"y")]]), st.booleans(),
        ),
        max_size=20,
    )
)  # fmt: skip
def test_both_append_alike_the_long_way(records: list[Any]) -> None:
    pure, native = (Lane(twin, 500) for twin in TWINS)
    told = object()
    for at, timestamp, key, value, headers, wants_call in records:
        row = (at, timestamp, key, value, headers, told if wants_call else None)
        assert pure.append(*row) == native.append(*row)
    assert pure.state() == native.state()


@pytest.mark.parametrize("twin", TWINS)
def test_a_delivered_promise_says_so_and_no_other(twin: Implementation) -> None:
    lane = Lane(twin, 500)
    batch = lane.batches[0]
    promise = twin.append_to(twin.SentRecord, batch, 1, None, b"v", None, None)
    assert promise is not None
    assert not promise.delivered
    for delivery, delivered in (
        (Delivery(5), True),
        (Delivery(error=KafkaError("no")), False),
        (Delivery(5, record_errors={0: KafkaError("this one")}), False),
    ):
        batch.delivery = delivery
        assert promise.delivered is delivered


@pytest.mark.parametrize("twin", TWINS)
def test_a_batch_that_is_closed_while_a_record_is_made_takes_it_no_more(twin: Implementation) -> None:
    lane = Lane(twin, 500)
    batch = lane.batches[0]

    class Name(str):
        def encode(self, *args: Any, **keywords: Any) -> bytes:
            batch.open = False  # as another thread might, right in the middle
            return super().encode(*args, **keywords)

    headers = [(Name("h"), b"v")]
    before = bytes(batch.buffer)
    promise = twin.append_to(twin.SentRecord, batch, 1, None, b"v", headers, None)
    if not batch.open:  # whoever does not call encode() cannot be interrupted there
        assert (promise is None) == (bytes(batch.buffer) == before)


def accumulator(buffer_bytes: int = 1 << 20, batch_bytes: int = 1024) -> RecordAccumulator:
    settings = AccumulatorSettings(batch_bytes, 0.0, buffer_bytes, 120.0, 0.1, 1.0, max_block_s=20.0)
    return RecordAccumulator(settings, clock=SystemClock(), random=random.Random(3), wake_sender=lambda: None)


class OneLeader:
    def leader(self, topic_partition: TopicPartition) -> tuple[int, int]:
        return 1, 1


@pytest.mark.timeout(60)
def test_threads_that_append_directly_while_the_sender_drains_lose_and_tear_nothing() -> None:
    """Four threads append the short way, a fifth drains all the time: every record is in a batch exactly once, under
    the index its promise has, and no batch changes after it was drained."""
    door = accumulator()
    topic = door.topic("t", Partitions(3, (0, 1, 2)))
    append = accel.active.append_direct
    per_thread, finished, promises = 5000, threading.Event(), [[] for _ in range(4)]  # type: ignore[var-annotated]
    called: list[int] = []

    def fill(number: int) -> None:
        source = random.Random(11 + number)
        for count in range(per_thread):
            value = b"%d %d" % (number, count)
            key = None if source.random() < 0.5 else b"%d" % source.randrange(100)
            callback: Callable[..., None] | None = None if count % 7 else (lambda metadata, error: called.append(1))
            future = append(
                RecordFuture, {"t": topic.lane}, "t", value, key, None, None, callback, SystemClock.wall_ns, door.lock
            )
            if future is None:
                partition = None if key is None else source.randrange(3)
                future = door.append(topic, partition, 1, key, value, None, callback)
            promises[number].append((value, future))

    drained: list[tuple[Any, bytes | memoryview, int]] = []

    def drain() -> None:
        while True:
            last = finished.is_set()
            for _, batches in door.drain(OneLeader(), {1: 5}, 1e9, 1 << 20)[0]:
                for batch in batches:
                    count = batch.record_count
                    sealed = batch_builder.seal(batch.buffer)
                    drained.append((batch, sealed, count))
                    assert batch.record_count == count == batch_builder.record_count(batch.buffer)
                    batch.in_flight = False
                    for _, callback, _ in door.settle(batch, Delivery(0)):
                        callback(None, None)
            if last and not door.has_incomplete:
                return

    sender = threading.Thread(target=drain)
    threads = [threading.Thread(target=fill, args=(number,)) for number in range(4)]
    for thread in [sender, *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    finished.set()
    sender.join()
    values: dict[Any, list[Any]] = {}
    for batch, sealed, count in drained:
        header = read_header(sealed)
        assert header is not None
        values[batch] = [record.value for record in decode_batch(sealed, header, "t", 0, check_crc=False)]
        assert len(values[batch]) == count
    assert sum(map(len, values.values())) == 4 * per_thread
    for sent in promises:
        assert all(values[future.batch][future.index] == value for value, future in sent)
    assert len(called) == 4 * len(range(0, per_thread, 7))
    assert door.available_bytes == 1 << 20


class Watched:
    """Something of the user's that a leak would keep."""


def fail_one(door: RecordAccumulator) -> RecordFuture:
    topic = door.topic("t", Partitions(1, (0,)))
    future = door.append(topic, 0, 1, None, b"v", None, None)
    door.close()
    (batch,) = door.undrained()
    door.settle(batch, Delivery(error=DeliveryTimedOut("too late", topic="t", partition=0)))
    return future


def test_an_error_that_was_raised_keeps_no_frame_alive() -> None:
    """error -> traceback -> frame -> future -> batch -> error would be a circle that nobody could break."""
    seen: list[weakref.ref[Watched]] = []

    def use() -> None:
        watched, futures = Watched(), [fail_one(accumulator())]
        seen.append(weakref.ref(watched))
        with pytest.raises(DeliveryTimedOut, match="too late"):
            futures[0].result(0)
        error = futures[0].exception()
        assert error is not None
        with pytest.raises(DeliveryTimedOut, match="partition 0"):
            raise error

    use()
    gc.collect()
    assert seen[0]() is None


def test_a_future_that_is_kept_does_not_keep_its_producer() -> None:
    door = accumulator()
    future, alive = fail_one(door), weakref.ref(door)
    assert future.done()
    del door
    gc.collect()
    assert alive() is None
    assert isinstance(future.exception(), DeliveryTimedOut)


@pytest.mark.skipif(not accel.accelerated, reason="the pure twin's futures are tuples")
def test_futures_are_no_work_for_the_garbage_collector() -> None:
    door = accumulator(batch_bytes=100_000)
    topic = door.topic("t", Partitions(1, (0,)))
    futures = [door.append(topic, 0, 1, None, b"v", None, None) for _ in range(100)]
    assert not any(map(gc.is_tracked, futures))
    assert len({*futures}) == 100
