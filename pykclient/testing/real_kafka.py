"""Apache Kafka itself (KRaft, one or three brokers) on loopback, for tests that must see the real thing.

``with RealKafka(brokers=3) as kafka:`` formats, starts, waits until every coordinator answers, and removes all of it
afterwards. Brokers can be killed, ended, paused and continued one by one. A proxy may stand in the path: ``advertise``
its port; the DIRECT listener goes round it. Called from test threads and blocks. Must never reach beyond 127.0.0.1,
nor signal a process that it did not start.
"""

from __future__ import annotations

import base64
import contextlib
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, Protocol

from pykclient.testing import kafka_runtime
from pykclient.testing.kafka_runtime import RealKafkaUnavailable, ToolFailed, available, run_tool, start_tool

HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0
GRACEFUL_STOP_S = 20.0
PROBE_INTERVAL_S = 0.05
PROBE_KEYS = 8
"""Coordinator keys asked for before a cluster counts as ready; with few internal partitions they touch all of them."""


class _Process(Protocol):
    """A running broker, whatever runs it."""

    def signal(self, number: signal.Signals) -> None: ...
    def wait(self, timeout_s: float) -> None: ...
    def alive(self) -> bool: ...


class _JavaProcess:
    """A broker in a process of ours, which is ended when we end, however we end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._guard = kafka_runtime.kill_when_we_die(process.pid)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, timeout_s: float) -> None:
        self.process.wait(timeout_s)
        if self._guard is not None:
            kafka_runtime.dismiss(self._guard)
            self._guard = None

    def alive(self) -> bool:
        return self.process.poll() is None


class _ContainerProcess:
    def __init__(self, container: Any) -> None:
        self.container = container

    def signal(self, number: signal.Signals) -> None:
        self.container.kill(signal=number.name)

    def wait(self, timeout_s: float) -> None:
        self.container.wait(timeout=timeout_s)

    def alive(self) -> bool:
        self.container.reload()
        return str(self.container.status) in ("running", "paused")


class RealBroker:
    """One broker of a :class:`RealKafka`: its ports, its log file, and the four things a failure test does to it."""

    def __init__(self, kafka: RealKafka, node_id: int, ports: tuple[int, int, int], directory: pathlib.Path) -> None:
        self.kafka = kafka
        self.id = node_id
        self.port, self.direct_port, self.controller_port = ports
        self.advertised_port = self.port
        self.directory = directory
        self.log_path = directory / "broker.log"
        self._process: _Process | None = None
        self.paused = False
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, when it runs in a process of ours."""
        return self._process.process.pid if isinstance(self._process, _JavaProcess) else None

    @property
    def running(self) -> bool:
        """Whether the process exists; a paused one does."""
        return self._process is not None and self._process.alive()

    def start(self) -> None:
        """Start it on the same ports and data as before. It serves a little later: see ``RealKafka.wait_ready``."""
        assert not self.running, f"broker {self.id} runs already"
        properties = self.kafka._properties(self)
        if self.kafka.in_container:
            environment = {f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in properties.items()}
            environment["CLUSTER_ID"] = self.kafka.cluster_id
            name = f"pykclient-{self.kafka.cluster_id[:8]}-{self.id}-{uuid.uuid4().hex[:4]}"
            self._process = _ContainerProcess(kafka_runtime.start_container(environment, name=name))
            return
        self._log = self.log_path.open("ab")
        path = self.directory / "server.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        process = kafka_runtime.start_java(
            "kafka.Kafka", [str(path)], log=self._log, cwd=self.directory, heap_mb=self.kafka.heap_mb
        )
        self._process = _JavaProcess(process)

    def kill(self) -> None:
        """SIGKILL: no goodbye, sockets reset, the unflushed tail left to the page cache."""
        self._end(signal.SIGKILL, GRACEFUL_STOP_S)

    def terminate(self) -> None:
        """SIGTERM, and wait: leadership is handed over before it goes."""
        self._end(signal.SIGTERM, GRACEFUL_STOP_S)

    def pause(self) -> None:
        """SIGSTOP: connections stay open and nothing answers, the gray failure."""
        self._signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)
        self.paused = False

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, f"broker {self.id} was not started"
        assert self._process.alive(), f"broker {self.id} does not run"
        self._process.signal(number)

    def _end(self, number: signal.Signals, timeout_s: float) -> None:
        self._signal(number)
        if self.paused:  # A stopped process does not see SIGTERM until it is continued.
            self.resume()
        assert self._process is not None
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.signal(signal.SIGKILL)
            self._process.wait(timeout_s)
        self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def log_tail(self, lines: int = 40) -> str:
        """The end of what the broker printed."""
        if not self.log_path.exists():
            return "(no output)"
        return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-lines:])


class RealKafka:
    """A context manager that runs Apache Kafka. ``config`` holds broker properties and wins over what is set here.

    Listeners: CLIENT (what clients use; give ``listener.security.protocol.map`` to put TLS or SASL on it), DIRECT
    (plain text, never proxied, also used between the brokers), CONTROLLER.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        config: Mapping[str, str] | None = None,
        format_arguments: Sequence[str] = (),
        directory: pathlib.Path | None = None,
        heap_mb: int = 320,
        in_container: bool | None = None,
    ) -> None:
        if brokers < 1:
            raise ValueError("a cluster has at least one broker")
        self.config = dict(config or {})
        self.heap_mb = heap_mb
        self.cluster_id = cluster_id_of(uuid.uuid4())
        self.in_container = in_container
        self._format_arguments = list(format_arguments)
        self._own_directory = directory is None
        self.directory = directory or pathlib.Path(tempfile.mkdtemp(prefix="pykclient-kafka-"))
        ports = _free_ports(3 * brokers)
        self.brokers: dict[int, RealBroker] = {}
        for node_id in range(1, brokers + 1):
            broker_directory = self.directory / f"broker-{node_id}"
            broker_directory.mkdir(parents=True, exist_ok=True)
            self.brokers[node_id] = RealBroker(self, node_id, (next(ports), next(ports), next(ports)), broker_directory)

    @property
    def bootstrap_servers(self) -> str:
        """Where clients start: the advertised ports, so through the proxies when there are any."""
        return ",".join(f"{HOST}:{broker.advertised_port}" for broker in self.brokers.values())

    @property
    def direct_bootstrap_servers(self) -> str:
        """The plain-text listeners that go round every proxy: for checks."""
        return ",".join(f"{HOST}:{broker.direct_port}" for broker in self.brokers.values())

    def advertise(self, node_id: int, port: int) -> None:
        """Tell clients this port instead of the broker's own; before ``start``."""
        broker = self.brokers[node_id]
        assert not broker.running, "advertise before start"
        broker.advertised_port = port

    def start(self) -> None:
        """Format, start all, and wait until every coordinator answers."""
        if (reason := available()) is not None:
            raise RealKafkaUnavailable(reason)
        if (
            self.in_container is None
        ):  # A local JVM starts faster and takes signals; containers are for machines without one.
            self.in_container = kafka_runtime.java_missing() is not None
        try:
            if not self.in_container:
                self._format()
            for broker in self.brokers.values():
                broker.start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End what still runs. Data of our own go too, so then nothing is gained by ending softly."""
        for broker in self.brokers.values():
            if broker.running:
                if self._own_directory:
                    broker.kill()
                else:
                    broker.terminate()
        if self._own_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> RealKafka:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Wait until the running brokers are members and all coordinators have loaded: then a produce succeeds."""
        expected = sum(broker.running for broker in self.brokers.values())
        _wait_until(lambda: self._probe(expected), timeout_s, self._why_not_ready)

    def run_tool(self, class_name: str, *arguments: str, stdin: str = "", timeout_s: float = 60.0) -> str:
        """Run a Java tool with ``--bootstrap-server`` set to this cluster; gives its standard output."""
        return run_tool(
            class_name, "--bootstrap-server", self.bootstrap_servers, *arguments, stdin=stdin, timeout_s=timeout_s
        )

    def _probe(self, expected_brokers: int) -> bool:
        running = [broker for broker in self.brokers.values() if broker.running]
        if len(running) < expected_brokers:
            raise RealKafkaUnavailable(f"a broker ended while starting:\n{self._why_not_ready()}")
        ports = [broker.direct_port for broker in running]
        return all(_members_seen(port) >= expected_brokers for port in ports) and all(
            _coordinator_answers(ports[0], f"ready-{index}", transactional)
            for index in range(PROBE_KEYS)
            for transactional in (False, True)
        )

    def _why_not_ready(self) -> str:
        return "\n".join(f"broker {broker.id}:\n{broker.log_tail()}" for broker in self.brokers.values())

    def _format(self) -> None:
        for broker in self.brokers.values():
            path = broker.directory / "server.properties"
            path.write_text("".join(f"{key}={value}\n" for key, value in self._properties(broker).items()))
            arguments = [
                "format",
                "--ignore-formatted",
                "-t",
                self.cluster_id,
                "-c",
                str(path),
                *self._format_arguments,
            ]
            run_tool("kafka.tools.StorageTool", *arguments)

    def _properties(self, broker: RealBroker) -> dict[str, str]:
        replicas = str(min(3, len(self.brokers)))
        in_sync = str(min(2, len(self.brokers)))
        voters = ",".join(f"{other.id}@{HOST}:{other.controller_port}" for other in self.brokers.values())
        properties = {
            "process.roles": "broker,controller",
            "node.id": str(broker.id),
            "controller.quorum.voters": voters,
            "listeners": f"CLIENT://{HOST}:{broker.port},DIRECT://{HOST}:{broker.direct_port},"
            f"CONTROLLER://{HOST}:{broker.controller_port}",
            "advertised.listeners": f"CLIENT://{HOST}:{broker.advertised_port},DIRECT://{HOST}:{broker.direct_port}",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "DIRECT",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(broker.directory / "data"),
            "offsets.topic.replication.factor": replicas,
            "offsets.topic.num.partitions": "4",  # Fifty of each would double the time to start.
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": in_sync,
            "transaction.state.log.num.partitions": "4",
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": in_sync,
            "share.coordinator.state.topic.num.partitions": "4",
            "group.initial.rebalance.delay.ms": "0",
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            "replica.lag.time.max.ms": "3000",
        }
        if len(self.brokers) > 1:
            properties |= {"default.replication.factor": replicas, "min.insync.replicas": in_sync}
        if self.in_container:
            properties["log.dirs"] = "/var/lib/kafka/data"
        return properties | self.config


def cluster_id_of(random_id: uuid.UUID) -> str:
    """In Kafka's spelling, but never with a dash in front, as one in 64 would have: its tools take that for an
    option."""
    text = base64.urlsafe_b64encode(random_id.bytes).decode().rstrip("=")
    return f"_{text[1:]}" if text.startswith("-") else text


def _free_ports(count: int) -> Iterator[int]:
    """Ports below the kernel's range for outgoing connections, so that a restarted broker finds its own free again."""
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            candidate = random.randrange(15_000, 32_000)
            probe = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind((HOST, candidate))
                ports.append(candidate)
    return iter(ports)


def _wait_until(condition: Callable[[], bool], timeout_s: float, explain: Callable[[], str]) -> None:
    give_up_at = time.monotonic() + timeout_s
    while True:
        with contextlib.suppress(OSError):
            if condition():
                return
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"not ready after {timeout_s} s\n{explain()}")
        time.sleep(PROBE_INTERVAL_S)


# The probes write their few bytes by hand: whether a broker is well must not hang on our own protocol code.


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _ask(port: int, api_key: int, api_version: int, body: bytes) -> bytes:
    frame = struct.pack(">hhi", api_key, api_version, 1) + _string("probe") + body
    with socket.create_connection((HOST, port), timeout=5) as connection:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        with connection.makefile("rb") as stream:
            size = stream.read(4)
            if len(size) < 4:
                raise ConnectionError("closed by the broker")
            return stream.read(struct.unpack(">i", size)[0])[4:]  # Without the correlation id.


def _members_seen(port: int) -> int:
    """How many brokers this one knows (Metadata v1, no topics)."""
    answer = _ask(port, 3, 1, struct.pack(">i", 0))
    return int(struct.unpack_from(">i", answer)[0])


def _coordinator_answers(port: int, key: str, transactional: bool) -> bool:
    """Whether the coordinator of a key is known, up and has loaded its partition."""
    answer = _ask(port, 10, 1, _string(key) + struct.pack(">b", int(transactional)))  # FindCoordinator v1
    (error,) = struct.unpack_from(">h", answer, 4)
    if error != 0:
        return False
    position = 6
    (length,) = struct.unpack_from(">h", answer, position)
    position += 2 + max(length, 0) + 4  # The message, then the node id.
    (length,) = struct.unpack_from(">h", answer, position)
    (coordinator_port,) = struct.unpack_from(">i", answer, position + 2 + length)
    # Requests that a loaded coordinator refuses for a reason of its own, and that leave nothing behind.
    if transactional:
        answer = _ask(coordinator_port, 26, 0, _string(key) + struct.pack(">qh?", 1, 0, False))  # EndTxn v0
        return int(struct.unpack_from(">h", answer, 4)[0]) == 49  # INVALID_PRODUCER_ID_MAPPING
    answer = _ask(coordinator_port, 12, 0, _string(key) + struct.pack(">i", 1) + _string("nobody"))  # Heartbeat v0
    return int(struct.unpack_from(">h", answer, 0)[0]) == 25  # UNKNOWN_MEMBER_ID


__all__ = [
    "RealBroker",
    "RealKafka",
    "RealKafkaUnavailable",
    "ToolFailed",
    "available",
    "run_tool",
    "start_tool",
]
