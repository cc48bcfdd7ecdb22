"""What a new user meets: help with examples on a screen of 80 columns, mistakes answered in one line, Ctrl-C, pipes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pykclient.cli.main import available
from pykclient.testing import EmbeddedCluster
from tests.integration.cli.conftest import Command

ACTIONS = {
    "topics": ("list", "describe", "create", "grow", "delete"),
    "groups": ("list", "describe", "watch", "reset", "delete"),
    "configs": ("show", "describe", "set", "unset"),
    "acls": ("list", "add", "delete"),
    "txns": ("list", "describe", "hanging", "abort", "fence"),
    "perf": ("produce", "consume", "latency"),
}
COMMANDS = [(name,) for name in available()] + [(name, action) for name, found in ACTIONS.items() for action in found]
WIDTH = 80


# ---- help ----


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_examples_and_fits_the_screen(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    shown = command(*words, "--help").out
    examples = shown.partition("examples:\n")[2].splitlines()
    assert examples, "no example"
    assert any(f"pykclient {' '.join(words)}" in line for line in examples)
    assert max(map(len, shown.splitlines())) <= WIDTH


def test_no_action_is_forgotten_here(command: Command) -> None:
    for name, actions in ACTIONS.items():
        offered = re.findall(r"^    (\w+) ", command(name, "--help").out, re.MULTILINE)
        assert sorted(offered) == sorted(actions)


@pytest.mark.parametrize("name", ACTIONS)
def test_a_command_without_its_action_shows_its_help(command: Command, name: str) -> None:
    found = command(name, code=2)
    assert found.out == command(name, "--help").out
    assert found.err == ""


def test_the_list_of_commands_is_shown_without_loading_them() -> None:
    """It is the first thing that is typed; with the broker and all the admin calls it would take half a second."""
    script = (
        "import contextlib, io, sys; from pykclient.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): main([])\n"
        "print([name for name in sys.modules if name.startswith(('pykclient.admin', 'pykclient.broker', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


# ---- mistakes ----

MISTAKES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no port": (("topics", "list", "-b", "127.0.0.1"), 2, "without a port"),
    "no number": (("topics", "list", "-b", "127.0.0.1:abc"), 2, "a port is a number"),
    "nobody there": (("topics", "list", "-b", "127.0.0.1:1"), 1, "127.0.0.1:1"),
    "no such host": (("topics", "list", "-b", "no-such-host.invalid:1"), 1, "no-such-host.invalid"),
    "no time-out": (("topics", "list", "--timeout", "0"), 2, "a number above 0"),
    "misspelt option": (("topics", "list", "-c", "request.timeout=5"), 2, "did you mean"),
    "wrong value": (("topics", "list", "-c", "retry.backoff.ms=soon"), 2, "must be a whole number"),
    "secret on the command line": (("topics", "list", "-c", "sasl.password=x"), 2, "--config-file"),
    "no such file": (("topics", "list", "--config-file", "/no/such"), 1, "/no/such: No such file"),
    "unknown topic": (("topics", "describe", "no-such-topic"), 1, "no-such-topic"),
    "unknown topic to read": (("consume", "no-such-topic", "--to-end"), 1, "no-such-topic"),
    "topic name": (("topics", "create", "no good!"), 1, "Topic name is invalid"),
    "no partitions": (("topics", "create", "t", "--partitions", "0"), 1, "partitions"),
    "unknown group": (("groups", "describe", "no-such-group"), 1, "no-such-group"),
    "group without offsets": (("groups", "reset", "no-such-group", "--to", "earliest"), 2, "--topic NAME"),
    "reset to nowhere": (("groups", "reset", "g"), 2, "--to"),
    "no time": (("consume", "t", "--from-time", "yesterday"), 2, "15m, 2h, 1d"),
    "no field": (("consume", "t", "--format", "{nope}"), 2, "known are topic, partition"),
    "no file to send": (("produce", "t", "--file", "/no/such"), 1, "/no/such: No such file"),
    "unknown peer": (("perf", "produce", "--against", "nobody"), 2, "confluent"),
    "unknown command": (("fly",), 2, "invalid choice"),
    "unknown transaction": (("txns", "describe", "nobody"), 1, "nobody"),
    "unknown right": (("acls", "list", "--operation", "fly"), 2, "invalid choice"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_in_one_line(command: Command, name: str) -> None:
    words, code, says = MISTAKES[name]
    found = command(*words, code=code)
    assert says in found.err
    assert found.out == ""
    complaint = [line for line in found.err.splitlines() if not line.startswith(("usage:", " "))]
    assert len(complaint) == 1, "after argparse's usage, one line"
    assert complaint[0].startswith("pykclient")


def test_an_empty_answer_says_so_and_is_a_list_for_machines(command: Command) -> None:
    assert command("txns", "list", "--state", "Dead").lines[-1] == "(none)"
    assert command("txns", "list", "--state", "Dead", "--json").json == []


LISTS = [
    ("topics", "list"), ("groups", "list"), ("cluster", "brokers"), ("cluster", "features"), ("cluster", "quorum"),
    ("cluster", "disks"), ("configs", "show", "broker", "1"), ("acls", "list"), ("txns", "list"), ("doctor",),
]  # fmt: skip


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_every_list_is_json_for_machines_and_a_table_of_80_columns_for_people(
    command: Command, topic: str, words: tuple[str, ...]
) -> None:
    json.loads(command(*words, "--json").out)
    lines = command(*words).lines
    limit = 120 if words == ("doctor",) else WIDTH
    assert max(map(len, lines)) <= limit, "\n".join(lines)


# ---- the terminal ----


@contextlib.contextmanager
def started(*words: str, **options: int) -> Iterator[subprocess.Popen[bytes]]:
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with subprocess.Popen([sys.executable, "-m", "pykclient", *words], **given) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def waiting_on_a_socket(process: subprocess.Popen[bytes]) -> bool:
    """Connected: what comes before is the start of the interpreter."""
    with contextlib.suppress(OSError):
        return any(
            os.readlink(entry).startswith("socket:") for entry in Path(f"/proc/{process.pid}/fd").iterdir()
        )  # pragma: no branch
    return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
@pytest.mark.parametrize("words", [("topics", "list"), ("produce", "t")], ids=" ".join)
def test_ctrl_c_leaves_with_130_wherever_it_is_pressed(words: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        servers = f"127.0.0.1:{silent.getsockname()[1]}"
        with started(*words, "-b", servers, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            process.stdin.write(b"x\n")
            process.stdin.flush()
            until(lambda: waiting_on_a_socket(process), process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert b"Traceback" not in out + err


def until(condition: Callable[[], bool], process: subprocess.Popen[bytes], limit_s: float = 30) -> None:
    end_at = time.monotonic() + limit_s
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end_at
        time.sleep(0.01)


def test_ctrl_c_while_it_starts_is_no_traceback() -> None:
    program = (
        "import sys\nclass Slow:\n    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pykclient.errors': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Slow())\nfrom pykclient.cli.main import main\nsys.exit(main(['topics', 'list']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def on_a_terminal(words: tuple[str, ...], *, file: Path) -> tuple[int, str]:
    """Run with a terminal of 80 columns; what it showed."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    with file.open("rb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "pykclient", *words], stdin=lines, stdout=child, stderr=child, close_fds=True
        )
        os.close(child)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed: all is read
            while part := os.read(parent, 4096):
                shown += part
        os.close(parent)
        return process.wait(30), shown.decode()


def test_progress_and_colours_are_for_terminals_only(
    command: Command, cluster: EmbeddedCluster, topic: str, tmp_path: Path
) -> None:
    pytest.importorskip("rich")
    file = tmp_path / "lines"
    file.write_bytes(b"x\n" * 20_000)
    piped = command("produce", topic, "--file", str(file))
    assert "\x1b" not in piped.err + piped.out
    assert piped.err.count("\n") == 1
    code, shown = on_a_terminal(("produce", topic, "-b", cluster.bootstrap_servers), file=file)
    assert code == 0, shown
    assert "\x1b[" in shown, "a bar"
    assert "20,000 records delivered" in shown
    code, shown = on_a_terminal(("topics", "list", "-b", cluster.bootstrap_servers), file=file)
    assert (code, topic in shown) == (0, True)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")
    assert max(map(len, plain.splitlines())) <= WIDTH
