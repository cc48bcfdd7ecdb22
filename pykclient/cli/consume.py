"""``pykclient consume``: print records, from where one wants to where one wants.

Runs on the command's thread. In a group it commits only what it has printed: Ctrl-C and a closed pipe lose nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from pykclient.cli.connect import add_connection, client_options
from pykclient.cli.interrupt import INTERRUPTED, Interrupted, on_interrupt
from pykclient.cli.records import FIELD_NAMES, formatter, to_json
from pykclient.cli.screen import Progress
from pykclient.cli.usage import Usage, parse_time
from pykclient.config import ConsumerConfig
from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import UnknownTopicOrPartition, WakeupError
from pykclient.types import ConsumerRecord, TopicPartition

EXAMPLES = """\
  pykclient consume orders                            (what comes from now on)
  pykclient consume orders --from-beginning -n 10
  pykclient consume orders --from-time 15m --to-end --format '{time} {value}\\n'
  pykclient consume orders --to-end --json > orders.jsonl
  pykclient consume orders returns --group reporting  (commits what it printed)"""

POLL_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What, from where, to where, and how it is printed."""
    parser.add_argument("topics", nargs="+", metavar="topic", help="the topics to read")
    parser.add_argument("-g", "--group", help="read as a member of this group, and commit")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--from-beginning", action="store_true", help="from the first record there is")
    start.add_argument("--from-offset", type=int, metavar="N", help="from this offset; -N: the last N per partition")
    start.add_argument("--from-time", metavar="TIME", help="2026-01-31T12:00, milliseconds, or how long ago: 15m, 2h")
    parser.add_argument(
        "--to-end", action="store_true", help="stop at the present end; starts at the beginning unless told otherwise"
    )
    parser.add_argument("-n", "--max-records", type=int, metavar="N", help="stop after N records")
    parser.add_argument("--idle", type=float, metavar="S", help="stop when nothing came for S seconds")
    parser.add_argument(
        "-p", "--partition", type=int, action="append", help="only this partition; may be repeated (not with --group)"
    )
    parser.add_argument(
        "--format",
        metavar="TEXT",
        help=r"print this for each record (default: {value}\n); fields: " + ", ".join(FIELD_NAMES),
    )
    parser.add_argument("--read-committed", action="store_true", help="no records of open or aborted transactions")
    add_connection(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print until the end, the limit, or Ctrl-C."""
    _check(arguments)
    render = _renderer(arguments)
    with KafkaConsumer(_options(arguments)) as consumer, on_interrupt(consumer.wakeup) as interrupted:
        ends = _begin(consumer, arguments)
        with Progress("read", quiet=sys.stdout.isatty()) as progress:
            _print(consumer, arguments, render, ends, progress, interrupted)
    return INTERRUPTED if interrupted else 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.from_time is not None:
        parse_time(arguments.from_time)
    if arguments.group is not None:
        if arguments.partition is not None:
            raise Usage("--partition does not go with --group: the group deals the partitions out")
        if arguments.from_offset is not None or arguments.from_time is not None:
            raise Usage(
                "a group starts where it committed; move it first: "
                f"pykclient groups reset {arguments.group} --to ... --execute"
            )
    if arguments.json and arguments.format is not None:
        raise Usage("give --json or --format, not both")


def _renderer(arguments: argparse.Namespace) -> Callable[[ConsumerRecord[Any, Any]], bytes]:
    if arguments.json:
        return lambda record: to_json(record).encode() + b"\n"
    return formatter(r"{value}\n" if arguments.format is None else arguments.format)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    earliest = arguments.from_beginning or arguments.to_end
    ours: dict[str, Any] = {
        "client_id": "pykclient-consume",
        "auto_offset_reset": "earliest" if earliest else "latest",
        "allow_auto_create_topics": False,
        "default_api_timeout_ms": max(1, int(arguments.timeout * 1000)),
    }
    if arguments.group is not None:
        ours.update(group_id=arguments.group, group_protocol="auto")
    if arguments.read_committed:
        ours["isolation_level"] = "read_committed"
    return client_options(arguments, ConsumerConfig, **ours)


def _begin(consumer: KafkaConsumer, arguments: argparse.Namespace) -> dict[TopicPartition, int] | None:
    """Point the consumer at what to read; with ``--to-end``, the offsets at which to stop."""
    partitions = _partitions(consumer, arguments.topics, arguments.partition)
    ends = consumer.end_offsets(partitions) if arguments.to_end else None
    if arguments.group is not None:
        consumer.subscribe(arguments.topics)
        return ends
    consumer.assign(partitions)
    if arguments.from_beginning or (arguments.to_end and not _start_given(arguments)):
        consumer.seek_to_beginning()
    elif arguments.from_time is not None:
        _seek_to_time(consumer, partitions, parse_time(arguments.from_time))
    elif arguments.from_offset is not None:
        _seek_to_offset(consumer, partitions, arguments.from_offset)
    else:
        consumer.seek_to_end()
    return ends


def _start_given(arguments: argparse.Namespace) -> bool:
    return arguments.from_time is not None or arguments.from_offset is not None


def _partitions(consumer: KafkaConsumer, topics: Iterable[str], wanted: list[int] | None) -> list[TopicPartition]:
    found: list[TopicPartition] = []
    for topic in topics:
        there = sorted(info.partition for info in consumer.partitions_for(topic))
        if not there:
            raise UnknownTopicOrPartition(topic=topic)
        missing = sorted(set(wanted or ()) - set(there))
        if missing:
            raise Usage(f"{topic} has no partition {missing[0]}: it has {len(there)}, numbered from 0")
        found += [TopicPartition(topic, partition) for partition in wanted or there]
    return found


def _seek_to_time(consumer: KafkaConsumer, partitions: list[TopicPartition], moment: datetime) -> None:
    found = consumer.offsets_for_times(dict.fromkeys(partitions, moment))
    later = [tp for tp in partitions if found.get(tp) is None]
    for tp, target in found.items():
        if target is not None:
            consumer.seek(tp, target.offset)
    if later:
        consumer.seek_to_end(later)


def _seek_to_offset(consumer: KafkaConsumer, partitions: list[TopicPartition], offset: int) -> None:
    first = consumer.beginning_offsets(partitions)
    last = consumer.end_offsets(partitions)
    for tp in partitions:
        target = offset if offset >= 0 else last[tp] + offset
        consumer.seek(tp, min(max(target, first[tp]), last[tp]))


def _print(
    consumer: KafkaConsumer,
    arguments: argparse.Namespace,
    render: Callable[[ConsumerRecord[Any, Any]], bytes],
    ends: dict[TopicPartition, int] | None,
    progress: Progress,
    interrupted: Interrupted,
) -> None:
    out = sys.stdout.buffer
    heard_at = time.monotonic()
    while not interrupted and not _reached(consumer, ends):
        left = None if arguments.max_records is None else arguments.max_records - progress.count
        if left is not None and left <= 0:
            return
        try:
            polled = consumer.poll(POLL_S, max_records=left)
        except WakeupError:
            return
        for record in polled.records():
            # What came in while we read lies behind the end that was asked for; but a group commits what it was given.
            if ends is None or arguments.group or record.offset < ends.get(record.topic_partition, sys.maxsize):
                out.write(render(record))
                progress.advance()
        out.flush()
        if polled:
            heard_at = time.monotonic()
        elif arguments.idle is not None and time.monotonic() - heard_at >= arguments.idle:
            return


def _reached(consumer: KafkaConsumer, ends: dict[TopicPartition, int] | None) -> bool:
    """Whether everything we read, or everything our member was given, has been read to its end."""
    if ends is None:
        return False
    mine = consumer.assignment() & set(ends)
    return bool(mine) and all(consumer.position(tp) >= ends[tp] for tp in mine)
