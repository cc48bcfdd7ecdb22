"""Idempotence: sequence numbers against a model of the broker that remembers the last five batches."""

from __future__ import annotations

import random
from collections import deque

import pytest

from pykclient.producer.batch import NO_SEQUENCE, ProducerBatch
from pykclient.producer.sequences import SEQUENCE_MASK, ProducerIdAndEpoch, Sequences
from pykclient.types import TopicPartition

TP = TopicPartition("t", 0)


def batch(count: int = 1) -> ProducerBatch:
    made = ProducerBatch(TP, bytearray(61), 61, 0.0, None)
    made.record_count = count
    return made


def sequences(producer_id: int = 7, epoch: int = 0) -> Sequences:
    made = Sequences()
    made.new_identity(ProducerIdAndEpoch(producer_id, epoch))
    return made


def test_nothing_leaves_without_an_identity() -> None:
    assert not Sequences().may_drain(batch())


def test_sequences_follow_the_record_counts_and_wrap() -> None:
    numbers = sequences()
    numbers.of(TP).next_sequence = SEQUENCE_MASK - 1
    first, second, third = batch(2), batch(3), batch()
    for each in (first, second, third):
        numbers.assign(each)
    assert (first.base_sequence, first.last_sequence) == (SEQUENCE_MASK - 1, SEQUENCE_MASK)
    assert (second.base_sequence, second.last_sequence) == (0, 2)
    assert third.base_sequence == 3


def test_a_retried_batch_keeps_its_sequence_and_only_the_first_may_leave() -> None:
    numbers = sequences()
    first, second, third = batch(), batch(), batch()
    for each in (first, second):
        numbers.assign(each)
    first.attempts = second.attempts = 1
    assert numbers.may_drain(first)
    assert not numbers.may_drain(second)
    assert not numbers.may_drain(third), "a new batch would be refused while an earlier one is retried"
    numbers.assign(first)
    assert first.base_sequence == 0
    numbers.acknowledged(first, 100)
    assert numbers.may_drain(second)


def test_a_new_epoch_waits_for_what_is_out_under_the_old_one() -> None:
    numbers = sequences(epoch=0)
    out = batch()
    numbers.assign(out)
    numbers.new_identity(ProducerIdAndEpoch(7, 1))
    fresh = batch()
    assert not numbers.may_drain(fresh)
    numbers.acknowledged(out, 5)
    assert numbers.may_drain(fresh)
    numbers.assign(fresh)
    assert (fresh.producer_epoch, fresh.base_sequence) == (1, 0)


def test_the_first_batch_of_a_producer_goes_alone() -> None:
    numbers = sequences()
    first, second = batch(), batch()
    numbers.assign(first)
    assert not numbers.may_drain(second)
    numbers.acknowledged(first, 0)
    assert numbers.may_drain(second)
    numbers.assign(second)
    assert numbers.may_drain(batch()), "from then on several may be in flight"


def test_a_doubt_holds_new_batches_until_it_is_resolved() -> None:
    numbers = sequences()
    lost, after = batch(2), batch()
    numbers.assign(lost)
    numbers.assign(after)
    numbers.given_up(lost)
    numbers.mark_unresolved(lost)
    assert not numbers.may_drain(batch())
    assert numbers.resolve() == [], "something is in flight that may tell"
    numbers.acknowledged(after, 10)
    assert numbers.resolve() == [], "the next one was taken, so the lost one had been written"
    assert numbers.may_drain(batch())


def test_a_doubt_that_stays_is_a_gap() -> None:
    numbers = sequences()
    lost = batch(2)
    numbers.assign(lost)
    numbers.given_up(lost)
    numbers.mark_unresolved(lost)
    assert numbers.resolve() == [TP]


def test_a_new_epoch_renumbers_what_waits_for_a_retry() -> None:
    numbers = sequences()
    refused, waiting, behind = batch(), batch(3), batch()
    for each in (refused, waiting, behind):
        numbers.assign(each)
    numbers.given_up(refused)
    numbers.restart(TP, refused.base_sequence)
    assert not numbers.may_drain(waiting), "not before the new epoch"
    waiting.in_flight = True
    assert numbers.restart_blocked()
    waiting.in_flight = False
    assert not numbers.restart_blocked()
    numbers.new_identity(ProducerIdAndEpoch(7, 1))
    assert [(b.producer_epoch, b.base_sequence) for b in (waiting, behind)] == [(1, 0), (1, 3)]
    assert numbers.of(TP).next_sequence == 4


def test_in_a_transaction_those_behind_a_refused_batch_move_up() -> None:
    numbers = sequences()
    refused, behind = batch(4), batch(2)
    numbers.assign(refused)
    numbers.assign(behind)
    numbers.given_up(refused)
    numbers.close_gap(refused)
    assert behind.base_sequence == 0
    assert numbers.of(TP).next_sequence == 2


class ModelBroker:
    """Takes a batch that follows the last one of its epoch, answers repeats of the last five, refuses the rest."""

    def __init__(self) -> None:
        self.epoch = -1
        self.next_sequence = 0
        self.recent: deque[tuple[int, int]] = deque(maxlen=5)
        self.log: list[int] = []

    def append(self, epoch: int, base_sequence: int, count: int, identity: int) -> str:
        if self.epoch < 0:
            # As Kafka does: of a producer it knows nothing about, it takes any sequence as the first.
            self.epoch, self.next_sequence = epoch, base_sequence
        elif epoch > self.epoch:
            if base_sequence != 0:
                return "out of order"
            self.epoch, self.next_sequence = epoch, 0
            self.recent.clear()
        elif epoch < self.epoch:
            return "fenced"
        if (base_sequence, count) in self.recent:
            return "ok"
        if base_sequence != self.next_sequence:
            return "out of order"
        self.next_sequence = (self.next_sequence + count) & SEQUENCE_MASK
        self.recent.append((base_sequence, count))
        self.log.append(identity)
        return "ok"


@pytest.mark.parametrize("seed", range(60))
def test_lost_answers_and_refusals_never_lose_double_or_reorder(seed: int) -> None:
    chance = random.Random(seed)
    numbers, broker = sequences(), ModelBroker()
    waiting: list[ProducerBatch] = [batch(chance.randint(1, 3)) for _ in range(60)]
    identity = {id(b): index for index, b in enumerate(waiting)}
    refused: set[int] = set()
    wire: list[ProducerBatch] = []
    for _ in range(4000):
        if not waiting and not wire:
            break
        if numbers.epoch_bump_wanted and not numbers.restart_blocked():
            numbers.new_identity(numbers.identity._replace(epoch=numbers.identity.epoch + 1))
        if waiting and len(wire) < 5 and chance.random() < 0.6 and numbers.may_drain(waiting[0]):
            leaving = waiting.pop(0)
            numbers.assign(leaving)
            leaving.in_flight = True
            wire.append(leaving)
            continue
        if not wire:
            continue
        arrived = wire.pop(0)
        arrived.in_flight = False
        number = identity[id(arrived)]
        if number % 17 == 5:  # e.g. a record that is too large: refused for good, never written
            refused.add(number)
            numbers.given_up(arrived)
            numbers.restart(TP, arrived.base_sequence)
            continue
        lost_before = chance.random() < 0.2
        outcome = (
            ""
            if lost_before
            else broker.append(arrived.producer_epoch, arrived.base_sequence, arrived.record_count, number)
        )
        if outcome == "ok" and chance.random() >= 0.2:
            numbers.acknowledged(arrived, 0)
            continue
        arrived.attempts += 1  # no answer, or refused because an earlier one is missing
        position = 0
        while (
            position < len(waiting)
            and waiting[position].base_sequence != NO_SEQUENCE
            and identity[id(waiting[position])] < number
        ):
            position += 1
        waiting.insert(position, arrived)
    assert not waiting
    assert not wire
    assert broker.log == [index for index in range(60) if index not in refused]
