"""Raw requests to any broker, and answers made comparable: what differs by nature (ids, ports, clocks) is masked."""

from __future__ import annotations

import dataclasses
import socket
import struct
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pykclient.protocol.messages import api
from pykclient.protocol.records import BatchHeader, iter_batches
from pykclient.protocol.wire import decode_response_header, encode_request

# Names of fields whose values cannot be equal on two clusters. An absent value (-1, zero, empty, None) still shows.
_NODES = {"node_id", "leader_id", "controller_id", "broker_id", "replica_nodes", "isr_nodes", "preferred_read_replica"}
_ADDRESSES = {"host", "port", "cluster_id", "client_host"}
_IDENTITIES = {"topic_id": 0, "member_id": "", "leader": "", "producer_id": -1, "session_id": 0}
_TIMES = {
    "throttle_time_ms",
    "log_append_time_ms",
    "transaction_start_time_ms",
    "last_timestamp",
    "finalized_features_epoch",
}
# Texts are for people; Kafka itself gives none, an empty one or a long one for the same error.
_LEFT_OUT = {"unknown_tags", "error_message", "batch_index_error_message"}
# Kafka gives some lists in the order of a hash map.
_ORDERED_BY = ("name", "group_id", "user", "partition_index", "partition")
NEW_ENOUGH_TO_BE_A_TIME_MS = 1_500_000_000_000


class Closed(Exception):
    """The broker hung up instead of answering."""


class Wire:
    """One connection after another to one broker."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.split(",")[0].rpartition(":")
        self._address = (host, int(port))
        self._socket: socket.socket | None = None

    def ask(self, request: Any, version: int, *, answered: bool = True) -> Any:
        """The response message; raises Closed when the broker closes the connection."""
        key = type(request).API_KEY
        self.send(b"".join(bytes(part) for part in encode_request(key, version, 77, "differ", request)))
        if not answered:
            return None
        frame = self.receive()
        correlation_id, position = decode_response_header(frame, key, version)
        assert correlation_id == 77
        return api(key).response_class().read(frame[position:], version)

    def send(self, data: bytes) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
        self._socket.sendall(data)

    def receive(self) -> bytes:
        return self._read(struct.unpack(">i", self._read(4))[0])

    def _read(self, count: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < count:
            try:
                chunk = self._socket.recv(count - len(data))
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                self.close()
                raise Closed
            data += chunk
        return data

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Conversation:
    """Asks, and keeps every answer under a label in comparable form."""

    def __init__(self, bootstrap_servers: str, names: dict[str, str]) -> None:
        self.wire = Wire(bootstrap_servers)
        self.answers: dict[str, Any] = {}
        self.names = names

    def ask(self, label: str, request: Any, version: int) -> Any:
        label = f"{label} v{version}"
        assert label not in self.answers, f"two answers under {label}"
        try:
            response = self.wire.ask(request, version)
        except Closed:
            self.answers[label] = "closed"
            return None
        self.answers[label] = comparable(response)
        return response

    def note(self, label: str, value: Any) -> None:
        self.answers[label] = value


def comparable(value: Any, name: str = "") -> Any:
    """Plain data, with what differs by nature replaced by a word."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        left_out = _LEFT_OUT
        if getattr(value, "name", None) == "min.insync.replicas":
            left_out = _LEFT_OUT | {"config_source"}  # A new Kafka cluster sets it for itself, to its own default.
        return {
            f.name: comparable(getattr(value, f.name), f.name)
            for f in dataclasses.fields(value)
            if f.name not in left_out
        }
    if isinstance(value, (list, tuple)):
        found = [comparable(each, name) for each in value]
        keys = [key for key in _ORDERED_BY if found and isinstance(found[0], dict) and key in found[0]]
        return sorted(found, key=lambda each: str(each[keys[0]])) if keys else found
    if isinstance(value, uuid.UUID):
        return "an id" if value.int else "no id"
    if name == "records" and value:
        return [_comparable_batch(each) for each in iter_batches(bytes(value))]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if name in _TIMES:
        return "a time"
    if name in _NODES:
        return "a node" if value >= 0 else value
    if name in _ADDRESSES:
        return "an address" if value else value
    if name in _IDENTITIES and type(value) is type(_IDENTITIES[name]):
        return "an id" if value != _IDENTITIES[name] else value
    if isinstance(value, int) and value > NEW_ENOUGH_TO_BE_A_TIME_MS and value < 2**60:
        return "a time"
    return value


def _comparable_batch(batch: BatchHeader) -> dict[str, Any]:
    """A stored batch without what the producer id does to its bytes."""
    fields = batch._asdict()
    return {name: comparable(value, name) for name, value in fields.items() if name not in ("crc", "position")}


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two comparable answers differ, one line each."""
    if isinstance(expected, dict) and isinstance(found, dict):
        lines = [f"{path}.{key}: only in Kafka" for key in expected.keys() - found.keys()]
        lines += [f"{path}.{key}: only in the embedded broker" for key in found.keys() - expected.keys()]
        for key in expected.keys() & found.keys():
            lines += differences(expected[key], found[key], f"{path}.{key}")
        return lines
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        lines = []
        for index, (left, right) in enumerate(zip(expected, found, strict=True)):
            lines += differences(left, right, f"{path}[{index}]")
        return lines
    return [] if expected == found else [f"{path}: Kafka {expected!r}, embedded {found!r}"]


class Compare(Protocol):
    """Holds the same conversation with both clusters and names every difference.

    ``known``: patterns of differences that are not mended yet. A line there is a debt: remove it with the fix.
    """

    def __call__(self, talk: Callable[[Conversation], None], *, known: Sequence[str] = ()) -> None: ...
