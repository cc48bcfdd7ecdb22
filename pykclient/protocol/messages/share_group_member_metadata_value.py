"""ShareGroupMemberMetadataValue.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_nullable_string,
    encode_compact_string,
    encode_compact_strings,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)



@dataclass(init=False, repr=False, eq=False, match_args=False)
class ShareGroupMemberMetadataValue:
    """ShareGroupMemberMetadataValue, version 0."""

    __slots__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names", "unknown_tags")

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ShareGroupMemberMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.rack_id))
        append(encode_compact_string(self.client_id))
        append(encode_compact_string(self.client_host))
        append(encode_compact_strings(self.subscribed_topic_names))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ShareGroupMemberMetadataValue, int]:
        rack_id, position = read_compact_nullable_string(buffer, position)
        client_id, position = read_compact_string(buffer, position)
        client_host, position = read_compact_string(buffer, position)
        subscribed_topic_names, position = read_compact_strings(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ShareGroupMemberMetadataValue(
            rack_id, client_id, client_host, subscribed_topic_names, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ShareGroupMemberMetadataValue",
]
