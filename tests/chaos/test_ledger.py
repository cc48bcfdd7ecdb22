"""The checker finds what it is there to find."""

from __future__ import annotations

import pytest

from tests.chaos.ledger import Ledger, Verdict


def ledger() -> Ledger:
    ledger = Ledger()
    for value in range(4):
        ledger.sending(0, value)
        ledger.acknowledged(value, 0, value)
    return ledger


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        ([0, 1, 2, 3], Verdict([], [], [], [])),
        ([0, 1, 3], Verdict([2], [], [], [2])),
        ([0, 1, 2, 3, 3], Verdict([], [3], [], [])),
        ([0, 2, 1, 3], Verdict([], [], [(0, 1)], [1, 2])),
    ],
)
def test_each_kind_of_damage_is_named(read: list[int], verdict: Verdict) -> None:
    found = ledger().check((0, offset, value) for offset, value in enumerate(read))
    assert found == verdict
    assert found.clean == (read == [0, 1, 2, 3])


def test_what_was_never_acknowledged_may_be_missing_or_there() -> None:
    for read in ([0, 1, 2, 3], [0, 1, 2, 3, 4]):
        book = ledger()
        book.sending(0, 4)
        book.refused(4, "timed out")
        assert book.check((0, offset, value) for offset, value in enumerate(read)).clean
