"""Subcommands that have actions of their own (``topics create``): how they are declared, run and reported.

Runs on the command's thread. One item that fails makes the command fail, and never hides what became of the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.results import Results
from pykclient.cli.connect import add_connection, admin_client
from pykclient.cli.screen import print_json

Run = Callable[[KafkaAdminClient, argparse.Namespace], int]
Action = tuple[str, str, Callable[[argparse.ArgumentParser], None], Run]
"""Name, summary, what adds its arguments, and what does it."""


def add_actions(parser: argparse.ArgumentParser, actions: Iterable[Action]) -> None:
    """A parser for each action, with the options of the connection."""
    children = parser.add_subparsers(dest="action", metavar="ACTION")
    for name, summary, arguments, run in actions:
        child = add_action(parser, children, name, summary)
        arguments(child)
        add_connection(child)
        child.set_defaults(run_action=run)


def add_action(
    parent: argparse.ArgumentParser, children: argparse._SubParsersAction[Any], name: str, summary: str
) -> argparse.ArgumentParser:
    """A parser for one action, with those examples of its parent that are about it."""
    mine = [line for line in (parent.epilog or "").splitlines() if f"{parent.prog} {name}" in line]
    child: argparse.ArgumentParser = children.add_parser(
        name,
        help=summary,
        description=summary[:1].upper() + summary[1:] + ".",
        epilog="\n".join(["examples:", *mine]) if mine else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return child


def run_action(arguments: argparse.Namespace) -> int:
    """With an admin client, do what was asked for."""
    with admin_client(arguments) as admin:
        code: int = arguments.run_action(admin, arguments)
        return code


def report(results: Results[Any, Any], arguments: argparse.Namespace, done: Callable[[Any, Any], str]) -> int:
    """Say what became of each item: ``done(item, result)``, or its error on standard error."""
    if arguments.json:
        print_json([_outcome(item, results) for item in results])
    else:
        for item, result in results.succeeded.items():
            print(done(item, result))
    return report_errors(results.errors, arguments)


def _outcome(item: Any, results: Results[Any, Any]) -> dict[str, Any]:
    error = results.error(item)
    if error is not None:
        return {"item": str(item), "ok": False, "error": type(error).__name__, "message": str(error)}
    return {"item": str(item), "ok": True, "result": results[item]}


def report_errors(errors: Mapping[Any, Exception], arguments: argparse.Namespace) -> int:
    """The errors on standard error; the exit code."""
    for item, error in errors.items():
        print(f"pykclient {arguments.command}: {item}: {error}", file=sys.stderr)
    return 1 if errors else 0


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """For actions that take none."""


__all__ = ["Action", "add_action", "add_actions", "no_arguments", "report", "report_errors", "run_action"]
