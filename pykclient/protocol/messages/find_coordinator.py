"""FindCoordinatorRequest, FindCoordinatorResponse.

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
    encode_compact_strings,
    encode_nullable_string,
    encode_string,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_nullable_string,
    read_string,
)
from pykclient.protocol.structs import (
    EMPTY,
    append_compact_structs,
    append_tags,
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_b = Struct(">b")
_h = Struct(">h")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FindCoordinatorRequest:
    """FindCoordinatorRequest, versions 0 to 6."""

    __slots__ = ("key", "key_type", "coordinator_keys", "unknown_tags")

    key: str
    key_type: int
    coordinator_keys: list[str]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is EMPTY else coordinator_keys
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FindCoordinatorRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            if self.key:
                raise not_carried(self, "key", version)
        elif version >= 3:
            append(encode_compact_string(self.key))
        else:
            append(encode_string(self.key))
        if version >= 1:
            append(_b.pack(self.key_type))
        elif self.key_type != 0:
            raise not_carried(self, "key_type", version)
        if version >= 4:
            append(encode_compact_strings(self.coordinator_keys))
        elif version >= 3:
            if self.coordinator_keys:
                raise not_carried(self, "coordinator_keys", version)
        elif self.coordinator_keys:
            raise not_carried(self, "coordinator_keys", version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FindCoordinatorRequest, int]:
        if version >= 4:
            key = ""
        elif version >= 3:
            key, position = read_compact_string(buffer, position)
        else:
            key, position = read_string(buffer, position)
        if version >= 1:
            (key_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            key_type = 0
        if version >= 4:
            coordinator_keys, position = read_compact_strings(buffer, position)
        elif version >= 3:
            coordinator_keys = []
        else:
            coordinator_keys = []
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FindCoordinatorRequest(key, key_type, coordinator_keys, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class Coordinator:
    """Coordinator, versions 4 to 6."""

    __slots__ = ("key", "node_id", "host", "port", "error_code", "error_message", "unknown_tags")

    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.key))
        append(_i.pack(self.node_id))
        append(encode_compact_string(self.host))
        append(_ih.pack(self.port, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[Coordinator, int]:
        key, position = read_compact_string(buffer, position)
        (node_id,) = _i.unpack_from(buffer, position)
        position += 4
        host, position = read_compact_string(buffer, position)
        port, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return Coordinator(key, node_id, host, port, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FindCoordinatorResponse:
    """FindCoordinatorResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators",
        "unknown_tags",
    )

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: list[Coordinator]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is EMPTY else coordinators
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> FindCoordinatorResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 4:
            if self.error_code != 0:
                raise not_carried(self, "error_code", version)
            append(_i.pack(self.throttle_time_ms))
        elif version >= 1:
            append(_ih.pack(self.throttle_time_ms, self.error_code))
        else:
            append(_h.pack(self.error_code))
        if version >= 4:
            pass
        elif version >= 3:
            append(encode_compact_nullable_string(self.error_message))
        elif version >= 1:
            append(encode_nullable_string(self.error_message))
        if version >= 4:
            if self.node_id != 0:
                raise not_carried(self, "node_id", version)
        else:
            append(_i.pack(self.node_id))
        if version >= 4:
            if self.host:
                raise not_carried(self, "host", version)
        elif version >= 3:
            append(encode_compact_string(self.host))
        else:
            append(encode_string(self.host))
        if version >= 4:
            if self.port != 0:
                raise not_carried(self, "port", version)
        else:
            append(_i.pack(self.port))
        if version >= 4:
            append_compact_structs(out, self.coordinators, version)
        elif version >= 3:
            if self.coordinators:
                raise not_carried(self, "coordinators", version)
        elif self.coordinators:
            raise not_carried(self, "coordinators", version)
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FindCoordinatorResponse, int]:
        if version >= 4:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
            error_code = 0
        elif version >= 1:
            throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
            position += 6
        else:
            (error_code,) = _h.unpack_from(buffer, position)
            position += 2
            throttle_time_ms = 0
        error_message: str | None
        if version >= 4:
            error_message = ""
        elif version >= 3:
            error_message, position = read_compact_nullable_string(buffer, position)
        elif version >= 1:
            error_message, position = read_nullable_string(buffer, position)
        else:
            error_message = ""
        if version >= 4:
            node_id = 0
        else:
            (node_id,) = _i.unpack_from(buffer, position)
            position += 4
        if version >= 4:
            host = ""
        elif version >= 3:
            host, position = read_compact_string(buffer, position)
        else:
            host, position = read_string(buffer, position)
        if version >= 4:
            port = 0
        else:
            (port,) = _i.unpack_from(buffer, position)
            position += 4
        if version >= 4:
            coordinators, position = read_compact_structs(buffer, position, version, Coordinator._read, 14)
        elif version >= 3:
            coordinators = []
        else:
            coordinators = []
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FindCoordinatorResponse(
            throttle_time_ms, error_code, error_message, node_id, host, port, coordinators, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "Coordinator",
    "FindCoordinatorRequest",
    "FindCoordinatorResponse",
]
