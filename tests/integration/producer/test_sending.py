"""What goes in comes out: every codec, header, tombstone and timestamp; sizes at their limits; choice of partitions;
serializers, interceptors and acks."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykclient.config.tables import PARTITIONER_NAMES
from pykclient.errors import (
    DeliveryTimedOut,
    KafkaError,
    MessageTooLarge,
    NotEnoughReplicas,
    RecordTooLarge,
    SerializationError,
    UsageError,
)
from pykclient.producer.batch import RecordFuture
from pykclient.producer.sender import Sender
from pykclient.protocol.murmur2 import partition_for_key
from pykclient.testing import EmbeddedCluster
from pykclient.types import RecordMetadata, TimestampType
from tests.integration.producer.support import Record, producer_for, read_topic, values

numbers = itertools.count()


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2) as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> Iterator[str]:
    name = f"sent-{next(numbers)}"
    cluster.create_topic(name, 1)
    yield name
    cluster.faults.clear()


# ---- bytes -----------------------------------------------------------------------------------------------------------

CODECS: list[tuple[str, dict[str, int]]] = [
    ("none", {}),
    ("snappy", {}),
    *(("gzip", {"compression_gzip_level": level}) for level in (-1, 1, 9)),
    *(("lz4", {"compression_lz4_level": level}) for level in (1, 9, 17)),
    *(("zstd", {"compression_zstd_level": level}) for level in (-7, 1, 3, 22)),
]


@pytest.mark.parametrize(("codec", "level"), CODECS)
def test_every_codec_and_level_reads_back(
    cluster: EmbeddedCluster, topic: str, codec: str, level: dict[str, int]
) -> None:
    sent: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int]] = [
        (b"key", b"value", [], 1),
        (None, b"no key", [("a", b"1"), ("a", b"2"), ("null", None), ("", b"")], 1_700_000_000_000),
        (b"tombstone", None, [], 2),
        (b"", b"", [("empty", b"")], 0),
        (None, None, [("größe", "ü".encode())], 3),
        (b"big", b"ab" * 20_000, [], 4),
        *((b"%d" % number, b"x" * (number % 50), [], 1000 + number) for number in range(200)),
    ]
    with producer_for(cluster, compression_type=codec, **level) as producer:
        futures = [
            producer.send(topic, value, key=key, headers=headers, timestamp_ms=timestamp)
            for key, value, headers, timestamp in sent
        ]
    found = read_topic(cluster, topic)[0]
    assert [(r.key, r.value, list(r.headers), r.timestamp) for r in found] == sent
    assert [future.result(0).offset for future in futures] == [record.offset for record in found]


def test_the_time_is_now_unless_given_and_the_brokers_when_it_says_so(cluster: EmbeddedCluster, topic: str) -> None:
    before = int(time.time() * 1000)
    stamped = f"{topic}-append"
    cluster.create_topic(stamped, 1, config={"message.timestamp.type": "LogAppendTime"})
    with producer_for(cluster) as producer:
        own = producer.send(topic, b"x").result(5)
        theirs = producer.send(stamped, b"x", timestamp_ms=5).result(5)
        with pytest.raises(UsageError, match="timestamp"):
            producer.send(topic, b"x", timestamp_ms=-1)
    assert before <= own.timestamp <= time.time() * 1000
    assert theirs.timestamp >= before
    record = read_topic(cluster, stamped)[0][0]
    assert (record.timestamp, record.timestamp_type) == (theirs.timestamp, TimestampType.LOG_APPEND_TIME)


def test_a_future_says_where_the_record_is(cluster: EmbeddedCluster, topic: str) -> None:
    seen: list[tuple[RecordMetadata | None, Exception | None]] = []
    done: list[RecordFuture] = []
    with producer_for(cluster) as producer:
        first = producer.send(topic, b"value", key=b"k", on_delivery=lambda *outcome: seen.append(outcome))
        first.add_done_callback(done.append)
        metadata = first.get(5)
        first.add_done_callback(done.append)  # at once, as it is done
        second = producer.send(topic, None).result(5)
    assert first.done()
    assert first.exception() is None
    assert (metadata.topic, metadata.partition, metadata.offset) == (topic, 0, 0)
    assert (metadata.serialized_key_size, metadata.serialized_value_size) == (1, 5)
    assert (second.serialized_key_size, second.serialized_value_size) == (-1, -1)
    assert seen == [(metadata, None)]
    assert done == [first, first]


def test_a_callback_that_raises_harms_nobody(
    cluster: EmbeddedCluster, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(metadata: object, error: object) -> None:
        raise ValueError("mine")

    with producer_for(cluster) as producer, caplog.at_level(logging.ERROR):
        futures = [producer.send(topic, b"%d" % number, on_delivery=broken) for number in range(5)]
        assert [future.result(5).offset for future in futures] == list(range(5))
        producer.flush(5)
    assert "a delivery callback raised" in caplog.text


# ---- sizes -----------------------------------------------------------------------------------------------------------


def test_a_record_too_large_for_the_client_is_refused_at_once(cluster: EmbeddedCluster, topic: str) -> None:
    with producer_for(cluster, max_request_size=10_000) as producer:
        neighbours = [producer.send(topic, b"before")]
        with pytest.raises(RecordTooLarge) as caught:
            producer.send(topic, bytes(10_001))
        neighbours.append(producer.send(topic, b"after"))
        assert [future.result(5).offset for future in neighbours] == [0, 1]
    error = caught.value
    assert error.limit == 10_000
    assert error.size is not None
    assert error.size > 10_000
    assert "max_request_size" in str(error)


def test_a_record_larger_than_all_memory_names_that_option(cluster: EmbeddedCluster, topic: str) -> None:
    with producer_for(cluster, buffer_memory=50_000) as producer, pytest.raises(RecordTooLarge, match="buffer_memory"):
        producer.send(topic, bytes(60_000))


def test_sizes_around_the_clients_and_the_brokers_limit(cluster: EmbeddedCluster) -> None:
    """Every size is delivered or refused in its own right; none waits for a time-out, no neighbour fails."""
    name = f"limits-{next(numbers)}"
    cluster.create_topic(name, 1, config={"max.message.bytes": 5000})
    with producer_for(cluster, max_request_size=5200, batch_size=16_384, linger_ms=20) as producer:
        refused = 0
        outcomes: list[tuple[int, RecordFuture, RecordFuture]] = []
        for size in range(4800, 5200, 8):
            try:
                outcomes.append((size, producer.send(name, bytes(size)), producer.send(name, b"neighbour")))
            except RecordTooLarge:
                refused += 1
        began = time.monotonic()
        producer.flush(20)
        took = time.monotonic() - began
    assert all(neighbour.exception(0) is None for _, _, neighbour in outcomes)
    limits = {isinstance(future.exception(0), MessageTooLarge) for _, future, _ in outcomes}
    assert limits == {True, False}, "some below and some above the broker's limit"
    accepted = [size for size, future, _ in outcomes if future.exception(0) is None]
    assert accepted == [size for size, _, _ in outcomes][: len(accepted)], "one limit, no exceptions to it"
    assert took < 10
    assert refused > 0


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_batch_the_broker_calls_too_large_is_split(cluster: EmbeddedCluster, codec: str) -> None:
    name = f"split-{codec}"
    cluster.create_topic(name, 1, config={"max.message.bytes": 2000})
    callbacks: list[int] = []
    with producer_for(cluster, batch_size=100_000, linger_ms=50, compression_type=codec) as producer:
        rng = itertools.cycle(uuid.uuid5(uuid.NAMESPACE_DNS, str(n)).bytes * 6 for n in range(500))
        payloads = [b"%04d" % number + next(rng) for number in range(300)]
        futures = [
            producer.send(
                name,
                payload,
                headers=[("n", b"%d" % number)],
                on_delivery=lambda metadata, error: callbacks.append(-1 if metadata is None else metadata.offset),
            )
            for number, payload in enumerate(payloads)
        ]
        producer.flush(20)
        assert producer.metrics()["batch-split-total"] > 0
        assert producer.metrics()["buffer-available-bytes"] == producer.metrics()["buffer-total-bytes"]
    assert [future.result(0).offset for future in futures] == list(range(300))
    assert callbacks == list(range(300))
    found = read_topic(cluster, name)[0]
    assert [record.value for record in found] == payloads
    assert [record.headers[0][1] for record in found] == [b"%d" % number for number in range(300)]


# ---- partitions ------------------------------------------------------------------------------------------------------

KEYS = [b"", b"a", b"alice", "größe".encode(), bytes(range(256)), *(b"key-%d" % number for number in range(200))]
RDKAFKA = ("consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random")


@pytest.mark.parametrize("name", RDKAFKA)
def test_named_partitioners_choose_as_librdkafka_does(cluster: EmbeddedCluster, name: str) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    ours, theirs = f"ours-{name}", f"theirs-{name}"
    for each in (ours, theirs):
        cluster.create_topic(each, 7)
    keys = [key for key in KEYS if key or not name.endswith("random")]
    other = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers, "partitioner": name})
    for key in keys:
        other.produce(theirs, b"x", key=key)
    assert other.flush(20) == 0
    with producer_for(cluster, partitioner=name) as producer:
        for key in keys:
            producer.send(ours, b"x", key=key)
    assert places(cluster, ours) == places(cluster, theirs)


def places(cluster: EmbeddedCluster, topic: str) -> dict[bytes | None, int]:
    return {record.key: partition for partition, found in read_topic(cluster, topic).items() for record in found}


def test_the_default_is_murmur2_for_keys_as_in_java(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("java", 7)
    with producer_for(cluster) as producer:
        for key in KEYS:
            producer.send("java", b"x", key=key)
    assert places(cluster, "java") == {key: partition_for_key(key, 7) for key in KEYS}


@pytest.mark.parametrize("name", ["default", "uniform_sticky", "round_robin", "random"])
@pytest.mark.parametrize("pace", ["flood", "flushed"])
def test_records_without_a_key_reach_every_partition(cluster: EmbeddedCluster, name: str, pace: str) -> None:
    topic = f"spread-{name}-{pace}"
    cluster.create_topic(topic, 4)
    # By chance: of 4000 in a flood, which are 24 draws, one time in thirty some partition got one draw or none.
    count = 12_000 if pace == "flood" else 240
    with producer_for(cluster, partitioner=name, batch_size=1000) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number if pace == "flood" else bytes(400))
            if pace == "flushed" and number % 3 == 2:
                producer.flush(5)
    counts = Counter({partition: len(found) for partition, found in read_topic(cluster, topic).items()})
    assert sum(counts.values()) == count
    assert len(counts) == 4, counts
    assert min(counts.values()) > count * 0.05


def test_ignoring_keys_spreads_them(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("ignored", 4)
    with producer_for(cluster, partitioner_ignore_keys=True, batch_size=500) as producer:
        for _ in range(3000):
            producer.send("ignored", b"x", key=b"always the same")
    assert len(read_topic(cluster, "ignored")) == 4


class ToTheLast:
    """A partitioner as an object."""

    def partition(self, topic: str, key: Any, key_bytes: Any, value: Any, value_bytes: Any, count: int, up: Any) -> int:
        return count - 1


@pytest.mark.parametrize("partitioner", [ToTheLast(), lambda key, partitions, available: partitions[-1]])
def test_ones_own_partitioner(cluster: EmbeddedCluster, partitioner: Any) -> None:
    topic = f"own-{next(numbers)}"
    cluster.create_topic(topic, 3)
    with producer_for(cluster, partitioner=partitioner) as producer:
        assert producer.send(topic, b"x", key=b"k").result(5).partition == 2
        assert producer.send(topic, b"x", partition=1).result(5).partition == 1
        with pytest.raises(UsageError, match="no partition 3"):
            producer.send(topic, b"x", partition=3)


def test_every_name_was_tried() -> None:
    assert set(PARTITIONER_NAMES) == {*RDKAFKA, "default", "uniform_sticky", "round_robin", "random"}


# ---- plugins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("string", "größe", "größe".encode()),
        ("integer", 7, b"\0\0\0\7"),
        ("long", -1, b"\xff" * 8),
        ("double", 1.0, b"\x3f\xf0\0\0\0\0\0\0"),
        ("uuid", uuid.UUID(int=5), str(uuid.UUID(int=5)).encode()),
        ("json", {"a": [1]}, b'{"a":[1]}'),
        (lambda value: None if value is None else value.encode(), "callable", b"callable"),
    ],
)
def test_serializers(cluster: EmbeddedCluster, topic: str, name: Any, value: Any, stored: bytes) -> None:
    with producer_for(cluster, value_serializer=name, key_serializer="string") as producer:
        producer.send(topic, value, key="k")
        producer.send(topic, None, key=None)
    found = read_topic(cluster, topic)[0]
    assert found[0].key == b"k"
    assert (found[0].value or b"").replace(b" ", b"") == stored
    assert [found[1].key, found[1].value] == [None, None]


def test_a_serializer_that_fails_names_topic_and_field(cluster: EmbeddedCluster, topic: str) -> None:
    with producer_for(cluster, key_serializer="integer") as producer:
        with pytest.raises(SerializationError) as caught:
            producer.send(topic, b"x", key="not a number")
        with pytest.raises(SerializationError, match="value"):
            producer.send(topic, object())
        producer.send(topic, b"fine", key=1).result(5)
    assert "key" in str(caught.value)
    assert topic in str(caught.value)
    assert "not a number" not in str(caught.value), "keys are the user's, not the log's"


class Tagger:
    """Adds a header and counts."""

    def __init__(self, tag: str, *, broken: bool = False) -> None:
        self.tag = tag
        self.broken = broken
        self.acknowledged: list[int] = []

    def on_send(
        self, topic: str, partition: int | None, key: Any, value: Any, headers: list[tuple[str, bytes | None]]
    ) -> tuple[Any, Any, list[tuple[str, bytes | None]]]:
        if self.broken:
            raise RuntimeError("broken")
        return key, value + self.tag, [*headers, ("tag", self.tag.encode())]

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: BaseException | None) -> None:
        self.acknowledged.append(-1 if metadata is None else metadata.offset)
        if self.broken:
            raise RuntimeError("broken")


def test_interceptors_chain_and_a_broken_one_is_skipped(
    cluster: EmbeddedCluster, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    chain = [Tagger("1"), Tagger("2", broken=True), Tagger("3")]
    with producer_for(cluster, interceptors=chain, value_serializer="string") as producer, caplog.at_level("ERROR"):
        producer.send(topic, "v", headers=[("own", b"h")]).result(5)
    record: Record = read_topic(cluster, topic)[0][0]
    assert record.value == b"v13"
    assert list(record.headers) == [("own", b"h"), ("tag", b"1"), ("tag", b"3")]
    assert [each.acknowledged for each in chain] == [[0], [0], [0]]
    assert "Tagger: on_send raised" in caplog.text


def test_running_out_of_time_says_why_and_what_is_known(cluster: EmbeddedCluster, topic: str) -> None:
    with producer_for(cluster, delivery_timeout_ms=400, request_timeout_ms=300) as producer:
        producer.partitions_for(topic)
        cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS")
        error = producer.send(topic, b"x").exception(5)
        assert isinstance(error, DeliveryTimedOut)
        assert "it was not stored" in str(error)
        assert isinstance(error.__cause__, NotEnoughReplicas)
        cluster.faults.clear()
        cluster.faults.drop("Produce", after=True)
        error = producer.send(topic, b"x").exception(5)
        assert "may or may not have been stored" in str(error)
        cluster.faults.clear()
        producer.send(topic, b"goes on").result(5)


@pytest.mark.parametrize("answer", ["an error", "none"])
def test_an_attempt_that_fails_as_time_runs_out_is_told_as_that(
    cluster: EmbeddedCluster, topic: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer may come in the very moment in which the batch would expire."""
    monkeypatch.setattr(Sender, "_expire", lambda self, now: None)
    with producer_for(cluster, delivery_timeout_ms=400, request_timeout_ms=300) as producer:
        producer.partitions_for(topic)
        if answer == "none":
            cluster.faults.drop("Produce", after=True)
        else:
            cluster.faults.error("Produce", "NOT_ENOUGH_REPLICAS")
        error = producer.send(topic, b"x").exception(5)
        assert isinstance(error, DeliveryTimedOut)
        assert ("it was not stored" if answer == "an error" else "may or may not have been stored") in str(error)
        assert error.__cause__ is not None
        cluster.faults.clear()


# ---- acks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acks", ["0", "1", "all", 0, 1, -1])
def test_acks(cluster: EmbeddedCluster, topic: str, acks: str | int) -> None:
    number = -1 if acks == "all" else int(acks)
    asked = cluster.faults.observe("Produce", when=lambda _, request: request.acks == number)
    with producer_for(cluster, acks=acks) as producer:
        futures = [producer.send(topic, b"%d" % index) for index in range(50)]
        producer.flush(5)
        offsets = [future.result(0).offset for future in futures]
    cluster.wait_until(lambda: len(values(cluster, topic)) == 50)
    assert asked.hits > 0
    assert offsets == ([-1] * 50 if number == 0 else list(range(50)))


def test_flush_in_a_callback_is_refused_and_not_a_hang(cluster: EmbeddedCluster, topic: str) -> None:
    outcome: list[BaseException] = []

    def flush_inside(metadata: object, error: object) -> None:
        try:
            producer.flush(5)
        except BaseException as refused:
            outcome.append(refused)

    with producer_for(cluster) as producer:
        producer.send(topic, b"x", on_delivery=flush_inside).result(5)
        producer.flush(3)
    assert len(outcome) == 1
    assert isinstance(outcome[0], KafkaError)


# ---- memory ----------------------------------------------------------------------------------------------------------


MANY_SENDS = """
import gc, resource, sys
from pykclient import KafkaProducer
servers, sends = sys.argv[1], int(sys.argv[2])
with KafkaProducer(bootstrap_servers=servers) as producer:
    for quarter in range(4):
        for _ in range(sends // 4):
            producer.send("flat", b"x" * 100)
        producer.flush(60)
        measured = producer.metrics()
        assert measured["buffer-available-bytes"] == measured["buffer-total-bytes"]
        gc.collect()
        with open("/proc/self/statm") as statm:
            print(sys.getallocatedblocks(), int(statm.read().split()[1]) * resource.getpagesize())
"""


@pytest.mark.timeout(600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_flat_over_many_sends(full: bool) -> None:
    """In a process of its own: the broker keeps what it is sent in memory until its retention takes its turn."""
    sends = 2_000_000 if full else 200_000
    with EmbeddedCluster(brokers=1, log_retention_bytes=2_000_000, log_segment_bytes=2_000_000) as cluster:
        cluster.create_topic("flat", 4)
        done = subprocess.run(
            [sys.executable, "-c", MANY_SENDS, cluster.bootstrap_servers, str(sends)],
            cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=500, check=True,
        )  # fmt: skip
    quarters = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    print(f"\n(blocks, resident bytes) after each quarter of {sends} sends: {quarters}")
    assert len(quarters) == 4
    assert quarters[-1][0] - quarters[1][0] < 1000, quarters
    assert quarters[-1][1] - quarters[1][1] < 8_000_000, quarters
