"""Every method that is awaited, cancelled at several moments: what it asked for is withdrawn, the client stays usable,
nothing is lost. The methods are taken from the classes, so that none is forgotten."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from pykclient import KafkaConsumer, TopicPartition
from pykclient.admin import (
    Acl,
    AclFilter,
    AclOperation,
    AclResourceType,
    ConfigResource,
    DelegationToken,
    HangingTransaction,
    NewTopic,
    ScramUpsertion,
)
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import KafkaError, UsageError
from pykclient.testing import EmbeddedCluster

from .support import Main, cancelled, condition, moments

Run = Callable[[Main], None]
Call = Callable[[Any, str], Awaitable[Any]]


def awaited(kind: type) -> set[str]:
    """The public coroutine methods of a client; closing has tests of its own."""
    names = {name for name, member in vars(kind).items() if asyncio.iscoroutinefunction(member) and name[0] != "_"}
    return names - {"close", "stop"}


def new_seed() -> int:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    return seed


def first(topic: str) -> TopicPartition:
    return TopicPartition(topic, 0)


async def nothing_goes_on(client: AsyncKafkaProducer | AsyncKafkaAdminClient) -> None:
    """What was cancelled is not done behind the user's back."""
    await condition(lambda: not client._sync._engine._tasks)
    assert client._runner._waiting == {}


# ---- consumer --------------------------------------------------------------------------------------------------------

CONSUMER: dict[str, Call] = {
    "start": lambda c, t: c.start(),
    "assign": lambda c, t: c.assign([first(t)]),
    "subscribe": lambda c, t: c.subscribe([t]),
    "poll": lambda c, t: c.poll(1.0),
    "getone": lambda c, t: c.getone(),
    "getmany": lambda c, t: c.getmany(timeout_ms=200),
    "poll_arrow": lambda c, t: c.poll_arrow(1.0),
    "process": lambda c, t: c.process(lambda record: asyncio.sleep(0.001), stop=lambda: False),
    "position": lambda c, t: c.position(first(t)),
    "commit": lambda c, t: c.commit({first(t): 0}),
    "committed": lambda c, t: c.committed([first(t)]),
    "seek_to_committed": lambda c, t: c.seek_to_committed(),
    "offsets_for_times": lambda c, t: c.offsets_for_times({first(t): 0}),
    "beginning_offsets": lambda c, t: c.beginning_offsets([first(t)]),
    "end_offsets": lambda c, t: c.end_offsets([first(t)]),
    "partitions_for": lambda c, t: c.partitions_for(t),
    "list_topics": lambda c, t: c.list_topics(),
    "topics": lambda c, t: c.topics(),
    "unsubscribe": lambda c, t: c.unsubscribe(),
}
ALSO: dict[str, Call] = {"async for": lambda c, t: c.__aiter__().__anext__()}


def test_every_await_of_a_consumer(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    pytest.importorskip("pyarrow")
    assert awaited(AsyncKafkaConsumer) == set(CONSUMER)
    seed = new_seed()

    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            for name, call in {**CONSUMER, **ALSO}.items():
                for turns, delay_s in moments(seed, 2):
                    consumer = AsyncKafkaConsumer(
                        bootstrap_servers=cluster.bootstrap_servers,
                        group_id=f"{topic}-{name}",
                        auto_offset_reset="earliest",
                    )
                    if name != "subscribe":
                        await consumer.assign([first(topic)])
                    await cancelled(call(consumer, topic), turns, delay_s)
                    # Usable: it reads a record that is sent now.
                    if name != "unsubscribe":
                        await consumer.unsubscribe()
                    await consumer.assign([first(topic)])
                    sent = await producer.send(topic, name.encode(), partition=0)
                    consumer.seek(first(topic), sent.offset)
                    [record] = (await consumer.poll(10)).records()
                    assert record.value == name.encode(), name
                    await consumer.close()

    run(test)


# ---- producer --------------------------------------------------------------------------------------------------------


def table() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({"value": [b"x"]})


PRODUCER: dict[str, Call] = {
    "start": lambda p, t: p.start(),
    "send": lambda p, t: p.send(t, b"x"),
    "send_and_wait": lambda p, t: p.send_and_wait(t, b"x"),
    "send_soon": lambda p, t: p.send_soon(t, b"x"),
    "send_arrow": lambda p, t: p.send_arrow(t, table()),
    "flush": lambda p, t: p.flush(),
    "partitions_for": lambda p, t: p.partitions_for(t),
}
TRANSACTIONS: dict[str, Call] = {
    "init_transactions": lambda p, t: p.init_transactions(),
    "begin_transaction": lambda p, t: p.begin_transaction(),
    "send_offsets_to_transaction": lambda p, t: p.send_offsets_to_transaction({first(t): 1}, f"{t}-group"),
    "commit_transaction": lambda p, t: p.commit_transaction(),
    "abort_transaction": lambda p, t: p.abort_transaction(),
    "prepare_transaction": lambda p, t: p.prepare_transaction(),
}
PREPARED = {"commit_prepared", "abort_prepared"}


def test_every_await_of_a_producer(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    assert awaited(AsyncKafkaProducer) == {*PRODUCER, *TRANSACTIONS, *PREPARED}
    seed = new_seed()

    async def test() -> None:
        async with AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as lasting:
            for name, call in PRODUCER.items():
                for turns, delay_s in moments(seed, 3):
                    for producer in (lasting, AsyncKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)):
                        await cancelled(call(producer, topic), turns, delay_s)
                        assert (await producer.send(topic, b"after")).offset >= 0, name
                        await nothing_goes_on(producer)
                        if producer is not lasting:
                            await producer.close()

    run(test)


def test_every_step_of_a_transaction(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    """Whatever step was cancelled, and whether it happened or not: a transaction of the same producer is whole."""
    seed = new_seed()
    whole: list[bytes] = []

    async def step(name: str, number: int, turns: int, delay_s: float) -> None:
        async with AsyncKafkaProducer(
            bootstrap_servers=cluster.bootstrap_servers, transactional_id=f"{topic}-{name}-{number}"
        ) as producer:
            if name != "init_transactions":
                await producer.init_transactions()
            if name not in ("init_transactions", "begin_transaction"):
                await producer.begin_transaction()
                await producer.send(topic, b"perhaps", partition=0)
            if await cancelled(TRANSACTIONS[name](producer, topic), turns, delay_s):
                await TRANSACTIONS[name](producer, topic)  # does it, or gives the outcome of what went on
            if name == "prepare_transaction":
                await producer.init_transactions()  # ends what was prepared
            elif name in ("begin_transaction", "send_offsets_to_transaction"):
                await producer.abort_transaction()
            async with producer.transaction():
                await producer.send(topic, f"{name} {number}".encode(), partition=0)
            whole.append(f"{name} {number}".encode())

    async def test() -> None:
        for name in TRANSACTIONS:
            for number, (turns, delay_s) in enumerate(moments(seed, 3)):
                await step(name, number, turns, delay_s)

    run(test)
    found = [value for value in committed_values(cluster, first(topic)) if value != b"perhaps"]
    assert found == whole


def test_ending_what_was_prepared(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    """Cancelled and called again: committed once, or aborted."""
    seed = new_seed()

    async def test() -> None:
        for name in sorted(PREPARED):
            for number, (turns, delay_s) in enumerate(moments(seed, 3)):
                async with AsyncKafkaProducer(
                    bootstrap_servers=cluster.bootstrap_servers, transactional_id=f"{topic}-{name}-{number}"
                ) as producer:
                    await producer.init_transactions()
                    await producer.begin_transaction()
                    await producer.send(topic, f"{name} {number}".encode(), partition=0)
                    prepared = await producer.prepare_transaction()
                    await cancelled(getattr(producer, name)(prepared), turns, delay_s)
                    await getattr(producer, name)(prepared)  # may be repeated
                    await nothing_goes_on(producer)

    run(test)
    assert committed_values(cluster, first(topic)) == [b"commit_prepared %d" % number for number in range(3)]


def committed_values(cluster: EmbeddedCluster, tp: TopicPartition) -> list[bytes]:
    options: dict[str, Any] = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    with KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, **options) as consumer:
        consumer.assign([tp])
        end, found = consumer.end_offsets([tp])[tp], []
        while consumer.position(tp) < end:
            found += [record.value for record in consumer.poll(1.0).records()]
    return found


# ---- administration --------------------------------------------------------------------------------------------------


def arguments(topic: str) -> dict[str, Any]:
    """What every parameter of the admin client that has no default may be given, by its name."""
    tp, more = first(topic), f"{topic}-more"
    return {
        "new_topics": NewTopic(more, 1),
        "names_or_ids": more,
        "totals": {more: 2},
        "resources": ConfigResource.topic(topic),
        "changes": {ConfigResource.topic(topic): {"retention.ms": "100000"}},
        "alter_scram_users changes": ScramUpsertion("somebody", "a password", iterations=4096),
        "alter_client_quotas changes": [({"user": "somebody"}, {"producer_byte_rate": 1e9})],
        "group_ids": f"{topic}-group",
        "group_id": f"{topic}-group",
        "new_offsets": {tp: 0},
        "partitions": tp,
        "topic_names": topic,
        "targets": {tp: "latest"},
        "before": {tp: 0},
        "levels": {"transaction.version": 2},
        "moves": {tp: None},
        "alter_log_dirs moves": {(1, tp): "/nowhere"},
        "node_id": 99,
        "voter_id": 99,
        "directory_id": UUID(int=99),
        "endpoints": {"CONTROLLER": ("127.0.0.1", 1)},
        "new_acls": Acl("User:somebody", AclOperation.READ, AclResourceType.TOPIC, topic),
        "filters": AclFilter(principal="User:somebody"),
        "token": DelegationToken("id", b"hmac", "User:somebody", 0, 0, 0),
        "transactional_ids": f"{topic}-transactions",
        "hanging": HangingTransaction(tp, 1, 0, 0, 0, 0),
    }


EXTRA: dict[str, dict[str, Any]] = {"create_topics": {"wait": True}, "reset_group_offsets": {"to": "earliest"}}


def admin_call(admin: AsyncKafkaAdminClient, name: str, topic: str) -> Awaitable[Any]:
    """The method with valid arguments."""
    known, method = arguments(topic), getattr(admin, name)
    given = [
        known.get(f"{name} {parameter.name}", known.get(parameter.name))
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty
    ]
    assert None not in given, f"{name}: say in arguments() what to give it"
    calling: Awaitable[Any] = method(*given, **EXTRA.get(name, {}))
    return calling


def test_every_await_of_an_admin_client(cluster: EmbeddedCluster, topic: str, run: Run) -> None:
    seed = new_seed()

    async def test() -> None:
        async with AsyncKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
            for name in sorted(awaited(AsyncKafkaAdminClient)):
                for turns, delay_s in moments(seed, 3):
                    await cancelled(admin_call(admin, name, topic), turns + 1, delay_s)
                    assert topic in await admin.list_topics(), name
                    await nothing_goes_on(admin)
                # Not cancelled, it does what it is for, or says why not: what was cancelled above was a real call.
                task = asyncio.ensure_future(admin_call(admin, name, topic))
                await asyncio.wait((task,))
                if task.exception() is not None:
                    assert isinstance(task.exception(), KafkaError), name
                    assert not isinstance(task.exception(), UsageError), name

    run(test)
