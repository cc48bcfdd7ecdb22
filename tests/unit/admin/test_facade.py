"""The public face of administration: every call has a time-out and a docstring, and is tried on Apache Kafka."""

from __future__ import annotations

import inspect
import pathlib

import pytest

import pykclient.admin
from pykclient import KafkaAdminClient
from pykclient.errors import ClientClosed, ConfigError, UsageError

CALLS = [
    name
    for name, member in vars(KafkaAdminClient).items()
    if inspect.isfunction(member) and not name.startswith("_") and name != "close"
]
TRIED = pathlib.Path(__file__).parents[2] / "integration" / "admin"


@pytest.mark.parametrize("name", CALLS)
def test_every_call_takes_a_timeout_and_says_what_it_does(name: str) -> None:
    method = getattr(KafkaAdminClient, name)
    timeout = inspect.signature(method).parameters["timeout"]
    assert timeout.kind is inspect.Parameter.KEYWORD_ONLY
    assert timeout.default is None
    assert method.__doc__


@pytest.mark.parametrize("name", CALLS)
def test_every_call_only_starts_its_operation(name: str) -> None:
    """One return through ``_run``: whoever waits otherwise (an event loop) replaces that one method."""
    source = inspect.getsource(getattr(KafkaAdminClient, name))
    body = source.split('"""')[2]
    assert body.strip().startswith("return self._run(")


def test_every_call_is_tried_on_clusters() -> None:
    text = "".join(path.read_text() for path in TRIED.glob("test_*.py"))
    assert [name for name in CALLS if f".{name}(" not in text] == []


def test_every_noun_resolves() -> None:
    for name in pykclient.admin.__all__:
        assert getattr(pykclient.admin, name) is not None
    with pytest.raises(AttributeError):
        _ = pykclient.admin.NoSuchThing


def test_options_times_and_closing_are_checked_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="bootstrap_servers"):
        KafkaAdminClient()
    with KafkaAdminClient({"bootstrap.servers": "127.0.0.1:1"}, client_id="desk") as admin:
        assert repr(admin) == "<KafkaAdminClient desk>"
        with pytest.raises(UsageError, match="timeout"):
            admin.list_topics(timeout=0)
    with pytest.raises(ClientClosed):
        admin.list_topics()
