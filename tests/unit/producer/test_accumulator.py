"""Where records wait: what is ready when, in which order it leaves, and that memory always comes back."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from pykclient.errors import BufferExhausted, ClientClosed, RecordTooLarge
from pykclient.producer.accumulator import RecordAccumulator
from pykclient.producer.batch import Delivery, ProducerBatch, RecordFuture
from pykclient.producer.partitioners import Partitions
from pykclient.producer.queues import AccumulatorSettings, TopicQueues
from pykclient.producer.splitting import split
from pykclient.types import TopicPartition


class HandClock:
    """Time moves when told."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def wall_ms(self) -> int:
        return int(self.time * 1000)


class FakeLeaders:
    """Partition p is led by node ``p % nodes`` unless set otherwise."""

    def __init__(self, nodes: int = 1) -> None:
        self.nodes = nodes
        self.moved: dict[TopicPartition, tuple[int, int] | None] = {}

    def leader(self, topic_partition: TopicPartition) -> tuple[int, int] | None:
        return self.moved.get(topic_partition, (topic_partition.partition % self.nodes, 1))


class Bench:
    """An accumulator with a clock in hand."""

    def __init__(self, *, partitions: int = 3, nodes: int = 1, **settings: float) -> None:
        values: dict[str, float] = {
            "batch_bytes": 256, "linger_s": 0.005, "buffer_bytes": 2048, "delivery_timeout_s": 120.0,
            "retry_backoff_s": 0.1, "retry_backoff_max_s": 1.0,
        } | settings  # fmt: skip
        self.clock = HandClock()
        self.wakes = 0
        self.leaders = FakeLeaders(nodes)
        self.accumulator = RecordAccumulator(
            AccumulatorSettings(**values),  # type: ignore[arg-type]
            clock=self.clock,
            random=random.Random(1),
            wake_sender=self._woken,
        )
        self.topic: TopicQueues = self.accumulator.topic("t", Partitions(partitions, tuple(range(partitions))))

    def _woken(self) -> None:
        self.wakes += 1

    def send(self, value: bytes = b"v", partition: int | None = 0, block_s: float = 0.0) -> RecordFuture:
        return self.accumulator.append(
            self.topic, partition, 1, None, value, None, None, deadline=self.clock.now() + block_s
        )

    def drain(self, request_bytes_max: int = 1 << 20) -> dict[int, list[ProducerBatch]]:
        now = self.clock.now()
        ready = self.accumulator.ready(self.leaders, now)
        rooms = dict.fromkeys(ready.nodes, 1)
        return dict(self.accumulator.drain(self.leaders, rooms, now, request_bytes_max)[0])

    def deliver(self, batch: ProducerBatch, base_offset: int = 0) -> None:
        batch.in_flight = False
        self.accumulator.settle(batch, Delivery(base_offset))


def test_a_batch_leaves_after_its_linger_time_and_not_before() -> None:
    bench = Bench()
    bench.send()
    ready = bench.accumulator.ready(bench.leaders, bench.clock.now())
    assert ready.nodes == set()
    assert ready.wake_at == pytest.approx(bench.clock.now() + 0.005)
    bench.clock.time += 0.005
    assert [batch.record_count for batch in bench.drain()[0]] == [1]


def test_a_full_batch_leaves_at_once() -> None:
    bench = Bench()
    for _ in range(4):
        bench.send(b"x" * 60)
    assert [batch.record_count for batch in bench.drain()[0]] == [2]


def test_flushing_lets_everything_go_and_waits_for_it() -> None:
    bench = Bench()
    future = bench.send()
    undelivered = -1

    def flush() -> None:
        nonlocal undelivered
        undelivered = bench.accumulator.flush(10.0)

    thread = threading.Thread(target=flush)
    thread.start()
    batches: list[ProducerBatch] = []
    while not batches:
        batches = [batch for drained in bench.drain().values() for batch in drained]
    assert not future.done()
    bench.deliver(batches[0], 7)
    thread.join(10)
    assert undelivered == 0
    assert future.result(0).offset == 7


def test_memory_that_runs_out_makes_lingering_batches_leave() -> None:
    bench = Bench(buffer_bytes=512)
    bench.send(partition=0)
    bench.send(partition=1)
    waiting = threading.Thread(target=lambda: bench.send(partition=2, block_s=1000))
    waiting.start()
    while not bench.accumulator.waiting_threads:
        pass
    drained = bench.drain()[0]
    assert len(drained) == 2
    bench.deliver(drained[0])
    waiting.join(10)
    assert not waiting.is_alive()


def test_the_one_who_waits_too_long_is_told_how_much_is_held() -> None:
    bench = Bench(buffer_bytes=512)
    bench.send(partition=0)
    bench.send(partition=1)
    with pytest.raises(BufferExhausted, match="512 of buffer_memory 512"):
        bench.send(partition=2)
    assert bench.accumulator.waiting_threads == 0


def test_closing_wakes_those_who_wait_for_memory() -> None:
    bench = Bench(buffer_bytes=256)
    bench.send(partition=0)
    caught: list[BaseException] = []

    def waits() -> None:
        try:
            bench.send(partition=1, block_s=1000)
        except ClientClosed as error:
            caught.append(error)

    thread = threading.Thread(target=waits)
    thread.start()
    while not bench.accumulator.waiting_threads:
        pass
    bench.accumulator.close()
    thread.join(10)
    assert len(caught) == 1
    with pytest.raises(ClientClosed):
        bench.send(partition=0)


def test_a_record_larger_than_a_batch_gets_a_buffer_of_its_own() -> None:
    bench = Bench()
    future = bench.send(b"x" * 1000)
    bench.clock.time += 1
    [batch] = bench.drain()[0]
    assert future.batch is batch
    bench.deliver(batch)
    assert bench.accumulator.available_bytes == 2048


def test_a_record_larger_than_all_memory_is_refused_and_harms_nobody() -> None:
    bench = Bench()
    bench.send(b"small")
    with pytest.raises(RecordTooLarge, match="buffer_memory"):
        bench.send(b"x" * 3000)
    bench.clock.time += 1
    assert [batch.record_count for batch in bench.drain()[0]] == [1]


def test_each_request_takes_one_batch_per_partition_and_starts_at_another_partition() -> None:
    bench = Bench(partitions=3, buffer_bytes=100_000)
    firsts = []
    for _ in range(12):
        for partition in range(3):
            bench.send(b"x" * 150, partition)
    for _ in range(3):
        drained = bench.drain(request_bytes_max=300)[0]
        assert len({batch.topic_partition for batch in drained}) == len(drained)
        firsts.append(drained[0].topic_partition.partition)
    assert len(set(firsts)) == 3


def test_a_muted_partition_holds_back_and_others_go() -> None:
    bench = Bench()
    bench.send(partition=0)
    bench.send(partition=1)
    bench.clock.time += 1
    bench.accumulator.mute(TopicPartition("t", 0), True)
    assert [batch.topic_partition.partition for batch in bench.drain()[0]] == [1]
    bench.accumulator.mute(TopicPartition("t", 0), False)
    assert [batch.topic_partition.partition for batch in bench.drain()[0]] == [0]


def test_a_retried_batch_waits_for_its_back_off_and_goes_first() -> None:
    bench = Bench()
    bench.send(b"first")
    bench.clock.time += 1
    [batch] = bench.drain()[0]
    bench.send(b"second")
    bench.accumulator.reenqueue(batch, bench.clock.now())
    bench.clock.time += 0.05
    assert bench.drain() == {}
    bench.clock.time += 0.1
    assert bench.drain()[0] == [batch]


def test_a_new_leader_ends_the_back_off() -> None:
    bench = Bench()
    bench.send()
    bench.clock.time += 1
    [batch] = bench.drain()[0]
    bench.accumulator.reenqueue(batch, bench.clock.now())
    assert bench.drain() == {}
    bench.leaders.moved[TopicPartition("t", 0)] = (5, 2)
    assert bench.drain() == {5: [batch]}


def test_retried_batches_return_in_sequence_order_even_when_numbers_wrap() -> None:
    bench = Bench(buffer_bytes=100_000)
    batches: list[ProducerBatch] = []
    for sequence in (0x7FFFFFFE, 0x7FFFFFFF, 0, 1):
        bench.send()
        bench.clock.time += 1
        [batch] = bench.drain()[0]
        batch.base_sequence = sequence
        batches.append(batch)
    for batch in (batches[2], batches[0], batches[3], batches[1]):
        bench.accumulator.reenqueue(batch, bench.clock.now())
    assert bench.accumulator.undrained() == batches


def test_a_topic_without_a_leader_is_reported() -> None:
    bench = Bench()
    bench.leaders.moved[TopicPartition("t", 0)] = None
    bench.send()
    assert bench.accumulator.ready(bench.leaders, bench.clock.now()).leaderless_topics == {"t"}


def test_expired_batches_come_out_oldest_first_and_their_memory_returns() -> None:
    bench = Bench(delivery_timeout_s=10.0)
    first = bench.send(b"x" * 180)
    bench.clock.time += 5
    second = bench.send(b"x" * 180)
    bench.clock.time += 5
    assert [batch is first.batch for batch in bench.accumulator.expire(bench.clock.now())] == [True]
    bench.clock.time += 5
    assert [batch is second.batch for batch in bench.accumulator.expire(bench.clock.now())] == [True]


def test_a_batch_on_the_wire_keeps_its_buffer_until_it_is_off_it() -> None:
    bench = Bench()
    bench.send()
    bench.clock.time += 1
    [batch] = bench.drain()[0]
    bench.accumulator.settle(batch, Delivery(error=TimeoutError()))
    assert bench.accumulator.available_bytes == 2048 - 256
    bench.accumulator.release(batch)
    assert bench.accumulator.available_bytes == 2048


def test_records_without_a_partition_spread_evenly_over_full_batches() -> None:
    bench = Bench(partitions=4, buffer_bytes=10_000_000)
    counts = dict.fromkeys(range(4), 0)
    for _ in range(4000):
        future = bench.send(b"x" * 50, None)
        counts[future.batch.topic_partition.partition] += 1
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_split_parts_take_over_futures_and_callbacks() -> None:
    bench = Bench(batch_bytes=2048, buffer_bytes=8192)
    seen: list[int] = []

    def note(index: int) -> Callable[[object, object], None]:
        return lambda metadata, error: seen.append(index)

    futures = [
        bench.accumulator.append(bench.topic, 0, index, None, b"x" * 100, None, note(index), deadline=0.0)
        for index in range(15)
    ]
    bench.clock.time += 1
    [batch] = bench.drain()[0]
    parts = split(batch, 512, bench.accumulator)
    bench.accumulator.replace(batch, parts)
    assert [part.record_count for _, part in parts] == [4, 4, 4, 3]
    offset = 1000
    for _, part in parts:
        for _index, callback, _future in bench.accumulator.settle(part, Delivery(offset)):
            callback(None, None)
        offset += 100
    assert [future.result(0).offset for future in futures] == [
        1000, 1001, 1002, 1003, 1100, 1101, 1102, 1103, 1200, 1201, 1202, 1203, 1300, 1301, 1302,
    ]  # fmt: skip
    assert seen == list(range(15))
    assert bench.accumulator.available_bytes == 8192


def test_random_traffic_ends_with_all_memory_free() -> None:
    chance = random.Random(20261116)
    bench = Bench(partitions=4, nodes=2, buffer_bytes=4096, delivery_timeout_s=5.0)
    out: list[ProducerBatch] = []
    for _ in range(5000):
        match chance.randrange(5):
            case 0 | 1:
                try:
                    bench.send(bytes(chance.randrange(700)), chance.choice([None, 0, 1, 2, 3]))
                except BufferExhausted:
                    bench.clock.time += 0.5
            case 2:
                bench.clock.time += chance.random() * 0.2
                for drained in bench.drain(1000).values():
                    out += drained
            case 3 if out:
                batch = out.pop(chance.randrange(len(out)))
                match chance.randrange(4):
                    case 0:
                        bench.accumulator.reenqueue(batch, bench.clock.now())
                    case 1 if batch.record_count > 1:
                        bench.accumulator.replace(batch, split(batch, 128, bench.accumulator))
                    case 2:
                        bench.accumulator.settle(batch, Delivery(error=OSError()))
                        bench.accumulator.release(batch)
                    case _:
                        bench.deliver(batch)
            case _:
                for batch in bench.accumulator.expire(bench.clock.now()):
                    bench.accumulator.settle(batch, Delivery(error=TimeoutError()))
    for batch in [*out, *bench.accumulator.undrained()]:
        bench.deliver(batch)
    assert not bench.accumulator.has_incomplete
    assert bench.accumulator.available_bytes == 4096


def test_the_sender_is_woken_only_when_there_is_something_to_do() -> None:
    bench = Bench(buffer_bytes=1 << 16)
    now = bench.clock.now()
    bench.send()
    assert bench.wakes == 1, "it must learn of the first batch, or nobody looks when its linger time is over"
    bench.accumulator.ready(bench.leaders, now)
    bench.send(partition=1)
    assert bench.wakes == 1, "it looks in time for the second one anyway"
    for _ in range(4):
        bench.send(b"x" * 60)
    assert bench.wakes == 2, "a full batch can go"
    assert len(bench.drain()[0]) == 2
    for _ in range(8):
        bench.send(b"x" * 60)
        bench.send(b"x" * 60, partition=1)
    assert bench.wakes == 2, "the node has its one request: the answer makes the Sender look"
    bench.accumulator.ready(bench.leaders, now, {0})
    bench.send(b"x" * 200)
    assert bench.wakes == 2, "still no answer"
    bench.accumulator.ready(bench.leaders, now)
    bench.send(b"x" * 200)
    assert bench.wakes == 3, "now there is room again"


def test_a_flush_wakes_the_sender_for_what_is_sent_meanwhile() -> None:
    bench = Bench()
    bench.send()
    bench.accumulator.ready(bench.leaders, bench.clock.now())
    bench.accumulator.flush_soon(lambda: None)
    before = bench.wakes
    bench.send(partition=1)
    assert bench.wakes == before + 1, "nothing lingers while a flush waits"
