"""Kafka's own command-line tools as the tests see them: run to the end, or running and telling events in JSON."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from pykclient.testing.real_kafka import run_tool, start_tool

TOOLS = "org.apache.kafka.tools"
Event = dict[str, Any]


def topics(bootstrap_servers: str, *arguments: str) -> str:
    return run_tool(f"{TOOLS}.TopicCommand", "--bootstrap-server", bootstrap_servers, *arguments)


def console_producer(bootstrap_servers: str, topic: str, lines: list[str], *arguments: str) -> None:
    common = ("--bootstrap-server", bootstrap_servers, "--topic", topic)
    run_tool(f"{TOOLS}.ConsoleProducer", *common, *arguments, stdin="".join(f"{line}\n" for line in lines))


def console_consumer(
    bootstrap_servers: str, topic: str, count: int, *arguments: str, timeout_ms: int = 20_000
) -> list[str]:
    """So many messages from the beginning. A topic that holds fewer ends it by time-out, with what there was."""
    common = ("--bootstrap-server", bootstrap_servers, "--topic", topic, "--from-beginning")
    limits = ("--max-messages", str(count), "--timeout-ms", str(timeout_ms))
    return run_tool(f"{TOOLS}.consumer.ConsoleConsumer", *common, *limits, *arguments).splitlines()


def verifiable_producer(bootstrap_servers: str, topic: str, count: int) -> list[Event]:
    common = ("--bootstrap-server", bootstrap_servers, "--topic", topic)
    output = run_tool(f"{TOOLS}.VerifiableProducer", *common, "--max-messages", str(count), "--acks", "-1")
    return [json.loads(line) for line in output.splitlines()]


class Running:
    """A tool that runs; its events are read by a thread and kept."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.events: list[Event] = []
        self._arrived: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):
                self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def wait_for(self, condition: Callable[[list[Event]], bool], what: str, timeout_s: float = 30.0) -> None:
        """Until something about the events so far holds."""
        give_up_at = time.monotonic() + timeout_s
        while not condition(self.events):
            try:
                event = self._arrived.get(timeout=max(0.01, give_up_at - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"{what}: not within {timeout_s} s, last events {self.events[-5:]}") from None
            assert event is not None, f"{what}: the tool has ended, last events {self.events[-5:]}"
            self.events.append(event)

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event["name"] == name]

    def owned(self) -> set[int]:
        """The partitions it holds by its own account."""
        held: set[int] = set()
        for event in self.events:
            numbers = {where["partition"] for where in event.get("partitions", []) if "partition" in where}
            if event["name"] == "partitions_assigned":
                held |= numbers
            elif event["name"] == "partitions_revoked":
                held -= numbers
        return held

    def drain(self) -> None:
        """Take what has arrived already."""
        with contextlib.suppress(queue.Empty):
            while (event := self._arrived.get_nowait()) is not None:
                self.events.append(event)

    def end(self) -> None:
        """Ask it to leave in good order, and wait."""
        self.process.terminate()
        self.process.wait(20)
        self._reader.join(5)


@contextlib.contextmanager
def verifiable_consumer(bootstrap_servers: str, topic: str, group_id: str, protocol: str) -> Iterator[Running]:
    arguments = ["--topic", topic, "--group-id", group_id, "--group-protocol", protocol, "--reset-policy", "earliest"]
    if protocol == "classic":
        arguments += ["--session-timeout", "6000"]
    process = start_tool(f"{TOOLS}.VerifiableConsumer", "--bootstrap-server", bootstrap_servers, *arguments)
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(20)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
