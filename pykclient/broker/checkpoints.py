"""Small files beside the logs that survive a restart: offsets per partition, a partition's topic id, and the mark of a
clean stop.

Owned by the broker node's thread; formats and names are Kafka's. A damaged checkpoint counts as a missing one: it only
makes recovery longer.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from pykclient.broker.storage import Storage
from pykclient.types import TopicPartition

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
PARTITION_METADATA = "partition.metadata"


def read_offsets(storage: Storage, name: str) -> dict[TopicPartition, int]:
    """The offsets in a checkpoint; none when the file is missing or damaged."""
    content = storage.read_all(name)
    if content is None:
        return {}
    try:
        version, count, *lines = content.decode("ascii").split("\n")
        entries = {}
        for line in lines[: int(count)]:
            topic, partition, offset = line.split(" ")
            entries[TopicPartition(topic, int(partition))] = int(offset)
    except ValueError:
        return {}
    sound = version == "0" and len(entries) == int(count) and all(offset >= 0 for offset in entries.values())
    return entries if sound else {}


def write_offsets(storage: Storage, name: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Replace a checkpoint."""
    lines = ["0", str(len(offsets))]
    lines += [f"{where.topic} {where.partition} {offset}" for where, offset in sorted(offsets.items())]
    storage.replace(name, ("\n".join(lines) + "\n").encode("ascii"))


def read_topic_id(storage: Storage) -> uuid.UUID | None:
    """The topic that a partition's directory belongs to; None when nobody wrote it down."""
    content = storage.read_all(PARTITION_METADATA)
    try:
        lines = (content or b"").decode("ascii").split("\n")
        return uuid.UUID(lines[1].removeprefix("topic_id: ")) if lines[0] == "version: 0" else None
    except (ValueError, IndexError):
        return None


def write_topic_id(storage: Storage, topic_id: uuid.UUID) -> None:
    """Note which topic a partition's directory belongs to, before the first record is in it."""
    storage.replace(PARTITION_METADATA, f"version: 0\ntopic_id: {topic_id}\n".encode("ascii"), sync=False)


def take_clean_shutdown(storage: Storage) -> bool:
    """Whether the last run ended cleanly; the mark is gone afterwards, so that a crash of this run is seen."""
    clean = storage.read_all(CLEAN_SHUTDOWN) is not None
    storage.delete(CLEAN_SHUTDOWN)
    return clean


def mark_clean_shutdown(storage: Storage) -> None:
    """All logs are closed and synced."""
    storage.replace(CLEAN_SHUTDOWN, b'{"version":0}')


__all__ = [
    "CLEANED",
    "CLEAN_SHUTDOWN",
    "HIGH_WATERMARKS",
    "LOG_STARTS",
    "PARTITION_METADATA",
    "RECOVERY_POINTS",
    "mark_clean_shutdown",
    "read_offsets",
    "read_topic_id",
    "take_clean_shutdown",
    "write_offsets",
    "write_topic_id",
]
