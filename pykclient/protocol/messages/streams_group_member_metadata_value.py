"""StreamsGroupMemberMetadataValue.

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
    encode_compact_string,
    read_compact_nullable_string,
    read_compact_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_H = Struct(">H")
_ii = Struct(">ii")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Endpoint:
    """Endpoint, version 0."""

    __slots__ = ("host", "port", "unknown_tags")

    host: str
    port: int
    unknown_tags: dict[int, bytes] | None

    def __init__(self, host: str = "", port: int = 0, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.host))
        append(_H.pack(self.port))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Endpoint, int]:
        host, position = read_compact_string(buffer, position)
        (port,) = _H.unpack_from(buffer, position)
        position += 2
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Endpoint(host, port, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class KeyValue:
    """KeyValue, version 0."""

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
    def _read(buffer: Buffer, position: int, version: int) -> tuple[KeyValue, int]:
        key, position = read_compact_string(buffer, position)
        value, position = read_compact_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return KeyValue(key, value, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class StreamsGroupMemberMetadataValue:
    """StreamsGroupMemberMetadataValue, version 0."""

    __slots__ = (
        "instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms", "topology_epoch",
        "process_id", "user_endpoint", "client_tags", "unknown_tags",
    )

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is EMPTY else client_tags
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> StreamsGroupMemberMetadataValue:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_nullable_string(self.instance_id))
        append(encode_compact_nullable_string(self.rack_id))
        append(encode_compact_string(self.client_id))
        append(encode_compact_string(self.client_host))
        append(_ii.pack(self.rebalance_timeout_ms, self.topology_epoch))
        append(encode_compact_string(self.process_id))
        if self.user_endpoint is None:
            append(b"\xff")
        else:
            append(b"\1")
            self.user_endpoint._write(out, version)
        append_compact_structs(out, self.client_tags, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
        instance_id, position = read_compact_nullable_string(buffer, position)
        rack_id, position = read_compact_nullable_string(buffer, position)
        client_id, position = read_compact_string(buffer, position)
        client_host, position = read_compact_string(buffer, position)
        rebalance_timeout_ms, topology_epoch = _ii.unpack_from(buffer, position)
        position += 8
        process_id, position = read_compact_string(buffer, position)
        user_endpoint: Endpoint | None
        position += 1
        if buffer[position - 1] >= 0x80:
            user_endpoint = None
        else:
            user_endpoint, position = Endpoint._read(buffer, position, version)
        client_tags, position = read_compact_structs(buffer, position, version, KeyValue._read, 3)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return StreamsGroupMemberMetadataValue(
            instance_id, rack_id, client_id, client_host, rebalance_timeout_ms, topology_epoch, process_id,
            user_endpoint, client_tags, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Endpoint",
    "KeyValue",
    "StreamsGroupMemberMetadataValue",
]
