"""UpdateFeaturesRequest, UpdateFeaturesResponse.

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
    not_carried,
    read_compact_structs,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_t = Struct(">?")
_h = Struct(">h")
_ht = Struct(">h?")
_hb = Struct(">hb")
_i = Struct(">i")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class FeatureUpdateKey:
    """FeatureUpdateKey, versions 0 to 2."""

    __slots__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type", "unknown_tags")

    feature: str
    max_version_level: int
    allow_downgrade: bool
    upgrade_type: int
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.feature))
        if version >= 1:
            if self.allow_downgrade:
                raise not_carried(self, "allow_downgrade", version)
            append(_hb.pack(self.max_version_level, self.upgrade_type))
        else:
            if self.upgrade_type != 1:
                raise not_carried(self, "upgrade_type", version)
            append(_ht.pack(self.max_version_level, self.allow_downgrade))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[FeatureUpdateKey, int]:
        feature, position = read_compact_string(buffer, position)
        if version >= 1:
            max_version_level, upgrade_type = _hb.unpack_from(buffer, position)
            position += 3
            allow_downgrade = False
        else:
            max_version_level, allow_downgrade = _ht.unpack_from(buffer, position)
            position += 3
            upgrade_type = 1
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return FeatureUpdateKey(feature, max_version_level, allow_downgrade, upgrade_type, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class UpdateFeaturesRequest:
    """UpdateFeaturesRequest, versions 0 to 2."""

    __slots__ = ("timeout_ms", "feature_updates", "validate_only", "unknown_tags")

    timeout_ms: int
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = EMPTY,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is EMPTY else feature_updates
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> UpdateFeaturesRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_i.pack(self.timeout_ms))
        append_compact_structs(out, self.feature_updates, version)
        if version >= 1:
            append(_t.pack(self.validate_only))
        elif self.validate_only:
            raise not_carried(self, "validate_only", version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UpdateFeaturesRequest, int]:
        (timeout_ms,) = _i.unpack_from(buffer, position)
        position += 4
        feature_updates, position = read_compact_structs(
            buffer, position, version, FeatureUpdateKey._read, 5,
        )
        if version >= 1:
            (validate_only,) = _t.unpack_from(buffer, position)
            position += 1
        else:
            validate_only = False
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class UpdatableFeatureResult:
    """UpdatableFeatureResult, versions 0 to 1."""

    __slots__ = ("feature", "error_code", "error_message", "unknown_tags")

    feature: str
    error_code: int
    error_message: str | None
    unknown_tags: dict[int, bytes] | None

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(encode_compact_string(self.feature))
        append(_h.pack(self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UpdatableFeatureResult, int]:
        feature, position = read_compact_string(buffer, position)
        (error_code,) = _h.unpack_from(buffer, position)
        position += 2
        error_message, position = read_compact_nullable_string(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return UpdatableFeatureResult(feature, error_code, error_message, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class UpdateFeaturesResponse:
    """UpdateFeaturesResponse, versions 0 to 2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdatableFeatureResult]
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = EMPTY,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> UpdateFeaturesResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        append(encode_compact_nullable_string(self.error_message))
        if version < 2:
            append_compact_structs(out, self.results, version)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[UpdateFeaturesResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        error_message, position = read_compact_nullable_string(buffer, position)
        results: list[UpdatableFeatureResult]
        if version >= 2:
            results = []
        else:
            results, position = read_compact_structs(
                buffer, position, version, UpdatableFeatureResult._read, 5,
            )
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "FeatureUpdateKey",
    "UpdatableFeatureResult",
    "UpdateFeaturesRequest",
    "UpdateFeaturesResponse",
]
