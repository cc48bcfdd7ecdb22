"""A web application that writes to and reads from Kafka; plain ASGI, so any server runs it and no framework is needed.

    pip install uvicorn
    BOOTSTRAP_SERVERS=localhost:9092 uvicorn examples.asgi_app:app

``POST /orders`` sends the body and answers with where it landed; ``GET /orders`` gives what this process has read. The
clients are made when the module is imported, before there is a loop, and are bound to the server's loop when the
application starts. With Starlette or FastAPI, ``lifespan`` below is the body of their lifespan function.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pykclient.aio import AsyncKafkaConsumer, AsyncKafkaProducer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

SERVERS = os.environ.get("BOOTSTRAP_SERVERS", "localhost:9092")
TOPIC = os.environ.get("TOPIC", "orders")

producer = AsyncKafkaProducer(bootstrap_servers=SERVERS, linger_ms=0)
consumer = AsyncKafkaConsumer(TOPIC, bootstrap_servers=SERVERS, auto_offset_reset="earliest")
seen: list[str] = []


async def read() -> None:
    async for record in consumer:
        seen.append((record.value or b"").decode())


async def lifespan(receive: Receive, send: Send) -> None:
    await receive()  # lifespan.startup
    async with producer, consumer:
        reading = asyncio.create_task(read())
        await send({"type": "lifespan.startup.complete"})
        await receive()  # lifespan.shutdown
        await consumer.stop()  # ends the loop in read()
        await reading
    await send({"type": "lifespan.shutdown.complete"})


async def answer(send: Send, status: int, content: object) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(content).encode()})


async def app(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "http" and scope["method"] == "POST":
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        metadata = await producer.send(TOPIC, body)
        await answer(send, 201, {"partition": metadata.partition, "offset": metadata.offset})
    elif scope["type"] == "http":
        await answer(send, 200, sorted(seen))
