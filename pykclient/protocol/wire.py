"""Kafka's primitive types, headers and frames: bytes to values and back.

Owns: readers `read_x(buffer, position) -> (value, next position)` and encoders `encode_x(value) -> bytes`, which the
generated messages call; request and response headers; cutting a byte stream into frames.
Pure functions for any thread, except `FrameSplitter`, which belongs to its connection. Must never allocate for a
length or a count before comparing it with the bytes that are there, and must let nothing but ProtocolError out for
bytes from outside: low-level readers may raise IndexError or struct.error at the end of a buffer, and `DECODE_ERRORS`
names what the outermost reader turns into ProtocolError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Protocol, TypeVar
from uuid import UUID

from pykclient.errors import ProtocolError, UsageError

Buffer = bytes | bytearray | memoryview
T = TypeVar("T")

DECODE_ERRORS = (IndexError, struct.error, UnicodeDecodeError)
ENCODE_ERRORS = (struct.error, UnicodeEncodeError, AttributeError, TypeError)

STRING_BYTES_MAX = 32767
UVARINT_MAX = 0xFFFFFFFF
ZERO_UUID = UUID(int=0)
# Stand for "not given" in constructors of messages, where None is a value; a fresh list or struct takes their place.
EMPTY: list[Any] = []
NOT_GIVEN: Any = Ellipsis

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_ONE_BYTE = [bytes((value,)) for value in range(256)]
_NULL_INT16 = b"\xff\xff"
_NULL_INT32 = b"\xff\xff\xff\xff"
_SIZES = {"b": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8}


# ---- varints ----


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Unsigned, at most five bytes. Like Java, overlong forms pass and the excess high bits of the fifth byte are dropped."""
    value = buffer[position]
    if value < 0x80:
        return value, position + 1
    value &= 0x7F
    for shift in (7, 14, 21, 28):
        position += 1
        byte = buffer[position]
        if byte < 0x80:
            return (value | byte << shift) & UVARINT_MAX, position + 1
        value |= (byte & 0x7F) << shift
    raise ProtocolError(f"a varint at byte {position - 4} is longer than five bytes")


def read_uvarlong(buffer: Buffer, position: int) -> tuple[int, int]:
    """Unsigned, at most ten bytes."""
    value = shift = 0
    for at in range(position, position + 10):
        byte = buffer[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + 1
        shift += 7
    raise ProtocolError(f"a varlong at byte {position} is longer than ten bytes")


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Zigzag, 32 bits."""
    raw, position = read_uvarint(buffer, position)
    return (raw >> 1) ^ -(raw & 1), position


def read_varlong(buffer: Buffer, position: int) -> tuple[int, int]:
    """Zigzag, 64 bits."""
    raw, position = read_uvarlong(buffer, position)
    return (raw >> 1) ^ -(raw & 1), position


def encode_uvarint(value: int) -> bytes:
    if value < 0x80:
        return _ONE_BYTE[value] if value >= 0 else _refuse_negative(value)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


encode_uvarlong = encode_uvarint


def encode_varint(value: int) -> bytes:
    return encode_uvarint(value << 1 ^ value >> 31)


def encode_varlong(value: int) -> bytes:
    return encode_uvarint(value << 1 ^ value >> 63)


def _refuse_negative(value: int) -> bytes:
    raise UsageError(f"{value} cannot be written as an unsigned varint")


# ---- strings and bytes ----


def _end(buffer: Buffer, position: int, size: int) -> int:
    end = position + size
    if end > len(buffer):
        raise ProtocolError(f"{size} bytes announced at byte {position}, {len(buffer) - position} are there")
    return end


def _unexpected_null(position: int) -> ProtocolError:
    return ProtocolError(f"null at byte {position}, where this version allows none")


def read_nullable_string(buffer: Buffer, position: int) -> tuple[str | None, int]:
    (size,) = _INT16.unpack_from(buffer, position)
    if size < 0:
        return None, position + 2
    position += 2
    end = _end(buffer, position, size)
    return str(buffer[position:end], "utf-8"), end


def read_string(buffer: Buffer, position: int) -> tuple[str, int]:
    (size,) = _INT16.unpack_from(buffer, position)
    if size < 0:
        raise _unexpected_null(position)
    position += 2
    end = _end(buffer, position, size)
    return str(buffer[position:end], "utf-8"), end


def read_compact_nullable_string(buffer: Buffer, position: int) -> tuple[str | None, int]:
    size = buffer[position]
    if size == 0:
        return None, position + 1
    if size < 0x80:
        position += 1
        end = position + size - 1
        if end > len(buffer):
            _end(buffer, position, size - 1)
        return str(buffer[position:end], "utf-8"), end
    return _read_long_compact_string(buffer, position)


def read_compact_string(buffer: Buffer, position: int) -> tuple[str, int]:
    size = buffer[position]
    if size == 0:
        raise _unexpected_null(position)
    if size < 0x80:
        position += 1
        end = position + size - 1
        if end > len(buffer):
            _end(buffer, position, size - 1)
        return str(buffer[position:end], "utf-8"), end
    return _read_long_compact_string(buffer, position)


def _read_long_compact_string(buffer: Buffer, position: int) -> tuple[str, int]:
    size, position = read_uvarint(buffer, position)
    if not 0 < size <= STRING_BYTES_MAX + 1:
        raise ProtocolError(f"a string of {size - 1} bytes at byte {position}")
    end = _end(buffer, position, size - 1)
    return str(buffer[position:end], "utf-8"), end


def _read_span(buffer: Buffer, position: int) -> tuple[int, int]:
    """Start and end of int32-sized bytes; end is -1 for null."""
    (size,) = _INT32.unpack_from(buffer, position)
    position += 4
    return position, (_end(buffer, position, size) if size >= 0 else -1)


def _read_compact_span(buffer: Buffer, position: int) -> tuple[int, int]:
    size, position = read_uvarint(buffer, position)
    return position, (_end(buffer, position, size - 1) if size else -1)


def read_nullable_bytes(buffer: Buffer, position: int) -> tuple[bytes | None, int]:
    start, end = _read_span(buffer, position)
    return (None, start) if end < 0 else (bytes(buffer[start:end]), end)


def read_bytes(buffer: Buffer, position: int) -> tuple[bytes, int]:
    start, end = _read_span(buffer, position)
    if end < 0:
        raise _unexpected_null(position)
    return bytes(buffer[start:end]), end


def read_compact_nullable_bytes(buffer: Buffer, position: int) -> tuple[bytes | None, int]:
    start, end = _read_compact_span(buffer, position)
    return (None, start) if end < 0 else (bytes(buffer[start:end]), end)


def read_compact_bytes(buffer: Buffer, position: int) -> tuple[bytes, int]:
    start, end = _read_compact_span(buffer, position)
    if end < 0:
        raise _unexpected_null(position)
    return bytes(buffer[start:end]), end


def read_nullable_records(buffer: Buffer, position: int) -> tuple[memoryview | None, int]:
    """A view into `buffer`, never a copy: a fetch response may hold a hundred megabytes of them."""
    start, end = _read_span(buffer, position)
    return (None, start) if end < 0 else (memoryview(buffer)[start:end], end)


def read_compact_nullable_records(buffer: Buffer, position: int) -> tuple[memoryview | None, int]:
    start, end = _read_compact_span(buffer, position)
    return (None, start) if end < 0 else (memoryview(buffer)[start:end], end)


def encode_string(value: str) -> bytes:
    encoded = value.encode()
    return _INT16.pack(len(encoded)) + encoded


def encode_nullable_string(value: str | None) -> bytes:
    return _NULL_INT16 if value is None else encode_string(value)


def encode_compact_string(value: str) -> bytes:
    encoded = value.encode()
    size = len(encoded) + 1
    if size < 0x80:
        return _ONE_BYTE[size] + encoded
    if size > STRING_BYTES_MAX + 1:
        raise UsageError(f"a string of {size - 1} bytes is longer than Kafka's {STRING_BYTES_MAX}")
    return encode_uvarint(size) + encoded


def encode_compact_nullable_string(value: str | None) -> bytes:
    return b"\0" if value is None else encode_compact_string(value)


# Bytes and records are given to the output as they are, behind their size, so that large ones are joined once.


def encode_size(value: Buffer) -> bytes:
    return _INT32.pack(len(value))


def encode_compact_size(value: Buffer) -> bytes:
    return encode_uvarint(len(value) + 1)


# ---- arrays ----


def _check_count(buffer: Buffer, position: int, count: int, size_min: int) -> None:
    if count * size_min > len(buffer) - position:
        raise ProtocolError(
            f"{count} elements of at least {size_min} bytes announced at byte {position}, "
            f"{len(buffer) - position} bytes are there"
        )


def read_nullable_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    """How many elements follow, -1 for null. `size_min` is the least an element can take."""
    (count,) = _INT32.unpack_from(buffer, position)
    position += 4
    if count < 0:
        return -1, position
    if count * size_min > len(buffer) - position:
        _check_count(buffer, position, count, size_min)
    return count, position


def read_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    count, end = read_nullable_count(buffer, position, size_min)
    if count < 0:
        raise _unexpected_null(position)
    return count, end


def read_compact_nullable_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    count = buffer[position] - 1
    if count >= 0x7F:
        count, position = read_uvarint(buffer, position)
        count -= 1
    else:
        position += 1
    if count * size_min > len(buffer) - position:
        _check_count(buffer, position, count, size_min)
    return count, position


def read_compact_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    count, end = read_compact_nullable_count(buffer, position, size_min)
    if count < 0:
        raise _unexpected_null(position)
    return count, end


def read_structs(
    buffer: Buffer, position: int, version: int, count: int, read: Callable[[Buffer, int, int], tuple[T, int]]
) -> tuple[list[T], int]:
    items = []
    for _ in range(count):
        item, position = read(buffer, position, version)
        items.append(item)
    return items, position


def read_strings(buffer: Buffer, position: int, count: int) -> tuple[list[str], int]:
    items = []
    for _ in range(count):
        item, position = read_string(buffer, position)
        items.append(item)
    return items, position


def read_compact_strings(buffer: Buffer, position: int, count: int) -> tuple[list[str], int]:
    items = []
    for _ in range(count):
        item, position = read_compact_string(buffer, position)
        items.append(item)
    return items, position


def read_numbers(buffer: Buffer, position: int, count: int, code: str) -> tuple[list[int], int]:
    """`count` numbers of one `struct` code; the caller has compared the count with the bytes that are there."""
    end = position + count * _SIZES[code]
    return list(struct.unpack_from(f">{count}{code}", buffer, position)), end


def read_uuids(buffer: Buffer, position: int, count: int) -> tuple[list[UUID], int]:
    end = position + 16 * count
    return [uuid_of(bytes(buffer[at : at + 16])) for at in range(position, end, 16)], end


def encode_count(values: list[Any]) -> bytes:
    return _INT32.pack(len(values))


def encode_compact_count(values: list[Any]) -> bytes:
    count = len(values) + 1
    return _ONE_BYTE[count] if count < 0x80 else encode_uvarint(count)


def encode_numbers(values: list[int], code: str) -> bytes:
    return struct.pack(f">{len(values)}{code}", *values)


@lru_cache(maxsize=4096)
def uuid_of(raw: bytes) -> UUID:
    """Building a UUID takes ten times as long as finding it again, and the same few topic ids come with every response."""
    return UUID(bytes=raw)


# ---- tagged fields ----


def read_tag(buffer: Buffer, position: int, previous: int) -> tuple[int, int, int]:
    """One tag's number, the position of its content and the end of it. Numbers must ascend, so none comes twice."""
    tag, position = read_uvarint(buffer, position)
    if tag <= previous:
        raise ProtocolError(f"tag {tag} after tag {previous} at byte {position}")
    size, position = read_uvarint(buffer, position)
    return tag, position, _end(buffer, position, size)


def read_tag_count(buffer: Buffer, position: int) -> tuple[int, int]:
    count, position = read_uvarint(buffer, position)
    _check_count(buffer, position, count, 2)
    return count, position


def read_unknown_tags(buffer: Buffer, position: int) -> tuple[dict[int, bytes] | None, int]:
    """The tags of a struct that defines none of its own."""
    if buffer[position] == 0:
        return None, position + 1
    count, position = read_tag_count(buffer, position)
    tags: dict[int, bytes] = {}
    tag = -1
    for _ in range(count):
        tag, start, position = read_tag(buffer, position, tag)
        tags[tag] = bytes(buffer[start:position])
    return tags or None, position


def check_tag_end(position: int, end: int, tag: int) -> None:
    if position != end:
        raise ProtocolError(f"the content of tag {tag} ends at byte {position} instead of {end}")


def append_tags(out: list[Buffer], known: list[tuple[int, bytes]], unknown: dict[int, bytes] | None) -> None:
    """Known and unknown tags in ascending order. `known` is in order already."""
    if unknown:
        numbers = {tag for tag, _ in known}
        if not numbers.isdisjoint(unknown):
            raise UsageError(f"unknown_tags repeats a field's own tag: {sorted(numbers & unknown.keys())}")
        known = sorted([*known, *unknown.items()])
    out.append(encode_uvarint(len(known)))
    for tag, content in known:
        out += (encode_uvarint(tag), encode_uvarint(len(content)), content)


# ---- what every message shares ----


class Message(Protocol):
    """What the generated requests, responses and records have in common."""

    def write(self, version: int) -> bytes: ...

    def _write(self, out: list[Buffer], version: int) -> None: ...


def write_message(message: Message, version: int, low: int, high: int) -> bytes:
    """The body of `message`; what the version cannot carry is the caller's mistake."""
    out: list[Buffer] = []
    append_message(out, message, version, low, high)
    return b"".join(out)


def append_message(out: list[Buffer], message: Message, version: int, low: int, high: int) -> None:
    name = type(message).__name__
    if not low <= version <= high:
        raise UsageError(f"{name} has versions {low} to {high}, not {version}")
    try:
        message._write(out, version)
    except ENCODE_ERRORS as error:
        raise UsageError(f"{name} version {version} cannot be written: {error}") from error


def read_message(
    name: str,
    read: Callable[[Buffer, int, int], tuple[T, int]],
    buffer: Buffer,
    position: int,
    version: int,
    versions: tuple[int, int],
) -> T:
    """The message that fills `buffer` from `position` to its end."""
    low, high = versions
    if not low <= version <= high:
        raise ProtocolError(f"{name} has versions {low} to {high}, not {version}")
    try:
        message, position = read(buffer, position, version)
    except DECODE_ERRORS as error:
        raise ProtocolError(f"{name} version {version} does not fit its {len(buffer)} bytes: {error}") from error
    if position != len(buffer):
        raise ProtocolError(f"{name} version {version} leaves {len(buffer) - position} bytes unread")
    return message


def not_carried(message: object, field: str, version: int) -> UsageError:
    """A field is set (or null) that this version has no place for; sending without it would change the meaning."""
    value = getattr(message, field)
    return UsageError(f"{type(message).__name__} version {version} cannot carry {field}={value!r}")


def structs_equal(self: Any, other: object) -> bool:
    """`__eq__` of every message and struct."""
    if other.__class__ is not self.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)


def struct_repr(self: Any) -> str:
    """`__repr__` of every message and struct."""
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__name__}({values})"


def join(parts: Iterable[Buffer]) -> bytes:
    return b"".join(parts)
