"""``pykclient demo``: the main job on the embedded default, end to end, with its totals checked.

Starts a cluster in this process, sends a stream of orders, aborts a transaction, lets Spark count (where Spark and Java
are there), reads everything back as a group of two, draws throughput and lag, and says whether every record came
through once. Needs nothing but this package.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.cli.demo_spark import missing, run_pipeline
from pykclient.cli.plot import Series, page, rates, sparkline
from pykclient.cli.screen import Progress, table
from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import GroupIdNotFound
from pykclient.producer.producer import KafkaProducer
from pykclient.protocol.accel import accelerated
from pykclient.testing import EmbeddedCluster
from pykclient.types import TopicPartition

EXAMPLES = """\
  pykclient demo
  pykclient demo --records 1000000 --no-spark --report demo.html"""

TOPIC, RESULT = "orders", "totals"
PARTITIONS = 6
READERS = 2
LOOK_S = 0.1
PRODUCTS = ("apples", "bread", "cheese", "dates", "eggs")
BEGIN_MS = 1_760_000_000_000
"""The orders' own time, the same in every run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much of it."""
    parser.add_argument("--records", type=int, default=100_000, help="orders to send (default %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="seed of the made-up orders (default %(default)s)")
    parser.add_argument("--no-spark", action="store_true", help="leave Spark out even if it is installed")
    parser.add_argument("--report", type=Path, help="where the page with the plots goes (default: a temporary folder)")


def run(arguments: argparse.Namespace) -> int:
    """Run it; 0 when the totals agree."""
    began = time.perf_counter()
    # Members learn of each other by heartbeats; the five seconds of a real cluster would only make the demo wait.
    with EmbeddedCluster(
        brokers=3, topics={TOPIC: PARTITIONS, RESULT: 2}, group_consumer_heartbeat_interval_ms=100
    ) as cluster:
        ready_ms = (time.perf_counter() - began) * 1000
        print(f"1. A cluster of {len(cluster.nodes)} brokers was ready in {ready_ms:.0f} ms.")
        print(f"   Any Kafka client can use it at {cluster.bootstrap_servers}")
        print(f"   Records are encoded by {'native code' if accelerated else 'pure Python (no C extension)'}.")
        story = _Story(cluster.bootstrap_servers, arguments)
        story.send()
        story.abort()
        counted = story.spark()
        story.read()
        agree = story.tell() and counted
    print("Totals agree: every order came through once." if agree else "TOTALS DIFFER: please report this bug.")
    return 0 if agree else 1


class _Story:
    """The stages, in order, and what they found."""

    def __init__(self, servers: str, arguments: argparse.Namespace) -> None:
        self._servers = servers
        self._arguments = arguments
        self._sent: Counter[str] = Counter()
        self._received: Counter[str] = Counter()
        self._sending = Series("Sending", "records/s")
        self._reading = Series("Reading", "records/s")
        self._lag = Series("Lag of the group", "records")

    def send(self) -> None:
        """Made-up orders, keyed by customer."""
        records, random = self._arguments.records, Random(self._arguments.seed)
        looks: list[tuple[float, float]] = [(0.0, 0.0)]
        with (
            Progress("sending", records) as progress,
            KafkaProducer(bootstrap_servers=self._servers, key_serializer="string", compression_type="lz4") as producer,
        ):
            for number in range(records):
                product = random.choice(PRODUCTS)
                self._sent[product] += 1
                order = {
                    "order": number,
                    "product": product,
                    "amount": random.randint(1, 9),
                    "at_ms": BEGIN_MS + number * 10,
                }
                producer.send(TOPIC, json.dumps(order).encode(), key=f"customer-{random.randint(1, 500)}")
                progress.advance()
                if number % 100 == 0 and progress.seconds - looks[-1][0] >= LOOK_S:
                    looks.append((progress.seconds, number + 1))
            producer.flush(60)
            seconds = progress.seconds
        looks.append((seconds, records))
        self._sending = rates("Sending", "records/s", looks)
        print(f"2. {records:,} orders sent and acknowledged in {seconds:.1f} s ({records / seconds:,.0f} a second).")

    def abort(self) -> None:
        """Records that nobody may see."""
        with KafkaProducer(bootstrap_servers=self._servers, transactional_id="demo") as producer:
            producer.init_transactions()
            producer.begin_transaction()
            for number in range(100):
                phantom = {"order": -number, "product": "phantom", "amount": 1, "at_ms": BEGIN_MS}
                producer.send(TOPIC, json.dumps(phantom).encode())
            producer.flush(30)
            producer.abort_transaction()
        print("3. 100 orders sent in a transaction that was aborted: nobody may see them.")

    def spark(self) -> bool:
        """Count with Spark, read its result with a group; whether it counted right (or was not asked to)."""
        wanted = None if self._arguments.no_spark else missing()
        if self._arguments.no_spark or wanted is not None:
            print("4. Spark was left out." if wanted is None else f"4. Spark was left out; to see it: {wanted}.")
            return True
        print("   Spark is started and counts; half a minute on an idle machine.", flush=True)
        began = time.perf_counter()
        run_pipeline(self._servers, TOPIC, RESULT)
        seconds = time.perf_counter() - began
        counted: Counter[str] = Counter()
        rows = 0
        for value in _read_group(self._servers, RESULT, "demo-result", self._end_reached(RESULT)):
            rows += 1
            counted[value["product"]] += value["orders"]
        right = counted == self._sent
        print(
            f"4. Spark counted them per minute and product ({rows} counts, written exactly once) in {seconds:.0f} s: ",
            end="",
        )
        print("as many as were sent." if right else f"{sum(counted.values()):,}, which is WRONG.")
        return right

    def _end_reached(self, topic: str) -> Callable[[int], bool]:
        """True once a group has committed everything a reader may see."""
        with KafkaAdminClient(bootstrap_servers=self._servers) as admin:
            count = len(admin.describe_topics(topic)[topic].partitions)
            tps = [TopicPartition(topic, number) for number in range(count)]
            ends = admin.list_offsets(dict.fromkeys(tps, "latest"), read_committed=True)
            total = sum(found.offset for found in ends.succeeded.values())
        end = time.monotonic() + 20

        # Offsets also count the markers of transactions, so quiet for a moment with records seen is the end.
        last = [0, time.monotonic()]

        def reached(seen: int) -> bool:
            if seen != last[0]:
                last[:] = [seen, time.monotonic()]
            quiet = time.monotonic() - last[1] > 2.0
            return seen >= total or (seen > 0 and quiet) or time.monotonic() > end

        return reached

    def read(self) -> None:
        """Read the orders back as a group, and watch its lag meanwhile."""
        records = self._arguments.records
        looks: list[tuple[float, float]] = [(0.0, 0.0)]
        began = time.perf_counter()
        with KafkaAdminClient(bootstrap_servers=self._servers) as admin, Progress("reading", records) as progress:

            def watch(seen: int) -> bool:
                seconds = time.perf_counter() - began
                progress.advance(seen - progress.count)
                looks.append((seconds, seen))
                self._lag.add(seconds, _lag_of(admin, records))
                return seen >= records or seconds > 60

            values = _read_group(self._servers, TOPIC, "demo", watch)
        self._received = Counter(value["product"] for value in values)
        self._reading = rates("Reading", "records/s", looks)
        seconds = time.perf_counter() - began
        print(f"5. Read back by a group of {READERS} in {seconds:.1f} s ({len(values) / seconds:,.0f} a second).")

    def tell(self) -> bool:
        """The table and the plots; whether what came is what went."""
        rows = [
            (
                name,
                self._sent[name],
                self._received[name],
                "#" * round(20 * self._received[name] / max(self._sent.values())),
            )
            for name in sorted({*self._sent, *self._received})
        ]
        table(("product", "sent", "received", ""), rows)
        for series in (self._sending, self._reading, self._lag):
            line = sparkline([value for _, value in series.points])
            print(f"   {series.title:<17} {line}  peak {series.peak:,.0f} {series.unit}")
        report = self._arguments.report or Path(tempfile.gettempdir()) / "pykclient-demo.html"
        lines = [f"{sum(self._sent.values()):,} orders sent, {sum(self._received.values()):,} received."]
        report.write_text(page("pykclient demo", (self._sending, self._reading, self._lag), lines), encoding="utf-8")
        print(f"   The same as a page: {report}")
        return self._received == self._sent


def _lag_of(admin: KafkaAdminClient, records: int) -> int:
    """What the group has not committed; before its first commit, and before its first member, that is everything."""
    try:
        lag = admin.lag("demo", with_age=False).succeeded
    except GroupIdNotFound:
        return records
    return sum(each.end - each.start if each.lag is None else each.lag for each in lag.values()) if lag else records


def _read_group(servers: str, topic: str, group: str, enough: Callable[[int], bool]) -> list[Any]:
    """Read with a group of two threads until ``enough(count)``, which is asked a few times a second."""
    values: list[Any] = []
    done = threading.Event()

    def read() -> None:
        with KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            group_protocol="auto",
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            auto_commit_interval_ms=100,
        ) as consumer:
            while not done.is_set():
                values.extend([json.loads(record.value) for record in consumer.poll(0.1).records()])

    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        while not enough(len(values)):
            done.wait(LOOK_S)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    return values
