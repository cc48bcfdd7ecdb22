"""The other Python clients behind one small face, so that one list of tests runs over all of them.

Each adapter uses its library as its users do. Waits are bounded; nothing sleeps for a fixed time.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol, TypeVar

WAIT_S = 30.0
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
T = TypeVar("T")


class Message(NamedTuple):
    """What is sent; a value of None is a tombstone."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int = 0


class Read(NamedTuple):
    """What is read back."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Member(Protocol):
    """A consumer in a group; ``poll`` returns soon and keeps the membership going."""

    def poll(self) -> list[Read]: ...
    def assignment(self) -> set[int]: ...
    def commit(self) -> None: ...
    def close(self) -> None: ...


class Transactional(Protocol):
    """A transactional producer, initialised."""

    def begin(self) -> None: ...
    def send(self, topic: str, value: bytes, partition: int = 0) -> None: ...
    def send_offsets(self, topic: str, offsets: dict[int, int], member: Any) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class Client(Protocol):
    """One library against one cluster."""

    @property
    def codecs(self) -> Sequence[str]:
        """What it can compress with as it is installed here."""
        ...

    def create_topic(self, name: str, partitions: int) -> None: ...
    def produce(self, topic: str, messages: Sequence[Message], *, codec: str = "none") -> list[int]: ...
    def read_all(self, topic: str, partitions: int, *, isolation: str = "read_uncommitted") -> list[Read]: ...
    def member(self, topic: str, group_id: str) -> Member: ...
    def committed(self, topic: str, group_id: str, partitions: int) -> dict[int, int]: ...
    def transactional(self, transactional_id: str) -> Transactional: ...
    def close(self) -> None: ...


def wait_until(condition: Callable[[], T], what: str, timeout_s: float = WAIT_S) -> T:
    """Call again and again until it gives something true; the calls themselves wait inside the client."""
    give_up_at = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < give_up_at, f"not within {timeout_s} s: {what}"
    return found


def poll_all(members: list[Member], seen: list[Read]) -> int:
    """Let everybody poll once; how much has been seen so far."""
    for member in members:
        seen.extend(member.poll())
    return len(seen)


# kafka-python


class KafkaPython:
    def __init__(self, bootstrap_servers: str) -> None:
        import kafka

        self.kafka = kafka
        self.common: dict[str, Any] = {"bootstrap_servers": bootstrap_servers.split(",")}

    @property
    def codecs(self) -> Sequence[str]:
        from kafka import codec

        return [name for name in CODECS if name == "none" or getattr(codec, f"has_{name}")()]

    def create_topic(self, name: str, partitions: int) -> None:
        from kafka.admin import NewTopic

        admin = self.kafka.KafkaAdminClient(**self.common)
        admin.create_topics([NewTopic(name, partitions, 1)])
        admin.close()

    def produce(self, topic: str, messages: Sequence[Message], *, codec: str = "none") -> list[int]:
        compression = None if codec == "none" else codec
        producer = self.kafka.KafkaProducer(compression_type=compression, enable_idempotence=True, **self.common)
        futures = [
            producer.send(topic, m.value, key=m.key, headers=list(m.headers), partition=m.partition) for m in messages
        ]
        offsets = [future.get(WAIT_S).offset for future in futures]
        producer.close()
        return offsets

    def read_all(self, topic: str, partitions: int, *, isolation: str = "read_uncommitted") -> list[Read]:
        consumer = self.kafka.KafkaConsumer(isolation_level=isolation, enable_auto_commit=False, **self.common)
        where = [self.kafka.TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(where)
        consumer.seek_to_beginning(*where)
        ends = consumer.end_offsets(where)
        found: list[Read] = []

        def at_end() -> bool:
            for records in consumer.poll(200).values():
                found.extend(_read(r) for r in records)
            return all(consumer.position(each) >= ends[each] for each in where)

        wait_until(at_end, f"the end of {topic}")
        consumer.close()
        return found

    def member(self, topic: str, group_id: str) -> Member:
        return _KafkaPythonMember(
            lambda: self.kafka.KafkaConsumer(
                topic,
                group_id=group_id,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                heartbeat_interval_ms=200,
                session_timeout_ms=6000,
                **self.common,
            )
        )

    def committed(self, topic: str, group_id: str, partitions: int) -> dict[int, int]:
        consumer = self.kafka.KafkaConsumer(group_id=group_id, **self.common)
        offsets = {n: consumer.committed(self.kafka.TopicPartition(topic, n)) for n in range(partitions)}
        consumer.close()
        return {n: offset for n, offset in offsets.items() if offset is not None}

    def transactional(self, transactional_id: str) -> Transactional:
        producer = self.kafka.KafkaProducer(transactional_id=transactional_id, enable_idempotence=True, **self.common)
        producer.init_transactions()
        return _KafkaPythonTransactional(producer, self.kafka)

    def close(self) -> None:
        pass


def _read(record: Any) -> Read:
    return Read(record.partition, record.offset, record.key, record.value, tuple(record.headers or ()))


class _KafkaPythonMember:
    """Its consumer belongs to one thread and takes part in the group while it polls, so it has a thread that polls.

    It polls for long: a join that is done between two of its polls kafka-python throws away and begins anew, and with
    short polls on a busy machine two members can go on like that for ever, on any broker.
    """

    POLL_MS = 1000

    def __init__(self, open_consumer: Callable[[], Any]) -> None:
        self.consumer: Any = None
        self.owned: set[int] = set()
        self.found: queue.SimpleQueue[Read] = queue.SimpleQueue()
        self.asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self.closing = False
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(open_consumer,), daemon=True)
        self.thread.start()

    def _run(self, open_consumer: Callable[[], Any]) -> None:
        try:
            self.consumer = open_consumer()
            while not self.closing:
                for records in self.consumer.poll(self.POLL_MS).values():
                    for record in records:
                        self.found.put(_read(record))
                self.owned = {where.partition for where in self.consumer.assignment()}
                with contextlib.suppress(queue.Empty):
                    call, future = self.asked.get_nowait()
                    future.set_result(call())
        except Exception as error:
            self.error = error
        finally:
            if self.consumer is not None:
                self.consumer.close()

    def poll(self) -> list[Read]:
        if self.error is not None:
            raise self.error
        with contextlib.suppress(queue.Empty):
            found = [self.found.get(timeout=0.05)]
            while not self.found.empty():
                found.append(self.found.get())
            return found
        return []

    def assignment(self) -> set[int]:
        return self.owned

    def do(self, call: Callable[[], T]) -> T:
        future: Future[T] = Future()
        self.asked.put((call, future))
        return future.result(WAIT_S)

    def commit(self) -> None:
        self.do(lambda: self.consumer.commit())

    def close(self) -> None:
        self.closing = True
        self.thread.join(WAIT_S)


class _KafkaPythonTransactional:
    def __init__(self, producer: Any, kafka: Any) -> None:
        self.producer = producer
        self.kafka = kafka

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, topic: str, value: bytes, partition: int = 0) -> None:
        self.producer.send(topic, value, partition=partition).get(WAIT_S)

    def send_offsets(self, topic: str, offsets: dict[int, int], member: Any) -> None:
        from kafka.structs import OffsetAndMetadata

        self.producer.send_offsets_to_transaction(
            {self.kafka.TopicPartition(topic, n): OffsetAndMetadata(offset, "", -1) for n, offset in offsets.items()},
            member.do(member.consumer.group_metadata),
        )

    def commit(self) -> None:
        self.producer.commit_transaction()

    def abort(self) -> None:
        self.producer.abort_transaction()

    def close(self) -> None:
        self.producer.close()


# confluent-kafka


class Confluent:
    group_protocol = "classic"
    codecs = CODECS

    def __init__(self, bootstrap_servers: str) -> None:
        import confluent_kafka

        self.confluent = confluent_kafka
        self.common: dict[str, Any] = {"bootstrap.servers": bootstrap_servers, "log_level": 3}

    def create_topic(self, name: str, partitions: int) -> None:
        from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

        admin = AdminClient(self.common)
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(WAIT_S)

    def produce(self, topic: str, messages: Sequence[Message], *, codec: str = "none") -> list[int]:
        producer = self.confluent.Producer({**self.common, "enable.idempotence": True, "compression.type": codec})
        offsets: dict[int, int] = {}

        def delivered(index: int) -> Callable[[Any, Any], None]:
            def callback(error: Any, message: Any) -> None:
                assert error is None, error
                offsets[index] = message.offset()

            return callback

        for index, m in enumerate(messages):
            producer.produce(
                topic, m.value, m.key, headers=list(m.headers), partition=m.partition, on_delivery=delivered(index)
            )
        assert producer.flush(WAIT_S) == 0
        return [offsets[index] for index in range(len(messages))]

    def read_all(self, topic: str, partitions: int, *, isolation: str = "read_uncommitted") -> list[Read]:
        consumer = self.confluent.Consumer(
            {
                **self.common,
                "group.id": "nobody",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "check.crcs": True,
            }
        )
        consumer.assign([self.confluent.TopicPartition(topic, number, 0) for number in range(partitions)])
        found: list[Read] = []
        ended: set[int] = set()

        def at_end() -> bool:
            message: Any = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append(self.read(message))
            elif message is not None:
                assert message.error().code() == self.confluent.KafkaError._PARTITION_EOF, message.error()
                ended.add(message.partition())
            return len(ended) == partitions

        wait_until(at_end, f"the end of {topic}")
        consumer.close()
        return found

    @staticmethod
    def read(message: Any) -> Read:
        headers = tuple(message.headers() or ())
        return Read(message.partition(), message.offset(), message.key(), message.value(), headers)

    def member(self, topic: str, group_id: str) -> Member:
        config = {
            **self.common,
            "group.id": group_id,
            "group.protocol": self.group_protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        if self.group_protocol == "classic":
            config |= {"heartbeat.interval.ms": 200, "session.timeout.ms": 6000}
        consumer = self.confluent.Consumer(config)
        consumer.subscribe([topic])
        return _ConfluentMember(consumer)

    def committed(self, topic: str, group_id: str, partitions: int) -> dict[int, int]:
        consumer = self.confluent.Consumer({**self.common, "group.id": group_id})
        asked = [self.confluent.TopicPartition(topic, number) for number in range(partitions)]
        found = consumer.committed(asked, timeout=WAIT_S)
        consumer.close()
        return {where.partition: where.offset for where in found if where.offset >= 0}

    def transactional(self, transactional_id: str) -> Transactional:
        producer = self.confluent.Producer({**self.common, "transactional.id": transactional_id})
        producer.init_transactions(WAIT_S)
        return _ConfluentTransactional(producer, self.confluent)

    def close(self) -> None:
        pass


class ConfluentKip848(Confluent):
    """The same library with the new group protocol."""

    group_protocol = "consumer"


class _ConfluentMember:
    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer

    def poll(self) -> list[Read]:
        messages = self.consumer.consume(100, 0.1)
        for message in messages:
            assert message.error() is None, message.error()
        return [Confluent.read(message) for message in messages]

    def assignment(self) -> set[int]:
        return {where.partition for where in self.consumer.assignment()}

    def commit(self) -> None:
        self.consumer.commit(asynchronous=False)

    def close(self) -> None:
        self.consumer.close()


class _ConfluentTransactional:
    def __init__(self, producer: Any, confluent: Any) -> None:
        self.producer = producer
        self.confluent = confluent

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, topic: str, value: bytes, partition: int = 0) -> None:
        self.producer.produce(topic, value, partition=partition)
        assert self.producer.flush(WAIT_S) == 0

    def send_offsets(self, topic: str, offsets: dict[int, int], member: Any) -> None:
        self.producer.send_offsets_to_transaction(
            [self.confluent.TopicPartition(topic, number, offset) for number, offset in offsets.items()],
            member.consumer.consumer_group_metadata(),
            WAIT_S,
        )

    def commit(self) -> None:
        self.producer.commit_transaction(WAIT_S)

    def abort(self) -> None:
        self.producer.abort_transaction(WAIT_S)

    def close(self) -> None:
        self.producer.flush(WAIT_S)


# aiokafka


class AioKafka:
    """Its event loop runs on a thread, so that the tests stay synchronous."""

    codecs = CODECS

    def __init__(self, bootstrap_servers: str) -> None:
        import aiokafka

        self.aiokafka = aiokafka
        self.common: dict[str, Any] = {"bootstrap_servers": bootstrap_servers}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(WAIT_S + 5)

    def create_topic(self, name: str, partitions: int) -> None:
        from aiokafka.admin import AIOKafkaAdminClient, NewTopic

        async def create() -> None:
            admin = AIOKafkaAdminClient(**self.common)
            await admin.start()
            try:
                response = await admin.create_topics([NewTopic(name, partitions, 1)])
                assert [error[1] for error in response.topic_errors] == [0], response
            finally:
                await admin.close()

        self.do(create())

    def produce(self, topic: str, messages: Sequence[Message], *, codec: str = "none") -> list[int]:
        async def send() -> list[int]:
            compression = None if codec == "none" else codec
            producer = self.aiokafka.AIOKafkaProducer(
                compression_type=compression, enable_idempotence=True, **self.common
            )
            await producer.start()
            try:
                futures = [
                    await producer.send(topic, m.value, m.key, m.partition, headers=list(m.headers)) for m in messages
                ]
                return [(await future).offset for future in futures]
            finally:
                await producer.stop()

        return self.do(send())

    def read_all(self, topic: str, partitions: int, *, isolation: str = "read_uncommitted") -> list[Read]:
        async def read() -> list[Read]:
            consumer = self.aiokafka.AIOKafkaConsumer(isolation_level=isolation, **self.common)
            await consumer.start()
            try:
                where = [self.aiokafka.TopicPartition(topic, number) for number in range(partitions)]
                consumer.assign(where)
                await consumer.seek_to_beginning(*where)
                ends = await consumer.end_offsets(where)
                found: list[Read] = []
                give_up_at = time.monotonic() + WAIT_S
                while not all([await consumer.position(each) >= ends[each] for each in where]):
                    assert time.monotonic() < give_up_at, f"the end of {topic}"
                    for records in (await consumer.getmany(timeout_ms=200)).values():
                        found.extend(_read(record) for record in records)
                return found
            finally:
                await consumer.stop()

        return self.do(read())

    def member(self, topic: str, group_id: str) -> Member:
        async def start() -> Any:
            consumer = self.aiokafka.AIOKafkaConsumer(
                topic,
                group_id=group_id,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                heartbeat_interval_ms=200,
                session_timeout_ms=6000,
                **self.common,
            )
            await consumer.start()
            return consumer

        return _AioMember(self, start())

    def committed(self, topic: str, group_id: str, partitions: int) -> dict[int, int]:
        async def ask() -> dict[int, int | None]:
            consumer = self.aiokafka.AIOKafkaConsumer(group_id=group_id, **self.common)
            await consumer.start()
            try:
                where = [self.aiokafka.TopicPartition(topic, number) for number in range(partitions)]
                consumer.assign(where)
                return {each.partition: await consumer.committed(each) for each in where}
            finally:
                await consumer.stop()

        return {number: offset for number, offset in self.do(ask()).items() if offset is not None}

    def transactional(self, transactional_id: str) -> Transactional:
        async def start() -> Any:
            producer = self.aiokafka.AIOKafkaProducer(transactional_id=transactional_id, **self.common)
            await producer.start()
            return producer

        return _AioTransactional(self, self.do(start()))

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class _AioMember:
    """Starting waits for the group, so it must not keep the test from starting the second member."""

    def __init__(self, client: AioKafka, start: Coroutine[Any, Any, Any]) -> None:
        self.client = client
        self.started = asyncio.run_coroutine_threadsafe(start, client.loop)

    @property
    def consumer(self) -> Any:
        return self.started.result(WAIT_S)

    def poll(self) -> list[Read]:
        if not self.started.done():
            return []
        found = self.client.do(self.consumer.getmany(timeout_ms=100))
        return [_read(record) for records in found.values() for record in records]

    def assignment(self) -> set[int]:
        return {where.partition for where in self.consumer.assignment()} if self.started.done() else set()

    def commit(self) -> None:
        self.client.do(self.consumer.commit())

    def close(self) -> None:
        self.client.do(self.consumer.stop())


class _AioTransactional:
    def __init__(self, client: AioKafka, producer: Any) -> None:
        self.client = client
        self.producer = producer

    def begin(self) -> None:
        self.client.do(self.producer.begin_transaction())

    def send(self, topic: str, value: bytes, partition: int = 0) -> None:
        self.client.do(self.producer.send_and_wait(topic, value, partition=partition))

    def send_offsets(self, topic: str, offsets: dict[int, int], member: Any) -> None:
        where = {self.client.aiokafka.TopicPartition(topic, number): offset for number, offset in offsets.items()}
        self.client.do(self.producer.send_offsets_to_transaction(where, member.consumer._group_id))

    def commit(self) -> None:
        self.client.do(self.producer.commit_transaction())

    def abort(self) -> None:
        self.client.do(self.producer.abort_transaction())

    def close(self) -> None:
        self.client.do(self.producer.stop())


CLIENTS: dict[str, Callable[[str], Client]] = {
    "kafka-python": KafkaPython,
    "aiokafka": AioKafka,
    "confluent": Confluent,
    "confluent-kip848": ConfluentKip848,
}


class _Remembering:
    """A client that knows what a failed test has left open."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._made: list[Member | Transactional] = []
        self.codecs = client.codecs
        self.create_topic = client.create_topic
        self.produce = client.produce
        self.read_all = client.read_all
        self.committed = client.committed

    def member(self, topic: str, group_id: str) -> Member:
        member = self._client.member(topic, group_id)
        self._made.append(member)
        return member

    def transactional(self, transactional_id: str) -> Transactional:
        producer = self._client.transactional(transactional_id)
        self._made.append(producer)
        return producer

    def close(self) -> None:
        for each in self._made:
            with contextlib.suppress(Exception):  # Most are closed already, and some libraries mind.
                each.close()
        self._client.close()


@contextlib.contextmanager
def opened(name: str, bootstrap_servers: str) -> Iterator[Client]:
    """A client that is closed at the end, with all that was made by it: sockets left open fail the whole run."""
    client = _Remembering(CLIENTS[name](bootstrap_servers))
    try:
        yield client
    finally:
        client.close()
