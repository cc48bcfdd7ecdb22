"""Records as they were written, logins that are renewed, clients that leave nothing behind, and what operators see."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.aio import AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import AuthenticationError, ConfigError, KafkaError, MissingCodec, UnsupportedVersionError
from pykclient.net.oauthbearer import HmacJwtVerifier, make_hmac_jwt
from pykclient.plugins import Token
from pykclient.protocol import compression
from pykclient.testing import EmbeddedCluster
from pykclient.types import OffsetAndMetadata, TimestampType
from tests.integration.consumer.support import QUICK, open_consumer, produce, read_numbers
from tests.integration.producer.support import producer_for, read_topic

# ---- records ---------------------------------------------------------------------------------------------------------


def test_headers_come_back_byte_by_byte_and_text_is_refused_by_name(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """A header without a value crashes the consumer; a str is sent as something (kafka-python PR 2004, 2242)."""
    topic = new_topic()
    headers = [("a", b"1"), ("a", b"2"), ("null", None), ("empty", b""), ("bytes", b"\xff\x00\xfe"), ("größe", b"x")]
    with producer_for(cluster) as producer:
        producer.send(topic, b"x", headers=headers).result(10)
        for wrong in ("text", 5):
            with pytest.raises(TypeError, match="trace-id"):
                producer.send(topic, b"x", headers=[("ok", b""), ("trace-id", wrong)])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="b'name'"):
            producer.send(topic, b"x", headers=[(b"name", b"")])  # type: ignore[list-item]
    [record] = read_topic(cluster, topic)[0]
    assert list(record.headers) == headers


def test_a_tombstone_stays_null_and_empty_is_not_null(cluster: EmbeddedCluster, new_topic: Callable[..., str]) -> None:
    """Null became the text "null" in the next topic; a decoder crashed on it (faust 597, confluent 189)."""
    topic = new_topic()
    forwarded = f"{topic}-next"
    cluster.create_topic(forwarded, 1)
    calls: list[bytes | None] = []

    def decode(data: bytes | None) -> str:
        calls.append(data)
        assert data is not None
        return data.decode()

    with producer_for(cluster) as producer:
        for value in (None, b"", b"x"):
            producer.send(topic, value, key=value).result(10)
    options: dict[str, Any] = {"value_deserializer": decode, "key_deserializer": decode}
    with (
        open_consumer(cluster, topic, **options) as consumer,
        producer_for(cluster, value_serializer="json") as producer,
    ):
        seen = list(consumer.poll(10.0).records())
        for record in seen:
            producer.send(forwarded, record.value)
    assert [(record.key, record.value) for record in seen] == [(None, None), ("", ""), ("x", "x")]
    assert None not in calls
    assert [record.value for record in read_topic(cluster, forwarded)[0]] == [None, b'""', b'"x"']


def test_the_brokers_time_is_what_every_record_of_a_batch_has(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """LogAppendTime is ignored (sarama 1259, xk6-kafka 364)."""
    topic = new_topic(1, message_timestamp_type="LogAppendTime")
    before = int(time.time() * 1000)
    with producer_for(cluster, linger_ms=50) as producer:
        for number in range(20):
            producer.send(topic, b"x", timestamp_ms=1_000_000 + number)
    records = read_topic(cluster, topic)[0]
    assert len(records) == 20
    assert {record.timestamp_type for record in records} == {TimestampType.LOG_APPEND_TIME}
    assert all(before <= record.timestamp <= time.time() * 1000 for record in records)


def test_a_codec_that_is_missing_here_is_an_error_with_its_place_and_only_when_needed(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snappy is missing: empty poll results, no error (kafka-python 1033, 1443; aiokafka 922)."""
    topic = new_topic()
    for codec in ("gzip", "snappy"):
        with producer_for(cluster, compression_type=codec) as producer:
            for number in range(3):
                producer.send(topic, b"%d" % number * 500)
    monkeypatch.setattr(compression, "cramjam", lambda: None)
    with open_consumer(cluster, topic) as consumer:
        assert consumer.poll(10.0).count == 3, "gzip needs nothing"
        for _ in range(2):
            with pytest.raises(MissingCodec) as caught:
                consumer.poll(10.0)
            error = caught.value
            assert (error.topic, error.partition, error.offset, error.codec) == (topic, 0, 3, "snappy")
            assert "pip install" in str(error)


# ---- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", ["sync", "asyncio"])
def test_a_poll_returns_at_the_first_of_count_and_time(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], face: str
) -> None:
    """consume(100, timeout=1) takes five seconds (confluent 407, 252)."""
    topic = new_topic()
    produce(cluster, topic, range(25))

    async def test() -> None:
        async with AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, **QUICK) as consumer:
            counts = [(await consumer.poll(5.0, max_records=10)).count for _ in range(3)]
            assert counts == [10, 10, 5]
            for timeout_s in (0.0, 0.1, 0.5):
                began = time.monotonic()
                assert not await consumer.poll(timeout_s, max_records=100)
                took.append(time.monotonic() - began - timeout_s)

    took: list[float] = []
    if face == "asyncio":
        asyncio.run(test())
    else:
        with open_consumer(cluster, topic) as consumer:
            counts = [consumer.poll(5.0, max_records=10).count for _ in range(3)]
            assert counts == [10, 10, 5]
            for timeout_s in (0.0, 0.1, 0.5):
                began = time.monotonic()
                assert not consumer.poll(timeout_s, max_records=100)
                took.append(time.monotonic() - began - timeout_s)
    # Never early; late by as much as a machine that is busy with other things makes it.
    assert all(late > -0.01 for late in took), took
    assert min(took) < 0.05, took
    assert max(took) < 0.3, took


# ---- nothing is left behind ------------------------------------------------------------------------------------------


def test_closed_clients_die_and_leave_no_thread(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    """Cycles keep closed producers alive (kafka-python 1679, 1862; confluent 543)."""
    topic = new_topic()
    produce(cluster, topic, range(3))
    servers = cluster.bootstrap_servers
    threads = threading.active_count()
    dead: list[weakref.ref[Any]] = []

    def use_all() -> None:
        with KafkaProducer(bootstrap_servers=servers) as producer:
            producer.send(topic, b"x").result(10)
        with KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
            consumer.poll(10.0)
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.list_topics()

        async def awaited() -> None:
            async with AsyncKafkaProducer(bootstrap_servers=servers) as async_producer:
                await async_producer.send(topic, b"x")
            async with AsyncKafkaConsumer(topic, bootstrap_servers=servers) as async_consumer:
                await async_consumer.poll(0.01)
            dead.extend((weakref.ref(async_producer), weakref.ref(async_consumer)))

        asyncio.run(awaited())
        dead.extend((weakref.ref(producer), weakref.ref(consumer), weakref.ref(admin)))

    for _ in range(100 if full else 3):
        use_all()
    gc.collect()
    assert [each() for each in dead if each() is not None] == []
    assert gc.garbage == []
    cluster.wait_until(lambda: threading.active_count() <= threads, "threads end")


def test_idle_awaits_and_cancelled_ones_leave_nothing_behind(
    cluster: EmbeddedCluster, new_topic: Callable[..., str], full: bool
) -> None:
    """An idle getmany(timeout) leaks until a message arrives; so does shield (aiokafka 628, PR 445)."""
    topic = new_topic()
    turns = 10_000 if full else 400

    async def test() -> int:
        async with AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, group_id=topic) as consumer:
            while not consumer.assignment():
                await consumer.poll(0.05)

            async def work(count: int) -> None:
                for _ in range(count):
                    await consumer.getmany(timeout_ms=1)
                for _ in range(count):
                    task = asyncio.ensure_future(consumer.poll())
                    await asyncio.sleep(0)
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)

            await work(50)
            gc.collect()
            before = len(gc.get_objects())
            await work(turns)
            gc.collect()
            return len(gc.get_objects()) - before

    assert asyncio.run(asyncio.wait_for(test(), 300)) < 1000


# ---- logins ----------------------------------------------------------------------------------------------------------


KEY = b"k" * 32


class Tokens:
    """A provider of tokens that live for a second."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked = 0

    def token(self) -> Token:
        self.asked += 1
        claims = {"sub": "alice", "iss": "us", "aud": "kafka", "exp": time.time() + self.seconds}
        return Token(make_hmac_jwt(KEY, claims))


class Broken:
    def token(self) -> Token:
        raise LookupError("the identity provider is down")


def test_tokens_are_renewed_before_they_end_on_every_kind_of_client(full: bool) -> None:
    """The token callback runs only from poll(): hangs, and no refresh for years (librdkafka 3871, confluent 1485)."""
    seconds = 30.0 if full else 3.0
    providers = {kind: Tokens(2.0 if full else 1.0) for kind in ("producer", "consumer", "admin")}
    with EmbeddedCluster(
        topics=["t"], listeners="SASL_PLAINTEXT", token_verifier=HmacJwtVerifier(KEY, "us", "kafka")
    ) as secured:

        def options(kind: str) -> dict[str, Any]:
            return {
                "bootstrap_servers": secured.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": providers[kind],
            }  # fmt: skip

        with (
            KafkaProducer(**options("producer")) as producer,
            KafkaConsumer("t", auto_offset_reset="earliest", **options("consumer")) as consumer,
            KafkaAdminClient(**options("admin")) as admin,
        ):
            end = time.monotonic() + seconds
            sent = read = 0
            while time.monotonic() < end:
                producer.send("t", b"x").result(5)
                sent += 1
                read += consumer.poll(0.2).count
                assert "t" in admin.list_topics()
            while read < sent:
                read += consumer.poll(5.0).count
        assert all(provider.asked >= 3 for provider in providers.values())
        broken = options("producer") | {"sasl_oauth_token_provider": Broken()}
        began = time.monotonic()
        with pytest.raises(AuthenticationError) as caught:
            KafkaProducer(**broken).send("t", b"x")
        assert time.monotonic() - began < 5
        # Named, and not quoted: what a provider raises may hold the secret it was given.
        assert "LookupError" in str(caught.value)
        assert "identity provider" not in str(caught.value)


@pytest.mark.parametrize("kind", [KafkaProducer, KafkaConsumer, KafkaAdminClient, AsyncKafkaProducer])
def test_kerberos_that_is_not_installed_is_told_when_the_client_is_made(
    monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    """Wheels without GSSAPI, noticed at the first connection (confluent 1036, 1149)."""
    monkeypatch.setitem(sys.modules, "gssapi", None)
    monkeypatch.delitem(sys.modules, "pykclient.net.kerberos", raising=False)
    options = {"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI", "sasl_kerberos_service_name": "kafka"}
    with pytest.raises(ConfigError, match=r"pykclient\[gssapi\]"):
        kind(bootstrap_servers="127.0.0.1:1", **options)


# ---- operators -------------------------------------------------------------------------------------------------------


class Watcher:
    """Everything that can be seen without patching anything."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_send(self, topic: str, partition: Any, key: Any, value: Any, headers: Any) -> tuple[Any, Any, Any]:
        self.seen.append("send")
        return key, value, [*headers, ("traceparent", b"00-1-2-01")]

    def on_acknowledgement(self, metadata: Any, error: Any) -> None:
        self.seen.append("acknowledged")

    def on_consume(self, records: Mapping[TopicPartition, list[Any]]) -> Mapping[TopicPartition, list[Any]]:
        self.seen.append("consume")
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self.seen.append(f"commit {sorted(offset.offset for offset in offsets.values())}")

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.seen.append(f"assigned {len(partitions)}")

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.seen.append(f"revoked {len(partitions)}")


def test_send_receive_commit_and_rebalance_can_be_watched_without_patching(
    cluster: EmbeddedCluster, new_topic: Callable[..., str]
) -> None:
    """Metrics asked for since 2016; tracing by monkeypatching breaks send() (aiokafka 38, 862; otel-contrib 3368)."""
    topic = new_topic()
    watcher = Watcher()
    with producer_for(cluster, interceptors=[watcher]) as producer:
        producer.send(topic, b"x").result(10)
        sent = producer.metrics()
    with open_consumer(cluster, group_id=topic, interceptors=[watcher], enable_auto_commit=False) as consumer:
        consumer.subscribe([topic], listener=watcher)  # type: ignore[arg-type]
        [record] = next(iter(iter(lambda: list(consumer.poll(5.0).records()), None)))
        consumer.commit()
        read = consumer.metrics()
    assert dict(record.headers)["traceparent"] == b"00-1-2-01"
    assert watcher.seen == ["send", "acknowledged", "assigned 1", "consume", "commit [1]", "revoked 1"]
    assert sent["record-send-total"] == 1
    assert read["assigned-partitions"] == 1


def test_versions_are_agreed_anew_when_a_broker_comes_back_older(tmp_path: Any) -> None:
    """Brokers are changed under you, so versions belong to the connection (aiokafka PR 1136, 1085)."""
    with EmbeddedCluster(data_dir=tmp_path, topics=["t"], cluster_id="aged") as newer:
        port = int(newer.bootstrap_servers.rpartition(":")[2])
        producer = KafkaProducer(bootstrap_servers=newer.bootstrap_servers, reconnect_backoff_max_ms=200)
        consumer = open_consumer(newer, "t")
        producer.send("t", b"0").result(10)
        read_numbers(consumer, [0])
    limits = {"Produce": 9, "Fetch": 11, "Metadata": 9, "ListOffsets": 5, "ConsumerGroupHeartbeat": None}
    with EmbeddedCluster(data_dir=tmp_path, ports=port, max_versions=limits, cluster_id="aged") as older:
        producer.send("t", b"1").result(20)
        read_numbers(consumer, [1], 20)
        with pytest.raises(UnsupportedVersionError) as caught:
            with open_consumer(older, "t", group_id="g", group_protocol="consumer") as modern:
                while True:
                    modern.poll(5.0)
        assert "ConsumerGroupHeartbeat" in str(caught.value)
        assert (caught.value.needed is not None, caught.value.offered) == (True, None)
        producer.close(5)
        consumer.close(5)


def test_a_cluster_for_tests_is_ready_at_once() -> None:
    """A container costs 10 to 20 seconds and dominates the build (sql-flow 189, testcontainers-java PR 4549)."""
    took = []
    for _ in range(3):
        began = time.process_time()
        with EmbeddedCluster(brokers=3, topics={"t": 3}):
            took.append(time.process_time() - began)
    assert min(took) < 0.5, took


def test_waiting_creation_returns_when_every_broker_serves_the_topic(name: str) -> None:
    """The topic was created, and the next call does not know it (aiokafka 623)."""
    from pykclient.admin import NewTopic

    with EmbeddedCluster(brokers=3) as three, KafkaAdminClient(bootstrap_servers=three.bootstrap_servers) as admin:
        for number in range(5):
            admin.create_topics([NewTopic(f"t{number}", 3)], wait=True).raise_for_errors()
            for server in three.bootstrap_servers.split(","):
                with KafkaProducer(bootstrap_servers=server, max_block_ms=1000) as producer:
                    assert len(producer.partitions_for(f"t{number}")) == 3
        outcome = admin.create_topics([NewTopic("t0", 1), NewTopic("new", 1)])
        with pytest.raises(KafkaError, match="t0"):
            outcome.raise_for_errors()
        assert "new" in admin.list_topics(), "one failure does not hide the other item"
