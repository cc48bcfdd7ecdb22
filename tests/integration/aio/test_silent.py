"""Nothing is said on stderr, whatever is cancelled, abandoned or closed, in asyncio's debug mode with warnings as
errors. And a closed client says so, whatever is asked of it."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pykclient import TopicPartition
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import ClientClosed
from pykclient.testing import EmbeddedCluster

from .support import Main

Run = Callable[[Main], None]
ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_debug_mode_with_warnings_as_errors_is_silent(cluster: EmbeddedCluster, loop: str) -> None:
    if importlib.util.find_spec("uvloop") is None and loop == "uvloop":
        pytest.skip("uvloop is not installed")
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    script = ROOT / "tests" / "integration" / "aio" / "everything.py"
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", str(script), cluster.bootstrap_servers, f"silent-{loop}", loop],
        env=os.environ | {"PYTHONPATH": paths, "PYTHONASYNCIODEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)


NOT_REFUSED = {"close", "stop", "metrics", "out_of_range_events", "max_poll_exceeded_events", "send_and_wait"}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "topic": ("t",),
    "topics": (["t"],),
    "partition": (TopicPartition("t", 0),),
    "partitions": ([TopicPartition("t", 0)],),
    "timestamps": ({},),
    "offsets": ({},),
    "group_metadata": ("g",),
    "prepared": (None,),
    "offset": (0,),
    "table": (None,),
}


@pytest.mark.parametrize("kind", [AsyncKafkaProducer, AsyncKafkaConsumer, AsyncKafkaAdminClient])
def test_every_method_of_a_closed_client_says_so(cluster: EmbeddedCluster, run: Run, kind: type) -> None:
    async def test() -> None:
        options: dict[str, Any] = {"bootstrap_servers": cluster.bootstrap_servers}
        if kind is AsyncKafkaConsumer:
            options["group_id"] = "closed"
        if kind is AsyncKafkaProducer:
            options["transactional_id"] = "closed"
        client = kind(**options)
        await client.close()
        await client.close()
        names = [name for name in vars(kind) if not name.startswith("_") and name not in NOT_REFUSED]
        for name in names:
            member = getattr(client, name)
            needed = [
                parameter.name
                for parameter in inspect.signature(member).parameters.values()
                if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
            ]
            arguments = [ARGUMENTS.get(parameter, ([],))[0] for parameter in needed]
            with pytest.raises(ClientClosed):
                value = member(*arguments)
                if name == "transaction":
                    value = value.__aenter__()
                await value
                pytest.fail(f"{name} went on")
        assert "closed" in repr(client)

    run(test)
