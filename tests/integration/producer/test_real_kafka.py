"""What the producer wrote, as Apache Kafka's own Java consumer reads it; and its transactions on Apache Kafka."""

from __future__ import annotations

import pathlib
import random
import shutil
from collections.abc import Iterator

import pytest

from pykclient import TopicPartition
from pykclient.errors import ProducerFenced, TransactionTimedOut
from pykclient.testing.real_kafka import RealKafka, available, run_tool
from tests.integration.producer.support import producer_for, values

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(180)]
READ_BACK = str(pathlib.Path(__file__).with_name("ReadBack.java"))
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Sent = tuple[int, "bytes | None", "bytes | None", list[tuple[str, "bytes | None"]]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    if (reason := available()) is not None:
        pytest.skip(reason)
    config = {"num.partitions": "1", "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
    with RealKafka(brokers=1, config=config) as running:
        yield running


def hexed(data: bytes | None) -> str:
    return "-" if data is None else "x" + data.hex()


def lines_of(sent: list[Sent]) -> list[str]:
    """What ReadBack.java prints for these records in this order."""
    return [
        " ".join(
            [
                *("0", str(offset), str(timestamp), hexed(key), hexed(value)),
                *(f"{hexed(name.encode())}={hexed(content)}" for name, content in headers),
            ]
        )
        for offset, (timestamp, key, value, headers) in enumerate(sent)
    ]


def test_java_reads_back_every_byte(kafka: RealKafka) -> None:
    if shutil.which("javac") is None:
        pytest.skip("the reader is compiled on the fly, which needs a JDK")
    chance = random.Random(7)
    sent: list[Sent] = []
    topic = "every-codec"
    for codec in CODECS:
        with producer_for(kafka.bootstrap_servers, compression_type=codec) as producer:
            for number in range(60):
                key = None if number % 7 == 0 else chance.randbytes(number % 11)
                value = None if number % 5 == 0 else chance.randbytes(chance.choice((0, 1, 30, 200, 70_000)))
                headers: list[tuple[str, bytes | None]] = [("n", b"%d" % number), ("größe", None), ("n", b"")][
                    : number % 4
                ]
                timestamp = 1_700_000_000_000 + chance.randrange(100_000)
                producer.send(topic, value, key=key, headers=headers, timestamp_ms=timestamp)
                sent.append((timestamp, key, value, headers))
    read = run_tool(READ_BACK, kafka.bootstrap_servers, topic, "read_uncommitted").splitlines()
    assert read == lines_of(sent)


def test_transactions_on_real_kafka(kafka: RealKafka) -> None:
    topic = "transactions"
    first = producer_for(kafka.bootstrap_servers, transactional_id="t")
    first.init_transactions(20)
    for turn in range(3):
        first.begin_transaction()
        first.send(topic, b"kept-%d" % turn if turn != 1 else b"undone")
        first.send_offsets_to_transaction({TopicPartition(topic, 0): turn}, "group")
        first.flush(10)
        if turn == 1:
            first.abort_transaction(10)
        else:
            first.commit_transaction(10)
    first.begin_transaction()
    first.send(topic, b"zombie").result(10)
    second = producer_for(kafka.bootstrap_servers, transactional_id="t")
    second.init_transactions(20)
    with pytest.raises(ProducerFenced):
        first.commit_transaction(10)
    with second.transaction():
        second.send(topic, b"kept-3")
    assert values(kafka.bootstrap_servers, topic) == [b"kept-0", b"kept-2", b"kept-3"]
    first.close(1)
    second.close(1)


@pytest.mark.parametrize("late_send", [False, True])
def test_a_transaction_that_times_out_on_real_kafka(kafka: RealKafka, late_send: bool) -> None:
    """Whichever error the broker answers with, the user learns which of the two it was, and how to go on."""
    topic = f"times-out-{late_send}"
    producer = producer_for(kafka.bootstrap_servers, transactional_id=topic, transaction_timeout_ms=500)
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.send(topic, b"undone").result(10)
    reader = producer_for(kafka.bootstrap_servers)
    deadline_values: list[bytes] = []
    reader.send(topic, b"after").result(10)
    while not deadline_values:  # visible as soon as the broker has aborted what stood before it
        deadline_values = values(kafka.bootstrap_servers, topic)
    if late_send:
        producer.send(topic, b"late").exception(10)
    with pytest.raises(TransactionTimedOut) as caught:
        producer.commit_transaction(10)
    assert caught.value.limit == 0.5
    producer.init_transactions(20)
    with producer.transaction():
        producer.send(topic, b"kept")
    assert values(kafka.bootstrap_servers, topic) == [b"after", b"kept"]
    producer.close(1)
    reader.close(1)
