"""ExpireDelegationTokenRequest, ExpireDelegationTokenResponse.

Generated from pykclient/protocol/specs/tables; change nothing here. To regenerate:
python -m pykclient.protocol.specs.generate
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from pykclient.protocol.primitives import (
    Buffer,
    encode_compact_size,
    encode_size,
    read_bytes,
    read_compact_bytes,
)
from pykclient.protocol.structs import (
    append_tags,
    not_carried,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_hqi = Struct(">hqi")
_q = Struct(">q")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ExpireDelegationTokenRequest:
    """ExpireDelegationTokenRequest, versions 1 to 2."""

    __slots__ = ("hmac", "expiry_time_period_ms", "unknown_tags")

    hmac: bytes
    expiry_time_period_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ExpireDelegationTokenRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        if version >= 2:
            append(encode_compact_size(self.hmac))
            append(self.hmac)
        else:
            append(encode_size(self.hmac))
            append(self.hmac)
        append(_q.pack(self.expiry_time_period_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ExpireDelegationTokenRequest, int]:
        if version >= 2:
            hmac, position = read_compact_bytes(buffer, position)
        else:
            hmac, position = read_bytes(buffer, position)
        (expiry_time_period_ms,) = _q.unpack_from(buffer, position)
        position += 8
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ExpireDelegationTokenRequest(hmac, expiry_time_period_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class ExpireDelegationTokenResponse:
    """ExpireDelegationTokenResponse, versions 1 to 2."""

    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms", "unknown_tags")

    error_code: int
    expiry_timestamp_ms: int
    throttle_time_ms: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> ExpireDelegationTokenResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_hqi.pack(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                append_tags(out, [], self.unknown_tags)
            else:
                append(b"\0")
        elif self.unknown_tags:
            raise not_carried(self, "unknown_tags", version)

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[ExpireDelegationTokenResponse, int]:
        error_code, expiry_timestamp_ms, throttle_time_ms = _hqi.unpack_from(buffer, position)
        position += 14
        if version < 2:
            tags = None
        elif buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return ExpireDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "ExpireDelegationTokenRequest",
    "ExpireDelegationTokenResponse",
]
