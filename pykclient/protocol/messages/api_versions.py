"""ApiVersionsRequest, ApiVersionsResponse.

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
    append_compact_structs,
    append_structs,
    append_tags,
    encode_compact_structs,
    not_carried,
    read_compact_structs,
    read_message,
    read_structs,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    tag_end_missed,
    write_message,
)

_t = Struct(">?")
_h = Struct(">h")
_hh = Struct(">hh")
_hhh = Struct(">hhh")
_i = Struct(">i")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ApiVersionsRequest:
    """ApiVersionsRequest, versions 0 to 4."""

    __slots__ = ("client_software_name", "client_software_version", "unknown_tags")

    client_software_name: str
    client_software_version: str
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ApiVersionsRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 3:
            append(encode_compact_string(self.client_software_name))
        if version >= 3:
            append(encode_compact_string(self.client_software_version))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ApiVersionsRequest, int]:
        if version >= 3:
            client_software_name, position = read_compact_string(buffer, position)
        else:
            client_software_name = ""
        if version >= 3:
            client_software_version, position = read_compact_string(buffer, position)
        else:
            client_software_version = ""
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ApiVersionsRequest(client_software_name, client_software_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ApiVersion:
    """ApiVersion, versions 0 to 4."""

    __slots__ = ("api_key", "min_version", "max_version", "unknown_tags")

    api_key: int
    min_version: int
    max_version: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hhh.pack(self.api_key, self.min_version, self.max_version))
        if version >= 3:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ApiVersion, int]:
        api_key, min_version, max_version = _hhh.unpack_from(buffer, position)
        position += 6
        if version < 3:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ApiVersion(api_key, min_version, max_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class SupportedFeatureKey:
    """SupportedFeatureKey, versions 3 to 4."""

    __slots__ = ("name", "min_version", "max_version", "unknown_tags")

    name: str
    min_version: int
    max_version: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_hh.pack(self.min_version, self.max_version))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[SupportedFeatureKey, int]:
        name, position = read_compact_string(buffer, position)
        min_version, max_version = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return SupportedFeatureKey(name, min_version, max_version, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FinalizedFeatureKey:
    """FinalizedFeatureKey, versions 3 to 4."""

    __slots__ = ("name", "max_version_level", "min_version_level", "unknown_tags")

    name: str
    max_version_level: int
    min_version_level: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.name))
        append(_hh.pack(self.max_version_level, self.min_version_level))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FinalizedFeatureKey, int]:
        name, position = read_compact_string(buffer, position)
        max_version_level, min_version_level = _hh.unpack_from(buffer, position)
        position += 4
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FinalizedFeatureKey(name, max_version_level, min_version_level, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ApiVersionsResponse:
    """ApiVersionsResponse, versions 0 to 4."""

    __slots__ = (
        "error_code", "api_keys", "throttle_time_ms", "supported_features", "finalized_features_epoch",
        "finalized_features", "zk_migration_ready", "unknown_tags",
    )

    error_code: int
    api_keys: list[ApiVersion]
    throttle_time_ms: int
    supported_features: list[SupportedFeatureKey]
    finalized_features_epoch: int
    finalized_features: list[FinalizedFeatureKey]
    zk_migration_ready: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = EMPTY,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = EMPTY,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = EMPTY,
        zk_migration_ready: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is EMPTY else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is EMPTY else supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = [] if finalized_features is EMPTY else finalized_features
        self.zk_migration_ready = zk_migration_ready
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ApiVersionsResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_h.pack(self.error_code))
        if version >= 3:
            append_compact_structs(out, self.api_keys, version)
        else:
            append_structs(out, self.api_keys, version)
        if version >= 1:
            append(_i.pack(self.throttle_time_ms))
        known: list[tuple[int, bytes]] = []
        if version >= 3 and self.supported_features:
            known.append((0, encode_compact_structs(self.supported_features, version)))
        if version >= 3 and self.finalized_features_epoch != -1:
            known.append((1, _q.pack(self.finalized_features_epoch)))
        if version >= 3 and self.finalized_features:
            known.append((2, encode_compact_structs(self.finalized_features, version)))
        if version >= 3 and self.zk_migration_ready:
            known.append((3, _t.pack(self.zk_migration_ready)))
        if version >= 3:
            if known or self.unknown_tags:
                append_tags(out, known, self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ApiVersionsResponse, int]:
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        if version >= 3:
            api_keys, position = read_compact_structs(buffer, position, version, ApiVersion._read, 6)
        else:
            api_keys, position = read_structs(buffer, position, version, ApiVersion._read, 6)
        if version >= 1:
            (throttle_time_ms,) = _i.unpack_from(buffer, position)
            position += 4
        else:
            throttle_time_ms = 0
        supported_features: list[SupportedFeatureKey] = []
        finalized_features_epoch = -1
        finalized_features: list[FinalizedFeatureKey] = []
        zk_migration_ready = False
        tags: dict[int, bytes] | None = None
        if version >= 3:
            if buffer[position] == 0:
                position += 1
            else:
                count, position = read_tag_count(buffer, position)
                tag = -1
                for _ in range(count):
                    tag, position, end = read_tag(buffer, position, tag)
                    if tag == 0:
                        supported_features, position = read_compact_structs(
                            buffer, position, version, SupportedFeatureKey._read, 6,
                        )
                    elif tag == 1:
                        (finalized_features_epoch,) = _q.unpack_from(buffer, position)
                        position += 8
                    elif tag == 2:
                        finalized_features, position = read_compact_structs(
                            buffer, position, version, FinalizedFeatureKey._read, 6,
                        )
                    elif tag == 3:
                        (zk_migration_ready,) = _t.unpack_from(buffer, position)
                        position += 1
                    else:
                        tags = tags or {}
                        tags[tag] = bytes(buffer[position:end])
                        position = end
                    if position != end:
                        raise tag_end_missed(tag, position, end)
        return ApiVersionsResponse(
            error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch,
            finalized_features, zk_migration_ready, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ApiVersion",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "FinalizedFeatureKey",
    "SupportedFeatureKey",
]
