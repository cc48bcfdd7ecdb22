"""Queries that wait long between batches, or are started again and again: nothing breaks, nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.spark import clients
from pykclient.testing import EmbeddedCluster
from tests.spark.batch_driver import DIED, OK, Job, drive, run_batch
from tests.spark.data import expected, fill
from tests.spark.test_exactly_once import EVERY_STEP, committed_values, open_ids, rows_of

SEED = 9
TRIGGER_S = float(os.environ.get("PYKCLIENT_TRIGGER_S", "300"))
FOR_EVER = {"retention.ms": -1}
"""The records of these tests are years old, and the brokers look for such every five minutes."""


@pytest.fixture
def strict() -> Iterator[EmbeddedCluster]:
    """Brokers that close connections after one minute of silence, as those of clouds may do after four."""
    with EmbeddedCluster(seed=SEED, connections_max_idle_ms=60_000) as cluster:
        yield cluster
    clients.close_all()


@pytest.mark.parametrize("kept", [True, False], ids=["clients kept", "clients closed meanwhile"])
def test_a_long_trigger_is_survived(strict: EmbeddedCluster, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes of the brokers' clock between batches: connections are closed, open transactions would time out."""
    monkeypatch.setattr(clients, "IDLE_S", 3600.0 if kept else 0.0)
    strict.create_topic("slow", 3)
    batches = 4
    for number in range(batches):
        run_batch(Job(strict.bootstrap_servers, "slow", number, rows_of(number), 2, options={"triggerInterval": "5m"}))
        assert open_ids(strict) == []
        strict.clock.advance(TRIGGER_S)
        strict.wait_until(lambda: strict.connection_count(1) == 0 or None, "the broker to close idle connections")
    assert committed_values(strict, "slow") == sorted(row for number in range(batches) for row in rows_of(number))


def test_restarts_leave_no_thread_socket_or_transaction_behind(strict: EmbeddedCluster, full: bool) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    strict.create_topic("restarted", 3)
    restarts = 200 if full else 10
    before: set[object] = set()
    for number in range(restarts):
        batch = Job(strict.bootstrap_servers, "restarted", number, rows_of(number), 2)
        if number % 2:  # killed somewhere, and started again
            step = chance.choice([each for each in EVERY_STEP if each.what != "send"])
            assert drive(Job(**{**vars(batch), "die": step})) == DIED
            assert drive(batch) == OK
        else:  # ends in good order
            run_batch(batch)
            clients.close_all()
        assert open_ids(strict) == []
        if number == 2:
            before = _threads() | _descriptors()
    assert committed_values(strict, "restarted") == sorted(row for n in range(restarts) for row in rows_of(n))
    strict.wait_until(lambda: strict.connection_count(1) == 0 or None, "all connections to be closed")
    strict.wait_until(lambda: not (_threads() | _descriptors()) - before or None, "all that was made meanwhile to go")


# Each by its identity: what other tests have left may go meanwhile, and must not make room for what stays of this one.


def _threads() -> set[object]:
    return {*threading.enumerate()}


def _descriptors() -> set[object]:
    """As ``socket:[4711]``: numbers of descriptors are used again, these are not."""
    found: set[object] = set()
    for link in pathlib.Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(FileNotFoundError):  # that of this very listing
            found.add(str(link.readlink()))
    return found


# ---- in Spark


def _query(spark: Any, cluster: EmbeddedCluster, source: str, target: str, checkpoint: pathlib.Path) -> Any:
    servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    return (
        spark.readStream.format("pykclient")
        .options(**servers, subscribe=source, startingOffsets="earliest")
        .load()
        .select("key", "value")
        .writeStream.format("pykclient")
        .options(**servers, topic=target, checkpointLocation=str(checkpoint), exactlyOnce="true")
        .option("transactionalIdPrefix", target)
    )


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_spark_query_with_a_five_minute_trigger(spark: Any, strict: EmbeddedCluster, tmp_path: pathlib.Path) -> None:
    for name in ("in", "out"):
        strict.create_topic(name, 3, config=FOR_EVER)
    fill(strict, "in", 100)
    query = _query(spark, strict, "in", "out", tmp_path).trigger(processingTime=f"{TRIGGER_S:.0f} seconds").start()
    for rows in (100, 200, 300):
        _wait_for_rows(query, strict, "out", rows, TRIGGER_S + 300)
        fill(strict, "in", 100, first=rows)
    query.stop()
    assert [value.decode() for value in committed_values(strict, "out")] == expected(300)


def _wait_for_rows(query: Any, cluster: EmbeddedCluster, topic: str, count: int, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while len(committed_values(cluster, topic)) < count:
        assert query.exception() is None, query.exception()
        assert time.monotonic() < deadline, f"fewer than {count} rows in {timeout_s} s"
        time.sleep(1.0)  # of minutes


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_spark_query_that_is_started_twenty_times(
    spark: Any, strict: EmbeddedCluster, tmp_path: pathlib.Path
) -> None:
    for name in ("again-in", "again-out"):
        strict.create_topic(name, 3, config=FOR_EVER)
    connections = []
    for number in range(20):
        fill(strict, "again-in", 50, first=50 * number)
        query = _query(spark, strict, "again-in", "again-out", tmp_path).trigger(availableNow=True).start()
        assert query.awaitTermination(200)
        connections.append(strict.connection_count(1))
        assert open_ids(strict) == []
    print("connections after each run:", connections)
    assert [value.decode() for value in committed_values(strict, "again-out")] == expected(1000)
    assert max(connections[10:]) <= max(connections[:10]) + 4  # it does not grow
