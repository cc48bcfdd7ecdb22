"""``pykclient groups``: list, describe with lag, watch, reset and delete consumer groups. Runs on the command's thread.

A reset only tells what it would do until ``--execute`` is given: offsets moved by mistake are records lost or repeated.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.results import Results
from pykclient.admin.types import GroupDescription, OffsetReset, PartitionLag
from pykclient.cli.actions import add_actions, report, report_errors, run_action
from pykclient.cli.interrupt import INTERRUPTED, on_interrupt
from pykclient.cli.screen import print_json, table
from pykclient.cli.usage import Usage, confirmed, counted, parse_time
from pykclient.types import TopicPartition

EXAMPLES = """\
  pykclient groups list
  pykclient groups describe billing
  pykclient groups watch billing --interval 2
  pykclient groups reset billing --to earliest             (only tells)
  pykclient groups reset billing --topic orders:0 --shift -100
  pykclient groups reset billing --to 2h --execute         (does it)
  pykclient groups delete billing --yes"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions."""
    add_actions(
        parser,
        [
            ("list", "the groups of the cluster", _list_arguments, _list),
            ("describe", "members, committed offsets and lag of groups", _describe_arguments, _describe),
            ("watch", "the lag of a group, again and again", _watch_arguments, _watch),
            ("reset", "move a group that has no members; a dry run unless --execute", _reset_arguments, _reset),
            ("delete", "delete groups that have no members, with their offsets", _delete_arguments, _delete),
        ],
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the action."""
    return run_action(arguments)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", action="append", default=[], help="only groups in this state; may be repeated")


def _list(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    groups = sorted(admin.list_groups(states=arguments.state).values(), key=lambda group: group.group_id)
    if arguments.json:
        print_json(groups)
    else:
        rows = [(group.group_id, group.type or None, group.state or None) for group in groups]
        table(("group", "type", "state"), rows)
    return 0


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", nargs="+", metavar="group")
    parser.add_argument("--members", action="store_true", help="a row per member instead of per partition")


def _describe(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    described = admin.describe_groups(arguments.groups)
    documents: list[dict[str, Any]] = []
    errors: dict[Any, Exception] = dict(described.errors)
    for group in described.succeeded.values():
        lag = admin.lag(group.group_id)
        errors.update(lag.errors)
        if arguments.json:
            documents.append(_document(group, lag))
        elif arguments.members:
            _members_table(group)
        else:
            _lag_table(group, lag)
    if arguments.json:
        print_json(documents)
    return report_errors(errors, arguments)


def _document(group: GroupDescription, lag: Results[TopicPartition, PartitionLag]) -> dict[str, Any]:
    partitions = [
        {
            "topic": tp.topic,
            "partition": tp.partition,
            "committed": each.committed,
            "end": each.end,
            "lag": each.lag,
            "age_s": each.age_s,
            "owner": None if each.owner is None else each.owner.client_id,
        }
        for tp, each in sorted(lag.succeeded.items())
    ]
    return {
        "group": group.group_id,
        "type": group.type,
        "state": group.state,
        "members": len(group.members),
        "lag": _total(lag),
        "partitions": partitions,
    }


def _total(lag: Results[TopicPartition, PartitionLag]) -> int:
    return sum(each.lag or 0 for each in lag.succeeded.values())


def _headline(group: GroupDescription, lag: Results[TopicPartition, PartitionLag]) -> str:
    where = "" if group.coordinator is None else f", coordinator {group.coordinator}"
    return f"{group.group_id}: {group.state}, {counted(len(group.members), 'member')}, lag {_total(lag):,}{where}"


def _lag_table(group: GroupDescription, lag: Results[TopicPartition, PartitionLag]) -> None:
    rows = []
    for tp, each in sorted(lag.succeeded.items()):
        owner = None if each.owner is None else f"{each.owner.client_id} {each.owner.client_host}"
        age = None if each.age_s is None else f"{each.age_s:.1f} s"
        rows.append((tp.topic, tp.partition, each.committed, each.end, each.lag, age, owner))
    table(
        ("topic", "partition", "committed", "end", "lag", "oldest unread", "owner"), rows, title=_headline(group, lag)
    )


def _members_table(group: GroupDescription) -> None:
    rows = [
        (member.client_id, member.client_host, member.group_instance_id, sorted(map(str, member.assignment)))
        for member in group.members
    ]
    table(("client", "host", "instance", "partitions"), rows, title=f"{group.group_id}: {group.state}")


def _watch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S", help="pause (default: %(default)s)")
    parser.add_argument("--count", type=int, metavar="N", help="stop after N looks; else at Ctrl-C")


def _watch(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    looks = 0
    with on_interrupt() as interrupted:
        while not interrupted:
            group = admin.describe_groups(arguments.group)[arguments.group]
            lag = admin.lag(arguments.group)
            if arguments.json:
                print_json({"time": datetime.now().astimezone().isoformat(), **_document(group, lag)})
            else:
                if sys.stdout.isatty():
                    print("\x1b[2J\x1b[H", end="")
                print(f"{datetime.now():%H:%M:%S}  ", end="")
                _lag_table(group, lag)
            looks += 1
            if looks == arguments.count:
                return 0
            interrupted.event.wait(arguments.interval)
    return INTERRUPTED


def _reset_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument(
        "--topic", action="append", metavar="NAME[:PARTITION]", help="only this; may be repeated (default: all it has)"
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--to", metavar="WHERE", help="earliest, latest, an offset, or a time: 2026-01-31T12:00, 2h")
    target.add_argument("--shift", type=int, metavar="N", help="this many records on; negative: back")
    parser.add_argument("--execute", action="store_true", help="do it; without it only tells")


def _reset(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    partitions = None if arguments.topic is None else [_place(text) for text in arguments.topic]
    results = admin.reset_group_offsets(
        arguments.group,
        partitions,
        to=None if arguments.to is None else _target(arguments.to),
        shift=arguments.shift,
        dry_run=not arguments.execute,
    )
    if partitions is None and not results:
        raise Usage(f"{arguments.group} has committed nothing yet; say where it shall begin: --topic NAME")
    if arguments.json:
        rows = [
            {"topic": tp.topic, "partition": tp.partition, "before": each.before, "after": each.after}
            for tp, each in sorted(results.succeeded.items())
        ]
        print_json({"group": arguments.group, "executed": arguments.execute, "partitions": rows})
    else:
        title = f"{arguments.group}: " + ("offsets moved" if arguments.execute else "a dry run; --execute does it")
        columns = ("topic", "partition", "before", "after", "shift", "log start", "log end")
        table(columns, [_reset_row(tp, each) for tp, each in sorted(results.succeeded.items())], title=title)
    return report_errors(results.errors, arguments)


def _reset_row(tp: TopicPartition, each: OffsetReset) -> tuple[object, ...]:
    return tp.topic, tp.partition, each.before, each.after, each.shift, each.earliest, each.latest


def _place(text: str) -> TopicPartition | str:
    topic, separator, partition = text.rpartition(":")
    if not separator:
        return text
    if not partition.isdigit():
        raise Usage(f"--topic {text!r}: write NAME or NAME:PARTITION")
    return TopicPartition(topic, int(partition))


def _target(text: str) -> str | int | datetime:
    word = text.lower()
    if word in ("earliest", "latest", "current"):
        return word
    return int(text) if text.isdigit() and len(text) < 12 else parse_time(text)


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", nargs="+", metavar="group")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _delete(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    if not confirmed(f"delete {', '.join(arguments.groups)} and what they committed?", yes=arguments.yes):
        return 1
    return report(admin.delete_groups(arguments.groups), arguments, lambda group, _: f"{group} deleted")
