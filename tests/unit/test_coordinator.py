"""The coordinator runtime: replies after commit, load by replay, resignation, timers, transactions."""

from __future__ import annotations

import pytest

from pykclient.broker.coordinator import (
    CoordinatorRecord,
    CoordinatorRuntime,
    Position,
    Result,
    ShardState,
    ShardTimers,
    coordinator_error,
)
from pykclient.errors import (
    BrokerError,
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    InvalidGroupId,
    KafkaStorageError,
    MessageTooLarge,
    NotCoordinator,
    NotEnoughReplicas,
    NotLeaderOrFollower,
    ProtocolError,
    RequestTimedOut,
    UnknownTopicOrPartition,
)
from pykclient.net.completion import Completion
from tests.unit.broker_fakes import FakeLog, FakeTimers

TOPIC = "__words"


class WordShard:
    """A map from word to text; transactional words count after their marker."""

    def __init__(self, partition: int, timers: ShardTimers) -> None:
        self.partition = partition
        self.timers = timers
        self.words: dict[bytes, bytes] = {}
        self.open: dict[int, dict[bytes, bytes]] = {}
        self.sequences: list[int] = []
        self.loaded_at: float | None = None
        self.unloaded = False

    def replay(self, record: CoordinatorRecord, position: Position) -> None:
        self.sequences.append(position.sequence)
        if position.producer_id >= 0:
            self.open.setdefault(position.producer_id, {})[record.key] = record.value or b""
        elif record.value is None:
            self.words.pop(record.key, None)
        else:
            self.words[record.key] = record.value

    def end_transaction(self, *, producer_id: int, producer_epoch: int, committed: bool) -> None:
        pending = self.open.pop(producer_id, {})
        if committed:
            self.words.update(pending)

    def on_loaded(self, now: float, wall_ms: int) -> None:
        self.loaded_at = now

    def on_unloaded(self) -> None:
        self.unloaded = True

    def put(self, key: bytes, value: bytes | None) -> Result[str]:
        return Result("stored", [CoordinatorRecord(key, value)])


class Bench:
    def __init__(self, *, commit_at_once: bool = True, load_batches_per_step: int = 2000) -> None:
        self.log = FakeLog(commit_at_once=commit_at_once)
        self.timers = FakeTimers()
        self.runtime = self.new_runtime(load_batches_per_step)

    def new_runtime(self, load_batches_per_step: int = 2000) -> CoordinatorRuntime[WordShard]:
        return CoordinatorRuntime(TOPIC, self.log, self.timers, WordShard, load_batches_per_step=load_batches_per_step)

    def elect(self, partition: int = 0, epoch: int = 1) -> None:
        self.runtime.elect(partition, epoch, now=self.timers.now, wall_ms=self.timers.wall_ms)

    def put(self, key: bytes, value: bytes | None, *, producer_id: int = -1) -> Completion[str]:
        return self.runtime.run(
            0,
            lambda shard: shard.put(key, value),
            now=self.timers.now,
            wall_ms=self.timers.wall_ms,
            producer_id=producer_id,
        )

    def get(self, key: bytes) -> Completion[bytes | None]:
        return self.runtime.run(
            0, lambda shard: Result(shard.words.get(key)), now=self.timers.now, wall_ms=self.timers.wall_ms
        )


def test_reply_is_given_once_the_records_are_committed() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    reply = bench.put(b"a", b"1")
    assert not reply.done
    assert bench.runtime.shard(0).words == {b"a": b"1"}, "state moves on before the commit"
    bench.log.commit()
    assert reply.result() == "stored"


def test_a_read_waits_for_the_writes_it_has_seen() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    bench.put(b"a", b"1")
    read = bench.get(b"a")
    assert not read.done
    bench.log.commit()
    assert read.result() == b"1"


def test_reply_that_is_itself_pending_is_given_when_both_are_there() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    inner: Completion[str] = Completion()
    outer: Completion[str] = bench.runtime.run(
        0, lambda shard: Result(inner, [CoordinatorRecord(b"a", b"1")]), now=1.0, wall_ms=1000
    )
    inner.succeed("joined")
    assert not outer.done
    bench.log.commit()
    assert outer.result() == "joined"
    late: Completion[str] = Completion()
    outer = bench.runtime.run(0, lambda shard: Result(late), now=1.0, wall_ms=1000)
    assert not outer.done
    late.succeed("later")
    assert outer.result() == "later"


def test_an_operation_that_raises_fails_its_reply_and_writes_nothing() -> None:
    bench = Bench()
    bench.elect()

    def refuse(shard: WordShard) -> Result[str]:
        raise InvalidGroupId("no")

    assert isinstance(bench.runtime.run(0, refuse, now=1.0, wall_ms=1).error, InvalidGroupId)
    assert bench.log.records(TOPIC, 0) == []


def test_a_refused_append_leaves_the_state_alone_and_tells_the_operation() -> None:
    bench = Bench()
    bench.elect()
    bench.log.fail_next = NotEnoughReplicas("isr")
    heard: list[BaseException | None] = []
    reply = bench.runtime.run(
        0,
        lambda shard: Result("x", [CoordinatorRecord(b"a", b"1")], on_written=heard.append),
        now=1.0,
        wall_ms=1,
    )
    assert isinstance(reply.error, CoordinatorNotAvailable)
    assert isinstance(heard[0], CoordinatorNotAvailable)
    assert bench.runtime.shard(0).words == {}


def test_on_written_is_called_after_commit_and_before_the_reply() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    order: list[str] = []
    reply = bench.runtime.run(
        0,
        lambda shard: Result("x", [CoordinatorRecord(b"a", b"1")], on_written=lambda error: order.append("written")),
        now=1.0,
        wall_ms=1,
    )
    reply.add_callback(lambda _: order.append("reply"))
    assert order == []
    bench.log.commit()
    assert order == ["written", "reply"]


def test_records_without_replay_are_only_written() -> None:
    bench = Bench()
    bench.elect()
    operation = lambda shard: Result("x", [CoordinatorRecord(b"a", b"1")], replay=False)  # noqa: E731
    assert bench.runtime.run(0, operation, now=1.0, wall_ms=1).result() == "x"
    assert bench.runtime.shard(0).words == {}
    assert bench.log.records(TOPIC, 0) == [CoordinatorRecord(b"a", b"1")]
    bench.put(b"b", b"2")
    assert bench.runtime.shard(0).sequences == [2], "sequences count all records of the log"


def test_a_new_leader_rebuilds_the_state_from_the_log() -> None:
    bench = Bench()
    bench.elect()
    for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", None)):
        bench.put(key, value)
    before = bench.runtime.shard(0).words
    bench.runtime = bench.new_runtime()
    bench.elect(epoch=2)
    assert bench.runtime.shard(0).words == before == {b"a": b"3"}
    assert bench.runtime.shard(0).loaded_at == bench.timers.now


def test_requests_are_refused_with_load_in_progress_while_a_long_log_is_loaded() -> None:
    bench = Bench()
    bench.elect()
    for index in range(5):
        bench.put(b"k%d" % index, b"v")
    bench.runtime = bench.new_runtime(load_batches_per_step=2)
    bench.elect(epoch=2)
    assert bench.runtime.state(0) is ShardState.LOADING
    assert isinstance(bench.get(b"k0").error, CoordinatorLoadInProgress)
    bench.timers.advance(0)
    assert bench.runtime.state(0) is ShardState.ACTIVE
    assert len(bench.runtime.shard(0).words) == 5


def test_resigning_while_loading_stops_the_load() -> None:
    bench = Bench()
    bench.elect()
    for index in range(5):
        bench.put(b"k%d" % index, b"v")
    bench.runtime = bench.new_runtime(load_batches_per_step=2)
    bench.elect(epoch=2)
    bench.runtime.resign(0)
    bench.timers.advance(1)
    assert bench.runtime.state(0) is None


def test_resigning_fails_what_waits_with_not_coordinator() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    shard = bench.runtime.shard(0)
    inner: Completion[str] = Completion()
    held: Completion[str] = bench.runtime.run(0, lambda shard: Result(inner), now=1.0, wall_ms=1)
    write = bench.put(b"a", b"1")
    bench.runtime.resign(0)
    assert isinstance(held.error, NotCoordinator)
    assert isinstance(write.error, NotCoordinator)
    assert shard.unloaded
    bench.log.commit()
    inner.succeed("nobody listens")
    assert isinstance(bench.get(b"a").error, NotCoordinator)


def test_an_older_leader_epoch_changes_nothing_and_a_newer_one_loads_again() -> None:
    bench = Bench()
    bench.elect(epoch=5)
    shard = bench.runtime.shard(0)
    bench.elect(epoch=5)
    bench.elect(epoch=4)
    assert bench.runtime.shard(0) is shard
    bench.elect(epoch=6)
    assert bench.runtime.shard(0) is not shard
    assert shard.unloaded


def test_a_log_that_cannot_be_read_leaves_the_partition_failed_until_the_next_election() -> None:
    bench = Bench()

    def broken(topic: str, partition: int) -> list[object]:
        raise KafkaStorageError("disk")

    read_all = bench.log.read_all
    bench.log.read_all = broken  # type: ignore[method-assign, assignment]
    bench.elect(epoch=1)
    assert bench.runtime.state(0) is ShardState.FAILED
    assert isinstance(bench.get(b"a").error, NotCoordinator)
    bench.log.read_all = read_all  # type: ignore[method-assign]
    bench.elect(epoch=1)
    assert bench.runtime.state(0) is ShardState.ACTIVE


def test_a_record_that_makes_no_sense_leaves_the_partition_failed() -> None:
    bench = Bench()
    bench.elect()
    bench.put(b"a", b"1")
    bench.put(b"bad", b"1")
    runtime = bench.new_runtime()

    class Strict(WordShard):
        def replay(self, record: CoordinatorRecord, position: Position) -> None:
            if record.key == b"bad":
                raise ProtocolError("nonsense")
            super().replay(record, position)

    runtime._shard_factory = Strict
    bench.runtime = runtime
    bench.elect(epoch=2)
    assert runtime.state(0) is ShardState.FAILED
    assert isinstance(bench.get(b"a").error, NotCoordinator)


def test_timers_run_operations_and_vanish_with_the_leadership() -> None:
    bench = Bench()
    bench.elect()
    shard = bench.runtime.shard(0)
    seen: list[tuple[float, int]] = []

    def expire(now: float, wall_ms: int) -> Result[None]:
        seen.append((now, wall_ms))
        return Result(None, [CoordinatorRecord(b"timer", b"ran")])

    shard.timers.schedule("t", 5.0, expire)
    assert shard.timers.scheduled("t")
    bench.timers.advance(4.9)
    assert seen == []
    bench.timers.advance(0.2)
    assert seen == [(1005.0, 1_700_000_000_000 + 1_005_000)]
    assert bench.runtime.shard(0).words == {b"timer": b"ran"}
    assert not shard.timers.scheduled("t")
    shard.timers.schedule("u", 5.0, expire)
    bench.runtime.resign(0)
    bench.timers.advance(10)
    assert len(seen) == 1


def test_transactional_records_count_after_their_marker_live_and_at_load() -> None:
    bench = Bench()
    bench.elect()
    bench.put(b"kept", b"1", producer_id=7)
    bench.put(b"dropped", b"1", producer_id=8)
    bench.put(b"open", b"1", producer_id=9)
    assert bench.runtime.shard(0).words == {}
    for producer_id, committed in ((7, True), (8, False)):
        bench.log.append_marker(
            TOPIC,
            0,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
            committed=committed,
            now=1.0,
            wall_ms=1,
        )
        bench.runtime.end_transaction(0, producer_id=producer_id, producer_epoch=0, committed=committed)
    assert bench.runtime.shard(0).words == {b"kept": b"1"}
    live = bench.runtime.shard(0)
    bench.runtime = bench.new_runtime()
    bench.elect(epoch=2)
    loaded = bench.runtime.shard(0)
    assert (loaded.words, loaded.open) == (live.words, live.open)


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (UnknownTopicOrPartition("x"), CoordinatorNotAvailable),
        (NotEnoughReplicas("x"), CoordinatorNotAvailable),
        (RequestTimedOut("x"), CoordinatorNotAvailable),
        (NotLeaderOrFollower("x"), NotCoordinator),
        (KafkaStorageError("x"), NotCoordinator),
        (MessageTooLarge("x"), MessageTooLarge),
    ],
)
def test_log_errors_are_told_in_the_coordinators_words(cause: BrokerError, told: type[BrokerError]) -> None:
    assert type(coordinator_error(cause)) is told


def test_a_commit_that_fails_later_fails_the_reply() -> None:
    bench = Bench(commit_at_once=False)
    bench.elect()
    reply = bench.put(b"a", b"1")
    bench.log.commit(RequestTimedOut("slow"))
    assert isinstance(reply.error, CoordinatorNotAvailable)
