"""Life in a group: slow handlers, handlers that are too slow, clean hand-overs, and members that come back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

from pykclient import KafkaConsumer, TopicPartition
from pykclient.errors import FencedInstanceId, KafkaError, UnreleasedInstanceId
from pykclient.testing import EmbeddedCluster
from tests.integration.consumer.members import Ledger, Member, wait_until
from tests.integration.consumer.support import (
    CLUSTER,
    PROTOCOLS,
    numbers,
    open_consumer,
    produce,
    read_numbers,
    wait_assigned,
)

SESSION_S = 1.0
each_protocol = pytest.mark.parametrize("protocol", list(PROTOCOLS))
one_of_each = pytest.mark.parametrize("protocol", ["classic-cooperative", "kip848"])


@pytest.fixture(scope="module")
def short() -> Iterator[EmbeddedCluster]:
    """Sessions of one second, also for KIP-848, where the broker sets them."""
    options = CLUSTER | {"group_consumer_session_timeout_ms": int(SESSION_S * 1000)}
    with EmbeddedCluster(brokers=1, seed=5, **options) as running:
        yield running


def session(protocol: str) -> dict[str, Any]:
    return {} if protocol == "kip848" else {"session_timeout_ms": int(SESSION_S * 1000)}


def generation(consumer: KafkaConsumer) -> int:
    return consumer.group_metadata().generation_id


@each_protocol
def test_a_handler_that_sleeps_three_sessions_causes_no_rebalance(
    short: EmbeddedCluster, name: str, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    short.create_topic(name, 2)
    produce(short, name, range(10), partitions=2)
    with open_consumer(short, name, group_id=name, protocol=protocol, **session(protocol)) as consumer:
        read_numbers(consumer, range(10))
        caplog.set_level(logging.INFO, "pykclient")
        before = generation(consumer)
        time.sleep(3 * SESSION_S)
        produce(short, name, range(10, 20), partitions=2)
        read_numbers(consumer, range(10, 20))
        assert generation(consumer) == before
        consumer.commit()
        assert "rebalance" not in caplog.text
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@each_protocol
def test_a_handler_that_is_too_slow_loses_its_place_and_the_next_poll_takes_it_again_with_a_notice(
    short: EmbeddedCluster, name: str, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    short.create_topic(name, 1)
    produce(short, name, range(5))
    options = {"max_poll_interval_ms": 1000, "enable_auto_commit": False} | session(protocol)
    with open_consumer(short, name, group_id=name, protocol=protocol, **options) as consumer:
        read_numbers(consumer, range(5))
        wait_until(lambda: not members(short, name), "ejected")
        # Not committed, so they come again; nothing but polling is needed for it.
        assert read_numbers(consumer, range(5)) == list(range(5))
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "max_poll_interval_ms=1000" in warnings[0].getMessage()


def members(cluster: EmbeddedCluster, group: str) -> int:
    view = cluster.group_info(group)
    return 0 if view is None else len(view.members)


@one_of_each
def test_waiting_in_poll_does_not_count(short: EmbeddedCluster, name: str, protocol: str) -> None:
    short.create_topic(name, 1)
    options = {"max_poll_interval_ms": 1000} | session(protocol)
    with open_consumer(short, name, group_id=name, protocol=protocol, **options) as consumer:
        wait_assigned(consumer, 1)
        before = generation(consumer)
        assert not consumer.poll(2.0)
        assert generation(consumer) == before
        assert len(consumer.assignment()) == 1


class CommitOnRevoke:
    def __init__(self, consumer: KafkaConsumer) -> None:
        self.consumer = consumer
        self.revoked: set[TopicPartition] = set()

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        pass

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.consumer.commit()
        self.revoked |= set(partitions)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        raise AssertionError("a clean hand-over loses nothing")


@each_protocol
def test_a_commit_on_revocation_is_where_the_next_owner_begins(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(4)
    produce(cluster, topic, range(40), partitions=4)
    seen: list[int] = []
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "enable_auto_commit": False}
    with open_consumer(cluster, max_poll_records=3, **options) as first:
        listener = CommitOnRevoke(first)
        first.subscribe([topic], listener=listener)
        while len(seen) < 20:
            seen += numbers(first.poll(0.1).records())
        with open_consumer(cluster, topic, max_poll_records=3, **options) as second:
            give_up_at = time.monotonic() + 15
            while len(seen) < 40 and time.monotonic() < give_up_at:
                seen += numbers(first.poll(0.05).records())
                seen += numbers(second.poll(0.05).records())
            assert second.assignment(), "the second member has its share"
    assert listener.revoked
    assert sorted(seen) == list(range(40)), "each record once"


@each_protocol
def test_automatic_commits_hand_over_without_duplicates(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(4)
    produce(cluster, topic, range(40), partitions=4)
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "max_poll_records": 3}
    with open_consumer(cluster, topic, **options) as first:
        seen = read_numbers(first, [])
        while len(seen) < 12:
            seen += numbers(first.poll(0.1).records())
    with open_consumer(cluster, topic, **options) as second:
        seen += read_numbers(second, set(range(40)) - set(seen))
    assert sorted(seen) == list(range(40))


@one_of_each
def test_only_partitions_that_move_are_revoked(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(6)
    ledger = Ledger()

    def member(number: int) -> Member:
        return Member(f"m{number}", ledger, lambda: open_consumer(cluster, group_id=topic, protocol=protocol), topic)

    team = [member(0), member(1)]
    try:
        wait_until(lambda: sorted(map(len, ledger.shares().values())) == [3, 3], "two shares of three")
        ledger.moves.clear()
        before = ledger.shares()
        team.append(member(2))
        wait_until(lambda: sorted(map(len, ledger.shares().values())) == [2, 2, 2], "three shares of two")
        after = ledger.shares()
        gave = {tp for how, _, partitions in ledger.moves for tp in partitions if how != "took"}
        assert gave == after["m2"], "what moved, and nothing else"
        assert all(after[name] < before[name] for name in before)
    finally:
        for each in team:
            each.stop()
    assert not ledger.double
    assert not [error for each in team for error in each.errors]


@each_protocol
def test_a_static_member_that_restarts_in_time_causes_no_rebalance(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    topic = new_topic(4)
    ledger = Ledger()
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol}
    other = Member("other", ledger, lambda: open_consumer(cluster, group_instance_id="other", **options), topic)
    try:
        with open_consumer(cluster, topic, group_instance_id="mine", **options) as consumer:
            held = wait_assigned(consumer, 2)
            wait_until(lambda: len(ledger.shares().get("other", ())) == 2, "the other half")
            before = generation(other.consumer)
        ledger.moves.clear()
        with open_consumer(cluster, topic, group_instance_id="mine", **options) as again:
            assert wait_assigned(again, 2) == held
            produce(cluster, topic, range(8), partitions=4)
            wait_until(lambda: len(ledger.seen) == 4, "the other's records")
            assert generation(other.consumer) == before
        assert not ledger.moves
    finally:
        other.stop()
    assert not other.errors


@each_protocol
def test_of_two_live_instances_with_one_id_one_is_told_for_good(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], protocol: str
) -> None:
    """Classic: the newcomer wins and the old one is fenced. KIP-848: the newcomer is refused."""
    topic = new_topic()
    options: dict[str, Any] = {"group_id": topic, "protocol": protocol, "group_instance_id": "same"}
    with open_consumer(cluster, topic, **options) as first, open_consumer(cluster, topic, **options) as second:
        wait_assigned(first, 1)
        loser, winner = (second, first) if protocol == "kip848" else (first, second)
        error: KafkaError | None = None
        give_up_at = time.monotonic() + 10
        while error is None and time.monotonic() < give_up_at:
            winner.poll(0.05)
            try:
                loser.poll(0.05)
            except KafkaError as caught:
                error = caught
        assert isinstance(error, (FencedInstanceId, UnreleasedInstanceId)), repr(error)
        assert error.fatal
        for _ in range(3):
            with pytest.raises(type(error)):
                loser.poll(0.05)
        wait_assigned(winner, 1)
