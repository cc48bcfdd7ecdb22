"""How a producer ends: at exit, by close() with brokers that are dead or silent, in a forked child, and what it says
afterwards."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pykclient import KafkaProducer, TopicPartition
from pykclient.errors import (
    BufferExhausted,
    ClientClosed,
    ForkedClientError,
    KafkaError,
    KafkaTimeoutError,
    UnknownTopicOrPartition,
)
from pykclient.testing import EmbeddedCluster
from tests.integration.producer.support import producer_for, values


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=1, auto_create_topics_enable=False) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    cluster.create_topic(name, 3)
    yield name
    cluster.faults.clear()


# ---- at exit ---------------------------------------------------------------------------------------------------------

ENDINGS = {
    "falls-off": ("pass", 0),
    "sys-exit": ("sys.exit(3)", 3),
    "exception": ("raise RuntimeError('oops')", 1),
}


def run_script(servers: str, topic: str, ending: str, options: str = "linger_ms=1000, ") -> tuple[int, str, float]:
    script = f"""
        import logging, sys
        from pykclient import KafkaProducer
        logging.basicConfig(level=logging.WARNING)
        producer = KafkaProducer({options}bootstrap_servers={servers!r})
        for number in range(1000):
            producer.send({topic!r}, b"%d" % number)
        {ending}
    """
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr, time.monotonic() - began


@pytest.mark.parametrize("name", ENDINGS)
def test_a_script_that_just_ends_delivers_everything(cluster: EmbeddedCluster, topic: str, name: str) -> None:
    ending, status = ENDINGS[name]
    returned, errors, _ = run_script(cluster.bootstrap_servers, topic, ending)
    assert returned == status, errors
    assert sorted(map(int, values(cluster, topic))) == list(range(1000))
    assert "not delivered" not in errors


def test_a_script_that_cannot_deliver_says_how_many(cluster: EmbeddedCluster, topic: str) -> None:
    cluster.faults.stall("Produce")
    options = "linger_ms=0, request_timeout_ms=1000, delivery_timeout_ms=1000, "
    returned, errors, took = run_script(cluster.bootstrap_servers, topic, "pass", options)
    assert returned == 0
    assert errors.count("1000 records not delivered") == 1, errors
    assert took < 10


# ---- fork ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_is_told_at_once_and_the_parent_goes_on(cluster: EmbeddedCluster, topic: str) -> None:
    producer = producer_for(cluster, linger_ms=200)
    producer.send(topic, b"before").result(5)
    waiting = producer.send(topic, b"buffered")
    child = os.fork()
    if child == 0:  # no test machinery in here: it must end by _exit
        status = 1
        try:
            began = time.monotonic()
            refused = 0
            for attempt in (
                lambda: producer.send(topic, b"from the child"),
                lambda: producer.flush(5),
                lambda: producer.partitions_for(topic),
            ):
                try:
                    attempt()
                except ForkedClientError:
                    refused += 1
            producer.close()
            own = producer_for(cluster)
            own.send(topic, b"own").result(5)
            own.close(5)
            status = 0 if refused == 3 and time.monotonic() - began < 3 else 2
        finally:
            os._exit(status)
    end = time.monotonic() + 20
    while True:
        finished, wait_status = os.waitpid(child, os.WNOHANG)
        if finished:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hung")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(wait_status) == 0
    waiting.result(5)
    producer.send(topic, b"after").result(5)
    producer.close(5)
    assert sorted(values(cluster, topic)) == [b"after", b"before", b"buffered", b"own"]


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_eight_threads_share_a_producer(cluster: EmbeddedCluster, topic: str) -> None:
    producer = producer_for(cluster, buffer_memory=200_000)  # small, so that they also wait for memory
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(2000):
                producer.send(topic, b"%d:%d" % (thread, number), key=b"%d" % thread)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    producer.close(20)
    assert not failures
    found = values(cluster, topic)
    assert len(found) == 16_000
    for thread_index in range(8):
        mine = [int(v.split(b":")[1]) for v in found if v.startswith(b"%d:" % thread_index)]
        assert mine == list(range(2000))


# ---- close -----------------------------------------------------------------------------------------------------------


def dead_broker() -> tuple[EmbeddedCluster, Callable[[], None]]:
    """A cluster of its own, and what kills it."""
    own = EmbeddedCluster(brokers=1, topics={"t": 1}).start()
    return own, own.close


@pytest.mark.parametrize("timeout_s", [0.0, 0.5])
@pytest.mark.parametrize("transactional", [False, True])
@pytest.mark.parametrize("trouble", ["dead", "silent", "everything-silent"])
def test_close_keeps_its_time(
    trouble: str, transactional: bool, timeout_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    own, kill = dead_broker()
    try:
        options = {"transactional_id": "t"} if transactional else {}
        producer = producer_for(own, **options)
        if transactional:
            producer.init_transactions(5)
            producer.begin_transaction()
        producer.send("t", b"first").result(5)
        if trouble == "dead":
            kill()
        else:
            own.faults.stall("Produce" if trouble == "silent" else None)
        futures = [producer.send("t", b"x") for _ in range(10)]
        with caplog.at_level(logging.WARNING):
            began = time.monotonic()
            producer.close(timeout_s)
            took = time.monotonic() - began
        assert took < timeout_s + 1.0, f"{took:.2f} s"
        errors = [future.exception(1) for future in futures]
        assert all(isinstance(error, KafkaError) for error in errors)
        if not transactional:
            assert sum("10 records not delivered" in message for message in caplog.messages) == 1
    finally:
        own.close()


def test_close_delivers_what_is_buffered(cluster: EmbeddedCluster, topic: str) -> None:
    producer = producer_for(cluster, linger_ms=60_000, delivery_timeout_ms=120_000)
    for number in range(100):
        producer.send(topic, b"%d" % number)
    producer.close(10)
    assert len(values(cluster, topic)) == 100


def test_close_ends_a_transaction_by_aborting_it(cluster: EmbeddedCluster, topic: str) -> None:
    producer = producer_for(cluster, transactional_id=topic)
    producer.init_transactions(5)
    producer.begin_transaction()
    producer.send(topic, b"undone").result(5)
    producer.close(5)
    assert values(cluster, topic) == []
    end = cluster.topic(topic)
    states = [cluster.partition_info(topic, index) for index in range(len(end.partitions))]
    assert all(state.last_stable_offset == state.log_end_offset for state in states), "nobody has to wait for it"


def test_close_from_a_callback_and_twice(cluster: EmbeddedCluster, topic: str) -> None:
    producer = producer_for(cluster)
    closed = threading.Event()

    def acknowledged(metadata: object, error: object) -> None:
        producer.close()
        closed.set()

    producer.send(topic, b"x", on_delivery=acknowledged)
    assert closed.wait(5)
    producer.close()
    with pytest.raises(ClientClosed):
        producer.send(topic, b"y")


CLOSED_CALLS: dict[str, Callable[[KafkaProducer], object]] = {
    "send": lambda p: p.send("t", b"x"),
    "send_arrow": lambda p: p.send_arrow("t", None),
    "flush": lambda p: p.flush(1),
    "partitions_for": lambda p: p.partitions_for("t"),
    "init_transactions": lambda p: p.init_transactions(),
    "begin_transaction": lambda p: p.begin_transaction(),
    "send_offsets_to_transaction": lambda p: p.send_offsets_to_transaction({TopicPartition("t", 0): 1}, "g"),
    "commit_transaction": lambda p: p.commit_transaction(),
    "abort_transaction": lambda p: p.abort_transaction(),
    "prepare_transaction": lambda p: p.prepare_transaction(),
    "commit_prepared": lambda p: p.commit_prepared(None),  # type: ignore[arg-type]
    "abort_prepared": lambda p: p.abort_prepared(None),  # type: ignore[arg-type]
    "transaction": lambda p: p.transaction().__enter__(),
    "__enter__": lambda p: p.__enter__(),
}
# What still works on a closed producer, because it tells about the past.
STILL_FINE = {"metrics", "close"}


def test_the_tables_name_every_public_method() -> None:
    public = {
        name for name in dir(KafkaProducer) if not name.startswith("_") and callable(getattr(KafkaProducer, name))
    }
    assert public == (CLOSED_CALLS.keys() - {"__enter__"}) | STILL_FINE


@pytest.mark.parametrize("transactional", [False, True])
def test_every_method_of_a_closed_producer_says_so(cluster: EmbeddedCluster, topic: str, transactional: bool) -> None:
    producer = producer_for(cluster, **({"transactional_id": "closed"} if transactional else {}))
    producer.close(1)
    for name, attempt in CLOSED_CALLS.items():
        with pytest.raises(ClientClosed):
            attempt(producer)
            pytest.fail(f"{name} went on")
    producer.close()
    assert producer.metrics()["buffer-available-bytes"] == producer.metrics()["buffer-total-bytes"]
    assert "closed" in repr(producer)


def test_senders_that_wait_for_memory_learn_of_the_close(cluster: EmbeddedCluster, topic: str) -> None:
    cluster.faults.stall("Produce")
    producer = producer_for(cluster, buffer_memory=40_000, max_block_ms=60_000)
    outcome: list[BaseException] = []

    def send_for_ever() -> None:
        try:
            while True:
                producer.send(topic, bytes(1000))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=send_for_ever)
    thread.start()
    cluster.wait_until(lambda: producer.metrics()["waiting-threads"] == 1)
    producer.close(0.1)
    thread.join(5)
    assert [type(error) for error in outcome] == [ClientClosed]


# ---- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_ms", [0, 300])
def test_max_block_is_kept_when_memory_is_short(cluster: EmbeddedCluster, topic: str, block_ms: int) -> None:
    producer = producer_for(cluster, buffer_memory=33_000, max_block_ms=5000)
    producer.send(topic, b"first").result(5)
    producer.close(1)
    cluster.faults.stall("Produce")
    producer = producer_for(cluster, buffer_memory=33_000, max_block_ms=max(block_ms, 1))
    producer.partitions_for(topic) if block_ms else warm_up(producer, topic)
    began = time.monotonic()
    with pytest.raises(BufferExhausted) as caught:
        for _ in range(100):
            began = time.monotonic()
            producer.send(topic, bytes(5000), partition=0)
    took = time.monotonic() - began
    assert abs(took - block_ms / 1000) < 0.05, f"{took:.3f} s"
    assert "33000" in str(caught.value)
    assert "buffer_memory" in str(caught.value)
    producer.close(0)


def warm_up(producer: KafkaProducer, topic: str) -> None:
    """Metadata without a long max_block_ms."""
    for _ in range(1000):
        try:
            producer.partitions_for(topic)
            return
        except KafkaTimeoutError:
            continue
    pytest.fail("no metadata")


def test_max_block_is_kept_when_no_broker_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        producer = producer_for(f"127.0.0.1:{silent.getsockname()[1]}", max_block_ms=400)
        began = time.monotonic()
        with pytest.raises(KafkaTimeoutError) as caught:
            producer.send("t", b"x")
        took = time.monotonic() - began
        assert abs(took - 0.4) < 0.05, f"{took:.3f} s"
        assert "max_block_ms" in str(caught.value)
        assert str(silent.getsockname()[1]) in str(caught.value)
        producer.close(0)


def test_an_unreachable_cluster_is_named_with_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    producer = producer_for(f"127.0.0.1:{port}", max_block_ms=500)
    with pytest.raises(KafkaError) as caught:
        producer.send("t", b"x")
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert "Nothing listens on this port" in str(caught.value)
    producer.close(0)


def test_a_topic_that_does_not_exist_is_told_in_less_than_two_seconds(cluster: EmbeddedCluster) -> None:
    producer = producer_for(cluster, retry_backoff_ms=100, retry_backoff_max_ms=1000)
    began = time.monotonic()
    with pytest.raises(UnknownTopicOrPartition) as caught:
        producer.send("no-such-topic", b"x")
    assert time.monotonic() - began < 2
    assert "no-such-topic" in str(caught.value)
    producer.close(1)


def test_a_topic_that_appears_late_is_found(cluster: EmbeddedCluster) -> None:
    producer = producer_for(cluster)
    maker = threading.Timer(0.2, lambda: cluster.create_topic("late", 1))
    maker.start()
    try:
        producer.send("late", b"x").result(5)
    finally:
        maker.join()
        producer.close(1)
