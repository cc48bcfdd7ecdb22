"""Opening a log that is already there: after a clean stop, after a crash, or after somebody damaged the files.

Runs on the broker node's thread before the partition is served. What was flushed is trusted as far as the files fit
together; everything behind the recovery point of a log that was not closed cleanly is checked batch by batch, and the
log ends before the first damage. It must never raise for damaged content: a torn tail, flipped bits and missing or
foreign files all end in a shorter, consistent log.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from pykclient.broker.index import RELATIVE_OFFSET_MAX, AbortedTransaction
from pykclient.broker.leader_epochs import LeaderEpochs
from pykclient.broker.log_config import LogConfig
from pykclient.broker.log_validation import end_marker_of
from pykclient.broker.producer_state import CompletedTransaction, ProducerStates
from pykclient.broker.segment import LOG_SUFFIX, SNAPSHOT_SUFFIX, LogSegment, segment_file_name
from pykclient.broker.storage import Storage
from pykclient.errors import CorruptRecordError
from pykclient.protocol.batch_header import BatchHeader
from pykclient.protocol.buffers import Buffer

CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"
_LOG_NAME = re.compile(r"(\d{20})\.log(\.swap)?")
_SNAPSHOT_NAME = re.compile(r"(\d{20})\.snapshot")
_OFFSET_MAX = 2**63 - 1
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class LoadedLog:
    """What a log starts with."""

    segments: list[LogSegment]
    producers: ProducerStates
    epochs: LeaderEpochs
    log_start_offset: int
    recovery_point: int
    truncated: bool
    """Whether damage was found and cut away."""


def load_log(
    storage: Storage, config: LogConfig, *, log_start_offset: int, recovery_point: int, clean: bool, wall_ms: int
) -> LoadedLog:
    """Read the segments of a directory; an empty directory becomes a log that starts at ``log_start_offset``."""
    finish_swaps(storage, config, wall_ms)
    bases = [int(match[1]) for name in storage.file_names() if (match := _LOG_NAME.fullmatch(name)) and not match[2]]
    segments = [LogSegment(storage, base, config, created_ms=wall_ms) for base in sorted(bases) if base <= _OFFSET_MAX]
    doubtful = _load_segments(segments, _OFFSET_MAX if clean else recovery_point)
    epochs = LeaderEpochs(storage)
    producers = ProducerStates()
    truncated = _replay(storage, segments, doubtful, producers, epochs, wall_ms)
    if not segments:
        segments.append(LogSegment(storage, log_start_offset, config, created_ms=wall_ms))
        producers.clear()
    end_offset = segments[-1].next_offset
    epochs.truncate_from_end(end_offset)
    log_start_offset = min(max(log_start_offset, segments[0].base_offset), end_offset)
    epochs.truncate_from_start(log_start_offset)
    recovery_point = end_offset if clean and not truncated else min(recovery_point, end_offset)
    return LoadedLog(segments, producers, epochs, log_start_offset, recovery_point, truncated)


def finish_swaps(storage: Storage, config: LogConfig, wall_ms: int) -> None:
    """Finish what a compaction had decided before the crash (``.swap``), and forget what it had not (``.cleaned``)."""
    names = storage.file_names()
    for name in names:
        if name.endswith((CLEANED_SUFFIX, ".tmp", ".deleted")):
            storage.delete(name)
    for name in names:
        match = _LOG_NAME.fullmatch(name)
        if match is None or not match[2]:
            continue
        base = int(match[1])
        swap = LogSegment(storage, base, config, created_ms=wall_ms, suffix=SWAP_SUFFIX)
        sound = sum(1 for _ in swap.recover(base))
        swap.close()
        if swap.was_truncated:
            # A swap file was synced before it got its name, so this is damage: the segments it replaces may still be
            # whole.
            storage.delete(name)
            continue
        for other in storage.file_names():
            other_base = int(other[:20]) if re.match(r"\d{20}\.(log|index|timeindex|txnindex)$", other) else -1
            if base <= other_base < max(swap.next_offset, base + 1):
                storage.delete(other)
        storage.rename(name, segment_file_name(base, LOG_SUFFIX))
        _logger.info("finished an interrupted compaction: %s with %d batches", name, sound)


def _load_segments(segments: list[LogSegment], trusted_below: int) -> set[int]:
    """Load what can be trusted; the base offsets of the segments that must be recovered."""
    doubtful: set[int] = set()
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        upper = segment.base_offset + RELATIVE_OFFSET_MAX + 1 if last else segments[number + 1].base_offset
        flushed = upper <= trusted_below or trusted_below == _OFFSET_MAX
        if not flushed or not segment.load(upper):
            doubtful.add(segment.base_offset)
    return doubtful


def _replay(
    storage: Storage,
    segments: list[LogSegment],
    doubtful: set[int],
    producers: ProducerStates,
    epochs: LeaderEpochs,
    wall_ms: int,
) -> bool:
    """Recover doubtful segments and bring producers and epochs up to date; True when damage was cut away."""
    if not segments:
        return False
    if not epochs.entries:
        doubtful = {segment.base_offset for segment in segments}  # the epochs are in the batches only: read them all
    first_doubtful = min(doubtful, default=segments[-1].next_offset)
    start = load_snapshot(storage, producers, at_most=first_doubtful, wall_ms=wall_ms)
    expected = segments[0].base_offset
    for number, segment in enumerate(segments):
        recover = segment.base_offset in doubtful
        damaged = False
        if recover:
            segment_start = max(expected, segment.base_offset)
            following = segments[number + 1].base_offset if number + 1 < len(segments) else None
            for header, content in segment.recover(segment_start, following):
                epochs.assign(header.partition_leader_epoch, header.base_offset)
                if header.base_offset >= start:
                    completed = replay_batch(producers, header, content, wall_ms)
                    note_completed(segment, producers, completed)
            damaged = segment.was_truncated
        elif segment.next_offset > start:
            try:
                for header, content in segment.headers(segment.offset_index.lookup(start).position):
                    if header.base_offset >= start:
                        replay_batch(producers, header, content, wall_ms)
            except CorruptRecordError:
                # Trusted, and wrongly so: begin again with this one checked. Each round doubts one segment more.
                return _replay(storage, segments, doubtful | {segment.base_offset}, producers, epochs, wall_ms)
        expected = segment.next_offset
        if damaged:
            _logger.warning("%s is damaged; the log now ends at offset %d", storage.path, expected)
            for later in segments[number + 1 :]:
                later.delete()
            del segments[number + 1 :]
            return True
    return False


def load_snapshot(storage: Storage, producers: ProducerStates, *, at_most: int, wall_ms: int) -> int:
    """Take the newest sound snapshot at or before an offset; where replay has to begin (0 when there is none)."""
    offsets = sorted(snapshot_offsets(storage), reverse=True)
    for offset in offsets:
        name = segment_file_name(offset, SNAPSHOT_SUFFIX)
        if offset > at_most:
            storage.delete(name)  # it describes batches that may be gone
            continue
        try:
            producers.load(storage.read_all(name) or b"", active_ms=wall_ms)
        except CorruptRecordError:
            storage.delete(name)
            continue
        return offset
    producers.clear()
    return 0


def snapshot_offsets(storage: Storage) -> list[int]:
    """Offsets of the producer snapshots in a directory."""
    return [int(match[1]) for name in storage.file_names() if (match := _SNAPSHOT_NAME.fullmatch(name))]


def replay_batch(
    producers: ProducerStates, header: BatchHeader, content: Buffer, wall_ms: int
) -> CompletedTransaction | None:
    """Take a batch that is in the log into the producers' state; the transaction that it ended."""
    if not header.has_producer_id:
        return None
    if not header.is_control:
        producers.update(header, active_ms=wall_ms)
        return None
    try:
        marker = end_marker_of(header, content)
    except CorruptRecordError:
        return None  # its checksum is right, so it was written like this; no transaction can depend on it
    return None if marker is None else producers.update_marker(header, marker, active_ms=wall_ms)


def note_completed(segment: LogSegment, producers: ProducerStates, completed: CompletedTransaction | None) -> None:
    """Enter an aborted transaction into the index of the segment that holds its marker."""
    if completed is not None and completed.aborted:
        stable = producers.last_stable_offset_after(completed)
        segment.note_aborted(
            AbortedTransaction(completed.producer_id, completed.first_offset, completed.last_offset, stable)
        )


__all__ = [
    "CLEANED_SUFFIX",
    "SWAP_SUFFIX",
    "LoadedLog",
    "finish_swaps",
    "load_log",
    "load_snapshot",
    "note_completed",
    "replay_batch",
    "snapshot_offsets",
]
