"""Records of a v2 batch, in plain Python: the twin of ``_accel.c``, same arguments, same bytes, same errors.

Stateless functions over buffers, any thread. Which of the two is used is decided once, in ``accel.py``.
It must never read a length without comparing it with what remains; whatever is wrong inside a record raises one
message, so that
both twins agree without sharing code. Columns and murmur2 are in ``pure_columns.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pykclient.errors import CorruptRecordError
from pykclient.protocol.buffers import Buffer
from pykclient.types import ConsumerRecord, Headers, TimestampType

HeaderPairs: TypeAlias = "Sequence[tuple[str, Buffer | None]]"
Record: TypeAlias = "tuple[int, Buffer | None, Buffer | None, HeaderPairs | None]"
"""What is encoded: timestamp in ms, key, value, headers."""

RECORD_BYTES_MIN = 7
"""Length, attributes, timestamp and offset deltas, key and value lengths, header count: a byte each."""

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


def malformed(index: int) -> CorruptRecordError:
    """The one error for anything wrong inside a record."""
    return CorruptRecordError(f"record {index} of the batch is malformed")


def check_count(count: int, size: int) -> None:
    """Refuse a record count that the bytes cannot hold, before anything is allocated for it."""
    if count < 0 or count * RECORD_BYTES_MIN > size:
        raise CorruptRecordError(f"{count} records cannot be in {size} bytes")


def check_end(position: int, size: int) -> None:
    """Refuse bytes after the last record."""
    if position != size:
        raise CorruptRecordError(f"{size - position} bytes remain after the last record")


def wrap_int64(number: int) -> int:
    """Java's long arithmetic, which hostile deltas can drive over the edge."""
    if -_INT64_MAX <= number <= _INT64_MAX:
        return number
    return (number + 2**63 & 2**64 - 1) - 2**63


def resize(buffer: bytearray, size: int) -> None:
    """Make it so long; what is in the part that is new may be anything."""
    if not isinstance(buffer, bytearray):
        raise TypeError("the buffer must be a bytearray")
    if size < 0:
        raise ValueError("the size is negative")
    if size < len(buffer):
        del buffer[size:]
    else:
        buffer.extend(bytes(size - len(buffer)))


# --- varints


def _encode_varint(number: int) -> bytes:
    zigzag = number << 1 ^ number >> 63
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


_SMALL_VARINTS = [_encode_varint(number) for number in range(1024)]
"""Most lengths and deltas; a list look-up is five times faster than the loop."""
_NULL = _encode_varint(-1)


def varint(number: int) -> bytes:
    """Zigzag varint (or varlong) of a number that fits into 64 bits."""
    return _SMALL_VARINTS[number] if 0 <= number < 1024 else _encode_varint(number)


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """A zigzag varint and the position behind it.

    At most 5 bytes; excess bits of the fifth are dropped, as Java does. One and two bytes, which nearly all are, come
    first.
    """
    raw = buffer[position]
    if raw < 0x80:
        return raw >> 1 ^ -(raw & 1), position + 1
    byte = buffer[position + 1]
    raw = raw & 0x7F | (byte & 0x7F) << 7
    if byte < 0x80:
        return raw >> 1 ^ -(raw & 1), position + 2
    position += 2
    for shift in (14, 21, 28):
        byte = buffer[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            raw &= 0xFFFFFFFF
            return raw >> 1 ^ -(raw & 1), position
    raise CorruptRecordError("varint is too long")


def read_varlong(buffer: Buffer, position: int) -> tuple[int, int]:
    """The same for 64 bits, at most 10 bytes."""
    raw = 0
    for shift in range(0, 70, 7):
        byte = buffer[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            raw &= 0xFFFFFFFFFFFFFFFF
            return raw >> 1 ^ -(raw & 1), position
    raise CorruptRecordError("varint is too long")


def varint_size(number: int) -> int:
    """Bytes that the zigzag varint of ``number`` takes."""
    return ((number << 1 ^ number >> 63).bit_length() + 6) // 7 or 1


# --- encoding


def as_bytes(content: Buffer) -> bytes:
    """The bytes of anything with the buffer protocol; a number is refused, although bytes() would take it."""
    return content if type(content) is bytes else memoryview(content).tobytes()


def encode_records(
    records: Sequence[Record], base_timestamp: int, offset_deltas: Sequence[int] | None = None
) -> tuple[bytes, int]:
    """The records section of a batch, and the largest timestamp (-1 without records). Without deltas they are 0, 1,
    2, ..."""
    if offset_deltas is not None:
        if len(offset_deltas) != len(records):
            raise ValueError("offset_deltas must have one entry per record")
        if offset_deltas and not -_INT32_MAX - 1 <= min(offset_deltas) <= max(offset_deltas) <= _INT32_MAX:
            raise OverflowError("an offset delta does not fit into 32 bits")
    parts: list[bytes] = []
    append = parts.append
    small = _SMALL_VARINTS
    max_timestamp: int | None = None
    for index, (timestamp, key, value, headers) in enumerate(records):
        if max_timestamp is None or timestamp > max_timestamp:
            max_timestamp = timestamp
        delta = timestamp - base_timestamp
        time = small[delta] if 0 <= delta < 1024 else _encode_varint(wrap_int64(delta))
        delta = index if offset_deltas is None else offset_deltas[index]
        offset = small[delta] if 0 <= delta < 1024 else _encode_varint(delta)
        if key is None:
            key_size, key = _NULL, b""
        else:
            if type(key) is not bytes:
                key = as_bytes(key)
            size = len(key)
            key_size = small[size] if size < 1024 else _encode_varint(size)
        if value is None:
            value_size, value = _NULL, b""
        else:
            if type(value) is not bytes:
                value = as_bytes(value)
            size = len(value)
            value_size = small[size] if size < 1024 else _encode_varint(size)
        tail = encode_headers(headers) if headers else b"\0"
        body = b"\0%b%b%b%b%b%b%b" % (time, offset, key_size, key, value_size, value, tail)
        size = len(body)
        append(small[size] if size < 1024 else _encode_varint(size))
        append(body)
    return b"".join(parts), -1 if max_timestamp is None else max_timestamp


def encode_headers(headers: HeaderPairs) -> bytes:
    """The header count and the headers of one record."""
    parts = [varint(len(headers))]
    for name, content in headers:
        encoded = name.encode()
        parts.append(varint(len(encoded)))
        parts.append(encoded)
        if content is None:
            parts.append(_NULL)
        else:
            content = as_bytes(content)
            parts.append(varint(len(content)))
            parts.append(content)
    return b"".join(parts)


# --- decoding


def decode_records(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    timestamp_type: TimestampType,
    from_offset: int,
    topic: str,
    partition: int,
    leader_epoch: int | None,
) -> list[ConsumerRecord[bytes | None, bytes | None]]:
    """The records at or after ``from_offset``. With ``append_timestamp`` every record carries that one."""
    end_of_section = len(section)
    check_count(count, end_of_section)
    records: list[ConsumerRecord[bytes | None, bytes | None]] = []
    position = index = 0
    extreme = not (-(2**62) < base_timestamp < 2**62 and 0 <= base_offset < 2**62)
    try:
        for index in range(count):
            size, position = read_varint(section, position)
            end = position + size
            if size < 0 or end > end_of_section:
                raise malformed(index)
            if section[position + 2] < 0x80:
                delta, position = read_varint(section, position + 1)
                timestamp = base_timestamp + delta
            else:
                delta, position = read_varlong(section, position + 1)
                timestamp = wrap_int64(base_timestamp + delta)
            delta, position = read_varint(section, position)
            offset = base_offset + delta
            if extreme:
                timestamp, offset = wrap_int64(timestamp), wrap_int64(offset)
            key, position = _read_content(section, position, end)
            value, position = _read_content(section, position, end)
            headers: Headers = []
            if section[position] != 0:
                headers, position = read_headers(section, position, end)
            else:
                position += 1
            if position != end:
                raise malformed(index)
            if append_timestamp is not None:
                timestamp = append_timestamp
            if offset >= from_offset:
                records.append(
                    ConsumerRecord(
                        topic, partition, offset, timestamp, timestamp_type, key, value, headers, leader_epoch
                    )
                )  # fmt: skip
    except (IndexError, CorruptRecordError):
        raise malformed(index) from None
    check_end(position, end_of_section)
    return records


def split_records(section: Buffer, count: int, every: int) -> list[int]:
    """Where every so manieth record begins, and the end: so that a long batch can be decoded piece by piece. Only the
    sizes of the records are looked at; what is in them is checked when they are decoded."""
    if every < 1:
        raise ValueError("pieces must have a record at least")
    end = len(section)
    check_count(count, end)
    positions: list[int] = []
    position = index = 0
    try:
        for index in range(count):
            if index % every == 0:
                positions.append(position)
            size, position = read_varint(section, position)
            if size < 1 or size > end - position:
                raise malformed(index)
            position += size
    except (IndexError, CorruptRecordError):
        raise malformed(index) from None
    positions.append(position)
    check_end(position, end)
    return positions


def _read_content(section: Buffer, position: int, end: int) -> tuple[bytes | None, int]:
    size, position = read_varint(section, position)
    if size < 0:
        return None, position
    stop = position + size
    if stop > end:
        raise IndexError
    return bytes(section[position:stop]), stop


def read_headers(section: Buffer, position: int, end: int) -> tuple[Headers, int]:
    """The headers of one record and the position behind them; raises IndexError when they do not fit before ``end``."""
    count, position = read_varint(section, position)
    # A header takes two bytes at least.
    if count < 0 or count * 2 > end - position:
        raise IndexError
    headers: Headers = []
    for _ in range(count):
        size, position = read_varint(section, position)
        stop = position + size
        if size < 0 or stop > end:
            raise IndexError
        name = str(section[position:stop], "utf-8", "replace")
        value, position = _read_content(section, stop, end)
        headers.append((name, value))
    return headers, position
