"""Clients that outlive a task: Spark uses a Python worker for many tasks, and a connection costs more than a batch.

One pool per process, used by one task at a time per client. A client that failed is closed, never given back. What was
not used for a while is closed when the next one is asked for; Spark ends an idle worker after a minute by itself.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pykclient.consumer.consumer import KafkaConsumer
from pykclient.producer.producer import KafkaProducer

IDLE_S = 60.0

_Key = tuple[str, tuple[tuple[str, str], ...]]
_idle: dict[_Key, list[tuple[float, Any]]] = {}
_pid = os.getpid()


@contextmanager
def borrowed_consumer(settings: Mapping[str, Any]) -> Iterator[KafkaConsumer]:
    """A consumer with this configuration, given back at the end."""
    with _borrowed("consumer", settings) as client:
        yield client


@contextmanager
def borrowed_producer(settings: Mapping[str, Any]) -> Iterator[KafkaProducer]:
    """A producer with this configuration, given back at the end."""
    with _borrowed("producer", settings) as client:
        yield client


@contextmanager
def _borrowed(kind: str, settings: Mapping[str, Any]) -> Iterator[Any]:
    key: _Key = (kind, tuple(sorted((name, str(value)) for name, value in settings.items())))
    client = _take(key)
    if client is None:
        client = KafkaConsumer(dict(settings)) if kind == "consumer" else KafkaProducer(dict(settings))
    try:
        yield client
    except BaseException:
        # Also when Spark stops reading early (limit, a cancelled job): what is in flight is not worth keeping.
        client.close(0)
        raise
    _idle.setdefault(key, []).append((time.monotonic(), client))


def _take(key: _Key) -> Any:
    global _pid
    if os.getpid() != _pid:  # forked: the clients belong to the parent
        _idle.clear()
        _pid = os.getpid()
    now = time.monotonic()
    for other, clients in list(_idle.items()):
        kept = [(since, client) for since, client in clients if now - since < IDLE_S]
        for entry in clients:
            if entry not in kept:
                entry[1].close(1.0)
        _idle[other] = kept
    return _idle[key].pop()[1] if _idle.get(key) else None


@atexit.register
def close_all() -> None:
    """Close what nobody uses."""
    while _idle:
        _, clients = _idle.popitem()
        if os.getpid() == _pid:
            for _, client in clients:
                client.close(1.0)


__all__ = ["borrowed_consumer", "borrowed_producer", "close_all"]
