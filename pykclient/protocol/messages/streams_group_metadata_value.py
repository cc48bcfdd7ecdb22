"""StreamsGroupMetadataValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_string,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    encode_compact_structs,
    read_compact_nullable_structs,
    read_message,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_i = Struct(">i")
_iq = Struct(">iq")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class LastAssignmentConfig:
    """LastAssignmentConfig, version 0."""

    __slots__ = ("key", "value", "unknown_tags")

    key: str
    value: str
    unknown_tags: dict[int, bytes] | None

    def __init__(self, key: str = "", value: str = "", unknown_tags: dict[int, bytes] | None = None) -> None:
        self.key = key
        self.value = value
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.key))
        append(encode_compact_string(self.value))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[LastAssignmentConfig, int]:
        key, position = read_compact_string(buffer, position)
        value, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return LastAssignmentConfig(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupMetadataValue:
    """StreamsGroupMetadataValue, version 0."""

    __slots__ = (
        "epoch", "metadata_hash", "validated_topology_epoch", "last_assignment_configs", "unknown_tags",
    )

    epoch: int
    metadata_hash: int
    validated_topology_epoch: int
    last_assignment_configs: list[LastAssignmentConfig] | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = [] if last_assignment_configs is EMPTY else last_assignment_configs
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_iq.pack(self.epoch, self.metadata_hash))
        known: list[tuple[int, bytes]] = []
        if self.validated_topology_epoch != -1:
            known.append((0, _i.pack(self.validated_topology_epoch)))
        if self.last_assignment_configs is None or self.last_assignment_configs:
            known.append((1, b"\0" if self.last_assignment_configs is None else encode_compact_structs(self.last_assignment_configs, version)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupMetadataValue, int]:
        epoch, metadata_hash = _iq.unpack_from(buffer, position)
        position += 12
        validated_topology_epoch = -1
        last_assignment_configs: list[LastAssignmentConfig] | None = []
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    (validated_topology_epoch,) = _i.unpack_from(buffer, position)
                    position += 4
                elif tag == 1:
                    last_assignment_configs, position = read_compact_nullable_structs(
                        buffer, position, version, LastAssignmentConfig._read, 3,
                    )
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return StreamsGroupMetadataValue(
            epoch, metadata_hash, validated_topology_epoch, last_assignment_configs, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "LastAssignmentConfig",
    "StreamsGroupMetadataValue",
]
