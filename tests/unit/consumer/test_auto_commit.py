"""Automatic commits: when they are due, and that one which hangs costs nothing meanwhile."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from pykclient.client.engine import Operation
from pykclient.client.operations import wait
from pykclient.config import ConsumerConfig, read_options
from pykclient.consumer.auto_commit import AutoCommit
from pykclient.consumer.subscription import Subscription, SubscriptionKind
from pykclient.net.completion import Completion
from pykclient.types import OffsetAndMetadata, TopicPartition


class SlowOffsets:
    """Commits that end when told."""

    def __init__(self) -> None:
        self.asked: list[dict[TopicPartition, OffsetAndMetadata]] = []

    def commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> Operation[None]:
        self.asked.append(offsets)
        yield from wait(Completion[None]())


def test_a_commit_that_takes_long_does_not_keep_the_loop_busy() -> None:
    config = read_options(
        ConsumerConfig, {"bootstrap_servers": "localhost:1", "group_id": "g"}, auto_commit_interval_ms=100
    )
    subscription = Subscription(threading.RLock())
    subscription.choose(SubscriptionKind.TOPICS)
    offsets: Any = SlowOffsets()
    running: list[Operation[None]] = []

    def spawn(operation: Operation[None]) -> None:
        next(operation)
        running.append(operation)

    place = TopicPartition("t", 0)
    commits = AutoCommit(config, subscription, offsets, spawn, lambda: {place: OffsetAndMetadata(5)})
    commits.polled()
    assert commits.poll(10.0).wake_at == 10.1
    assert commits.poll(10.1).wake_at > 11.0, "the end of the commit is an event, nothing is due before it"
    assert commits.poll(10.5).wake_at > 11.0
    assert len(offsets.asked) == 1
    with contextlib.suppress(StopIteration):
        running[0].send(None)
    assert commits.poll(10.6).wake_at == 10.7
