"""Records that the Spark tests write and expect."""

from __future__ import annotations

import pathlib
from typing import Any

import pyarrow as pa

from pykclient import KafkaProducer
from pykclient.testing import EmbeddedCluster

NOW_MS = 1_700_000_000_000


def fill(cluster: EmbeddedCluster, topic: str, count: int, *, first: int = 0, **arguments: Any) -> None:
    """Rows ``first`` and on: key k<i>, value v<i>, one second apart."""
    numbers = range(first, first + count)
    table = pa.table(
        {
            "key": [b"k%d" % i for i in numbers],
            "value": [b"v%d" % i for i in numbers],
            "timestamp": pa.array([NOW_MS + i * 1000 for i in numbers], pa.int64()),
        }
    )
    with KafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
        producer.send_arrow(topic, table, timestamp="timestamp", **arguments).result(30)


def forget_last_commit(checkpoint: pathlib.Path) -> int:
    """As if the driver had died after the last batch was written, before Spark noted it; gives the batch's number."""
    folder = checkpoint / "commits"
    last = max(int(path.name) for path in folder.iterdir() if path.name.isdigit())
    (folder / str(last)).unlink()
    (folder / f".{last}.crc").unlink(missing_ok=True)
    return last


def values(frame: Any) -> list[str]:
    """The values of a DataFrame, sorted."""
    return sorted(bytes(row.value).decode() for row in frame.select("value").collect())


def expected(count: int, *, first: int = 0) -> list[str]:
    """What ``fill`` wrote, as ``values`` gives it."""
    return sorted(f"v{i}" for i in range(first, first + count))
