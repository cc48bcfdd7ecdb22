"""TLS, SASL and ACLs of the embedded broker, with clients that other people wrote and with raw requests."""

from __future__ import annotations

import base64
import hmac
import json
import logging
import ssl
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykclient.broker.authorizer import AclBinding, Operation, PatternType, Permission, ResourceType
from pykclient.errors import ConfigError, ErrorCode
from pykclient.net.oauthbearer import HmacJwtVerifier
from pykclient.net.scram import HASHES
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from pykclient.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from pykclient.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykclient.protocol.messages.describe_acls import DescribeAclsRequest
from pykclient.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from pykclient.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from pykclient.protocol.messages.sasl_handshake import SaslHandshakeRequest
from pykclient.protocol.records import encode_batch
from pykclient.testing import EmbeddedCluster
from tests.unit.raw_client import RawClient

confluent_kafka = pytest.importorskip("confluent_kafka")
USERS = {"admin": "admin-secret", "alice": "alice-secret", "mallory": "mallory-secret"}


def allow(operation: Operation, resource: ResourceType, name: str, user: str = "alice", **options: Any) -> AclBinding:
    pattern = options.get("pattern", PatternType.LITERAL)
    permission = options.get("permission", Permission.ALLOW)
    return AclBinding(resource, name, pattern, f"User:{user}", "*", operation, permission)


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedCluster]:
    acls = [
        allow(Operation.READ, ResourceType.TOPIC, "orders"),
        allow(Operation.WRITE, ResourceType.TOPIC, "team-", pattern=PatternType.PREFIXED),
        allow(Operation.READ, ResourceType.GROUP, "alice-group"),
    ]
    with EmbeddedCluster(
        topics=["orders", "secret", "team-a"],
        listeners=["SASL_PLAINTEXT", "SASL_SSL"],
        users=USERS,
        acls=acls,
        super_users=["User:admin"],
    ) as cluster:
        yield cluster


def log_in(cluster: EmbeddedCluster, user: str) -> RawClient:
    client = RawClient(cluster.bootstrap_servers)
    assert client.ask(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("PLAIN")).error_code == 0
    message = f"\0{user}\0{USERS[user]}".encode()
    assert client.ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(message)).error_code == 0
    return client


def settings(cluster: EmbeddedCluster, listener: str, mechanism: str, user: str, password: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstrap_for(listener),
        "security.protocol": listener,
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
        "log_level": 0,
    }
    if listener.endswith("SSL"):
        found["ssl.ca.location"] = str(cluster.certificates.ca)
    return found


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_librdkafka_logs_in_with_every_mechanism_on_every_listener(
    secured: EmbeddedCluster, listener: str, mechanism: str
) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(settings(secured, listener, mechanism, "alice", USERS["alice"]))
    assert set(admin.list_topics(timeout=10).topics) == {"orders", "team-a"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password_is_told_to_librdkafka_as_such(secured: EmbeddedCluster, mechanism: str) -> None:
    from confluent_kafka import KafkaError, Producer

    errors: list[Any] = []
    options = settings(secured, "SASL_PLAINTEXT", mechanism, "alice", "wrong")
    producer = Producer({**options, "error_cb": errors.append})
    secured.wait_until(
        lambda: producer.poll(0.05) or [e for e in errors if e.code() == KafkaError._AUTHENTICATION], timeout_s=10
    )


def test_plain_tls() -> None:
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient

    with EmbeddedCluster(topics=["t"], listeners=["SSL"]) as cluster:
        options: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "security.protocol": "SSL",
            "ssl.ca.location": str(cluster.certificates.ca),
        }
        assert "t" in AdminClient(options).list_topics(timeout=10).topics
        producer = Producer(options)
        outcomes: list[Any] = []
        producer.produce("t", b"x" * 500_000, on_delivery=lambda error, message: outcomes.append(error))
        assert producer.flush(10) == 0
        assert outcomes == [None]
        stranger = ssl.create_default_context()
        with pytest.raises(ssl.SSLCertVerificationError):
            RawClient(cluster.bootstrap_servers, tls=stranger)


def test_clients_without_a_certificate_are_kept_out_when_one_is_asked_for() -> None:
    from pykclient.broker.listeners import ListenerSpec
    from pykclient.testing import make_certificates

    with tempfile.TemporaryDirectory() as directory:
        certificates = make_certificates(Path(directory))
        spec = ListenerSpec("SSL", tls=certificates.server_context(client_auth=True))
        with EmbeddedCluster(listeners=[spec]) as cluster:
            with RawClient(cluster.bootstrap_servers, tls=certificates.client_context()) as client:
                assert client.ask(ApiKey.METADATA, MetadataRequest(topics=[])).brokers
            bare = ssl.create_default_context(cafile=str(certificates.ca))
            with pytest.raises((ssl.SSLError, ConnectionError)):
                with RawClient(cluster.bootstrap_servers, tls=bare) as client:
                    client.ask(ApiKey.METADATA, MetadataRequest(topics=[]))


# ---- ACLs ----


def topic_errors(client: RawClient, *names: str, create: bool = False) -> dict[str, int]:
    asked = [MetadataRequestTopic(name=name) for name in names]
    answer = client.ask(ApiKey.METADATA, MetadataRequest(topics=asked, allow_auto_topic_creation=create))
    return {topic.name: topic.error_code for topic in answer.topics}


def test_topics_one_may_not_see_are_not_shown(secured: EmbeddedCluster) -> None:
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with log_in(secured, "alice") as client:
        every = client.ask(ApiKey.METADATA, MetadataRequest(topics=None))
        assert {topic.name for topic in every.topics} == {"orders", "team-a"}
        assert topic_errors(client, "orders", "secret", "no-such") == {"orders": 0, "secret": denied, "no-such": denied}
        assert topic_errors(client, "team-new", create=True) == {"team-new": denied}
    with log_in(secured, "mallory") as client:
        assert client.ask(ApiKey.METADATA, MetadataRequest(topics=None)).topics == []
    assert not secured.has_topic("team-new")


def produced(client: RawClient, topic: str, **options: Any) -> int:
    batch = encode_batch([(0, None, b"v", None)], **options)
    data = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])]
    answer = client.ask(ApiKey.PRODUCE, ProduceRequest(acks=1, timeout_ms=1000, topic_data=data), 9)
    return int(answer.responses[0].partition_responses[0].error_code)


def fetched(client: RawClient, topic: str, replica_id: int = -1) -> int:
    part = FetchPartition(0, partition_max_bytes=1000)
    request = FetchRequest(replica_id=replica_id, max_bytes=1000, topics=[FetchTopic(topic, partitions=[part])])
    return int(client.ask(ApiKey.FETCH, request, 11).responses[0].partitions[0].error_code)


def test_reading_and_writing_need_their_own_rights(secured: EmbeddedCluster) -> None:
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with log_in(secured, "alice") as client:
        assert produced(client, "team-a") == 0
        assert produced(client, "orders") == denied
        assert fetched(client, "orders") == 0
        assert fetched(client, "team-a") == denied
    with log_in(secured, "admin") as client:
        assert produced(client, "secret") == 0
        assert fetched(client, "secret") == 0


def test_a_transactional_batch_needs_the_right_to_its_transactional_id_whatever_the_request_says(
    secured: EmbeddedCluster,
) -> None:
    with log_in(secured, "alice") as client:
        code = produced(client, "team-a", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    assert code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_nobody_is_a_replica_by_saying_so(secured: EmbeddedCluster) -> None:
    with log_in(secured, "alice") as client:
        part = FetchPartition(0, partition_max_bytes=1000)
        request = FetchRequest(replica_id=2, max_bytes=1000, topics=[FetchTopic("orders", partitions=[part])])
        answer = client.ask(ApiKey.FETCH, request, 11)
    codes = {answer.error_code} | {p.error_code for t in answer.responses for p in t.partitions}
    assert codes & {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED}


def test_administration_needs_rights_on_the_cluster(secured: EmbeddedCluster) -> None:
    with log_in(secured, "alice") as client:
        created = client.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=[CreatableTopic("mine", 1, 1)]))
        assert created.topics[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert (
            client.ask(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest(1, None, 1, None, None, 1, 1)).error_code
            == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        )
        answer = client.ask(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)]))
        assert answer.results[0].error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        assert (
            client.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, DescribeUserScramCredentialsRequest(None)).error_code
            == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        )


def test_acls_take_effect_when_they_are_created(secured: EmbeddedCluster) -> None:
    creation = AclCreation(ResourceType.TOPIC, "secret", 3, "User:mallory", "*", Operation.READ, Permission.ALLOW)
    broken = AclCreation(ResourceType.TOPIC, "", 3, "User:mallory", "*", Operation.READ, Permission.ALLOW)
    with log_in(secured, "admin") as client:
        answer = client.ask(ApiKey.CREATE_ACLS, CreateAclsRequest([creation, broken]))
        assert [result.error_code for result in answer.results] == [0, ErrorCode.INVALID_REQUEST]
        found = client.ask(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest(2, "secret", 2, None, None, 1, 1))
        assert [(r.resource_name, r.acls[0].principal) for r in found.resources] == [("secret", "User:mallory")]
    with log_in(secured, "mallory") as client:
        assert fetched(client, "secret") == 0


def test_a_user_made_over_the_wire_can_log_in(secured: EmbeddedCluster) -> None:
    from confluent_kafka.admin import AdminClient

    from pykclient.net.scram import salted_password

    mechanism = "SCRAM-SHA-512"
    assert mechanism in HASHES
    salted = salted_password(mechanism, "new-secret", b"salt", 4096)
    with log_in(secured, "admin") as client:
        good = ScramCredentialUpsertion("newcomer", 2, 4096, b"salt", salted)
        weak = ScramCredentialUpsertion("weak", 2, 1, b"salt", salted)
        answer = client.ask(
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS, AlterUserScramCredentialsRequest(upsertions=[good, weak])
        )
        assert {r.user: r.error_code for r in answer.results} == {
            "newcomer": 0,
            "weak": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        }
    admin = AdminClient(settings(secured, "SASL_PLAINTEXT", mechanism, "newcomer", "new-secret"))
    assert admin.list_topics(timeout=10).topics == {}


def test_a_user_is_altered_once_per_request(secured: EmbeddedCluster) -> None:
    twice = [ScramCredentialUpsertion("twice", mechanism, 4096, b"salt", b"salted") for mechanism in (1, 2)]
    once = ScramCredentialUpsertion("once", 1, 4096, b"salt", b"salted")
    with log_in(secured, "admin") as client:
        answer = client.ask(
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS, AlterUserScramCredentialsRequest(upsertions=[*twice, once])
        )
    assert {r.user: r.error_code for r in answer.results} == {"twice": ErrorCode.DUPLICATE_RESOURCE, "once": 0}


def test_no_secret_is_ever_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = "canary-7f3a"
    with EmbeddedCluster(listeners=["SASL_PLAINTEXT"], users={"alice": canary}) as cluster:
        for password in (canary, canary + "x"):
            with RawClient(cluster.bootstrap_servers) as client:
                client.ask(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("PLAIN"))
                client.ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(f"\0alice\0{password}".encode()))
        shown = [repr(cluster), repr(vars(cluster)), repr(cluster._cluster.options), repr(vars(cluster._cluster))]
        shown += [repr(cluster._cluster.node(1)), repr(vars(cluster._cluster.node(1)))]
        with RawClient(cluster.bootstrap_servers) as client:
            client.ask(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("PLAIN"))
            client.ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(f"\0alice\0{canary}".encode()))
            described = client.ask(
                ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest([DescribeConfigsResource(4, "1", None)])
            )
        shown.append(repr(described))
    assert not [text for text in shown if canary in text]
    assert canary not in caplog.text
    hidden = next(c for c in described.results[0].configs if c.name == "ssl.keystore.password")
    assert (hidden.value, hidden.is_sensitive) == (None, True)


# ---- OAUTHBEARER ----


KEY = b"a key of thirty-two bytes or more"


def jwt(*, key: bytes = KEY, algorithm: str = "HS256", **claims: Any) -> str:
    def part(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    body = {"sub": "alice", "iss": "us", "aud": "kafka", "exp": int(time.time()) + 60, **claims}
    text = f"{part(json.dumps({'alg': algorithm, 'typ': 'JWT'}).encode())}.{part(json.dumps(body).encode())}"
    signature = b"" if algorithm == "none" else hmac.digest(key, text.encode(), "sha256")
    return f"{text}.{part(signature)}"


@pytest.fixture(scope="module")
def token_cluster() -> Iterator[EmbeddedCluster]:
    verifier = HmacJwtVerifier(KEY, "us", "kafka")
    with EmbeddedCluster(topics=["t"], listeners=["SASL_PLAINTEXT"], token_verifier=verifier) as cluster:
        yield cluster


def present(cluster: EmbeddedCluster, token: str) -> Any:
    """The broker's last word about a token."""
    with RawClient(cluster.bootstrap_servers) as client:
        assert client.ask(ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest("OAUTHBEARER")).error_code == 0
        message = f"n,,\x01auth=Bearer {token}\x01\x01".encode()
        answer = client.ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(message))
        if answer.auth_bytes:
            answer = client.ask(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(b"\x01"))
        return answer


def test_a_good_token_lets_in_for_as_long_as_it_is_valid(token_cluster: EmbeddedCluster) -> None:
    answer = present(token_cluster, jwt())
    assert answer.error_code == 0
    assert 0 < answer.session_lifetime_ms <= 60_000


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "none"},
        {"algorithm": "HS512"},
        {"key": b"another key of thirty-two bytes.."},
        {"iss": "them"},
        {"aud": "other"},
        {"exp": 1},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_bad_token_does_not(token_cluster: EmbeddedCluster, options: dict[str, Any]) -> None:
    assert present(token_cluster, jwt(**options)).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_oauthbearer_without_a_verifier_does_not_start() -> None:
    with pytest.raises(ConfigError, match="token_verifier"):
        EmbeddedCluster(listeners=["SASL_PLAINTEXT"], sasl_enabled_mechanisms="OAUTHBEARER").start()
