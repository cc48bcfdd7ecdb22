"""Reading to the end always ends: over gaps that compaction left, over markers and aborted transactions, also when they
are the last there is. Every way of reading, embedded broker and Apache Kafka, both isolation levels."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from pykclient.admin import NewTopic
from pykclient.aio import AsyncKafkaConsumer
from pykclient.testing import EmbeddedCluster
from pykclient.testing.real_kafka import RealKafka, available
from tests.integration.consumer.support import QUICK

pytestmark = pytest.mark.timeout(120)
TOPIC = "compacted"
WHERE = TopicPartition(TOPIC, 0)
KEYS = 5
# Every batch a segment of its own, and whatever is not in the last one may go.
COMPACT = {
    "cleanup.policy": "compact",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0",
    "delete.retention.ms": "600000",
}
CLEANER = {"log.cleaner.backoff.ms": "50", "log.cleaner.dedupe.buffer.size": "4194304"}
# A poll that goes on waiting after the position has moved waits this long, and the test sees it.
PATIENCE_S = 25.0


class CompactedLog(NamedTuple):
    """A log after compaction."""

    servers: str
    kept: list[int]
    """Offsets that are still there, for everybody."""
    end: int


def write(servers: str) -> CompactedLog:
    """Five keys again and again; then one transaction that commits and one that does not, so that the log ends with a
    gap and a marker."""
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics([NewTopic(TOPIC, 1, configs=COMPACT)])
    written: dict[bytes, int] = {}
    with KafkaProducer(bootstrap_servers=servers, linger_ms=0) as producer:
        for number in range(40):
            key = b"%d" % (number % KEYS)
            written[key] = producer.send(TOPIC, b"x" * 100, key=key, partition=0).result(20).offset
    with KafkaProducer(bootstrap_servers=servers, linger_ms=0, transactional_id="t") as producer:
        producer.init_transactions()
        for commit in (True, False):
            producer.begin_transaction()
            offset = producer.send(TOPIC, b"y" * 100, key=b"1", partition=0).result(20).offset
            time.sleep(0.005)  # longer than a segment lasts: the marker shall have one of its own
            if commit:
                written[b"1"] = offset
                producer.commit_transaction()
            else:
                producer.abort_transaction()
    # 40 records, two transactions of a record and a marker each. The last marker is the active segment.
    return CompactedLog(servers, sorted(written.values()), 44)


def compacted(servers: str) -> CompactedLog:
    """Written, and read again and again (each time to the end) until nothing is left but what must be."""
    log = write(servers)
    give_up_at = time.monotonic() + 60
    while (found := by_poll(log, "read_uncommitted", 0)) != log.kept:
        assert time.monotonic() < give_up_at, f"not compacted in time: {found}"
    return log


@pytest.fixture(scope="module")
def embedded() -> Iterator[CompactedLog]:
    with EmbeddedCluster(seed=5, log_cleaner_backoff_ms=50) as cluster:
        yield compacted(cluster.bootstrap_servers)


@pytest.fixture(scope="module")
def real() -> Iterator[CompactedLog]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    with RealKafka(config=CLEANER) as kafka:
        yield compacted(kafka.bootstrap_servers)


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real_kafka)])
def log(request: pytest.FixtureRequest) -> CompactedLog:
    found: CompactedLog = request.getfixturevalue(request.param)
    return found


@pytest.fixture(autouse=True)
def no_faults_left() -> None:
    """There are none to clear here."""


# ---- ways of reading: each gives the offsets it saw, and returns when the position is at the end ----


def options(log: CompactedLog, isolation: str) -> dict[str, Any]:
    return QUICK | {"bootstrap_servers": log.servers, "isolation_level": isolation}


def by_poll(log: CompactedLog, isolation: str, start: int) -> list[int]:
    with KafkaConsumer(**options(log, isolation)) as consumer:
        consumer.assign([WHERE])
        consumer.seek(WHERE, start)
        seen: list[int] = []
        while consumer.position(WHERE) < log.end:
            seen += [record.offset for record in consumer.poll(PATIENCE_S).records()]
        return seen


def by_iteration(log: CompactedLog, isolation: str, start: int) -> list[int]:
    """The loop itself has no end: it is left after the last record, and what lies behind is polled over."""
    with KafkaConsumer(**options(log, isolation)) as consumer:
        consumer.assign([WHERE])
        consumer.seek(WHERE, start)
        seen: list[int] = []
        if start <= log.kept[-1]:
            for record in consumer:
                seen.append(record.offset)
                if record.offset >= log.kept[-1]:
                    break
        while consumer.position(WHERE) < log.end:
            seen += [record.offset for record in consumer.poll(PATIENCE_S).records()]
        return seen


def by_arrow(log: CompactedLog, isolation: str, start: int) -> list[int]:
    with KafkaConsumer(**options(log, isolation)) as consumer:
        consumer.assign([WHERE])
        consumer.seek(WHERE, start)
        seen: list[int] = []
        while consumer.position(WHERE) < log.end:
            seen += consumer.poll_arrow(PATIENCE_S)["offset"].to_pylist()
        return seen


def by_arrow_until(log: CompactedLog, isolation: str, start: int) -> list[int]:
    with KafkaConsumer(**options(log, isolation)) as consumer:
        consumer.assign([WHERE])
        consumer.seek(WHERE, start)
        seen: list[int] = []
        while consumer.position(WHERE) < log.end:
            seen += consumer.poll_arrow(PATIENCE_S, until={WHERE: log.end})["offset"].to_pylist()
        assert consumer.poll_arrow(PATIENCE_S, until={WHERE: log.end}).num_rows == 0, "there already: at once"
        return seen


def by_asyncio(log: CompactedLog, isolation: str, start: int) -> list[int]:
    async def read() -> list[int]:
        async with AsyncKafkaConsumer(**options(log, isolation)) as consumer:
            await consumer.assign([WHERE])
            consumer.seek(WHERE, start)
            seen: list[int] = []
            while await consumer.position(WHERE) < log.end:
                seen += [record.offset for record in (await consumer.poll(PATIENCE_S)).records()]
            return seen

    return asyncio.run(read())


def by_asyncio_arrow(log: CompactedLog, isolation: str, start: int) -> list[int]:
    async def read() -> list[int]:
        async with AsyncKafkaConsumer(**options(log, isolation)) as consumer:
            await consumer.assign([WHERE])
            consumer.seek(WHERE, start)
            seen: list[int] = []
            while await consumer.position(WHERE) < log.end:
                seen += (await consumer.poll_arrow(PATIENCE_S))["offset"].to_pylist()
            return seen

    return asyncio.run(read())


def by_asyncio_iteration(log: CompactedLog, isolation: str, start: int) -> list[int]:
    async def read() -> list[int]:
        async with AsyncKafkaConsumer(**options(log, isolation)) as consumer:
            await consumer.assign([WHERE])
            consumer.seek(WHERE, start)
            seen: list[int] = []
            if start <= log.kept[-1]:
                async for record in consumer:
                    seen.append(record.offset)
                    if record.offset >= log.kept[-1]:
                        break
            while await consumer.position(WHERE) < log.end:
                seen += [record.offset for record in (await consumer.poll(PATIENCE_S)).records()]
            return seen

    return asyncio.run(read())


WAYS = [
    by_poll,
    by_iteration,
    by_arrow,
    by_arrow_until,
    by_asyncio,
    by_asyncio_arrow,
    by_asyncio_iteration,
]


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_reading_to_the_end_of_a_compacted_log_ends(
    log: CompactedLog, way: Callable[[CompactedLog, str, int], list[int]], isolation: str
) -> None:
    with KafkaConsumer(**options(log, isolation)) as consumer:
        assert consumer.end_offsets([WHERE])[WHERE] == log.end
    # The beginning, the middle of a gap, a record, and the gap at the very end.
    for start in (0, 10, log.kept[0], log.end - 2, log.end - 1):
        began_at = time.monotonic()
        assert way(log, isolation, start) == [offset for offset in log.kept if offset >= start], start
        assert time.monotonic() - began_at < PATIENCE_S, "a poll waited although the position had moved"
