"""kill -9 of the whole driver around EndTxn, with rows that move between tasks: nothing is lost or doubled."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pykclient.testing import EmbeddedCluster
from tests.spark.data import expected, fill, values

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.full
@pytest.mark.timeout(3000)
def test_killed_drivers_lose_and_double_nothing(
    cluster: EmbeddedCluster, topic: str, load: Callable[..., Any], tmp_path: pathlib.Path
) -> None:
    kills = int(os.environ.get("PYKCLIENT_KILLS", "20"))
    target = topic + "-out"
    cluster.create_topic(target, 2)
    chance = random.Random(11)
    seen = cluster.faults.observe("END_TXN")

    def start() -> subprocess.Popen[bytes]:
        arguments = [cluster.bootstrap_servers, topic, target, str(tmp_path / "checkpoint"), str(chance.randint(1, 3))]
        command = [sys.executable, "-W", "ignore", "-m", "tests.spark.exactly_once_job", *arguments]
        return subprocess.Popen(command, cwd=ROOT, start_new_session=True)

    for turn in range(kills):
        fill(cluster, topic, 1000, first=1000 * turn)  # five batches, of at least one transaction each
        driver = start()
        seen.wait_for(seen.hits + chance.randint(1, 5), timeout_s=200)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    assert start().wait(300) == 0
    found = values(load(subscribe=target, kafka__isolation__level="read_committed"))
    assert found == expected(1000 * kills)
