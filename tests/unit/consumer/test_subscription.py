"""Assigned partitions: the kinds of subscription do not mix, phases follow their table, positions survive what they
should."""

from __future__ import annotations

import itertools
import re
from threading import RLock

import pytest

from pykclient.consumer.subscription import (
    EARLIEST,
    LATEST,
    LEGAL,
    NONE,
    PartitionState,
    Phase,
    Position,
    Subscription,
    SubscriptionKind,
    parse_reset,
)
from pykclient.errors import IllegalStateError, NoOffsetForPartition, TopicAuthorizationFailed
from pykclient.types import OffsetAndMetadata, TopicPartition

A, B, C = (TopicPartition("t", number) for number in range(3))
KINDS = [kind for kind in SubscriptionKind if kind is not SubscriptionKind.NONE]


@pytest.fixture
def subscription() -> Subscription:
    return Subscription(RLock())


@pytest.mark.parametrize(("first", "second"), list(itertools.product(KINDS, KINDS)))
def test_kinds_do_not_mix(subscription: Subscription, first: SubscriptionKind, second: SubscriptionKind) -> None:
    subscription.choose(first)
    if first is second:
        subscription.choose(second)
    else:
        with pytest.raises(IllegalStateError, match="unsubscribe"):
            subscription.choose(second)
        subscription.clear()
        subscription.choose(second)
    assert subscription.kind is second


def test_partitions_that_stay_keep_their_place(subscription: Subscription) -> None:
    subscription.assign([A, B])
    subscription.state(A).seek(Position(7))
    subscription.state(A).paused = True
    kept = subscription.state(A)
    gone = subscription.state(B)
    version = gone.version
    subscription.assign([A, C])
    assert subscription.state(A) is kept
    assert kept.paused
    assert set(subscription.partitions) == {A, C}
    assert gone.version > version, "what is on its way for it is dropped"
    with pytest.raises(IllegalStateError, match="not assigned"):
        subscription.state(B)


@pytest.mark.parametrize(("start", "target"), list(itertools.product(Phase, Phase)))
def test_phases_follow_the_table(start: Phase, target: Phase) -> None:
    state = PartitionState(A, phase=start)
    if target in LEGAL[start]:
        state.to(target)
        assert state.phase is target
    else:
        with pytest.raises(AssertionError):
            state.to(target)


def test_what_the_user_must_decide_is_told_until_the_user_decides() -> None:
    state = PartitionState(A)
    state.stuck(NoOffsetForPartition())
    for _ in range(3):
        assert isinstance(state.tell(), NoOffsetForPartition)
        assert state.phase is Phase.STUCK
    state.seek(Position(3))
    assert (state.phase, state.error) == (Phase.FETCHING, None)


def test_what_may_pass_is_told_and_tried_again_where_it_was() -> None:
    state = PartitionState(A)
    state.seek(Position(3, 1))
    state.fetch_offset = 90
    state.stuck(TopicAuthorizationFailed(), retry=True)
    assert isinstance(state.tell(), TopicAuthorizationFailed)
    assert (state.phase, state.fetch_offset, state.fetch_epoch, state.error) == (Phase.FETCHING, 3, 1, None)
    before = PartitionState(B)
    before.stuck(TopicAuthorizationFailed(), retry=True)
    before.tell()
    assert before.phase is Phase.INITIALIZING


def test_committable_is_what_was_handed_out_or_what_was_come_back_from(subscription: Subscription) -> None:
    subscription.assign([A, B])
    state = subscription.state(A)
    state.seek(Position(5, 2))
    state.position = Position(9, 3)
    assert subscription.committable(handed_out=True) == {A: OffsetAndMetadata(9, "", 3)}
    assert subscription.committable(handed_out=False) == {A: OffsetAndMetadata(5, "", 2)}


def test_a_pattern_is_searched_for_and_internal_topics_are_left_out(subscription: Subscription) -> None:
    subscription.pattern = re.compile("^a|offsets")
    topics = ["alpha", "beta", "__consumer_offsets"]
    assert subscription.matches(topics, exclude_internal={"__consumer_offsets"}) == {"alpha"}
    assert subscription.matches(topics) == {"alpha", "__consumer_offsets"}


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("PT1S", 1000), ("PT0.5S", 500), ("P1D", 86_400_000), ("P1DT2H3M4.5S", 93_784_500), ("PT90M", 5_400_000)],
)
def test_durations(text: str, milliseconds: int) -> None:
    assert parse_reset(f"by_duration:{text}").duration_ms == milliseconds


def test_policies() -> None:
    assert [parse_reset(name) for name in ("earliest", "latest", "none")] == [EARLIEST, LATEST, NONE]
