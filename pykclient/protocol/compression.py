"""The four codecs of Kafka's record batches, both ways, with a bound on what comes out.

Pure functions over buffers; any thread may call them, and cramjam and zlib release the GIL while they work.
This is the only file that imports cramjam. It must never allocate more than ``bytes_max`` for hostile input: frames are
walked first, so that the output size (or a tight bound of it) is known before a byte is decompressed.
"""

from __future__ import annotations

import enum
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from pykclient.errors import CorruptRecordError, DecompressedTooLarge, MissingCodec, UsageError

if TYPE_CHECKING:
    from pykclient.protocol.buffers import Buffer

DECOMPRESSED_BYTES_MAX = 64 * 1024 * 1024
"""What one batch may decompress to unless the caller says otherwise; brokers refuse batches far smaller than this."""


class CompressionType(enum.IntEnum):
    """Kafka's codec ids, as in the low three bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


LEVELS = {
    CompressionType.GZIP: (1, 9),
    CompressionType.LZ4: (1, 17),
    CompressionType.ZSTD: (-131072, 22),
}
"""Lowest and highest level per codec, as in the Java client; the others have no levels."""

_BUILT_IN = (CompressionType.NONE, CompressionType.GZIP)
_INT32 = struct.Struct(">i")
_UINT32_LE = struct.Struct("<I")


@cache
def cramjam() -> Any:
    """The package, loaded by the first batch that needs it; None on a platform without it, which still has gzip."""
    try:
        import cramjam as package
    except ImportError:
        return None
    return package


def compression_type(codec: int) -> CompressionType:
    """The codec with this id; an id that Kafka does not define is a corrupt batch."""
    try:
        return CompressionType(codec)
    except ValueError:
        raise CorruptRecordError(f"unknown compression type id {codec}") from None


def require(codec: CompressionType, needed_by: str | None = None) -> None:
    """Raise MissingCodec when this installation lacks it; says who needs it."""
    if codec not in _BUILT_IN and cramjam() is None:
        name = codec.name.lower()
        text = f"{name} needs the package cramjam: pip install cramjam (or set compression_type to gzip or none)"
        raise MissingCodec(text if needed_by is None else f"{text}; needed by {needed_by}", codec=name)


def compress(codec: CompressionType, data: Buffer, level: int | None = None, *, magic: int = 2) -> bytes:
    """Compress the records of one batch. ``magic`` matters for lz4 only: message set v0 has a broken frame header."""
    if level is not None:
        _check_level(codec, level)
    if codec is CompressionType.NONE:
        return bytes(data)
    if codec is CompressionType.GZIP:
        compressor = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
        return compressor.compress(data) + compressor.flush()
    require(codec)
    if codec is CompressionType.SNAPPY:
        return _snappy_compress(data)
    if codec is CompressionType.LZ4:
        return _lz4_compress(data, level, magic)
    return bytes(cramjam().zstd.compress(data, level=3 if level is None else level))


def decompress(
    codec: CompressionType, data: Buffer, *, magic: int = 2, bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> Buffer:
    """Decompress the records of one batch; more than ``bytes_max`` bytes, or bytes that are no such stream, raise
    CorruptRecordError."""
    if codec is CompressionType.NONE:
        return data
    require(codec)
    view = memoryview(data)
    try:
        if codec is CompressionType.GZIP:
            return _gzip_decompress(view, bytes_max)
        if codec is CompressionType.SNAPPY:
            return _snappy_decompress(view, bytes_max)
        if codec is CompressionType.LZ4:
            return _lz4_decompress(view, magic, bytes_max)
        return _zstd_decompress(view, bytes_max)
    except _unreadable(codec) as error:
        raise CorruptRecordError(f"records are no valid {codec.name.lower()} stream: {error}") from error


def _unreadable(codec: CompressionType) -> tuple[type[Exception], ...]:
    """What is raised for bytes that are no such stream."""
    ours = (zlib.error, struct.error, IndexError)
    return ours if codec in _BUILT_IN else (cramjam().DecompressionError, *ours)


def _check_level(codec: CompressionType, level: int) -> None:
    if codec not in LEVELS:
        raise UsageError(f"{codec.name.lower()} has no compression levels")
    lowest, highest = LEVELS[codec]
    if not lowest <= level <= highest:
        raise UsageError(f"compression level {level} of {codec.name.lower()} is not within {lowest} to {highest}")


def _too_large(bytes_max: int) -> DecompressedTooLarge:
    return DecompressedTooLarge(f"records decompress to more than {bytes_max} bytes")


def _view(output: bytearray, size: int) -> Buffer:
    return output if size == len(output) else memoryview(output)[:size]


# --- gzip

_GZIP_STEP_BYTES = 1 << 20


def _gzip_decompress(data: memoryview, bytes_max: int) -> Buffer:
    output = bytearray()
    rest: Buffer = data
    members = 0
    while True:
        inflater = zlib.decompressobj(31)
        while not inflater.eof:
            chunk = inflater.decompress(rest, min(_GZIP_STEP_BYTES, bytes_max - len(output) + 1))
            output += chunk
            if len(output) > bytes_max:
                raise _too_large(bytes_max)
            rest = inflater.unconsumed_tail
            if not chunk and not rest and not inflater.eof:
                raise CorruptRecordError("records are no valid gzip stream: it ends too early")
        members += 1
        # Java reads members in a row and ignores what follows the last one; an empty member cannot loop for ever,
        # each eats bytes.
        rest = inflater.unused_data
        if rest[:2] != b"\x1f\x8b":
            return output


# --- snappy: blocks in the framing of the xerial Java library, or one bare block

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_SNAPPY_RATIO_MAX = 22
"""A three-byte copy element yields at most 64 bytes, so no block can claim more than this times its own size."""


def _snappy_compress(data: Buffer) -> bytes:
    view = memoryview(data)
    parts: list[Buffer] = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam().snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        parts.append(_INT32.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def _snappy_blocks(data: memoryview) -> list[memoryview]:
    if data[:8] != _XERIAL_MAGIC:
        return [data]
    blocks: list[memoryview] = []
    position = 0
    while position < len(data):
        # Streams may follow each other: a new header stands where a block length would.
        if data[position : position + 8] == _XERIAL_MAGIC:
            if len(data) - position < 16:
                raise CorruptRecordError("records are no valid snappy stream: it ends within a header")
            position += 16
            continue
        (size,) = _INT32.unpack_from(data, position)
        position += 4
        if not 0 <= size <= len(data) - position:
            raise CorruptRecordError(f"records are no valid snappy stream: block of {size} bytes where fewer remain")
        blocks.append(data[position : position + size])
        position += size
    return blocks


def _snappy_decompress(data: memoryview, bytes_max: int) -> Buffer:
    if not data:
        raise CorruptRecordError("records are no valid snappy stream: it is empty")
    blocks = _snappy_blocks(data)
    total = 0
    sizes = []
    for block in blocks:
        size = _snappy_claimed_size(block)
        if size > _SNAPPY_RATIO_MAX * len(block) + 64:
            raise CorruptRecordError("records are no valid snappy stream: a block claims more than it can hold")
        sizes.append(size)
        total += size
        if total > bytes_max:
            raise _too_large(bytes_max)
    output = bytearray(total)
    view = memoryview(output)
    position = 0
    for block, size in zip(blocks, sizes, strict=True):
        if size or len(block) != 1:
            written = cramjam().snappy.decompress_raw_into(block, view[position : position + size])
            if written != size:
                raise CorruptRecordError("records are no valid snappy stream: a block holds less than it claims")
        position += size
    return output


def _snappy_claimed_size(block: memoryview) -> int:
    size = 0
    for index in range(5):
        byte = block[index]
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size
    raise CorruptRecordError("records are no valid snappy stream: a block has no valid length")


# --- lz4 frames as Kafka writes them: independent blocks of 64 KiB, no checksums but the header's

_LZ4_MAGIC_BYTES = b"\x04\x22\x4d\x18"
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_DESCRIPTOR = b"\x60\x40"
_LZ4_STORED = 0x80000000
_LZ4_HC_LEVEL_MAX = 12


def _lz4_compress(data: Buffer, level: int | None, magic: int) -> bytes:
    if level is not None:
        return _lz4_compress_with_level(data, level, magic)
    parts: list[Buffer] = [_LZ4_MAGIC_BYTES, _LZ4_DESCRIPTOR, _lz4_header_checksum(_LZ4_DESCRIPTOR, magic)]
    view = memoryview(data)
    for start in range(0, len(view), _LZ4_BLOCK_BYTES):
        block = view[start : start + _LZ4_BLOCK_BYTES]
        packed = bytes(cramjam().lz4.compress_block(block, store_size=False))
        if len(packed) < len(block):
            parts.append(_UINT32_LE.pack(len(packed)))
            parts.append(packed)
        else:
            parts.append(_UINT32_LE.pack(len(block) | _LZ4_STORED))
            parts.append(block)
    parts.append(b"\0\0\0\0")
    return b"".join(parts)


def _lz4_compress_with_level(data: Buffer, level: int, magic: int) -> bytes:
    # The library has levels for frames only. Java's levels go to 17, its own to 12; both mean "as small as you can" at
    # the top.
    compressor = cramjam().lz4.Compressor(
        level=min(level, _LZ4_HC_LEVEL_MAX), content_checksum=False, block_linked=False
    )
    compressor.compress(bytes(data))  # the streaming compressors take nothing but bytes
    frame = bytes(compressor.finish())
    header_size = 7 + (8 if frame[4] & 0x08 else 0)
    checksum = _lz4_header_checksum(frame[4 : header_size - 1], magic)
    return b"".join((frame[: header_size - 1], checksum, frame[header_size:]))


def _lz4_header_checksum(descriptor: bytes, magic: int) -> bytes:
    # The first Kafka clients hashed the magic number too, and message set v0 has kept that for ever (KAFKA-3160).
    hashed = _xxh32_short(_LZ4_MAGIC_BYTES + descriptor if magic == 0 else descriptor)
    return bytes([(hashed >> 8) & 0xFF])


def _lz4_decompress(data: memoryview, magic: int, bytes_max: int) -> Buffer:
    if len(data) < 7 or data[:4] != _LZ4_MAGIC_BYTES:
        raise CorruptRecordError("records are no valid lz4 stream: wrong magic number")
    flags, block_descriptor = data[4], data[5]
    header_size = 7 + (8 if flags & 0x08 else 0)
    size_code = (block_descriptor >> 4) & 7
    if flags >> 6 != 1 or flags & 0x03 or block_descriptor & 0x8F or size_code < 4:
        raise CorruptRecordError("records are no valid lz4 stream: unknown frame options")
    end, bound = _lz4_walk(data, header_size, flags, 1 << (8 + 2 * size_code))
    frame: Buffer = data[:end]
    if magic == 0:
        # Whatever checksum stands there, Java does not look at it in v0; the library does.
        checksum = _lz4_header_checksum(bytes(data[4 : header_size - 1]), 1)
        frame = b"".join((data[: header_size - 1], checksum, data[header_size:end]))
    output = bytearray(min(bound, bytes_max))
    try:
        size = int(cramjam().lz4.decompress_into(frame, output))
    except cramjam().DecompressionError:
        if bound > bytes_max:
            raise _too_large(bytes_max) from None
        raise
    return _view(output, size)


def _lz4_walk(data: memoryview, position: int, flags: int, block_bytes_max: int) -> tuple[int, int]:
    """Where the frame ends, and the most it can decompress to. What follows the frame is ignored, as Java does."""
    block_checksum = 4 if flags & 0x10 else 0
    bound = 0
    while True:
        (word,) = _UINT32_LE.unpack_from(data, position)
        position += 4
        if word == 0:
            position += 4 if flags & 0x04 else 0
            break
        size = word & 0x7FFFFFFF
        if size > block_bytes_max or size + block_checksum > len(data) - position:
            raise CorruptRecordError(f"records are no valid lz4 stream: block of {size} bytes where fewer remain")
        # A sequence costs a byte per 255 bytes it yields, which bounds small blocks better than the block size does.
        bound += size if word & _LZ4_STORED else min(block_bytes_max, 255 * size)
        position += size + block_checksum
    if position > len(data):
        raise CorruptRecordError("records are no valid lz4 stream: it ends too early")
    return position, bound


def _xxh32_short(data: bytes) -> int:
    """XXH32 of fewer than 16 bytes, seed 0: all that a frame header needs."""
    prime1, prime2, prime3, prime4, prime5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFFFFFF
    value = (prime5 + len(data)) & mask
    position = 0
    while position + 4 <= len(data):
        value = (value + int.from_bytes(data[position : position + 4], "little") * prime3) & mask
        value = ((value << 17 | value >> 15) & mask) * prime4 & mask
        position += 4
    for byte in data[position:]:
        value = (value + byte * prime5) & mask
        value = ((value << 11 | value >> 21) & mask) * prime1 & mask
    value = (value ^ value >> 15) * prime2 & mask
    value = (value ^ value >> 13) * prime3 & mask
    return value ^ value >> 16


# --- zstd: frames in a row

_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_BLOCK_BYTES_MAX = 128 * 1024
_ZSTD_WINDOW_BYTES_MAX = 128 * 1024 * 1024
"""The decoder keeps a window per frame; the library's own limit is this, the largest that levels up to 22 need."""


def _zstd_decompress(data: memoryview, bytes_max: int) -> Buffer:
    position = 0
    bound = 0
    while position < len(data):
        position, frame_bound = _zstd_walk_frame(data, position)
        bound += frame_bound
    if bound == 0:
        return b""
    output = bytearray(min(bound, bytes_max))
    try:
        size = int(cramjam().zstd.decompress_into(data, output))
    except cramjam().DecompressionError:
        if bound > bytes_max:
            raise _too_large(bytes_max) from None
        raise
    return _view(output, size)


def _zstd_walk_frame(data: memoryview, position: int) -> tuple[int, int]:
    """Where the frame at ``position`` ends, and the most it can decompress to."""
    (magic,) = _UINT32_LE.unpack_from(data, position)
    if magic & 0xFFFFFFF0 == 0x184D2A50:
        (size,) = _UINT32_LE.unpack_from(data, position + 4)
        if size > len(data) - position - 8:
            raise CorruptRecordError("records are no valid zstd stream: it ends within a skippable frame")
        return position + 8 + int(size), 0
    if magic != _ZSTD_MAGIC:
        raise CorruptRecordError("records are no valid zstd stream: wrong magic number")
    descriptor = data[position + 4]
    single_segment = descriptor & 0x20
    if not single_segment and 1 << (10 + (data[position + 5] >> 3)) > _ZSTD_WINDOW_BYTES_MAX:
        raise CorruptRecordError("records are no valid zstd stream: its window is too large")
    content_size_bytes = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    position += 5 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 3] + content_size_bytes
    bound = 0
    while True:
        block_header = data[position] | data[position + 1] << 8 | data[position + 2] << 16
        kind, size = block_header >> 1 & 3, block_header >> 3
        position += 3
        if kind == 3 or size > _ZSTD_BLOCK_BYTES_MAX:
            raise CorruptRecordError("records are no valid zstd stream: invalid block")
        bound += _ZSTD_BLOCK_BYTES_MAX if kind == 2 else size
        position += 1 if kind == 1 else size
        if block_header & 1:
            break
    position += 4 if descriptor & 4 else 0
    if position > len(data):
        raise CorruptRecordError("records are no valid zstd stream: it ends too early")
    return position, bound


__all__ = ["DECOMPRESSED_BYTES_MAX", "LEVELS", "CompressionType", "compress", "compression_type", "decompress"]
