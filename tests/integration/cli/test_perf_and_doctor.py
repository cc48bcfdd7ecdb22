"""``pykclient perf`` for its results, never for its speed; ``pykclient doctor`` on well and ill clusters."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykclient.broker.listeners import ListenerSpec
from pykclient.cli import peers
from pykclient.testing import EmbeddedCluster
from tests.integration.cli.conftest import Command, Outcome

NUMBERS = {"records", "seconds", "records_per_second", "mb_per_second", "cpu_us_per_record"}
LATENCIES = {"p50_ms", "p95_ms", "p99_ms", "p99.9_ms", "max_ms"}


def test_produce_consume_and_latency_are_measured(command: Command, name: str) -> None:
    made = command("perf", "produce", name, "--records", "12000", "--size", "50", "--json").json
    assert made["results"]["pykclient"].keys() == NUMBERS | LATENCIES
    assert made["results"]["pykclient"]["records"] == 12_000
    read = command("perf", "consume", name, "--json").json["results"]["pykclient"]
    assert read.keys() == NUMBERS
    assert 0 < read["records"] <= 12_001
    found = command("perf", "latency", name, "--records", "50", "--rate", "500", "--json").json["results"]["pykclient"]
    assert 0 < found["p50_ms"] <= found["p99_ms"] <= found["max_ms"]


def test_a_peer_is_measured_beside_ours(command: Command, name: str) -> None:
    pytest.importorskip("confluent_kafka")
    shown = command("perf", "produce", name, "--records", "2000", "--against", "confluent", "--repeat", "1").out
    assert shown.splitlines()[0].split() == ["PRODUCE", "PYKCLIENT", "CONFLUENT-KAFKA"]
    assert max(map(len, shown.splitlines())) <= 80
    assert "times the records of confluent-kafka" in shown
    shown = command(
        "perf", "latency", name, "--records", "20", "--rate", "500", "--against", "confluent", "--repeat", "1"
    ).out
    assert "median latency of pykclient" in shown


def test_a_missing_peer_and_an_empty_topic_are_said(
    command: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(Exception, match="pip install confluent-kafka"):
        peers.Confluent({})
    monkeypatch.undo()
    command("topics", "create", name)
    assert f"pykclient perf produce {name}" in command("perf", "consume", name, code=2).err


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(
        listeners=["SASL_SSL", "PLAINTEXT"], users={"alice": "right-password"}, topics=["t"]
    ) as cluster:
        yield cluster


def doctor(command: Command, servers: str, tmp_path: Path, *lines: str, code: int) -> Outcome:
    file = tmp_path / "client.properties"
    file.write_text("\n".join(lines))
    return command("doctor", "-b", servers, "--config-file", str(file), "--json", code=code)


def states(outcome: Outcome) -> dict[str, str]:
    return {finding["check"]: finding["state"] for finding in outcome.json}


def test_a_healthy_cluster(command: Command, cluster: EmbeddedCluster) -> None:
    shown = command("doctor", "-b", cluster.bootstrap_servers.split(",")[0]).out
    assert "advertised" in shown
    assert shown.endswith("all is well\n")


def test_a_healthy_secured_cluster(command: Command, secured: EmbeddedCluster, tmp_path: Path) -> None:
    lines = (
        "security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-512", "sasl.username=alice",
        "sasl.password=right-password", f"ssl.cafile={secured.certificates.ca}",
    )  # fmt: skip
    found = doctor(command, secured.bootstrap_servers, tmp_path, *lines, code=0)
    assert {"DNS", "TCP", "TLS", "SASL", "Kafka", "versions", "leaders", "clock"} <= states(found).keys()
    assert "right-password" not in found.out
    wrong = doctor(command, secured.bootstrap_servers, tmp_path, *lines[:3], "sasl.password=oops", lines[4], code=13)
    assert states(wrong)["SASL"] == "failed"
    assert "sasl_password" in wrong.json[-1]["advice"]
    assert "oops" not in wrong.out


def test_what_is_ill_is_named_with_the_setting(command: Command, secured: EmbeddedCluster, tmp_path: Path) -> None:
    plain = secured.bootstrap_for("PLAINTEXT")
    untrusted = doctor(command, secured.bootstrap_servers, tmp_path, "security.protocol=SSL", code=12).json[-1]
    assert (untrusted["check"], untrusted["state"]) == ("TLS", "failed")
    assert "ssl_cafile" in untrusted["advice"]
    no_tls = doctor(command, plain, tmp_path, "security.protocol=SSL", code=12).json[-1]
    assert no_tls["check"] == "TLS"
    assert "security_protocol" in no_tls["advice"]
    not_plain = doctor(command, secured.bootstrap_servers, tmp_path, code=14).json[-1]
    assert not_plain["check"] == "Kafka"
    assert "security_protocol" in not_plain["advice"]
    nobody = doctor(command, "127.0.0.1:1", tmp_path, code=11).json[-1]
    assert (nobody["check"], "bootstrap_servers" in nobody["advice"]) == ("TCP", True)
    nowhere = doctor(command, "no-such-host.invalid:9092", tmp_path, code=10).json[-1]
    assert nowhere["check"] == "DNS"
    misspelt = doctor(command, plain, tmp_path, "secruity.protocol=SSL", code=2).json[-1]
    assert (misspelt["check"], "did you mean" in misspelt["detail"]) == ("options", True)


def test_an_address_that_brokers_advertise_and_nobody_can_reach(command: Command) -> None:
    with socket.socket() as found, socket.socket() as silent:
        found.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))  # bound and not listening: refuses
        port = found.getsockname()[1]
        found.close()
        spec = ListenerSpec("PLAINTEXT", advertised_host="127.0.0.1", advertised_port=silent.getsockname()[1])
        with EmbeddedCluster(listeners=[spec], ports=port):
            outcome = command("doctor", "-b", f"127.0.0.1:{port}", "--json", "--timeout", "3", code=15)
    found_ill = next(finding for finding in outcome.json if finding["state"] == "failed")
    assert found_ill["check"] == "advertised", found_ill
    assert "advertised.listeners" in found_ill["advice"]
