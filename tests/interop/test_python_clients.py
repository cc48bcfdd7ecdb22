"""kafka-python, aiokafka and confluent-kafka, on the embedded broker and on Apache Kafka, with one yardstick."""

from __future__ import annotations

import contextlib
import gc
import uuid
from collections.abc import Iterator

import pytest

from tests.interop.clients import CLIENTS, Client, Message, Read, opened, poll_all, wait_until

# Other people's libraries may warn about themselves.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(120)]

LIBRARIES = {"kafka-python": "kafka", "aiokafka": "aiokafka"}
OLD_AND_NEW_GROUPS = list(CLIENTS)
ONE_EACH = [name for name in CLIENTS if name != "confluent-kip848"]


@pytest.fixture
def client(request: pytest.FixtureRequest, bootstrap_servers: str) -> Iterator[Client]:
    name = str(request.param)
    pytest.importorskip(LIBRARIES.get(name, "confluent_kafka"), reason=f"{name} is not installed")
    with opened(name, bootstrap_servers) as client:
        yield client
    gc.collect()  # What a library left unclosed complains here, where the filter above is in force.


one_each = pytest.mark.parametrize("client", ONE_EACH, indirect=True)
every_group_protocol = pytest.mark.parametrize("client", OLD_AND_NEW_GROUPS, indirect=True)


def values(reads: list[Read]) -> list[bytes | None]:
    return [read.value for read in reads]


@one_each
def test_every_codec_is_stored_and_given_back(client: Client, topic: str) -> None:
    client.create_topic(topic, 2)
    expected: dict[int, list[bytes | None]] = {0: [], 1: []}
    for number, codec in enumerate(client.codecs):
        batch = [Message(f"{codec}-{index}".encode() * 20, partition=number % 2) for index in range(30)]
        offsets = client.produce(topic, batch, codec=codec)
        first = len(expected[number % 2])
        assert offsets == list(range(first, first + 30))
        expected[number % 2] += [message.value for message in batch]
    found = client.read_all(topic, 2)
    assert {n: values([read for read in found if read.partition == n]) for n in (0, 1)} == expected
    assert [read.offset for read in found if read.partition == 0] == list(range(len(expected[0])))


@one_each
def test_headers_keys_and_tombstones(client: Client, topic: str) -> None:
    client.create_topic(topic, 1)
    messages = [
        Message(b"plain"),
        Message(b"with key", b"k"),
        Message(None, b"gone"),
        Message(b"", b""),
        Message(b"with headers", b"k", (("one", b"1"), ("two", b"\x00\xff"), ("one", b"again"))),
    ]
    client.produce(topic, messages, codec=client.codecs[-1])
    assert [(r.value, r.key, r.headers) for r in client.read_all(topic, 1)] == [
        (m.value, m.key, m.headers) for m in messages
    ]


@every_group_protocol
def test_group_of_two_shares_and_the_one_left_takes_over(client: Client, topic: str) -> None:
    client.create_topic(topic, 4)
    group_id = f"group-{uuid.uuid4().hex[:8]}"
    # Committed offsets from the start: librdkafka, assigned anew while it still asks for the earliest offset of a
    # partition that has none, may act on that answer later and read everything again, with any broker.
    client.produce(topic, [Message(b"early", partition=n) for n in range(4)])
    early: list[Read] = []
    alone = client.member(topic, group_id)
    wait_until(lambda: poll_all([alone], early) >= 4, "a record of each partition")
    alone.commit()
    alone.close()
    seen: list[Read] = []
    members = [client.member(topic, group_id) for _ in range(2)]
    first, second = members

    def shared() -> bool:
        poll_all(members, seen)
        mine, yours = first.assignment(), second.assignment()
        return len(mine) == len(yours) == 2 and mine | yours == set(range(4))

    wait_until(shared, "two partitions each")
    # Sent only now: what is read before a rebalance and not committed would rightly come twice.
    client.produce(topic, [Message(f"{n}".encode(), partition=n % 4) for n in range(40)])
    wait_until(lambda: poll_all(members, seen) >= 40, "everything once")
    assert {read.value for read in seen} == {b"%d" % n for n in range(40)}
    first.commit()
    second.commit()
    second.close()
    wait_until(lambda: poll_all([first], seen) and first.assignment() == set(range(4)), "the other's partitions")
    assert len(seen) == 40
    client.produce(topic, [Message(f"more {n}".encode(), partition=n) for n in range(4)])
    more: list[Read] = []
    wait_until(lambda: poll_all([first], more) >= 4, "what came later")
    assert {read.value for read in more} == {b"more 0", b"more 1", b"more 2", b"more 3"}
    assert len(more) == 4
    first.close()


@every_group_protocol
def test_a_group_resumes_where_it_committed(client: Client, topic: str) -> None:
    client.create_topic(topic, 1)
    group_id = f"group-{uuid.uuid4().hex[:8]}"
    client.produce(topic, [Message(f"{n}".encode()) for n in range(10)])
    member = client.member(topic, group_id)
    seen: list[Read] = []
    wait_until(lambda: poll_all([member], seen) >= 10, "the first ten")
    member.commit()
    member.close()
    assert client.committed(topic, group_id, 1) == {0: 10}
    client.produce(topic, [Message(b"ten"), Message(b"eleven")])
    again = client.member(topic, group_id)
    later: list[Read] = []
    wait_until(lambda: poll_all([again], later) >= 2, "the two that came since")
    assert [(read.offset, read.value) for read in later] == [(10, b"ten"), (11, b"eleven")]
    again.close()


@one_each
def test_transactions_committed_and_aborted(client: Client, topic: str) -> None:
    client.create_topic(topic, 1)
    producer = client.transactional(f"tx-{uuid.uuid4().hex[:8]}")
    for number, ends in enumerate((producer.commit, producer.abort, producer.commit)):
        producer.begin()
        producer.send(topic, f"{number}a".encode())
        producer.send(topic, f"{number}b".encode())
        ends()
    producer.begin()
    producer.send(topic, b"open")
    assert values(client.read_all(topic, 1, isolation="read_committed")) == [b"0a", b"0b", b"2a", b"2b"]
    assert values(client.read_all(topic, 1)) == [b"0a", b"0b", b"1a", b"1b", b"2a", b"2b", b"open"]
    producer.abort()
    producer.close()


@one_each
def test_consume_transform_produce(client: Client, topic: str) -> None:
    client.create_topic(topic, 1)
    output, group_id = f"{topic}-out", f"group-{uuid.uuid4().hex[:8]}"
    client.create_topic(output, 1)
    client.produce(topic, [Message(f"{n}".encode()) for n in range(6)])
    member = client.member(topic, group_id)
    seen: list[Read] = []
    wait_until(lambda: poll_all([member], seen) >= 6, "the input")
    producer = client.transactional(f"tx-{uuid.uuid4().hex[:8]}")
    producer.begin()
    producer.send(output, b"three")
    producer.send_offsets(topic, {0: 3}, member)
    producer.commit()
    producer.begin()
    producer.send(output, b"six")
    producer.send_offsets(topic, {0: 6}, member)
    producer.abort()
    producer.close()
    member.close()
    assert client.committed(topic, group_id, 1) == {0: 3}
    assert values(client.read_all(output, 1, isolation="read_committed")) == [b"three"]


@one_each
def test_a_second_producer_fences_the_first(client: Client, topic: str) -> None:
    client.create_topic(topic, 1)
    transactional_id = f"tx-{uuid.uuid4().hex[:8]}"
    zombie = client.transactional(transactional_id)
    zombie.begin()
    zombie.send(topic, b"zombie")
    successor = client.transactional(transactional_id)
    successor.begin()
    successor.send(topic, b"successor")
    successor.commit()
    with pytest.raises(Exception, match=r"(?i)fenced|epoch"):
        zombie.commit()
    successor.close()
    with contextlib.suppress(Exception):  # A fenced producer may say so again.
        zombie.close()
    assert values(client.read_all(topic, 1, isolation="read_committed")) == [b"successor"]
