"""Positions that are not, or no longer, in the log: what the user is told, where reading goes on, how long to wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykclient.consumer.committed import ANSWER_PATIENCE_S
from pykclient.consumer.fetcher import FetchBuffer
from pykclient.consumer.offsets import EVENTS_MAX, Offsets, OffsetSettings
from pykclient.consumer.subscription import EARLIEST, LATEST, NONE, OutOfRange, Phase, Position, ResetStrategy
from pykclient.errors import LogTruncation, OffsetOutOfRangeError
from pykclient.types import ConsumerGroupMetadata, TopicPartition
from tests.unit.consumer.test_fetcher import SETTINGS

WHERE = TopicPartition("t", 0)


class Bench:
    def __init__(self, reset: ResetStrategy) -> None:
        self.buffer = FetchBuffer(SETTINGS)
        self.leader: tuple[int, int] | None = (1, 0)
        metadata: Any = SimpleNamespace(
            cluster=SimpleNamespace(leader=lambda where: self.leader), request_update=lambda topics=(): None
        )
        self.spawned: list[Any] = []
        settings = OffsetSettings(
            group_id="g", reset=reset, read_committed=False, retry_backoff_s=0.1, retry_backoff_max_s=1.0,
            request_timeout_s=30.0,
        )  # fmt: skip
        clock: Any = SimpleNamespace(now=lambda: 0.0, wall_ms=lambda: 1_000_000)
        coordinators: Any = None
        self.offsets = Offsets(
            settings, self.buffer, metadata, coordinators, clock=clock, spawn=self.spawned.append,
            identity=lambda: ConsumerGroupMetadata("g"), lost_membership=lambda error: None,
        )  # fmt: skip
        self.buffer.subscription.assign([WHERE])
        self.state = self.buffer.subscription.state(WHERE)
        self.state.seek(Position(50, 3))


@pytest.mark.parametrize(
    ("reset", "wanted", "log", "target", "skipped"),
    [
        (EARLIEST, 50, (80, 100), 80, 30),
        (EARLIEST, 500, (80, 100), 80, 0),
        (LATEST, 50, (80, 100), 100, 50),
        (LATEST, 500, (0, 100), 100, 0),
    ],
)
def test_an_event_says_what_was_wanted_what_there_is_and_what_is_skipped(
    reset: ResetStrategy, wanted: int, log: tuple[int, int], target: int, skipped: int
) -> None:
    bench = Bench(reset)
    bench.state.fetch_offset = wanted
    bench.offsets.out_of_range(bench.state)
    assert (bench.state.phase, bench.state.out_of_range_at) == (Phase.RESETTING, wanted)
    assert not bench.offsets.out_of_range_events, "not before the log was looked at"
    bench.offsets._tell_out_of_range(bench.state, wanted, *log)
    assert bench.offsets.out_of_range_events == [OutOfRange(WHERE, wanted, *log, target, skipped)]


def test_without_a_policy_the_user_decides(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(NONE)
    bench.offsets.out_of_range(bench.state)
    bench.offsets._tell_out_of_range(bench.state, 50, 80, 100)
    assert "offset 50 is out of range (the log has 80 to 100)" in caplog.text
    error = bench.state.error
    assert isinstance(error, OffsetOutOfRangeError)
    assert (error.wanted, error.earliest, error.latest) == (50, 80, 100)
    assert bench.state.phase is Phase.STUCK
    assert bench.buffer.attention


def test_events_do_not_pile_up() -> None:
    bench = Bench(EARLIEST)
    for number in range(EVENTS_MAX + 5):
        bench.offsets._tell_out_of_range(bench.state, number, 0, 1)
    assert [len(bench.offsets.out_of_range_events), bench.offsets.out_of_range_events[-1].wanted] == [
        EVENTS_MAX,
        EVENTS_MAX + 4,
    ]


def test_a_truncated_log_is_read_again_from_where_it_parted() -> None:
    bench = Bench(EARLIEST)
    bench.offsets.diverged(bench.state, 2, 45)
    assert bench.state.position == Position(45, 2)
    assert bench.state.phase is Phase.FETCHING


def test_a_truncated_log_without_a_policy_is_the_users_to_decide() -> None:
    bench = Bench(NONE)
    bench.offsets.diverged(bench.state, 2, 45)
    assert isinstance(bench.state.error, LogTruncation)
    assert bench.state.phase is Phase.STUCK


@pytest.mark.parametrize(("epoch", "known", "phase"), [(1, 3, Phase.VALIDATING), (1, None, Phase.FETCHING)])
def test_a_new_leader_is_asked_whether_our_position_is_in_its_log(epoch: int, known: int | None, phase: Phase) -> None:
    bench = Bench(EARLIEST)
    bench.state.position = Position(50, known)
    bench.offsets.poll(0.0)
    assert bench.state.phase is Phase.FETCHING, "the first leader seen is no new one"
    bench.leader = (2, epoch)
    bench.offsets.poll(0.0)
    assert bench.state.phase.name == phase.name
    assert len(bench.spawned) == (phase is Phase.VALIDATING)
    bench.offsets.poll(0.0)
    assert len(bench.spawned) <= 1, "one round at a time"
    for operation in bench.spawned:
        operation.close()


def test_patience_grows_up_to_the_request_time_out() -> None:
    offsets = Bench(EARLIEST).offsets
    assert [offsets._retries.patience_s(attempts) for attempts in range(4)] == [
        ANSWER_PATIENCE_S,
        2 * ANSWER_PATIENCE_S,
        4 * ANSWER_PATIENCE_S,
        30.0,
    ]
    assert offsets._retries.patience_s(10_000) == 30.0


def test_a_duration_counts_back_from_now() -> None:
    offsets = Bench(EARLIEST).offsets
    assert offsets._timestamp(ResetStrategy("by_duration:PT1S", duration_ms=1000)) == 999_000
    assert offsets._timestamp(EARLIEST) == -2
