"""What an exactly-once query remembers, and what it concludes from it; without Spark and without a broker."""

from __future__ import annotations

import pickle
import random
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pyarrow as pa
import pytest

from pykclient import PreparedTransaction
from pykclient.errors import ExactlyOnceError, ProducerFenced
from pykclient.protocol import arrow
from pykclient.spark import decisions
from pykclient.spark.decision_log import Batch, Decided, Done, Entry, Rows, Slot
from pykclient.spark.decisions import Decisions, Plan, Role

NAMES = ("value", "key", "headers", "topic", "partition")
SLOTS = (
    Slot(0, PreparedTransaction("p.0", 7, 1, 5), Rows(3, 2**64 - 1), committed=True),
    Slot(1, PreparedTransaction("p.1", 8, 3, 4), Rows(2, 5)),
)


@pytest.mark.parametrize(
    "entry",
    [
        Entry(),
        Entry("claim", "checkpoint", "token", Done(Batch("q", 4), None), disputed=True),
        Entry("decision", "checkpoint", "token", Done(Batch("q", 4), Rows(9, 1)), Decided(Batch("q", 5), SLOTS)),
    ],
)
def test_a_record_is_read_as_it_was_written(entry: Entry) -> None:
    assert Entry.from_json(entry.to_json()) == entry
    assert pickle.loads(pickle.dumps(entry)) == entry


def test_what_a_task_does_follows_from_what_is_done() -> None:
    plan = Plan("c", 60_000, {"q": Done(Batch("q", 4), None)})
    assert plan.role(Batch("q", 5), 0) is Role.WRITE
    assert plan.role(Batch("other", 4), 0) is Role.WRITE
    assert plan.role(Batch("q", 4), 0) is Role.CHECK
    with pytest.raises(ExactlyOnceError, match=r"batch 3 is to be written, but 4 is committed"):
        plan.role(Batch("q", 3), 0)


def test_only_what_is_missing_of_a_batch_is_written() -> None:
    plan = Plan("c", 60_000, {}, Decided(Batch("q", 5), SLOTS))
    assert [plan.role(Batch("q", 5), slot) for slot in range(3)] == [Role.CHECK, Role.WRITE, Role.WRITE]
    with pytest.raises(ExactlyOnceError, match="must come back first"):
        plan.role(Batch("q", 6), 0)


@pytest.mark.timeout(20)
def test_transactions_are_committed_at_the_same_time_and_each_has_its_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(3, timeout=10)

    def commit_prepared(transaction: PreparedTransaction) -> None:
        together.wait()  # raises when they come one after the other
        if transaction.transactional_id in ("p.2", "p.3"):
            raise ProducerFenced(transactional_id=transaction.transactional_id)

    producer = SimpleNamespace(commit_prepared=commit_prepared)
    monkeypatch.setattr(decisions, "borrowed_producer", lambda settings: nullcontext(producer))
    driver = Decisions({}, "p", "checkpoint")
    monkeypatch.setattr(driver, "_was_committed", lambda slot, batch, error: slot.number == 3)  # by its marker
    more = [Slot(number, PreparedTransaction(f"p.{number}", 9, 0, 5), Rows(1, 1)) for number in (2, 3)]
    settled = driver._commit_slots(Decided(Batch("q", 5), (*SLOTS, *more)))
    assert [(each.number, each.committed) for each in settled] == [(0, True), (1, True), (2, False), (3, True)]


def rows(values: list[bytes | None], keys: list[bytes | None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, pa.binary()), pa.array(keys, pa.binary())], ["value", "key"])


def checksum(batch: pa.RecordBatch) -> int:
    return arrow.checksum(batch, NAMES)


@pytest.mark.usefixtures("implementation")
def test_the_checksum_depends_on_the_rows_and_not_on_their_order() -> None:
    chance = random.Random(5)
    pairs: list[tuple[bytes | None, bytes | None]] = [(chance.randbytes(20), chance.randbytes(4)) for _ in range(200)]
    pairs += [(None, b"k"), (b"v", None), (b"", b"")]
    whole = checksum(rows([value for value, _ in pairs], [key for _, key in pairs]))
    chance.shuffle(pairs)
    assert checksum(rows([value for value, _ in pairs], [key for _, key in pairs])) == whole
    parts = [pairs[:70], pairs[70:]]
    sums = [Rows(len(part), checksum(rows([v for v, _ in part], [k for _, k in part]))) for part in parts]
    assert sum(sums, Rows()) == Rows(203, whole)
    swapped = [(pairs[0][0], pairs[1][1]), (pairs[1][0], pairs[0][1]), *pairs[2:]]
    assert checksum(rows([value for value, _ in swapped], [key for _, key in swapped])) != whole
    doubled = [pairs[0], pairs[0], *pairs[2:]]
    assert checksum(rows([value for value, _ in doubled], [key for _, key in doubled])) != whole


@pytest.mark.usefixtures("implementation")
def test_every_column_counts() -> None:
    def make(value: str = "v", key: str = "k", topic: str = "t", partition: int = 1, header: bytes = b"h") -> int:
        arrays = [
            pa.array([value]),
            pa.array([key]),
            pa.array([topic]),
            pa.array([partition], pa.int32()),
            pa.array([[{"key": "n", "value": header}]], arrow.HEADERS),
        ]
        return checksum(pa.RecordBatch.from_arrays(arrays, ["value", "key", "topic", "partition", "headers"]))

    variants = [make(), make(value="w"), make(key="l"), make(topic="u"), make(partition=2), make(header=b"i")]
    assert len(set(variants)) == len(variants)
    assert checksum(pa.RecordBatch.from_arrays([pa.array([], pa.binary())], ["value"])) == 0


def test_text_and_bytes_are_the_same_rows() -> None:
    text = pa.RecordBatch.from_arrays([pa.array(["a", "b"])], ["value"])
    assert checksum(text) == checksum(pa.RecordBatch.from_arrays([pa.array([b"a", b"b"], pa.binary())], ["value"]))
