"""kill -9 of the whole driver around EndTxn, with rows that move between tasks: nothing is lost or doubled."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from pykclient.testing import EmbeddedCluster
from tests.spark.data import expected, fill, values

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.full
def test_speculation_is_refused_when_spark_is_set_to_it(
    cluster: EmbeddedCluster, topic: str, load: Callable[..., Any], tmp_path: pathlib.Path
) -> None:
    target = topic + "-out"
    cluster.create_topic(target, 2)
    fill(cluster, topic, 10)
    arguments = [cluster.bootstrap_servers, topic, target, str(tmp_path / "checkpoint"), "2"]
    command = [sys.executable, "-W", "ignore", "-m", "tests.spark.exactly_once_job", *arguments]
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": "--conf spark.speculation=true pyspark-shell"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode != 0
    assert "exactlyOnce cannot be used with spark.speculation=true" in done.stderr
    assert values(load(subscribe=target, kafka__isolation__level="read_uncommitted")) == []


@pytest.mark.full
@pytest.mark.timeout(3000)
def test_killed_drivers_lose_and_double_nothing(
    cluster: EmbeddedCluster, load: Callable[..., Any], tmp_path: pathlib.Path
) -> None:
    kills = int(os.environ.get("PYKCLIENT_KILLS", "20"))
    topic, target = "killed-in", "killed-out"
    for name in (topic, target):  # the records are years old, and brokers look for such every five minutes
        cluster.create_topic(name, 3, config={"retention.ms": -1})
    seed = 11
    chance = random.Random(seed)
    print(f"seed {seed}, {kills} kills")
    seen = cluster.faults.observe("END_TXN")

    def start() -> subprocess.Popen[bytes]:
        arguments = [cluster.bootstrap_servers, topic, target, str(tmp_path / "checkpoint"), str(chance.randint(1, 3))]
        command = [sys.executable, "-W", "ignore", "-m", "tests.spark.exactly_once_job", *arguments]
        return subprocess.Popen(command, cwd=ROOT, start_new_session=True)

    for turn in range(kills):
        fill(cluster, topic, 1000, first=1000 * turn)  # five batches, of at least four transactions each
        driver, hits = start(), seen.hits + chance.randint(1, 12)
        while seen.hits < hits:
            if driver.poll() is not None:  # a machine so busy that Spark's own patience ends: loud, and started again
                assert driver.returncode != 0
                driver = start()
            time.sleep(0.002)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        print(f"turn {turn}: killed after {seen.hits} ends of transactions")
    for _ in range(5):
        if start().wait(300) == 0:
            break
    found = values(load(subscribe=target, kafka__isolation__level="read_committed"))
    assert found == expected(1000 * kills)
