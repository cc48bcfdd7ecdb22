"""The layers hold, and the test that says so would notice if they did not."""

from __future__ import annotations

import pathlib

import pytest

import pykclient
from tests.unit.architecture import LAYER, offences

ROOT = pathlib.Path(pykclient.__file__ or "").parent


def test_package_keeps_the_rules() -> None:
    assert offences(ROOT) == []


def test_every_room_has_a_layer() -> None:
    rooms = {path.name.removesuffix(".py") for path in ROOT.iterdir() if not path.name.startswith(("_", "."))}
    rooms -= {"py.typed"}
    assert rooms <= set(LAYER), "give the new room a layer in tests/unit/architecture.py and in the design"


def plant(root: pathlib.Path, **files: str) -> list[str]:
    """Write files (``net__link`` is net/link.py) and return what is wrong with them."""
    for name, source in files.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return offences(root)


@pytest.mark.parametrize(
    ("name", "source", "complaint"),
    [
        ("protocol__wire", "from pykclient.net.connection import Connection", "lies above"),
        ("protocol__wire", "from pykclient import net", "lies above"),
        ("protocol__wire", "from ..net import connection", "lies above"),
        ("errors", "import pykclient.protocol.wire", "lies above"),
        ("net__link", "def f():\n    from pykclient.client.engine import Engine", "lies above"),
        ("producer__sender", "from pykclient.consumer import fetcher", "do not know each other"),
        ("broker__server", "from pykclient.client.metadata import Metadata", "client.engine only"),
        ("consumer__consumer", "from pykclient import KafkaProducer", "import from the room that owns it"),
        ("net__connection", "import time", "may not import time"),
        ("net__connection", "from socket import create_connection", "may not import socket"),
        ("consumer__offsets", "import threading", "may not import threading"),
        ("consumer__offsets", "import asyncio.locks", "may not import asyncio"),
        ("producer__sender", "from random import random", "may not import random"),
        ("broker__log", "import uuid\nx = uuid.uuid4()", "arguments"),
        ("broker__log", "from uuid import uuid4", "arguments"),
        ("spark__source", "import pickle", "forbidden"),
        ("testing__x", "from yaml import load", "forbidden"),
        ("cli__main", "eval('1')", "forbidden"),
        ("net__link", "import requests", "not a dependency"),
        ("net__link", "x = 1\n" * 601, "600 allowed"),
        (
            "net__link",
            f'"""x.\n\nLonger than most modules because it is.\n"""\n{"x = 1" + chr(10)}' * 200,
            "800 allowed",
        ),
    ],
)
def test_planted_offence_is_found(tmp_path: pathlib.Path, name: str, source: str, complaint: str) -> None:
    found = plant(tmp_path, **{name: source})
    assert len(found) == 1
    assert complaint in found[0]
    assert found[0].startswith(name.replace("__", "."))


def test_dependency_imported_twice_is_found(tmp_path: pathlib.Path) -> None:
    assert plant(tmp_path, protocol__a="import crc32c") == []
    found = plant(tmp_path, protocol__a="import crc32c", protocol__b="from crc32c import crc32c")
    assert found == ["crc32c is imported in 2 files: protocol.a, protocol.b"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("client__engine", "import threading\nfrom pykclient.net.network_client import NetworkClient"),
        ("net__reactor", "import socket, ssl, selectors, time, threading"),
        ("net__connection", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ssl import SSLContext"),
        ("broker__replica_fetcher", "from pykclient.client.engine import Engine\nfrom pykclient.broker import log"),
        ("config__tables", "from pykclient.plugins import Serializer\nfrom pykclient.config.options import option"),
        ("testing__embedded", "import socket, time, threading, random\nfrom pykclient.broker.cluster import Cluster"),
        ("cli__main", "from pykclient.testing import EmbeddedCluster"),
        ("__init__", "import importlib\nimport pykclient.producer"),
        ("protocol__messages__fetch", "x = 1\n" * 5000),
        ("net__link", '"""Longer than most modules because it is one table."""\n' + "x = 1\n" * 700),
    ],
)
def test_what_the_design_allows_is_no_offence(tmp_path: pathlib.Path, name: str, source: str) -> None:
    assert plant(tmp_path, **{name: source}) == []
