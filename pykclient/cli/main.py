"""The ``pykclient`` command: finds the subcommand and hands over.

Each subcommand is a module of this package with ``SUMMARY``, ``add_arguments(parser)`` and ``run(arguments) -> exit
code``; it is imported only when it is asked for, so that the command starts fast and a missing extra of one
subcommand does not break the others.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Protocol

from pykclient.errors import KafkaError

SUBCOMMANDS = ("broker", "topics", "produce", "consume", "groups", "perf", "doctor", "demo")
"""In the order of the help. One that has no module (yet) is not offered."""

INTERRUPTED = 130


class Subcommand(Protocol):
    """What a subcommand's module has."""

    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say which arguments it takes."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""
        ...


def available() -> list[str]:
    """The subcommands that exist."""
    return [name for name in SUBCOMMANDS if importlib.util.find_spec(f"pykclient.cli.{name}") is not None]


def load(name: str) -> Subcommand:
    """The module of a subcommand."""
    module: Subcommand = importlib.import_module(f"pykclient.cli.{name}")
    return module


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; errors of ours are one line, not a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    names = available()
    parser = argparse.ArgumentParser(prog="pykclient", description="An Apache Kafka client for Python.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    # Only the subcommand that is asked for is imported; for the help, all are.
    asked = next((word for word in words if word in names), None)
    for name in names:
        if asked in (None, name):
            module = load(name)
            child = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
            module.add_arguments(child)
        else:
            commands.add_parser(name)
    arguments = parser.parse_args(words)
    if arguments.version:
        from pykclient import __version__

        print(f"pykclient {__version__}")
        return 0
    if arguments.command is None:
        parser.print_help()
        return 2
    try:
        return load(arguments.command).run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except KafkaError as error:
        print(f"pykclient {arguments.command}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
