"""OffsetCommitValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from pykclient.protocol.primitives import (
    Buffer,
    ZERO_UUID,
    encode_compact_string,
    encode_string,
    read_compact_string,
    read_string,
    uuid_of,
)
from pykclient.protocol.structs import (
    append_tags,
    not_carried,
    read_message,
    read_tag,
    read_tag_count,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_u = Struct(">16s")
_q = Struct(">q")
_qi = Struct(">qi")
_qq = Struct(">qq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class OffsetCommitValue:
    """OffsetCommitValue, versions 0 to 4."""

    __slots__ = (
        "offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id",
        "unknown_tags",
    )

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: UUID
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: UUID = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> OffsetCommitValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(_qi.pack(self.offset, self.leader_epoch))
        else:
            append(_q.pack(self.offset))
        if version >= 4:
            append(encode_compact_string(self.metadata))
        else:
            append(encode_string(self.metadata))
        if version >= 2:
            append(_q.pack(self.commit_timestamp))
        elif version >= 1:
            append(_qq.pack(self.commit_timestamp, self.expire_timestamp))
        else:
            append(_q.pack(self.commit_timestamp))
        known: list[tuple[int, bytes]] = []
        if version >= 4 and self.topic_id != ZERO_UUID:
            known.append((0, self.topic_id.bytes))
        if version >= 4:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[OffsetCommitValue, int]:
        if version >= 3:
            offset, leader_epoch = _qi.unpack_from(buffer, position)
            position += 12
        else:
            (offset,) = _q.unpack_from(buffer, position)
            position += 8
            leader_epoch = -1
        if version >= 4:
            metadata, position = read_compact_string(buffer, position)
        else:
            metadata, position = read_string(buffer, position)
        if version >= 2:
            (commit_timestamp,) = _q.unpack_from(buffer, position)
            position += 8
            expire_timestamp = -1
        elif version >= 1:
            commit_timestamp, expire_timestamp = _qq.unpack_from(buffer, position)
            position += 16
        else:
            (commit_timestamp,) = _q.unpack_from(buffer, position)
            position += 8
            expire_timestamp = -1
        topic_id = ZERO_UUID
        tags: dict[int, bytes] | None = None
        if version >= 4:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        (topic_id,) = _u.unpack_from(buffer, position)
                        position += 16
                        topic_id = uuid_of(topic_id)
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return OffsetCommitValue(
            offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, topic_id, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "OffsetCommitValue",
]
