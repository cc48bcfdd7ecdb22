"""What a record costs under asyncio, against the blocking clients: the same parts, so the loop's share is what differs.

python -m benchmarks.aio [--rounds 5] [--records 200000] [--bootstrap-servers HOST:PORT]

100-byte values, three partitions. Each row runs in a process of its own, pairs one after the other, round by round, so
that noise hits both alike. CPU is all of the client's process (user and system, all threads). ``batched`` means poll()
with its records by partition, and send_soon() with its futures looked at after a flush; ``one by one`` is
``async for`` against ``for``. The last column is blocking divided by asyncio: 100 % means that asyncio costs nothing.
Without --bootstrap-servers an embedded broker is started, in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

VALUE = b"x" * 100
TOPIC = "bench-aio"


def consumer_options(servers: str) -> dict[str, Any]:
    return {"bootstrap_servers": servers, "auto_offset_reset": "earliest", "max_poll_records": 5000}


def poll_blocking(servers: str, records: int) -> int:
    from pykclient import KafkaConsumer

    count = 0
    with KafkaConsumer(TOPIC, **consumer_options(servers)) as consumer:
        while count < records:
            for batch in consumer.poll(10).values():
                count += len(batch)
    return count


async def poll_asyncio(servers: str, records: int) -> int:
    from pykclient.aio import AsyncKafkaConsumer

    count = 0
    async with AsyncKafkaConsumer(TOPIC, **consumer_options(servers)) as consumer:
        while count < records:
            for batch in (await consumer.poll(10)).values():
                count += len(batch)
    return count


def loop_blocking(servers: str, records: int) -> int:
    from pykclient import KafkaConsumer

    count = 0
    with KafkaConsumer(TOPIC, **consumer_options(servers)) as consumer:
        for _ in consumer:
            count += 1
            if count == records:
                break
    return count


async def loop_asyncio(servers: str, records: int) -> int:
    from pykclient.aio import AsyncKafkaConsumer

    count = 0
    async with AsyncKafkaConsumer(TOPIC, **consumer_options(servers)) as consumer:
        async for _ in consumer:
            count += 1
            if count == records:
                break
    return count


def send_blocking(servers: str, records: int) -> int:
    from pykclient import KafkaProducer

    with KafkaProducer(bootstrap_servers=servers, linger_ms=5) as producer:
        futures = [producer.send(f"{TOPIC}-sent", VALUE) for _ in range(records)]
        producer.flush()
        return sum(future.exception(0) is None for future in futures)


async def send_asyncio(servers: str, records: int) -> int:
    from pykclient.aio import AsyncKafkaProducer

    async with AsyncKafkaProducer(bootstrap_servers=servers, linger_ms=5) as producer:
        futures = [await producer.send_soon(f"{TOPIC}-sent", VALUE) for _ in range(records)]
        await producer.flush()
        return sum(future.exception(0) is None for future in futures)


BLOCKING: dict[str, Callable[[str, int], int]] = {
    "consume, batched": poll_blocking,
    "consume, one by one": loop_blocking,
    "produce, batched": send_blocking,
}
ASYNCIO: dict[str, Callable[[str, int], Awaitable[int]]] = {
    "consume, batched": poll_asyncio,
    "consume, one by one": loop_asyncio,
    "produce, batched": send_asyncio,
}


def child(kind: str, row: str, servers: str, records: int) -> None:
    importlib.import_module("pykclient.aio")  # before the clock starts
    began = time.process_time()

    async def main() -> int:
        return await ASYNCIO[row](servers, records)

    count = asyncio.run(main()) if kind == "asyncio" else BLOCKING[row](servers, records)
    assert count == records, f"{count} of {records}"
    print(json.dumps(time.process_time() - began))


def measured(kind: str, row: str, servers: str, records: int) -> float:
    """Microseconds of CPU per record."""
    command = [sys.executable, "-m", "benchmarks.aio", "--child", kind, row, servers, str(records)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=pathlib.Path(__file__).parents[1], check=False
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr[-2000:])
    return float(json.loads(done.stdout)) / records * 1e6


def compare(servers: str, records: int, rounds: int) -> list[tuple[str, float, float, float]]:
    """(row, blocking, asyncio, ratio) with medians; the ratio is the median of the pairs' ratios."""
    from pykclient import KafkaProducer

    with KafkaProducer(bootstrap_servers=servers, linger_ms=5) as producer:
        for _ in range(records):
            producer.send(TOPIC, VALUE)
    rows = []
    for row in BLOCKING:
        pairs = []
        for number in range(rounds):
            order = ("blocking", "asyncio") if number % 2 == 0 else ("asyncio", "blocking")
            took = {kind: measured(kind, row, servers, records) for kind in order}
            pairs.append((took["blocking"], took["asyncio"]))
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        rows.append((row, statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), ratio))
    return rows


def main() -> None:
    if len(sys.argv) == 6 and sys.argv[1] == "--child":
        child(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--bootstrap-servers")
    chosen = parser.parse_args()
    broker = None
    servers = chosen.bootstrap_servers
    if servers is None:
        script = (
            "import sys; from pykclient.testing import EmbeddedCluster\n"
            f"with EmbeddedCluster(topics={{'{TOPIC}': 3, '{TOPIC}-sent': 3}}) as cluster:\n"
            "    print(cluster.bootstrap_servers, flush=True); sys.stdin.read()"
        )
        broker = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert broker.stdout is not None
        servers = broker.stdout.readline().strip()
    try:
        rows = compare(servers, chosen.records, chosen.rounds)
    finally:
        if broker is not None:
            broker.communicate()
    print(f"{chosen.records} records of {len(VALUE)} bytes, medians of {chosen.rounds} interleaved rounds.\n")
    print("| | blocking | asyncio | blocking / asyncio |\n| --- | ---: | ---: | ---: |")
    for row, blocking, awaited, ratio in rows:
        print(f"| {row} | {blocking:.2f} us | {awaited:.2f} us | {ratio * 100:.0f} % |")


if __name__ == "__main__":
    main()
