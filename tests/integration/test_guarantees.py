"""docs/delivery-guarantees.md, row by row: how records are lost, doubled or held up, and the setting that prevents it.

Both sides are shown: the damage with the setting that allows it, and the same fault without damage.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from pykclient.errors import BufferExhausted, KafkaError, OffsetOutOfRangeError
from pykclient.testing import EmbeddedCluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(**{"group.initial.rebalance.delay.ms": "0"}) as cluster:  # type: ignore[arg-type]
        yield cluster


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> Iterator[str]:
    name = f"t-{uuid.uuid4().hex[:8]}"
    cluster.create_topic(name, 1)
    yield name
    cluster.faults.clear()


def stored(cluster: EmbeddedCluster, topic: str) -> list[bytes | None]:
    """Every value in the log."""
    partition = TopicPartition(topic, 0)
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        found: list[bytes | None] = []
        while consumer.position(partition) < end:
            found += [record.value for record in consumer.poll(5.0).records()]
    return found


def send(cluster: EmbeddedCluster, topic: str, *values: bytes, **options: object) -> None:
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options) as producer:
        for value in values:
            producer.send(topic, value).result(10)


# ---- lost ----


def test_without_acknowledgements_nobody_hears_of_a_record_that_was_refused(
    cluster: EmbeddedCluster, topic: str
) -> None:
    rule = cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS", topic=topic, count=1)
    send(cluster, topic, b"lost", acks=0, enable_idempotence=False)
    rule.wait_for(hits=1)
    assert stored(cluster, topic) == [], "acks=0: it looked delivered"
    cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS", topic=topic, count=1)
    send(cluster, topic, b"kept")
    assert stored(cluster, topic) == [b"kept"], "the default asks, and sends again"


def read_until_it_fails(cluster: EmbeddedCluster, topic: str, *, commit_first: bool) -> None:
    """A program that dies with the second record in hand."""
    with (
        pytest.raises(ZeroDivisionError),
        KafkaConsumer(
            topic, bootstrap_servers=cluster.bootstrap_servers, group_id=topic, auto_offset_reset="earliest",
            enable_auto_commit=not commit_first,
        ) as consumer,
    ):  # fmt: skip
        if commit_first:
            batch = consumer.poll(10.0)
            consumer.commit()
            for record in batch.records():
                handle(record.value)
        for record in consumer:
            handle(record.value)


def handle(value: bytes | None) -> None:
    if value == b"2":
        raise ZeroDivisionError


def read_on(cluster: EmbeddedCluster, topic: str) -> list[bytes | None]:
    """What the group still gets, up to the end of the log."""
    return read_as(cluster, topic, group=topic, policy="earliest")


def read_as(cluster: EmbeddedCluster, topic: str, *, group: str, policy: str) -> list[bytes | None]:
    partition = TopicPartition(topic, 0)
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.bootstrap_servers, group_id=group, auto_offset_reset=policy
    ) as consumer:
        end = consumer.end_offsets([partition])[partition]
        found: list[bytes | None] = []
        while not consumer.assignment() or consumer.position(partition) < end:
            found += [record.value for record in consumer.poll(0.2).records()]
        return found


def test_committing_before_the_work_loses_the_record_in_hand(cluster: EmbeddedCluster, topic: str) -> None:
    send(cluster, topic, b"1", b"2", b"3")
    read_until_it_fails(cluster, topic, commit_first=True)
    assert read_on(cluster, topic) == [], "2 and 3 were never handled"


def test_the_loop_commits_after_the_work_and_repeats_the_record_in_hand(cluster: EmbeddedCluster, topic: str) -> None:
    send(cluster, topic, b"1", b"2", b"3")
    read_until_it_fails(cluster, topic, commit_first=False)
    assert read_on(cluster, topic) == [b"2", b"3"]


def test_a_new_group_skips_what_is_there_unless_told_to_begin_at_the_beginning(
    cluster: EmbeddedCluster, topic: str
) -> None:
    send(cluster, topic, b"early")
    assert read_as(cluster, topic, group=f"{topic}-1", policy="latest") == []
    assert read_as(cluster, topic, group=f"{topic}-2", policy="earliest") == [b"early"]


def test_what_retention_deleted_is_an_error_with_none_and_an_event_otherwise(
    cluster: EmbeddedCluster, topic: str
) -> None:
    send(cluster, topic, b"1", b"2", b"3")
    partition = TopicPartition(topic, 0)
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.delete_records({partition: 2}).raise_for_errors()
    for policy in ("none", "earliest"):
        with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset=policy) as consumer:
            consumer.assign([partition])
            consumer.seek(partition, 0)
            if policy == "none":
                with pytest.raises(OffsetOutOfRangeError):
                    consumer.poll(10.0)
                continue
            assert [record.value for record in consumer.poll(10.0).records()] == [b"3"]
            assert len(consumer.out_of_range_events) == 1, "and it can be seen how many were skipped"


# ---- doubled ----


def test_a_lost_answer_doubles_a_record_only_without_idempotence(cluster: EmbeddedCluster, topic: str) -> None:
    cluster.faults.drop("Produce", after=True, topic=topic, count=1)
    send(cluster, topic, b"twice", enable_idempotence=False)
    assert stored(cluster, topic) == [b"twice", b"twice"]
    cluster.faults.drop("Produce", after=True, topic=topic, count=1)
    send(cluster, topic, b"once")
    assert stored(cluster, topic) == [b"twice", b"twice", b"once"]


def test_a_transaction_that_carries_the_position_does_the_work_once(cluster: EmbeddedCluster, topic: str) -> None:
    """A copy that dies between its sends and its commit, and is started again."""
    send(cluster, topic, b"1", b"2", b"3")
    target = f"{topic}-copy"
    cluster.create_topic(target, 1)
    for dies in (True, False):
        copy(cluster, topic, target, dies=dies)
    partition = TopicPartition(target, 0)
    with KafkaConsumer(
        bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        consumer.assign([partition])
        assert [record.value for record in consumer.poll(5.0).records()] == [b"1", b"2", b"3"]
        assert [record.value for record in consumer.poll(0.5).records()] == []


def copy(cluster: EmbeddedCluster, source: str, target: str, *, dies: bool) -> None:
    servers = cluster.bootstrap_servers
    with (
        KafkaProducer(bootstrap_servers=servers, transactional_id=target) as producer,
        KafkaConsumer(
            source, bootstrap_servers=servers, group_id=target, auto_offset_reset="earliest", enable_auto_commit=False
        ) as consumer,
    ):
        producer.init_transactions()
        batch = consumer.poll(10.0)
        producer.begin_transaction()
        for partition, records in batch.items():
            for record in records:
                producer.send(target, record.value)
            after = {partition: OffsetAndMetadata(records[-1].offset + 1)}
            producer.send_offsets_to_transaction(after, consumer.group_metadata())
        if dies:
            producer.abort_transaction()  # what the next init_transactions of the same id does for a dead one
        else:
            producer.commit_transaction()


# ---- held up ----


def test_a_slow_broker_holds_up_send_for_max_block_ms_and_takes_no_more_memory(
    cluster: EmbeddedCluster, topic: str
) -> None:
    rule = cluster.faults.stall("Produce", topic=topic)
    options = {"buffer_memory": 200_000, "batch_size": 16_384, "max_block_ms": 300, "linger_ms": 0}
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options)
    try:
        with pytest.raises(BufferExhausted, match="buffer_memory"):
            for _ in range(1000):
                producer.send(topic, b"x" * 1000)
    finally:
        rule.remove()
        producer.close(0)


def test_a_record_nobody_can_handle_is_put_away_and_the_rest_goes_on(cluster: EmbeddedCluster, topic: str) -> None:
    send(cluster, topic, b"1", b"poison", b"3")
    handled: list[bytes | None] = []
    done = threading.Event()

    def work(value: bytes | None) -> None:
        if value == b"poison":
            raise ValueError("cannot be read")
        handled.append(value)
        if value == b"3":
            done.set()

    servers = cluster.bootstrap_servers
    with (
        KafkaProducer(bootstrap_servers=servers) as letters,
        KafkaConsumer(topic, bootstrap_servers=servers, group_id=topic, auto_offset_reset="earliest") as consumer,
    ):
        consumer.process(
            lambda record: work(record.value), ordering="partition", on_error="dead_letter",
            retries=1, retry_backoff_ms=1, stop=done.is_set,
            dead_letter_producer=letters,
        )  # fmt: skip
    assert handled == [b"1", b"3"]
    assert stored(cluster, f"{topic}.dead-letters") == [b"poison"]


def test_a_delivery_that_ran_out_of_time_is_an_error_and_never_silence(cluster: EmbeddedCluster, topic: str) -> None:
    cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS", topic=topic)
    options = {"delivery_timeout_ms": 400, "request_timeout_ms": 300, "linger_ms": 0}
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **options)
    try:
        with pytest.raises(KafkaError, match="replicas"):
            producer.send(topic, b"x").result(10)
    finally:
        cluster.faults.clear()
        producer.close(1)
