"""Consumer groups: handlers that take long, rebalances that nobody can explain, hand-overs, and fenced instances."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

import pytest

from pykclient import KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.aio import AsyncKafkaConsumer
from pykclient.errors import CommitFailed, FencedInstanceId, KafkaError, MaxPollExceeded, UnreleasedInstanceId
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.members import Ledger, Member, wait_until
from tests.integration.consumer.support import (
    PROTOCOLS,
    QUICK,
    numbers,
    open_consumer,
    produce,
    read_numbers,
    wait_assigned,
)
from tests.integration.user_asks.conftest import SESSION_S

each_protocol = pytest.mark.parametrize("protocol", list(PROTOCOLS))
one_of_each = pytest.mark.parametrize("protocol", ["classic-cooperative", "kip848"])


def session(protocol: str) -> dict[str, Any]:
    return {} if protocol == "kip848" else {"session_timeout_ms": int(SESSION_S * 1000)}


def open_async(cluster: EmbeddedCluster, *topics: str, protocol: str, **options: Any) -> AsyncKafkaConsumer:
    return AsyncKafkaConsumer(
        *topics, bootstrap_servers=cluster.bootstrap_servers, **(QUICK | PROTOCOLS[protocol] | options)
    )


# ---- heartbeats while user code works --------------------------------------------------------------------------------


@one_of_each
def test_nobody_is_thrown_out_while_a_handler_or_the_event_loop_is_blocked_or_the_topic_is_idle(
    cluster: EmbeddedCluster, name: str, protocol: str, full: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Heartbeats stop while user code works, and the group rebalances without end (kafka-python 2070, 1672, 1896)."""
    blocked_s, idle_s = (20.0, 60.0) if full else (2.2 * SESSION_S, 2.2 * SESSION_S)
    caplog.set_level(logging.INFO, "pykclient")
    ways = ("sleeps", "blocks-loop", "idle")
    groups = {way: f"{name}-{way}" for way in ways}
    for group in groups.values():
        cluster.create_topic(group, 2)
    failures: list[BaseException] = []
    ready, finished, release = (threading.Barrier(len(ways) + 1, timeout=120) for _ in range(3))

    def in_group(way: str) -> dict[str, Any]:
        return {"group_id": groups[way], "protocol": protocol} | session(protocol)

    def with_thread(way: str, work: Callable[[KafkaConsumer], object]) -> None:
        with open_consumer(cluster, groups[way], **in_group(way)) as consumer:
            wait_assigned(consumer, 2)
            ready.wait()
            work(consumer)
            finished.wait()
            release.wait()

    async def with_loop() -> None:
        async with open_async(cluster, groups["blocks-loop"], **in_group("blocks-loop")) as consumer:
            while len(consumer.assignment()) < 2:
                await consumer.poll(0.05)
            ready.wait()
            time.sleep(blocked_s)  # noqa: ASYNC251  blocking the loop is the test
            await consumer.poll(0.2)
            finished.wait()
            release.wait()

    def sleep_and_poll(consumer: KafkaConsumer) -> None:
        time.sleep(blocked_s)
        consumer.poll(0.2)

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
            for barrier in (ready, finished, release):
                barrier.abort()

    works: list[Callable[[], None]] = [
        lambda: with_thread("sleeps", sleep_and_poll),
        lambda: with_thread("idle", lambda consumer: consumer.poll(idle_s)),
        lambda: asyncio.run(with_loop()),
    ]
    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
        before = {group: epoch(cluster, group) for group in groups.values()}
        caplog.clear()
        finished.wait()
        # Asked while they are still members: leaving is a rebalance too.
        after = {group: epoch(cluster, group) for group in groups.values()}
        assert "cause:" not in caplog.text
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        release.wait()
    finally:
        release.abort() if failures else None
        for thread in threads:
            thread.join(30)
        assert not failures, failures
    assert after == before


def epoch(cluster: EmbeddedCluster, group: str) -> tuple[int, int]:
    view = cluster.group_info(group)
    assert view is not None
    return view.epoch, len(view.members)


# ---- too slow --------------------------------------------------------------------------------------------------------


@one_of_each
def test_who_was_too_slow_comes_back_by_polling_and_finds_a_typed_notice(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After max.poll.interval.ms a consumer hangs, logs one line and never consumes again (confluent 629)."""
    topic = new_topic()
    produce(cluster, topic, range(5))
    options = {"max_poll_interval_ms": 500, "enable_auto_commit": False, "client_id": "the-slow-one"}
    with open_consumer(cluster, topic, group_id=topic, protocol=protocol, **options, **session(protocol)) as consumer:
        read_numbers(consumer, range(5))
        assert consumer.max_poll_exceeded_events == []
        wait_until(lambda: epoch(cluster, topic)[1] == 0, "thrown out")
        assert read_numbers(consumer, range(5)) == list(range(5))
        [event] = consumer.max_poll_exceeded_events
    assert isinstance(event, MaxPollExceeded)
    assert event.limit_ms == 500
    assert (event.overrun_ms or 0) > 0
    assert f"{event.limit_ms}" in str(event)
    assert f"{event.overrun_ms} ms" in str(event)
    [warning] = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert "the-slow-one" in warning, "the one warning names who was slow"


@each_protocol
def test_pause_survives_a_rebalance(cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str) -> None:
    """A rebalance un-pauses paused partitions, so the one way to work for long is broken (confluent 120)."""
    topic = new_topic(4)
    produce(cluster, topic, range(40), partitions=4)
    with open_consumer(cluster, topic, group_id=topic, protocol=protocol) as first:
        wait_assigned(first, 4)
        first.seek_to_beginning()
        first.pause(first.assignment())
        with open_consumer(cluster, topic, group_id=topic, protocol=protocol) as second:
            second_seen: list[int] = []
            deadline = time.monotonic() + 15
            while (len(first.assignment()), len(second.assignment())) != (2, 2) or len(second_seen) < 20:
                assert time.monotonic() < deadline
                assert not first.poll(0.05), "a paused partition"
                second_seen += numbers(second.poll(0.05).records())
            assert first.paused() == first.assignment()
            assert not second.paused()
            assert not first.poll(0.3), "a paused partition"
            first.resume(first.paused())
            read_numbers(first, set(range(40)) - set(second_seen))


@one_of_each
@pytest.mark.parametrize("way", ["pause", "process"])
def test_a_job_of_three_intervals_keeps_its_place(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str, way: str
) -> None:
    """Work of minutes per record is "very hard to deal with robustly in any python kafka client" (confluent 120)."""
    topic = new_topic()
    produce(cluster, topic, range(3))
    interval_s = 0.3
    options = {"max_poll_interval_ms": int(interval_s * 1000), "max_poll_records": 1}
    done: list[int] = []

    def job(record: Any) -> None:
        time.sleep(3 * interval_s if not done else 0)
        done.append(record.offset)

    with open_consumer(cluster, topic, group_id=topic, protocol=protocol, **options, **session(protocol)) as consumer:
        wait_assigned(consumer, 1)
        consumer.seek_to_beginning()
        before = epoch(cluster, topic)
        if way == "process":
            consumer.process(job, workers=1, stop=lambda: len(done) == 3)
        else:
            while len(done) < 3:
                for record in consumer.poll(0.1).records():
                    worker = threading.Thread(target=job, args=(record,))
                    worker.start()
                    consumer.pause(consumer.assignment())
                    while worker.is_alive():
                        assert not consumer.poll(0.1), "no new records while the job runs"
                    worker.join()
                    consumer.resume(consumer.paused())
        assert epoch(cluster, topic) == before
        assert consumer.max_poll_exceeded_events == []
    assert done == [0, 1, 2], "each once"


# ---- what a rebalance says -------------------------------------------------------------------------------------------


@each_protocol
def test_a_second_member_is_no_warning_and_every_line_has_a_cause(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    """ "Heartbeat failed because it is rebalancing": a warning that nobody can act on (aiokafka 335, 406)."""
    topic = new_topic(4)
    caplog.set_level(logging.INFO, "pykclient")
    ledger = Ledger()

    def member(name: str) -> Member:
        return Member(
            name, ledger, lambda: open_consumer(cluster, group_id=topic, protocol=protocol, client_id=name), topic
        )

    first = member("first")
    try:
        wait_until(lambda: len(ledger.shares().get("first", ())) == 4, "all for the first")
        caplog.clear()
        second = member("second")
        try:
            wait_until(lambda: [len(share) for share in ledger.shares().values()] == [2, 2], "two each")
            lines = rebalance_lines(caplog)
            assert 1 <= sum(line.startswith("first:") for line in lines) <= 2, lines  # cooperative: two rounds
            assert sum(line.startswith("second:") for line in lines) in (1, 2), lines
            caplog.clear()
        finally:
            second.stop()
        wait_until(lambda: len(ledger.shares().get("first", ())) == 4, "all for the first again")
        left = [line for line in rebalance_lines(caplog) if line.startswith("first:")]
        assert left
        if protocol != "kip848":  # there the broker decides, and does not tell why
            assert "left" in left[0], left
    finally:
        first.stop()
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def rebalance_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    return [record.getMessage() for record in caplog.records if "cause: " in record.getMessage()]


# ---- hand-over -------------------------------------------------------------------------------------------------------


@each_protocol
def test_an_awaited_commit_on_revocation_is_where_the_next_owner_begins(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """The docs say commit in on_partitions_revoked, practice shows reassignment first (aiokafka 1084, 335)."""
    topic = new_topic(4)
    produce(cluster, topic, range(80), partitions=4)
    options: dict[str, Any] = {
        "group_id": topic, "protocol": protocol, "enable_auto_commit": False, "max_poll_records": 3,
    }  # fmt: skip

    async def test() -> list[int]:
        seen: list[int] = []
        lock = asyncio.Lock()

        class Listener:
            revoked = 0

            async def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
                async with lock:  # a lock of the user's, held across the commit
                    await asyncio.sleep(0.01)
                    await first.commit()
                self.revoked += len(partitions)

            async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
                async with lock:
                    for tp in partitions:
                        await first.position(tp)

        first = open_async(cluster, **options)
        listener = Listener()
        await first.subscribe([topic], listener=listener)  # type: ignore[arg-type]
        while len(seen) < 20:
            seen += numbers((await first.poll(0.1)).records())
        async with open_async(cluster, topic, **options) as second:
            deadline = time.monotonic() + 20
            while len(seen) < 80:
                assert time.monotonic() < deadline, f"{len(seen)} of 80"
                for consumer in (first, second):
                    seen += numbers((await consumer.poll(0.05)).records())
        await first.close()
        assert listener.revoked
        return seen

    assert sorted(asyncio.run(asyncio.wait_for(test(), 40))) == list(range(80)), "each record once"


@one_of_each
def test_committing_beside_a_poll_with_a_listener_that_uses_the_consumer_ends(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """A rebalance callback that calls the consumer while another task commits deadlocks (confluent PR 2322)."""
    topic = new_topic(2)
    produce(cluster, topic, range(20), partitions=2)

    counts: list[int] = []

    async def test() -> None:
        class Listener:
            async def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
                polled, *_ = await asyncio.gather(consumer.poll(0), consumer.commit(), consumer.committed(partitions))
                counts.append(polled.count)

            async def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
                polled, _ = await asyncio.gather(consumer.poll(0), consumer.commit())
                counts.append(polled.count)

        consumer = open_async(cluster, group_id=topic, protocol=protocol, enable_auto_commit=False)
        await consumer.subscribe([topic], listener=Listener())  # type: ignore[arg-type]
        give_up_at = time.monotonic() + 20
        while sum(counts) < 20:
            assert time.monotonic() < give_up_at, counts
            polled, _ = await asyncio.wait_for(asyncio.gather(consumer.poll(1.0), consumer.commit()), 5)
            counts.append(polled.count)
        await asyncio.wait_for(consumer.close(), 5)

    asyncio.run(test())


@each_protocol
def test_committing_a_partition_of_somebody_else_names_it_and_commits_only_the_rest(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """A thread went on committing partitions that were no longer its own (sentry PR 95753)."""
    topic = new_topic(2)
    with open_consumer(cluster, topic, group_id=topic, protocol=protocol, enable_auto_commit=False) as first:
        wait_assigned(first, 2)
        with open_consumer(cluster, topic, group_id=topic, protocol=protocol, enable_auto_commit=False) as second:
            wait_until(lambda: not (first.poll(0.05) or second.poll(0.05)) and len(first.assignment()) == 1, "one each")
            wait_assigned(second, 1)
            [mine], [theirs] = first.assignment(), second.assignment()
            second.commit({theirs: 7})
            with pytest.raises(CommitFailed) as caught:
                first.commit({mine: 5, theirs: 3})
            assert set(caught.value.errors) == {theirs}
            assert str(theirs.partition) in str(caught.value)
            assert topic in str(caught.value)
            found = first.committed([mine, theirs])
            assert {tp: offset and offset.offset for tp, offset in found.items()} == {mine: 5, theirs: 7}
            heard: list[Exception | None] = []
            first.commit_async({theirs: 1}, lambda offsets, error: heard.append(error))
            wait_until(lambda: heard, "the callback")
            assert isinstance(heard[0], CommitFailed)


@each_protocol
def test_a_commit_by_who_was_thrown_out_does_not_undo_those_of_others(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """A slow member commits late, while its group is empty: everything since then is read twice (kafka-python 1716)."""
    topic = new_topic()
    produce(cluster, topic, range(10))
    where = TopicPartition(topic, 0)
    options = {"group_id": topic, "protocol": protocol, "enable_auto_commit": False, **session(protocol)}
    with open_consumer(cluster, topic, max_poll_interval_ms=300, max_poll_records=2, **options) as slow:
        read_numbers(slow, range(2))
        wait_until(lambda: epoch(cluster, topic)[1] == 0, "thrown out")
        with open_consumer(cluster, topic, **options) as quick:
            read_numbers(quick, range(10))
            quick.commit()
        with pytest.raises(CommitFailed, match="not a member"):
            slow.commit()
        with pytest.raises(CommitFailed, match="not a member"):
            slow.commit({where: 2})
        found = slow.committed([where])[where]
        assert found is not None
        assert found.offset == 10


# ---- static members --------------------------------------------------------------------------------------------------


@each_protocol
def test_a_fenced_instance_is_told_at_every_call_and_stays_out(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """A fatal error handled as transient: the pod shows 1/1 Running and consumes nothing (posthog PR 65809)."""
    topic = new_topic()
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "group_instance_id": "same"}

    async def test() -> None:
        first, second = open_async(cluster, topic, **options), open_async(cluster, topic, **options)
        while not first.assignment():
            await first.poll(0.05)
        loser, winner = (second, first) if protocol == "kip848" else (first, second)
        reading = asyncio.ensure_future(read_for_ever(winner))

        async def iterate() -> None:
            async for _ in loser:
                pass

        with pytest.raises((FencedInstanceId, UnreleasedInstanceId)) as caught:
            await asyncio.wait_for(iterate(), 10)
        error = type(caught.value)
        assert caught.value.fatal
        await asyncio.sleep(0.3)
        before = epoch(cluster, topic)
        for _ in range(3):
            with pytest.raises(error):
                await loser.poll(0.05)
            with pytest.raises(error):
                await iterate()
            with pytest.raises(KafkaError):
                await loser.commit({TopicPartition(topic, 0): 0}, timeout=5)
        await asyncio.sleep(0.5)
        assert epoch(cluster, topic) == before, "it does not join again"
        assert winner.assignment()
        reading.cancel()
        await loser.close()
        await winner.close()

    asyncio.run(asyncio.wait_for(test(), 40))


async def read_for_ever(consumer: AsyncKafkaConsumer) -> None:
    while True:
        await consumer.poll(0.1)


# ---- who moves -------------------------------------------------------------------------------------------------------


class Feed:
    """Numbers into every partition, for as long as it runs."""

    def __init__(self, cluster: EmbeddedCluster, topic: str, partitions: int) -> None:
        self.count = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(cluster.bootstrap_servers, topic, partitions))
        self._thread.start()

    def _run(self, servers: str, topic: str, partitions: int) -> None:
        with KafkaProducer(bootstrap_servers=servers, linger_ms=0) as producer:
            while not self._stop.wait(0.01):
                producer.send(topic, b"%d" % self.count, partition=self.count % partitions)
                self.count += 1

    def stop(self) -> int:
        self._stop.set()
        self._thread.join(30)
        return self.count


@one_of_each
def test_a_fourth_member_that_comes_and_goes_moves_only_its_own_share_in_two_rounds(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """One shutdown revokes and assigns the survivors' partitions seven or eight times (librdkafka 3891)."""
    topic = new_topic(12)
    ledger = Ledger()

    def member(number: int) -> Member:
        options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "auto_commit_interval_ms": 50}
        return Member(f"m{number}", ledger, lambda: open_consumer(cluster, **options), topic)

    def settled(*shares: int) -> Callable[[], bool]:
        return lambda: sorted(map(len, ledger.shares().values())) == sorted(shares)

    feed = Feed(cluster, topic, 12)
    team = [member(number) for number in range(3)]
    try:
        wait_until(settled(4, 4, 4), "three shares of four")
        before, generation = ledger.shares(), epoch(cluster, topic)[0]
        ledger.moves.clear()
        fourth = member(3)
        wait_until(settled(3, 3, 3, 3), "four shares of three")
        after = ledger.shares()
        given = [tp for how, _, partitions in ledger.moves for tp in partitions if how != "took"]
        assert sorted(given) == sorted(after["m3"]), "what moved, once, and nothing else"
        assert all(after[each] < before[each] for each in before)
        assert epoch(cluster, topic)[0] - generation <= 2, "rounds"
        generation = epoch(cluster, topic)[0]
        ledger.moves.clear()
        fourth.stop()
        wait_until(settled(4, 4, 4), "three shares of four")
        given = [tp for how, who, partitions in ledger.moves for tp in partitions if how != "took" and who != "m3"]
        assert given == [], "nobody else gives anything up"
        assert all(after[each] < share for each, share in ledger.shares().items())
        assert epoch(cluster, topic)[0] - generation <= 2, "rounds"
        count = feed.stop()
        wait_until(lambda: len(ledger.seen) == count, "every record")
    finally:
        feed.stop()
        for each in team:
            each.stop()
    assert not ledger.double
    assert max(ledger.seen.values()) == 1, "nothing twice"
    assert not [error for each in (*team, fourth) for error in each.errors]


@pytest.mark.parametrize("before", ["classic-range", "classic-cooperative"])
def test_a_rolling_upgrade_to_the_new_protocol_loses_and_doubles_nothing(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], before: str
) -> None:
    """Classic groups are going away, and nobody dares to move (kafka-python 3000, arroyo PR 419)."""
    topic = new_topic(6)
    ledger = Ledger()

    def member(name: str, protocol: str) -> Member:
        options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "auto_commit_interval_ms": 50}
        return Member(name, ledger, lambda: open_consumer(cluster, **options), topic)

    feed = Feed(cluster, topic, 6)
    alive = [member("old0", before), member("old1", before)]
    everyone = list(alive)
    try:
        wait_until(lambda: sorted(map(len, ledger.shares().values())) == [3, 3], "two shares")
        for number in range(2):
            alive.append(member(f"new{number}", "kip848"))
            everyone.append(alive[-1])
            wait_until(lambda: sorted(map(len, ledger.shares().values())) == [2, 2, 2], "three shares")
            alive.pop(0).stop()
            wait_until(lambda: sorted(map(len, ledger.shares().values())) == [3, 3], "two shares")
        view = cluster.group_info(topic)
        assert view is not None
        assert view.kind == "consumer"
        count = feed.stop()
        wait_until(lambda: len(ledger.seen) == count, "every record")
    finally:
        feed.stop()
        for each in alive:
            each.stop()
    assert not ledger.double
    assert max(ledger.seen.values()) == 1, "nothing twice"
    assert not [error for each in everyone for error in each.errors]
