"""Both checksums of record batches against Java's: CRC-32C for v2, CRC-32 before."""

from __future__ import annotations

from pykclient.protocol.batch_header import BatchHeader, compute_crc, read_header
from pykclient.protocol.records import build_batch
from tests.vectors.test_batches import load

VECTORS = load("crc32c")
V2_COVERED_FROM, V1_COVERED_FROM = 21, 16


def header(magic: int, size: int) -> BatchHeader:
    return BatchHeader(0, size, 0, 0, magic, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_checksums_equal_javas() -> None:
    assert VECTORS
    for vector in VECTORS:
        data = bytes.fromhex(vector["hex"])[vector["offset"] : vector["offset"] + vector["length"]]
        for magic, start, name in ((2, V2_COVERED_FROM, "crc32c"), (1, V1_COVERED_FROM, "crc32")):
            assert compute_crc(bytes(start) + data, header(magic, start + len(data))) == vector[name]


def test_a_batch_is_written_with_the_checksum_it_is_read_with() -> None:
    for vector in VECTORS:
        batch = build_batch(
            bytes.fromhex(vector["hex"]), base_offset=1, partition_leader_epoch=2, attributes=0, last_offset_delta=0,
            base_timestamp=5, max_timestamp=6, producer_id=7, producer_epoch=8, base_sequence=9, record_count=10,
        )  # fmt: skip
        seen = read_header(batch)
        assert seen is not None
        assert compute_crc(batch, seen) == seen.crc
