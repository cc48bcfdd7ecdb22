"""What an import loads. Import time is kept by what is not there, not by a stopwatch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pykclient.protocol.accel import accelerated

# What every client needs of the standard library, with whatever that itself imports in this version of Python.
NEEDED = (
    "collections, contextlib, copy, dataclasses, enum, errno, functools, heapq, importlib, itertools, logging, math, "
    "queue, random, re, selectors, socket, struct, threading, types, typing, uuid, weakref, zlib"
)
# Imported by who uses them: TLS, SASL, JSON, compression, Arrow, asyncio.
UNWANTED = {
    "argparse", "asyncio", "base64", "concurrent.futures", "cramjam", "datetime", "decimal", "difflib",
    "email", "gssapi", "hashlib", "hmac", "importlib.metadata", "json", "pathlib", "pyarrow", "secrets",
    "ssl", "subprocess", "tempfile", "urllib.parse",
}  # fmt: skip
MESSAGES = {
    "api_versions", "fetch", "find_coordinator", "init_producer_id", "list_offsets", "metadata", "offset_commit",
    "offset_fetch", "offset_for_leader_epoch", "produce",
}  # fmt: skip


def loaded_by(statement: str, before: str = "") -> set[str]:
    code = f"import sys\n{before}\nknown = set(sys.modules)\n{statement}\nprint(*(set(sys.modules) - known))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_the_package_alone_loads_nothing_of_its_own_and_no_typing() -> None:
    loaded = loaded_by("import pykclient", "import importlib, __future__")
    assert loaded == {"pykclient"}


@pytest.mark.parametrize(
    "statement", ["from pykclient import KafkaProducer, KafkaConsumer", "from pykclient import KafkaAdminClient"]
)
def test_clients_load_no_more_of_the_standard_library_than_they_need(statement: str) -> None:
    loaded = loaded_by(statement, f"import {NEEDED}" if accelerated else f"import crc32c, {NEEDED}")
    unwanted = UNWANTED | ({"crc32c"} if accelerated else set())
    if "KafkaAdminClient" in statement:
        unwanted -= {"base64", "datetime", "hashlib", "hmac"}  # dates in its results, and SCRAM credentials
    assert not loaded & unwanted


def test_clients_load_the_messages_that_every_client_sends() -> None:
    loaded = loaded_by("from pykclient import KafkaProducer, KafkaConsumer")
    prefix = "pykclient.protocol.messages."
    assert {name.removeprefix(prefix) for name in loaded if name.startswith(prefix)} == MESSAGES
    assert not loaded & {"pykclient.net.sasl", "pykclient.net.tls", "pykclient.protocol.legacy_records"}
    assert accelerated == ("pykclient.protocol.pure_twin" not in loaded)


def test_the_embedded_cluster_needs_no_openssl_and_no_subprocess() -> None:
    loaded = loaded_by("from pykclient.testing import EmbeddedCluster", f"import {NEEDED}")
    assert not loaded & {"ssl", "subprocess", "asyncio", "pyarrow"}


def test_the_help_of_the_command_loads_no_subcommand() -> None:
    loaded = loaded_by("from pykclient.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass")
    assert {name for name in loaded if name.startswith("pykclient.")} == {
        "pykclient.cli", "pykclient.cli.interrupt", "pykclient.cli.main"
    }  # fmt: skip
