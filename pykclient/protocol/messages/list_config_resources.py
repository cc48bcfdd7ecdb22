"""ListConfigResourcesRequest, ListConfigResourcesResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_numbers,
    encode_compact_string,
    read_compact_numbers,
    read_compact_string,
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
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListConfigResourcesRequest:
    """ListConfigResourcesRequest, versions 0 to 1."""

    __slots__ = ("resource_types", "unknown_tags")

    resource_types: list[int]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(self, resource_types: list[int] = EMPTY, unknown_tags: dict[int, bytes] | None = None) -> None:
        self.resource_types = [] if resource_types is EMPTY else resource_types
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListConfigResourcesRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 1:
            append(encode_compact_numbers(self.resource_types, "b"))
        elif self.resource_types:
            raise not_carried(self, "resource_types", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListConfigResourcesRequest, int]:
        if version >= 1:
            resource_types, position = read_compact_numbers(buffer, position, "b", 1)
        else:
            resource_types = []
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListConfigResourcesRequest(resource_types, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ConfigResource:
    """ConfigResource, versions 0 to 1."""

    __slots__ = ("resource_name", "resource_type", "unknown_tags")

    resource_name: str
    resource_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.resource_name))
        if version >= 1:
            append(_b.pack(self.resource_type))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ConfigResource, int]:
        resource_name, position = read_compact_string(buffer, position)
        if version >= 1:
            (resource_type,) = _b.unpack_from(buffer, position)
            position += 1
        else:
            resource_type = 16
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ConfigResource(resource_name, resource_type, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ListConfigResourcesResponse:
    """ListConfigResourcesResponse, versions 0 to 1."""

    __slots__ = ("throttle_time_ms", "error_code", "config_resources", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    config_resources: list[ConfigResource]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is EMPTY else config_resources
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ListConfigResourcesResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append_compact_structs(out, self.config_resources, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ListConfigResourcesResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        config_resources, position = read_compact_structs(
            buffer, position, version, ConfigResource._read, 2,
        )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ConfigResource",
    "ListConfigResourcesRequest",
    "ListConfigResourcesResponse",
]
