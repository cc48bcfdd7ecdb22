"""Producer state: duplicates among the last five batches, gaps, epochs, wrap-around, transactions, snapshots."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.broker.producer_state import AppendOrigin, EndMarker, ProducerStates
from pykclient.errors import (
    BrokerError,
    CorruptRecordError,
    InvalidProducerEpoch,
    InvalidTxnState,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)
from pykclient.protocol.batch_header import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader

SEQUENCE_MAX = 2**31 - 1
CLIENT, COORDINATOR = AppendOrigin.CLIENT, AppendOrigin.COORDINATOR


def header(
    sequence: int,
    *,
    offset: int = 0,
    count: int = 1,
    producer_id: int = 1,
    epoch: int = 0,
    transactional: bool = False,
    control: bool = False,
) -> BatchHeader:
    attributes = (TRANSACTIONAL_BIT if transactional else 0) | (CONTROL_BIT if control else 0)
    return BatchHeader(0, 61, offset, 0, 2, 0, attributes, count - 1, 1000, 1000, producer_id, epoch, sequence, count)


class Writer:
    """A partition that appends what the state allows."""

    def __init__(self) -> None:
        self.states = ProducerStates()
        self.next_offset = 0

    def write(self, sequence: int, *, count: int = 1, **options: int | bool) -> int | str:
        """The base offset, with "duplicate" in front when it is one; refusals raise."""
        batch = header(sequence, offset=self.next_offset, count=count, **options)  # type: ignore[arg-type]
        known = self.states.check(batch, CLIENT)
        if known is not None:
            return f"duplicate {known.first_offset}"
        self.states.update(batch, active_ms=0)
        self.next_offset += count
        return batch.base_offset

    def mark(self, *, commit: bool, producer_id: int = 1, epoch: int = 0, coordinator_epoch: int = 0, version: int = 0):  # type: ignore[no-untyped-def]
        batch = header(
            -1, offset=self.next_offset, producer_id=producer_id, epoch=epoch, transactional=True, control=True
        )
        marker = EndMarker(commit, coordinator_epoch)
        self.states.check_marker(batch, marker, transaction_version=version)
        self.next_offset += 1
        return self.states.update_marker(batch, marker, active_ms=0)


def test_last_five_batches_are_known_and_older_ones_are_out_of_order() -> None:
    writer = Writer()
    for sequence in range(0, 16, 2):
        writer.write(sequence, count=2)
    for sequence in range(6, 16, 2):
        assert writer.write(sequence, count=2) == f"duplicate {sequence}"
    for sequence in (0, 2, 4):
        with pytest.raises(OutOfOrderSequenceNumber):
            writer.write(sequence, count=2)
    with pytest.raises(OutOfOrderSequenceNumber):
        writer.write(14, count=1)  # half of a batch is not a duplicate
    assert writer.write(16) == 16


@pytest.mark.parametrize("sequence", [1, 3, SEQUENCE_MAX])
def test_gap_is_refused(sequence: int) -> None:
    writer = Writer()
    writer.write(0, count=2)
    with pytest.raises(OutOfOrderSequenceNumber):
        writer.write(sequence)


def test_sequence_wraps_between_and_inside_batches() -> None:
    writer = Writer()
    assert writer.write(SEQUENCE_MAX - 2, count=2) == 0  # an unknown producer may begin anywhere
    assert writer.write(SEQUENCE_MAX) == 2
    assert writer.write(0) == 3
    other = Writer()
    other.write(SEQUENCE_MAX - 1, count=4)  # ... MAX-1, MAX, 0, 1
    assert other.write(SEQUENCE_MAX - 1, count=4) == "duplicate 0"
    assert other.write(2) == 4


def test_new_epoch_begins_at_zero_and_fences_the_old_one() -> None:
    writer = Writer()
    writer.write(0, count=3)
    with pytest.raises(OutOfOrderSequenceNumber):
        writer.write(3, epoch=1)
    assert writer.write(0, epoch=1) == 3
    with pytest.raises(InvalidProducerEpoch):
        writer.write(3, epoch=0)
    assert writer.write(0, epoch=1) == "duplicate 3"


def test_unknown_producer_of_transactions_v2_must_begin_at_zero() -> None:
    states = ProducerStates()
    with pytest.raises(OutOfOrderSequenceNumber):
        states.check(header(4, transactional=True), CLIENT, expects_zero_sequence=True)
    assert states.check(header(0, transactional=True), CLIENT, expects_zero_sequence=True) is None
    assert states.check(header(4), CLIENT) is None


def test_producers_do_not_mix() -> None:
    writer = Writer()
    for producer_id in (1, 2, 3):
        assert writer.write(0, producer_id=producer_id) == producer_id - 1
    assert writer.write(0, producer_id=2) == "duplicate 1"


def test_coordinators_are_checked_by_epoch_only() -> None:
    writer = Writer()
    writer.write(0, epoch=3)
    assert writer.states.check(header(-1, epoch=3), COORDINATOR) is None
    with pytest.raises(InvalidProducerEpoch):
        writer.states.check(header(-1, epoch=2), COORDINATOR)


# --- transactions


def unstable(states: ProducerStates) -> int | None:
    return states.first_unstable_offset


def test_oldest_open_transaction_is_the_first_unstable_offset() -> None:
    writer = Writer()
    states = writer.states
    writer.write(0, producer_id=9)
    assert unstable(states) is None
    writer.write(0, producer_id=1, transactional=True)
    writer.write(0, producer_id=2, transactional=True)
    writer.write(1, producer_id=1, transactional=True)
    assert unstable(states) == 1
    first = writer.mark(commit=False, producer_id=1)
    assert first == (1, 1, 4, True)
    assert states.last_stable_offset_after(first) == 2
    assert unstable(states) == 1  # its marker is not replicated yet
    states.on_high_watermark(5)
    assert unstable(states) == 2
    second = writer.mark(commit=True, producer_id=2)
    assert states.last_stable_offset_after(second) == 6
    states.on_high_watermark(6)
    assert unstable(states) is None


def test_marker_without_data_ends_nothing() -> None:
    writer = Writer()
    assert writer.mark(commit=True) is None
    assert writer.states.first_unstable_offset is None


def test_write_outside_of_the_open_transaction_is_refused() -> None:
    writer = Writer()
    writer.write(0, transactional=True)
    with pytest.raises(InvalidTxnState):
        writer.write(1)


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "version", "error"),
    [
        (2, 5, 0, None),
        (3, 5, 0, None),
        (1, 5, 0, InvalidProducerEpoch),
        (2, 4, 0, TransactionCoordinatorFenced),
        (3, 5, 2, None),
        (2, 5, 2, InvalidProducerEpoch),
        (1, 5, 2, InvalidProducerEpoch),
    ],
)
def test_stale_markers_are_refused(
    epoch: int, coordinator_epoch: int, version: int, error: type[BrokerError] | None
) -> None:
    writer = Writer()
    writer.write(0, epoch=2, transactional=True)
    writer.mark(commit=True, epoch=2, coordinator_epoch=5)
    writer.write(1, epoch=2, transactional=True)
    if error is None:
        assert writer.mark(commit=True, epoch=epoch, coordinator_epoch=coordinator_epoch, version=version)
    else:
        with pytest.raises(error):
            writer.mark(commit=True, epoch=epoch, coordinator_epoch=coordinator_epoch, version=version)


def test_marker_repeated_by_a_coordinator_of_transactions_v2_is_taken() -> None:
    writer = Writer()
    writer.write(0, epoch=2, transactional=True)
    assert writer.mark(commit=True, epoch=3, version=2)
    assert writer.mark(commit=True, epoch=3, version=2) is None
    assert writer.write(0, epoch=3, transactional=True) == 3


# --- expiry and snapshots


def test_silent_producers_expire_but_not_inside_a_transaction() -> None:
    writer = Writer()
    writer.write(0, producer_id=1)
    writer.write(0, producer_id=2, transactional=True)
    assert writer.states.expire(999, 1000) == 0
    assert writer.states.expire(1000, 1000) == 1
    assert set(writer.states.entries) == {2}
    assert writer.write(7, producer_id=1) == 2


Step = tuple[int, int, int]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([0, 0, 0, 1, 2, 3]), st.integers(1, 3)), max_size=50))
def test_snapshot_restores_every_answer(steps: list[Step]) -> None:
    """Whatever happened, a state loaded from a snapshot decides the same as the one that wrote it."""
    writer = Writer()
    sequences: dict[int, int] = {}
    for producer_id, kind, count in steps:
        transactional = producer_id == 3
        if kind == 3 and transactional:
            writer.mark(commit=count == 1, producer_id=producer_id)
        elif kind != 3:
            sequence = sequences.get(producer_id, 0)
            writer.write(sequence, count=count, producer_id=producer_id, transactional=transactional)
            sequences[producer_id] = sequence + count
    writer.states.on_high_watermark(writer.next_offset)
    restored = ProducerStates()
    restored.load(writer.states.to_bytes(), active_ms=0)
    assert restored.first_unstable_offset == writer.states.first_unstable_offset
    assert restored.entries == writer.states.entries
    for producer_id, sequence in sequences.items():
        for probe in range(max(0, sequence - 12), sequence + 2):
            for count in (1, 2, 3):
                batch = header(probe, count=count, producer_id=producer_id, transactional=producer_id == 3)
                assert outcome(restored, batch) == outcome(writer.states, batch)


def outcome(states: ProducerStates, batch: BatchHeader) -> object:
    try:
        return states.check(batch, CLIENT)
    except BrokerError as error:
        return type(error)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_snapshot_is_a_typed_error(seed: int) -> None:
    writer = Writer()
    writer.write(0)
    writer.write(0, producer_id=2, transactional=True)
    content = bytearray(writer.states.to_bytes())
    chance = random.Random(seed)
    if chance.random() < 0.5:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    else:
        del content[chance.randrange(len(content)) :]
    restored = ProducerStates()
    with pytest.raises(CorruptRecordError):
        restored.load(bytes(content), active_ms=0)
    assert restored.entries == {}


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 2)), max_size=40))
def test_dedup_agrees_with_a_model(sends: list[tuple[int, int]]) -> None:
    """The model keeps the last five (sequence, count, offset); a client resends any of its last eight batches."""
    writer = Writer()
    sent: list[tuple[int, int, int]] = []
    sequence = 0
    for back, count in sends:
        if back and back <= len(sent):
            old_sequence, old_count, old_offset = sent[-back]
            if back <= 5:
                assert writer.write(old_sequence, count=old_count) == f"duplicate {old_offset}"
            else:
                with pytest.raises(OutOfOrderSequenceNumber):
                    writer.write(old_sequence, count=old_count)
        else:
            offset = writer.write(sequence, count=count)
            assert isinstance(offset, int)
            sent.append((sequence, count, offset))
            sequence += count
