"""Transactions when coordinator and partitions live on different brokers of an embedded cluster of three."""

from __future__ import annotations

import gc
import uuid
from collections.abc import Iterator

import pytest

from pykclient.testing import EmbeddedCluster
from tests.interop.clients import CLIENTS, Client, Message, Read, opened, poll_all, wait_until

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(120)]

PARTITIONS = 6


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3, group_initial_rebalance_delay_ms=0) as cluster:
        yield cluster


@pytest.fixture
def client(request: pytest.FixtureRequest, cluster: EmbeddedCluster) -> Iterator[Client]:
    with opened(str(request.param), cluster.bootstrap_servers) as client:
        yield client
    gc.collect()


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "confluent-kip848"], indirect=True)
def test_transactions_over_all_brokers(client: Client, topic: str) -> None:
    client.create_topic(topic, PARTITIONS)
    output = f"{topic}-out"
    client.create_topic(output, PARTITIONS)
    client.produce(topic, [Message(b"%d" % n, partition=n % PARTITIONS) for n in range(PARTITIONS)])
    group_id = f"group-{uuid.uuid4().hex[:8]}"
    member = client.member(topic, group_id)
    seen: list[Read] = []
    wait_until(lambda: poll_all([member], seen) >= PARTITIONS, "the input")
    # Several ids, so that several brokers coordinate.
    for number in range(4):
        producer = client.transactional(f"tx-{number}-{topic}")
        for committed in (True, False):
            producer.begin()
            for partition in range(PARTITIONS):
                producer.send(output, b"%d %s" % (number, b"kept" if committed else b"dropped"), partition)
            producer.send_offsets(topic, dict.fromkeys(range(PARTITIONS), 1 if committed else 77), member)
            (producer.commit if committed else producer.abort)()
        producer.close()
    member.close()
    reads: list[Read] = client.read_all(output, PARTITIONS, isolation="read_committed")
    for partition in range(PARTITIONS):
        assert [r.value for r in reads if r.partition == partition] == [b"%d kept" % n for n in range(4)]
    assert client.committed(topic, group_id, PARTITIONS) == dict.fromkeys(range(PARTITIONS), 1)


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "confluent-kip848"], indirect=True)
def test_a_transaction_survives_its_coordinator_and_its_leader(
    client: Client, cluster: EmbeddedCluster, topic: str
) -> None:
    """What the next coordinator knows, it has read from the log."""
    client.create_topic(topic, 1)
    transactional_id = f"tx-{topic}"
    producer = client.transactional(transactional_id)
    for number, committed in enumerate((True, False, True)):
        producer.begin()
        producer.send(topic, b"%d before" % number)
        cluster.move_coordinator(number % 3 + 1, transactional_id=transactional_id)
        cluster.move_leader(topic, 0, (number + 1) % 3 + 1)
        producer.send(topic, b"%d after" % number)
        cluster.move_coordinator((number + 1) % 3 + 1, transactional_id=transactional_id)
        (producer.commit if committed else producer.abort)()
    producer.close()
    reads = client.read_all(topic, 1, isolation="read_committed")
    assert [read.value for read in reads] == [b"0 before", b"0 after", b"2 before", b"2 after"]
