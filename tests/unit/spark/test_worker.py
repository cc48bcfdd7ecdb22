"""The connection between Spark and its Python workers, without Spark: a pair of sockets and a module of its name."""

from __future__ import annotations

import gc
import pickle
import socket
from types import ModuleType
from typing import Any

import pytest

from pykclient.spark import worker

pytestmark = pytest.mark.timeout(20)


class Task(worker.InWorker):
    """What Spark would send."""

    def __init__(self) -> None:
        self.wanted = 7


def worker_main(name: str = "pyspark.worker") -> Any:
    """A function like those in which Spark's workers unpickle what they are sent."""
    module = ModuleType(name)
    exec("def main(infile, outfile):\n    return load(infile)\n", module.__dict__)  # its globals carry the name
    module.__dict__["load"] = pickle.load
    return module.__dict__["main"]


@pytest.fixture
def pair() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as jvm:
            connection, _ = server.accept()
            with connection:
                yield jvm, connection


@pytest.fixture
def heap() -> Any:
    """A process whose heap was not set aside yet."""
    gc.unfreeze()
    worker._frozen = (0, 0)
    yield
    gc.unfreeze()


def sent(jvm: socket.socket, connection: socket.socket, main: Any) -> Task:
    jvm.sendall(pickle.dumps(Task()))
    with connection.makefile("rb") as infile, connection.makefile("wb") as outfile:
        found = main(infile, outfile)
    assert isinstance(found, Task)
    return found


def nodelay(connection: socket.socket) -> int:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.usefixtures("heap")
def test_a_worker_neither_waits_to_send_nor_to_acknowledge(pair: Any) -> None:
    jvm, connection = pair
    assert nodelay(connection) == 0
    assert sent(jvm, connection, worker_main()).wanted == 7
    assert nodelay(connection) == 1
    # The connection is Spark's: it must be open still.
    connection.sendall(b"done")
    assert jvm.recv(4) == b"done"


@pytest.mark.usefixtures("heap")
def test_other_connections_are_left_alone(pair: Any) -> None:
    jvm, connection = pair
    assert sent(jvm, connection, worker_main("someone.elses")).wanted == 7
    assert nodelay(connection) == 0
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("heap")
def test_the_heap_is_set_aside_twice_and_never_again(pair: Any) -> None:
    jvm, connection = pair
    counts = []
    kept: list[list[list[int]]] = []
    for _ in range(4):
        sent(jvm, connection, worker_main())
        counts.append(gc.get_freeze_count())
        kept.append([[] for _ in range(1000)])  # what a task leaves behind
    assert 0 < counts[0] < counts[1], counts
    assert counts[2] <= counts[1], counts
    assert counts[3] <= counts[1], counts


@pytest.mark.usefixtures("heap")
def test_a_stream_that_is_no_socket_is_no_reason_to_fail(tmp_path: Any) -> None:
    path = tmp_path / "task"
    path.write_bytes(pickle.dumps(Task()))
    with path.open("rb") as infile:
        assert worker_main()(infile, None).wanted == 7
