"""Parallel processing: what may be committed, which worker gets what, retries and dead letters; without a cluster."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykclient.consumer.parallel import FinishedOffsets, ParallelProcessor, ProcessSettings, tell
from pykclient.consumer.records import PolledRecords
from pykclient.errors import DeserializationError, UsageError
from pykclient.types import ConsumerRecord, OffsetAndMetadata, TimestampType, TopicPartition

WHERE = TopicPartition("t", 0)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_only_an_unbroken_row_of_finished_records_is_committable(gaps: list[int], chance: random.Random) -> None:
    offsets = [10 + sum(gaps[:index]) for index in range(len(gaps))]
    finished = FinishedOffsets(offsets[0])
    for offset in offsets:
        finished.begin(offset)
    assert finished.committable == offsets[0]
    order = list(offsets)
    chance.shuffle(order)
    done: set[int] = set()
    for offset in order:
        finished.finish(offset)
        done.add(offset)
        first_open = next((each for each in offsets if each not in done), None)
        assert finished.committable == (offsets[-1] + 1 if first_open is None else first_open)
        assert finished.in_hand == sum(1 for each in offsets if first_open is not None and each >= first_open)


class Clock:
    def now(self) -> float:
        return time.monotonic()

    def wall_ms(self) -> int:
        return 0


class FakeConsumer:
    """Gives what it is told to, a few at a time."""

    def __init__(self, records: list[ConsumerRecord[Any, Any]]) -> None:
        self.left = list(records)
        self.commits: list[dict[TopicPartition, int]] = []
        self.paused_now: set[TopicPartition] = set()
        self.sought: dict[TopicPartition, int] = {}

    def poll(self, timeout: float, max_records: int) -> PolledRecords:
        if self.paused_now or not self.left:
            time.sleep(0.001)
            return PolledRecords()
        count = min(5, max_records)
        some, self.left = self.left[:count], self.left[count:]
        found = PolledRecords()
        for each in some:
            found.setdefault(TopicPartition(each.topic, each.partition), []).append(each)
        return found

    def assignment(self) -> set[TopicPartition]:
        return {TopicPartition("t", number) for number in range(3)}

    def pause(self, partitions: Collection[TopicPartition]) -> None:
        self.paused_now = set(partitions)

    def resume(self, partitions: Collection[TopicPartition]) -> None:
        self.paused_now -= set(partitions)

    def paused(self) -> set[TopicPartition]:
        return self.paused_now

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.sought[partition] = offset

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self.commits.append({tp: offset.offset for tp, offset in offsets.items()})


def settings(**changes: Any) -> ProcessSettings:
    standard: dict[str, Any] = {
        "workers": 4, "ordering": "key", "on_error": "raise", "retries": 2, "retry_backoff_s": 0.001,
        "retry_backoff_max_s": 0.01, "in_flight_max": 10, "commit_interval_s": 0.01, "dead_letter_producer": None,
        "dead_letter_topic": None,
    }  # fmt: skip
    return ProcessSettings(**(standard | changes))


def records(count: int, partitions: int = 3) -> list[ConsumerRecord[Any, Any]]:
    return [
        ConsumerRecord(
            "t", value % partitions, value // partitions, 1, TimestampType.CREATE_TIME,
            b"key%d" % (value % 7 % 5), b"%d" % value, [], 0,
        )
        for value in range(count)
    ]  # fmt: skip


def run(
    consumer: FakeConsumer,
    handler: Callable[[Any], Any],
    total: int,
    also: Callable[[], object] = lambda: True,
    **changes: Any,
) -> list[bytes]:
    done: list[bytes] = []
    lock = threading.Lock()

    def count(record: Any) -> None:
        handler(record)
        with lock:
            done.append(record.value)

    processor = ParallelProcessor(consumer, count, settings(**changes), Clock(), 5.0)  # type: ignore[arg-type]
    processor.run(lambda: len(done) >= total and bool(also()))
    return done


@pytest.mark.parametrize("ordering", ["key", "partition", "none"])
def test_every_record_is_handled_once_in_its_order_and_committed(ordering: str) -> None:
    consumer = FakeConsumer(records(60))
    chance = random.Random(1)
    busy: defaultdict[Any, int] = defaultdict(int)
    seen: defaultdict[Any, list[int]] = defaultdict(list)

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        lane = record.key if ordering == "key" else record.partition
        busy[lane] += 1
        if ordering != "none":
            assert busy[lane] == 1, "one at a time"
        time.sleep(chance.random() / 500)
        seen[record.partition if ordering == "partition" else (record.key, record.partition)].append(record.offset)
        busy[lane] -= 1

    done = run(consumer, handler, 60, ordering=ordering)
    assert sorted(map(int, done)) == list(range(60))
    if ordering != "none":
        assert all(row == sorted(row) for row in seen.values())
    last = {tp: offset for commit in consumer.commits for tp, offset in commit.items()}
    assert last == {TopicPartition("t", number): 20 for number in range(3)}


def test_a_failure_stops_and_commits_only_up_to_it() -> None:
    consumer = FakeConsumer(records(20, partitions=1))

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        if record.offset == 7:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        run(consumer, handler, 20, ordering="partition")
    assert consumer.commits[-1] == {WHERE: 7}
    assert consumer.sought == {WHERE: 7}, "what was not done comes again"


def test_a_passing_failure_is_tried_again() -> None:
    consumer = FakeConsumer(records(10, partitions=1))
    attempts: defaultdict[int, int] = defaultdict(int)

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        attempts[record.offset] += 1
        if record.offset == 3 and attempts[3] < 3:
            raise RuntimeError("not yet")

    run(consumer, handler, 10, on_error="retry")
    assert attempts[3] == 3
    assert consumer.commits[-1] == {WHERE: 10}


def test_stopping_between_two_attempts_leaves_the_record_for_the_next_reader() -> None:
    consumer = FakeConsumer(records(10, partitions=1))
    failed = threading.Event()

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        if record.offset == 4:
            failed.set()
            raise RuntimeError("not yet")

    run(consumer, handler, 9, failed.is_set, on_error="retry", ordering="none", retries=None, retry_backoff_s=60.0)
    assert consumer.commits[-1] == {WHERE: 4}


class Letters:
    def __init__(self) -> None:
        self.sent: list[tuple[str, Any, Any, list[tuple[str, bytes]]]] = []

    def send(self, topic: str, value: Any = None, key: Any = None, headers: Any = None) -> Letters:
        self.sent.append((topic, value, key, headers))
        return self

    def result(self, timeout: float) -> None:
        pass


def test_what_fails_for_good_is_put_away_with_its_cause_and_counts_as_done() -> None:
    consumer, letters = FakeConsumer(records(10, partitions=1)), Letters()

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        if record.offset == 4:
            raise ValueError("bad order")

    run(consumer, handler, 9, lambda: letters.sent, on_error="dead_letter", dead_letter_producer=letters)
    [(topic, value, key, headers)] = letters.sent
    assert (topic, value, key) == ("t.dead-letters", b"4", b"key4")
    assert dict(headers) == {
        "dead-letter.topic": b"t",
        "dead-letter.partition": b"0",
        "dead-letter.offset": b"4",
        "dead-letter.error": b"ValueError: bad order",
    }
    assert consumer.commits[-1] == {WHERE: 10}


class Unreadable(FakeConsumer):
    """Cannot read the record at offset 5."""

    def poll(self, timeout: float, max_records: int) -> PolledRecords:
        if self.left and self.left[0].offset == 5:
            error = DeserializationError("bad", origin="value", topic="t", partition=0, offset=5)
            error.raw_key, error.raw_value = b"k", b"raw"
            raise error
        return super().poll(timeout, max_records)

    def seek(self, where: TopicPartition, offset: int) -> None:
        self.left = [each for each in self.left if each.offset >= offset]


@pytest.mark.parametrize("on_error", ["dead_letter", "retry"])
def test_a_record_that_cannot_be_read_is_put_away_as_it_is_or_stops(on_error: str) -> None:
    consumer, letters = Unreadable(records(10, partitions=1)), Letters()
    if on_error == "retry":
        with pytest.raises(DeserializationError):
            run(consumer, lambda record: None, 9, on_error=on_error)
        assert all(commit[WHERE] <= 5 for commit in consumer.commits)
        return
    run(consumer, lambda record: None, 9, on_error=on_error, dead_letter_producer=letters)
    [(_, value, key, headers)] = letters.sent
    assert (value, key, dict(headers)["dead-letter.offset"]) == (b"raw", b"k", b"5")
    assert consumer.commits[-1] == {WHERE: 10}


def test_no_more_than_the_limit_is_in_hand() -> None:
    consumer = FakeConsumer(records(40, partitions=1))
    waiting, most = 0, 0
    lock = threading.Lock()

    def handler(record: ConsumerRecord[Any, Any]) -> None:
        nonlocal waiting, most
        with lock:
            waiting = len(consumer.left)
            most = max(most, 40 - waiting - record.offset)
        time.sleep(0.001)

    run(consumer, handler, 40, ordering="partition", in_flight_max=10)
    assert most <= 10


@pytest.mark.parametrize(
    "changes",
    [{"workers": 0}, {"ordering": "random"}, {"on_error": "ignore"}, {"on_error": "dead_letter"}],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"process\(\)"):
        settings(**changes)


def test_a_listener_may_lack_what_it_does_not_need() -> None:
    class OnlyRevoked:
        def on_partitions_revoked(self, partitions: Any) -> str:
            return f"{len(partitions)} gone"

    listener: Any = OnlyRevoked()
    assert tell(listener, "on_partitions_revoked", [TopicPartition("t", 0)]) == "1 gone"
    assert tell(listener, "on_partitions_lost", [TopicPartition("t", 0)]) is None
    assert tell(None, "on_partitions_assigned", []) is None
