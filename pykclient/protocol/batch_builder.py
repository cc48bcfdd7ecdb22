"""A record batch (v2) under construction, in place: the buffer itself holds all state, from the first append to the
bytes on the wire.

The producer's hot path. ``append`` keeps the header's length, count, last offset delta and timestamps current, so that
the buffer is at any time a whole batch but for producer id, attributes and CRC, which ``seal`` writes. Native when it
can be (see ``_accel.c``); the twin here gives the same bytes. Stateless functions over a bytearray; the caller holds
whatever lock the buffer needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from pykclient.protocol.batch_header import TRANSACTIONAL_BIT, build_batch, patch_crc
from pykclient.protocol.compression import CompressionType, compress

HEADER_BYTES = 61
_FRESH = Struct(">qiibIhiqqqhii").pack(0, HEADER_BYTES - 12, -1, 2, 0, 0, -1, -1, -1, -1, -1, -1, 0)
_LENGTH_AT, _STATE_AT, _COUNT_AT = 8, 23, 57
_LENGTH = Struct(">i")
_STATE = Struct(">iqq")  # last offset delta, base timestamp, max timestamp
_COUNT = Struct(">i")

Header = tuple[str, "bytes | None"]


def begin(buffer: bytearray) -> None:
    """Make an empty batch at the start of ``buffer``; what a former user left is overwritten as records come."""
    buffer[:HEADER_BYTES] = _FRESH


def fill(buffer: bytearray, count: int, base_timestamp: int, max_timestamp: int) -> None:
    """Make a whole batch of ``buffer``, which holds encoded records behind room for the header (see
    columns.encode_rows)."""
    begin(buffer)
    _LENGTH.pack_into(buffer, _LENGTH_AT, len(buffer) - 12)
    _STATE.pack_into(buffer, _STATE_AT, count - 1, base_timestamp, max_timestamp)
    _COUNT.pack_into(buffer, _COUNT_AT, count)


def size_bytes(buffer: bytearray) -> int:
    """Bytes the batch takes now, header included."""
    return int(_LENGTH.unpack_from(buffer, _LENGTH_AT)[0]) + 12


def record_count(buffer: bytearray) -> int:
    """Records in the batch now."""
    return int(_COUNT.unpack_from(buffer, _COUNT_AT)[0])


def size_upper_bound(key: bytes | None, value: bytes | None, headers: Sequence[Header] | None) -> int:
    """No fewer bytes than a batch with this one record takes."""
    size = HEADER_BYTES + 5 + 1 + 10 + 5 + 5 + 5 + 5
    size += (len(key) if key is not None else 0) + (len(value) if value is not None else 0)
    for name, content in headers or ():
        size += 10 + 4 * len(name) + (len(content) if content is not None else 0)
    return size


def _zigzag(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    if number < 0x80:
        return number.to_bytes(1, "big")
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_SMALL = [_zigzag(n) for n in range(2048)]
_NULL = _zigzag(-1)


def _varint(number: int) -> bytes:
    return _SMALL[number] if 0 <= number < 2048 else _zigzag(number)


def _header_bytes(headers: Sequence[Header]) -> bytes:
    parts = [_varint(len(headers))]
    for name, content in headers:
        name_bytes = name.encode()
        parts += (_varint(len(name_bytes)), name_bytes)
        parts += (_NULL,) if content is None else (_varint(len(content)), content)
    return b"".join(parts)


def append(
    buffer: bytearray,
    limit: int,
    timestamp: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[Header] | None,
) -> int:
    """Add a record; gives its index in the batch, or -1 when it would take the batch past ``limit`` bytes (nothing is
    changed then)."""
    position = _LENGTH.unpack_from(buffer, _LENGTH_AT)[0] + 12
    last_delta, base_timestamp, max_timestamp = _STATE.unpack_from(buffer, _STATE_AT)
    index: int = last_delta + 1
    if index == 0:
        base_timestamp = max_timestamp = timestamp
    elif timestamp > max_timestamp:
        max_timestamp = timestamp
    body = b"".join(
        (
            b"\0",
            _varint(timestamp - base_timestamp),
            _varint(index),
            *((_NULL,) if key is None else (_varint(len(key)), key)),
            *((_NULL,) if value is None else (_varint(len(value)), value)),
            _header_bytes(headers) if headers else b"\0",
        )
    )
    prefix = _varint(len(body))
    end = position + len(prefix) + len(body)
    if end > limit or end > len(buffer):
        return -1
    buffer[position:end] = prefix + body
    _LENGTH.pack_into(buffer, _LENGTH_AT, end - 12)
    _STATE.pack_into(buffer, _STATE_AT, index, base_timestamp, max_timestamp)
    _COUNT.pack_into(buffer, _COUNT_AT, index + 1)
    return index


_IDENTITY = Struct(">qhi")
_IDENTITY_AT = 43
_ATTRIBUTES = Struct(">h")
_ATTRIBUTES_AT = 21


def seal(
    buffer: bytearray,
    *,
    compression: CompressionType = CompressionType.NONE,
    level: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    in_place: bool = False,
) -> bytes | memoryview:
    """The batch as it goes on the wire. The buffer stays as it is, so a batch can be sealed again under another epoch
    or sequence.

    A copy on purpose: the request owns its bytes, and a buffer that goes back to the pool can never change a request
    that is still out. ``in_place`` gives the buffer itself, for one that is neither used nor sealed again.
    """
    size = size_bytes(buffer)
    attributes = int(compression) | (TRANSACTIONAL_BIT if transactional else 0)
    if compression is CompressionType.NONE:
        _ATTRIBUTES.pack_into(buffer, _ATTRIBUTES_AT, attributes)
        _IDENTITY.pack_into(buffer, _IDENTITY_AT, producer_id, producer_epoch, base_sequence)
        patch_crc(buffer)
        view = memoryview(buffer)[:size]
        return view if in_place else bytes(view)
    last_delta, base_timestamp, max_timestamp = _STATE.unpack_from(buffer, _STATE_AT)
    with memoryview(buffer) as view:
        records = compress(compression, view[HEADER_BYTES:size], level)
    return build_batch(
        records,
        base_offset=0,
        partition_leader_epoch=-1,
        attributes=attributes,
        last_offset_delta=last_delta,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=last_delta + 1,
    )
