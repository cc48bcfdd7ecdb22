"""Options: Java's names and defaults, both spellings, every mistake told at once, secrets never shown."""

from __future__ import annotations

import dataclasses
import io
import logging
import pickle
import ssl
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient import plugins
from pykclient.config import AdminConfig, CommonConfig, ConsumerConfig, HostPort, ProducerConfig, read_options
from pykclient.config.options import option_fields
from pykclient.config.reference import markdown
from pykclient.config.refused import REFUSED
from pykclient.config.security import parse_jaas
from pykclient.errors import ConfigError
from tests.unit.java_options import JAVA_DEFAULTS

CANARY = "canary-7f3a"


def producer(options: dict[str, Any] | None = None, /, **keywords: Any) -> ProducerConfig:
    return read_options(ProducerConfig, {"bootstrap.servers": "a:1", **(options or {})}, **keywords)


def consumer(options: dict[str, Any] | None = None, /, **keywords: Any) -> ConsumerConfig:
    return read_options(ConsumerConfig, {"bootstrap.servers": "a:1", **(options or {})}, **keywords)


def problems(table: type[CommonConfig], **keywords: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        read_options(table, **{"bootstrap_servers": "a:1", **keywords})
    return caught.value.problems


@pytest.mark.parametrize(("table", "name"), [(ProducerConfig, "P"), (ConsumerConfig, "C"), (AdminConfig, "A")])
def test_every_java_option_is_known_with_its_default_or_refused_with_a_sentence(table: type, name: str) -> None:
    ours = option_fields(table)
    # What differs on purpose: there is no GSSAPI to default to, stores are PEM, and plugins are objects.
    # Java's admin client may have bootstrap.controllers instead of servers.
    exempt = {"sasl.mechanism", "ssl.truststore.type", "ssl.keystore.type", "partition.assignment.strategy", "acks"}
    exempt |= {"bootstrap.servers"} if name == "A" else set()
    # A receive window of Java's size is full long before an answer is complete; see docs/decisions.md.
    exempt |= {"receive.buffer.bytes"} if name == "C" else set()
    for java_name, default in JAVA_DEFAULTS[name].items():
        python_name = java_name.replace(".", "_")
        if java_name in REFUSED:
            assert python_name not in ours
        elif java_name not in exempt:
            assert python_name in ours, java_name
            expected = ours[python_name][0].default
            shown = "REQUIRED" if expected is dataclasses.MISSING else expected
            if "serializer" not in java_name:
                assert shown == default, java_name


def test_both_spellings_and_both_ways_to_give_them() -> None:
    config = producer({"linger.ms": "7", "compression.type": "LZ4"}, batch_size=5.0, retry_backoff_ms=1)
    assert (config.linger_ms, config.compression_type, config.batch_size, config.retry_backoff_ms) == (7, "lz4", 5, 1)


def test_same_option_twice_is_refused() -> None:
    assert "two spellings" in problems(ProducerConfig, **{"linger.ms": 1, "linger_ms": 2})[0]
    with pytest.raises(ConfigError, match="as a keyword"):
        read_options(ProducerConfig, {"acks": 1}, acks=1)


def test_unknown_option_names_the_nearest() -> None:
    assert "'linger_ms'" in problems(ProducerConfig, linger=5)[0]
    assert "'linger.ms'" in problems(ProducerConfig, **{"linger.m": 5})[0]
    assert problems(ProducerConfig, zzzzqqqq=5) == ("unknown option 'zzzzqqqq'",)
    assert "unknown option 'group_id'" in problems(ProducerConfig, group_id="g")[0]


def test_all_problems_come_in_one_error() -> None:
    found = problems(
        ProducerConfig, linger_ms=-1, batch_size="many", acks=2, compression_type="zip", enable_idempotence="yes", x=1
    )
    assert len(found) == 6
    assert "compression_type must be one of none, gzip, snappy, lz4, zstd" in " ".join(found)


def test_java_only_option_says_what_to_use() -> None:
    assert "partitioner=" in problems(ProducerConfig, **{"partitioner.class": "com.example.P"})[0]
    assert "interceptors=" in problems(ConsumerConfig, interceptor_classes="com.example.I")[0]


def test_names_of_other_clients_are_understood() -> None:
    config = producer(
        security_protocol="SASL_SSL",
        sasl_mechanism="PLAIN",
        sasl_plain_username="u",
        sasl_plain_password="p",
        ssl_cafile="ca.pem",
    )
    assert (config.sasl_username, config.ssl_truststore_location) == ("u", "ca.pem")


@pytest.mark.parametrize(
    ("keywords", "complaint"),
    [
        ({"enable_idempotence": True, "acks": 1}, "acks=1"),
        ({"enable_idempotence": True, "retries": 0}, "retries=0"),
        ({"enable_idempotence": True, "acks": 0, "retries": 0}, "acks=0 (needs all) and retries=0"),
        ({"max_in_flight_requests_per_connection": 6}, "above 5"),
        ({"transactional_id": "t", "enable_idempotence": False}, "transactional_id needs"),
        ({"transactional_id": "t", "acks": 1}, "transactional_id needs"),
        ({"transactional_id": ""}, "must not be empty"),
        ({"delivery_timeout_ms": 1000}, "less than linger_ms + request_timeout_ms"),
        ({"compression_gzip_level": 0}, "at least 1 and at most 9, or -1"),
        ({"metadata_max_idle_ms": 10}, "at least 5000"),
        ({"linger_ms": True}, "whole number"),
        ({"linger_ms": 1.5}, "whole number"),
        ({"linger_ms": None}, "whole number"),
        ({"client_id": "${env:HOME}"}, "not expanded"),
        ({"key_serializer": "com.example.Evil"}, "names no built-in"),
        ({"key_serializer": plugins.StringSerde}, "call it"),
        ({"key_serializer": 5}, "serialize()"),
        ({"partitioner": "best"}, "must be one of"),
        ({"interceptors": ["com.example.I"]}, "on_send()"),
        ({"ssl_truststore_type": "JKS"}, "PEM"),
    ],
)
def test_producer_conflicts(keywords: dict[str, Any], complaint: str) -> None:
    found = problems(ProducerConfig, **keywords)
    assert len([p for p in found if complaint in p]) == 1, found


def test_idempotence_gives_way_when_it_was_not_asked_for() -> None:
    assert producer().enable_idempotence
    assert not producer(acks="1").enable_idempotence
    assert not producer(retries=0).enable_idempotence
    assert not producer(acks=1, max_in_flight_requests_per_connection=50).enable_idempotence


def test_defaults_that_follow_others() -> None:
    assert producer(request_timeout_ms=200_000).delivery_timeout_ms == 200_005
    assert producer(reconnect_backoff_ms=500).reconnect_backoff_max_ms == 500
    assert producer(reconnect_backoff_ms=5, reconnect_backoff_max_ms=9).reconnect_backoff_max_ms == 9
    assert not consumer().enable_auto_commit
    assert consumer(group_id="g").enable_auto_commit
    assert producer().receive_buffer_bytes == 32_768
    assert consumer().receive_buffer_bytes == -1
    assert read_options(AdminConfig, bootstrap_servers="a:1").connections_max_idle_ms == 300_000


@pytest.mark.parametrize(
    ("keywords", "complaint"),
    [
        ({"group_id": "g", "group_protocol": "consumer", "session_timeout_ms": 10_000}, "session_timeout_ms"),
        ({"group_id": "g", "group_protocol": "consumer", "heartbeat_interval_ms": 10}, "heartbeat_interval_ms"),
        ({"group_protocol": "consumer", "partition_assignment_strategy": "range"}, "partition_assignment_strategy"),
        ({"group_remote_assignor": "uniform"}, "group_protocol=consumer"),
        ({"heartbeat_interval_ms": 50_000}, "below session_timeout_ms"),
        ({"enable_auto_commit": True}, "needs group_id"),
        ({"group_instance_id": "i"}, "needs group_id"),
        ({"group_id": "g", "group_instance_id": "a/b"}, "letters, digits"),
        ({"auto_offset_reset": "by_duration:1h"}, "ISO 8601"),
        ({"auto_offset_reset": "first"}, "earliest"),
        ({"partition_assignment_strategy": "best"}, "known are range"),
        ({"partition_assignment_strategy": []}, "at least one"),
        ({"isolation_level": "serializable"}, "read_committed"),
    ],
)
def test_consumer_conflicts(keywords: dict[str, Any], complaint: str) -> None:
    found = problems(ConsumerConfig, **keywords)
    assert len([p for p in found if complaint in p]) == 1, found


def test_assignors_by_name_or_java_class_name() -> None:
    assert consumer().partition_assignment_strategy == ("range", "cooperative-sticky")
    java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    assert consumer(partition_assignment_strategy=[java]).partition_assignment_strategy == ("cooperative-sticky",)
    assert consumer(auto_offset_reset="by_duration:P1DT2H").auto_offset_reset == "by_duration:P1DT2H"


@pytest.mark.parametrize(
    ("given_servers", "expected"),
    [
        ("a:1", [("a", 1)]),
        (" a:1 , b.example.org:9092,", [("a", 1), ("b.example.org", 9092)]),
        (["10.0.0.1:9092", "a:1", "a:1"], [("10.0.0.1", 9092), ("a", 1)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("[fe80::1%eth0]:9092", [("fe80::1%eth0", 9092)]),
        ([("a", 1), HostPort("::1", 2)], [("a", 1), ("::1", 2)]),
    ],
)
def test_bootstrap_servers(given_servers: Any, expected: list[tuple[str, int]]) -> None:
    assert list(read_options(AdminConfig, bootstrap_servers=given_servers).bootstrap_servers) == expected


@pytest.mark.parametrize(
    ("servers", "complaint"),
    [
        ("a", "without a port"),
        ("a:", "without a port"),
        ("[::1]", "without a port"),
        ("::1:9092", "brackets"),
        ("[::1:9092", "brackets"),
        ("[x]:1", "brackets"),
        ("[a]b:1", "without a port"),
        ("kafka://a:1", "security_protocol"),
        ("a:0", "65535"),
        ("a:65536", "65535"),
        ("a:９", "65535"),
        ("a b:1", "not a host name"),
        (":1", "not a host name"),
        ("", "no server"),
        ([], "no server"),
        (5, "list"),
        ([b"a:1"], "bytes"),
    ],
)
def test_bad_bootstrap_servers(servers: Any, complaint: str) -> None:
    (problem,) = problems(AdminConfig, bootstrap_servers=servers)
    assert complaint in problem


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_bootstrap_text_parses_or_is_a_config_error(text: str) -> None:
    try:
        config = read_options(AdminConfig, bootstrap_servers=text)
    except ConfigError:
        return
    for server in config.bootstrap_servers:
        assert 0 < server.port < 65536
        assert read_options(AdminConfig, bootstrap_servers=str(server)).bootstrap_servers == (server,)


def test_bootstrap_servers_are_required() -> None:
    with pytest.raises(ConfigError, match="bootstrap_servers is required"):
        read_options(ProducerConfig)


@pytest.mark.parametrize(
    ("keywords", "complaint"),
    [
        ({"security_protocol": "SASL_SSL"}, "needs sasl_mechanism"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "needs sasl_username and sasl_password"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "needs sasl_oauth_token_provider"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI"}, "needs sasl_kerberos_service_name"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "DIGEST-MD5"}, "must be one of"),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI", "sasl_username": "u"},
            "does not use sasl_username",
        ),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN", "sasl_kerberos_keytab": "k"},
            "does not use sasl_kerberos_keytab",
        ),
        ({"sasl_mechanism": "PLAIN"}, "does not use sasl_mechanism"),
        ({"ssl_cafile": "x"}, "does not use ssl_truststore_location"),
        ({"security_protocol": "SSL", "ssl_keyfile": "k"}, "belong together"),
        ({"security_protocol": "SSL", "ssl_key_password": "k"}, "no key"),
        ({"security_protocol": "SSL", "ssl_enabled_protocols": "TLSv1.1"}, "TLSv1.2"),
        (
            {"security_protocol": "SSL", "ssl_keystore_location": "a", "ssl_certfile": "b", "ssl_keyfile": "c"},
            "one way",
        ),
        ({"security_protocol": "SSL", "ssl_context": object()}, "wrap_bio"),
        ({"security_protocol": "SSL", "ssl_endpoint_identification_algorithm": "ldap"}, "https"),
        ({"scram_iterations_min": 10, "scram_iterations_max": 5}, "above"),
        ({"sasl_oauthbearer_token_endpoint_url": "file:///etc/passwd"}, "token()"),
    ],
)
def test_security_conflicts(keywords: dict[str, Any], complaint: str) -> None:
    found = problems(AdminConfig, **keywords)
    assert len([p for p in found if complaint in p]) == 1, found


def test_ready_ssl_context_stands_alone() -> None:
    context = ssl.create_default_context()
    assert producer(security_protocol="SSL", ssl_context=context).ssl_context is context
    assert "complete in itself" in problems(
        ProducerConfig, security_protocol="SSL", ssl_context=context, ssl_cafile="x"
    )[0]  # fmt: skip


JAAS_PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required\n username="al\\"ice"\n password="%s;x";'
JAAS_SCRAM = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required username=alice password='%s' tokenauth=\"true\";"
)


def test_jaas_text_of_java_clients_is_read() -> None:
    config = producer(
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS_PLAIN % CANARY}
    )
    assert config.sasl_username == 'al"ice'
    assert config.sasl_password is not None
    assert config.sasl_password.reveal() == f"{CANARY};x"
    assert config.sasl_jaas_config is None
    login = parse_jaas(JAAS_SCRAM % CANARY)
    assert login.values.pop("sasl_password").reveal() == CANARY
    assert login == (("SCRAM-SHA-256", "SCRAM-SHA-512"), {"sasl_username": "alice", "sasl_token_auth": True})


def test_kerberos_login_of_java_clients_is_read() -> None:
    jaas = (
        "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
        'keyTab="/etc/alice.keytab" principal="alice@EXAMPLE.ORG" serviceName=kafka;'
    )
    config = producer(security_protocol="SASL_SSL", sasl_mechanism="GSSAPI", sasl_jaas_config=jaas)
    assert config.sasl_kerberos_service_name == "kafka"
    assert (config.sasl_kerberos_principal, config.sasl_kerberos_keytab) == ("alice@EXAMPLE.ORG", "/etc/alice.keytab")
    cached = jaas.replace("useKeyTab=true", "useTicketCache=true")
    config = producer(security_protocol="SASL_SSL", sasl_mechanism="GSSAPI", sasl_jaas_config=cached)
    assert config.sasl_kerberos_keytab is None
    found = problems(
        AdminConfig,
        security_protocol="SASL_SSL",
        sasl_mechanism="GSSAPI",
        sasl_jaas_config=jaas,
        sasl_kerberos_service_name="other",
    )
    assert found == ("sasl_jaas_config: give it or sasl_kerberos_service_name, not both",)


@pytest.mark.parametrize(
    "jaas",
    [
        f"com.sun.security.auth.module.JndiLoginModule required username=a password={CANARY};",
        f'org.apache.kafka.common.security.plain.PlainLoginModule required username="{CANARY}";',
        f"org.apache.kafka.common.security.plain.PlainLoginModule required username=a password={CANARY}",
        f'org.apache.kafka.common.security.plain.PlainLoginModule required username="a password={CANARY};',
        CANARY,
        JAAS_SCRAM % CANARY,
    ],
)
def test_other_jaas_texts_are_refused_without_showing_them(jaas: str) -> None:
    found = problems(AdminConfig, security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_jaas_config=jaas)
    assert len(found) == 1
    assert CANARY not in found[0]


def test_secrets_are_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = {
        "sasl_password": CANARY,
        "ssl_key_password": CANARY,
        "ssl_keystore_key": CANARY,
        "ssl_keystore_certificate_chain": CANARY,
    }
    config = producer(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_username="u", **secrets)
    assert config.sasl_password is not None
    shown = f"{config!r} {config} {config.sasl_password} {config.sasl_password!r} {dataclasses.asdict(config)}"
    assert CANARY not in shown
    assert "sasl_password=****" in shown
    found = problems(ProducerConfig, sasl_jaas_config=CANARY, sasl_password=CANARY, nonsense=1)
    assert CANARY not in " ".join(found)
    assert CANARY not in caplog.text
    with pytest.raises(TypeError, match="secret"):
        pickle.dump(config, io.BytesIO())


def test_configuration_is_frozen_and_travels_without_secrets() -> None:
    config = producer(linger_ms=7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.linger_ms = 8  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(config)) == config
    assert repr(config) == "ProducerConfig(bootstrap_servers=(HostPort(host='a', port=1),), linger_ms=7)"


def test_unchecked_host_names_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    producer(security_protocol="SSL")
    assert caplog.text == ""
    producer(security_protocol="SSL", ssl_endpoint_identification_algorithm="")
    assert "not checked" in caplog.text


def test_reference_page_names_every_option() -> None:
    page = markdown()
    for table in (ProducerConfig, ConsumerConfig, AdminConfig):
        for name in option_fields(table):
            assert f"| `{name}`" in page
    assert "None" not in page.split("## Producer")[0].split("default")[0]


def test_reference_page_is_printed_by_the_module() -> None:
    done = subprocess.run([sys.executable, "-m", "pykclient.config"], capture_output=True, text=True, check=True)
    assert done.stdout == markdown()
