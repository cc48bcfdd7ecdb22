"""Message sets v0 and v1: what goes in comes out, for all codecs they know, and damage is refused."""

from __future__ import annotations

import random

import pytest

from pykclient.errors import CorruptRecordError, DecompressedTooLarge, ProtocolError, UsageError
from pykclient.protocol import records
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.legacy_records import encode_message_set
from pykclient.protocol.records import Record
from pykclient.types import TimestampType

ROWS: list[Record] = [(5, b"k", b"v", None), (9, None, b"", []), (7, b"", None, ()), (8, None, b"x" * 500, None)]
CODECS = [CompressionType.NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_what_was_encoded_comes_back(magic: int, codec: CompressionType) -> None:
    packed = encode_message_set(ROWS, magic=magic, base_offset=40, compression=codec)
    found = [record for _, batch in records.decode_all(packed, "t", 1) for record in batch]
    assert [(record.key, record.value) for record in found] == [(row[1], row[2]) for row in ROWS]
    assert [record.offset for record in found] == [40, 41, 42, 43]
    assert [record.timestamp for record in found] == ([-1] * 4 if magic == 0 else [row[0] for row in ROWS])
    kind = TimestampType.NO_TIMESTAMP_TYPE if magic == 0 else TimestampType.CREATE_TIME
    assert {record.timestamp_type for record in found} == {kind}
    assert {record.leader_epoch for record in found} == {None}


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_gaps_and_the_fetch_offset_are_respected(magic: int, codec: CompressionType) -> None:
    packed = encode_message_set(ROWS, magic=magic, offsets=[40, 43, 50, 51], compression=codec)
    found = [record.offset for _, batch in records.decode_all(packed, "t", 1, from_offset=43) for record in batch]
    assert found == [43, 50, 51]


@pytest.mark.parametrize("codec", CODECS)
def test_append_time_of_the_wrapper_covers_its_messages(codec: CompressionType) -> None:
    rows: list[Record] = [(77, row[1], row[2], None) for row in ROWS]
    packed = encode_message_set(rows, magic=1, compression=codec, timestamp_type=TimestampType.LOG_APPEND_TIME)
    for _, batch in records.decode_all(packed, "t", 0):
        assert {record.timestamp for record in batch} == {77}
        assert {record.timestamp_type for record in batch} == {TimestampType.LOG_APPEND_TIME}


def test_a_compressed_message_carries_the_offset_of_its_last_record() -> None:
    packed = encode_message_set(ROWS, magic=1, base_offset=40, compression=CompressionType.GZIP)
    (header,) = records.iter_batches(packed)
    assert (header.last_offset, header.next_offset, header.record_count, header.max_timestamp) == (43, 44, -1, 9)


def test_what_the_formats_cannot_carry_is_refused() -> None:
    for magic in (0, 1):
        with pytest.raises(UsageError, match="headers"):
            encode_message_set([(1, None, None, [("h", b"")])], magic=magic)
        with pytest.raises(UsageError, match="zstd"):
            encode_message_set(ROWS, magic=magic, compression=CompressionType.ZSTD)
    with pytest.raises(UsageError, match="magic"):
        encode_message_set(ROWS, magic=2)


def test_every_changed_byte_is_found() -> None:
    packed = encode_message_set(ROWS[:1], magic=1)
    for position in range(12, len(packed)):
        broken = bytearray(packed)
        broken[position] ^= 0x10
        with pytest.raises(CorruptRecordError):
            list(records.decode_all(broken, "t", 0))


def test_decompression_is_bounded() -> None:
    packed = encode_message_set([(1, None, b"\0" * 100_000, None)], magic=1, compression=CompressionType.GZIP)
    with pytest.raises(DecompressedTooLarge):
        list(records.decode_all(packed, "t", 0, bytes_max=50_000))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_mutated_messages_raise_protocol_errors_or_decode(magic: int, codec: CompressionType) -> None:
    chance = random.Random(magic * 10 + codec)
    packed = encode_message_set(ROWS[:3], magic=magic, compression=codec)
    for _ in range(400):
        broken = bytearray(packed)
        for _ in range(chance.randint(1, 3)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        try:
            for header in records.iter_batches(broken):
                records.decode_batch(broken, header, "t", 0, check_crc=False, bytes_max=1 << 16)
        except ProtocolError:
            pass
