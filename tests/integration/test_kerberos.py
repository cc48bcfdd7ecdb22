"""Logging in by Kerberos: a ticket server of our own on loopback, and Apache Kafka with a GSSAPI listener.

Needs the `gssapi` package, MIT Kerberos' server programs, Java and Maven; skips with one sentence where they are not.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.admin import NewTopic
from pykclient.config import AdminConfig, read_options
from pykclient.errors import AuthenticationError, ConfigError, KafkaError
from pykclient.net.sasl import client_exchange
from pykclient.testing.real_kafka import RealKafka, available

REALM = "PYKCLIENT.TEST"
PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")


class TicketServer:
    """An MIT KDC with one realm, its files in a folder, its port on loopback."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.config = folder / "krb5.conf"
        self.config.write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " rdns = false\n dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self.port}\n }}\n"
        )
        (folder / "kdc.conf").write_text(
            f"[realms]\n {REALM} = {{\n  database_name = {folder}/principal\n  key_stash_file = {folder}/stash\n"
            f"  acl_file = {folder}/acl\n  kdc_listen = 127.0.0.1:{self.port}\n"
            f"  kdc_tcp_listen = 127.0.0.1:{self.port}\n }}\n"
        )
        self.environment = {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder}/tickets",
        }
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", uuid.uuid4().hex)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(["krb5kdc", "-n"], env={**os.environ, **self.environment})
        while self._process.poll() is None:  # the test's time-out bounds this
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except ConnectionRefusedError:
                continue
        raise AssertionError("the ticket server ended")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def keytab(self, principal: str) -> pathlib.Path:
        """Make the principal with a random key, and a file with that key."""
        path = self.folder / f"{principal.replace('/', '-')}.keytab"
        self._run("kadmin.local", "-r", REALM, "addprinc", "-randkey", principal)
        self._run("kadmin.local", "-r", REALM, "ktadd", "-k", str(path), principal)
        return path

    def login(self, principal: str, keytab: pathlib.Path) -> None:
        """What a user does with ``kinit``: tickets in the default cache."""
        self._run("kinit", "-k", "-t", str(keytab), principal)

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def tickets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TicketServer]:
    pytest.importorskip("gssapi", reason="Kerberos: pip install 'pykclient[gssapi]'", exc_type=ImportError)
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"Kerberos' {', '.join(missing)} not here (Debian: krb5-kdc, krb5-admin-server, krb5-user)")
    server = TicketServer(tmp_path_factory.mktemp("kerberos"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        server.start()
        yield server
        server.stop()


@pytest.fixture(scope="module")
def kafka(tickets: TicketServer) -> Iterator[RealKafka]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    keytab = tickets.keytab("kafka/localhost")
    jaas = (
        "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
        f'keyTab="{keytab}" principal="kafka/localhost@{REALM}";'
    )
    cluster = RealKafka(
        config={
            "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listener.name.client.sasl.enabled.mechanisms": "GSSAPI",
            "listener.name.client.gssapi.sasl.jaas.config": jaas,
            "sasl.kerberos.service.name": "kafka",
        }
    )
    broker = cluster.brokers[1]
    cluster.config["advertised.listeners"] = (
        f"CLIENT://localhost:{broker.advertised_port},DIRECT://127.0.0.1:{broker.direct_port}"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", f"-Djava.security.krb5.conf={tickets.config}")
        with cluster:
            yield cluster


@pytest.fixture(scope="module")
def alice(tickets: TicketServer) -> pathlib.Path:
    return tickets.keytab("alice")


def options(kafka: RealKafka, **more: Any) -> dict[str, Any]:
    return {
        "bootstrap_servers": f"localhost:{kafka.brokers[1].port}",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": "kafka",
        **more,
    }


@pytest.mark.real_kafka
def test_keytab_and_ticket_cache_both_log_in(kafka: RealKafka, tickets: TicketServer, alice: pathlib.Path) -> None:
    by_keytab = options(kafka, sasl_kerberos_keytab=str(alice), sasl_kerberos_principal=f"alice@{REALM}")
    with KafkaAdminClient(**by_keytab) as admin:
        admin.create_topics([NewTopic("orders", 1)], wait=True)
    with KafkaProducer(**by_keytab) as producer:
        assert producer.send("orders", b"paid").result(timeout=20).offset == 0
    tickets.login("alice", alice)
    with KafkaConsumer("orders", **options(kafka, auto_offset_reset="earliest")) as consumer:
        assert next(iter(consumer)).value == b"paid"


@pytest.mark.real_kafka
@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"sasl_kerberos_service_name": "postgres"}, "postgres@localhost"),
        ({"sasl_kerberos_keytab": "/nowhere.keytab"}, "/nowhere.keytab"),
        ({"sasl_kerberos_principal": f"mallory@{REALM}"}, "mallory"),
    ],
)
def test_wrong_login_says_which_setting(
    kafka: RealKafka, alice: pathlib.Path, wrong: dict[str, str], word: str
) -> None:
    given = options(kafka, sasl_kerberos_keytab=str(alice), sasl_kerberos_principal=f"alice@{REALM}") | wrong
    with KafkaAdminClient(**given) as admin, pytest.raises(AuthenticationError, match="Kerberos") as caught:
        admin.list_topics()
    assert word in str(caught.value)


def test_ticket_server_that_is_away_for_a_while_is_no_wrong_password(tickets: TicketServer) -> None:
    keytab = tickets.keytab("bob")  # who has no tickets yet
    config = read_options(
        AdminConfig,
        bootstrap_servers="localhost:1",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="GSSAPI",
        sasl_kerberos_service_name="kafka",
        sasl_kerberos_keytab=str(keytab),
    )
    tickets.stop()
    try:
        with pytest.raises(KafkaError, match="Kerberos") as caught:
            client_exchange(config, os.urandom, "localhost").step(b"")
    finally:
        tickets.start()
    assert not isinstance(caught.value, AuthenticationError), caught.value
    assert caught.value.retriable


def test_missing_extra_is_named_when_the_client_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    monkeypatch.delitem(sys.modules, "pykclient.net.kerberos", raising=False)
    with pytest.raises(ConfigError, match=r"pykclient\[gssapi\]"):
        KafkaProducer(
            bootstrap_servers="localhost:1",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="GSSAPI",
            sasl_kerberos_service_name="kafka",
        )
