"""Damaged data directories: whatever bits are flipped, bytes cut or files lost, opening a log ends in a sound, shorter
log.

Run a while: ``python -m tests.fuzz.fuzz_log_recovery --seconds 60 --seed 1``. As a test (``pytest
tests/fuzz/fuzz_log_recovery.py``) it runs a fixed number of seeds. A failing seed is printed and replayed with
``--seed N --count 1``.
"""

from __future__ import annotations

import argparse
import random
import time

import pytest

from pykclient.broker.compaction import compact
from pykclient.broker.log import AppendOrigin, Isolation, Log
from pykclient.broker.log_config import LogConfig
from pykclient.broker.storage import MemoryStorage
from pykclient.errors import KafkaError
from pykclient.protocol.compression import CompressionType
from pykclient.protocol.control_records import encode_end_transaction_marker
from pykclient.protocol.records import decode_all, encode_batch

NOW_MS = 1_700_000_000_000
Records = dict[int, "tuple[bytes | None, bytes | None]"]


def build(chance: random.Random) -> Log:
    """A log with several segments, codecs, producers and transactions."""
    policy = ("compact",) if chance.random() < 0.3 else ("delete",)
    config = LogConfig(
        cleanup_policy=policy,
        internal_segment_bytes=chance.choice([400, 900, 3000]),
        index_interval_bytes=chance.choice([0, 150, 600]),
    )
    log = Log.open(MemoryStorage(), config, wall_ms=NOW_MS)
    sequences = {1: 0, 2: 0}
    for number in range(chance.randrange(5, 60)):
        producer_id = chance.choice([-1, 1, 2])
        count = chance.randrange(1, 4)
        records = [(NOW_MS + number, b"k%d" % chance.randrange(6), b"v%d" % number, None) for _ in range(count)]
        batch = encode_batch(
            records,
            compression=chance.choice(list(CompressionType)),
            producer_id=producer_id,
            producer_epoch=0 if producer_id > 0 else -1,
            base_sequence=sequences.get(producer_id, -1),
            transactional=producer_id == 2,
        )
        log.append_as_leader(batch, leader_epoch=number // 20, wall_ms=NOW_MS)
        if producer_id > 0:
            sequences[producer_id] += count
        if chance.random() < 0.15:
            marker = encode_end_transaction_marker(
                commit=chance.random() < 0.5, producer_id=2, producer_epoch=0, coordinator_epoch=0, timestamp=NOW_MS
            )
            log.append_as_leader(marker, leader_epoch=number // 20, wall_ms=NOW_MS, origin=AppendOrigin.COORDINATOR)
        log.advance_high_watermark(log.log_end_offset)
        if chance.random() < 0.05:
            log.flush(NOW_MS)
    if log.config.compact and chance.random() < 0.7:
        compact(log, NOW_MS, force=True)
    return log


def contents(log: Log) -> Records:
    """Everything in the log; damage shows as an exception of ours."""
    offset, found = log.log_start_offset, Records()
    while True:
        read = log.read(offset, bytes_max=2000, isolation=Isolation.LOG_END)
        if not read.records:
            return found
        for header, records in decode_all(read.records, "t", 0):
            offset = header.next_offset
            found.update({record.offset: (record.key, record.value) for record in records})


def damage(storage: MemoryStorage, chance: random.Random, *, first_base: int) -> None:
    """One to three accidents; ``first_base`` spares older segments where nothing would look at them."""
    for _ in range(chance.randrange(1, 4)):
        names = [
            name for name in storage.file_names() if not name.endswith(".log") or int(name.split(".")[0]) >= first_base
        ]
        if not names:
            return
        name = chance.choice(names)
        content = bytearray(storage.read_all(name) or b"")
        kind = chance.choice(["flip", "cut", "delete", "noise", "grow", "zero", "swap", "cleaned"])
        if kind == "flip" and content:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        elif kind == "cut":
            del content[chance.randrange(len(content) + 1) :]
        elif kind == "delete":
            storage.delete(name)
            continue
        elif kind == "noise" and content:
            start = chance.randrange(len(content))
            content[start : start + 40] = chance.randbytes(len(content[start : start + 40]))
        elif kind == "grow":
            content += chance.choice([chance.randbytes(chance.randrange(1, 200)), bytes(100), bytes(content[:90])])
        elif kind == "zero" and content:
            start = chance.randrange(len(content))
            content[start:] = bytes(len(content) - start)
        elif kind in ("swap", "cleaned") and name.endswith(".log"):
            name += "." + kind
            content = content[: chance.randrange(len(content) + 1)]
        storage.replace(name, content)


def one(seed: int) -> None:
    """Build, damage, open, and check what came of it."""
    chance = random.Random(seed)
    log = build(chance)
    before = contents(log)
    clean = chance.random() < 0.3
    if clean:
        clean = log.close(NOW_MS)
    storage = log.storage
    assert isinstance(storage, MemoryStorage)
    # After a clean stop only the tail is looked at; flipped bits in cold data are found by whoever checks the CRC.
    recovery_point = log.recovery_point if chance.random() < 0.5 else 0
    spared = 0 if not clean and recovery_point == 0 else log.segments[-1].base_offset
    damage(storage, chance, first_base=spared)
    opened = Log.open(storage, log.config, wall_ms=NOW_MS, clean=clean, recovery_point=recovery_point)
    check(opened, before, strict=not clean and recovery_point == 0)


def check(log: Log, before: Records, *, strict: bool) -> None:
    """The log holds nothing that was not written, can be read, searched, appended to, and opened again with the same
    result."""
    try:
        after = contents(log)
    except KafkaError:  # anything else is a bug and passes through
        assert not strict, "a recovered log must be readable to its end"
        return
    if strict:
        # Not offset by offset: the eight bytes of a batch's base offset are the one field that no checksum covers.
        assert set(after.values()) <= set(before.values())
    log.find_time(NOW_MS)
    log.find_max_timestamp()
    log.aborted_transactions(0, log.log_end_offset)
    batch = encode_batch([(NOW_MS, b"new", b"new", None)])
    result = log.append_as_leader(batch, leader_epoch=99, wall_ms=NOW_MS)
    log.advance_high_watermark(log.log_end_offset)
    assert contents(log) == {**after, result.base_offset: (b"new", b"new")}
    again = Log.open(log.storage, log.config, wall_ms=NOW_MS, log_start_offset=log.log_start_offset)
    if strict:
        assert contents(again) == contents(log)
        assert again.log_end_offset == log.log_end_offset


@pytest.mark.parametrize("block", range(8))
def test_damaged_directories_open_to_sound_logs(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        try:
            one(seed)
        except BaseException:
            print(f"seed {seed}")
            raise


def main() -> None:
    """Run seeds until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 60)
    arguments = parser.parse_args()
    started, seed = time.monotonic(), arguments.seed
    while time.monotonic() - started < arguments.seconds and seed - arguments.seed < arguments.count:
        try:
            one(seed)
        except BaseException:
            print(f"failing seed: {seed}")
            raise
        seed += 1
    print(f"{seed - arguments.seed} damaged directories in {time.monotonic() - started:.1f} s, all opened soundly")


if __name__ == "__main__":
    main()
