"""``pykclient topics``: list, describe, create, grow and delete topics. Runs on the command's thread."""

from __future__ import annotations

import argparse
import sys

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import NewTopic, TopicDescription
from pykclient.cli.actions import add_actions, report, report_errors, run_action
from pykclient.cli.screen import print_json, table
from pykclient.cli.usage import confirmed, pairs
from pykclient.errors import TopicAlreadyExists
from pykclient.types import TopicPartition

EXAMPLES = """\
  pykclient topics list
  pykclient topics create orders --partitions 6 --set retention.ms=86400000
  pykclient topics describe orders
  pykclient topics grow orders --partitions 12
  pykclient topics delete orders --yes"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions."""
    add_actions(
        parser,
        [
            ("list", "all topics", _list_arguments, _list),
            ("describe", "partitions, leaders, replicas and offsets of topics", _names, _describe),
            ("create", "make topics; returns when every broker serves them", _create_arguments, _create),
            ("grow", "give a topic more partitions", _grow_arguments, _grow),
            ("delete", "delete topics with all their records", _delete_arguments, _delete),
        ],
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the action."""
    return run_action(arguments)


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="topic")


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--internal", action="store_true", help="also Kafka's own topics")


def _list(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    names = sorted(admin.list_topics(include_internal=arguments.internal))
    described = admin.describe_topics(names).succeeded if names else {}
    rows = []
    for name in names:
        topic = described.get(name)
        if topic is not None:
            replicas = max((len(partition.replicas) for partition in topic.partitions), default=0)
            rows.append((name, len(topic.partitions), replicas, _health(topic), topic.topic_id))
    if arguments.json:
        keys = ("name", "partitions", "replicas", "health", "topic_id")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        table(("topic", "partitions", "replicas", "health"), [row[:4] for row in rows])
    return 0


def _health(topic: TopicDescription) -> str:
    leaderless = sum(partition.leader is None for partition in topic.partitions)
    behind = sum(len(partition.in_sync) < len(partition.replicas) for partition in topic.partitions)
    if leaderless:
        return f"{leaderless} without a leader"
    return f"{behind} under-replicated" if behind else "good"


def _describe(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    results = admin.describe_topics(arguments.names)
    documents = []
    for topic in results.succeeded.values():
        served = [TopicPartition(topic.name, each.partition) for each in topic.partitions if each.leader is not None]
        first = admin.list_offsets(dict.fromkeys(served, "earliest")).succeeded
        last = admin.list_offsets(dict.fromkeys(served, "latest")).succeeded
        rows = []
        for each in topic.partitions:
            tp = TopicPartition(topic.name, each.partition)
            start = first[tp].offset if tp in first else None
            end = last[tp].offset if tp in last else None
            count = None if start is None or end is None else end - start
            leader = None if each.leader is None else each.leader.id
            rows.append((each.partition, leader, list(each.replicas), list(each.in_sync), start, end, count))
        keys = ("partition", "leader", "replicas", "in_sync", "start", "end", "records")
        if arguments.json:
            partitions = [dict(zip(keys, row, strict=True)) for row in rows]
            documents.append({"name": topic.name, "topic_id": topic.topic_id, "partitions": partitions})
        else:
            heads = ("partition", "leader", "replicas", "in sync", "start", "end", "offsets in use")
            table(heads, rows, title=f"{topic.name} (id {topic.topic_id or 'unknown'}, {_health(topic)})")
    if arguments.json:
        print_json(documents)
    return report_errors(results.errors, arguments)


def _create_arguments(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument("--partitions", type=int, default=-1, help="how many (default: the broker's choice)")
    parser.add_argument("--replication-factor", type=int, default=-1, help="copies (default: the broker's choice)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a topic option")
    parser.add_argument("--if-not-exists", action="store_true", help="no error when it is there already")
    parser.add_argument("--dry-run", action="store_true", help="let the broker check it, make nothing")


def _create(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    configs = pairs(arguments.set, "--set")
    wanted = [
        NewTopic(name, arguments.partitions, arguments.replication_factor, None, configs) for name in arguments.names
    ]
    results = admin.create_topics(wanted, validate_only=arguments.dry_run, wait=not arguments.dry_run)
    if arguments.if_not_exists:
        there = {item for item, error in results.errors.items() if isinstance(error, TopicAlreadyExists)}
        for name in sorted(there):
            print(f"{name} is there already", file=sys.stderr)
        results = type(results)({**results.succeeded, **{k: v for k, v in results.errors.items() if k not in there}})
    verb = "could be made" if arguments.dry_run else "made"
    return report(results, arguments, lambda name, made: f"{name} {verb} with {made.partitions} partitions")


def _grow_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="topic")
    parser.add_argument("--partitions", type=int, required=True, help="how many it shall have in all")
    parser.add_argument("--dry-run", action="store_true", help="let the broker check it, change nothing")


def _grow(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    results = admin.create_partitions(
        {arguments.name: arguments.partitions}, validate_only=arguments.dry_run, wait=not arguments.dry_run
    )
    verb = "could have" if arguments.dry_run else "has"
    return report(results, arguments, lambda name, total: f"{name} {verb} {arguments.partitions} partitions")


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    _names(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _delete(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    if not confirmed(f"delete {', '.join(arguments.names)} with all records?", yes=arguments.yes):
        return 1
    results = admin.delete_topics(arguments.names, wait=True)
    return report(results, arguments, lambda name, gone: f"{name} deleted")
