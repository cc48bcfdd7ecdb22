"""Clients that outlive a task: Spark uses a Python worker for many tasks, and a connection costs more than a batch.

One pool per process, used by one task at a time per client. A client that failed is closed, never given back. What was
not used for a while is closed when the next one is asked for; Spark ends an idle worker after a minute by itself.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pykclient.admin.client import KafkaAdminClient
from pykclient.consumer.consumer import KafkaConsumer
from pykclient.producer.producer import KafkaProducer

IDLE_S = 60.0
IDLE_MAX = 16
"""Clients kept at most: an exactly-once query has a transactional id, thus a producer, for each of its tasks."""

_KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "admin": KafkaAdminClient,
    "consumer": KafkaConsumer,
    "producer": KafkaProducer,
}
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
def borrowed_admin(settings: Mapping[str, Any]) -> Iterator[KafkaAdminClient]:
    """An admin client with this configuration, given back at the end."""
    with _borrowed("admin", settings) as client:
        yield client


@contextmanager
def _borrowed(kind: str, settings: Mapping[str, Any]) -> Iterator[Any]:
    key: _Key = (kind, tuple(sorted((name, str(value)) for name, value in settings.items())))
    client = _take(key)
    if client is None:
        client = _KINDS[kind](dict(settings))
    try:
        yield client
    except BaseException:
        # Also when Spark stops reading early (limit, a cancelled job): what is in flight is not worth keeping.
        _close(client, 0)
        raise
    _idle.setdefault(key, []).append((time.monotonic(), client))
    while sum(map(len, _idle.values())) > IDLE_MAX:
        oldest = min((clients for clients in _idle.values() if clients), key=lambda clients: clients[0][0])
        _close(oldest.pop(0)[1], 1.0)


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
                _close(entry[1], 1.0)
        _idle[other] = kept
    return _idle[key].pop()[1] if _idle.get(key) else None


def _close(client: Any, timeout_s: float) -> None:
    if isinstance(client, KafkaAdminClient):
        client.close()
    else:
        client.close(timeout_s)


@atexit.register
def close_all() -> None:
    """Close what nobody uses."""
    while _idle:
        _, clients = _idle.popitem()
        if os.getpid() == _pid:
            for _, client in clients:
                _close(client, 1.0)


__all__ = ["borrowed_admin", "borrowed_consumer", "borrowed_producer", "close_all"]
