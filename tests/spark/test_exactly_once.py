"""exactlyOnce: read_committed output equals the input as a multiset, whatever dies when; or the query fails loudly."""

from __future__ import annotations

import itertools
import pathlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from pykclient.errors import ExactlyOnceError
from pykclient.spark.clients import close_all
from pykclient.testing import EmbeddedCluster
from tests.spark.data import expected, fill, forget_last_commit, values

Load = Callable[..., Any]
COMMITTED = {"kafka__isolation__level": "read_committed"}


# ---- in Spark


@pytest.fixture
def copy(spark: Any, cluster: EmbeddedCluster, tmp_path: pathlib.Path) -> Callable[..., Any]:
    """Run a stream from one topic to another until it has read all."""

    def copy(source: str, target: str, *, sink: dict[str, str] | None = None, **options: str) -> Any:
        servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
        exactly = {"exactlyOnce": "true", "transactionalIdPrefix": target, **(sink or {})}
        query = (
            spark.readStream.format("pykclient")
            .options(**servers, subscribe=source, startingOffsets="earliest", **options)
            .load()
            .select("key", "value")
            .writeStream.format("pykclient")
            .options(**servers, topic=target, checkpointLocation=str(tmp_path), **exactly)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(120)
        return query

    return copy


@pytest.fixture
def target(cluster: EmbeddedCluster, topic: str) -> str:
    cluster.create_topic(topic + "-out", 2)
    return topic + "-out"


def test_a_batch_that_comes_back_is_not_written_again(
    cluster: EmbeddedCluster, topic: str, target: str, copy: Any, load: Load, tmp_path: pathlib.Path
) -> None:
    fill(cluster, topic, 900)
    copy(topic, target, maxOffsetsPerTrigger="300")
    forget_last_commit(tmp_path)
    fill(cluster, topic, 100, first=900)
    # The rows of the batch that comes back are in other tasks now.
    copy(topic, target, maxOffsetsPerTrigger="300", minPartitions="5")
    assert values(load(subscribe=target, **COMMITTED)) == expected(1000)


def test_a_commit_that_fails_is_finished_by_the_next_run(
    cluster: EmbeddedCluster, topic: str, target: str, copy: Any, load: Load
) -> None:
    fill(cluster, topic, 600)
    rule = cluster.faults.error("END_TXN", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", count=1, skip=1)
    with pytest.raises(Exception, match=r"(?i)transactional"):
        copy(topic, target)
    assert rule.hits == 1
    copy(topic, target)
    assert values(load(subscribe=target, **COMMITTED)) == expected(600)


def test_a_task_that_dies_leaves_nothing_behind(
    cluster: EmbeddedCluster, topic: str, target: str, copy: Any, load: Load
) -> None:
    fill(cluster, topic, 600)
    rule = cluster.faults.error("PRODUCE", "INVALID_RECORD", topic=target, count=1)
    copy(topic, target)  # the task is run again
    assert rule.hits == 1
    assert values(load(subscribe=target, **COMMITTED)) == expected(600)


def test_batch_writes_with_a_token_are_written_once(
    spark: Any, cluster: EmbeddedCluster, topic: str, load: Load
) -> None:
    frame = spark.range(500).selectExpr("concat('v', id) as value").repartition(3)
    options = {
        "kafka.bootstrap.servers": cluster.bootstrap_servers,
        "topic": topic,
        "exactlyOnce": "true",
        "transactionalIdPrefix": topic,
    }
    for token in ("monday", "monday", "tuesday", "monday"):
        frame.write.format("pykclient").mode("append").options(**options, idempotencyToken=token).save()
    assert values(load(subscribe=topic, **COMMITTED)) == sorted(expected(500) * 2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"exactlyOnce": "true"}, "exactlyOnce needs transactionalIdPrefix"),
        ({"transactionalIdPrefix": "x"}, "need exactlyOnce=true"),
        (
            {"exactlyOnce": "true", "transactionalIdPrefix": "x", "kafka.transactional.id": "y"},
            "kafka.transactional.id",
        ),
        (
            {"exactlyOnce": "true", "transactionalIdPrefix": "x", "kafka.transaction.timeout.ms": "99999999"},
            "(?i)transaction.*timeout",
        ),
    ],
)
def test_mistakes_show_our_sentence(
    spark: Any, cluster: EmbeddedCluster, topic: str, options: dict[str, str], complaint: str
) -> None:
    frame = spark.sql("select 'v' as value")
    servers = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "topic": topic}
    with pytest.raises(Exception, match=complaint):
        frame.write.format("pykclient").mode("append").options(**servers, **options).save()


# ---- without Spark's JVM: a driver that dies between any two steps


class Died(Exception):
    """The driver is gone; nothing after this point happens."""


class Driver:
    """Does what Spark does with our writer, and dies after ``steps_left`` of its steps that others can see."""

    def __init__(self, cluster: EmbeddedCluster, topic: str, steps_left: int, owner: str = "checkpoint") -> None:
        from pykclient.spark.decisions import Decisions
        from pykclient.spark.options import sink_options
        from pykclient.spark.sink import Layout

        self.options = sink_options(
            {
                "kafka.bootstrap.servers": cluster.bootstrap_servers,
                "topic": topic,
                "exactlyOnce": "true",
                "transactionalIdPrefix": topic,
            }
        )
        self.layout = Layout(False, False, False, False)
        self.steps_left = steps_left
        driver = self

        class Mortal(Decisions):
            def _write(self, entry: Any, key: str) -> None:
                driver.step()
                super()._write(entry, key)
                driver.step()

            def _commit_all(self, transactions: Any) -> tuple[list[str], list[str]]:
                outcomes = []
                for each in transactions:
                    driver.step()
                    outcomes.append(super()._commit_all([each]))
                driver.step()
                return [i for lost, _ in outcomes for i in lost], [i for _, gone in outcomes for i in gone]

        self.decisions = Mortal(self.options.client, topic, owner)

    def step(self) -> None:
        if self.steps_left == 0:
            raise Died
        self.steps_left -= 1

    def run(self, number: int, rows: list[bytes], slots: int) -> None:
        """One batch, its rows dealt out to so many tasks."""
        from pykclient.spark.decisions import Batch
        from pykclient.spark.sink import prepare_rows

        batch = Batch("query", number)
        committed = self.decisions.begin()
        messages = []
        for slot in range(slots):
            self.step()
            part = pa.RecordBatch.from_arrays([pa.array(rows[slot::slots], pa.binary())], names=["value"])
            messages.append(
                prepare_rows(self.options, self.layout, iter([part]), batch=batch, committed=committed, slot=slot)
            )
        if committed != batch:
            self.decisions.commit(batch, [each.transaction for each in messages if each.transaction is not None])


@pytest.fixture
def no_idle_clients() -> Iterator[None]:
    yield
    close_all()


def committed_values(cluster: EmbeddedCluster, topic: str) -> list[bytes]:
    from pykclient import KafkaConsumer, TopicPartition

    settings = {"isolation_level": "read_committed", "auto_offset_reset": "earliest"}
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, **settings) as consumer:
        partitions = [TopicPartition(topic, index) for index in range(3)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        found: list[bytes] = []
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            found += [record.value for record in consumer.poll(0.2).records()]
        return sorted(found)


def run_until_done(cluster: EmbeddedCluster, topic: str, batches: int, chance: random.Random, slots: Any) -> int:
    """Restart the driver until all batches are through; gives how often it died."""
    number = deaths = 0
    while number < batches:
        driver = Driver(cluster, topic, chance.randrange(25) if deaths < 20 else -1)
        try:
            while number < batches:
                rows = [b"%d-%d" % (number, row) for row in range(20)]
                driver.run(number, rows, slots())
                driver.step()
                number += 1
        except Died:
            deaths += 1
    return deaths


@pytest.mark.usefixtures("no_idle_clients")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_driver_that_dies_at_any_point_loses_and_doubles_nothing(
    cluster: EmbeddedCluster, topic: str, seed: int
) -> None:
    chance = random.Random(seed)
    # As many tasks as chance wills: rows move between slots when a batch comes back.
    deaths = run_until_done(cluster, topic, 4, chance, lambda: chance.randint(1, 4))
    assert deaths >= 5
    assert committed_values(cluster, topic) == sorted(b"%d-%d" % (b, r) for b in range(4) for r in range(20))


@pytest.mark.usefixtures("no_idle_clients")
def test_every_single_step_may_be_the_last(cluster: EmbeddedCluster, topic: str) -> None:
    rows = [b"r%d" % row for row in range(6)]
    for number in itertools.count():
        driver = Driver(cluster, topic, number)
        try:
            driver.run(number, rows, 2)
        except Died:
            Driver(cluster, topic, -1).run(number, rows, 3)
        else:
            break
    assert number == 11
    assert committed_values(cluster, topic) == sorted(rows * (number + 1))


@pytest.mark.usefixtures("no_idle_clients")
@pytest.mark.parametrize("owner", ["checkpoint", "other"])
def test_two_queries_or_two_runs_with_one_prefix_fail_by_name(cluster: EmbeddedCluster, topic: str, owner: str) -> None:
    from pykclient.spark.decisions import Batch
    from pykclient.spark.sink import prepare_rows

    first, second = Driver(cluster, topic, -1), Driver(cluster, topic, -1, owner)
    part = pa.RecordBatch.from_arrays([pa.array([b"a"], pa.binary())], names=["value"])
    committed = first.decisions.begin()
    message = prepare_rows(
        first.options, first.layout, iter([part]), batch=Batch("query", 0), committed=committed, slot=0
    )
    second.run(0, [b"b"], 1)
    assert message.transaction is not None
    with pytest.raises(ExactlyOnceError, match="another query, or another run of this one, uses transactionalIdPrefix"):
        first.decisions.commit(Batch("query", 0), [message.transaction])
    assert committed_values(cluster, topic) == [b"b"]


@pytest.mark.usefixtures("no_idle_clients")
@pytest.mark.parametrize("replay", [True, False])
def test_a_batch_committed_in_part_fails_loudly_until_the_operator_decides(
    cluster: EmbeddedCluster, topic: str, replay: bool
) -> None:
    from pykclient import KafkaProducer
    from pykclient.spark import resolve_batch

    rows = [b"r%d" % row for row in range(4)]
    # before and after the claim, two tasks, before and after the decision, before the first commit; then gone
    driver = Driver(cluster, topic, 7)
    with pytest.raises(Died):
        driver.run(0, rows, 2)
    assert committed_values(cluster, topic) == [b"r0", b"r2"]
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=f"{topic}.1") as stranger:
        stranger.init_transactions()  # as a transaction that timed out: aborted
    for _ in range(2):
        with pytest.raises(ExactlyOnceError, match=rf"committed in part: the transactions of {topic}.1"):
            Driver(cluster, topic, -1).run(0, rows, 2)
    resolve_batch(topic, replay=replay, bootstrap_servers=cluster.bootstrap_servers)
    Driver(cluster, topic, -1).run(0, rows, 2)
    assert committed_values(cluster, topic) == (sorted([*rows, b"r0", b"r2"]) if replay else [b"r0", b"r2"])


@pytest.mark.usefixtures("no_idle_clients")
def test_a_checkpoint_that_went_back_is_refused(cluster: EmbeddedCluster, topic: str) -> None:
    driver = Driver(cluster, topic, -1)
    driver.run(7, [b"x"], 1)
    with pytest.raises(ExactlyOnceError, match="went back in time"):
        driver.run(6, [b"x"], 1)
