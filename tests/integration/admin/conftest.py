"""The clusters that admin calls are tried on: the embedded one, and Apache Kafka itself; each starts once."""

from __future__ import annotations

import pathlib
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.testing import EmbeddedCluster
from pykclient.testing.real_kafka import RealKafka, available

T = TypeVar("T")

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "200",
    "super.users": "User:ANONYMOUS;User:root",
}
ROOT = {"sasl_mechanism": "PLAIN", "sasl_username": "root", "sasl_password": "root-secret"}
# Two doors: one for anybody, whose name is ANONYMOUS, and one for those who log in.
REAL_CONFIG = {
    "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,SCRAM-SHA-256",
    "listener.name.client.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'user_root="root-secret";',
    **{
        f"listener.name.client.scram-sha-{size}.sasl.jaas.config": "org.apache.kafka.common.security.scram."
        "ScramLoginModule required;"
        for size in (256, 512)
    },
    "delegation.token.secret.key": "of the test alone",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "early.start.listeners": "CONTROLLER",
    # So that a test can leave a transaction hanging, as brokers of before KIP-890 did.
    "transaction.partition.verification.enable": "false",
}


@dataclass(frozen=True)
class Stage:
    """A cluster to try things on. ``real`` holds Apache Kafka when it is that."""

    bootstrap_servers: str
    real: RealKafka | None
    login_servers: str

    def admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=self.bootstrap_servers)

    def login(self, **credentials: object) -> KafkaAdminClient:
        """Through the door where one says who one is."""
        return KafkaAdminClient(bootstrap_servers=self.login_servers, security_protocol="SASL_PLAINTEXT", **credentials)

    def producer(self, **options: object) -> KafkaProducer:
        return KafkaProducer(bootstrap_servers=self.bootstrap_servers, **options)

    def consumer(self, topic: str, **options: object) -> KafkaConsumer:
        return KafkaConsumer(topic, bootstrap_servers=self.bootstrap_servers, auto_offset_reset="earliest", **options)


@pytest.fixture(scope="session")
def embedded_stage() -> Iterator[Stage]:
    options: dict[str, Any] = {**CONFIG, "authorizer.enable": "true"}
    users = {"root": "root-secret"}
    with EmbeddedCluster(brokers=3, listeners="PLAINTEXT,SASL_PLAINTEXT", users=users, **options) as cluster:
        yield Stage(cluster.bootstrap_servers, None, cluster.bootstrap_for("SASL_PLAINTEXT"))


@pytest.fixture(scope="session")
def real_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    disks: pathlib.Path = tmp_path_factory.mktemp("disks")
    options = {**CONFIG, **REAL_CONFIG, "log.dirs": f"{disks / 'one'},{disks / 'two'}"}
    with RealKafka(config=options) as kafka:
        yield Stage(kafka.direct_bootstrap_servers, kafka, kafka.bootstrap_servers)


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real_kafka)])
def stage(request: pytest.FixtureRequest) -> Stage:
    """The same test, the same assertions, both clusters."""
    found = request.getfixturevalue(f"{request.param}_stage")
    assert isinstance(found, Stage)
    return found


@pytest.fixture
def admin(stage: Stage) -> Iterator[KafkaAdminClient]:
    with stage.admin() as client:
        yield client


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def topic(admin: KafkaAdminClient, name: str) -> str:
    """A topic of three partitions that is served."""
    admin.create_topics(NewTopic(name, partitions=3), wait=True).raise_for_errors()
    return name


def fill(stage: Stage, topic: str, count: int, *, partitions: int = 3) -> int:
    """So many records, dealt out in turn, one second apart; the last is a minute old. Gives the first timestamp."""
    start_ms = int(time.time() * 1000) - 60_000 - 1000 * count
    with stage.producer() as producer:
        for index in range(count):
            producer.send(
                topic, value=b"%d" % index, partition=index % partitions, timestamp_ms=start_ms + 1000 * index
            )
    return start_ms


def eventually(question: Callable[[], T], holds: Callable[[T], object], timeout_s: float = 10.0) -> T:
    """Ask until the answer is as wanted: what the controller accepted reaches the brokers a moment later."""
    end = time.monotonic() + timeout_s
    while True:
        answer = question()
        if holds(answer):
            return answer
        assert time.monotonic() < end, f"still {answer!r} after {timeout_s} s"
        time.sleep(0.02)
