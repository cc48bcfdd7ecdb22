"""ConsumerGroupMemberMetadataValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_nullable_string,
    encode_compact_size,
    encode_compact_string,
    encode_compact_strings,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    NOT_GIVEN,
    append_compact_structs,
    append_tags,
    encode_struct,
    read_compact_structs,
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


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ClassicProtocol:
    """ClassicProtocol, version 0."""

    __slots__ = ("name", "metadata", "unknown_tags")

    name: str
    metadata: bytes
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(encode_compact_size(self.metadata))
        append(self.metadata)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ClassicProtocol, int]:
        name, position = read_compact_string(buffer, position)
        metadata, position = read_compact_bytes(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ClassicProtocol(name, metadata, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ClassicMemberMetadata:
    """ClassicMemberMetadata, version 0."""

    __slots__ = ("session_timeout_ms", "supported_protocols", "unknown_tags")

    session_timeout_ms: int
    supported_protocols: list[ClassicProtocol]
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is EMPTY else supported_protocols
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.session_timeout_ms))
        append_compact_structs(out, self.supported_protocols, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ClassicMemberMetadata, int]:
        (session_timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        supported_protocols, position = read_compact_structs(
            buffer, position, version, ClassicProtocol._read, 3,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ClassicMemberMetadata(session_timeout_ms, supported_protocols, tags), position

    def _is_set(self) -> bool:
        """Whether anything differs from its default."""
        return bool(self.session_timeout_ms != 0 or self.supported_protocols or self.unknown_tags)

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConsumerGroupMemberMetadataValue:
    """ConsumerGroupMemberMetadataValue, version 0."""

    __slots__ = (
        "instance_id", "rack_id", "client_id", "client_host", "subscribed_topic_names",
        "subscribed_topic_regex", "rebalance_timeout_ms", "server_assignor", "classic_member_metadata",
        "unknown_tags",
    )

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = EMPTY,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = NOT_GIVEN,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = ClassicMemberMetadata() if classic_member_metadata is NOT_GIVEN else classic_member_metadata
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ConsumerGroupMemberMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.instance_id))
        append(encode_compact_nullable_string(self.rack_id))
        append(encode_compact_string(self.client_id))
        append(encode_compact_string(self.client_host))
        append(encode_compact_strings(self.subscribed_topic_names))
        append(encode_compact_nullable_string(self.subscribed_topic_regex))
        append(_i.pack(self.rebalance_timeout_ms))
        append(encode_compact_nullable_string(self.server_assignor))
        known: list[tuple[int, bytes]] = []
        if self.classic_member_metadata is None or self.classic_member_metadata._is_set():
            known.append((0, b"\xff" if self.classic_member_metadata is None else b"\1" + encode_struct(self.classic_member_metadata, version)))
        if known or self.unknown_tags:
            append_tags(out, known, self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConsumerGroupMemberMetadataValue, int]:
        instance_id, position = read_compact_nullable_string(buffer, position)
        rack_id, position = read_compact_nullable_string(buffer, position)
        client_id, position = read_compact_string(buffer, position)
        client_host, position = read_compact_string(buffer, position)
        subscribed_topic_names, position = read_compact_strings(buffer, position)
        subscribed_topic_regex, position = read_compact_nullable_string(buffer, position)
        (rebalance_timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        server_assignor, position = read_compact_nullable_string(buffer, position)
        classic_member_metadata: ClassicMemberMetadata | None = ClassicMemberMetadata()
        tags: dict[int, bytes] | None = None
        if buffer[position] == 0:
            position += 1
        else:
            count, position = read_tag_count(buffer, position)
            tag = -1
            for _ in range(count):
                tag, position, end = read_tag(buffer, position, tag)
                if tag == 0:
                    position += 1
                    if buffer[position - 1] >= 0x80:
                        classic_member_metadata = None
                    else:
                        classic_member_metadata, position = ClassicMemberMetadata._read(buffer, position, version)
                else:
                    tags = tags or {}
                    tags[tag] = bytes(buffer[position:end])
                    position = end
                if position != end:
                    raise tag_end_missed(tag, position, end)
        return ConsumerGroupMemberMetadataValue(
            instance_id, rack_id, client_id, client_host, subscribed_topic_names, subscribed_topic_regex,
            rebalance_timeout_ms, server_assignor, classic_member_metadata, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ClassicMemberMetadata",
    "ClassicProtocol",
    "ConsumerGroupMemberMetadataValue",
]
