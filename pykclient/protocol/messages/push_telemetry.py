"""PushTelemetryRequest, PushTelemetryResponse.

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
    encode_compact_size,
    read_compact_bytes,
    uuid_of,
)
from pykclient.protocol.structs import (
    append_tags,
    read_message,
    read_unknown_tags,
    struct_repr,
    structs_equal,
    write_message,
)

_uitb = Struct(">16si?b")
_ih = Struct(">ih")


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PushTelemetryRequest:
    """PushTelemetryRequest, version 0."""

    __slots__ = (
        "client_instance_id", "subscription_id", "terminating", "compression_type", "metrics",
        "unknown_tags",
    )

    client_instance_id: UUID
    subscription_id: int
    terminating: bool
    compression_type: int
    metrics: bytes
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        client_instance_id: UUID = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> PushTelemetryRequest:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_uitb.pack(
            self.client_instance_id.bytes, self.subscription_id, self.terminating, self.compression_type,
        ))
        append(encode_compact_size(self.metrics))
        append(self.metrics)
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PushTelemetryRequest, int]:
        client_instance_id, subscription_id, terminating, compression_type = _uitb.unpack_from(buffer, position)
        position += 22
        client_instance_id = uuid_of(client_instance_id)
        metrics, position = read_compact_bytes(buffer, position)
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PushTelemetryRequest(
            client_instance_id, subscription_id, terminating, compression_type, metrics, tags,
        ), position

    __eq__ = structs_equal
    __repr__ = struct_repr


@dataclass(init=False, repr=False, eq=False, match_args=False)
class PushTelemetryResponse:
    """PushTelemetryResponse, version 0."""

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tags")

    throttle_time_ms: int
    error_code: int
    unknown_tags: dict[int, bytes] | None

    API_KEY: ClassVar[int] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    def write(self, version: int) -> bytes:
        return write_message(self, version)

    @classmethod
    def read(cls, buffer: Buffer, version: int, position: int = 0) -> PushTelemetryResponse:
        return read_message(cls, buffer, position, version)

    def _write(self, out: list[Buffer], version: int) -> None:
        append = out.append
        append(_ih.pack(self.throttle_time_ms, self.error_code))
        if self.unknown_tags:
            append_tags(out, [], self.unknown_tags)
        else:
            append(b"\0")

    @staticmethod
    def _read(buffer: Buffer, position: int, version: int) -> tuple[PushTelemetryResponse, int]:
        throttle_time_ms, error_code = _ih.unpack_from(buffer, position)
        position += 6
        if buffer[position]:
            tags, position = read_unknown_tags(buffer, position)
        else:
            tags, position = None, position + 1
        return PushTelemetryResponse(throttle_time_ms, error_code, tags), position

    __eq__ = structs_equal
    __repr__ = struct_repr


__all__ = [
    "PushTelemetryRequest",
    "PushTelemetryResponse",
]
