"""How subcommands reach a cluster: the options they share, and the clients made from them.

Runs on the command's thread. Secrets come from a file, never from the command line, where every process of the machine
could read them.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, TypeVar

from pykclient.admin.client import KafkaAdminClient
from pykclient.cli.usage import Usage, pairs, seconds
from pykclient.config import AdminConfig, CommonConfig, ConsumerConfig, ProducerConfig, read_options
from pykclient.config.options import option_fields
from pykclient.config.refused import ALIASES
from pykclient.errors import ConfigError

SERVERS_VARIABLE = "PYKCLIENT_BOOTSTRAP_SERVERS"
FILE_VARIABLE = "PYKCLIENT_CONFIG_FILE"
DEFAULT_SERVERS = "localhost:9092"
TIMEOUT_S = 15.0

T = TypeVar("T", bound=CommonConfig)


def add_connection(parser: argparse.ArgumentParser) -> None:
    """The options that every client command has."""
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap-servers",
        metavar="HOST:PORT",
        help=f"brokers to start from (default: ${SERVERS_VARIABLE}, else {DEFAULT_SERVERS})",
    )
    group.add_argument(
        "--config-file",
        type=Path,
        metavar="FILE",
        help=f"client options, one key=value per line, passwords too (default: ${FILE_VARIABLE})",
    )
    group.add_argument(
        "-c", "--config", action="append", default=[], metavar="KEY=VALUE", help="a client option; may be repeated"
    )
    group.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="S", help="give up after this long (default: %(default)s)"
    )
    group.add_argument("--verbose", action="store_true", help="log what happens to standard error")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def client_options(arguments: argparse.Namespace, table: type[T], **ours: Any) -> dict[str, Any]:
    """The options for a client of this kind: ``ours`` unless the user said otherwise, then the file, then ``-c``."""
    known = _names(table)
    given = {**_from_file(arguments), **_from_words(arguments.config)}
    anywhere = _names(ProducerConfig) | _names(ConsumerConfig) | _names(AdminConfig)
    # One file may serve all commands: what only another kind of client knows is left out, a slip of the pen is not.
    chosen = {name: value for name, value in given.items() if name in known or name not in anywhere}
    if arguments.bootstrap_servers is not None:
        chosen["bootstrap_servers"] = arguments.bootstrap_servers
    chosen.setdefault("bootstrap_servers", os.environ.get(SERVERS_VARIABLE) or DEFAULT_SERVERS)
    options = {**ours, **chosen}
    try:
        read_options(table, options)
    except ConfigError as error:
        raise Usage("; ".join(error.problems)) from None
    return options


def admin_client(arguments: argparse.Namespace) -> KafkaAdminClient:
    """An admin client that gives up after ``--timeout``."""
    limit_ms = max(1, int(arguments.timeout * 1000))
    ours = {"default_api_timeout_ms": limit_ms, "request_timeout_ms": min(limit_ms, 30_000)}
    return KafkaAdminClient(client_options(arguments, AdminConfig, client_id="pykclient-cli", **ours))


def read_properties(path: Path) -> dict[str, str]:
    """``key=value`` lines; ``#`` and ``!`` start comments. Complaints name the line and show nothing of it."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, separator, value = stripped.partition("=")
        if not separator or not key.strip():
            raise Usage(f"{path}, line {number}: write key=value")
        found[key.strip()] = value.strip()
    return found


def _from_file(arguments: argparse.Namespace) -> dict[str, str]:
    named = arguments.config_file or (Path(os.environ[FILE_VARIABLE]) if os.environ.get(FILE_VARIABLE) else None)
    return {} if named is None else {_python_name(key): value for key, value in read_properties(named).items()}


def _from_words(items: list[str]) -> dict[str, str]:
    given = {_python_name(key): value for key, value in pairs(items, "-c").items()}
    secrets = sorted(name for name in given if name in _secrets())
    if secrets:
        raise Usage(f"{', '.join(secrets)}: others on this machine can read command lines; put it in --config-file")
    return given


def _python_name(key: str) -> str:
    name = key.replace(".", "_")
    return ALIASES.get(name, name)


def _names(table: type) -> set[str]:
    return set(option_fields(table))


def _secrets() -> set[str]:
    return {name for name, (_, option) in option_fields(CommonConfig).items() if option.secret}


__all__ = ["add_connection", "admin_client", "client_options", "read_properties"]
