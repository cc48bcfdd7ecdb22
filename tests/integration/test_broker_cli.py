"""``pykclient broker`` as a process: ready line, data directory, clean end, clear mistakes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pykclient.cli.main import available, main
from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.metadata import MetadataRequest
from tests.unit.raw_client import RawClient


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A broker process and the address it has printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pykclient", "broker", "--port", "0", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("ready: bootstrap.servers="), line
    return process, line.strip().partition("=")[2]


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> int:
    process.send_signal(number)
    process.communicate(timeout=20)
    return process.returncode


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_serves_until_a_signal_and_ends_well(tmp_path: Path, number: int, code: int) -> None:
    ready = tmp_path / "ready"
    process, address = start(
        "--brokers", "2", "--data-dir", str(tmp_path / "data"), "--topic", "orders:3", "--ready-file", str(ready),
        "--config", "num.partitions=4",
    )  # fmt: skip
    try:
        assert ready.read_text() == address + "\n"
        with RawClient(address) as client:
            answer = client.ask(ApiKey.METADATA, MetadataRequest(topics=None))
        assert len(answer.brokers) == 2
        assert [(topic.name, len(topic.partitions)) for topic in answer.topics] == [("orders", 3)]
    finally:
        assert stop(process, number) == code


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pykclient", *arguments], capture_output=True, text=True, timeout=30, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "allow_open_network"),
        (["--config", "nonsense"], "not KEY=VALUE"),
        (["--config", "no.such=1"], "Unknown config name"),
        (["--protocol", "SSL"], "--tls-cert"),
        (["--topic", "x:many"], "not a number"),
        (["--brokers", "0"], "1 to 100"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], words: str) -> None:
    code, output = run("broker", "--port", "0", *arguments)
    assert code == 1
    assert words in output
    assert "Traceback" not in output


def test_a_taken_port_is_said() -> None:
    process, address = start()
    try:
        code, output = run("broker", "--port", address.rpartition(":")[2])
        assert code == 1
        assert "in use" in output
    finally:
        stop(process)


def test_the_command_lists_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert "broker" in available()
    assert main([]) == 2
    assert "broker" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pykclient ")
