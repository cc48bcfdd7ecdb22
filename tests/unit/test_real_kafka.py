"""Starting Apache Kafka: what is said where it cannot be started, and what a broker is told. No JVM runs here."""

from __future__ import annotations

import io
import pathlib
import shutil
import signal
import subprocess
import sys
import types
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from pykclient.testing import kafka_runtime, real_kafka
from pykclient.testing.kafka_runtime import RealKafkaUnavailable
from pykclient.testing.real_kafka import RealKafka, ToolFailed


def test_no_cluster_id_looks_like_an_option() -> None:
    assert real_kafka.cluster_id_of(uuid.UUID(int=0)) == "A" * 22
    assert real_kafka.cluster_id_of(uuid.UUID(int=0xF8 << 120)) == "_" + "A" * 21


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Callable[..., None]:
    """A machine with these commands only, and an empty cache."""
    monkeypatch.setenv("PYKCLIENT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kafka_runtime, "_unavailable_reason", None)

    def has(*commands: str) -> None:
        monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in commands else None)

    return has


def test_the_reason_is_one_sentence(machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    machine()
    assert real_kafka.available() == (
        "Apache Kafka cannot be started: there is no java command, and no Docker engine answers."
    )
    machine("java")
    assert "no mvn command" in (real_kafka.available() or "")

    def offline(*_: Any, **__: Any) -> None:
        raise subprocess.CalledProcessError(1, "mvn")

    machine("java", "mvn")
    monkeypatch.setattr(kafka_runtime, "_unavailable_reason", None)
    monkeypatch.setattr(subprocess, "run", offline)
    assert "Maven could not fetch its jars" in (real_kafka.available() or "")
    with pytest.raises(RealKafkaUnavailable, match="cannot be started"):
        RealKafka().start()


def test_maven_is_asked_once_per_process(machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    machine("java", "mvn")
    asked: list[object] = []

    def offline(*arguments: Any, **__: Any) -> None:
        asked.append(arguments)
        raise subprocess.TimeoutExpired("mvn", 1)

    monkeypatch.setattr(subprocess, "run", offline)
    assert real_kafka.available() == real_kafka.available()
    assert len(asked) == 1
    leftovers = [path.name for path in kafka_runtime.cache_directory().iterdir()]
    assert leftovers == ["lock"], "a download that failed leaves nothing that looks like one that did not"


def test_cached_jars_need_no_maven(machine: Callable[..., None]) -> None:
    machine("java")
    (kafka_runtime.cache_directory() / "libs").mkdir(parents=True)
    assert real_kafka.available() is None


def test_brokers_are_told_about_each_other_and_about_the_proxy(tmp_path: pathlib.Path) -> None:
    kafka = RealKafka(brokers=3, directory=tmp_path, config={"replica.lag.time.max.ms": "77"})
    kafka.advertise(2, 31337)
    told = [kafka._properties(broker) for broker in kafka.brokers.values()]
    assert len({properties["controller.quorum.voters"] for properties in told}) == 1
    assert told[0]["controller.quorum.voters"].count("@127.0.0.1:") == 3
    assert {properties["min.insync.replicas"] for properties in told} == {"2"}
    assert {properties["replica.lag.time.max.ms"] for properties in told} == {"77"}
    assert "CLIENT://127.0.0.1:31337" in told[1]["advertised.listeners"]
    assert f"CLIENT://127.0.0.1:{kafka.brokers[2].port}" in told[1]["listeners"]
    assert "127.0.0.1:31337" in kafka.bootstrap_servers
    assert "31337" not in kafka.direct_bootstrap_servers
    ports = [port for b in kafka.brokers.values() for port in (b.port, b.direct_port, b.controller_port)]
    assert len(set(ports)) == 9


def test_a_failed_tool_says_what_it_printed(monkeypatch: pytest.MonkeyPatch, machine: Callable[..., None]) -> None:
    machine("java")
    (kafka_runtime.cache_directory() / "libs").mkdir(parents=True)
    done = subprocess.CompletedProcess([], 3, stdout="half", stderr="no such topic")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(ToolFailed, match=r"(?s)ended with 3.*half.*no such topic"):
        real_kafka.run_tool("org.apache.kafka.tools.TopicCommand")
    assert real_kafka.run_tool("org.apache.kafka.tools.TopicCommand", check=False) == "half"


class FakeContainer:
    """What testcontainers and Docker offer of a container, as far as it is used."""

    def __init__(self, image: str) -> None:
        self.image = image
        self.environment: dict[str, str] = {}
        self.options: dict[str, Any] = {}
        self.status = "created"
        self.signals: list[str] = []

    def with_name(self, name: str) -> FakeContainer:
        self.name = name
        return self

    def with_kwargs(self, **options: Any) -> FakeContainer:
        self.options = options
        return self

    def with_env(self, key: str, value: str) -> FakeContainer:
        self.environment[key] = value
        return self

    def start(self) -> None:
        self.status = "running"

    def get_wrapped_container(self) -> FakeContainer:
        return self

    def reload(self) -> None: ...

    def kill(self, signal: str) -> None:
        self.signals.append(signal)
        if signal in ("SIGKILL", "SIGTERM"):
            self.status = "exited"

    def wait(self, timeout: float) -> None: ...


def test_a_broker_in_a_container_gets_the_same_properties(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    started: list[FakeContainer] = []

    def make(image: str) -> FakeContainer:
        started.append(FakeContainer(image))
        return started[-1]

    module = types.ModuleType("testcontainers.core.container")
    module.DockerContainer = make  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "testcontainers", types.ModuleType("testcontainers"))
    monkeypatch.setitem(sys.modules, "testcontainers.core", types.ModuleType("testcontainers.core"))
    monkeypatch.setitem(sys.modules, "testcontainers.core.container", module)
    kafka = RealKafka(directory=tmp_path, in_container=True)
    broker = kafka.brokers[1]
    broker.start()
    (container,) = started
    assert container.image == "apache/kafka:4.3.1"
    assert container.options == {"network_mode": "host"}
    assert container.environment["KAFKA_NODE_ID"] == "1"
    assert container.environment["KAFKA_LISTENERS"] == kafka._properties(broker)["listeners"]
    assert container.environment["CLUSTER_ID"] == kafka.cluster_id
    assert broker.running
    assert broker.pid is None
    broker.pause()
    broker.resume()
    broker.kill()
    assert container.signals == ["SIGSTOP", "SIGCONT", "SIGKILL"]
    assert not broker.running


def test_a_paused_broker_can_still_be_ended(tmp_path: pathlib.Path) -> None:
    """SIGTERM waits for SIGCONT; whoever ends a paused broker sends both."""
    kafka = RealKafka(directory=tmp_path, in_container=False)
    broker = kafka.brokers[1]
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    broker._process = real_kafka._JavaProcess(sleeper)
    broker._log = io.BytesIO()
    assert broker.pid == sleeper.pid
    broker.pause()
    broker.terminate()
    assert sleeper.returncode == -signal.SIGTERM
    assert not broker.running


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /bin/sh")
def test_a_broker_does_not_outlive_a_test_run_that_is_shot() -> None:
    program = """
import os, subprocess, sys
from pykclient.testing import real_kafka
broker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
real_kafka._JavaProcess(broker)
os._exit(1)
"""
    # The broker holds the other end of the pipe too, so this returns once both are gone; or not in time.
    shot = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=30, check=False)
    assert shot.returncode == 1
