"""exactlyOnce: read_committed output equals the input as a multiset, whatever dies when; or the query fails loudly."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient import KafkaAdminClient, PreparedTransaction
from pykclient.errors import ExactlyOnceError, UsageError
from pykclient.spark import resolve_batch
from pykclient.spark.clients import close_all
from pykclient.spark.decision_log import Batch, Decided, DecisionLog, Entry, Rows, Slot
from pykclient.spark.decisions import Decisions
from pykclient.testing import EmbeddedCluster
from tests.spark.batch_driver import (
    DIED,
    OK,
    QUERY,
    Job,
    Step,
    abort_batch,
    commit_batch,
    drive,
    plan_batch,
    run_batch,
    write_task,
)
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
    rule = cluster.faults.error(
        "END_TXN", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", transactional_id=f"{target}.1", count=1
    )
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


def test_speculation_is_refused_by_name(spark: Any, cluster: EmbeddedCluster, topic: str, load: Load) -> None:
    """Spark tells its tasks the settings of the session; here one of them is told so. With the setting itself, in a
    stream: test_driver_killed.py."""
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "topic": topic, "transactionalIdPrefix": topic}
    frame = spark.sql("select 'v' as value").write.format("pykclient").mode("append").options(**options)
    spark.sparkContext.setLocalProperty("spark.speculation", "true")
    try:
        with pytest.raises(Exception, match=r"cannot be used with spark.speculation=true"):
            frame.option("exactlyOnce", "true").save()
    finally:
        spark.sparkContext.setLocalProperty("spark.speculation", None)
    assert values(load(subscribe=topic, **COMMITTED)) == []


# ---- without Spark's JVM: the same classes, pickled as Spark does it


def rows_of(number: int, count: int = 20) -> list[bytes]:
    return [b"%d-%d" % (number, row) for row in range(count)]


@pytest.fixture
def job(cluster: EmbeddedCluster, topic: str) -> Iterator[Callable[..., Job]]:
    """A batch of twenty rows for the test's topic."""

    def make(number: int, slots: int = 2, **more: Any) -> Job:
        rows = more.pop("rows", rows_of(number))
        return Job(cluster.bootstrap_servers, topic, number, rows, slots, **more)

    yield make
    close_all()


def committed_values(cluster: Any, topic: str) -> list[bytes]:
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


def open_ids(cluster: Any) -> list[str]:
    """Transactional ids with a transaction that is not ended."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        return sorted(admin.list_transactions(states=["Ongoing", "PrepareCommit", "PrepareAbort"]))


def abort_as_if_timed_out(cluster: Any, transactional_id: str) -> None:
    """What the broker does when transaction.timeout.ms has passed: abort, and refuse the epoch from then on."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.fence_producers(transactional_id).raise_for_errors()


EVERY_STEP = [
    Step(what, after, nth)
    for what, times in (("claim", 1), ("send", 4), ("task", 2), ("decision", 1), ("end", 2), ("done", 1))
    for nth in range(1, times + 1)
    for after in (False, True)
]


def test_every_single_step_may_be_the_drivers_last(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], full: bool
) -> None:
    for number, step in enumerate(EVERY_STEP if full else EVERY_STEP[1::3]):
        assert drive(job(number, 2, die=step)) == DIED, step
        assert drive(job(number, 3)) == OK, step  # the rows are in other tasks now
        assert committed_values(cluster, topic) == sorted(row for n in range(number + 1) for row in rows_of(n)), step
    assert open_ids(cluster) == []


def test_leftovers_of_tasks_that_are_not_there_any_more_are_aborted(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    assert drive(job(0, 4, die=Step("decision"))) == DIED
    assert open_ids(cluster) == [f"{topic}.{slot}" for slot in range(4)]
    run_batch(job(0, 1))
    assert open_ids(cluster) == []
    assert committed_values(cluster, topic) == sorted(rows_of(0))


@pytest.mark.parametrize("owner", ["checkpoint", "other"])
def test_two_queries_or_two_runs_with_one_prefix_fail_by_name(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], owner: str
) -> None:
    first, second = job(0, 3), job(0, 1, owner=owner, query=owner)
    packed = plan_batch(first)
    messages = [write_task(first, packed, slot) for slot in range(3)]
    run_batch(second)
    with pytest.raises(ExactlyOnceError, match="another query, or another run of this one, uses transactionalIdPrefix"):
        commit_batch(first, messages)
    assert committed_values(cluster, topic) == sorted(rows_of(0))
    assert open_ids(cluster) == []


def test_a_driver_that_was_thought_dead_cannot_decide(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked, and found its claim and its transactions; then another run claims; then it writes its decision."""
    old, new = job(0, 3), job(0, 2)
    packed = plan_batch(old)
    messages = [write_task(old, packed, slot) for slot in range(3)]
    check_open = Decisions._check_open

    def checked(decisions: Decisions, slots: list[Slot]) -> None:
        check_open(decisions, slots)
        assert drive(new) == OK

    monkeypatch.setattr(Decisions, "_check_open", checked)
    with pytest.raises(ExactlyOnceError, match="another query, or another run of this one"):
        commit_batch(old, messages)
    assert committed_values(cluster, topic) == sorted(rows_of(0))
    monkeypatch.undo()
    run_batch(job(1))
    assert committed_values(cluster, topic) == sorted(rows_of(0) + rows_of(1))


def test_a_batch_is_remembered_though_another_query_used_the_prefix_since(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    run_batch(job(0))
    run_batch(job(7, owner="other", query="other"))
    for _ in range(2):  # the driver died before Spark noted the batch, and twice more
        assert drive(job(0, die=Step("claim", after=True))) == DIED
    run_batch(job(0))
    assert committed_values(cluster, topic) == sorted(rows_of(0) + rows_of(7))


def test_what_a_failed_task_has_left_is_aborted_with_the_rest(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    """Task 1 dies with its transaction open, again and again, until Spark gives up."""
    batch = job(0)
    packed = plan_batch(batch)
    message = write_task(batch, packed, 0)
    write_task(batch, packed, 1)  # nobody hears of it
    assert open_ids(cluster) == [f"{topic}.0", f"{topic}.1"]
    abort_batch(batch, [message])
    assert open_ids(cluster) == []


def test_a_batch_of_thousands_of_tasks_can_be_decided(topic: str, job: Callable[..., Job]) -> None:
    slots = tuple(
        Slot(number, PreparedTransaction(f"{topic}.{number}", 10**9 + 7 * number, 1, 5), Rows(10**6, 2**63 + number**5))
        for number in range(10_000)
    )
    entry = Entry("decision", "checkpoint", "claim", None, Decided(Batch(QUERY, 0), slots))
    log = DecisionLog({"bootstrap.servers": job(0).servers}, topic)
    log.create()
    with log.hold() as holder:
        holder.write(entry)
        assert holder.newest() == entry


# ---- transactions that are lost


def test_a_batch_that_took_too_long_fails_before_anything_is_visible(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    batch = job(0, options={"kafka.transaction.timeout.ms": "60000"})
    packed = plan_batch(batch)
    messages = [write_task(batch, packed, slot) for slot in range(2)]
    cluster.clock.advance(120)
    cluster.wait_until(lambda: open_ids(cluster) == [] or None, "the brokers to abort both transactions")
    with pytest.raises(
        ExactlyOnceError, match=r"longer than kafka.transaction.timeout.ms \(60000\).*start the query again"
    ):
        commit_batch(batch, messages)
    assert committed_values(cluster, topic) == []
    run_batch(batch)
    assert committed_values(cluster, topic) == sorted(rows_of(0))


def half_committed(cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]) -> None:
    """Batch 0 in two tasks: decided, the first is committed, the driver dies, and the second times out."""
    assert drive(job(0, 2, die=Step("end", after=True), one_at_a_time=True)) == DIED
    abort_as_if_timed_out(cluster, f"{topic}.1")
    assert committed_values(cluster, topic) == sorted(rows_of(0)[::2])


def test_what_is_missing_of_a_batch_is_written_when_it_comes_back_the_same(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    half_committed(cluster, topic, job)
    shuffled = rows_of(0)[::2][::-1], rows_of(0)[1::2][::-1]  # the order of rows within a task does not matter
    run_batch(job(0, 2, rows=[row for pair in zip(*shuffled, strict=True) for row in pair]))
    assert committed_values(cluster, topic) == sorted(rows_of(0))
    run_batch(job(1, 3))
    assert committed_values(cluster, topic) == sorted(rows_of(0) + rows_of(1))


def test_the_driver_may_die_again_while_it_writes_what_is_missing(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    half_committed(cluster, topic, job)
    for step in (Step("claim", True), Step("task", True, 2), Step("decision", True), Step("end"), Step("end", True)):
        assert drive(job(0, 2, die=step)) == DIED
        if step == Step("decision", True):
            abort_as_if_timed_out(cluster, f"{topic}.1")
    assert drive(job(0, 5)) == OK  # now it is committed as a whole, so that it matters no more where its rows are
    assert committed_values(cluster, topic) == sorted(rows_of(0))


@pytest.mark.parametrize("replay", [True, False])
def test_rows_that_moved_in_a_batch_committed_in_part_fail_until_the_operator_decides(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], replay: bool
) -> None:
    half_committed(cluster, topic, job)
    for _ in range(2):
        with pytest.raises(
            ExactlyOnceError, match=r"in part: it came back with other rows in the tasks 0, 1, 2.*resolve"
        ):
            run_batch(job(0, 3))
        assert open_ids(cluster) == []
    found = resolve_batch(topic, replay=replay, bootstrap_servers=cluster.bootstrap_servers)
    assert found == Batch(QUERY, 0)
    assert resolve_batch(topic, replay=replay, bootstrap_servers=cluster.bootstrap_servers) is None
    run_batch(job(0, 3))
    visible = rows_of(0)[::2]
    assert committed_values(cluster, topic) == sorted(rows_of(0) + visible if replay else visible)
    run_batch(job(1, 3))


@pytest.mark.parametrize("slots", [1, 2])
def test_a_late_attempt_that_takes_the_id_of_a_committed_transaction_does_not_double_it(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], slots: int
) -> None:
    """The coordinator then says "fenced", as it does of an aborted one; the marker in the transaction knows better."""
    assert drive(job(0, slots, die=Step("end", after=True, nth=slots))) == DIED
    for slot in range(slots):
        abort_as_if_timed_out(cluster, f"{topic}.{slot}")
    run_batch(job(0, slots + 1))
    assert committed_values(cluster, topic) == sorted(rows_of(0))


def test_a_decision_of_which_nothing_became_visible_is_written_anew(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    assert drive(job(0, 2, die=Step("decision", after=True))) == DIED
    for slot in range(2):
        abort_as_if_timed_out(cluster, f"{topic}.{slot}")
    run_batch(job(0, 3))
    assert committed_values(cluster, topic) == sorted(rows_of(0))


# ---- batches that come back changed


@pytest.mark.parametrize("replay", [True, False])
def test_a_committed_batch_that_comes_back_with_other_rows_is_not_taken_for_the_same(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job], replay: bool
) -> None:
    """offsets/N and commits/N were deleted: Spark makes up batch N anew, with what has come since."""
    run_batch(job(0))
    grown = job(0, rows=rows_of(0, 25))
    for _ in range(2):
        with pytest.raises(ExactlyOnceError, match=r"committed with 20 rows, and came back with 25.*resolve_batch"):
            run_batch(grown)
    assert resolve_batch(topic, replay=replay, bootstrap_servers=cluster.bootstrap_servers) == Batch(QUERY, 0)
    run_batch(grown)
    assert committed_values(cluster, topic) == sorted(rows_of(0) + rows_of(0, 25) if replay else rows_of(0))


def test_as_many_rows_with_other_contents_are_noticed_too_unless_told_not_to(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    run_batch(job(0))
    changed = [*rows_of(0)[:-1], b"other"]
    with pytest.raises(ExactlyOnceError, match=r"came back with 20 others.*checkReplays=false"):
        run_batch(job(0, rows=changed))
    run_batch(job(0, rows=changed, options={"checkReplays": "false"}))
    assert committed_values(cluster, topic) == sorted(rows_of(0))


def test_a_checkpoint_that_went_back_is_refused(job: Callable[..., Job]) -> None:
    run_batch(job(7, 1))
    with pytest.raises(ExactlyOnceError, match="went back in time"):
        run_batch(job(6, 1))


# ---- time-outs and the topic


def test_a_timeout_above_the_brokers_maximum_is_refused_with_both_numbers(job: Callable[..., Job]) -> None:
    with pytest.raises(
        UsageError, match=r"timeout.ms is 900001, but the brokers allow 900000.*transaction.max.timeout"
    ):
        run_batch(job(0, options={"kafka.transaction.timeout.ms": "900001"}))


def test_a_timeout_below_the_trigger_is_refused_with_both_numbers(job: Callable[..., Job]) -> None:
    options = {"kafka.transaction.timeout.ms": "60000", "triggerInterval": "5 minutes"}
    with pytest.raises(UsageError, match=r"timeout.ms is 60000, less than the triggerInterval of 300000 ms.*900000"):
        run_batch(job(0, options=options))
    run_batch(job(0, options={"triggerInterval": "5 minutes"}))


def test_the_default_timeout_is_what_the_brokers_allow() -> None:
    with EmbeddedCluster(seed=4, transaction_max_timeout_ms=70_000) as strict:
        strict.create_topic("strict", 3)
        batch = Job(strict.bootstrap_servers, "strict", 0, rows_of(0), 1)
        messages = [write_task(batch, plan_batch(batch), 0)]
        with KafkaAdminClient(bootstrap_servers=strict.bootstrap_servers) as admin:
            assert admin.describe_transactions("strict.0")["strict.0"].timeout_ms == 70_000
        commit_batch(batch, messages)
        close_all()


def test_a_topic_of_decisions_that_forgets_is_refused(
    cluster: EmbeddedCluster, topic: str, job: Callable[..., Job]
) -> None:
    cluster.create_topic(f"{topic}.decisions", 1)
    with pytest.raises(UsageError, match=r"cleanup.policy=delete; it must be compact"):
        run_batch(job(0))
