"""The ``pykclient`` command: finds the subcommand and hands over; turns errors into one line and an exit code.

Each subcommand is a module of this package with ``add_arguments(parser)`` and ``run(arguments) -> exit code``, and
``EXAMPLES`` for its help; it is imported only when it is asked for, so that the command starts fast and a
missing extra of one does not break the others. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 Ctrl-C. The rest of the
package is imported when Ctrl-C is caught already: on a slow machine that is when it is pressed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections import namedtuple
from collections.abc import Sequence
from typing import Protocol

from pykclient.cli.interrupt import INTERRUPTED

SUBCOMMANDS = {
    "broker": "run a Kafka broker (or a small cluster of them) on this machine",
    "demo": "start an embedded cluster, send and read a stream of orders, check the totals",
    "topics": "list, describe, create, grow and delete topics",
    "produce": "send records, from the terminal, a pipe or a file",
    "consume": "print records of topics, following them or up to the end",
    "groups": "list groups, show their lag, watch, move and delete them",
    "cluster": "show the brokers, feature levels, the controllers' quorum and the disks",
    "configs": "show and change options of topics, brokers and groups",
    "acls": "show, grant and take away rights",
    "txns": "list and describe transactions, find hanging ones, abort and fence",
    "perf": "measure produce and consume throughput and end-to-end latency",
    "doctor": "find out why a cluster cannot be reached, and which setting to change",
}
"""What each does, in the order of the help: so that the help imports none of them. One without a module is not offered.
"""

FAILED = 1
WRONG_USAGE = 2
PIPE_CLOSED = 141
"""What a shell reports for a program that wrote to a pipe nobody reads any more, as with ``| head``."""


class Subcommand(Protocol):
    """What a subcommand's module has."""

    EXAMPLES: str

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


def make_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Only the subcommand that is asked for is imported; for the help, none is."""
    names = available()
    parser = argparse.ArgumentParser(
        prog="pykclient",
        description="An Apache Kafka client for Python.",
        epilog="pykclient COMMAND --help shows the options of a command and examples.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = next((word for word in words if word in names), None)
    for name in names:
        summary = SUBCOMMANDS[name]
        child = commands.add_parser(name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == asked:
            module = load(name)
            child.description = summary[:1].upper() + summary[1:] + "."
            child.epilog = f"examples:\n{module.EXAMPLES}"
            child.set_defaults(print_help=child.print_help)
            module.add_arguments(child)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; errors of ours are one line, not a traceback."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        # One that came while dataclasses compiled a method is remembered by CPython as unhandled: ``python -m`` would
        # end by the signal instead of with our code. The next source that is compiled and run makes it forget, and a
        # named tuple is made that way.
        namedtuple("Forget", ())
        return INTERRUPTED


def _run(words: list[str]) -> int:
    parser = make_parser(words)
    arguments = parser.parse_args(words)
    if arguments.version:
        from pykclient import __version__

        print(f"pykclient {__version__}")
        return 0
    if arguments.command is None:
        parser.print_help()
        return WRONG_USAGE
    if None in (getattr(arguments, "action", ""), getattr(arguments, "measure", "")):
        arguments.print_help()
        return WRONG_USAGE
    from pykclient.cli.usage import Usage
    from pykclient.errors import KafkaError

    _set_up_logging(arguments)
    try:
        code = load(arguments.command).run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # What is still buffered has no reader; without this the interpreter complains about it at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Usage as error:
        print(f"pykclient {arguments.command}: {error}", file=sys.stderr)
        return WRONG_USAGE
    except OSError as error:
        about = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        print(f"pykclient {arguments.command}: {about}", file=sys.stderr)
        return FAILED
    except KafkaError as error:
        print(f"pykclient {arguments.command}: {error}", file=sys.stderr)
        return FAILED


def _set_up_logging(arguments: argparse.Namespace) -> None:
    """What goes wrong is said once, at the end; the log beside it is for those who ask for it."""
    import logging

    if getattr(arguments, "verbose", False):
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    else:
        logging.getLogger("pykclient").addHandler(logging.NullHandler())


if __name__ == "__main__":
    sys.exit(main())
