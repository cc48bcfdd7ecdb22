"""What Spark's Python workers do with small pieces, seen in a worker of this version of Spark."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pykclient.spark import worker

pytestmark = pytest.mark.timeout(120)


def _nodelay() -> int:
    fd = worker._connection_to_jvm(sys._getframe(1))
    assert fd is not None, "the connection to the JVM was not found"
    with socket.socket(fileno=os.dup(fd)) as connection:
        if connection.family == socket.AF_UNIX:
            return 1
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_connection_to_the_jvm_is_found_and_does_not_wait(spark: Any) -> None:
    from pykclient.spark import pyspark_api as api

    class Reader(worker.InWorker, api.DataSourceReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.here = True

        def read(self, partition: Any) -> Iterator[tuple[int]]:
            yield (_nodelay(),)

    class Probe(api.DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return "probe-worker"

        def schema(self) -> str:
            return "nodelay int"

        def reader(self, schema: Any) -> Reader:
            return Reader()

    spark.dataSource.register(Probe)
    assert [row.nodelay for row in spark.read.format("probe-worker").load().collect()] == [1]
