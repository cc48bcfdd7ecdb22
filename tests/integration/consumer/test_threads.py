"""Threads, signals and processes: one thread at a time, waking and closing from anywhere, Ctrl-C, honest forks."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pykclient import KafkaConsumer
from pykclient.errors import ClientClosed, ConcurrentUseError, ForkedClientError, WakeupError
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.support import open_consumer, produce, read_numbers, wait_assigned

PROMPT_S = 0.5


@pytest.fixture
def consumer(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> Iterator[KafkaConsumer]:
    topic = new_topic()
    with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as consumer:
        wait_assigned(consumer, 1)
        yield consumer


def in_poll(consumer: KafkaConsumer) -> bool:
    return consumer._core.buffer._users > 0


@contextlib.contextmanager
def polling(consumer: KafkaConsumer) -> Iterator[list[BaseException]]:
    """Another thread that waits in poll; what it was ended by."""
    ended: list[BaseException] = []

    def run() -> None:
        try:
            consumer.poll(30.0)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not in_poll(consumer):
        time.sleep(0.001)
    yield ended
    thread.join(10)
    assert not thread.is_alive()


@contextlib.contextmanager
def on_signal(handler: Callable[[], object]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, lambda number, frame: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def signal_while_polling(consumer: KafkaConsumer, number: signal.Signals) -> tuple[threading.Thread, list[float]]:
    """Sends the signal to this process once the consumer waits in poll; when that was."""
    sent: list[float] = []

    def run() -> None:
        while not in_poll(consumer):
            time.sleep(0.001)
        sent.append(time.monotonic())
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, sent


def test_a_second_thread_is_refused_at_once(consumer: KafkaConsumer) -> None:
    with polling(consumer) as ended:
        began = time.monotonic()
        for call in (lambda: consumer.poll(30.0), consumer.commit, lambda: consumer.pause([])):
            with pytest.raises(ConcurrentUseError):
                call()
        assert time.monotonic() - began < PROMPT_S
        consumer.wakeup()
    assert [type(error) for error in ended] == [WakeupError]


def test_a_wakeup_while_nobody_polls_ends_the_next_poll(consumer: KafkaConsumer) -> None:
    consumer.wakeup()
    with pytest.raises(WakeupError):
        consumer.poll(30.0)
    assert not consumer.poll(0)


def test_close_from_another_thread_ends_a_poll(consumer: KafkaConsumer) -> None:
    with polling(consumer) as ended:
        consumer.close()
    assert [type(error) for error in ended] == [ClientClosed]


def test_close_from_another_thread_ends_the_loop_and_leaves_the_record_in_hand_uncommitted(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(3))
    consumer = open_consumer(cluster, topic, group_id=topic, protocol="kip848")
    seen = []
    for record in consumer:
        seen.append(record.offset)
        if record.offset == 1:
            closer = threading.Thread(target=consumer.close)
            closer.start()
            closer.join(10)
    assert seen[:2] == [0, 1]
    with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as second:
        assert read_numbers(second, [1, 2]) == [1, 2]


def test_close_from_another_thread_does_not_commit_what_the_polling_thread_holds(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    topic = new_topic()
    produce(cluster, topic, range(3))
    consumer = open_consumer(cluster, topic, group_id=topic, protocol="kip848")
    read_numbers(consumer, range(3))
    closer = threading.Thread(target=consumer.close)
    closer.start()
    closer.join(10)
    with open_consumer(cluster, topic, group_id=topic, protocol="kip848") as second:
        assert read_numbers(second, range(3)) == [0, 1, 2]


def test_wakeup_in_a_signal_handler(consumer: KafkaConsumer) -> None:
    with on_signal(consumer.wakeup):
        thread, sent = signal_while_polling(consumer, signal.SIGUSR1)
        with pytest.raises(WakeupError):
            consumer.poll(30.0)
        assert time.monotonic() - sent[0] < PROMPT_S
        thread.join()


def test_close_in_a_signal_handler_ends_the_loop(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    topic = new_topic()
    produce(cluster, topic, range(200))
    consumer = open_consumer(cluster, topic, group_id=topic, protocol="kip848", max_poll_records=1)
    with on_signal(consumer.close):
        thread, _ = signal_while_polling(consumer, signal.SIGUSR1)
        began = time.monotonic()
        for _ in consumer:
            pass
        thread.join()
    assert time.monotonic() - began < 10
    with pytest.raises(ClientClosed):
        consumer.poll(0)


def test_ctrl_c_ends_a_poll_in_time_and_leaves_a_consumer_that_works(consumer: KafkaConsumer) -> None:
    thread, sent = signal_while_polling(consumer, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        consumer.poll(30.0)
    assert time.monotonic() - sent[0] < PROMPT_S
    thread.join()
    assert not consumer.poll(0)


def test_ctrl_c_ends_a_call_that_waits_for_a_broker(cluster: EmbeddedCluster, consumer: KafkaConsumer) -> None:
    cluster.faults.stall("Metadata")
    thread, sent = signal_while_polling(consumer, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        consumer.list_topics()
    assert time.monotonic() - sent[0] < PROMPT_S
    thread.join()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_consumer_says_so_in_the_child_and_works_on_in_the_parent(consumer: KafkaConsumer) -> None:
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: consumer.poll(0), consumer.commit, consumer.assignment, consumer.wakeup):
            try:
                call()
            except ForkedClientError:
                refused += 1
            except BaseException:
                pass
        consumer.close()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert not consumer.poll(0.1)
    assert len(consumer.assignment()) == 1
