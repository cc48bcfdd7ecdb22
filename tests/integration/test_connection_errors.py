"""Errors that say what is wrong: one class per cause, with host and port and the setting to change, within five
seconds, on every kind of client; and no secret in any of it."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.broker.authorizer import AclBinding, Operation, PatternType, Permission, ResourceType
from pykclient.broker.listeners import ListenerSpec
from pykclient.cli.doctor import EXIT_CODES
from pykclient.cli.main import main
from pykclient.errors import (
    AuthenticationError,
    ConfigError,
    GroupAuthorizationFailed,
    KafkaError,
    MessageTooLarge,
    MissingCodec,
    RecordTooLarge,
    SaslAuthenticationFailed,
    TopicAuthorizationFailed,
    UnknownTopicOrPartition,
    UnsupportedSaslMechanism,
)
from pykclient.net import failures
from pykclient.net.tls import TlsSettings, server_context
from pykclient.protocol import compression
from pykclient.testing import EmbeddedCluster, TestCertificates, make_certificates

PASSWORD = "correct-horse-battery-staple"
WRONG_PASSWORD = "hunter2-is-not-it"
LIMIT_S = 5.0
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="making certificates needs openssl")


# ---- the places ----


@dataclass(frozen=True)
class Places:
    """Every listener the table needs."""

    certificates: TestCertificates
    cluster: EmbeddedCluster
    silent: str
    refused: str

    def at(self, listener: str) -> str:
        return self.cluster.bootstrap_for(listener)


def certificate(folder: Path, name: str, ca: TestCertificates, *, names: str, days: int) -> TlsSettings:
    """A server certificate by the same CA, for other names or other dates."""
    key, request, made, extensions = (folder / f"{name}.{end}" for end in ("key", "csr", "pem", "ext"))
    extensions.write_text(f"subjectAltName={names}\n")
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key))
    openssl("req", *new_key, "-out", str(request), "-subj", f"/CN={name}")
    ca_key = ca.ca.with_suffix(".key")
    openssl(
        "x509", "-req", "-in", str(request), "-CA", str(ca.ca), "-CAkey", str(ca_key), "-CAcreateserial",
        "-out", str(made), "-days", str(days), "-extfile", str(extensions),
    )  # fmt: skip
    return TlsSettings(certfile=str(made), keyfile=str(key))


def openssl(*words: str) -> None:
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("tls")
    good = make_certificates(folder)
    expired = certificate(folder, "expired", good, names="IP:127.0.0.1", days=-1)
    elsewhere = certificate(folder, "elsewhere", good, names="DNS:elsewhere.example", days=30)
    listeners = [
        ListenerSpec("PLAINTEXT"),
        ListenerSpec("SSL", tls=good.server_context()),
        ListenerSpec("SSL", name="MUTUAL", tls=good.server_context(client_auth=True)),
        ListenerSpec("SSL", name="EXPIRED", tls=server_context(expired)),
        ListenerSpec("SSL", name="ELSEWHERE", tls=server_context(elsewhere)),
        ListenerSpec("SASL_PLAINTEXT"),
        ListenerSpec("SASL_SSL", tls=good.server_context()),
    ]
    acls = [
        AclBinding(ResourceType.TOPIC, topic, PatternType.LITERAL, "User:*", "*", operation, Permission.ALLOW)
        for topic in ("open", "quiet")
        for operation in (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
    ]
    with closing(socket.socket()) as silent, closing(socket.socket()) as unheard:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        unheard.bind(("127.0.0.1", 0))  # bound and not listening: refuses
        options: dict[str, Any] = {
            "auto.create.topics.enable": "false",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        }
        with EmbeddedCluster(
            topics=["open", "closed", "quiet"], listeners=listeners, users={"alice": PASSWORD, "root": PASSWORD},
            acls=acls, super_users=["User:root"], **options,
        ) as cluster:  # fmt: skip
            yield Places(
                good,
                cluster,
                f"127.0.0.1:{silent.getsockname()[1]}",
                f"127.0.0.1:{unheard.getsockname()[1]}",
            )


# ---- the clients ----


def produce(options: dict[str, Any], topic: str) -> None:
    producer = KafkaProducer(options)
    try:
        producer.send(topic, b"x").result(LIMIT_S)
    finally:
        producer.close(0)


def consume(options: dict[str, Any], topic: str) -> None:
    consumer = KafkaConsumer(topic, **{key.replace(".", "_"): value for key, value in options.items()})
    try:
        consumer.poll(LIMIT_S)
    finally:
        consumer.close(0)


def administer(options: dict[str, Any], topic: str) -> None:
    with KafkaAdminClient(options) as admin:
        admin.describe_topics(topic).raise_for_errors()


def produce_async(options: dict[str, Any], topic: str) -> None:
    async def send() -> None:
        producer = AsyncKafkaProducer(options)
        try:
            await asyncio.wait_for(producer.send(topic, b"x"), LIMIT_S)
        finally:
            await producer.close(0)

    asyncio.run(send())


def consume_async(options: dict[str, Any], topic: str) -> None:
    async def poll() -> None:
        consumer = AsyncKafkaConsumer(topic, **{key.replace(".", "_"): value for key, value in options.items()})
        try:
            await asyncio.wait_for(consumer.poll(LIMIT_S), LIMIT_S)
        finally:
            await consumer.close(0)

    asyncio.run(poll())


def administer_async(options: dict[str, Any], topic: str) -> None:
    async def describe() -> None:
        async with AsyncKafkaAdminClient(options) as admin:
            (await asyncio.wait_for(admin.describe_topics(topic), LIMIT_S)).raise_for_errors()

    asyncio.run(describe())


CLIENTS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "producer": produce,
    "consumer": consume,
    "admin": administer,
    "asyncio producer": produce_async,
    "asyncio consumer": consume_async,
    "asyncio admin": administer_async,
}


# ---- the table ----


@dataclass(frozen=True)
class Case:
    """What is wrong, what is raised, and which words of the message say what to change."""

    where: Callable[[Places], str]
    options: Callable[[Places], dict[str, Any]]
    error: type[KafkaError]
    says: str


def tls(places: Places, **more: Any) -> dict[str, Any]:
    return {"security.protocol": "SSL", "ssl.cafile": str(places.certificates.ca), **more}


def sasl(mechanism: str = "PLAIN", password: str = PASSWORD, **more: Any) -> dict[str, Any]:
    return {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.username": "alice",
        "sasl.password": password, **more,
    }  # fmt: skip


CASES = {
    "bad DNS": Case(lambda p: "no-such-host.invalid:9092", lambda p: {}, failures.HostNotFound, "bootstrap_servers"),
    "refused port": Case(lambda p: p.refused, lambda p: {}, failures.ConnectionRefused, "bootstrap_servers"),
    "silent port": Case(lambda p: p.silent, lambda p: {}, failures.ConnectTimedOut, "security_protocol"),
    "plaintext to a TLS port": Case(lambda p: p.at("SSL"), lambda p: {}, failures.PeerIsTls, "security_protocol"),
    "TLS to a plaintext port": Case(lambda p: p.at("PLAINTEXT"), tls, failures.PeerNotTls, "security_protocol"),
    "untrusted CA": Case(
        lambda p: p.at("SSL"),
        lambda p: {"security.protocol": "SSL"},
        failures.CertificateUntrusted,
        "ssl_cafile",
    ),
    "wrong host name": Case(lambda p: p.at("ELSEWHERE"), tls, failures.HostNameMismatch, "bootstrap_servers"),
    "expired certificate": Case(lambda p: p.at("EXPIRED"), tls, failures.CertificateExpired, "renewed"),
    "missing client certificate": Case(
        lambda p: p.at("MUTUAL"), tls, failures.ClientCertificateRefused, "ssl_certfile"
    ),
    "wrong password": Case(
        lambda p: p.at("SASL_PLAINTEXT"),
        lambda p: sasl(password=WRONG_PASSWORD),
        SaslAuthenticationFailed,
        "sasl_password",
    ),
    "wrong SCRAM password over TLS": Case(
        lambda p: p.at("SASL_SSL"),
        lambda p: {**sasl("SCRAM-SHA-256", WRONG_PASSWORD), **tls(p), "security.protocol": "SASL_SSL"},
        SaslAuthenticationFailed,
        "sasl_password",
    ),
    "mechanism not enabled": Case(
        lambda p: p.at("SASL_PLAINTEXT"),
        lambda p: sasl("SCRAM-SHA-512"),
        UnsupportedSaslMechanism,
        "sasl_mechanism",
    ),
    "SASL needed but not set": Case(
        lambda p: p.at("SASL_PLAINTEXT"), lambda p: {}, failures.RejectedByPeer, "security_protocol"
    ),
    "SASL set but not wanted": Case(
        lambda p: p.at("PLAINTEXT"), lambda p: sasl(), AuthenticationError, "security_protocol"
    ),
}


@dataclass(frozen=True)
class Outcomes:
    """What became of every case on one kind of client, and all that was logged meanwhile."""

    errors: dict[str, Exception | None]
    seconds: dict[str, float]
    log: str


class Collector(logging.Handler):
    """Keeps the text of every record."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(scope="module", params=list(CLIENTS))
def outcomes(request: pytest.FixtureRequest, places: Places) -> Outcomes:
    """All cases at once: each mostly waits."""
    use = CLIENTS[request.param]
    errors: dict[str, Exception | None] = {}
    seconds: dict[str, float] = {}

    def attempt(name: str) -> None:
        case = CASES[name]
        options = {"bootstrap.servers": case.where(places), **case.options(places)}
        began = time.monotonic()
        try:
            use(options, "open")
            errors[name] = None
        except Exception as error:
            errors[name] = error
        seconds[name] = time.monotonic() - began

    collector, logger = Collector(), logging.getLogger("pykclient")
    level = logger.level
    logger.addHandler(collector)
    logger.setLevel(logging.DEBUG)
    try:
        threads = [threading.Thread(target=attempt, args=(name,)) for name in CASES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in [name for name, taken in seconds.items() if taken >= LIMIT_S]:
            attempt(name)  # alone: a machine that was busy with the others is no fault of the client's
    finally:
        logger.removeHandler(collector)
        logger.setLevel(level)
    return Outcomes(errors, seconds, "\n".join(collector.lines))


@pytest.mark.parametrize("name", CASES)
def test_a_connection_that_fails_says_why(places: Places, outcomes: Outcomes, name: str) -> None:
    case, error = CASES[name], outcomes.errors[name]
    assert type(error) is case.error, repr(error)
    assert isinstance(error, KafkaError)
    assert outcomes.seconds[name] < LIMIT_S
    assert case.where(places) in str(error)
    assert case.says in str(error)


def test_no_secret_is_in_an_error_or_a_log(outcomes: Outcomes) -> None:
    assert "the broker refuses the login" in outcomes.log, "the log was listened to"
    shown = outcomes.log
    for error in outcomes.errors.values():
        while isinstance(error, BaseException):
            shown += str(error) + repr(error) + repr(vars(error))
            error = error.__cause__ or error.__context__  # type: ignore[assignment]
    for error in filter(None, outcomes.errors.values()):
        shown += repr(vars(pickle.loads(pickle.dumps(error))))
    assert PASSWORD not in shown
    assert WRONG_PASSWORD not in shown


QUIET = """
import sys
from pykclient import KafkaAdminClient, KafkaConsumer, KafkaError, KafkaProducer
refused, well = sys.argv[1:]
for use in (
    lambda: KafkaConsumer("t", bootstrap_servers=refused).poll(5),
    lambda: KafkaAdminClient(bootstrap_servers=refused).list_topics(),
    lambda: KafkaProducer(bootstrap_servers=refused, max_block_ms=2000).send("t", b"x").result(5),
):
    try:
        use()
    except KafkaError:
        continue
    sys.exit(1)
with KafkaProducer(bootstrap_servers=well) as producer:
    producer.send("quiet", b"x").result(10)
with KafkaConsumer("quiet", bootstrap_servers=well, auto_offset_reset="earliest") as consumer:
    assert consumer.poll(10)
sys.exit(7)
"""


def test_the_library_prints_nothing(places: Places) -> None:
    """Not when all is well, not when nothing is, not at the end; warnings are errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET, places.refused, places.at("PLAINTEXT")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_every_cause_has_a_class_of_its_own() -> None:
    single = {name: case.error for name, case in CASES.items() if name != "wrong SCRAM password over TLS"}
    others = [TopicAuthorizationFailed, UnknownTopicOrPartition, RecordTooLarge, MissingCodec]
    classes = [*single.values(), *others]
    assert len(set(classes)) == len(classes)


# ---- connected, and still not allowed or not possible ----


def assert_denied(places: Places, kind: str, error: type[Exception], name: str, *, topic: str, **more: str) -> None:
    """Refused in time by an ACL, with the name of what is closed and the broker that said so."""
    options = {"bootstrap.servers": places.at("SASL_PLAINTEXT"), **sasl(), **more}
    began = time.monotonic()
    with pytest.raises(error, match=name) as caught:
        CLIENTS[kind](options, topic)
    assert time.monotonic() - began < LIMIT_S
    assert "ACL" in str(caught.value)
    assert places.at("SASL_PLAINTEXT") in str(caught.value)


@pytest.mark.parametrize("kind", CLIENTS)
def test_acl_denied(places: Places, kind: str) -> None:
    assert_denied(places, kind, TopicAuthorizationFailed, "closed", topic="closed")


@pytest.mark.parametrize("kind", CLIENTS)
def test_unknown_topic(places: Places, kind: str) -> None:
    options = {"bootstrap.servers": places.at("SASL_PLAINTEXT"), **sasl(), "sasl.username": "root"}
    began = time.monotonic()
    with pytest.raises(UnknownTopicOrPartition, match="no-such-topic") as caught:
        # A subscription may come before its topic, as in Java; a question about the topic gets the answer.
        if "consumer" in kind:
            ask(kind, options, "beginning_offsets", TopicPartition("no-such-topic", 0))
        else:
            CLIENTS[kind](options, "no-such-topic")
    assert time.monotonic() - began < LIMIT_S
    assert "create" in str(caught.value)
    assert places.at("SASL_PLAINTEXT") in str(caught.value)


QUESTIONS: dict[str, Callable[[Any, TopicPartition], Any]] = {
    "beginning_offsets": lambda consumer, tp: consumer.beginning_offsets([tp]),
    "end_offsets": lambda consumer, tp: consumer.end_offsets([tp]),
    "offsets_for_times": lambda consumer, tp: consumer.offsets_for_times({tp: 0}),
    "position": lambda consumer, tp: consumer.position(tp),
    "commit": lambda consumer, tp: consumer.commit({tp: 1}),
    "partitions_for": lambda consumer, tp: consumer.partitions_for(tp.topic),
}


def ask(kind: str, options: dict[str, Any], question: str, tp: TopicPartition) -> None:
    """One question about a partition."""
    if kind == "consumer":
        with KafkaConsumer(options, group_id="asks") as consumer:
            consumer.assign([tp])
            QUESTIONS[question](consumer, tp)
        return

    async def awaited() -> None:
        async with AsyncKafkaConsumer(options, group_id="asks") as consumer:
            await consumer.assign([tp])
            await QUESTIONS[question](consumer, tp)

    asyncio.run(awaited())


@pytest.mark.parametrize("kind", ["consumer", "asyncio consumer"])
def test_questions_about_a_partition_that_is_not_there(places: Places, kind: str) -> None:
    """Of a topic that is not there, and of one that has fewer. All at once: each mostly waits."""
    options = {"bootstrap.servers": places.at("SASL_PLAINTEXT"), **sasl(), "sasl.username": "root"}
    rows = [
        (question, tp)
        for question in QUESTIONS
        for tp in (TopicPartition("no-such-topic", 0), TopicPartition("open", 7))
        if (question, tp.topic) != ("partitions_for", "open")
    ]

    def attempt(question: str, tp: TopicPartition) -> tuple[Exception | None, float]:
        began = time.monotonic()
        try:
            ask(kind, options, question, tp)
        except Exception as error:
            return error, time.monotonic() - began
        return None, 0.0

    with ThreadPoolExecutor(len(rows)) as pool:
        outcomes = list(pool.map(lambda row: attempt(*row), rows))
    for (question, tp), (error, seconds) in zip(rows, outcomes, strict=True):
        assert type(error) is UnknownTopicOrPartition, (question, tp, error)
        assert seconds < LIMIT_S, (question, tp)
        assert error.topic == tp.topic
        assert places.at("SASL_PLAINTEXT") in str(error), (question, tp)
        assert "create" in str(error), (question, tp)


@pytest.mark.parametrize("kind", ["consumer", "asyncio consumer"])
def test_group_denied(places: Places, kind: str) -> None:
    assert_denied(places, kind, GroupAuthorizationFailed, "closed group", topic="open", **{"group.id": "closed group"})


def send_large(kind: str, options: dict[str, Any], size: int) -> None:
    if kind == "producer":
        with KafkaProducer(**options) as producer:
            producer.send("open", b"x" * size).result(LIMIT_S)
        return

    async def send() -> None:
        async with AsyncKafkaProducer(**options) as producer:
            await producer.send("open", b"x" * size)

    asyncio.run(send())


@pytest.mark.parametrize("kind", ["producer", "asyncio producer"])
def test_oversized_record(places: Places, kind: str) -> None:
    """Told before anything is sent; and where the producer would send it, by the broker."""
    options: dict[str, Any] = {"bootstrap_servers": places.at("PLAINTEXT")}
    with pytest.raises(RecordTooLarge, match="raise max_request_size") as caught:
        send_large(kind, options, 2_000_000)
    assert places.at("PLAINTEXT") in str(caught.value)
    with pytest.raises(MessageTooLarge, match=re.escape("max.message.bytes")) as refused:
        send_large(kind, {**options, "max_request_size": 4_000_000}, 2_000_000)
    assert places.at("PLAINTEXT") in str(refused.value)


def test_missing_codec(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"bootstrap_servers": places.at("PLAINTEXT")}
    with KafkaProducer(**options, compression_type="zstd") as producer:
        producer.send("open", b"x" * 1000).result(LIMIT_S)
    monkeypatch.setattr(compression, "cramjam", lambda: None)

    def produce(make: Callable[..., Any]) -> Callable[[], None]:
        return lambda: make(**options, compression_type="zstd")

    def poll() -> None:
        with KafkaConsumer("open", **options, auto_offset_reset="earliest") as consumer:
            consumer.poll(LIMIT_S)

    async def poll_async() -> None:
        async with AsyncKafkaConsumer("open", **options, auto_offset_reset="earliest") as consumer:
            await consumer.poll(LIMIT_S)

    for use in (produce(KafkaProducer), produce(AsyncKafkaProducer), poll, lambda: asyncio.run(poll_async())):
        with pytest.raises(MissingCodec, match="zstd needs the package cramjam: pip install cramjam") as caught:
            use()
        assert places.at("PLAINTEXT") in str(caught.value)
        assert "compression_type" in str(caught.value)


# ---- the same mistakes, looked at by the doctor ----

FAILS_AT = {
    "bad DNS": "DNS", "refused port": "TCP", "silent port": "Kafka", "plaintext to a TLS port": "Kafka",
    "TLS to a plaintext port": "TLS", "untrusted CA": "TLS", "wrong host name": "TLS", "expired certificate": "TLS",
    "missing client certificate": "TLS", "wrong password": "SASL", "wrong SCRAM password over TLS": "SASL",
    "mechanism not enabled": "SASL", "SASL needed but not set": "Kafka", "SASL set but not wanted": "SASL",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_doctor_finds_it_and_names_the_setting(
    places: Places, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case, file = CASES[name], tmp_path / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in case.options(places).items()))
    words = ["doctor", "-b", case.where(places), "--config-file", str(file), "--timeout", "5", "--json"]
    assert main(words) == EXIT_CODES[FAILS_AT[name]]
    shown = capsys.readouterr()
    assert shown.err == ""
    assert PASSWORD not in shown.out
    assert WRONG_PASSWORD not in shown.out
    found = json.loads(shown.out)
    ill = [finding for finding in found if finding["state"] == "failed"]
    assert [finding["check"] for finding in ill] == [FAILS_AT[name]]
    assert case.says in ill[0]["advice"] + ill[0]["detail"]


def test_secrets_are_in_no_repr(places: Places) -> None:
    options: dict[str, Any] = {"bootstrap_servers": places.at("SASL_PLAINTEXT"), "sasl_username": "alice"}
    options.update(security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_password=PASSWORD)
    for make in (KafkaProducer, KafkaConsumer, KafkaAdminClient):
        client = make(**options)
        try:
            shown = [repr(client), str(client)]
            for value in vars(client).values():
                shown.append(repr(value))
            assert not any(PASSWORD in text for text in shown)
        finally:
            client.close()
    with pytest.raises(ConfigError) as caught:
        KafkaProducer({**options, "sasl_pasword": PASSWORD})
    assert PASSWORD not in str(caught.value)
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="{PASSWORD}'
    with pytest.raises(ConfigError) as caught:
        KafkaProducer(
            bootstrap_servers="x:1", security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_jaas_config=jaas
        )
    assert PASSWORD not in str(caught.value)
