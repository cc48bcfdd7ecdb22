"""``pykclient demo``: the main job on the embedded default, end to end, with its totals checked.

Starts a cluster in this process, sends a stream of orders in transactions and without, reads it back as a group of two,
and says whether every record came through once. Needs nothing but this package.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections import Counter
from random import Random

from pykclient.consumer.consumer import KafkaConsumer
from pykclient.producer.producer import KafkaProducer
from pykclient.protocol.accel import accelerated
from pykclient.testing import EmbeddedCluster

SUMMARY = "start an embedded cluster, send and read a stream of orders, check the totals"

TOPIC = "orders"
PARTITIONS = 6
READERS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much, and which brokers."""
    parser.add_argument("--records", type=int, default=100_000, help="orders to send (default %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="seed of the made-up orders (default %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Run it; 0 when the totals agree."""
    began = time.perf_counter()
    # Members learn of each other by heartbeats; the five seconds of a real cluster would only make the demo wait.
    with EmbeddedCluster(brokers=3, topics={TOPIC: PARTITIONS}, group_consumer_heartbeat_interval_ms=100) as cluster:
        print(
            f"1. A cluster of {len(cluster.nodes)} brokers was ready in {(time.perf_counter() - began) * 1000:.0f} ms."
        )
        print(f"   Any Kafka client can use it at {cluster.bootstrap_servers}")
        print(f"   Records are encoded by {'native code' if accelerated else 'pure Python (no C extension)'}.")
        sent, seconds = _send(cluster.bootstrap_servers, arguments.records, Random(arguments.seed))
        rate = arguments.records / seconds
        print(f"2. {arguments.records:,} orders sent and acknowledged in {seconds:.1f} s ({rate:,.0f} a second).")
        cancelled = _cancelled_transaction(cluster.bootstrap_servers)
        print(f"3. {cancelled} orders sent in a transaction that was aborted: nobody may see them.")
        received, seconds = _read(cluster.bootstrap_servers, arguments.records)
        rate = sum(received.values()) / seconds
        print(f"4. Read back by a group of {READERS} in {seconds:.1f} s ({rate:,.0f} a second):")
        for name, count in sorted(received.items()):
            print(f"   {name:<12}{count:>10,} orders   {'#' * round(30 * count / max(received.values()))}")
    agree = received == sent
    print("5. Totals agree: every order came through once." if agree else "5. TOTALS DIFFER: please report this bug.")
    return 0 if agree else 1


def _send(servers: str, records: int, random: Random) -> tuple[Counter[str], float]:
    """Send made-up orders keyed by customer; gives orders per product and the time it took."""
    products = ("apples", "bread", "cheese", "dates", "eggs")
    sent: Counter[str] = Counter()
    began = time.perf_counter()
    with KafkaProducer(bootstrap_servers=servers, key_serializer="string", compression_type="lz4") as producer:
        for number in range(records):
            product = random.choice(products)
            sent[product] += 1
            order = {"order": number, "product": product, "amount": random.randint(1, 9)}
            producer.send(TOPIC, json.dumps(order).encode(), key=f"customer-{random.randint(1, 500)}")
        producer.flush(60)
    return sent, time.perf_counter() - began


def _cancelled_transaction(servers: str) -> int:
    with KafkaProducer(bootstrap_servers=servers, transactional_id="demo") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for number in range(100):
            producer.send(TOPIC, json.dumps({"order": -number, "product": "phantom", "amount": 1}).encode())
        producer.flush(30)
        producer.abort_transaction()
    return 100


def _read(servers: str, records: int) -> tuple[Counter[str], float]:
    """Read with a group; stops when all are there, or when nothing comes for a while."""
    totals: Counter[str] = Counter()
    door = threading.Lock()
    done = threading.Event()

    def read() -> None:
        with KafkaConsumer(
            TOPIC,
            bootstrap_servers=servers,
            group_id="demo",
            group_protocol="auto",
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer:
            while not done.is_set():
                polled = consumer.poll(0.2)
                counts = Counter(json.loads(record.value)["product"] for record in polled.records())
                with door:
                    totals.update(counts)
                    if sum(totals.values()) >= records:
                        done.set()

    began = time.perf_counter()
    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    done.wait(60)
    seconds = time.perf_counter() - began
    done.set()
    for reader in readers:
        reader.join()
    return totals, seconds
