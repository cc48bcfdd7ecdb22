"""``pykclient configs``: show and change the options of topics, brokers and groups. Runs on the command's thread."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import ConfigResource, ConfigResourceType
from pykclient.cli.actions import add_actions, report, run_action
from pykclient.cli.screen import print_json, table
from pykclient.cli.usage import Usage, pairs

EXAMPLES = """\
  pykclient configs show topic orders
  pykclient configs show broker 1 --all
  pykclient configs describe topic orders
  pykclient configs set topic orders retention.ms=86400000
  pykclient configs unset topic orders retention.ms"""

KINDS = {
    "topic": ConfigResourceType.TOPIC,
    "broker": ConfigResourceType.BROKER,
    "brokers": ConfigResourceType.BROKER,
    "group": ConfigResourceType.GROUP,
    "logger": ConfigResourceType.BROKER_LOGGER,
    "client-metrics": ConfigResourceType.CLIENT_METRICS,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions."""
    add_actions(
        parser,
        [
            ("show", "the options that were set, or all of them", _show_arguments, _show),
            ("describe", "the same as show", _show_arguments, _show),
            ("set", "change single options; all others stay", _set_arguments, _set),
            ("unset", "take options back to their defaults", _unset_arguments, _unset),
        ],
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the action."""
    return run_action(arguments)


def _resource_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        choices=sorted(KINDS),
        metavar="kind",
        help=f"one of {', '.join(sorted(KINDS))}; 'brokers' with the name 'default': of all brokers",
    )
    parser.add_argument("name", help="topic, broker id, group")


def _resource(arguments: argparse.Namespace) -> ConfigResource:
    kind, name = KINDS[arguments.kind], arguments.name
    if kind is ConfigResourceType.BROKER and name == "default":
        return ConfigResource(kind, "")
    if kind in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER) and not name.isdigit():
        raise Usage(f"{name!r} is no broker id; write its number, or default for the options of all brokers")
    return ConfigResource(kind, name)


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    _resource_arguments(parser)
    parser.add_argument("--all", action="store_true", help="also those that nobody set")


def _show(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    resource = _resource(arguments)
    entries = sorted(admin.describe_configs(resource)[resource].values(), key=lambda entry: entry.name)
    chosen = [entry for entry in entries if arguments.all or not entry.is_default]
    if arguments.json:
        keys = ("name", "value", "source", "read_only", "sensitive")
        print_json([{key: getattr(entry, key) for key in keys} for entry in chosen])
        return 0
    rows = [
        (entry.name, "****" if entry.sensitive else entry.value, entry.source.name.lower().replace("_", " "))
        for entry in chosen
    ]
    note = "" if arguments.all else f" ({len(entries) - len(chosen)} more at their defaults: --all)"
    table(("option", "value", "from"), rows, title=f"{resource}{note}")
    return 0


def _set_arguments(parser: argparse.ArgumentParser) -> None:
    _resource_arguments(parser)
    parser.add_argument("changes", nargs="+", metavar="KEY=VALUE")
    parser.add_argument("--dry-run", action="store_true", help="let the broker check it, change nothing")


def _set(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    return _change(admin, arguments, pairs(arguments.changes, "set"))


def _unset_arguments(parser: argparse.ArgumentParser) -> None:
    _resource_arguments(parser)
    parser.add_argument("keys", nargs="+", metavar="KEY")
    parser.add_argument("--dry-run", action="store_true", help="let the broker check it, change nothing")


def _unset(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    return _change(admin, arguments, dict.fromkeys(arguments.keys))


def _change(admin: KafkaAdminClient, arguments: argparse.Namespace, changes: Mapping[str, str | None]) -> int:
    results = admin.alter_configs({_resource(arguments): changes}, validate_only=arguments.dry_run)
    verb = "could be changed" if arguments.dry_run else "changed"
    return report(results, arguments, lambda resource, _: f"{resource}: {', '.join(changes)} {verb}")
