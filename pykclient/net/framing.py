"""Frames and headers around message bodies.

Pure, but for FrameSplitter, which belongs to its connection. Must never allocate for a size before the bytes have
arrived.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from pykclient.errors import FrameTooLarge, ProtocolError
from pykclient.net.transport import Buffer
from pykclient.protocol.messages import ApiKey, api
from pykclient.protocol.wire import DECODE_ERRORS, append_message, encode_nullable_string, read_unknown_tags

_SIZE = struct.Struct(">i")
_REQUEST = struct.Struct(">ihhi")


def encode_request(
    api_key: int, version: int, correlation_id: int, client_id: str | None, message: Any
) -> list[Buffer]:
    """A whole frame as a list of buffers; large fields are passed through, not copied."""
    info = api(ApiKey(api_key))
    body: list[Buffer] = [encode_nullable_string(client_id)]
    if info.request_header_version(version) >= 2:
        body.append(b"\0")
    append_message(body, message, version, info.min_version, info.max_version)
    size = 8 + sum(map(len, body))
    return _coalesce(_REQUEST.pack(size, api_key, version, correlation_id), body)


def encode_response(api_key: int, version: int, correlation_id: int, message: Any) -> list[Buffer]:
    """A whole frame as a list of buffers."""
    info = api(ApiKey(api_key))
    body: list[Buffer] = [b"\0"] if info.response_header_version(version) >= 1 else []
    append_message(body, message, version, info.min_version, info.max_version)
    return _coalesce(struct.pack(">ii", 4 + sum(map(len, body)), correlation_id), body)


def _coalesce(head: bytes, body: list[Buffer]) -> list[Buffer]:
    """Join the many small pieces and leave the large ones alone: a short list is what sendmsg likes."""
    out: list[Buffer] = []
    small: list[Buffer] = [head]
    for piece in body:
        if len(piece) < 4096:
            small.append(piece)
        else:
            out += (b"".join(small), piece)
            small = []
    if small:
        out.append(b"".join(small))
    return out


def decode_response_header(frame: memoryview, header_version: int) -> tuple[int, memoryview]:
    """Correlation id and body."""
    try:
        (correlation_id,) = _SIZE.unpack_from(frame, 0)
        position = 4
        if header_version >= 1:
            _, position = read_unknown_tags(frame, 4)
    except DECODE_ERRORS as error:
        raise ProtocolError(f"a response of {len(frame)} bytes is too short for its header") from error
    return correlation_id, frame[position:]


class FrameSplitter:
    """Cuts a stream into frames. ``bytes_max`` may be changed at any time and counts from the next frame on."""

    __slots__ = ("_chunks", "_have", "_need", "bytes_max")

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self._chunks: list[Buffer] = []
        self._have = 0
        self._need = -1

    def feed(self, data: bytes) -> Iterator[memoryview]:
        """Give whole frames without their size; keep the rest."""
        rest: Buffer = data
        if self._chunks:
            self._chunks.append(data)
            self._have += len(data)
            if self._have < (4 if self._need < 0 else self._need):
                return
            rest = b"".join(self._chunks)
            self._chunks, self._have, self._need = [], 0, -1
        view = memoryview(rest)
        position, end = 0, len(view)
        while end - position >= 4:
            (size,) = _SIZE.unpack_from(view, position)
            if size < 0:
                raise ProtocolError(f"a frame announces {size} bytes")
            if size > self.bytes_max:
                raise FrameTooLarge(size=size, limit=self.bytes_max)
            if end - position - 4 < size:
                self._need = size + 4
                break
            yield view[position + 4 : position + 4 + size]
            position += 4 + size
        if position < end:
            self._chunks, self._have = [view[position:]], end - position


__all__ = ["FrameSplitter", "decode_response_header", "encode_request", "encode_response"]
