"""Reading: records that are gone, records in hand when a program dies, many handlers at once, and what idling costs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.aio import AsyncKafkaConsumer
from pykclient.errors import ClientClosed, NoOffsetForPartition, OffsetOutOfRangeError
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import QUICK, open_consumer, produce, read_numbers

ROOT = Path(__file__).parents[3]


# ---- offsets out of range --------------------------------------------------------------------------------------------


def delete_before(cluster: EmbeddedCluster, where: TopicPartition, offset: int) -> None:
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.delete_records({where: offset}).raise_for_errors()


@pytest.mark.parametrize(
    ("policy", "position", "skipped"), [("earliest", 12, 7), ("latest", 20, 15), ("by_duration:PT1H", 15, 10)]
)
def test_records_deleted_under_a_paused_reader_are_an_event_with_the_numbers(
    cluster: EmbeddedCluster,
    new_topic: Callable[..., str],
    policy: str,
    position: int,
    skipped: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A silent skip: one INFO line, or the application stays alive and does nothing (kafka-python 988, quix 1114)."""
    topic = new_topic()
    where = TopicPartition(topic, 0)
    long_ago = 1_700_000_000_000
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(20):
            stamp = long_ago if number < 15 else None
            producer.send(topic, b"%d" % number, timestamp_ms=stamp).result(10)
    with open_consumer(cluster, auto_offset_reset=policy, max_poll_records=5) as consumer:
        consumer.assign([where])
        consumer.seek(where, 0)
        assert consumer.poll(10.0).count == 5
        consumer.pause([where])
        consumer.seek(where, 5)  # what was fetched already is dropped
        delete_before(cluster, where, 12)
        assert not consumer.poll(0.1)
        assert consumer.out_of_range_events == []
        consumer.resume([where])
        cluster.wait_until(lambda: consumer.poll(0.05) or consumer.out_of_range_events, "the event")
        [event] = consumer.out_of_range_events
        assert (event.topic_partition, event.wanted, event.earliest, event.latest) == (where, 5, 12, 20)
        assert (event.reset_to, event.skipped) == (position, skipped)
    [warning] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    for number in (5, 12, 20, skipped):
        assert str(number) in warning.split("out of range")[0] + warning.split("out of range")[1]


def test_out_of_range_and_no_offset_yet_are_two_errors(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    """Losing a position and never having had one are not the same thing (librdkafka 521)."""
    topic = new_topic()
    where = TopicPartition(topic, 0)
    produce(cluster, topic, range(20))
    with open_consumer(cluster, topic, group_id=topic, auto_offset_reset="none") as consumer:
        with pytest.raises(NoOffsetForPartition):
            consumer.poll(10.0)
        consumer.seek(where, 5)
        consumer.commit({where: 5})
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    delete_before(cluster, where, 12)
    with open_consumer(cluster, topic, group_id=topic, auto_offset_reset="none") as consumer:
        with pytest.raises(OffsetOutOfRangeError):
            consumer.poll(10.0)
        with pytest.raises(OffsetOutOfRangeError) as caught:
            consumer.poll(10.0)
        error = caught.value
        assert (error.topic, error.partition, error.wanted, error.earliest, error.latest) == (topic, 0, 5, 12, 20)
        consumer.seek(where, 12)
        assert read_numbers(consumer, range(12, 20)) == list(range(12, 20))
    [warning] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "offset 5 is out of range (the log has 12 to 20)" in warning
    assert "7 offsets" in warning


# ---- the record in hand ----------------------------------------------------------------------------------------------


class Stop(Exception):
    pass


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("ending", ["exception", "cancelled"])
def test_leaving_the_async_block_by_force_leaves_the_record_in_hand_uncommitted(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str, ending: str
) -> None:
    """close() commits what was not finished: the message is lost from a processing perspective (kafka-python 932)."""
    topic = new_topic()
    produce(cluster, topic, range(10))

    async def test() -> None:
        async with AsyncKafkaConsumer(
            topic, bootstrap_servers=cluster.bootstrap_servers, group_id=topic, group_protocol=protocol, **QUICK
        ) as consumer:
            async for record in consumer:
                if record.offset == 6:
                    if ending == "exception":
                        raise Stop
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                    await asyncio.sleep(10)

    with pytest.raises((Stop, asyncio.CancelledError)):
        asyncio.run(asyncio.wait_for(test(), 30))
    with open_consumer(cluster, group_id=topic) as consumer:
        found = consumer.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)]
    assert found is not None
    assert found.offset == 6


# ---- many handlers ---------------------------------------------------------------------------------------------------

# Notes the start and the end of each record; kills itself after a while.
MANY = """
import os, random, signal, sys, threading, time
from pykclient import KafkaConsumer
servers, topic, seed, kill_after = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
chance, lock, done, last = random.Random(seed), threading.Lock(), 0, time.monotonic() + 5

def note(word, record):
    os.write(1, b"%s %d %s %d\\n" % (word, record.partition, record.key, record.offset))

def handle(record):
    global done, last
    note(b"begin", record)
    time.sleep(chance.random() / 100)
    note(b"end", record)
    with lock:
        done, last = done + 1, time.monotonic()
        if done == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)

consumer = KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, group_protocol="consumer",
                         auto_offset_reset="earliest", fetch_max_wait_ms=50)
consumer.process(handle, workers=8, in_flight_max=IN_FLIGHT, commit_interval_ms=0,
                 stop=lambda: kill_after < 0 and time.monotonic() > last + 0.5)
consumer.close()
"""
IN_FLIGHT = 40


@pytest.mark.timeout(300)
def test_many_handlers_and_a_kill_lose_nothing_keep_the_order_and_repeat_little(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    """A later offset is committed while an earlier record is in work (faust 682, kafka-go 202, confluent 1017)."""
    topic = new_topic(3)
    count, kills = (3000, 20) if full else (200, 1)
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number, key=b"k%d" % (number % 11))
    chance = random.Random(8)
    ended: dict[tuple[int, int], int] = {}
    committed: dict[TopicPartition, int] = {}
    for turn in range(kills + 1):
        kill_after = -1 if turn == kills else chance.randrange(20, 80)
        process = subprocess.run(
            [sys.executable, "-c", MANY.replace("IN_FLIGHT", str(IN_FLIGHT)), cluster.bootstrap_servers, topic,
             str(turn), str(kill_after)],
            cwd=ROOT, stdout=subprocess.PIPE, timeout=100, check=False,
        )  # fmt: skip
        assert process.returncode == (0 if kill_after < 0 else -9)
        lines = [line.split() for line in process.stdout.splitlines()]
        again = check_order(lines, ended)
        assert again <= IN_FLIGHT, f"{again} repeated"
        committed = committed_offsets(cluster, topic)
        for tp, offset in committed.items():
            missing = [at for at in range(offset) if (tp.partition, at) not in ended]
            assert not missing, "committed, and never finished"
    ends = {tp.partition: offset for tp, offset in committed.items()}
    assert len(ended) == count
    assert sum(ends.values()) == count


@pytest.mark.parametrize("ending", ["stop", "failure", "close"])
def test_what_many_handlers_did_not_finish_is_not_committed_however_they_end(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], ending: str
) -> None:
    """Records that wait for a handler count as read, and are committed at the end (librdkafka 1122)."""
    topic = new_topic(2)
    produce(cluster, topic, range(400), partitions=2)
    done: list[int] = []

    def handle(record: Any) -> None:
        time.sleep(0.005)
        if ending == "failure" and len(done) >= 20:
            raise Stop
        done.append(int(record.value))
        if ending == "close" and len(done) == 20:
            threading.Thread(target=consumer.close).start()

    with contextlib.suppress(Stop, ClientClosed):
        with open_consumer(cluster, topic, group_id=topic, auto_commit_interval_ms=1) as consumer:
            consumer.process(handle, workers=2, ordering="partition", stop=lambda: ending == "stop" and len(done) >= 20)
            if ending == "stop":
                again = [int(record.value) for record in consumer.poll(10.0, max_records=5).records()]
                assert again, "polling goes on with what is not done"
                assert not set(again) & set(done)
                done += again
    assert len(done) < 390, "ended in the middle"
    with open_consumer(cluster, topic, group_id=topic) as consumer:
        read_numbers(consumer, set(range(400)) - set(done))


def check_order(lines: list[list[bytes]], ended: dict[tuple[int, int], int]) -> int:
    """Per key one at a time and in order, within one run; how many were done before. Adds those that ended."""
    working: dict[tuple[int, bytes], int] = {}
    last: dict[tuple[int, bytes], int] = {}
    again = 0
    for word, partition, key, offset in lines:
        lane = int(partition), key
        if word == b"begin":
            assert lane not in working, "two at once"
            assert last.get(lane, -1) < int(offset), "out of order"
            working[lane] = last[lane] = int(offset)
            again += (int(partition), int(offset)) in ended
        else:
            del working[lane]
            ended[int(partition), int(offset)] = 1
    return again


def committed_offsets(cluster: EmbeddedCluster, topic: str) -> dict[TopicPartition, int]:
    with open_consumer(cluster, group_id=topic) as consumer:
        found = consumer.committed([TopicPartition(topic, number) for number in range(3)])
    return {tp: 0 if offset is None else offset.offset for tp, offset in found.items()}


# ---- idling ----------------------------------------------------------------------------------------------------------

IDLE = """
import json, sys, time
from pykclient import KafkaConsumer, KafkaError
topic, seconds, options, expected = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])

def poll(until):
    while time.monotonic() < until:
        try:
            consumer.poll(max(0.0, until - time.monotonic()))
        except KafkaError:
            pass

with KafkaConsumer(topic, **options) as consumer:
    give_up_at = time.monotonic() + 20.0
    while len(consumer.assignment()) < expected and time.monotonic() < give_up_at:
        poll(time.monotonic() + 0.1)
    poll(time.monotonic() + 1.0)
    cpu, began = time.process_time(), time.monotonic()
    poll(began + seconds)
    print(json.dumps([(time.process_time() - cpu) / (time.monotonic() - began), len(consumer.assignment())]))
"""


@pytest.mark.parametrize("protocol", [pytest.param("classic", marks=pytest.mark.full), "consumer"])
def test_idling_costs_less_than_a_hundredth_of_a_core(name: str, protocol: str, full: bool) -> None:
    """100 % of a core with more consumers than partitions, many idle topics, or no broker (kafka-python 494, 1315)."""
    seconds = 10.0 if full else 2.0
    topics = {"one": 1, "hundred": 100, "three": 3}
    listeners = ("PLAINTEXT", "SSL")
    in_one: dict[str, Any] = {"group_id": "one", "group_protocol": protocol}
    with (
        EmbeddedCluster(topics=topics, listeners=listeners, group_initial_rebalance_delay_ms=0) as running,
        EmbeddedCluster(topics={"gone": 1}) as dying,
        KafkaConsumer("one", bootstrap_servers=running.bootstrap_servers, **in_one) as holder,
    ):
        plain = {"bootstrap_servers": running.bootstrap_servers, "group_protocol": protocol}
        tls = {
            "bootstrap_servers": running.bootstrap_for("SSL"), "security_protocol": "SSL",
            "ssl_cafile": str(running.certificates.ca), "group_protocol": protocol,
        }  # fmt: skip
        cases: dict[str, tuple[str, dict[str, Any], int]] = {
            "no assignment": ("one", plain | {"group_id": "one"}, 0),
            "100 empty partitions": ("hundred", plain | {"group_id": "hundred"}, 100),
            "broker down": ("gone", plain | {"bootstrap_servers": dying.bootstrap_servers, "group_id": "gone"}, 0),
            "TLS": ("three", tls | {"group_id": "three"}, 3),
        }
        while not holder.assignment():
            holder.poll(0.1)
        dying.close()
        processes = {
            case: subprocess.Popen(
                [sys.executable, "-c", IDLE, topic, str(seconds), json.dumps(options), str(expected)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
            )
            for case, (topic, options, expected) in cases.items()
        }
        used: dict[str, float] = {}
        try:
            while any(process.poll() is None for process in processes.values()):
                holder.poll(0.2)
        finally:
            for case, process in processes.items():
                output, _ = process.communicate(timeout=60)
                used[case], assigned = json.loads(output)
                assert assigned == cases[case][2], case
    print(f"\nof a core: { {case: f'{share:.2%}' for case, share in used.items()} }")
    assert all(share < 0.01 for share in used.values()), used
