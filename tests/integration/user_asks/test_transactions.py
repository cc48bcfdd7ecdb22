"""Transactions: reading to an end that is a marker, an abort or a gap; errors that say which; and readers that wait."""

from __future__ import annotations

import asyncio
import itertools
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.aio import AsyncKafkaProducer
from pykclient.consumer import open_transactions
from pykclient.errors import ProducerFenced, TransactionTimedOut
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import open_consumer, produce, read_numbers
from tests.integration.producer.support import producer_for, values

ROOT = Path(__file__).parents[3]


# ---- to the end ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gaps() -> Iterator[EmbeddedCluster]:
    """One topic per corner: the range is empty, its first offset is missing, its last one, one in the middle."""
    with EmbeddedCluster(log_cleaner_backoff_ms=50) as running:
        compacted = {"cleanup.policy": "compact", "segment.bytes": 1_048_576, "min.cleanable.dirty.ratio": 0}
        running.create_topic("empty", 1)
        running.create_topic("first-and-last", 1)
        running.create_topic("middle", 1, config=compacted)
        with KafkaProducer(bootstrap_servers=running.bootstrap_servers, transactional_id="writer") as producer:
            producer.init_transactions()
            for topic, commits in (("empty", [False, False]), ("first-and-last", [False, True, False])):
                for commit in commits:
                    producer.begin_transaction()
                    for number in range(3):
                        producer.send(topic, b"%d" % number, partition=0)
                    producer.flush(10)
                    producer.commit_transaction() if commit else producer.abort_transaction()
            for number in range(45):
                with producer.transaction():
                    producer.send("middle", b"x" * 100_000, key=b"%d" % (number % 2 if 5 < number < 40 else number))
        running.wait_until(lambda: len(offsets(running, "middle", "read_committed")) < 45, "compaction")
        yield running


def offsets(cluster: EmbeddedCluster, topic: str, isolation: str, start: int = 0) -> list[int]:
    """Read from there to the end as it is now; the loop of every user."""
    where = TopicPartition(topic, 0)
    found: list[int] = []
    with open_consumer(cluster, isolation_level=isolation) as consumer:
        consumer.assign([where])
        consumer.seek(where, start)
        end = consumer.end_offsets([where])[where]
        give_up_at = time.monotonic() + 10
        while consumer.position(where) < end:
            assert time.monotonic() < give_up_at, f"{topic}: stands at {consumer.position(where)} of {end}"
            found += [record.offset for record in consumer.poll(0.1).records()]
    return found


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_reading_to_the_end_ends_over_markers_aborts_and_gaps(gaps: EmbeddedCluster, isolation: str) -> None:
    """ "Read to the end" never ends, because the last offset is a commit marker (druid 16689, risingwave 24717)."""
    committed = isolation == "read_committed"
    assert offsets(gaps, "empty", isolation) == ([] if committed else [0, 1, 2, 4, 5, 6])
    for start in range(12):
        every = [4, 5, 6] if committed else [0, 1, 2, 4, 5, 6, 8, 9, 10]
        assert offsets(gaps, "first-and-last", isolation, start) == [each for each in every if each >= start]
    middle = offsets(gaps, "middle", isolation)
    steps = [after - before for before, after in itertools.pairwise(middle)]
    assert max(steps) > 2, "there is a gap"
    assert offsets(gaps, "middle", isolation, middle[0] + 1)[0] == middle[1]


def test_the_command_line_reads_to_the_end_too(gaps: EmbeddedCluster) -> None:
    """The same, in a shell script (hudi 1598, 8258)."""
    topics = ("empty", "first-and-last", "middle")
    done = subprocess.run(
        [sys.executable, "-m", "pykclient", "consume", *topics, "--to-end", "--read-committed", "--format",
         "{topic} {offset}\n", "-b", gaps.bootstrap_servers],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    shown: dict[str, list[int]] = {topic: [] for topic in topics}
    for line in done.stdout.splitlines():
        topic, offset = line.split()
        shown[topic].append(int(offset))
    assert shown == {topic: offsets(gaps, topic, "read_committed") for topic in topics}


def test_the_end_under_read_committed_is_the_last_stable_offset(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """Waiting for an end that an open transaction hides is waiting for ever (spark PR 22042)."""
    topic = new_topic()
    where = TopicPartition(topic, 0)
    produce(cluster, topic, range(3))
    with producer_for(cluster, transactional_id=topic) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"3").result(10)
        ends = {}
        for isolation in ("read_committed", "read_uncommitted"):
            with open_consumer(cluster, isolation_level=isolation) as consumer:
                ends[isolation] = consumer.end_offsets([where])[where]
        producer.abort_transaction()
    assert ends == {"read_committed": 3, "read_uncommitted": 4}


def test_a_reader_behind_a_transaction_that_does_not_end_says_so_once(
    cluster: EmbeddedCluster,
    new_topic: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A partition hangs for ever, and looks like an idle one: "I just recreated the group" (franz-go 581)."""
    monkeypatch.setattr(open_transactions, "PATIENCE_S", 0.5)
    monkeypatch.setattr(open_transactions, "LOOK_EVERY_S", 0.05)
    topic = new_topic()
    produce(cluster, topic, range(3))

    def told() -> list[str]:
        return [record.getMessage() for record in caplog.records if "still open" in record.getMessage()]

    with (
        producer_for(cluster, transactional_id=topic) as producer,
        open_consumer(cluster, topic, isolation_level="read_committed") as consumer,
        open_consumer(cluster, topic) as careless,
    ):
        producer.init_transactions()
        producer.begin_transaction()
        for value in (b"3", b"4"):
            producer.send(topic, value).result(10)
        read_numbers(consumer, range(3))
        read_numbers(careless, range(5))
        cluster.wait_until(lambda: consumer.poll(0.05) is not None and told(), "the warning")
        consumer.poll(0.7)
        [warning] = told()
        assert warning.startswith(f"{TopicPartition(topic, 0)}: waiting at offset 3 for ")
        assert "high watermark 5" in warning
        assert [record.levelno for record in caplog.records if record.getMessage() == warning] == [logging.WARNING]
        producer.commit_transaction()
        read_numbers(consumer, [3, 4])


# ---- which error -----------------------------------------------------------------------------------------------------


def test_an_async_block_that_fails_leaves_a_producer_that_is_usable_or_clearly_dead(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """ "Newer producer or transaction timeout occurred": which? (faust-streaming 323, librdkafka 3928, 3041)"""
    topic = new_topic()
    servers = cluster.bootstrap_servers

    async def test() -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=servers, transactional_id=topic, transaction_timeout_ms=500
        ) as producer:
            await producer.init_transactions()
            for error in (KeyError, asyncio.CancelledError):
                with pytest.raises(error):
                    async with producer.transaction():
                        await producer.send(topic, b"dropped")
                        raise error
            async with producer.transaction():
                await producer.send(topic, b"kept 1")
            with pytest.raises(TransactionTimedOut) as late:
                async with producer.transaction():
                    await producer.send(topic, b"late")
                    await asyncio.sleep(1.5)
            assert (late.value.limit, (late.value.open_for or 0) > 0.5) == (0.5, True)
            assert "init_transactions()" in str(late.value), "the next legal call"
            await producer.init_transactions()
            async with producer.transaction():
                await producer.send(topic, b"kept 2")

        async with (
            AsyncKafkaProducer(bootstrap_servers=servers, transactional_id=f"{topic}-2", max_block_ms=1000) as older,
            AsyncKafkaProducer(bootstrap_servers=servers, transactional_id=f"{topic}-2") as newer,
        ):
            await older.init_transactions()
            # What the block raised is what the user sees, also when the abort fails too.
            rule = cluster.faults.stall("EndTxn", transactional_id=f"{topic}-2")
            with pytest.raises(KeyError):
                async with older.transaction():
                    await older.send(topic, b"dropped")
                    raise KeyError
            rule.remove()
            await newer.init_transactions()
            with pytest.raises(ProducerFenced) as fenced:
                await older.abort_transaction(30)
            assert (fenced.value.fatal, fenced.value.abortable, fenced.value.retriable) == (True, False, False)
            assert "close" in str(fenced.value), "the next legal call"
            async with newer.transaction():
                await newer.send(topic, b"kept 3")

    asyncio.run(asyncio.wait_for(test(), 60))
    assert values(cluster, topic) == [b"kept 1", b"kept 2", b"kept 3"]


def test_a_killed_reader_of_transactions_goes_on_where_the_last_commit_is(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """Messages are processed twice after a restart: output and position must go together (faust-streaming 502, 47)."""
    source = new_topic(1)
    target = f"{source}-out"
    cluster.create_topic(target, 1)
    produce(cluster, source, range(20))
    for kill_before_commit in (True, True, False):
        consumer = KafkaConsumer(
            source, bootstrap_servers=cluster.bootstrap_servers, group_id=source, group_protocol="consumer",
            enable_auto_commit=False, auto_offset_reset="earliest", max_poll_records=7,
        )  # fmt: skip
        producer = producer_for(cluster, transactional_id=source)
        producer.init_transactions()
        done = 0
        while done < 20:
            batch = consumer.poll(5.0)
            producer.begin_transaction()
            for record in batch.records():
                producer.send(target, record.value)
                done = int(record.value or b"0") + 1
            ends = {tp: records[-1].offset + 1 for tp, records in batch.items()}
            producer.send_offsets_to_transaction(ends, consumer.group_metadata())
            if kill_before_commit and done >= 7:
                producer.flush(10)
                break
            producer.commit_transaction()
        # As kill -9 would: not another byte to anybody.
        producer._engine.stop(5.0) if kill_before_commit else producer.close()
        consumer._core.engine.stop(5.0) if kill_before_commit else consumer.close()
        if kill_before_commit:
            cluster.wait_until(lambda: not _members(cluster, source), "the dead are noticed")
    assert [int(value) for value in values(cluster, target)] == list(range(20))


def _members(cluster: EmbeddedCluster, group: str) -> int:
    view = cluster.group_info(group)
    return 0 if view is None else len(view.members)
