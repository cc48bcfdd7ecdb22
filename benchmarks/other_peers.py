"""The peers that are not Python: Kafka's own performance tools on a JVM, and franz-go's fake cluster.

Used by benchmarks/compare.py. Both say their figures themselves, so that the start of their process does not count,
except where the start is what is measured. A peer that is not there raises NotImplementedError with one sentence.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

from benchmarks import contender
from pykclient.testing import kafka_runtime

JAVA = "java"
KFAKE = "kfake"
BUILD_TIMEOUT_S = 240.0
JAVA_HEAP_MB = 512
LATENCY_RECORDS = 2000
# The other users of these flags want a quick start; here the compiler that makes fast code has to be there.
JVM = ("-XX:TieredStopAtLevel=4",)
SLOW_CODECS = {"gzip": 0.4}
"""Fewer records for them, so that every codec takes about as long."""


@dataclass(frozen=True)
class Amount:
    """How much a Java tool is to do; they count records, not seconds."""

    servers: str
    records: int
    backlog_records: int
    seconds: float


def java(measure: str, codec: str, amount: Amount, timeout_s: float) -> dict[str, float]:
    """One of Kafka's own tools."""
    if (problem := kafka_runtime.java_missing()) is not None:
        raise NotImplementedError(problem)
    if measure == "produce":
        return _java_produce(codec, amount, timeout_s)
    if measure == "consume-batches":
        found = _java_consume(f"compare-{codec}", amount.servers, amount.records, timeout_s)
        return {"records_per_s": found["records_per_s"]}
    if measure == "memory":
        found = _java_consume("compare-backlog", amount.servers, amount.backlog_records, timeout_s)
        return {"mb": found["mb"]}
    if measure == "first-record":
        began = time.perf_counter()
        _producer_tool("none", amount.servers, 1, timeout_s)
        return {"ms": (time.perf_counter() - began) * 1000}
    if measure == "latency":
        return _java_latency(amount.servers, timeout_s)
    raise NotImplementedError("Kafka has no tool for it")


def _run(class_name: str, words: list[str], timeout_s: float) -> tuple[str, float]:
    """What the tool printed, and the most memory it had, in MB."""
    command = kafka_runtime.java_command(class_name, words, heap_mb=JAVA_HEAP_MB, jvm=JVM)
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as problems:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=problems)
        try:
            peak_mb = _wait(process, timeout_s)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        problems.seek(0)
        text = output.read()
        if process.returncode:
            said = (problems.read() or text).strip().splitlines() or ["nothing"]
            raise RuntimeError(f"{class_name.rpartition('.')[2]} ended with {process.returncode}: {said[-1]}")
        return text, peak_mb


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> float:
    """Wait for the end; how much memory the process had at most is to be read while it is there."""
    status, peak_mb = pathlib.Path(f"/proc/{process.pid}/status"), 0.0
    end_at = time.monotonic() + timeout_s
    while process.poll() is None:
        if time.monotonic() > end_at:
            raise subprocess.TimeoutExpired(process.args, timeout_s)
        with contextlib.suppress(OSError, IndexError):  # it has just ended, or this system has no such file
            peak_mb = int(status.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) / 1024
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    return peak_mb


def _producer_tool(codec: str, servers: str, records: int, timeout_s: float) -> str:
    properties = [f"bootstrap.servers={servers}", f"compression.type={codec}", "linger.ms=5", "acks=all"]
    words = ["--topic", "compare-sink", "--num-records", str(records), "--throughput", "-1"]
    words += ["--payload-file", str(_payload()), "--producer-props", *properties]
    return _run("org.apache.kafka.tools.ProducerPerformance", words, timeout_s)[0]


@functools.cache
def _payload() -> pathlib.Path:
    path = pathlib.Path(tempfile.mkdtemp(prefix="pykclient-compare-")) / "values"
    path.write_bytes(b"\n".join(contender.values_of(100)))
    return path


def forget() -> None:
    """Remove what was made for the tools."""
    if _payload.cache_info().currsize:
        shutil.rmtree(_payload().parent, ignore_errors=True)
        _payload.cache_clear()


def _java_produce(codec: str, amount: Amount, timeout_s: float) -> dict[str, float]:
    records = int(amount.records * SLOW_CODECS.get(codec, 1.0))
    output = _producer_tool(codec, amount.servers, records, timeout_s)
    match = re.search(r"records sent, ([\d.]+) records/sec", output.strip().splitlines()[-1])
    if match is None:
        raise RuntimeError(f"ProducerPerformance said {output[-200:]!r}")
    return {"records_per_s": float(match.group(1))}


def _java_consume(topic: str, servers: str, records: int, timeout_s: float) -> dict[str, float]:
    words = ["--bootstrap-server", servers, "--topic", topic, "--num-records", str(records)]
    output, peak_mb = _run("org.apache.kafka.tools.ConsumerPerformance", words, timeout_s)
    lines = [line for line in output.splitlines() if line.count(",") > 5]
    if len(lines) < 2:
        raise RuntimeError(f"ConsumerPerformance said {output[-200:]!r}")
    named = dict(zip((part.strip() for part in lines[0].split(",")), lines[-1].split(","), strict=False))
    return {"records_per_s": float(named["fetch.nMsg.sec"]), "mb": peak_mb}


def _java_latency(servers: str, timeout_s: float) -> dict[str, float]:
    words = ["--bootstrap-server", servers, "--topic", "compare-sink", "--num-records", str(LATENCY_RECORDS)]
    output, _ = _run(
        "org.apache.kafka.tools.EndToEndLatency",
        [*words, "--producer-acks", "all", "--record-size", "100"],
        timeout_s,
    )
    match = re.search(r"50th = (\d+), 99th = (\d+), 99.9th = (\d+)", output)
    if match is None:
        raise RuntimeError(f"EndToEndLatency said {output[-200:]!r}")
    return dict(zip(("p50_ms", "p99_ms", "p99.9_ms"), map(float, match.groups()), strict=True))


# ---- kfake ----


def kfake(measure: str) -> dict[str, float]:
    """franz-go's in-process cluster, started and written to by franz-go."""
    if measure != "embedded":
        raise NotImplementedError("is a broker for tests only")
    done = subprocess.run([_kfake_program()], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    found: dict[str, float] = json.loads(done.stdout)
    return found


@functools.cache
def _kfake_program() -> str:
    if shutil.which("go") is None:
        raise NotImplementedError("there is no go command")
    program = kafka_runtime.cache_directory().parent / "kfake-start"
    source = pathlib.Path(__file__).parent / "kfake"
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false"}
    try:
        built = subprocess.run(
            ["go", "build", "-o", str(program), "."],
            cwd=source, env=environment, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotImplementedError("go took too long to build it") from None
    if built.returncode:
        raise NotImplementedError("go could not build it (no network?)")
    return str(program)
