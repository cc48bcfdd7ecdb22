"""The command in this process, against one embedded cluster that all tests of the folder share."""

from __future__ import annotations

import io
import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from pykclient.cli.main import main
from pykclient.testing import EmbeddedCluster

CONFIG: dict[str, Any] = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "super.users": "User:ANONYMOUS",
    "authorizer.enable": "true",
}


@pytest.fixture(scope="session")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, **CONFIG) as cluster:
        yield cluster


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Command:
    """``command("topics", "list")`` is ``pykclient topics list`` on the cluster."""

    def __init__(self, servers: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._servers, self._capsys, self._monkeypatch = servers, capsys, monkeypatch

    def __call__(self, *words: str, stdin: bytes = b"", code: int = 0) -> Outcome:
        self._monkeypatch.setenv("PYKCLIENT_BOOTSTRAP_SERVERS", self._servers)
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        try:
            found = main(words)
        except SystemExit as stop:
            found = int(stop.code or 0)
        captured = self._capsys.readouterr()
        assert found == code, f"{' '.join(words)}: {found}\n{captured.out}\n{captured.err}"
        assert "Traceback" not in captured.err
        return Outcome(found, captured.out, captured.err)


@pytest.fixture
def command(cluster: EmbeddedCluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(cluster.bootstrap_servers, capsys, monkeypatch)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def topic(cluster: EmbeddedCluster, name: str) -> str:
    """A topic of two partitions."""
    cluster.create_topic(name, 2)
    return name
