"""``pykclient produce``: lines of text, or JSON lines, become records.

Runs on the command's thread; deliveries are counted on the producer's. A record that was not delivered makes the
command fail: it never says less than the truth about what was stored.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pykclient.cli.connect import add_connection, client_options
from pykclient.cli.records import Outgoing, from_json, from_line
from pykclient.cli.screen import Progress, print_json
from pykclient.cli.usage import Usage, counted, pairs, unescape
from pykclient.config import ProducerConfig
from pykclient.errors import KafkaError
from pykclient.producer.producer import KafkaProducer
from pykclient.types import Headers, RecordMetadata

EXAMPLES = """\
  echo hello | pykclient produce orders
  pykclient produce orders --file orders.txt --key-separator :
  pykclient produce orders --file orders.jsonl --json-lines --compression zstd
  pykclient consume orders --to-end --json \\
    | pykclient produce copy --json-lines --any-partition"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, from where, and how a line is read."""
    parser.add_argument("topic", help="the topic to send to")
    parser.add_argument("-f", "--file", type=Path, help="read this file instead of standard input")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("-k", "--key-separator", metavar="TEXT", help=r"a line is KEY TEXT VALUE (\t for a tab)")
    kind.add_argument(
        "--json-lines",
        action="store_true",
        help='a line is an object: {"key": ..., "value": ..., "headers": {...}, "partition": ..., "timestamp": ...}',
    )
    parser.add_argument("--null", metavar="TEXT", help="a key or value equal to TEXT is null: a tombstone")
    parser.add_argument(
        "-H", "--header", action="append", default=[], metavar="NAME=VALUE", help="for every record; may be repeated"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-p", "--partition", type=int, help="send everything to this partition")
    where.add_argument("--any-partition", action="store_true", help="by the key, also where a JSON line names one")
    parser.add_argument("--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), help="codec for batches")
    parser.add_argument("--quiet", action="store_true", help="no progress, no summary")
    add_connection(parser)


class Tally:
    """What became of the records. Counted on the producer's thread, read on ours when all is done."""

    def __init__(self) -> None:
        self._door = threading.Lock()
        self.delivered = 0
        self.failed = 0
        self.first_error: Exception | None = None

    def __call__(self, metadata: RecordMetadata | None, error: Exception | None) -> None:
        with self._door:
            if error is None:
                self.delivered += 1
            else:
                self.failed += 1
                self.first_error = self.first_error or error


def run(arguments: argparse.Namespace) -> int:
    """Send until the input ends; 1 when a record was not delivered."""
    headers: Headers = [(name, value.encode()) for name, value in pairs(arguments.header, "--header").items()]
    limit_ms = max(1, int(arguments.timeout * 1000))
    ours: dict[str, object] = {"client_id": "pykclient-produce", "max_block_ms": limit_ms}
    if arguments.compression is not None:
        ours["compression_type"] = arguments.compression
    options = client_options(arguments, ProducerConfig, **ours)
    tally = Tally()
    with _input(arguments.file) as lines, Progress("sent", quiet=arguments.quiet) as progress:
        with KafkaProducer(options) as producer:
            for number, record in enumerate(_read(lines, arguments)):
                try:
                    producer.send(
                        arguments.topic,
                        record.value,
                        key=record.key,
                        headers=[*headers, *record.headers] or None,
                        partition=_partition(record, arguments),
                        timestamp_ms=record.timestamp,
                        on_delivery=tally,
                    )
                except KafkaError as error:
                    if not number:
                        raise
                    tally(None, error)  # after others, which may have been delivered: that must be said
                progress.advance()
                if tally.first_error is not None:
                    break
            producer.flush()
        seconds = progress.seconds
    return _report(arguments, tally, seconds)


def _partition(record: Outgoing, arguments: argparse.Namespace) -> int | None:
    if arguments.any_partition:
        return None
    named: int | None = record.partition if arguments.partition is None else arguments.partition
    return named


def _report(arguments: argparse.Namespace, tally: Tally, seconds: float) -> int:
    if arguments.json:
        error = None if tally.first_error is None else str(tally.first_error)
        print_json(
            {
                "topic": arguments.topic,
                "delivered": tally.delivered,
                "failed": tally.failed,
                "seconds": round(seconds, 3),
                "error": error,
            }
        )
    elif tally.failed == 0 and not arguments.quiet:
        print(
            f"{counted(tally.delivered, 'record')} delivered to {arguments.topic} in {seconds:.1f} s", file=sys.stderr
        )
    if tally.failed:
        print(
            f"pykclient produce: {tally.failed:,} records were not delivered ({tally.delivered:,} were): "
            f"{tally.first_error}",
            file=sys.stderr,
        )
        return 1
    return 0


@contextmanager
def _input(path: Path | None) -> Iterator[TextIO]:
    if path is not None:
        # Bytes that are no UTF-8 go through unchanged.
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            yield file
        return
    if sys.stdin.isatty():
        print("one record per line; Ctrl-D ends", file=sys.stderr)
    elif hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    yield sys.stdin


def _read(lines: TextIO, arguments: argparse.Namespace) -> Iterator[Outgoing]:
    separator = None if arguments.key_separator is None else unescape(arguments.key_separator)
    if separator == "":
        raise Usage("--key-separator is empty")
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n") if line.endswith("\r\n") else line.rstrip("\n")
        try:
            if arguments.json_lines:
                if text.strip():
                    yield from_json(text)
            else:
                yield from_line(text, key_separator=separator, null=arguments.null)
        except Usage as error:
            raise Usage(f"line {number}: {error.message}") from None
