"""Spark Connect: the same source and sink, over a client that has no JVM of its own."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

from pykclient.testing import EmbeddedCluster

ROOT = pathlib.Path(__file__).parents[2]
NEEDED = ("pandas", "grpc", "grpc_status", "google.rpc", "zstandard")


def _missing() -> list[str]:
    def found(name: str) -> bool:
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            return False

    return [name for name in NEEDED if not found(name)]


@pytest.mark.full
def test_everything_works_over_connect(cluster: EmbeddedCluster, tmp_path: pathlib.Path) -> None:
    if missing := _missing():
        pytest.skip(f"Spark Connect needs {', '.join(missing)}: pip install 'pyspark[connect]'")
    for name, partitions in {"in": 3, "out": 2, "once": 2}.items():
        cluster.create_topic(name, partitions)
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
    }
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.spark.connect_job",
        cluster.bootstrap_servers,
        str(tmp_path),
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=540, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert "all of it" in done.stdout
