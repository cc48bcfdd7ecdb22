"""The codecs: round trips, Java's framings, levels, damage, and the bound on what comes out."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykclient.errors import CorruptRecordError, DecompressedTooLarge, UsageError
from pykclient.protocol.compression import LEVELS, CompressionType, compress, compression_type, decompress

CODECS = [codec for codec in CompressionType if codec is not CompressionType.NONE]
SAMPLES = [b"", b"x", b"abc" * 50_000, bytes(range(256)) * 700, b"\0" * 200_000]


@pytest.mark.parametrize("codec", CompressionType)
@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("data", SAMPLES, ids=len)
def test_what_was_compressed_comes_back(codec: CompressionType, magic: int, data: bytes) -> None:
    packed = compress(codec, data, magic=magic)
    if not (codec is CompressionType.SNAPPY and not data):
        assert bytes(decompress(codec, packed, magic=magic)) == data


@pytest.mark.parametrize("codec", CODECS)
def test_every_level_gives_the_same_records_and_others_are_refused(codec: CompressionType) -> None:
    data = b"some words that repeat, " * 500
    lowest, highest = LEVELS.get(codec, (0, -1))
    for level in {lowest, -7, 1, 5, 9, highest} & set(range(lowest, highest + 1)):
        assert bytes(decompress(codec, compress(codec, data, level))) == data
    for level in (lowest - 1, highest + 1):
        with pytest.raises(UsageError):
            compress(codec, data, level)


def test_levels_trade_size() -> None:
    data = b"".join(b"%d, %d;" % (number * number, number % 77) for number in range(20_000))
    for codec, (_, highest) in LEVELS.items():
        assert len(compress(codec, data, highest)) < len(compress(codec, data, 1))


def test_lz4_frames_are_those_that_java_reads() -> None:
    packed = compress(CompressionType.LZ4, b"abc" * 50_000)
    # Independent blocks of 64 KiB and no checksums but the header's: Java refuses blocks that depend on each other.
    assert packed[:7].hex() == "04224d18604082"
    assert bytes(cramjam.lz4.decompress(packed)) == b"abc" * 50_000


def test_lz4_of_magic_0_has_the_broken_checksum_and_only_there_it_is_accepted() -> None:
    packed = compress(CompressionType.LZ4, b"abc", magic=0)
    assert packed[6] != compress(CompressionType.LZ4, b"abc", magic=1)[6]
    assert bytes(decompress(CompressionType.LZ4, packed, magic=0)) == b"abc"
    with pytest.raises(CorruptRecordError):
        decompress(CompressionType.LZ4, packed, magic=1)


def test_lz4_levels_keep_blocks_independent_in_both_headers() -> None:
    for magic in (0, 1):
        packed = compress(CompressionType.LZ4, b"abc" * 50_000, 9, magic=magic)
        assert packed[4] & 0x20
        assert bytes(decompress(CompressionType.LZ4, packed, magic=magic)) == b"abc" * 50_000


def test_lz4_that_cannot_shrink_is_stored() -> None:
    data = bytes(cramjam.zstd.compress(b"".join(b"%d" % (number**3) for number in range(60_000))))
    packed = compress(CompressionType.LZ4, data)
    assert len(packed) < len(data) + 64
    assert bytes(decompress(CompressionType.LZ4, packed)) == data


def test_lz4_with_linked_blocks_and_checksums_of_other_clients_is_read() -> None:
    data = b"abc" * 60_000
    assert bytes(decompress(CompressionType.LZ4, bytes(cramjam.lz4.compress(data)))) == data


def test_snappy_is_read_with_and_without_the_java_framing() -> None:
    data = b"snappy " * 10_000
    assert compress(CompressionType.SNAPPY, data).startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")
    assert bytes(decompress(CompressionType.SNAPPY, bytes(cramjam.snappy.compress_raw(data)))) == data


@pytest.mark.parametrize("codec", [CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.ZSTD])
def test_streams_in_a_row_are_read_as_one(codec: CompressionType) -> None:
    assert bytes(decompress(codec, compress(codec, b"one ") + compress(codec, b"two"))) == b"one two"


@pytest.mark.parametrize("codec", CODECS)
def test_every_cut_is_refused_or_shorter(codec: CompressionType) -> None:
    data = bytes(range(256)) * 4
    packed = compress(codec, data)
    for size in range(len(packed)):
        try:
            found = bytes(decompress(codec, packed[:size]))
        except CorruptRecordError:
            continue
        # Snappy frames may end after any block, and nothing is a whole (empty) zstd stream.
        assert codec in (CompressionType.SNAPPY, CompressionType.ZSTD)
        assert found == b""


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=150, deadline=None)
@given(junk=st.binary(max_size=200), changes=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), max_size=4))
def test_damage_never_raises_anything_else(codec: CompressionType, junk: bytes, changes: list[tuple[int, int]]) -> None:
    packed = bytearray(compress(codec, b"records, records, " * 20 + junk))
    for position, byte in changes:
        packed[position % len(packed)] = byte
    for data in (bytes(packed), junk, bytes(packed[:8]) + junk):
        for magic in (0, 2):
            with contextlib.suppress(CorruptRecordError):
                assert len(decompress(codec, data, magic=magic, bytes_max=4096)) <= 4096


@pytest.mark.parametrize("codec", CODECS)
def test_the_bound_is_exact(codec: CompressionType) -> None:
    packed = compress(codec, b"\0" * 100_000)
    assert len(decompress(codec, packed, bytes_max=100_000)) == 100_000
    with pytest.raises(DecompressedTooLarge):
        decompress(codec, packed, bytes_max=99_999)


def test_an_unknown_codec_is_a_corrupt_batch() -> None:
    with pytest.raises(CorruptRecordError):
        compression_type(5)


BOMB = """
import sys
from pykclient.errors import DecompressedTooLarge
from pykclient.protocol.compression import CompressionType, compress, decompress
codec = CompressionType[sys.argv[1]]
piece = compress(codec, bytes(1 << 25))
bomb = piece * 16 if codec is not CompressionType.LZ4 else compress(codec, bytes(1 << 28))
with open("/proc/self/clear_refs", "w") as handle:
    handle.write("5")  # forget the peak that making the bomb left behind
with open("/proc/self/status") as lines:
    before = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
try:
    decompress(codec, bomb, bytes_max=64 << 20)
    print("no error")
except DecompressedTooLarge:
    pass
with open("/proc/self/status") as lines:
    print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize("codec", CODECS)
def test_a_decompression_bomb_costs_at_most_twice_the_bound(codec: CompressionType) -> None:
    done = subprocess.run([sys.executable, "-c", BOMB, codec.name], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 2 * 64 * 1024
