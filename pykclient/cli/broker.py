"""``pykclient broker``: an embedded cluster as a process of its own, for any client of any language.

Prints one line when it is ready, then serves until SIGTERM or SIGINT. Loopback unless told otherwise.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from pykclient.broker.listeners import ListenerSpec, parse_listener
from pykclient.cli.interrupt import INTERRUPTED
from pykclient.errors import ConfigError
from pykclient.net.tls import TlsSettings, server_context
from pykclient.testing.embedded import EmbeddedCluster

EXAMPLES = """\
  pykclient broker --topic orders:6
  pykclient broker --port 0 --ready-file ready.txt   (any free port)
  pykclient broker --brokers 3 --data-dir data       (keeps what it has)
  pykclient broker --config auto.create.topics.enable=false
  pykclient broker --protocol SASL_PLAINTEXT --users-file users.txt"""
DEFAULT_PORT = 9092


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help="the first broker's port, the next ones follow it; 0 takes free ones (default: %(default)s)",
    )
    parser.add_argument("--data-dir", type=Path, help="keep the data here; without it everything is in memory")
    parser.add_argument("--brokers", type=int, default=1, help="how many brokers (default: %(default)s)")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="NAME[:PARTITIONS]", help="make this topic; may be repeated"
    )
    parser.add_argument(
        "--config", action="append", default=[], metavar="KEY=VALUE", help="a broker option; may be repeated"
    )
    parser.add_argument(
        "--protocol",
        default="PLAINTEXT",
        choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        help="what the listener speaks (default: %(default)s)",
    )
    parser.add_argument(
        "--users-file", type=Path, help="for SASL: a file with one name:password per line, readable by you only"
    )
    parser.add_argument("--tls-cert", type=Path, help="for SSL: the certificate (PEM)")
    parser.add_argument("--tls-key", type=Path, help="for SSL: its key (PEM)")
    parser.add_argument("--advertised-host", help="the host name that clients are told")
    parser.add_argument("--ready-file", type=Path, help="write the bootstrap address to this file when ready")
    parser.add_argument(
        "--allow-open-network",
        action="store_true",
        help="allow an address that other machines can reach without authentication",
    )
    parser.add_argument("--verbose", action="store_true", help="log what happens to standard error")


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop."""
    logging.basicConfig(
        level=logging.INFO if arguments.verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
        stream=sys.stderr,
    )
    stop = threading.Event()
    signals: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        stop.set()

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, on_signal)
    ports = [arguments.port + index if arguments.port else 0 for index in range(arguments.brokers)]
    cluster = EmbeddedCluster(
        arguments.brokers,
        data_dir=arguments.data_dir,
        topics={},
        listeners=[_listener(arguments)],
        ports=ports,
        users=_users(arguments.users_file),
        allow_open_network=arguments.allow_open_network,
        **_config(arguments.config),
    )
    try:
        cluster.start()
        _make_topics(cluster, arguments.topic)
        address = cluster.bootstrap_servers
        # The file first: who reads the line may look for the file.
        if arguments.ready_file is not None:
            _write_whole(arguments.ready_file, address + "\n")
        print(f"ready: bootstrap.servers={address}", flush=True)
        # With a time-out, so that a signal is noticed on every platform.
        while not stop.wait(3600):
            pass
    except OSError as error:
        print(f"pykclient broker: {error}", file=sys.stderr)
        return 1
    finally:
        cluster.close()
    return INTERRUPTED if signals[:1] == [signal.SIGINT] else 0


def _listener(arguments: argparse.Namespace) -> ListenerSpec:
    spec = parse_listener(f"{arguments.protocol}://")
    tls = None
    if spec.encrypted:
        if arguments.tls_cert is None:
            raise ConfigError(f"{arguments.protocol} needs --tls-cert (and --tls-key)")
        key = None if arguments.tls_key is None else str(arguments.tls_key)
        tls = server_context(TlsSettings(certfile=str(arguments.tls_cert), keyfile=key))
    return ListenerSpec(arguments.protocol, arguments.host, 0, advertised_host=arguments.advertised_host, tls=tls)


def _users(path: Path | None) -> dict[str, str]:
    """From a file and not from the command line, where every process of the machine could read the passwords."""
    if path is None:
        return {}
    users = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            name, separator, password = line.partition(":")
            if not separator or not name or not password:
                raise ConfigError(f"{path}, line {number}: not name:password")
            users[name] = password
    return users


def _config(items: list[str]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator:
            raise ConfigError(f"--config {item!r}: not KEY=VALUE")
        config[key] = value
    return config


def _make_topics(cluster: EmbeddedCluster, topics: list[str]) -> None:
    for item in topics:
        name, _, count = item.partition(":")
        if count and not count.isdigit():
            raise ConfigError(f"--topic {item!r}: {count!r} is not a number")
        if not cluster.has_topic(name):
            cluster.create_topic(name, int(count) if count else -1)


def _write_whole(path: Path, text: str) -> None:
    """So that whoever watches for the file never reads half of it."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, encoding="ascii")
    os.replace(fresh, path)
