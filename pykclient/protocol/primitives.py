"""Kafka's primitive types: values to bytes and back.

Owns: readers `read_x(buffer, position) -> (value, next position)` and encoders `encode_x(value) -> bytes`, which the
generated messages call, and what all messages share. Pure functions, for any thread.
Must never allocate for a length or a count before comparing it with the bytes that are there. The small readers may
raise IndexError or struct.error at the end of a buffer; `read_message` turns everything in DECODE_ERRORS into
ProtocolError, the only error that bytes from outside may cause.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias
from uuid import UUID

from pykclient.errors import ProtocolError, UsageError

Buffer: TypeAlias = bytes | bytearray | memoryview

DECODE_ERRORS = (IndexError, struct.error, UnicodeDecodeError)
ENCODE_ERRORS = (struct.error, UnicodeEncodeError, AttributeError, TypeError)

STRING_BYTES_MAX = 32767
UVARINT_MAX = 0xFFFFFFFF
ZERO_UUID = UUID(int=0)

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_ONE_BYTE = [bytes((value,)) for value in range(256)]
_NULL_INT16 = b"\xff\xff"
_NULL_INT32 = b"\xff\xff\xff\xff"


# ---- varints ----


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Unsigned, at most five bytes. As in Java, overlong forms pass and excess bits of the fifth byte are dropped."""
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


def end_of(buffer: Buffer, position: int, size: int) -> int:
    end = position + size
    if end > len(buffer):
        raise ProtocolError(f"{size} bytes announced at byte {position}, {len(buffer) - position} are there")
    return end


def unexpected_null(position: int) -> ProtocolError:
    return ProtocolError(f"null at byte {position}, where this version allows none")


def read_nullable_string(buffer: Buffer, position: int) -> tuple[str | None, int]:
    (size,) = _INT16.unpack_from(buffer, position)
    if size < 0:
        return None, position + 2
    position += 2
    end = end_of(buffer, position, size)
    return str(buffer[position:end], "utf-8"), end


def read_string(buffer: Buffer, position: int) -> tuple[str, int]:
    (size,) = _INT16.unpack_from(buffer, position)
    if size < 0:
        raise unexpected_null(position)
    position += 2
    end = end_of(buffer, position, size)
    return str(buffer[position:end], "utf-8"), end


def read_compact_nullable_string(buffer: Buffer, position: int) -> tuple[str | None, int]:
    size = buffer[position]
    if size == 0:
        return None, position + 1
    if size < 0x80:
        position += 1
        end = position + size - 1
        if end > len(buffer):
            end_of(buffer, position, size - 1)
        return str(buffer[position:end], "utf-8"), end
    return _read_long_compact_string(buffer, position)


def read_compact_string(buffer: Buffer, position: int) -> tuple[str, int]:
    size = buffer[position]
    if size == 0:
        raise unexpected_null(position)
    if size < 0x80:
        position += 1
        end = position + size - 1
        if end > len(buffer):
            end_of(buffer, position, size - 1)
        return str(buffer[position:end], "utf-8"), end
    return _read_long_compact_string(buffer, position)


def _read_long_compact_string(buffer: Buffer, position: int) -> tuple[str, int]:
    size, position = read_uvarint(buffer, position)
    if not 0 < size <= STRING_BYTES_MAX + 1:
        raise ProtocolError(f"a string of {size - 1} bytes at byte {position}")
    end = end_of(buffer, position, size - 1)
    return str(buffer[position:end], "utf-8"), end


def _read_span(buffer: Buffer, position: int) -> tuple[int, int]:
    """Start and end of int32-sized bytes; end is -1 for null."""
    (size,) = _INT32.unpack_from(buffer, position)
    position += 4
    return position, (end_of(buffer, position, size) if size >= 0 else -1)


def _read_compact_span(buffer: Buffer, position: int) -> tuple[int, int]:
    size, position = read_uvarint(buffer, position)
    return position, (end_of(buffer, position, size - 1) if size else -1)


def read_nullable_bytes(buffer: Buffer, position: int) -> tuple[bytes | None, int]:
    start, end = _read_span(buffer, position)
    return (None, start) if end < 0 else (bytes(buffer[start:end]), end)


def read_bytes(buffer: Buffer, position: int) -> tuple[bytes, int]:
    start, end = _read_span(buffer, position)
    if end < 0:
        raise unexpected_null(position)
    return bytes(buffer[start:end]), end


def read_compact_nullable_bytes(buffer: Buffer, position: int) -> tuple[bytes | None, int]:
    start, end = _read_compact_span(buffer, position)
    return (None, start) if end < 0 else (bytes(buffer[start:end]), end)


def read_compact_bytes(buffer: Buffer, position: int) -> tuple[bytes, int]:
    start, end = _read_compact_span(buffer, position)
    if end < 0:
        raise unexpected_null(position)
    return bytes(buffer[start:end]), end


def read_nullable_records(buffer: Buffer, position: int) -> tuple[memoryview | None, int]:
    """A view into `buffer`, never a copy: a fetch response may hold a hundred megabytes of them."""
    start, end = _read_span(buffer, position)
    return (None, start) if end < 0 else (memoryview(buffer)[start:end], end)


def read_compact_nullable_records(buffer: Buffer, position: int) -> tuple[memoryview | None, int]:
    start, end = _read_compact_span(buffer, position)
    return (None, start) if end < 0 else (memoryview(buffer)[start:end], end)


def read_records(buffer: Buffer, position: int) -> tuple[memoryview, int]:
    records, end = read_nullable_records(buffer, position)
    if records is None:
        raise unexpected_null(position)
    return records, end


def read_compact_records(buffer: Buffer, position: int) -> tuple[memoryview, int]:
    records, end = read_compact_nullable_records(buffer, position)
    if records is None:
        raise unexpected_null(position)
    return records, end


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
    return _INT32.pack(value.nbytes if isinstance(value, memoryview) else len(value))


def encode_compact_size(value: Buffer) -> bytes:
    return encode_uvarint((value.nbytes if isinstance(value, memoryview) else len(value)) + 1)


# ---- arrays ----
# Counts: int32 with -1 for null, or in compact form an unsigned varint of count + 1 with 0 for null. `size_min` is the
# least that one element can take, so that a count is refused before a list is built.


def read_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    (count,) = _INT32.unpack_from(buffer, position)
    position += 4
    if count * size_min > len(buffer) - position:
        raise count_too_large(buffer, position, count, size_min)
    return count, position


def read_compact_count(buffer: Buffer, position: int, size_min: int) -> tuple[int, int]:
    count = buffer[position] - 1
    if count < 0x7F:
        position += 1
    else:
        count, position = read_uvarint(buffer, position)
        count -= 1
    if count * size_min > len(buffer) - position:
        raise count_too_large(buffer, position, count, size_min)
    return count, position


def count_too_large(buffer: Buffer, position: int, count: int, size_min: int) -> ProtocolError:
    return ProtocolError(
        f"{count} elements of at least {size_min} bytes announced at byte {position}, "
        f"{len(buffer) - position} bytes are there"
    )


def read_nullable_strings(buffer: Buffer, position: int) -> tuple[list[str] | None, int]:
    count, position = read_count(buffer, position, 2)
    items = []
    for _ in range(count):
        item, position = read_string(buffer, position)
        items.append(item)
    return (None if count < 0 else items), position


def read_strings(buffer: Buffer, position: int) -> tuple[list[str], int]:
    items, end = read_nullable_strings(buffer, position)
    if items is None:
        raise unexpected_null(position)
    return items, end


def read_compact_nullable_strings(buffer: Buffer, position: int) -> tuple[list[str] | None, int]:
    count, position = read_compact_count(buffer, position, 1)
    items = []
    for _ in range(count):
        item, position = read_compact_string(buffer, position)
        items.append(item)
    return (None if count < 0 else items), position


def read_compact_strings(buffer: Buffer, position: int) -> tuple[list[str], int]:
    items, end = read_compact_nullable_strings(buffer, position)
    if items is None:
        raise unexpected_null(position)
    return items, end


def read_nullable_numbers(buffer: Buffer, position: int, code: str, size: int) -> tuple[list[int] | None, int]:
    """Numbers of one `struct` code, `size` bytes each."""
    count, position = read_count(buffer, position, size)
    if count < 0:
        return None, position
    return list(_numbers(code, count).unpack_from(buffer, position)), position + count * size


def read_numbers(buffer: Buffer, position: int, code: str, size: int) -> tuple[list[int], int]:
    numbers, end = read_nullable_numbers(buffer, position, code, size)
    if numbers is None:
        raise unexpected_null(position)
    return numbers, end


def read_compact_nullable_numbers(buffer: Buffer, position: int, code: str, size: int) -> tuple[list[int] | None, int]:
    count, position = read_compact_count(buffer, position, size)
    if count < 0:
        return None, position
    return list(_numbers(code, count).unpack_from(buffer, position)), position + count * size


def read_compact_numbers(buffer: Buffer, position: int, code: str, size: int) -> tuple[list[int], int]:
    count = buffer[position] - 1
    if 0 < count < 0x7F:  # Replica lists, three of them for each partition of a metadata response.
        return list(_numbers(code, count).unpack_from(buffer, position + 1)), position + 1 + count * size
    numbers, end = read_compact_nullable_numbers(buffer, position, code, size)
    if numbers is None:
        raise unexpected_null(position)
    return numbers, end


@lru_cache(maxsize=512)
def _numbers(code: str, count: int) -> struct.Struct:
    return struct.Struct(f">{count}{code}")


def read_nullable_uuids(buffer: Buffer, position: int) -> tuple[list[UUID] | None, int]:
    count, position = read_count(buffer, position, 16)
    return (None, position) if count < 0 else _read_uuids(buffer, position, count)


def read_uuids(buffer: Buffer, position: int) -> tuple[list[UUID], int]:
    count, end = read_count(buffer, position, 16)
    if count < 0:
        raise unexpected_null(position)
    return _read_uuids(buffer, end, count)


def read_compact_nullable_uuids(buffer: Buffer, position: int) -> tuple[list[UUID] | None, int]:
    count, position = read_compact_count(buffer, position, 16)
    return (None, position) if count < 0 else _read_uuids(buffer, position, count)


def read_compact_uuids(buffer: Buffer, position: int) -> tuple[list[UUID], int]:
    count, end = read_compact_count(buffer, position, 16)
    if count < 0:
        raise unexpected_null(position)
    return _read_uuids(buffer, end, count)


def _read_uuids(buffer: Buffer, position: int, count: int) -> tuple[list[UUID], int]:
    end = position + 16 * count
    return [uuid_of(bytes(buffer[at : at + 16])) for at in range(position, end, 16)], end


@lru_cache(maxsize=4096)
def uuid_of(raw: bytes) -> UUID:
    """Building a UUID takes ten times as long as finding it again, and each response names the same few topics."""
    return UUID(bytes=raw)


def encode_count(count: int) -> bytes:
    return _INT32.pack(count)


def encode_compact_count(count: int) -> bytes:
    count += 1
    return _ONE_BYTE[count] if count < 0x80 else encode_uvarint(count)


def encode_strings(values: Sequence[str]) -> bytes:
    return _INT32.pack(len(values)) + b"".join(map(encode_string, values))


def encode_compact_strings(values: Sequence[str]) -> bytes:
    return encode_uvarint(len(values) + 1) + b"".join(map(encode_compact_string, values))


def encode_numbers(values: Sequence[int], code: str) -> bytes:
    return _INT32.pack(len(values)) + _numbers(code, len(values)).pack(*values)


def encode_compact_numbers(values: Sequence[int], code: str) -> bytes:
    return encode_compact_count(len(values)) + _numbers(code, len(values)).pack(*values)


def encode_uuids(values: Sequence[UUID]) -> bytes:
    return _INT32.pack(len(values)) + b"".join([value.bytes for value in values])


def encode_compact_uuids(values: Sequence[UUID]) -> bytes:
    return encode_uvarint(len(values) + 1) + b"".join([value.bytes for value in values])
