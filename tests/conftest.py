"""What every test may use: which record codec is in use, the same tests over both, and ``--full`` for the long runs."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
from collections.abc import Iterator
from typing import cast

import pytest

import pykclient
from pykclient.protocol import accel, pure_twin

ACCEL_MODE = os.environ.get("PYKCLIENT_ACCEL", "auto") or "auto"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", default=False, help="also run the tests marked 'full' (long)")


def pytest_configure() -> None:
    # A shell starts what runs in its background with Ctrl-C ignored, and children inherit that: several tests send it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _load_everything()


def _load_everything() -> None:
    """What clients load at first use would be parsed by pytest in their threads, several at a time, and CPython 3.11
    then fails now and then: "AST constructor recursion depth mismatch"."""
    for package in ("admin", "aio", "broker", "client", "consumer", "net", "producer", "protocol"):
        path = [os.path.join(os.path.dirname(pykclient.__file__), package)]
        for module in pkgutil.walk_packages(path, f"pykclient.{package}."):
            if module.name.rpartition(".")[2] not in ("_accel", "kerberos") and ".specs" not in module.name:
                importlib.import_module(module.name)


def pytest_report_header() -> str:
    used = "native (_accel)" if accel.accelerated else "pure Python"
    return f"pykclient records: {used}, PYKCLIENT_ACCEL={ACCEL_MODE}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="a long run; give --full"))


@pytest.fixture(params=["pure", "native"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Runs a test over both record codecs.

    Without the extension the native half is skipped, unless PYKCLIENT_ACCEL=require: then its absence is a failure,
    never a silence.
    """
    name = str(request.param)
    if name == "pure":
        monkeypatch.setattr(accel, "active", cast(accel.Implementation, pure_twin))
        monkeypatch.setattr(accel, "accelerated", False)
        yield name
        return
    native = None if ACCEL_MODE == "off" else accel.load_native()
    if native is None:
        if ACCEL_MODE == "require":
            pytest.fail("PYKCLIENT_ACCEL=require, but the C extension did not load")
        pytest.skip(f"no C extension here (PYKCLIENT_ACCEL={ACCEL_MODE})")
    monkeypatch.setattr(accel, "active", native)
    monkeypatch.setattr(accel, "accelerated", True)
    yield name


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether ``--full`` was given: tests that scale use their full size then."""
    return bool(request.config.getoption("--full"))
