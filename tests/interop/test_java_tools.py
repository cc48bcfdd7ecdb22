"""Kafka's own tools (Java 4.3) against the embedded broker and against Apache Kafka."""

from __future__ import annotations

import uuid

import pytest

from pykclient.testing.kafka_runtime import java_missing
from pykclient.testing.real_kafka import run_tool
from tests.interop import java
from tests.interop.clients import CODECS

pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(180),
    pytest.mark.skipif(java_missing() is not None, reason=f"Kafka's tools cannot run: {java_missing()}"),
]

# The default run tries one codec; a JVM takes its time to start.
A_CODEC_AND_THE_REST = ["lz4", *(pytest.param(codec, marks=pytest.mark.full) for codec in CODECS if codec != "lz4")]


@pytest.mark.parametrize("codec", A_CODEC_AND_THE_REST)
def test_topics_and_console(bootstrap_servers: str, topic: str, codec: str) -> None:
    java.topics(bootstrap_servers, "--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=123456")
    described = java.topics(bootstrap_servers, "--describe", "--topic", topic)
    assert "PartitionCount: 2" in described
    assert "retention.ms=123456" in described
    lines = [
        "NULL\tplain\tvalue 1",
        "h1:one,h2:two\tkeyed\tvalue 2",
        "NULL\tgone\tNULL",
    ]
    java.console_producer(
        bootstrap_servers,
        topic,
        lines,
        "--compression-codec",
        codec,
        *reader(parse_key="true", parse_headers="true", null_marker="NULL"),
    )
    shown = java.console_consumer(
        bootstrap_servers, topic, 3, *formatter(print_key="true", print_headers="true", null_literal="NULL")
    )
    assert sorted(shown) == sorted(
        ["NO_HEADERS\tplain\tvalue 1", "h1:one,h2:two\tkeyed\tvalue 2", "NO_HEADERS\tgone\tNULL"]
    )


def reader(**properties: str) -> list[str]:
    return [
        part for key, value in properties.items() for part in ("--reader-property", f"{key.replace('_', '.')}={value}")
    ]


def formatter(**properties: str) -> list[str]:
    return [
        part
        for key, value in properties.items()
        for part in ("--formatter-property", f"{key.replace('_', '.')}={value}")
    ]


@pytest.mark.parametrize("protocol", ["consumer", pytest.param("classic", marks=pytest.mark.full)])
def test_group_of_two_and_one_leaves(bootstrap_servers: str, topic: str, protocol: str) -> None:
    group_id = f"group-{uuid.uuid4().hex[:8]}"
    java.topics(bootstrap_servers, "--create", "--topic", topic, "--partitions", "4")
    with (
        java.verifiable_consumer(bootstrap_servers, topic, group_id, protocol) as first,
        java.verifiable_consumer(bootstrap_servers, topic, group_id, protocol) as second,
    ):
        wait_for_both(first, second)
        assert first.owned() | second.owned() == {0, 1, 2, 3}
        events = java.verifiable_producer(bootstrap_servers, topic, 400)
        assert sum(event["name"] == "producer_send_success" for event in events) == 400
        wait_for_consumed(first, second, 400)
        second.end()
        second.drain()
        first.wait_for(lambda _: first.owned() == {0, 1, 2, 3}, "the partitions of the one who left")
        consumed_before = consumed(first)
        java.verifiable_producer(bootstrap_servers, topic, 100)
        first.wait_for(lambda _: consumed(first) >= consumed_before + 100, "what came later")
        first.wait_for(lambda _: committed_end(second, first) == 500, "the commit of the last offsets")
        assert all(event["success"] for event in first.named("offsets_committed"))
        described = run_tool(
            f"{java.TOOLS}.consumer.group.ConsumerGroupCommand",
            *("--bootstrap-server", bootstrap_servers, "--describe", "--group", group_id),
        )
        rows = [line.split() for line in described.splitlines() if line.startswith(group_id)]
        assert sorted(row[2] for row in rows) == ["0", "1", "2", "3"]
        # A dash stands for a partition that got none of the messages and so has no committed offset.
        assert sum(int(row[3]) for row in rows if row[3] != "-") == 500
        assert {row[5] for row in rows} <= {"0", "-"}, "no lag"


def wait_for_both(first: java.Running, second: java.Running) -> None:
    def shared(_: list[java.Event]) -> bool:
        second.drain()
        return len(first.owned()) == len(second.owned()) == 2

    for _ in range(200):
        try:
            first.wait_for(shared, "two partitions each", timeout_s=0.3)
        except AssertionError:
            continue
        return
    raise AssertionError(f"not shared: {first.events[-5:]}, {second.events[-5:]}")


def wait_for_consumed(first: java.Running, second: java.Running, count: int) -> None:
    for _ in range(100):
        second.drain()
        try:
            first.wait_for(lambda _: consumed(first) + consumed(second) >= count, "all", timeout_s=0.3)
        except AssertionError:
            continue
        assert consumed(first) + consumed(second) == count
        return
    raise AssertionError(f"consumed {consumed(first)} and {consumed(second)} of {count}")


def consumed(member: java.Running) -> int:
    return sum(event["count"] for event in member.named("records_consumed"))


def committed_end(*members: java.Running) -> int:
    """The sum over the partitions of the highest offsets that anybody committed."""
    highest: dict[int, int] = {}
    for member in members:
        for event in member.named("offsets_committed"):
            for where in event["offsets"]:
                highest[where["partition"]] = max(where["offset"], highest.get(where["partition"], 0))
    return sum(highest.values())


def test_exactly_once_copy_with_aborts(bootstrap_servers: str, topic: str) -> None:
    output = f"{topic}-out"
    for name in (topic, output):
        java.topics(bootstrap_servers, "--create", "--topic", name, "--partitions", "1")
    java.verifiable_producer(bootstrap_servers, topic, 200)
    transactional_id = f"copier-{uuid.uuid4().hex[:8]}"
    run_tool(
        f"{java.TOOLS}.TransactionalMessageCopier",
        *("--broker-list", bootstrap_servers, "--transactional-id", transactional_id),
        *("--input-topic", topic, "--input-partition", "0", "--output-topic", output),
        *("--max-messages", "200", "--transaction-size", "20", "--enable-random-aborts"),
        *("--consumer-group", f"group-{transactional_id}"),
    )
    copied = java.console_consumer(bootstrap_servers, output, 200, "--isolation-level", "read_committed")
    assert copied == [str(number) for number in range(200)]
    log = java.console_consumer(
        bootstrap_servers,
        "__transaction_state",
        10_000,
        *("--formatter", f"{java.TOOLS}.consumer.TransactionLogMessageFormatter"),
        timeout_ms=3_000,
    )
    assert any(transactional_id in line and '"transactionStatus":4' in line for line in log), "Java reads our log"
