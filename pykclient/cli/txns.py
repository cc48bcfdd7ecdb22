"""``pykclient txns``: transactions, open and hanging; fence and abort them. Runs on the command's thread."""

from __future__ import annotations

import argparse

from pykclient.admin.client import KafkaAdminClient
from pykclient.admin.types import HangingTransaction
from pykclient.cli.actions import add_actions, report, report_errors, run_action
from pykclient.cli.screen import fields, print_json, table
from pykclient.cli.usage import Usage, confirmed, shown_time
from pykclient.types import TopicPartition

EXAMPLES = """\
  pykclient txns list --state Ongoing
  pykclient txns describe billing-1
  pykclient txns hanging --topic orders
  pykclient txns abort orders:3 --producer-id 4711 --yes
  pykclient txns fence billing-1"""

HANGING_S = 900.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The actions."""
    add_actions(
        parser,
        [
            ("list", "the transactional ids of the cluster", _list_arguments, _list),
            ("describe", "state, producer and partitions of transactional ids", _ids, _describe),
            ("hanging", "transactions that no coordinator will end", _hanging_arguments, _hanging),
            ("abort", "end a hanging transaction in its partition", _abort_arguments, _abort),
            ("fence", "stop all producers with these transactional ids and abort what they have open", _ids, _fence),
        ],
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the action."""
    return run_action(arguments)


def _ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="transactional-id")


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", action="append", default=[], help="Ongoing, Empty, ...; may be repeated")
    parser.add_argument("--longer-than", type=float, metavar="S", help="only those open for longer than this")


def _list(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    limit_ms = None if arguments.longer_than is None else int(arguments.longer_than * 1000)
    found = admin.list_transactions(states=arguments.state, longer_than_ms=limit_ms)
    ordered = [found[name] for name in sorted(found)]
    if arguments.json:
        print_json(ordered)
    else:
        rows = [(each.transactional_id, str(each.producer_id), each.state) for each in ordered]
        table(("transactional id", "producer id", "state"), rows)
    return 0


def _describe(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    results = admin.describe_transactions(arguments.ids)
    if arguments.json:
        print_json(list(results.succeeded.values()))
    for index, each in enumerate(() if arguments.json else results.succeeded.values()):
        if index:
            print()
        fields(
            {
                "transactional id": each.transactional_id,
                "state": each.state,
                "producer id": str(each.producer_id),
                "producer epoch": each.producer_epoch,
                "coordinator": each.coordinator_id,
                "time-out": f"{each.timeout_ms / 1000:g} s",
                "started": shown_time(each.started),
                "partitions": sorted(map(str, each.partitions)),
            }
        )
    return report_errors(results.errors, arguments)


def _hanging_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", action="append", help="look here only; may be repeated")
    parser.add_argument(
        "--older-than", type=float, default=HANGING_S, metavar="S", help="seconds (default: %(default)s)"
    )


def _hanging(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    found = admin.find_hanging_transactions(arguments.topic, older_than_s=arguments.older_than)
    if arguments.json:
        print_json(found)
        return 0
    rows = [
        (
            str(each.topic_partition),
            str(each.producer_id),
            each.producer_epoch,
            each.start_offset,
            shown_time(each.last_timestamp),
            each.transactional_id,
        )
        for each in found
    ]
    table(("partition", "producer id", "epoch", "start offset", "last written", "transactional id"), rows)
    return 0


def _abort_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", metavar="TOPIC:PARTITION")
    parser.add_argument("--producer-id", type=int, required=True, help="as txns hanging shows it")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _abort(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    topic, _, partition = arguments.place.rpartition(":")
    if not topic or not partition.isdigit():
        raise Usage(f"{arguments.place!r}: write TOPIC:PARTITION")
    tp = TopicPartition(topic, int(partition))
    producers = admin.describe_producers([tp])[tp]
    for each in producers:
        if each.producer_id == arguments.producer_id and each.transaction_start_offset is not None:
            break
    else:
        raise Usage(f"producer {arguments.producer_id} has no open transaction in {tp}; see pykclient txns hanging")
    if not confirmed(f"abort the transaction of producer {each.producer_id} in {tp}?", yes=arguments.yes):
        return 1
    admin.abort_transaction(
        HangingTransaction(
            tp,
            each.producer_id,
            each.producer_epoch,
            -1 if each.coordinator_epoch is None else each.coordinator_epoch,
            each.transaction_start_offset,
            each.last_timestamp,
        )
    )
    print_json({"aborted": str(tp)}) if arguments.json else print(f"aborted in {tp}")
    return 0


def _fence(admin: KafkaAdminClient, arguments: argparse.Namespace) -> int:
    results = admin.fence_producers(arguments.ids)
    return report(results, arguments, lambda name, fenced: f"{name} fenced; producer id {fenced.producer_id}")
