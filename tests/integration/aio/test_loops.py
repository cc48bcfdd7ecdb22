"""Wherever a loop may be: uvicorn, pytest-asyncio with a loop per test, asyncio.run, none yet. uvloop: see conftest."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import KafkaConsumer
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import UsageError
from pykclient.testing import EmbeddedCluster

from .support import Main, run_on

Run = Callable[[Main], None]
ROOT = pathlib.Path(__file__).parents[3]


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


def environment(**more: str) -> dict[str, str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": paths, "PYTHONASYNCIODEBUG": "1"} | more


# ---- uvicorn ---------------------------------------------------------------------------------------------------------


@needs("uvicorn")
@pytest.mark.parametrize("loop", ["asyncio", pytest.param("uvloop", marks=needs("uvloop"))])
def test_an_application_under_uvicorn(cluster: EmbeddedCluster, topic: str, loop: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "uvicorn", "examples.asgi_app:app", "--port", "0", "--loop", loop]
    server = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(BOOTSTRAP_SERVERS=cluster.bootstrap_servers, TOPIC=topic, PYTHONASYNCIODEBUG=""),
        stderr=subprocess.PIPE,
        text=True,
    )
    log: list[str] = []
    try:
        port = _port_of(server, log)
        for number in range(5):
            status, where = ask(port, "POST", f"order {number}")
            assert status == 201
            assert where["offset"] >= 0
        expected = [f"order {number}" for number in range(5)]
        cluster.wait_until(lambda: ask(port, "GET")[1] == expected or None, "the records to be read", 30)
        server.send_signal(signal.SIGINT)
        log.append(server.communicate(timeout=30)[1])
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
    text = "".join(log)
    assert "Application shutdown complete" in text
    assert not re.search(r"warn|error|traceback|destroyed|never", text, re.IGNORECASE), text


def _port_of(server: subprocess.Popen[str], log: list[str]) -> int:
    assert server.stderr is not None
    for line in server.stderr:
        log.append(line)
        if found := re.search(r"running on http://[\d.]+:(\d+)", line):
            return int(found[1])
    pytest.fail("".join(log))


def ask(port: int, method: str, body: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, "/orders", body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


# ---- pytest-asyncio --------------------------------------------------------------------------------------------------

PROJECT = """
[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
filterwarnings = ["error"]
"""
PROJECT_TESTS = """
import asyncio, os
import pytest
from pykclient.aio import AsyncKafkaConsumer, AsyncKafkaProducer

OPTIONS = {"bootstrap_servers": os.environ["BOOTSTRAP_SERVERS"]}
TOPIC = os.environ["TOPIC"]
loops = set()


@pytest.fixture
async def producer():
    async with AsyncKafkaProducer(OPTIONS) as producer:
        yield producer


@pytest.fixture
async def consumer():
    consumer = AsyncKafkaConsumer(TOPIC, auto_offset_reset="earliest", **OPTIONS)
    await consumer.start()
    yield consumer
    await consumer.stop()


@pytest.mark.parametrize("number", range(3))
async def test_a_loop_per_test(producer, consumer, number):
    loops.add(asyncio.get_running_loop())
    await producer.send_and_wait(TOPIC, b"%d" % number)
    async for record in consumer:
        if record.value == b"%d" % number:
            break
    assert len(loops) == number + 1
"""


@needs("pytest_asyncio")
def test_a_project_that_uses_pytest_asyncio(cluster: EmbeddedCluster, topic: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "test_orders.py").write_text(PROJECT_TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment(BOOTSTRAP_SERVERS=cluster.bootstrap_servers, TOPIC=topic),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


# ---- no loop yet, and another one ------------------------------------------------------------------------------------


def test_clients_are_made_without_a_loop_and_bound_to_the_first(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    producer = AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
    consumer = AsyncKafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest")
    admin = AsyncKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)

    async def first() -> None:
        assert topic in await admin.list_topics()
        await producer.send(topic, b"x")
        assert (await consumer.getone()).value == b"x"

    async def second() -> None:
        for attempt in (
            producer.start(),
            producer.flush(),
            consumer.poll(0),
            consumer.position((topic, 0)),  # type: ignore[arg-type]
            admin.list_topics(),
        ):
            with pytest.raises(UsageError, match="another event loop; make one client per loop"):
                await attempt

    run_on("asyncio", first)
    run(second)
    consumer._core.engine.stop(1)
    producer._sync.close(0)
    admin._sync.close()


def test_what_was_sent_is_delivered_although_asyncio_run_ends(cluster: EmbeddedCluster, topic: str) -> None:
    script = """
import asyncio, os
from pykclient.aio import AsyncKafkaProducer

async def main():
    producer = AsyncKafkaProducer(bootstrap_servers=os.environ["BOOTSTRAP_SERVERS"], linger_ms=500)
    futures = [await producer.send_soon(os.environ["TOPIC"], b"%d" % number) for number in range(1000)]
    asyncio.ensure_future(futures[0])  # someone still waits

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=environment(BOOTSTRAP_SERVERS=cluster.bootstrap_servers, TOPIC=topic),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with KafkaConsumer(topic, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest") as consumer:
        seen: list[int] = []
        while len(seen) < 1000 and (polled := consumer.poll(10)):
            seen += [int(record.value) for record in polled.records()]
    assert sorted(seen) == list(range(1000))
