"""Frames and headers: what stands around a message on a connection.

Owns: cutting a byte stream into frames, request headers (version 1 and 2) and response headers (0 and 1), whole
requests and responses ready to send. Functions are pure; a `FrameSplitter` belongs to one connection and its thread.
Must never hold much more of a frame than has arrived, nor start on one larger than allowed, and must let nothing but
ProtocolError out for bytes from the other side.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from pykclient.errors import FrameTooLarge, ProtocolError
from pykclient.protocol import accel
from pykclient.protocol.messages import api
from pykclient.protocol.primitives import DECODE_ERRORS, Buffer, encode_nullable_string, read_nullable_string
from pykclient.protocol.structs import Message, read_unknown_tags, write_parts

FRAME_BYTES_MAX = 100 * 1024 * 1024  # The broker's own default for requests, and enough for any fetch response.
WHOLE_PART_BYTES = 8 * 1024  # Parts from this size on are sent as they are; smaller ones are joined first.
# From this many missing bytes on, a frame is worth being received in its place.
ROOM_BYTES_MIN = 32 * 1024
# Memory is laid out for this much of a frame at once, and for more only in proportion to what has arrived.
ROOM_BYTES_MAX = 4 * 1024 * 1024

_INT32 = Struct(">i")
_REQUEST_START = Struct(">ihhi")
_REQUEST_HEADER = Struct(">hhi")
_RESPONSE_START = Struct(">ii")


class RequestHead(NamedTuple):
    """A request's header, and where in the frame its body begins."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    position: int


def encode_request(
    api_key: int, version: int, correlation_id: int, client_id: str | None, message: Message
) -> list[Buffer]:
    """A whole request, size included. Large record batches are not copied and must not change until they are sent."""
    header = encode_nullable_string(client_id)
    if api(api_key).request_header_version(version) >= 2:
        header += b"\0"
    parts = write_parts(message, version)
    size = 8 + len(header) + _total(parts)
    parts[0:0] = [_REQUEST_START.pack(size, api_key, version, correlation_id), header]
    return _joined(parts)


def encode_response(api_key: int, version: int, correlation_id: int, message: Message) -> list[Buffer]:
    """A whole response, size included."""
    header_version = api(api_key).response_header_version(version)
    parts = write_parts(message, version)
    parts.insert(0, _RESPONSE_START.pack(4 + header_version + _total(parts), correlation_id))
    if header_version:
        parts.insert(1, b"\0")
    return _joined(parts)


def decode_request_header(frame: Buffer) -> RequestHead:
    """The header of a request to any API that Kafka has, in any version; which are served is for the server to say."""
    try:
        api_key, version, correlation_id = _REQUEST_HEADER.unpack_from(frame)
        client_id, position = read_nullable_string(frame, 8)
        if api(api_key).request_header_version(version) >= 2:
            _, position = read_unknown_tags(frame, position)
    except KeyError as error:
        raise ProtocolError(f"there is no API with key {error}") from error
    except DECODE_ERRORS as error:
        raise ProtocolError(f"a request of {len(frame)} bytes ends within its header: {error}") from error
    return RequestHead(api_key, version, correlation_id, client_id, position)


def peek_correlation_id(frame: Buffer) -> int:
    """Which request a response answers; only then is it known how to read the rest."""
    if len(frame) < 4:
        raise ProtocolError(f"a response of {len(frame)} bytes has no correlation id")
    return int(_INT32.unpack_from(frame)[0])


def decode_response_header(frame: Buffer, api_key: int, version: int) -> tuple[int, int]:
    """The correlation id, and where the body begins, of a response to this API and version."""
    correlation_id = peek_correlation_id(frame)
    if api(api_key).response_header_version(version) == 0:
        return correlation_id, 4
    try:
        return correlation_id, read_unknown_tags(frame, 4)[1]
    except DECODE_ERRORS as error:
        raise ProtocolError(f"a response of {len(frame)} bytes ends within its header: {error}") from error


class FrameSplitter:
    """Cuts what arrives into frames; each comes without its four bytes of size.

    A size that is negative or above `bytes_max` raises at once, before a byte of that frame is kept. `bytes_max` may be
    raised or lowered between frames (a connection that is not yet authenticated deserves little memory).
    """

    __slots__ = ("_held", "_missing", "_partial", "_size_bytes", "bytes_max")

    def __init__(self, bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self._size_bytes = b""  # The size field, while it is not complete.
        self._partial: bytearray | None = None  # The frame, while it is not complete; may have room at its end.
        self._held = 0
        self._missing = 0

    @property
    def buffered_bytes(self) -> int:
        """What is held of an unfinished frame."""
        return len(self._size_bytes) + (0 if self._partial is None else self._held)

    def room(self) -> memoryview | None:
        """Where the next bytes of an unfinished frame may be received directly (tell `filled` how many were), None when
        they are not worth it. Given up by the next call of any method."""
        partial, held = self._partial, self._held
        if partial is None or self._missing < ROOM_BYTES_MIN:
            return None
        if held == len(partial):
            accel.active.resize(partial, min(held + self._missing, max(ROOM_BYTES_MAX, 2 * held)))
        return memoryview(partial)[held:]

    def filled(self, size: int) -> list[Buffer]:
        """The frame that this many bytes in the `room` complete, if they do."""
        assert self._partial is not None, "there was room"
        assert size <= len(self._partial) - self._held, "no more than that"
        self._held += size
        self._missing -= size
        return self._finished()

    def _finished(self) -> list[Buffer]:
        partial = self._partial
        if self._missing or partial is None:
            return []
        self._partial = None
        return [partial]

    def _add(self, partial: bytearray, data: bytes | memoryview) -> None:
        if self._held == len(partial):
            partial += data
        else:
            place = min(len(data), len(partial) - self._held)
            partial[self._held : self._held + place] = data[:place]
            partial += data[place:]
        self._held += len(data)
        self._missing -= len(data)

    def feed(self, data: bytes) -> list[Buffer]:
        """The frames that `data` completes, in order."""
        frames: list[Buffer] = []
        position = 0
        if self._partial is not None:
            position = min(self._missing, len(data))
            self._add(self._partial, data if position == len(data) else memoryview(data)[:position])
            frames = self._finished()
            if not frames:
                return frames
        elif self._size_bytes:
            data = self._size_bytes + data
            self._size_bytes = b""
        while len(data) - position >= 4:
            size = self._checked_size(data, position)
            position += 4
            end = position + size
            if end > len(data):
                self._partial = bytearray(memoryview(data)[position:])
                self._held = len(self._partial)
                self._missing = end - len(data)
                return frames
            frames.append(data[position:end])
            position = end
        self._size_bytes = data[position:]
        return frames

    def _checked_size(self, data: bytes, position: int) -> int:
        size = int(_INT32.unpack_from(data, position)[0])
        if size < 0:
            raise ProtocolError(f"a frame announces {size} bytes; the other side may not speak Kafka")
        if size > self.bytes_max:
            raise FrameTooLarge(size=size, limit=self.bytes_max)
        return size


def _total(parts: list[Buffer]) -> int:
    return sum([part.nbytes if isinstance(part, memoryview) else len(part) for part in parts])


def _joined(parts: list[Buffer]) -> list[Buffer]:
    """The same bytes in fewer parts: runs of small ones become one, so that a send needs few vectors."""
    joined: list[Buffer] = []
    start = 0
    for index in [index for index, part in enumerate(parts) if len(part) >= WHOLE_PART_BYTES]:
        if index > start:
            joined.append(b"".join(parts[start:index]))
        joined.append(parts[index])
        start = index + 1
    if start < len(parts):
        joined.append(b"".join(parts[start:]))
    return joined


__all__ = [
    "FRAME_BYTES_MAX",
    "Buffer",
    "FrameSplitter",
    "Message",
    "RequestHead",
    "decode_request_header",
    "decode_response_header",
    "encode_request",
    "encode_response",
    "peek_correlation_id",
]
