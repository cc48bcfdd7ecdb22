"""A broker that is killed hard, again and again, loses nothing that it has acknowledged."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykclient.protocol.messages import ApiKey
from pykclient.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykclient.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from pykclient.protocol.messages.find_coordinator import FindCoordinatorRequest
from pykclient.protocol.messages.metadata import MetadataRequest
from pykclient.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykclient.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from pykclient.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykclient.protocol.records import decode_all, encode_batch
from tests.unit.raw_client import RawClient

ROUNDS, ROUNDS_IN_SHORT = 50, 15
PARTITIONS = 3
SEED = int(os.environ.get("PYKCLIENT_CRASH_SEED", "20260"))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to start brokers quickly")


class Forge:
    """Starts brokers on a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0
        self._pid: int | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.broker_forge"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def start(self) -> tuple[int, str]:
        """The process id and address of a broker that is ready."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        ready = self._directory / f"ready-{self._count}"
        self._process.stdin.write(f"{self._directory / 'data'} {ready}\n")
        self._process.stdin.flush()
        pid = self._pid = int(self._process.stdout.readline())
        end = time.monotonic() + 30
        while not ready.exists():
            assert time.monotonic() < end, "the broker did not come up"
            time.sleep(0.001)
        return pid, ready.read_text().strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._pid is not None:
            # Ours, and perhaps dead already.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    made = Forge(tmp_path)
    yield made
    made.close()


class Ledger:
    """What the broker has said it has."""

    def __init__(self) -> None:
        self.offsets: dict[tuple[int, int], bytes] = {}
        self.topics: set[str] = set()
        self.committed = -1
        self.batches = 0


def write_until_killed(address: str, ledger: Ledger, number: int) -> None:
    """Produce, commit and create until the connection breaks; note what was acknowledged."""
    try:
        with RawClient(address) as client:
            sequence = 0
            while True:
                partition = sequence % PARTITIONS
                values = [b"%d/%d/%d" % (number, sequence, index) for index in range(1 + sequence % 5)]
                batch = encode_batch([(1, None, value, None) for value in values])
                data = [TopicProduceData("t", partition_data=[PartitionProduceData(partition, batch)])]
                answer = client.ask(ApiKey.PRODUCE, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data), 9)
                result = answer.responses[0].partition_responses[0]
                assert result.error_code == 0
                for index, value in enumerate(values):
                    ledger.offsets[partition, result.base_offset + index] = value
                if sequence % 7 == 3:
                    commit(client, ledger, sequence + number * 10_000)
                if sequence == 13 and number % 3 == 0:
                    name = f"made-{number}-{sequence}"
                    request = CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1)])
                    if client.ask(ApiKey.CREATE_TOPICS, request).topics[0].error_code == 0:
                        ledger.topics.add(name)
                sequence += 1
                ledger.batches += 1
    except (OSError, ConnectionError):
        return


def commit(client: RawClient, ledger: Ledger, offset: int) -> None:
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
    request = OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, topics=topics)
    if client.ask(ApiKey.OFFSET_COMMIT, request, 9).topics[0].partitions[0].error_code == 0:
        ledger.committed = offset


def check(address: str, ledger: Ledger) -> None:
    """Everything acknowledged is there, at its place."""
    with RawClient(address) as client:
        names = {topic.name for topic in client.ask(ApiKey.METADATA, MetadataRequest(topics=None)).topics}
        assert ledger.topics <= names
        found: dict[tuple[int, int], bytes] = {}
        for partition in range(PARTITIONS):
            offset = 0
            while True:
                part = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 24)
                request = FetchRequest(max_bytes=1 << 24, topics=[FetchTopic("t", partitions=[part])])
                answer = client.ask(ApiKey.FETCH, request, 11).responses[0].partitions[0]
                assert answer.error_code == 0
                records = [r for _, batch in decode_all(answer.records or b"", "t", partition) for r in batch]
                if not records:
                    break
                for record in records:
                    found[partition, record.offset] = bytes(record.value or b"")
                offset = records[-1].offset + 1
        lost = {place for place, value in ledger.offsets.items() if found.get(place) != value}
        assert not lost, f"lost: {sorted(lost)[:10]}"
        if ledger.committed >= 0:
            client.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(coordinator_keys=["g"]))
            asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
            group = client.ask(ApiKey.OFFSET_FETCH, asked, 9).groups[0]
            assert group.topics[0].partitions[0].committed_offset >= ledger.committed


def test_kills_at_random_moments_lose_nothing_that_was_acknowledged(forge: Forge, full: bool) -> None:
    rounds = ROUNDS if full else ROUNDS_IN_SHORT
    rng = random.Random(SEED)
    ledger = Ledger()
    pid, address = forge.start()
    with RawClient(address) as client:
        client.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=[CreatableTopic("t", PARTITIONS, 1)]))
        client.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(coordinator_keys=["g"]))
    for number in range(rounds):
        writer = threading.Thread(target=write_until_killed, args=(address, ledger, number))
        before = ledger.batches
        writer.start()
        # At a moment of its own: after some acknowledged batches and a bit, so mostly in the middle of something.
        wanted = rng.randrange(60)
        while ledger.batches < before + wanted and writer.is_alive():
            time.sleep(0)
        end = time.perf_counter() + rng.random() * 0.003
        while time.perf_counter() < end:
            pass
        os.kill(pid, signal.SIGKILL)
        writer.join(20)
        assert not writer.is_alive()
        pid, address = forge.start()
        if number % 5 == 4 or number == rounds - 1:
            check(address, ledger)
    assert ledger.batches > rounds
    assert ledger.committed > 0
    assert ledger.topics
