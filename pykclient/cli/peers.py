"""What is measured: this client and an installed peer behind one small seam, so that both do the same work.

Runs on the command's thread. A peer is imported when it is asked for; a missing one is said in one sentence.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pykclient.cli.usage import Usage
from pykclient.consumer.consumer import KafkaConsumer
from pykclient.errors import KafkaError, KafkaTimeoutError
from pykclient.producer.producer import KafkaProducer
from pykclient.types import RecordMetadata, TopicPartition

POLL_RECORDS = 10_000
Delivered = Callable[[Exception | None], None]


class Sender(Protocol):
    """Sends and waits."""

    def send(self, value: bytes, delivered: Delivered | None) -> None:
        """Send; ``delivered`` hears of it on any thread."""
        ...

    def tick(self) -> None:
        """Serve callbacks, for clients that need to be asked."""
        ...

    def flush(self) -> None:
        """Wait until everything is delivered."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Reader(Protocol):
    """Reads values."""

    def read(self, timeout: float) -> list[bytes]:
        """Values that are there, else those that come in time."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Peer(Protocol):
    """A client under measurement."""

    name: str

    def sender(self, topic: str, options: Mapping[str, Any]) -> Sender:
        """A producer."""
        ...

    def reader(self, topic: str, partitions: int, *, from_end: bool) -> Reader:
        """A consumer of all partitions, without a group."""
        ...


class Ours:
    """This client."""

    name = "pykclient"

    def __init__(self, connection: Mapping[str, Any]) -> None:
        self._connection = dict(connection)

    def sender(self, topic: str, options: Mapping[str, Any]) -> Sender:
        """A KafkaProducer."""
        return _OurSender(topic, KafkaProducer({**self._connection, **options}))

    def reader(self, topic: str, partitions: int, *, from_end: bool) -> Reader:
        """A KafkaConsumer."""
        consumer = KafkaConsumer({**self._connection, "max_poll_records": POLL_RECORDS})
        tps = [TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(tps)
        if from_end:
            consumer.seek_to_end()
            for tp in tps:
                consumer.position(tp)
        else:
            consumer.seek_to_beginning()
        return _OurReader(consumer)


class _OurSender:
    def __init__(self, topic: str, producer: KafkaProducer) -> None:
        self._topic, self._producer = topic, producer

    def send(self, value: bytes, delivered: Delivered | None) -> None:
        if delivered is None:
            self._producer.send(self._topic, value)
        else:
            self._producer.send(self._topic, value, on_delivery=_heard(delivered))

    def tick(self) -> None:
        pass

    def flush(self) -> None:
        self._producer.flush()

    def close(self) -> None:
        self._producer.close()


def _heard(delivered: Delivered) -> Callable[[RecordMetadata | None, Exception | None], None]:
    return lambda metadata, error: delivered(error)


class _OurReader:
    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def read(self, timeout: float) -> list[bytes]:
        return [record.value for record in self._consumer.poll(timeout).records()]

    def close(self) -> None:
        self._consumer.close()


_RENAMED = {"ssl.truststore.location": "ssl.ca.location", "sasl.mechanism": "sasl.mechanisms"}
_KNOWN = ("bootstrap.servers", "security.protocol", "sasl.", "ssl.", "compression.type", "linger.ms", "acks")


class Confluent:
    """confluent-kafka: librdkafka, in C, behind Python."""

    name = "confluent-kafka"

    def __init__(self, connection: Mapping[str, Any]) -> None:
        try:
            self._module = importlib.import_module("confluent_kafka")
        except ImportError:
            raise Usage("--against confluent needs it installed: pip install confluent-kafka") from None
        self._connection = self._translated(connection)

    def _translated(self, options: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for key, value in options.items():
            dotted = key.replace("_", ".")
            if dotted.startswith(_KNOWN):
                found[_RENAMED.get(dotted, dotted)] = value
        return found

    def sender(self, topic: str, options: Mapping[str, Any]) -> Sender:
        """Its Producer, with our defaults where they differ: idempotent, acks=all."""
        # Its queue is limited by count as well; the measure is throughput, so the limit is out of the way for both.
        wide = {"queue.buffering.max.messages": 1_000_000, "enable.idempotence": True}
        return _ConfluentSender(topic, self._module.Producer({**wide, **self._connection, **self._translated(options)}))

    def reader(self, topic: str, partitions: int, *, from_end: bool) -> Reader:
        """Its Consumer."""
        consumer = self._module.Consumer(
            {**self._connection, "group.id": "perf", "enable.auto.commit": False, "enable.partition.eof": False}
        )
        place = self._module.OFFSET_END if from_end else self._module.OFFSET_BEGINNING
        consumer.assign([self._module.TopicPartition(topic, number, place) for number in range(partitions)])
        return _ConfluentReader(consumer)


class _ConfluentSender:
    def __init__(self, topic: str, producer: Any) -> None:
        self._topic, self._producer = topic, producer

    def send(self, value: bytes, delivered: Delivered | None) -> None:
        callback = None if delivered is None else (lambda error, message: delivered(_failure(error)))
        while True:
            try:
                self._producer.produce(self._topic, value, on_delivery=callback)
                return
            except BufferError:
                self._producer.poll(0.05)

    def tick(self) -> None:
        self._producer.poll(0)

    def flush(self) -> None:
        left = self._producer.flush(60)
        if left:
            raise KafkaTimeoutError(f"{left} records were not delivered within 60 s")

    def close(self) -> None:
        self.flush()


def _failure(error: Any) -> Exception | None:
    return None if error is None else KafkaError(str(error))


class _ConfluentReader:
    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer

    def read(self, timeout: float) -> list[bytes]:
        first = self._consumer.poll(timeout)
        if first is None:
            return []
        return [first.value(), *(message.value() for message in self._consumer.consume(POLL_RECORDS - 1, 0))]

    def close(self) -> None:
        self._consumer.close()


PEERS: dict[str, type[Confluent]] = {"confluent": Confluent}


def wait_until(moment: float) -> None:
    """Sleep up to a moment of the monotonic clock."""
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)


__all__ = ["PEERS", "Confluent", "Ours", "Peer", "Reader", "Sender", "wait_until"]
