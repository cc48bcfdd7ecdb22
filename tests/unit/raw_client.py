"""The smallest client there is: one socket, one request, one answer.

For tests that look at single answers of a broker.
"""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Any

from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.wire import decode_response_header, encode_request


class RawClient:
    """Blocking, one request at a time unless ``send`` and ``receive`` are used apart."""

    def __init__(self, address: str, *, client_id: str = "raw", timeout_s: float = 10.0, tls: Any = None) -> None:
        host, _, port = address.split(",")[0].rpartition(":")
        self.socket: socket.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
        self.client_id = client_id
        self._sent: list[tuple[int, ApiKey, int]] = []
        self._next_id = 1

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, key: ApiKey, version: int, message: Any, *, answered: bool = True) -> None:
        data = encode_request(key, version, self._next_id, self.client_id, message)
        self.socket.sendall(b"".join(data) if isinstance(data, list) else data)
        if answered:
            self._sent.append((self._next_id, key, version))
        self._next_id += 1

    def receive_frame(self) -> bytes:
        size = struct.unpack(">i", self._exactly(4))[0]
        return self._exactly(size)

    def receive(self) -> Any:
        correlation_id, key, version = self._sent.pop(0)
        frame = self.receive_frame()
        found, position = decode_response_header(frame, key, version)
        assert found == correlation_id, f"answer {found} came where {correlation_id} was due"
        return api(key).response_class().read(frame, version, position)

    def ask(self, key: ApiKey, message: Any, version: int | None = None) -> Any:
        self.send(key, api(key).max_version if version is None else version, message)
        return self.receive()

    def is_closed(self) -> bool:
        """Whether the broker has closed the connection; waits for it up to the time-out."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = self.socket.recv(size - len(data))
            if not chunk:
                raise ConnectionError("closed")
            data += chunk
        return data
