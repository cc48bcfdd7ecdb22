"""One request, one connection, one answer: the protocol without a client's manners, to ask brokers what clients never
would.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from pykclient.errors import ErrorCode
from pykclient.protocol.messages import api
from pykclient.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykclient.protocol.messages.heartbeat import HeartbeatRequest
from pykclient.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykclient.protocol.wire import decode_response_header, encode_request

TIMEOUT_S = 30.0


class Pending:
    """A request on its way; the broker may hold it."""

    def __init__(self, address: tuple[str, int], request: Any, version: int) -> None:
        self._key, self._version = request.API_KEY, version
        self._socket = socket.create_connection(address, timeout=TIMEOUT_S)
        parts = encode_request(self._key, version, 1, "raw", request)
        self._socket.sendall(b"".join(bytes(part) for part in parts))

    def result(self) -> Any:
        """The answer."""
        with self._socket:
            frame = self._read(struct.unpack(">i", self._read(4))[0])
        _, start = decode_response_header(frame, self._key, self._version)
        return api(self._key).response_class().read(frame[start:], self._version)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = self._socket.recv(size - len(data))
            assert chunk, "the broker closed the connection"
            data += chunk
        return data


class RawClient:
    """Talks to the first broker; meant for clusters of one."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, port = bootstrap_servers.split(",")[0].rsplit(":", 1)
        self._address = (host, int(port))

    def start(self, request: Any, version: int | None = None) -> Pending:
        """Send; the answer is fetched later."""
        newest = api(request.API_KEY).max_version
        return Pending(self._address, request, newest if version is None else version)

    def call(self, request: Any, version: int | None = None) -> Any:
        """Send and wait."""
        return self.start(request, version).result()

    def create_topic(self, name: str, partitions: int) -> Any:
        """Create it, wait until it is there, and give its id."""
        topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
        assert self.call(CreateTopicsRequest(topics=topics, timeout_ms=10_000)).topics[0].error_code == 0

        def described() -> Any:
            found = self.call(MetadataRequest(topics=[MetadataRequestTopic(name=name)])).topics[0]
            return found if not found.error_code and len(found.partitions) == partitions else None

        return eventually(described).topic_id

    def wait_for_coordinator(self, group_id: str) -> None:
        """Until the group's coordinator has loaded its partition."""
        request = HeartbeatRequest(group_id=group_id, member_id="nobody", generation_id=1)
        eventually(lambda: self.call(request).error_code == ErrorCode.UNKNOWN_MEMBER_ID)


def eventually(condition: Callable[[], Any]) -> Any:
    """The first true value of the condition; asking is what makes a broker go on, so it is asked often."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come about")
