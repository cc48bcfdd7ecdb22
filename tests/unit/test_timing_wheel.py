"""The timing wheel: never early, at most a tick late, each timer once, whatever the order of adding, cancelling and
advancing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.timing_wheel import TimingWheel, WheelTimers


@pytest.mark.parametrize(
    ("delay_s", "silent_until", "fires_at"),
    [
        (0.0, 0.0009, 0.001),
        (0.0005, 0.0009, 0.001),
        (0.001, 0.0009, 0.001),
        (0.3, 0.2999, 0.3),
        (0.063, 0.0629, 0.063),
        (0.064, 0.0639, 0.064),
        (4.096, 4.0959, 4.096),
        (4.097, 4.0969, 4.097),
        (3600.0, 3599.999, 3600.0),
        (86_400.5, 86_400.4, 86_400.5),
    ],
)
def test_timer_fires_at_its_tick_and_not_before(delay_s: float, silent_until: float, fires_at: float) -> None:
    wheel, fired = TimingWheel(), list[float]()
    wheel.add(delay_s, fired.append)
    assert wheel.advance(silent_until) == 0
    assert wheel.advance(fires_at) == 1
    assert fired == [fires_at]
    assert len(wheel) == 0
    assert wheel.next_expiry() is None


@pytest.mark.parametrize(("delay_s", "wheels"), [(0.063, 1), (0.064, 2), (4.0, 2), (4.1, 3), (300.0, 4)])
def test_overflow_wheels_are_made_on_demand(delay_s: float, wheels: int) -> None:
    wheel = TimingWheel()
    assert wheel.wheel_count == 0
    wheel.add(delay_s, lambda now: None)
    assert wheel.wheel_count == wheels


def test_one_jump_fires_in_order_of_deadline() -> None:
    wheel, fired = TimingWheel(), list[str]()
    for name, delay_s in [("c", 5.0), ("a", 0.002), ("d", 400.0), ("b", 0.9)]:
        wheel.add(delay_s, lambda now, name=name: fired.append(name))  # type: ignore[misc]
    assert wheel.advance(1000.0) == 4
    assert fired == ["a", "b", "c", "d"]


def test_following_next_expiry_reaches_every_timer_without_spinning() -> None:
    wheel, fired = TimingWheel(start=12345.678), list[float]()
    wheel.add(1000.0, fired.append)
    steps = 0
    while (at := wheel.next_expiry()) is not None:
        before = wheel.now
        wheel.advance(at)
        assert wheel.now > before or steps == 0
        steps += 1
    assert len(fired) == 1
    assert 13345.678 <= fired[0] < 13345.6801
    assert steps <= 4  # one per wheel


def test_action_that_adds_a_due_timer_does_not_loop() -> None:
    wheel, fired = TimingWheel(), list[float]()

    def again(now: float) -> None:
        fired.append(now)
        wheel.add(0.0, again)

    wheel.add(0.0, again)
    assert wheel.advance(10.0) == 1
    assert wheel.advance(10.0) == 0
    assert wheel.advance(10.001) == 1
    assert fired == [10.0, 10.001]


def test_timer_cancelled_by_another_of_the_same_tick_does_not_fire() -> None:
    wheel, fired = TimingWheel(), list[str]()
    wheel.add(0.005, lambda now: fired.append(str(wheel.cancel(second))))
    second = wheel.add(0.005, lambda now: fired.append("second"))
    assert wheel.advance(1.0) == 1
    assert fired == ["True"]
    assert len(wheel) == 0


def test_failing_action_does_not_lose_the_others() -> None:
    wheel, fired = TimingWheel(), list[float]()

    def fail(now: float) -> None:
        raise RuntimeError("action failed")

    wheel.add(0.001, fail)
    wheel.add(0.002, fired.append)
    with pytest.raises(RuntimeError):
        wheel.advance(1.0)
    assert wheel.next_expiry() == 1.0
    assert wheel.advance(1.0) == 1
    assert fired == [1.0]


def test_cancelled_timers_leave_no_wake_up_behind() -> None:
    wheel = TimingWheel()
    timers = [wheel.add(delay, lambda now: None) for delay in (0.01, 1.0, 100.0)]
    assert [wheel.cancel(timer) for timer in timers] == [True] * 3
    assert [wheel.cancel(timer) for timer in timers] == [False] * 3
    assert wheel.next_expiry() is None


@pytest.mark.parametrize("delay_s", [math.inf, 1e300, 2.0**63])
def test_absurd_delays_are_cut_and_never_fire(delay_s: float) -> None:
    wheel = TimingWheel()
    wheel.add(delay_s, lambda now: pytest.fail("fired"))
    assert wheel.advance(1e8) == 0
    assert len(wheel) == 1


Operation = tuple[str, float]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.floats(0, 100_000)),
            st.tuples(st.just("add"), st.floats(0, 0.2)),
            st.tuples(st.just("cancel"), st.floats(0, 1)),
            st.tuples(st.just("advance"), st.floats(0, 0.5)),
            st.tuples(st.just("advance"), st.floats(0, 20_000)),
        ),
        max_size=60,
    ),
    st.integers(1, 6),
)
def test_wheel_agrees_with_a_sorted_list(operations: list[Operation], slots_log2: int) -> None:
    """The model: a timer fires in the first advance whose time is a tick at or after its deadline."""
    wheel, now = TimingWheel(slots_log2=slots_log2), 0.0
    fired: list[int] = []
    model: dict[int, int] = {}
    timers = {}
    for number, (kind, value) in enumerate(operations):
        if kind == "add":
            timers[number] = wheel.add(value, lambda at, number=number: fired.append(number))  # type: ignore[misc]
            deadline_us = round(now * 1e6) + round(value * 1e6)
            model[number] = max(-(-deadline_us // 1000), round(now * 1e6) // 1000 + 1)
        elif kind == "cancel" and timers:
            number = sorted(timers)[int(value * (len(timers) - 1))]
            assert wheel.cancel(timers.pop(number)) == (model.pop(number, None) is not None)
        elif kind == "advance":
            now += value
            fired.clear()
            wheel.advance(now)
            tick = round(now * 1e6) // 1000
            expected = [key for key, due in model.items() if due <= tick]
            assert sorted(fired) == sorted(expected)
            assert [model[key] for key in fired] == sorted(model[key] for key in fired)
            for key in expected:
                del model[key]
        assert len(wheel) == len(model)
        expiry = wheel.next_expiry()
        assert (expiry is None) == (not model)
        assert expiry is None or expiry <= min(model.values()) / 1000 + 1e-9


def test_keyed_timers_replace_and_forget() -> None:
    wheel, fired = TimingWheel(), list[str]()
    timers = WheelTimers(wheel)
    timers.schedule("k", 1.0, lambda now: fired.append("old"))
    timers.schedule("k", 2.0, lambda now: fired.append("new"))
    timers.schedule("other", 1.5, lambda now: fired.append("other"))
    timers.cancel("other")
    timers.cancel("never seen")
    assert len(timers) == len(wheel) == 1
    wheel.advance(1.9)
    assert fired == []
    wheel.advance(2.0)
    assert fired == ["new"]
    assert len(timers) == 0


def test_keyed_timer_may_schedule_its_own_key_again() -> None:
    wheel, fired = TimingWheel(), list[float]()
    timers = WheelTimers(wheel)

    def beat(now: float) -> None:
        fired.append(now)
        timers.schedule("beat", 1.0, beat)

    timers.schedule("beat", 1.0, beat)
    for second in range(1, 5):
        wheel.advance(float(second))
    assert fired == [1.0, 2.0, 3.0, 4.0]
    assert len(timers) == 1
