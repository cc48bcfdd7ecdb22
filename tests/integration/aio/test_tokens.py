"""Token providers that are coroutines: awaited on the client's loop, on every kind of client, as often as needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykclient import KafkaAdminClient, KafkaConsumer, KafkaProducer
from pykclient.aio import AsyncKafkaAdminClient, AsyncKafkaConsumer, AsyncKafkaProducer
from pykclient.errors import AuthenticationError, UsageError
from pykclient.net.oauthbearer import HmacJwtVerifier, make_hmac_jwt
from pykclient.plugins import Token
from pykclient.testing import EmbeddedCluster

from .support import Main, run_on

Run = Callable[[Main], None]
KEY = b"a key of thirty-two bytes or more"


class Tokens:
    """As from an identity provider that is asked over HTTP."""

    def __init__(self, seconds: float = 60.0) -> None:
        self.seconds = seconds
        self.asked = 0
        self.loops: set[asyncio.AbstractEventLoop] = set()

    async def token(self) -> Token:
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0.01)
        self.asked += 1
        claims = {"sub": "alice", "iss": "us", "aud": "kafka", "exp": time.time() + self.seconds}
        return Token(make_hmac_jwt(KEY, claims))


class Broken:
    async def token(self) -> Token:
        await asyncio.sleep(0)
        raise LookupError("the identity provider is down")


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(
        topics=["t"], listeners="SASL_PLAINTEXT", token_verifier=HmacJwtVerifier(KEY, "us", "kafka")
    ) as cluster:
        yield cluster


def options(cluster: EmbeddedCluster, provider: object) -> dict[str, Any]:
    return {
        "bootstrap_servers": cluster.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": provider,
    }  # fmt: skip


def test_every_kind_of_client_awaits_tokens_and_renews_them(secured: EmbeddedCluster, run: Run) -> None:
    providers = [Tokens(1.0) for _ in range(3)]

    async def test() -> None:
        async with (
            AsyncKafkaProducer(**options(secured, providers[0])) as producer,
            AsyncKafkaConsumer("t", auto_offset_reset="latest", **options(secured, providers[1])) as consumer,
            AsyncKafkaAdminClient(options(secured, providers[2])) as admin,
        ):
            end, sent, read = time.monotonic() + 2.5, 0, 0
            await consumer.poll(0)
            while not consumer.assignment():
                await consumer.poll(0.05)
            for tp in consumer.assignment():
                await consumer.position(tp)
            while time.monotonic() < end:
                await producer.send("t", b"x")
                sent += 1
                read += (await consumer.poll(0.2)).count
                assert "t" in await admin.list_topics()
            while read < sent:
                read += (await consumer.poll(5)).count
        for provider in providers:
            assert provider.asked >= 3
            assert provider.loops == {asyncio.get_running_loop()}

    run(test)


def test_a_client_made_before_its_loop_waits_for_it(secured: EmbeddedCluster) -> None:
    """Its first connection wants a token before anybody has used the client."""
    provider = Tokens()
    consumer = AsyncKafkaConsumer("t", **options(secured, provider))
    producer = AsyncKafkaProducer(**options(secured, provider))
    time.sleep(0.3)  # they connect meanwhile
    assert provider.asked == 0

    async def test() -> None:
        assert (await producer.send("t", b"x")).offset >= 0
        assert await consumer.partitions_for("t")
        await producer.close()
        await consumer.close()

    run_on("asyncio", test)
    assert provider.asked >= 2


def test_what_a_provider_raises_is_named_and_not_quoted(secured: EmbeddedCluster, run: Run) -> None:
    async def test() -> None:
        began = time.monotonic()
        async with AsyncKafkaProducer(**options(secured, Broken())) as producer:
            with pytest.raises(AuthenticationError, match="LookupError") as caught:
                await producer.send("t", b"x")
        assert time.monotonic() - began < 5
        assert "identity provider" not in str(caught.value)

    run(test)


def test_closing_does_not_wait_for_a_token(secured: EmbeddedCluster, run: Run) -> None:
    class Slow:
        async def token(self) -> Token:
            await asyncio.sleep(60)
            raise AssertionError("never")

    async def test() -> None:
        producer = AsyncKafkaProducer(**options(secured, Slow()))
        consumer = AsyncKafkaConsumer("t", **options(secured, Slow()))
        admin = AsyncKafkaAdminClient(**options(secured, Slow()))
        uses = [producer.send("t", b"x"), consumer.poll(), admin.list_topics()]
        tasks = [asyncio.ensure_future(use) for use in uses]
        await asyncio.wait(tasks, timeout=0.2)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        began = time.monotonic()
        await asyncio.gather(producer.close(0), consumer.close(0), admin.close())
        assert time.monotonic() - began < 2

    run(test)  # which also sees to it that no task is left


@pytest.mark.parametrize("kind", [KafkaProducer, KafkaConsumer, KafkaAdminClient])
def test_blocking_clients_say_that_they_cannot_await(secured: EmbeddedCluster, kind: Any) -> None:
    with pytest.raises(UsageError, match=r"only the clients of pykclient\.aio await a coroutine"):
        kind(**options(secured, Tokens()))


def test_plain_providers_are_taken_too(secured: EmbeddedCluster, run: Run) -> None:
    class Plain:
        def token(self) -> Token:
            claims = {"sub": "alice", "iss": "us", "aud": "kafka", "exp": time.time() + 60}
            return Token(make_hmac_jwt(KEY, claims))

    async def test() -> None:
        async with AsyncKafkaProducer(**options(secured, Plain())) as producer:
            await producer.send("t", b"x")

    run(test)
