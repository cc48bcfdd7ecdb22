"""Where the controller's changes are kept: an append-only file of checksummed JSON lines, or nowhere.

Runs on the thread of the node that hosts the controller. A torn tail (a crash in mid-write) is cut off on opening;
damage before the tail is reported, never skipped. It writes JSON and reads JSON: nothing that is loaded can run
code.
"""

from __future__ import annotations

import base64
import json
import os
import uuid
import zlib
from pathlib import Path
from typing import Any, Protocol

from pykclient.broker.authorizer import AclBinding, Operation, PatternType, Permission, ResourceType
from pykclient.broker.image import (
    VOLATILE,
    AclsChanged,
    BrokerConfigsPut,
    Change,
    FeaturePut,
    MetadataImage,
    PartitionImage,
    ProducerIdsAllocated,
    QuotaPut,
    ScramPut,
    TopicImage,
    TopicPut,
    TopicRemoved,
    apply_changes,
)
from pykclient.errors import FatalError
from pykclient.net.scram import ScramCredential

LINES_BEFORE_SNAPSHOT = 2_000


class Journal(Protocol):
    """What the controller needs: everything written before, and a way to write more."""

    cluster_id: str | None

    def load(self) -> list[Change]:
        """All changes written so far, in order."""
        ...

    def append(self, changes: list[Change]) -> None:
        """Keep them; when this returns a killed process will find them again."""
        ...

    def set_cluster_id(self, cluster_id: str) -> None:
        """Remember the cluster's id, once, before the first change."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class MemoryJournal:
    """Forgets everything with the process: what a cluster without a data directory uses."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self._changes: list[Change] = []

    def load(self) -> list[Change]:
        """All changes written so far, in order."""
        return list(self._changes)

    def append(self, changes: list[Change]) -> None:
        """Keep them for as long as this object lives."""
        self._changes += changes

    def set_cluster_id(self, cluster_id: str) -> None:
        """Remember the cluster's id."""
        self.cluster_id = cluster_id

    def close(self) -> None:
        """Nothing to let go of."""


class FileJournal:
    """One line per change: CRC-32 in hex, a space, JSON. Rewritten as a snapshot when it has grown long."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.cluster_id: str | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._loaded = self._read()
        if len(self._loaded) > LINES_BEFORE_SNAPSHOT:
            self._rewrite()
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 (closed by close)

    def load(self) -> list[Change]:
        """All changes written so far, in order."""
        return list(self._loaded)

    def append(self, changes: list[Change]) -> None:
        """Hand them to the kernel: what was answered survives a killed process.

        Like the logs, synced on closing only.
        """
        lines = b"".join(_line(encode_change(change)) for change in changes if not isinstance(change, VOLATILE))
        if lines:
            self._file.write(lines)

    def set_cluster_id(self, cluster_id: str) -> None:
        """Remember the cluster's id."""
        self.cluster_id = cluster_id
        self._file.write(_line({"kind": "cluster", "id": cluster_id}))

    def close(self) -> None:
        """Sync, and let go of the file."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def _read(self) -> list[Change]:
        if not self._path.exists():
            return []
        content = self._path.read_bytes()
        changes: list[Change] = []
        position = 0
        while position < len(content):
            end = content.find(b"\n", position) + 1
            entry = _parse(content[position:end]) if end else None
            if entry is None:
                self._cut(position, len(content), end)
                break
            if entry["kind"] == "cluster":
                self.cluster_id = entry["id"]
            else:
                changes.append(decode_change(entry))
            position = end
        return changes

    def _cut(self, position: int, size: int, end: int) -> None:
        if end and end < size:
            raise FatalError(f"{self._path} is damaged at byte {position}; only its tail may be torn")
        with open(self._path, "r+b") as file:
            file.truncate(position)

    def _rewrite(self) -> None:
        self._loaded = snapshot(apply_changes(MetadataImage(cluster_id=""), self._loaded))
        lines = [_line({"kind": "cluster", "id": self.cluster_id}), *(_line(encode_change(c)) for c in self._loaded)]
        fresh = self._path.with_suffix(".new")
        with open(fresh, "wb") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self._path)


def snapshot(image: MetadataImage) -> list[Change]:
    """The shortest list of changes that leads to this image (brokers aside)."""
    changes: list[Change] = [TopicPut(topic) for topic in image.topics.values()]
    changes += [BrokerConfigsPut(name, configs) for name, configs in image.broker_configs.items()]
    changes += [ScramPut(user, mechanism, found) for (user, mechanism), found in image.scram.items()]
    changes += [QuotaPut(entity, values) for entity, values in image.quotas.items()]
    changes += [FeaturePut(name, level) for name, level in image.features.items()]
    if image.acls:
        changes.append(AclsChanged(added=image.acls))
    if image.next_producer_id:
        changes.append(ProducerIdsAllocated(image.next_producer_id))
    return changes


def _line(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def _parse(line: bytes) -> dict[str, Any] | None:
    """The entry, or None when the line is torn."""
    try:
        checksum, text = int(line[:8], 16), line[9:-1]
    except ValueError:
        return None
    if zlib.crc32(text) != checksum:
        return None
    entry: dict[str, Any] = json.loads(text)
    return entry


def encode_change(change: Change) -> dict[str, Any]:
    """A change as JSON data."""
    entry: dict[str, Any] = {"kind": change.KIND}
    if isinstance(change, TopicPut):
        topic = change.topic
        partitions = [[p.leader, p.leader_epoch, list(p.replicas), list(p.isr)] for p in topic.partitions]
        entry |= {"name": topic.name, "id": topic.topic_id.hex, "partitions": partitions}
        entry["configs"] = dict(topic.configs)
    elif isinstance(change, TopicRemoved):
        entry["name"] = change.name
    elif isinstance(change, BrokerConfigsPut):
        entry |= {"name": change.name, "configs": dict(change.configs)}
    elif isinstance(change, AclsChanged):
        entry |= {"added": [_acl(a) for a in change.added], "removed": [_acl(a) for a in change.removed]}
    elif isinstance(change, ScramPut):
        found = change.credential
        entry |= {"user": change.user, "mechanism": change.mechanism, "credential": None}
        if found is not None:
            secrets = [base64.b64encode(part).decode() for part in (found.salt, found.stored_key, found.server_key)]
            entry["credential"] = [*secrets, found.iterations]
    elif isinstance(change, QuotaPut):
        entry |= {"entity": [list(pair) for pair in change.entity], "values": dict(change.values)}
    elif isinstance(change, FeaturePut):
        entry |= {"name": change.name, "level": change.level}
    elif isinstance(change, ProducerIdsAllocated):
        entry["next"] = change.next_producer_id
    else:
        raise AssertionError(f"{change!r} is not kept")
    return entry


def _acl(binding: AclBinding) -> list[Any]:
    return [
        int(binding.resource_type),
        binding.resource_name,
        int(binding.pattern_type),
        binding.principal,
        binding.host,
        int(binding.operation),
        int(binding.permission),
    ]


def decode_change(entry: dict[str, Any]) -> Change:
    """The change that ``encode_change`` wrote."""
    kind = entry["kind"]
    if kind == TopicPut.KIND:
        partitions = tuple(PartitionImage(p[0], p[1], tuple(p[2]), tuple(p[3])) for p in entry["partitions"])
        return TopicPut(TopicImage(entry["name"], uuid.UUID(hex=entry["id"]), partitions, entry["configs"]))
    if kind == TopicRemoved.KIND:
        return TopicRemoved(entry["name"])
    if kind == BrokerConfigsPut.KIND:
        return BrokerConfigsPut(entry["name"], entry["configs"])
    if kind == AclsChanged.KIND:
        return AclsChanged(tuple(map(_read_acl, entry["added"])), tuple(map(_read_acl, entry["removed"])))
    if kind == ScramPut.KIND:
        stored = entry["credential"]
        if stored is None:
            return ScramPut(entry["user"], entry["mechanism"], None)
        salt, stored_key, server_key = map(base64.b64decode, stored[:3])
        return ScramPut(entry["user"], entry["mechanism"], ScramCredential(salt, stored[3], stored_key, server_key))
    if kind == QuotaPut.KIND:
        return QuotaPut(tuple((pair[0], pair[1]) for pair in entry["entity"]), entry["values"])
    if kind == FeaturePut.KIND:
        return FeaturePut(entry["name"], entry["level"])
    if kind == ProducerIdsAllocated.KIND:
        return ProducerIdsAllocated(entry["next"])
    raise FatalError(f"the metadata journal holds a change of unknown kind {kind!r}")


def _read_acl(row: list[Any]) -> AclBinding:
    return AclBinding(
        ResourceType(row[0]), row[1], PatternType(row[2]), row[3], row[4], Operation(row[5]), Permission(row[6])
    )
