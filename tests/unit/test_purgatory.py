"""The purgatory: an operation completes once, by its condition or by its time-out, and leaves nothing behind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.purgatory import DelayedOperation, Purgatory
from pykclient.broker.timing_wheel import TimingWheel


class Waiter:
    """An operation whose condition the test holds in its hand."""

    def __init__(self, delay_s: float = 1.0) -> None:
        self.is_ready = False
        self.outcomes: list[str] = []
        self.looks = 0
        self.operation = DelayedOperation(delay_s=delay_s, ready=self._ready, finish=self._finish)

    def _ready(self) -> bool:
        self.looks += 1
        return self.is_ready

    def _finish(self, expired: bool) -> None:
        self.outcomes.append("expired" if expired else "completed")


def test_ready_operation_never_waits() -> None:
    wheel = TimingWheel()
    purgatory, waiter = Purgatory(wheel), Waiter()
    waiter.is_ready = True
    assert purgatory.try_complete_else_watch(waiter.operation, ["a"])
    assert waiter.outcomes == ["completed"]
    assert (len(purgatory), purgatory.key_count, len(wheel)) == (0, 0, 0)


@pytest.mark.parametrize("delay_s", [0.0, -1.0])
def test_operation_without_patience_expires_at_once(delay_s: float) -> None:
    purgatory, waiter = Purgatory(TimingWheel()), Waiter(delay_s)
    assert purgatory.try_complete_else_watch(waiter.operation, ["a"])
    assert waiter.outcomes == ["expired"]


def test_check_of_any_key_completes_and_forgets_all_keys_and_the_timer() -> None:
    wheel = TimingWheel()
    purgatory, waiter = Purgatory(wheel), Waiter()
    assert not purgatory.try_complete_else_watch(waiter.operation, ["a", "b", "a"])
    assert purgatory.check_and_complete("a") == 0
    waiter.is_ready = True
    assert purgatory.check_and_complete("unrelated") == 0
    assert purgatory.check_and_complete("b") == 1
    assert purgatory.check_and_complete("a") == 0
    assert waiter.outcomes == ["completed"]
    assert (len(purgatory), purgatory.key_count, len(wheel)) == (0, 0, 0)
    wheel.advance(10.0)
    assert waiter.outcomes == ["completed"]


def test_time_out_completes_and_later_checks_do_nothing() -> None:
    wheel = TimingWheel()
    purgatory, waiter = Purgatory(wheel), Waiter(0.5)
    purgatory.try_complete_else_watch(waiter.operation, ["a"])
    wheel.advance(0.499)
    assert waiter.outcomes == []
    wheel.advance(0.5)
    assert waiter.outcomes == ["expired"]
    waiter.is_ready = True
    assert purgatory.check_and_complete("a") == 0
    assert not waiter.operation.force_complete()
    assert purgatory.key_count == 0


def test_finish_may_complete_its_neighbours_and_itself_again() -> None:
    purgatory = Purgatory(TimingWheel())
    second = Waiter()
    order: list[str] = []

    def finish(expired: bool) -> None:
        order.append("first")
        second.is_ready = True
        assert purgatory.check_and_complete("a") == 1
        assert not first.force_complete()

    state = {"ready": False}
    first = DelayedOperation(delay_s=1.0, ready=lambda: state["ready"], finish=finish)
    purgatory.try_complete_else_watch(first, ["a"])
    purgatory.try_complete_else_watch(second.operation, ["a"])
    state["ready"] = True
    assert purgatory.check_and_complete("a") == 1
    assert order == ["first"]
    assert second.outcomes == ["completed"]
    assert len(purgatory) == 0


def test_gone_key_and_close_force_what_waits() -> None:
    purgatory = Purgatory(TimingWheel())
    waiters = [Waiter() for _ in range(3)]
    for waiter, keys in zip(waiters, (["a"], ["a", "b"], ["c"]), strict=True):
        purgatory.try_complete_else_watch(waiter.operation, keys)
    assert purgatory.complete_all("a") == 2
    assert purgatory.close() == 1
    assert [waiter.outcomes for waiter in waiters] == [["completed"]] * 3
    assert purgatory.key_count == 0


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["watch", "ready", "check", "advance"]), st.integers(0, 7)), max_size=80))
def test_every_operation_finishes_exactly_once(steps: list[tuple[str, int]]) -> None:
    wheel = TimingWheel()
    purgatory = Purgatory(wheel)
    waiters: list[Waiter] = []
    for kind, number in steps:
        if kind == "watch":
            waiters.append(Waiter(delay_s=0.1 + number / 10))
            purgatory.try_complete_else_watch(waiters[-1].operation, {number % 3, number % 5, len(waiters) % 4})
        elif kind == "ready" and waiters:
            waiters[number % len(waiters)].is_ready = True
        elif kind == "check":
            purgatory.check_and_complete(number % 5)
        elif kind == "advance":
            wheel.advance(wheel.now + number / 20)
        waiting = [waiter for waiter in waiters if not waiter.outcomes]
        assert len(purgatory) == len(waiting) == len(wheel)
        assert all(len(waiter.outcomes) <= 1 for waiter in waiters)
    wheel.advance(wheel.now + 10)
    assert all(len(waiter.outcomes) == 1 for waiter in waiters)
    assert (len(purgatory), purgatory.key_count, len(wheel)) == (0, 0, 0)
