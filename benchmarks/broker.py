"""What the embedded broker can do: start-up, throughput with a native client, and what it costs when nothing
happens.

python benchmarks/broker.py [--quick] [--data-dir DIR]

The broker runs as a process of its own (``python -m pykclient broker``), so that its CPU time is its own; the
client is confluent-kafka (librdkafka). Prints one table. Numbers are the broker's: megabytes of record values per
second of wall time, and its share of one core.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
RECORD_BYTES = 100


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def broker_process(brokers: int = 1, data_dir: str | None = None) -> Iterator[tuple[int, str]]:
    """A broker as a process: its pid and its address."""
    with tempfile.TemporaryDirectory() as directory:
        ready = Path(directory) / "ready"
        command = [sys.executable, "-m", "pykclient", "broker", "--port", "0", "--brokers", str(brokers)]
        command += ["--ready-file", str(ready)] + (["--data-dir", data_dir] if data_dir else [])
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not ready.exists():
                if process.poll() is not None:
                    raise SystemExit("the broker did not start")
                time.sleep(0.005)
            yield process.pid, ready.read_text().strip()
        finally:
            process.terminate()
            process.wait(10)


def start_up() -> None:
    """From the call to the first answered request, imports aside."""
    from pykclient.protocol.messages import ApiKey
    from pykclient.protocol.messages.metadata import MetadataRequest
    from pykclient.testing import EmbeddedCluster
    from tests.unit.raw_client import RawClient

    for brokers in (1, 3):
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            with EmbeddedCluster(brokers) as cluster, RawClient(cluster.bootstrap_servers) as client:
                client.ask(ApiKey.METADATA, MetadataRequest(topics=[]))
                times.append(time.perf_counter() - begin)
        row(f"ready, {brokers} broker(s)", f"{sorted(times)[5] * 1000:.1f} ms", f"worst {max(times) * 1000:.1f} ms")


def throughput(records: int, data_dir: str | None) -> None:
    """Produce and fetch with librdkafka."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    with broker_process(data_dir=data_dir) as (pid, address):
        producer = Producer(
            {
                "bootstrap.servers": address,
                "linger.ms": 50,
                "batch.size": 1_000_000,
                "queue.buffering.max.messages": 5_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
                "acks": "all",
                "batch.num.messages": 1_000_000,
            }
        )
        producer.list_topics("bench", timeout=10)
        value = b"x" * RECORD_BYTES
        produce = producer.produce
        # Filling librdkafka's queue from Python is slower than the broker; so the queue is filled first, paused by
        # linger.
        begin, cpu = time.perf_counter(), cpu_s(pid)
        for _ in range(records):
            produce("bench", value)
            producer.poll(0) if _ % 10_000 == 0 else None
        producer.flush(120)
        report("produce", records, time.perf_counter() - begin, cpu_s(pid) - cpu)
        consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "bench",
                "auto.offset.reset": "earliest",
                "fetch.max.bytes": 50_000_000,
                "max.partition.fetch.bytes": 10_000_000,
                "queued.max.messages.kbytes": 2_000_000,
                "queued.min.messages": 10_000_000,
            }
        )
        consumer.assign([TopicPartition("bench", 0, 0)])
        got, begin, cpu = 0, time.perf_counter(), cpu_s(pid)
        while got < records:
            got += len(consumer.consume(100_000, 1.0))
        report("fetch", records, time.perf_counter() - begin, cpu_s(pid) - cpu)
        consumer.close()


def java_throughput(records: int, libs: str, data_dir: str | None) -> None:
    """The same with Apache Kafka's own performance tools, whose client is not held back by Python."""
    with broker_process(data_dir=data_dir) as (pid, address):
        java = ["java", "-Xmx512m", "-cp", f"{libs}/*"]
        produce = [
            *java,
            "org.apache.kafka.tools.ProducerPerformance",
            "--topic",
            "bench",
            "--num-records",
            str(records),
            "--record-size",
            str(RECORD_BYTES),
            "--throughput",
            "-1",
            "--producer-props",
            f"bootstrap.servers={address}",
            "batch.size=500000",
            "linger.ms=20",
            "acks=all",
        ]
        consume = [
            *java,
            "org.apache.kafka.tools.ConsumerPerformance",
            "--bootstrap-server",
            address,
            "--topic",
            "bench",
            "--messages",
            str(records),
            "--fetch-size",
            "10000000",
        ]
        cpu = cpu_s(pid)
        output = subprocess.run(produce, capture_output=True, text=True, check=True).stdout
        rate = output.strip().splitlines()[-1].partition("(")[2].partition(" ")[0]
        tool_row("produce", rate, records, cpu_s(pid) - cpu)
        cpu = cpu_s(pid)
        output = subprocess.run(consume, capture_output=True, text=True, check=True).stdout
        columns = output.strip().splitlines()[-1].split(",")
        # fetch.MB.sec: without the time that joining the group took.
        tool_row("fetch", columns[8].strip(), records, cpu_s(pid) - cpu)


def tool_row(what: str, rate: str, records: int, broker_cpu_s: float) -> None:
    """A row from what a tool has printed (in MiB)."""
    megabytes = records * RECORD_BYTES / 1e6
    per_core = f"{megabytes / max(broker_cpu_s, 1 / TICKS):.0f} MB per second of broker CPU"
    row(f"{what}, Java client", f"{float(rate) * 1.048576:.0f} MB/s", per_core)


def report(what: str, records: int, wall_s: float, broker_cpu_s: float) -> None:
    """One row of the table; per core is what the broker could do if the client were not slower."""
    megabytes = records * RECORD_BYTES / 1e6
    row(
        f"{what}, {RECORD_BYTES}-byte records",
        f"{megabytes / wall_s:.0f} MB/s with this client",
        f"{megabytes / max(broker_cpu_s, 1 / TICKS):.0f} MB per second of broker CPU",
    )


def idle(seconds: float) -> None:
    """CPU of a broker with nothing to do, alone and with 1,000 connections."""
    with broker_process(brokers=3) as (pid, _):
        row("idle, 3 brokers", f"{share(pid, seconds):.2f} % of a core", "")
    with broker_process() as (pid, address):
        host, _, port = address.rpartition(":")
        connections = [socket.create_connection((host, int(port))) for _ in range(1000)]
        time.sleep(0.5)
        row("1,000 idle connections", f"{share(pid, seconds):.2f} % of a core", "")
        for connection in connections:
            connection.close()


def share(pid: int, seconds: float) -> float:
    """Per cent of a core that a process used over some seconds."""
    before = cpu_s(pid)
    time.sleep(seconds)
    return (cpu_s(pid) - before) / seconds * 100


def row(what: str, value: str, remark: str) -> None:
    """Print a row."""
    print(f"| {what:<28} | {value:<28} | {remark:<40} |", flush=True)


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data-dir")
    parser.add_argument("--java-libs", help="the folder with Apache Kafka's jars, to measure with its own tools too")
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    start_up()
    throughput(200_000 if arguments.quick else 2_000_000, arguments.data_dir)
    if arguments.java_libs:
        java_throughput(500_000 if arguments.quick else 5_000_000, arguments.java_libs, arguments.data_dir)
    idle(5 if arguments.quick else 20)


if __name__ == "__main__":
    main()
